"""One class against the rest."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thresher.data.growth import Restore
from thresher.files import access
from thresher.learners.pace import Pace
from thresher.learners.protocol import Learner


@dataclass
class Problem:
    """What the learner knows of one problem, and how far it has come."""

    state: Any
    pace: Pace

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings the problem back, as long as only the given slots change."""
        restore_state, pace = self.state.savepoint(slots), replace(self.pace)

        def restore() -> None:
            restore_state()
            self.pace = pace

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {"state": self.state.tree(), "pace": self.pace.tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], learner: Learner) -> "Problem":
        """Return the problem that gave a tree, as far as the learner knows it for its own."""
        state = learner.start().from_tree(access.branch(tree, "state"))
        return cls(state, Pace.from_tree(access.branch(tree, "pace")))
