"""The table of the default beside cheap rivals on generated data."""

import numpy as np
import pytest

from experiments import kinds
from experiments.made_up import KINDS


@pytest.mark.jit
def test_a_line_has_scores_for_everybody(capsys, monkeypatch):
    monkeypatch.setattr(kinds, "SPLITS", 1)
    assert kinds.main(["--data", "a handful"]) == 0
    *_, line = capsys.readouterr().out.splitlines()
    name, shape, size, *cells = line.strip("| ").split(" | ")
    assert (name, shape, size, len(cells)) == ("a handful", "400 x 6", "3", 5)
    ours, *others = ([float(word) for word in cell.split(", ")] for cell in cells)
    assert ours[0] < 25
    assert ours[1] > 0.85
    assert all(error <= 50 and 0.5 <= area <= 1 for error, area in others)


def test_l1_has_about_the_wanted_size():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 30))
    labels = (rows[:, 3] - rows[:, 7] > 0).astype(int)
    assert kinds.l1_columns(rows, labels, 2).tolist() == [3, 7]
    assert sorted(kinds.best_columns(rows, labels, 2)) == [3, 7]


@pytest.mark.parametrize("name", ["amounts", "a handful", "answers", "a rare class"])
def test_kinds_are_what_they_were(name):
    kind, again = KINDS[name](), KINDS[name]()
    assert kind.rows.shape[0] == kind.labels.size
    assert set(kind.labels) == {0, 1}
    assert abs(kind.rows - again.rows).max() == 0
    assert kind.size <= kind.rows.shape[1]
