"""The flagship on numbers: what it learns, from streams too, and that it resists wild targets."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import HuberRegressor, LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import thresher
from cases import TARGET_LOSSES, assert_same_bits, facts, make_streaming, numbered_rows, stream
from regressor_cases import BOTH, Unspared, small
from thresher import ThresherRegressor


def counted_rows(n=400, p=300, n_planted=8, seed=0):
    """Return counts of words, numbers that the first words tell, and their weights."""
    rng = np.random.default_rng(seed)
    rows = rng.poisson(0.15, size=(n, p)).astype(float)
    weights = np.where(np.arange(n_planted) % 2, -1.0, 1.0) * np.linspace(1, 2, n_planted)
    return rows, 10 + rows[:, :n_planted] @ weights + 0.3 * rng.normal(size=n), weights


@BOTH
@pytest.mark.jit
def test_planted_features_are_found_and_their_weights(loss):
    rows, y, weights = counted_rows()
    model = ThresherRegressor(n_features_to_select=8, loss=loss, random_state=0).fit(rows, y)
    assert model.get_support(indices=True).tolist() == list(range(8))
    best = LinearRegression().fit(rows[:, :8], y)
    assert_allclose(model.coef_[:8], best.coef_, atol=0.05)
    assert_allclose(model.coef_[:8], weights, atol=0.2)
    assert model.score(rows, y) > 0.999 * best.score(rows[:, :8], y)
    assert model.score(rows, y) == pytest.approx(r2_score(y, model.predict(rows)))


@BOTH
@pytest.mark.jit
def test_what_is_exact_is_learnt_exactly(loss):
    """Rows that are long beside their few features, and targets without noise."""
    rng = np.random.default_rng(2)
    rows, weights = rng.normal(size=(200, 500)) * rng.gamma(4, 0.25, (200, 1)), np.arange(1, 13)
    y = 7 + rows[:, :12] @ weights
    model = ThresherRegressor(n_features_to_select=12, loss=loss, random_state=0).fit(rows, y)
    assert model.get_support(indices=True).tolist() == list(range(12))
    assert_allclose(model.coef_[:12], weights, rtol=1e-4)
    assert model.intercept_ == pytest.approx(7, rel=1e-4)


@BOTH
@pytest.mark.jit
@pytest.mark.parametrize("size", [5, "auto"])
def test_values_too_small_to_be_squared_are_no_harm(loss, size):
    rng = np.random.default_rng(4)
    rows, y = 1e-200 * rng.normal(size=(80, 30)), rng.normal(size=80)
    model = ThresherRegressor(n_features_to_select=size, loss=loss, random_state=0)
    with pytest.warns(UserWarning, match="their squares are 0 in float32"):
        model.fit(rows, y)
    assert np.isfinite(model.predict(rows)).all()


@pytest.mark.jit
def test_noise_makes_weights_shorter():
    """Many weights of few rows whose targets say nothing are nearly none."""
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(60, 200)), rng.normal(size=60)
    settings = {"n_features_to_select": 20, "random_state": 0}
    model, unspared = (kind(**settings).fit(rows, y) for kind in (ThresherRegressor, Unspared))
    free = LinearRegression().fit(rows[:, model.get_support()], y)
    shares = [one.coef_[model.get_support()] / free.coef_ for one in (model, unspared)]
    assert np.median(shares[0]) < 0.5 < np.median(shares[1]) < 0.99


@pytest.mark.jit
def test_a_stream_learns_too():
    rows, y, _ = counted_rows(n=6000)
    model = ThresherRegressor(n_features_to_select=8, random_state=0)
    stream(model, sparse.csr_array(rows), y, cuts=range(500, 6000, 500))
    assert model.get_support(indices=True).tolist() == list(range(8))
    assert model.score(rows, y) > 0.9


@pytest.mark.jit
def test_huber_resists_wild_targets():
    rows, y, _ = counted_rows()
    wild = np.where(np.arange(y.size) % 20 == 0, 1e6, y)
    square, huber = (
        ThresherRegressor(n_features_to_select=8, loss=loss, random_state=0).fit(rows, wild)
        for loss in TARGET_LOSSES
    )
    assert huber.get_support(indices=True).tolist() == list(range(8))
    assert huber.score(rows, y) > 0.9 > square.score(rows, y)
    judge = HuberRegressor(max_iter=1000).fit(rows[:, :8], wild)
    assert_allclose(huber.coef_[:8], judge.coef_, atol=0.2)


@pytest.mark.jit
def test_a_smaller_epsilon_resists_more():
    rows, y, _ = counted_rows()
    wild = np.where(np.arange(y.size) % 8 == 0, y + 1e4, y)
    scores = [
        ThresherRegressor(n_features_to_select=8, loss="huber", epsilon=epsilon, random_state=0)
        .fit(rows, wild)
        .score(rows, y)
        for epsilon in (0.3, 1.35, 1e6)
    ]
    assert scores[0] > scores[1] > scores[2]


@BOTH
@pytest.mark.parametrize("weight", [1.0, 1e6])
def test_steps_are_stable_for_long_rows_and_heavy_ones(loss, weight):
    rows, y = numbered_rows(n=120)
    longer = rows.toarray() * np.where(np.arange(120) % 7 == 0, 100.0, 1.0)[:, None]
    model = small(loss=loss, n_features_to_select=38, max_iter=50)
    model.fit(longer, y, sample_weight=np.full(120, weight))
    assert np.abs(model.predict(longer)).max() < 10 * np.abs(y).max()
    streamed = stream(small(loss=loss), longer, y, weights=np.full(120, weight))
    assert np.isfinite(streamed.coef_).all()


@BOTH
@pytest.mark.parametrize("cuts", [[1, 2, 3], [64, 200], range(10, 1300, 90)], ids=str)
def test_cuts_do_not_matter(loss, cuts):
    rows, y = numbered_rows(n=1300, p=30)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], size=y.size)
    whole, parts = (make_streaming("ThresherRegressor", loss=loss) for _ in range(2))
    stream(whole, rows, y, weights=weights)
    assert_same_bits(stream(parts, rows, y, cuts, weights), whole)
    assert_array_equal(parts.predict(rows), whole.predict(rows))


@BOTH
def test_a_call_that_fails_leaves_no_trace(numbered, loss):
    rows, y = numbered
    never_failed, model = (stream(small(loss=loss), rows[:20], y[:20]) for _ in range(2))
    before = facts(model)
    wrong = rows[20:].toarray()
    wrong[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(wrong, y[20:])
    huge = rows[20:].toarray() * 1e300
    with pytest.raises(ValueError, match="overflowed"):
        model.set_params(eta0=1e300).partial_fit(huge, y[20:] * 1e300)
    assert facts(model) == before
    model.set_params(eta0="auto")
    for one in (never_failed, model):
        one.partial_fit(rows[20:], y[20:])
    assert_same_bits(model, never_failed)


def test_one_pass_of_a_source_is_partial_fit(numbered):
    rows, y = numbered
    streamed = small(max_iter=1).fit_stream(iter([(rows[:7], y[:7]), (rows[7:], y[7:])]))
    assert_same_bits(streamed, stream(small(max_iter=1), rows, y))


def test_threads_do_not_matter(numbered):
    models = [small(n_jobs=n_jobs, n_paths=11).fit(*numbered) for n_jobs in (1, 3)]
    assert_same_bits(*models)


@BOTH
def test_it_shows_itself_as_regressors_do(numbered, loss):
    rows, y = numbered
    frame = pd.DataFrame(rows.toarray(), columns=[f"word {j}" for j in range(40)])
    model = small(loss=loss).fit(frame, y)
    assert model.coef_.shape == (40,)
    assert isinstance(model.intercept_, float)
    assert model.n_features_in_ == 40
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "decision_function")
    assert_allclose(model.predict(frame), rows @ model.coef_ + model.intercept_)
    assert_array_equal(model.get_support(), model.coef_ != 0)
    table = model.selection_table()
    assert "class" not in table
    by_name = dict(zip(frame.columns, model.coef_, strict=True))
    assert_array_equal(table.weight, [by_name[word] for word in table.feature])
    assert np.count_nonzero(table.weight) == 8
    assert model.history_[-1]["stable"] == 8
    thin = clone(model).fit(frame, y).sparsify()
    assert thin.coef_.shape == (1, 40)
    assert_same_bits(thin, model)


def test_containers_do_not_matter(numbered):
    rows, y = numbered
    wide = sparse.csr_array(
        (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64))
    )
    one, *others = (
        small().fit(X, targets)
        for X, targets in [(rows, y), (wide, y), (rows.toarray(), y.tolist()), (rows.tocsc(), y)]
    )
    for other in others:
        assert_same_bits(other, one)
    assert_same_bits(small().fit(rows, np.round(y)), small().fit(rows, np.round(y).astype(int)))


def test_normalize_is_rows_of_unit_length(numbered):
    rows, y = numbered
    lengths = np.linalg.norm(rows.toarray(), axis=1, keepdims=True)
    unit = np.divide(rows.toarray(), lengths, out=np.zeros(rows.shape), where=lengths > 0)
    scaled, plain = small(normalize=True).fit(rows, y), small().fit(unit, y)
    assert_allclose(scaled.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(scaled.predict(rows), plain.predict(unit), rtol=1e-9)


def test_pipelines_and_searches(numbered):
    rows, y = numbered
    pipeline = make_pipeline(MaxAbsScaler(), small())
    grid = {"thresherregressor__loss": TARGET_LOSSES}
    search = GridSearchCV(pipeline, grid, cv=2).fit(rows, y)
    assert search.score(rows, y) > 0.3
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_same_bits(copy[-1], search.best_estimator_[-1])


def test_a_warm_start_selects_among_the_features_left(numbered):
    model = small(n_features_to_select=9, warm_start=True).fit(*numbered)
    first = model.get_support()
    second = model.set_params(n_features_to_select=4).fit(*numbered).get_support()
    assert (first.sum(), second.sum()) == (9, 4)
    assert not np.any(second & ~first)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a"] * 60, "must be numbers"),
        (np.array([1.0, np.nan] * 30), "NaN"),
        (np.array([1.0, np.inf] * 30), "inf"),
        (np.ones(59), "60 rows but y has 59"),
        (np.ones((60, 2)), r"y should be a 1d array, got an array of shape \(60, 2\) instead\.$"),
        (None, "requires y"),
    ],
    ids=str,
)
def test_targets_must_be_finite_numbers(numbered, y, words):
    for call in (small().fit, small().partial_fit):
        with pytest.raises(ValueError, match=words):
            call(numbered[0], y)


@pytest.mark.parametrize(
    "wrong",
    [{"loss": "log_loss"}, {"loss": None}, {"epsilon": 0}, {"epsilon": np.inf}, {"epsilon": "x"}],
    ids=str,
)
def test_a_parameter_out_of_range_is_named(numbered, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value!r} of ThresherRegressor"):
        small(**wrong).fit(*numbered)


def test_rows_without_weight_and_classes_are_refused(numbered):
    rows, y = numbered
    with pytest.raises(ValueError, match="sample_weight leaves no row"):
        small().fit(rows, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="a regressor has none"):
        small().fit_stream([(rows, y)], classes=[0, 1])
    words = np.array(["a", "b"] * 30, object)
    with pytest.raises(thresher.DataError, match="is not a number"):
        small().fit_stream([(rows, words)])
