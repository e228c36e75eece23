"""Small data in every format: how it is written, and reading all of it."""

import csv
import inspect
import json
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest

from thresher.formats import protocol
from thresher.formats.binary_file import write as write_binary
from thresher.formats.blocks import InputFiles
from thresher.formats.compression import looks_compressed
from thresher.formats.errors import BadRow, DataError
from thresher.formats.opening import FORMATS, find_format, open_rows
from thresher.formats.svmlight import LAST_COLUMN
from thresher.formats.svmlight_lines import Rules, read_line

NAMES = ["aa", "bb", "cc", "dd"]
# label, and how often each of the names occurs; every column in the first row, for tables
ROWS = [
    (1.0, {"aa": 1, "bb": 2, "cc": 3, "dd": 1}),
    (0.0, {"bb": 1}),
    (0.0, {}),
    (1.0, {"aa": 2, "dd": 5}),
    (2.0, {"cc": 1, "dd": 1}),
] + [(float(k % 3), {NAMES[k % 4]: k}) for k in range(1, 24)]


def _svmlight(path, rows):
    places = {name: place for place, name in enumerate(NAMES, 1)}
    lines = [[f"{y:g}", *(f"{places[name]}:{x}" for name, x in row.items())] for y, row in rows]
    _lines(path, map(" ".join, lines))


def _vw(path, rows):
    lines = [f"{y:g} | " + " ".join(f"{name}:{x}" for name, x in row.items()) for y, row in rows]
    _lines(path, lines)


def _jsonl(path, rows):
    _lines(path, [json.dumps({"label": y, **row}) for y, row in rows])


def _table(separator):
    def write(path, rows):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerow(["label", *NAMES])
            writer.writerows([y, *(row.get(name, 0) for name in NAMES)] for y, row in rows)

    return write


def _text(path, rows):
    lines = [f"{y:g}\t" + " ".join(" ".join([name] * x) for name, x in r.items()) for y, r in rows]
    _lines(path, lines)


def _arrow(path, rows):
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = sys.modules["pyarrow"]
    columns = {name: [row.get(name, 0) for _, row in rows] for name in NAMES}
    parquet.write_table(pa.table({"label": [y for y, _ in rows], **columns}), path)


def _npz(path, rows):
    X = np.array([[row.get(name, 0) for name in NAMES] for _, row in rows])
    with open(path, "wb") as file:
        np.savez(file, X=X, y=np.array([y for y, _ in rows]))


def _binary(path, rows):
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "rows.jsonl"
        _jsonl(text, rows)
        write_binary(open_rows(text), str(path))


def _lines(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines))


# A new format needs a row here: without one its tests fail.
WRITERS = {
    "svmlight": _svmlight,
    "vw": _vw,
    "jsonl": _jsonl,
    "csv": _table(","),
    "tsv": _table("\t"),
    "text": _text,
    "arrow": _arrow,
    "npz": _npz,
    "binary": _binary,
}
TEXTS = [name for name in FORMATS if "max_line_bytes" in find_format(name).options]
NAMED = [name for name in FORMATS if name not in ("svmlight", "npz")]


def write(folder, form, rows=ROWS, name="rows"):
    """Write rows to a file of a format, and return its path."""
    ending = (FORMATS[form].endings or (".raw",))[0]
    path = Path(folder) / f"{name}{ending}"
    WRITERS[form](path, rows)
    return str(path)


class Result(NamedTuple):
    """All rows of a source: by name, and as they lie."""

    rows: list[dict[str, float]]
    labels: list
    weights: list
    columns: list[list[int]]
    source: protocol.Source


def read_all(source):
    """Return all rows of a source, each chunk of which must be in canonical form."""
    rows, columns, labels, weights = [], [], [], []
    for chunk in source.chunks():
        check_canonical(chunk)
        for i in range(len(chunk)):
            part = slice(chunk.starts[i], chunk.starts[i + 1])
            columns.append(chunk.columns[part].tolist())
            names = [name_in(source, column) for column in columns[-1]]
            rows.append(dict(zip(names, chunk.values[part].tolist(), strict=True)))
        labels += [None] * len(chunk) if chunk.labels is None else chunk.labels.tolist()
        weights += [1.0] * len(chunk) if chunk.weights is None else chunk.weights.tolist()
    return Result(rows, labels, weights, columns, source)


def same(one, other):
    """Return whether two results hold the same rows."""
    return one[:4] == other[:4]


def name_in(source, column):
    """Return a column's name, or its number where columns have none."""
    return column if source.names is None else source.names.name(column)


def check_canonical(chunk):
    """Assert what every chunk must be."""
    assert chunk.starts.dtype == chunk.columns.dtype == np.int64
    assert chunk.values.dtype == np.float64
    assert all(a.flags.c_contiguous for a in (chunk.starts, chunk.columns, chunk.values))
    assert chunk.starts[0] == 0
    assert chunk.starts[-1] == chunk.columns.size == chunk.values.size
    assert np.isfinite(chunk.values).all()
    assert (chunk.values != 0).all()
    assert chunk.columns.size == 0 or 0 <= chunk.columns.min() <= chunk.columns.max() < chunk.width
    rows = np.repeat(np.arange(len(chunk)), np.diff(chunk.starts))
    assert ((np.diff(rows) > 0) | (np.diff(chunk.columns) > 0)).all()
    for array in (chunk.labels, chunk.weights):
        assert array is None or array.shape == (len(chunk),)
    assert chunk.labels is None or chunk.labels.dtype.kind in "ifOU"
    assert chunk.weights is None or chunk.weights.dtype == np.float64


def read_text(form, text, *, names=None, suffix=".rows", small=False, **options):
    """Return the rows in a text; ``small`` cuts it into the smallest chunks."""
    data = text if isinstance(text, bytes) else text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        path.write_bytes(data)
        with small_chunks() if small else nullcontext():
            return read_all(open_rows(path, format=form, names=names, **options))


def refused(form, text, **options):
    """Return the error of a text."""
    with pytest.raises(DataError) as caught:
        read_text(form, text, **options)
    return caught.value


# Digits near the end of a text are read one by one, others eight at a time; before this, all are.
FILLER = b"\n# nothing but room behind what is read, so that all of it can be loaded"


def compare_svmlight(data, labelled=True, lowest=0):
    """Assert that svmlight text is read as ``read_line`` reads each line of it."""
    data, rules = data.removeprefix(b"\xef\xbb\xbf"), Rules(lowest, LAST_COLUMN, labelled, False)
    rows, faults = [], []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        try:
            row = read_line(line, rules)
        except BadRow as problem:
            faults.append(f"line {number}, column {problem.column}: {problem.message}")
        else:
            rows += [] if row is None else [row]
    labels = [label for label, _ in rows]
    labels = [None] * len(rows) if np.isnan(labels).any() else labels
    pairs = [{i - lowest: x for i, x in sorted(row.items()) if x} for _, row in rows]
    for text in (data, data + FILLER):
        if not data or looks_compressed(text[:16]):
            continue
        options = {"labelled": labelled, "index_base": lowest, "on_error": "skip"}
        found = read_text("svmlight", text, **options)
        assert (found.rows, found.labels) == (pairs, labels)
        skipped = found.source.skipped
        assert skipped.count == len(faults)
        assert [example.partition(", ")[2] for example in skipped.examples] == faults[:5]


def every(names, values):
    """Let a test run with each of the values, all in one case; a failure shows with which.

    Each run has a folder and patches of its own.
    """
    names = names.split(", ") if isinstance(names, str) else names

    def decorate(test):
        def run(**fixtures):
            for number, value in enumerate(values):
                given = dict(zip(names, value if len(names) > 1 else [value], strict=True))
                for name in {"tmp_path", "folder"}.intersection(fixtures):
                    fixtures[name] = fixtures[name].parent / f"{fixtures[name].name}{number}"
                    fixtures[name].mkdir(exist_ok=True)
                with pytest.MonkeyPatch.context() as patch:
                    mine = {"monkeypatch": patch} if "monkeypatch" in fixtures else {}
                    try:
                        test(**{**fixtures, **given, **mine})
                    except Exception as error:
                        error.add_note(f"with {given}")
                        raise

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.pytestmark = getattr(test, "pytestmark", [])
        signature = inspect.signature(test)
        kept = [one for one in signature.parameters.values() if one.name not in names]
        run.__signature__ = signature.replace(parameters=kept)
        return run

    return decorate


@contextmanager
def small_chunks(n_rows=2, n_bytes=40):
    """Let chunks end after a few rows and bytes."""
    blocks_of = InputFiles.blocks_of
    where = "thresher.formats"
    with (
        mock.patch.object(InputFiles, "blocks_of", lambda *file: blocks_of(*file[:2], n_bytes)),
        mock.patch(f"{where}.named.MOST_ROWS", n_rows),
        mock.patch(f"{where}.records.MOST_ROWS", n_rows),
        mock.patch(f"{where}.arrow_files.MOST_ROWS", n_rows),
    ):
        yield
