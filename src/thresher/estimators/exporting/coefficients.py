"""Coefficients as a table, from which anybody can compute what the model predicts.

Where rows get unit length in columns that are brought around zero or to one unit, ``offset`` and
``scale`` say how, and columns without a weight have a line, too: they count for the length.
"""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from thresher.estimators.exporting.computing import prepared_columns
from thresher.estimators.names import columns_used, names_of
from thresher.files.atomic import write_bytes
from thresher.learners.paths import Paths

INTERCEPT = "(intercept)"
LARGEST = np.iinfo(np.int64).max  # of what Parquet takes whole numbers for
NAMES = ("feature", "column", "class", "weight", "probability")

Table = dict[str, list[Any]]


def export_coefficients(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write the coefficients as a table in the format that the path's ending tells."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ValueError(
            f"{os.fspath(path)}: the ending says how coefficients are written, and it must be one "
            f"of {', '.join(WRITERS)}."
        )
    write_bytes(path, WRITERS[ending](coefficients(estimator)))


def coefficients(estimator: Any) -> Table:
    """Return a table, column by column: for each problem its intercept, then its weights."""
    weights, intercepts = estimator._settled()
    table: Table = {name: [] for name in NAMES}
    for problem, intercept in enumerate(intercepts.tolist()):
        columns, values, probabilities = _weights_of(estimator, problem, weights[problem])
        table["feature"] += [INTERCEPT, *names_of(estimator, columns)]
        table["column"] += [None, *columns.tolist()]
        table["class"] += [_class(estimator, problem)] * (columns.size + 1)
        table["weight"] += [intercept, *values.tolist()]
        table["probability"] += [None, *probabilities]
    _add_preparation(estimator, table)
    if not isinstance(estimator._model.problems[0].state, Paths):
        del table["probability"]
    if is_regressor(estimator):
        del table["class"]
    return table


def _add_preparation(estimator: Any, table: Table) -> None:
    """Add what is done to rows before they meet the weights, and all columns that count there."""
    prepared = prepared_columns(estimator)
    if prepared is not None:
        others = np.setdiff1d(prepared.columns, columns_used(estimator))
        table["feature"] += names_of(estimator, others)
        table["column"] += others.tolist()
        table["weight"] += [0.0] * others.size
        for name in ("class", "probability"):
            table[name] += [None] * others.size
        known = zip(prepared.offsets.tolist(), prepared.scales.tolist(), strict=True)
        by_column = dict(zip(prepared.columns.tolist(), known, strict=True))
        pairs = [by_column.get(column, (None, None)) for column in table["column"]]
        table["offset"], table["scale"] = map(list, zip(*pairs, strict=True))
    if estimator._power != 1.0:
        table["value_power"] = [estimator._power] * len(table["feature"])
    normalized = estimator._model.vocabulary.normalize
    table["rows_normalized"] = [normalized] * len(table["feature"])


def _weights_of(
    estimator: Any, problem: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[float | None]]:
    """Return columns, weights and selection probabilities, by ascending column."""
    vocabulary = estimator._model.vocabulary
    known = estimator._model.probabilities(estimator._model.problems[problem])
    slots = np.flatnonzero(weights)
    slots = slots[np.argsort(vocabulary["columns"][slots])]
    probabilities = [None] * slots.size if known is None else known[slots].tolist()
    return vocabulary["columns"][slots], weights[slots], probabilities


def _class(estimator: Any, problem: int) -> Any:
    """Return the class that positive weights of a problem speak for, as Python knows it."""
    positive = estimator._positive(problem)
    return positive.item() if isinstance(positive, np.generic) else positive


def _separated(delimiter: str) -> Callable[[Table], bytes]:
    def write(table: Table) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return text.getvalue().encode("utf-8", "surrogatepass")

    return write


def _json(table: Table) -> bytes:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return json.dumps(rows, indent=1).encode() + b"\n"


def _parquet(table: Table) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'thresher[arrow]'.") from None
    kinds = {"feature": pa.string(), "column": pa.int64()}
    numbers = "weight", "probability", "offset", "scale", "value_power"
    kinds |= dict.fromkeys(numbers, pa.float64())
    if any(isinstance(one, int) and one > LARGEST for one in table.get("class", ())):
        kinds["class"] = pa.uint64()
    columns = {name: pa.array(values, kinds.get(name)) for name, values in table.items()}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


WRITERS = {".csv": _separated(","), ".tsv": _separated("\t"), ".json": _json, ".parquet": _parquet}
