"""Weights as a table, from which anybody can compute what the model predicts.

The formula stands in the header: comment lines of CSV and TSV, an entry of JSON, metadata of
Parquet. Where rows are scaled to unit length and some columns stand apart, ``scaled`` tells which
columns make up the length; those that stand apart have a line even if their weight is 0.
"""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thresher.export.contents import Contents, formula

INTERCEPT = "(intercept)"
LARGEST = np.iinfo(np.int64).max  # of the integers that Parquet takes by itself

Table = dict[str, list[Any]]
Sizes = Mapping[int, Contents]


def table_of(contents: Contents, sizes: Sizes | None = None) -> Table:
    """Return the table of a model, or of its path: all models by their numbers of features."""
    if sizes is None:
        return weight_table(contents)
    tables = {size: weight_table(one) for size, one in sizes.items()}
    numbers = [size for size, table in tables.items() for _ in table["feature"]]
    names = dict.fromkeys(name for table in tables.values() for name in table)
    parts = {name: [one for table in tables.values() for one in table[name]] for name in names}
    return {"size": numbers, **parts}


def weight_table(contents: Contents) -> Table:
    """Return a table, column by column: for each output its intercept, then its weights."""
    fitted = contents.fitted
    names = ("feature", "column", "class", "weight", "scaled", *contents.facts)
    table: Table = {name: [] for name in names}
    for output, intercept in enumerate(fitted.intercepts.tolist()):
        counts = (fitted.weights[output] != 0) | fitted.preparation.kept_length
        places = np.flatnonzero(counts)
        columns = fitted.columns[places]
        table["feature"] += [INTERCEPT, *contents.names_of(columns)]
        table["column"] += [None, *columns.tolist()]
        table["class"] += [contents.class_of(output)] * (places.size + 1)
        table["weight"] += [intercept, *fitted.weights[output, places].tolist()]
        table["scaled"] += [None, *(~contents.apart[places]).tolist()]
        for name, numbers in contents.facts.items():
            table[name] += [None, *numbers[places].tolist()]
    _add_apart(contents, table)
    return {name: values for name, values in table.items() if name not in _left_out(contents)}


def _add_apart(contents: Contents, table: Table) -> None:
    """Add columns without a weight that have no part in the length of a row."""
    preparation = contents.fitted.preparation
    if not preparation.unit or preparation.kept_length:
        return
    others = np.setdiff1d(preparation.measured, contents.fitted.columns)
    table["feature"] += contents.names_of(others)
    table["column"] += others.tolist()
    table["weight"] += [0.0] * others.size
    table["scaled"] += [False] * others.size
    for name in ("class", *contents.facts):
        table[name] += [None] * others.size


def _left_out(contents: Contents) -> set[str]:
    """Return the columns of the table that would mean nothing."""
    preparation = contents.fitted.preparation
    left = {"class"} if contents.of_numbers else set()
    if not (preparation.unit and preparation.measured.size):
        left.add("scaled")
    return left


def separated(delimiter: str) -> Callable[[Contents], bytes]:
    """Return a writer of text; all strings are quoted, so none is taken for a comment."""

    def write(contents: Contents, sizes: Sizes | None = None) -> bytes:
        table = table_of(contents, sizes)
        lines = [f"# {line}" for line in formula(contents)]
        rows = [list(table), *zip(*table.values(), strict=True)]
        lines += [delimiter.join(map(_cell, row)) for row in rows]
        return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")

    return write


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if value is None else repr(value)


def to_json(contents: Contents, sizes: Sizes | None = None) -> bytes:
    """Return the table as JSON, with the formula before it."""
    table = table_of(contents, sizes)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return json.dumps({"formula": formula(contents), "weights": rows}, indent=1).encode() + b"\n"


def to_parquet(contents: Contents, sizes: Sizes | None = None) -> bytes:
    """Return the table as Parquet, with the formula among its metadata."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'thresher[arrow]'.") from None
    kinds = {"feature": pa.string(), "column": pa.int64(), "weight": pa.float64()}
    kinds |= {"scaled": pa.bool_(), **dict.fromkeys(contents.facts, pa.float64())}
    table = table_of(contents, sizes)
    if any(isinstance(one, int) and one > LARGEST for one in table.get("class", ())):
        kinds["class"] = pa.uint64()
    columns = {name: pa.array(values, kinds.get(name)) for name, values in table.items()}
    made = pa.table(columns).replace_schema_metadata({"formula": "\n".join(formula(contents))})
    buffer = io.BytesIO()
    pq.write_table(made, buffer)
    return buffer.getvalue()
