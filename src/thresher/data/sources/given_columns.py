"""Whether the items of a stream have the same columns, and what these are called."""

from typing import Any

from scipy import sparse

from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames

REMEDY = "Give all items the same columns, in the same order."


def frame_names(X: Any) -> list[str] | None:
    """Return the names of a data frame's columns; None of anything else, or if they are no text."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


class GivenColumns:
    """The columns of the first item, which those of all others must be.

    Sparse rows without names may become wider: their columns are numbers, and new ones may occur.
    """

    def __init__(self) -> None:
        self.names: GrowingNames | None = None
        self._called: list[str] | None = None
        self._width: int | None = None  # of dense rows
        self._begun = False

    def see(self, X: Any, width: int, number: int) -> None:
        """Take the columns of the first item; refuse those of others where they differ."""
        called = frame_names(X)
        if not self._begun:
            self._begin(called)
        if called != self._called:
            raise DataError(f"{_differing(called, self._called, number)} {REMEDY}")
        if not sparse.issparse(X):
            self._check_width(width, number)

    def _begin(self, called: list[str] | None) -> None:
        self._begun, self._called = True, called
        if called is None:
            return
        if len(set(called)) < len(called):
            twice = next(name for name in called if called.count(name) > 1)
            raise DataError(f"Two columns of the stream are called {twice!r}: rename one.")
        # each is a column of numbers, as in a table's file
        self.names = GrowingNames(called, dict.fromkeys(called, False))

    def _check_width(self, width: int, number: int) -> None:
        if self._width not in (None, width):
            raise DataError(
                f"Item {number} of the stream has {width} columns, and those before it "
                f"{self._width}. {REMEDY} Only sparse rows may become wider."
            )
        self._width = width


def _differing(called: list[str] | None, first: list[str] | None, number: int) -> str:
    """Say how the names of an item's columns differ from those of the first."""
    item = f"Item {number} of the stream"
    if called is None:
        return f"{item} has no names for its columns, and item 1 has."
    if first is None:
        return f"{item} has names for its columns, and item 1 has none."
    if sorted(called) == sorted(first):
        return f"{item} has the columns of item 1 in another order."
    other = next(name for name in [*called, *first] if (name in called) != (name in first))
    return f"Column {other!r} is only in one of items 1 and {number} of the stream."
