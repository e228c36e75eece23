"""The slope of the log loss on many paths at once."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import log_slope

# 1 / (1 + exp(z)) = 1/2 - z P(u) / Q(u) with u = (z / FAR)^2, good to single precision up to FAR,
# beyond which the slope is 0 in it: additions, multiplications and one division, which fit vector
# registers and give the same bits on every machine. Least squares, reweighted towards minimax.
FAR = np.float32(17.0)
P0, P1, P2, P3, P4 = np.array(
    [0.24999998637654, 2.42149599595878, 4.60124963592543, 1.99149836757148, 0.0960479019676],
    np.float32,
)
Q1, Q2, Q3, Q4 = np.array(
    [33.7693014576089, 135.675356619904, 125.805424068067, 21.9998650246996], np.float32
)
ONE, HALF, INVERSE = np.float32(1.0), np.float32(0.5), np.float32(1.0 / 17.0)


@jit
def single_log_slopes(margins, target, slopes):
    """Write the slopes in single precision."""
    sign = np.float32(target)
    for lane in range(margins.size):
        z = min(max(margins[lane] * sign, -FAR), FAR)
        u = z * INVERSE
        u = u * u
        p = (((P4 * u + P3) * u + P2) * u + P1) * u + P0
        q = (((Q4 * u + Q3) * u + Q2) * u + Q1) * u + ONE
        slopes[lane] = -sign * (HALF - z * p / q)


@jit
def log_slopes(margins, target, slopes):
    """Write the slope of log(1 + exp(-y m)) for every margin."""
    if margins.itemsize == 4:  # known when this is compiled
        single_log_slopes(margins, target, slopes)
    else:
        for lane in range(margins.size):
            slopes[lane] = log_slope(margins[lane], target)
