"""What each feature says alone: how far its rows' targets are from what chance would give.

The pull of a feature is the sum of its values times the distances of targets from their mean.
Without any relation between the two it is about as large as its standard deviation, the root of
the targets' variance times the sum of the values' squares. A stream adds up pulls as rows come.
Where all rows are at hand they are those of values around their mean, too, and told in units of
the same standard deviation: of columns that are nowhere zero hardly anything else is left.
"""

import math
from typing import NamedTuple

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.evidence import BEND, LEVEL, PULL
from thresher.kernels.pulls import ROWS, add_pulls
from thresher.kernels.rows import Rows
from thresher.learners.paths import Paths

ALIKE = 1e-9  # the share of the squares that is left of values which are all the same
# Rows of the rarer class, or on the rarer side of the mean, that a feature should have if it had
# nothing to do with it: from so many on pulls are about normal.
ENOUGH_ROWS = 5
# Few features speak if so many, but no larger a share, say more than chance would let the loudest,
# and say this share of all that is beyond chance; and if the mean of the others' squares is hardly
# above that of chance.
FEWEST_LOUD, MOST_LOUD, LOUD_SHARE, QUIET = 3, 0.1, 0.5, 1.25
# Rows below which nobody can tell: features that are chosen by likelihood fit their noise.
FEWEST_ROWS = 300


class Heard(NamedTuple):
    """What all rows say of every slot: its pull, and in how many of the rarer rows it may occur.

    ``facts`` are the number of rows, the sum of their targets and that of the targets' squares.
    """

    pulls: np.ndarray
    rarer_rows: np.ndarray
    facts: tuple[float, float, float]


def hear(paths: Paths, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
    """Add what a stream's next rows say of their features."""
    facts, pulls = paths.features["pull_facts"], paths.feature("pull")
    add_pulls(rows, targets, importance, facts, pulls)


@np.errstate(over="ignore", invalid="ignore")  # what overflows says nothing
def ask(given: GivenRows, targets: np.ndarray, importance: np.ndarray) -> Heard:
    """Return what all rows, which are at hand, say of every feature."""
    counting = importance > 0
    heard = targets[counting]
    aways = np.where(counting, targets - heard.mean(), 0.0)
    found = given.evidence(aways, counting.astype(np.float64))
    squares = found[:, BEND]
    around = squares - found[:, LEVEL] ** 2 / heard.size
    differs = around > ALIKE * squares
    shrunk = np.divide(squares, around, out=np.zeros_like(squares), where=differs)
    apart = np.divide(around, squares, out=np.zeros_like(squares), where=differs)
    rarer = min(np.count_nonzero(aways > 0), np.count_nonzero(aways < 0)) / heard.size
    # no product of vectors: the linear algebra's own threads would go on spinning beside ours
    facts = float(heard.size), float(np.sum(heard)), float(np.sum(heard**2))
    pulls, rows = found[:, PULL] * np.sqrt(shrunk), given.vocabulary["occurrences"]
    return Heard(pulls, rarer * apart * rows, facts)


def note(paths: Paths, heard: Heard) -> None:
    """Let paths know what all rows have said."""
    paths.feature("pull")[...] = heard.pulls
    paths.features["pull_facts"][...] = heard.facts


def certainties(paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
    """Return pulls over their standard deviations by chance; 0 where nothing is known."""
    facts = paths.features["pull_facts"]
    return _over_chance(paths.shown("pull"), facts, paths.of(vocabulary["squares"]))


def have_all_told(paths: Paths) -> bool:
    """Return whether all rows of a stream have been heard; those of old files have not."""
    return bool(paths.features["pull_facts"][ROWS] >= paths.stage.new_rows)


def can_be_judged(paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
    """Return the mask of the features that occur in enough rows of a stream to tell what they say.

    Half of the targets, if these are numbers, are on the rarer side of their mean.
    """
    rows, total, squares = paths.features["pull_facts"]
    variance = squares / rows - (total / rows) ** 2 if rows else 0.0
    rarer = (1.0 - math.sqrt(max(1.0 - variance, 0.0))) / 2  # of targets that are -1 and 1
    return rarer * paths.of(vocabulary["occurrences"]) >= ENOUGH_ROWS


def few_speak(heard: Heard, vocabulary: Vocabulary) -> bool:
    """Return whether a few features say nearly all there is to say, and the others nothing.

    So it is not in texts, where most words have something to do with what is told; nor where
    nothing can be told. Where it is so, a feature that occurs often has no more to say than others.
    """
    said, loud = said_and_loud(heard, vocabulary)
    few = FEWEST_LOUD <= np.count_nonzero(loud) <= MOST_LOUD * said.size
    if not few or heard.facts[ROWS] < FEWEST_ROWS:
        return False
    beyond = said - 1.0
    return bool(
        np.mean(said[~loud]) <= QUIET and np.sum(beyond[loud]) >= LOUD_SHARE * np.sum(beyond)
    )


def nobody_speaks(heard: Heard, vocabulary: Vocabulary) -> bool:
    """Return whether features say no more than chance would, as far as they can be asked."""
    said, loud = said_and_loud(heard, vocabulary)
    few = said.size > 0 and np.count_nonzero(loud) < FEWEST_LOUD
    return bool(few and np.mean(said) <= QUIET)


def said_and_loud(heard: Heard, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Return the squares of what features say, if they have enough rows, and who is loud."""
    said = _over_chance(heard.pulls, heard.facts, vocabulary["squares"]) ** 2
    said = said[(heard.rarer_rows >= ENOUGH_ROWS) & (heard.pulls != 0)]
    # twice the logarithm is about the largest of so many squares of standard normal numbers
    return said, said > 2.0 * math.log(max(said.size, 2))


@np.errstate(all="ignore")  # what overflows says nothing
def _over_chance(
    pulls: np.ndarray, facts: np.ndarray | tuple[float, ...], squares: np.ndarray
) -> np.ndarray:
    rows, total, targets = facts
    variance = targets / rows - (total / rows) ** 2
    found = np.abs(pulls) / np.sqrt(variance * squares)
    return np.where(np.isfinite(found), found, 0.0)
