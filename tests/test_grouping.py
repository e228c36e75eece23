"""Features that stand in for each other are named as groups."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import sparse

import thresher
from cases import make
from thresher import ThresherClassifier
from thresher.estimators import grouping
from thresher.estimators.grouping import CORRELATED, correlations, group


@pytest.fixture
def twins():
    """Return rows in which columns 0, 7, 8 go together, 9 against them, 1 and 5 together."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 12))
    for column, like, sign in ((7, 0, 1), (8, 0, 1), (9, 0, -1), (5, 1, 1)):
        rows[:, column] = sign * rows[:, like] + 0.1 * column * rng.normal(size=200) / 2
    rows[:, 11] = 3.0
    labels = (rows[:, 0] + rows[:, 1] + 0.1 * rng.normal(size=200) > 0).astype(int)
    return sparse.csr_array(rows), labels


def test_correlations_are_pearsons(twins):
    rows, _ = twins
    columns = np.array([0, 4, 11])
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(np.corrcoef(rows.toarray().T)[columns])
    expected[:, 11] = expected[2] = 0.0  # of a constant nothing can be told
    assert_allclose(correlations(rows, columns), expected, atol=1e-12)


@pytest.mark.parametrize("cells", [1, 30, 1 << 22])
def test_members_go_with_the_strongest_whatever_the_size_of_blocks(twins, cells, monkeypatch):
    monkeypatch.setattr(grouping, "CELLS", cells)
    found = group(twins[0], 6)
    leader = np.full(12, -1)
    leader[[0, 7, 8, 9]], leader[[1, 5]] = 0, 1
    assert_array_equal(found.leader, leader)
    assert_array_equal(found.members(0), [7, 8, 9])
    assert found.correlation[9] < -CORRELATED
    assert found.correlation[0] == 1.0
    assert np.isnan(found.correlation[4])


def test_nobody_is_in_a_group_for_the_sake_of_a_third():
    rng = np.random.default_rng(1)
    apart = rng.normal(size=(50, 2))
    first, last = np.linalg.qr(apart - apart.mean(axis=0))[0].T
    rows = np.column_stack([first, first + last, last])  # the middle is like both, .71
    found = group(sparse.csr_array(rows), 3)
    assert found.leader.tolist() == [0, 0, -1]
    found = group(sparse.csr_array(rows[:, [0, 2, 1]]), 2)
    assert found.leader.tolist() == [0, -1, 0]  # taken once, by the stronger


def test_the_table_names_groups(twins):
    rows, labels = twins
    model = make("ThresherClassifier", n_features_to_select=3, normalize=False, max_iter=20)
    model.fit(rows, labels)
    table = model.selection_table(rows).set_index("feature")
    [name] = {table.group[f"x{column}"] for column in (0, 7, 8, 9)}
    assert table.weight[name] != 0
    assert {name, *table.stand_ins[name]} == {"x0", "x7", "x8", "x9"}
    assert table.correlation[name] == 1.0
    assert abs(table.correlation[table.stand_ins[name][0]]) > CORRELATED
    assert pd.isna(table.group["x4"])
    assert pd.isna(table.stand_ins["x4"])
    together = table[table.group == name]
    assert (together.group_probability > together.selection_probability.max()).all()
    alone = 1 - (1 - together.selection_probability).prod()  # if they were independent
    expected = 0.33 * together.selection_probability.max() + 0.67 * alone
    assert_allclose(together.group_probability, expected)
    assert "group" not in model.selection_table().columns


@pytest.mark.parametrize("normalize", [True, False])
def test_without_features_there_are_no_groups(normalize):
    zeros = np.zeros((20, 3))
    model = make("ThresherClassifier", normalize=normalize).fit(zeros, [0, 1] * 10)
    table = model.selection_table(zeros)
    assert len(table) == 0
    assert "group" in table.columns


def test_rare_features_are_in_no_group(twins):
    rows = twins[0].toarray()
    rows[4:, [5, 7]] = 0.0
    assert group(sparse.csr_array(rows), 6).leader[[1, 5, 7]].max() == -1


def test_rows_are_correlated_as_the_model_sees_them():
    """Lengths of rows make columns go together; rows of one length do not."""
    rng = np.random.default_rng(2)
    rows = rng.uniform(0.7, 1, (300, 8)) * rng.uniform(1, 20, (300, 1))
    assert (group(sparse.csr_array(rows), 8).leader == 0).all()
    labels = rows[:, 0] > rows[:, 1]
    for unit, together in ((False, True), (True, False)):
        model = ThresherClassifier(n_features_to_select=8, normalize=unit, random_state=0)
        table = model.fit(rows, labels).selection_table(rows)
        assert table["group"].notna().any() == together


def test_a_saved_model_names_the_same_groups(tmp_path):
    """What makes up the length of rows is not only what is selected."""
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=(400, 60)) + 0.3
    labels = rows[:, 0] - rows[:, 1] + 0.3 * rng.normal(size=400) > 0
    model = ThresherClassifier(n_features_to_select=2, normalize=True, random_state=0)
    model.fit(rows, labels).save(tmp_path / "model.thresher")
    again = thresher.load(tmp_path / "model.thresher").selection_table(rows)
    shown = ["feature", "group", "correlation", "stand_ins"]
    assert_frame_equal(again[shown], model.selection_table(rows)[shown].head(2))


def test_each_class_has_its_groups(multiclass):
    rows, labels = multiclass
    doubled = sparse.hstack([rows, rows], format="csr")
    table = make("ThresherClassifier").fit(doubled, labels).selection_table(doubled)
    for _, block in table.groupby("class"):
        strongest = block.iloc[0]
        twin = f"x{(int(strongest.feature[1:]) + rows.shape[1]) % doubled.shape[1]}"
        assert twin in strongest.stand_ins
