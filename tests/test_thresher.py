"""The flagship's estimators: what they promise, and every odd input there is."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from thresher import ThresherClassifier, ThresherRegressor, load
from thresher.estimators import winnow_training
from thresher.estimators.folds import make_splits
from thresher.estimators.thresher import median

pytestmark = pytest.mark.jit
NOT_CLEAR = "ignore:No number of features is clearly better"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 12))
SCORES = X[:, :3] @ [2.0, -1.5, 1.0] + 0.3 * RNG.normal(size=90)
Y = (SCORES > 0.3).astype(int)
CLASSES = np.digitize(SCORES, [-1.0, 1.0])
WORDS = sparse.csr_array(np.abs(X) * (RNG.random(X.shape) < 0.4))
WORD_LABELS = (WORDS[:, [0]].toarray() > WORDS[:, [1]].toarray()).ravel().astype(int)
WORD_SCORES = 9 * (WORDS[:, [0]] - WORDS[:, [1]]).toarray().ravel() / (1 + WORDS.sum(axis=1))
# Estimator, its settings, rows and labels.
CASES = {
    "log_loss": (ThresherClassifier, {}, X, Y),
    "squared_hinge": (ThresherClassifier, {"loss": "squared_hinge"}, X, Y),
    "modified_huber": (ThresherClassifier, {"loss": "modified_huber"}, X, Y),
    "classes": (ThresherClassifier, {}, X, CLASSES),
    "words": (ThresherClassifier, {}, WORDS, WORD_LABELS),
    "no intercept": (ThresherClassifier, {"fit_intercept": False}, X, Y),
    "squared_error": (ThresherRegressor, {}, X, SCORES),
    "huber": (ThresherRegressor, {"loss": "huber"}, X, SCORES),
    "numbers of words": (ThresherRegressor, {}, WORDS, WORD_SCORES),
}
cases = pytest.mark.parametrize(
    ("kind", "settings", "rows", "labels"), CASES.values(), ids=CASES.keys()
)


def make(kind=ThresherClassifier, **settings):
    return kind(**{"random_state": 0, **settings})


def path_bytes(model):
    """Return a model's path as bytes that are equal or not."""
    parts = [part if isinstance(part, list) else [part] for part in model.path_]
    return [np.asarray(one).tobytes() for part in parts for one in part if one is not None]


def assert_good(model):
    """Assert that a fitted model is finite, small and consistent."""
    coef = np.atleast_2d(model.coef_)
    assert np.isfinite(coef).all()
    assert np.isfinite(model.intercept_).all()
    assert model.n_features_selected_ == model.path_.size == model.get_support().sum()
    assert np.isfinite(model.path_.loss).all()
    assert np.isfinite(model.path_.loss_se).all()


# ------------------------------------------------------------------------------- what is promised


@cases
def test_the_features_that_count_are_found(kind, settings, rows, labels):
    model = make(kind, n_features_to_select=3, **settings).fit(rows, labels)
    assert_good(model)
    assert set(np.flatnonzero(model.get_support())[:2]) == {0, 1}
    assert model.selection_frequency_[[0, 1]].tolist() == [1.0, 1.0]
    assert model.path_.clear
    chance = 0.3 if kind is ThresherRegressor else 0.7
    assert model.score(rows, labels) > chance


@cases
def test_threads_and_repetition_give_the_same_bits(kind, settings, rows, labels):
    one = make(kind, n_jobs=1, **settings).fit(rows, labels)
    for n_jobs in (1, 2, 3):
        other = make(kind, n_jobs=n_jobs, **settings).fit(rows, labels)
        assert path_bytes(other) == path_bytes(one)
        assert other.coef_.tobytes() == one.coef_.tobytes()


SCRIPT = """
import numpy as np, sys, hashlib
sys.path[:0] = {path!r}
from test_thresher import CASES, make, path_bytes
for name in {names!r}:
    kind, settings, rows, labels = CASES[name]
    parts = path_bytes(make(kind, **settings).fit(rows, labels))
    print(hashlib.sha256(b"".join(parts)).hexdigest())
"""


def test_another_process_gives_the_same_bits(capfd):
    names = ["log_loss", "classes", "huber"]
    script = SCRIPT.format(path=sys.path, names=names)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    exec(script, {})
    assert ran.stdout == capfd.readouterr().out


@cases
def test_at_size_is_the_path_and_needs_no_rows(kind, settings, rows, labels):
    model = make(kind, n_features_to_select=8, **settings).fit(rows, labels)
    before = path_bytes(model)
    for k, size in enumerate(model.path_.sizes.tolist()):
        smaller = model.at_size(size)
        assert_good(smaller)
        assert smaller.n_features_selected_ == smaller.n_features_to_select == size
        dense = np.zeros((len(model.path_.weights[k]), 12))
        dense[:, model.path_.columns[k]] = model.path_.weights[k]
        assert_array_equal(np.atleast_2d(smaller.coef_), dense)
        assert_array_equal(np.atleast_1d(smaller.intercept_), model.path_.intercepts[k])
    assert_array_equal(smaller.predict(rows), model.predict(rows))
    assert path_bytes(model) == before
    assert model.at_size(1000).n_features_selected_ == 8
    with pytest.raises(ValueError, match="size=0: it must be at least 1"):
        model.at_size(0)


@cases
def test_predictions_are_those_of_coef_on_prepared_rows(kind, settings, rows, labels):
    model = make(kind, **settings).fit(rows, labels)
    preparation = model.fitted_.preparation
    dense = rows.toarray() if sparse.issparse(rows) else rows
    if preparation.unit:
        kept = model.get_support() if preparation.kept_length else np.ones(12, bool)
        lengths = np.linalg.norm(dense * kept, axis=1, keepdims=True)
        dense = dense / np.where(lengths > 0, lengths, 1.0)
    assert preparation.unit == sparse.issparse(rows)
    margins = dense @ np.atleast_2d(model.coef_).T + model.intercept_
    if kind is ThresherRegressor:
        assert_allclose(model.predict(rows), margins[:, 0], atol=1e-10)
    else:
        margins = margins[:, 0] if margins.shape[1] == 1 else margins
        assert_allclose(model.decision_function(rows), margins, atol=1e-10)


@cases
def test_pickles_clones_and_files_keep_what_is_needed(kind, settings, rows, labels, tmp_path):
    model = make(kind, **settings).fit(rows, labels)
    copy = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.thresher")
    for other in (copy, load(tmp_path / "model.thresher")):
        assert_array_equal(other.predict(rows), model.predict(rows))
        assert path_bytes(other) == path_bytes(model)
        assert_array_equal(other.at_size(2).coef_, model.at_size(2).coef_)
        assert other.why_selected() == model.why_selected()
        assert_array_equal(other.selection_frequency_, model.selection_frequency_)
    again = clone(model).fit(rows, labels)
    assert path_bytes(again) == path_bytes(model)
    with pytest.raises(ValueError, match="no state of training"):
        model.save(tmp_path / "other.thresher", training_state=True)


def test_set_params_counts_from_the_next_fit():
    model = make().fit(X, Y)
    coef = model.coef_
    model.set_params(n_features_to_select=2)
    assert_array_equal(model.coef_, coef)
    assert model.fit(X, Y).n_features_selected_ == 2


# ---------------------------------------------------------------------------------------- units


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize(("unit", "offset"), [(1e6, 0.0), (1e-8, 0.0), (1.0, 1e5), (-2.0, 7.0)])
def test_regression_follows_units_and_offsets_of_targets(loss, unit, offset):
    usual = make(ThresherRegressor, loss=loss).fit(X, SCORES)
    other = make(ThresherRegressor, loss=loss).fit(X, unit * SCORES + offset)
    assert_array_equal(other.path_.sizes, usual.path_.sizes)
    size = abs(unit) * np.abs(usual.coef_).max()
    assert_allclose(other.coef_, unit * usual.coef_, rtol=1e-3, atol=1e-3 * size)
    assert_allclose(other.predict(X), unit * usual.predict(X) + offset, atol=2e-3 * size)
    assert_allclose(other.path_.error, unit**2 * usual.path_.error, rtol=1e-2)


@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherRegressor])
@pytest.mark.parametrize("scale", [1e-8, 1e3, 1e8])
def test_measurements_follow_units_and_offsets_of_columns(kind, scale):
    y = SCORES if kind is ThresherRegressor else Y
    scales = np.where(np.arange(12) % 2, scale, 1.0)
    usual = make(kind).fit(X, y)
    other = make(kind).fit(X * scales + 10 * scales, y)
    assert_array_equal(other.get_support(), usual.get_support())
    size = np.abs(usual.coef_).max()
    assert_allclose(other.coef_ * scales, usual.coef_, rtol=1e-3, atol=1e-3 * size)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_words_follow_their_unit(scale):
    usual, other = make().fit(WORDS, WORD_LABELS), make().fit(WORDS * scale, WORD_LABELS)
    assert_array_equal(other.get_support(), usual.get_support())
    assert_allclose(other.predict_proba(WORDS * scale), usual.predict_proba(WORDS), atol=1e-3)


def test_only_the_ratios_of_weights_count():
    weights = np.where(np.arange(90) % 3, 1.0, 2.0)
    for kind, y in ((ThresherClassifier, Y), (ThresherRegressor, SCORES)):
        usual = make(kind).fit(X, y, sample_weight=weights)
        for times in (2.0**-30, 2.0**20):  # exact
            other = make(kind).fit(X, y, sample_weight=weights * times)
            assert path_bytes(other) == path_bytes(usual)


def test_rows_of_weight_zero_are_not_there():
    some = np.arange(90) % 4 > 0
    poisoned, labels = X.copy(), np.where(some, Y, 9)
    poisoned[~some] = 1e6
    usual = make().fit(X[some], Y[some])
    other = make().fit(poisoned, np.where(some, Y, 0), some * 1.0)
    assert path_bytes(other) == path_bytes(usual)
    with pytest.raises(ValueError, match="Only rows of class 0"):
        make().fit(X, labels, sample_weight=(Y == 0) * some * 1.0)


def test_balanced_classes():
    few = np.flatnonzero((Y == 0) | (np.arange(90) % 6 == 0))
    plain, balanced = make(), make(class_weight="balanced")
    by_hand = np.where(Y[few] == 1, 1 / np.sum(Y[few] == 1), 1 / np.sum(Y[few] == 0))
    balanced.fit(X[few], Y[few])
    plain.fit(X[few], Y[few], sample_weight=by_hand)
    assert_allclose(balanced.coef_, plain.coef_, rtol=1e-6)
    assert (balanced.predict(X[few]) == 1).sum() >= (
        plain.fit(X[few], Y[few]).predict(X[few]) == 1
    ).sum()


@pytest.mark.parametrize("seed", range(5))
def test_median_of_numbers_that_count(seed):
    rng = np.random.default_rng(seed)
    numbers, times = rng.integers(0, 5, 8).astype(float), rng.integers(1, 4, 8)
    assert median(numbers, times.astype(float)) == np.median(np.repeat(numbers, times))


def test_huber_with_more_than_half_of_the_targets_equal():
    y = np.where(SCORES > 1.0, SCORES, 0.0)
    usual = make(ThresherRegressor, loss="huber").fit(X, y)
    other = make(ThresherRegressor, loss="huber").fit(X, 1000.0 * y)
    assert_allclose(other.coef_, 1000.0 * usual.coef_, rtol=1e-3)


def test_huber_ignores_outliers():
    y = SCORES.copy()
    y[::10] += 1000.0
    robust = make(ThresherRegressor, loss="huber", n_features_to_select=3).fit(X, y)
    assert_allclose(robust.coef_[:3], [2.0, -1.5, 1.0], atol=0.3)


# -------------------------------------------------------------------------------------- classes


def test_classes_share_one_set_of_features():
    model = make(n_features_to_select=3).fit(X, CLASSES)
    assert model.coef_.shape == (3, 12)
    assert ((model.coef_ != 0).any(axis=0)).sum() == 3
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("names", [["b", "a"], [-7, -3], [2.0, -1.0], [True, False]])
def test_any_labels(names):
    labels = np.array(names)[Y]
    model = make().fit(X, labels)
    assert_array_equal(model.classes_, np.unique(labels))
    assert np.mean(model.predict(X) == labels) > 0.8
    flipped = 1.0 if model.classes_[1] == labels[Y == 1][0] else -1.0
    assert_allclose(np.sign(model.coef_[0, 0]), flipped)


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber"])
def test_several_classes_need_the_log_loss(loss):
    with pytest.raises(ValueError, match='several classes need loss="log_loss"'):
        make(loss=loss).fit(X, CLASSES)


def test_a_class_of_weight_zero():
    model = make(class_weight={1: 0.0}).fit(X, CLASSES)
    assert_good(model)
    assert set(model.predict(X)) == {0, 2}


# ----------------------------------------------------------------------------------- odd inputs


def changed(rows=X, **cells):
    """Return a copy of rows with columns replaced: ``c3=0`` makes column 3 all zeros."""
    rows = rows.copy()
    for name, value in cells.items():
        rows[:, int(name[1:])] = value
    return rows


ODD = {
    "constant columns": (changed(c4=1.0, c5=0.0, c6=-1e6), Y),
    "copies of a column": (changed(c4=X[:, 0], c5=X[:, 0], c6=-X[:, 0]), Y),
    "rows of zeros": (X * (np.arange(90) % 2)[:, np.newaxis], Y),
    "one column": (X[:, :1], Y),
    "one row of a class": (X, np.arange(90) == 3),
    "one row of one of three classes": (X, np.where(np.arange(90) == 3, 2, Y)),
    "two rows": (X[:2], [0, 1]),
    "three rows": (X[:3], [0, 1, 1]),
    "a class in each row": (X[:5], np.arange(5)),
    "separable": (changed(c0=10.0 * Y), Y),
    "noise": (X, np.arange(90) % 2),
    "huge and tiny": (X * 10.0 ** np.arange(-8, 16, 2), Y),
    "uneven lengths": (WORDS * np.logspace(-8, 8, 90)[:, np.newaxis], WORD_LABELS),
}


@pytest.mark.filterwarnings(NOT_CLEAR)
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"n_features_to_select": 99}])
@pytest.mark.parametrize(("rows", "labels"), ODD.values(), ids=ODD.keys())
def test_odd_rows_are_learned(rows, labels, settings):
    model = make(**settings).fit(rows, labels)
    assert_good(model)
    assert model.n_features_selected_ <= np.shape(rows)[1]
    assert model.predict(rows).shape == np.shape(labels)


@pytest.mark.filterwarnings(NOT_CLEAR)
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("rows", "y"),
    [
        (X, np.full(90, 3.0)),
        (X, np.zeros(90)),
        (X[:2], [1.0, 2.0]),
        (X, 1.0 * (np.arange(90) == 4)),
    ],
    ids=["equal", "zero", "two rows", "one other"],
)
def test_odd_targets_are_learned(rows, y, loss, fit_intercept):
    model = make(ThresherRegressor, loss=loss, fit_intercept=fit_intercept).fit(rows, y)
    assert_good(model)
    if fit_intercept and np.ptp(y) == 0:
        assert_allclose(model.predict(rows), y, atol=1e-12)


@pytest.mark.filterwarnings(NOT_CLEAR)
def test_weights_of_very_different_rows():
    weights = np.where(np.arange(90) % 3, 1e6 * (np.arange(90) % 2), 1.0)
    assert_good(make().fit(X, Y, sample_weight=weights))
    assert_good(make().fit(X, CLASSES, sample_weight=weights))
    assert_good(make(ThresherRegressor).fit(X, SCORES, sample_weight=weights))


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.ones((90, 3)), Y, r"No column of X varies \(n_samples=90\)"),
        (np.zeros((90, 3)), Y, "No column of X varies"),
        (sparse.csr_array((90, 3)), Y, "No column of X varies"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (np.where(np.arange(12) == 3, np.nan, X), Y, "contains NaN at row 0, column 3"),
        (np.where(np.arange(12) == 3, np.inf, X), Y, "infinity"),
        (X * 1e170, Y, "squares of column 0 overflow"),
        (X, np.ones(90), "only one class"),
        (X, Y[:50], "90 rows but y has 50"),
    ],
)
def test_what_cannot_be_learned_is_refused(rows, labels, message):
    model = make().fit(X, Y)
    coef = model.coef_
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert_array_equal(model.coef_, coef)  # nothing has changed


def test_targets_that_overflow_are_refused():
    with pytest.raises(ValueError, match="targets are too large"):
        make(ThresherRegressor).fit(X, SCORES * 1e200)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": 1.5}, "n_features_to_select"),
        ({"caution": -1}, "caution"),
        ({"cv": 1}, "cv"),
        ({"scoring": "good"}, "scoring"),
        ({"normalize": "maybe"}, "normalize"),
        ({"loss": "hinge"}, "loss"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ValueError, match=rf"{message}=.* of ThresherClassifier is not allowed"):
        make(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("wanted", "size"), [(5, 5), (np.int64(5), 5), (0.25, 3), (np.float32(0.25), 3), (1e-9, 1)]
)
def test_numbers_and_shares_of_features(wanted, size):
    assert make(n_features_to_select=wanted).fit(X, Y).n_features_selected_ == size


def test_normalize_scales_dense_rows_only_when_asked():
    lengths = np.logspace(-2, 2, 90)[:, np.newaxis]
    asked = make(normalize=True, n_features_to_select=3)
    assert_allclose(
        asked.fit(X * lengths, Y).decision_function(X * lengths),
        clone(asked).fit(X, Y).decision_function(X),
        atol=1e-6,
    )
    assert not make().fit(X, Y).fitted_.preparation.unit
    assert not make(normalize=False).fit(WORDS, WORD_LABELS).fitted_.preparation.unit


# ---------------------------------------------------------------------------------------- folds


GROUPS = np.arange(90) // 6
SPLITTERS = {
    "leave one out": (LeaveOneOut(), None),
    "repeated": (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), None),
    "few rows": (ShuffleSplit(2, test_size=10, train_size=30, random_state=0), None),
    "one fold": (PredefinedSplit(np.where(np.arange(90) < 60, -1, 0)), None),
    "in time": (TimeSeriesSplit(3), None),
    "more folds than rows": (1000, None),
    "groups": (3, GROUPS),
    "named groups": (3, GROUPS.astype(str)),
    "group splitter": (GroupKFold(2), GROUPS),
    "a group each": (LeaveOneGroupOut(), GROUPS),
}


@pytest.mark.parametrize(("cv", "groups"), SPLITTERS.values(), ids=SPLITTERS.keys())
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherRegressor])
def test_any_folds(cv, groups, kind):
    y = SCORES if kind is ThresherRegressor else Y
    assert_good(make(kind, cv=cv).fit(X, y, groups=groups))


@pytest.mark.parametrize("classes", [None, Y, CLASSES])
def test_groups_are_never_on_both_sides(classes):
    targets = SCORES if classes is None else classes
    splits = make_splits(3, targets, classes, GROUPS, 0)
    assert len(splits) == 3
    for some, others in splits:
        assert not set(GROUPS[some]) & set(GROUPS[others])
    held = np.sort(np.concatenate([others for _, others in splits]))
    assert_array_equal(held, np.arange(90))


@pytest.mark.parametrize("n", [2, 3, 5, 90])
def test_folds_without_a_class_are_left_out(n):
    lonely = np.where(np.arange(n) == 1, 1, 0)
    splits = make_splits(3, lonely, lonely, None, 0)
    for some, others in splits:
        assert others.size
        assert set(lonely[some]) == {0, 1}
    if n == 2:
        assert_array_equal(splits[0], [[0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(80), r"groups has shape \(80,\), but X has 90 rows"),
        (np.arange(100), r"groups has shape \(100,\)"),
        (np.zeros(90), "all rows are of one group"),
    ],
)
def test_wrong_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, groups=groups)


def negative_error(estimator, rows, y):
    return -mean_absolute_error(y, estimator.predict(rows))


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "f1", "neg_log_loss"])
def test_scores_of_classifiers(scoring):
    model = make(scoring=scoring).fit(X, Y)
    assert_good(model)
    assert model.path_.score.shape == model.path_.sizes.shape
    assert model.path_.score.max() > (-0.5 if scoring == "neg_log_loss" else 0.8)
    assert "held-out score" in model.why_selected()


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "accuracy", "neg_log_loss"])
def test_scores_of_several_classes(scoring):
    assert_good(make(scoring=scoring).fit(X, CLASSES))


@pytest.mark.parametrize(
    "scoring",
    ["r2", negative_error, make_scorer(mean_absolute_error, greater_is_better=False)],
    ids=["name", "function", "scorer"],
)
def test_scores_of_regressors_are_in_the_units_of_targets(scoring):
    model = make(ThresherRegressor, scoring=scoring).fit(X, 100.0 * SCORES + 7.0)
    assert_good(model)
    low, high = (0.8, 1.0) if scoring == "r2" else (-40.0, -20.0)
    assert low < model.path_.score.max() < high


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="scoring gives nan for held-out rows"):
        make(scoring=lambda *_: float("nan")).fit(X, Y)
    with pytest.raises(AttributeError, match="predict_proba"):
        make(scoring="neg_log_loss", loss="squared_hinge").fit(X, Y)


@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherRegressor])
def test_caution_never_weakens_the_penalty(kind):
    y = SCORES if kind is ThresherRegressor else Y
    penalties = [make(kind, caution=c).fit(X, y).penalty_ for c in (0.0, 1.0, 1e6)]
    assert penalties == sorted(penalties)
    assert penalties[-1] == 10.0


def test_halves_are_counted():
    model = make(n_features_to_select=3).fit(X, Y)
    counts = model.selection_counts(X, Y, 8)
    assert counts.shape == (12,)
    assert counts.sum() == 24
    assert counts[:2].min() >= 7
    assert_array_equal(
        make(n_features_to_select=3, n_jobs=2).fit(X, Y).selection_counts(X, Y, 8), counts
    )
    some = np.arange(90) % 4 > 0
    weighted = model.selection_counts(X, Y, 8, sample_weight=some * 1.0)
    poisoned = np.where(some[:, np.newaxis], X, 1e6)
    assert_array_equal(model.selection_counts(poisoned, Y, 8, sample_weight=some * 1.0), weighted)


# ---------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "of 12 features were selected: the smallest number whose held-out loss is within one "
             "standard error of the best."),
        ({"n_features_to_select": 5}, "5 of 12 features were selected: as many as asked for."),
        ({"n_features_to_select": 0.5}, "6 of 12 features were selected: as many as asked for."),
        ({"n_features_to_select": 50}, "12 of 12 features were selected: all that vary."),
        ({"scoring": "accuracy"}, "whose held-out score is within one standard error"),
        ({"caution": 3}, "under the penalty 10 (caution=3)."),
    ],
)  # fmt: skip
def test_why_selected(settings, line):
    model = make(**settings).fit(X, Y)
    why = model.why_selected()
    assert line in why
    assert "Held-out loss 0." in why
    assert "error 0." in why
    assert "no features 0.6" in why
    assert len(why.splitlines()) == 3
    smaller = model.at_size(2).why_selected()
    assert smaller.startswith("2 of 12 features were selected: as many as asked for.")


def test_why_selected_of_numbers():
    assert "mean squared error 0." in make(ThresherRegressor).fit(X, SCORES).why_selected()


def test_where_nothing_is_clear_there_is_a_warning(capsys):
    noise = np.arange(90) % 2
    with pytest.warns(UserWarning, match="No number of features is clearly better") as warned:
        model = make().fit(X, noise)
    assert warned[0].filename == __file__
    assert not model.path_.clear
    assert "No number of features is clearly better than none" in model.why_selected()
    make(verbose=1).fit(X, noise)
    assert capsys.readouterr().out == model.why_selected() + "\n"


def test_before_fit_there_is_nothing():
    for read in (
        lambda: make().path_,
        lambda: make().selection_frequency_,
        lambda: make().penalty_,
        lambda: make().at_size(3),
        lambda: make().why_selected(),
    ):
        with pytest.raises((NotFittedError, AttributeError)):
            read()


def test_a_stream_has_no_path():
    model = make(n_features_to_select=3).partial_fit(X, Y, classes=[0, 1])
    assert model.n_features_selected_ <= 3
    assert not hasattr(model, "path_")
    for read in (lambda: model.penalty_, lambda: model.at_size(2), model.why_selected):
        with pytest.raises(AttributeError, match="There is no path: it comes from fit"):
            read()


@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherRegressor])
def test_partial_fit_after_fit_begins_anew(kind):
    y = SCORES if kind is ThresherRegressor else Y
    model = make(kind).fit(X, y)
    with pytest.warns(UserWarning, match="partial_fit begins a new model") as warned:
        model.partial_fit(X, y)
    assert warned[0].filename == __file__
    first = {} if kind is ThresherRegressor else {"classes": [0, 1]}
    assert_array_equal(model.coef_, make(kind).partial_fit(X, y, **first).coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, y)
    failing = make(kind).fit(X, y)
    coef = failing.coef_
    with pytest.warns(match="begins"), pytest.raises(ValueError, match="NaN"):
        failing.partial_fit(X * np.nan, y)
    assert_array_equal(failing.coef_, coef)


# ---------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("at_hand", [10**6, 0])
@cases
def test_files_give_what_fit_gives(kind, settings, rows, labels, at_hand, tmp_path, monkeypatch):
    monkeypatch.setattr(winnow_training, "AT_HAND", at_hand)
    file = tmp_path / "rows.svm"
    dump_svmlight_file(rows, labels, str(file))
    usual = make(kind, **settings).fit(rows, labels)
    model = make(kind, **settings).fit_stream(file)
    assert_array_equal(model.get_support(), usual.get_support())
    assert_allclose(model.coef_, usual.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(model.path_.loss, usual.path_.loss, rtol=1e-5)


def test_a_share_of_unknown_columns_is_refused():
    stream = iter([(X, Y)])
    with pytest.raises(ValueError, match="give a number of features"):
        make(n_features_to_select=0.5).fit_stream(stream, classes=[0, 1])
