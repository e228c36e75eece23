"""Faults in svmlight text: told with their place, or left out and counted."""

from functools import partial

import pytest

from svmlight_cases import refused, source_of, whole
from svmlight_comparison import FILLER
from thresher.data.errors import DataError
from thresher.data.sources.protocol import SHOWN, Reading
from thresher.data.sources.svmlight import SvmlightSource

FAULTS = [
    # line, column, what the message says
    ("x 1:1", 1, "the label 'x' is not a number"),
    ("nan 1:1", 1, "the label 'nan' is not finite"),
    ("-Infinity 1:1", 1, "not finite"),
    ("  1,2 1:1", 3, "the label is '1,2': rows with several labels cannot"),
    ("1:1 2:1", 1, "the row begins with '1:1': a label"),
    ("qid:1 1:1", 1, "the row begins with 'qid:1'"),
    ("0x1 1:1", 1, "'0x1' is not a number"),
    ("1_0 1:1", 1, "'1_0' is not a number"),
    ("1e999 1:1", 1, "'1e999' is beyond the largest number"),
    ("1 qid:x 1:1", 3, "'qid:x': behind qid: there must be a whole number"),
    ("1 qid: 1:1", 3, "behind qid:"),
    ("1 qid:-1 1:1", 3, "behind qid:"),
    ("1 1:1 qid:1", 7, "qid: must stand directly behind the label"),
    ("1 qid:1 qid:1", 9, "qid: must stand directly behind the label"),
    ("1 1:1 2", 7, "'2' is not a pair index:value"),
    ("1 2 1:1", 3, "'2' is not a pair"),
    ("1 1:1 # 2", None, ""),
    ("1 1:1 2 :2", 7, "'2' is not a pair"),
    ("1 1:1 :2", 7, "there is no index before the colon"),
    ("1 1 :2", 3, "'1' is not a pair"),
    ("1 -1:1", 3, "index '-1' is negative"),
    ("1 +1:1", 3, "index '+1' is not a whole number"),
    ("1 1.0:1", 3, "index '1.0' is not a whole number"),
    ("1 1e2:1", 3, "index '1e2' is not a whole number"),
    ("1 a:1", 3, "index 'a' is not a whole number"),
    ("1 2147483647:1", 3, "index 2,147,483,647 is too large for a column"),
    ("1 2147483647:1", 3, "--hash-bits 24"),
    ("1 9223372036854775807:1", 3, "too large for a column"),
    ("1 9223372036854775808:1", 3, "none can be beyond 2^63 - 1"),
    ("1 99999999999999999999:1", 3, "none can be beyond"),
    ("1 1:1 2:", 9, "there is no value behind the colon"),
    ("1 1:1 2: 3:1", 9, "there is no value behind the colon"),
    ("1 1:1 2:#3", 9, "there is no value behind the colon"),
    ("1 1:1 2:x", 9, "the value 'x' is not a number"),
    ("1 1:1:1", 5, "the value '1:1' is not a number"),
    ("1 1::1", 5, "the value ':1' is not a number"),
    ("1 1:nan", 5, "the value 'nan' is not finite"),
    ("1 1:-inf 2:1", 5, "the value '-inf' is not finite"),
    ("1 1:1e309", 5, "the value '1e309' is beyond the largest number"),
    ("1 1:" + "9" * 400, 5, "is beyond the largest number"),
    ("1 1:0x1p3", 5, "'0x1p3' is not a number"),
    ("1 1:1_000", 5, "'1_000' is not a number"),
    ("1 1:1e", 5, "'1e' is not a number"),
    ("1 1:1e+", 5, "'1e+' is not a number"),
    ("1 1:.", 5, "'.' is not a number"),
    ("1 1:-", 5, "'-' is not a number"),
    ("1 1:--1", 5, "'--1' is not a number"),
    ("1 1:1.2.3", 5, "'1.2.3' is not a number"),
    ("1 1:1,5", 5, "'1,5' is not a number"),
    ("1 1:" + "1" * 50_000 + "x", 5, "is not a number"),
    ("1 1:1d5", 5, "'1d5' is not a number"),
    ("1 1:1 \r 2:2", 7, "a carriage return inside a line"),
    ("1 1:1\r\r", 6, "a carriage return inside a line"),
    ("\r1 1:1", 1, "a carriage return inside a line"),
    ("1 1:1 2:2\x00", 9, r"the value '2\x00' is not a number"),
    ("\x00", 1, r"the label '\x00' is not a number"),
    ("1 1:1 # \x00", 9, "a NUL byte in a comment"),
    ("# \x00", 3, "a NUL byte in a comment"),
    ("1 1:1 # é", None, ""),
    ("1 1:1 2:é", 9, r"the value '\xc3\xa9' is not a number"),
    ("1 1:1\x0b2:2", 5, r"'1\x0b2:2' is not a number"),
    ("1 1:1\u00a02:2", 5, "is not a number"),
    ("1 3:1 3:2", 7, "index 3 stands in this row twice"),
    ("1 3:0 03:0", 7, "index 3 stands in this row twice"),
    ("1 3:1 " + "0" * 5000 + "3:1", 7, "index 3 stands in this row twice"),
    ("1 qid:3 5:1 4:1 3:1 4:2 5:1", 21, "index 4 stands in this row twice"),
    ("1 " + "x" * 100, 3, "'" + "x" * 40 + "'... is not a pair"),
]


@pytest.fixture
def source(tmp_path):
    """Return what makes a source of texts."""
    return partial(source_of, tmp_path)


@pytest.mark.parametrize(("line", "column", "words"), FAULTS)
@pytest.mark.parametrize("filler", [b"", FILLER], ids=["near the end", "far from it"])
def test_faults_are_told_with_their_place(source, line, column, words, filler):
    text = b"1 1:1\n\n" + line.encode() + filler
    if column is None:
        assert len(whole(source(text))[1]) == 2
        return
    error = refused(source(text))
    assert (error.line, error.column) == (3, column)
    assert words in error.message
    assert str(error).startswith(f"{error.file}, line 3, column {column}: ")


@pytest.mark.parametrize(("line", "column", "words"), FAULTS)
def test_skipping_leaves_out_the_line_and_nothing_else(source, line, column, words):
    text = b"1 1:1\n" + line.encode() + b"\n3 2:2\n"
    skipping = source(text, on_error="skip")
    rows, labels = whole(skipping)
    faulty = column is not None
    assert skipping.skipped.count == faulty
    assert labels.tolist() == ([1, 3] if faulty else [1, labels[1], 3])
    assert rows[[0, -1], :2].tolist() == [[1, 0], [0, 2]]
    assert all(words in example for example in skipping.skipped.examples)


def test_skipped_rows_are_counted_anew_in_every_pass(source):
    skipping = source("1 1:1\n" + "x\n" * 12, on_error="skip")
    for _ in range(2):
        assert len(whole(skipping)[1]) == 1
        assert skipping.skipped.count == 12
        assert len(skipping.skipped.examples) == SHOWN
        assert "line 6, column 1" in skipping.skipped.examples[-1]


def test_the_right_file_is_named_with_its_own_line(source):
    error = refused(source("1 1:1\n2 1:1\n", "1 1:1\nx\n"))
    assert error.file.endswith("1.svm")
    assert error.line == 2


def test_bad_files_are_told_when_a_source_is_made(tmp_path, source):
    with pytest.raises(DataError, match="no such file"):
        SvmlightSource([str(tmp_path / "none")], Reading())
    with pytest.raises(DataError, match="is empty"):
        source("")
