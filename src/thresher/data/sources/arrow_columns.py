"""Columns of Arrow's types as numbers, words and lists."""

from typing import Any

import numpy as np

from thresher.data.sources.arrow_files import arrow_library
from thresher.data.sources.cells import Problems
from thresher.data.sources.fields import Malformed

NUMBERS, WORDS, NOTHING, LISTS, OTHER = "numbers", "words", "nothing", "lists", "other"


def kind_of(kind: Any) -> str:
    """Return what a column of a type holds."""
    types = arrow_library().types
    kinds = {
        NUMBERS: (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal),
        WORDS: (types.is_string, types.is_large_string, types.is_string_view),
        LISTS: (types.is_list, types.is_large_list, types.is_fixed_size_list),
        NOTHING: (types.is_null,),
    }
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    return next((name for name, tests in kinds.items() if any(t(kind) for t in tests)), OTHER)


def is_integer(kind: Any) -> bool:
    """Return whether a type is one of whole numbers."""
    return bool(arrow_library().types.is_integer(kind))


def numbers_of(array: Any) -> np.ndarray:
    """Return numbers as floats, 0 for missing ones."""
    floats = _decoded(array).cast(arrow_library().float64(), safe=False).fill_null(0.0)
    return np.array(floats.to_numpy(zero_copy_only=False), np.float64)


def words_of(array: Any) -> list[str | None]:
    """Return words, None for missing ones."""
    words: list[str | None] = _decoded(array).to_pylist()
    return words


def missing_in(array: Any) -> np.ndarray:
    """Return which rows have nothing."""
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), bool)


def note_not_finite(values: np.ndarray, name: str, problems: Problems) -> None:
    """Note the rows whose number is not finite."""
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        message = f"{values[row]} in column {name!r} is not finite: null is for missing values"
        problems.setdefault(row, Malformed(message))


def _decoded(array: Any) -> Any:
    """Return an array that is no dictionary."""
    is_dictionary = arrow_library().types.is_dictionary(array.type)
    return array.dictionary_decode() if is_dictionary else array


class Lists:
    """A column of lists, as their items one after the other and how many each row has."""

    def __init__(self, array: Any) -> None:
        lengths = array.value_lengths().fill_null(0)
        self.lengths = np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)
        self.items = array.flatten()
        self.rows = np.repeat(np.arange(self.lengths.size), self.lengths)

    def rows_with_missing(self) -> np.ndarray:
        """Return the rows that have an item which is null."""
        return np.unique(self.rows[missing_in(self.items)])

    def integers(self) -> np.ndarray:
        """Return the items as whole numbers, 0 for missing ones."""
        integers = self.items.cast(arrow_library().int64()).fill_null(0)
        return np.array(integers.to_numpy(zero_copy_only=False), np.int64)
