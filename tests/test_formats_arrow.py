"""Parquet and Arrow files: a column per feature or lists, nulls, refusals, and damage."""

import datetime
import decimal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from format_cases import every, read_all, small_chunks
from thresher.formats.errors import DataError
from thresher.formats.names import ZERO, GrowingNames
from thresher.formats.opening import open_rows

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
    return read_all(open_rows(path, names=names, format="arrow", **reading))


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arrow")


PEOPLE_ROWS = [{"age": 30, "tall": 1, "town=Bern": 1}, {"town=": 1}, {}]
LISTS = {
    "label": ["x", "y", "z"],
    "names": [["a", "b", "a"], [], None],
    "values": [[1.5, 2, 3], [], None],
    "comment": [None, "!", "?"],
}
LIST_ROWS = [{"a": 4.5, "b": 2}, {}, {}]


@every("writer", WRITERS)
@every("small", [False, True])
def test_both_shapes_in_every_container(folder, writer, small):
    with small_chunks(n_rows=1 if small else 100):
        wide = read_table(folder, PEOPLE, writer=writer, missing="zero")
        long = read_table(folder, LISTS, writer=writer)
    assert (wide.rows, wide.labels) == (PEOPLE_ROWS, [1, 0, 1])
    assert (long.rows, long.labels) == (LIST_ROWS, ["x", "y", "z"])
    assert wide.source.names.kinds == {"age": ZERO, "tall": ZERO, "town": None}


NUMBERS = {
    "int8": pa.array([1, None, -3], pa.int8()),
    "uint64": pa.array([1, None, 2**63], pa.uint64()),
    "float16": pa.array(np.array([1, 0, -0.5], np.float16)),
    "float32": pa.array([0.1, None, -3], pa.float32()),
    "decimal": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal(7)], pa.decimal128(10, 2)),
    "dictionary": pa.array([5, None, 5]).dictionary_encode(),
    "null": pa.nulls(3),
}


@every("kind", NUMBERS)
def test_numbers_of_every_type(folder, kind):
    writer = "stream"  # Parquet knows fewer types
    table = {"label": [1, 2, 3], "a": NUMBERS[kind]}
    found = read_table(folder, table, writer=writer, missing="zero")
    values = [float(value or 0) for value in NUMBERS[kind].to_pylist()]
    assert found.rows == [{"a": value} if value else {} for value in values]


@every("kind", [pa.string(), pa.large_string(), pa.string_view()])
@every("encode", [False, True])
def test_words_of_every_type(folder, kind, encode):
    words = pa.array(["a", None, "a"], kind)
    if encode and kind != pa.string_view():
        words = words.dictionary_encode()
    found = read_table(folder, {"label": [1, 2, 3], "x": words}, writer="stream")
    assert found.rows == [{"x=a": 1}, {}, {"x=a": 1}]
    found = read_table(folder, {"label": words, "a": [1, 2, 3]}, writer="stream", on_error="skip")
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 3}], ["a", "a"])


@every("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.uint8(), 2)])
def test_indices_are_columns_as_they_stand(folder, kind):
    lists = pa.array([[3, 7], [7, 3], [1, 1]], kind)
    values = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    table = {"label": [1, 2, 3], "indices": lists, "values": values}
    for base in (None, 0, 1):
        found, shift = read_table(folder, table, index_base=base), base or 0
        expected = [{3: 1, 7: 2}, {3: 4, 7: 3}, {1: 11}]
        assert found.rows == [{k - shift: v for k, v in row.items()} for row in expected]
        assert (found.source.names, found.source.index_base) == (None, shift)


def test_features_without_values_count_1(folder):
    table = {"label": [1, 2], "features": [["a", "b", "a"], ["b"]]}
    assert read_table(folder, table).rows == [{"a": 2, "b": 1}, {"b": 1}]


def test_names_with_dots_and_other_signs(folder):
    table = {"a.b": [1], "a": ["x.y"], "c d=": [2], "label.x": [3], "label": [1]}
    assert read_table(folder, table).rows == [{"a.b": 1, "a=x.y": 1, "c d=": 2, "label.x": 3}]


def test_label_and_weight_can_have_other_names(folder):
    table = {"w": [2, 0], "y": ["a", "b"], "label": [5, 6]}
    found = read_table(folder, table, label="y", weight="w")
    assert (found.rows, found.labels) == ([{"label": 5}, {"label": 6}], ["a", "b"])
    assert found.weights == [2, 0]


def test_a_model_reads_tables_as_it_did_in_training(folder):
    names = GrowingNames()
    read_table(folder, PEOPLE, names=names)
    kept = names.only(names.number(["age", "town=Bern"]))
    table = {"town": ["Bern", "Rome"], "id": ["1", "2"], "tall": [0, 1], "age": [1.5, 2]}
    found = read_table(folder, table, names=kept, labelled=False)
    assert found.rows[0] == {"age": 1.5, "town=Bern": 1}
    assert len(found.rows[1]) == 3  # another town and another height
    with pytest.raises(DataError, match="missing that the model has learned from: 'tall', 'town'"):
        read_table(folder, {"age": [1]}, names=kept, labelled=False)
    with pytest.raises(DataError, match="'town' is of type int64, but held categories"):
        read_table(folder, {**table, "town": [1, 2]}, names=kept, labelled=False)
    with pytest.raises(DataError, match="knows its features by name"):
        read_table(folder, {"indices": [[1]]}, names=kept, labelled=False)


def test_several_files(tmp_path):
    paths = write_two(tmp_path, {"label": [1], "a": [2]}, {"a": [3, np.nan], "label": [4, 5]})
    source = open_rows(paths, format="arrow", on_error="skip")
    found = read_all(source)
    assert (found.rows, found.labels) == ([{"a": 2}, {"a": 3}], [1, 4])
    assert "1.feather, line 2" in source.skipped.examples[0]
    paths = write_two(tmp_path, {"label": [1], "indices": [[9]]}, {"label": [1], "indices": [[2]]})
    assert [chunk.width for chunk in open_rows(paths, format="arrow").chunks()] == [10, 10]


def test_the_number_of_rows_is_known_before_reading(tmp_path):
    path = str(tmp_path / "a.parquet")
    parquet.write_table(pa.table(PEOPLE), path)
    assert open_rows(path).n_rows == 3
    assert open_rows(path, on_error="skip").n_rows is None


words = st.text(st.characters(codec="utf-8"), max_size=4)
numbers = st.integers(-1000, 1000).map(float)  # whose sums are exact
rows = st.lists(st.lists(st.tuples(words, numbers), max_size=4), min_size=1, max_size=9)


@given(rows, st.sampled_from(sorted(WRITERS)), st.integers(1, 9))
def test_lists_that_are_written_are_read(folder, written, writer, n_rows):
    table = pa.table(
        {
            "label": range(len(written)),
            "names": pa.array(
                [[name for name, _ in row] for row in written], pa.list_(pa.string())
            ),
            "values": pa.array([[v for _, v in row] for row in written], pa.list_(pa.float64())),
        }
    )
    expected = []
    for row in written:
        sums: dict[str, float] = {}
        for name, value in row:
            sums[name] = sums.get(name, 0.0) + value
        expected.append({name: value for name, value in sums.items() if value != 0})
    with small_chunks(n_rows=n_rows):
        found = read_table(folder, table, writer=writer)
    assert found.rows == expected
    assert found.labels == list(range(len(written)))


# ------------------------------------------------------------------------------------ refused

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


@every("case", MALFORMED)
def test_what_is_refused(folder, case):
    table, message = MALFORMED[case]
    weight = "w" if "w" in table else None
    good = read_table(folder, pa.table(table).take([0, 2]), weight=weight).rows
    for n_rows in (1, 2, 100):
        with small_chunks(n_rows=n_rows):
            with pytest.raises(DataError) as caught:
                read_table(folder, table, weight=weight)
            assert (caught.value.line, message in str(caught.value)) == (2, True)
            found = read_table(folder, table, weight=weight, on_error="skip")
        assert (found.rows, found.source.skipped.count, found.source.n_rows) == (good, 1, 2)


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


@every("case", REFUSED)
def test_tables_that_are_refused(folder, case):
    table, message = REFUSED[case]
    with pytest.raises(DataError) as caught:
        read_table(folder, table)
    assert message in str(caught.value)


DIFFERENT = {
    "columns": ({"label": [1], "a": [2]}, {"label": [1], "b": [2]}, "differ"),
    "labels": ({"label": [1], "a": [2]}, {"label": ["x"], "a": [2]}, "not a number, but the first"),
    "kinds": ({"label": [1], "a": [2]}, {"label": [1], "a": ["x"]}, "but held numbers before"),
    "shapes": ({"label": [1], "indices": [[2]]}, {"label": [1], "names": [["a"]]}, "in another"),
}


@every("case", DIFFERENT)
def test_several_files_must_be_alike(tmp_path, case):
    one, two, message = DIFFERENT[case]
    with pytest.raises(DataError, match=message):
        read_all(open_rows(write_two(tmp_path, one, two), format="arrow"))


def test_text_that_is_no_text_is_refused(folder):
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(DataError, match=r"rows from 1 on are damaged: .*Invalid UTF8"):
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


@every("data", BROKEN)
def test_files_that_are_something_else(tmp_path, data):
    path = tmp_path / "x.parquet"
    path.write_bytes(data)
    with pytest.raises(DataError, match=BROKEN[data]) as caught:
        open_rows(path, format="arrow")
    assert caught.value.file == str(path)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "x.file"
    for writer in ("parquet", "feather"):
        WRITERS[writer](pa.table(PEOPLE), str(path))
        whole = path.read_bytes()
        for size in range(0, len(whole), 37):
            path.write_bytes(whole[:size])
            with pytest.raises(DataError):
                read_all(open_rows(path, format="arrow"))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table(PEOPLE), path)
    data = path.read_bytes()
    for changed, message in ((data + b"more", "grew"), (data[:-5] + b"?" + data[-4:], "changed")):
        path.write_bytes(data)
        chunks = open_rows(path, format="arrow").chunks()
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
        open_rows(path, format="arrow")


# ------------------------------------------------------------------------------------- damage


MUTATE = Path(__file__).parents[1] / "fuzz" / "arrow.py"


def test_one_damaged_byte_never_ends_the_interpreter(tmp_path):
    """Dictionary indices out of range once did, at byte 438."""
    result = subprocess.run(
        [sys.executable, str(MUTATE), "300", str(tmp_path)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert "300 mutations of each of 7 files" in result.stdout


def test_the_byte_that_once_did(tmp_path):
    words = pa.array(["a", "b"] * 15).dictionary_encode()
    table = pa.table({"label": [0, 1] * 15, "x": pa.array([1.0, 2.0] * 15), "t": words})
    path = tmp_path / "rows.feather"
    feather.write_feather(table, path, "uncompressed")
    data = bytearray(path.read_bytes())
    data[438] = 0x2A
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"rows\.feather: .*[Dd]ictionary"):
        read_all(open_rows(path))
