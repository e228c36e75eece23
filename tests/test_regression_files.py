"""Regression from files and into files, in Python and on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import thresher
from cases import (
    TARGET_LOSSES,
    assert_same_bits,
    facts,
    make,
    make_streaming,
    numbered_rows,
    stream,
)
from commands import run, write_svmlight
from files_cases import flips
from model_cases import assert_nonsense_is_refused_or_harmless, data_of, saved
from thresher.cli.failing import BAD_DATA, USAGE
from thresher.data.errors import DataError
from thresher.data.sources.given import GivenSource
from thresher.estimators.evaluating import evaluate
from thresher.estimators.storing.checkpoint import training_from, training_tree
from thresher.estimators.storing.loading import ModelFileError, estimator_from, loads
from thresher.estimators.storing.saving import tree_of
from thresher.estimators.streaming import StreamTraining, training_source

BOTH = pytest.mark.parametrize("loss", TARGET_LOSSES)
WORDS = ["--method", "thresher-regressor", "--n-features-to-select", "8", "--max-iter", "6"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Go to a folder with a file of rows, and return what is in it."""
    monkeypatch.chdir(tmp_path)
    matrix, y = numbered_rows(n=150)
    write_svmlight(tmp_path / "rows.svm", matrix, y.tolist())
    return matrix, y


def trained(*words):
    result = run("train", "rows.svm", "-o", "m.thresher", *WORDS, *words)
    assert result.exit_code == 0, result.output
    return result


# ---------------------------------------------------------------------------------------- models


@BOTH
@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("how", ["fit", "stream", "long stream"])
def test_a_loaded_model_is_the_one_that_was_saved(loss, training_state, how, tmp_path):
    matrix, y = numbered_rows(n=1100 if how == "long stream" else 60, p=30)
    model = make_streaming("ThresherRegressor", loss=loss)
    model = model.fit(matrix, y) if how == "fit" else stream(model, matrix, y)
    loaded = saved(model, tmp_path, training_state)
    assert type(loaded) is thresher.ThresherRegressor
    assert loaded.get_params() == model.get_params()
    assert loaded.predict(matrix).tobytes() == model.predict(matrix).tobytes()
    assert loaded.intercept_ == model.intercept_
    shown, expected = facts(loaded), facts(model)
    if not training_state:
        shown.pop("probabilities")  # of purged features nothing is known any more
    assert {key: expected[key] for key in shown} == shown
    first = data_of(model, training_state)
    assert data_of(loads(first), training_state) == first
    assert_allclose(loaded.to_sklearn().predict(matrix), model.predict(matrix))


@BOTH
@pytest.mark.parametrize("cut", [5, 700, 1200])
def test_learning_goes_on_after_loading(loss, cut, tmp_path):
    matrix, y = numbered_rows(n=1300, p=30)
    whole = stream(make_streaming("ThresherRegressor", loss=loss), matrix, y)
    part = stream(make_streaming("ThresherRegressor", loss=loss), matrix[:cut], y[:cut])
    loaded = saved(part, tmp_path, training_state=True)
    assert_same_bits(loaded.partial_fit(matrix[cut:], y[cut:]), whole)
    slim = saved(part, tmp_path)
    with pytest.raises(ValueError, match="only what prediction needs"):
        slim.partial_fit(matrix, y)


def test_a_flipped_bit_is_refused():
    model = make("ThresherRegressor").fit(*numbered_rows())
    for spoilt in flips(data_of(model), seed=4):
        with pytest.raises(ModelFileError):
            loads(spoilt)


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
def test_nonsense_with_a_right_checksum_is_refused_or_harmless(training_state):
    matrix, y = numbered_rows(n=40, p=12)
    tree = tree_of(stream(make("ThresherRegressor", n_jobs=1), matrix, y), training_state)
    assert_nonsense_is_refused_or_harmless(tree, lambda loaded: loaded.predict(matrix))


@pytest.mark.parametrize(
    "units",
    [{"unit": -1.0}, {"unit": 0.0, "settled": True}, {"first": np.ones(3)}, {"centre": np.nan}],
    ids=str,
)
def test_units_that_cannot_be_are_refused(units):
    tree = tree_of(make("ThresherRegressor").fit(*numbered_rows()))
    tree["fitted"]["units"].update(units)
    with pytest.raises(ModelFileError):
        estimator_from(tree)


# ----------------------------------------------------------------------------------------- files


@BOTH
def test_files_and_their_shards_are_learnt_alike(rows, loss):
    matrix, y = rows
    once = make("ThresherRegressor", loss=loss, max_iter=1, shuffle=False)
    assert_same_bits(once.fit_stream("rows.svm"), stream(make_again(once), matrix, y))
    often = make("ThresherRegressor", loss=loss).fit_stream("rows.svm")
    assert Path("rows.svm.shards").is_dir()
    assert_same_bits(make("ThresherRegressor", loss=loss).fit_stream("rows.svm.shards"), often)
    assert often.score(matrix, y) > 0.5


def make_again(model):
    return type(model)(**model.get_params())


@pytest.mark.usefixtures("in_chunks")
@BOTH
@pytest.mark.parametrize("steps", [1, 3])
def test_training_goes_on_from_a_checkpoint_to_the_same_bits(rows, loss, steps):
    def begun():
        model = make("ThresherRegressor", loss=loss)
        source = training_source(model, ["rows.svm"], True, {})
        return StreamTraining.begin(model, source)

    whole = begun()
    whole.watched = True
    list(whole.steps())
    stopped = begun()
    stopped.watched = True
    going = stopped.steps()
    for _ in range(steps):
        next(going)
    again = training_from(training_tree(stopped), stopped.source)
    list(again.steps())
    assert_same_bits(again.estimator, whole.estimator)
    assert again.progressive == whole.progressive
    assert again.progressive.rows > 0


def test_numbers_are_judged_as_scikit_learn_does():
    matrix, y = numbered_rows(n=150)
    model = make("ThresherRegressor").fit(matrix, y)
    weights = np.random.default_rng(0).integers(0, 3, size=150).astype(float)
    chunks = [(matrix[now], y[now] + 1e6, weights[now]) for now in (slice(0, 50), slice(50, 150))]
    found, _ = evaluate(model, GivenSource(chunks))
    given = {"y_true": y + 1e6, "y_pred": model.predict(matrix), "sample_weight": weights}
    assert found.r2 == pytest.approx(r2_score(**given))
    assert found.rmse == pytest.approx(root_mean_squared_error(**given))
    assert found.mae == pytest.approx(mean_absolute_error(**given))
    assert found.rows == 150
    same, _ = evaluate(model, GivenSource([(matrix, np.ones(150))]))
    assert same.r2 is None


# ---------------------------------------------------------------------------------- command line


@pytest.mark.usefixtures("in_chunks")
@BOTH
def test_from_training_to_prediction(rows, loss):
    matrix, y = rows
    result = trained("--loss", loss, "--epsilon", "1.2")
    assert "progressive RMSE" in result.stderr
    model = thresher.load("m.thresher")
    assert (model.loss, model.epsilon) == (loss, 1.2)
    predicted = run("predict", "m.thresher", "rows.svm").stdout.split()
    assert_array_equal([float(word) for word in predicted], model.predict(matrix))
    as_json = run("predict", "m.thresher", "rows.svm", "--json").stdout.splitlines()
    assert json.loads(as_json[3]) == {"prediction": float(predicted[3])}
    found = json.loads(run("evaluate", "m.thresher", "rows.svm", "--json").stdout)
    assert found["r2"] == pytest.approx(model.score(matrix, y))
    words = run("evaluate", "m.thresher", "rows.svm").stdout
    assert f"R2          {found['r2']:.4f}\nRMSE        {found['rmse']:.4g}\nMAE" in words
    assert "error" not in words


@pytest.mark.usefixtures("in_chunks")
def test_the_summary_for_machines(rows):
    summary = json.loads(trained("--json", "--quiet").stdout)
    assert summary["features"] == 8
    assert "classes" not in summary
    assert summary["progressive_rmse"] > 0


def test_a_model_is_shown_without_classes(rows):
    trained()
    shown = run("inspect", "m.thresher").stdout
    assert "Weights above 0 raise the prediction." in shown
    assert "classes" not in shown
    known = json.loads(run("inspect", "m.thresher", "--json").stdout)
    assert known["classes"] == []
    assert known["selections"][0]["positive"] is None
    page = run("report", "m.thresher", "-o", "-").stdout
    assert "raise the prediction" in page
    assert "lasses" not in page
    assert run("export", "m.thresher", "-o", "w.csv").exit_code == 0
    assert "class" not in Path("w.csv").read_text()


def test_refits_on_halves_compare_selections(rows):
    trained()
    result = run("evaluate", "m.thresher", "rows.svm", "--refits", "3", "--json")
    assert json.loads(result.stdout)["stability"]["features"] == [8, 8, 8]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["train", "rows.svm", "-o", "m", *WORDS, "--classes", "1,2"], BAD_DATA, "has none"),
        (["train", "rows.svm", "-o", "m", *WORDS, "--loss", "hinge"], USAGE, "'squared_error'"),
        (
            ["train", "rows.svm", "-o", "m", *WORDS, "--class-weight", "balanced"],
            USAGE,
            "parameter",
        ),
        (["train", "rows.svm", "-o", "m", "--epsilon", "1"], USAGE, "--epsilon is no parameter"),
        (["train", "text.csv", "-o", "m", *WORDS], BAD_DATA, "is not a number"),
        (["predict", "m.thresher", "rows.svm", "--output", "probability"], USAGE, "no probabil"),
        (["evaluate", "m.thresher", "words.svm"], BAD_DATA, "line 1"),
    ],
)
def test_wrong_words(rows, words, code, message):
    trained()
    Path("text.csv").write_text("label,a\nred,1\nblue,2\n")
    Path("words.svm").write_text("red 1:1\n")
    result = run(*words)
    assert result.exit_code == code, result.output
    assert message in " ".join(result.stderr.split())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("labels", [(1.0, 1e200), (1e308, 1e308), (1e200, 1e200), (-1e308, 1e308)])
def test_labels_whose_squares_overflow_are_told_with_their_row(labels):
    rows, y = numbered_rows()
    model = make("ThresherRegressor").fit(rows, y)
    chunks = [(rows[k : k + 1], np.array([label])) for k, label in enumerate(labels)]
    row = 2 if labels[0] == 1 else 1
    with pytest.raises(DataError, match=f"judging row {row}: its label"):
        evaluate(model, GivenSource(chunks))
