"""``python -m experiments.separable``: longer steps where classes are nearly separable.

Digits (scikit-learn's, 64 pixels and 3,000 products of two of them): one against the others, or
even ones against odd. Long documents: source files of this project's dependencies, as words (tf-idf
of logarithms of counts): is one a test, is it SciPy's? Test errors in %, means over drawings, of
the default and of the default with its usual steps; ``longer`` is the share of fits that took
longer ones, and kappa that of the features which different drawings select.

``--sets`` does the same with re-splits of the training rows of the real sets. Their test rows take
no part.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments.few import resplits
from experiments.overlaps import overlaps_of
from experiments.roots import WORD, source_files
from thresher import ThresherClassifier
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.step_lengths import LongerSteps
from thresher.stability import kappa_from_overlaps

SIZES = (50, 100, 200, 500, 1000)
DRAWINGS, PRODUCTS = 4, 3000
LEARNT = {"digits": 1200, "files": 2500}
SETS = (
    "rcv1-sample",
    "dexter",
    "dorothea",
    "gisette-mini",
    "arcene",
    "farm_ads",
    "reuters_moneyfx",
)


class UsualSteps(ThresherClassifier):
    """The default with its usual steps."""

    decisions = without(ThresherClassifier.decisions, LongerSteps)


class Drawing(NamedTuple):
    """Rows to learn from and rows to judge by."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def drawings(rows: Any, labels: np.ndarray, n_rows: int) -> list[Drawing]:
    """Return drawings of so many rows to learn from; the others judge."""
    found = []
    for seed in range(DRAWINGS):
        order = np.random.default_rng(seed).permutation(labels.size)
        mine, others = order[:n_rows], order[n_rows:]
        found.append(Drawing(rows[mine], labels[mine], rows[others], labels[others]))
    return found


def digits() -> Iterator[tuple[str, list[Drawing]]]:
    """Yield questions about digits."""
    pixels, digit = load_digits(return_X_y=True)
    left, right = np.random.default_rng(0).integers(pixels.shape[1], size=(2, PRODUCTS))
    rows = sparse.csr_array(np.hstack([pixels, pixels[:, left] * pixels[:, right] / 16]))
    questions = {f"a {one}?": digit == one for one in (0, 3, 8)} | {"even?": digit % 2 == 0}
    for question, labels in questions.items():
        yield f"digits, {question}", drawings(rows, labels, LEARNT["digits"])


def files() -> Iterator[tuple[str, list[Drawing]]]:
    """Yield questions about source files."""
    texts, questions = source_files()
    rows = TfidfVectorizer(min_df=3, token_pattern=WORD, sublinear_tf=True).fit_transform(texts)
    for question, labels in questions.items():
        yield f"files, {question}", drawings(rows.tocsr(), labels, LEARNT["files"])


def real_sets() -> Iterator[tuple[str, list[Drawing]]]:
    """Yield re-splits of training rows."""
    for name in SETS:
        splits = resplits(name, DRAWINGS)
        yield name, [Drawing(*(getattr(one, part) for part in PARTS)) for one in splits]


PARTS = ("X_train", "y_train", "X_test", "y_test")


def measured(
    some: list[Drawing], make: Callable[..., Any], size: int
) -> tuple[float, float, float]:
    """Return the mean error in %, kappa over drawings, and the share of fits with longer steps."""
    errors, supports, longer = [], [], []
    for seed, one in enumerate(some):
        model = make(n_features_to_select=size, random_state=seed).fit(one.X, one.y)
        errors.append(100 * np.mean(model.predict(one.X_test) != one.y_test))
        supports.append(model.get_support(indices=True))
        longer.append(model.step_scale_ > 1)
    kappa = kappa_from_overlaps(overlaps_of(supports), some[0].X.shape[1])
    return float(np.mean(errors)), kappa, float(np.mean(longer))


def line(name: str, some: list[Drawing], size: int) -> str:
    """Return a line of the table."""
    (error, kappa, longer), (usual, usual_kappa, _) = (
        measured(some, make, size) for make in (ThresherClassifier, UsualSteps)
    )
    numbers = f"{error:.2f} | {usual:.2f} | {kappa:.2f} | {usual_kappa:.2f}"
    return f"| {name} | {size:,} | {longer:.2f} | {numbers} |"


def main(words: list[str] | None = None) -> int:
    """Print a table."""
    command = argparse.ArgumentParser(prog="python -m experiments.separable", description=__doc__)
    command.add_argument(
        "--sets", action="store_true", help="real sets instead of digits and files"
    )
    options = command.parse_args(words)
    print("| set | features | longer | error % | ... with usual steps | kappa | ... usual |")
    print("|---" * 7 + "|")
    for kind in [real_sets] if options.sets else [digits, files]:
        for name, some in kind():
            for size in SIZES:
                print(line(name, some, size), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
