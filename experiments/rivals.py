"""Methods that select a wanted number of features, each with a fair choice of its last weights.

Whatever selects the features, a ridge refits them; its penalty is chosen by threefold log loss on
these features, as any user can do in three lines. Thresher's models are taken as they are.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

import thresher

STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # of a ridge, as scikit-learn's C
SELECTING = 10.0  # C of the ridge whose smallest weights leave
ROUNDS = 10  # of elimination
WEAKEST, STRONGEST, HALVINGS = 1e-4, 1e5, 16  # C of L1, until it has the wanted size


class Selected(NamedTuple):
    """The columns that a method selected, and the margins it gives rows."""

    columns: np.ndarray
    margins: Callable[[Any], np.ndarray]


Method = Callable[[Any, np.ndarray, int, int], Selected]  # of rows, labels, size and seed


def ridge(X: Any, y: np.ndarray, columns: np.ndarray) -> Selected:
    """Return a ridge on some columns, the penalty chosen by cross-validation."""
    columns = np.sort(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecations and of convergence
        model = LogisticRegressionCV(
            Cs=list(STRENGTHS), cv=3, scoring="neg_log_loss", max_iter=300
        ).fit(X[:, columns], y)
    return Selected(columns, lambda rows: model.decision_function(rows[:, columns]))


def l1_logistic(**settings: Any) -> LogisticRegression:
    """Return an L1 logistic regression by liblinear, which penalizes the intercept as well."""
    # From 1.8 on the penalty is named by its share of L1, and the old name warns.
    new = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
    penalty = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    return LogisticRegression(solver="liblinear", random_state=0, **penalty, **settings)


def l1_columns(X: Any, y: np.ndarray, size: int) -> np.ndarray:
    """Return the columns that L1 selects with the penalty that comes nearest to a size."""
    low, high, best = WEAKEST, STRONGEST, np.zeros(0, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(HALVINGS):
            C = math.sqrt(low * high)
            columns = np.flatnonzero(l1_logistic(C=C, max_iter=200).fit(X, y).coef_)
            if not best.size or abs(columns.size - size) < abs(best.size - size):
                best = columns
            if columns.size == size:
                break
            low, high = (C, high) if columns.size < size else (low, C)
    return best


def weights_of(X: Any, y: np.ndarray, C: float = SELECTING) -> np.ndarray:
    """Return the absolute weights of a ridge; with several classes the largest of each column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.abs(LogisticRegression(C=C, max_iter=100).fit(X, y).coef_).max(axis=0)


def eliminated_columns(X: Any, y: np.ndarray, size: int) -> np.ndarray:
    """Return the columns that are left when a ridge's smallest weights leave, round by round."""
    X = sparse.csc_matrix(X)
    columns = np.flatnonzero(np.diff(X.indptr))
    n = columns.size
    for k in range(1, ROUNDS + 1):
        left = max(1, round(n ** (1 - k / ROUNDS) * size ** (k / ROUNDS)))
        weights = weights_of(X[:, columns], y)
        columns = columns[np.argsort(-weights, kind="stable")[:left]]
    return columns


def univariate_columns(X: Any, y: np.ndarray, size: int) -> np.ndarray:
    """Return the columns whose means differ most between classes, each by itself."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of constant columns
        scores = np.nan_to_num(f_classif(X, y)[0])
    return np.argsort(-scores, kind="stable")[:size]


def adaptive_columns(X: Any, y: np.ndarray, size: int) -> np.ndarray:
    """Return the columns of the adaptive lasso: L1 on columns scaled by a ridge's weights."""
    weights = weights_of(X, y)
    return l1_columns(sparse.csr_matrix(X @ sparse.diags(weights / weights.max())), y, size)


def _refitted(select: Callable[[Any, np.ndarray, int], np.ndarray]) -> Method:
    return lambda X, y, size, _: ridge(X, y, select(X, y, size))


def flagship(X: Any, y: np.ndarray, size: int, seed: int) -> Selected:
    """Return the flagship's model of a size."""
    model = thresher.ThresherClassifier(n_features_to_select=size, random_state=seed).fit(X, y)
    return Selected(model.get_support(indices=True), model.decision_function)


OURS = "thresher"
METHODS: dict[str, Method] = {
    OURS: flagship,
    "l1": _refitted(l1_columns),
    "elimination": _refitted(eliminated_columns),
    "adaptive": _refitted(adaptive_columns),
    "univariate": _refitted(univariate_columns),
}
TITLES = {
    OURS: "ThresherClassifier",
    "l1": "L1",
    "elimination": "ridge, recursive elimination",
    "adaptive": "adaptive lasso",
    "univariate": "univariate (F test)",
}
RIVALS = [name for name in METHODS if name != OURS]
