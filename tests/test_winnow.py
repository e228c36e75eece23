"""Winnow: penalized fits and their slow twin, screening, elimination, folds, what they choose."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse

from cases import NO_JIT
from thresher.losses import HINGE, LOSSES, slope_of, value_of
from thresher.prepare import Preparation
from thresher.rows import Rows
from thresher.threads import Threads
from thresher.winnow.eliminate import SMALLEST, Field, Final, Refit, Way, eliminate, sizes_down
from thresher.winnow.folds import (
    FINALS,
    STRENGTHS,
    WAYS,
    WEAKER,
    Choice,
    Table,
    choose,
    choose_size,
    fold_table,
    held_errors,
    held_losses,
    mean,
    standard_error,
)
from thresher.winnow.path import Plan, at_most, fold_of, rows_in_fold, winnow
from thresher.winnow.ridge import Problem, fit_ridge
from thresher.winnow.screen import Sample, Sums, n_screened

ONE = Threads()
# Loss and number of outputs of everything that the flagship fits.
KINDS = [*((loss.name, 1) for loss in LOSSES.values() if loss.code != HINGE), ("log_loss", 3)]
# One of classes, of several classes, of numbers: where the loss is only passed on
FEW = [("log_loss", 1), ("log_loss", 3), ("huber", 1)]
kinds, few = (
    pytest.mark.parametrize(("loss", "n_outputs"), some, ids=[f"{a}-{k}" for a, k in some])
    for some in (KINDS, FEW)
)


def rows_of(dense):
    return Rows.of(sparse.csr_array(dense))


def targets_for(scores, loss, n_outputs, rng):
    """Return targets that depend on scores, with noise."""
    noisy = scores + 0.5 * rng.normal(size=scores.size)
    if n_outputs > 1:
        return np.digitize(noisy, np.quantile(noisy, np.arange(1, n_outputs) / n_outputs)) * 1.0
    return noisy if LOSSES[loss].of_numbers else np.where(noisy > 0.2, 1.0, -1.0)


def make_sample(loss="log_loss", n_outputs=1, n=60, p=12, seed=3, intercept=True, density=0.6):
    """Return a sample, and its rows as a dense table; columns 0, 1 and 2 count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < density)
    y = targets_for(X[:, :3] @ [2.0, -1.5, 1.0], loss, n_outputs, rng)
    code, in_length = LOSSES[loss].code, np.zeros(p, np.bool_)
    ones = np.ones(n)
    return Sample(rows_of(X), p, y, ones, code, n_outputs, intercept, in_length), X


def make_problem(loss, n_outputs, intercept, offset=0.0, weighted=False, n=40, p=5):
    """Return a problem with centred columns if there is an intercept, and dense rows."""
    sample, X = make_sample(loss, n_outputs, n, p, intercept=intercept)
    if offset:
        X = X + offset * np.arange(1, p + 1)
    weights = np.random.default_rng(5).choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    rows, targets = rows_of(X), sample.targets
    problem = Problem(rows, targets, weights, sample.loss, n_outputs, intercept, np.zeros(p))
    return problem.centred(), X


def fitted(problem, strength=1.0, precision=1e-9):
    """Return weights by column and output, and intercepts of rows that are not centred."""
    p, k = problem.centres.size, problem.n_outputs
    weights = np.zeros((p + 1) * k)
    fit_ridge(problem, np.full(p, 1.0 / strength), weights, precision)
    table = weights.reshape(p + 1, k)
    return table[:-1], table[-1] - problem.centres @ table[:-1]


def assert_close_fits(one, other, atol, intercepts_atol=None):
    """Assert that weights and intercepts agree; of several classes only differences matter."""
    (w, b), (its_w, its_b) = one, other
    assert_allclose(w, its_w, atol=atol)
    b, its_b = (x - x.mean() * (x.size > 1) for x in (b, its_b))
    assert_allclose(b, its_b, atol=intercepts_atol or atol)


# ------------------------------------------------------------------------------- the slow twin


def dense_loss(margins, targets, code):
    """Return losses of rows and their slopes, from margins with a column per output."""
    if margins.shape[1] > 1:
        shares = np.exp(margins - margins.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        hot = targets[:, np.newaxis] == np.arange(margins.shape[1])
        return -np.log((shares * hot).sum(axis=1)), shares - hot
    pairs = list(zip(margins[:, 0].tolist(), targets.tolist(), strict=True))
    values = np.array([value_of(code, *pair) for pair in pairs])
    return values, np.array([slope_of(code, *pair) for pair in pairs])[:, np.newaxis]


def dense_ridge(X, problem, strength=1.0):
    """Minimize the penalized loss by BFGS, dense and not centred."""
    p, k = X.shape[1], problem.n_outputs

    def cost(flat):
        table = flat.reshape(p + 1, k)
        w, b = table[:-1], table[-1] * problem.intercept
        losses, slopes = dense_loss(X @ w + b, problem.targets, problem.loss)
        slopes = slopes * problem.importance[:, np.newaxis]
        value = problem.importance @ losses + 0.5 / strength * np.sum(w**2)
        ends = slopes.sum(axis=0) * problem.intercept
        return value, np.vstack([X.T @ slopes + w / strength, ends]).ravel()

    start = np.zeros((p + 1) * k)
    found = optimize.minimize(cost, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    table = found.x.reshape(p + 1, k)
    return table[:-1], table[-1] * problem.intercept


@kinds
def test_ridge_equals_a_dense_twin(loss, n_outputs):
    for intercept, weighted in ((True, False), (True, True), (False, True)):
        # no tenth of 41 rows is whole: between two rows there is no single best quantile
        problem, X = make_problem(loss, n_outputs, intercept, weighted=weighted, n=41)
        for strength in (0.05, 20.0):
            assert_close_fits(fitted(problem, strength), dense_ridge(X, problem, strength), 1e-6)


@kinds
def test_columns_far_from_zero_change_no_weight(loss, n_outputs):
    near, _ = make_problem(loss, n_outputs, True)
    far, _ = make_problem(loss, n_outputs, True, 1000.0)
    far_w, far_b = fitted(far, precision=1e-7)
    assert_close_fits((far_w, far_b + 1000.0 * np.arange(1, 6) @ far_w), fitted(near), 1e-5, 1e-4)


@kinds
def test_the_gradient_is_as_small_as_asked_for(loss, n_outputs):
    for intercept, precision in product((True, False), (1.0, 1e-3, 1e-8)):
        problem, X = make_problem(loss, n_outputs, intercept)
        table = np.vstack(fitted(problem, precision=precision))
        _, slopes = dense_loss(X @ table[:-1] + table[-1], problem.targets, problem.loss)
        gradient = np.vstack([(X - problem.centres).T @ slopes + table[:-1], slopes.sum(axis=0)])
        assert np.linalg.norm(gradient[: None if intercept else -1]) <= precision * 1.01


@few
def test_empty_rows_of_one_target_are_one(loss, n_outputs):
    problem, X = make_problem(loss, n_outputs, True)
    X[::3] = 0.0
    targets = problem.targets.copy()
    targets[::3] = np.where(np.arange(targets[::3].size) % 2, targets[1], targets[2])
    whole = problem._replace(rows=rows_of(X), targets=targets).centred()
    small = whole.without_empty_rows()
    assert small.targets.size <= 40 - 14 + 2
    assert small.importance.sum() == 40
    assert small.without_empty_rows() is small
    assert_close_fits(fitted(whole), fitted(small), 1e-7)


@kinds
def test_extreme_units_stay_finite(loss, n_outputs):
    problem, X = make_problem(loss, n_outputs, True)
    for scale in (1e-8, 1e8):
        extreme = problem._replace(rows=rows_of(X * scale)).centred()
        assert all(np.isfinite(part).all() for part in fitted(extreme))


# ------------------------------------------------------------------------------------ screening


def hot(sample):
    """Return targets with a column per output."""
    y = sample.targets[:, np.newaxis]
    return (y == np.arange(sample.n_outputs)).astype(float) if sample.n_outputs > 1 else y


def dense_sums(sample, X):
    """Return the sums that screening needs, by NumPy."""
    s, y = sample.importance, hot(sample)
    return Sums(s.sum(), s @ y, s @ y**2, s @ X, s @ X**2, (X * s[:, np.newaxis]).T @ y)


@few
def test_sums_equal_numpy_and_add_up_over_chunks(loss, n_outputs):
    sample, X = make_sample(loss, n_outputs)
    sample = sample._replace(importance=np.random.default_rng(1).random(60))
    whole = Sums.of(sample)
    one, two, three = (Sums.of(sample.at(np.arange(*ends))) for ends in ((0, 1), (1, 40), (40, 60)))
    parts = one + two + three
    for mine, added, its in zip(whole, parts, dense_sums(sample, X), strict=True):
        assert_allclose(mine, its, atol=1e-12)
        assert_allclose(added, its, atol=1e-12)


@few
def test_certainties_are_squared_z(loss, n_outputs):
    for intercept in (True, False):
        sample, X = make_sample(loss, n_outputs, intercept=intercept)
        y = hot(sample)
        if intercept:
            X, y = X - X.mean(axis=0), y - y.mean(axis=0)
        correlations = X.T @ y / np.sqrt(np.outer((X**2).sum(axis=0), (y**2).sum(axis=0)))
        found = Sums.of(sample).certainties(intercept)
        assert_allclose(found, 60 * (correlations**2).max(axis=1), rtol=1e-10)


def test_the_most_certain_columns_are_kept_in_order():
    sample, _ = make_sample()
    sums = Sums.of(sample)
    best = np.argsort(-sums.certainties(True))[:4]
    assert_array_equal(sums.most_certain(4, True), np.sort(best))
    assert_array_equal(sums.most_certain(50, True), np.arange(12))
    assert [n_screened(k) for k in (1, 200, 201)] == [1000, 1000, 1005]


def test_columns_that_do_not_vary_are_left_out():
    for intercept in (True, False):
        sample, X = make_sample(intercept=intercept)
        X[:, 4], X[:, 5] = 0.0, 7.0
        sums = Sums.of(sample._replace(rows=rows_of(X)))
        assert (4 in sums.most_certain(100, intercept)) is False
        assert (5 in sums.most_certain(100, intercept)) is not intercept
        assert sums.metric(intercept)[4] == 0.0


def test_in_their_metric_rows_have_length_one():
    sample, X = make_sample(density=1.0)
    scaled = X * Sums.of(sample).metric(True)
    assert np.sum(scaled.var(axis=0)) == pytest.approx(1.0)


# ---------------------------------------------------------------------------------- elimination


def test_sizes_fall_evenly_to_every_goal():
    goals_of = {1: [1], 7: [7], 1000: range(1, 11), 30: [200, 4, 11], 5: [9]}
    for first, goals in goals_of.items():
        sizes = sizes_down(first, goals)
        assert sizes[0] == first
        assert all(a > b >= 0.45 * a - 1 for a, b in pairwise(sizes))
        assert {goal for goal in goals if goal <= first} <= set(sizes)


@kinds
def test_elimination_drops_the_weakest_down_to_one(loss, n_outputs):
    for intercept in (True, False):
        sample, _ = make_sample(loss, n_outputs, intercept=intercept)
        field = Field.of(sample, Sums.of(sample), 100)
        sizes, before = [12, 7, 3, 1], np.arange(12)
        for size, (left, weights) in zip(sizes, eliminate(field, 1.0, sizes), strict=True):
            assert left.columns.size == size
            assert weights.size == (size + 1) * n_outputs
            assert_array_equal(left.factors, field.factors[np.isin(field.columns, left.columns)])
            assert np.isin(left.columns, before).all()
            before = left.columns
        assert before[0] in (0, 1, 2)
        left, _ = next(eliminate(field, 1.0, [3]))
        assert set(left.columns) == {0, 1, 2}


def test_the_columns_that_leave_have_the_smallest_weights():
    sample, _ = make_sample("log_loss", 3)
    field = Field.of(sample, Sums.of(sample), 100)
    weights = np.random.default_rng(0).normal(size=13 * 3)
    left, kept = field.strongest(weights, 5)
    norms = np.linalg.norm(weights.reshape(13, 3)[:12], axis=1)
    assert_array_equal(left.columns, np.sort(np.argsort(-norms)[:5]))
    assert_array_equal(kept.reshape(6, 3)[-1], weights[-3:])


def test_a_field_without_columns_has_only_an_intercept():
    sample, X = make_sample()
    sample = sample._replace(rows=rows_of(0.0 * X))
    field = Field.of(sample, Sums.of(sample), 100, held=sample.rows)
    (left, weights), *_ = eliminate(field, 1.0, [5])
    assert left.columns.size == 0
    share = np.mean(sample.targets == 1)
    (ready, final), *_ = Refit(1e-8).fit(left, weights, [Final(Way(True, False), 1.0)])
    assert ready.held_margins(final)[0] == pytest.approx(np.log(share / (1 - share)), abs=1e-6)


def in_length_scaled(X, counts):
    """Return rows whose columns that count are divided by their length."""
    lengths = np.linalg.norm(X * counts, axis=1, keepdims=True)
    return np.where(counts, X / np.where(lengths > 0, lengths, 1.0), X)


@kinds
def test_final_weights_equal_a_fit_of_rows_scaled_by_hand(loss, n_outputs):
    for way, intercept in zip(WAYS, (True, False, False, True), strict=True):
        sample, X = make_sample(loss, n_outputs, intercept=intercept)
        in_length = np.arange(12) % 4 > 0  # every fourth column is measured
        X = in_length_scaled(X, in_length)
        sample = sample._replace(rows=rows_of(X), in_length=in_length)
        field = Field.of(sample, Sums.of(sample), 100)
        left, weights = next(eliminate(field, 0.5, [5]))
        (ready, final), *_ = Refit(1e-10).fit(left, weights, [Final(way, 3.0)])
        mine, b = ready.prepared_weights(final)
        by_hand = X[:, left.columns]
        if way.kept_length:
            by_hand = in_length_scaled(by_hand, in_length[left.columns])
        factors = left.factors
        if way.adaptive:
            sizes = np.linalg.norm(weights.reshape(6, n_outputs)[:5], axis=1)
            factors = factors * np.maximum(sizes / sizes.max(), SMALLEST)
        scaled = by_hand * factors
        around = scaled - scaled.mean(axis=0) * intercept
        unit = np.sqrt(np.mean(np.sum(around**2, axis=1)))
        problem = left.problem._replace(targets=sample.targets, importance=sample.importance)
        w, its_b = dense_ridge(scaled / unit, problem, 3.0)
        w = w * (factors / unit)[:, np.newaxis]
        assert_allclose(mine.T, w, rtol=1e-5, atol=1e-6)
        assert_close_fits((mine.T, b), (w, its_b), 1e-5)


def test_held_margins_are_those_of_prepared_weights():
    sample, X = make_sample("log_loss", 3)
    train, held = np.arange(40), np.arange(40, 60)
    some = sample.at(train)
    field = Field.of(some, Sums.of(some), 100, sample.rows.at(held))
    left, weights = next(eliminate(field, 1.0, [4]))
    (ready, final), *_ = Refit().fit(left, weights, [Final(WAYS[0], 3.0)])
    w, b = ready.prepared_weights(final)
    assert_allclose(ready.held_margins(final), X[held][:, left.columns] @ w.T + b, atol=1e-10)


# ---------------------------------------------------------------------------------------- folds


def thirds(n=60):
    """Return three folds of every third row."""
    places = np.arange(n)
    return [(places[places % 3 != k], places[places % 3 == k]) for k in range(3)]


def table_of(sample, sizes=(6, 3, 1), score=None):
    field = [fold_of(sample, split, rows_in_fold(sample, split), 100) for split in thirds()]
    return fold_table(field, list(sizes), ONE, score)


@kinds
def test_held_losses_and_errors_are_those_of_margins(loss, n_outputs):
    rng, code = np.random.default_rng(2), LOSSES[loss].code
    margins = rng.normal(size=(20, n_outputs))
    targets = targets_for(margins[:, 0], loss, n_outputs, rng)
    assert_allclose(held_losses(margins, targets, code), dense_loss(margins, targets, code)[0])
    errors = held_errors(margins, targets, code)
    if LOSSES[loss].of_numbers:
        assert_allclose(errors, (margins[:, 0] - targets) ** 2)
    else:
        predicted = margins.argmax(axis=1) if n_outputs > 1 else np.sign(margins[:, 0])
        assert_array_equal(errors, predicted != targets)


@few
def test_a_table_has_every_row_once(loss, n_outputs):
    sample, _ = make_sample(loss, n_outputs)
    table = table_of(sample)
    shape = 60, len(table.strengths), 3, len(FINALS)
    assert table.strengths[: len(STRENGTHS)] == STRENGTHS
    assert table.losses.shape == table.errors.shape == shape
    assert np.isfinite(table.losses).all()
    assert [final.strength for final in table.finals] == list(FINALS)
    assert len({final.way for final in table.finals}) == 1
    assert not table.finals[0].way.kept_length
    for fold in table.columns:
        for by_size in fold:
            assert [columns.size for columns in by_size] == [6, 3, 1]


@few
def test_a_fold_never_sees_its_own_rows(loss, n_outputs):
    """Held-out rows may hold anything: what is selected without them stays the same."""
    sample, X = make_sample(loss, n_outputs)
    split = thirds()[0]
    poisoned, targets = X.copy(), sample.targets.copy()
    poisoned[split[1]] = 1000.0 * np.sign(sample.targets[split[1]] - 0.5)[:, np.newaxis]
    targets[split[1]] = targets[split[1]][::-1]
    other = sample._replace(rows=rows_of(poisoned), targets=targets)
    for strength in STRENGTHS:
        ways = []
        for one in (sample, other):
            fold = fold_of(one, split, rows_in_fold(one, split), 100)
            ways.append(list(eliminate(fold.field, strength, [6, 3, 1])))
        for (left, weights), (its_left, its_weights) in zip(*ways, strict=True):
            assert_array_equal(left.columns, its_left.columns)
            assert_array_equal(left.factors, its_left.factors)
            assert_array_equal(weights, its_weights)


def test_the_length_of_rows_that_loses_less_is_chosen():
    """Words that nobody selects make rows long: a length of the selected words is better."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 12)) * (rng.random((60, 12)) < 0.5)
    X[:, :2] = rng.permuted(np.tile([1.0, 0.5], (60, 1)), axis=1)
    y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
    X[:, 2:] *= rng.choice([0.1, 30.0], 60)[:, np.newaxis]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    sample, _ = make_sample()
    sample = sample._replace(rows=rows_of(X), targets=y, in_length=np.ones(12, np.bool_))
    table = table_of(sample, (2, 1))
    assert len(table.finals) == len(FINALS)
    assert {final.way.kept_length for final in table.finals} == {True}


def test_of_many_rows_those_of_rare_classes_stay():
    sample, _ = make_sample(n=400)
    targets = np.where(np.arange(400) % 100 == 7, 1.0, -1.0)  # four rows
    sample = sample._replace(targets=targets)
    places = np.arange(100, 400)
    part = at_most(sample, places, 60)
    assert part.places.size == pytest.approx(60, abs=5)
    assert np.isin(part.places, places).all()
    assert np.unique(part.places).size == part.places.size
    positive = targets[part.places] > 0
    assert positive.sum() == 3
    assert part.weights.sum() == pytest.approx(60)
    assert part.weights[positive].sum() == pytest.approx(60 * 3 / 300)
    again = at_most(sample, places, 60)
    assert_array_equal(again.places, part.places)
    whole = at_most(sample, places, 300)
    assert_array_equal(whole.places, places)
    assert_array_equal(whole.weights, np.ones(300))
    numbers = sample._replace(loss=LOSSES["huber"].code, targets=np.arange(400.0))
    assert_array_equal(at_most(numbers, places, 60).weights, np.ones(60))


# ------------------------------------------------------------------------------------- choices


def hand_table(losses, scores=None, importance=None, sizes=(4, 2)):
    """Return a table of losses by row, strength, size and final strength."""
    losses = np.asarray(losses, np.float32)
    n = losses.shape[0]
    return Table(
        list(sizes), STRENGTHS, [Final(WAYS[0], 1.0)] * losses.shape[3],
        np.ones(n) if importance is None else importance,
        losses, losses, np.full(n, 1.0), scores, [],
    )  # fmt: skip


def by_strength(means, spread=0.1, n=100, n_sizes=2):
    """Return a table in which strengths have such mean losses, behind by amounts that vary."""
    wobble = np.where(np.arange(n) % 2, 1.0, -1.0)
    columns = [mean + spread * wobble * (k < len(means) - 1) for k, mean in enumerate(means)]
    losses = np.stack(columns, axis=1)[:, :, np.newaxis, np.newaxis]
    return hand_table(np.tile(losses, (1, 1, n_sizes, 1)))


def test_caution_takes_the_strongest_penalty_that_is_not_clearly_worse():
    near, clear = (0.5, 0.3 + 0.009, 0.3), (0.5, 0.3 + 0.011, 0.3)  # by .1 / sqrt(99) or more
    for means, caution, strength in (
        ((0.5, 0.4, 0.3), 0.0, 2),  # the best
        (near, 0.0, 2),
        (near, 1.0, 1),
        (clear, 1.0, 2),
        (clear, 2.0, 1),
        ((0.5, 0.4, 0.3), 100.0, 0),  # the strongest penalty, whatever it costs
        ((0.3, 0.4, 0.5), 0.0, 0),
    ):
        assert choose(by_strength(means), caution).strength == strength


def test_each_size_has_its_own_final_strength():
    losses = np.ones((10, 1, 2, 3))
    losses[:, 0, 0, 2] = losses[:, 0, 1, 1] = 0.5
    choice = choose(hand_table(losses), 1.0)
    assert choice.finals.tolist() == [2, 1]


def test_a_size_chooses_by_itself_and_its_neighbours():
    losses = np.ones((10, 2, 6, 1))
    losses[:, 0, 4:] = 0.1  # the first strength is better at small sizes
    losses[:, 1, :3] = 0.2
    table = hand_table(losses, sizes=(32, 16, 8, 4, 2, 1))
    assert choose(table, 0.0, 32).strength == 1
    assert choose(table, 0.0, 1).strength == 0


def test_the_smallest_size_not_clearly_worse():
    wobble = 0.1 * np.where(np.arange(100) % 2, 1.0, -1.0)[:, np.newaxis]
    expected = {(0.0, 0.2, 0.3): 9, (0.0, 0.009, 0.3): 5, (0.1, 0.0, 0.009): 2}
    for behind, size in expected.items():
        losses = 0.5 + np.array(behind) + wobble * (np.array(behind) > 0)
        table = hand_table(losses[:, np.newaxis, :, np.newaxis], sizes=(9, 5, 2))
        choice = Choice(0, np.zeros(3, np.int64))
        assert choose_size(table, choice, 1.0) == choose_size(table, choice, 9.0) == size
        best = int(np.argmin(behind))
        assert choose_size(table, choice, 0.0) == (9, 5, 2)[best]


def test_a_score_takes_the_place_of_the_loss():
    losses = np.ones((10, 2, 2, 1))
    losses[:, 0] = 0.5
    scores = np.array([[[[0.1], [0.1]], [[0.9], [0.8]]]] * 3)  # by fold
    table = hand_table(losses, scores)
    assert choose(hand_table(losses), 0.0).strength == 0
    choice = choose(table, 0.0)
    assert choice.strength == 1
    assert choose_size(table, choice, 0.5) == 4


def test_means_and_standard_errors_of_rows_that_count():
    rng = np.random.default_rng(0)
    values, ones = rng.normal(size=(50, 2)).astype(np.float32), np.ones(50)
    assert_allclose(mean(values, ones), values.mean(axis=0), rtol=1e-5)
    assert_allclose(
        standard_error(values, ones), values.std(axis=0, ddof=1) / np.sqrt(50), rtol=1e-5
    )
    assert_allclose(standard_error(values, 7.0 * ones), standard_error(values, ones), rtol=1e-5)
    mostly_one = np.where(np.arange(50) == 0, 1e6, 1.0)
    assert (standard_error(values, mostly_one) <= np.abs(values - values[0]).max()).all()
    assert mean(values[:1], ones[:1]).tolist() == values[0].tolist()
    assert standard_error(values[:1], ones[:1]).tolist() == [0.0, 0.0]


# ---------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("loss", "n_outputs", "size"), [*((*kind, None) for kind in KINDS), ("log_loss", 1, 4)]
)
def test_a_path_has_a_model_of_every_size(loss, n_outputs, size):
    if NO_JIT and loss.startswith("quantile"):
        pytest.skip("takes half a minute when it is not compiled")
    sample, _ = make_sample(loss, n_outputs)
    path = winnow(sample, thirds(), Plan(size, 1.0), ONE)
    last = size or 12
    assert path.sizes[0] == 1
    assert path.sizes[-1] == last
    assert size in (None, path.size)
    for k, n in enumerate(path.sizes.tolist()):
        assert path.columns[k].size == n
        assert path.weights[k].shape == (n_outputs, n)
        assert np.isin(path.columns[max(k - 1, 0)], path.columns[k]).all()
        assert path.fold_shares[k].sum() == pytest.approx(n)
    assert path.intercepts.shape == (path.sizes.size, n_outputs)
    assert path.clear
    assert path.loss.min() < path.null_loss
    assert set(1 / path.final_penalties) <= set(FINALS)
    assert path.penalty in 1 / np.array(STRENGTHS + WEAKER)
    assert [path.sizes[path.place(n)] for n in (1, last, 10**6)] == [1, last, last]


def test_a_path_in_other_units():
    sample, _ = make_sample("squared_error")
    path = winnow(sample, thirds(), Plan(3, 1.0), ONE)
    other = path.in_units(5.0, 10.0)
    assert_allclose(other.weights[-1], 10 * path.weights[-1])
    assert_allclose(other.intercepts, 10 * path.intercepts + 5)
    assert_allclose(other.error, 100 * path.error)
    raw = path.of_raw_values(Preparation(False, np.array([0]), np.array([2.0])))
    assert_allclose(raw.weights[-1], path.weights[-1] * np.where(path.columns[-1] == 0, 2.0, 1.0))
