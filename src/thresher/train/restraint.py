"""Weights of classes, held back by a penalty or stretched.

How long weights should be hangs on how much of what rows tell is chance. Many rows say so
themselves (``likeliest``); few think too well of features that were chosen from them. There
held-out rows choose among some penalties, and the refit, which has none: see ``levelling``.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows
from thresher.learners.thresher import Thresher
from thresher.train.platt import Line
from thresher.train.problem import Problem
from thresher.train.settling import Lesson, Table, lesson_of, norm_in_play
from thresher.train.sparing import spared

# In mean squared norms of rows that have the features in play and no others.
PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # who gets such weights refuses them
def restrained(
    lesson: Lesson, rows: Rows, start: np.ndarray, penalties: Sequence[float], exactly: bool = False
) -> list[np.ndarray]:
    """Return the weights of least loss under each of some penalties, the intercept last.

    Those of numbers cost their size: penalties are shares of what is too much (see ``sparing``).
    """
    if lesson.of_numbers:
        return spared(lesson, rows, start.size - 1, penalties, exactly)
    found = []
    norm = norm_in_play(lesson, rows) if penalties else 0.0
    for penalty in penalties:
        start = Table(replace(lesson, penalty=penalty * norm), rows).settled(start, exactly).weights
        found.append(start)
    return found


def restrain(
    learner: Thresher,
    problem: Problem,
    given: GivenRows,
    targets: np.ndarray,
    importance: np.ndarray,
    penalty: float,
) -> None:
    """Let the weights of what a problem has selected be those under a penalty, if there are any."""
    state = problem.state
    start = learner.shown(state, problem.pace, given.vocabulary)
    rows = given.with_slots(np.flatnonzero(state.stable))
    lesson = lesson_of(learner, importance, 1.0, targets)
    (found,) = restrained(lesson, rows, start, [penalty], exactly=True)
    if np.isfinite(found).all():
        learner.settle(state, problem.pace, found)


def stretch(learner: Thresher, problem: Problem, vocabulary: Vocabulary, line: Line) -> None:
    """Let the model's margins be so many times as large, and shifted, for good."""
    weights = line.scale * learner.shown(problem.state, problem.pace, vocabulary)
    weights[-1] += line.shift
    learner.settle(problem.state, problem.pace, weights)
