"""Stabilized truncated SGD: the slow dense twin, identities, the same bits whatever the chunks."""

import copy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import refuses
from dense_stabilized import stabilized
from thresher.draws import burst_weights, permutation
from thresher.files.errors import ModelFileError
from thresher.losses import LOSSES
from thresher.online.protocol import Overflow
from thresher.online.quantile import quantile
from thresher.online.sgd import PlainSGD
from thresher.online.stabilized import StabilizedTruncatedSGD
from thresher.online.stages import KEEP, annealed_rejection_rate, grown_burst_size
from thresher.online.truncated_gradient import TruncatedGradient
from thresher.online.updates import Updates
from thresher.rows import Rows
from thresher.threads import Threads, threads
from thresher.validation import check_parameters

SEED = 5


def defaults_of(parameters):
    return {one.name: one.default for one in parameters}


SMALL = {"n_paths": 3, "burst_size": 4, "bursts_per_stage": 3, "eta0": 0.3}
PAPER = {"selection": "informative", "shrinkage": "linear"}


def learner_of(cls=StabilizedTruncatedSGD, loss="log_loss", fit_intercept=True, **changes):
    stream = changes.pop("stream", False)
    more = {"seed": SEED, "stream": stream} if cls is StabilizedTruncatedSGD else {}
    values = {**defaults_of(cls.parameters), **changes}
    return cls.of(LOSSES[loss], fit_intercept, values, **more)


def small(**changes):
    return learner_of(**{**SMALL, **changes})


class Problem:
    """Random rows whose first columns matter, the columns numbered as they appear."""

    def __init__(self, n=60, p=30, density=0.3, seed=0, dense=False):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p)) * (dense or rng.random((n, p)) < density)
        occurs = X.any(axis=0)
        first = np.where(occurs, np.argmax(X != 0, axis=0), n)
        self.X = X[:, np.argsort(first, kind="stable")]
        self.y = np.where(X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
        self.importance = rng.uniform(0.5, 1.5, n)
        self.rows = Rows.of(sparse.csr_array(self.X))
        self.n, self.p, self.n_slots = n, p, int(occurs.sum())

    def orders(self, learner, passes):
        paths = range(learner.n_orders)
        return [
            np.concatenate([permutation(SEED, path, k, self.n) for k in range(passes)])
            for path in paths
        ]

    def pace(self, learner, n_updates):
        """Steps that decay, and the size of the constant input."""
        steps = learner.steps.lengths(np.arange(1, n_updates + 1), np.ones(n_updates))
        return steps, learner.steps.biases(np.linspace(1.0, 2.0, n_updates))

    def fit(self, learner, passes=3, chunk=None, run=None, compact=False, state=None):
        """Learn passes over the rows at hand, so many updates at a time."""
        if state is None:
            state = learner.start(self.p)
            state.grow(self.n_slots, self.p)
        orders, rows, first = self.orders(learner, passes), self.rows, 0
        n_updates = orders[0].size
        steps, biases = self.pace(learner, n_updates)
        while first < n_updates and not learner.finished(state):
            last = min(n_updates, first + min(learner.room(state), chunk or n_updates))
            now = slice(first, last)
            updates = [
                Updates(o[now], steps[now], biases[now], biases[now], self.y, self.importance)
                for o in orders
            ]
            learner.advance(state, rows, updates, run or Threads())
            first = last
            if learner.room(state) == 0:
                learner.close(state)
                active = learner.active(state)
                rows = self.rows.only(active) if compact and active is not None else rows
        return state

    def stream(self, learner, chunk, state=None, first=0, last=None, width=None):
        """Learn the rows in their order, columns appearing on the way, of ``width`` if known."""
        state = learner.start(width or 0) if state is None else state
        steps, biases = self.pace(learner, self.n)
        last = self.n if last is None else last
        while first < last and not learner.finished(state):
            begin, first = first, min(first + min(learner.room(state), chunk), last)
            rows, at = self.rows.part(begin, first), slice(begin, first)
            n_slots = max(state.n_slots, int(rows.columns.max(initial=0)) + 1)
            state.grow(n_slots, width or n_slots)
            here = steps[at], biases[at], biases[at], self.y[at], self.importance[at]
            learner.advance(state, rows, [Updates(np.arange(rows.n), *here)], Threads())
            if learner.room(state) == 0:
                learner.close(state)
        return state

    def twin(self, learner, changes, orders):
        steps, biases = self.pace(learner, orders[0].size)
        shared = learner.rules.shared
        orders = orders * learner.n_paths if shared else orders

        def weights_of(number):
            if not shared:
                return np.ones(learner.n_paths)
            return burst_weights(SEED, number, 1, learner.n_paths, KEEP)[:, 0]

        values = {**defaults_of(learner.parameters), **SMALL, "loss": "log_loss", **changes}
        for name in ("n_paths", "paths", "eta0", "learning_rate"):
            del values[name]
        task = self.X, self.y, self.importance, orders, steps, biases, weights_of
        return stabilized(*task, **values)


def leaves(tree):
    for name, value in sorted(tree.items()):
        if isinstance(value, dict):
            yield from ((f"{name}/{inner}", leaf) for inner, leaf in leaves(value))
        else:
            yield name, np.array(value)


def assert_same_trees(one, other):
    one, other = dict(leaves(one)), dict(leaves(other))
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def assert_agrees(learner, state, twin, n_slots):
    """Compare with the twin: every stage, weights, probabilities, what is stable."""
    history = learner.history(state)
    assert len(history) == len(twin.history)
    for record, expected in zip(history, twin.history, strict=True):
        assert record == pytest.approx(expected, rel=1e-10, abs=1e-10)
    weights, bias = learner.weights(state)
    assert_allclose(weights, twin.W.mean(axis=0)[:n_slots], rtol=1e-10, atol=1e-10)
    assert_allclose(bias, twin.V.mean(), rtol=1e-10, atol=1e-10)
    assert_array_equal(learner.stable(state), twin.stable[:n_slots])
    assert_allclose(learner.probabilities(state), twin.probability[:n_slots], rtol=1e-12)
    unseen = np.unique(twin.stable[n_slots:])
    assert unseen.size == 0 or unseen == [learner.keeps_unseen(state)]


# ------------------------------------------------------------------------------ the dense twin

SETTINGS = [
    {},
    {"annealing_rate": -3.0, "rejection_rate": 0.5},
    {"annealing_rate": 2.0, "min_evidence": 8, "purge_threshold": 0.5},
    {"burst_growth": 0.3, "learning_rate": "invsqrt"},
    {"gravity": 0.02, "purge_threshold": 0.5},
    {"loss": "squared_hinge", "eta0": 0.05, "purge_threshold": 0.3, "n_paths": 1},
]


# Each pair of ways to shuffle, to select and to shrink.
WAYS = [
    {"paths": paths, "selection": selection, "shrinkage": shrinkage}
    for paths, selection, shrinkage in (
        ("permutation", "informative", "linear"),
        ("permutation", "every", "sqrt"),
        ("shared", "informative", "sqrt"),
        ("shared", "every", "linear"),
    )
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_agrees_with_dense_twin(settings):
    problem = Problem()
    for way in WAYS:
        changes = {**way, **settings}
        learner = small(**changes)
        state = problem.fit(learner, compact=True)
        twin = problem.twin(learner, changes, problem.orders(learner, 3))
        assert len(twin.history) > 3
        assert_agrees(learner, state, twin, problem.n_slots)


@pytest.mark.parametrize("selection", ["informative", "every"])
def test_stream_agrees_with_dense_twin(selection):
    changes = {"selection": selection, "min_evidence": 20}
    problem, learner = Problem(n=100, p=90, density=0.1), small(stream=True, **changes)
    twin = problem.twin(learner, changes, [np.arange(problem.n)])
    assert 0 < twin.stable.sum() < problem.p
    for chunk in (1, 7, 100):
        state = problem.stream(learner, chunk, width=problem.p)
        assert_agrees(learner, state, twin, state.n_slots)


# ----------------------------------------------------------------------------------- identities


def plain(learner, problem, passes):
    """Return the weights of a classic learner."""
    state = learner.start(problem.p)
    state.grow(problem.n_slots, problem.p)
    orders = problem.orders(learner, passes)
    steps, biases = problem.pace(learner, orders[0].size)
    updates = Updates(orders[0], steps, biases, biases, problem.y, problem.importance)
    learner.advance(state, problem.rows, [updates], Threads())
    return learner.weights(state)


@pytest.mark.parametrize("loss", LOSSES)
def test_gravity_zero_is_sgd(loss):
    common = {"loss": loss, "eta0": 0.02}
    problem = Problem()
    sgd = plain(learner_of(PlainSGD, learning_rate="constant", **common), problem, 2)
    for selection, nothing in product(("informative", "every"), ("gravity", "rejection_rate")):
        changes = {"purge_threshold": 0.0, "selection": selection, nothing: 0.0}
        path = small(n_paths=1, **changes, **common)
        weights, bias = path.weights(problem.fit(path, 2))
        assert_array_equal(weights, sgd[0])
        assert bias == sgd[1]


@pytest.mark.parametrize("loss", LOSSES)
def test_informative_bursts_on_dense_rows_are_truncated_gradient_bursts(loss):
    common = {"loss": loss, "eta0": 0.02, "gravity": 0.003, "burst_size": 5}
    problem = Problem(p=9, dense=True)
    truncated = plain(learner_of(TruncatedGradient, learning_rate="constant", **common), problem, 2)
    path = small(n_paths=1, purge_threshold=0.0, shrinkage="linear", **common)
    weights, bias = path.weights(problem.fit(path, 2))
    assert_allclose(weights, truncated[0], rtol=1e-12, atol=1e-14)
    assert (weights == 0).any() or loss != "log_loss"
    assert bias == pytest.approx(truncated[1], rel=1e-12)


def test_independent_paths_of_one_order_are_one_path():
    problem = Problem()
    one, learner = small(n_paths=1), small(n_paths=4)
    problem.orders = lambda learner, passes: [permutation(SEED, 0, 0, 60)] * learner.n_orders
    expected, state = problem.fit(one), problem.fit(learner)
    assert_allclose(learner.weights(state)[0], one.weights(expected)[0], rtol=1e-14)
    assert learner.history(state) == one.history(expected)


def test_no_intercept_is_learned_unless_wanted():
    problem = Problem()
    assert small(fit_intercept=False).weights(problem.fit(small(fit_intercept=False)))[1] == 0.0
    assert small().weights(problem.fit(small()))[1] != 0.0


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


# ---------------------------------------------------------------- chunks, threads, and compaction

LAYOUTS = [
    {},
    {"paths": "shared", "n_paths": 5},
    {"burst_growth": 0.2, **PAPER},
    {"min_evidence": 9, "n_paths": 1},
]


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_same_bits_for_chunks_and_compact_rows(changes):
    problem, learner = Problem(n=150), small(**changes)
    whole = problem.fit(learner)
    assert not learner.stable(whole).all()
    for options in ({"chunk": 1}, {"chunk": 7}, {"compact": True}):
        state = problem.fit(learner, **options)
        assert_array_equal(state.stable, whole.stable)
        assert learner.history(state) == learner.history(whole)
        for one, other in zip(learner.weights(state), learner.weights(whole), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_same_bits_for_chunks_of_a_stream_whose_columns_nobody_knows(changes):
    problem, learner = Problem(n=100, p=90, density=0.1), small(stream=True, **changes)
    whole = problem.stream(learner, 100)
    assert not whole.stable.all()
    for chunk in (1, 7):
        assert_same_trees(problem.stream(learner, chunk).tree(), whole.tree())


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_same_bits_for_threads(monkeypatch, changes):
    monkeypatch.setattr("thresher.online.stabilized.WORTH_THREADS", 0)
    problem, learner = Problem(n=100), small(**changes)
    alone = problem.fit(learner).tree()
    for n_jobs in (2, 3):
        with threads(n_jobs) as run:
            assert_same_trees(problem.fit(learner, run=run).tree(), alone)


def test_many_stages_in_one_call():
    """More than the history has room for, and rows that lengthen so that ratios need more room."""
    rng = np.random.default_rng(0)
    problem = Problem(n=200, p=25, dense=True)
    problem.X[:50] *= rng.random((50, 25)) < 0.05
    problem.rows = Rows.of(sparse.csr_array(problem.X))
    learner = small(n_paths=2, burst_size=1, bursts_per_stage=2, purge_threshold=0.0)
    rows, state = problem.rows, learner.start(25)
    state.grow(25, 25)
    ones = np.ones(200)
    updates = [Updates(np.arange(200), ones, ones, ones, problem.y, ones)] * 2
    learner.advance(state, rows, updates, Threads())
    learner.close(state)
    assert [record["stage"] for record in learner.history(state)] == list(range(1, 101))


# ---------------------------------------------------------------------------- what purging means


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_purged_stay_purged(changes):
    problem, learner = Problem(), small(**changes)
    state, gone = None, np.zeros(problem.n_slots, bool)
    for _ in range(4):
        state = problem.fit(learner, 1, state=state)
        weights, _ = learner.weights(state)
        assert not weights[gone].any()
        assert not learner.stable(state)[gone].any()
        gone = ~learner.stable(state)
        assert not weights[gone].any()
    assert gone.any()
    counts = [record["stable"] for record in learner.history(state)]
    assert counts == sorted(counts, reverse=True)
    active = learner.active(state)
    assert active is not None
    assert_array_equal(active, ~gone)


def test_all_features_may_be_purged():
    problem, learner = Problem(), small(purge_threshold=1.0, rejection_rate=1.0, annealing_rate=-9)
    state = problem.fit(learner, 10)
    assert learner.finished(state)
    assert not learner.weights(state)[0].any()
    last = learner.history(state)[-1]
    assert (last["stable"], last["nonzero"]) == (0, 0)


@pytest.mark.parametrize("selection", ["informative", "every"])
def test_columns_that_appear_late(selection):
    """No burst has selected them; whether that counts depends on how features are selected."""
    problem, learner = Problem(), small(selection=selection)
    state = problem.fit(learner)
    state.grow(problem.n_slots + 2, problem.p + 2)
    kept = selection == "informative"
    assert learner.keeps_unseen(state) == kept
    assert_array_equal(learner.stable(state)[-2:], kept)
    assert_array_equal(learner.probabilities(state)[-2:], float(kept))
    # a stream goes on as long as some may come
    learner = small(stream=True, selection=selection, purge_threshold=1.0, gravity=1e9)
    state = problem.stream(learner, 100)
    assert not state.stable.any()
    assert learner.finished(state) != kept
    state.grow(state.n_slots + 1, problem.p + 1)
    assert state.stable.any() == kept


def test_settles_only_once_there_is_gravity():
    assert not small().settles(small().start(3))
    assert small(gravity=0.1).settles(small(gravity=0.1).start(3))
    assert small().settles(Problem().fit(small()))


def test_parameters_allow_their_defaults():
    parameters = StabilizedTruncatedSGD.parameters
    check_parameters("it", defaults_of(parameters), parameters)


def test_overflow_names_its_row():
    problem, learner = Problem(), small(loss="squared_error", eta0=1e200)
    with pytest.raises(Overflow) as error:
        problem.fit(learner)
    assert 0 <= error.value.row < problem.n
    state = learner.start(1)
    state.grow(1, 1)
    assert state.finite(np.arange(1))
    state.arrays["weights"][2, 0] = np.inf
    assert not state.finite(np.arange(1))


# ------------------------------------------------------------------------------ saving, restoring


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_savepoint_undoes_a_chunk(changes):
    problem, learner = Problem(n=100, p=60, density=0.1), small(stream=True, **changes)
    whole = problem.stream(learner, 100).tree()
    for at, n in product((3, 12, 41, 57), (1, 6, 40)):
        state = problem.stream(learner, 9, last=at)
        kept = copy.deepcopy(state.tree())
        touched = np.unique(problem.rows.part(at, at + n).columns)
        restore = state.savepoint(touched[touched < state.n_slots], n)
        problem.stream(learner, n, state, at, at + n)
        restore()
        assert_same_trees(state.tree(), kept)
        problem.stream(learner, 9, state, at)
        assert_same_trees(state.tree(), whole)


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_learning_goes_on_from_a_tree(changes):
    problem, learner = Problem(n=100, p=60, density=0.1), small(stream=True, **changes)
    whole = problem.stream(learner, 50).tree()
    for at in (0, 3, 12, 70):
        state = problem.stream(learner, 9, last=at)
        read = learner.start(problem.p).from_tree(state.tree())
        assert_same_trees(read.tree(), state.tree())
        assert_same_trees(problem.stream(learner, 9, read, at).tree(), whole)


def test_damaged_trees_are_refused():
    problem, learner = Problem(), small(stream=True, purge_threshold=0.1)
    good = problem.stream(learner, 9, last=54).tree()
    untouched = good["arrays"]["by_slot"]["touches"] == 0
    damages = [
        *(("arrays", "whole", "counts", place, 0) for place in (0, 1, 2, 8, 9)),
        *(("arrays", "whole", "counts", place, -1) for place in range(13)),
        ("arrays", "whole", "counts", 3, 10**6),
        ("burst", "touched", 0, 1000),
        ("pool", "owners", 0, 1000),
        ("arrays", "by_slot", "touches", untouched, 1),
    ]
    for *names, place, value in damages:
        tree = part = copy.deepcopy(good)
        for name in names:
            part = part[name]
        part[place] = value
        assert refuses(learner.start(problem.p).from_tree, tree), (names, place, value)
    with pytest.raises(ModelFileError):
        small(n_paths=2).start(3).from_tree(small(n_paths=4).start(3).tree())
