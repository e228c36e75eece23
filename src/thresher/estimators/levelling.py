"""A classifier that sets right what few rows do to its margins, and to its weights.

With one feature and more for every two rows of a class these are fitted too well, and most of all
where the other class has more. And how far weights should go few rows cannot tell by themselves.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from thresher.data.given_rows import GivenRows
from thresher.estimators.gathering import Labelled
from thresher.estimators.selecting_steps import SuitsRows
from thresher.estimators.sizing import FOLDS, folds_of, strata_of, trial_on, trying_learner
from thresher.files import access
from thresher.learners.thresher import Thresher
from thresher.train import Passes
from thresher.train.levelling import Counsel, held_out_counsels
from thresher.train.likeliest import MANY_ROWS
from thresher.train.platt import Line
from thresher.train.restraint import PENALTIES, restrain, stretch
from thresher.train.shrinking import Plan
from thresher.workers import Workers

# Measured by ``python -m experiments.unequal``.
# Features for each row of the rarer class from which on margins are looked at; the fewer, the more
# its rows weigh beside the others.
FEATURES_PER_ROW = 0.5
FEWEST = 8  # rows of it that can say anything of margins,
FEWEST_TO_CHOOSE = 100  # ... and that can choose among penalties
N_PATHS, STAGES = 4, 6
# The folds' updates, as shares of a fit's or in passes, whichever is more; never more than a fit's.
SELECTING, REFITTING = (1 / 7, 5), (0.2, 2)


class LevelsClasses(SuitsRows):
    """The part of the flagship that asks held-out rows what its margins mean, where rows are few.

    ``margin_lines_`` says what came of it.
    """

    levels: ClassVar[bool] = True
    _lines: list[Line] | None = None

    @property
    def margin_lines_(self: Any) -> np.ndarray:
        """What held-out rows made of margins: a scale and a shift, for every class if many.

        They are part of weights and intercepts already: 1 and 0 where nothing was changed.
        """
        self._model_fitted()
        lines = self._lines or [Line()] * self._n_problems
        return np.array(lines[0] if len(lines) == 1 else lines)

    def _prepare_source(self: Any, some: Labelled | None) -> None:
        """Leave margins alone: the rows of a source are not at hand."""
        self._lines = None
        super()._prepare_source(some)

    def _level(
        self: Any,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> None:
        """Let margins be what held-out rows make of them."""
        model, learner = self._model, self._model.learner
        counsels = self._held_out(rows, targets, importance, run_all)
        self._lines = [counsel.line for counsel in counsels]
        for problem, mine, (line, penalty) in zip(model.problems, targets, counsels, strict=True):
            if penalty is not None:
                given = GivenRows(rows, model.vocabulary, learner.dtype)
                restrain(learner, problem, given, mine, importance, penalty)
            if line != Line():
                stretch(learner, problem, model.vocabulary, line)
            if self.verbose and (line, penalty) != Counsel():
                print(told(line, penalty))

    def _held_out(
        self: Any,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> list[Counsel]:
        """Return every problem's counsel; that of problems that need none changes nothing.

        The likeliest weights are as long as rows would have them, and shifted only.
        """
        all_paths = self._states()
        sizes = [int(paths.stable.sum()) for paths in all_paths]
        settled = [self._model.learner.has_settled(paths) for paths in all_paths]
        choosing = [
            self.loss == "log_loss" and can_choose(mine) and not has_settled
            for mine, has_settled in zip(targets, settled, strict=True)
        ]
        asked = self._asked(sizes, targets, importance)
        folds = folds_of(strata_of(self, targets), FOLDS, self._seed) if asked else []
        counsels = [Counsel() for _ in targets]
        if len(folds) < 2:
            return counsels
        mine = [sizes[k] for k in asked]
        trial = trial_on(self, rows, [targets[k] for k in asked], importance, folds)
        learner, plan = self._in_short(min(fold.training.size for fold in folds), mine)
        if all(choosing[k] for k in asked):
            plan = replace(plan, penalties=PENALTIES)
        passes = Passes(None, 0.0, self.shuffle, self._seed)
        found = held_out_counsels(learner, plan, trial, mine, passes, run_all)
        for place, counsel in zip(asked, found, strict=True):
            line = counsel.line
            counsels[place] = Counsel(line.of_unit_scale()) if settled[place] else counsel
        return counsels

    def _asked(
        self: Any,
        sizes: list[int],
        targets: list[np.ndarray],
        importance: np.ndarray,
    ) -> list[int]:
        """Return which problems need to ask; without intercept or refit nothing can be mended.

        Weights that are held back by what they could not know have no need to.
        """
        if not (self.levels and self.fit_intercept and self.refit):
            return []
        return [
            number
            for number, paths in enumerate(self._states())
            if not paths.stage.held_back
            and (
                (self.loss == "log_loss" and are_few(targets[number]))
                or outnumber_a_class(sizes[number], targets[number], importance)
            )
        ]

    def _in_short(self: Any, n_rows: int, sizes: list[int]) -> tuple[Thresher, Plan]:
        """Return a learner for folds of so many rows, and how it comes to models of some sizes."""
        planned = self._planned_updates(n_rows)
        selecting, refitting = (
            min(max(share * planned, passes * n_rows), planned)
            for share, passes in (SELECTING, REFITTING)
        )
        plan = Plan(sorted(set(sizes)), min(STAGES, self.n_stages), round(refitting))
        return trying_learner(self, n_rows, selecting, N_PATHS, plan.n_stages), plan


def outnumber_a_class(size: int, targets: np.ndarray, importance: np.ndarray) -> bool:
    """Return whether so many features are too many for the rows of the rarer class."""
    rarer = rarer_of(targets)
    count = int(np.count_nonzero(rarer))
    if count < FEWEST:
        return False
    weight = float(np.sum(importance[rarer]) / np.sum(importance))
    return size >= FEATURES_PER_ROW * count * (count / targets.size) / weight


def are_few(targets: np.ndarray, fewest: int = FEWEST) -> bool:
    """Return whether rows are too few to be believed of themselves, but enough to be asked."""
    return bool(targets.size < MANY_ROWS and np.count_nonzero(rarer_of(targets)) >= fewest)


def can_choose(targets: np.ndarray) -> bool:
    """Return whether rows are too few to say how long weights should be, but enough to ask."""
    return are_few(targets, FEWEST_TO_CHOOSE)


def rarer_of(targets: np.ndarray) -> np.ndarray:
    """Return the mask of the rows of the rarer class."""
    positive = targets > 0
    return positive if 2 * np.count_nonzero(positive) <= targets.size else ~positive


def told(line: Line, penalty: float | None) -> str:
    """Return in words what became of weights and margins."""
    held = "" if penalty is None else f"weights are held back by a penalty of {penalty:g}; "
    return f"{held}margins: {line.scale:.3g} times as large, and {line.shift:+.3g}"


def line_of(estimator: Any, problem: int) -> Line | None:
    """Return what became of a problem's margins; None if nothing did."""
    lines = getattr(estimator, "_lines", None) or []
    return next((line for line in lines[problem : problem + 1] if line != Line()), None)


def lines_tree(estimator: Any) -> dict[str, np.ndarray] | None:
    """Return what became of margins as a tree of plain values; None if nothing did."""
    lines = getattr(estimator, "_lines", None)
    if lines is None or all(line == Line() for line in lines):
        return None
    return {name: np.array([getattr(line, name) for line in lines]) for name in Line._fields}


def lines_from_tree(tree: dict[str, Any], n_problems: int) -> list[Line]:
    """Return what gave a tree."""
    numbers = [access.array(tree, name, np.float64, (n_problems,)) for name in Line._fields]
    if not np.isfinite(numbers).all():
        access.refuse("what became of margins is not finite")
    return [Line(*pair) for pair in zip(*(some.tolist() for some in numbers), strict=True)]
