"""What all estimators share in learning: parameters, data at the door, all or nothing."""

import copy
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from thresher.data.vocabulary import Vocabulary
from thresher.estimators.decisions.columns import Columns
from thresher.estimators.decisions.decision import Decisions, settle
from thresher.estimators.decisions.offsets import warn_of_offsets
from thresher.estimators.decisions.units import Sizes, warn_of_odd_units
from thresher.estimators.inputs import check_rows, check_weights
from thresher.estimators.labels import MakeLearner, MeansLabels
from thresher.estimators.lessons import with_weight
from thresher.estimators.linear import SparseLinearModel
from thresher.estimators.overflowing import overflow_explained, warn_of_vanishing
from thresher.estimators.parameters import COMMON, Constraints, with_shared_words
from thresher.estimators.streaming import StreamTraining, training_source
from thresher.learners.pace import Pace
from thresher.learners.protocol import Learner, Overflow
from thresher.train import Model, Passes, Problem, Recall, Sample
from thresher.validation import check_parameters
from thresher.workers import Workers, workers


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineModel(MeansLabels, SparseLinearModel, metaclass=ABCMeta):
    """A linear model that learns one row at a time; what its labels mean is for others to say."""

    constraints: ClassVar[Constraints] = COMMON
    decisions: ClassVar[Decisions] = (Columns(),)  # in the order in which they are taken

    max_iter: int | str = 20
    tol: float | None = 1e-3
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Complete the docstring with what is common to all."""
        super().__init_subclass__(**kwargs)
        elders = [one.__doc__ or "" for one in cls.__mro__[1:] if issubclass(one, OnlineModel)]
        cls.__doc__ = with_shared_words(cls.__doc__ or "", set(cls.constraints), elders)

    @abstractmethod
    def _learner(self, n_rows: int | None) -> Learner:
        """Return the learner for so many rows; None for a stream."""

    def _refuse_changed(self) -> None:
        """Raise a ValueError if a parameter was changed that has shaped what was learnt."""

    def _stream_learner(self, n_rows: int | None) -> Learner:
        """Return the learner for a source of so many rows a pass; None if nobody knows."""
        return self._learner(None)

    def _stream_passes(self, n_rows: int | None) -> int | None:
        """Return how often a source is read; None if the learner knows by itself."""
        return self._most_passes()

    def _asks_first_rows(self) -> bool:
        """Return whether a stream's first rows have to be looked at before any is learnt."""
        return False

    def _wants_all(self) -> bool:
        """Return whether a source had better be at hand, if it is small."""
        return False

    def _planned_updates(self, n_rows: int) -> int:
        """Return how many rows training reads in all, unless it ends early."""
        return int(self.max_iter) * n_rows

    def _most_passes(self) -> int | None:
        """Return after how many passes training ends; None if the learner knows by itself."""
        return int(self.max_iter)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows that are all at hand.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array of shape (n_rows,)
            For classifiers labels of two or more classes, of which more than two are learnt one
            against the rest; for regressors finite numbers.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts; rows of weight 0 are left out.
        """
        self._check_parameters()
        draft = copy.copy(self)
        go_on = self.warm_start and hasattr(self, "_model")
        rows, labels, weights = draft._check_data(X, y, sample_weight, reset=not go_on)
        if go_on:
            draft._refuse_changed()
            draft._refuse_strange(labels)
            draft._model = copy.deepcopy(self._model)
        else:
            draft._reading = {}
            draft._begin_with(labels, lambda: draft._learner(labels.size))
        draft._fit_rows(rows, labels, weights)
        if go_on:
            warn_of_odd_units(draft, Sizes.in_rows(draft._as_learnt(rows)))
        if draft._offsets is None:
            warn_of_offsets(draft, draft._raised(rows))
        return self._become(draft)

    def _become(self, draft: Self) -> Self:
        """Take over all that a draft has learnt, and nothing else, at once."""
        self.__dict__ = draft.__dict__
        return self

    def _learn_next(self, X: Any, y: Any, sample_weight: Any, told: np.ndarray | None) -> Self:
        """Learn the next rows of a stream; ``told`` is what was said of its labels beforehand."""
        self._check_parameters()
        draft = copy.copy(self)
        first = not hasattr(self, "_model")
        rows, labels, weights = draft._check_data(X, y, sample_weight, reset=first)
        if first:
            draft._begin_with(told, lambda: draft._learner(None))
        else:
            draft._refuse_changed()
        draft._refuse_strange(labels)
        draft._watch_columns(rows)  # before rows are learnt: a warning may be an error
        draft._learn_rows(rows, labels, weights)
        return self._become(draft)

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
        labels = self._check_labels(y, rows.shape[0])
        return rows, labels, check_weights(sample_weight, rows.shape[0])

    def fit_stream(
        self, source: Any, *, classes: Any = None, cache: bool = True, **reading: Any
    ) -> Self:
        """Learn from files larger than memory, or from any stream of rows.

        Memory follows the features, not the rows. A text file that is read more than once is kept
        as binary shards beside it. With a known number of rows (shards, and text kept as shards)
        training has its usual passes; a stream that passes once is learnt in its own order. Unless
        ``max_iter`` is 1, ``ThresherClassifier`` and ``ThresherRegressor`` learn a small source as
        ``fit`` does: rows and nonzeros up to sixteen million, or four where nobody counted them.

        Parameters
        ----------
        source : path, list of paths, source or iterable
            Files (see ``thresher.open_source`` for formats), or what yields tuples of rows and
            labels, or of rows, labels and weights.
        classes : array, optional
            For classifiers, all labels that occur. Needed where they cannot be told from the first
            rows.
        cache : bool, default=True
            Whether a text file that is read more than once is kept as shards.
        **reading
            How files are read: the options of ``thresher.open_source``.
        """
        self._check_parameters()
        draft = copy.copy(self)
        draft._reading = {}
        opened = training_source(draft, source, cache, reading, say=print if self.verbose else None)
        for _ in StreamTraining.begin(draft, opened, classes).steps():
            pass
        return self._become(draft)

    def _begin(self, make_learner: MakeLearner) -> None:
        """Start with an empty model."""
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self._model = self._empty_model(self._scales_rows(), make_learner())
        self._begin_columns()

    def _empty_model(self, normalize: bool, learner: Learner) -> Model:
        """Return a model that has learnt nothing."""
        problems = [Problem(learner.start(), Pace()) for _ in range(self._n_problems)]
        return Model(Vocabulary(self.n_features_in_, normalize), learner, problems)

    def _scales_rows(self) -> bool:
        """Return whether rows are scaled to unit length before anything is known of them."""
        return False

    def _fit_rows(self, rows: sparse.csr_array, labels: np.ndarray, weights: np.ndarray) -> None:
        kept, *counted = with_weight(rows, *self._lessons(labels, weights))
        some = Sample(*counted)
        watched = self.verbose > 0
        passes = Passes(self._most_passes(), self.tol or 0.0, self.shuffle, self._seed, watched)
        fresh = not len(self._model.vocabulary)
        explained = overflow_explained(self, kept, some.importance)
        with workers(self.n_jobs) as run_all, explained:
            if fresh:
                settle(self, some.rows, some, run_all)
            some = some._replace(rows=self._next_as_learnt(some.rows))
            for decision in self.decisions:
                decision.prepare(self, some, run_all)
            warn_of_vanishing(self, some.rows)
            self._learn_all(some, passes, run_all)
            if fresh and any(one.revises(self, some, run_all) for one in self.decisions):
                normalize, learner = self._model.vocabulary.normalize, self._model.learner
                self._model = self._empty_model(normalize, learner)
                self._learn_all(some, passes, run_all)
            for decision in self.decisions:
                decision.complete(self, some, run_all)
            self._weights = self._weights_now()
            if not all(np.isfinite(numbers).all() for numbers in self._weights):
                raise Overflow(-1)

    def _learn_all(self, some: Sample, passes: Passes, run_all: Workers) -> None:
        model = self._model
        model.learner = self._learner(some.importance.size)
        self.n_iter_ = model.fit(*some, passes, run_all, self._report)

    def _learn_rows(
        self,
        rows: sparse.csr_array,
        labels: np.ndarray,
        weights: np.ndarray,
        learner: Learner | None = None,
        anew: bool = True,
        recall: Recall | None = None,
    ) -> None:
        rows = self._next_as_learnt(rows)
        (targets, importance), scales = self._next_lessons(labels, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        scales = None if scales is None else scales[kept]
        learner = learner or self._learner(None)
        explained = overflow_explained(self, kept, importance)
        with workers(self.n_jobs) as run_all, explained:
            self._model.learn(learner, rows, targets, importance, run_all, anew, scales, recall)
        self._weights, self.n_iter_ = None, 1

    def _report(self, n_passes: int, problem: Problem) -> None:
        """Say how far training has come."""
        if self.verbose and _is_round(n_passes):
            weights, _ = self._model.learner.weights(problem.state, self._model.vocabulary)
            print(f"pass {n_passes}: {np.count_nonzero(weights):,} features with nonzero weight")


def _is_round(n_passes: int) -> bool:
    """Return whether a pass is worth a line: of few rows there are thousands."""
    return n_passes <= 20 or n_passes % 10 ** (len(str(n_passes)) - 1) == 0
