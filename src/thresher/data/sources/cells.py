"""Cells of a column of text, read as numbers, or found to be categories."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeVar

from thresher.data.sources.fields import DIGITS, NOT_FINITE, Malformed, decimal

MISSING = NOT_FINITE | {"na", "n/a", "null", "none", "missing", "?", "-", "."}

Problems = dict[int, Malformed]  # by row; the first of each
Read = TypeVar("Read")


class Column:
    """A column's name, its place in the table (from 1), and where its problems are noted."""

    def __init__(self, name: str, place: int, problems: Problems) -> None:
        self.name, self.place, self.problems = name, place, problems

    def read(
        self, cells: Sequence[str], read: Callable[[str], Read], otherwise: Read
    ) -> list[Read]:
        """Return what each cell says."""
        found = []
        for row, cell in enumerate(cells):
            try:
                found.append(read(cell.strip()))
            except Malformed as problem:
                found.append(otherwise)
                self.problems.setdefault(row, Malformed(problem.message, self.place))
        return found

    def numbers(self, cells: Sequence[str]) -> list[float]:
        """Return the numbers in cells, 0 for empty ones."""
        found = _plain_numbers(cells)
        return self.read(cells, self._number, 0.0) if found is None else found

    def _number(self, cell: str) -> float:
        try:
            return decimal(cell) if cell else 0.0
        except Malformed as problem:
            raise Malformed(f"{problem.message}{self._advice(cell)}") from None

    def _advice(self, cell: str) -> str:
        if cell.lower() in MISSING:
            return f": leave cells of {self.name!r} empty where a number is missing"
        return (
            f", and {self.name!r} was taken for a column of numbers because its first cells are "
            "numbers. Skip such rows (on_error='skip'), or, if these are categories, write them so "
            "that the first ones are no numbers, or use a format whose columns have types (Parquet)"
        )


def is_categorical(cells: Sequence[str]) -> bool:
    """Return whether these cells are categories: some are words, not numbers or missing numbers."""
    if _plain_numbers(cells) is not None:
        return False
    distinct = {cell.strip().lower() for cell in cells} - {""}
    words = {cell for cell in distinct if not _says_number(cell)}
    return not words <= MISSING or words == distinct != set()


def _plain_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the numbers in cells if all cells are numbers or empty, and nothing is odd."""
    try:
        numbers = [float(cell) if cell else 0.0 for cell in cells]
    except ValueError:
        return None
    plain = isfinite(sum(numbers)) and not "".join(cells).strip(DIGITS + " ")
    return numbers if plain else None


def _says_number(cell: str) -> bool:
    """Return whether a cell is a number, be it too large for one."""
    try:
        float(cell)
    except ValueError:
        return False
    return not cell.strip(DIGITS)
