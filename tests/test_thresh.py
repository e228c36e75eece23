"""Thresh: its slow twin, chunks, failures, units of targets, purging, several classes."""

import copy
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import labelled_rows, refuses
from thresher.losses import LOSSES, NUMBER_LOSSES, slope_of
from thresher.online import thresh
from thresher.online.protocol import Overflow
from thresher.online.thresh import Thresh
from thresher.online.thresh_rows import PURGED
from thresher.online.training import Training
from thresher.rows import Rows
from thresher.threads import Threads

ONE = Threads()
ROWS, LABELS = labelled_rows(n=130, p=40, density=0.15, seed=4)
CLASSES = labelled_rows(n=130, p=40, density=0.15, seed=4, n_classes=3)[1].astype(float)
NUMBERS = ROWS @ np.random.default_rng(0).normal(size=40) * 3 + 50
WEIGHTS = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=130)
# Loss, number of outputs, targets.
KINDS = [
    *((loss, 1, 2.0 * LABELS - 1) for loss in ("log_loss", "squared_hinge", "modified_huber")),
    *((loss, 3, CLASSES) for loss in ("log_loss", "squared_hinge")),
    *((loss, 1, NUMBERS) for loss in ("squared_error", "huber")),
]
kinds = pytest.mark.parametrize(
    ("loss", "n_outputs", "targets"), KINDS, ids=[f"{loss}-{n}" for loss, n, _ in KINDS]
)


@pytest.fixture(autouse=True)
def _short_stages(monkeypatch):
    """Let tens of rows see several stages, in which features are purged."""
    monkeypatch.setattr(thresh, "FIRST_STAGE", 8)
    monkeypatch.setattr(thresh, "UNPURGED", 30)


def start(loss="log_loss", n_outputs=1, n_features=6, fit_intercept=True):
    learner = Thresh.of(LOSSES[loss], fit_intercept, n_features, n_outputs)
    return Training.start(learner, 1, 40)


def learn(training, rows, targets, importance=None):
    importance = np.ones(rows.shape[0]) if importance is None else importance
    training.learn(Rows.of(sparse.csr_array(rows)), [targets], importance, ONE)
    return training


def dense(training, width=40):
    """Return the weights by output and column, and the intercepts."""
    columns, weights, intercepts = training.weights()
    coefs = np.zeros((weights.shape[0], width))
    coefs[:, columns] = weights
    return coefs, intercepts


def assert_same_bits(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same_bits(one[key], other[key])
    elif isinstance(one, list):
        for mine, its in zip(one, other, strict=True):
            assert_same_bits(mine, its)
    else:
        assert_array_equal(one, other, strict=isinstance(one, np.ndarray))


# ------------------------------------------------------------------------------------------ twin


class Twin:
    """Dense and slow: one row at a time, every formula once."""

    def __init__(self, loss, n_outputs, n_features, width, fit_intercept):
        self.loss, self.n_features, self.fit_intercept = loss, n_features, fit_intercept
        self.lengths = thresh.LOGISTIC if loss == "log_loss" else thresh.OTHERS
        # the constant input comes last
        self.w, self.v, self.pulls = (np.zeros((n_outputs, width + 1)) for _ in range(3))
        self.roots, self.final_roots, self.sums, self.squares = np.zeros((4, width + 1))
        self.left, self.best = np.ones(width + 1, bool), np.zeros(width + 1, bool)
        self.best[-1] = True
        self.y_all, self.weights_all, self.norms = [], [], []
        self.end, self.judged = thresh.FIRST_STAGE, 0

    def slopes(self, margins, y, weight):
        if margins.size == 1:
            return weight * np.array([slope_of(LOSSES[self.loss].code, margins[0], y)])
        right = np.arange(margins.size) == y
        if self.loss == "log_loss":
            shares = np.exp(margins - margins.max())
            return weight * (shares / shares.sum() - right)
        pairs = zip(margins, np.where(right, 1.0, -1.0), strict=True)
        return weight * np.array([slope_of(LOSSES[self.loss].code, m, t) for m, t in pairs])

    def mean_and_spread(self):
        """Return what numbers are standardized by."""
        if not LOSSES[self.loss].of_numbers or not np.sum(self.weights_all):
            return 0.0, 1.0
        mean = np.average(self.y_all, weights=self.weights_all) if self.fit_intercept else 0.0
        squares = (np.array(self.y_all) - mean) ** 2
        return mean, np.sqrt(np.average(squares, weights=self.weights_all))

    def size(self):
        return np.sqrt(np.mean(self.norms)) if self.fit_intercept else 0.0

    def learn(self, x, y, weight):
        self.y_all.append(y)
        self.weights_all.append(weight)
        self.norms.append(x @ x)
        norm = np.mean(self.norms)
        mean, spread = self.mean_and_spread()
        target = (y - mean) / spread if spread > 0 else 0.0
        x = np.where(self.left, np.append(x, self.size()), 0.0)
        slopes = self.slopes(self.w @ x, target, weight)
        fit_slopes = self.slopes((self.v * self.best) @ x, target, weight)
        self.roots = np.sqrt(self.roots**2 + slopes @ slopes * x**2)
        damped = self.lengths.damping * norm + np.sqrt(norm) * self.roots
        self.w -= np.outer(slopes, self.lengths.selecting * x / damped)
        self.final_roots = np.sqrt(self.final_roots**2 + fit_slopes @ fit_slopes * x**2)
        roots = np.sqrt(norm) * np.where(self.final_roots > 0, self.final_roots, 1.0)
        moves = self.lengths.final * x / roots
        self.v -= np.outer(fit_slopes, moves * self.best)
        hot = np.arange(slopes.size) == y if slopes.size > 1 else np.array([y])
        self.pulls += weight * np.outer(hot, x)
        self.sums += weight * x
        self.squares += weight * x**2

    def ranks(self):
        y, weights = np.array(self.y_all), np.array(self.weights_all)
        several = self.w.shape[0] > 1
        hot = y[:, None] == np.arange(self.w.shape[0]) if several else y[:, None]
        means = weights @ hot / weights.sum()
        marginal = np.linalg.norm(self.pulls - np.outer(means, self.sums), axis=0)
        marginal /= np.sqrt(np.where(self.squares > 0, self.squares, 1.0))
        return (np.linalg.norm(self.w, axis=0) * marginal)[:-1]

    def highest(self, among, n):
        """Return so many of the features with the highest ranks; of equal ones the first."""
        return among[np.argsort(-self.ranks()[among], kind="stable")[:n]]

    def final(self):
        return np.where(self.best, self.v, thresh.ENTRY * self.w)

    def close(self, n_slots):
        """Purge what was there when the stage began, and choose the best."""
        rows = len(self.y_all)
        left = max(self.n_features, int(n_slots * min(1.0, thresh.UNPURGED / rows)))
        judged = np.flatnonzero(self.left[: self.judged])
        self.left[np.setdiff1d(judged, self.highest(judged, left))] = False
        best = self.highest(np.flatnonzero(self.left[:n_slots]), self.n_features)
        self.v = self.final()
        self.final_roots[~self.best] = 0.0
        self.best[:-1] = False
        self.best[best] = True
        self.end, self.judged = int(np.ceil(self.end * thresh.GROWTH)), n_slots

    def model(self, n_slots):
        best = self.highest(np.flatnonzero(self.left[:n_slots]), self.n_features)
        mean, spread = self.mean_and_spread()
        coefs = np.zeros((self.w.shape[0], self.w.shape[1] - 1))
        coefs[:, best] = spread * self.final()[:, best]
        return coefs, spread * self.size() * self.v[:, -1] + mean


@kinds
def test_slow_dense_twin_agrees(loss, n_outputs, targets):
    X = ROWS.toarray()
    firsts = np.where((X != 0).any(axis=0), (X != 0).argmax(axis=0), 1000)
    order = np.argsort(firsts, kind="stable")  # columns in the order in which they occur
    for fit_intercept in (True, False):
        training = start(loss, n_outputs, fit_intercept=fit_intercept)
        twin = Twin(loss, n_outputs, 6, 40, fit_intercept)
        for i in range(130):
            learn(training, ROWS[[i]], targets[[i]], WEIGHTS[[i]])
            twin.learn(X[i, order], targets[i], WEIGHTS[i])
            if i + 1 == twin.end:
                twin.close(int(np.count_nonzero(firsts <= i)))
            if i + 1 in (5, 8, 33, 130):
                coefs, intercepts = twin.model(int(np.count_nonzero(firsts <= i)))
                mine, its = dense(training)
                assert_allclose(mine[:, order], coefs, rtol=1e-10, atol=1e-12)
                assert_allclose(its, intercepts, rtol=1e-10, atol=1e-12)


# ------------------------------------------------------------------------------ chunks, failures


@kinds
def test_any_split_and_a_tree_between_give_the_same_bits(loss, n_outputs, targets):
    whole = learn(start(loss, n_outputs), ROWS, targets, WEIGHTS)
    for cuts in (range(131), [0, 7, 8, 60, 130], [0, 12, 130]):
        parts = start(loss, n_outputs)
        for first, last in pairwise(cuts):
            parts = Training.from_tree(copy.deepcopy(parts.tree()), parts.learner)
            learn(parts, ROWS[first:last], targets[first:last], WEIGHTS[first:last])
        assert_same_bits(parts.tree(), whole.tree())


@pytest.mark.parametrize("before", [0, 5, 12, 70])
def test_a_chunk_that_fails_leaves_no_trace(before):
    targets = 2.0 * LABELS - 1
    training = learn(start(), ROWS[:before], targets[:before])
    tree = copy.deepcopy(training.tree())
    for value in (1e200, np.inf):
        bad = ROWS[before : before + 40].toarray()
        bad[-1, :3] = value
        with pytest.raises(Overflow):
            learn(training, bad, targets[before : before + 40])
        assert_same_bits(training.tree(), tree)
    learn(training, ROWS[before:], targets[before:])
    assert_same_bits(training.tree(), learn(start(), ROWS, targets).tree())


def test_a_damaged_tree_is_refused():
    training = learn(start(), ROWS[:61], 2.0 * LABELS[:61] - 1)
    for name, damage in (
        ("roles", lambda one: one + 5),
        ("stage", lambda one: one * [1, 0, 1]),
        ("stage", lambda one: np.add(one, [0, 0, 100])),
        ("numbers", lambda one: one[:4]),
        ("biases", lambda one: one.T),
    ):
        tree = copy.deepcopy(training.tree())
        state = tree["problems"][0]["state"]
        part = state["whole" if name in state["whole"] else "by_slot"]
        part[name] = damage(part[name])
        assert refuses(partial(Training.from_tree, learner=training.learner), tree), name


# ------------------------------------------------------------------------------- what it promises


@pytest.mark.parametrize("loss", NUMBER_LOSSES)
def test_weights_follow_the_unit_and_offset_of_numbers(loss):
    mirrored = {"quantile_10": "quantile_90", "quantile_90": "quantile_10"}
    units = (1000.0, 0.0), (1e-6, 0.0), (1.0, 1e4), (-3.0, 7.0)
    for fit_intercept, (unit, offset) in product((True, False), units):
        offset = offset * fit_intercept
        same = mirrored.get(loss, loss) if unit < 0 else loss
        usual = dense(learn(start(same, fit_intercept=fit_intercept), ROWS, NUMBERS))
        other = start(loss, fit_intercept=fit_intercept)
        coefs, intercepts = dense(learn(other, ROWS, unit * NUMBERS + offset))
        assert_allclose(coefs, unit * usual[0], rtol=1e-8)
        assert_allclose(intercepts, unit * usual[1] + offset, rtol=1e-8)


def test_weights_follow_the_unit_of_rows():
    usual, other = start(), start()
    learn(usual, ROWS, 2.0 * LABELS - 1)
    learn(other, 64.0 * ROWS, 2.0 * LABELS - 1)
    assert_allclose(64.0 * dense(other)[0], dense(usual)[0], rtol=1e-10)
    assert_allclose(dense(other)[1], dense(usual)[1], rtol=1e-10)


@kinds
def test_after_every_row_there_are_no_more_features_than_wanted(loss, n_outputs, targets):
    for n_features in (1, 6, 100):
        training = start(loss, n_outputs, n_features)
        for i in range(130):
            learn(training, ROWS[[i]], targets[[i]])
            columns, weights, intercepts = training.weights()
            assert columns.size <= n_features
            assert weights.shape == (n_outputs, columns.size)
            assert intercepts.shape == (n_outputs,)
            state = training.problems[0].state
            by_slot, _ = training.learner.weights(state)
            assert not by_slot[:, state.used("roles") == PURGED].any()
        assert training.learner.active(state).size <= max(n_features, 12)


def test_without_a_number_a_share_of_the_columns_is_selected():
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(rng.normal(size=(30, 250)))
    training = Training.start(Thresh.of(LOSSES["log_loss"], True), 1, 250)
    learn(training, rows, np.sign(rows.toarray()[:, 0]))
    assert training.weights()[0].size == thresh.LEAST


@pytest.mark.jit
def test_a_planted_feature_is_found_and_one_that_comes_late_as_well():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 60))
    X[:500, 50] = 0.0  # a column that does not occur until then
    y = np.sign(X[:, 7] + 0.1 * rng.normal(size=900))
    y[500:] = np.sign(X[500:, 50] + 0.1 * rng.normal(size=400))
    training = Training.start(Thresh.of(LOSSES["log_loss"], True, 1), 1, 60)
    learn(training, X[:500], y[:500])
    columns, weights, _ = training.weights()
    assert columns.tolist() == [7]
    assert weights[0, 0] > 1.0
    learn(training, X[500:], y[500:])
    assert training.weights()[0].tolist() in ([7], [50])
    assert 50 in training.vocabulary.columns[training.learner.active(training.problems[0].state)]


def test_classes_share_their_features():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 30))
    y = X[:, :3].argmax(axis=1).astype(float)
    training = Training.start(Thresh.of(LOSSES["log_loss"], True, 3, 3), 1, 30)
    columns, weights, _ = learn(training, X, y).weights()
    assert columns.tolist() == [0, 1, 2]
    assert (weights.argmax(axis=1) == np.arange(3)).all()
    assert np.mean((X[:, :3] @ weights.T).argmax(axis=1) == y) > 0.9


@pytest.mark.jit
def test_the_order_of_rows_hardly_matters(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(3)
    n, p, k = 2000, 400, 20
    X = sparse.random_array((n, p), density=0.1, rng=rng, data_sampler=rng.exponential).tocsr()
    X = sparse.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X
    w = rng.normal(size=p) * np.arange(1, p + 1) ** -0.7
    y = np.where(X @ w * 15 + rng.logistic(size=n) > 0, 1.0, -1.0)
    selected = []
    for _ in range(4):
        order = rng.permutation(n)
        training = Training.start(Thresh.of(LOSSES["log_loss"], True, k), 1, p)
        selected.append(set(learn(training, X[order], y[order]).weights()[0].tolist()))
    common = [len(a & b) / k for a, b in pairwise(selected)]
    assert np.mean(common) > 0.85
