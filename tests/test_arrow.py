"""Parquet and Arrow files: a column per feature or lists, nulls, and several files."""

import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrow_cases import PEOPLE, WRITERS, pa, parquet, read_table, write_two
from named_rows import read_all, small_chunks
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames
from thresher.data.sources.arrow import ArrowSource
from thresher.data.sources.protocol import Reading


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


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("small", [False, True])
def test_both_shapes_in_every_container(folder, writer, small):
    with small_chunks(n_rows=1 if small else 100):
        wide = read_table(folder, PEOPLE, writer=writer)
        long = read_table(folder, LISTS, writer=writer)
    assert (wide.rows, wide.labels) == (PEOPLE_ROWS, [1, 0, 1])
    assert (long.rows, long.labels) == (LIST_ROWS, ["x", "y", "z"])
    assert wide.source.names.categorical == {"age": False, "tall": False, "town": True}


NUMBERS = {
    "int8": pa.array([1, None, -3], pa.int8()),
    "uint64": pa.array([1, None, 2**63], pa.uint64()),
    "float16": pa.array(np.array([1, 0, -0.5], np.float16)),
    "float32": pa.array([0.1, None, -3], pa.float32()),
    "decimal": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal(7)], pa.decimal128(10, 2)),
    "dictionary": pa.array([5, None, 5]).dictionary_encode(),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_type(folder, kind):
    writer = "stream"  # Parquet knows fewer types
    found = read_table(folder, {"label": [1, 2, 3], "a": NUMBERS[kind]}, writer=writer)
    values = [float(value or 0) for value in NUMBERS[kind].to_pylist()]
    assert found.rows == [{"a": value} if value else {} for value in values]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("encode", [False, True])
def test_words_of_every_type(folder, kind, encode):
    words = pa.array(["a", None, "a"], kind)
    if encode and kind != pa.string_view():
        words = words.dictionary_encode()
    found = read_table(folder, {"label": [1, 2, 3], "x": words}, writer="stream")
    assert found.rows == [{"x=a": 1}, {}, {"x=a": 1}]
    found = read_table(folder, {"label": words, "a": [1, 2, 3]}, writer="stream", on_error="skip")
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 3}], ["a", "a"])


@pytest.mark.parametrize("base", [None, 0, 1])
@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.uint8(), 2)]
)
def test_indices_are_columns_as_they_stand(folder, base, kind):
    lists = pa.array([[3, 7], [7, 3], [1, 1]], kind)
    values = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    table = {"label": [1, 2, 3], "indices": lists, "values": values}
    found = read_table(folder, table, index_base=base)
    shift = base or 0
    expected = [{3: 1, 7: 2}, {3: 4, 7: 3}, {1: 11}]
    assert found.rows == [{k - shift: v for k, v in row.items()} for row in expected]
    assert found.source.names is None
    assert found.source.index_base == shift


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


def test_rows_without_label_are_read_where_nobody_needs_one(folder):
    found = read_table(folder, {"a": [1, 2]}, labelled=False)
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 2}], [None, None])
    found = read_table(folder, {"a": [1, 2], "label": [1, None]}, labelled=False)
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 2}], [None, None])


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
    with pytest.raises(DataError, match="'town' is of type int64, but was learned from as categ"):
        read_table(folder, {**table, "town": [1, 2]}, names=kept, labelled=False)
    with pytest.raises(DataError, match="knows its features by name"):
        read_table(folder, {"indices": [[1]]}, names=kept, labelled=False)


def test_several_files(tmp_path):
    paths = write_two(tmp_path, {"label": [1], "a": [2]}, {"a": [3, np.nan], "label": [4, 5]})
    source = ArrowSource(paths, Reading(on_error="skip"))
    found = read_all(source)
    assert (found.rows, found.labels) == ([{"a": 2}, {"a": 3}], [1, 4])
    assert "1.feather, line 2" in source.skipped.examples[0]
    paths = write_two(tmp_path, {"label": [1], "indices": [[9]]}, {"label": [1], "indices": [[2]]})
    assert [chunk.width for chunk in ArrowSource(paths, Reading()).chunks()] == [10, 10]


def test_the_number_of_rows_is_known_before_reading(tmp_path):
    path = str(tmp_path / "a.parquet")
    parquet.write_table(pa.table(PEOPLE), path)
    assert ArrowSource([path], Reading()).n_rows == 3
    assert ArrowSource([path], Reading(on_error="skip")).n_rows is None


words = st.text(st.characters(codec="utf-8"), max_size=4)
numbers = st.floats(allow_nan=False, allow_infinity=False)
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
    if not all(np.isfinite(list(row.values())).all() for row in expected):
        return
    with small_chunks(n_rows=n_rows):
        found = read_table(folder, table, writer=writer)
    assert found.rows == expected
    assert found.labels == list(range(len(written)))
