"""Vowpal Wabbit's text, JSON lines and labelled text: what lines hold, what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from format_cases import every, read_text, refused
from thresher.formats.errors import DataError
from thresher.formats.names import GrowingNames

VW = {
    "1 |a x:2 y": ({"a^x": 2, "a^y": 1}, 1, 1),
    "-1 | x:2": ({"x": 2}, -1, 1),
    "1 2.5 |a x": ({"a^x": 1}, 1, 2.5),
    "1 2.5 'tag |a x": ({"a^x": 1}, 1, 2.5),
    "1 'tag |a x": ({"a^x": 1}, 1, 1),
    "1 tag|a x": ({"a^x": 1}, 1, 1),
    "1 2 tag|a x": ({"a^x": 1}, 1, 2),
    "1 2 0 tag|a x": ({"a^x": 1}, 1, 2),
    "1 |a:3 x:2 y |b:0.5 x": ({"a^x": 6, "a^y": 3, "b^x": 0.5}, 1, 1),
    "1 |a x |b |a x:-3": ({"a^x": -2}, 1, 1),
    "1 |a x x:-1": ({}, 1, 1),
    "1 |a x:0": ({}, 1, 1),
    "1 |": ({}, 1, 1),
    "1 |a": ({}, 1, 1),
    "1 ||a x": ({"a^x": 1}, 1, 1),
    "1\t|a\tx:1e-3  y:+.5\t": ({"a^x": 1e-3, "a^y": 0.5}, 1, 1),
    "1 |ü ß\u00a0z:2": ({"ü^ß\u00a0z": 2}, 1, 1),  # a blank of another kind divides nothing
    "1 |a 13:2": ({"a^13": 2}, 1, 1),
    "1 |a x=red": ({"a^x=red": 1}, 1, 1),
    "1 |a x:1e308 y:1e308 z:-1e308": ({"a^x": 1e308, "a^y": 1e308, "a^z": -1e308}, 1, 1),
    "3.5 0 |a x:0.1": ({"a^x": 0.1}, 3.5, 0),
}

VW_BAD = {
    "1 a x": (None, "no bar"),
    "'tag |a x": (None, "no label"),
    "yes |a x": (1, "'yes' is not a number"),
    "1 heavy |a x": (3, "'heavy' is not a number"),
    "1 -2 |a x": (None, "weight is -2"),
    "1 1 0.5 |a x": (None, "base, 0.5"),
    "1 1 0 7 |a x": (None, "4 words"),
    "1 |a x:y": (6, "A category is written x=y"),
    "1 |a x:1:2": (6, "'1:2' is not a number"),
    "1 |a x:1_0": (6, "'1_0' is not a number"),
    "1 |a x:1\u00a0": (6, "is not a number"),
    "1 |a x:nan": (6, "'nan' is not finite"),
    "1 |a x:1e999": (6, "beyond the largest number"),
    "1 |a b :3": (8, "a value and no name"),
    "1 |:3 b": (4, "namespace without name"),
    "1 |a:b c": (4, "scale of namespace 'a': 'b' is not a number"),
    "1 |a:1e200 c:1e200": (4, "too large"),
    "1 |a c:1e308 c:1e308": (None, "add up beyond"),
}


JSON = {
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

JSON_BAD = {
    '{"label": 1, "a": 2': (20, "not JSON"),
    "{'label': 1}": (2, "not JSON"),
    '{"label": 1} {"label": 2}': (14, "not JSON: Extra data"),
    "[1, 2]": (None, "the line is a list"),
    "null": (None, "the line is missing"),
    '{"a": 1}': (None, "no label: there is no key 'label'"),
    '{"label": null, "a": 1}': (None, "no label"),
    '{"label": [1], "a": 1}': (None, "the label is a list"),
    '{"label": "yes", "a": 1}': (None, "the label 'yes' is not a number, but the first label is"),
    '{"label": 1, "a": 1, "a": 1}': (None, "key 'a' occurs twice"),
    '{"label": 1, "features": {"a": 1, "a": 2}}': (None, "key 'a' occurs twice"),
    '{"label": 1, "a": {"b": 1}}': (None, "the value of 'a' is an object"),
    '{"label": 1, "a": NaN}': (None, "NaN is not finite"),
    '{"label": 1, "a": 1e999}': (None, "'a' is beyond the largest number"),
    '{"label": 1e999}': (None, "'label' is beyond the largest number"),
    '{"label": 1, "a": 1' + "0" * 400 + "}": (None, "'a' is beyond the largest number"),
    '{"label": 1, "a": 1' + "0" * 9000 + "}": (None, "a number cannot be read"),
    "[" * 100_000: (None, "nested too deeply"),
    '{"label": 1, "\\ud800": 2}': (None, "half a character"),
    '{"label": 1, "a": "\\uDC00"}': (None, "half a character"),
}


TEXT_BAD = {
    "no tab": "no label",
    "\ttext": "no label",
    "nan\ttext": "the label is nan",
    "word\ttext": "the label 'word' is not a number, but the first label is",
    "1_0\ttext": "the label '1_0' is not a number",
}


GOOD = [("vw", line, *VW[line]) for line in VW] + [("jsonl", line, *JSON[line], 1) for line in JSON]


@every(("form", "line", "row", "label", "weight"), GOOD)
def test_what_a_line_holds(form, line, row, label, weight):
    found = read_text(form, line)
    assert (found.rows, found.labels, found.weights) == ([row], [label], [weight])
    assert type(found.labels[0]) is (str if isinstance(label, str) else float)


BAD = [("vw", "1 |a x", line, *VW_BAD[line]) for line in VW_BAD]
BAD += [("jsonl", '{"label": 1}', line, *JSON_BAD[line]) for line in JSON_BAD]
BAD += [("text", "1\taa", line, None, TEXT_BAD[line]) for line in TEXT_BAD]


@every(("form", "good", "line", "column", "message"), BAD)
def test_what_is_refused(form, good, line, column, message):
    error = refused(form, f"{good}\n  \n{line}\n")
    assert (error.line, error.column) == (3, column)
    assert message in str(error)
    found = read_text(form, f"{good}\n{line}\n{good}\n", on_error="skip")
    assert (len(found.rows), found.source.skipped.count) == (2, 1)
    assert "line 2" in found.source.skipped.examples[0]


UNLABELLED = {
    "vw": ("|a x\n'tag |a y\n| z\n", [{"a^x": 1}, {"a^y": 1}, {"z": 1}]),
    "jsonl": ('{"a": 1}\n{"label": null, "a": 2}\n', [{"a": 1}, {"a": 2}]),
    "text": ("Aa bb\n\nb\tcc\n", [{"aa": 1, "bb": 1}, {}, {"cc": 1}]),  # no tab: all is text
}


@every("form", UNLABELLED)
def test_rows_without_label_are_read_where_none_is_needed(form):
    text, rows = UNLABELLED[form]
    found = read_text(form, text, labelled=False)
    assert (found.rows, found.labels) == (rows, [None] * len(rows))


vw_names = st.text(
    st.characters(codec="utf-8", exclude_characters=" \t\n\r|:"), min_size=1, max_size=5
)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
vw_rows = st.dictionaries(vw_names, st.dictionaries(vw_names, numbers, max_size=4), max_size=3)


@given(st.lists(st.tuples(numbers, st.floats(0, 1e9), vw_rows), max_size=8), st.booleans())
def test_vw_that_is_written_is_read(written, small):
    lines, expected = [], []
    for label, weight, spaces in written:
        parts = [
            f"|{space} " + " ".join(f"{name}:{value!r}" for name, value in features.items())
            for space, features in spaces.items()
        ]
        lines.append(f"{label!r} {weight!r} {' '.join(parts) or '|'}\n")
        row: dict[str, float] = {}
        for space, features in spaces.items():
            for name, value in features.items():
                row[f"{space}^{name}"] = row.get(f"{space}^{name}", 0) + value
        expected.append({name: value for name, value in row.items() if value != 0})
    if not lines:
        return
    found = read_text("vw", "".join(lines), small=small)
    assert found.rows == expected
    assert found.labels == [label for label, _, _ in written]
    assert found.weights == [weight for _, weight, _ in written]


def test_label_and_weight_can_have_other_names():
    text = '{"y": "a", "w": 2, "label": 3}\n{"y": "b", "w": 0, "label": 4}\n'
    found = read_text("jsonl", text, label="y", weight="w")
    assert found.rows == [{"label": 3}, {"label": 4}]
    assert (found.labels, found.weights) == (["a", "b"], [2, 0])


@every("weight", ["-1", "null", '"1"', "true", "[]", "1e999"])
def test_a_weight_is_a_number_not_below_zero(weight):
    with pytest.raises(DataError, match=r"line 1.*(weight|'w')"):
        read_text("jsonl", f'{{"label": 1, "w": {weight}}}', weight="w")
    with pytest.raises(DataError, match="weight, 'w', is missing"):
        read_text("jsonl", '{"label": 1}', weight="w")


def test_words_and_numbers_are_different_labels():
    with pytest.raises(DataError, match="the number 1, but the first label is a word"):
        read_text("jsonl", '{"label": "1"}\n{"label": 1}\n')


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
def test_json_that_is_written_is_read(written, nested, plain, small):
    lines, expected = [], []
    for label, row in written:
        found = {"label": label, "features": row} if nested else {"label": label, **row}
        lines.append(json.dumps(found, ensure_ascii=plain) + "\n")
        sums: dict[str, float] = {}
        for name, value in row.items():
            key, number = (f"{name}={value}", 1) if isinstance(value, str) else (name, value or 0)
            sums[key] = sums.get(key, 0.0) + float(number)
        expected.append({name: value for name, value in sums.items() if value != 0})
    found = read_text("jsonl", "".join(lines), small=small)
    assert found.rows == expected
    assert found.labels == [label for label, _ in written]


def texts(n_rows, start="text"):
    rows = [{"label": k % 2, "town": "BR"[k % 2], start: f"sentence {k}"} for k in range(n_rows)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_keys_of_strings_are_noted():
    found = read_text("jsonl", '{"label": 1, "town": "Bern", "age": 3}\n')
    assert found.source.decided == ["Read as categories, as their values are strings: 'town'."]
    assert read_text("jsonl", '{"label": 1, "age": 3}\n').source.decided == []


@every("looked_at", [30, 8192])
def test_strings_that_nearly_all_differ_are_a_reason_to_warn(looked_at, monkeypatch):
    monkeypatch.setattr("thresher.formats.jsonl.LOOKED_AT", looked_at)
    with pytest.warns(UserWarning, match=r"Nearly all values of 'text' differ: .*--format text"):
        found = read_text("jsonl", texts(40))
    assert "strings: 'town', 'text'." in found.source.decided[0]
    read_text("jsonl", texts(19))  # too few to tell
    read_text("jsonl", texts(40), names=GrowingNames())  # a model knows


def test_words_are_counted():
    found = read_text("text", "spam\tYou have won! WON?\nham\tÇa va à 10\n")
    assert found.rows == [{"you": 1, "have": 1, "won": 2}, {"ça": 1, "va": 1, "10": 1}]
    assert found.labels == ["spam", "ham"]


def test_labels_that_are_numbers_are_numbers():
    found = read_text("text", "1\taa\n -2.5 \tbb\n")
    assert found.labels == [1.0, -2.5]


def test_only_the_first_tab_ends_the_label():
    found = read_text("text", "a b\tcc\tdd\n")
    assert (found.rows, found.labels) == ([{"cc": 1, "dd": 1}], ["a b"])


def test_all_labels_are_words_if_the_first_is():
    assert read_text("text", "x\ta\n1\tb\n").labels == ["x", "1"]


words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=30)


@given(st.lists(words, min_size=1, max_size=8), st.booleans())
def test_words_are_those_of_scikit_learn(written, small):
    analyze = CountVectorizer().build_analyzer()
    found = read_text("text", "".join(f"1\t{text}\n" for text in written), small=small)
    for text, row in zip(written, found.rows, strict=True):
        words = analyze(text)
        assert row == {word: words.count(word) for word in words}
