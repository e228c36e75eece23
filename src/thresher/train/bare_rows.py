"""What rows without any feature tell: how often each class comes.

The constant input that carries the intercept is as long as a typical row. As long as no row has
had a feature it has no length, and nothing can be learnt by it; but the intercept of least loss is
known from the classes alone. It is forgotten as soon as a row has a feature: from then on the
intercept is learnt as the rest is, whatever came before.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from thresher.files import access
from thresher.kernels.losses import HINGE, LOG_LOSS, MODIFIED_HUBER, SQUARED_HINGE

DOUBT = 0.5  # of a row, added to either side: a class that has not come yet may come


@dataclass(frozen=True)
class BareRows:
    """How much the rows for a class, and those against it, count together."""

    speaking_for: float = 0.0
    against: float = 0.0

    def having(self, targets: np.ndarray, importance: np.ndarray) -> "BareRows":
        """Return what is known once more rows have come, however they are cut."""
        return BareRows(
            _added(self.speaking_for, importance[targets > 0]),
            _added(self.against, importance[targets < 0]),
        )

    def intercept(self, loss: int) -> float:
        """Return the intercept of least loss; that of numbers is 0, for they are centred."""
        above, below = self.speaking_for + DOUBT, self.against + DOUBT
        if loss == LOG_LOSS:
            return math.log(above / below)
        if loss == HINGE:
            return float(np.sign(above - below))
        if loss in (SQUARED_HINGE, MODIFIED_HUBER):
            return (above - below) / (above + below)
        return 0.0

    def tree(self) -> dict[str, Any]:
        """Return both sums as a tree of plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "BareRows":
        """Return what gave a tree."""
        read = cls(access.number(tree, "speaking_for"), access.number(tree, "against"))
        if min(read.speaking_for, read.against) < 0:
            access.refuse("rows without a feature count less than nothing")
        return read


def _added(total: float, numbers: np.ndarray) -> float:
    """Return a sum with numbers added one after the other, so that pieces give the same bits."""
    return float(np.cumsum(np.concatenate([[total], numbers]))[-1])
