"""What it gives to weigh features, on data whose truth is known: the data, and the table."""

from dataclasses import replace

import numpy as np
import pytest

from experiments import few_speak, weighing
from experiments.scope import FULL
from thresher.demo.data import QUICK, Recipe


@pytest.mark.parametrize(
    "told",
    [
        few_speak.documents(Recipe(**QUICK), seed=1),
        few_speak.normals(120, 50, 5, 1.0, 0.5, seed=1),
        few_speak.blocks(60, 4, 1.0, seed=1),
    ],
    ids=["documents", "normals", "blocks"],
)
def test_as_many_columns_tell_as_are_asked_for(told):
    assert np.count_nonzero(told.telling) == told.size
    assert told.telling.size == told.X.shape[1] == told.X_test.shape[1]
    assert told.X.shape[0] == told.y.size
    assert set(told.y) == set(told.y_test)


def test_the_table_has_both_variants_at_every_size(monkeypatch, capsys):
    small = {"words": lambda seed: few_speak.documents(Recipe(**QUICK), seed)}
    monkeypatch.setattr(weighing, "SETS", small)
    assert weighing.main(["--drawings", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert [row[1] for row in cells] == ["24", "24", "48", "48", "96", "96"]
    assert [row[3] for row in cells] == ["0.0", "1.0"] * 3
    found = [float(row[4].removesuffix(" of 48")) for row in cells]
    assert found[3] >= found[2] >= 20


def test_what_columns_say_is_told_of_all_rows_halves_and_drawings(tiny, monkeypatch, capsys):
    monkeypatch.setattr(weighing, "FULL", replace(FULL, sets=("tiny",)))
    monkeypatch.setattr(weighing, "FEW_ROWS", (20,))
    assert weighing.main(["--heard"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[2] for row in cells] == ["1", "8", str(weighing.TIMES_DRAWN)]
    assert all(0 <= int(row[-1]) <= int(row[2]) for row in cells)
