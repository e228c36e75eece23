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

from format_cases import FILLER, compare_svmlight, every, read_all, read_text, refused, same
from thresher.formats import svmlight, svmlight_lines
from thresher.formats.names import GrowingNames, HashedNames
from thresher.formats.opening import open_rows


def rows_of(text, **options):
    """Return the rows of a text as columns and values, and what else was found."""
    found = read_text("svmlight", text, **options)
    return found.rows, found


def test_what_the_format_knows():
    text = (
        b"# a comment, and a blank line\n\n"
        b"+1 qid:7 1:1 3:.5 4:5. # words\r\n"
        b" \t-1\t2:-1.5e+3  5:+2E-1\t\n"
        b"2.5#:\n"
        b"\t \r\n"
        b"0 7:0 6:1 2:0.0 1:-0\n"
        b"1e0 00001:1 0000000000000000000000002:1"
    )
    rows, found = rows_of(text)
    assert rows == [{0: 1, 2: 0.5, 3: 5}, {1: -1500, 4: 0.2}, {}, {5: 1}, {0: 1, 1: 1}]
    assert found.labels == [1, -1, 2.5, 0, 1]
    rows, found = rows_of("1 9:1 3:2 5:0 1:4\n1 2:0\n1\n1 8:1 4:1 6:1 2:1\n# nothing\n")
    assert found.columns == [[0, 2, 8], [], [], [1, 3, 5, 7]]
    assert rows_of("# only this\n\n")[0] == []


def test_where_blocks_end_does_not_matter(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_bytes(
        b"1 1:0.5 3:1e-5 # a\n\n-1 12345:1.25 2:3\r\n# comment\n1 1:0.12345678901234567\n"
        b"2 qid:3 7:1\nx\n-1 5:2.5 9:"
    )
    whole = read_all(open_rows(path, on_error="skip", index_base=1))
    for size in range(1, 70):
        monkeypatch.setattr(svmlight, "BLOCK", size)
        pieces = read_all(open_rows(path, on_error="skip", index_base=1))
        assert same(pieces, whole)
        assert pieces.source.skipped == whole.source.skipped


def test_the_first_rows_decide_what_indices_count_from(tmp_path, monkeypatch):
    for text, base, message in [
        ("1 1:1 2:2\n", 1, "count from 1: there is no index 0 in the first 1 rows of"),
        ("1 1:1 2:2\n1 0:5\n", 0, "count from 0: there is an index 0"),
        ("1 1:2 0:0\n", 0, "an index 0"),  # counts even if its value is 0
        ("1 1:2 0:0.00000000000000000000000\n", 0, "an index 0"),
    ]:
        found = rows_of(text)[1]
        assert found.source.index_base == base
        assert message in found.source.decided[0]
    given = rows_of("1 1:1 2:2\n", index_base=0)[1]
    assert (given.columns, given.source.decided) == ([[1, 2]], [])
    paths = [tmp_path / "0.svm", tmp_path / "1.svm"]
    paths[0].write_text("1 0:1 1:2\n")
    paths[1].write_text("1 1:1\n")
    source = open_rows(paths)
    assert read_all(source).columns == read_all(source).columns == [[0, 1], [1]]
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    assert rows_of("1\n" * 20)[1].source.decided == []
    error = refused("svmlight", "1\n1 1:1 2:2\n1 1:1\n1 1:1 2:1 0:1\n")
    assert (error.line, error.column) == (4, 11)
    assert "index_base=0 (--index-base 0)" in error.message
    assert "index 0" in refused("svmlight", "1 0:0\n", index_base=1).message


def test_rows_without_labels():
    assert refused("svmlight", "1:1\n").column == 1
    text = "1:1\nqid:4 2:1\n3:1 # c\n"
    found = rows_of(text, labelled=False)[1]
    assert (found.columns, found.labels) == ([[0], [1], [2]], [None] * 3)
    assert rows_of("5 1:1\n2:1\n", labelled=False)[1].labels == [None] * 2
    assert rows_of("5 1:1\n", labelled=False)[1].labels == [5]
    text = "spam 1:1\n? qid:1 2:1\n3:1\n1,2\nx\r 1:1"
    found = rows_of(text, ignore_labels=True, on_error="skip")[1]
    assert (found.columns, found.labels) == ([[0], [1], [2], []], [None] * 4)
    assert found.source.skipped.count == 1


def test_the_last_index_that_can_be_a_column():
    assert rows_of("1 2147483646:1\n", index_base=0)[1].columns == [[2**31 - 2]]


def test_hashed_indices():
    text = "1 0:1 9223372036854775807:2\n-1 5:3 123456789012:4\n"
    rows, found = rows_of(text, hash_bits=20)
    assert rows[1] == {"5": 3, "123456789012": 4}
    assert sorted(HashedNames(20).number(["0", str(2**63 - 1)])) == found.columns[0]
    assert found.source.index_base == 0
    assert same(rows_of(text, names=found.source.names)[1], found)
    assert rows_of("1 1:1\n", names=GrowingNames())[1].source.names is None


def test_indices_with_the_same_hash_are_added_up():
    rows, _ = rows_of("1 1:1 2:2 3:3 4:4\n1 5:1 6:-1\n", hash_bits=1)
    assert [sum(row.values()) for row in rows] == [10, 0]
    huge = "1 1:1\n1 1:1e308 2:1e308 3:1e308 4:1e308\n2 1:1\n"
    error = refused("svmlight", huge, hash_bits=1)
    assert error.line == 2
    assert "add up beyond" in error.message
    found = rows_of(huge, hash_bits=1, on_error="skip")[1]
    assert (found.labels, found.source.skipped.count) == ([1, 2], 1)


def test_chunks_are_small_and_widths_grow(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{k} {k}:1\n" for k in range(1, 11)))
    monkeypatch.setattr(svmlight, "CHUNK", svmlight.CHUNK._replace(rows=3))
    assert [len(chunk) for chunk in open_rows(path).chunks()] == [3, 3, 3, 1]
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    widths = [chunk.width for chunk in open_rows(path).chunks()]
    assert widths == sorted(widths)
    assert widths[-1] == 10


@every("zero_based", [False, True])
def test_agreement_with_scikit_learn(tmp_path, zero_based):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((30, 40), density=0.2, rng=rng, format="csr")
    rows.data = rng.normal(size=rows.nnz) * 10.0 ** rng.integers(-8, 8, rows.nnz)
    labels, path = rng.integers(-1, 3, 30).astype(float), str(tmp_path / "rows.svm")
    queries = np.arange(30) // 7
    dump_svmlight_file(rows, labels, path, zero_based=zero_based, comment="x", query_id=queries)
    (ours,) = open_rows(path).chunks()
    theirs, their_labels = load_svmlight_file(path, zero_based=zero_based)
    np.testing.assert_array_equal(ours.rows.toarray(), theirs.toarray())
    np.testing.assert_array_equal(ours.labels, their_labels)


@pytest.mark.jit
def test_the_kernel_has_one_signature():
    rows_of("1 2:1 1:0\n" * 20 + "x", on_error="skip")
    rows_of("1 3:0.1000000000000000055511151231257827021181583404541015625", index_base=0)
    assert len(svmlight_lines.read_lines.signatures) == 1


# ---------------------------------------------------------------------------------- numbers


def assert_read_as_floats(tokens):
    """Values are the doubles that Python reads; return the share that the kernel left to it."""
    tokens = [token for token in tokens if float(token) != 0]
    text = b"".join(b"0 1:%s\n" % token.encode() for token in tokens)
    lines, _ = svmlight_lines.read_text(
        np.frombuffer(text, np.uint8), svmlight_lines.Rules(0, 9, True, False)
    )
    plain = np.ones(len(tokens), bool)
    plain[lines.odd] = False
    expected = np.array([float(token) for token in tokens])
    wrong = plain & (lines.values.view(np.int64) != expected.view(np.int64))
    assert [tokens[k] for k in np.flatnonzero(wrong)[:5]] == []
    assert read_text("svmlight", text).rows == [{0: value} for value in expected.tolist()]
    return 1 - plain.mean()


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
def test_tens_of_thousands_of_numbers_are_what_python_reads():
    rng = random.Random(0)
    assert_read_as_floats([random_token(rng) for _ in range(30_000)])
    assert_read_as_floats([token for _ in range(1_000) for token in halfway_tokens(rng)])
    numbers = [rng.gauss(0, 10.0 ** rng.randrange(-9, 9)) for _ in range(30_000)]
    for pattern in ("{!r}", "{:.16g}", "{:.17g}", "{:.18e}", "{:.6f}"):
        assert assert_read_as_floats([pattern.format(number) for number in numbers]) < 0.001


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
    tiny = ["1e-400", "2e-324", "0." + "0" * 400 + "1", "1" * 25 + "e-400", "1e-99999999"]
    assert rows_of("".join(f"0 1:{token}\n" for token in tiny))[0] == [{}] * 5
    for token in ["1e309", "1.7976931348623159e308", "18" + "9" * 307, "1e99999999999999999"]:
        assert "beyond the largest number" in refused("svmlight", f"0 1:{token}").message


# ----------------------------------------------------------------------------------- faults

FAULTS = [
    # line, column, what the message says
    ("x 1:1", 1, "the label 'x' is not a number"),
    ("nan 1:1", 1, "the label 'nan' is not finite"),
    ("  1,2 1:1", 3, "the label is '1,2': rows with several labels cannot"),
    ("1:1 2:1", 1, "the row begins with '1:1': a label"),
    ("qid:1 1:1", 1, "the row begins with 'qid:1'"),
    ("0x1 1:1", 1, "'0x1' is not a number"),
    ("1e999 1:1", 1, "'1e999' is beyond the largest number"),
    ("1 qid:x 1:1", 3, "'qid:x': after qid: there must be a whole number"),
    ("1 1:1 qid:1", 7, "qid: must come directly after the label"),
    ("1 1:1 2", 7, "'2' is not a pair index:value"),
    ("1 2 1:1", 3, "'2' is not a pair"),
    ("1 1:1 # 2", None, ""),
    ("1 1:1 :2", 7, "index '' is not a whole number"),
    ("1 -1:1", 3, "index '-1' is not a whole number"),
    ("1 +1:1", 3, "index '+1' is not a whole number"),
    ("1 1.0:1", 3, "index '1.0' is not a whole number"),
    ("1 2147483647:1", 3, "index '2147483647' is too large: 2,147,483,646 is the last"),
    ("1 2147483647:1", 3, "--hash-bits 24"),
    ("1 9223372036854775807:1", 3, "too large"),
    ("1 9223372036854775808:1", 3, "too large"),
    ("1 1:1 2:", 9, "the value '' is not a number"),
    ("1 1:1 2:x", 9, "the value 'x' is not a number"),
    ("1 1:1:1", 5, "the value '1:1' is not a number"),
    ("1 1:nan", 5, "the value 'nan' is not finite"),
    ("1 1:-inf 2:1", 5, "the value '-inf' is not finite"),
    ("1 1:1e309", 5, "the value '1e309' is beyond the largest number"),
    ("1 1:" + "9" * 400, 5, "is beyond the largest number"),
    ("1 1:0x1p3", 5, "'0x1p3' is not a number"),
    ("1 1:1e", 5, "'1e' is not a number"),
    ("1 1:.", 5, "'.' is not a number"),
    ("1 1:1.2.3", 5, "'1.2.3' is not a number"),
    ("1 1:1,5", 5, "'1,5' is not a number"),
    ("1 1:" + "1" * 50_000 + "x", 5, "is not a number"),
    ("1 1:1 \r 2:2", 7, "a carriage return inside a line"),
    ("1 1:1\r\r", 6, "a carriage return inside a line"),
    ("\r1 1:1", 1, "a carriage return inside a line"),
    ("1 1:1 2:2\x00", 9, r"the value '2\x00' is not a number"),
    ("\x00", 1, r"the label '\x00' is not a number"),
    ("1 1:1 # \x00", 9, "a NUL byte in a comment"),
    ("# \x00", 3, "a NUL byte in a comment"),
    ("1 1:1 # é", None, ""),
    ("1 1:1 2:é", 9, "the value 'é' is not a number"),
    ("1 1:1\x0b2:2", 5, r"'1\x0b2:2' is not a number"),
    ("1 1:1\u00a02:2", 5, "is not a number"),
    ("1 3:1 3:2", 7, "index 3 occurs in this row twice"),
    ("1 3:0 03:0", 7, "index 3 occurs in this row twice"),
    ("1 3:1 " + "0" * 5000 + "3:1", 7, "index 3 occurs in this row twice"),
    ("1 qid:3 5:1 4:1 3:1 4:2 5:1", 21, "index 4 occurs in this row twice"),
    ("1 " + "x" * 100, 3, "'" + "x" * 40 + "'... is not a pair"),
]


def test_faults_are_named_with_their_place_or_skipped():
    for line, column, message in FAULTS:
        for filler in ("", FILLER.decode()):  # near the end of the text, and far from it
            text = "1 1:1\n\n" + line + filler
            if column is None:
                assert len(rows_of(text)[0]) == 2
                continue
            error = refused("svmlight", text)
            assert (error.line, error.column) == (3, column), line
            assert message in error.message
            assert str(error).startswith(f"{error.file}, line 3, column {column}: ")
            assert len(error.message) < 300
        rows, found = rows_of(f"1 1:1\n{line}\n3 2:2\n", on_error="skip")
        assert found.source.skipped.count == 3 - len(rows) == (column is not None)
        assert (rows[0], rows[-1], found.labels[-1]) == ({0: 1}, {1: 2}, 3)


HINTS = {
    "spam\tYou have won!": "label<TAB>text: use format='text' (--format text)",
    "1\tYou have won at 10:30": "(--format text)",
    "1\tBern\t30": "a table: use format='tsv' (--format tsv)",
    "label,age,town": "the line looks like CSV: use format",
    "1,30,Bern": "(--format csv)",
    "1;30;Bern": "a table with semicolons: use format='csv', sep=';'",
    '{"label": 1}': "looks like JSON lines: use format='jsonl' (--format jsonl)",
}


def test_what_is_no_svmlight_text_is_recognized():
    for line, hint in HINTS.items():
        assert hint in refused("svmlight", line).message
    for line in ("1,2 1:1", "x\t1:1 2:2", "1\t1:1\ta:2", "x 1:1", "1 a"):
        assert "looks like" not in refused("svmlight", line).message


# ------------------------------------------------------------- the kernel, and Python's reader

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
def test_the_kernel_agrees_with_python(text, labelled, lowest):
    compare_svmlight(text, labelled, lowest)


@settings(max_examples=RUNS)
@given(st.binary(min_size=1, max_size=60))
def test_the_kernel_agrees_with_python_on_any_bytes(text):
    compare_svmlight(text)


def test_the_kernel_agrees_with_python_on_the_corpus():
    for path in CORPUS.iterdir():
        text = path.read_bytes()[1:]  # the first byte only tells the fuzzer how to read the others
        for labelled in (True, False):
            compare_svmlight(text, labelled, lowest=int(labelled))
