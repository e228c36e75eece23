"""Chunks do not matter: a stream cut anywhere gives the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import (
    CLASSICS,
    NAMES,
    PATHED,
    VARIANTS,
    assert_same_bits,
    facts,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)

N_ROWS = 230
ROWS, _ = labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2)
LABELS = {
    n_classes: labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2, n_classes=n_classes)[1]
    for n_classes in (2, 3)
}
WEIGHTS = np.random.default_rng(3).choice([0.3, 1.0, 2.0], size=N_ROWS)
ONE_PASS = {"max_iter": 1, "shuffle": False, "tol": None}

cut_lists = st.lists(st.integers(1, N_ROWS - 1), unique=True, max_size=8).map(sorted)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(
    cuts=cut_lists,
    n_classes=st.sampled_from([2, 3]),
    class_weight=st.sampled_from([None, "balanced"]),
    weights=st.sampled_from([None, WEIGHTS]),
)
def test_any_split_gives_the_same_bits(name, cuts, n_classes, class_weight, weights):
    labels = LABELS[n_classes]
    whole = make_streaming(name, class_weight=class_weight)
    parts = make_streaming(name, class_weight=class_weight)
    stream(whole, ROWS, labels, weights=weights)
    stream(parts, ROWS, labels, cuts, weights)
    assert_same_bits(parts, whole)


@pytest.mark.parametrize("selection", ["informative", "every"])
@pytest.mark.parametrize("shrinkage", ["linear", "sqrt"])
@pytest.mark.parametrize("burst_growth", [None, 0.3])
@settings(max_examples=5)
@given(cuts=cut_lists, n_classes=st.sampled_from([2, 3]))
def test_any_split_gives_the_same_bits_however_features_are_judged(
    selection, shrinkage, burst_growth, cuts, n_classes
):
    changes = {
        "selection": selection,
        "shrinkage": shrinkage,
        "burst_growth": burst_growth,
        "min_evidence": 4,
        "loss": "hinge",
    }
    whole, parts = (make("StabilizedTruncatedSGDClassifier", **changes) for _ in range(2))
    stream(whole, ROWS, LABELS[n_classes])
    stream(parts, ROWS, LABELS[n_classes], cuts)
    assert_same_bits(parts, whole)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_every_row_alone_gives_the_same_bits(name, n_classes):
    labels = LABELS[n_classes]
    whole = stream(make_streaming(name), ROWS, labels)
    assert_same_bits(stream(make_streaming(name), ROWS, labels, range(1, N_ROWS)), whole)


@pytest.mark.parametrize("name", PATHED)
def test_the_stream_was_long_enough_to_decide_something(name):
    model = stream(make_streaming(name), ROWS, LABELS[2])
    assert len(model.history_) > 1
    assert not model.stable_.all()


@pytest.mark.parametrize("name", NAMES)
def test_looking_at_the_model_does_not_change_it(name):
    unseen, seen = make_streaming(name), make_streaming(name)
    for first in range(0, N_ROWS, 46):
        now = slice(first, first + 46)
        for model in (unseen, seen):
            model.partial_fit(ROWS[now], LABELS[2][now], classes=[0, 1])
        facts(seen)
        seen.predict(ROWS)
    assert_same_bits(seen, unseen)


@pytest.mark.parametrize("name", NAMES)
def test_a_chunk_without_weight_teaches_nothing(name):
    labels, weights = LABELS[2], WEIGHTS.copy()
    weights[100:120] = 0.0
    whole = stream(make_streaming(name), ROWS, labels, weights=weights)
    parts = stream(make_streaming(name), ROWS, labels, [100, 110, 120], weights)
    assert_same_bits(parts, whole)
    weighted = weights > 0
    without = stream(make_streaming(name), ROWS[weighted], labels[weighted], [], weights[weighted])
    assert_same_bits(without, whole)


# ------------------------------------------------------------------------------- new features


def growing_rows(n=N_ROWS, p=60):
    """Return rows of three features each; new ones keep appearing, the last near the end."""
    rng = np.random.default_rng(4)
    dense = np.zeros((n, p))
    for i in range(n):
        seen = max(3, p * (i + 1) // n)
        dense[i, rng.choice(seen, 3, replace=False)] = rng.normal(size=3)
    return sparse.csr_array(dense), np.where(dense[:, ::2].sum(axis=1) > 0, 1, 0)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(cuts=cut_lists)
def test_new_features_may_appear_anywhere(name, cuts):
    rows, labels = growing_rows()
    whole = stream(make_streaming(name), rows, labels)
    assert_same_bits(stream(make_streaming(name), rows, labels, cuts), whole)


@pytest.mark.parametrize("selection", ["informative", "every"])
@pytest.mark.parametrize("cuts", [[25], [29], [35], range(1, 40)], ids=str)
def test_a_new_feature_after_all_others_were_purged(selection, cuts):
    rng = np.random.default_rng(0)
    dense = np.column_stack([rng.normal(size=(40, 5)), np.arange(40) >= 30])
    rows, labels = sparse.csr_array(dense), rng.integers(0, 2, 40)
    harsh = {"rejection_rate": 1.0, "purge_threshold": 1.0, "burst_size": 2}
    whole, parts = (
        make("StabilizedTruncatedSGDClassifier", selection=selection, bursts_per_stage=2, **harsh)
        for _ in range(2)
    )
    stream(whole, rows, labels)
    assert not whole.stable_[:5].any()
    assert_same_bits(stream(parts, rows, labels, cuts), whole)


# ------------------------------------------------------------------------ fit and partial_fit


@pytest.mark.parametrize("class_weight", [None, {0: 2.0, 1: 0.5, 2: 1.0}])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSICS)
def test_one_pass_of_fit_in_order_is_partial_fit(name, n_classes, class_weight):
    labels = LABELS[n_classes]
    weights = {c: w for c, w in (class_weight or {}).items() if c < n_classes} or None
    fitted = make(name, class_weight=weights, **ONE_PASS).fit(ROWS, labels, WEIGHTS)
    streamed = make(name, class_weight=weights)
    stream(streamed, ROWS, labels, weights=WEIGHTS)
    assert_same_bits(streamed, fitted)


@pytest.mark.parametrize("selection", ["informative", "every"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_pass_on_a_shared_stream_is_partial_fit(selection, n_classes):
    name, labels = "StabilizedTruncatedSGDClassifier", LABELS[n_classes]
    fitted = make(name, selection=selection, paths="shared", **ONE_PASS).fit(ROWS, labels)
    assert_same_bits(stream(make(name, selection=selection), ROWS, labels), fitted)


@pytest.mark.parametrize("name", CLASSICS)
def test_partial_fit_after_fit_goes_on(name):
    labels, half = LABELS[2], N_ROWS // 2
    model = make(name, **ONE_PASS).fit(ROWS[:half], labels[:half])
    model.partial_fit(ROWS[half:], labels[half:])
    assert_same_bits(model, stream(make(name), ROWS, labels))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_partial_fit_after_fit_may_be_cut_anywhere(name, changes, n_classes):
    labels, half = LABELS[n_classes], N_ROWS // 2

    def go_on(cuts):
        model = make(name, **changes).fit(ROWS[:half], labels[:half])
        before = facts(model)
        stream(model, ROWS[half:], labels[half:], cuts)
        assert facts(model)["coef"] != before["coef"]
        return model

    assert_same_bits(go_on([1, 50, 51]), go_on([]))


@pytest.mark.parametrize("name", NAMES)
def test_fit_after_partial_fit_starts_anew(name):
    labels = LABELS[2]
    fresh = make(name).fit(ROWS, labels)
    model = stream(make(name), ROWS, labels).fit(ROWS, labels)
    assert_same_bits(model, fresh)


def test_balanced_weights_on_a_stream_follow_the_rows_so_far():
    """Row t of class c counts t / (n_classes * rows of c up to t)."""
    labels = LABELS[3]
    counts = np.cumsum(labels[:, None] == np.arange(3), axis=0)
    so_far = counts[np.arange(N_ROWS), labels]
    weights = np.arange(1, N_ROWS + 1) / (3 * so_far)
    balanced = stream(make("PlainSGDClassifier", class_weight="balanced"), ROWS, labels)
    weighted = stream(make("PlainSGDClassifier"), ROWS, labels, weights=weights)
    assert_same_bits(balanced, weighted)


def test_balanced_weights_in_fit_are_scikit_learns():
    labels = np.where(np.arange(N_ROWS) % 5 == 0, 1, LABELS[2])
    weights = N_ROWS / (2 * np.bincount(labels))
    balanced = make("PlainSGDClassifier", class_weight="balanced").fit(ROWS, labels)
    given_weights = make("PlainSGDClassifier").fit(ROWS, labels, sample_weight=weights[labels])
    assert_same_bits(balanced, given_weights)
    assert_array_equal(balanced.classes_, [0, 1])


@pytest.mark.filterwarnings("ignore:All features were purged")  # of a class that does not occur
@pytest.mark.parametrize("name", NAMES)
def test_balanced_weights_are_between_classes_that_occur(name):
    labels, some = LABELS[3], LABELS[3] > 0
    for told in ([0, 1, 2], ["a", "b", "c"]):
        named = np.array(told)[labels]
        model = make(name, class_weight="balanced", warm_start=True).fit(ROWS, named)
        weighted = make(name, class_weight="balanced", warm_start=True).fit(ROWS, named)
        weighted.set_params(class_weight=dict(zip(told, _balanced(labels, some), strict=True)))
        assert_same_bits(model.fit(ROWS[some], named[some]), weighted.fit(ROWS[some], named[some]))
        source = [(ROWS[some], named[some])]
        streamed = make(name, class_weight="balanced").fit_stream(source, classes=told)
        assert streamed.classes_.tolist() == told


def _balanced(labels, some):
    """Return the weights of classes 0, 1 and 2, of which only some occur."""
    counts = np.bincount(labels[some], minlength=3)
    return some.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1))


def test_balanced_weights_need_two_classes_that_occur(binary):
    rows, labels = binary
    model = make("FTRLClassifier", class_weight="balanced", warm_start=True).fit(rows, labels)
    with pytest.raises(ValueError, match="Only rows of class 1 have a weight above zero"):
        model.fit(rows[labels == 1], labels[labels == 1])


def test_stages_may_be_shortened_on_the_way(binary):
    rows, labels = binary
    model = make("StabilizedTruncatedSGDClassifier", bursts_per_stage=5, burst_size=4)
    model.partial_fit(rows[:15], labels[:15], classes=[0, 1])
    model.set_params(bursts_per_stage=1).partial_fit(rows[15:], labels[15:])
    assert len(model.history_) == 1 + (rows.shape[0] - 15) // 4
