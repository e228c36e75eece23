"""One class against the rest."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thresher.data.growth import Restore
from thresher.learners.pace import Pace


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
