"""Regressors for other programs: scikit-learn, ONNX, tables of coefficients."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline

from regressor_cases import BOTH, measured, small


@BOTH
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_scikit_learn_predicts_the_same(numbered, loss, normalize, thin):
    rows, y = numbered
    model = small(loss=loss, normalize=normalize).fit(rows, y)
    other = (model.sparsify() if thin else model).to_sklearn()
    assert isinstance(other, Pipeline if normalize else SGDRegressor)
    for given in (rows, rows.toarray()):
        assert_allclose(other.predict(given), model.predict(given), rtol=1e-10)
    if loss == "huber":
        step = other[-1] if normalize else other
        assert step.epsilon == pytest.approx(measured("huber", y)[1])


@BOTH
@pytest.mark.parametrize("normalize", [False, True])
def test_a_graph_predicts_the_same(numbered, loss, normalize, tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    rows, y = numbered
    model = small(loss=loss, normalize=normalize).fit(rows, y)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(
        str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    (numbers,) = session.run(["variable"], {"X": rows.toarray()})
    assert_allclose(numbers[:, 0], model.predict(rows), rtol=1e-10)


def test_coefficients_have_no_class(numbered, tmp_path):
    model = small().fit(*numbered)
    model.export_coefficients(tmp_path / "weights.csv")
    table = pd.read_csv(tmp_path / "weights.csv")
    assert list(table.columns) == ["feature", "column", "weight", "probability", "rows_normalized"]
    assert table.weight[0] == pytest.approx(model.intercept_)
    assert table.weight[1:].tolist() == model.coef_[model.coef_ != 0].tolist()
