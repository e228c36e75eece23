"""Selection probabilities: what the formula must obey, and that refits bear it out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import thresher
from cases import labelled_rows, make, make_streaming
from thresher import ThresherClassifier
from thresher.estimators.false_selections import ASSUMPTIONS, THRESHOLDS, bound
from thresher.estimators.refitting import of_its_size
from thresher.learners.calibration import (
    CONSTANTS,
    LEAST,
    STREAM_CONSTANTS,
    WEIGHED_SLOPE,
    Standing,
    refit_probabilities,
    weighed_probabilities,
)


def standing(n=200, kept=20, seed=0, alone=3.0):
    scores = np.random.default_rng(seed).lognormal(sigma=2, size=n)
    return Standing(scores, np.full(n, alone), kept)


# ------------------------------------------------------------------------------------ the formula


@pytest.mark.parametrize("kept", [1, 20, 199])
def test_probabilities_sum_to_the_number_selected_and_follow_the_scores(kept):
    case = standing(kept=kept)
    found = refit_probabilities(case)
    assert_allclose(found.sum(), kept, rtol=1e-6)
    assert np.all(np.diff(found[np.argsort(case.scores)]) >= 0)
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("constants", [CONSTANTS, STREAM_CONSTANTS])
def test_the_formula_as_it_is_written_down(constants):
    case = standing()
    alone = np.random.default_rng(1).gamma(2.0, 2.0, size=200)
    cut = np.sqrt(np.prod(np.sort(case.scores)[-case.kept - 1 : -case.kept + 1]))
    slope, power, crowd, above, spread, own = constants
    distance = np.log(case.scores / cut)
    nearest = np.argsort(np.abs(distance))[:10]
    said, alone[0] = np.median(alone[nearest]), 0.0  # who says nothing counts as saying little
    wide = np.clip(distance[distance > 0].sum() / 20, 0.05, 0.5)
    steepness = slope * said**power * (200 / 20) ** crowd * wide**spread
    logits = steepness * np.where(distance > 0, above * distance, distance)
    logits += own * np.log(np.maximum(alone, LEAST) / said)
    shift = brentq(lambda s: expit(logits - s).sum() - case.kept, -99, 99)
    found = refit_probabilities(case._replace(alone=alone), constants)
    assert_allclose(found, expit(logits - shift), atol=1e-9)


@pytest.mark.jit
@pytest.mark.parametrize("kept", [1, 2])
def test_a_few_that_tell_all_are_sure_though_they_say_as_much(kept):
    X = np.random.default_rng(0).normal(size=(400, 200))
    model = ThresherClassifier(n_features_to_select=kept, random_state=0)
    model.fit(X, X[:, :kept].sum(axis=1) > 0)
    assert model.selection_probabilities_[:kept].min() > 0.95
    assert not model.features_weighed_
    said = model._model.learner.standing(model._states()[0], model._model.vocabulary)
    near = said.scores.copy()
    near[np.argsort(-near)[kept : kept + 20]] = 0.99 * np.sort(near)[-kept]
    assert refit_probabilities(said._replace(scores=near)).max() < 0.6


def test_who_stands_above_nothing_is_sure():
    scores = np.r_[np.ones(3), np.zeros(50)]
    found = refit_probabilities(Standing(scores, np.full(53, 2.0), 3))
    assert_allclose(found, scores, atol=1e-6)


def test_what_each_says_alone_counts_on_streams():
    case = standing()
    louder = case._replace(alone=case.alone.copy())
    louder.alone[5] *= 2
    for constants, counts in ((CONSTANTS, False), (STREAM_CONSTANTS, True)):
        before, after = (refit_probabilities(one, constants)[5] for one in (case, louder))
        assert (after > before) == counts


def test_the_formula_of_weighed_features_as_it_is_written_down():
    rng = np.random.default_rng(3)
    case = Standing(rng.gamma(2.0, size=200), rng.gamma(2.0, size=200), 20)
    logits = WEIGHED_SLOPE * (case.scores + case.alone) / 2
    shift = brentq(lambda s: expit(logits - s).sum() - case.kept, -99, 99)
    assert_allclose(weighed_probabilities(case), expit(logits - shift), atol=1e-9)
    for kept in (0, 200):
        assert set(weighed_probabilities(case._replace(kept=kept))) == {float(kept > 0)}


def test_the_features_at_the_cut_are_asked_what_they_say_alone():
    case = standing()
    order = np.argsort(-case.scores)
    far = order[np.r_[0:12, 28:200]]
    alone = case.alone.copy()
    alone[far] = 1e6
    other = case._replace(alone=alone, scores=case.scores.copy())
    other.scores[order[12:28]] = np.linspace(1.02, 0.98, 16) * case.scores[order[19]]
    same = other._replace(alone=case.alone)
    assert_array_equal(refit_probabilities(other), refit_probabilities(same))


def test_who_says_nothing_is_told_with_caution_and_not_all_alike():
    silent, hardly = (refit_probabilities(standing(alone=z)) for z in (0.0, LEAST))
    assert_array_equal(silent, hardly)
    assert silent.std() > 0.05


def test_features_that_say_more_make_surer():
    unsure, sure = (refit_probabilities(standing(alone=z)) for z in (0.5, 50.0))
    strongest = np.argsort(-standing().scores)[:20]
    assert sure[strongest].mean() > unsure[strongest].mean() + 0.05


def test_units_of_scores_do_not_matter():
    case = standing()
    other = case._replace(scores=1e6 * case.scores)
    assert_allclose(refit_probabilities(other), refit_probabilities(case), atol=1e-9)


def test_features_far_below_the_cut_take_nothing_from_the_others():
    few = standing(n=2000)
    weak = np.full(100_000, few.scores.min() / 2)
    many = Standing(np.r_[few.scores, weak], np.full(102_000, 3.0), 20)
    found = refit_probabilities(many, CONSTANTS._replace(crowd=0.0))
    expected = refit_probabilities(few, CONSTANTS._replace(crowd=0.0))
    assert_allclose(found[:2000], expected, atol=1e-9)
    assert not found[2000:].any()


def test_the_ends():
    case = standing()
    assert_array_equal(refit_probabilities(case._replace(kept=200)), np.ones(200))
    assert_array_equal(refit_probabilities(case._replace(kept=0)), np.zeros(200))
    nothing = Standing(np.zeros(200), np.zeros(200), 20)
    assert_array_equal(refit_probabilities(nothing), np.full(200, 0.1))
    scores = case.scores * (case.scores > np.median(case.scores))
    assert refit_probabilities(case._replace(scores=scores))[scores == 0].max() < 1e-12


# ------------------------------------------------------------------------------------- the models


def planted(n=600, p=120, seed=0):
    """Return rows of marks, and labels that ten columns tell: five strongly, five weakly."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, p)) < 0.2).astype(float)
    weights = np.zeros(p)
    weights[:5], weights[5:10] = 3.0, 0.8
    margins = rows @ (weights * np.resize([1, -1], p)) + rng.logistic(size=n)
    return sparse.csr_array(rows), (margins > 0).astype(int)


@pytest.mark.jit
def test_probabilities_are_the_shares_of_refits_on_halves():
    rows, labels = planted()
    model = thresher.ThresherClassifier(n_features_to_select=10, random_state=0).fit(rows, labels)
    told = model.selection_probabilities_
    shares = thresher.selection_shares(model, rows, labels, refits=20)
    assert_allclose(told.sum(), 10, rtol=1e-6)
    assert_allclose(shares.sum(), 10)
    assert np.abs(told - shares).mean() < 0.05
    assert told[:5].mean() > 0.9
    sure = told > 0.5
    assert abs(told[sure].mean() - shares[sure].mean()) < 0.15


def test_shares_are_of_as_many_features_as_the_model_has(binary):
    model = make("ThresherClassifier", n_features_to_select=0.2).fit(*binary)
    model.set_params(n_features_to_select=3)  # after the fit: the model has more
    shares = thresher.selection_shares(model, *binary, refits=3, seed=5)
    assert_allclose(shares.sum(), 8)
    assert_array_equal(shares, thresher.selection_shares(model, *binary, refits=3, seed=5))
    assert not np.array_equal(shares, thresher.selection_shares(model, *binary, refits=3, seed=6))


@pytest.mark.jit
@pytest.mark.parametrize("n_classes", [2, 3])
def test_refits_of_a_chosen_size_do_not_choose(n_classes):
    """The splits are of the model's rows, and halves have others."""
    rows, labels = labelled_rows(n=90, n_classes=n_classes)
    searching = thresher.ThresherClassifierCV(sizes=[2, 4], cv=list(KFold(3).split(rows)))
    for model in (searching, thresher.ThresherClassifier()):
        model.set_params(random_state=0, n_stages=6, n_paths=3, max_iter=4).fit(rows, labels)
        like, size = of_its_size(model), model.size_choice_.size
        assert type(like) is thresher.ThresherClassifier
        assert (like.n_features_to_select, like.n_stages) == (size, 6)
        shares = thresher.selection_shares(model, rows, labels, refits=2)
        assert size <= shares.sum() <= size * (1 if n_classes == 2 else 3)


@pytest.mark.parametrize("asked", [{"refits": 0}, {"refits": -1}, {"refits": 2.5}, {"seed": -1}])
def test_refits_are_whole_numbers(binary, asked):
    model = make("ThresherClassifier").fit(*binary)
    ((name, value),) = asked.items()
    with pytest.raises(ValueError, match=f"{name}={value} of selection_shares .* whole number"):
        thresher.selection_shares(model, *binary, **asked)


def test_only_fitted_models_are_refitted(binary):
    with pytest.raises(NotFittedError):
        thresher.selection_shares(make("ThresherClassifier"), *binary)


def test_a_half_of_one_class_is_named_with_the_remedy(binary):
    rows, _ = binary
    labels = np.where(np.arange(rows.shape[0]) == 0, "rare", "common")
    model = make("ThresherClassifier").fit(rows, labels)
    with pytest.raises(ValueError, match=r"Refit \d of 9 drew .* only one class, 'common'.*seed"):
        thresher.selection_shares(model, rows, labels, refits=9)


def test_a_stream_tells_probabilities_from_the_first_row_on(binary):
    rows, labels = binary
    model = make_streaming("ThresherClassifier", n_features_to_select=5)
    model.partial_fit(rows[:1], labels[:1], classes=[0, 1])
    n_seen = rows[:1].nnz
    expected = np.zeros(40)
    expected[rows[:1].indices] = min(1.0, 5 / n_seen)
    assert_allclose(model.selection_probabilities_, expected)
    for _ in range(8):
        model.partial_fit(rows, labels)
    assert_allclose(model.selection_probabilities_.sum(), 5, rtol=1e-6)
    assert model.selection_probabilities_.std() > 0.05


# ------------------------------------------------------------------------------- false selections


def test_the_bound_is_meinshausen_and_buhlmanns():
    assert bound(10, 1000, 0.75) == pytest.approx(0.2)
    assert bound(10, 1000, 0.9) == pytest.approx(0.125)


@pytest.mark.parametrize("training_state", [None, False, True])
def test_the_table_tells_the_bound_and_what_it_assumes(binary, tmp_path, training_state):
    model = make("ThresherClassifier").fit(*binary)
    if training_state is not None:
        model.save(tmp_path / "model", training_state=training_state)
        model = thresher.load(tmp_path / "model")
    table = model.selection_table()
    assert "random half" in table.attrs["selection_probability"]
    assert table.attrs["assumptions"] == ASSUMPTIONS
    bounds = table.attrs["expected_false_selections"]
    assert [one["threshold"] for one in bounds] == list(THRESHOLDS)
    chosen = table[table.weight != 0]
    for one in bounds:
        assert one["features"] == (chosen.selection_probability >= one["threshold"]).sum()
        # of 40 columns two never occur
        expected = len(chosen) ** 2 / ((2 * one["threshold"] - 1) * 38)
        assert one["expected_false_at_most"] == pytest.approx(expected)


def test_each_class_has_its_bound(multiclass):
    model = make("ThresherClassifier").fit(*multiclass)
    bounds = model.selection_table().attrs["expected_false_selections"]
    assert [one["class"] for one in bounds] == np.repeat(model.classes_, len(THRESHOLDS)).tolist()


def test_shares_of_bursts_bound_nothing(binary):
    attrs = make("StabilizedTruncatedSGDClassifier").fit(*binary).selection_table().attrs
    assert "bursts" in attrs["selection_probability"]
    assert "expected_false_selections" not in attrs
    assert make("FTRLClassifier").fit(*binary).selection_table().attrs == {}
