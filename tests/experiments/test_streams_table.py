"""``python -m experiments.streams``: a line for each method, and clicks with long tails."""

import numpy as np
import pytest
from scipy import sparse

from experiments import streams
from experiments.made_up import Kind, long_tails


def test_the_table_has_all_methods(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    rows = sparse.csr_array((rng.random((600, 60)) < 0.2).astype(float))
    labels = np.where(rows[:, [3]].toarray().ravel() + rng.random(600) > 0.6, 1, -1)
    monkeypatch.setattr(streams, "SETS", {"marks": lambda: Kind(rows, labels, 5)})
    monkeypatch.setattr(streams, "SPLITS", 1)
    monkeypatch.setattr(streams, "SIZES", (5, 300))
    monkeypatch.setattr(streams, "STEPS", (1.0, 10.0))
    assert streams.main(["--data", "marks"]) == 0
    header, _, *lines = capsys.readouterr().out.splitlines()
    assert header == "| set | method | 5 features | 300 features |"
    assert [line.split(" | ")[1] for line in lines] == [*streams.OURS, streams.FTRL]
    for line in lines:
        loss, area = map(float, line.split(" | ")[2].split(", "))
        assert 0 < loss < 1
        assert 0.6 < area <= 1
        assert line.endswith("|  |")  # there are not so many marks


@pytest.mark.jit
def test_ids_have_long_tails_and_clicks_are_rare():
    rows, labels, _ = long_tails(3000)
    assert rows.shape == (3000, 88_880)
    assert (np.diff(rows.indptr) == 16).all()
    assert 0.01 < labels.mean() < 0.1
    counts = np.bincount(rows.indices)
    assert counts.max() > 500 * np.median(counts[counts > 0])
