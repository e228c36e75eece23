"""Rows that a program gives: data frames by name, dicts, arrays, and streams of them."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from format_cases import check_canonical, every, read_all, read_text
from thresher.formats.errors import DataError
from thresher.formats.given import GivenSource, feature_names, rows_of
from thresher.formats.names import ZERO, GrowingNames

pa = pytest.importorskip("pyarrow")
FRAME = pd.DataFrame({"age": [30, 0, 4.5], "town": ["Bern", "Basel", None], "tall": [1, 0, 1]})
ROWS = [{"age": 30, "tall": 1, "town=Bern": 1}, {"town=Basel": 1}, {"age": 4.5, "tall": 1}]


class Polars:
    """A frame of another library, as far as its interface is public."""

    def __init__(self, frame):
        self.frame, self.columns = frame, list(frame.columns)

    def __getitem__(self, name):
        return self.frame[name]

    def __len__(self):
        return len(self.frame)

    def to_numpy(self):
        return self.frame.to_numpy()


class Stream:
    """Anything that has Arrow's stream interface alone."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame)

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


FRAMES = {
    "pandas": lambda frame: frame,
    "strings": lambda frame: frame.astype({"town": "string"} if "town" in frame else {}),
    "categories": lambda frame: frame.astype({"town": "category"} if "town" in frame else {}),
    "objects": lambda frame: frame.astype(object),
    "polars": Polars,
    "arrow": pa.Table.from_pandas,
    "stream": Stream,
}


def by_name(chunk, names):
    check_canonical(chunk)
    rows = []
    for i in range(len(chunk)):
        part = slice(chunk.starts[i], chunk.starts[i + 1])
        pairs = zip(chunk.columns[part].tolist(), chunk.values[part].tolist(), strict=True)
        rows.append({names.name(column): value for column, value in pairs})
    return rows


@every("kind", FRAMES)
def test_frames_of_all_kinds(kind):
    frame = FRAMES[kind](FRAME)
    chunk, names = rows_of(frame)
    assert by_name(chunk, names) == ROWS
    assert names.kinds == {"age": ZERO, "town": None, "tall": ZERO}
    assert feature_names(frame) == list(FRAME.columns)


@every("kind", FRAMES)
def test_a_model_finds_columns_by_name(kind):
    _, names = rows_of(FRAME)
    other = FRAME.assign(extra=1)[["extra", "tall", "town", "age"]]
    assert by_name(*rows_of(FRAMES[kind](other), names)) == ROWS
    with pytest.raises(DataError, match="missing that the model has learned from: 'age', 'town'"):
        rows_of(FRAMES[kind](other[["tall", "extra"]]), names)


def test_a_model_of_a_csv_file_takes_the_same_frame(tmp_path):
    text = "label,ward,flat,town\n1,3,01,Bern\n0,7,02,\n"
    found = read_text("csv", text, categories=["ward"])
    frame = pd.read_csv(pd.io.common.StringIO(text), dtype={"flat": str}).drop(columns="label")
    assert by_name(*rows_of(frame, found.source.names)) == found.rows
    with_gaps = frame.assign(ward=[3.0, np.nan])
    (first, second) = by_name(*rows_of(with_gaps, found.source.names))
    assert (first, "ward=7" in second) == (found.rows[0], False)


REFUSED = {
    "dates": (FRAME.assign(d=date(2020, 1, 1)), "'d' holds neither numbers nor strings"),
    "times": (FRAME.assign(d=pd.Timestamp(0)), "'d' holds neither numbers nor strings"),
    "mixed": (FRAME.assign(d=[1, "a", None]), "'d' holds neither numbers nor strings"),
    "nan": (FRAME.assign(age=[1, np.nan, 2]), "column 'age' is nan, and all must be finite"),
    "inf": (FRAME.assign(age=[1, np.inf, 2]), "column 'age' is inf"),
    "alike": (
        FRAME.assign(**{"town=Bern": 1}),
        "'town=Bern' is called like a category of .* 'town'",
    ),
    "twice": (FRAME.set_axis(["a", "b", "a"], axis=1), "Two columns are called 'a'"),
    "array": (np.array([[1, np.nan]]), "row 0, column 1 is nan, and all must be finite"),
}


@every("case", REFUSED)
def test_what_is_refused(case):
    X, message = REFUSED[case]
    with pytest.raises(DataError, match=message):
        rows_of(X)


def test_a_column_of_another_kind_than_in_training_is_refused():
    _, names = rows_of(FRAME)
    with pytest.raises(DataError, match="Column 'age' holds strings, but held numbers before"):
        rows_of(FRAME.assign(age="x"), names)


def test_frames_without_names_are_arrays():
    frame = pd.DataFrame(np.eye(2))
    chunk, names = rows_of(frame)
    assert (names, feature_names(frame)) == (None, None)
    assert chunk.rows.toarray().tolist() == np.eye(2).tolist()


def test_dicts_of_features():
    dicts = [{"age": 30, "town": "Bern", "tall": True}, {"town": None, "age": 0}, {"new": 2}]
    chunk, names = rows_of(dicts)
    assert by_name(chunk, names) == [{"age": 30, "town=Bern": 1, "tall": 1}, {}, {"new": 2}]
    one, _ = rows_of(dicts[0], names)
    assert by_name(one, names) == [{"age": 30, "town=Bern": 1, "tall": 1}]
    numpy = [{"a": np.float32(2), "b": np.int8(3), "c": np.True_, "d": np.str_("x"), "e": pd.NA}]
    assert by_name(*rows_of(numpy)) == [{"a": 2, "b": 3, "c": 1, "d=x": 1}]


BAD_DICTS = {
    "nan": ({"a": np.nan}, "Row 1: the number of 'a' is NaN"),
    "tuple": ({"a": (1,)}, "Row 1: the value of 'a' is of type tuple"),
    "bytes": ({"a": b"x"}, "Row 1: the value of 'a' is of type bytes"),
    "name": ({5: 1}, "Row 1: the name 5 is of type int: names are strings"),
    "no dict": ([{"a": 1}, None], "Row 2: it is of type NoneType, but rows before it are dicts"),
}


@every("case", BAD_DICTS)
def test_dicts_that_are_refused(case):
    X, message = BAD_DICTS[case]
    with pytest.raises(DataError, match=message):
        rows_of(X)


KINDS = {"age": 40.0, "tall": ZERO, "town": None}
IN_TABLES = {
    "none": ({"age": None, "tall": 1}, {"age": 40, "age=missing": 1, "tall": 1}),
    "nan": ({"age": np.nan, "tall": 1, "town": "Bern"},
            {"age": 40, "age=missing": 1, "tall": 1, "town=Bern": 1}),
    "absent": ({}, {"age": 40, "age=missing": 1}),
    "others": ({"age": 1, "id": "x", "more": 3}, {"age": 1}),
    "code": ({"age": np.int64(1), "town": 7.0}, {"age": 1, "town=7": 1}),
}  # fmt: skip


@every("case", IN_TABLES)
def test_dicts_are_rows_of_the_table_that_a_model_has_learned_from(case):
    found, expected = IN_TABLES[case]
    assert by_name(*rows_of(found, GrowingNames((), KINDS))) == [expected]
    with pytest.raises(DataError, match="value of 'age' is a string, but was a number before"):
        rows_of({"age": "30"}, GrowingNames((), KINDS))


def test_frames_do_not_make_a_table_of_what_was_learned_from_dicts():
    _, names = rows_of({"a": 1, "b": "x"})
    rows_of(FRAME[["age"]], names)
    assert by_name(*rows_of({"b": "x", "c": 1}, names)) == [{"b=x": 1, "c": 1}]


def test_columns_of_objects_may_be_empty():
    names = GrowingNames((), {"age": 40.0})
    for ages in ([None, None], [None, 3], pd.array([None, 3], dtype="Int64")):
        frame = pd.DataFrame({"age": pd.Series(ages, dtype=getattr(ages, "dtype", object))})
        assert by_name(*rows_of(frame, names))[0] == {"age": 40, "age=missing": 1}


def test_matrices_share_nothing_and_are_checked():
    for kind in (np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_matrix, list):
        X = kind(np.eye(3)) if kind is not list else np.eye(3).tolist()
        chunk, _ = rows_of(X)
        check_canonical(chunk)
        chunk.values[:] = 7
        assert np.asarray(X.toarray() if sparse.issparse(X) else X).max() == 1
    bad = sparse.csr_array(np.eye(3))
    bad.indices[1] = 9
    with pytest.raises(ValueError, match=r"entry at row 1, column 9, but its shape is \(3, 3\)"):
        rows_of(bad)
    mixed = sparse.csr_array(np.eye(3))
    mixed.indptr = mixed.indptr.astype(np.int64)
    assert rows_of(mixed)[0].rows.toarray().tolist() == np.eye(3).tolist()


# ------------------------------------------------------------------------------------- streams

Y = np.array([1, 0, 1])


def items(kind):
    parts = {
        "arrays": [FRAME[["age", "tall"]].to_numpy()[:2], FRAME[["age", "tall"]].to_numpy()[2:]],
        "frames": [FRAME[:2], FRAME[["tall", "age", "town"]][2:]],
        "dicts": [[{"age": 30, "tall": 1, "town": "Bern"}, {"town": "Basel"}], [ROWS[2]]],
    }[kind]
    return [(parts[0], Y[:2]), (parts[1], Y[2:], [0.5])]


@every("kind", ["arrays", "frames", "dicts"])
@every("once", [False, True])
def test_streams(kind, once):
    source = GivenSource(iter(items(kind)) if once else items(kind))
    assert source.n_rows == (None if once else 3)
    chunks = list(source.chunks())
    assert source.rewinds != once
    assert source.n_rows == 3
    assert [len(chunk) for chunk in chunks] == [2, 1]
    assert chunks[1].weights.tolist() == [0.5]
    rows = [chunk.rows.toarray().sum() for chunk in chunks]
    assert rows == ([31, 5.5] if kind == "arrays" else [33, 5.5])
    if kind != "arrays":
        assert by_name(chunks[1], source.names) == [ROWS[2]]
    if not once:
        assert read_all(GivenSource(items(kind), labelled=False)).labels == [1, 0, 1]


def test_rows_alone_are_enough_where_no_label_is_needed():
    names = GrowingNames(["age", "tall"], {"age": ZERO, "tall": ZERO})
    (chunk,) = GivenSource([FRAME], names, labelled=False).chunks()
    assert by_name(chunk, names) == [{k: v for k, v in row.items() if "=" not in k} for row in ROWS]


A, F = np.eye(2), FRAME[:2]
BAD_STREAMS = {
    "no tuple": ([A], "Item 1 of the stream is ndarray: give tuples"),
    "length": ([(A, [1])], r"has 2 rows and labels of shape \(1,\)"),
    "missing": ([(A, [1, None])], "has no label at its row 2"),
    "nan": ([(A, [np.nan, 1])], "has no label at its row 1"),
    "date": ([(A, [date(2020, 1, 1)] * 2)], "has a date or a time for a label, 2020-01-01"),
    "infinite": ([(A, [1, np.inf])], "has an infinite label at its row 2"),
    "mixed": ([(A, ["a", 1])], "has strings and numbers as labels"),
    "mixed objects": ([(A, pd.Series(["a", 1]))], "has strings and numbers as labels"),
    "kinds": ([(A, [1, 2]), (A, ["a", "b"])], "labels of item 2 .* another type"),
    "widths": ([(A, [1, 2]), (np.eye(3)[:2], [1, 2])], "Item 2 .* has 3 columns, .* before it 2"),
    "names": ([(A, [1, 2]), (F, [1, 2])], "Item 2 of the stream has no names .* or reversed"),
    "strings": ([(np.array([["a"], ["b"]]), [1, 2])], "Item 1 of the stream: .*"),
    "columns": ([(F, [1, 2]), (F.assign(e=1), [1, 2])], "do not have the same columns: 'e'"),
    "values": ([(A + np.inf, [1, 2])], "Item 1 of the stream: The value at row"),
}


@every("case", BAD_STREAMS)
def test_streams_that_are_refused(case):
    stream, message = BAD_STREAMS[case]
    with pytest.raises(DataError, match=message):
        list(GivenSource(stream).chunks())


def test_sparse_rows_may_become_wider():
    chunks = [(sparse.csr_array(np.eye(n)), np.arange(n)) for n in (2, 3)]
    assert [chunk.width for chunk in GivenSource(chunks).chunks()] == [2, 3]
