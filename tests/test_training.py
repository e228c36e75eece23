"""The training loop: twins, chunks, threads, failures, orders, stages."""

import copy
from itertools import product

import joblib
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import twins
from cases import (
    CLASSICS,
    LOSSES,
    NAMES,
    PATHED,
    STREAMING,
    VARIANTS,
    assert_same_bits,
    facts,
    fail,
    labelled_rows,
    make,
    poisoned,
    stream,
    variant_id,
)
from thresher.draws import permutation
from thresher.files import ModelFileError
from thresher.losses import LOSSES as LOSS_TABLE
from thresher.online.arrays import Arrays
from thresher.online.ftrl import FTRL
from thresher.online.passes import Batch, Feed, Pace, Passes
from thresher.online.protocol import Overflow
from thresher.online.sgd import PlainSGD
from thresher.online.steps import Steps
from thresher.online.thresh import Thresh
from thresher.online.training import Narrowing, Training
from thresher.rows import Rows
from thresher.threads import Threads, threads

ONE = Threads()
N_ROWS = 230
ROWS = labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2)[0]
LABELS = {k: labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2, n_classes=k)[1] for k in (2, 3)}
WEIGHTS = np.random.default_rng(3).choice([0.3, 1.0, 2.0], size=N_ROWS)
ONE_PASS = {"max_iter": 1, "shuffle": False, "tol": None}
cut_lists = st.lists(st.integers(1, N_ROWS - 1), unique=True, max_size=8).map(sorted)

# --------------------------------------------------------------------------------------- twins

CONSTANT = {"eta0": 0.1, "learning_rate": "constant"}
TWINS = [
    ("PlainSGD", twins.sgd, {}, CONSTANT),
    ("PlainSGD", twins.sgd, {}, {}),
    ("TruncatedGradient", twins.truncated_gradient,
     {"gravity": 0.005, "burst_size": 3, "ceiling": 0.3}, CONSTANT),
    ("TruncatedGradient", twins.truncated_gradient, {"gravity": 0.005, "burst_size": 7}, {}),
    ("FOBOS", twins.fobos, {"l1": 0.08}, CONSTANT),
    ("FOBOS", twins.fobos, {"l1": 0.02}, {}),
    ("RDA", twins.rda, {"l1": 0.02, "rho": 0.0, "gamma": 9.0}, {}),
    ("RDA", twins.rda, {"l1": 0.02, "rho": 0.01, "gamma": "auto"}, {}),
    ("FTRL", twins.ftrl, {"alpha": 2.0, "beta": 0.0, "l1": 0.8, "l2": 0.0}, {}),
    ("FTRL", twins.ftrl, {"alpha": 0.5, "beta": 1.0, "l1": 0.8, "l2": 0.1}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "twin", "own", "steps"), TWINS)
def test_slow_dense_twins_agree(name, twin, own, steps):
    rows, labels = labelled_rows()
    weights, passes = np.linspace(0.5, 1.5, 60), 3
    X, y = np.tile(rows.toarray(), (passes, 1)), np.tile(np.where(labels == 1, 1.0, -1.0), passes)
    for loss, intercept in product(LOSSES, (True, False)):
        # With a hinge and steps of 1/||x||^2 margins fall exactly on 1, where rounding decides.
        safe = {"eta0": 0.37} if loss == "hinge" and twin not in (twins.rda, twins.ftrl) else {}
        settings = {**own, **steps, **safe, **ONE_PASS, "loss": loss, "max_iter": passes}
        model = make(f"{name}Classifier", **settings, fit_intercept=intercept)
        model.fit(rows, labels, sample_weight=weights)
        eta0 = getattr(model, "eta0", "auto")
        kind = getattr(model, "learning_rate", "constant")
        paced = twins.pace(X, eta0, model._learner().steps.rate, kind, intercept)
        w, b = twin(twins.Run(X, y, np.tile(weights, passes), loss, *paced), **own)
        assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-11, err_msg=loss)
        assert_allclose(model.intercept_[0], b, rtol=1e-9, atol=1e-11, err_msg=loss)


# -------------------------------------------------------------------------- chunks and threads


@pytest.mark.parametrize("name", STREAMING)
@settings(max_examples=12)
@given(
    cuts=cut_lists,
    n_classes=st.sampled_from([2, 3]),
    class_weight=st.sampled_from([None, "balanced"]),
    weights=st.sampled_from([None, WEIGHTS]),
)
@example(cuts=range(1, N_ROWS), n_classes=3, class_weight=None, weights=None)
def test_any_split_gives_the_same_bits(name, cuts, n_classes, class_weight, weights):
    labels = LABELS[n_classes]
    whole, parts = (make(name, class_weight=class_weight) for _ in range(2))
    stream(whole, ROWS, labels, weights=weights)
    assert_same_bits(stream(parts, ROWS, labels, cuts, weights), whole)


@pytest.mark.parametrize("name", PATHED)
def test_the_stream_is_long_enough_to_purge(name):
    model = stream(make(name), ROWS, LABELS[2])
    assert len(model.history_) > 1
    assert not model.stable_.all()


@pytest.mark.parametrize("name", STREAMING)
@settings(max_examples=6)
@given(cuts=cut_lists)
def test_new_features_may_appear_anywhere(name, cuts):
    rng = np.random.default_rng(4)
    dense = np.zeros((N_ROWS, 60))
    for i in range(N_ROWS):
        seen = max(3, 60 * (i + 1) // N_ROWS)
        dense[i, rng.choice(seen, 3, replace=False)] = rng.normal(size=3)
    rows, labels = sparse.csr_array(dense), np.where(dense[:, ::2].sum(axis=1) > 0, 1, 0)
    whole = stream(make(name), rows, labels)
    assert_same_bits(stream(make(name), rows, labels, cuts), whole)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_the_number_of_threads_changes_no_bit(name, changes):
    for labels in LABELS.values():
        one, many = (make(name, n_jobs=n, **changes) for n in (1, 3))
        assert_same_bits(many.fit(ROWS, labels), one.fit(ROWS, labels))
        assert_same_bits(many.partial_fit(ROWS, labels), one.partial_fit(ROWS, labels))


@pytest.mark.parametrize("name", CLASSICS)
def test_one_pass_of_fit_in_order_is_partial_fit(name):
    for labels in LABELS.values():
        weights = {0: 2.0, 1: 0.5}
        fitted = make(name, class_weight=weights, **ONE_PASS).fit(ROWS, labels, WEIGHTS)
        streamed = stream(make(name, class_weight=weights), ROWS, labels, weights=WEIGHTS)
        assert_same_bits(streamed, fitted)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_partial_fit_after_fit_may_be_cut_anywhere(name, changes):
    labels, half = LABELS[3], N_ROWS // 2

    def go_on(cuts):
        model = make(name, **changes).fit(ROWS[:half], labels[:half])
        before = facts(model)
        stream(model, ROWS[half:], labels[half:], cuts)
        assert facts(model)["coef"] != before["coef"]
        return model

    assert_same_bits(go_on([1, 50, 51]), go_on([]))


# ------------------------------------------------------------------------------ all or nothing

STEEP = {"loss": "squared_hinge"}  # a loss whose slope grows with the error runs away at once


@pytest.mark.parametrize("name", STREAMING)
def test_a_stream_that_keeps_failing_learns_as_if_it_never_had(name):
    """Chunks of a row close bursts that earlier ones opened; chunks of 70 rows end stages."""
    for size in (1, 5, 70):
        never_failed, model = (make(name, **STEEP) for _ in range(2))
        for first in range(0, 60 if size == 1 else N_ROWS, size):
            chunk = ROWS[first : first + size], LABELS[3][first : first + size]
            if first:
                fail(model, *chunk)
                assert_same_bits(model, never_failed)
            for one in (never_failed, model):
                one.partial_fit(*chunk, classes=[0, 1, 2])
        assert_same_bits(model, never_failed)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_calls_that_overflow_leave_what_was_there(name, changes):
    model, bad = make(name, **changes, **STEEP), poisoned(ROWS, LABELS[2])
    for call in (model.fit, lambda X, y, w: model.partial_fit(X, y, [0, 1], w)):
        with pytest.raises(ValueError, match="overflowed"):
            call(*bad)
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "n_features_in_")
    before = facts(model.fit(ROWS, LABELS[2]))
    for warm_start in (False, True):
        with pytest.raises(ValueError, match="overflowed"):
            model.set_params(warm_start=warm_start).fit(*bad)
        assert facts(model) == before


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_the_row_that_overflows_is_named(name, changes):
    bad_rows, bad_labels, weights = poisoned(ROWS, LABELS[2])
    weights[:7] = 0.0  # rows that do not count are counted
    with pytest.raises(ValueError, match=r"learning row 23[0-5]\."):
        make(name, **changes, **STEEP).partial_fit(bad_rows, bad_labels, [0, 1], weights)
    with pytest.raises(ValueError, match=r"learning row 23[0-5]\. Lower the weights"):
        make(name, shuffle=False, **changes, **STEEP).fit(bad_rows, bad_labels, weights)


def test_an_overflow_on_the_very_last_row_is_seen():
    """The margin is still finite, the weights are not."""
    for name in ("PlainSGDClassifier", "FOBOSClassifier"):
        model = stream(make(name, eta0=0.1), ROWS, LABELS[2])
        before, huge = facts(model), np.zeros((1, 30))
        huge[0, 0] = 1e12
        with pytest.raises(ValueError, match="overflowed"):
            model.partial_fit(huge, [1 - model.predict(huge)[0]], sample_weight=[1e300])
        assert facts(model) == before


def test_what_helps_against_an_overflow_is_named():
    for name, changes, words in (
        ("PlainSGDClassifier", {"eta0": 1e300}, "Lower eta0, multiply X"),
        ("FTRLClassifier", {"alpha": 1e300}, "Lower alpha, multiply X"),
        ("RDAClassifier", {"gamma": 1e-300}, "Raise gamma, multiply X"),
    ):
        with pytest.raises(ValueError, match=words):
            make(name, **changes, **STEEP).fit(ROWS * 1e9, LABELS[2])


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_between_kernel_calls_leaves_what_was_there(name, monkeypatch):
    model = stream(make(name), ROWS, LABELS[2])
    before = facts(model)
    calls = iter([None, None, KeyboardInterrupt])

    def check(self):
        if next(calls, None):
            raise KeyboardInterrupt

    monkeypatch.setattr(Threads, "check", check)
    monkeypatch.setattr("thresher.online.passes.SLICE", 50)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(ROWS, LABELS[2])
    assert facts(model) == before


# -------------------------------------------------------------------------------- passes, steps


def test_orders_are_permutations_of_every_pass_and_path():
    passes = Passes(3, shuffle=True, seed=5)
    orders = passes.orders(1, 20, 2, ONE)
    assert_array_equal(orders, [permutation(5, path, 1, 20) for path in (0, 1)])
    assert_array_equal(Passes(1, shuffle=False).orders(0, 4, 2, ONE), [np.arange(4)] * 2)


def test_small_slices_give_the_same_updates(monkeypatch):
    batch = Batch.of(Rows.of(ROWS), WEIGHTS)
    steps = Steps(1.0, decaying=True, bounded=True)
    orders = [permutation(0, 0, 0, N_ROWS)]

    def all_updates(most):
        pace, found = Pace(7, 2.0), []
        feed = Feed(batch, np.ones(N_ROWS), orders, steps, pace)
        while feed.left:
            found.append(feed.next(most)[0][:4])
        return pace, [np.concatenate(part) for part in zip(*found, strict=True)]

    pace, whole = all_updates(10**6)
    monkeypatch.setattr("thresher.online.passes.SLICE", 30)
    small_pace, parts = all_updates(10**6)
    assert small_pace == pace
    for one, other in zip(parts, whole, strict=True):
        assert_array_equal(one, other)
    norms = np.sum(ROWS.toarray() ** 2, axis=1)
    assert pace.updates == 7 + N_ROWS
    assert pace.mean_norm == pytest.approx((14.0 + norms.sum()) / (7 + N_ROWS))
    bound = 1.0 / (WEIGHTS[whole[0]] * (norms[whole[0]] + whole[2] ** 2))
    assert (whole[1] <= bound * (1 + 1e-12)).all()


def test_several_orders_share_arrays_and_the_mean_of_all_rows():
    batch = Batch.of(Rows.of(ROWS), WEIGHTS)
    orders = [permutation(0, path, 0, N_ROWS) for path in (0, 1)]
    first, second = Feed(batch, np.ones(N_ROWS), orders, Steps(1.0), Pace()).next(9)
    assert first.steps is second.steps
    assert_array_equal(first.norms, np.full(9, batch.norms.mean()))


def test_training_ends_early_when_nothing_changes(binary):
    assert make("PlainSGDClassifier", tol=1e9, max_iter=7).fit(*binary).n_iter_ < 7
    assert make("PlainSGDClassifier", tol=None, max_iter=7).fit(*binary).n_iter_ == 7
    heavy = make("FTRLClassifier", l1=4.0, tol=1e-3, max_iter=30).fit(*binary)
    assert heavy.n_iter_ > 1  # weights that a penalty holds back are waited for


# ----------------------------------------------------------------------- what a training is made of


TARGETS = np.where(LABELS[2] == 1, 1.0, -1.0)


def learned(learner):
    training = Training.start(learner, 1, 30)
    training.learn(Rows.of(ROWS), [TARGETS], np.ones(N_ROWS), ONE)
    return training


def assert_same_training(one, other):
    for mine, its in zip(one.weights(), other.weights(), strict=True):
        assert_array_equal(mine, its)


def test_narrowed_rows_have_active_columns_only():
    rows = Narrowing(Rows.of(ROWS))
    rows.leave_out(None, 30)
    assert rows.rows.values.size == ROWS.nnz
    for active in (np.arange(30) < 5, np.arange(5)):
        rows.leave_out(active, 30)
        assert_array_equal(rows.rows.columns, ROWS.indices[ROWS.indices < 5])
        assert_array_equal(np.diff(rows.rows.starts), np.diff(ROWS[:, :5].indptr))


# ---------------------------------------------------------------------------------- bare rows

BARE = sparse.csr_array((100, 5))
MOSTLY = (np.arange(100) % 10 != 3).astype(int)  # nine of ten


@pytest.mark.parametrize("name", NAMES)
def test_without_any_feature_the_frequent_class_is_predicted(name):
    for loss in LOSSES:
        for model in (
            make(name, loss=loss).fit(BARE, MOSTLY),
            make(name, loss=loss).partial_fit(BARE, MOSTLY, classes=[0, 1]),
        ):
            assert set(model.predict(BARE)) == {1}
            if hasattr(model, "predict_proba"):
                assert_allclose(model.predict_proba(BARE)[:, 1], 0.9, atol=0.03)
        assert make(name, loss=loss, fit_intercept=False).fit(BARE, MOSTLY).intercept_ == [0.0]


def test_of_several_classes_the_most_frequent_is_predicted():
    labels = np.repeat(["ash", "elm", "oak"], [20, 50, 30])
    model = make("FTRLClassifier").fit(BARE, labels)
    assert_allclose(model.predict_proba(BARE)[0], [0.2, 0.5, 0.3], atol=0.01)
    heavy = np.where(labels == "oak", 9.0, 1.0)
    assert set(make("FTRLClassifier").fit(BARE, labels, heavy).predict(BARE)) == {"oak"}


@pytest.mark.parametrize("name", NAMES)
def test_once_a_row_has_a_feature_bare_rows_before_do_not_count(name):
    rows = sparse.vstack([sparse.csr_array((30, 30)), ROWS], format="csr")
    models = [
        stream(make(name), rows, np.r_[np.full(30, before), LABELS[2]], cuts)
        for before, cuts in ((0, (10, 30)), (1, (40,)))
    ]
    if name in CLASSICS:
        assert_same_bits(*models)
    assert np.isfinite(models[0].intercept_).all()


def test_a_joint_problem_has_an_intercept_for_every_output():
    training = Training.start(Thresh.of(LOSS_TABLE["log_loss"], True, 5, 3), 1, 5)
    for part in (slice(0, 30), slice(30, 100)):
        targets = np.repeat([0.0, 1.0, 2.0], [20, 50, 30])[part]
        training.learn(Rows.of(BARE[part]), [targets], np.ones(targets.size), ONE)
    columns, weights, intercepts = training.weights()
    assert (columns.size, weights.shape) == (0, (3, 0))
    shares = np.exp(intercepts) / np.exp(intercepts).sum()
    assert_allclose(shares, [0.2, 0.5, 0.3], atol=0.01)


def test_of_numbers_the_mean_is_predicted():
    training = Training.start(PlainSGD(LOSS_TABLE["squared_error"].code, Steps(1.0)), 1, 5)
    numbers, weights = np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 1.0])
    training.learn(Rows.of(BARE[:3]), [numbers], weights, ONE)
    assert training.weights()[2] == pytest.approx([11.0 / 4.0])


# -------------------------------------------------------------------------------------- trees


def ftrl(**changes):
    values = {one.name: one.default for one in FTRL.parameters} | {"l1": 0.1} | changes
    return FTRL.of(LOSS_TABLE["log_loss"], True, values)


def test_what_a_tree_cannot_say_is_refused():
    tree = learned(ftrl()).tree()
    del tree["vocabulary"]["columns"]
    with pytest.raises(ModelFileError, match="columns is missing"):
        Training.from_tree(tree, ftrl())
    tree = learned(ftrl()).tree()
    tree["problems"].append(Training.start(ftrl(), 1, 30).tree()["problems"][0])
    with pytest.raises(ModelFileError, match="more or fewer features"):
        Training.from_tree(tree, ftrl())


def test_a_training_mapped_into_memory_goes_on(tmp_path):
    training = learned(ftrl())
    joblib.dump(training, tmp_path / "training")
    mapped = joblib.load(tmp_path / "training", mmap_mode="r")
    for one in (training, mapped):
        one.learn(Rows.of(ROWS), [TARGETS], np.ones(N_ROWS), ONE)
    assert_same_training(mapped, training)


def test_an_error_in_one_of_several_problems_undoes_all():
    training = learned(ftrl())
    training.problems.append(copy.deepcopy(training.problems[0]))
    before = copy.deepcopy(training)
    bad = np.full(N_ROWS, np.inf)
    with threads(2) as team, pytest.raises(Overflow):
        training.learn(Rows.of(ROWS), [TARGETS, bad], np.full(N_ROWS, np.inf), team)
    assert_same_training(training, before)
    assert [one.pace for one in training.problems] == [one.pace for one in before.problems]
    assert isinstance(training.problems[0].state, Arrays)
