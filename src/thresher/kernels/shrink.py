"""Soft thresholding: how chaff leaves."""

from thresher.jit import jit


@jit
def soft_threshold(weight, gravity):
    """Pull a weight towards 0 by at most ``gravity``, never past it: T(w, g)."""
    return weight - min(max(weight, -gravity), gravity)


@jit
def truncate_below(weight, gravity, ceiling):
    """Soft-threshold a weight unless it stands above the ceiling (Langford et al. 2009)."""
    if abs(weight) > ceiling:
        return weight
    return soft_threshold(weight, gravity)
