"""What sizes are compared by: a loss that moves with every row, and a score that people know."""

from typing import Protocol

import numpy as np

from thresher.train.platt import calibrated, log_losses

Columns = list[np.ndarray]  # of every problem
HUBER_ROUNDS = 10


class Judge(Protocol):
    """Says of held-out rows, one by one, how wrong margins are; ``loss`` and ``score`` name how."""

    loss: str
    score: str
    named: str  # the loss, in a sentence
    refit_passes: int  # before a size is judged

    def losses(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return every row's loss, of which sizes have more or less."""

    def scores(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return every row's part in a score that is shown beside it."""

    def words(self, loss: float, score: float) -> str:
        """Return both in words."""


class ClassJudge:
    """Log loss after margins were calibrated, and the error.

    The log loss tells sizes apart where the error of few rows, or of a rare class, cannot.
    """

    loss, score, named, refit_passes = "log_loss", "error", "log loss", 2

    def losses(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return the mean over problems of the log loss."""
        pairs = zip(margins, targets, strict=True)
        return np.mean([log_losses(calibrated(m, t, weights), t) for m, t in pairs], axis=0)

    def scores(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return which rows are taken for another class than theirs."""
        if len(margins) == 1:
            return (margins[0] > 0) != (targets[0] > 0)
        return np.argmax(margins, axis=0) != np.argmax(targets, axis=0)

    def words(self, loss: float, score: float) -> str:
        """Return both in words."""
        return f"{self.named} {loss:.4f} and error {100 * score:.2f} %"


class NumberJudge:
    """The loss of the regression in units of the targets' spread, and R2.

    A short refit leaves numbers too near to their centre: the likeliest scale and shift mend that.
    """

    score, refit_passes = "r2", 8

    def __init__(self, loss: str) -> None:
        self.loss = loss
        self.named = "Huber loss" if loss == "huber" else "squared error"

    def losses(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return squared errors, or Huber's, of which the part beyond 1 counts only as it is."""
        return number_losses(
            self.loss, self._stretched(margins[0], targets[0], weights), targets[0]
        )

    def scores(self, margins: Columns, targets: Columns, weights: np.ndarray) -> np.ndarray:
        """Return numbers whose mean is R2."""
        mean = np.average(targets[0], weights=weights)
        spread = np.average((targets[0] - mean) ** 2, weights=weights)
        errors = self._stretched(margins[0], targets[0], weights) - targets[0]
        return 1 - errors**2 / (spread or 1.0)

    def _stretched(
        self, margins: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Return a * margins + b with the a >= 0 and b of least loss.

        Huber's are those of squares in which errors beyond 1 weigh the less the larger they are.
        """
        found, rounds = margins, HUBER_ROUNDS if self.loss == "huber" else 1
        for number in range(rounds):
            wild = np.maximum(np.abs(found - targets), 1.0) if number else 1.0
            found = _straightened(margins, targets, weights / wild)
        return found

    def words(self, loss: float, score: float) -> str:
        """Return both in words."""
        return f"{self.named} {loss:.4f} (in units of the targets' spread) and R2 {score:.3f}"


def number_losses(loss: str, margins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return squared errors, or Huber's."""
    errors = np.abs(margins - targets)
    if loss == "huber":
        return np.where(errors <= 1, errors**2 / 2, errors - 0.5)
    return errors**2


def _straightened(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the line through margins that is nearest to the targets, never a falling one."""
    centre, middle = (float(np.average(one, weights=weights)) for one in (targets, margins))
    spread = np.sum(weights * (margins - middle) ** 2)
    rise = np.sum(weights * (margins - middle) * (targets - centre))
    slope = max(rise / spread, 0.0) if spread > 0 else 0.0
    return centre + slope * (margins - middle)
