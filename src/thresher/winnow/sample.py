"""Rows at hand, and what is to be predicted of them."""

from typing import NamedTuple, Self

import numpy as np

from thresher.losses import LOSSES
from thresher.rows import Rows


class Sample(NamedTuple):
    """Rows, what is to be predicted of them, and how much each counts.

    Targets of two classes are -1 and +1, of several the numbers of the classes. ``n_outputs`` is
    the number of margins of a row: one, or one for each of several classes. ``in_length`` are the
    columns that make up a row's length; none where rows are not scaled.
    """

    rows: Rows
    n_columns: int
    targets: np.ndarray
    importance: np.ndarray
    loss: int
    n_outputs: int
    intercept: bool
    in_length: np.ndarray

    @property
    def of_classes(self) -> bool:
        """Return whether targets are classes."""
        return all(one.code != self.loss for one in LOSSES.values() if one.of_numbers)

    def part(self, rows: Rows, places: slice | np.ndarray) -> Self:
        """Return given rows at such places of a sample that holds none of its rows."""
        targets, importance = self.targets[places], self.importance[places]
        return self._replace(rows=rows, targets=targets, importance=importance)

    def at(self, places: np.ndarray) -> Self:
        """Return a sample of some of the rows."""
        return self._replace(
            rows=self.rows.at(places),
            targets=self.targets[places],
            importance=self.importance[places],
        )
