"""Arrays in NumPy's and SciPy's files: sparse or dense ``.npz``, dense ``.npy``.

    scipy.sparse.save_npz("X_train.npz", X); np.save("y_train.npy", y)
    np.savez("train.npz", X=X, y=y)                                                   # dense
    np.savez("train.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)

- Rows are what ``scipy.sparse.save_npz`` wrote, or the parts of a CSR matrix by those names, or
  else a dense table: the entry ``X`` or, of another name, the only one with two dimensions. Columns
  are numbered from 0. A ``.npy`` file is dense, and is read in pieces; an ``.npz`` file as a whole.
- Labels are the entry ``y``, ``labels``, ``label`` or ``target``. Without one they are in a file
  beside it: for ``train.npz`` in ``train.y.npy`` or ``train.labels.npy``, for ``X_train.npz`` also
  in ``y_train.npy``. ``label`` names another entry, another file, or in a dense table the number of
  a column (-1 is the last), which then is no feature. So does ``weight``.
- Labels are numbers or strings, one for each row. They may only be missing where labels are not
  required; in prediction they are not read.
- Values are finite numbers; a row with any other is refused with its number (called a line, from
  1). With ``on_error="skip"`` it is left out and counted.
- Arrays of Python objects are never loaded: reading a file runs no code.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from thresher.formats.chunk import CHUNK, Chunk, pieces
from thresher.formats.errors import DataError
from thresher.formats.fields import bad_weight
from thresher.formats.named import FileSource
from thresher.formats.names import Names
from thresher.formats.protocol import Format, Reading

LABELS = ("y", "labels", "label", "target")
BESIDE = (".y.npy", ".labels.npy")
CSR = ("data", "indices", "indptr", "shape")


class Arrays(NamedTuple):
    """What a file holds: rows, labels and weights; ``apart`` are columns that are no features."""

    rows: Any  # a sparse or a dense array
    labels: np.ndarray | None
    weights: np.ndarray | None
    apart: list[int]


class NpzSource(FileSource):
    """Rows of arrays in files."""

    names: Names | None = None
    index_base = 0

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        super().__init__(paths, reading)
        if not self.rewinds:
            raise DataError(
                ".npz and .npy files cannot be read from a pipe or standard input: name a file."
            )

    def _read(self) -> Iterator[Chunk]:
        width, words = 0, None
        for path in self.files.paths:
            arrays = load(path, self.reading)
            if arrays.labels is not None:
                before, words = words, arrays.labels.dtype == object
                if before not in (None, words):
                    raise DataError(
                        "labels are words in one file and numbers in another", file=path
                    )
            for first, chunk in _chunks(arrays):
                width = max(width, chunk.width)
                sound = self._without_bad_rows(chunk, first, path)
                yield Chunk(
                    sound.starts, sound.columns, sound.values, width, sound.labels, sound.weights
                )
            self.files.compare(path, "while it was read")

    def _without_bad_rows(self, chunk: Chunk, first: int, path: str) -> Chunk:
        """Return the rows that are not refused."""
        labels, weights = chunk.labels, chunk.weights
        bad: dict[int, str] = {}
        if labels is not None and labels.dtype != object:
            bad |= {row: f"the label is {labels[row]}" for row in _where(~np.isfinite(labels))}
        if weights is not None:
            wrong = _where(~((weights >= 0) & np.isfinite(weights)))
            bad |= {row: bad_weight(weights[row]).message for row in wrong}
        for place in _where(~np.isfinite(chunk.values)):
            row = int(np.searchsorted(chunk.starts, place, side="right")) - 1
            bad[row] = f"the value in column {chunk.columns[place]} is {chunk.values[place]}"
        for row in sorted(bad):
            self._report(DataError(bad[row], file=path, line=first + row + 1))
        return chunk.without(np.array(sorted(bad))) if bad else chunk


def _where(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(mask).tolist()


def load(path: str, reading: Reading) -> Arrays:
    """Return the arrays of a file, checked."""
    entries: Mapping[str, Any]
    with explained(path):
        if path.lower().endswith(".npy"):
            entries = {"X": np.load(path, mmap_mode="r", allow_pickle=False)}
        else:
            with np.load(path, allow_pickle=False) as file:
                entries = {name: file[name] for name in file.files}
        rows = _rows(path, entries, (*LABELS, reading.label, reading.weight))
    apart: list[int] = []
    labels = weights = None
    if reading.ignore_labels:
        _column(reading.label, entries, rows, apart)  # which is no feature, though not read
    elif reading.label or (labels := _usual_labels(path, entries)) is None:
        labels = _named("label", reading.label, path, entries, rows, apart)
    if labels is None and reading.labelled:
        raise DataError(
            f"has no labels: there is no entry {', '.join(LABELS)}, nor a file "
            f"{Path(path).stem}{BESIDE[0]} beside it. Name an entry, a file or a column "
            "(label=, --label).",
            file=path,
        )
    if reading.ignore_labels:
        _column(reading.weight, entries, rows, apart)
    elif reading.weight is not None:
        weights = _named("weight", reading.weight, path, entries, rows, apart)
    labels = _checked("label", labels, rows.shape[0], path)
    weights = _checked("weight", weights, rows.shape[0], path)
    if labels is not None:
        labels = labels.astype(object if labels.dtype.kind in "US" else np.float64)
    return Arrays(rows, labels, None if weights is None else weights.astype(np.float64), apart)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn the errors of NumPy and SciPy about a file into errors of its data."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except DataError:
        raise
    except Exception as error:  # damaged files raise what zip, zlib and Python's parser have
        reason = str(error) or type(error).__name__
        if "allow_pickle" in reason or "Object arrays" in reason:
            reason = "it holds Python objects, which are never loaded. Save numbers or strings"
        raise DataError(f"cannot be read as NumPy's arrays: {reason}", file=path) from error


def _rows(path: str, entries: Mapping[str, Any], apart: Sequence[str | None]) -> Any:
    """Return the rows: a dense array, or a sparse one whose indices are within its shape."""
    if "format" in entries or set(CSR) <= set(entries):
        if "format" in entries:
            matrix = sparse.load_npz(path)
        else:
            data, indices, indptr, shape = (entries[name] for name in CSR)
            matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        _refuse_kind(matrix.dtype, path)
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        return sparse.csr_array(matrix)
    tables = [name for name in entries if entries[name].ndim == 2 and name not in apart]
    name = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if name is None:
        raise DataError(
            "has no entry X with two dimensions, rows and columns, nor a sparse matrix: there are "
            f"{', '.join(entries) or 'no entries'}.",
            file=path,
        )
    _refuse_kind(entries[name].dtype, path)
    return entries[name]


def _refuse_kind(dtype: np.dtype, path: str) -> None:
    if dtype.kind not in "biuf":
        raise DataError(f"holds values of type {dtype}: rows are numbers", file=path)


def _checked(what: str, found: np.ndarray | None, n_rows: int, path: str) -> np.ndarray | None:
    """Return a number or a string for each row; None if there are none."""
    if found is None:
        return None
    found = found.reshape(-1) if found.ndim == 2 and 1 in found.shape else found
    if found.shape != (n_rows,) or found.dtype.kind not in "biufUS":
        raise DataError(
            f"there are {n_rows:,} rows, and the {what} is an array of {found.dtype} of shape "
            f"{found.shape}: there must be one number or string for each row",
            file=path,
        )
    return found


def _named(
    what: str,
    name: str | None,
    path: str,
    entries: Mapping[str, Any],
    rows: Any,
    apart: list[int],
) -> np.ndarray | None:
    """Return an entry, a column or a file of this name; None if there is no name."""
    if name is None:
        return None
    if name in entries:
        return np.asarray(entries[name])
    column = _column(name, entries, rows, apart)
    if column is not None:
        return column
    for place in (Path(name), Path(path).parent / name):
        if place.suffix == ".npy" and place.is_file():
            return _array_in(place)
    raise DataError(
        f"there is no {what} {name!r}: it is neither an entry ({', '.join(entries)}), nor a file, "
        "nor the number of a column of a dense table",
        file=path,
    )


def _column(
    name: str | None, entries: Mapping[str, Any], rows: Any, apart: list[int]
) -> np.ndarray | None:
    """Return a column of a dense table by its number, and set it apart."""
    number = (name or "").lstrip("-")
    if name is None or name in entries or sparse.issparse(rows) or not number.isdecimal():
        return None
    if not -rows.shape[1] <= int(name) < rows.shape[1]:
        return None
    apart.append(int(name) % rows.shape[1])
    return np.asarray(rows[:, int(name)])


def _usual_labels(path: str, entries: Mapping[str, Any]) -> np.ndarray | None:
    """Return the labels where the reading names none."""
    found = next((name for name in LABELS if name in entries), None)
    if found is not None:
        return np.asarray(entries[found])
    stem = Path(path).stem
    names = [f"{stem}{ending}" for ending in BESIDE]
    names += [f"y{stem[1:]}.npy"] if stem[:1] in "Xx" else []
    places = [Path(path).with_name(name) for name in names]
    return next((_array_in(place) for place in places if place.is_file()), None)


def _array_in(place: Path) -> np.ndarray:
    with explained(str(place)):
        return np.asarray(np.load(place, allow_pickle=False))


def _chunks(arrays: Arrays) -> Iterator[tuple[int, Chunk]]:
    """Yield the number of the first row of each chunk, and the chunk."""
    n_rows, width = arrays.rows.shape
    at_once = CHUNK.rows
    if isinstance(arrays.rows, np.ndarray):
        at_once = max(1, min(at_once, CHUNK.nonzeros // max(width, 1)))
    for first in range(0, n_rows, at_once):
        some = slice(first, first + at_once)
        part = arrays.rows[some]
        if arrays.apart:
            part = np.delete(part, arrays.apart, axis=1)
        labels, weights = (
            None if one is None else one[some] for one in (arrays.labels, arrays.weights)
        )
        before = first
        for chunk in pieces(Chunk.of(part, labels, weights)):
            yield before, chunk
            before += len(chunk)


FORMAT = Format(NpzSource, options=("label", "weight"))
