"""Vowpal Wabbit's format: what it says, what is refused, and that nothing is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from named_rows import read_text
from thresher.data.errors import DataError
from thresher.data.sources.vw import VowpalSource

LINES = {
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

MALFORMED = {
    "1 a x": (None, "no bar"),
    "1|a x": (None, "no label"),
    " |a x": (None, "no label"),
    "'tag |a x": (None, "no label"),
    "yes |a x": (1, "'yes' is not a number"),
    "nan |a x": (1, "'nan' is not finite"),
    "1 heavy |a x": (3, "'heavy' is not a number"),
    "1 -2 |a x": (None, "weight is -2"),
    "1 inf |a x": (3, "'inf' is not finite"),
    "1 1 0.5 |a x": (None, "base, 0.5"),
    "1 1 0 7 |a x": (None, "4 words"),
    "1 |a x:y": (6, "A category is written x=y"),
    "1 |a y x:": (8, "'' is not a number"),
    "1 |a x:1:2": (6, "'1:2' is not a number"),
    "1 |a x:1_0": (6, "'1_0' is not a number"),
    "1 |a x:\u0663": (6, "is not a number"),
    "1 |a x:1\u00a0": (6, "is not a number"),
    "1 |a x:nan": (6, "'nan' is not finite"),
    "1 |a x:-Infinity": (6, "'-Infinity' is not finite"),
    "1 |a x:1e999": (6, "beyond the largest number"),
    "1 |a x:0x10": (6, "is not a number"),
    "1 |a b :3": (8, "a value and no name"),
    "1 |:3 b": (4, "namespace without name"),
    "1 |a:b c": (4, "scale of namespace 'a': 'b' is not a number"),
    "1 |a:1e200 c:1e200": (4, "too large"),
    "1 |a c:1e308 c:1e308": (None, "add up beyond"),
}


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_says(line):
    row, label, weight = LINES[line]
    found = read_text(VowpalSource, line)
    assert (found.rows, found.labels, found.weights) == ([row], [label], [weight])


@pytest.mark.parametrize("line", MALFORMED)
def test_what_is_refused(line):
    column, message = MALFORMED[line]
    with pytest.raises(DataError) as caught:
        read_text(VowpalSource, f"1 |a x\n\n{line}\n1 |a x\n")
    assert (caught.value.line, caught.value.column) == (3, column)
    assert message in str(caught.value)


@pytest.mark.parametrize("line", MALFORMED)
def test_what_is_refused_can_be_skipped(line):
    found = read_text(VowpalSource, f"1 |a x\n{line}\n2 |a x\n", on_error="skip")
    assert (found.rows, found.labels) == ([{"a^x": 1}] * 2, [1, 2])
    assert found.source.skipped.count == 1
    assert "line 2" in found.source.skipped.examples[0]


def test_rows_without_label_are_read_where_nobody_needs_one():
    text = "|a x\n'tag |a y\n| z\n"
    found = read_text(VowpalSource, text, labelled=False)
    assert found.rows == [{"a^x": 1}, {"a^y": 1}, {"z": 1}]
    assert found.labels == [None] * 3


names = st.text(
    st.characters(codec="utf-8", exclude_characters=" \t\n\r|:"), min_size=1, max_size=5
)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
rows = st.dictionaries(names, st.dictionaries(names, numbers, max_size=4), max_size=3)


@given(st.lists(st.tuples(numbers, st.floats(0, 1e9), rows), max_size=8), st.booleans())
def test_rows_that_are_written_are_read(written, small):
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
    found = read_text(VowpalSource, "".join(lines), small=small)
    assert found.rows == expected
    assert found.labels == [label for label, _, _ in written]
    assert found.weights == [weight for _, weight, _ in written]
