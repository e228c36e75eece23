"""Models in other programs' words say the same."""

import builtins
import csv
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import thresher
from cases import LOSSES, NAMES, PATHED, VARIANTS, labelled_rows, make, stream, variant_id
from thresher.data.naming import GrowingNames
from thresher.estimators.exporting import graph
from thresher.files.errors import FileError

CLASS_NAMES = {
    "int": np.array([3, 5, 8]),
    "text": np.array(["ash", "elm", "oak"]),
    "object": np.array(["ash", "élm", "oak"], object),
    "float": np.array([-1.0, 2.0, 4.0]),
    "bool": np.array([False, True]),
}


def some_rows(n_classes=2):
    """Return rows, one of them without any feature, and labels."""
    rows, labels = labelled_rows(n=80, p=30, n_classes=n_classes)
    rows = rows.toarray()
    rows[7] = 0.0
    return rows, labels


# ---------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_predicts_the_same(name, n_classes, loss):
    rows, labels = some_rows(n_classes)
    model = make(name, loss=loss).fit(rows, labels)
    other = model.to_sklearn()
    assert isinstance(other, Pipeline if name in PATHED else SGDClassifier)
    for given in (rows, sparse.csr_array(rows)):
        assert_array_equal(other.predict(given), model.predict(given))
        margins = model.decision_function(given)
        assert_allclose(other.decision_function(given), margins, rtol=1e-10, atol=1e-10)
        assert hasattr(other, "predict_proba") == hasattr(model, "predict_proba")
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(given)
            assert_allclose(other.predict_proba(given), shares, rtol=1e-10, atol=1e-12)
    assert other.n_features_in_ == 30
    assert_array_equal(other.classes_, model.classes_)


@pytest.mark.parametrize("name", ["PlainSGDClassifier", "ThresherClassifier"])
@pytest.mark.parametrize("kind", CLASS_NAMES)
def test_scikit_learn_knows_classes_and_columns_by_name(name, kind):
    rows, labels = some_rows()
    frame = pd.DataFrame(rows, columns=[f"word {j}" for j in range(30)])
    model = make(name).fit(frame, CLASS_NAMES[kind][labels])
    other = model.to_sklearn()
    assert_array_equal(other.predict(frame), model.predict(frame))
    assert_array_equal(other.feature_names_in_, model.feature_names_in_)
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame.rename(columns={"word 3": "another"}))


@pytest.mark.parametrize("name", ["PlainSGDClassifier", "ThresherClassifier"])
def test_sparsified_models_are_exported_sparse(name):
    rows, labels = some_rows(3)
    model = make(name).fit(rows, labels).sparsify()
    other = model.to_sklearn()
    assert sparse.issparse((other[-1] if name in PATHED else other).coef_)
    assert_array_equal(other.predict(rows), model.predict(rows))
    assert_array_equal(other.predict(sparse.csr_array(rows)), model.predict(rows))


def test_an_exported_model_stands_on_its_own():
    rows, labels = some_rows()
    model = make("PlainSGDClassifier").fit(rows, labels)
    other = model.to_sklearn()
    before = model.coef_.copy()
    other.partial_fit(rows, labels)
    assert not np.array_equal(other.coef_, before)
    assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("name", NAMES)
def test_loaded_and_streamed_models_are_exported_alike(name, tmp_path):
    rows, labels = some_rows()
    model = stream(make(name), sparse.csr_array(rows), labels)
    model.save(tmp_path / "model")
    loaded = thresher.load(tmp_path / "model")
    for one in (model, loaded):
        assert_array_equal(one.to_sklearn().predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    "export",
    [
        lambda model, path: model.to_sklearn(),
        lambda model, path: model.to_onnx(path),
        lambda model, path: model.export_coefficients(path),
    ],
)
def test_there_is_nothing_to_export_before_fit(export, tmp_path):
    with pytest.raises(NotFittedError):
        export(make("PlainSGDClassifier"), tmp_path / "model.csv")


# ------------------------------------------------------------------------------------------ ONNX


def run_graph(path, rows):
    """Return the outputs of a graph by their names."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["PlainSGDClassifier", *PATHED])
def test_a_graph_predicts_the_same(name, n_classes, loss, tmp_path):
    pytest.importorskip("skl2onnx")
    rows, labels = some_rows(n_classes)
    model = make(name, loss=loss).fit(rows, labels)
    model.to_onnx(tmp_path / "model.onnx")
    outputs = run_graph(tmp_path / "model.onnx", rows)
    assert_array_equal(outputs["label"], model.predict(rows))
    margins = model.decision_function(rows).reshape(labels.size, -1)
    assert_allclose(outputs["scores"], margins, rtol=1e-10, atol=1e-10)
    assert ("probabilities" in outputs) == hasattr(model, "predict_proba")
    if "probabilities" in outputs:
        shares = model.predict_proba(rows)
        assert_allclose(outputs["probabilities"], shares, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", CLASS_NAMES)
def test_a_graph_gives_labels_of_any_kind(kind, tmp_path):
    pytest.importorskip("skl2onnx")
    rows, labels = some_rows(CLASS_NAMES[kind].size)
    model = make("ThresherClassifier").fit(rows, CLASS_NAMES[kind][labels])
    model.to_onnx(tmp_path / "model.onnx")
    assert_array_equal(run_graph(tmp_path / "model.onnx", rows)["label"], model.predict(rows))


def test_a_graph_without_any_weight_gives_the_intercept(tmp_path):
    pytest.importorskip("skl2onnx")
    rows, labels = some_rows()
    model = make("RDAClassifier", l1=1e6).fit(rows, labels)
    assert not model.coef_.any()
    model.to_onnx(tmp_path / "model.onnx")
    outputs = run_graph(tmp_path / "model.onnx", rows)
    assert_allclose(outputs["scores"][:, 0], model.decision_function(rows))


@pytest.mark.jit
def test_a_graph_is_as_small_as_the_model(tmp_path):
    pytest.importorskip("skl2onnx")
    rows, labels = labelled_rows(n=80, p=30)
    wide = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(80, 1_000_000))
    model = make("PlainSGDClassifier").fit(wide, labels)
    model.to_onnx(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size < 3000
    few = run_graph(tmp_path / "model.onnx", wide[:3].toarray())
    assert_array_equal(few["label"], model.predict(wide[:3]))


def test_classifiers_can_be_converted_in_pipelines():
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    rows, labels = some_rows(3)
    pipeline = make_pipeline(MaxAbsScaler(), make("ThresherClassifier")).fit(rows, labels)
    graph.register([thresher.ThresherClassifier])
    data = skl2onnx.to_onnx(pipeline, rows[:1]).SerializeToString()
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert_array_equal(session.run(["label"], {"X": rows})[0], pipeline.predict(rows))


def without(monkeypatch, package):
    """Let a package be as if it were not installed."""
    real = builtins.__import__

    def imports(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", imports)


def test_without_skl2onnx_it_is_said_what_to_install(monkeypatch, tmp_path):
    model = make("PlainSGDClassifier").fit(*some_rows())
    without(monkeypatch, "skl2onnx")
    with pytest.raises(ImportError, match=r"pip install 'thresher\[onnx\]'"):
        model.to_onnx(tmp_path / "model.onnx")


# ---------------------------------------------------------------------------------- coefficients


def read_back(path):
    """Return the table that was written, as a frame."""
    readers = {".csv": pd.read_csv, ".json": pd.read_json, ".parquet": pd.read_parquet}
    if path.suffix == ".tsv":
        return pd.read_csv(path, sep="\t")
    return readers[path.suffix](path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_coefficients_come_back_from_a_table(name, changes, n_classes, suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rows, labels = some_rows(n_classes)
    words = [f'wörd, "{j}"' for j in range(30)]
    model = make(name, **changes).fit(pd.DataFrame(rows, columns=words), labels)
    path = tmp_path / f"coefficients{suffix}"
    model.export_coefficients(path)
    table = read_back(path)
    assert list(table.columns)[:4] == ["feature", "column", "class", "weight"]
    assert ("probability" in table.columns) == (name in PATHED)
    numbers = [1] if n_classes == 2 else range(n_classes)
    for row, intercept, number in zip(model.coef_, model.intercept_, numbers, strict=True):
        mine = table[table["class"] == number]
        assert_allclose(mine.weight[mine.feature == "(intercept)"], [intercept], rtol=1e-12)
        weights = mine[mine.feature != "(intercept)"]
        columns = weights.column.astype(int).to_numpy()
        assert_array_equal(columns, np.flatnonzero(row))
        assert_allclose(weights.weight, row[columns], rtol=1e-12)
        assert list(weights.feature) == [words[j] for j in columns]


def test_numbers_in_text_are_exact(tmp_path):
    model = make("PlainSGDClassifier").fit(*some_rows())
    model.export_coefficients(tmp_path / "a.csv")
    model.export_coefficients(tmp_path / "a.json")
    (columns,) = np.nonzero(model.coef_[0])
    expected = [model.intercept_[0], *model.coef_[0, columns]]
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        assert [float(row["weight"]) for row in csv.DictReader(file)] == expected
    rows = json.loads((tmp_path / "a.json").read_text())
    assert [row["weight"] for row in rows] == expected
    assert rows[0] == {
        "feature": "(intercept)",
        "column": None,
        "class": 1,
        "weight": model.intercept_[0],
        "rows_normalized": False,
    }


def test_names_of_files_are_shown(tmp_path):
    model = make("PlainSGDClassifier").fit(*some_rows())
    model._names = GrowingNames([f"w{j}" for j in range(30)])
    model.export_coefficients(tmp_path / "a.csv")
    table = pd.read_csv(tmp_path / "a.csv").iloc[1:]
    assert list(table.feature) == [f"w{int(j)}" for j in table.column]


@pytest.mark.parametrize("kind", CLASS_NAMES)
def test_classes_of_any_kind_can_be_written(kind, tmp_path):
    pytest.importorskip("pyarrow")
    rows, labels = some_rows()
    model = make("PlainSGDClassifier").fit(rows, CLASS_NAMES[kind][labels])
    for suffix in (".csv", ".json", ".parquet"):
        model.export_coefficients(tmp_path / f"a{suffix}")
        assert set(read_back(tmp_path / f"a{suffix}")["class"]) == {model.classes_[1]}


def test_an_unknown_ending_is_refused(tmp_path):
    model = make("PlainSGDClassifier").fit(*some_rows())
    for name in ("a.xlsx", "a"):
        with pytest.raises(ValueError, match=r"must be one of \.csv, \.tsv, \.json, \.parquet"):
            model.export_coefficients(tmp_path / name)
    with pytest.raises(FileError, match="the folder does not exist"):
        model.export_coefficients(tmp_path / "no" / "a.csv")


def test_without_pyarrow_it_is_said_what_to_install(monkeypatch, tmp_path):
    model = make("PlainSGDClassifier").fit(*some_rows())
    (tmp_path / "a.parquet").write_text("old")
    without(monkeypatch, "pyarrow")
    with pytest.raises(ImportError, match=r"pip install 'thresher\[arrow\]'"):
        model.export_coefficients(tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").read_text() == "old"
