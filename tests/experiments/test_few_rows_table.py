"""The table of errors and stability with few rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from experiments import few_rows


@pytest.mark.jit
def test_a_line_has_an_error_for_every_size_and_kappa(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((900, 40)) < 0.2).astype(float))
    y = np.where(X[:, [3]].toarray().ravel() > 0, 1.0, -1.0)
    monkeypatch.setattr(few_rows, "training_rows", lambda _: (X, y))
    monkeypatch.setattr(few_rows, "SIZES", (1, 5))
    monkeypatch.setattr(few_rows, "COMPARED", 1)
    assert few_rows.main(["--data", "reuters_moneyfx", "--drawings", "2"]) == 0
    table = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert table[0] == ["set", "rows", "steps", "1", "5", "kappa at 1"]
    assert [line[:3] for line in table[2:]] == [
        ["reuters_moneyfx", "700", "the default"],
        ["reuters_moneyfx", "700", "steps as of many rows"],
    ]
    assert all([float(cell) for cell in line[3:]] == [0.0, 0.0, 1.0] for line in table[2:])


def test_rows_drawn_are_not_those_tested():
    rows = np.arange(1, 51, dtype=float)[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_rows, "training_rows", lambda _: (csr_matrix(rows), rows.ravel()))
        data = few_rows.drawing("any", 20, seed=3)
    assert (data.y_train.size, data.y_test.size) == (20, 30)
    assert np.intersect1d(data.y_train, data.y_test).size == 0
