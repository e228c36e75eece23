"""The slope of the log loss on a line of paths at once."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.lanes import clipped, filled, minus, over, plus, scaled, times

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
HALF, INVERSE = np.float32(0.5), np.float32(1.0 / 17.0)


@jit
def lane_log_slopes(margins, target):
    """Return the slopes of log(1 + exp(-y m)) of lanes in single precision."""
    z = clipped(scaled(margins, target), filled(margins, FAR))
    u = scaled(z, INVERSE)
    u = times(u, u)
    p = plus(scaled(u, P4), filled(u, P3))
    p = plus(times(p, u), filled(u, P2))
    p = plus(times(p, u), filled(u, P1))
    p = plus(times(p, u), filled(u, P0))
    q = plus(scaled(u, Q4), filled(u, Q3))
    q = plus(times(q, u), filled(u, Q2))
    q = plus(times(q, u), filled(u, Q1))
    q = plus(times(q, u), filled(u, np.float32(1.0)))
    return scaled(minus(filled(z, HALF), times(z, over(p, q))), -target)
