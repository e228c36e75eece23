"""What each feature says alone: the score test of one column, summed up once or row by row."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import thresher
from cases import make, make_streaming
from golden.make import golden_rows
from test_golden_files import GOLDEN
from thresher.learners.alone import certainties


def said_alone(model, problem=0):
    """Return what a model knows, by column."""
    inner = model._model
    return inner.vocabulary.spread(certainties(inner.problems[problem].state, inner.vocabulary))


def around_their_means(rows, targets):
    """Return the root of n times the correlation of every column with the targets; or 0."""
    away, dense = targets - targets.mean(), rows - rows.mean(axis=0)
    spread = np.sqrt(np.var(targets) * np.sum(dense**2, axis=0))
    return np.abs(away @ dense) / np.where(spread > 0, spread, np.inf)


def row_by_row(rows, targets):
    """Return the same of a stream, whose columns keep their means."""
    pulls, seen = np.zeros(rows.shape[1]), []
    for row, target in zip(rows, targets, strict=True):
        seen.append(target)
        pulls += (target - np.mean(seen)) * row
    return np.abs(pulls) / np.sqrt(np.var(seen) * np.sum(rows**2, axis=0))


@pytest.fixture
def numbers():
    """Return rows without zeros, of which a column is constant, and labels that some tell."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 8)) + np.arange(8)
    rows[:, 4] = 2.5
    return rows, (rows[:, 0] - rows[:, 1] + rng.normal(size=60) > -1).astype(int)


def test_a_fit_asks_all_rows_at_once(numbers):
    rows, labels = numbers
    # offsets and scales change no correlation
    model = make("ThresherClassifier", n_features_to_select=3, normalize=False).fit(rows, labels)
    assert_allclose(said_alone(model), around_their_means(rows, labels), rtol=1e-6)
    assert said_alone(model)[4] == 0 < said_alone(model)[3]


def test_a_regression_is_asked_in_any_units(numbers):
    rows, _ = numbers
    targets = 1e6 * (rows[:, 2] - rows[:, 3]) + 1e9
    model = make("ThresherRegressor", n_features_to_select=3).fit(rows, targets)
    assert_allclose(said_alone(model), around_their_means(rows, targets), rtol=1e-6)


def test_every_class_is_asked_against_the_others(numbers):
    rows, labels = numbers
    three = labels + (rows[:, 5] > 5)
    model = make("ThresherClassifier", n_features_to_select=3, normalize=False).fit(rows, three)
    for problem in range(3):
        expected = around_their_means(rows, (three == problem).astype(float))
        assert_allclose(said_alone(model, problem), expected, rtol=1e-6)


def test_rows_without_weight_say_nothing(numbers):
    rows, labels = numbers
    weights = np.where(np.arange(60) < 50, 2.0, 0.0)
    model = make("ThresherClassifier", n_features_to_select=3, normalize=False)
    expected = said_alone(model.fit(rows[:50], labels[:50]))
    assert_allclose(said_alone(model.fit(rows, labels, weights)), expected, rtol=1e-6)


@pytest.mark.parametrize("cut", [60, 7, 1])
def test_a_stream_adds_up_row_by_row_however_it_is_cut(numbers, cut):
    rows, labels = numbers
    settings = {"n_features_to_select": 3, "normalize": False, "dtype": "float64"}
    model = make_streaming("ThresherClassifier", **settings)
    for first in range(0, 60, cut):
        model.partial_fit(rows[first : first + cut], labels[first : first + cut], classes=[0, 1])
    assert_allclose(said_alone(model), row_by_row(rows, 2.0 * labels - 1), rtol=1e-10)
    whole = make_streaming("ThresherClassifier", **settings).partial_fit(rows, labels, [0, 1])
    assert_array_equal(said_alone(model), said_alone(whole))
    assert_array_equal(model.selection_probabilities_, whole.selection_probabilities_)


def test_rows_that_are_read_again_are_not_heard_again(binary, in_chunks, tmp_path):
    rows, labels = binary
    lines = [
        json.dumps({"label": int(label), "features": {f"w{j}": x for j, x in enumerate(row) if x}})
        for row, label in zip(rows.toarray(), labels, strict=True)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    model = make("ThresherClassifier", n_features_to_select=5, max_iter=3)
    model.fit_stream(tmp_path / "rows.jsonl")
    facts = model._model.problems[0].state.features["pull_facts"]
    assert facts[0] == len(labels)


def test_a_call_that_fails_leaves_what_was_said_as_it_was(numbers):
    rows, labels = numbers
    model = make_streaming("ThresherClassifier", n_features_to_select=3)
    model.partial_fit(rows[:30], labels[:30], classes=[0, 1])
    before = said_alone(model)
    with pytest.raises(ValueError, match="overflow"):
        model.set_params(eta0=1e300).partial_fit(rows[30:], labels[30:])
    assert_array_equal(said_alone(model), before)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_file_goes_on_with_what_was_said(binary, tmp_path, streamed):
    rows, labels = binary
    model = make_streaming("ThresherClassifier", n_features_to_select=5)
    if streamed:
        for _ in range(8):
            model.partial_fit(rows, labels, classes=[0, 1])
    else:
        model.fit(rows, labels)
    model.save(tmp_path / "model", training_state=True)
    loaded = thresher.load(tmp_path / "model")
    assert_array_equal(said_alone(loaded), said_alone(model))
    assert_array_equal(loaded.selection_probabilities_, model.selection_probabilities_)
    assert said_alone(model).any()


def test_files_that_do_not_know_tell_with_caution():
    model = thresher.load(GOLDEN / "flagship-state-v4.thresher")
    assert not said_alone(model).any()
    assert_allclose(model.selection_probabilities_.sum(), 6, rtol=1e-6)
    model.partial_fit(golden_rows()[50:], np.arange(10) % 2)
    assert said_alone(model).any()


@pytest.mark.jit
@pytest.mark.parametrize("kind", ["numbers", "marks"])
def test_noise_is_not_told_for_sure(kind):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(300, 400))
    if kind == "marks":
        rows = sparse.random_array((800, 1500), density=0.02, format="csr", rng=rng)
        rows.data[:] = 1.0
    labels = rng.integers(0, 2, rows.shape[0])
    model = thresher.ThresherClassifier(n_features_to_select=20, random_state=0).fit(rows, labels)
    chosen = model.get_support()
    told = model.selection_probabilities_[chosen].mean()
    shares = thresher.selection_shares(model, rows, labels, refits=8)
    assert told < 0.5
    assert abs(told - shares[chosen].mean()) < 0.2
