"""Lines of weights in two parts: paths that select have all slots, paths that fit only a few.

``places`` and ``fits`` are as in ``Bundle``: a slot's number there, negative if it is no member any
more, and half a line of weights for every number.
"""

import numpy as np

from thresher.data.growth import zeros


def part(
    lines: np.ndarray, members: np.ndarray, fitting: range
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the halves of selecting paths, and places and fits of the slots that have fits."""
    n_slots, half = len(lines), lines.shape[1] // 2
    halves = zeros((n_slots, half), lines.dtype)
    halves[:, : fitting.start] = lines[:, : fitting.start]
    fitted = lines[:, fitting.start : fitting.stop]
    used = np.flatnonzero(members | fitted.any(axis=1))
    fits = zeros((used.size + 1, half), lines.dtype)
    fits[1:, : len(fitting)] = fitted[used]
    return halves, numbered(used, members), fits


def join(halves: np.ndarray, places: np.ndarray, fits: np.ndarray, fitting: range) -> np.ndarray:
    """Return the whole lines."""
    lines = zeros((len(halves), 2 * halves.shape[1]), halves.dtype)
    lines[:, : fitting.start] = halves[:, : fitting.start]
    used = np.flatnonzero(places)
    lines[used, fitting.start : fitting.stop] = fits[np.abs(places[used]), : len(fitting)]
    return lines


def numbered(used: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the places of used slots, numbered from 1 on, negative where they are no members."""
    places = np.zeros(members.size, np.int32)
    numbers = np.arange(1, used.size + 1)
    places[used] = np.where(members[used], numbers, -numbers)
    return places


def in_halves(lanes: range) -> tuple[range, range]:
    """Return the first half of some lanes, and the others."""
    middle = lanes.start + (len(lanes) + 1) // 2
    return range(lanes.start, middle), range(middle, lanes.stop)
