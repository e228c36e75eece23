"""Parquet and Arrow files that are refused: rows, tables, and what is no such file."""

import datetime
import sys
from unittest import mock

import numpy as np
import pytest

from arrow_cases import PEOPLE, WRITERS, pa, parquet, read_table, write_two
from named_rows import read_all, small_chunks
from thresher.data.errors import DataError
from thresher.data.sources.arrow import ArrowSource
from thresher.data.sources.protocol import Reading


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arrow")


# a table of three rows whose second one is wrong, and what is wrong with it
MALFORMED = {
    "nan": ({"label": [1, 1, 1], "a": [1, np.nan, 1]}, "nan in column 'a' is not finite"),
    "inf": ({"label": [1, 1, 1], "a": [1, -np.inf, 1]}, "-inf in column 'a' is not finite"),
    "label": ({"label": [1, None, 1], "a": [1, 1, 1]}, "'label' is null"),
    "word": ({"label": ["a", None, "b"], "a": [1, 1, 1]}, "'label' is null"),
    "nan label": ({"label": [1, np.nan, 1], "a": [1, 1, 1]}, "the label is nan"),
    "weight": ({"label": [1, 1, 1], "w": [1, -2, 1]}, "the row's weight is -2"),
    "no weight": ({"label": [1, 1, 1], "w": [1, None, 1]}, "the row's weight is nan"),
    "long": ({"label": [1, 1, 1], "names": [["a"]] * 3, "values": [[1], [1, 2], [1]]}, "1 items"),
    "null list": ({"label": [1, 1, 1], "names": [["a"]] * 3, "values": [[1], None, [1]]}, "and 0"),
    "null": ({"label": [1, 1, 1], "names": [["a"], [None], []]}, "an item of 'names' is null"),
    "null value": (
        {"label": [1, 1, 1], "names": [["a"]] * 3, "values": [[1], [None], [1]]},
        "an item of 'values' is null",
    ),
    "nan value": (
        {"label": [1, 1, 1], "names": [["a"]] * 3, "values": [[1], [np.nan], [1]]},
        "an item of 'values' is not finite",
    ),
    "negative": ({"label": [1, 1, 1], "indices": [[1], [-1], []]}, "an index is below 0"),
    "sum": (
        {"label": [1, 1, 1], "names": [["a", "a"]] * 3, "values": [[1, 2], [1e308, 1e308], [3, 4]]},
        "add up beyond",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("n_rows", [1, 2, 100])
def test_what_is_refused(folder, case, n_rows):
    table, message = MALFORMED[case]
    weight = "w" if "w" in table else None
    with small_chunks(n_rows=n_rows):
        with pytest.raises(DataError) as caught:
            read_table(folder, table, weight=weight)
        assert caught.value.line == 2
        assert message in str(caught.value)
        found = read_table(folder, table, weight=weight, on_error="skip")
    assert len(found.rows) == 2
    assert found.source.skipped.count == 1
    assert found.source.n_rows == 2
    good = pa.table(table).take([0, 2])
    assert found.rows == read_table(folder, good, weight=weight).rows


REFUSED = {
    "no label": ({"a": [1], "b": [2]}, "no column 'label' for the label. There are 'a', 'b'"),
    "date": ({"label": [1], "d": [datetime.date(2020, 1, 1)]}, "'d' is of type date32"),
    "date as label": ({"label": [datetime.date(2020, 1, 1)]}, "'label' is of type date32"),
    "struct": ({"label": [1], "s": [{"a": 1}]}, "'s' is of type struct"),
    "lists": ({"label": [1], "things": [["a"]]}, "'things' is of type list"),
    "values": ({"label": [1], "names": [["a"]], "values": [1.0]}, "'values' is of type double"),
    "words": ({"label": [1], "names": [["a"]], "values": [["b"]]}, "should hold lists of numbers"),
    "both": ({"label": [1], "names": [["a"]], "indices": [[1]]}, "both hold lists"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tables_that_are_refused(folder, case):
    table, message = REFUSED[case]
    with pytest.raises(DataError) as caught:
        read_table(folder, table)
    assert message in str(caught.value)


def test_two_columns_of_one_name_are_refused(folder):
    table = pa.Table.from_arrays([pa.array([1])] * 3, ["label", "a", "a"])
    with pytest.raises(DataError, match="two columns are called 'a'"):
        read_table(folder, table, writer="stream")


DIFFERENT = {
    "columns": ({"label": [1], "a": [2]}, {"label": [1], "b": [2]}, "differ"),
    "labels": ({"label": [1], "a": [2]}, {"label": ["x"], "a": [2]}, "not a number, but the first"),
    "kinds": ({"label": [1], "a": [2]}, {"label": [1], "a": ["x"]}, "was learned from as numbers"),
    "shapes": ({"label": [1], "indices": [[2]]}, {"label": [1], "names": [["a"]]}, "in another"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_several_files_must_be_alike(tmp_path, case):
    one, two, message = DIFFERENT[case]
    with pytest.raises(DataError, match=message):
        read_all(ArrowSource(write_two(tmp_path, one, two), Reading()))


def test_text_that_is_no_text_is_refused(folder):
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(DataError, match="rows from 1 on cannot be read"):
        read_table(folder, {"label": [1], "a": bad}, writer="stream")


def test_an_index_beyond_all_numbers_is_refused(folder):
    lists = pa.array([[2**63]], pa.list_(pa.uint64()))
    with pytest.raises(DataError, match="rows from 1 on cannot be read"):
        read_table(folder, {"label": [1], "indices": lists})


BROKEN = {
    b"PAR1 and nothing else": "cannot be read as Parquet",
    b"ARROW1 and nothing else": "cannot be read as Arrow",
    b"\xff\xff\xff\xff\x70\x00\x00\x00": "cannot be read as Arrow",
    b"label,a\n1,2\n": "neither a Parquet nor an Arrow file",
    b"": "is empty",
}


@pytest.mark.parametrize("data", BROKEN)
def test_files_that_are_something_else(tmp_path, data):
    path = tmp_path / "x.parquet"
    path.write_bytes(data)
    with pytest.raises(DataError, match=BROKEN[data]) as caught:
        ArrowSource([str(path)], Reading())
    assert caught.value.file == str(path)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "x.file"
    for writer in ("parquet", "feather"):
        WRITERS[writer](pa.table(PEOPLE), str(path))
        whole = path.read_bytes()
        for size in range(0, len(whole), 37):
            path.write_bytes(whole[:size])
            with pytest.raises(DataError):
                read_all(ArrowSource([str(path)], Reading()))


@pytest.mark.parametrize("paths", [["-"], ["missing.parquet"], ["."]])
def test_what_is_no_file_is_refused(paths):
    with pytest.raises(DataError, match=r"standard input|no such file|directory"):
        ArrowSource(paths, Reading())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(PEOPLE), path)
    data = path.read_bytes()
    for changed, message in ((data + b"more", "grew"), (data[:-5] + b"?" + data[-4:], "changed")):
        path.write_bytes(data)
        chunks = ArrowSource([str(path)], Reading()).chunks()
        next(chunks)
        path.write_bytes(changed)
        with pytest.raises(DataError, match=message):
            list(chunks)


def test_without_pyarrow_there_is_advice(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(PEOPLE), path)
    with (
        mock.patch.dict(sys.modules, {"pyarrow": None}),
        pytest.raises(ImportError, match=r"pip install 'thresher\[arrow\]'"),
    ):
        ArrowSource([str(path)], Reading())
