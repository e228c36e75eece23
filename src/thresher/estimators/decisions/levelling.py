"""What few rows do to margins, and to weights, is set right.

With one feature and more for every two rows of a class these are fitted too well, and most of all
where the other class has more. And how far weights should go few rows cannot tell by themselves.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.estimators.decisions.asking import rarer_of, short_run
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.sizing import FOLDS, folds_of, strata_of, trial_on
from thresher.estimators.gathering import Labelled
from thresher.files import access
from thresher.train import Passes, Sample
from thresher.train.levelling import Counsel, held_out_counsels
from thresher.train.likeliest import MANY_ROWS
from thresher.train.platt import Line
from thresher.train.restraint import PENALTIES, restrain, stretch
from thresher.workers import Workers

# Measured by ``python -m experiments.unequal``.
# Features for each row of the rarer class from which on margins are looked at; the fewer, the more
# its rows weigh beside the others.
FEATURES_PER_ROW = 0.5
FEWEST = 8  # rows of it that can say anything of margins,
FEWEST_TO_CHOOSE = 100  # ... and that can choose among penalties


class Margins(Decision):
    """What margins mean, by held-out rows, where rows are few or a class is rare."""

    def prepare_source(self, estimator: Any, some: Labelled | None) -> None:
        """Leave margins alone: the rows of a source are not at hand."""
        estimator._lines = None

    def complete(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Let margins be what held-out rows make of them."""
        model, learner = estimator._model, estimator._model.learner
        counsels = held_out(estimator, learnt, run_all)
        estimator._lines = [counsel.line for counsel in counsels]
        each = zip(model.problems, learnt.targets, counsels, strict=True)
        for problem, mine, (line, penalty) in each:
            if penalty is not None:
                given = GivenRows(learnt.rows, model.vocabulary, learner.dtype)
                restrain(learner, problem, given, mine, learnt.importance, penalty)
            if line != Line():
                stretch(learner, problem, model.vocabulary, line)
            if estimator.verbose and (line, penalty) != Counsel():
                print(told(line, penalty))


def held_out(estimator: Any, learnt: Sample, run_all: Workers) -> list[Counsel]:
    """Return every problem's counsel; that of problems that need none changes nothing.

    The likeliest weights are as long as rows would have them, and shifted only.
    """
    rows, targets, importance = learnt
    all_paths = estimator._states()
    sizes = [int(paths.stable.sum()) for paths in all_paths]
    settled = [estimator._model.learner.has_settled(paths) for paths in all_paths]
    asked = _asked(estimator, sizes, learnt)
    folds = folds_of(strata_of(estimator, targets), FOLDS, estimator._seed) if asked else []
    counsels = [Counsel() for _ in targets]
    if len(folds) < 2:
        return counsels
    mine = [sizes[k] for k in asked]
    trial = trial_on(estimator, rows, [targets[k] for k in asked], importance, folds)
    learner, plan = short_run(estimator, min(fold.training.size for fold in folds), mine)
    choosing = all(can_choose(targets[k]) and not settled[k] for k in asked)
    if choosing and estimator.loss == "log_loss":
        plan = replace(plan, penalties=PENALTIES)
    passes = Passes(None, 0.0, estimator.shuffle, estimator._seed)
    found = held_out_counsels(learner, plan, trial, mine, passes, run_all)
    for place, counsel in zip(asked, found, strict=True):
        line = counsel.line
        counsels[place] = Counsel(line.of_unit_scale()) if settled[place] else counsel
    return counsels


def _asked(estimator: Any, sizes: list[int], learnt: Sample) -> list[int]:
    """Return which problems need to ask; without intercept or refit nothing can be mended.

    Weights that are held back by what they could not know have no need to.
    """
    if not (estimator.fit_intercept and estimator.refit):
        return []

    def needs_to(size: int, targets: np.ndarray) -> bool:
        few = estimator.loss == "log_loss" and are_few(targets)
        return few or outnumber_a_class(size, targets, learnt.importance)

    each = zip(estimator._states(), sizes, learnt.targets, strict=True)
    return [
        number
        for number, (paths, size, mine) in enumerate(each)
        if not paths.stage.held_back and needs_to(size, mine)
    ]


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
