"""Lines of lanes as NumPy arrays, for runs in which nothing is compiled (see ``lanes``)."""

import numpy as np

LINE = 64  # bytes


def load(array, row):
    """Return a row of an array as lanes."""
    return array[row].copy()


def store(array, row, lanes):
    """Write lanes to a row of an array."""
    array[row] = lanes


def load_half(array, first):
    """Return the entries of an array from a place on as half a line of lanes."""
    count = LINE // 2 // array.itemsize
    return array.reshape(-1)[int(first) : int(first) + count].copy()


def store_half(array, first, lanes):
    """Write half a line of lanes to an array from a place on."""
    array.reshape(-1)[int(first) : int(first) + lanes.size] = lanes


def plus(a, b):
    """Return a + b."""
    return a + b


def minus(a, b):
    """Return a - b."""
    return a - b


def times(a, b):
    """Return a b."""
    return a * b


def over(a, b):
    """Return a / b."""
    return a / b


def filled(lanes, x):
    """Return a number in every lane."""
    return np.full_like(lanes, x)


def scaled(lanes, x):
    """Return all lanes times a number."""
    return lanes * lanes.dtype.type(x)


def clipped(lanes, bounds):
    """Return each lane brought between minus its bound and its bound."""
    return np.minimum(np.maximum(lanes, -bounds), bounds)


def total(lanes):
    """Return the sum of all lanes, halves first: the order that wide registers take."""
    while lanes.size > 1:
        half = lanes.size // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


def lane(lanes, number):
    """Return one of the lanes."""
    return lanes[number]
