"""Small tables, written in every way that Arrow knows, and read."""

import pytest

from named_rows import read_all
from thresher.data.sources.arrow import ArrowSource
from thresher.data.sources.protocol import Reading

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
ipc = pytest.importorskip("pyarrow.ipc")
parquet = pytest.importorskip("pyarrow.parquet")


def write_stream(table, path):
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "parquet": parquet.write_table,
    "groups": lambda table, path: parquet.write_table(table, path, row_group_size=2),
    "feather": feather.write_feather,
    "plain feather": lambda table, path: feather.write_feather(table, path, "uncompressed"),
    "stream": write_stream,
}


def read_table(folder, table, *, names=None, writer="parquet", **reading):
    path = str(folder / "rows.file")
    WRITERS[writer](table if isinstance(table, pa.Table) else pa.table(table), path)
    return read_all(ArrowSource([path], Reading(**reading), names))


PEOPLE = {
    "label": [1, 0, 1],
    "age": [30, None, 0],
    "tall": [True, False, None],
    "town": ["Bern", "", None],
}


def write_two(tmp_path, one, two):
    paths = [str(tmp_path / "0.parquet"), str(tmp_path / "1.feather")]
    parquet.write_table(pa.table(one), paths[0])
    feather.write_feather(pa.table(two), paths[1])
    return paths
