"""What sizes are worth on rows that had no part in their selections."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import Vocabulary
from thresher.learners.thresher import Thresher
from thresher.stability import mean_pairwise_kappa
from thresher.train.feed import Batch
from thresher.train.folds import Fold
from thresher.train.judges import Judge
from thresher.train.passes import Passes
from thresher.train.shrinking import Plan, ShrinkingRun, Sight
from thresher.train.size_rule import Losses, mean_and_error
from thresher.workers import Workers

Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Trial:
    """Rows that are all at hand, their targets in every problem, and the folds they are split in.

    Two classes, or numbers, are one problem, more are one for each: all of them have the same size.
    """

    vocabulary: Vocabulary
    batch: Batch
    targets: list[np.ndarray]
    folds: Sequence[Fold]
    judge: Judge

    def pooled(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rows' numbers in the order of the folds that hold them out."""
        return np.concatenate([numbers[fold.held] for fold in self.folds])

    def pooled_targets(self) -> list[np.ndarray]:
        """Return the targets of every problem in that order."""
        return [self.pooled(mine) for mine in self.targets]

    def by_problem(self, seen: list[Any]) -> list[list[Any]]:
        """Return what was seen in all folds of all problems, a list for every problem."""
        n_folds = len(self.folds)
        return [seen[first : first + n_folds] for first in range(0, len(seen), n_folds)]

    def nothing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of a model without any feature, row by row, and the rows' weights."""
        weights, targets = self.pooled(self.batch.importance), self.pooled_targets()
        nothing = [np.zeros(weights.size)] * len(targets)
        return self.judge.losses(nothing, targets, weights), weights


def try_sizes(
    learner: Thresher, plan: Plan, trial: Trial, passes: Passes, run_all: Workers
) -> tuple[Table, Losses]:
    """Return what each size, in ascending order, is worth on held-out rows, and what those lose."""
    seen = see_folds(learner, plan, trial, passes, run_all)
    sizes = sorted(plan.sizes)
    judged = [judge_size(trial, [one[size] for one in seen], size) for size in sizes]
    names = columns_of(trial.judge)
    table = {name: np.array([row[name] for row, _ in judged]) for name in names}
    return table, Losses(np.array([losses for _, losses in judged]), *trial.nothing())


def see_folds(
    learner: Thresher, plan: Plan, trial: Trial, passes: Passes, run_all: Workers
) -> list[dict[int, Sight]]:
    """Return what is seen at each size in every fold of the first problem, then of the next.

    Every fold makes its own selections, from rows that it does not judge.
    """

    def run(number: int, targets: np.ndarray) -> dict[int, Sight]:
        fold, seed = trial.folds[number], (learner.seed + 1 + number) % 2**31
        mine, order = replace(learner, seed=seed), replace(passes, seed=seed)
        shrinking = ShrinkingRun(mine, plan, trial.vocabulary, trial.batch, targets, fold, order)
        return shrinking.run(run_all.alone())

    cells = [(number, mine) for mine in trial.targets for number in range(len(trial.folds))]
    return run_all(run, *zip(*cells, strict=True))


def columns_of(judge: Judge) -> tuple[str, ...]:
    """Return the columns of a table of sizes."""
    loss, score = judge.loss, judge.score
    return "size", loss, f"{loss}_se", score, f"{score}_se", "nonzeros", "stability"


def judge_size(trial: Trial, seen: list[Sight], size: int) -> tuple[dict[str, float], np.ndarray]:
    """Return the judgement of one size, from what was seen in every fold, and all rows' losses."""
    problems, losses = trial.by_problem(seen), losses_at(trial, seen)
    margins, targets, weights = _pooled(trial, seen)
    scores = mean_and_error(trial.judge.scores(margins, targets, weights), weights)
    kappas = [_agreement(folds, len(trial.vocabulary)) for folds in problems]
    nonzeros = float(np.mean([one.slots.size for one in seen]))
    values = size, *mean_and_error(losses, weights), *scores, nonzeros, float(np.mean(kappas))
    return dict(zip(columns_of(trial.judge), values, strict=True)), losses


def losses_at(trial: Trial, seen: list[Sight]) -> np.ndarray:
    """Return what rows lose, one by one, by what was seen at one size in every fold."""
    return trial.judge.losses(*_pooled(trial, seen))


def _pooled(
    trial: Trial, seen: list[Sight]
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return every problem's margins and targets of all held-out rows, and the rows' weights."""
    targets, weights = trial.pooled_targets(), trial.pooled(trial.batch.importance)
    margins = [np.concatenate([one.margins for one in folds]) for folds in trial.by_problem(seen)]
    return margins, targets, weights


def _agreement(folds: list[Sight], n_slots: int) -> float:
    """Return the mean kappa of what the folds selected."""
    starts = np.concatenate([[0], np.cumsum([one.slots.size for one in folds])])
    slots = np.concatenate([one.slots for one in folds])
    return mean_pairwise_kappa(
        sparse.csr_array((np.ones(slots.size), slots, starts), (len(folds), n_slots))
    )
