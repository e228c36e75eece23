"""Columns far from zero are told, and learnt as differences from their means."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thresher
from cases import SMALL, labelled_rows, make
from thresher.data.column_offsets import ColumnOffsets
from thresher.estimators.decisions.offsets import FEWEST_ROWS, FarColumns
from thresher.estimators.decisions.units import Sizes
from thresher.files.errors import ModelFileError

MEASURING = ["ThresherClassifier", "ThresherRegressor"]
OTHERS = [name for name in SMALL if name not in MEASURING]


def expressions(n=300, p=60, seed=0, shift=0.0):
    """Return measurements, of which the first five tell two classes apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    rows = rng.normal(0.0, 0.5, (n, p))
    rows[:, :5] += 0.25 * (2 * labels - 1)[:, None]
    return rows + np.linspace(3.0, 100.0, p) + shift, labels


def mixed(n=300, seed=0):
    """Return twelve measurements, one at times missing, beside sparse marks; both tell classes."""
    rng = np.random.default_rng(seed)
    rows, labels = expressions(n, 12, seed)
    rows[rng.random(n) < 0.02, 11] = 0.0
    marks = rng.random((n, 200)) < 0.05
    marks[:, :5] |= rng.random((n, 5)) < 0.3 * labels[:, None]
    return np.hstack([rows, marks]), labels


def far_in(rows):
    """Return the columns that are far from zero."""
    rows = sparse.csr_array(rows)
    return np.sort(FarColumns.in_rows(rows, Sizes.in_rows(rows)).columns).tolist()


def silent(model, *data):
    """Return the model, fitted without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(*data)


def classifier(**changes):
    """Return a model of the size that the measurements have features for."""
    return thresher.ThresherClassifier(**{"n_features_to_select": 5, "random_state": 0, **changes})


def test_sparse_rows_and_columns_around_zero_are_not_far():
    rng = np.random.default_rng(0)
    assert not far_in(labelled_rows(n=200, p=40, density=0.3)[0])
    for dense in (rng.random((100, 20)), rng.normal(size=(100, 20))):
        assert not far_in(dense)


def test_columns_with_zeros_are_as_far_but_marks_are_not():
    rng = np.random.default_rng(0)
    there = rng.random((1000, 12)) < np.linspace(0.7, 0.95, 12)
    counts = there * rng.integers(3, 6, there.shape)
    expected = np.flatnonzero(counts.mean(axis=0) > 2 * counts.std(axis=0))
    assert 0 < expected.size < 12
    assert far_in(counts) == expected.tolist()
    assert not far_in(there * rng.uniform(0.25, 0.27, there.shape))


def test_rows_must_be_several():
    rows, _ = expressions(p=3)
    assert far_in(rows) == far_in(-rows) == [0, 1, 2]
    assert far_in(rows[:, :1]) == [0]
    assert not far_in(rows[: FEWEST_ROWS - 1])


@pytest.mark.parametrize("kind", [thresher.ThresherClassifier, thresher.ThresherRegressor])
def test_a_handful_of_columns_is_learnt_around_its_means(kind):
    rows, labels = expressions(p=6)
    others, truth = expressions(p=6, seed=1)
    near, far = (
        kind(n_features_to_select=5, random_state=0).fit(rows + offset, labels)
        for offset in (-rows.mean(axis=0), 1000.0)
    )
    assert near.score(others - rows.mean(axis=0), truth) < far.score(others + 1000, truth) + 0.01


def test_numbers_too_large_to_square_are_left_alone():
    rows, labels = expressions()
    assert not far_in(rows * 1e200 * (labels + 1)[:, None])
    assert not far_in(rows * 1e306)


@pytest.mark.parametrize("normalized", [True, False])
def test_what_is_taken_away_and_what_is_left(normalized):
    rows, labels = mixed()
    model = silent(classifier(normalize=normalized), rows, labels)
    offsets, scales = model.column_offsets_, model.column_scales_
    assert np.flatnonzero(offsets).tolist() == far_in(rows)
    assert_allclose(offsets[:12], rows[:, :12].mean(axis=0), rtol=1e-12)
    left = (rows - offsets) * scales
    assert_allclose(left[:, :12].std(axis=0), 1.0)  # as large as a mark
    assert (scales[12:] == 1).all()
    if normalized:
        lengths = np.linalg.norm(left, axis=1)
        expected = (rows - offsets) @ model.coef_[0] / lengths + model.intercept_
    else:
        expected = rows @ model.coef_[0] + model.intercept_
    assert_allclose(model.decision_function(rows), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(model.decision_function(sparse.csr_array(rows)), expected, atol=1e-9)


@pytest.mark.parametrize("normalized", [True, False])
def test_it_is_as_if_the_columns_had_come_that_way(normalized):
    rows, labels = mixed()
    far = silent(classifier(normalize=normalized), rows, labels)
    left = (rows - far.column_offsets_) * far.column_scales_
    near = silent(classifier(normalize=normalized), left, labels)
    assert not near.column_offsets_.any()
    assert (near.column_scales_ == 1).all()
    assert_array_equal(near.coef_ * far.column_scales_, far.coef_)
    assert_allclose(near.decision_function(left), far.decision_function(rows), atol=1e-9)


def test_units_do_not_matter():
    rows, labels = mixed()
    rows[:, 12:] *= np.linspace(1.0, 5.0, 200)  # their median changes with units
    units = np.where(np.arange(212) % 3 == 1, 1e6, 1.0)
    model, other = (silent(classifier(), X, labels) for X in (rows, rows * units))
    assert_allclose(other.column_offsets_, model.column_offsets_ * units)
    assert_allclose(other.column_scales_, model.column_scales_ / units)
    assert_allclose(other.coef_, model.coef_ / units, rtol=1e-5)


@pytest.mark.parametrize("data", [partial(expressions, shift=1000.0), mixed])
def test_it_is_worth_it(data, monkeypatch):
    # whoever weighs features finds some that had got lost
    monkeypatch.setattr("thresher.train.settling_work.few_speak", lambda *_: False)
    (rows, labels), (others, truth) = data(), data(seed=1)
    model = silent(classifier(n_features_to_select=10), rows, labels)
    assert set(range(5)) <= set(model.get_support(indices=True))
    scaled = make_pipeline(StandardScaler(), classifier(n_features_to_select=10))
    assert model.score(others, truth) > scaled.fit(rows, labels).score(others, truth) - 0.02
    monkeypatch.setattr(thresher.ThresherClassifier, "measures_columns", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = classifier(n_features_to_select=10).fit(rows, labels)
    assert model.score(others, truth) > bare.score(others, truth) + 0.1


def test_a_regression_takes_it_into_its_intercept():
    rows, _ = expressions()
    targets = 3 * rows[:, 7] - 2 * rows[:, 20] + 5
    model = thresher.ThresherRegressor(n_features_to_select=2, random_state=0).fit(rows, targets)
    assert model.get_support(indices=True).tolist() == [7, 20]
    assert_allclose(model.coef_[[7, 20]], [3, -2], rtol=0.01)
    assert_allclose(model.predict(rows), rows @ model.coef_ + model.intercept_)
    assert_allclose(model.intercept_, 5, atol=1.0)


def test_a_constant_says_nothing():
    rows, labels = labelled_rows(n=200, p=40, density=0.3)
    with_ones = sparse.hstack([rows, np.full((200, 1), 0.1)], format="csr")
    plain, more = make("ThresherClassifier"), make("ThresherClassifier")
    plain, more = silent(plain, rows, labels), silent(more, with_ones, labels)
    assert_array_equal(more.coef_[0], np.append(plain.coef_[0], 0.0))
    assert_allclose(more.decision_function(with_ones), plain.decision_function(rows), rtol=1e-12)


def test_without_an_intercept_zero_stays_where_it_is():
    rows, labels = expressions()
    with pytest.warns(UserWarning, match="far from zero"):
        model = classifier(fit_intercept=False).fit(rows, labels)
    assert not model.column_offsets_.any()


def test_learning_goes_on_from_the_same_offsets(tmp_path):
    rows, labels = mixed()
    model = silent(classifier(n_stages=5, max_iter=5), rows, labels)
    model.save(tmp_path / "model.thresher", training_state=True)
    loaded = thresher.load(tmp_path / "model.thresher")
    for one in (model, loaded):
        one.partial_fit(rows[:50] + 1.0, labels[:50])
    assert_array_equal(model.coef_, loaded.coef_)
    assert_array_equal(model.column_offsets_, loaded.column_offsets_)


@pytest.mark.parametrize("normalized", [True, False])
def test_models_in_other_words_decide_the_same(normalized, tmp_path):
    rows, labels = mixed()
    model = silent(classifier(normalize=normalized), rows, labels)
    margins = model.decision_function(rows)
    model.save(tmp_path / "model.thresher")
    loaded = thresher.load(tmp_path / "model.thresher")
    assert_array_equal(loaded.decision_function(rows), margins)
    assert_array_equal(loaded.column_offsets_, model.column_offsets_)
    assert_allclose(model.to_sklearn().decision_function(rows), margins, atol=1e-9)
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    scores = session.run(["scores"], {"X": rows})[0]
    assert_allclose(scores[:, 0], margins, atol=1e-9)


@pytest.mark.usefixtures("in_chunks")
def test_files_are_learnt_alike(tmp_path):
    rows, labels = mixed()
    dump_svmlight_file(rows, labels, str(tmp_path / "rows.svm"))
    read = classifier().fit_stream(tmp_path / "rows.svm", index_base=0)
    model = silent(classifier(), rows, labels)
    assert_allclose(read.column_offsets_, model.column_offsets_, rtol=1e-12)
    assert_allclose(read.column_scales_, model.column_scales_, rtol=1e-12)
    assert read.score(*mixed(seed=1)) > 0.8


def test_verbose_says_so(capsys):
    frame = pd.DataFrame(mixed()[0]).rename(columns=lambda column: f"c{column}")
    make("ThresherClassifier", verbose=1).fit(frame, mixed()[1])
    assert "12 columns lie far from zero" in capsys.readouterr().out


def test_rows_of_any_width_lose_the_offsets():
    offsets = ColumnOffsets(np.array([1, 3]), np.array([2.0, -1.0]))
    for rows in ([[2.0, 3.0], [0.0, 2.0]], [[0.0, 1.0, 5.0, 2.0, 7.0]], np.ones((2, 4))):
        wide = np.zeros((len(rows), 5))
        wide[:, : len(rows[0])] = rows
        left = offsets.taken_from(sparse.csr_array(np.array(rows))).toarray()
        expected = wide - [0, 2, 0, -1, 0]
        assert_array_equal(left, expected[:, : left.shape[1]])
        assert left.shape[1] == max(4, len(rows[0]))


@pytest.mark.parametrize(
    ("columns", "offsets"),
    [
        ([], []),
        ([1, 1], [1.0, 1.0]),
        ([3], [1.0]),
        ([0], [0.0]),
        ([0], [np.inf]),
        ([0], [1.0, 2.0]),
    ],
)
def test_no_other_offsets_are_loaded(columns, offsets):
    tree = {"columns": np.array(columns, np.uint8), "offsets": np.array(offsets, float)}
    with pytest.raises(ModelFileError):
        ColumnOffsets.from_tree(tree, 3)


@pytest.mark.filterwarnings("ignore:All features were purged")
@pytest.mark.parametrize("name", OTHERS)
def test_others_learn_columns_as_they_are_and_warn(name):
    rows, labels = expressions()
    frame = pd.DataFrame(rows, columns=[f"gene {j}" for j in range(60)])
    frame["gene 3"] *= 1e-3  # its unit does not matter
    with pytest.warns(UserWarning, match=r"far from zero: the means of gene \d+, .* and 55 more"):
        model = make(name).fit(frame, labels)
    assert not model.column_offsets_.any()


def test_most_columns_must_be_far_for_a_warning():
    rows, labels = expressions(p=20)
    rows[:, :10] -= rows[:, :10].mean(axis=0)
    silent(thresher.FTRLClassifier(), rows, labels)
    silent(thresher.FTRLClassifier(), np.ones((100, 20)), np.arange(100) % 2)
    rows[:, 9] += 7.0
    with pytest.warns(UserWarning, match="far from zero") as caught:
        thresher.FTRLClassifier().fit(rows, labels)
    assert caught[0].filename == __file__
    assert "FTRLClassifier(...)" in str(caught[0].message)


@pytest.mark.filterwarnings("ignore:All features were purged")
def test_a_model_that_scales_rows_is_told_to_stop():
    rows, labels = expressions()
    with pytest.warns(UserWarning, match=r"SGDClassifier\(normalize=False"):
        make("StabilizedTruncatedSGDClassifier").fit(rows, labels)


def test_a_stream_is_warned_of_once():
    rows, labels = expressions()
    model = make("ThresherClassifier")
    with pytest.warns(UserWarning, match=r"A stream .* scaler\.transform") as caught:
        model.partial_fit(rows[:100], labels[:100], classes=[0, 1])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(rows[100:], labels[100:])
        make("ThresherClassifier").partial_fit(*labelled_rows(n=60, p=40), classes=[0, 1])
