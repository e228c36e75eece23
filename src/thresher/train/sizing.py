"""How many features a model needs: the smallest size that is not clearly worse than the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import Vocabulary
from thresher.learners.thresher import Thresher
from thresher.stability import mean_pairwise_kappa
from thresher.train.feed import Batch
from thresher.train.fit import Passes
from thresher.train.folds import Fold
from thresher.train.judges import Judge
from thresher.train.shrinking import Plan, ShrinkingRun, Sight
from thresher.workers import Workers

STANDARD_ERRORS = 1.0  # by which a size's loss may exceed the best one's

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

    def null_loss(self) -> float:
        """Return the loss of a model without any feature."""
        return self.judge.null_loss(self.targets, self.batch.importance)


def try_sizes(
    learner: Thresher, plan: Plan, trial: Trial, passes: Passes, run_all: Workers
) -> Table:
    """Return what each size, in ascending order, is worth on held-out rows.

    Every fold makes its own selections, from rows that it does not judge.
    """

    def run(number: int, targets: np.ndarray) -> dict[int, Sight]:
        fold, seed = trial.folds[number], (learner.seed + 1 + number) % 2**31
        mine, order = replace(learner, seed=seed), replace(passes, seed=seed)
        shrinking = ShrinkingRun(mine, plan, trial.vocabulary, trial.batch, targets, fold, order)
        return shrinking.run(run_all.alone())

    cells = [(number, mine) for mine in trial.targets for number in range(len(trial.folds))]
    seen = run_all(run, *zip(*cells, strict=True))
    rows = [judge_size(trial, [one[size] for one in seen], size) for size in sorted(plan.sizes)]
    return {name: np.array([row[name] for row in rows]) for name in columns_of(trial.judge)}


def columns_of(judge: Judge) -> tuple[str, ...]:
    """Return the columns of a table of sizes."""
    loss, score = judge.loss, judge.score
    return "size", loss, f"{loss}_se", score, f"{score}_se", "nonzeros", "stability"


@dataclass(frozen=True)
class Verdict:
    """The places of the best size and of the smallest that will do, and by how much it may lose."""

    best: int
    chosen: int
    margin: float
    lenient: bool  # whether the margin is more than the standard error


def smallest_good(table: Table, loss: str, null_loss: float, spared: float) -> Verdict:
    """Choose the smallest size whose loss is within one standard error of the best.

    Many rows make that error tiny, and every last feature worth its while: a share ``spared`` of
    what the best size explains may be lost in any case.
    """
    losses = table[loss]
    best = int(losses.argmin())
    error = STANDARD_ERRORS * float(table[f"{loss}_se"][best])
    spare = spared * (null_loss - float(losses[best]))
    margin = max(error, spare)
    chosen = int(np.flatnonzero(losses <= losses[best] + margin)[0])
    return Verdict(best, chosen, margin, spare > error)


def judge_size(trial: Trial, seen: list[Sight], size: int) -> dict[str, float]:
    """Return the judgement of one size, from what was seen in every fold of every problem."""
    n_folds = len(trial.folds)
    problems = [seen[first : first + n_folds] for first in range(0, len(seen), n_folds)]
    margins = [np.concatenate([one.margins for one in folds]) for folds in problems]
    weights = trial.pooled(trial.batch.importance)
    targets = [trial.pooled(mine) for mine in trial.targets]
    losses = _mean(trial.judge.losses(margins, targets, weights), weights)
    scores = _mean(trial.judge.scores(margins, targets, weights), weights)
    kappas = [_agreement(folds, len(trial.vocabulary)) for folds in problems]
    nonzeros = float(np.mean([one.slots.size for one in seen]))
    values = size, *losses, *scores, nonzeros, float(np.mean(kappas))
    return dict(zip(columns_of(trial.judge), values, strict=True))


def _mean(numbers: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and its standard error."""
    mean = float(np.average(numbers, weights=weights))
    return mean, float(np.sqrt(np.sum((weights * (numbers - mean)) ** 2)) / weights.sum())


def _agreement(folds: list[Sight], n_slots: int) -> float:
    """Return the mean kappa of what the folds selected."""
    starts = np.concatenate([[0], np.cumsum([one.slots.size for one in folds])])
    slots = np.concatenate([one.slots for one in folds])
    return mean_pairwise_kappa(
        sparse.csr_array((np.ones(slots.size), slots, starts), (len(folds), n_slots))
    )
