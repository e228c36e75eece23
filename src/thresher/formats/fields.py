"""What a row of text holds: numbers, weights, missing values, and columns of cells."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from thresher.formats.errors import BadRow

DIGITS = "0123456789+-.eE"  # float() knows more: underscores, other scripts' digits, blanks
NOT_FINITE = frozenset(
    sign + word for sign in ("", "+", "-") for word in ("nan", "inf", "infinity")
)
# what people, pandas and spreadsheets write where there is no number; in lower case
_WORDS = "na n/a <na> nat null none nil missing ? - -- . 1.#ind -1.#ind 1.#qnan -1.#qnan"
_SPREADSHEETS = "#n/a #na #null! #num! #value! #ref! #name? #div/0!"
MISSING = NOT_FINITE | {*_WORDS.split(), *_SPREADSHEETS.split(), "#n/a n/a"}
QUOTED = 40  # characters of a text at fault
CODE = re.compile(r"\s*0\d+\s*", re.ASCII)  # a whole number with leading zeros

Problems = dict[int, BadRow]  # by row; the first of each
Read = TypeVar("Read")


def shown(text: str) -> str:
    """Return a text as messages quote it, unless it is too long."""
    return repr(text[:QUOTED]) + ("..." if len(text) > QUOTED else "")


def decimal(text: str) -> float:
    """Return the number in a text, as ``float`` rounds it."""
    if text.lower() in NOT_FINITE:
        raise BadRow(f"{shown(text)} is not finite")
    try:
        number = math.nan if text.strip(DIGITS) else float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise BadRow(f"{shown(text)} is not a number")
    if math.isinf(number):
        raise BadRow(f"{shown(text)} is beyond the largest number there is")
    return number


def decimals(texts: Sequence[str]) -> list[float]:
    """Return the numbers in several texts."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return [decimal(text) for text in texts]  # raises what is wrong
    if math.isfinite(sum(numbers)) and not "".join(texts).strip(DIGITS):
        return numbers
    return [decimal(text) for text in texts]


def weight_of(number: float) -> float:
    """Return how much a row counts."""
    if not math.isfinite(number) or number < 0:
        raise bad_weight(number)
    return float(number)


def bad_weight(number: float) -> BadRow:
    """Return what is wrong with a weight."""
    return BadRow(f"the row's weight is {number:g}: weights are finite and not negative")


def weight_in(cell: str) -> float:
    """Return the weight in a cell."""
    try:
        return weight_of(decimal(cell))
    except BadRow as problem:
        reason = problem.message if cell else "there is none"
        raise BadRow(f"the row's weight cannot be read: {reason}") from None


def weight_array(weights: Sequence[float | None]) -> np.ndarray | None:
    """Return how much rows count, 1 unless given; None where no row has a weight."""
    if all(weight is None for weight in weights):
        return None
    return np.array([1.0 if weight is None else weight for weight in weights])


class Column:
    """A column's name, its place in the table (from 1), and where its problems are noted."""

    def __init__(self, name: str, place: int, problems: Problems, complete: bool = False) -> None:
        self.name, self.place, self.problems = name, place, problems
        self.complete = complete  # whether no number may be missing

    def read(
        self, cells: Sequence[str], read: Callable[[str], Read], otherwise: Read
    ) -> list[Read]:
        """Return what each cell holds."""
        known: dict[str, Read] = {}
        for row, cell in enumerate(cells):
            if cell in known:
                continue
            try:
                known[cell] = read(cell.strip())
            except BadRow as problem:
                self.problems.setdefault(row, BadRow(problem.message, self.place))
        return [known.get(cell, otherwise) for cell in cells]

    def numbers(self, cells: Sequence[str]) -> np.ndarray:
        """Return the numbers in cells, NaN for empty ones."""
        found = _plain_numbers(cells)
        if found is None or (self.complete and len(found) < len(cells)):
            return np.array(self.read(cells, self._number, 0.0), np.float64)
        numbers = np.full(len(cells), np.nan)
        numbers[[bool(cell) for cell in cells] if len(found) < len(cells) else slice(None)] = found
        return numbers

    def _number(self, cell: str) -> float:
        if self.complete and not cell:
            raise BadRow(f"there is no number, in column {self.name!r}")
        try:
            return decimal(cell) if cell else float("nan")
        except BadRow as problem:
            raise BadRow(f"{problem.message}{self._advice(cell)}") from None

    def _advice(self, cell: str) -> str:
        skip = "leave such rows out (on_error='skip', --on-error skip)"
        if cell.lower() in MISSING:
            return (
                f", in column {self.name!r}. If it means a missing value, use "
                f"na_values=[{cell!r}] (--na-values {cell}), or {skip}"
            )
        return (
            f", but column {self.name!r} holds numbers in the first rows. Correct the cell, or "
            f"{skip}; if the column holds categories, use categories=[{self.name!r}] "
            f"(--categories {self.name})"
        )


def holds_categories(cells: Sequence[str]) -> bool:
    """Return whether these cells are categories: no more of them are numbers than words.

    Cells that are empty, or mean that a number is missing, count for neither, unless all do.
    """
    if _plain_numbers(cells) is not None:
        return False
    counts = Counter(cell.strip().lower() for cell in cells)
    del counts[""]
    numbers = sum(count for cell, count in counts.items() if is_number(cell))
    missing = sum(counts[cell] for cell in MISSING)
    words = counts.total() - numbers - missing
    return numbers <= words if numbers or words else bool(missing)


def _plain_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the numbers in cells that are not empty, if all are numbers and nothing is odd."""
    try:
        numbers = [float(cell) for cell in cells if cell]
    except ValueError:
        return None
    plain = math.isfinite(sum(numbers)) and not "".join(cells).strip(DIGITS + " ")
    return numbers if plain else None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, even one too large for a float."""
    try:
        float(cell)
    except ValueError:
        return False
    return not cell.strip(DIGITS)
