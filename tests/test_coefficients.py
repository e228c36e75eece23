"""What a model predicts can be computed from the table of its coefficients alone."""

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases import NAMES, labelled_rows, make, numbered_rows
from commands import run
from thresher.estimators.exporting.computing import computation
from unit_cases import in_units

UNITS = {"one unit": [], "several units": [5, 15, 30]}


def read_table(path):
    """Return the table, and how many columns it tells of."""
    readers = {".json": pd.read_json, ".csv": pd.read_csv}
    return readers[path.suffix](path)


def prepared(table, rows):
    """Return rows as they meet the weights, if all that is known of them is the table."""
    ready, scales = rows, np.ones(rows.shape[1])
    if "scale" in table:
        each = table[table.column.notna()].drop_duplicates("column")
        places = each.column.astype(int)
        ready, scales = rows.copy(), np.zeros(rows.shape[1])
        ready[:, places] -= each.offset.to_numpy()
        scales[places] = each.scale
    if not table.rows_normalized.all():
        return ready
    lengths = np.linalg.norm(ready * scales, axis=1)
    return ready / np.where(lengths == 0, 1, lengths)[:, None]


def scores(table, rows):
    """Return rows times weights plus intercept, of one class."""
    weights = table[table.column.notna()]
    bias = table.weight[table.column.isna()].item()
    return rows[:, weights.column.astype(int)] @ weights.weight.to_numpy() + bias


@pytest.mark.parametrize("suffix", [".json", ".csv"])
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_decisions_follow_from_the_table(name, n_classes, units, suffix, tmp_path):
    rows, labels = labelled_rows(n_classes=n_classes)
    rows = in_units(rows, UNITS[units], 1e3).toarray()
    model = make(name).fit(rows, labels)
    model.export_coefficients(tmp_path / f"a{suffix}")
    table = read_table(tmp_path / f"a{suffix}")
    ready = prepared(table, rows)
    classes = sorted(table["class"].dropna().unique())
    found = np.column_stack([scores(table[table["class"] == one], ready) for one in classes])
    expected = model.decision_function(rows).reshape(len(rows), -1)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("normalize", [False, True])
def test_numbers_follow_from_the_table_where_columns_are_far_from_zero(normalize, tmp_path):
    rows, y = numbered_rows(n=90, p=12, density=1.0)
    rows = rows.toarray() + np.arange(12)
    model = make("ThresherRegressor", normalize=normalize).fit(rows, y)
    assert model.column_offsets_.any()
    model.export_coefficients(tmp_path / "a.json")
    table = read_table(tmp_path / "a.json")
    assert ("offset" in table) == normalize
    selected = table[table.column.isna() | (table.weight != 0)]
    assert_allclose(scores(selected, prepared(table, rows)), model.predict(rows), rtol=1e-9)


def test_columns_without_a_weight_are_listed_where_they_count_for_the_length(tmp_path):
    rows, labels = labelled_rows()
    model = make("ThresherClassifier").fit(in_units(rows, [5, 15, 30], 1e3), labels)
    model.export_coefficients(tmp_path / "a.json")
    records = json.loads((tmp_path / "a.json").read_text())
    listed = sorted(one["column"] for one in records if one["column"] is not None)
    assert_array_equal(listed, np.flatnonzero(model.column_scales_))
    assert [one["class"] for one in records if one["weight"] == 0.0] == [None] * (
        len(listed) - model.n_features_selected_
    )


def test_it_is_said_how_predictions_are_computed(tmp_path):
    rows, labels = labelled_rows()
    models = {
        "plain": make("FTRLClassifier").fit(rows, labels),
        "unit": make("ThresherClassifier", normalize=True).fit(rows, labels),
        "units": make("ThresherClassifier").fit(in_units(rows, [5, 15, 30], 1e3), labels),
    }
    said = {kind: computation(model) for kind, model in models.items()}
    assert "unit length" not in said["plain"]
    assert all("Rows are scaled to unit length first" in said[kind] for kind in ("unit", "units"))
    assert ["scales" in said[kind] for kind in said] == [False, False, True]
    for kind, model in models.items():
        model.save(tmp_path / "model.thresher")
        told = run("export", tmp_path / "model.thresher", "-o", tmp_path / "a.csv").stderr
        assert said[kind] in told
        shown = " ".join(run("inspect", tmp_path / "model.thresher").stdout.split())
        assert said[kind] in shown
        page = run("report", tmp_path / "model.thresher", "-o", "-").stdout
        assert said[kind] in unescape(page)
        facts = json.loads(run("inspect", tmp_path / "model.thresher", "--json").stdout)
        assert facts["rows_normalized"] == (kind != "plain")
        assert facts["computation"] == said[kind]
