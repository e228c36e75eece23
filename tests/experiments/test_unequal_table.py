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
    data = unequal.drawing(unequal.Drawn("any", 60, share), seed=3)
    assert data.y_train.size == 60
    drawn = np.r_[data.X_train.toarray().ravel(), data.X_test.toarray().ravel()]
    assert np.unique(drawn).size == drawn.size
    both = np.r_[data.y_train, data.y_test]
    assert np.mean(both > 0) == pytest.approx(1 / 3 if share is None else share, abs=0.01)
    assert 0.3 < np.mean(data.y_train > 0) / np.mean(both > 0) < 3


def test_wrong_labels_are_in_both_parts(monkeypatch):
    rows, labels = csr_matrix(np.ones((400, 1))), np.repeat([1, -1], 200)
    monkeypatch.setattr(unequal, "training_rows", lambda _: (rows, labels))
    drawn = unequal.Drawn("any", 200, None, 0.25)
    right, wrong = (unequal.drawing(one, 0) for one in (drawn._replace(wrong=0.0), drawn))
    for before, after in ((right.y_train, wrong.y_train), (right.y_test, wrong.y_test)):
        assert 0.1 < np.mean(before != after) < 0.4


@pytest.mark.parametrize(("words", "wrong"), [([], 0.0), (["--balanced"], 0.1)])
def test_both_lines_of_every_set(monkeypatch, capsys, words, wrong):
    monkeypatch.setattr(unequal, "training_rows", lambda _: many_rows())
    monkeypatch.setattr(unequal, "SIZES", (1, 5))
    monkeypatch.setattr(
        unequal, "DRAWN", (unequal.Drawn("dexter", 100, 0.2, wrong), unequal.Drawn("dorothea", 100))
    )
    assert unequal.main(["--data", "dexter", "--drawings", "2", *words]) == 0
    head, _, first, second = capsys.readouterr().out.splitlines()
    assert head.startswith("| set | rows | % positive | weights | 1 features | 5 features |")
    assert first.startswith("| dexter, 10 % mislabelled | 100 | " if wrong else "| dexter | 100 | ")
    assert "| the default |" in first
    assert "| as refitted |" in second
    same = first.split("|")[5:] == second.split("|")[5:]
    assert same == bool(words)  # so few rows are always calibrated, which changes losses at least
    assert len(first.split("|")) == len(second.split("|")) == 8
