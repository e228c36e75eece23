"""The table of unequal classes: what is drawn, and that it is printed."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from experiments import unequal


def many_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    return csr_matrix(rng.random((n, 30)) + 0.2 * y[:, None]), y


@pytest.mark.parametrize("share", [None, 0.1, 0.7])
def test_a_share_is_positive_and_no_row_is_drawn_twice(monkeypatch, share):
    rows = np.arange(1, 401.0)[:, None]
    labels = np.where(rows.ravel() % 3 == 0, 1, -1)
    monkeypatch.setattr(unequal, "training_rows", lambda _: (csr_matrix(rows), labels))
    monkeypatch.setattr(unequal, "scaled", lambda data, _: data)
    data = unequal.drawing("any", 60, share, seed=3)
    assert data.y_train.size == 60
    drawn = np.r_[data.X_train.toarray().ravel(), data.X_test.toarray().ravel()]
    assert np.unique(drawn).size == drawn.size
    both = np.r_[data.y_train, data.y_test]
    assert np.mean(both > 0) == pytest.approx(1 / 3 if share is None else share, abs=0.01)
    assert 0.3 < np.mean(data.y_train > 0) / np.mean(both > 0) < 3


@pytest.mark.parametrize("words", [[], ["--balanced"]])
def test_both_lines_of_every_set(monkeypatch, capsys, words):
    monkeypatch.setattr(unequal, "training_rows", lambda _: many_rows())
    monkeypatch.setattr(unequal, "SIZES", (1, 5))
    monkeypatch.setattr(unequal, "DRAWN", (("dexter", 100, 0.2), ("dorothea", 100, None)))
    assert unequal.main(["--data", "dexter", "--drawings", "2", *words]) == 0
    head, _, first, second = capsys.readouterr().out.splitlines()
    assert head.startswith("| set | rows | % positive | margins | 1 features | 5 features |")
    assert first.startswith("| dexter | 100 | ")
    assert "| the default |" in first
    assert "| margins as they are |" in second
    # one feature has nobody asked
    assert first.split("|")[5] == second.split("|")[5]
    assert len(first.split("|")) == len(second.split("|")) == 8
