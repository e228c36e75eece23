"""One class against the rest."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thresher.data.growth import Restore
from thresher.files import access
from thresher.learners.pace import Pace
from thresher.learners.protocol import Learner
from thresher.train.bare_rows import BareRows


@dataclass
class Problem:
    """What the learner knows of one problem, and how far it has come.

    ``bare`` is what rows have told as long as none of them had a feature.
    """

    state: Any
    pace: Pace
    bare: BareRows = field(default_factory=BareRows)

    def count_bare(self, targets: np.ndarray, importance: np.ndarray) -> None:
        """Count new rows that have just been learnt, if no row has had a feature yet."""
        if self.pace.mean_norm == 0:
            self.bare = self.bare.having(targets, importance)

    def intercept(self, learner: Learner, bias: float) -> float:
        """Return the intercept, from the weight of the constant input."""
        schedule = learner.schedule(self.state)
        if self.pace.mean_norm == 0 and schedule.fit_intercept:
            return self.bare.intercept(learner.loss)
        return bias * schedule.constant(self.pace)

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings the problem back, as long as only the given slots change."""
        restore_state, pace = self.state.savepoint(slots), replace(self.pace)
        bare = self.bare

        def restore() -> None:
            restore_state()
            self.pace, self.bare = pace, bare

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        bare = {"bare": self.bare.tree()} if self.pace.mean_norm == 0 else {}
        return {"state": self.state.tree(), "pace": self.pace.tree(), **bare}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], learner: Learner) -> "Problem":
        """Return the problem that gave a tree, as far as the learner knows it for its own."""
        state = learner.start().from_tree(access.branch(tree, "state"))
        problem = cls(state, Pace.from_tree(access.branch(tree, "pace")))
        if "bare" in tree:
            problem.bare = BareRows.from_tree(access.branch(tree, "bare"))
        return problem
