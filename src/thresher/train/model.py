"""What has been learnt: one problem per class against the rest, or one for two classes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.growth import Restore
from thresher.data.vocabulary import Vocabulary
from thresher.learners.protocol import Learner, Map, Overflow
from thresher.train.feed import Batch, Feed
from thresher.train.fit import Passes, fit_problem
from thresher.train.follow import follow
from thresher.train.problem import Problem
from thresher.train.work import Work

Report = Callable[[int, Problem], None]


@dataclass
class Model:
    """The vocabulary, and what the learner knows of each problem."""

    vocabulary: Vocabulary
    learner: Learner
    problems: list[Problem]

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot, and intercepts, a row for every problem."""
        weights, intercepts = [], []
        for problem in self.problems:
            by_slot, bias = self.learner.weights(problem.state, self.vocabulary)
            size = self.learner.schedule(problem.state).biases(np.array([problem.pace.mean_norm]))
            weights.append(by_slot)
            intercepts.append(bias * size[0])
        return np.array(weights), np.array(intercepts)

    def fit(
        self,
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        passes: Passes,
        run_all: Map,
        report: Report,
    ) -> int:
        """Learn rows that are all at hand; return the number of passes."""
        self.vocabulary.count_anew()
        self.vocabulary.learn_by_frequency(X)
        batch = Batch(*self.vocabulary.absorb(X), importance)
        alone = len(self.problems) == 1

        def fit_one(problem: Problem, mine: np.ndarray) -> int:
            problem.state.grow(len(self.vocabulary))
            self.learner.resume(problem.state)
            inner = run_all if alone else map
            return fit_problem(
                self.learner, problem, self.vocabulary, batch, mine, passes, inner, report
            )

        return max((map if alone else run_all)(fit_one, self.problems, targets))

    def learn(
        self,
        learner: Learner,
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Map,
    ) -> None:
        """Learn a chunk of a stream: all of it, or, if anything goes wrong, nothing."""
        before, self.learner = self.learner, learner
        restores = [self.vocabulary.savepoint(X), *self._savepoints(X)]
        done = 0
        try:
            while done < X.shape[0]:
                # what a stage decides at its end must not know of rows that come after it
                room = min(self.learner.room(problem.state) for problem in self.problems)
                now = slice(done, min(done + room, X.shape[0]))
                mine = [one[now] for one in targets]
                self._learn_piece(X[now], mine, importance[now], run_all)
                done = now.stop
        except BaseException as error:
            self.learner = before
            for restore in restores:
                restore()
            if isinstance(error, Overflow):
                error.row += done
            raise

    def _learn_piece(
        self, X: sparse.csr_array, targets: list[np.ndarray], importance: np.ndarray, run_all: Map
    ) -> None:
        """Learn rows of a stream up to the end of a stage."""
        batch = Batch(*self.vocabulary.absorb(X), importance)
        order = np.arange(batch.norms.size)

        def learn_one(problem: Problem, mine: np.ndarray) -> None:
            problem.state.grow(len(self.vocabulary))
            work = Work(batch.rows, problem.state, self.vocabulary)
            follow(self.learner, work, Feed(batch, mine, [order], problem.pace), map)

        list(run_all(learn_one, self.problems, targets))

    def _savepoints(self, X: sparse.csr_array) -> list[Restore]:
        """Return what undoes the learning of a chunk; at the end of a stage any slot may change."""
        slots = self.vocabulary.slots_in(X) if X.nnz < len(self.vocabulary) else None
        return [
            problem.savepoint(None if self.learner.room(problem.state) <= X.shape[0] else slots)
            for problem in self.problems
        ]
