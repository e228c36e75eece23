"""Probabilities of a graph are those of the model, also where no class speaks up for a row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from thresher import StabilizedTruncatedSGDClassifier


@pytest.mark.filterwarnings("ignore:All features were purged")
def test_a_graph_tells_classes_apart_that_are_all_improbable(tmp_path):
    """Sigmoids of ONNX's runtime are 0 below -37, and a row's classes then all the same."""
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    rows = np.random.default_rng(0).normal(size=(300, 5))
    labels = np.digitize(rows[:, 0], [-0.4, 0.4])
    model = StabilizedTruncatedSGDClassifier.from_paper(random_state=0, purge_threshold=0.5)
    model.fit(30 * rows, labels).to_onnx(tmp_path / "model.onnx")
    path = str(tmp_path / "model.onnx")
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = np.concatenate([np.zeros((1, 5)), rows, 30 * rows])
    assert (model.decision_function(given).max(axis=1) < -37).any()
    (found,) = session.run(["probabilities"], {"X": given})
    assert_allclose(found, model.predict_proba(given), rtol=1e-9, atol=1e-300)
