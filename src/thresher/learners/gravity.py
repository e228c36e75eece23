"""How strong gravity must be to cancel a given share of the updates."""

import math

import numpy as np

from thresher.kernels.quantile import kth_smallest


def gravity_for(ratios: np.ndarray, rejection_rate: float) -> float:
    """Return the quantile of the updates per dose that gravity is to cancel.

    That is the k-th smallest with k = ceil(beta N), so that at least the share beta of the updates
    is no larger; a rate of 0, or nothing to judge by, gives no gravity.
    """
    k = math.ceil(rejection_rate * ratios.size)
    return float(kth_smallest(ratios, min(k, ratios.size))) if k > 0 else 0.0
