"""How many features a model needs, decided by held-out rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.size_choice import RULE, SizeChoice, counted, reason
from thresher.estimators.gathering import Labelled
from thresher.estimators.lessons import learnt_by, sample_of
from thresher.kernels.losses import LOG_LOSS
from thresher.learners.alone import ask, few_speak, nobody_speaks
from thresher.learners.selection import wanted_features
from thresher.learners.thresher import Thresher
from thresher.learners.timetable import fixed_timetable
from thresher.randomness import permutation
from thresher.train import Passes, Sample
from thresher.train.feed import Batch
from thresher.train.folds import Fold, stratified_folds
from thresher.train.judges import ClassJudge, Judge, NumberJudge
from thresher.train.shrinking import Plan
from thresher.train.size_rule import Leniency, smallest_good
from thresher.train.sizing import Trial, try_sizes
from thresher.workers import Workers, workers

# Measured by ``python -m experiments.sizes``.
STAGES = 40
REFIT_UPDATES = 2_000  # before a size is judged, or the judge's passes, whichever is more
MOST_ROWS = 50_000  # that compare sizes
N_SIZES, SMALLEST = 15, 10
FEWER = (1, 2, 3, 5, 7)  # sizes below the smallest that a run shrinks to
# The largest size tried: all columns that occur if they are few, else a share of them.
FEW, WIDEST_SHARE, WIDEST = 1_000, 0.03, 200
SAMPLE_STREAM = 1 << 21  # of random numbers, that nobody else reads
# Standard errors by which the best size must be better than nothing where no column says anything
# alone: of many sizes one will be by one, by chance.
DOUBTS_OF_NOISE = 2.0


@dataclass(frozen=True)
class Effort:
    """How much work goes into the choice, ``updates`` as a share of a fit's; how lenient it is."""

    n_paths: int
    updates: float
    lenient: Leniency


# A choice for a few times the cost of a fit, and less with more than MOST_ROWS rows.
FOLDS = 4
NOT_CLEARLY_WORSE = Leniency(errors=2.0, paired=True, least=0.01, most=0.1)
QUICK = Effort(n_paths=4, updates=0.3, lenient=NOT_CLEARLY_WORSE)


class Size(Decision):
    """How many features there are to be, if nobody says."""

    def prepare(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Choose a size, unless it is given, or was chosen when what goes on now was begun."""
        if estimator.n_features_to_select != "auto":
            estimator._choice = None
        elif not estimator._has_size():
            estimator._choice = estimator._choose(learnt, run_all)
        if estimator.verbose and estimator._choice is not None:
            print(estimator._choice.why)

    def prepare_source(self, estimator: Any, some: Labelled | None) -> None:
        """Choose a size on the first rows of a source, as far as they can tell."""
        estimator._choice = None
        if estimator.n_features_to_select != "auto":
            return
        sample = sample_of(estimator, some)
        if sample is None:
            return
        with workers(estimator.n_jobs) as run_all:
            estimator._choice = estimator._choose(learnt_by(estimator, sample), run_all)


def choose_quickly(estimator: Any, learnt: Sample, run_all: Workers) -> SizeChoice:
    """Choose a size on at most MOST_ROWS rows."""
    if learnt.importance.size > MOST_ROWS:
        learnt = learnt.only(some_of(estimator._seed, learnt.importance.size, MOST_ROWS))
    folds = folds_of(strata_of(estimator, learnt.targets), FOLDS, estimator._seed)
    return choose_on(estimator, learnt, folds, QUICK, run_all)


def choose_on(
    estimator: Any, learnt: Sample, folds: list[Fold], effort: Effort, run_all: Workers
) -> SizeChoice:
    """Try sizes on folds of the rows, and choose the smallest that will do."""
    rows, targets, importance = learnt
    n_rows = min((fold.training.size for fold in folds), default=1)
    updates = effort.updates * estimator._trial_updates(n_rows)
    learner = trying_learner(estimator, n_rows, updates, effort.n_paths, STAGES)
    trial = trial_on(estimator, rows, targets, importance, folds)
    seen, columns = len(trial.vocabulary), rows.shape[1]
    if len(folds) < 2 or seen < 2:
        size = wanted_features(None, seen, columns)
        features = counted(size, len(targets))
        return SizeChoice(size, f"{features}: {RULE}, for want of rows to compare sizes on.")
    learner, lenient = suited(learner, effort.lenient, rows, trial)
    sizes, least = estimator._sizes_to_try(seen, columns)
    refit_updates = max(trial.judge.refit_passes * n_rows, REFIT_UPDATES)
    plan = Plan(sizes, STAGES, refit_updates, least)
    passes = Passes(None, 0.0, estimator.shuffle, estimator._seed)
    table, losses = try_sizes(learner, plan, trial, passes, run_all)
    verdict = smallest_good(losses, lenient)
    why = reason(trial.judge, table, verdict, len(folds), lenient, len(targets))
    return SizeChoice(int(table["size"][verdict.chosen]), why, table)


def suited(
    learner: Thresher, lenient: Leniency, rows: sparse.csr_array, trial: Trial
) -> tuple[Thresher, Leniency]:
    """Return learner and leniency as suits what columns say alone.

    Where few speak, features are to be weighed, for which frequent ones count no more than others.
    """
    given = GivenRows(rows, trial.vocabulary, learner.dtype)
    heard = [ask(given, mine, trial.batch.importance) for mine in trial.targets]
    if all(nobody_speaks(one, trial.vocabulary) for one in heard):
        lenient = replace(lenient, doubts=DOUBTS_OF_NOISE)
    if learner.loss == LOG_LOSS and all(few_speak(one, trial.vocabulary) for one in heard):
        learner = replace(learner, salience=(0.0, 0.0))
    return learner, lenient


def trying_learner(
    estimator: Any, n_rows: int, updates: float, n_paths: int, n_stages: int
) -> Thresher:
    """Return an estimator's learner for folds of so many rows, with so many updates of its own.

    The share of them that selects is the learner's; what it selects is refitted elsewhere.
    """
    selecting = max(1, round((1 - estimator.refit) * updates))
    return replace(
        estimator._learner(n_rows),
        **estimator._steps_between(*estimator._step_shares(n_rows, updates)),
        n_paths=n_paths,
        shared=True,
        timetable=fixed_timetable(selecting, n_stages, 0.0),
    )


def trial_on(
    estimator: Any,
    rows: sparse.csr_array,
    targets: list[np.ndarray],
    importance: np.ndarray,
    folds: list[Fold],
) -> Trial:
    """Return rows as the estimator learns them, for its learner to be tried on."""
    vocabulary = Vocabulary(rows.shape[1], estimator._model.vocabulary.normalize)
    vocabulary.learn_by_frequency(rows)
    batch = Batch(*vocabulary.absorb(rows, np.dtype(estimator.dtype)), importance)
    return Trial(vocabulary, batch, targets, folds, judge_of(estimator))


def some_of(seed: int, n_rows: int, most: int) -> np.ndarray:
    """Return the numbers of no more than so many rows, drawn from all, in ascending order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(permutation(seed, SAMPLE_STREAM, 0, n_rows)[:most])


def judge_of(estimator: Any) -> Judge:
    """Return what compares sizes of an estimator."""
    return NumberJudge(estimator.loss) if is_regressor(estimator) else ClassJudge()


def folds_of(strata: np.ndarray, wanted: int, seed: int) -> list[Fold]:
    """Return so many folds, or as many as leave rows of two strata to learn from; or none."""
    counts = np.sort(np.bincount(strata))
    n_folds = min(wanted, int(counts[-2])) if counts.size > 1 else 0
    return stratified_folds(strata, n_folds, seed) if n_folds > 1 else []


def usual_sizes(seen: int) -> tuple[list[int], int]:
    """Return the sizes to try where nobody says, and the smallest that a run shrinks to.

    They are a geometric series, and a few below it: ten features can be told from each other
    without any further run.
    """
    largest = seen if seen <= FEW else max(WIDEST, round(WIDEST_SHARE * seen))
    least = max(1, min(SMALLEST, seen // 10))
    series = {round(size) for size in np.geomspace(least, largest, N_SIZES)}
    return sorted(series.union(size for size in FEWER if size < least)), least


def strata_of(estimator: Any, targets: list[np.ndarray]) -> np.ndarray:
    """Return the number of every row's class; of numbers, whether they are in the upper half."""
    if len(targets) > 1:
        return np.argmax(targets, axis=0)
    if is_regressor(estimator):
        return _upper_half(targets[0])
    return (targets[0] > 0.0).astype(np.int64)


def _upper_half(numbers: np.ndarray) -> np.ndarray:
    """Return which numbers rank in the upper half: there are such unless all are equal."""
    upper = np.zeros(numbers.size, np.int64)
    ranked = np.argsort(numbers, kind="stable")
    upper[ranked[(numbers.size + 1) // 2 :]] = np.any(numbers != numbers[:1])
    return upper
