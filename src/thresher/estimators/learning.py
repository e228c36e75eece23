"""Models that learn one row at a time, from arrays, streams and files."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thresher.estimators.base import Snapshot
from thresher.estimators.inputs import (
    frame_names,
    is_dicts,
    rows_by_name,
    tidy_rows,
    unchecked_rows,
)
from thresher.estimators.labels import check_weights, with_weight
from thresher.estimators.trainable import TrainableModel
from thresher.fitted import Scorer
from thresher.formats.names import (
    GrowingNames,
    HashedNames,
    Names,
)
from thresher.online.passes import Passes
from thresher.online.protocol import Overflow
from thresher.rows import Rows
from thresher.threads import threads

if TYPE_CHECKING:
    from thresher.estimators.streaming import Given, SourceTraining
    from thresher.formats.protocol import Source


class OnlineModel(TrainableModel):
    """A linear model that learns one row at a time; what labels mean is for others to know."""

    def _begin_classes(self, classes: Any) -> None:
        """Take over the classes given for a stream."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows that are all at hand.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array of shape (n_rows,)
            Labels of two or more classes; for regressors finite numbers.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts; rows of weight 0 are left out.
        """
        with self._exclusive():
            self.check_parameters()
            if self.warm_start:
                self._refuse_read_only()
            going_on = self.warm_start and "training_" in vars(self)
            draft = self._draft(fresh=not going_on)
            rows = draft._checked(X, reset=not going_on)
            if going_on:
                draft._refuse_changed()
                targets = draft.known_targets(y, rows.n)
                draft.training_ = copy.deepcopy(self.training_)
            else:
                targets = draft._begin_targets(y, rows.n)
                draft._begin(stream=False)
            draft._fit_rows(rows, targets, check_weights(sample_weight, rows.n))
            return self._become(draft)

    def _learn_next(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        """Learn the next rows of a stream; the first call begins it."""
        with self._exclusive():
            begins = "training_" not in vars(self)
            draft = self._draft(fresh=True) if begins else self
            if begins:
                self._refuse_read_only()
                self.check_parameters()
            elif classes is not None:
                self._refuse_other_classes(classes)
            with draft._new_columns():
                rows = draft._checked(X, reset=begins)
                if begins:
                    draft._begin_classes(classes)
                    draft._begin(stream=True)
                targets = draft.known_targets(y, rows.n)
                draft._learn_rows(rows, targets, check_weights(sample_weight, rows.n))
            return self._become(draft)

    def learn_one(self, x: Mapping[str, Any], y: Any, classes: Any = None) -> Self:
        """Learn one row of a stream, a dict of features, as ``partial_fit`` does.

        The first call needs ``classes``, unless labels are True and False, or numbers to predict.
        """
        begins = "training_" not in vars(self)
        known = [False, True] if begins and isinstance(y, bool) else None
        return self._learn_next([x], np.array([y]), None, known if classes is None else classes)

    def _checked(self, X: Any, reset: bool = False) -> Rows:
        """Return finite rows in canonical form; with ``reset``, their columns are the model's."""
        if reset and is_dicts(X):
            self._names = GrowingNames()
        elif not (is_dicts(X) or (self._names is not None and frame_names(X) is not None)):
            return tidy_rows(self, *unchecked_rows(self, X, reset))
        known, goes_on = len(self._names or ()), "training_" in vars(self)
        rows = rows_by_name(X, self._names, learn=True)
        if not (reset or goes_on) and (rows.columns >= known).any():
            self._forget_from(known)
            raise ValueError("X has features that the model does not know by name: leave them out.")
        self.n_features_in_ = len(self._names or ())
        if goes_on and not reset:
            self.training_.vocabulary.widen(self.n_features_in_)
        return rows

    @contextmanager
    def _new_columns(self) -> Iterator[None]:
        """Forget columns that are new in rows that cannot be learned."""
        width, known = vars(self).get("n_features_in_", 0), len(self._names or ())
        try:
            yield
        except BaseException:
            self.n_features_in_ = width
            self._forget_from(known)
            raise

    def _forget_from(self, column: int) -> None:
        """Forget the names of a column and of newer ones."""
        if isinstance(self._names, GrowingNames):
            self._names.forget_from(column)

    def fit_stream(
        self, source: "Given", classes: Any = None, cache: bool = True, **reading: Any
    ) -> Self:
        """Learn from files larger than memory, or from any stream of rows.

        Memory follows the features, not the rows. Files are read ``max_iter`` times, in a new
        order with ``shuffle``; what can be read only once is learned in its own order.

        Parameters
        ----------
        source : path, list of paths, source or iterable
            Files (see ``thresher.open_rows`` for their formats), or what yields tuples of rows and
            labels, or of rows, labels and weights.
        classes : array, optional
            For classifiers, all labels that occur. Needed if the first rows do not have them all.
        cache : bool, default=True
            Whether large text that is read more than once is kept in binary form in the user's
            cache.
        **reading
            How files are read: the options of ``thresher.open_rows``.
        """
        from thresher.estimators.streaming import training_source

        with self._exclusive():
            self.check_parameters()
            draft = self._draft(fresh=True)
            notify = print if self.verbose else None
            opened = training_source(draft, source, cache, reading, notify=notify)
            for _ in draft.start_training(opened, classes).steps():
                pass
            if self.verbose:
                print(*opened.decided, sep="\n")
            return self._become(draft)

    def start_training(
        self, source: "Source", classes: Any = None, watched: bool = False
    ) -> "SourceTraining":
        """Return what learns a source step by step, without having learned anything."""
        from thresher.estimators.streaming import StreamTraining

        return StreamTraining.begin(self, source, classes, watched)

    def begin_stream(self, classes: Any = None) -> None:
        """Start to learn a source, without having learned anything."""
        self.n_features_in_ = 0
        self._begin_classes(classes)
        self._begin(stream=True)

    def learn_stream(
        self,
        source: "Source",
        rows: Rows,
        width: int,
        targets: np.ndarray,
        weights: np.ndarray,
        passes: int,
        first: int,
        where: str,
    ) -> None:
        """Learn the next rows of a source, all or none; so many passes are finished."""
        with self._exclusive():
            self.training_.vocabulary.widen(width)
            self._learn_rows(rows, targets, weights, first, where)
            self.n_features_in_ = max(self.n_features_in_, width)
            self._names, self.index_base_ = source.names, source.index_base
            self.n_iter_ = passes + 1

    def end_stream(self, source: "Source") -> None:
        """Note where the model comes from, once a source has been learned."""
        self.end_source(source.fingerprint(), source.names)

    def end_source(self, fingerprint: str, names: Names | None) -> None:
        """Note the fingerprint of what was learned, and the names of its columns."""
        self.data_fingerprint_ = fingerprint
        if names is None or isinstance(names, HashedNames):
            return
        kinds = names.kinds
        if len(kinds) == len(names) and None not in kinds.values():  # a table of numbers
            self.feature_names_in_ = np.array(list(kinds), object)

    @property
    def stream_passes(self) -> int:
        """How often a source is read; once by estimators that do not declare it."""
        return int(getattr(self, "max_iter", 1))

    @property
    def known_names(self) -> Names | None:
        """Names of a stream's columns up to now, after which others are numbered."""
        return self._names

    def stream_margins(self, rows: Rows) -> np.ndarray:
        """Return the margins of rows by what was learned up to now, before it is looked at."""
        return Scorer(self._make_fitted(named=False)).margins(rows)[0]

    def _fit_rows(self, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> None:
        """Learn rows at hand in several passes."""
        importance = self.importance_of(targets, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        self._count_rows(targets)
        passes = Passes(int(self.max_iter), self.tol or 0.0, self.shuffle, self.seed_)
        report = _print_pass if self.verbose else None
        training = self.training_
        training.learner = self._learner()
        rows, goals = self._prepared.apply(rows), self._problem_targets(targets)
        try:
            with threads(self.n_jobs) as team:
                self.n_iter_ = training.fit(rows, goals, importance, passes, team, report)
        except Overflow as overflow:
            raise overflow.explained(vars(self), kept, importance) from None
        self._snapshot = Snapshot(self._make_fitted())

    def _count_rows(self, targets: np.ndarray) -> None:
        """Note how many rows there are to learn from, of each class or all together."""
        n_classes = len(getattr(self, "classes_", ()))
        places = targets if n_classes else np.zeros(targets.size, np.int64)
        self.row_counts_ = np.bincount(places, minlength=max(n_classes, 1))

    def _learn_rows(
        self,
        rows: Rows,
        targets: np.ndarray,
        weights: np.ndarray,
        first: int = 0,
        where: str = "",
    ) -> None:
        """Learn the next rows of a stream, all or none; errors count them from ``first``."""
        learner, training = self._checked_learner(), self.training_
        importance, counts = self._running_importance(targets, weights, self._class_counts)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        before, training.learner = training.learner, learner
        try:
            with threads(self.n_jobs) as team:
                rows = self._prepared.apply(rows)
                training.learn(rows, self._problem_targets(targets), importance, team)
        except BaseException as error:
            training.learner = before
            if isinstance(error, Overflow):
                numbers = np.asarray(kept) + first
                raise error.explained(vars(self), numbers, importance, where) from None
            raise
        self.__dict__.pop("row_counts_", None)  # fit had other rows
        self.__dict__.update(_class_counts=counts, _snapshot=Snapshot(), n_iter_=1)


def _print_pass(number: int, n_features: int) -> None:
    print(f"pass {number}: {n_features:,} features with nonzero weight")
