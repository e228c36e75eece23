"""Stabilized truncated SGD: the slow dense twin, identities, the same bits whatever the chunks."""

import copy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from cases import LOSSES, assert_same_bits, fail, refuses, stream
from dense_stabilized import stabilized
from thresher import (
    PlainSGDClassifier,
    StabilizedTruncatedSGDClassifier,
    TruncatedGradientClassifier,
)
from thresher.draws import burst_weights, permutation
from thresher.estimators.saving import dumps, loads
from thresher.files import ModelFileError
from thresher.online.quantile import quantile
from thresher.online.stages import KEEP, annealed_rejection_rate, grown_burst_size
from thresher.online.training import Narrowing, Training
from thresher.rows import Rows
from thresher.threads import Threads

SEED = 5
SMALL = {"n_paths": 3, "burst_size": 4, "bursts_per_stage": 3, "eta0": 0.3, "normalize": False}
CALM = {"tol": None, "max_iter": 3, "random_state": SEED}
PAPER = {"selection": "informative", "shrinkage": "linear"}


def make(**changes):
    return StabilizedTruncatedSGDClassifier(**{**SMALL, **CALM, **changes})


def draw(n=60, p=30, density=0.3):
    """Return dense rows whose first columns matter, labels, and how much each row counts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < density)
    y = (X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.uniform(0.5, 1.5, n)


ROWS = draw()
LONG = draw(n=100, p=90, density=0.1)  # with columns that appear late


def fitted(rows=ROWS, **changes):
    return make(**changes).fit(sparse.csr_array(rows[0]), *rows[1:])


# ------------------------------------------------------------------------------ the dense twin


def twin_of(model, rows, orders, shared):
    """Learn the rows in such orders, which several paths share or not."""
    X, y, importance = rows
    learner, norms = model.training_.learner, np.sum(X**2, axis=1)
    numbers = np.arange(1, orders[0].size + 1)
    # several orders have in common the mean norm of all rows, one has that of the rows so far
    alone = np.cumsum(norms[orders[0]]) / numbers
    means = alone if len(orders) == 1 else np.full(numbers.size, norms.mean())
    steps, biases = learner.steps.lengths(numbers, means), learner.steps.biases(means)

    def weights_of(number):
        if not shared:
            return np.ones(model.n_paths)
        return burst_weights(model.seed_, number, 1, model.n_paths, KEEP)[:, 0]

    values = {one.name: getattr(model, one.name) for one in learner.parameters}
    for name in ("n_paths", "paths", "eta0", "learning_rate"):
        del values[name]
    orders = orders * model.n_paths if shared else orders
    task = X, np.where(y, 1.0, -1.0), importance, orders, steps, biases, weights_of
    return stabilized(*task, loss=model.loss, **values), biases[-1]


def assert_agrees(model, twin, bias):
    """Compare with the twin: every stage, weights, probabilities, what is stable."""
    assert len(model.history_) == len(twin.history)
    for record, expected in zip(model.history_, twin.history, strict=True):
        assert record == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert_allclose(model.coef_[0], twin.W.mean(axis=0), rtol=1e-10, atol=1e-10)
    assert_allclose(model.intercept_[0], bias * twin.V.mean(), rtol=1e-10, atol=1e-10)
    assert_array_equal(model.stable_, twin.stable)
    assert_allclose(model.selection_probabilities_, twin.probability, rtol=1e-12)


SETTINGS = [
    {},
    {"annealing_rate": -3.0, "rejection_rate": 0.5, "fit_intercept": False},
    {"annealing_rate": 2.0, "min_evidence": 8, "purge_threshold": 0.5},
    {"burst_growth": 0.3, "learning_rate": "invsqrt"},
    {"gravity": 0.02, "purge_threshold": 0.5},
    {"loss": "squared_hinge", "eta0": 0.05, "purge_threshold": 0.3, "n_paths": 1},
]
# Each pair of ways to shuffle, to select and to shrink.
WAYS = [
    ("permutation", "informative", "linear"),
    ("permutation", "every", "sqrt"),
    ("shared", "informative", "sqrt"),
    ("shared", "every", "linear"),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_agrees_with_dense_twin(settings):
    for paths, selection, shrinkage in WAYS:
        model = fitted(paths=paths, selection=selection, shrinkage=shrinkage, **settings)
        shared = paths == "shared"
        orders = [
            np.concatenate([permutation(model.seed_, path, k, 60) for k in range(3)])
            for path in range(1 if shared else model.n_paths)
        ]
        twin, bias = twin_of(model, ROWS, orders, shared)
        assert len(twin.history) > 3
        assert_agrees(model, twin, bias)


@pytest.mark.parametrize("selection", ["informative", "every"])
def test_stream_agrees_with_dense_twin(selection):
    X, y, importance = LONG
    for cuts in (range(1, 100), range(7, 100, 7), []):
        model = make(selection=selection, min_evidence=20)
        stream(model, sparse.csr_array(X), y, cuts, importance)
        twin, bias = twin_of(model, LONG, [np.arange(100)], shared=True)
        assert 0 < twin.stable.sum() < 90
        assert_agrees(model, twin, bias)


# ----------------------------------------------------------------------------------- identities


@pytest.mark.parametrize("loss", LOSSES)
def test_gravity_zero_is_sgd(loss):
    common = {**CALM, "loss": loss, "eta0": 0.02, "learning_rate": "constant"}
    sgd = PlainSGDClassifier(**common).fit(*ROWS)
    for selection, nothing in product(("informative", "every"), ("gravity", "rejection_rate")):
        changes = {"purge_threshold": 0.0, "selection": selection, nothing: 0.0}
        model = fitted(n_paths=1, **changes, **common)
        assert_array_equal(model.coef_, sgd.coef_)
        assert model.intercept_ == sgd.intercept_


@pytest.mark.parametrize("loss", LOSSES)
def test_informative_bursts_on_dense_rows_are_truncated_gradient_bursts(loss):
    common = {**CALM, "loss": loss, "eta0": 0.02, "learning_rate": "constant", "burst_size": 5}
    rows = draw(p=9, density=1.0)
    truncated = TruncatedGradientClassifier(gravity=0.003, **common).fit(*rows)
    model = fitted(rows, n_paths=1, purge_threshold=0.0, gravity=0.003, **PAPER, **common)
    assert_allclose(model.coef_, truncated.coef_, rtol=1e-12, atol=1e-14)
    assert (model.coef_ == 0).any() or loss != "log_loss"
    assert_allclose(model.intercept_, truncated.intercept_, rtol=1e-12)


def test_independent_paths_of_one_order_are_one_path():
    one, four = (fitted(n_paths=n, shuffle=False, fit_intercept=False) for n in (1, 4))
    assert_allclose(four.coef_, one.coef_, rtol=1e-14)
    assert four.history_ == one.history_


def test_rejection_rate_falls_to_zero_with_features():
    shares = np.linspace(0, 1, 101)
    for beta, gamma in product((0.0, 0.3, 1.0), (-9.0, -1.0, -1e-7, 0.0, 1e-7, 1.0, 5.0)):
        rates = np.array([annealed_rejection_rate(d, beta, gamma) for d in shares])
        assert_allclose(rates[[0, -1]], [0.0, beta], atol=1e-15)
        assert (np.diff(rates) >= -1e-15).all()
        if abs(gamma) < 1e-6:
            assert_allclose(rates, beta * shares, atol=1e-6)


def test_bursts_grow_as_features_fall():
    assert [grown_burst_size(10, d, 0.5) for d in (1.0, 0.5, 0.1)] == [7, 14, 30]
    assert grown_burst_size(10, 1.0, 2.0) == 1


@pytest.mark.parametrize("n", [1, 2, 50, 3000])
def test_quantile_is_exact(n):
    rng = np.random.default_rng(n)
    lengths = np.array([n, n // 2, 0])
    for numbers in (
        rng.lognormal(sigma=5, size=(3, n)),
        rng.integers(0, 3, (3, n)).astype(float),  # ties
        np.zeros((3, n)),
        1.0 + rng.integers(0, 9, (3, n)) * 2.0**-52,  # tiny differences
    ):
        used = np.sort(np.concatenate([row[:m] for row, m in zip(numbers, lengths, strict=True)]))
        for share in (0.0, 1e-9, 0.3, 0.7, 1.0):
            k = int(np.ceil(share * used.size))
            assert quantile(numbers, lengths, share) == (used[k - 1] if k else 0.0)


# ------------------------------------------------------------------- chunks, threads, compaction

LAYOUTS = [
    {},
    {"paths": "shared", "n_paths": 5},
    {"burst_growth": 0.2, **PAPER},
    {"min_evidence": 9, "n_paths": 2},
]
layouts = pytest.mark.parametrize("changes", LAYOUTS, ids=str)


@layouts
def test_same_bits_for_slices_threads_and_rows_that_keep_purged_columns(changes, monkeypatch):
    usual = fitted(LONG, **changes)
    assert not usual.stable_.all()
    monkeypatch.setattr("thresher.online.stabilized.WORTH_THREADS", 0)
    for n_jobs in (2, 3):
        assert_same_bits(fitted(LONG, n_jobs=n_jobs, **changes), usual)
    for most in (1, 60):
        with monkeypatch.context() as patch:
            patch.setattr("thresher.online.passes.SLICE", most)
            assert_same_bits(fitted(LONG, **changes), usual)
    monkeypatch.setattr(Narrowing, "leave_out", lambda *_: None)
    assert_same_bits(fitted(LONG, **changes), usual)


@layouts
def test_same_bits_for_a_stream_that_is_cut_fails_and_is_saved(changes):
    rows, labels = sparse.csr_array(LONG[0]), LONG[1]
    changes = {"loss": "squared_hinge", "purge_threshold": 0.4, **changes}
    whole = stream(make(**changes), rows, labels)
    assert not whole.stable_.all()
    for n in (1, 6, 40):
        model = make(**changes)
        for first in range(0, 100, n):
            chunk = rows[first : first + n], labels[first : first + n]
            model.partial_fit(*chunk, classes=[0, 1])
            before = dumps(model, training_state=True)
            fail(model, *chunk)
            assert dumps(model, training_state=True) == before
            model = loads(before)
        assert before == dumps(whole, training_state=True)


@layouts
def test_same_bits_for_a_stream_whose_columns_nobody_knows(changes):
    X, targets = LONG[0], np.where(LONG[1], 1.0, -1.0)
    rows = sparse.csr_array(X[:, np.argmax(X != 0, axis=0).argsort()])  # as they appear
    learner = make(**changes).partial_fit(rows[:1], [0], classes=[0, 1]).training_.learner
    weights = []
    for size in (1, 7, 100):
        training = Training.start(learner, 1, 0)
        for first in range(0, 100, size):
            part = sparse.csr_array(rows[first : first + size])
            now = [targets[first : first + size]], np.ones(part.shape[0])
            training.learn(Rows.of(part), *now, Threads())
        state = training.problems[0].state
        weights.append([*training.weights(), state.stable, repr(learner.history(state))])
    for other in weights[1:]:
        for mine, its in zip(other, weights[0], strict=True):
            assert_array_equal(mine, its)
    assert not state.stable.all()


def test_many_stages():
    """More than the history has room for, and rows that lengthen so that ratios need more room."""
    X, y, weights = draw(n=200, p=25, density=1.0)
    X[:50] *= np.random.default_rng(0).random((50, 25)) < 0.05
    changes = {"n_paths": 2, "burst_size": 1, "bursts_per_stage": 2, "purge_threshold": 0.0}
    model = fitted((X, y, weights), max_iter=1, shuffle=False, **changes)
    assert [record["stage"] for record in model.history_] == list(range(1, 101))


# ---------------------------------------------------------------------------- what purging means


@layouts
def test_purged_stay_purged(changes):
    model, gone = make(max_iter=1, warm_start=True, **changes), np.zeros(30, bool)
    for _ in range(4):
        model.fit(*ROWS)
        assert not model.coef_[0, gone].any()
        assert not model.stable_[gone].any()
        gone = ~model.stable_
        assert not model.coef_[0, gone].any()
    assert gone.any()
    counts = [record["stable"] for record in model.history_]
    assert counts == sorted(counts, reverse=True)


def test_all_features_may_be_purged():
    with pytest.warns(ConvergenceWarning, match="All features were purged"):
        model = fitted(purge_threshold=1.0, rejection_rate=1.0, annealing_rate=-9, max_iter=10)
    assert model.training_.finished
    assert not model.coef_.any()
    assert (model.history_[-1]["stable"], model.history_[-1]["nonzero"]) == (0, 0)
    before = model.training_.problems[0].pace.updates
    assert model.partial_fit(*ROWS[:2]).training_.problems[0].pace.updates == before


@pytest.mark.parametrize("selection", ["informative", "every"])
def test_columns_that_appear_late(selection):
    """No burst has selected them; whether that counts depends on how features are selected."""
    X, y, weights = ROWS
    model = fitted((np.hstack([X, np.zeros((60, 2))]), y, weights), selection=selection)
    kept = selection == "informative"
    assert_array_equal(model.stable_[-2:], kept)
    assert_array_equal(model.selection_probabilities_[-2:], float(kept))
    # a stream goes on as long as some may come
    X = np.hstack([X, np.zeros((60, 1))])
    model = stream(make(selection=selection, purge_threshold=1.0, gravity=1e9), X, y)
    assert not model.stable_[:-1].any()
    assert model.training_.finished != kept
    X[:, -1] = 1.0
    model.partial_fit(X[:1], y[:1])
    assert model.stable_[-1] == kept


def test_settles_only_once_there_is_gravity():
    for changes, settled in (({}, False), ({"gravity": 0.1}, True)):
        model = make(**changes).partial_fit(ROWS[0][:1], [0], classes=[0, 1])
        assert model.training_.settles == settled
    assert fitted().training_.settles


def test_damaged_trees_are_refused():
    model = stream(make(purge_threshold=0.1), ROWS[0][:54], ROWS[1][:54])
    start = model.training_.learner.start
    good = copy.deepcopy(model.training_.problems[0].state.tree())
    untouched = good["arrays"]["by_slot"]["touches"] == 0
    damages = [
        *(("arrays", "whole", "counts", place, 0) for place in (0, 1, 2, 8, 9)),
        *(("arrays", "whole", "counts", place, -1) for place in range(13)),
        ("arrays", "whole", "counts", 3, 10**6),
        ("burst", "touched", 0, 1000),
        ("pool", "owners", 0, 1000),
        ("arrays", "by_slot", "touches", untouched, 1),
    ]
    start(30).from_tree(copy.deepcopy(good))
    for *names, place, value in damages:
        tree = part = copy.deepcopy(good)
        for name in names:
            part = part[name]
        part[place] = value
        assert refuses(start(30).from_tree, tree), (names, place, value)
    other = stream(make(n_paths=4), *ROWS[:2]).training_.problems[0].state.tree()
    with pytest.raises(ModelFileError):
        start(30).from_tree(other)
