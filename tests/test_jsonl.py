"""JSON lines: what they say, what is refused, and that nothing is lost on the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from named_rows import read_text
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames
from thresher.data.sources.jsonl import JsonLinesSource

LINES = {
    '{"label": 1, "features": {"age": 30, "town": "Bern"}}': ({"age": 30, "town=Bern": 1}, 1),
    '{"age": 30, "label": -1.5, "town": "Bern"}': ({"age": 30, "town=Bern": 1}, -1.5),
    '{"label": 1, "a": true, "b": false, "c": null, "d": 0}': ({"a": 1}, 1),
    '{"label": true, "features": {}}': ({}, 1),
    '{"label": 0, "id": [7], "features": {"label": 2}}': ({"label": 2}, 0),
    '{"label": 0, "features": 2}': ({"features": 2}, 0),
    '{"label": "yes", "a": ""}': ({"a=": 1}, "yes"),
    '{"label": "1", "a": -1e-3}': ({"a": -1e-3}, "1"),
    ' {"label": 1, "\\u00fc\\n": 2} ': ({"ü\n": 2}, 1),
    '{"label": 1, "\\ud83d\\ude00": "\\ud83d\\ude00"}': ({"😀=😀": 1}, 1),
    '{"label": 1, "a=b": 2, "a": "b"}': ({"a=b": 3}, 1),
    '{"label": 1, "a": 123456789012345678901234567890}': ({"a": 1.2345678901234568e29}, 1),
    '{"label": 1, "a": 1e308, "b": 1e308}': ({"a": 1e308, "b": 1e308}, 1),
}

MALFORMED = {
    '{"label": 1, "a": 2': (20, "not JSON"),
    "{'label': 1}": (2, "not JSON"),
    '{"label": 1} {"label": 2}': (14, "not JSON: Extra data"),
    "[1, 2]": (None, "the line is a list"),
    '"a"': (None, "the line is a string"),
    "3": (None, "the line is a number"),
    "null": (None, "the line is missing"),
    '{"a": 1}': (None, "no label: there is no key 'label'"),
    '{"label": null, "a": 1}': (None, "no label"),
    '{"label": [1], "a": 1}': (None, "the label is a list"),
    '{"label": "yes", "a": 1}': (None, "the label 'yes' is not a number, but the first label is"),
    '{"label": 1, "a": 1, "a": 1}': (None, "key 'a' stands twice"),
    '{"label": 1, "label": 1}': (None, "key 'label' stands twice"),
    '{"label": 1, "features": {"a": 1, "a": 2}}': (None, "key 'a' stands twice"),
    '{"label": 1, "a": {"b": 1}}': (None, "the value of 'a' is an object"),
    '{"label": 1, "a": [1]}': (None, "the value of 'a' is a list"),
    '{"label": 1, "features": {"a": {"b": 1}}}': (None, "the value of 'a' is an object"),
    '{"label": 1, "a": NaN}': (None, "NaN is not finite"),
    '{"label": 1, "a": -Infinity}': (None, "-Infinity is not finite"),
    '{"label": 1, "a": 1e999}': (None, "'a' is beyond the largest number"),
    '{"label": 1e999}': (None, "'label' is beyond the largest number"),
    '{"label": 1, "a": 1' + "0" * 400 + "}": (None, "'a' is beyond the largest number"),
    '{"label": 1, "a": 1' + "0" * 9000 + "}": (None, "a number cannot be read"),
    "[" * 100_000: (None, "nested too deeply"),
    '{"label": 1, "\\ud800": 2}': (None, "half a character"),
    '{"label": 1, "a": "\\uDC00"}': (None, "half a character"),
}


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_says(line):
    row, label = LINES[line]
    found = read_text(JsonLinesSource, line)
    assert (found.rows, found.labels) == ([row], [label])
    assert type(found.labels[0]) is (str if isinstance(label, str) else float)


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: line[:50])
def test_what_is_refused(line):
    column, message = MALFORMED[line]
    with pytest.raises(DataError) as caught:
        read_text(JsonLinesSource, f'{{"label": 1}}\n  \n{line}\n')
    assert (caught.value.line, caught.value.column) == (3, column)
    assert message in str(caught.value)
    found = read_text(JsonLinesSource, f'{{"label": 1}}\n{line}\n{{"label": 2}}', on_error="skip")
    assert (found.labels, found.source.skipped.count) == ([1, 2], 1)


def test_label_and_weight_can_have_other_names():
    text = '{"y": "a", "w": 2, "label": 3}\n{"y": "b", "w": 0, "label": 4}\n'
    found = read_text(JsonLinesSource, text, label="y", weight="w")
    assert found.rows == [{"label": 3}, {"label": 4}]
    assert (found.labels, found.weights) == (["a", "b"], [2, 0])


@pytest.mark.parametrize("weight", ["-1", "null", '"1"', "true", "[]", "1e999"])
def test_a_weight_is_a_number_not_below_zero(weight):
    with pytest.raises(DataError, match=r"line 1.*(weight|'w')"):
        read_text(JsonLinesSource, f'{{"label": 1, "w": {weight}}}', weight="w")
    with pytest.raises(DataError, match="weight, 'w', is missing"):
        read_text(JsonLinesSource, '{"label": 1}', weight="w")


def test_words_and_numbers_are_different_labels():
    with pytest.raises(DataError, match="the number 1, but the first label is a word"):
        read_text(JsonLinesSource, '{"label": "1"}\n{"label": 1}\n')


def test_rows_without_label_are_read_where_nobody_needs_one():
    found = read_text(JsonLinesSource, '{"a": 1}\n{"label": null, "a": 2}\n', labelled=False)
    assert (found.rows, found.labels) == ([{"a": 1}, {"a": 2}], [None, None])


names = st.text(st.characters(codec="utf-8"), max_size=5).filter(
    lambda name: name not in ("label", "features", "w")
)
values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.none(),
    st.text(st.characters(codec="utf-8"), max_size=3),
)
rows = st.dictionaries(names, values, max_size=6)


@given(
    st.lists(st.tuples(st.integers(-3, 3), rows), min_size=1, max_size=8),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_rows_that_are_written_are_read(written, nested, plain, small):
    lines, expected = [], []
    for label, row in written:
        found = {"label": label, "features": row} if nested else {"label": label, **row}
        lines.append(json.dumps(found, ensure_ascii=plain) + "\n")
        sums: dict[str, float] = {}
        for name, value in row.items():
            key, number = (f"{name}={value}", 1) if isinstance(value, str) else (name, value or 0)
            sums[key] = sums.get(key, 0.0) + float(number)
        expected.append({name: value for name, value in sums.items() if value != 0})
    found = read_text(JsonLinesSource, "".join(lines), small=small)
    assert found.rows == expected
    assert found.labels == [label for label, _ in written]


def texts(n_rows, start="text"):
    rows = [{"label": k % 2, "town": "BR"[k % 2], start: f"sentence {k}"} for k in range(n_rows)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_keys_of_strings_are_told():
    found = read_text(JsonLinesSource, '{"label": 1, "town": "Bern", "age": 3}\n')
    assert found.source.decided == "Taken for categories, as their values are strings: 'town'."
    assert read_text(JsonLinesSource, '{"label": 1, "age": 3}\n').source.decided is None


@pytest.mark.parametrize("looked_at", [30, 8192])
def test_strings_that_nearly_all_differ_are_a_reason_to_warn(looked_at, monkeypatch):
    monkeypatch.setattr("thresher.data.sources.categories.LOOKED_AT", looked_at)
    with pytest.warns(UserWarning, match=r"Nearly all values of 'text' differ: .*--format text"):
        found = read_text(JsonLinesSource, texts(40))
    assert "strings: 'town', 'text'." in found.source.decided
    read_text(JsonLinesSource, texts(19))  # too few to tell
    read_text(JsonLinesSource, texts(40), names=GrowingNames())  # a model has been told
