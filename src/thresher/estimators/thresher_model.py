"""What the flagship's estimators have in common, whatever the labels are."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from thresher.estimators.decisions.columns import Columns
from thresher.estimators.decisions.decision import Decisions
from thresher.estimators.decisions.lengths import have_even_lengths, have_most_values
from thresher.estimators.decisions.selecting_steps import step_shares
from thresher.estimators.decisions.sizing import Size
from thresher.estimators.parameters import (
    LOSSES,
    PATHS,
    STEPS,
    Constraints,
)
from thresher.estimators.paths import PATH_RATES, PathsModel
from thresher.estimators.rates import schedule_for
from thresher.estimators.sized import Sized
from thresher.learners.judge import SALIENCE
from thresher.learners.pace import Schedule
from thresher.learners.protocol import Learner
from thresher.learners.thresher import SELECTING_HALVING, Thresher
from thresher.learners.timetable import Timetable, fixed_timetable
from thresher.validation import FLAG, Number, OneOf, Whole

# A stream passes once and cannot afford short steps: the selecting paths' share of the refit's, and
# how much longer the others' are. Slopes that grow with the error bear no more than the refit's.
STREAM_SHARE, FITTING, LATE_HALVING = 2.0, 2.0, 5.0
BOUNDED = ("log_loss", "hinge")
AUTO_PASSES, AUTO_UPDATES = 20, 80_000


@dataclass(kw_only=True, eq=False, repr=False)
class ThresherModel(Sized, PathsModel):
    """A linear model with few, stably selected features.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, or a share of all columns. "auto" lets ``fit`` choose
        on held-out rows, and ``size_choice_`` says what was chosen and why; ``partial_fit`` keeps
        one per cent of the columns that occur, and at least 100.
    n_paths : int, default=16
        Parallel SGD paths.
    normalize : bool or "auto"
        Whether rows are scaled to unit length, in training and prediction: long documents then
        count no more than short ones. "auto", the classifier's default, scales them unless rows are
        dense, with values in two thirds of the cells or more, and have similar lengths: a standard
        deviation below half of the mean. ``rows_normalized_`` says which. ``partial_fit`` cannot
        know, and scales.
    n_stages : int, default=40
        Stages in which features are purged.
    rejection_rate : float, default=0.0
        Share of updates that the first shrinkage cancels in ``fit``; it falls with the share of
        features left. With 0 weights are not shrunk, and features are purged by rank all the same.
        0.7 may lower the error on text, and makes the selection from few rows a little stabler; on
        dense columns it raises the error.
    refit : float, default=0.3
        Share of the updates that fit the features left at the end.
    eta0 : float or "auto", default="auto"
        Length of the steps of the refit; those of the selection grow from a thirtieth of it to as
        long in ``fit``, are shorter where a classifier has fewer than 6,000 rows, and up to twice
        as long in ``partial_fit``. A number is the absolute rate; "auto" is relative to the rows'
        mean squared norm.
    max_iter : int or "auto", default="auto"
        Passes over the rows in ``fit``; "auto" is 20, and more where that is less than 80,000
        updates.
    tol : float or None, default=None
        Ends the refit after a pass in which no weight changed by more than this share of the
        largest; None never ends early.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the features and weights selected before.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the paths' weights: single has room for 16 of them side by side and gives the
        same bits on every machine; double for 8.
    """

    constraints: ClassVar[Constraints] = {
        **STEPS,
        **PATHS,
        "n_features_to_select": (
            OneOf("auto"),
            Whole(1),
            Number(0, 1, open_low=True, open_high=True),
        ),
        "normalize": (OneOf("auto"), *FLAG),
        "n_stages": (Whole(1),),
        "rejection_rate": (Number(0, 1),),
        "refit": (Number(0, 1, open_high=True),),
        "max_iter": (OneOf("auto"), Whole(1)),
        "dtype": (OneOf("float32", "float64"),),
    }
    decisions: ClassVar[Decisions] = (Columns(), Size())
    measures_columns: ClassVar[bool] = True
    salience: ClassVar[tuple[float, float]] = SALIENCE

    # no parameters: how much of the rows is their own, if they are few, and how many times as long
    # as usual steps are
    _own, _step_scale = None, 1.0
    n_features_to_select: int | float | str = "auto"
    n_paths: int = 16
    n_stages: int = 40
    rejection_rate: float = 0.0
    refit: float = 0.3
    paths: str = "shared"
    normalize: bool | str = "auto"
    eta0: float | str = "auto"
    learning_rate: str = "constant"
    max_iter: int | str = "auto"
    tol: float | None = None
    dtype: str = "float32"

    def _begin_columns(self) -> None:
        super()._begin_columns()
        self._step_scale = 1.0  # an earlier fit has no say

    def _settle_columns(self, rows: sparse.csr_array) -> None:
        super()._settle_columns(rows)
        if self.normalize == "auto" and have_most_values(rows):
            even = have_even_lengths(self._as_learnt(rows))
            self._model.vocabulary.normalize = not even

    def _asks_first_rows(self) -> bool:
        """Return True: they tell how columns are to be learnt, and maybe how many to keep."""
        return True

    def _most_passes(self) -> None:
        return None

    def _unseen_kept(self) -> list[bool]:
        return [False for _ in self._states()]

    def _stream_passes(self, n_rows: int | None) -> int | None:
        if self.max_iter == "auto":
            return 1 if n_rows is None else None
        return int(self.max_iter) if n_rows is None or self.max_iter == 1 else None

    def _wants_all(self) -> bool:
        return self.max_iter != 1

    def _stream_learner(self, n_rows: int | None) -> Learner:
        # a single pass over few rows is as good as one whose length nobody knows: the first of them
        # have to be learnt several times
        if self.max_iter == 1 and (n_rows or 0) < AUTO_UPDATES:
            n_rows = None
        return replace(self._learner(n_rows), shared=True)

    def _learner(self, n_rows: int | None) -> Thresher:
        first, last, fitting, halving = 1.0, 1.0, 1.0, SELECTING_HALVING
        if n_rows is not None:
            first, last = self._step_shares(n_rows, self._planned_updates(n_rows))
        elif self.loss in BOUNDED:
            first, last, fitting = STREAM_SHARE, STREAM_SHARE, FITTING
        else:
            halving = LATE_HALVING
        return Thresher(
            loss=LOSSES[self.loss],
            n_paths=self.n_paths,
            shared=self.paths == "shared" or n_rows is None,
            seed=self._seed,
            rejection_rate=float(self.rejection_rate),
            **self._steps_between(first, last),
            refitting=self._steps(),
            n_features=self._wanted(),
            timetable=self._timetable(n_rows),
            dtype=np.dtype(self.dtype),
            fitting=fitting,
            halving=halving,
            salience=self.salience,
            rehearses=n_rows is None,
        )

    def _step_shares(self, n_rows: int, updates: float) -> tuple[float, float]:
        """Return the shares of the refit's steps in the first stage and in the last."""
        return step_shares(self, n_rows, updates)

    def _steps_between(self, first: float, last: float) -> dict[str, Any]:
        """Return how a learner's steps grow from a share of the refit's to another."""
        return {"selecting": self._steps(first), "growth": last / first}

    def _steps(self, share: float = 1.0) -> Schedule:
        """Return the steps of the refit, or a share of them."""
        return schedule_for(self, PATH_RATES[self.loss], self._step_scale * share)

    def _timetable(self, n_rows: int | None) -> Timetable:
        """Return the timetable for so many rows; None for a stream."""
        if n_rows is None:
            return Timetable(self.n_stages)
        return fixed_timetable(self._planned_updates(n_rows), self.n_stages, self.refit)

    def _planned_updates(self, n_rows: int) -> int:
        if self.max_iter == "auto":
            return _usual_updates(n_rows)
        return int(self.max_iter) * n_rows

    def _trial_updates(self, n_rows: int) -> int:
        """Return the updates that compare sizes: however long a fit, they tell as much by then."""
        return min(self._planned_updates(n_rows), _usual_updates(n_rows))


def _usual_updates(n_rows: int) -> int:
    return max(AUTO_PASSES * n_rows, AUTO_UPDATES)
