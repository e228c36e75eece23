"""The rejection rate, from exploring to fitting, and the bursts that lengthen with it.

Plain functions: learners call them as they are, and kernels compile them for themselves.
"""

import math


def annealed_rejection_rate(share: float, rejection_rate: float, annealing_rate: float) -> float:
    """Return phi(d): the share of updates to be cancelled when a share d of features is stable.

    It falls from ``rejection_rate`` at d = 1 to 0 at d = 0: linearly for an annealing rate of 0,
    faster for a positive one, slower for a negative one. The printed formula for a positive rate is
    0 at d = 1, where the text starts at the maximum; d and 1 - d are exchanged here as the text
    means.
    """
    gone = 1.0 - share
    if annealing_rate >= 0:
        fall = math.exp(-annealing_rate * gone) - gone * math.exp(-annealing_rate)
    else:
        fall = math.log1p(-annealing_rate * share) / math.log1p(-annealing_rate)
    return rejection_rate * fall


def grown_burst_size(burst_size: int, share: float, growth: float) -> int:
    """Return K_0 log(1 / (alpha d)), rounded up, and never less than one update."""
    return max(1, math.ceil(burst_size * math.log(1.0 / (growth * share))))
