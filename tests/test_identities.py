"""Learners are special cases of each other: identities and limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import LOSSES, assert_same_bits, dense_coef, make
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.parameters import LOSSES as LOSS_CODES
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.sgd import descend
from thresher.kernels.truncated_gradient import descend_truncating, settle_row
from thresher.workers import Workers

ONCE = {"max_iter": 2, "tol": None, "shuffle": False}
CONSTANT = {"eta0": 0.1, "learning_rate": "constant"}


def assert_same_weights(one, other, **tolerance):
    assert_allclose(dense_coef(one), dense_coef(other), **tolerance)
    assert_allclose(one.intercept_, other.intercept_, **tolerance)


# ------------------------------------------------------------------------------ whole learners


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("name", "nothing"),
    [
        ("TruncatedGradientClassifier", {"gravity": 0.0}),
        ("TruncatedGradientClassifier", {"gravity": 0.5, "ceiling": 0.0}),
        ("TruncatedGradientClassifier", {"gravity": 0.5, "burst_size": 10**6}),
        ("FOBOSClassifier", {"l1": 0.0}),
    ],
)
def test_gravity_zero_is_sgd(problem, loss, name, nothing):
    plain = make("PlainSGDClassifier", loss=loss, **ONCE).fit(*problem)
    assert_same_bits(make(name, loss=loss, **ONCE, **nothing).fit(*problem), plain)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1", [0.01, 0.3])
def test_truncated_gradient_after_every_row_is_fobos_with_constant_steps(binary, loss, l1):
    common = {"loss": loss, **ONCE, **CONSTANT}
    gravity = CONSTANT["eta0"] * l1
    truncated = make("TruncatedGradientClassifier", gravity=gravity, burst_size=1, **common)
    fobos = make("FOBOSClassifier", l1=l1, **common)
    assert_same_weights(truncated.fit(*binary), fobos.fit(*binary), rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("selection", ["informative", "every"])
def test_one_path_that_rejects_and_purges_nothing_is_sgd(binary, loss, selection):
    common = {"loss": loss, "fit_intercept": False, **ONCE, **CONSTANT}
    path = make(
        "StabilizedTruncatedSGDClassifier",
        n_paths=1,
        rejection_rate=0.0,
        purge_threshold=0.0,
        selection=selection,
        paths="permutation",
        normalize=False,
        **common,
    ).fit(*binary)
    plain = make("PlainSGDClassifier", **common).fit(*binary)
    assert_array_equal(path.coef_, plain.coef_)
    assert all(record["gravity"] == 0 for record in path.history_)


@pytest.mark.parametrize("loss", LOSSES)
def test_ftrl_with_endless_damping_is_sgd_with_constant_steps(binary, loss):
    """As beta grows with alpha = eta beta, every feature's step alpha / (beta + sqrt(n)) -> eta."""
    beta = 1e9
    damped = {"alpha": CONSTANT["eta0"] * beta, "beta": beta, "l1": 0.0, "l2": 0.0}
    ftrl = make("FTRLClassifier", loss=loss, **damped, **ONCE).fit(*binary)
    plain = make("PlainSGDClassifier", loss=loss, **CONSTANT, **ONCE).fit(*binary)
    assert_same_weights(ftrl, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_rda_without_penalty_takes_one_sgd_step_on_the_first_row(binary, loss):
    rows, labels = binary
    first = {"classes": np.unique(labels)}
    common = {"loss": loss, "fit_intercept": False}
    rda = make("RDAClassifier", l1=0.0, rho=0.0, gamma=10.0, **common)
    plain = make("PlainSGDClassifier", eta0=0.1, **common)
    rda.partial_fit(rows[:1], labels[:1], **first)
    plain.partial_fit(rows[:1], labels[:1], **first)
    assert_same_weights(rda, plain, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "strong"),
    [
        ("TruncatedGradientClassifier", {"gravity": 1e3, "burst_size": 1}),
        ("FOBOSClassifier", {"l1": 1e3}),
        ("RDAClassifier", {"l1": 1e3}),
        ("RDAClassifier", {"rho": 1e3}),
        ("FTRLClassifier", {"l1": 1e6}),
    ],
)
def test_an_endless_penalty_leaves_only_the_intercept(problem, name, strong):
    model = make(name, **strong).fit(*problem)
    assert not model.coef_.any()
    assert model.intercept_.all()


# ------------------------------------------------------------------------------------- kernels


def dense_problem(n=24, p=6, seed=1):
    """Return rows in which every feature occurs, as kernels know them, and their updates."""
    rng = np.random.default_rng(seed)
    matrix = sparse.csr_array(rng.normal(size=(n, p)))
    rows = Rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data.copy()
    )
    targets = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    order, steps, biases = np.arange(n), rng.uniform(0.05, 0.2, n), np.full(n, 0.7)
    return rows, Updates(order, steps, biases, np.ones(n), targets, rng.uniform(0.5, 2.0, n))


def some_of(updates, first, last):
    """Return the updates from first to last."""
    now = slice(first, last)
    return updates._replace(
        order=updates.order[now], steps=updates.steps[now], biases=updates.biases[now]
    )


@pytest.mark.parametrize("size", [1, 4, 8])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_informative_burst_on_dense_rows_is_a_truncated_gradient_burst(loss, size):
    rows, updates = dense_problem()
    p, gravity = 6, 0.03
    weights, bias, settled, clock = np.zeros(p), np.zeros(1), np.zeros(p, int), np.zeros(1, int)
    descend_truncating(
        rows, updates, LOSS_CODES[loss], weights, bias, settled, clock, gravity, size, np.inf
    )
    everything = np.arange(p, dtype=np.uint32)
    settle_row(everything, weights, settled, clock[0] // size, gravity * size, np.inf)

    estimator = make(
        "StabilizedTruncatedSGDClassifier",
        loss=loss,
        n_paths=1,
        burst_size=size,
        bursts_per_stage=100,
        selection="informative",
        shrinkage="linear",
    )
    estimator._seed = 0
    learner = estimator._learner(24)
    path = learner.start()
    path.grow(p)
    path.stage.gravity = gravity
    vocabulary = Vocabulary(p)
    learner.advance(path, vocabulary, rows, [updates], Workers())
    path_weights, path_bias = learner.weights(path, None)
    assert_allclose(path_weights, weights, rtol=0, atol=1e-14)
    assert_allclose(path_bias, bias[0], rtol=0, atol=1e-14)
    assert np.count_nonzero(weights) > 0


@pytest.mark.parametrize("cuts", [[1], [3, 4, 20], list(range(1, 24))])
def test_one_batch_equals_many(cuts):
    rows, updates = dense_problem()
    whole, parts = (np.zeros(6), np.zeros(1)), (np.zeros(6), np.zeros(1))
    descend(rows, updates, LOSS_CODES["log_loss"], *whole)
    for first, last in zip([0, *cuts], [*cuts, 24], strict=True):
        descend(rows, some_of(updates, first, last), LOSS_CODES["log_loss"], *parts)
    assert_array_equal(whole[0], parts[0])
    assert_array_equal(whole[1], parts[1])
