"""Exported models predict the same, and tables hold all that a prediction by hand needs."""

import copy
import io
import json
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import thresher
from thresher.export import WRITERS, export
from thresher.export.contents import Contents, formula
from thresher.export.onnx import to_onnx
from thresher.export.scikit_learn import to_scikit_learn
from thresher.export.tables import separated, to_json, to_parquet
from thresher.files import FileError
from thresher.fitted import CLIPPED, LOGISTIC, NO_LINK, SOFTMAX, Fitted
from thresher.prepare import Preparation

N_COLUMNS = 12
NAMES = np.array([f'wörd, "{j}"' for j in range(N_COLUMNS - 1)] + ["#hash"], object)
PREPARATIONS = {
    "plain": Preparation.none(),
    "unit": Preparation.none(unit=True),
    "measured": Preparation(True, np.array([0, 3, 7, 9]), np.array([2.0, 0.1, 1.0, 5.0])),
    "kept": Preparation.none(unit=True)._replace(kept_length=True),
    "kept, measured": Preparation(True, np.array([0, 3, 7]), np.array([2.0, 0.1, 1.0]), True),
    "all measured": Preparation(False, np.arange(N_COLUMNS), np.ones(N_COLUMNS)),
}
LABELS = {
    "int": np.array([3, 5, 8]),
    "negative": np.array([-1, 1]),
    "text": np.array(["ash", "elm", "oak"]),
    "object": np.array(["ash", "élm", "oak"], object),
    "float": np.array([-1.0, 2.0, 4.0]),
    "bool": np.array([False, True]),
}
MODELS = [
    *product(PREPARATIONS, (NO_LINK,), (0,)),
    *product(("plain", "kept", "kept, measured", "all measured"), (LOGISTIC,), (2,)),
    *product(("unit", "kept"), (SOFTMAX,), (3,)),
    *product(("measured",), (NO_LINK, LOGISTIC, CLIPPED), (2, 3)),
]
every_model = pytest.mark.parametrize(("preparation", "link", "n_classes"), MODELS)


def contents(preparation="measured", link=LOGISTIC, n_classes=2, labels=None):
    """Return a model with weights for some columns; 0 classes mean numbers."""
    rng = np.random.default_rng(0)
    columns = np.array([1, 3, 4, 7, 10])
    n_outputs = n_classes if n_classes > 2 else 1
    weights = rng.normal(size=(n_outputs, columns.size))
    weights[0, 2] = 0.0
    if labels is None and n_classes:
        labels = np.arange(n_classes)
    made = (columns, weights, rng.normal(size=n_outputs), N_COLUMNS, PREPARATIONS[preparation])
    return Contents(
        Fitted(*made, link, labels),
        lambda columns: NAMES[columns].tolist(),
        facts={"frequency": np.linspace(0.5, 1, columns.size)},
    )


def some_rows(n=40):
    """Return rows, of which one is empty, and others have measured columns only, or none."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(n, N_COLUMNS)) * (rng.random((n, N_COLUMNS)) < 0.4)
    rows[7] = 0.0
    rows[8, PREPARATIONS["measured"].measured] = 0.0
    rows[9, np.setdiff1d(np.arange(N_COLUMNS), PREPARATIONS["measured"].measured)] = 0.0
    return rows.astype(np.float32).astype(float)


def predicted(model, rows):
    """Return margins, labels and probabilities, if there are any, as an estimator gives them."""
    of_numbers = model.fitted.labels is None
    one = thresher.ThresherRegressor() if of_numbers else thresher.FTRLClassifier()
    one.restore(model.fitted, {})
    if of_numbers:
        return one.predict(rows), one.predict(rows), None
    shares = one.predict_proba(rows) if hasattr(one, "predict_proba") else None
    return one.decision_function(rows).reshape(len(rows), -1), one.predict(rows), shares


# ------------------------------------------------------------------------------------ scikit-learn


@every_model
def test_scikit_learn_predicts_the_same(preparation, link, n_classes):
    model, rows = contents(preparation, link, n_classes), some_rows()
    margins, labels, shares = predicted(model, rows)
    other = to_scikit_learn(model)
    for X in (rows, sparse.csr_array(rows)):
        if not n_classes:
            assert_allclose(other.predict(X), labels, rtol=1e-12, atol=1e-12)
            continue
        assert_array_equal(other.predict(X), labels)
        found = other.decision_function(X).reshape(margins.shape)
        assert_allclose(found, margins, rtol=1e-12, atol=1e-12)
        assert hasattr(other, "predict_proba") == (shares is not None)
        if shares is not None:
            assert_allclose(other.predict_proba(X), shares, rtol=1e-12, atol=1e-12)


def labelled(kind, preparation="plain"):
    """Return a model with labels of a kind."""
    labels = LABELS[kind]
    return contents(preparation, SOFTMAX if labels.size > 2 else LOGISTIC, labels.size, labels)


@pytest.mark.parametrize(("preparation", "kind"), [*zip(PREPARATIONS, LABELS, strict=True)])
def test_scikit_learn_knows_classes_and_columns(preparation, kind):
    model = labelled(kind, preparation)._replace(feature_names_in=NAMES)
    other, rows = to_scikit_learn(model), some_rows()
    frame = pd.DataFrame(rows, columns=NAMES)
    assert_array_equal(other.predict(frame), predicted(model, rows)[1])
    assert_array_equal(other.classes_, LABELS[kind])
    assert_array_equal(other.feature_names_in_, NAMES)
    assert other.n_features_in_ == N_COLUMNS
    for wrong in (frame.rename(columns={NAMES[3]: "another"}), frame.iloc[:, :5]):
        with pytest.raises(ValueError, match="feature names"):
            other.predict(wrong)


# -------------------------------------------------------------------------------------------- ONNX


def run_graph(data, rows):
    """Return the names and values of a graph's outputs."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return names, session.run(None, {"X": rows})


@every_model
def test_a_graph_predicts_the_same(preparation, link, n_classes):
    pytest.importorskip("onnx")
    model, rows = contents(preparation, link, n_classes), some_rows()
    margins, labels, shares = predicted(model, rows)
    for dtype, tolerance in (("float32", 2e-7), ("float64", 1e-12)):
        names, outputs = run_graph(to_onnx(model, dtype), rows.astype(dtype))
        if not n_classes:
            assert names == ["variable"]
            assert_allclose(outputs[0][:, 0], labels, rtol=tolerance, atol=tolerance)
            continue
        second, expected = ("scores", margins) if shares is None else ("probabilities", shares)
        assert names == ["label", second]
        assert_array_equal(outputs[0], labels)
        assert outputs[1].dtype == dtype
        assert_allclose(outputs[1], expected, rtol=tolerance, atol=tolerance)


def test_a_graph_looks_like_that_of_skl2onnx():
    skl2onnx = pytest.importorskip("skl2onnx")
    for (link, n_classes), dtype in product(((LOGISTIC, 2), (SOFTMAX, 3)), ("float32", "float64")):
        model, rows = contents("plain", link, n_classes), some_rows().astype(dtype)
        options = {"options": {"zipmap": False}, "target_opset": 17}
        theirs = skl2onnx.to_onnx(to_scikit_learn(model), rows[:1], **options)
        names, expected = run_graph(theirs.SerializeToString(), rows)
        found, outputs = run_graph(to_onnx(model, dtype), rows)
        assert found == names
        for one, other in zip(outputs, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_graph_gives_labels_of_any_kind():
    pytest.importorskip("onnx")
    for kind in LABELS:
        model, rows = labelled(kind, "unit"), some_rows()
        _, outputs = run_graph(to_onnx(model, "float64"), rows)
        assert_array_equal(outputs[0], predicted(model, rows)[1])


def test_a_graph_has_no_labels_that_onnx_cannot_hold():
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=r"2\^63 or more.*astype"):
        to_onnx(contents(labels=np.array([1, 2**63], np.uint64)))
    with pytest.raises(ValueError, match="float32, float64"):
        to_onnx(contents(), "float16")


def test_a_graph_without_any_weight_gives_the_intercept():
    pytest.importorskip("onnx")
    for link, n_classes in ((LOGISTIC, 2), (SOFTMAX, 3)):
        model = contents("unit", link, n_classes)
        none = {"columns": np.zeros(0, np.int64), "weights": model.fitted.weights[:, :0]}
        model = model._replace(fitted=model.fitted._replace(**none))
        _, outputs = run_graph(to_onnx(model, "float64"), some_rows())
        assert_allclose(outputs[1], predicted(model, some_rows())[2])


def test_a_graph_is_as_small_as_the_model():
    pytest.importorskip("onnx")
    model = contents("unit")
    wide = model._replace(fitted=model.fitted._replace(n_columns=10**9))
    assert len(to_onnx(wide)) < 2000


def test_extreme_margins_have_probabilities():
    pytest.importorskip("onnx")
    for link, n_classes in ((LOGISTIC, 2), (SOFTMAX, 3), (LOGISTIC, 3), (CLIPPED, 3)):
        model = contents("plain", link, n_classes)
        _, outputs = run_graph(to_onnx(model, "float64"), some_rows() * 1e5)
        assert_allclose(outputs[1].sum(axis=1), 1.0)


# ------------------------------------------------------------------------------------------ tables

READERS = {
    "csv": (separated(","), lambda data: pd.read_csv(io.BytesIO(data), comment="#")),
    "tsv": (separated("\t"), lambda data: pd.read_csv(io.BytesIO(data), sep="\t", comment="#")),
    "json": (to_json, lambda data: pd.DataFrame(json.loads(data)["weights"])),
    "parquet": (to_parquet, lambda data: pd.read_parquet(io.BytesIO(data))),
}


def by_hand(table, rows, unit, kept=False):
    """Return the scores of one output, as the header of a table tells."""
    intercept, features = table.weight.iloc[0], table.iloc[1:]
    values = rows[:, features.column.astype(int)] * features.weight.to_numpy()
    scaled = features.scaled.astype(bool).to_numpy() if "scaled" in table else unit
    scaled = np.broadcast_to(scaled, values.shape[1])
    apart = features.column[~scaled].astype(int) if "scaled" in table else []
    lengths = np.linalg.norm(np.delete(rows, apart, axis=1), axis=1)
    if kept:
        lengths = np.linalg.norm(rows[:, features.column[scaled].astype(int)], axis=1)
    scores = np.where(scaled, values / np.where(lengths == 0, 1, lengths)[:, None], values)
    return intercept + scores.sum(axis=1)


@every_model
def test_predictions_can_be_computed_by_hand_as_the_header_says(preparation, link, n_classes):
    model, rows = contents(preparation, link, n_classes), some_rows()
    margins = predicted(model, rows)[0].reshape(len(rows), -1)
    write, read = READERS["csv"]
    table, prepared = read(write(model)), PREPARATIONS[preparation]
    starts = [*np.flatnonzero(table.feature == "(intercept)"), len(table)]
    assert len(starts) == margins.shape[1] + 1
    last = table[table.weight == 0]  # columns that have only a part in what is not scaled
    for output, first in enumerate(starts[:-1]):
        mine = table.iloc[first : starts[output + 1]]
        if not prepared.kept_length:
            mine = pd.concat([mine, last]).drop_duplicates()
        scores = by_hand(mine, rows, prepared.unit, prepared.kept_length)
        assert_allclose(scores, margins[:, output], rtol=1e-12, atol=1e-12)
        if n_classes:
            assert table["class"].iloc[first] == (1 if n_classes == 2 else output)
    lines = formula(model)
    assert write(model).decode().startswith("".join(f"# {line}\n" for line in lines))
    assert json.loads(to_json(model))["formula"] == lines
    assert ("length" in lines[0]) == prepared.unit
    assert len(lines) == (1 if not n_classes else 2 + (link != NO_LINK))


every_form = pytest.mark.parametrize("form", READERS)


@every_form
def test_a_table_holds_names_numbers_and_frequencies(form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    write, read = READERS[form]
    for preparation, prepared in PREPARATIONS.items():
        model = contents(preparation, NO_LINK, 0)
        table = read(write(model))
        scaled = ["scaled"] if prepared.unit and prepared.measured.size else []
        assert list(table.columns) == ["feature", "column", "weight", *scaled, "frequency"]
        kept = (model.fitted.weights[0] != 0) | prepared.kept_length
        table = table[: 1 + kept.sum()]
        assert list(table.feature) == ["(intercept)", *NAMES[model.fitted.columns[kept]]]
        assert list(table.weight) == [model.fitted.intercepts[0], *model.fitted.weights[0, kept]]
        assert list(table.frequency[1:]) == list(model.facts["frequency"][kept])


@every_form
def test_classes_of_any_kind_can_be_written(form):
    write, read = READERS[form]
    for kind, labels in LABELS.items():
        table = read(write(labelled(kind)))
        assert set(table["class"]) == set(labels if labels.size > 2 else labels[1:])
    large = np.array([1, 2**63], np.uint64)
    assert set(read(write(contents("plain", labels=large)))["class"].dropna()) == {2**63}


def test_names_that_look_like_comments_are_none():
    model = contents("plain")
    model = model._replace(fitted=model.fitted._replace(columns=np.array([1, 3, 4, 7, 11])))
    for write, read in READERS.values():
        assert read(write(model)).feature.iloc[-1] == "#hash"


# -------------------------------------------------------------------------------------- in general


def test_a_missing_package_is_named(monkeypatch):
    for package, extra, write in (("onnx", "onnx", to_onnx), ("pyarrow", "arrow", to_parquet)):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf"pip install 'thresher\[{extra}\]'"):
            write(contents())


# ------------------------------------------------------------------------------- fitted estimators


def fitted_model(name="FTRLClassifier", n_classes=2, **changes):
    rows = pd.DataFrame(some_rows(), columns=NAMES)
    labels = rows.to_numpy()[:, :n_classes].argmax(axis=1)
    return getattr(thresher, name)(max_iter=2, random_state=0, **changes).fit(rows, labels), rows


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber"])
def test_fitted_estimators_are_exported(loss, tmp_path):
    for n_classes in (2, 3):
        model, frame = fitted_model(n_classes=n_classes, loss=loss)
        other = model.to_sklearn()
        assert_array_equal(other.predict(frame), model.predict(frame))
        assert hasattr(other, "predict_proba") == hasattr(model, "predict_proba")
        if hasattr(model, "predict_proba"):
            expected = model.predict_proba(frame)
            assert_allclose(other.predict_proba(frame), expected, rtol=1e-10, atol=1e-12)
        model.export(tmp_path / "model.onnx", dtype="float64")
        _, outputs = run_graph((tmp_path / "model.onnx").read_bytes(), frame.to_numpy())
        assert_array_equal(outputs[0], model.predict(frame))


@pytest.mark.parametrize("ending", WRITERS)
def test_the_ending_says_what_is_written(ending, tmp_path):
    model, _ = fitted_model()
    model.export(tmp_path / f"MODEL{ending.upper()}")
    export(model, tmp_path / f"model{ending}")
    contents = [path.read_bytes() for path in tmp_path.iterdir()]
    assert contents[0] == contents[1]
    if ending[1:] in READERS:
        table = READERS[ending[1:]][1](contents[0])
        assert list(table.feature[1:]) == list(model.get_feature_names_out())


class Pathed(thresher.FTRLClassifier):
    """A model with models of other sizes."""

    path_ = SimpleNamespace(sizes=np.array([1, 2]))

    def at_size(self, size):
        other = copy.copy(self)
        fitted = self.fitted_
        few = {"columns": fitted.columns[:size], "weights": fitted.weights[:, :size]}
        other.restore(fitted._replace(**few), {})
        return other


@every_form
def test_a_table_may_hold_every_size(form, tmp_path):
    model, frame = fitted_model()
    pathed = Pathed(max_iter=2, random_state=0).fit(frame, model.predict(frame))
    export(pathed, tmp_path / f"path.{form}", every_size=True)
    table = READERS[form][1]((tmp_path / f"path.{form}").read_bytes())
    assert list(table["size"]) == [1, 1, 2, 2, 2]
    for size in (1, 2):
        mine = table[table["size"] == size].weight
        assert list(mine) == [pathed.intercept_[0], *pathed.fitted_.weights[0, :size]]
    with pytest.raises(ValueError, match="FTRLClassifier has a model of one size only"):
        model.export(tmp_path / f"path.{form}", every_size=True)


def test_what_cannot_be_exported_is_refused(tmp_path):
    model, _ = fitted_model()
    for name in ("a.xlsx", "a"):
        with pytest.raises(ValueError, match=r"must be one of \.csv, \.tsv, \.json, \.parq"):
            model.export(tmp_path / name)
    with pytest.raises(FileError, match="the folder does not exist"):
        model.export(tmp_path / "no" / "a.csv")
    bare = thresher.FTRLClassifier()
    for call in (bare.to_sklearn, lambda: bare.export(tmp_path / "a.csv")):
        with pytest.raises(NotFittedError):
            call()
    assert not list(tmp_path.iterdir())
