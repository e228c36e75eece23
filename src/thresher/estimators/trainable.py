"""What a model is made of while it learns: its training, all or nothing, and in files."""

import threading
from operator import is_
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from thresher.estimators.base import LinearModel, Snapshot
from thresher.estimators.parameters import HasParameters
from thresher.files import access
from thresher.fitted import Fitted
from thresher.formats.names import ZERO, KnownNames, Names, names_from_tree
from thresher.online.protocol import Online
from thresher.online.training import Training
from thresher.prepare import Preparation


class TrainableModel(HasParameters, LinearModel):
    """A linear model, and all that learning needs to go on.

    Learning works on a draft, or undoes what it has done, so that whatever goes wrong in a call
    leaves the model as it was before. Several threads may call it: they wait for each other.
    """

    fixed: ClassVar[tuple[str, ...]] = ()  # parameters that shape what is learned from the start
    stored: ClassVar[dict[str, Any]] = {
        **LinearModel.stored,
        "n_iter_": int,
        "data_fingerprint_": str,
        "seed_": int,
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
    seed_: int  # of everything random, as drawn from ``random_state``
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

    def _begin(self, stream: bool) -> None:
        """Start without having learned anything."""
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        self._prepared = self._preparation()
        self._class_counts = np.zeros(len(getattr(self, "classes_", ())), np.int64)
        learner = self._stream_learner() if stream else self._learner()
        self.training_ = Training.start(learner, self._n_problems(), self.n_features_in_)
        self._begun_with = {name: getattr(self, name) for name in self.fixed}

    def _checked_learner(self) -> Online:
        """Return the learner of a stream; parameters are checked when they have changed."""
        values = [vars(self)[one.name] for one in self.parameters]
        known = vars(self).get("_settings")
        if known is not None and all(map(is_, values, known[0])):
            return known[1]
        self.check_parameters()
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
                self.link(),
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
        self._snapshot = Snapshot(fitted, selection)
        self.n_features_in_ = fitted.n_columns
        if fitted.labels is not None:
            self.classes_ = fitted.labels
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
        self._begun_with = access.part(tree, "begun_with", access.Tree)
        access.same_names(self._begun_with, self.fixed, "fixed parameters")
        training = Training.from_tree(
            access.part(tree, "training", access.Tree), self._first_learner()
        )
        if len(training.problems) != self._n_problems():
            access.refuse(f"there are {len(training.problems)} problems")
        n_classes = len(getattr(self, "classes_", ()))
        self._class_counts = access.array(tree, "class_counts", np.int64, (n_classes,))
        self._prepared = self.fitted_.preparation
        names = access.part(tree, "names", access.Tree | None)
        self._names = None if names is None else names_from_tree(names)
        self.training_, self._read_only = training, False

    def _first_learner(self) -> Online:
        """Return a learner with the parameters that learning began with, changed since or not."""
        draft = self._draft(fresh=False)
        draft.set_params(**self._begun_with)
        draft.check_parameters()
        return draft._stream_learner()

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
    name for name in (*TrainableModel.__annotations__, "_snapshot") if name.startswith("_")
)
