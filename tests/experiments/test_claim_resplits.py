"""The comparison on other splits: the splits, what is measured on them, who won and who lost."""

import numpy as np
import pytest

from experiments.claim import tables
from experiments.claim.resplit_standing import Match, matches
from experiments.claim.resplits import SPLITS, resplit, resplits_of
from experiments.claim.rivals import RIVALS
from experiments.claim.steps import SCALING
from experiments.fitting import prepared
from experiments.store import Store


def match(ours, theirs):
    return Match("dexter", np.array(ours), np.array(theirs))


def test_splits_are_of_all_rows_with_parts_as_large_as_the_published_ones(tiny):
    data = prepared("tiny", SCALING)
    splits = resplits_of(data)
    assert len(splits) == SPLITS
    total = sum(np.abs(part).sum() for part in (data.X_train, data.X_test))
    for one in splits:
        assert [part.shape for part in one] == [part.shape for part in data]
        assert sum(np.abs(part).sum() for part in (one.X_train, one.X_test)) == pytest.approx(total)
    assert any((one.y_train != splits[0].y_train).any() for one in splits[1:])


def test_a_method_is_measured_at_every_size_on_every_split(tiny, tmp_path):
    cell = resplit("tiny", RIVALS["thresher"], Store(tmp_path))
    assert [point["size"] for point in cell["points"]] == RIVALS["thresher"].sizes("tiny")
    for point in cell["points"]:
        assert len(point["missed"]) == SPLITS
        assert point["features"] == [point["size"]] * SPLITS


def test_ratios_are_of_means_and_never_divide_by_zero():
    assert match([1, 3], [4, 4]).ratio == pytest.approx(0.5)
    assert match([1, 1], [0, 0]).ratio == pytest.approx(2.0)


def test_a_cell_is_lost_beyond_one_standard_error_over_splits():
    even, worse = match([5, 3, 6, 4], [4, 4, 5, 5]), match([5, 6, 6, 7], [4, 4, 5, 5])
    assert not even.won
    assert not even.lost
    assert worse.lost
    assert match([4, 4], [5, 5]).won


def test_the_table_is_read_from_cells_at_sizes_that_are_reached(tmp_path, monkeypatch):
    store = Store(tmp_path)
    for name, features in (("thresher", 50), ("ftrl", 53), ("rda", 80)):
        point = {"size": 50, "missed": [2, 4], "features": [features, features]}
        store.write(("resplits", "dexter", name), "any", {"points": [point]})
    assert len(matches(store, ("dexter", "arcene"), "ftrl")) == 1
    assert matches(store, ("dexter",), "rda") == []
    monkeypatch.setattr(tables, "SETS", ("dexter",))
    monkeypatch.setattr(tables, "TITLES", ["Dexter"])
    lines = tables.resplit_table(store).splitlines()
    assert lines[3] == "| FTRL, step tuned | 1.00 | **1.00** | 1 | 0 | 0 |"
