"""svmlight text: what is read of it, and what a source makes of it."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from svmlight_cases import refused, source_of, whole
from thresher.data.naming import GrowingNames, HashedNames
from thresher.data.sources import svmlight
from thresher.data.sources.protocol import Reading
from thresher.data.sources.svmlight import SvmlightSource
from thresher.kernels import marks
from thresher.kernels import svmlight as kernel


@pytest.fixture
def source(tmp_path):
    """Return what makes a source of texts."""
    return partial(source_of, tmp_path)


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


@pytest.mark.parametrize("size", range(1, 70))
def test_where_blocks_end_does_not_matter(source, monkeypatch, size):
    text = (
        b"1 1:0.5 3:1e-5 # a\n\n-1 12345:1.25 2:3\r\n# comment\n1 1:0.12345678901234567\n"
        b"2 qid:3 7:1\nx\n-1 5:2.5 9:"
    )
    everything = source(text, on_error="skip", index_base=1)
    rows, labels = whole(everything)
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
    assert "count from 1: there is no index 0 in the first 1 rows of" in from_1.decided
    from_0 = source("1 1:1 2:2\n1 0:5\n")
    assert whole(from_0)[0].tolist() == [[0, 1, 2], [5, 0, 0]]
    assert from_0.index_base == 0
    assert "count from 0: there is an index 0" in from_0.decided
    given = source("1 1:1 2:2\n", index_base=0)
    assert whole(given)[0].tolist() == [[0, 1, 2]]
    assert given.decided is None


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
        assert "index_base=0 (on the command line --index-base 0)" in error.message
    error = refused(source("1 0:1\n", index_base=1))
    assert (error.line, error.column) == (1, 3)


def test_rows_without_features_decide_nothing(source, monkeypatch):
    monkeypatch.setattr(svmlight, "BLOCK", 16)
    empty = source("1\n" * 20)
    assert whole(empty)[0].shape == (20, 0)
    assert empty.decided is None


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
    ours, our_labels = whole(SvmlightSource([path], Reading()))
    theirs, their_labels = load_svmlight_file(path, zero_based=zero_based)
    np.testing.assert_array_equal(ours, theirs.toarray())
    np.testing.assert_array_equal(our_labels, their_labels)


@pytest.mark.jit
def test_every_kernel_has_one_signature(source):
    whole(source("1 2:1 1:0\n" * 20 + "x", on_error="skip"))
    whole(source("1 3:0.1000000000000000055511151231257827021181583404541015625", index_base=0))
    for called in (marks.flag_marks, marks.list_marks, kernel.read_lines):
        assert len(called.signatures) == 1
