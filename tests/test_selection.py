"""Classifiers as selectors of features, and the table that says which and why."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import CLASSICS, NAMES, assert_same_bits, dense_coef, make, make_streaming

COLUMNS = ["feature", "weight", "sign", "selection_probability", "rows", "purged_at"]


def named(rows):
    """Return the rows as a frame of words."""
    return pd.DataFrame(rows.toarray(), columns=[f"word {j}" for j in range(rows.shape[1])])


@pytest.mark.parametrize("name", NAMES)
def test_support_is_what_any_class_uses_and_transform_keeps_it(problem, name):
    rows, labels = problem
    model = make(name).fit(rows, labels)
    support = model.get_support()
    assert_array_equal(support, (model.coef_ != 0).any(axis=0))
    assert_array_equal(model.get_support(indices=True), np.flatnonzero(support))
    assert_array_equal(model.transform(rows).toarray(), rows.toarray()[:, support])
    names = model.get_feature_names_out()
    assert_array_equal(names, [f"x{j}" for j in np.flatnonzero(support)])


@pytest.mark.parametrize("name", NAMES)
def test_pandas_output_carries_names(binary, name):
    rows, labels = binary
    frame = named(rows)
    model = make(name).set_output(transform="pandas").fit(frame, labels)
    selected = model.transform(frame)
    assert isinstance(selected, pd.DataFrame)
    assert_array_equal(selected.columns, frame.columns[model.get_support()])
    assert_array_equal(selected.columns, model.get_feature_names_out())


@pytest.mark.parametrize("name", NAMES)
def test_sparsified_models_go_on_learning(problem, name):
    rows, labels = problem
    plain, thin = (make_streaming(name).fit(rows, labels) for _ in range(2))
    thin.sparsify()
    assert sparse.issparse(thin.coef_)
    assert_array_equal(dense_coef(thin), plain.coef_)
    assert_array_equal(thin.predict(rows), plain.predict(rows))
    for model in (plain, thin):
        model.partial_fit(rows, labels)
    assert sparse.issparse(thin.coef_)
    assert_same_bits(thin, plain)
    assert_array_equal(thin.densify().coef_, plain.coef_)


# ------------------------------------------------------------------------------ selection table


@pytest.mark.parametrize("name", NAMES)
def test_the_selection_table_lists_features_strongest_first(binary, name):
    rows, labels = binary
    frame = named(rows)
    model = make(name).fit(frame, labels)
    table = model.selection_table()
    assert list(table.columns) == COLUMNS
    assert np.all(np.diff(table.weight.abs()) <= 0)
    assert_array_equal(table.sign, np.sign(table.weight))
    by_name = dict(zip(frame.columns, model.coef_[0], strict=True))
    assert_array_equal(table.weight, [by_name[word] for word in table.feature])
    assert np.count_nonzero(table.weight) == np.count_nonzero(model.coef_)
    occurrences = dict(zip(frame.columns, np.count_nonzero(rows.toarray(), axis=0), strict=True))
    assert_array_equal(table.rows, [occurrences[word] for word in table.feature])


@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize(
    ("name", "changes", "n_at_first"),
    [
        ("StabilizedTruncatedSGDClassifier", {"selection": "informative"}, 40),
        ("ThresherClassifier", {}, 38),  # columns that never occur are no features to it
    ],
)
def test_the_selection_table_says_when_features_were_purged(
    binary, name, changes, n_at_first, paths
):
    model = make(name, paths=paths, **changes).fit(*binary)
    table = model.selection_table().set_index("feature")
    gone = table[table.purged_at.notna()]
    occurring = np.flatnonzero(binary[0].toarray().any(axis=0))
    assert set(gone.index) == {f"x{j}" for j in occurring if not model.stable_[j]}
    assert not gone.weight.any()
    left = [
        n_at_first - int((gone.purged_at <= record["stage"]).sum()) for record in model.history_
    ]
    assert left == [record["stable"] for record in model.history_]
    assert left[-1] < n_at_first
    probability = [model.selection_probabilities_[int(word[1:])] for word in table.index]
    assert_array_equal(table.selection_probability, probability)


@pytest.mark.parametrize("name", CLASSICS)
def test_learners_without_stages_have_no_probabilities_of_selection(binary, name):
    table = make(name).fit(*binary).selection_table()
    assert table.purged_at.isna().all()
    assert table.selection_probability.isna().all()


@pytest.mark.parametrize("name", NAMES)
def test_the_selection_table_has_a_block_for_each_class(multiclass, name):
    model = make(name).fit(*multiclass)
    table = model.selection_table()
    assert list(table.columns) == ["class", *COLUMNS]
    assert list(table["class"].unique()) == list(model.classes_)
    assert table.index.tolist() == list(range(len(table)))
    for number, one in enumerate(model.classes_):
        block = table[table["class"] == one]
        assert np.count_nonzero(block.weight) == np.count_nonzero(model.coef_[number])
        assert np.all(np.diff(block.weight.abs()) <= 0)
