"""How much of the loss is left when rows have been learnt."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.learners.thresher import Thresher
from thresher.train.likeliest import lost_by_nothing
from thresher.train.problem import Problem
from thresher.train.settling import Table, lesson_of


def unexplained_share(
    learner: Thresher,
    problems: Sequence[Problem],
    given: GivenRows,
    targets: Sequence[np.ndarray],
    importance: np.ndarray,
) -> float:
    """Return the loss of all problems' models, as a share of what the intercepts alone lose."""
    left = nothing = 0.0
    for problem, mine in zip(problems, targets, strict=True):
        lesson = replace(lesson_of(learner, importance, 1.0, mine), penalty=0.0)
        rows = given.with_slots(np.flatnonzero(problem.state.stable))
        shown = learner.shown(problem.state, problem.pace, given.vocabulary)
        left += Table(lesson, rows).at(shown).cost
        nothing += lost_by_nothing(lesson)
    return left / nothing if nothing > 0 else 1.0
