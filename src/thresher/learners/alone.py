"""What each feature says alone: how far its rows' targets are from what chance would give.

The pull of a feature is the sum of its values times the distances of targets from their mean.
Without any relation between the two it is about as large as its standard deviation, the root of
the targets' variance times the sum of the values' squares. A stream adds up pulls as rows come.
Where all rows are at hand they are those of values around their mean, too, and told in units of
the same standard deviation: of columns that are nowhere zero hardly anything else is left.
"""

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.evidence import BEND, LEVEL, PULL
from thresher.kernels.pulls import ROWS, SQUARES, TOTAL, add_pulls
from thresher.kernels.rows import Rows
from thresher.learners.paths import Paths

ALIKE = 1e-9  # the share of the squares that is left of values which are all the same


def hear(paths: Paths, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
    """Add what a stream's next rows say of their features."""
    facts, pulls = paths.features["pull_facts"], paths.feature("pull")
    add_pulls(rows, targets, importance, facts, pulls)


@np.errstate(over="ignore", invalid="ignore")  # what overflows says nothing
def ask(paths: Paths, given: GivenRows, targets: np.ndarray, importance: np.ndarray) -> None:
    """Let all rows, which are at hand, say what they say of every feature."""
    counting = importance > 0
    heard = targets[counting]
    aways = np.where(counting, targets - heard.mean(), 0.0)
    found = given.evidence(aways, counting.astype(np.float64))
    squares = found[:, BEND]
    around = squares - found[:, LEVEL] ** 2 / heard.size
    shrunk = np.divide(squares, around, out=np.zeros_like(squares), where=around > ALIKE * squares)
    paths.feature("pull")[...] = found[:, PULL] * np.sqrt(shrunk)
    facts = paths.features["pull_facts"]
    facts[ROWS], facts[TOTAL], facts[SQUARES] = heard.size, heard.sum(), heard @ heard


@np.errstate(all="ignore")  # what overflows says nothing
def certainties(paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
    """Return pulls over their standard deviations by chance; 0 where nothing is known."""
    rows, total, squares = paths.features["pull_facts"]
    variance = squares / rows - (total / rows) ** 2
    spread = np.sqrt(variance * paths.of(vocabulary["squares"]))
    found = np.abs(paths.shown("pull")) / spread
    return np.where(np.isfinite(found), found, 0.0)
