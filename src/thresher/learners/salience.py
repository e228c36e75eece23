"""How much a weight stands out: |w_j| c_j, more on a column that says more.

c_j is a power of the column's sum of squares. Early in a selection steps are short, and weights are
little more than sums of gradients, in which frequent columns have their due; late in it they are
fitted, and what leaving one out would cost grows with its size. So the power rises.
"""

from typing import NamedTuple

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.learners.paths import Paths

SMALLEST = 2.0**-1000  # of a column's squares, so that they have a logarithm
NOTE = "magnitudes"


class Powers(NamedTuple):
    """The power in the first stage, and in the last."""

    first: float
    last: float

    def at(self, stage: int, n_stages: int) -> float:
        """Return the power in a stage; whatever follows the last one has its power."""
        way = min((stage - 1) / (n_stages - 1), 1.0) if n_stages > 1 else 1.0
        return self.first + way * (self.last - self.first)


def note_magnitudes(paths: Paths, vocabulary: Vocabulary) -> None:
    """Take down how large columns are, where rows have been counted once and for all."""
    if NOTE not in paths.notes:
        paths.notes[NOTE] = _magnitudes(paths, vocabulary)


def scores(weights: np.ndarray, paths: Paths, vocabulary: Vocabulary, power: float) -> np.ndarray:
    """Return how much the weights stand out."""
    magnitudes = paths.notes.get(NOTE)
    if magnitudes is None:
        magnitudes = _magnitudes(paths, vocabulary)
    found = np.abs(weights)
    found *= np.exp2(power * magnitudes)
    return found


def _magnitudes(paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
    """Return the logarithms of the columns' sums of squares."""
    return np.log2(np.maximum(paths.of(vocabulary["squares"]), SMALLEST))
