"""What scikit-learn says of rows that are no numbers, said with the place."""

import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np

TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
WRONG_KINDS = (str, bytes, *TIMES)


def refuse_same_names(X: Any) -> None:
    """Raise a ValueError if a data frame has two columns of one name."""
    names = list(getattr(X, "columns", ())) if hasattr(X, "shape") else []
    seen: set[Any] = set()
    for name in names if len(set(names)) < len(names) else ():
        if name in seen:
            raise ValueError(f"Two columns of X are called {name!r}: give each its own name.")
        seen.add(name)


def refuse_times(X: Any) -> None:
    """Raise a ValueError that says where the first date or span of time stands, if there is one.

    NumPy makes numbers of them, days or nanoseconds, and one of those that are missing, too.
    """
    kinds = _kinds(X)
    if kinds & {"m", "M"} or (kinds == {"O"} and not _is_frame(X)):
        refuse_words(X)


def refuse_words(X: Any) -> None:
    """Raise a ValueError that says where the first word or date stands in rows, if there is one."""
    if _is_frame(X):
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
            "X is a list of texts: make rows of numbers of them first "
            "(sklearn.feature_extraction.text.TfidfVectorizer)."
        )
    for number in range(table.shape[1] if table.ndim == 2 else 0):
        _refuse_in(table[:, number], f"column {number}")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _kinds(X: Any) -> set[str]:
    """Return NumPy's letters for what the columns hold, as far as they have any."""
    if _is_frame(X):
        return {getattr(kind, "kind", "") for kind in X.dtypes}
    try:
        kind = X.dtype if hasattr(X, "dtype") else np.asarray(X).dtype
    except ValueError:  # rows of different lengths
        return set()
    return {getattr(kind, "kind", "")}


def _refuse_in(values: Iterable[Any], column: str) -> None:
    for row, value in enumerate(values):
        if isinstance(value, WRONG_KINDS) and not _is_numeral(value):
            raise ValueError(
                f"X has {value!r} at row {row}, {column}, where there must be a number. Leave the "
                "column out, or encode it (sklearn.preprocessing.OneHotEncoder)."
            )


def _is_numeral(value: Any) -> bool:
    if isinstance(value, TIMES):
        return False
    try:
        float(value)
    except (ValueError, TypeError):
        return False
    return True
