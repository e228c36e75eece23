"""Raw text: words are counted as scikit-learn counts them, and labels are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from named_rows import read_text
from thresher.data.errors import DataError
from thresher.data.sources.text import TextSource


def test_words_are_counted():
    found = read_text(TextSource, "spam\tYou have won! WON?\nham\tÇa va à 10\n")
    assert found.rows == [{"you": 1, "have": 1, "won": 2}, {"ça": 1, "va": 1, "10": 1}]
    assert found.labels == ["spam", "ham"]


def test_labels_that_are_numbers_are_numbers():
    found = read_text(TextSource, "1\taa\n -2.5 \tbb\n")
    assert found.labels == [1.0, -2.5]


def test_only_the_first_tab_ends_the_label():
    found = read_text(TextSource, "a b\tcc\tdd\n")
    assert (found.rows, found.labels) == ([{"cc": 1, "dd": 1}], ["a b"])


MALFORMED = {
    "no tab": "no label",
    "\ttext": "no label",
    "nan\ttext": "the label is nan",
    "word\ttext": "the label 'word' is not a number, but the first label is",
    "1_0\ttext": "the label '1_0' is not a number",
}


@pytest.mark.parametrize("line", MALFORMED)
def test_what_is_refused(line):
    with pytest.raises(DataError, match=MALFORMED[line]) as caught:
        read_text(TextSource, f"1\taa\n\n{line}\n")
    assert caught.value.line == 3
    found = read_text(TextSource, f"1\taa\n{line}\n2\tbb\n", on_error="skip")
    assert (found.labels, found.source.skipped.count) == ([1, 2], 1)


def test_all_labels_are_words_if_the_first_is():
    assert read_text(TextSource, "x\ta\n1\tb\n").labels == ["x", "1"]


def test_a_line_without_tab_is_all_text_where_nobody_needs_a_label():
    found = read_text(TextSource, "Aa bb\n\nb\tcc\n", labelled=False)
    assert found.rows == [{"aa": 1, "bb": 1}, {}, {"cc": 1}]
    assert found.labels == [None] * 3  # one of them is missing


texts = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=30)


@given(st.lists(texts, min_size=1, max_size=8), st.booleans())
def test_words_are_those_of_scikit_learn(written, small):
    analyze = CountVectorizer().build_analyzer()
    found = read_text(TextSource, "".join(f"1\t{text}\n" for text in written), small=small)
    for text, row in zip(written, found.rows, strict=True):
        words = analyze(text)
        assert row == {word: words.count(word) for word in words}
