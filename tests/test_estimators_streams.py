"""Learning from sources, and how well they are predicted: however rows arrive, the same model."""

import copy
import json
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import r2_score, roc_auc_score

import thresher
from cases import LOSSES, NAMES, assert_same_bits, facts, labelled_rows, make, stream
from format_cases import small_chunks
from thresher import ThresherRegressor
from thresher.estimators import scores
from thresher.estimators.scores import Ranks, evaluate
from thresher.estimators.streaming import (
    StreamTraining,
    prediction_source,
    training_source,
)
from thresher.formats.errors import DataError
from thresher.losses import LOSSES as LOSS_TABLE

pa = pytest.importorskip("pyarrow")
ROWS, LABELS = labelled_rows(n=300)
PLAIN = {"tol": None, "shuffle": False}


def in_chunks(rows, labels, *cuts):
    """Return the rows cut at the given places."""
    edges = [0, *cuts, rows.shape[0]]
    return [(rows[first:last], labels[first:last]) for first, last in pairwise(edges)]


def table(rows, labels):
    """Return rows and labels as a data frame."""
    columns = [f"word {j}" for j in range(rows.shape[1])]
    return pd.DataFrame(rows.toarray(), columns=columns).assign(label=labels)


@pytest.mark.parametrize("name", NAMES)
def test_one_pass_is_partial_fit_and_cuts_do_not_matter(problems, name):
    for rows, labels in problems:
        classes = np.unique(labels)
        fed = stream(make(name, max_iter=1), rows, labels, [7, 20])
        streamed = make(name, max_iter=1, **PLAIN)
        streamed.fit_stream(iter(in_chunks(rows, labels, 30)), classes=classes)
        assert_same_bits(streamed, fed)
        whole = make(name).fit_stream([(rows, labels)])
        cut = make(name).fit_stream(in_chunks(rows, labels, 1, 2, 19, 33))
        assert_same_bits(whole, cut)
        assert whole.n_iter_ == cut.n_iter_


def test_several_passes_are_partial_fits_one_after_the_other(multiclass):
    rows, labels = multiclass
    streamed = make("FTRLClassifier", max_iter=3, **PLAIN).fit_stream([multiclass])
    fed = make("FTRLClassifier")
    for _ in range(3):
        stream(fed, rows, labels)
    assert_same_bits(streamed, fed)
    assert streamed.n_iter_ == 3
    early = make("PlainSGDClassifier", max_iter=500, tol=0.5).fit_stream([(ROWS, LABELS)])
    assert 1 < early.n_iter_ < 500


def test_weights_of_rows_count():
    weights = np.linspace(0.5, 1.5, 300)
    streamed = make("FTRLClassifier", max_iter=1, **PLAIN).fit_stream([(ROWS, LABELS, weights)])
    fed = make("FTRLClassifier").partial_fit(ROWS, LABELS, [0, 1], weights)
    assert_same_bits(streamed, fed)


DENSE = ROWS.toarray()
WRONG = {
    "an unknown label": (
        in_chunks(ROWS, np.where(np.arange(300) == 30, 7, LABELS), 20),
        r"label 7 at row 31 is not among the classes \[0, 1\]",
    ),
    "weights below 0": ([(ROWS, LABELS, -np.ones(300))], r"sample_weight is -1.0 at row 1:"),
    "other columns": ([(DENSE, LABELS), (DENSE[:, :9], LABELS)], "Item 2 of the stream .* 9 "),
    "no tuple": ([np.zeros((3, 2))], "Item 1 of the stream is ndarray: give tuples"),
    "fewer labels": ([(ROWS, LABELS[:2])], r"300 rows and labels of shape \(2,\)"),
    "a missing label": ([(ROWS, np.where(LABELS, None, 1))], "Item 1 .* has no label at its row"),
    "not finite": ([(ROWS * np.nan, LABELS)], "Item 1 of the stream: The value at row 0, column"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_stream_is_named_and_harms_nothing(case):
    source, message = WRONG[case]
    model = make("FTRLClassifier").fit(ROWS, LABELS)
    before = facts(model)
    for one in (source, iter(source)):
        with pytest.raises(DataError, match=message):
            model.fit_stream(one, classes=[0, 1])
        assert facts(model) == before


def test_classes_are_found_in_the_first_rows_or_given():
    assert make("FTRLClassifier").fit_stream([(ROWS, LABELS)]).classes_.tolist() == [0, 1]
    three = make("FTRLClassifier").fit_stream(iter([(ROWS, LABELS)]), classes=[0, 1, 2])
    assert three.classes_.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="All rows looked at are of class 1: a classifier needs"):
        make("FTRLClassifier").fit_stream([(ROWS, np.ones(300))])
    with pytest.raises(DataError, match="not a single row"):
        make("FTRLClassifier").fit_stream([])
    with pytest.raises(ValueError, match="has only one class"):
        make("FTRLClassifier").fit_stream([(ROWS, LABELS)], classes=[1])


def test_what_is_no_source_and_options_without_files_are_refused():
    with pytest.raises(TypeError, match="A stream is paths, a source or an iterable"):
        make("FTRLClassifier").fit_stream(3)
    for one in (ROWS, table(ROWS, LABELS), {"a": 1}):
        with pytest.raises(TypeError, match=r"is rows and not a stream of them: give \[\(X, y\)\]"):
            make("FTRLClassifier").fit_stream(one)
    with pytest.raises(ValueError, match="label: options of reading are for files"):
        make("FTRLClassifier").fit_stream([(ROWS, LABELS)], label="y")
    with pytest.raises(TypeError, match="labels is no option of reading: there are format"):
        make("FTRLClassifier").fit_stream("rows.svm", labels="x")


def test_an_overflow_names_row_and_pass():
    huge = ROWS.copy()
    huge.data[huge.indptr[200] : huge.indptr[201]] *= 1e200
    shuffled = r"row \d+ of pass 1, in which rows are shuffled"
    for shuffle, words in ((True, shuffled), (False, "row 20")):
        model = make("PlainSGDClassifier", loss="squared_hinge", shuffle=shuffle)
        with pytest.raises(ValueError, match=f"overflowed while learning {words}"):
            model.fit_stream([(huge, LABELS)])


def test_frames_are_matched_by_name():
    frame = table(ROWS, LABELS).drop(columns="label")
    other = frame[frame.columns[::-1]]
    model = make("FTRLClassifier").fit_stream([(frame, LABELS), (other, LABELS)])
    assert_same_bits(model, make("FTRLClassifier").fit_stream([(frame, LABELS)] * 2))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert_array_equal(model.predict(other), model.predict(frame))
    with pytest.raises(DataError, match="Item 2 of the stream and item 1 do not have the same"):
        make("FTRLClassifier").fit_stream([(frame, LABELS), (frame.iloc[:, 1:], LABELS)])


# --------------------------------------------------------------------------------------- files


@pytest.fixture
def csv(tmp_path):
    """A table of 300 rows."""
    table(ROWS, np.array(["ash", "oak"])[LABELS]).to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def test_files_give_names_and_the_same_model_as_arrays(csv, tmp_path):
    model = make("FTRLClassifier", **PLAIN).fit_stream(csv)
    labels = np.array(["ash", "oak"])[LABELS]
    given = make("FTRLClassifier", **PLAIN).fit_stream([(ROWS, labels)])
    assert_allclose(model.coef_, given.coef_, rtol=1e-12)
    frame = table(ROWS, labels).drop(columns="label")
    assert_array_equal(model.predict(frame[frame.columns[::-1]]), given.predict(ROWS))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.data_fingerprint_
    assert_array_equal(np.concatenate(list(model.predict_stream(csv))), model.predict(frame))
    dump_svmlight_file(ROWS, LABELS, str(tmp_path / "rows.svm"), zero_based=False)
    for one in (tmp_path / "rows.svm", thresher.open_rows(tmp_path / "rows.svm")):
        with pytest.raises(DataError, match=r"features with numbers, but the model knows .* names"):
            prediction_source(model, one)
    model.report(tmp_path / "page.html", test=csv)
    names = model.fitted_.names
    given = model.evaluate(thresher.open_rows(csv, names=names))
    assert str(given) == str(model.evaluate(csv))
    with pytest.raises(DataError, match="numbers its features in another way than the model"):
        model.evaluate(thresher.open_rows(csv))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_files_and_streams_are_predicted_and_evaluated_in_bounded_memory(csv, method):
    model = make("FTRLClassifier", **PLAIN).fit_stream(csv)
    frame = pd.read_csv(csv)
    X, y = frame.drop(columns="label"), frame.label.to_numpy()
    with small_chunks(n_rows=7, n_bytes=100):
        found = list(model.predict_stream(csv, method))
    assert len(found) > 10
    expected = getattr(model, method)(X)
    assert_array_equal(np.concatenate(found), expected)
    for given in ([X], iter([X[:9], X[9:]]), [(X[X.columns[::-1]], y)]):
        assert_array_equal(np.concatenate(list(model.predict_stream(given, method))), expected)
    figures = asdict(model.evaluate(X, y))
    for one in (model.evaluate(csv), model.evaluate([(X[:9], y[:9]), (X[9:], y[9:])])):
        assert str(asdict(one)) == str(figures)
    with pytest.raises(ValueError, match="options of reading are for files"):
        list(model.predict_stream([X], label="y"))


def test_a_model_of_a_file_with_categories_takes_the_same_frame(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("label,age,town\n" + "1,3,Bern\n0,,Basel\n1,7,Bern\n0,2,Basel\n" * 20)
    frame = pd.read_csv(path)
    for name in ("FTRLClassifier", "ThresherClassifier"):
        model = make(name).fit_stream(path)
        expected = np.concatenate(list(model.predict_stream(path, "decision_function")))
        others = frame.assign(more="x")[["more", "town", "label", "age"]]
        for one in (frame, others, pa.Table.from_pandas(others), others.to_dict("records")[0]):
            found = model.decision_function(one)
            assert_array_equal(found, expected[: len(found)])
        assert model.score(frame, frame.label) == 1
        assert_array_equal(model.predict_one({"town": "Bern", "age": 3}), 1)
        with pytest.raises(DataError, match="missing that the model has learned from: 'town'"):
            model.predict(frame[["age"]])


@pytest.mark.parametrize("town", ["", ",town"])
def test_gaps_are_the_same_in_files_frames_and_dicts(tmp_path, town):
    rows = ["1,3,2", "0,NA,5", "1,7,1", "0,2,4"] if town else ["1,3,2", "0,1,5", "1,7,1", "0,2,4"]
    head, cells = f"label,age,w{town}\n", "\n".join(row + ",Bern" * bool(town) for row in rows)
    (tmp_path / "a.csv").write_text(head + f"{cells}\n" * 20)
    model = make("FTRLClassifier").fit_stream(tmp_path / "a.csv", weight="w", na_values=["NA"])
    model.save(tmp_path / "model")
    model = thresher.load(tmp_path / "model")
    frame = pd.DataFrame({"id": [1, 2], "age": [None, 4.0], "town": ["Bern", "Basel"]})
    expected = model.decision_function(frame)
    assert_array_equal(model.decision_function(frame.to_dict("records")), expected)
    chosen = model.transform(frame)
    assert chosen.shape == (2, model.n_features_selected_)
    assert (model.transform(frame.to_dict("records")) != chosen).nnz == 0
    frame.to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    frame.assign(label="?").to_csv(tmp_path / "b.csv", index=False, na_rep="NA")
    for file in ("b.csv", "b.jsonl"):  # without weights, and with labels that are none
        found = list(model.predict_stream(tmp_path / file, "decision_function"))
        assert_array_equal(np.concatenate(found), expected)
    with pytest.raises(ValueError, match="missing='zero': the model has learned with 'mean'"):
        model.evaluate(tmp_path / "a.csv", missing="zero")
    with pytest.raises(ValueError, match="whose names are no strings"):
        model.predict(frame.set_axis(range(3), axis=1))


def test_dicts_of_features_are_learned_row_by_row_or_together():
    frame = table(ROWS, LABELS).drop(columns="label")
    dicts = [{k: v for k, v in row.items() if v} | {"kind": "xy"[i % 2]}
             for i, row in enumerate(frame.to_dict("records"))]  # fmt: skip
    labels = LABELS == 1
    one, many = make("FTRLClassifier"), make("FTRLClassifier")
    for x, y in zip(dicts, labels.tolist(), strict=True):
        one.learn_one(x, y)
    many.partial_fit(dicts[:9], labels[:9], classes=[False, True]).partial_fit(
        dicts[9:], labels[9:]
    )
    assert_same_bits(one, many)
    assert {"kind=x", "kind=y"} <= set(many.column_names(np.arange(many.n_features_in_)))
    assert one.predict_one(dicts[0]) is many.predict(dicts)[0].item()
    assert list(one.predict_proba_one(dicts[0])) == [False, True]
    for name in ("FTRLClassifier", "ThresherClassifier"):
        model = make(name).fit(dicts, labels)
        assert model.score(dicts, labels) > 0.7
        again = make(name).fit_stream([(dicts, labels)])
        assert model.column_names(np.arange(5)) == again.column_names(np.arange(5))
    counts = model.selection_counts(dicts, labels, n_resamples=4)
    assert counts.max() == 4
    with pytest.raises(ValueError, match="features that the model does not know by name"):
        model.selection_counts([*dicts, {"new": 1}], [*labels, True])
    assert_array_equal(model.selection_counts(dicts, labels, n_resamples=4), counts)
    with pytest.raises(ValueError, match="columns have numbers instead of names"):
        make("FTRLClassifier").fit(ROWS, LABELS).predict_one(dicts[0])
    regressor = thresher.ThresherRegressor().fit_stream(iter([(dicts, LABELS * 1.0)]))
    assert isinstance(regressor.learn_one(dicts[0], 0.5).predict_one(dicts[0]), float)


@pytest.mark.parametrize(
    ("x", "y"), [({"new": [1]}, True), ({"new": 1}, 7), ({"new": 1e300, "kind": "x"}, True)]
)
def test_a_dict_that_cannot_be_learned_leaves_the_model_as_it_was(x, y):
    rows = [{"a": 1.0}, {"b": 1.0}]
    model = make("FTRLClassifier", l1=0).partial_fit(rows, [True, False], classes=[False, True])
    other = copy.deepcopy(model)
    with pytest.raises((ValueError, DataError)):
        model.partial_fit([x, {"last": 1e308}, x], [y] * 3)
    assert model.n_features_in_ == 2
    for one in (model, other):
        one.learn_one({"c": 1.0}, True)
    assert_same_bits(model, other)
    assert model.column_names(np.arange(3)) == ["a", "b", "c"]


def test_frames_are_matched_by_name_where_a_file_had_names(tmp_path):
    frame = table(ROWS, LABELS).drop(columns="label")
    with open(tmp_path / "rows.jsonl", "w") as file:
        for label, (_, row) in zip(LABELS.tolist(), frame.iterrows(), strict=True):
            file.write(json.dumps({"label": label, **row[row != 0].to_dict()}) + "\n")
    model = make("FTRLClassifier", **PLAIN).fit_stream(tmp_path / "rows.jsonl")
    expected = np.concatenate(
        list(model.predict_stream(tmp_path / "rows.jsonl", "decision_function"))
    )
    found = model.decision_function(frame[frame.columns[::-1]].assign(more=1.0))
    assert_allclose(found, expected, rtol=1e-12)


def test_a_watched_training_predicts_rows_before_it_learns_them():
    model = make("FTRLClassifier", max_iter=2, tol=None, shuffle=False)
    training = StreamTraining.begin(model, training_source(model, [(ROWS, LABELS)]), watched=True)
    shares = [training.share_done() for _ in training.steps()]
    assert (training.predicted, training.passes, training.rows_a_pass) == (300 - 64, 2, 300)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert 0 < training.progressive_error < 0.5
    assert training.summary()["features"] == model.n_features_selected_
    fed = make("FTRLClassifier").partial_fit(ROWS[:64], LABELS[:64], [0, 1])
    rest = ROWS[64:128], LABELS[64:128]
    watched = StreamTraining.begin(model, training_source(model, [(ROWS[:128], LABELS[:128])]))
    watched.watched = True
    steps = watched.steps()
    next(steps), next(steps)
    assert watched.progressive_error == 1 - fed.score(*rest)


# ------------------------------------------------------------------------------------- numbers


NUMBERS = ROWS @ np.linspace(-1, 1, 40) + 3.0


def regressor():
    return ThresherRegressor(n_features_to_select=30, normalize=False, random_state=0)


def test_numbers_are_learned_from_arrays_and_streams():
    model = regressor().fit(ROWS, NUMBERS)
    assert model.score(ROWS, NUMBERS) > 0.95
    assert model.coef_.shape == (40,)
    fed = stream(regressor(), ROWS, NUMBERS, [99])
    assert_array_equal(fed.coef_, stream(regressor(), ROWS, NUMBERS).coef_)
    assert not hasattr(model, "predict_proba")
    for y, message in ((["a"] * 300, "must be numbers"), (NUMBERS * np.nan, "contains NaN")):
        with pytest.raises(ValueError, match=message):
            model.fit(ROWS, y)
    with pytest.raises(ValueError, match="a regressor has none"):
        model.fit_stream([(ROWS, NUMBERS)], classes=[0, 1])
    with pytest.raises(ValueError, match="sample_weight leaves no row"):
        model.fit(ROWS, NUMBERS, sample_weight=0)


def test_figures_of_numbers_are_scikit_learns():
    model = regressor().fit(ROWS, NUMBERS)
    weights, found = np.linspace(0, 2, 300), model.predict(ROWS)
    figures = evaluate(model, ROWS, NUMBERS, weights)
    assert figures.r2 == pytest.approx(r2_score(NUMBERS, found, sample_weight=weights))
    assert figures.mae == pytest.approx(np.average(np.abs(NUMBERS - found), weights=weights))
    parts = scores.NumberScores(model)
    for now in (slice(0, 7), slice(7, 200), slice(200, 300)):
        parts.add(found[now, None], NUMBERS[now], weights[now])
    assert parts.figures().r2 == pytest.approx(figures.r2)
    assert parts.figures().rmse == pytest.approx(figures.rmse)
    with pytest.raises(DataError, match="no row to evaluate"):
        evaluate(model, ROWS, NUMBERS, 0.0)


@pytest.mark.parametrize("most", [10**6, 200])
def test_the_area_is_that_of_scikit_learn_and_its_memory_is_bounded(monkeypatch, most):
    monkeypatch.setattr(scores, "MOST_DISTINCT", most)
    rng = np.random.default_rng(0)
    y, weights = rng.random(3000) < 0.4, rng.random(3000)
    margins = np.round(rng.normal(size=3000) + y, 3)
    ranks = Ranks()
    for now in np.array_split(np.arange(3000), 7):
        ranks.add(margins[now], weights[now] * y[now], weights[now] * ~y[now])
    assert ranks.margins.size <= most
    expected = roc_auc_score(y, margins, sample_weight=weights)
    assert ranks.auc() == pytest.approx(expected, abs=1e-12 if most > 200 else 0.005)
    assert Ranks().auc() is None


def test_only_probabilities_have_a_log_loss(multiclass):
    for loss in LOSSES:
        figures = evaluate(make("FTRLClassifier", loss=loss).fit(*multiclass), *multiclass)
        assert (figures.log_loss is not None) == LOSS_TABLE[loss].probabilities
        assert figures.auc is None
        assert figures.confusion.shape == (3, 3)
