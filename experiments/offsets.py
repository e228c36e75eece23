"""``python -m experiments.offsets``: errors on columns far from zero.

Measurements that scikit-learn brings along, alone and beside sparse marks, and made-up expressions
of genes: learnt by the default, by the default with columns as they are, and by ridge on columns of
unit variance. Means over random halves of the rows, with the sizes that the default chooses.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.ablation.variants import UnmeasuredClassifier
from thresher import ThresherClassifier

HALVES = 10
GENES, TELLING, FACTORS, EXPRESSION = 3000, 40, 20, 7.0
MARKS, TELLING_MARKS = 400, 20

Table = tuple[np.ndarray, np.ndarray]


def genes() -> Table:
    """Return log expressions with common causes, of which few tell two classes apart."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    causes = rng.normal(size=(300, FACTORS)) @ (0.5 * rng.normal(size=(FACTORS, GENES)))
    rows = rng.normal(size=(300, GENES)) + causes
    rows[:, :TELLING] += (2 * labels - 1)[:, None] * rng.normal(0, 0.6, TELLING)
    return rows * rng.uniform(0.3, 1, GENES) + rng.gamma(4, EXPRESSION / 4, GENES), labels


def beside_marks() -> Table:
    """Return the measurements of breast cancer beside sparse marks, some of which tell as much."""
    rows, labels = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    marks = rng.random((labels.size, MARKS)) < 0.05
    marks[:, :TELLING_MARKS] |= rng.random((labels.size, TELLING_MARKS)) < 0.15 * labels[:, None]
    return np.hstack([rows, marks]), labels


SETS: dict[str, Callable[[], Table]] = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "breast cancer and marks": beside_marks,
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "made-up genes": genes,
}


def rivals(seed: int) -> list[BaseEstimator]:
    """Return who learns the rows."""
    ridge = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    kinds = ThresherClassifier, UnmeasuredClassifier
    return [*(kind(random_state=seed) for kind in kinds), ridge]


def row(name: str) -> str:
    """Return a line of the table."""
    rows, labels = SETS[name]()
    errors = []
    for seed in range(HALVES):
        halves = train_test_split(rows, labels, test_size=0.5, random_state=seed, stratify=labels)
        X_train, X_test, y_train, y_test = halves
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one of them learns what it warns of
            models = [model.fit(X_train, y_train) for model in rivals(seed)]
        errors.append([100 * np.mean(model.predict(X_test) != y_test) for model in models])
    cells = " | ".join(f"{one:.1f}" for one in np.mean(errors, axis=0))
    return f"| {name} | {rows.shape[0]} x {rows.shape[1]} | {cells} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.offsets", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=SETS)
    options = command.parse_args(words)
    print("| set | rows x columns | default | columns as they are | ridge, unit variance |")
    print("|---|---|---|---|---|")
    for name in options.data or SETS:
        print(row(name), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
