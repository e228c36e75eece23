"""CSV and TSV: columns of numbers and of categories, options, places of errors, several files."""

import csv
import gzip
import io
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from format_cases import every, read_all, read_text, refused, same, small_chunks
from thresher.formats import records
from thresher.formats.errors import DataError
from thresher.formats.names import ZERO, GrowingNames, HashedNames, names_from_tree
from thresher.formats.opening import open_rows

PEOPLE = "label,age,town\n1,30,Bern\n0,,Basel\n1,4.5,\n"


def test_numbers_and_categories():
    found = read_text("csv", PEOPLE)
    gap = {"age": 17.25, "age=missing": 1, "town=Basel": 1}
    assert found.rows == [{"age": 30, "town=Bern": 1}, gap, {"age": 4.5}]
    assert found.labels == [1, 0, 1]
    assert found.source.names.kinds == {"age": 17.25, "town": None}


def test_what_cells_may_look_like():
    text = 'label, a ,"b, c"\r\n\r\n"x"," 1.5 ","say ""hi""\nthere"\r\ny,-2e1, red \r\n'
    found = read_text("csv", text)
    assert found.rows == [{"a": 1.5, 'b, c=say "hi"\nthere': 1}, {"a": -20, "b, c=red": 1}]
    assert found.labels == ["x", "y"]


@every(("suffix", "form"), [(".tsv", "auto"), (".tsv.gz", "tsv"), (".x", "tsv")])
def test_tabs(suffix, form):
    data = b"label\ta,b\n1\t2\n"
    data = gzip.compress(data) if suffix.endswith(".gz") else data
    assert read_text(form, data, suffix=suffix).rows == [{"a,b": 2}]


def test_label_and_weight_can_have_other_names():
    found = read_text("csv", "w,y,label\n2,a,5\n0,b,6\n", label="y", weight="w")
    assert found.rows == [{"label": 5}, {"label": 6}]
    assert (found.labels, found.weights) == (["a", "b"], [2, 0])


CATEGORICAL = {
    "1 2 3": False,
    "1 x 3": False,
    "1 x": True,
    "x 1 2 y": True,
    "12 x y 12": True,
    "x y z": True,
    "'' '' ''": False,
    "'' x ''": True,
    "NA 1 2": False,
    "NA x NA 1 y": True,
    "NA 3 NA 1 y": False,
    "#N/A 1 <NA>": False,
    "? x 2": True,
    "none none ?": True,
    "1e5 -.5 +3": False,
    "1_0 2 3": False,
    "1_0 2_0 3": True,
    "true false true": True,
    "1e999 1 2": False,
}


def test_what_a_column_holds():
    found = {}
    for cells in CATEGORICAL:
        rows = "".join(f"1,{cell}\n" for cell in cells.replace("'", "").split(" "))
        source = read_text("csv", f"label,a\n{rows}", on_error="skip").source
        found[cells] = source.names.kinds["a"] is None
    assert found == CATEGORICAL


# after two rows of which the columns are learned: label, age (numbers), town (words), w (weights)
MALFORMED = {
    "1,2,x": (None, "3 cells, and the header 4"),
    "1,2,x,1,5": (None, "5 cells, and the header 4"),
    "1,nan,x,1": (2, "'nan' is not finite, in column 'age'. If it means a missing value"),
    "1,-inf,x,1": (2, "'-inf' is not finite"),
    "1,NA,x,1": (2, "'NA' is not a number, in column 'age'"),
    "1,abc,x,1": (2, "'abc' is not a number, but column 'age' holds numbers in the first rows"),
    "1,1_0,x,1": (2, "'1_0' is not a number"),
    "1,1e999,x,1": (2, "beyond the largest number"),
    ",1,x,1": (1, "no label"),
    "maybe,1,x,1": (1, "the label 'maybe' is not a number"),
    "1,1,x,-1": (4, "the row's weight is -1"),
    "1,1,x,": (4, "weight cannot be read: there is none"),
    "1,1,x,much": (4, "weight cannot be read: 'much' is not a number"),
    "1,1,x,inf": (4, "weight cannot be read: 'inf' is not finite"),
    '1,1,"x"y,1': (None, "after its closing quote"),
    "1,1,x\ry,1": (None, "carriage return"),
    '1,1,"x,1': (None, "a quoted cell has no end"),
}


@every("line", MALFORMED)
def test_what_is_refused(line):
    column, message = MALFORMED[line]
    start = 'label,age,town,w\n1,5,"a\nb",1\n\n'
    with pytest.raises(DataError) as caught, small_chunks(n_rows=1):
        read_text("csv", f"{start}{line}\n", weight="w")
    assert (caught.value.line, caught.value.column) == (5, column)
    assert message in str(caught.value)


@every("line", MALFORMED)
def test_what_is_refused_can_be_skipped(line):
    text = f"label,age,town,w\n1,5,a,1\n3,7,b,1\n{line}\n2,6,b,1\n"
    for n_rows in (1, 2, 100):
        with small_chunks(n_rows=n_rows):
            found = read_text("csv", text, weight="w", on_error="skip")
        sizes = [row["age"] for row in found.rows]
        assert (sizes, found.labels, found.source.skipped.count) == ([5, 7, 6], [1, 3, 2], 1)
        assert "line 4" in found.source.skipped.examples[0]


def test_a_quote_that_never_ends_costs_one_line():
    lines = "".join(f"1,{k},x\n" for k in range(20_000))
    found = read_text("csv", f'label,a,b\n1,7,"x\n{lines}', on_error="skip")
    assert len(found.rows) == 20_000
    assert found.source.skipped.count == 1


HEADERS = {
    "a,b,a,label\n": "column 3: two columns are called 'a'",
    "a,,label\n": "column 2: the column has no name",
    "a,b\n1,2\n": "no column 'label' for the label. There are 'a', 'b'",
    '"a,label\n': "line 1: a quoted cell has no end",
    "\n\n": "blank lines only",
    "x" + ",x".join(map(str, range(30))) + "\n": "and 10 more",
}


def test_headers_that_are_refused():
    for header, message in HEADERS.items():
        assert message in str(refused("csv", header))
    with pytest.raises(DataError, match=r"no column 'w' for the weight\. There are 'label', 'age'"):
        read_text("csv", PEOPLE, weight="w")


def test_rows_without_label_are_read_where_nobody_needs_one():
    found = read_text("csv", "a,b\n1,x\n", labelled=False)
    assert (found.rows, found.labels) == ([{"a": 1, "b=x": 1}], [None])
    found = read_text("csv", "a,label\n1,2\n2,\n", labelled=False)
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 2}], [None, None])


def write(tmp_path, *texts):
    paths = [tmp_path / f"{number}.csv" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_several_files_have_the_same_columns_in_any_order(tmp_path):
    paths = write(tmp_path, PEOPLE, "town,label,age\nBern,1,7\n")
    found = read_all(open_rows([*paths, paths[1]]))
    assert found.rows[3:] == [{"age": 7, "town=Bern": 1}] * 2
    paths = write(tmp_path, PEOPLE, "town,label,size\nBern,1,7\n")
    with pytest.raises(DataError, match=r"1\.csv.*differ.*'age', 'size'"):
        read_all(open_rows(paths))


def test_errors_name_their_own_file_and_line(tmp_path):
    paths = write(tmp_path, PEOPLE, "label,age,town\n\n1,?,x\n")
    with pytest.raises(DataError, match=r"1\.csv, line 3, column 2"):
        read_all(open_rows(paths))


def models():
    """Return the names of a model of the people's table, as it may lie in memory or in a file."""
    found = []
    for names in (GrowingNames(), HashedNames(20)):
        read_text("csv", PEOPLE, names=names)
        columns = names.number(["age", "town=Basel"])
        kept = names.only(columns)
        found += [names, kept, names_from_tree(kept.tree())]
    return found


@every("number", range(6))
def test_a_model_reads_tables_as_it_did_in_training(number):
    names = models()[number]
    text = "town,id,age\n7,x,1\n8,y,2\n7,z,\nBasel,q,3\n"
    found = read_text("csv", text, names=names, labelled=False)
    columns = found.columns
    age, basel = names.number(["age", "town=Basel"])
    assert [len(row) for row in columns] == [2, 2, 3, 2]  # 7 and 8 are towns, and ids are nothing
    assert [age in row for row in columns] == [True] * 4
    assert basel in columns[3]
    assert len({column for row in columns for column in row}) == 5
    assert found.rows[2].pop("age", 17.25) == 17.25
    with pytest.raises(DataError, match="missing that the model has learned from: 'age'"):
        read_text("csv", "town\nBern\n", names=names, labelled=False)


def test_a_file_without_rows_has_no_chunks():
    assert read_text("csv", "label,a\n").rows == []


OPTIONS_MET = [{}, {"quote": ""}, {"na_values": ["NA"]}, {"na_values": ["1"]}, {"missing": "error"}]
words = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=4)
categories = words.filter(lambda word: word == word.strip())
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    """Return names, kinds and rows of a table; None is an empty cell."""
    names = draw(st.lists(categories.filter(lambda w: w != "label"), max_size=5, unique=True))
    kinds = [draw(st.booleans()) for _ in names]
    cells = [categories.map(lambda word: f"{word}x") if words else numbers for words in kinds]
    rows = st.lists(st.tuples(*(st.none() | cell for cell in cells)), min_size=1, max_size=9)
    return names, kinds, draw(rows)


@given(tables(), st.sampled_from(",\t"), st.booleans())
def test_rows_that_are_written_are_read(table, delimiter, small):
    names, kinds, rows = table
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["label", *names])
    cells = [[number, *("" if c is None else c for c in row)] for number, row in enumerate(rows)]
    writer.writerows(cells)
    form = "csv" if delimiter == "," else "tsv"
    learned = GrowingNames(
        [], {name: None if words else ZERO for name, words in zip(names, kinds, strict=True)}
    )
    found = read_text(form, text.getvalue(), names=learned, small=small)
    expected = []
    for row in rows:
        said: dict[str, float] = {}
        for name, words, cell in zip(names, kinds, row, strict=True):
            key, value = (f"{name}={cell}", 1.0) if words else (name, cell)
            said[key] = said.get(key, 0.0) + (0 if cell is None else value)
        expected.append({key: value for key, value in said.items() if value != 0})
    assert found.rows == expected
    assert found.labels == list(np.arange(len(rows), dtype=float))


CELLS = st.one_of(
    numbers.map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        ["", " ", "x", "é", "007", "NA", "1_0", "1e999", '"x"', '"a,b"', '"a\nb"', '"']
    ),
    st.text("01.-+eE x\t\r\"'", max_size=4),
)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of categories that nearly all differ
@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=30), st.sampled_from(OPTIONS_MET))
def test_the_kernel_reads_what_csv_reads(lines, options):
    text = "\n".join(map(",".join, [["label", "b", "c"], *(["1", *line] for line in lines)]))
    found = read_text("csv", text, on_error="skip", **options)
    with mock.patch.object(records, "_is_text", return_value=False):
        other = read_text("csv", text, on_error="skip", **options)
    assert same(found, other)
    assert found.source.skipped.count == other.source.skipped.count
    assert found.source.names.kinds == other.source.names.kinds
    lines_of = [
        [example.split(": ")[1:] for example in one.source.skipped.examples]
        for one in (found, other)
    ]
    assert lines_of[0] == lines_of[1]


def test_plain_tables_are_read_by_the_kernel():
    text = "label,a,b\n" + "1,-2.5e3,x\r\n" * 3 + "\n" + "0, 7 ,é"
    with mock.patch.object(records, "decoded", wraps=records.decoded) as decoded:
        found = read_text("csv", text)
    assert decoded.call_count == 1  # of the header
    assert found.rows[2:] == [{"a": -2500, "b=x": 1}, {"a": 7, "b=é": 1}]


def test_categories_that_nearly_all_differ_are_a_reason_to_warn():
    rows = "".join(f"{k % 2},{'AB'[k % 2]},2026-01-{k:02d}\n" for k in range(1, 31))
    with pytest.warns(UserWarning, match=r"Nearly all values of 'day' differ: .* dates"):
        found = read_text("csv", f"label,town,day\n{rows}")
    assert found.source.decided[0].endswith("words: 'town', 'day'.")
    read_text("csv", f"label,town,day\n{rows}", categories=["day"])  # as it was asked for


WARDS = "label,ward\n" + "1,3\n0,7\n1,7\n0,12a\n" * 5


def test_columns_can_be_said_to_hold_categories():
    with pytest.raises(DataError, match=r"'12a' is not .*--categories ward\)"):
        read_text("csv", WARDS)
    found = read_text("csv", WARDS, categories=["ward"])
    assert found.rows[:4] == [{"ward=3": 1}, {"ward=7": 1}, {"ward=7": 1}, {"ward=12a": 1}]
    assert found.source.decided == []
    with pytest.raises(
        DataError, match=r"categories: no feature is called 'town'\. There are 'ward'"
    ):
        read_text("csv", WARDS, categories=["town"])
    with pytest.raises(ValueError, match="categories='ward': give a list of strings"):
        read_text("csv", WARDS, categories="ward")
    with pytest.raises(ValueError, match="'label' is the label, the weight or the index"):
        read_text("csv", WARDS, categories=["ward", "label"])


ROWS = ["1,2.5,7", "-0.0,1,-0.0", "1,,3", "1,NA,3", "0,1", "5", "1,2,3", "1e3,0,2"]


def test_a_row_is_not_taken_for_the_header():
    for first in ROWS:
        for label in (None, "1"):
            error = refused("csv", f"\n{first}\n{first}\n", label=label)
            assert "line 2: there seems to be no header, as all cells" in str(error)


def test_columns_may_be_called_by_numbers():
    assert read_text("csv", "0,1,2\n1,5,6\n", label="0").rows == [{"1": 5, "2": 6}]
    assert read_text("csv", "7,label\n5,1\n").rows == [{"7": 5}]
    names = GrowingNames(["7", "9"], {"7": ZERO, "9": ZERO})
    assert read_text("csv", "7,9\n5,6\n", names=names, labelled=False).rows == [{"7": 5, "9": 6}]


CODES = {
    "0012 12": None,
    "12 0012": None,
    "12 7 007": None,
    "0 00": None,
    "-12 +0012": None,
    "007 100 012": [7, 100, 12],
    "00 01 10": [0, 1, 10],
    "12 7 1 0": [12, 7, 1, 0],
    "1 1.0 +1 01.5": [1, 1, 1, 1.5],
    "x 0012 12": ["x", "0012", "12"],
}


@every("codes", CODES)
def test_codes_with_zeros_in_front_are_not_merged(codes):
    cells = codes.split()
    texts = {
        "csv": "label,a\n" + "".join(f"{cell},1\n" for cell in cells),
        "text": "".join(f"{cell}\tword\n" for cell in cells),
    }
    for kind, text in texts.items():
        if CODES[codes] is None:
            with pytest.raises(DataError, match=r"0012 and 12 are the same"):
                read_text(kind, text)
            found = read_text(kind, text, on_error="skip")
            assert found.source.skipped.count == 1
        else:
            assert read_text(kind, text).labels == CODES[codes]
        assert len(read_text(kind, text, labelled=False).rows) == len(cells)


def test_a_table_with_other_separators_is_recognized():
    for text, message in {
        "label;a\n1;2\n": "has semicolons where ',' is expected: use sep=';'",
        "label\ta\n1\t2\n": "has tabs where ',' is expected: use format='tsv' (--format tsv)",
    }.items():
        error = refused("csv", text)
        assert (error.line, message in error.message) == (1, True)
    assert "use sep=','" in refused("csv", "label,a\n1,2\n", sep=";").message


# ------------------------------------------------------------------------------------- options

SHOP = "id;label;price;old price;zip\n7;1;2.5;3;01234\n8;0;NA;;8001\n9;1;-9;1;00042\n"
OPTIONS = {"sep": ";", "na_values": ["NA", "-9"], "index_column": "id", "missing": "zero"}


def test_separators_missing_values_and_index():
    found = read_text("csv", SHOP, **OPTIONS)
    assert found.rows == [
        {"price": 2.5, "old price": 3, "zip=01234": 1},
        {"zip=8001": 1},
        {"old price": 1, "zip=00042": 1},
    ]
    note = "Read as categories, as there are numbers with leading zeros: 'zip'."
    assert found.source.decided == [note]


@every(
    ("options", "features"),
    [
        ({"keep": ["*price"]}, {"price", "old price"}),
        ({"ignore": ["zip", "old*"]}, {"price"}),
        ({"keep": ["price", "zip"], "ignore": ["z?p"]}, {"price"}),
    ],
)
def test_columns_are_chosen_by_name_or_pattern(options, features):
    found = read_text("csv", SHOP, **OPTIONS, **options)
    assert set(found.source.names.kinds) == features
    again = read_text("csv", SHOP, names=found.source.names, **OPTIONS)
    assert again.rows == found.rows


@every(
    ("options", "message"),
    [
        ({"keep": ["nothing*"]}, "keep: no feature is called 'nothing*'. There are 'price',"),
        ({"ignore": ["label"]}, "ignore: no feature is called 'label'"),
        ({"ignore": ["*"]}, "keep and ignore leave no column to learn from"),
        ({"index_column": "key"}, "index_column: no column is called 'key'"),
        ({"na_values": []}, "'NA' is not a number, in column 'price'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(options, message):
    assert message in refused("csv", SHOP, **{**OPTIONS, **options}).message


GAPS = {
    "label": [1, 2, 3, 4],
    "a": [1.0, None, 4.0, 4.0],
    "b": [None] * 4,
    "t": ["x", "", None, "x"],
}
FILLED = {
    "mean": [{"a": 1}, {"a": 3, "a=missing": 1}, {"a": 4}, {"a": 4}],
    "zero": [{"a": 1}, {}, {"a": 4}, {"a": 4}],
}


def write_gaps(folder, ending, table=GAPS):
    """Write a table with missing values, and return its path."""
    frame = pd.DataFrame(table)
    path = str(folder / f"gaps{ending}")
    if ending == ".csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    return path


@every("ending", [".csv", ".parquet"])
@every("how", ["mean", "zero", None])
def test_missing_numbers_are_the_mean_beside_an_indicator_or_zero(tmp_path, ending, how):
    source = open_rows(write_gaps(tmp_path, ending), missing=how, ignore=["t"])
    rows = [{k: v for k, v in row.items() if k[0] == "a"} for row in read_all(source).rows]
    assert rows == FILLED[how or "mean"]
    again = read_all(source)
    assert ("b=missing" in again.rows[0]) == (how != "zero")
    note = "Numbers are missing in 'a', 'b': each counts as its column's mean, beside a feature "
    assert [words[: len(note)] for words in source.decided] == [note] * (how != "zero")
    table = {**GAPS, "a": [None, 9.0, 9.0, 9.0]}  # a model fills in the mean of its own rows
    path = write_gaps(tmp_path, ending, table)
    kept = names_from_tree(source.names.only(np.arange(9) % len(source.names)).tree())
    for names in (source.names, kept):
        found = read_all(open_rows(path, names=names)).rows[0]
        assert found.get("a") == (None if how == "zero" else 3)
        assert ("a=missing" in found) == (how != "zero")


@every("ending", [".csv", ".parquet"])
def test_missing_numbers_may_be_refused_or_skipped(tmp_path, ending):
    path = write_gaps(tmp_path, ending)
    with pytest.raises(DataError, match=r"there is no number,? in column 'a'"):
        read_all(open_rows(path, missing="error", ignore=["b"]))
    source = open_rows(path, missing="error", ignore=["b"], on_error="skip")
    assert (read_all(source).labels, source.skipped.count) == ([1, 3, 4], 1)
    with pytest.raises(ValueError, match="missing='none': it must be 'mean', 'zero' or 'error'"):
        open_rows(path, missing="none")


def test_means_are_those_of_the_first_rows_that_decide_wherever_chunks_end():
    text = "label,a\n" + "1,2\n0,\n" * 3 + "1,8\n"
    with small_chunks(n_rows=4):
        found = read_text("csv", text)
    assert [row["a"] for row in found.rows] == [2, 2, 2, 2, 2, 2, 8]
    found = read_text("csv", text + "1,1e308\n" * 9)  # too large to be added up
    assert (found.rows[1], found.source.names.kinds) == ({"a=missing": 1}, {"a": 0})


def test_quotes_of_another_kind_or_none():
    assert read_text("csv", "label,a\n1,'x,y'\n", quote="'").rows == [{"a=x,y": 1}]
    assert read_text("csv", 'label,a\n1,"x\n', quote="").rows == [{'a="x': 1}]


def test_a_row_of_many_lines_is_bounded():
    text = "label,a\n1," + '"x\n",' * 200 + "\n"
    assert "has over 300 bytes" in refused("csv", text, max_line_bytes=300).message
