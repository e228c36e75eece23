"""Which rows folds hold out, and scikit-learn's scores of held-out margins."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.metaestimators import available_if

from thresher.estimators.classifier import OnlineClassifier, probabilities_of
from thresher.estimators.learning import OnlineModel
from thresher.fitted import NO_LINK

Split = tuple[np.ndarray, np.ndarray]


def make_splits(
    cv: Any,
    targets: np.ndarray,
    classes: np.ndarray | None,
    groups: np.ndarray | None,
    seed: int,
) -> list[Split]:
    """Return places of rows to learn from and to hold out, for each fold.

    Folds without a row to hold out, or without one of some class to learn from, are left out; if
    none is left, as with two rows, all rows are both.
    """
    n_rows = targets.size
    splitter = cv
    if isinstance(cv, int | np.integer):
        splitter = _splitter(min(int(cv), n_rows), classes, groups, seed) if n_rows > 1 else None
    if splitter is None:
        return [(np.arange(n_rows), np.arange(n_rows))]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = [
            (np.sort(some), np.sort(others))
            for some, others in splitter.split(np.zeros((n_rows, 1)), targets, groups)
        ]
    kinds = np.zeros(n_rows, np.int64) if classes is None else classes
    whole = np.unique(kinds).size
    good = [one for one in splits if one[1].size and np.unique(kinds[one[0]]).size == whole]
    return good or [(np.arange(n_rows), np.arange(n_rows))]


def _splitter(
    n_folds: int, classes: np.ndarray | None, groups: np.ndarray | None, seed: int
) -> Any:
    """Return what splits rows into so many folds, of like classes and whole groups."""
    few = classes is None or np.bincount(classes).max() < n_folds
    if groups is not None:
        n_folds = min(n_folds, np.unique(groups).size)
        if n_folds < 2:
            raise ValueError("groups: all rows are of one group, so none can be held out.")
        if few:
            return GroupKFold(n_folds)
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    if few:
        return KFold(n_folds, shuffle=True, random_state=seed)
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)


class ScoreOfMargins:
    """Scores held-out margins as a scikit-learn scorer scores a model."""

    def __init__(
        self, model: OnlineModel, scoring: Any, targets: np.ndarray, centre: float, unit: float
    ) -> None:
        self._centre, self._unit = centre, unit
        self._scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        if isinstance(model, OnlineClassifier):
            self._model: Any = _ClassifierOfMargins(model.classes_, model.link())
            self._labels = model.classes_[targets]
        else:
            self._model, self._labels = _RegressorOfMargins(), targets

    def __call__(self, margins: np.ndarray, places: np.ndarray) -> float:
        """Return the score of the margins of some of the rows."""
        rows = self._centre + self._unit * margins
        score = float(self._scorer(self._model, rows, self._labels[places]))
        if not np.isfinite(score):
            raise ValueError(
                f"scoring gives {score} for held-out rows, which cannot be compared. Use fewer "
                "folds (cv), so that each has rows of all classes, or another score."
            )
        return score


class _ClassifierOfMargins(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose rows are their margins already."""

    def __init__(self, classes: np.ndarray, link: str) -> None:
        self.classes_, self.link_ = classes, link

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the margins, one for two classes."""
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most likely class of every row."""
        places = X[:, 0] > 0 if X.shape[1] == 1 else X.argmax(axis=1)
        return self.classes_[places.astype(np.int64)]

    @available_if(lambda model: model.link_ != NO_LINK)
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probability of every class."""
        return probabilities_of(self.link_, X)


class _RegressorOfMargins(RegressorMixin, BaseEstimator):
    """A fitted regressor whose rows are their predictions."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number predicted for every row."""
        return X[:, 0]
