"""Strings as arrays of numbers, which is all that a file of arrays can hold."""

from collections.abc import Sequence

import numpy as np

LAST_CHARACTER = 0x10FFFF
WIDEST = 1 << 20  # characters of a string in an array of NumPy's strings


def narrow(integers: np.ndarray) -> np.ndarray:
    """Return integers, none of them negative, in as few bytes each as they need."""
    return integers.astype(np.min_scalar_type(int(integers.max(initial=0))))


def joined(strings: Sequence[str] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return strings as one text, and how many bytes of it each has."""
    coded = [one.encode("utf-8", "surrogatepass") for one in strings]
    lengths = np.fromiter(map(len, coded), np.int64, len(coded))
    return np.frombuffer(b"".join(coded), np.uint8), narrow(lengths)


def parted(text: np.ndarray, lengths: np.ndarray) -> list[str]:
    """Return the strings of a text; a ValueError means that there are none such."""
    if text.dtype != np.uint8 or text.ndim != 1 or lengths.dtype.kind != "u" or lengths.ndim != 1:
        raise ValueError("strings are stored as bytes, and their lengths as integers")
    if lengths.max(initial=0) > text.size or lengths.sum(dtype=np.float64) != text.size:
        raise ValueError("the lengths of strings do not add up")
    ends, data = np.cumsum(lengths, dtype=np.int64).tolist(), text.tobytes()
    pairs = zip([0, *ends], ends, strict=False)
    return [data[first:last].decode("utf-8", "surrogatepass") for first, last in pairs]


def characters(array: np.ndarray) -> np.ndarray:
    """Return an array of NumPy's strings as the numbers of their characters."""
    width = array.dtype.itemsize // 4
    numbers = np.ascontiguousarray(array, f"<U{width}").view(np.uint32)
    return numbers.reshape(*array.shape, width)


def from_characters(numbers: np.ndarray) -> np.ndarray:
    """Return the array of strings of the numbers of their characters, its type included."""
    if numbers.dtype != np.uint32 or numbers.ndim < 1 or not 0 < numbers.shape[-1] <= WIDEST:
        raise ValueError("strings are stored as the numbers of their characters")
    if numbers.max(initial=0) > LAST_CHARACTER:
        raise ValueError("there is no such character")
    return np.ascontiguousarray(numbers).view(f"<U{numbers.shape[-1]}")[..., 0]
