"""Rows are scaled to unit length by themselves, unless they are measurements of even length."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import thresher
from cases import labelled_rows


def measurements(n=300, p=20, seed=0):
    """Return rows whose class is told by how large the first four values are together."""
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, 1.0, (n, p))
    chance = 1 / (1 + np.exp(-2 * (rows[:, :4].sum(axis=1) - 4)))
    return rows, (rng.random(n) < chance).astype(int)


def uneven(rows):
    """Return rows of very different lengths."""
    return rows * np.exp(2 * np.random.default_rng(1).normal(size=(len(rows), 1)))


def with_holes(rows):
    """Return rows without four of ten values."""
    return np.where(np.random.default_rng(1).random(rows.shape) < 0.6, rows, 0.0)


def classifier(**changes):
    """Return a model of four features."""
    return thresher.ThresherClassifier(**{"n_features_to_select": 4, "random_state": 0, **changes})


@pytest.mark.parametrize(
    ("change", "scaled"),
    [(np.array, False), (sparse.csr_array, False), (uneven, True), (with_holes, True)],
)
def test_measurements_of_even_length_are_left_as_they_are(change, scaled):
    rows, labels = measurements()
    rows = change(rows)
    model = classifier().fit(rows, labels)
    asked = classifier(normalize=scaled).fit(rows, labels)
    assert model.rows_normalized_ == asked.rows_normalized_ == scaled
    assert_array_equal(model.coef_, asked.coef_)
    assert_array_equal(model.predict_proba(rows), asked.predict_proba(rows))


def test_the_size_is_chosen_on_rows_as_they_are_learnt():
    data = measurements()
    choices = [
        classifier(n_features_to_select="auto", **asked).fit(*data).size_choice_
        for asked in ({}, {"normalize": False}, {"normalize": True})
    ]
    losses = [choice.path["log_loss"] for choice in choices]
    assert_array_equal(losses[0], losses[1])
    assert losses[0].min() < losses[2].min()


def test_it_is_worth_it():
    others, truth = measurements(2000, seed=1)
    scores = [
        classifier(**asked).fit(*measurements()).score(others, truth)
        for asked in ({}, {"normalize": True})
    ]
    assert scores[0] > scores[1] + 0.01


def test_decisions_are_linear_in_columns_as_they_are():
    rows, labels = measurements()
    rows = rows + 50.0  # far from zero
    model = classifier().fit(rows, labels)
    assert model.column_offsets_.all()
    expected = rows @ model.coef_[0] + model.intercept_
    assert_allclose(model.decision_function(rows), expected, atol=1e-8)


def test_who_learns_at_once_cannot_know():
    rows, labels = measurements()
    assert classifier().partial_fit(rows, labels, classes=[0, 1]).rows_normalized_


@pytest.mark.usefixtures("in_chunks")
@pytest.mark.parametrize("passing", [list, iter])
@pytest.mark.parametrize("size", [10, "auto"])
def test_a_source_is_looked_into_first(passing, size):
    model = classifier(n_features_to_select=size).fit_stream(passing([measurements()]))
    assert not model.rows_normalized_


def test_sparse_rows_are_scaled():
    assert classifier().fit(*labelled_rows(n=200)).rows_normalized_


def test_learning_goes_on_as_it_began(tmp_path):
    rows, labels = measurements()
    model = classifier(warm_start=True).fit(rows, labels)
    model.save(tmp_path / "model", training_state=True)
    loaded = thresher.load(tmp_path / "model")
    assert loaded.normalize == "auto"
    for one in (model, loaded):
        one.fit(uneven(rows), labels)  # begun with rows as they are
        assert not one.rows_normalized_
    assert_array_equal(model.coef_, loaded.coef_)
    with pytest.raises(ValueError, match=r"normalize=True, .* with normalize=False"):
        loaded.set_params(normalize=True).partial_fit(rows, labels)
