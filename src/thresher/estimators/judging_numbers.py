"""How well a regression predicts labelled rows that come in chunks."""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError


@dataclass(frozen=True)
class NumberScores:
    """What came out of numbers; None where it has no meaning."""

    rows: int
    r2: float | None
    rmse: float
    mae: float
    nonzeros: int


class NumberJudge:
    """Sums over rows; those around the mean are moved along with it, so that none cancels."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows, self.total, self.squares, self.distances = 0, 0.0, 0.0, 0.0
        self.mean, self.spread = 0.0, 0.0  # of the labels, the latter a sum of squares

    def see(self, chunk: Chunk, margins: np.ndarray) -> None:
        """Compare predictions with labels."""
        if chunk.labels is None:
            raise DataError("The rows have no labels: there is nothing to compare with.")
        labels = self.model._chunk_labels(chunk.labels, self.rows + 1)
        weights = np.ones(len(chunk)) if chunk.weights is None else chunk.weights
        with np.errstate(over="ignore", invalid="ignore"):  # the sums are looked at
            self.squares += float(weights @ (margins - labels) ** 2)
            self.distances += float(weights @ np.abs(margins - labels))
            self._widen(labels, weights)
        if not isfinite(self.squares + self.distances + self.spread):
            raise _overflowed(labels, margins, self.rows)
        self.rows += len(chunk)

    def scores(self) -> NumberScores:
        """Return what came out."""
        if not self.total > 0:
            raise DataError("There is not a single row to judge, or none with a weight above 0.")
        return NumberScores(
            rows=self.rows,
            r2=1 - self.squares / self.spread if self.spread > 0 else None,
            rmse=sqrt(self.squares / self.total),
            mae=self.distances / self.total,
            nonzeros=int(np.count_nonzero(self.model._settled()[0])),
        )

    def _widen(self, labels: np.ndarray, weights: np.ndarray) -> None:
        """Add labels to their mean and to the squares around it (Chan et al. 1979)."""
        added = float(weights.sum())
        if not added > 0:
            return
        mean = float(weights @ labels) / added
        total = self.total + added
        self.spread += float(weights @ (labels - mean) ** 2)
        apart = mean - self.mean
        self.spread += apart * apart * self.total * added / total  # ** raises what it cannot hold
        self.mean += apart * added / total
        self.total = total


def _overflowed(labels: np.ndarray, margins: np.ndarray, before: int) -> DataError:
    """Return the error of labels and predictions whose squares no number can hold."""
    row = int(np.argmax(np.maximum(np.abs(labels), np.abs(margins))))
    return DataError(
        f"The numbers overflowed while judging row {before + row + 1:,}: its label is "
        f"{labels[row]:g}, its prediction {margins[row]:g}. Multiply all labels by a number that "
        "brings them nearer to 1, train with these, and evaluate again; or leave the row out."
    )
