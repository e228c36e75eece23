"""NumPy's and SciPy's files: where rows, labels and weights are found, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

from format_cases import every, read_all
from thresher.formats.errors import DataError
from thresher.formats.opening import open_rows

X = np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]])
ROWS = [{0: 1, 2: 2}, {}, {1: 3}]
Y = np.array([1, 0, 1])


def read(path, **options):
    found = read_all(open_rows(path, **options))
    return found.rows, found.labels


@every("form", ["csr", "csc", "coo", "bsr", "dia"])
@every("kind", ["array", "matrix"])
def test_sparse_matrices_and_labels_beside_them(tmp_path, form, kind):
    sparse.save_npz(tmp_path / "X_train.npz", getattr(sparse, f"{form}_{kind}")(X))
    for beside in ("X_train.y.npy", "X_train.labels.npy", "y_train.npy"):
        np.save(tmp_path / beside, Y)
        assert read(tmp_path / "X_train.npz") == (ROWS, [1, 0, 1])
        (tmp_path / beside).unlink()
    with pytest.raises(DataError, match=r"has no labels: there is no entry y, .*X_train\.y\.npy"):
        read(tmp_path / "X_train.npz")
    assert read(tmp_path / "X_train.npz", labelled=False) == (ROWS, [None] * 3)


@every("name", ["y", "labels", "label", "target"])
def test_sparse_parts_and_labels_in_one_file(tmp_path, name):
    m = sparse.csr_array(X)
    parts = {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
    np.savez_compressed(tmp_path / "a.npz", **parts, **{name: Y})
    assert read(tmp_path / "a.npz") == (ROWS, [1, 0, 1])


@every("dtype", [np.float32, np.int8, bool, np.float64])
@every("order", ["C", "F"])
def test_dense_tables(tmp_path, dtype, order):
    table = np.asarray(X, dtype, order=order)
    np.savez(tmp_path / "a.npz", X=table, y=Y, w=np.array([1, 2, 0.5]), other=np.eye(2))
    expected = [{k: float(dtype(v)) for k, v in row.items()} for row in ROWS]
    found = read_all(open_rows(tmp_path / "a.npz", weight="w"))
    assert (found.rows, found.labels, found.weights) == (expected, [1, 0, 1], [1, 2, 0.5])
    np.save(tmp_path / "X.npy", table)
    np.save(tmp_path / "y.npy", np.array(["a", "b", "a"]))
    assert read(tmp_path / "X.npy") == (expected, ["a", "b", "a"])


def test_labels_can_be_named(tmp_path):
    np.savez(tmp_path / "a.npz", table=X, classes=Y.reshape(-1, 1), y=Y + 5)
    np.save(tmp_path / "given.npy", Y + 7)
    assert read(tmp_path / "a.npz", label="classes")[1] == [1, 0, 1]
    np.savez(tmp_path / "a.npz", table=X)
    assert read(tmp_path / "a.npz", label="given.npy")[1] == [8, 7, 8]
    assert read(tmp_path / "a.npz", label=str(tmp_path / "given.npy"))[1] == [8, 7, 8]
    for column in ("2", "-1"):
        found = read_all(open_rows(tmp_path / "a.npz", label=column, weight="0"))
        assert (found.rows, found.labels) == ([{}, {}, {0: 3}], [2, 0, 0])
        assert found.weights == [1, 0, 0]
        (chunk,) = open_rows(tmp_path / "a.npz", label=column, ignore_labels=True).chunks()
        assert (chunk.width, chunk.labels) == (2, None)
    for name in ("3", "-4", "nothing", "nothing.npy"):
        with pytest.raises(DataError, match=f"no label '{name}': it is neither an entry"):
            read(tmp_path / "a.npz", label=name)


@every("change", ["value", "label", "weight"])
def test_rows_that_are_refused_or_skipped(tmp_path, change):
    parts = {"X": X.copy(), "y": Y.astype(float), "w": np.ones(3)}
    {"value": parts["X"][1], "label": parts["y"], "weight": parts["w"]}[change][1] = np.nan
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(DataError, match=r"a\.npz, line 2: .*nan"):
        read(tmp_path / "a.npz", weight="w")
    source = open_rows(tmp_path / "a.npz", weight="w", on_error="skip")
    assert read_all(source).rows == [ROWS[0], ROWS[2]]
    assert source.skipped.count == 1


REFUSED = {
    "objects": ({"X": np.array([[1, "a"]], object), "y": Y[:1]}, "Python objects, which are never"),
    "complex": ({"X": X + 1j, "y": Y}, "values of type complex128: rows are numbers"),
    "words": ({"X": X.astype(str), "y": Y}, "values of type <U32"),
    "lengths": (
        {"X": X, "y": Y[:2]},
        r"3 rows, .* is an array of int64 of shape \(2,\)",
    ),
    "dates": ({"X": X, "y": Y.astype("M8[D]")}, r"an array of datetime64\[D\]"),
    "no table": ({"a": Y, "b": Y}, "no entry X with two dimensions.*there are a, b"),
    "tables": ({"a": X, "b": X}, "no entry X with two dimensions"),
    "csr": (
        {"data": X[0], "indices": [0, 9, 2], "indptr": [0, 3], "shape": [1, 3], "y": [1]},
        "cannot be read as NumPy's arrays: indices must be",
    ),
    "csc": (
        {"data": X[0], "indices": [0, 9, 2], "indptr": [0, 3], "shape": [3, 1], "format": "csc"},
        "cannot be read as NumPy's arrays: indices must be",
    ),
    "csr starts": (
        {"data": X[0], "indices": [0, 1, 2], "indptr": [0, 3, 1], "shape": [2, 3], "y": [1, 2]},
        "cannot be read as NumPy's arrays",
    ),
}


@every("case", REFUSED)
def test_what_is_refused(tmp_path, case):
    parts, message = REFUSED[case]
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path / "a.npz")
    assert caught.value.file == str(tmp_path / "a.npz")


def test_files_of_other_kinds_and_pipes(tmp_path):
    for name in ("a.npz", "a.npy"):
        (tmp_path / name).write_bytes(b"1 1:1\n")
        with pytest.raises(DataError, match="cannot be read as NumPy's arrays"):
            read(tmp_path / name)
    with pytest.raises(DataError, match="standard input: name a file"):
        open_rows("-", format="npz")


def test_several_files_and_widths(tmp_path):
    for name, columns in (("a.npz", 3), ("b.npz", 2)):
        np.savez(tmp_path / name, X=X[:, :columns], y=Y)
    chunks = list(open_rows([tmp_path / "a.npz", tmp_path / "b.npz"]).chunks())
    assert [chunk.width for chunk in chunks] == [3, 3]
    np.savez(tmp_path / "b.npz", X=X, y=np.array(["a", "b", "c"]))
    with pytest.raises(DataError, match="words in one file and numbers in another"):
        read([tmp_path / "a.npz", tmp_path / "b.npz"])
