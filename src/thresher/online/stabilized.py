"""Stabilized truncated SGD (Ma & Zheng): the paper's Algorithm 4, and Algorithm 2 alone.

Several paths of SGD run in bursts, at whose ends the weights that were touched are truncated by the
information they got. After each stage of bursts, features that were too rarely selected are purged
for good, and gravity adapts to how many are left. See ``stages`` for how.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from thresher.losses import Loss
from thresher.online import stages
from thresher.online.bursts import EVERY, INFORMATIVE, LINEAR, SQRT
from thresher.online.passes import Updates
from thresher.online.paths import PathState
from thresher.online.protocol import Online, Overflow
from thresher.online.stages import Rules, Run, Schedule
from thresher.online.steps import AVERAGED, STEPS, steps_for
from thresher.rows import Rows
from thresher.threads import Threads
from thresher.validation import Number, OneOf, Parameter, Parameters, Whole

SELECTIONS = {"informative": INFORMATIVE, "every": EVERY}
SHRINKAGES = {"linear": LINEAR, "sqrt": SQRT}

# How many more stages are run in a call: as many as have so many updates of all paths, and one for
# every few of the latest stages that purged little.
WORTH_A_CALL, CALM_STAGES, MOST_STAGES = 4000, 4, 7
WORTH_THREADS = 1 << 16  # nonzeros of all paths in a stage


@dataclass(frozen=True)
class StabilizedTruncatedSGD(Online[PathState]):
    """Paths that meet at the ends of stages, to purge features together."""

    rules: Rules
    n_paths: int
    stream: bool = False  # whether columns may appear, which no stage may know before they do

    parameters: ClassVar[Parameters] = (
        Parameter("n_paths", 8, (Whole(1),), "int", "Parallel SGD paths, M."),
        Parameter(
            "paths",
            "permutation",
            (OneOf("permutation", "shared"),),
            '"permutation" or "shared"',
            "Whether every path reads the rows in its own order, or all share one order, of which "
            "each takes random bursts. Streams are always shared.",
        ),
        Parameter("burst_size", 100, (Whole(1, 1 << 31),), "int", "Updates in a burst, K."),
        Parameter("bursts_per_stage", 5, (Whole(1, 1 << 20),), "int", "Bursts in a stage, n_K."),
        Parameter(
            "gravity",
            None,
            (Number(0), OneOf(None)),
            "float or None",
            "Shrinkage per informative update, g_0. None adapts it to the rejection rate after "
            "every stage (Eq. 11); a number stays as it is, as in Algorithm 2.",
        ),
        Parameter(
            "rejection_rate",
            0.7,
            (Number(0, 1),),
            "float",
            "Share of updates that adaptive gravity cancels at first, beta_0 (Eq. 12).",
        ),
        Parameter(
            "annealing_rate",
            0.0,
            (Number(),),
            "float",
            "How fast the rejection rate falls as features are purged, gamma (Eq. 12): 0 linearly, "
            "positive faster, negative slower.",
        ),
        Parameter(
            "purge_threshold",
            0.7,
            (Number(0, 1),),
            "float",
            "Selection probability below which a feature is purged, pi_0 (Eq. 9).",
        ),
        Parameter(
            "min_evidence",
            0,
            (Whole(0),),
            "int",
            "A feature is not purged before it was in more bursts than this, delta_K (Eq. 16).",
        ),
        Parameter(
            "burst_growth",
            None,
            (Number(0, open_low=True), OneOf(None)),
            "float or None",
            "Bursts lengthen to K log(1 / (alpha d)) as the share d of stable features falls; this "
            "is alpha, and None keeps bursts as long as they are.",
        ),
        Parameter(
            "selection",
            "every",
            (OneOf(*SELECTIONS),),
            '"informative" or "every"',
            "Whether the selection probability of a feature counts the bursts that touched it, as "
            "the paper's estimator does (Eq. 8), or every burst, as its Definition 1.",
        ),
        Parameter(
            "shrinkage",
            "sqrt",
            (OneOf(*SHRINKAGES),),
            '"linear" or "sqrt"',
            "Whether a feature's shrinkage grows with its touches in a burst, as in the paper, or "
            "with their square root, as the noise of their sum does.",
        ),
        STEPS[0],
        replace(STEPS[1], default="constant"),  # learning_rate
    )

    @classmethod
    def of(
        cls,
        loss: Loss,
        fit_intercept: bool,
        values: Mapping[str, Any],
        seed: int = 0,
        stream: bool = False,
    ) -> Self:
        """Return the learner that a user's parameters describe, of rows at hand or a stream."""
        rules = Rules(
            loss=loss.code,
            shrinkage=SHRINKAGES[values["shrinkage"]],
            selection=SELECTIONS[values["selection"]],
            burst_size=int(values["burst_size"]),
            bursts=int(values["bursts_per_stage"]),
            rejection_rate=float(values["rejection_rate"]),
            annealing_rate=float(values["annealing_rate"]),
            purge_threshold=float(values["purge_threshold"]),
            min_evidence=int(values["min_evidence"]),
            growth=float(values["burst_growth"] or 0.0),
            gravity=-1.0 if values["gravity"] is None else float(values["gravity"]),
            shared=stream or values["paths"] == "shared",
            seed=int(seed),
        )
        steps = steps_for(loss, values, fit_intercept, AVERAGED)
        return cls(loss.code, steps, rules, int(values["n_paths"]), stream)

    @property
    def n_orders(self) -> int:
        """Return how many orders of rows it reads at once: one, or one for every path."""
        return 1 if self.rules.shared else self.n_paths

    def start(self, n_columns: int) -> PathState:
        """Return the state before the first row."""
        return PathState.before_the_first_row(self.rules, self.n_paths, n_columns)

    def room(self, state: PathState) -> int:
        """Return how many updates there are until the end of the stage, or of some more stages.

        Rows may lose what was purged whenever this many were learned. If stages are short, or have
        not purged much for a while, others are closed on the way; not so on a stream.
        """
        length, done, calm = state.counts[[stages.LENGTH, stages.DONE, stages.CALM]].tolist()
        left = length - done
        more = WORTH_A_CALL // (self.n_paths * length) + calm // CALM_STAGES
        return left if left == 0 or self.stream else left + min(more, MOST_STAGES) * length

    def advance(
        self, state: PathState, rows: Rows, updates: list[Updates], threads: Threads
    ) -> None:
        """Learn from the rows in turn, all of them, or raise an Overflow.

        Stages are closed on the way, but for one that ends with the last update.
        """
        schedule, failed = schedule_of(updates), np.full(self.n_paths, -1)
        begin = 0
        while begin < schedule.biases.size:
            threads.check()
            done = self._run(rows, schedule, begin, state.run(), failed, threads)
            if failed.max() >= 0:
                path = int(np.argmax(failed >= 0))
                raise Overflow(int(updates[path % len(updates)].order[failed[path]]))
            if done == begin:
                state.make_room(rows.starts, schedule, begin)
            begin = done

    def _run(
        self,
        rows: Rows,
        schedule: Schedule,
        begin: int,
        run: Run,
        failed: np.ndarray,
        threads: Threads,
    ) -> int:
        """Learn from as many rows as there is room for; return up to where all paths have come."""
        length = min(int(run.counts[stages.LENGTH]), schedule.biases.size - begin)
        nonzeros = self.n_paths * length * rows.columns.size // max(rows.n, 1)
        if threads.n == 1 or self.n_paths == 1 or nonzeros < WORTH_THREADS:
            return int(stages.run_stages(self.rules, rows, schedule, begin, run, failed))
        stop = int(stages.begin_part(self.rules, rows.starts, schedule, begin, run))
        if stop > begin:
            takes = stages.takes_of(self.rules, run, stop - begin)
            what = self.rules, rows, schedule, begin, stop, takes, run, failed
            cuts = np.linspace(0, self.n_paths, min(2 * threads.n, self.n_paths) + 1).astype(int)
            threads.map(partial(_run_paths, what), cuts[:-1].tolist(), cuts[1:].tolist())
            if failed.max() < 0:
                stages.end_part(run, stop - begin)
        return stop

    def close(self, state: PathState) -> None:
        """Purge, anneal, and adapt gravity, at the end of a stage."""
        stages.close_stage(self.rules, state.run())

    def active(self, state: PathState) -> np.ndarray | None:
        """Return the mask of the slots that were not purged; None if no slot was."""
        return None if state.counts[stages.IN_PLAY] == state.n_slots else state.stable

    def finished(self, state: PathState) -> bool:
        """Return whether everything was purged, columns that may appear as well."""
        return state.n_stable == 0 and not (self.stream and self.keeps_unseen(state))

    def settles(self, state: PathState) -> bool:
        """Return whether weights that no longer change may end the training.

        In the first stage nothing is shrunk yet, unless gravity is given.
        """
        return bool(state.counts[stages.STAGE] > 1) or self.rules.gravity >= 0

    def weights(self, state: PathState) -> tuple[np.ndarray, float]:
        """Return the mean weights over paths, and that of the constant input."""
        means, run = np.zeros(state.n_slots), state.run()
        stages.mean_weights(self.rules.shrinkage, run, means)
        return means, float(run.paths.bias.mean())

    def probabilities(self, state: PathState) -> np.ndarray:
        """Return the selection probability of each slot when it was last examined, 1 before."""
        return state.arrays.used("probability").copy()

    def stable(self, state: PathState) -> np.ndarray:
        """Return the mask, by slot, of the features that were never purged."""
        return state.stable

    def keeps_unseen(self, state: PathState) -> bool:
        """Return whether columns that have not occurred yet count as stable, of probability 1."""
        return not state.counts[stages.CLOSED]

    def history(self, state: PathState) -> list[dict[str, Any]]:
        """Return a record for every stage that was closed."""
        return list(state.history())


def _run_paths(what: tuple[Any, ...], first: int, last: int) -> None:
    stages.run_paths(first, last, *what)


def schedule_of(updates: list[Updates]) -> Schedule:
    """Return the updates of all paths as the kernel knows them."""
    one = updates[0]
    alike = all(other.steps is one.steps for other in updates)
    steps = one.steps[None] if alike else np.stack([other.steps for other in updates])
    orders = one.order[None] if len(updates) == 1 else np.stack([u.order for u in updates])
    return Schedule(orders, steps, one.biases, one.targets, one.importance)
