"""Cells of a column of text, read as numbers, or found to be categories."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeVar

from thresher.data.sources.fields import DIGITS, NOT_FINITE, Malformed, decimal

# what people, pandas and spreadsheets write where there is no number; in lower case
_SAID = "na n/a <na> nat null none nil missing ? - -- . 1.#ind -1.#ind 1.#qnan -1.#qnan"
_SPREADSHEETS = "#n/a #na #null! #num! #value! #ref! #name? #div/0!"
MISSING = NOT_FINITE | {*_SAID.split(), *_SPREADSHEETS.split(), "#n/a n/a"}

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
            return (
                f": leave cells of {self.name!r} empty where a number is missing (an empty cell "
                "counts as 0), or leave such rows out (on_error='skip', --on-error skip)"
            )
        return (
            f", but {self.name!r} was taken for a column of numbers, by its first cells. Mend the "
            "cell, or leave such rows out (on_error='skip', --on-error skip); if the column holds "
            f"categories, say so (categories=[{self.name!r}], --categories {self.name})"
        )


def is_categorical(cells: Sequence[str]) -> bool:
    """Return whether these cells are categories: no more of them are numbers than words.

    Cells that are empty, or say that a number is missing, count for neither, unless all do.
    """
    if _plain_numbers(cells) is not None:
        return False
    counts = Counter(cell.strip().lower() for cell in cells)
    del counts[""]
    numbers = sum(count for cell, count in counts.items() if says_number(cell))
    missing = sum(counts[cell] for cell in MISSING)
    words = counts.total() - numbers - missing
    return numbers <= words if numbers or words else bool(missing)


def _plain_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the numbers in cells if all cells are numbers or empty, and nothing is odd."""
    try:
        numbers = [float(cell) if cell else 0.0 for cell in cells]
    except ValueError:
        return None
    plain = isfinite(sum(numbers)) and not "".join(cells).strip(DIGITS + " ")
    return numbers if plain else None


def says_number(cell: str) -> bool:
    """Return whether a cell is a number, be it too large for one."""
    try:
        float(cell)
    except ValueError:
        return False
    return not cell.strip(DIGITS)
