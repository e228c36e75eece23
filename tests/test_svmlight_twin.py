"""The svmlight reader and its slow twin agree on whatever text there is."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import NO_JIT
from svmlight_comparison import FILLER, compare

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus" / "svmlight"
RUNS = 100 if NO_JIT else 400

NUMBERS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["nan", "inf", "-0", "1e999", "0x1", "1_0", "", ".", "1,2", "1e-400"]),
)
INDICES = st.one_of(
    st.integers(0, 9).map(str),
    st.integers(0, 2**65).map(str),
    st.sampled_from(
        ["", "-1", "+1", "1.0", "qid", "2147483646", "2147483647", "00000000000000001"]
    ),
)
PAIRS = st.tuples(INDICES, NUMBERS).map(":".join)
WORDS = st.one_of(PAIRS, PAIRS, PAIRS, NUMBERS, st.text("01.:#eE+- \t\r\0", max_size=6))
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t", " \t ", "\r", "#"])
LINES = st.builds(
    lambda first, rest, last: first + "".join(rest) + last,
    NUMBERS,
    st.lists(st.tuples(BLANKS, WORDS).map("".join), max_size=8),
    st.sampled_from(["\n", "\n", "\r\n", " \n", " # \n", "\0\n", ""]),
)
TEXTS = st.lists(LINES, min_size=1, max_size=5).map(lambda lines: "".join(lines).encode())


@settings(max_examples=RUNS)
@given(TEXTS.filter(len), st.booleans(), st.integers(0, 1))
@example(b"1 1:0.1000000000000000055511151231257827021181583404541015625 2:x\n", True, 0)
def test_the_reader_agrees_with_its_twin(text, labelled, lowest):
    compare(text, labelled, lowest)
    compare(text + FILLER, labelled, lowest)


@settings(max_examples=RUNS)
@given(st.binary(min_size=1, max_size=60))
def test_the_reader_agrees_with_its_twin_on_any_bytes(text):
    compare(text)
    compare(text + FILLER, labelled=False)


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_reader_agrees_with_its_twin_on_the_corpus(path):
    text = path.read_bytes()[1:]  # the first byte only tells the fuzzer how to read the others
    for labelled in (True, False):
        compare(text, labelled)
        compare(text + FILLER, labelled, lowest=1)
