"""Rows at the door: any container becomes the same canonical rows, or an error names the place.

Arrays and CSR matrices that need no change take a short way: a stream may bring row by row.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from thresher.formats.names import Names
from thresher.rows import (
    FINE,
    MOST_COLUMNS,
    NOT_FINITE,
    OUTSIDE,
    UNTIDY,
    Rows,
    broken_row,
    examine,
    nonzeros_of,
    refuse_width,
)

if TYPE_CHECKING:
    from thresher.formats.chunk import Chunk

FORMATS = ("csr", "csc", "coo")
MOST = float(np.finfo(np.float64).max)
SHOWN = 5  # missing columns that an error names


def unchecked_rows(model: BaseEstimator, X: Any, reset: bool = False) -> tuple[Rows, int]:
    """Return rows, and how many columns there are; only what delimits the rows has been checked.

    With ``reset`` the model takes over the number and the names of the columns. Otherwise they must
    be the model's; columns of a data frame are found by their names. The caller's arrays are
    shared, never changed.
    """
    X = with_one_index_type(X)
    if reset or not _is_plain(model, X):
        X = validated(model, X, reset)
    if sparse.issparse(X):
        return _rows_of_sparse(X), X.shape[1]
    return Rows(*nonzeros_of(np.require(X, np.float64, ["C", "W"]))), X.shape[1]


def has_names(X: Any) -> bool:
    """Return whether rows name their columns: a data frame, a dict of features, a list of these."""
    return is_dicts(X) or frame_names(X) is not None


def is_dicts(X: Any) -> bool:
    """Return whether rows are dicts of features; one dict is one row."""
    first = X[0] if isinstance(X, list) and X else X
    return isinstance(first, Mapping) and not sparse.issparse(first)  # as SciPy's DOK is


def rows_by_name(X: Any, names: Names | None, learn: bool = False) -> Rows:
    """Return rows that name their columns, numbered as a model knows them."""
    if names is None:
        raise ValueError("X is a dict, but the model's columns have numbers instead of names.")
    from thresher.formats.given import rows_of as given_rows

    if not all(isinstance(name, str) for name in frame_names(X) or ()):
        raise ValueError("X has columns whose names are no strings: the model finds them by name.")
    return rows_of(given_rows(X, names, learn)[0])


def rows_of(chunk: "Chunk") -> Rows:
    """Return the rows of a chunk as kernels know them."""
    if chunk.width >= MOST_COLUMNS:
        refuse_width(chunk.width)
    columns = np.require(chunk.columns, np.uint32, ["C", "W"])
    values = np.require(chunk.values, np.float64, ["C", "W"])
    return Rows(np.require(chunk.starts, np.int64, ["C", "W"]), columns, values)


def tidy_rows(model: BaseEstimator, rows: Rows, n_columns: int) -> Rows:
    """Return finite rows in canonical form, or name the first fault and its column."""
    fault, place = examine(*rows, n_columns)
    if fault == UNTIDY or (fault == FINE and rows.values.size > rows.starts[-1]):  # room to spare
        rows = _tidied(rows, n_columns)
        fault, place = examine(*rows, n_columns)
    if fault == OUTSIDE:
        _refuse_outside(rows.starts, rows.columns.view(np.int32), (rows.n, n_columns), place)
    if fault == NOT_FINITE:
        row, column = _row_at(rows.starts, place), int(rows.columns[place])
        names = vars(model).get("feature_names_in_")
        name = "" if names is None else f" ({names[column]!r})"
        what = "NaN" if np.isnan(rows.values[place]) else "infinity (inf)"
        raise ValueError(
            f"Input X contains {what} at row {row}, column {column}{name}. Drop such rows, or fill "
            "them in (sklearn.impute)."
        )
    return rows


def _is_plain(model: BaseEstimator, X: Any) -> bool:
    """Return whether X needs none of scikit-learn's checks, which cost a third of a millisecond."""
    return (
        (type(X) is np.ndarray or (sparse.issparse(X) and X.format == "csr"))
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == model.n_features_in_
        and "feature_names_in_" not in vars(model)
    )


def validated(model: BaseEstimator, X: Any, reset: bool) -> Any:
    """Return what scikit-learn makes of X: an array or sparse matrix of float64."""
    names = frame_names(X)
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two columns of X are called {twice!r}: rename one.")
    if not reset:
        X = in_training_order(model, X)
    if getattr(X, "dtype", None) != np.float64:
        _refuse_times(X)
    try:
        return validate_data(
            model,
            X,
            accept_sparse=FORMATS,
            dtype=np.float64,
            ensure_all_finite=False,
            reset=reset,
        )
    except OverflowError:
        raise ValueError(f"X has a number beyond the largest there is, {MOST:.1e}.") from None
    except (ValueError, TypeError):
        refuse_text(X)
        raise


def with_one_index_type(X: Any) -> Any:
    """Return a sparse matrix whose index arrays have one type: SciPy fails on two."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    if X.indices.dtype == X.indptr.dtype:
        return X
    return type(X)((X.data, X.indices, X.indptr), shape=X.shape)


# ------------------------------------------------------------------------------------- columns


def frame_names(X: Any) -> list[Any] | None:
    """Return the names of a data frame's columns; None of anything else."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))  # of Arrow; of others
    return None if columns is None or not hasattr(X, "shape") else list(columns)


def in_training_order(model: BaseEstimator, X: Any) -> Any:
    """Return a data frame with the columns of training in their order; others are left out."""
    names, known = frame_names(X), getattr(model, "feature_names_in_", None)
    if names is None or known is None or names == known.tolist():
        return X
    there = set(names)
    missing = [str(name) for name in known if name not in there]
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        raise ValueError(
            f"X lacks {len(missing):,} of the {len(known):,} columns of training: {shown}. Columns "
            "are matched by name, in any order."
        )
    return (X.select if hasattr(X, "column_names") else X.__getitem__)(known.tolist())


# ------------------------------------------------------------------------------ text and dates


def refuse_text(X: Any) -> None:
    """Raise a ValueError that names the first text or date in X, if there is one."""
    names = frame_names(X)
    if names is not None and hasattr(X, "iloc"):
        for number, name in enumerate(X.columns):
            _refuse_in(X.iloc[:, number], f"column {number} ({name!r})")
        return
    try:
        table = np.asarray(X)
        if table.dtype.kind not in "mM":  # as objects, these would be numbers again
            table = np.asarray(X, object)
    except ValueError:  # rows of different lengths
        return
    if table.ndim == 1 and table.size and isinstance(table[0], str):
        raise ValueError(
            "X is a list of texts: turn them into rows of numbers first "
            "(sklearn.feature_extraction.text.TfidfVectorizer)."
        )
    for number in range(table.shape[1] if table.ndim == 2 else 0):
        name = f" ({names[number]!r})" if names is not None else ""
        _refuse_in(table[:, number], f"column {number}{name}")


def _refuse_times(X: Any) -> None:
    """Refuse dates and spans of time, of which NumPy would make numbers of days or nanoseconds."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes"):
        kinds = {getattr(kind, "kind", "") for kind in np.atleast_1d(X.dtypes)}
        if kinds & {"m", "M"}:
            refuse_text(X)
        return
    try:
        kind = X.dtype if hasattr(X, "dtype") else np.asarray(X).dtype
    except ValueError:  # rows of different lengths
        return
    if getattr(kind, "kind", "") in ("m", "M", "O"):
        refuse_text(X)


def _refuse_in(values: Iterable[Any], column: str) -> None:
    from thresher.formats.labels import TIMES

    for row, value in enumerate(values):
        text = isinstance(value, str | bytes) and not _is_numeral(value)
        if text or isinstance(value, TIMES):
            raise ValueError(
                f"X has {value!r} at row {row}, {column}, where there must be a number. Leave the "
                "column out, or encode it (sklearn.preprocessing.OneHotEncoder). fit_stream([(X, "
                "y)]) makes categories of the strings in data frames."
            )


def _is_numeral(value: str | bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------------------------- rows


def _rows_of_sparse(X: Any) -> Rows:
    """Return the rows of a sparse matrix, which are not examined yet."""
    if X.format == "csc":
        X.check_format()  # SciPy converts whatever the indices are
        X = X.tocsr()
    elif X.format == "coo":
        X = sparse.coo_array((X.data, (X.row, X.col)), shape=X.shape).tocsr()
    indices = X.indices
    if indices.dtype != np.int32 and indices.size:
        strays = (indices < 0) | (indices >= X.shape[1])
        if strays.any():
            _refuse_outside(X.indptr, indices, X.shape, int(strays.argmax()))
    rows = Rows.of(X)
    broken = broken_row(rows.starts, min(rows.columns.size, rows.values.size))
    if broken >= 0:
        raise ValueError(
            f"The sparse matrix is broken: its indptr does not delimit row {broken}. Build it anew."
        )
    return rows


def _tidied(rows: Rows, n_columns: int) -> Rows:
    """Return rows with ascending columns, repeated ones added up, and no zeros."""
    starts, columns, values = rows
    n = starts[-1]
    parts = values[:n], columns[:n].view(np.int32), starts
    matrix = sparse.csr_array(parts, (rows.n, n_columns), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return Rows.of(matrix)


def _refuse_outside(
    starts: np.ndarray, columns: np.ndarray, shape: tuple[int, int], place: int
) -> NoReturn:
    raise ValueError(
        f"The sparse matrix has an entry at row {_row_at(starts, place)}, column "
        f"{columns[place]}, but its shape is {shape}: its indices, or its shape, are wrong."
    )


def _row_at(starts: np.ndarray, place: int) -> int:
    return int(np.searchsorted(starts, place, side="right")) - 1
