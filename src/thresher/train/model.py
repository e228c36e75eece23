"""What has been learnt: one problem per class against the rest, or one for two classes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.given_rows import GivenRows
from thresher.data.growth import Restore
from thresher.data.thawing import thawed
from thresher.data.vocabulary import Vocabulary
from thresher.files import access
from thresher.learners.protocol import Learner, Overflow
from thresher.learners.stages import StageLearner
from thresher.train.feed import Batch, Feed
from thresher.train.fit import fit_problem
from thresher.train.follow import follow
from thresher.train.passes import Passes
from thresher.train.problem import Problem
from thresher.train.rehearsal import Rehearsal
from thresher.train.second_look import Recall, look_again, look_at_the_end, selecting
from thresher.train.settling_work import work_on
from thresher.train.work import Work
from thresher.workers import Workers

Report = Callable[[int, Problem], None]
Scale = tuple[float, float]  # centre and unit of targets

AS_THEY_ARE: Scale = (0.0, 1.0)


@dataclass
class Model:
    """The vocabulary, and what the learner knows of each problem.

    A ``slim`` one came from a file that holds only what prediction needs; ``occurred`` is what it
    says of how many features training saw. ``scored`` are weights that rows were judged by, and
    what was made of them to do so. ``rehearsal`` holds the rows of a stream that has just begun.
    """

    vocabulary: Vocabulary
    learner: Learner
    problems: list[Problem]
    slim: bool = False
    occurred: int | None = None
    scored: tuple[Any, Any] | None = None
    rehearsal: Rehearsal | None = None

    @property
    def candidates(self) -> int | None:
        """Return how many features occurred in training; None if a file does not say."""
        return self.occurred if self.slim else len(self.vocabulary)

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot, and intercepts, a row for every problem."""
        weights, intercepts = [], []
        for problem in self.problems:
            by_slot, bias = self.learner.weights(problem.state, self.vocabulary)
            weights.append(by_slot)
            intercepts.append(problem.intercept(self.learner, bias))
        return np.array(weights), np.array(intercepts)

    def probabilities(self, problem: Problem) -> np.ndarray | None:
        """Return how surely each feature is selected, by slot; None if the learner cannot tell."""
        if not isinstance(self.learner, StageLearner):
            return None
        if self.slim:  # the file holds what was shown when it was written
            return problem.state.shown("probability")
        return self.learner.probabilities(problem.state, self.vocabulary)

    @property
    def finished(self) -> bool:
        """Return whether there is nothing more to learn."""
        return all(self.learner.finished(problem.state) for problem in self.problems)

    def fit(
        self,
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        passes: Passes,
        run_all: Workers,
        report: Report,
    ) -> int:
        """Learn rows that are all at hand; return the number of passes."""
        self._refuse_slim()
        self.rehearsal = None
        self.vocabulary.count_anew()
        self.vocabulary.learn_by_frequency(X)
        absorbed = self.vocabulary.absorb(X, self.learner.dtype, run_all=run_all)
        batch = Batch(*absorbed, importance)
        alone = len(self.problems) == 1
        lent = not alone or _share_memory(batch.rows, (X.indptr, X.indices, X.data))
        given = GivenRows(X, self.vocabulary, self.learner.dtype)

        def fit_one(problem: Problem, mine: np.ndarray) -> int:
            problem.state.grow(len(self.vocabulary))
            self.learner.resume(problem.state)
            inner = run_all if alone else run_all.alone()
            work = work_on(self.learner, problem, given, batch, mine, lent)
            done = fit_problem(self.learner, problem, work, batch, mine, passes, inner, report)
            problem.count_bare(mine, importance)
            return done

        outer = run_all.alone() if alone else run_all
        return max(outer(fit_one, self.problems, targets))

    def learn(
        self,
        learner: Learner,
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
        anew: bool = True,
        scales: np.ndarray | None = None,
        recall: Recall | None = None,
    ) -> None:
        """Learn a chunk of a stream: all of it, or, if anything goes wrong, nothing.

        Rows that an earlier pass has brought are not ``anew``. Targets that are numbers have
        ``scales``, centre and unit of every row, in which all are learnt from that row on. If the
        source can be read again, ``recall`` brings some of its rows.
        """
        self._refuse_slim()
        self._thaw()
        before, self.learner = (self.learner, self.rehearsal), learner
        self._rehearse_or_not(anew)
        restores = self._savepoints(X)
        done = 0
        try:
            while done < X.shape[0] and not self.finished:
                # what a stage decides at its end must not know of rows that come after it
                room = max(0, min(self.learner.room(problem.state) for problem in self.problems))
                last = min(done + self._rows_for(room, X, done), X.shape[0])
                scale = AS_THEY_ARE
                if scales is not None:
                    scale, last = _one_scale(scales, done, last)
                now = slice(done, last)
                mine = [one[now] for one in targets]
                known = self.problems, selecting(learner, self.problems), self.vocabulary
                self._learn_piece(X[now], mine, importance[now], scale, run_all, anew)
                if recall is not None:
                    look_again(learner, *known, recall, run_all.check)
                done = now.stop
            self._refuse_infinite(X)
        except BaseException as error:
            self.learner, self.rehearsal = before
            for restore in restores:
                restore()
            if isinstance(error, Overflow):
                error.row += done
            raise

    def _learn_piece(
        self,
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        scale: Scale,
        run_all: Workers,
        anew: bool,
    ) -> None:
        """Learn rows of a stream up to the end of a stage, or to where targets get other units."""
        batch = Batch(*self.vocabulary.absorb(X, self.learner.dtype, anew), importance)
        heard, new = batch, targets
        order, known = np.arange(batch.norms.size), 0
        if self.rehearsal is not None:
            known = len(self.rehearsal)
            self.rehearsal.remember(batch, targets)
            batch, targets, order = self.rehearsal.lesson(known, self.learner)

        def learn_one(problem: Problem, told: np.ndarray, mine: np.ndarray) -> None:
            problem.state.grow(len(self.vocabulary))
            if anew:
                told = scaled(told, scale)
                self.learner.hear(problem.state, heard.rows, told, heard.importance)
            self.learner.repeat(problem.state, order.size - X.shape[0])
            work = Work(batch.rows, problem.state, self.vocabulary)
            feed = Feed(batch, scaled(mine, scale), [order], problem.pace, streams=True)
            follow(self.learner, work, feed, run_all.alone())
            if anew:
                problem.count_bare(told, heard.importance)

        try:
            run_all(learn_one, self.problems, new, targets)
        except Overflow as error:
            error.row = max(error.row - known, 0)
            raise

    def look_back(self, recall: Recall, check: Callable[[], None]) -> None:
        """Let some rows of a stream that has ended say which features should have been others."""
        look_at_the_end(self.learner, self.problems, self.vocabulary, recall, check)

    def _rehearse_or_not(self, anew: bool) -> None:
        """Begin to remember rows where a stream begins; forget them where it is read again."""
        if not anew:
            self.rehearsal = None
        elif self.learner.rehearses and all(one.pace.updates == 0 for one in self.problems):
            self.rehearsal = Rehearsal(len(self.problems), self.learner.dtype)

    def _rows_for(self, room: int, X: sparse.csr_array, first: int) -> int:
        """Return how many of a matrix's rows, from its ``first`` on, make so many updates."""
        if self.rehearsal is None or room == 0:
            return room
        count = self.rehearsal.takes(np.diff(X.indptr[first:]), room, self.learner)
        if count == 0:  # there are many rows by now
            self.rehearsal = None
            return room
        return count

    def tree(self) -> dict[str, Any]:
        """Return all that learning needs to go on, as a tree of plain values.

        The learner is no part of it: the settings of who goes on make another.
        """
        self._refuse_slim()
        problems = [problem.tree() for problem in self.problems]
        rehearsal = None if self.rehearsal is None else self.rehearsal.tree()
        return {
            "vocabulary": self.vocabulary.tree(),
            "problems": problems,
            "rehearsal": rehearsal,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], learner: Learner) -> "Model":
        """Return the model that gave a tree, in the hands of a learner of the same kind."""
        vocabulary = Vocabulary.from_tree(access.branch(tree, "vocabulary"))
        problems = [Problem.from_tree(one, learner) for one in access.branches(tree, "problems")]
        if any(problem.state.n_slots != len(vocabulary) for problem in problems):
            access.refuse("features are more or fewer than the columns that occurred")
        model = cls(vocabulary, learner, problems)
        if tree["rehearsal"] is not None:
            model.rehearsal = Rehearsal.from_tree(
                access.branch(tree, "rehearsal"), len(problems), learner.dtype, len(vocabulary)
            )
        return model

    def _thaw(self) -> None:
        """Let what was learnt be written: a model from a memory-mapped file has been lent."""
        state = self.vocabulary, self.problems, self.rehearsal
        self.vocabulary, self.problems, self.rehearsal = thawed(state)

    def _refuse_slim(self) -> None:
        """Raise a ValueError if there is not enough left of what was learnt to go on."""
        if self.slim:
            raise ValueError(
                "This model was loaded from a file that holds only what prediction needs, so "
                "learning cannot go on from it. Save with save(path, training_state=True) to go on "
                "after loading, or fit anew (fit, with warm_start=False)."
            )

    def _refuse_infinite(self, X: sparse.csr_array) -> None:
        """Raise an Overflow if the last rows made a weight that no later row has looked at."""
        rehearsed = self.rehearsal is not None
        slots = np.arange(len(self.vocabulary)) if rehearsed else self.vocabulary.slots_in(X)
        if not all(problem.state.finite(slots) for problem in self.problems):
            raise Overflow(-1)

    def _savepoints(self, X: sparse.csr_array) -> list[Restore]:
        """Return what undoes the learning of a chunk.

        The end of a burst may change any slot, and so may rows that are learnt again.
        """
        slots = self.vocabulary.slots_in(X)
        restores = [self.vocabulary.savepoint(slots)]
        if self.rehearsal is not None:
            restores.append(self.rehearsal.savepoint())
        for problem in self.problems:
            calm = self.rehearsal is None and X.shape[0] <= self.learner.calm(problem.state)
            restores.append(problem.savepoint(slots if calm else None))
        return restores


def scaled(targets: np.ndarray, scale: Scale) -> np.ndarray:
    """Return targets relative to a centre, in a unit."""
    centre, unit = scale
    return targets if scale == AS_THEY_ARE else (targets - centre) / unit


def _one_scale(scales: np.ndarray, first: int, last: int) -> tuple[Scale, int]:
    """Return the scale of a row, and up to where the rows after it, or to ``last``, have it."""
    others = np.flatnonzero((scales[first:last] != scales[first]).any(axis=1))
    centre, unit = scales[first].tolist()
    return (centre, unit), first + int(others[0]) if others.size else last


def _share_memory(some: Iterable[np.ndarray], others: Iterable[np.ndarray]) -> bool:
    """Return whether what is written to some arrays may change others."""
    return any(np.may_share_memory(one, other) for one, other in product(some, others))
