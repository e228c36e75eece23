"""Models that learn one row at a time, from arrays, streams and files."""

import copy
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from thresher.estimators.base import LinearModel, Snapshot
from thresher.estimators.inputs import check_rows, frame_names, is_dicts, rows_by_name
from thresher.estimators.labels import check_weights, with_weight
from thresher.estimators.overflow import overflowed
from thresher.estimators.parameters import HasParameters
from thresher.files import access
from thresher.fitted import Fitted, Scorer
from thresher.formats.names import (
    ZERO,
    GrowingNames,
    HashedNames,
    KnownNames,
    Names,
    names_from_tree,
)
from thresher.online.passes import Passes
from thresher.online.protocol import Online, Overflow
from thresher.online.training import Training
from thresher.prepare import Preparation
from thresher.rows import Rows
from thresher.threads import threads

if TYPE_CHECKING:
    from thresher.estimators.streaming import SourceTraining
    from thresher.formats.protocol import Source


class OnlineModel(HasParameters, LinearModel):
    """A linear model that learns one row at a time; what labels mean is for others to know.

    Whatever goes wrong in a call leaves the model as it was before. Several threads may call it:
    they wait for each other.
    """

    fixed: ClassVar[tuple[str, ...]] = ()  # parameters that shape what is learned from the start
    stored: ClassVar[dict[str, Any]] = {
        **LinearModel.stored,
        "n_iter_": int,
        "data_fingerprint_": str,
        "_seed": int,
    }

    loss: str
    max_iter: int
    # What an estimator does not declare among its parameters is as follows.
    tol: float | None = None
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0
    n_iter_: int
    data_fingerprint_: str
    training_: Training
    _prepared: Preparation
    _seed: int
    _class_counts: np.ndarray
    _begun_with: dict[str, Any]
    _settings: tuple[list[Any], Online]  # parameters that were checked, and their learner
    _names: Names | None = None  # of a source whose columns have names
    _read_only: bool = False  # whether it is from a file that only predicts

    # ------------------------------------------------------------------------------ for others

    def _learner(self) -> Online:
        """Return the learner that the parameters describe."""
        raise NotImplementedError

    def _stream_learner(self) -> Online:
        """Return the learner of a stream, which has only one order of rows."""
        return self._learner()

    def _preparation(self) -> Preparation:
        """Return what is done to rows before they are learned."""
        return Preparation.none()

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
            self._check_parameters()
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
            if "training_" not in vars(self):
                self._refuse_read_only()
                self._check_parameters()
                draft = self._draft(fresh=True)
                rows = draft._checked(X, reset=True)
                draft._begin_classes(classes)
                targets = draft.known_targets(y, rows.n)
                draft._begin(stream=True)
                draft._learn_rows(rows, targets, check_weights(sample_weight, rows.n))
                return self._become(draft)
            if classes is not None:
                self._refuse_other_classes(classes)
            with self._new_columns():
                rows = self._checked(X)
                targets = self.known_targets(y, rows.n)
                self._learn_rows(rows, targets, check_weights(sample_weight, rows.n))
            return self

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
            return check_rows(self, X, reset)
        rows = rows_by_name(X, self._names, learn=True)
        self.n_features_in_ = len(self._names or ())
        if not reset:
            self.training_.vocabulary.widen(self.n_features_in_)
        return rows

    @contextmanager
    def _new_columns(self) -> Iterator[None]:
        """Forget columns that are new in rows that cannot be learned."""
        width, known = self.n_features_in_, len(self._names or ())
        try:
            yield
        except BaseException:
            self.n_features_in_ = width
            if isinstance(self._names, GrowingNames):
                self._names.forget_from(known)
            raise

    def fit_stream(
        self, source: Any, classes: Any = None, cache: bool = True, **reading: Any
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
            self._check_parameters()
            draft = self._draft(fresh=True)
            notify = print if self.verbose else None
            opened = training_source(draft, source, cache, reading, notify=notify)
            for _ in draft.start_training(opened, classes).steps():
                pass
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
        self.data_fingerprint_ = source.fingerprint()
        names = source.names
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
    def seed_(self) -> int:
        """Seed of everything random, as drawn from ``random_state``."""
        return self._seed

    def stream_margins(self, rows: Rows) -> np.ndarray:
        """Return the margins of rows by what was learned up to now, before it is looked at."""
        return Scorer(self._make_fitted(named=False)).margins(rows)

    def _begin(self, stream: bool) -> None:
        """Start without having learned anything."""
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self._prepared = self._preparation()
        self._class_counts = np.zeros(len(getattr(self, "classes_", ())), np.int64)
        learner = self._stream_learner() if stream else self._learner()
        self.training_ = Training.start(learner, self._n_problems(), self.n_features_in_)
        self._begun_with = {name: getattr(self, name) for name in self.fixed}

    def _fit_rows(self, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> None:
        """Learn rows at hand in several passes."""
        importance = self._importance(targets, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        self._count_rows(targets)
        passes = Passes(int(self.max_iter), self.tol or 0.0, self.shuffle, self._seed)
        report = _print_pass if self.verbose else None
        training = self.training_
        training.learner = self._learner()
        rows, goals = self._prepared.apply(rows), self._problem_targets(targets)
        try:
            with threads(self.n_jobs) as team:
                self.n_iter_ = training.fit(rows, goals, importance, passes, team, report)
        except Overflow as overflow:
            raise overflowed(vars(self), int(kept[overflow.row]), importance) from None
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
                row = first + int(kept[error.row])
                raise overflowed(vars(self), row, importance, where) from None
            raise
        self.__dict__.pop("row_counts_", None)  # fit had other rows
        self.__dict__.update(_class_counts=counts, _snapshot=Snapshot(), n_iter_=1)

    def _checked_learner(self) -> Online:
        """Return the learner of a stream; parameters are checked when they have changed."""
        values = [vars(self)[one.name] for one in self.parameters]
        known = vars(self).get("_settings")
        if known is not None and all(map(is_, values, known[0])):
            return known[1]
        self._check_parameters()
        self._refuse_changed()
        learner = self._stream_learner()
        self._settings = values, learner
        return learner

    def _refuse_changed(self) -> None:
        """Raise a ValueError if a parameter was changed that has shaped what was learned."""
        for name, value in self._begun_with.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} cannot go on from what was learned with "
                    f"{name}={value!r}. Set it back (set_params), or begin anew: fit, with "
                    "warm_start=False."
                )

    def _make_fitted(self, named: bool = True) -> Fitted:
        """Return the model as a value, with the names of its features or without."""
        with self._exclusive():
            columns, weights, intercepts = self.training_.weights()
            return Fitted(
                columns,
                self._prepared.raw_weights(columns, weights),
                intercepts,
                self.n_features_in_,
                self._prepared,
                self._link(),
                getattr(self, "classes_", None),
                self._feature_names(columns, self._prepared) if named else None,
            )

    def _feature_names(self, columns: np.ndarray, preparation: Preparation) -> Names | None:
        """Return the names of some columns, those of files or of a data frame.

        Columns that stand apart from the length of rows are needed, too, to predict.
        """
        columns = np.union1d(columns, preparation.measured)
        if self._names is not None:
            return self._names.only(columns)
        named = vars(self).get("feature_names_in_")
        if named is None:
            return None
        every = [str(name) for name in named]
        names = [every[column] for column in columns.tolist()]
        return KnownNames(columns, names, named.size, dict.fromkeys(every, ZERO))

    # ------------------------------------------------------------------------------- in files

    def restore(self, fitted: Fitted, selection: dict[str, np.ndarray]) -> None:
        """Take over what a file keeps of a model, with which learning cannot go on."""
        super().restore(fitted, selection)
        self._names, self._read_only = fitted.names, True

    def training_tree(self) -> dict[str, Any]:
        """Return all that learning needs to go on, as a tree of plain values."""
        self._refuse_read_only()
        return {
            "training": self.training_.tree(),
            "class_counts": self._class_counts,
            "begun_with": self._begun_with,
            "names": None if self._names is None else self._names.tree(),
        }

    def restore_training(self, tree: dict[str, Any]) -> None:
        """Take over what learning needs to go on."""
        self._begun_with = access.branch(tree, "begun_with")
        access.same_names(self._begun_with, self.fixed, "fixed parameters")
        training = Training.from_tree(access.branch(tree, "training"), self._first_learner())
        if len(training.problems) != self._n_problems():
            access.refuse(f"there are {len(training.problems)} problems")
        n_classes = len(getattr(self, "classes_", ()))
        self._class_counts = access.array(tree, "class_counts", np.int64, (n_classes,))
        self._prepared = self._fitted.preparation
        names = tree["names"]
        self._names = None if names is None else names_from_tree(access.branch(tree, "names"))
        self.training_, self._read_only = training, False

    def _first_learner(self) -> Online:
        """Return a learner with the parameters that learning began with, changed since or not."""
        model = self._draft(fresh=False)
        model.set_params(**self._begun_with)
        model._check_parameters()
        return model._stream_learner()

    def _refuse_read_only(self) -> None:
        """Raise a ValueError if learning would have to go on from a file that only predicts."""
        if vars(self).get("_read_only"):
            raise ValueError(
                "This model was loaded from a file that has only what prediction needs: learning "
                "cannot go on from it. Save models with training_state=True, or fit anew (with "
                "warm_start=False)."
            )

    # ------------------------------------------------------------------------- all or nothing

    def _exclusive(self) -> Any:
        """Return the lock under which the model learns and is read."""
        return self.__dict__.setdefault("_lock", threading.RLock())

    def _draft(self, fresh: bool) -> Self:
        """Return a copy to learn on, without what was learned if it is to be ``fresh``."""
        draft = object.__new__(type(self))
        known = dict(vars(self))
        if fresh:
            learned = {name for name in known if name in LEARNED or name.endswith("_")}
            known = {name: one for name, one in known.items() if name not in learned}
        draft.__dict__.update(known)
        return draft

    def _become(self, draft: Self) -> Self:
        """Take over all that a draft has learned, at once."""
        self.__dict__ = draft.__dict__
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock out."""
        state = dict(super().__getstate__())
        state.pop("_lock", None)
        return state


# Attributes that come from learning, besides those whose names end in "_".
LEARNED = frozenset(
    name for name in (*OnlineModel.__annotations__, "_snapshot") if name.startswith("_")
)


def _print_pass(number: int, n_features: int) -> None:
    print(f"pass {number}: {n_features:,} features with nonzero weight")
