"""``python -m experiments.roots``: what square roots of values are worth, and who finds out.

Long documents: the source files of this project's own dependencies, as they are installed. Is one
of them a test? Is it SciPy's? Test errors in %, means over drawings of some files to learn from and
2,000 others, of models with 100 features: the default, the default with values as they are, and l1
with a ridge refit on rows of unit length, of values and of roots. ``even`` is the median share of a
row's values that makes up its length.

``--sets`` does the same with re-splits of the training rows of the real sets whose values are not
all the same: the default as it is, and made to learn roots. Their test rows take no part.
"""

import argparse
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from experiments.few import resplits
from experiments.kinds import l1_columns
from thresher import ThresherClassifier
from thresher.data.powers import raised
from thresher.estimators.decisions.amounts import even_shares

PACKAGES = ("numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "mypy")
SHORTEST = 1500  # characters of a file that says anything
WORD = r"[A-Za-z_]{2,}"
MOST_GRAMS, GRAMS_OF = 30_000, 4_000  # columns, and characters of each file that are looked at
TESTED, DRAWINGS, SIZE, C = 2_000, 4, 100, 10.0
LEARNT = (200, 1000)
SETS, RESPLITS, SIZES = ("dexter", "arcene", "gisette-mini", "reuters_moneyfx"), 8, (50, 100, 200)


def source_files() -> tuple[list[str], dict[str, np.ndarray]]:
    """Return the text of all files, and what is asked of each."""
    files = [(name, path) for name in PACKAGES for path in _files(name)]
    texts = [path.read_text("utf-8", "ignore") for _, path in files]
    kept = [place for place, text in enumerate(texts) if len(text) >= SHORTEST]
    questions = {
        "a test?": np.array(["test" in "/".join(files[k][1].parts[-3:]) for k in kept]),
        "SciPy's?": np.array([files[k][0] == "scipy" for k in kept]),
    }
    return [texts[place] for place in kept], questions


def _files(package: str) -> list[Path]:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed: make demo sets up what is needed.")
    return sorted(Path(spec.origin).parent.rglob("*.py"))


def kinds_of_rows(texts: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield rows of the documents by what their values are."""
    counts = CountVectorizer(min_df=3, token_pattern=WORD).fit_transform(texts).astype(float)
    yield "counts of words", counts
    yield "tf-idf", TfidfTransformer().fit_transform(counts)
    yield "tf-idf, logarithms of counts", TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    grams = CountVectorizer(
        min_df=5, analyzer="char", ngram_range=(3, 3), max_features=MOST_GRAMS
    ).fit_transform([text[:GRAMS_OF] for text in texts])
    yield "counts of three letters", grams.astype(float)


def ours(rows: Any, labels: np.ndarray, held: Any, size: int, seed: int, power: Any) -> np.ndarray:
    """Return what our model says of held rows."""
    model = ThresherClassifier(n_features_to_select=size, random_state=seed, value_power=power)
    return model.fit(rows, labels).predict(held)


def rival(rows: Any, labels: np.ndarray, held: Any, power: float) -> np.ndarray:
    """Return what l1 with a ridge refit says of held rows."""
    rows, held = (normalize(raised(sparse.csr_array(some), power)) for some in (rows, held))
    columns = l1_columns(rows, labels, SIZE)
    model = LogisticRegression(C=C, max_iter=1000).fit(rows[:, columns], labels)
    return model.predict(held[:, columns])


def evenness(rows: Any) -> float:
    """Return the median share of a row's values that makes up its length."""
    return float(np.median(even_shares(sparse.csr_array(rows))))


def document_line(name: str, rows: Any, question: str, labels: np.ndarray, n_rows: int) -> str:
    """Return a line of the table of documents."""
    errors = np.zeros((DRAWINGS, 4))
    for seed in range(DRAWINGS):
        order = np.random.default_rng(seed).permutation(labels.size)
        mine, others = order[:n_rows], order[n_rows : n_rows + TESTED]
        data = rows[mine], labels[mine], rows[others]
        told = [ours(*data, SIZE, seed, power) for power in ("auto", 1.0)]
        told += [rival(*data, power) for power in (1.0, 0.5)]
        errors[seed] = [100 * np.mean(one != labels[others]) for one in told]
    cells = " | ".join(f"{one:.2f}" for one in errors.mean(axis=0))
    return f"| {name} | {evenness(rows):.2f} | {question} | {n_rows:,} | {cells} |"


def set_lines(dataset: str) -> Iterator[str]:
    """Yield a real set's lines: values as they are, and their roots."""
    splits = resplits(dataset, RESPLITS)
    even = float(np.mean([evenness(data.X_train) for data in splits]))
    for words, power in (("as they are", 1.0), ("roots", 0.5)):
        errors = [
            [
                100
                * np.mean(
                    ours(data.X_train, data.y_train, data.X_test, size, seed, power) != data.y_test
                )
                for size in SIZES
            ]
            for seed, data in enumerate(splits)
        ]
        cells = " | ".join(f"{one:.2f}" for one in np.mean(errors, axis=0))
        yield f"| {dataset} | {even:.2f} | {words} | {cells} |"


def main(words: list[str] | None = None) -> int:
    """Print a table."""
    command = argparse.ArgumentParser(prog="python -m experiments.roots", description=__doc__)
    command.add_argument("--sets", action="store_true", help="real sets instead of documents")
    options = command.parse_args(words)
    warnings.simplefilter("ignore")  # of rivals that have not converged
    if options.sets:
        print(f"| set | even | values | {' | '.join(map(str, SIZES))} |")
        print("|---" * (3 + len(SIZES)) + "|")
        for dataset in SETS:
            for one in set_lines(dataset):
                print(one, flush=True)
        return 0
    print("| values | even | question | files | default | as they are | l1, refit | ... of roots |")
    print("|---" * 8 + "|")
    texts, questions = source_files()
    for name, rows in kinds_of_rows(texts):
        for question, labels in questions.items():
            for n_rows in LEARNT:
                line = document_line(name, rows.tocsr(), question, labels, n_rows)
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
