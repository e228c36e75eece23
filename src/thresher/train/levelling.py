"""What margins mean, by rows that had no part in them.

Rows think too well of features that were chosen from them, and weights that were fitted to them:
where they are few, new rows' margins are less sure than they seem. Where one class has fewer rows
than the other, its rows do most of all: among new rows those of that class have far smaller margins
than it seemed, and the intercept, which was to part the classes, parts off too few. Folds that
select and fit without the rows they judge show by how much.
"""

from collections.abc import Sequence

import numpy as np

from thresher.kernels.losses import LOG_LOSS
from thresher.learners.thresher import Thresher
from thresher.train.passes import Passes
from thresher.train.platt import Line, likeliest_line
from thresher.train.shrinking import Plan
from thresher.train.sizing import Trial, see_folds
from thresher.workers import Workers

INSISTED = 2.0  # twice the loss that a shift must save: chance does so in one of six cases


def held_out_lines(
    learner: Thresher,
    plan: Plan,
    trial: Trial,
    sizes: Sequence[int],
    passes: Passes,
    run_all: Workers,
) -> list[Line]:
    """Return what should become of every problem's margins; each has a size among the plan's."""
    problems = trial.by_problem(see_folds(learner, plan, trial, passes, run_all))
    weights = trial.pooled(trial.batch.importance)
    return [
        line_for(
            np.concatenate([one[size].margins for one in folds]), targets, weights, learner.loss
        )
        for folds, size, targets in zip(problems, sizes, trial.pooled_targets(), strict=True)
    ]


def line_for(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray, loss: int) -> Line:
    """Return what should become of margins like those of held-out rows; nothing, if they are wrong.

    Only the log loss gives margins a meaning to be right in: others' are shifted only.
    """
    line = likeliest_line(margins, targets, weights, INSISTED)
    if line.scale <= 0:
        return Line()
    return line if loss == LOG_LOSS else line.of_unit_scale()
