"""The estimators among scikit-learn's other tools."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import thresher
from cases import (
    ALL,
    NAMES,
    PATHED,
    SMALL,
    VARIANTS,
    assert_same_bits,
    facts,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)

SPORT = ["the match was won by a late goal", "a goal and a match to remember", "players won again"]
MONEY = ["the bank raised its rates", "rates fell and the bank lost money", "money lost on bonds"]
TEXTS = [*SPORT, *MONEY] * 5
TOPICS = (["sport"] * 3 + ["money"] * 3) * 5
EASY = {"FTRLClassifier": {"l1": 0.01}, "RDAClassifier": {"l1": 1e-4}, "FOBOSClassifier": {"l1": 0}}


def make_easy(name, **changes):
    """Return an estimator that keeps enough features to tell a few texts apart."""
    return make(name, **{"max_iter": 20, **EASY.get(name, {}), **changes})


# ----------------------------------------------------------------------------------- pipelines


@pytest.mark.parametrize(
    "steps",
    [
        [TfidfVectorizer()],
        [HashingVectorizer(n_features=2**12)],
        [HashingVectorizer(n_features=2**12, alternate_sign=False), MaxAbsScaler()],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
@pytest.mark.parametrize("name", NAMES)
def test_pipelines_learn_texts(name, steps):
    pipeline = make_pipeline(*(clone(step) for step in steps), make_easy(name))
    pipeline.fit(TEXTS, TOPICS)
    assert pipeline.score(TEXTS, TOPICS) == 1.0
    assert_array_equal(pipeline.classes_, ["money", "sport"])


@pytest.mark.parametrize("name", NAMES)
def test_a_pipeline_can_select_features_for_another(name):
    pipeline = make_pipeline(TfidfVectorizer(), make_easy(name), make_easy("PlainSGDClassifier"))
    pipeline.fit(TEXTS, TOPICS)
    selected = pipeline[:-1].get_feature_names_out()
    assert pipeline[-1].n_features_in_ == selected.size > 0
    assert set(selected) <= set(pipeline[0].get_feature_names_out())


@pytest.mark.parametrize("name", NAMES)
def test_grid_search_finds_a_setting(binary, name):
    grid = {"loss": ["hinge", "log_loss"], "fit_intercept": [True, False]}
    search = GridSearchCV(make(name), grid, cv=2).fit(*binary)
    assert set(search.best_params_) == set(grid)
    assert search.best_estimator_.n_features_in_ == 40


def test_grid_search_gives_the_same_with_several_processes(binary):
    grid = {"n_features_to_select": [3, 8]}
    one, two = (
        GridSearchCV(make("ThresherClassifier"), grid, cv=2, n_jobs=n_jobs).fit(*binary)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert_same_bits(one.best_estimator_, two.best_estimator_)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("name", NAMES)
def test_probabilities_can_be_calibrated(problem, name, loss, method):
    rows, labels = problem
    model = CalibratedClassifierCV(make(name, loss=loss), method=method, cv=2).fit(rows, labels)
    probabilities = model.predict_proba(rows)
    assert_allclose(probabilities.sum(axis=1), 1.0)


# -------------------------------------------------------------------------- clone, pickle, warm


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_has_the_settings_and_nothing_learnt(binary, name):
    model = make(name).fit(*binary)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(binary[0])
    assert_same_bits(copy.fit(*binary), model)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_pickle_predicts_the_same_and_goes_on_to_the_same_bits(problem, name, changes):
    rows, labels = problem
    model = make_streaming(name, **changes).fit(rows, labels)
    model.partial_fit(rows[:33], labels[:33])
    copy = pickle.loads(pickle.dumps(model))
    assert_same_bits(copy, model)
    assert_array_equal(copy.decision_function(rows), model.decision_function(rows))
    for one in (copy, model):
        one.partial_fit(rows[33:], labels[33:])
    assert_same_bits(copy, model)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ThresherClassifier"])
def test_a_warm_start_goes_on_as_if_there_had_been_no_pause(problem, name):
    in_order = {"shuffle": False, "tol": None}
    warm = make(name, max_iter=2, warm_start=True, **in_order).fit(*problem).fit(*problem)
    assert_same_bits(warm, make(name, max_iter=4, **in_order).fit(*problem))


@pytest.mark.parametrize("paths", ["permutation", "shared"])
def test_a_warm_start_selects_among_the_features_left(binary, paths):
    model = make("ThresherClassifier", n_features_to_select=9, warm_start=True, paths=paths)
    first = model.fit(*binary).get_support()
    second = model.set_params(n_features_to_select=4).fit(*binary).get_support()
    assert first.sum() == 9
    assert second.sum() == 4
    assert not np.any(second & ~first)


@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize("name", PATHED)
def test_a_warm_start_may_follow_a_stream(problem, name, paths):
    """A stream may end inside a burst; what was open then must not leak into the passes."""
    rows, labels = problem
    whole, parts = (make_streaming(name, paths=paths, warm_start=True) for _ in range(2))
    stream(whole, rows[:33], labels[:33]).fit(rows, labels)
    stream(parts, rows[:33], labels[:33], cuts=[10, 20]).fit(rows, labels)
    assert_same_bits(parts, whole)
    assert whole.score(rows, labels) > 1.2 / np.unique(labels).size


@pytest.mark.parametrize("name", NAMES)
def test_tol_ends_training_early(binary, name):
    assert make(name, tol=None, max_iter=7).fit(*binary).n_iter_ == 7
    assert make(name, tol=None, max_iter=3).fit(*binary).n_iter_ == 3
    assert make(name, tol=1e9, max_iter=7).fit(*binary).n_iter_ < 7


def test_weights_that_a_penalty_holds_back_are_waited_for():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 50)) < 0.1).astype(float)
    y = X[:, :5].sum(axis=1) > 0
    heavy = make("FTRLClassifier", l1=60.0, tol=1e-3, max_iter=20).fit(X, y)
    assert heavy.n_iter_ > 1
    assert np.count_nonzero(heavy.coef_) > 0


def test_a_model_without_features_is_a_reason_to_warn(binary):
    harsh = {"rejection_rate": 1.0, "annealing_rate": -1e6, "purge_threshold": 1.0, "max_iter": 20}
    with pytest.warns(ConvergenceWarning, match="All features were purged"):
        make("StabilizedTruncatedSGDClassifier", selection="every", **harsh).fit(*binary)


@pytest.mark.parametrize("name", NAMES)
def test_verbose_tells_how_far_it_has_come(binary, name, capsys):
    make(name, verbose=1).fit(*binary)
    assert "features with nonzero weight" in capsys.readouterr().out
    make(name).fit(*binary)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", NAMES)
def test_verbose_tells_of_every_pass_and_changes_nothing(binary, name, capsys):
    told = make(name, verbose=1, tol=None, max_iter=7).fit(*binary)
    passes = re.findall(r"^pass (\d+):", capsys.readouterr().out, re.MULTILINE)
    assert passes == [str(number) for number in range(1, told.n_iter_ + 1)]
    assert len(passes) >= 7
    assert_same_bits(told, make(name, tol=None, max_iter=7).fit(*binary))


# -------------------------------------------------------------------------------- probabilities


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
@pytest.mark.parametrize("name", NAMES)
def test_probabilities_sum_to_one_and_agree_with_predictions(problem, name, loss):
    rows, labels = problem
    model = make(name, loss=loss).fit(rows, labels)
    probabilities = model.predict_proba(rows)
    assert probabilities.shape == (labels.size, model.classes_.size)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.min() >= 0
    chosen = probabilities[
        np.arange(labels.size), np.searchsorted(model.classes_, model.predict(rows))
    ]
    assert_allclose(chosen, probabilities.max(axis=1))
    with np.errstate(divide="ignore"):
        assert_allclose(model.predict_log_proba(rows), np.log(probabilities))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", NAMES)
def test_a_hinge_has_no_probabilities(binary, name, loss):
    model = make(name, loss=loss).fit(*binary)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(binary[0])
    assert "log_loss" in str(error.value.__cause__)


# --------------------------------------------------------------------------------------- other


def test_the_papers_settings_can_be_had_and_changed():
    from thresher import StabilizedTruncatedSGDClassifier

    model = StabilizedTruncatedSGDClassifier.from_paper(loss="hinge", eta0=0.5, n_paths=4)
    own = {"burst_size": 5, "bursts_per_stage": 5, "rejection_rate": 0.7, "normalize": False}
    expected = {
        **own,
        "loss": "hinge",
        "eta0": 0.5,
        "n_paths": 4,
        "selection": "informative",
        "shrinkage": "linear",
        "paths": "permutation",
    }
    assert expected.items() <= model.get_params().items()


def test_the_table_of_small_settings_has_every_estimator():
    assert set(SMALL) == {name for name in ALL if not name.endswith("CV")}


@pytest.mark.parametrize("name", PATHED)
def test_what_the_history_shows_cannot_be_changed_from_outside(binary, name):
    model = make(name).fit(*binary)
    before = facts(model)
    model.history_[0]["stable"] = -1
    model.history_.clear()
    model.coef_[:] = 7.0
    model.intercept_[:] = 7.0
    model.stable_[:] = False
    model.selection_probabilities_[:] = 7.0
    assert facts(model) == before


@pytest.mark.parametrize(
    "classes",
    [
        np.array([-128, 127], np.int8),
        np.array([3, 250], np.uint8),
        np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
        np.array([0.0, 2.0]),
        np.array([False, True]),
        np.array(["ash", "oak tree"]),
    ],
    ids=lambda classes: str(classes.dtype),
)
@pytest.mark.filterwarnings("error")
def test_classes_of_any_type_come_back_as_they_were(classes):
    rows, labels = labelled_rows(n=60)
    model = thresher.FTRLClassifier(l1=0.01, random_state=0)
    predicted = model.fit(rows, classes[(labels > 0).astype(int)]).predict(rows)
    assert predicted.dtype == classes.dtype
    assert predicted.tolist() == classes[(model.decision_function(rows) > 0).astype(int)].tolist()
    assert set(predicted.tolist()) == set(classes.tolist())
