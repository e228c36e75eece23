"""The flagship's estimators: what they promise, and every odd input there is."""

import pickle
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
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
BOTH = {ThresherClassifier: Y, ThresherRegressor: SCORES}


def make(kind=ThresherClassifier, **settings):
    return kind(**{"random_state": 0, **settings})


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def case(request):
    """Rows, labels, and a model fitted with them, of which tests change nothing."""
    kind, settings, rows, labels = request.param
    return rows, labels, make(kind, n_features_to_select=8, **settings).fit(rows, labels)


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


def test_the_features_that_count_are_found(case):
    rows, labels, model = case
    assert_good(model)
    assert model.path_.clear
    small = model.at_size(3)
    assert {0, 1} <= set(small.get_support(indices=True))
    assert small.selection_frequency_[[0, 1]].tolist() == [1.0, 1.0]
    assert small.score(rows, labels) > (0.7 if is_classifier(model) else 0.3)


@pytest.mark.parametrize("name", ["log_loss", "classes", "words", "huber"])
def test_any_number_of_threads_gives_the_same_bits(name):
    kind, settings, rows, labels = CASES[name]
    one = make(kind, n_jobs=1, **settings).fit(rows, labels)
    for n_jobs in (2, 3):
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


def test_at_size_is_the_path_and_needs_no_rows(case):
    rows, _, model = case
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


def test_predictions_are_those_of_coef_on_prepared_rows(case):
    rows, _, model = case
    preparation = model.fitted_.preparation
    dense = rows.toarray() if sparse.issparse(rows) else rows
    if preparation.unit:
        kept = model.get_support() if preparation.kept_length else np.ones(12, bool)
        lengths = np.linalg.norm(dense * kept, axis=1, keepdims=True)
        dense = dense / np.where(lengths > 0, lengths, 1.0)
    assert preparation.unit == sparse.issparse(rows)
    margins = dense @ np.atleast_2d(model.coef_).T + model.intercept_
    found = model.decision_function(rows) if is_classifier(model) else model.predict(rows)
    assert_allclose(found.reshape(margins.shape), margins, atol=1e-10)


def test_pickles_clones_and_files_keep_what_is_needed(case, tmp_path):
    rows, labels, model = case
    copy = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.thresher")
    for other in (copy, load(tmp_path / "model.thresher")):
        assert_array_equal(other.predict(rows), model.predict(rows))
        assert path_bytes(other) == path_bytes(model)
        assert_array_equal(other.at_size(2).coef_, model.at_size(2).coef_)
        assert other.why_selected() == model.why_selected()
        assert_array_equal(other.selection_frequency_, model.selection_frequency_)
    assert path_bytes(clone(model).fit(rows, labels)) == path_bytes(model)
    with pytest.raises(ValueError, match="no state of training"):
        model.save(tmp_path / "other.thresher", training_state=True)


def test_files_give_what_fit_gives(case, tmp_path, monkeypatch):
    rows, labels, usual = case
    file = tmp_path / "rows.svm"
    dump_svmlight_file(rows, labels, str(file))
    for at_hand in (10**6, 0):
        monkeypatch.setattr(winnow_training, "AT_HAND", at_hand)
        model = clone(usual).fit_stream(file)
        assert_array_equal(model.get_support(), usual.get_support())
        assert_allclose(model.coef_, usual.coef_, rtol=1e-6, atol=1e-8)
        assert_allclose(model.path_.loss, usual.path_.loss, rtol=1e-5)


def test_columns_are_winnowed_up_to_a_given_number(case):
    rows, labels, usual = case
    enough = clone(usual).set_params(max_columns=1000).fit(rows, labels)  # exact sums
    assert_allclose(enough.coef_, usual.coef_, rtol=1e-6, atol=1e-8)
    few = clone(usual).set_params(max_columns=5, n_features_to_select=2).fit(rows, labels)
    assert few.path_.size == 2
    assert all(columns.size <= 5 for columns in few.path_.columns)
    with pytest.raises(ValueError, match="raise max_columns"):
        clone(usual).set_params(max_columns=5).fit(rows, labels)


# ---------------------------------------------------------------------------------------- units


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_regression_follows_units_and_offsets_of_targets(loss):
    usual = make(ThresherRegressor, loss=loss).fit(X, SCORES)
    for unit, offset in ((1e6, 0.0), (1e-8, 0.0), (1.0, 1e5), (-2.0, 7.0)):
        other = make(ThresherRegressor, loss=loss).fit(X, unit * SCORES + offset)
        assert_array_equal(other.path_.sizes, usual.path_.sizes)
        size = abs(unit) * np.abs(usual.coef_).max()
        assert_allclose(other.coef_, unit * usual.coef_, rtol=1e-3, atol=1e-3 * size)
        assert_allclose(other.predict(X), unit * usual.predict(X) + offset, atol=2e-3 * size)
        assert_allclose(other.path_.error, unit**2 * usual.path_.error, rtol=1e-2)


@pytest.mark.parametrize("kind", BOTH)
def test_measurements_follow_units_and_offsets_of_columns(kind):
    usual = make(kind).fit(X, BOTH[kind])
    size = np.abs(usual.coef_).max()
    for scale in (1e-8, 1e3, 1e8):
        scales = np.where(np.arange(12) % 2, scale, 1.0)
        other = make(kind).fit(X * scales + 10 * scales, BOTH[kind])
        assert_array_equal(other.get_support(), usual.get_support())
        assert_allclose(other.coef_ * scales, usual.coef_, rtol=1e-3, atol=1e-3 * size)


def test_words_follow_their_unit():
    usual = make().fit(WORDS, WORD_LABELS)
    for scale in (1e-8, 1e8):
        other = make().fit(WORDS * scale, WORD_LABELS)
        assert_array_equal(other.get_support(), usual.get_support())
        assert_allclose(other.predict_proba(WORDS * scale), usual.predict_proba(WORDS), atol=1e-3)


def test_only_the_ratios_of_weights_count():
    weights = np.where(np.arange(90) % 3, 1.0, 2.0)
    for kind, y in BOTH.items():
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


def test_median_of_numbers_that_count():
    rng = np.random.default_rng(0)
    for _ in range(9):
        numbers, times = rng.integers(0, 5, 8).astype(float), rng.integers(1, 4, 8)
        assert median(numbers, times.astype(float)) == np.median(np.repeat(numbers, times))


def test_huber_resists_outliers_and_equal_targets():
    wild = np.where(np.arange(90) % 10, SCORES, SCORES + 1000.0)
    robust = make(ThresherRegressor, loss="huber", n_features_to_select=3).fit(X, wild)
    assert_allclose(robust.coef_[:3], [2.0, -1.5, 1.0], atol=0.3)
    mostly_zero = np.where(SCORES > 1.0, SCORES, 0.0)
    usual = make(ThresherRegressor, loss="huber").fit(X, mostly_zero)
    other = make(ThresherRegressor, loss="huber").fit(X, 1000.0 * mostly_zero)
    assert_allclose(other.coef_, 1000.0 * usual.coef_, rtol=1e-3)


# -------------------------------------------------------------------------------------- classes


def test_several_classes_need_the_log_loss():
    for loss in ("squared_hinge", "modified_huber"):
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
@pytest.mark.parametrize(("rows", "labels"), ODD.values(), ids=ODD.keys())
def test_odd_rows_are_learned(rows, labels):
    for settings in ({}, {"fit_intercept": False}, {"n_features_to_select": 99}):
        model = make(**settings).fit(rows, labels)
        assert_good(model)
        assert model.n_features_selected_ <= np.shape(rows)[1]
        assert model.predict(rows).shape == np.shape(labels)


ODD_TARGETS = {
    "equal": (X, np.full(90, 3.0)),
    "zero": (X, np.zeros(90)),
    "two rows": (X[:2], [1.0, 2.0]),
    "one other": (X, 1.0 * (np.arange(90) == 4)),
}


@pytest.mark.filterwarnings(NOT_CLEAR)
@pytest.mark.parametrize(("rows", "y"), ODD_TARGETS.values(), ids=ODD_TARGETS.keys())
def test_odd_targets_are_learned(rows, y):
    for loss, intercept in product(("squared_error", "huber"), (True, False)):
        model = make(ThresherRegressor, loss=loss, fit_intercept=intercept).fit(rows, y)
        assert_good(model)
        if intercept and np.ptp(y) == 0:
            assert_allclose(model.predict(rows), y, atol=1e-12)


@pytest.mark.filterwarnings(NOT_CLEAR)
def test_weights_of_very_different_rows():
    weights = np.where(np.arange(90) % 3, 1e6 * (np.arange(90) % 2), 1.0)
    assert_good(make().fit(X, Y, sample_weight=weights))
    assert_good(make().fit(X, CLASSES, sample_weight=weights))
    assert_good(make(ThresherRegressor).fit(X, SCORES, sample_weight=weights))


REFUSED = [
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
    (X, SCORES * 1e200, "targets are too large"),
]


@pytest.mark.parametrize(("rows", "labels", "message"), REFUSED)
def test_what_cannot_be_learned_is_refused(rows, labels, message):
    model = make(ThresherRegressor if "targets" in message else ThresherClassifier).fit(X, Y)
    coef = model.coef_
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert_array_equal(model.coef_, coef)  # nothing has changed


def test_numbers_and_shares_of_features():
    sizes = {5: 5, np.int64(4): 4, 0.25: 3, np.float32(0.5): 6, 1e-9: 1}
    for wanted, size in sizes.items():
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
    "named groups": (3, GROUPS.astype(str)),
    "group splitter": (GroupKFold(2), GROUPS),
}


@pytest.mark.parametrize(("cv", "groups"), SPLITTERS.values(), ids=SPLITTERS.keys())
def test_any_folds(cv, groups):
    for kind, y in BOTH.items():
        assert_good(make(kind, cv=cv).fit(X, y, groups=groups))


def test_groups_are_never_on_both_sides():
    for targets, classes in ((SCORES, None), (Y, Y), (CLASSES, CLASSES)):
        splits = make_splits(3, targets, classes, GROUPS, 0)
        assert len(splits) == 3
        for some, others in splits:
            assert not set(GROUPS[some]) & set(GROUPS[others])
        held = np.sort(np.concatenate([others for _, others in splits]))
        assert_array_equal(held, np.arange(90))


def test_folds_without_a_class_are_left_out():
    for n in (2, 3, 5, 90):
        lonely = np.where(np.arange(n) == 1, 1, 0)
        splits = make_splits(3, lonely, lonely, None, 0)
        assert splits
        for some, others in splits:
            assert others.size
            assert set(lonely[some]) == {0, 1}
        if n == 2:
            assert_array_equal(splits[0], [[0, 1], [0, 1]])


def test_wrong_groups_are_refused():
    message = r"groups has shape \(80,\), but X has 90 rows|all rows are of one group"
    for groups in (np.arange(80), np.zeros(90)):
        with pytest.raises(ValueError, match=message):
            make().fit(X, Y, groups=groups)


def negative_error(estimator, rows, y):
    return -mean_absolute_error(y, estimator.predict(rows))


SCORED = {  # scoring, targets, and between which numbers the best score is
    "roc_auc": ("roc_auc", Y, 0.8, 1.0),
    "f1": ("f1", Y, 0.8, 1.0),
    "neg_log_loss": ("neg_log_loss", Y, -0.5, 0.0),
    "classes": ("accuracy", CLASSES, 0.7, 1.0),
    "classes by area": ("roc_auc_ovr", CLASSES, 0.8, 1.0),
    # in the units of the targets
    "r2": ("r2", 100.0 * SCORES + 7.0, 0.8, 1.0),
    "function": (negative_error, 100.0 * SCORES + 7.0, -40.0, -20.0),
    "scorer": (
        make_scorer(mean_absolute_error, greater_is_better=False),
        100.0 * SCORES + 7.0,
        -40.0,
        -20.0,
    ),
}


@pytest.mark.parametrize(("scoring", "y", "low", "high"), SCORED.values(), ids=SCORED.keys())
def test_any_score_takes_the_place_of_the_loss(scoring, y, low, high):
    kind = ThresherRegressor if y.dtype.kind == "f" else ThresherClassifier
    model = make(kind, scoring=scoring).fit(X, y)
    assert_good(model)
    assert model.path_.score.shape == model.path_.sizes.shape
    assert low < model.path_.score.max() <= high
    assert "held-out score" in model.why_selected()


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="scoring gives nan for held-out rows"):
        make(scoring=lambda *_: float("nan")).fit(X, Y)
    with pytest.raises(AttributeError, match="predict_proba"):
        make(scoring="neg_log_loss", loss="squared_hinge").fit(X, Y)


@pytest.mark.parametrize("kind", BOTH)
def test_caution_never_weakens_the_penalty(kind):
    penalties = [make(kind, caution=c).fit(X, BOTH[kind]).penalty_ for c in (0.0, 1.0, 1e6)]
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


WHY = [
    ({}, "number whose held-out loss is at most 0.25 standard errors worse than the best."),
    ({"n_features_to_select": 5}, "5 of 12 features were selected: as many as asked for."),
    ({"n_features_to_select": 0.5}, "6 of 12 features were selected: as many as asked for."),
    ({"n_features_to_select": 50}, "12 of 12 features were selected: all that vary."),
    ({"scoring": "accuracy", "caution": 3}, "held-out score is at most 1 standard errors worse"),
    ({"caution": 3}, "under the penalty 10 (caution=3)."),
]


def test_why_selected():
    for settings, line in WHY:
        model = make(**settings).fit(X, Y)
        why = model.why_selected()
        assert line in why
        assert "Held-out loss 0." in why
        assert "error 0." in why
        assert "no features 0.6" in why
        assert len(why.splitlines()) == 3
        smaller = model.at_size(2).why_selected()
        assert smaller.startswith("2 of 12 features were selected: as many as asked for.")
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


def test_before_fit_and_in_a_stream_there_is_no_path():
    bare, model = make(), make(n_features_to_select=3).partial_fit(X, Y, classes=[0, 1])
    assert model.n_features_selected_ <= 3
    assert not any(hasattr(one, "path_") for one in (bare, model))
    reads = (lambda one: one.penalty_, lambda one: one.at_size(2), lambda one: one.why_selected())
    for read in (*reads, lambda one: one.selection_frequency_):
        with pytest.raises((NotFittedError, AttributeError)):
            read(bare)
    for read in reads:
        with pytest.raises(AttributeError, match="There is no path: it comes from fit"):
            read(model)


@pytest.mark.parametrize("kind", BOTH)
def test_partial_fit_after_fit_begins_anew(kind):
    y = BOTH[kind]
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


def test_a_share_of_unknown_columns_is_refused():
    stream = iter([(X, Y)])
    with pytest.raises(ValueError, match="give a number of features"):
        make(n_features_to_select=0.5).fit_stream(stream, classes=[0, 1])


def test_a_column_that_overflows_is_named_by_its_own_number():
    huge = np.where(np.arange(12) == 7, 1e200, X) * (np.arange(12) != 3)  # 3 never occurs
    with pytest.raises(ValueError, match="squares of column 7 overflow"):
        make().fit(huge, Y)
