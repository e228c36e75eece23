"""What all classifiers share in learning: parameters, data at the door, all or nothing."""

import copy
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from thresher.data.vocabulary import Vocabulary
from thresher.estimators.inputs import check_classes_seen, check_labels, check_rows, check_weights
from thresher.estimators.linear import SparseLinearModel
from thresher.estimators.parameters import COMMON, Constraints, with_shared_words
from thresher.estimators.streaming import StreamTraining, training_source
from thresher.estimators.units import warn_of_odd_units
from thresher.estimators.weighting import class_importance, running_class_importance
from thresher.learners.pace import Pace
from thresher.learners.protocol import Learner, Overflow
from thresher.train import Model, Passes, Problem
from thresher.validation import check_parameters
from thresher.workers import workers


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(SparseLinearModel, metaclass=ABCMeta):
    """A linear classifier that learns one row at a time."""

    constraints: ClassVar[Constraints] = COMMON

    loss: str = "log_loss"
    max_iter: int | str = 20
    tol: float | None = 1e-3
    fit_intercept: bool = True
    shuffle: bool = True
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Complete the docstring with what is common to all."""
        super().__init_subclass__(**kwargs)
        cls.__doc__ = with_shared_words(cls.__doc__ or "", set(cls.constraints))

    @abstractmethod
    def _learner(self, n_rows: int | None) -> Learner:
        """Return the learner for so many rows; None for a stream."""

    def _stream_learner(self, n_rows: int | None) -> Learner:
        """Return the learner for a source of so many rows a pass; None if nobody knows."""
        return self._learner(None)

    def _stream_passes(self, n_rows: int | None) -> int | None:
        """Return how often a source is read; None if the learner knows by itself."""
        return self._most_passes()

    def _planned_updates(self, n_rows: int) -> int:
        """Return how many rows training reads in all, unless it ends early."""
        return int(self.max_iter) * n_rows

    def _most_passes(self) -> int | None:
        """Return after how many passes training ends; None if the learner knows by itself."""
        return int(self.max_iter)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "OnlineClassifier":
        """Learn from rows that are all at hand.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array of shape (n_rows,)
            Labels of two or more classes; more than two are learnt one against the rest.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts; rows of weight 0 are left out.
        """
        self._check_parameters()
        draft = copy.copy(self)
        go_on = self.warm_start and hasattr(self, "_model")
        rows, labels, weights = draft._check_data(X, y, sample_weight, reset=not go_on)
        if go_on:
            check_classes_seen(labels, self.classes_)
            draft._model = copy.deepcopy(self._model)
        else:
            draft._begin(np.unique(labels), lambda: draft._learner(labels.size))
        draft._fit_rows(rows, labels, weights)
        self.__dict__.update(draft.__dict__)
        warn_of_odd_units(self, rows)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "OnlineClassifier":
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes : array, needed in the first call
            All labels that will ever occur.
        """
        self._check_parameters()
        draft = copy.copy(self)
        first = not hasattr(self, "_model")
        rows, labels, weights = draft._check_data(X, y, sample_weight, reset=first)
        if first:
            if classes is None:
                raise ValueError(
                    "The first call to partial_fit needs classes=, all labels there are."
                )
            draft._begin(np.unique(classes), lambda: draft._learner(None))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}. Leave classes out, or start with a new estimator."
            )
        check_classes_seen(labels, draft.classes_)
        draft._learn_rows(rows, labels, weights)
        self.__dict__.update(draft.__dict__)
        return self

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self.constraints)

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows = check_rows(self, X, reset=reset)
        labels = check_labels(y, rows.shape[0])
        return rows, labels, check_weights(sample_weight, rows.shape[0])

    def fit_stream(
        self, source: Any, *, classes: Any = None, cache: bool = True, **reading: Any
    ) -> "OnlineClassifier":
        """Learn from files larger than memory, or from any stream of rows.

        Memory follows the features, not the rows. A text file that is read more than once is kept
        as binary shards beside it. With a known number of rows (shards, and text kept as shards)
        training has its usual passes; a stream that passes once is learnt in its own order.

        Parameters
        ----------
        source : path, list of paths, source or iterable
            Files (see ``thresher.open_source`` for formats), or what yields tuples of rows and
            labels, or of rows, labels and weights.
        classes : array, optional
            All labels that occur. Needed where they cannot be told from the first rows.
        cache : bool, default=True
            Whether a text file that is read more than once is kept as shards.
        **reading
            How files are read: the options of ``thresher.open_source``.
        """
        self._check_parameters()
        draft = copy.copy(self)
        opened = training_source(draft, source, cache, reading, say=print if self.verbose else None)
        for _ in StreamTraining.begin(draft, opened, classes).steps():
            pass
        self.__dict__.update(draft.__dict__)
        return self

    def _begin(self, classes: np.ndarray, make_learner: Callable[[], Learner]) -> None:
        """Start with an empty model for the classes."""
        if classes.size < 2:
            raise ValueError(
                f"y has only one class, {classes[0]!r}: a classifier needs rows of two or more."
            )
        self.classes_ = classes
        self._class_counts = np.zeros(classes.size, np.int64)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        learner = make_learner()
        n_problems = 1 if classes.size == 2 else classes.size
        problems = [Problem(learner.start(), Pace()) for _ in range(n_problems)]
        vocabulary = Vocabulary(self.n_features_in_, getattr(self, "normalize", False))
        self._model = Model(vocabulary, learner, problems)

    def _targets(self, labels: np.ndarray) -> list[np.ndarray]:
        """Return -1 and +1 for every problem."""
        positive = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        return [np.where(labels == one, 1.0, -1.0) for one in positive]

    def _fit_rows(self, rows: sparse.csr_array, labels: np.ndarray, weights: np.ndarray) -> None:
        importance = weights * class_importance(self.class_weight, self.classes_, labels)
        kept, rows, labels, importance = _with_weight(rows, labels, importance)
        if not kept.size:
            raise ValueError(
                "class_weight and sample_weight leave no row with a weight above zero."
            )
        self._model.learner = self._learner(kept.size)
        passes = Passes(self._most_passes(), self.tol or 0.0, self.shuffle, self._seed)
        targets = self._targets(labels)
        with workers(self.n_jobs) as run_all, _overflow_explained(kept):
            self.n_iter_ = self._model.fit(rows, targets, importance, passes, run_all, self._report)
            self._weights = self._model.weights()
            if not all(np.isfinite(numbers).all() for numbers in self._weights):
                raise Overflow(-1)

    def _learn_rows(
        self,
        rows: sparse.csr_array,
        labels: np.ndarray,
        weights: np.ndarray,
        learner: Learner | None = None,
        anew: bool = True,
    ) -> None:
        counts = self._class_counts.copy()
        class_weight = self.class_weight
        importance = weights * running_class_importance(class_weight, self.classes_, labels, counts)
        kept, rows, labels, importance = _with_weight(rows, labels, importance)
        learner, targets = learner or self._learner(None), self._targets(labels)
        with workers(self.n_jobs) as run_all, _overflow_explained(kept):
            self._model.learn(learner, rows, targets, importance, run_all, anew)
        self._class_counts, self._weights, self.n_iter_ = counts, None, 1

    def _report(self, n_passes: int, problem: Problem) -> None:
        """Say how far training has come."""
        if self.verbose:
            weights, _ = self._model.learner.weights(problem.state, self._model.vocabulary)
            print(f"pass {n_passes}: {np.count_nonzero(weights):,} features with nonzero weight")


def _with_weight(
    rows: sparse.csr_array, labels: np.ndarray, importance: np.ndarray
) -> tuple[np.ndarray, sparse.csr_array, np.ndarray, np.ndarray]:
    """Return the numbers of the rows that count at all, and those rows; a copy only if it must."""
    kept = np.flatnonzero(importance)
    if kept.size == importance.size:
        return kept, rows, labels, importance
    return kept, rows[kept], labels[kept], importance[kept]


@contextmanager
def _overflow_explained(rows: np.ndarray) -> Iterator[None]:
    """Turn an overflow into an error that says where it happened and what helps."""
    try:
        yield
    except Overflow as overflow:
        raise ValueError(
            f"The numbers overflowed while learning row {rows[overflow.row]}: steps are too long "
            "for these rows. Lower eta0 (or alpha, or raise gamma), set eta0='auto', or bring the "
            "columns to similar scales (thresher.UnitScaler, sklearn.preprocessing.MaxAbsScaler)."
        ) from None
