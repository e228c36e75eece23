"""The flagship with its size chosen by cross-validation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from thresher.estimators.decisions.size_choice import SizeChoice
from thresher.estimators.decisions.sizing import (
    Effort,
    choose_on,
    folds_of,
    strata_of,
    usual_sizes,
)
from thresher.estimators.lessons import Lessons
from thresher.estimators.parameters import NO_VALUE, Constraints
from thresher.estimators.splitting import among, split_rows
from thresher.estimators.thresher import ThresherClassifier, ThresherRegressor
from thresher.learners.selection import wanted_features
from thresher.train import Sample
from thresher.train.folds import Fold
from thresher.train.size_rule import Leniency
from thresher.train.sizing import Table
from thresher.validation import Number, Whole
from thresher.workers import Workers

# the rule that is known by this name
ONE_STANDARD_ERROR = Leniency(errors=1.0, paired=False)


class Sizes:
    """Numbers of features, or shares of all columns."""

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        if not hasattr(value, "__getitem__") or np.ndim(value) != 1 or not len(value):
            return False
        kinds = Whole(1), Number(0, 1, open_low=True, open_high=True)
        return all(any(kind.allows(one) for kind in kinds) for one in value)

    def __str__(self) -> str:
        return "a list of whole numbers of at least 1 and shares between 0 and 1"


class Splitter:
    """An object of scikit-learn's that splits rows, or the splits themselves."""

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        return not isinstance(value, str) and (hasattr(value, "split") or _is_iterable(value))

    def __str__(self) -> str:
        return "an object with a method split(X, y), or the splits that it would give"


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)


def _all_rows_needed(estimator: Any) -> bool:
    name = type(estimator).__name__
    raise AttributeError(
        f"{name} compares sizes on rows that are all at hand: it has fit only. For streams use "
        f"{name.removesuffix('CV')}, with the size that this class chose on some of the rows."
    )


def _searching(constraints: Constraints) -> Constraints:
    """Return what parameters may be where sizes are given instead of one."""
    others = {name: one for name, one in constraints.items() if name != "n_features_to_select"}
    return {**others, "sizes": (NO_VALUE, Sizes()), "cv": (Whole(2), Splitter())}


class CrossValidated:
    """The part of a model that finds its size by cross-validation."""

    _given_folds: list[Fold] | None = None  # of a splitter, while rows are fitted

    @property
    def path_(self: Any) -> Table:
        """What each size is worth: a dict of arrays, see ``SizeChoice``."""
        path = self.size_choice_.path
        if path is None:
            raise AttributeError(f"No sizes were compared. {self.size_choice_.why}")
        return path

    @available_if(_all_rows_needed)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Not for this class."""

    @available_if(_all_rows_needed)
    def fit_stream(self, source: Any, **options: Any) -> Any:
        """Not for this class."""

    def _fit_rows(
        self: Any, rows: sparse.csr_array, labels: np.ndarray, weights: np.ndarray
    ) -> None:
        """Split rows while their numbers are the caller's: those without weight are left out."""
        if not (self._has_size() or isinstance(self.cv, Integral)):
            self._given_folds = split_rows(self.cv, rows, labels)
        super()._fit_rows(rows, labels, weights)  # type: ignore[misc]  # the model's is next
        self._given_folds = None

    def _lessons(self: Any, labels: np.ndarray, weights: np.ndarray) -> Lessons:
        targets, importance = super()._lessons(labels, weights)  # type: ignore[misc]
        if self._given_folds is not None:
            self._given_folds = among(self._given_folds, importance)
        return targets, importance

    def _choose(self: Any, learnt: Sample, run_all: Workers) -> SizeChoice:
        effort = Effort(n_paths=self.n_paths, updates=1.0, lenient=ONE_STANDARD_ERROR)
        folds = self._given_folds
        if folds is None:
            folds = folds_of(strata_of(self, learnt.targets), int(self.cv), self._seed)
        self._n_splits = len(folds)
        return choose_on(self, learnt, folds, effort, run_all)

    def _plain_folds(self: Any) -> dict[str, Any]:
        """Return ``cv`` and ``sizes`` as a file can hold them: of a splitter, how many folds."""
        sizes = None if self.sizes is None else np.asarray(self.sizes, object).tolist()
        cv = self.cv if isinstance(self.cv, Integral) else self._n_splits
        return {"cv": int(cv), "sizes": sizes}

    def _sizes_to_try(self: Any, seen: int, columns: int) -> tuple[list[int], int | None]:
        """Return the sizes that were asked for, as far as there are features: runs visit all."""
        if self.sizes is None:
            return usual_sizes(seen)
        asked = (int(one) if isinstance(one, Integral) else float(one) for one in self.sizes)
        return sorted({wanted_features(one, seen, columns) for one in asked}), None


@dataclass(kw_only=True, eq=False, repr=False)
class ThresherClassifierCV(CrossValidated, ThresherClassifier):
    """A ThresherClassifier whose number of features is chosen by cross-validation.

    For every fold, one run on the other folds' rows shrinks through all sizes: a copy of it is
    refitted for a short while at each, and evaluated on the fold. The smallest size whose log loss
    is within one standard error of the best is then fitted on all rows. All this costs about as
    much as a fit of ThresherClassifier for every fold, however many sizes there are. With more than
    two classes all have the same size.

    ``path_`` shows what each size is worth, ``size_choice_`` what was chosen and why.

    Parameters
    ----------
    sizes : sequence of int or float, optional
        Numbers of features to try, or shares of all columns. By default 20 sizes, from a single
        feature up to 3 % of the columns that occur (at least 200; all columns, if there are at most
        1,000).
    cv : int, splitter or iterable, default=5
        Number of stratified folds, an object of scikit-learn's that splits rows, or the splits:
        pairs of the numbers of rows to learn from and to judge by.

    Examples
    --------
    >>> from thresher import ThresherClassifierCV
    >>> from thresher.demo.data import QUICK, Recipe, make_documents
    >>> documents = make_documents(Recipe(**QUICK))
    >>> model = ThresherClassifierCV(sizes=[10, 20, 40, 80, 160], random_state=0)
    >>> _ = model.fit(documents.X_train, documents.y_train)
    >>> model.path_["size"].tolist()
    [10, 20, 40, 80, 160]
    >>> model.size_choice_.size < 80
    True
    """

    constraints: ClassVar[Constraints] = _searching(ThresherClassifier.constraints)

    n_features_to_select: int | float | str = field(default="auto", init=False)
    sizes: Any = None
    cv: Any = 5


@dataclass(kw_only=True, eq=False, repr=False)
class ThresherRegressorCV(CrossValidated, ThresherRegressor):
    """A ThresherRegressor whose number of features is chosen by cross-validation.

    It does what ThresherClassifierCV does, by the loss of the regression: the smallest size whose
    loss on held-out rows is within one standard error of the best is fitted on all rows. ``path_``
    shows what each size is worth, ``size_choice_`` what was chosen and why.

    Parameters
    ----------
    sizes : sequence of int or float, optional
        Numbers of features to try, or shares of all columns. By default 20 sizes, from a single
        feature up to 3 % of the columns that occur (at least 200; all columns, if there are at most
        1,000).
    cv : int, splitter or iterable, default=5
        Number of folds, an object of scikit-learn's that splits rows, or the splits: pairs of the
        numbers of rows to learn from and to judge by.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher import ThresherRegressorCV
    >>> X = np.random.default_rng(0).poisson(0.1, size=(500, 200)).astype(float)
    >>> y = 20 + 3 * X[:, 5] - 2 * X[:, 17] + np.random.default_rng(1).normal(size=500)
    >>> model = ThresherRegressorCV(sizes=[1, 2, 4, 8, 16], random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [5, 17]
    """

    constraints: ClassVar[Constraints] = _searching(ThresherRegressor.constraints)

    n_features_to_select: int | float | str = field(default="auto", init=False)
    sizes: Any = None
    cv: Any = 5
