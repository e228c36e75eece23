"""What has been learnt: one problem per class against the rest, or one for two classes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.growth import Restore
from thresher.data.vocabulary import Vocabulary
from thresher.learners.protocol import Learner, Map
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
        X: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Map,
    ) -> None:
        """Learn a chunk of a stream: all of it, or, if anything goes wrong, nothing."""
        restores = [self.vocabulary.savepoint(X)]
        try:
            batch = Batch(*self.vocabulary.absorb(X), importance)
            restores += [self._savepoint(problem, batch) for problem in self.problems]
            list(run_all(lambda *one: self._learn_one(batch, *one), self.problems, targets))
        except BaseException:
            for restore in restores:
                restore()
            raise

    def _learn_one(self, batch: Batch, problem: Problem, targets: np.ndarray) -> None:
        order = np.arange(batch.norms.size)
        work = Work(batch.rows, problem.state, self.vocabulary)
        follow(self.learner, work, Feed(batch, targets, [order], problem.pace), map)

    def _savepoint(self, problem: Problem, batch: Batch) -> Restore:
        """Make room for what the chunk brings, and return what undoes the learning of it."""
        n_slots = len(self.vocabulary)
        problem.state.grow(n_slots)
        if self.learner.room(problem.state) <= batch.norms.size:
            return problem.savepoint(None)
        few = batch.rows.slots.size < n_slots
        return problem.savepoint(np.unique(batch.rows.slots) if few else np.arange(n_slots))
