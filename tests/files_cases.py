"""What the tests of files share: ways to spoil one."""

import hashlib
import os
import re

import numpy as np

LONG = os.environ.get("THRESHER_LONG", "0") not in ("", "0")
N_SPOILT = 10_000 if LONG else 200  # THRESHER_LONG=1 python -m pytest tests/test_model_damage.py
CHECKSUM = re.compile(rb'\\"sha256\\":\\"([0-9a-f]{64})\\"')


def with_flipped_bit(data, place):
    """Return the bytes with one bit changed."""
    spoilt = bytearray(data)
    spoilt[place // 8] ^= 1 << place % 8
    return bytes(spoilt)


def flips(data, n=N_SPOILT, seed=0):
    """Return copies of the bytes, each with another bit changed."""
    places = np.random.default_rng(seed).choice(8 * len(data), min(n, 8 * len(data)), replace=False)
    return (with_flipped_bit(data, int(place)) for place in places)


def truncations(data, n=N_SPOILT, seed=1):
    """Return the bytes cut short at random places; those with the fewest missing are among them."""
    lengths = np.random.default_rng(seed).integers(0, len(data), n - 3)
    return (data[: int(length)] for length in (0, len(data) - 1, len(data) - 8, *lengths))


def resealed(data):
    """Return the bytes with the checksum made right, as somebody with bad intentions would."""
    found = CHECKSUM.search(data)
    if found is None:
        return data
    first, last = found.span(1)
    blank = data[:first] + b"0" * 64 + data[last:]
    return data[:first] + hashlib.sha256(blank).hexdigest().encode() + data[last:]
