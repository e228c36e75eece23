"""What margins mean, by rows that had no part in them.

Rows think too well of features that were chosen from them, and weights that were fitted to them:
where they are few, new rows' margins are less sure than they seem. Where one class has fewer rows
than the other, its rows do most of all: among new rows those of that class have far smaller margins
than it seemed, and the intercept, which was to part the classes, parts off too few. Folds that
select and fit without the rows they judge show by how much; and whether weights that are held back
by a penalty would tell them better than the refit's.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from thresher.kernels.losses import LOG_LOSS
from thresher.learners.thresher import Thresher
from thresher.train.passes import Passes
from thresher.train.platt import Line, likeliest_line, log_losses
from thresher.train.shrinking import Plan, Sight
from thresher.train.size_rule import mean_and_error
from thresher.train.sizing import Trial, see_folds
from thresher.workers import Workers

INSISTED = 2.0  # twice the loss that a shift must save: chance does so in one of six cases
DOUBT = 0.5  # standard errors of what a penalty must save


class Counsel(NamedTuple):
    """What held-out rows advise: a line for margins, and a penalty for weights, if any."""

    line: Line = Line()
    penalty: float | None = None


def held_out_counsels(
    learner: Thresher,
    plan: Plan,
    trial: Trial,
    sizes: Sequence[int],
    passes: Passes,
    run_all: Workers,
) -> list[Counsel]:
    """Return what should become of every problem's margins; each has a size among the plan's."""
    problems = trial.by_problem(see_folds(learner, plan, trial, passes, run_all))
    weights = trial.pooled(trial.batch.importance)
    return [
        counsel_of([one[size] for one in folds], plan.penalties, targets, weights, learner.loss)
        for folds, size, targets in zip(problems, sizes, trial.pooled_targets(), strict=True)
    ]


def counsel_of(
    folds: list[Sight],
    penalties: Sequence[float],
    targets: np.ndarray,
    weights: np.ndarray,
    loss: int,
) -> Counsel:
    """Return what all folds advise: the weights whose margins, their line drawn, lose least."""
    pooled = [np.concatenate(some) for some in _by_weights(folds)]
    lines = [line_for(margins, targets, weights, loss) for margins in pooled]
    losses = [
        log_losses(line.scale * margins + line.shift, targets)
        for line, margins in zip(lines, pooled, strict=True)
    ]
    best = int(np.argmin([np.average(mine, weights=weights) for mine in losses]))
    saved, error = mean_and_error(losses[0] - losses[best], weights)
    if saved > DOUBT * error:
        return Counsel(lines[best], penalties[best - 1])
    return Counsel(lines[0])


def _by_weights(folds: list[Sight]) -> list[tuple[np.ndarray, ...]]:
    """Return every fold's margins by the refit's weights, then by those under each penalty.

    From the first penalty on under which numbers overflow there is nothing.
    """
    refitted, *others = zip(*([one.margins, *one.restrained] for one in folds), strict=True)
    return [refitted, *takewhile(_are_finite, others)]


def _are_finite(some: tuple[np.ndarray, ...]) -> bool:
    return all(np.isfinite(one).all() for one in some)


def line_for(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray, loss: int) -> Line:
    """Return what should become of margins like those of held-out rows; nothing, if they are wrong.

    Only the log loss gives margins a meaning to be right in: others' are shifted only.
    """
    line = likeliest_line(margins, targets, weights, INSISTED)
    if line.scale <= 0:
        return Line()
    return line if loss == LOG_LOSS else line.of_unit_scale()
