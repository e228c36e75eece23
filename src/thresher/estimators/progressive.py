"""How well a stream is predicted before it is learnt: an honest error at no cost in data."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse


@dataclass
class Progressive(ABC):
    """Rows of the first pass that were predicted before they were learnt."""

    rows: int = 0

    def see(self, model: Any, rows: sparse.csr_array, labels: np.ndarray) -> None:
        """Predict rows that come next; a model that has seen nothing yet is left in peace."""
        if len(model._model.vocabulary):
            self.rows += labels.size
            self._compare(model, model._margins(rows), labels)

    @abstractmethod
    def _compare(self, model: Any, margins: np.ndarray, labels: np.ndarray) -> None:
        """Add up what is wrong with margins."""

    @abstractmethod
    def summary(self) -> dict[str, float | None]:
        """Return the errors so far, by name; None if no row was predicted."""

    @abstractmethod
    def words(self) -> str:
        """Return the errors so far, in words."""


@dataclass
class ProgressiveClasses(Progressive):
    """Of classes, those that were wrong."""

    wrong: int = 0
    log_loss: float = 0.0

    def _compare(self, model: Any, margins: np.ndarray, labels: np.ndarray) -> None:
        self.wrong += int((model._classes_for(margins) != labels).sum())
        if model.loss == "log_loss":
            shares = model._probabilities(margins)
            mine = shares[np.arange(labels.size), np.searchsorted(model.classes_, labels)]
            self.log_loss -= float(np.log(np.maximum(mine, 1e-300)).sum())

    def summary(self) -> dict[str, float | None]:
        """Return the share of wrong classes."""
        return {"progressive_error": self.wrong / self.rows if self.rows else None}

    def words(self) -> str:
        """Return the errors so far, in words."""
        words = f"progressive error {100 * self.wrong / self.rows:.2f} %"
        return words + (f", log loss {self.log_loss / self.rows:.4f}" if self.log_loss else "")


@dataclass
class ProgressiveNumbers(Progressive):
    """Of numbers, how far off they were."""

    squares: float = 0.0

    def _compare(self, model: Any, margins: np.ndarray, labels: np.ndarray) -> None:
        self.squares += float(((margins - labels) ** 2).sum())

    def summary(self) -> dict[str, float | None]:
        """Return the root of the mean squared error."""
        return {"progressive_rmse": sqrt(self.squares / self.rows) if self.rows else None}

    def words(self) -> str:
        """Return the errors so far, in words."""
        return f"progressive RMSE {sqrt(self.squares / self.rows):.4g}"
