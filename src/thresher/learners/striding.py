"""How long a stream's steps are: as its rows bear.

Rows that tell their class clearly are learnt fastest by long steps; where much cannot be told
(clicks, opinions, wrong labels), long steps follow chance. Nobody knows beforehand which it is. So
half of the paths take short steps from the beginning, and every row is judged by all of them before
it is learnt. Where a stage ends, those that erred less lead: their weights say which features stay,
and are what is shown.
"""

import numpy as np

from thresher.learners.adaptive_paths import units_of
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.paths import Paths

SHORT = 0.25  # how long short steps are, relative to the usual
MEMORY = 0.5  # of earlier stages, in the comparison


def strides(unit: AdaptiveUnit, short: float, fitting: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the length of each path's steps, and by what its errors count in the comparison.

    Half of those that select take ``short`` steps, and of those that fit, whose others are
    ``fitting`` times as long. Each half is compared with its like: the sum is above 0 if more is
    missed with long steps than with short ones.
    """
    lengths, counts = np.ones(unit.lanes), np.zeros(unit.lanes)
    for (bold, careful), usual in zip(unit.hands, (1.0, fitting), strict=True):
        lengths[bold], lengths[careful] = usual, usual * short
        if len(careful):
            counts[bold], counts[careful] = 1 / len(bold), -1 / len(careful)
    return lengths, counts


def let_lead(paths: Paths) -> None:
    """Let those lead who have erred less."""
    behind = [unit.arrays["behind"] for unit in units_of(paths)]
    paths.stage.careful = sum(float(one[0]) for one in behind) > 0
    for one in behind:
        one *= MEMORY
