"""Reading small texts in formats whose features have names, and what came out of it."""

import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from thresher.data.sources.files import TextFiles
from thresher.data.sources.protocol import Reading


class Result(NamedTuple):
    """All rows of a source: by name, and as they lie."""

    rows: list[dict[str, float]]
    labels: list | None
    weights: list | None
    columns: list[list[int]]
    source: object


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


def name_in(source, column):
    """Return a column's name, or its number where columns have none."""
    return column if source.names is None else source.names.name(column)


def check_canonical(chunk):
    """Assert what every chunk must be."""
    assert chunk.starts.dtype == chunk.columns.dtype == np.int64
    assert chunk.values.dtype == np.float64
    assert chunk.starts[0] == 0
    assert chunk.starts[-1] == chunk.columns.size == chunk.values.size
    assert np.isfinite(chunk.values).all()
    assert (chunk.values != 0).all()
    assert chunk.columns.size == 0 or 0 <= chunk.columns.min() <= chunk.columns.max() < chunk.width
    rows = np.repeat(np.arange(len(chunk)), np.diff(chunk.starts))
    assert (np.diff(rows * chunk.width + chunk.columns) > 0).all()
    for array in (chunk.labels, chunk.weights):
        assert array is None or array.shape == (len(chunk),)
    assert chunk.labels is None or chunk.labels.dtype in (np.float64, object)
    assert chunk.weights is None or chunk.weights.dtype == np.float64


def read_text(kind, text, *, names=None, suffix=".txt", small=False, **reading):
    """Return the rows that a text says; ``small`` cuts it into the smallest chunks."""
    data = text if isinstance(text, bytes) else text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        path.write_bytes(data)
        with small_chunks() if small else nullcontext():
            return read_all(kind([str(path)], Reading(**reading), names))


@contextmanager
def small_chunks(n_rows=2, n_bytes=40):
    """Let chunks end after a few rows and bytes."""
    blocks = TextFiles.blocks
    where = "thresher.data.sources"
    with (
        mock.patch.object(TextFiles, "blocks", lambda files: blocks(files, n_bytes)),
        mock.patch(f"{where}.named.MOST_ROWS", n_rows),
        mock.patch(f"{where}.table.MOST_ROWS", n_rows),
        mock.patch(f"{where}.arrow_files.MOST_ROWS", n_rows),
    ):
        yield
