"""svmlight text: what is read of it, its numbers, and its faults with their places."""

import random
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from svmlight_twin import FILLER, compare
from thresher.formats import svmlight
from thresher.formats import svmlight_kernel as kernel
from thresher.formats.errors import DataError
from thresher.formats.names import GrowingNames, HashedNames
from thresher.formats.opening import open_rows
from thresher.formats.svmlight import BlockReader, in_17_digits
from thresher.formats.svmlight_kernel import Rules


@pytest.fixture
def source(tmp_path):
    """Return what makes a source of texts, each of which becomes a file."""

    def make(*texts, names=None, **options):
        paths = [tmp_path / f"{number}.svm" for number, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_rows(paths, names=names, **options)

    return make


def whole(source):
    """Return all rows of a source as a dense array, and their labels."""
    chunks = list(source.chunks())
    width = chunks[-1].width
    rows = [chunk.rows.toarray() for chunk in chunks]
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in rows]
    return np.concatenate(padded), np.concatenate([chunk.labels for chunk in chunks])


def refused(source):
    with pytest.raises(DataError) as caught:
        list(source.chunks())
    return caught.value


def test_what_the_format_knows(source):
    text = (
        b"# a comment, and a blank line\n\n"
        b"+1 qid:7 1:1 3:.5 4:5. # words\r\n"
        b" \t-1\t2:-1.5e+3  5:+2E-1\t\n"
        b"2.5#:\n"
        b"\t \r\n"
        b"0 7:0 6:1 2:0.0 1:-0\n"
        b"1e0 00001:1"
    )
    rows, labels = whole(source(text))
    expected = np.zeros((5, 6))
    expected[0, [0, 2, 3]] = 1, 0.5, 5
    expected[1, [1, 4]] = -1500, 0.2
    expected[3, 5] = 1
    expected[4, 0] = 1
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(labels, [1, -1, 2.5, 0, 1])


def test_rows_are_canonical(source):
    (chunk,) = source("1 9:1 3:2 5:0 1:4\n1 2:0\n1\n1 8:1 4:1 6:1 2:1\n").chunks()
    assert chunk.starts.tolist() == [0, 3, 3, 3, 7]
    assert chunk.columns.tolist() == [0, 2, 8, 1, 3, 5, 7]
    assert chunk.values.tolist() == [4, 2, 1, 1, 1, 1, 1]
    assert (chunk.starts.dtype, chunk.columns.dtype) == (np.int64, np.int64)
    assert (chunk.values.dtype, chunk.labels.dtype) == (np.float64, np.float64)


def test_where_blocks_end_does_not_matter(source, monkeypatch):
    text = (
        b"1 1:0.5 3:1e-5 # a\n\n-1 12345:1.25 2:3\r\n# comment\n1 1:0.12345678901234567\n"
        b"2 qid:3 7:1\nx\n-1 5:2.5 9:"
    )
    everything = source(text, on_error="skip", index_base=1)
    rows, labels = whole(everything)
    for size in range(1, 70):
        monkeypatch.setattr(svmlight, "BLOCK", size)
        pieces = source(text, on_error="skip", index_base=1)
        cut_rows, cut_labels = whole(pieces)
        np.testing.assert_array_equal(cut_rows, rows)
        np.testing.assert_array_equal(cut_labels, labels)
        assert pieces.skipped == everything.skipped


def test_indices_from_0_or_1_are_told_by_the_first_block(source):
    from_1 = source("1 1:1 2:2\n")
    assert whole(from_1)[0].tolist() == [[1, 2]]
    assert from_1.index_base == 1
    assert "count from 1: there is no index 0 in the first 1 rows of" in from_1.decided[0]
    from_0 = source("1 1:1 2:2\n1 0:5\n")
    assert whole(from_0)[0].tolist() == [[0, 1, 2], [5, 0, 0]]
    assert from_0.index_base == 0
    assert "count from 0: there is an index 0" in from_0.decided[0]
    given = source("1 1:1 2:2\n", index_base=0)
    assert whole(given)[0].tolist() == [[0, 1, 2]]
    assert given.decided == []


def test_an_index_0_counts_even_if_its_value_is_0(source):
    from_0 = source("1 1:2 0:0\n")
    assert whole(from_0)[0].tolist() == [[0, 2]]
    assert from_0.index_base == 0
    error = refused(source("1 0:0\n", index_base=1))
    assert "index 0" in error.message


def test_an_index_0_that_comes_too_late(source, monkeypatch):
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    late = source("1\n1 1:1 2:2\n1 1:1\n1 1:1 2:1 0:1\n")
    for _ in range(2):
        error = refused(late)
        assert (error.line, error.column) == (4, 11)
        assert "index_base=0 (--index-base 0)" in error.message
    error = refused(source("1 0:1\n", index_base=1))
    assert (error.line, error.column) == (1, 3)


def test_rows_without_features_decide_nothing(source, monkeypatch):
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    empty = source("1\n" * 20)
    assert whole(empty)[0].shape == (20, 0)
    assert empty.decided == []


def test_a_decision_stays_in_later_passes_and_files(source):
    twice = source("1 0:1 1:2\n", "1 1:1\n")
    first = whole(twice)
    second = whole(twice)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[0].tolist() == [[1, 2], [0, 1]]
    assert twice.n_rows == 2


def test_rows_without_labels(source):
    assert refused(source("1:1\n")).column == 1
    (chunk,) = source("1:1\nqid:4 2:1\n3:1 # c\n", labelled=False).chunks()
    assert chunk.labels is None
    assert chunk.columns.tolist() == [0, 1, 2]
    (chunk,) = source("5 1:1\n2:1\n", labelled=False).chunks()
    assert chunk.labels is None
    (chunk,) = source("5 1:1\n", labelled=False).chunks()
    assert chunk.labels.tolist() == [5]


def test_the_last_index_that_can_be_a_column(source):
    (chunk,) = source("1 2147483646:1\n", index_base=0).chunks()
    assert chunk.columns.tolist() == [2**31 - 2]
    assert chunk.width == 2**31 - 1


def test_hashed_indices(source):
    text = "1 0:1 9223372036854775807:2\n-1 5:3 123456789012:4\n"
    hashed = source(text, hash_bits=20)
    (chunk,) = hashed.chunks()
    columns = [sorted(HashedNames(20).number([str(k)])[0] for k in (0, 9223372036854775807))]
    assert chunk.columns[:2].tolist() == columns[0]
    assert chunk.width == 2**20
    assert {hashed.names.name(column) for column in chunk.columns.tolist()} == {
        "0",
        "5",
        "123456789012",
        "9223372036854775807",
    }
    assert hashed.index_base == 0
    (again,) = source(text, names=hashed.names).chunks()
    np.testing.assert_array_equal(again.columns, chunk.columns)


def test_indices_with_the_same_hash_are_added_up(source):
    text = "1 1:1 2:2 3:3 4:4\n1 5:1 6:-1\n"
    (chunk,) = source(text, hash_bits=1).chunks()
    assert chunk.rows.sum(axis=1).tolist() == [10, 0]
    for row in range(2):
        columns = chunk.columns[chunk.starts[row] : chunk.starts[row + 1]]
        assert (np.diff(columns) > 0).all()
    assert (chunk.values != 0).all()
    huge = "1 1:1\n1 1:1e308 2:1e308 3:1e308 4:1e308\n2 1:1\n"
    error = refused(source(huge, hash_bits=1))
    assert error.line == 2
    assert "add up beyond" in error.message
    skipping = source(huge, hash_bits=1, on_error="skip")
    assert [chunk.labels.tolist() for chunk in skipping.chunks()] == [[1, 2]]
    assert skipping.skipped.count == 1


def test_names_of_other_kinds_are_not_for_numbers(source):
    assert source("1 1:1\n", names=GrowingNames()).names is None


def test_chunks_are_small_and_widths_grow(source, monkeypatch):
    monkeypatch.setattr(svmlight, "CHUNK", svmlight.CHUNK._replace(rows=3))
    text = "".join(f"{k} {k}:1\n" for k in range(1, 11))
    chunks = list(source(text).chunks())
    assert [len(chunk) for chunk in chunks] == [3, 3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([c.labels for c in chunks]), np.arange(1, 11))
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    widths = [chunk.width for chunk in source(text).chunks()]
    assert widths == sorted(widths)
    assert widths[-1] == 10


def test_files_without_any_row(source):
    nothing = source("# only this\n\n")
    assert list(nothing.chunks()) == []
    assert nothing.n_rows == 0


def generated(rng, n_rows=30, n_columns=40):
    rows = sparse.random_array((n_rows, n_columns), density=0.2, rng=rng, format="csr")
    rows.data = rng.normal(size=rows.nnz) * 10.0 ** rng.integers(-8, 8, rows.nnz)
    return rows, rng.integers(-1, 3, n_rows).astype(float)


@pytest.mark.parametrize("zero_based", [False, True])
def test_agreement_with_scikit_learn(tmp_path, zero_based):
    rows, labels = generated(np.random.default_rng(0))
    path = str(tmp_path / "rows.svm")
    queries = np.arange(30) // 7
    dump_svmlight_file(
        rows, labels, path, zero_based=zero_based, comment="made up", query_id=queries
    )
    ours, our_labels = whole(open_rows(path))
    theirs, their_labels = load_svmlight_file(path, zero_based=zero_based)
    np.testing.assert_array_equal(ours, theirs.toarray())
    np.testing.assert_array_equal(our_labels, their_labels)


@pytest.mark.jit
def test_every_kernel_has_one_signature(source):
    whole(source("1 2:1 1:0\n" * 20 + "x", on_error="skip"))
    whole(source("1 3:0.1000000000000000055511151231257827021181583404541015625", index_base=0))
    for called in (kernel.flag_delimiters, kernel.list_delimiters, kernel.read_lines):
        assert len(called.signatures) == 1


# ---------------------------------------------------------------------------------- numbers


def values_of(tokens):
    """Return the values that the reader finds, half of them eight digits at a time."""
    text = b"".join(b"0 1:%s\n" % token.encode() for token in tokens)
    rules = Rules(0, 9, True, False)
    return BlockReader().read(memoryview(bytearray(text)), rules)


def assert_read_as_floats(tokens):
    tokens = [token for token in tokens if float(token) != 0]
    found = values_of(tokens)
    assert len(found.faults) == 0
    expected = np.array([float(token) for token in tokens])
    wrong = np.flatnonzero(found.values.view(np.int64) != expected.view(np.int64))
    assert [tokens[k] for k in wrong[:5]] == []


def random_double(rng):
    while True:
        (number,) = struct.unpack("d", rng.randbytes(8))
        if number - number == 0:
            return number


def halfway_tokens(rng):
    """Return the exact decimal half-way between two doubles, and what is a little off it."""
    number = abs(random_double(rng)) or 5e-324
    following = np.nextafter(number, np.inf)
    middle = (Fraction(number) + Fraction(min(float(following), 1.7976931348623157e308))) / 2
    with localcontext() as context:
        context.prec = 1100
        exact = Decimal(middle.numerator) / Decimal(middle.denominator)
        digits = format(exact, "f" if rng.random() < 0.5 else "e")
    head, _, tail = digits.lower().partition("e")
    power = "e" + tail if tail else ""
    above = head + ("000001" if "." in head else ".000001")
    return [head + power, above + power, f"{exact:.19e}", f"{exact:.17e}"]


def random_token(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return repr(random_double(rng))
    if kind == 1:
        return f"{random_double(rng):.{rng.randrange(25)}e}"
    if kind == 2:
        return f"{rng.uniform(-1, 1):.{rng.randrange(1, 22)}f}"
    if kind == 3:
        return f"{rng.randrange(10 ** rng.randrange(1, 30))}e{rng.randrange(-345, 280)}"
    if kind == 4:
        return f"{rng.randrange(10**16)}.{rng.randrange(10 ** rng.randrange(1, 20))}"
    return f"{rng.randrange(10**19)}e{rng.randrange(-345, -290)}"


@pytest.mark.jit
def test_a_hundred_thousand_numbers_are_what_python_reads():
    rng = random.Random(0)
    assert_read_as_floats([random_token(rng) for _ in range(100_000)])


@pytest.mark.jit
def test_numbers_half_way_between_doubles():
    rng = random.Random(1)
    assert_read_as_floats([token for _ in range(2_000) for token in halfway_tokens(rng)])


def test_numbers_at_the_edges():
    tokens = [
        "4.9406564584124654e-324 2.4703282292062328e-324 2.2250738585072011e-308",
        "2.2250738585072014e-308 1.7976931348623157e308 1.7976931348623158e308",
        "9007199254740992 9007199254740993 9007199254740991.5 9007199254740993.0000000000000000001",
        "0.000000000000000000000000000000000000000000000000000000000001e60 1e22 1e23 8.5e22",
        "10000000000000000000 18446744073709551615 99999999999999999999 123456789012345678",
        "0.1000000000000000055511151231257827 1234567812345678.12345678 0000000000000000001.5",
        "12345678.1234567812345678 5e-1 .5 5. 5.e1 +5 -5 +.5e+1 " + "0" * 50 + "7" + "0" * 300,
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017",
        "0." + "0" * 400 + "1e400",
        "1" + "0" * 400 + "e-400",
        "2." + "0" * 30 + "1e0",
    ]
    assert_read_as_floats(" ".join(tokens).split())


def test_numbers_too_small_are_zero_and_too_large_are_faults():
    found = values_of(
        ["1e-400", "2e-324", "0." + "0" * 400 + "1", "1" * 25 + "e-400", "1e-99999999"]
    )
    assert len(found.faults) == len(found.values) == 0
    assert len(found.labels) == 5
    largest_and_a_half = "1797693134862315807937289714053034150799341327100378269361737789804449"
    for token in [
        "1e309",
        "1.7976931348623159e308",
        largest_and_a_half + "9e239",
        "1e99999999999999999",
    ]:
        rules = Rules(0, 9, True, True)
        text = memoryview(bytearray(b"0 1:%s\n" % token.encode()))
        assert BlockReader().read(text, rules).faults[:, 0].tolist() == [kernel.BAD_VALUE]


def test_long_numbers_fit_where_they_stood():
    """Seventeen digits never take more bytes than the twenty or more they stand for."""
    rng = random.Random(2)
    for _ in range(500):
        n_digits, point = rng.randrange(20, 40), rng.randrange(45)
        digits = "".join(rng.choices("0123456789", k=n_digits))
        digits = (str(rng.randrange(1, 10)) + digits[1:]).rjust(point, "0")
        token = digits[: len(digits) - point] + "." + digits[len(digits) - point :]
        token = rng.choice([token, digits]) + rng.choice(["", "e0", "e9", "e-9", "e-99", "e-280"])
        short = in_17_digits(float(token))
        assert len(short) <= len(token)
        assert float(short) == float(token)


# ----------------------------------------------------------------------------------- faults

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
    ("1 qid:x 1:1", 3, "'qid:x': after qid: there must be a whole number"),
    ("1 qid: 1:1", 3, "after qid:"),
    ("1 qid:-1 1:1", 3, "after qid:"),
    ("1 1:1 qid:1", 7, "qid: must come directly after the label"),
    ("1 qid:1 qid:1", 9, "qid: must come directly after the label"),
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
    ("1 1:1 2:", 9, "there is no value after the colon"),
    ("1 1:1 2: 3:1", 9, "there is no value after the colon"),
    ("1 1:1 2:#3", 9, "there is no value after the colon"),
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
    ("1 3:1 3:2", 7, "index 3 occurs in this row twice"),
    ("1 3:0 03:0", 7, "index 3 occurs in this row twice"),
    ("1 3:1 " + "0" * 5000 + "3:1", 7, "index 3 occurs in this row twice"),
    ("1 qid:3 5:1 4:1 3:1 4:2 5:1", 21, "index 4 occurs in this row twice"),
    ("1 " + "x" * 100, 3, "'" + "x" * 40 + "'... is not a pair"),
]


@pytest.mark.parametrize(("line", "column", "message"), FAULTS, ids=lambda part: str(part)[:20])
def test_faults_are_named_with_their_place_or_skipped(source, line, column, message):
    for filler in (b"", FILLER):  # near the end of the text, and far from it
        text = source(b"1 1:1\n\n" + line.encode() + filler)
        if column is None:
            assert len(whole(text)[1]) == 2
            continue
        error = refused(text)
        assert (error.line, error.column) == (3, column)
        assert message in error.message
        assert str(error).startswith(f"{error.file}, line 3, column {column}: ")
    skipping = source(b"1 1:1\n" + line.encode() + b"\n3 2:2\n", on_error="skip")
    rows, labels = whole(skipping)
    assert skipping.skipped.count == 3 - len(labels) == (column is not None)
    assert labels[[0, -1]].tolist() == [1, 3]
    assert rows[[0, -1], :2].tolist() == [[1, 0], [0, 2]]


HINTS = {
    "spam\tYou have won!": "label<TAB>text: use format='text' (--format text)",
    "1\tYou have won at 10:30": "(--format text)",
    "1\tBern\t30": "(--format text), or if it is a table, tsv",
    "label,age,town": "'label,age,town' is not svmlight text; the line looks like CSV: use format",
    "1,30,Bern": "(--format csv)",
    "1;30;Bern": "a table with semicolons: use format='csv', sep=';'",
    '{"label": 1}': "looks like JSON lines: use format='jsonl' (--format jsonl)",
}


def test_what_is_no_svmlight_text_is_recognized(source):
    for line, hint in HINTS.items():
        assert hint in refused(source(line)).message
    for line in ("1,2 1:1", "x\t1:1 2:2", "1\t1:1\ta:2", "x 1:1", "1 a"):
        assert "looks like" not in refused(source(line)).message


# ------------------------------------------------------------------------------- slow twin

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "svmlight"
RUNS = 150

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


def test_the_reader_agrees_with_its_twin_on_the_corpus():
    for path in CORPUS.iterdir():
        text = path.read_bytes()[1:]  # the first byte only tells the fuzzer how to read the others
        for labelled in (True, False):
            compare(text, labelled)
            compare(text + FILLER, labelled, lowest=1)
