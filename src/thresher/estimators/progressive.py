"""How well a stream is predicted before it is learnt: an honest error at no cost in data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass
class Progressive:
    """Rows of the first pass that were predicted before they were learnt."""

    rows: int = 0
    wrong: int = 0
    log_loss: float = 0.0

    def see(self, model: Any, rows: sparse.csr_array, labels: np.ndarray) -> None:
        """Predict rows that come next; a model that has seen nothing yet is left in peace."""
        if not len(model._model.vocabulary):
            return
        margins = model._margins(rows)
        self.rows += labels.size
        self.wrong += int((model._classes_for(margins) != labels).sum())
        if model.loss == "log_loss":
            shares = model._probabilities(margins)
            mine = shares[np.arange(labels.size), np.searchsorted(model.classes_, labels)]
            self.log_loss -= float(np.log(np.maximum(mine, 1e-300)).sum())

    def words(self) -> str:
        """Return the errors so far, in words."""
        words = f"progressive error {100 * self.wrong / self.rows:.2f} %"
        return words + (f", log loss {self.log_loss / self.rows:.4f}" if self.log_loss else "")
