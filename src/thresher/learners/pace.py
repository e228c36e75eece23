"""How long the steps are.

Rows of one data set may be a thousand times longer than another's, so the default step is relative
to the rows' mean squared norm. The mean is a running one: it depends on the rows so far and not on
how they were cut into chunks.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from thresher.files import access
from thresher.kernels.rows import running_means


@dataclass
class Pace:
    """The number of updates so far, and the mean squared norm of their rows."""

    updates: int = 0
    mean_norm: float = 0.0

    def ahead(self, norms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each of the next rows, its update's number and the mean norm up to it."""
        means = running_means(norms, self.updates, self.mean_norm)
        return self.numbers_ahead(norms.size), means

    def numbers_ahead(self, count: int) -> np.ndarray:
        """Return the numbers of so many updates that come next."""
        return np.arange(self.updates + 1, self.updates + count + 1)

    def reach(self, updates: int, mean_norm: float) -> None:
        """Go on to a later update."""
        self.updates, self.mean_norm = int(updates), float(mean_norm)

    def tree(self) -> dict[str, Any]:
        """Return both as a tree of plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Pace":
        """Return the pace that gave a tree."""
        return cls(access.whole(tree, "updates"), access.number(tree, "mean_norm", finite=False))


@dataclass(frozen=True)
class Schedule:
    """The step of an update, from its number and the rows' mean squared norm.

    ``eta0`` is an absolute rate, or None for ``rate`` relative to the rows. ``within`` is for
    losses whose slope grows with the error: no step then goes beyond the row's own target.
    """

    rate: float
    eta0: float | None = None
    decaying: bool = False
    fit_intercept: bool = True
    within: bool = False

    def longer(self, times: float) -> "Schedule":
        """Return the schedule with steps so many times as long."""
        eta0 = None if self.eta0 is None else self.eta0 * times
        return replace(self, rate=self.rate * times, eta0=eta0)

    def steps(self, numbers: np.ndarray, mean_norms: np.ndarray) -> np.ndarray:
        """Return eta_t for every update."""
        if self.eta0 is not None:
            steps = np.full(numbers.size, self.eta0)
        else:
            steps = self.rate / np.where(mean_norms > 0, mean_norms, 1.0)
        return steps / np.sqrt(numbers) if self.decaying else steps

    def step(self, mean_norm: float) -> float:
        """Return eta of the first update, where rows have such a mean norm."""
        return float(self.steps(np.ones(1), np.array([mean_norm]))[0])

    def biases(self, mean_norms: np.ndarray) -> np.ndarray:
        """Return the size of the constant input that carries the intercept.

        As long as a typical row, it learns as fast as the rest whatever the units of the data.
        """
        return np.sqrt(mean_norms) if self.fit_intercept else np.zeros_like(mean_norms)

    def constant(self, pace: Pace) -> float:
        """Return the size of that input as it is now."""
        return float(self.biases(np.array([pace.mean_norm]))[0])


def stable_steps(steps: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Return steps that do not diverge on a square, as those beyond 2 / pull would.

    A row's pull is its importance times its squared norm, the constant input's included. A bound of
    1 / pull brings the margin to the target and leaves room for the weights of bursts.
    """
    return np.minimum(steps, np.divide(1.0, pulls, out=steps.copy(), where=pulls > 0))
