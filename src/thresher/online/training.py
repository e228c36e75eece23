"""The only training loop: rows become updates, and stages close where they are full.

A chunk of a stream is learned as a whole or, whatever happens, not at all. How a stream is cut into
chunks, and how many threads there are, changes no bit of the result.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from thresher.files import access
from thresher.losses import HINGE, LOG_LOSS, LOSSES
from thresher.online.arrays import Restore
from thresher.online.passes import Batch, Feed, Pace, Passes
from thresher.online.protocol import Online, Overflow, State
from thresher.online.vocabulary import Vocabulary
from thresher.rows import Rows
from thresher.threads import Threads

Report = Callable[[int, int], None]  # of the number of passes, and of features with a weight

IN_ORDER = Passes(1, shuffle=False)  # how a chunk of a stream is read
WORTH = 0.9  # share of nonzeros left from which on rows are not copied to leave the others out
DOUBT = 0.5  # of a row, added to every class: one that has not occurred yet may
OF_NUMBERS = {loss.code for loss in LOSSES.values() if loss.of_numbers}


@dataclass
class Problem:
    """What the learner knows of one output (or of several at once), and how far it has come.

    ``bare`` sums up the targets of rows as long as none has had a feature. The constant input that
    carries the intercept is as long as a typical row; until then it has no length, and the best
    intercept is known from the targets alone.
    """

    state: State
    pace: Pace = field(default_factory=Pace)
    bare: np.ndarray = field(default_factory=lambda: np.zeros(2))

    def savepoint(self, slots: np.ndarray, n_updates: int) -> Restore:
        """Return what undoes so many updates by rows that have the given slots, and new ones."""
        restore_state = self.state.savepoint(slots, n_updates)
        pace, bare = Pace(self.pace.updates, self.pace.mean_norm), self.bare

        def restore() -> None:
            restore_state()
            self.pace, self.bare = pace, bare

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {"state": self.state.tree(), "pace": asdict(self.pace), "bare": self.bare}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], state: State) -> "Problem":
        """Return the problem that gave a tree, as far as its state is of the same kind."""
        pace = access.part(tree, "pace", access.Tree)
        return cls(
            state.from_tree(access.part(tree, "state", access.Tree)),
            Pace(access.whole(pace, "updates"), access.number(pace, "mean_norm")),
            access.array(tree, "bare", np.float64, (None,)),
        )


@dataclass
class Training:
    """The columns that have occurred, and what the learner knows of each problem.

    A problem has targets of -1 and +1, or numbers; one with several outputs has the numbers of
    classes. The learner is not part of what was learned: the settings of another may go on.
    """

    learner: Online
    vocabulary: Vocabulary
    problems: list[Problem]

    @classmethod
    def start(cls, learner: Online, n_problems: int, n_columns: int) -> "Training":
        """Return what is known before the first row."""
        problems = [Problem(learner.start(n_columns)) for _ in range(n_problems)]
        return cls(learner, Vocabulary(n_columns), problems)

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to learn."""
        return not self._open_problems()

    @property
    def settles(self) -> bool:
        """Return whether weights that no longer change may end the training."""
        return all(self.learner.settles(problem.state) for problem in self.problems)

    def learn(
        self,
        rows: Rows,
        targets: list[np.ndarray],
        importance: np.ndarray,
        threads: Threads,
    ) -> None:
        """Learn a chunk of a stream: all of it, or, if anything goes wrong, nothing.

        It is cut where stages close, which must not depend on rows that come later.
        """
        slots, known = self.vocabulary.slots_in(rows.columns), len(self.vocabulary)
        restores = [self.vocabulary.savepoint()]
        restores += [problem.savepoint(slots, rows.n) for problem in self.problems]
        done = 0
        try:
            while done < rows.n and (left := self._open_problems()):
                room = min(self.learner.room(problem.state) for problem in left)
                now = slice(done, min(done + max(room, 0), rows.n))
                piece = rows.part(now.start, now.stop)
                piece = piece._replace(columns=self.vocabulary.absorb(piece.columns))
                batch = Batch.of(piece, importance[now])
                self._fit_all(batch, [one[now] for one in targets], IN_ORDER, threads)
                done = now.stop
            fresh = np.arange(known, len(self.vocabulary))
            self._refuse_infinite(np.concatenate([slots, fresh]))
        except BaseException as error:
            for restore in restores:
                restore()
            if isinstance(error, Overflow) and error.row >= 0:
                error.row += done
            raise

    def fit(
        self,
        rows: Rows,
        targets: list[np.ndarray],
        importance: np.ndarray,
        passes: Passes,
        threads: Threads,
        report: Report | None = None,
    ) -> int:
        """Learn rows that are all at hand; return how many passes were made.

        If anything goes wrong, what was learned is lost: work on a copy.
        """
        rows = rows._replace(columns=self.vocabulary.absorb(rows.columns, by_frequency=True))
        batch = Batch.of(rows, importance)
        done = self._fit_all(batch, targets, passes, threads, report)
        self._refuse_infinite(np.arange(len(self.vocabulary)))
        return done

    def weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the columns with a weight, ascending, a row of weights per output, and intercepts.

        Columns without a weight in any output are left out.
        """
        weights, intercepts, steps = [], [], self.learner.steps
        for problem in self.problems:
            by_slot, biases = map(np.atleast_1d, self.learner.weights(problem.state))
            weights.append(np.atleast_2d(by_slot))
            if problem.pace.mean_norm == 0 and steps.fit_intercept:
                intercepts.append(bare_intercepts(problem.bare, self.learner.loss, biases.size))
            else:
                intercepts.append(biases * steps.biases(problem.pace.mean_norm))
        joined = np.concatenate(weights)
        used = np.flatnonzero(joined.any(axis=0))
        columns = self.vocabulary.columns[used]
        order = np.argsort(columns)
        return columns[order], joined[:, used[order]], np.concatenate(intercepts)

    def tree(self) -> dict[str, Any]:
        """Return all that learning needs to go on, as a tree of plain values, but the learner.

        Its arrays are those in use: write them down before learning goes on.
        """
        problems = [problem.tree() for problem in self.problems]
        return {"vocabulary": self.vocabulary.tree(), "problems": problems}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], learner: Online) -> "Training":
        """Return what gave a tree, in the hands of a learner of the same kind."""
        vocabulary = Vocabulary.from_tree(access.part(tree, "vocabulary", access.Tree))
        problems = [
            Problem.from_tree(one, learner.start(vocabulary.n_columns))
            for one in access.part(tree, "problems", list[access.Tree])
        ]
        if any(problem.state.n_slots != len(vocabulary) for problem in problems):
            access.refuse("there are more or fewer features than columns that occurred")
        return cls(learner, vocabulary, problems)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was pickled: joblib may have mapped its arrays into memory, read-only."""
        make_writable(state)
        self.__dict__ = state

    def _open_problems(self) -> list[Problem]:
        return [one for one in self.problems if not self._finished(one.state)]

    def _finished(self, state: State) -> bool:
        """Return whether nothing is left to learn; before the first feature, there always is."""
        return state.n_slots > 0 and self.learner.finished(state)

    def _fit_all(
        self,
        batch: Batch,
        targets: list[np.ndarray],
        passes: Passes,
        threads: Threads,
        report: Report | None = None,
    ) -> int:
        """Learn the rows for every problem; return how many passes were made."""
        inner = threads if len(self.problems) == 1 else threads.single()
        fit_one = partial(self._fit_problem, batch, passes, inner, report)
        return max(threads.map(fit_one, self.problems, targets))

    def _fit_problem(
        self,
        batch: Batch,
        passes: Passes,
        threads: Threads,
        report: Report | None,
        problem: Problem,
        targets: np.ndarray,
    ) -> int:
        """Learn the rows pass by pass; return how many passes were made."""
        learner, state, rows = self.learner, problem.state, Narrowing(batch.rows)
        state.grow(len(self.vocabulary), self.vocabulary.n_columns)
        before: np.ndarray | float = 0.0
        number = 0
        while number < passes.most and not self._finished(state):
            if passes.most > 1:
                rows.leave_out(learner.active(state), state.n_slots)
            orders = passes.orders(number, batch.rows.n, learner.n_orders, threads)
            feed = Feed(batch, targets, orders, learner.steps, problem.pace)
            self._follow(state, rows, feed, threads)
            number += 1
            if report is None and not passes.tol:
                continue
            weights = np.atleast_2d(learner.weights(state)[0])
            if report is not None:
                report(number, int(np.count_nonzero(weights.any(axis=0))))
            if passes.tol and learner.settles(state) and unchanged(before, weights, passes.tol):
                break
            before = weights
        if problem.pace.mean_norm == 0:
            problem.bare = add_bare(problem.bare, learner.loss, targets, batch.importance)
        return number

    def _follow(self, state: State, rows: "Narrowing", feed: Feed, threads: Threads) -> None:
        """Make all updates of a feed, or those until the learner has finished."""
        learner = self.learner
        while not self._finished(state):
            room = learner.room(state)
            if room <= 0:  # full, or the settings have made it smaller
                learner.close(state)
                if feed.left:
                    rows.leave_out(learner.active(state), state.n_slots)
                continue
            if not feed.left:
                break
            learner.advance(state, rows.rows, feed.next(room), threads)
            threads.check()

    def _refuse_infinite(self, slots: np.ndarray) -> None:
        """Raise an Overflow if the last rows made a weight that no later row has looked at."""
        if not all(problem.state.finite(slots) for problem in self.problems):
            raise Overflow(-1)


@dataclass
class Narrowing:
    """Rows at hand that leave columns out once these can no longer have a weight."""

    rows: Rows
    counts: np.ndarray | None = None  # of nonzeros, by slot

    def leave_out(self, active: np.ndarray | None, n_slots: int) -> None:
        """Keep the active slots only, where that makes the rows much smaller."""
        if active is None:
            return
        if self.counts is None:
            self.counts = np.bincount(self.rows.columns, minlength=n_slots)
        if self.counts[active].sum() < WORTH * self.rows.values.size:
            kept = np.zeros(n_slots, np.bool_)
            kept[active] = True
            self.rows = self.rows.only(kept)


def unchanged(before: np.ndarray | float, after: np.ndarray, tol: float) -> bool:
    """Return whether no weight changed by more than a share ``tol`` of the largest.

    Where all are zero they may be on their way still: penalties hold small sums back for long.
    """
    largest = np.abs(after).max(initial=0)
    return bool(largest > 0 and np.abs(after - before).max() <= tol * largest)


def add_bare(
    sums: np.ndarray, loss: int, targets: np.ndarray, importance: np.ndarray
) -> np.ndarray:
    """Return sums over rows without features, of the weights of classes: -1 and +1, or 0, 1, ...

    Of numbers these are the sums of weights, and of weighted targets.
    """
    if loss in OF_NUMBERS:
        added = np.vstack([sums, np.column_stack([importance, importance * targets])])
        return np.cumsum(added, axis=0)[-1]
    classes = np.maximum(targets, 0.0).astype(np.int64)
    added = np.zeros(max(sums.size, int(classes.max(initial=0)) + 1))
    added[: sums.size] = sums
    np.add.at(added, classes, importance)
    return added


def bare_intercepts(sums: np.ndarray, loss: int, n_outputs: int) -> np.ndarray:
    """Return the intercepts of least loss where no row has a feature."""
    if loss in OF_NUMBERS:
        return np.array([sums[1] / sums[0] if sums[0] else 0.0])
    weights = np.pad(sums, (0, max(n_outputs - sums.size, 0))) + DOUBT
    if n_outputs > 1:
        return np.log(weights) - np.log(weights).mean()
    against, positive = weights[:2].tolist()
    if loss == LOG_LOSS:
        return np.array([math.log(positive / against)])
    if loss == HINGE:
        return np.array([np.sign(positive - against)])
    return np.array([(positive - against) / (positive + against)])


def make_writable(part: Any) -> None:
    """Replace arrays within that cannot be written by copies that can."""
    inside = vars(part) if hasattr(part, "__dict__") and not isinstance(part, type) else part
    if isinstance(inside, list):
        pairs: Any = enumerate(inside)
    elif isinstance(inside, dict):
        pairs = list(inside.items())
    else:
        return
    for key, one in pairs:
        if isinstance(one, np.ndarray) and not one.flags.writeable:
            inside[key] = np.array(one)
        elif not isinstance(one, np.ndarray):
            make_writable(one)
