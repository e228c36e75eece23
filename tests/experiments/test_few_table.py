"""The table of errors with very few features."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from experiments import few

WAYS = ("chunks", "one pass")


@pytest.mark.jit
def test_a_line_has_an_error_for_every_size(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((300, 40)) < 0.2).astype(float))
    y = np.where(X[:, [3]].toarray().ravel() > 0, 1.0, -1.0)
    monkeypatch.setattr(few, "training_rows", lambda _: (X, y))
    monkeypatch.setattr(few, "SIZES", (1, 5))
    assert few.main(["--data", "a9a", "--splits", "2"]) == 0
    table = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert table[0] == ["set", "method", "1", "5"]
    titles = [line[1] for line in table[2:]]
    ways = ["the default", "without the exchange", *(f"the default, in {how}" for how in WAYS)]
    assert titles[:4] == ways
    assert len(titles) == 7
    assert all(float(cell) == 0.0 for line in table[2:] for cell in line[2:])
