"""The flagship on numbers: what it learns, in whatever units, and that it resists wild targets."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import HuberRegressor, LinearRegression, SGDRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import thresher
from cases import (
    TARGET_LOSSES,
    assert_same_bits,
    facts,
    make,
    make_streaming,
    numbered_rows,
    stream,
)
from test_twins import assert_equals_staged
from thresher import ThresherRegressor
from thresher.estimators.parameters import TARGET_LOSSES as CODES
from thresher.kernels.losses import slope_of
from twins import THRESHER, run_of
from twins import thresher as twin

BOTH = pytest.mark.parametrize("loss", TARGET_LOSSES)


@pytest.fixture(scope="module")
def data():
    """Sparse rows and numbers; two columns never occur."""
    return numbered_rows()


def small(**changes):
    return make("ThresherRegressor", **changes)


def measured(loss, y, fit_intercept=True):
    """Return centre and unit, by the book."""
    centre = (np.mean if loss == "squared_error" else np.median)(y) if fit_intercept else 0.0
    if loss == "squared_error":
        return centre, np.sqrt(np.mean((y - centre) ** 2))
    return centre, 1.35 * np.median(np.abs(y - centre)) / 0.6745


def counted_rows(n=400, p=300, n_planted=8, seed=0):
    """Return counts of words, numbers that the first words tell, and their weights."""
    rng = np.random.default_rng(seed)
    rows = rng.poisson(0.15, size=(n, p)).astype(float)
    weights = np.where(np.arange(n_planted) % 2, -1.0, 1.0) * np.linspace(1, 2, n_planted)
    return rows, 10 + rows[:, :n_planted] @ weights + 0.3 * rng.normal(size=n), weights


# --------------------------------------------------------------------------------------- losses


@BOTH
@pytest.mark.parametrize("target", [-1.7, 0.0, 3.0])
def test_slope_is_the_derivative_of_the_loss(loss, target):
    def value(margin):
        error = abs(margin - target)
        return error**2 / 2 if loss == "squared_error" or error <= 1 else error - 0.5

    step = 1e-6
    for margin in np.linspace(-5, 5, 41) + 0.01:
        slope = (value(margin + step) - value(margin - step)) / (2 * step)
        assert_allclose(slope_of(CODES[loss], margin, target), slope, atol=1e-6)


# ---------------------------------------------------------------------------------------- twins


class AsOneProblem:
    """A regressor that shows its weights as classifiers do, in a row of its own."""

    def __init__(self, model):
        self.model = model
        self.coef_, self.intercept_ = [model.coef_], [model.intercept_]

    def __getattr__(self, name):
        return getattr(self.model, name)


def assert_equals_twin(model, run, y):
    """Assert that a model is its twin's answer, brought back to the units of the targets."""
    centre, unit = measured(run.loss, y, run.fit_intercept)
    run.y = (y - centre) / unit
    expected = twin(run, model)
    expected.coef, expected.intercept = expected.coef * unit, expected.intercept * unit + centre
    assert_equals_staged(AsOneProblem(model), expected)


@BOTH
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize(
    "settings", [{}, {"eta0": 0.05}, {"eta0": 50.0}, {"shuffle": True}], ids=str
)
def test_it_equals_its_twin(data, loss, fit_intercept, paths, settings):
    rows, y = data
    settings = {**THRESHER, "paths": paths, **settings}
    run = run_of(data, "ThresherRegressor", loss, fit_intercept, settings)
    model = run.estimator("ThresherRegressor").fit(rows, y)
    assert 0 < np.count_nonzero(model.coef_) < 40
    assert_equals_twin(model, run, y)


@BOTH
def test_weights_multiply_the_slope_and_zero_removes_the_row(data, loss):
    rows, y = data
    weights = np.random.default_rng(5).choice([0.0, 1.0], size=y.size, p=[0.3, 0.7])
    kept = weights > 0
    run = run_of((rows[kept], y[kept]), "ThresherRegressor", loss, settings=THRESHER)
    model = run.estimator("ThresherRegressor").fit(rows, y, sample_weight=weights)
    assert_equals_twin(model, run, y[kept])


# ---------------------------------------------------------------------------------------- units


@BOTH
@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize(("times", "plus"), [(1000.0, 7.0), (-0.01, 3.0), (1e-9, 0.0), (1e15, 1.0)])
def test_other_units_give_the_same_features_and_weights_in_those_units(loss, how, times, plus):
    rows, y = numbered_rows(n=230)

    def fitted(targets):
        model = make_streaming("ThresherRegressor", loss=loss)
        return model.fit(rows, targets) if how == "fit" else stream(model, rows, targets)

    plain, other = fitted(y), fitted(times * y + plus)
    assert_array_equal(other.get_support(), plain.get_support())
    assert_allclose(other.coef_, times * plain.coef_, rtol=1e-6, atol=1e-9 * abs(times))
    size = abs(times) * np.abs(y).max()
    assert_allclose(other.intercept_, times * plain.intercept_ + plus, atol=1e-6 * size)
    assert_allclose(other.predict(rows), times * plain.predict(rows) + plus, atol=1e-6 * size)
    assert_allclose(other.selection_probabilities_, plain.selection_probabilities_)


@BOTH
def test_without_intercept_only_the_scale_may_change(data, loss):
    rows, y = data
    plain, other = (small(loss=loss, fit_intercept=False).fit(rows, t) for t in (y, 1e4 * y))
    assert plain.intercept_ == other.intercept_ == 0.0
    assert_allclose(other.coef_, 1e4 * plain.coef_, rtol=1e-9)


@BOTH
def test_targets_that_are_all_the_same_are_predicted(data, loss):
    rows, y = data
    model = small(loss=loss, warm_start=True, n_features_to_select=38, max_iter=20)
    model.fit(rows, np.full(y.size, 0.1))
    assert_array_equal(model.predict(rows), 0.1)
    assert not model.coef_.any()
    assert model.fit(rows, y).score(rows, y) > 0.5  # nothing was learnt, not even units


# --------------------------------------------------------------------------------- what it learns


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


# ------------------------------------------------------------------------------------- streams


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
def test_a_call_that_fails_leaves_no_trace(data, loss):
    rows, y = data
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


def test_one_pass_of_a_source_is_partial_fit(data):
    rows, y = data
    streamed = small(max_iter=1).fit_stream(iter([(rows[:7], y[:7]), (rows[7:], y[7:])]))
    assert_same_bits(streamed, stream(small(max_iter=1), rows, y))


def test_threads_do_not_matter(data):
    models = [small(n_jobs=n_jobs, n_paths=11).fit(*data) for n_jobs in (1, 3)]
    assert_same_bits(*models)


# ---------------------------------------------------------------------------------- scikit-learn


@BOTH
def test_it_shows_itself_as_regressors_do(data, loss):
    rows, y = data
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


def test_containers_do_not_matter(data):
    rows, y = data
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


def test_normalize_is_rows_of_unit_length(data):
    rows, y = data
    lengths = np.linalg.norm(rows.toarray(), axis=1, keepdims=True)
    unit = np.divide(rows.toarray(), lengths, out=np.zeros(rows.shape), where=lengths > 0)
    scaled, plain = small(normalize=True).fit(rows, y), small().fit(unit, y)
    assert_allclose(scaled.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(scaled.predict(rows), plain.predict(unit), rtol=1e-9)


def test_pipelines_and_searches(data):
    rows, y = data
    pipeline = make_pipeline(MaxAbsScaler(), small())
    grid = {"thresherregressor__loss": TARGET_LOSSES}
    search = GridSearchCV(pipeline, grid, cv=2).fit(rows, y)
    assert search.score(rows, y) > 0.3
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_same_bits(copy[-1], search.best_estimator_[-1])


def test_a_warm_start_selects_among_the_features_left(data):
    model = small(n_features_to_select=9, warm_start=True).fit(*data)
    first = model.get_support()
    second = model.set_params(n_features_to_select=4).fit(*data).get_support()
    assert (first.sum(), second.sum()) == (9, 4)
    assert not np.any(second & ~first)


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a"] * 60, "must be numbers"),
        (np.array([1.0, np.nan] * 30), "NaN"),
        (np.array([1.0, np.inf] * 30), "inf"),
        (np.ones(59), "60 rows but y has 59"),
        (np.ones((60, 2)), "y should be a 1d array"),
        (None, "requires y"),
    ],
    ids=str,
)
def test_targets_must_be_finite_numbers(data, y, words):
    for call in (small().fit, small().partial_fit):
        with pytest.raises(ValueError, match=words):
            call(data[0], y)


@pytest.mark.parametrize(
    "wrong",
    [{"loss": "log_loss"}, {"loss": None}, {"epsilon": 0}, {"epsilon": np.inf}, {"epsilon": "x"}],
    ids=str,
)
def test_a_parameter_out_of_range_is_named(data, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value!r} of ThresherRegressor"):
        small(**wrong).fit(*data)


def test_rows_without_weight_and_classes_are_refused(data):
    rows, y = data
    with pytest.raises(ValueError, match="sample_weight leaves no row"):
        small().fit(rows, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="a regressor has none"):
        small().fit_stream([(rows, y)], classes=[0, 1])
    words = np.array(["a", "b"] * 30, object)
    with pytest.raises(thresher.DataError, match="is not a number"):
        small().fit_stream([(rows, words)])


# ---------------------------------------------------------------------------------------- export


@BOTH
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_scikit_learn_predicts_the_same(data, loss, normalize, thin):
    rows, y = data
    model = small(loss=loss, normalize=normalize).fit(rows, y)
    other = (model.sparsify() if thin else model).to_sklearn()
    assert isinstance(other, Pipeline if normalize else SGDRegressor)
    for given in (rows, rows.toarray()):
        assert_allclose(other.predict(given), model.predict(given), rtol=1e-10)
    if loss == "huber":
        step = other[-1] if normalize else other
        assert step.epsilon == pytest.approx(measured("huber", y)[1])


@BOTH
@pytest.mark.parametrize("normalize", [False, True])
def test_a_graph_predicts_the_same(data, loss, normalize, tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    rows, y = data
    model = small(loss=loss, normalize=normalize).fit(rows, y)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(
        str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    (numbers,) = session.run(["variable"], {"X": rows.toarray()})
    assert_allclose(numbers[:, 0], model.predict(rows), rtol=1e-10)


def test_coefficients_have_no_class(data, tmp_path):
    model = small().fit(*data)
    model.export_coefficients(tmp_path / "weights.csv")
    table = pd.read_csv(tmp_path / "weights.csv")
    assert list(table.columns) == ["feature", "column", "weight", "probability"]
    assert table.weight[0] == pytest.approx(model.intercept_)
    assert table.weight[1:].tolist() == model.coef_[model.coef_ != 0].tolist()
