"""Among scikit-learn's tools: its own checks of every estimator, pipelines, searches, frames."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import thresher
from cases import FLAGSHIPS, NAMES, labelled_rows
from thresher import ThresherClassifier, ThresherRegressor

pytestmark = [
    pytest.mark.jit,
    pytest.mark.filterwarnings("ignore:No number of features is clearly better"),
    pytest.mark.filterwarnings("ignore:partial_fit begins a new model"),
]
# A row of weight 2 is one step of an online learner, and in one fold of the flagship; the second of
# two equal rows is another step, and may be in another fold.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight 2 is not two rows"
    for kind in ("dense", "sparse")
}
CHECKED = [getattr(thresher, name)() for name in [*NAMES, *FLAGSHIPS]]
CHECKED.append(ThresherRegressor(loss="huber"))
ROWS, LABELS = labelled_rows(n=90, p=20, density=0.4)
NUMBERS = ROWS @ np.random.default_rng(0).normal(size=20)


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore:All features were purged")
@pytest.mark.parametrize("estimator", CHECKED, ids=str)
def test_scikit_learn_checks(estimator):
    quiet = {"on_skip": None, "on_fail": None}
    results = check_estimator(estimator, expected_failed_checks=EXPECTED, **quiet)
    assert {one["check_name"] for one in results if one["status"] == "xfail"} == set(EXPECTED)
    assert [one for one in results if one["status"] == "failed"] == []
    assert sum(one["status"] == "passed" for one in results) > 60


def test_in_a_pipeline_and_a_grid_search():
    pipeline = make_pipeline(StandardScaler(with_mean=False), ThresherClassifier(random_state=0))
    grid = {"thresherclassifier__n_features_to_select": [2, 8], "thresherclassifier__cv": [2]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(ROWS, LABELS)
    assert search.best_score_ > 0.6
    assert search.best_estimator_[-1].n_features_selected_ in (2, 8)
    assert search.predict(ROWS).shape == LABELS.shape


def test_in_cross_validation():
    for scoring, least in {"neg_log_loss": -2.0, "roc_auc": 0.8, "accuracy": 0.6}.items():
        model = ThresherClassifier(random_state=0)
        assert cross_val_score(model, ROWS, LABELS, cv=2, scoring=scoring).min() > least
    assert cross_val_score(ThresherRegressor(random_state=0), ROWS, NUMBERS, cv=2).min() > 0.5


def test_as_a_selector():
    model = ThresherClassifier(n_features_to_select=4, random_state=0)
    pipeline = make_pipeline(model, LogisticRegression()).fit(ROWS, LABELS)
    assert pipeline[-1].coef_.shape == (1, 4)
    selected = SelectFromModel(model, threshold=-np.inf, max_features=3).fit(ROWS, LABELS)
    assert selected.transform(ROWS).shape == (90, 3)


def test_one_against_the_rest():
    labels = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.7]))
    wrapped = OneVsRestClassifier(ThresherClassifier(loss="squared_hinge", random_state=0))
    assert wrapped.fit(ROWS, labels).score(ROWS, labels) > 0.7


def test_words_through_a_vectorizer():
    good, bad = ["good fine film plot", "fine good cast"], ["bad dull film plot", "dull bad cast"]
    texts = good * 15 + bad * 15
    model = make_pipeline(TfidfVectorizer(), ThresherClassifier(random_state=0))
    model.fit(texts, ["up"] * 30 + ["down"] * 30)
    assert model.predict(["a good film", "a dull film"]).tolist() == ["up", "down"]
    names = model[0].get_feature_names_out()[model[-1].get_support()]
    assert set(names) <= {"good", "fine", "bad", "dull"}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["FTRLClassifier", "ThresherClassifier"])
def test_frames_of_any_library_are_matched_by_name(name, library):
    frames = pytest.importorskip(library)
    make_frame = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    columns, y = dict(zip("abcd", ROWS.toarray()[:, 4:8].T, strict=True)), LABELS
    frame = getattr(frames, make_frame)(columns)
    model = getattr(thresher, name)(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    more = getattr(frames, make_frame)({"e": y, **dict(reversed(columns.items()))})
    assert_array_equal(model.decision_function(more), model.decision_function(frame))
    with pytest.raises(ValueError, match="X lacks 1 of the 4 columns of training: a"):
        model.predict(getattr(frames, make_frame)(dict(list(columns.items())[1:])))


def test_frames_have_names_and_any_order_of_columns():
    frame = pd.DataFrame(ROWS.toarray(), columns=[f"word {k}" for k in range(20)])
    model = ThresherClassifier(n_features_to_select=3, random_state=0).fit(frame, LABELS)
    assert_array_equal(model.get_feature_names_out(), frame.columns[model.get_support()])
    assert_array_equal(model.predict(frame[frame.columns[::-1]]), model.predict(frame))
    assert model.transform(frame).shape == (90, 3)
    table = model.selection_table()
    assert set(table["feature"]) == set(model.get_feature_names_out())
    assert (table["frequency"] > 0).all()
    smaller = model.at_size(2)
    assert set(smaller.get_feature_names_out()) <= set(model.get_feature_names_out())
    assert_array_equal(smaller.predict(frame[frame.columns[::-1]]), smaller.predict(frame))
