"""Rows that a program gives: arrays, data frames, dicts of features, and streams of them.

- Arrays and sparse matrices of any kind have numbered columns.
- Data frames (pandas, polars, Arrow tables, and what else has Arrow's stream interface) have names
  for their columns, by which a model finds them in any order. Columns of numbers are features of
  the same name. Columns of strings are categories, ``Bern`` in ``town`` being ``town=Bern``, as in
  CSV files; where a model knows a column as categories, its numbers are read as such.
- A dict, or a list of dicts, has features as a JSON object has: numbers are values, strings
  categories, and None is missing. Where a model has learned from tables, it is a row of such.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from thresher.formats.arrow_files import (
    WORDS,
    arrow_library,
    kind_of,
    missing_in,
    numbers_of,
    words_of,
)
from thresher.formats.chunk import Chunk
from thresher.formats.errors import BadRow, DataError
from thresher.formats.jsonl import features_of
from thresher.formats.labels import first_missing, first_time, is_missing
from thresher.formats.named import Gathered
from thresher.formats.names import ZERO, GrowingNames, Names, has_mean
from thresher.formats.protocol import Skipped
from thresher.formats.tables import (
    Table,
    as_in_table,
    as_word,
    check_distinct,
    check_known,
    listed,
    table_chunk,
)


def rows_of(X: Any, names: Names | None = None, learn: bool = True) -> tuple[Chunk, Names | None]:
    """Return rows of any kind as a chunk, and the names of their columns if these have names.

    With the names of a model, columns and features are numbered as there; unless these ``learn``,
    nothing new is remembered of what columns hold.
    """
    dicts = _dicts(X)
    if dicts is not None:
        names = GrowingNames() if names is None else names
        return _rows_of_dicts(dicts, names), names
    frame = frame_of(X)
    if frame is None:
        chunk = Chunk.of(X)
        _check_finite(chunk)
        return chunk, None
    names = GrowingNames() if names is None else names
    return _rows_of_frame(frame, names, learn), names


def feature_names(X: Any) -> list[str] | None:
    """Return what the columns of a data frame are called; None of anything else."""
    frame = frame_of(X)
    return None if frame is None else frame.names


class Frame(NamedTuple):
    """A data frame: what its columns are called, and each as an array of numbers or words."""

    names: list[str]
    column: Callable[[str], np.ndarray]
    n_rows: int


def frame_of(X: Any) -> Frame | None:
    """Return a data frame by its public interface; None of what is none, or has other names."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):  # pandas and polars
        names = list(X.columns)
        if not all(isinstance(name, str) for name in names):
            return None
        return Frame(names, lambda name: np.asarray(X[name].to_numpy()), len(X))
    if not hasattr(X, "__arrow_c_stream__"):
        return None
    table = arrow_library().table(X)

    def column(name: str) -> np.ndarray:
        array = table.column(name).combine_chunks()
        if kind_of(array.type) == WORDS:
            return np.array(words_of(array), object)
        return np.where(missing_in(array), np.nan, numbers_of(array))

    return Frame(table.column_names, column, table.num_rows)


def _rows_of_frame(frame: Frame, names: Names, learn: bool) -> Chunk:
    if len(set(frame.names)) < len(frame.names):
        twice = next(name for name in frame.names if frame.names.count(name) > 1)
        raise DataError(f"Two columns are called {twice!r}: rename one.")
    tabular = names.kinds or not len(names)  # else the model knows features of dicts
    kinds = names.kinds if learn and tabular else dict(names.kinds)
    columns = check_known(frame.names, names, None)
    if not names.kinds:
        check_distinct(columns, None)
    table = Table({}, {}, None, None, frame.n_rows)
    for name in columns:
        values = frame.column(name)
        words = _words_in(values, name)
        kind = kinds.setdefault(name, ZERO if words is None else None)
        if kind is None:
            table.words[name] = _as_words(values) if words is None else words
        elif words is not None and any(word is not None for word in words):
            raise DataError(f"Column {name!r} holds strings, but held numbers before: convert it.")
        else:
            table.numbers[name] = numbers = _as_numbers(values)
            wrong = np.flatnonzero(~np.isfinite(numbers) & ~(has_mean(kind) & np.isnan(numbers)))
            if wrong.size:
                _refuse_not_finite(numbers[wrong[0]], int(wrong[0]), repr(name))
    return table_chunk(table, names, _refuse)


def _words_in(values: np.ndarray, name: str) -> list[str | None] | None:
    """Return the strings of a column, None for missing ones; None of a column of numbers."""
    if values.dtype.kind in "biuf":
        return None
    cells = [None if is_missing(cell) else cell for cell in values.tolist()]
    if values.dtype.kind in "OUT" and all(cell is None or isinstance(cell, str) for cell in cells):
        return cells
    if values.dtype.kind == "O" and all(isinstance(cell, int | float | None) for cell in cells):
        return None
    raise DataError(
        f"Column {name!r} holds neither numbers nor strings, but {values.dtype}: convert it, or "
        "leave it out."
    )


def _as_words(values: np.ndarray) -> list[str | None]:
    return [None if is_missing(n) else as_word(n) for n in values.tolist()]


def _as_numbers(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    return np.array([np.nan if is_missing(n) else n for n in values.tolist()], np.float64)


def _refuse_not_finite(value: float, row: int, column: object) -> NoReturn:
    raise DataError(
        f"The value at row {row}, column {column} is {value}, and all must be finite. Drop such "
        "rows, or fill them in (sklearn.impute)."
    )


def _check_finite(chunk: Chunk) -> None:
    """Refuse rows with a value that is not finite."""
    wrong = np.flatnonzero(~np.isfinite(chunk.values))
    if wrong.size:
        row = int(np.searchsorted(chunk.starts, wrong[0], side="right")) - 1
        _refuse_not_finite(chunk.values[wrong[0]], row, chunk.columns[wrong[0]])


def _dicts(X: Any) -> Sequence[Mapping[str, Any]] | None:
    """Return rows that are dicts; one dict is one row."""
    if isinstance(X, Mapping) and not sparse.issparse(X):
        return [X]
    return X if isinstance(X, list) and X and isinstance(X[0], Mapping) else None


def _rows_of_dicts(dicts: Sequence[Mapping[str, Any]], names: Names) -> Chunk:
    rows = Gathered()
    for row, found in enumerate(dicts, 1):
        try:
            rows.add(row, *features_of(as_in_table(_entries(found), names.kinds)))
        except BadRow as problem:
            raise DataError(f"Row {row}: {problem.message}.") from None

    return rows.chunk(names, _refuse)


def _entries(found: Any) -> dict[str, Any]:
    """Return the entries of a dict, with Python's numbers for NumPy's."""
    if not isinstance(found, Mapping):
        raise BadRow(f"it is of type {type(found).__name__}, but rows before it are dicts")
    for name in found:
        if not isinstance(name, str):
            raise BadRow(f"the name {name!r} is of type {type(name).__name__}: names are strings")
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return None if is_missing(value) and not isinstance(value, float) else value  # as pandas' NA


def _refuse(row: int, message: str) -> NoReturn:
    raise DataError(f"Row {row + 1}: {message}.")


class GivenSource:
    """A stream of tuples (rows, labels) or (rows, labels, weights); a list can be read again.

    ``names`` are those of a model that is to predict; it takes columns in any order, and leaves out
    those it does not know. Without ``labelled``, items may be rows alone.
    """

    index_base = None

    def __init__(
        self, items: Iterable[Any], names: Names | None = None, labelled: bool = True
    ) -> None:
        self.names = names
        self.rewinds = not isinstance(items, Iterator)
        self.n_rows = _count(items)
        self.skipped = Skipped()
        self.decided: list[str] = []
        self._items, self._labelled = items, labelled
        self._fixed = names is not None
        self._columns: list[str] | None = None  # of the first item's frame
        self._width: int | None = None  # of dense rows

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        width, n_rows, words = 0, 0, None
        for number, item in enumerate(self._items, 1):
            chunk = self._chunk(item, f"Item {number} of the stream", number == 1)
            if chunk.labels is not None:
                before, words = words, chunk.labels.dtype.kind in "OUS"
                if before not in (None, words):
                    raise DataError(
                        f"The labels of item {number} of the stream are of another type than those "
                        "before: make them all strings or all numbers."
                    )
            width, n_rows = max(width, chunk.width), n_rows + len(chunk)
            yield Chunk(
                chunk.starts, chunk.columns, chunk.values, width, chunk.labels, chunk.weights
            )
        self.n_rows = n_rows

    def fingerprint(self) -> str:
        """Return nothing: what a program gives has no mark of its own."""
        return ""

    def modified(self) -> list[int]:
        """Return nothing: there are no files."""
        return []

    def _chunk(self, item: Any, called: str, first: bool) -> Chunk:
        """Return the rows of an item, checked; nothing is shared with it."""
        parts = item if isinstance(item, tuple) else (item,)
        if not 1 + self._labelled <= len(parts) <= 3:
            raise DataError(
                f"{called} is {type(item).__name__}: give tuples of rows and labels, or of rows, "
                "labels and weights."
            )
        self._check_columns(parts[0], called, first)
        try:
            chunk, names = rows_of(parts[0], self.names, not self._fixed)
        except (ValueError, TypeError) as error:
            raise DataError(f"{called}: {error}") from None
        if not first and (names is None) != (self.names is None):
            raise DataError(f"{called} has no names for its features, and item 1 has, or reversed.")
        self.names = names
        if names is None and not sparse.issparse(parts[0]):
            self._check_width(chunk.width, called)
        labels = _labels(parts[1], len(chunk), called) if len(parts) > 1 else None
        weights = np.array(parts[2], np.float64) if len(parts) > 2 else None
        return Chunk(chunk.starts, chunk.columns, chunk.values, chunk.width, labels, weights)

    def _check_columns(self, X: Any, called: str, first: bool) -> None:
        """Refuse frames whose columns are not those of the first, in any order."""
        columns = feature_names(X)
        if first:
            self._columns = columns
        elif not self._fixed and columns and self._columns:
            others = sorted(set(columns) ^ set(self._columns))
            if others:
                raise DataError(
                    f"{called} and item 1 do not have the same columns: {listed(others)} in one of "
                    "them only. Give all items the same columns."
                )

    def _check_width(self, width: int, called: str) -> None:
        if self._width not in (None, width):
            raise DataError(
                f"{called} has {width} columns, and those before it {self._width}. Give all items "
                "the same columns. Only sparse rows may become wider."
            )
        self._width = width


def _count(items: Iterable[Any]) -> int | None:
    """Return the number of rows of items that are all at hand and have labels."""
    if not isinstance(items, list | tuple) or not all(isinstance(one, tuple) for one in items):
        return None
    return sum(len(one[1]) for one in items) if all(len(one) > 1 for one in items) else None


def _labels(given: Any, n_rows: int, called: str) -> np.ndarray:
    """Return a copy of labels, checked."""
    labels = np.array(given)
    if labels.shape != (n_rows,):
        raise DataError(f"{called} has {n_rows} rows and labels of shape {labels.shape}.")
    missing = first_missing(labels)
    if missing is not None:
        raise DataError(f"{called} has no label at its row {missing + 1}.")
    words = given if labels.dtype.kind == "U" else labels  # NumPy makes strings of both
    if labels.dtype.kind in "UO" and len({isinstance(label, str) for label in words}) > 1:
        raise DataError(f"{called} has strings and numbers as labels: make them all of one type.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise DataError(
            f"{called} has an infinite label at its row {np.isinf(labels).argmax() + 1}."
        )
    dated = first_time(labels)
    if dated is not None:
        raise DataError(
            f"{called} has a date or a time for a label, {labels[dated]!s} at its row {dated + 1}: "
            "labels are numbers or strings. Make strings of them."
        )
    return labels
