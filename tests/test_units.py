"""Columns in very different units are brought to one, or told by name with a remedy that works."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline

import thresher
from cases import SMALL, labelled_rows, make
from thresher.estimators.decisions.units import Sizes
from thresher.estimators.describing import describe
from thresher.estimators.storing.loading import estimator_from
from thresher.estimators.storing.saving import tree_of
from unit_cases import ODD, in_units, plain_and_odd

ALL_SMALL = list(SMALL)


@pytest.fixture
def problem():
    return labelled_rows(n=200, p=40, density=0.3, seed=4)


def odd_in(rows):
    """Return the columns that are far off."""
    return np.sort(Sizes.in_rows(rows).columns[Sizes.in_rows(rows).odd()])


@pytest.mark.parametrize("name", ALL_SMALL)
@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e6])
def test_other_units_give_the_same_model_by_themselves(problem, name, factor):
    plain, mended, odd = plain_and_odd(name, problem, factor)
    expected = np.where(np.isin(np.arange(40), ODD), 1 / factor, 1.0)
    expected[[3, 11]] = 0.0  # never occur
    assert_allclose(mended.column_scales_, expected, rtol=1e-12)
    assert_allclose(mended.coef_, plain.coef_ * expected, rtol=1e-6, atol=1e-9)
    assert_allclose(mended.predict(odd), plain.predict(problem[0]), rtol=1e-5)


@pytest.mark.parametrize("normalize", [True, False])
def test_coefficients_are_for_rows_as_they_are(problem, normalize):
    _, mended, odd = plain_and_odd("ThresherClassifier", problem, normalize=normalize)
    dense = odd.toarray()
    lengths = np.linalg.norm(dense * mended.column_scales_, axis=1) if normalize else 1.0
    expected = dense @ mended.coef_[0] / lengths + mended.intercept_
    assert_allclose(mended.decision_function(odd), expected, rtol=1e-9)


def test_a_column_of_unknown_unit_does_not_drown_a_row(problem):
    _, mended, odd = plain_and_odd("ThresherClassifier", problem)
    row = odd[[0]].toarray()
    before = mended.decision_function(row)
    row[0, 3] = 1e6
    assert_allclose(mended.decision_function(row), before, rtol=1e-12)


def test_columns_in_one_unit_have_scales_of_one(problem):
    model = make("ThresherClassifier").fit(*problem)
    assert_array_equal(model.column_scales_, np.ones(40))
    with pytest.raises(AttributeError):
        thresher.ThresherClassifier().column_scales_  # noqa: B018


def test_rows_of_no_weight_tell_no_unit(problem):
    rows, labels = problem
    more = sparse.vstack([rows, sparse.csr_array(np.eye(40) * 1e6)] * 3, format="csr")
    weights = np.tile(np.r_[np.ones(200), np.zeros(40)], 3)
    model = make("FTRLClassifier").fit(more, np.tile(np.r_[labels, labels[:40]], 3), weights)
    assert_array_equal(model.column_scales_, np.ones(40))


def test_scales_are_told_to_whoever_listens(problem, capsys):
    plain_and_odd("FTRLClassifier", problem, verbose=1)
    said = capsys.readouterr().out
    assert "3 columns were brought to the unit of the others: x5 times 0.001, x15 times" in said


@pytest.mark.parametrize("training_state", [True, False])
@pytest.mark.parametrize("name", ["ThresherClassifier", "ThresherRegressor"])
def test_files_keep_scales(problem, tmp_path, name, training_state):
    _, mended, odd = plain_and_odd(name, problem)
    mended.save(tmp_path / "it.thresher", training_state=training_state)
    loaded = thresher.load(tmp_path / "it.thresher")
    assert_array_equal(loaded.column_scales_, mended.column_scales_)
    wider = odd.toarray() + 1e5 * (np.arange(40) == 3)
    assert_array_equal(loaded.predict(wider), mended.predict(wider))
    if training_state:
        for model in (mended, loaded):
            model.partial_fit(odd, problem[1])
        assert_array_equal(loaded.coef_, mended.coef_)


@pytest.mark.parametrize("nonsense", [{"factors": np.zeros(2)}, {"columns": np.array([1, 1])}])
def test_scales_that_cannot_be_are_refused(problem, nonsense):
    tree = tree_of(plain_and_odd("FTRLClassifier", problem)[1])
    two = {"columns": np.array([1, 2]), "factors": np.ones(2)}
    tree["fitted"]["column_scales"] = {**two, **nonsense}
    with pytest.raises(thresher.ModelFileError):
        estimator_from(tree)


@pytest.mark.parametrize("name", ["ThresherClassifier", "ThresherRegressor", "FTRLClassifier"])
@pytest.mark.parametrize("normalize", [True, False])
def test_scikit_learn_gets_the_scales_too(problem, name, normalize):
    changes = {} if name == "FTRLClassifier" else {"normalize": normalize}
    _, mended, odd = plain_and_odd(name, problem, **changes)
    there = odd.toarray() + 7 * (np.arange(40) == 3)
    for sparsified in (False, True):
        other = (mended.sparsify() if sparsified else mended).to_sklearn()
        judge = "predict" if name == "ThresherRegressor" else "decision_function"
        assert_allclose(getattr(other, judge)(there), getattr(mended, judge)(there), rtol=1e-9)
        assert (
            sparse.issparse((other[-1] if hasattr(other, "steps") else other).coef_) == sparsified
        )


def test_onnx_gets_the_scales_too(problem, tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    _, mended, odd = plain_and_odd("ThresherClassifier", problem)
    mended.to_onnx(tmp_path / "it.onnx")
    session = runtime.InferenceSession(str(tmp_path / "it.onnx"))
    there = odd.toarray() + 7 * (np.arange(40) == 3)
    [scores] = session.run(["scores"], {"X": there})
    assert_allclose(scores[:, 0], mended.decision_function(there), rtol=1e-9)


def test_groups_are_found_in_one_unit(problem):
    rows = problem[0].toarray()
    rows[:, 16] = rows[:, 15] * np.random.default_rng(0).uniform(0.8, 1.2, size=200)
    again = sparse.csr_array(rows), problem[1]
    plain, mended, odd = plain_and_odd("ThresherClassifier", again)
    tables = plain.selection_table(rows), mended.selection_table(odd)
    assert tables[0].correlation.notna().sum() == 2
    assert_allclose(tables[1].correlation, tables[0].correlation, rtol=1e-9)


def test_the_strongest_come_first_whatever_their_unit(problem):
    models = plain_and_odd("ThresherClassifier", problem)[:2]
    first, second = (model.selection_table().feature.tolist() for model in models)
    assert first == second
    first, second = (describe(model).selections[0].features for model in models)
    assert [one.name for one in first] == [one.name for one in second]


# ------------------------------------------------------------------------------- learning goes on


@pytest.mark.parametrize("name", ["ThresherClassifier", "FTRLClassifier"])
def test_scales_stay_when_learning_goes_on(problem, name):
    plain, mended, odd = plain_and_odd(name, problem, warm_start=True)
    rows, labels = problem
    for model, X in ((plain, rows), (mended, odd)):
        model.fit(X, labels)
        model.partial_fit(X[:50], labels[:50])
    assert_allclose(mended.coef_, plain.coef_ * mended.column_scales_, rtol=1e-6, atol=1e-9)


def test_a_column_that_comes_later_is_learnt_as_it_is(problem):
    _, mended, odd = plain_and_odd("FTRLClassifier", problem)
    later = odd.toarray()
    later[:, 3] = problem[1]
    mended.partial_fit(later, problem[1])
    assert mended.column_scales_[3] == 1.0
    assert mended.coef_[0, 3] > 0


def test_a_warm_start_in_other_units_is_warned_of(problem):
    rows, labels = problem
    model = make("FTRLClassifier", warm_start=True).fit(rows, labels)
    with pytest.warns(UserWarning, match="different units") as caught:
        model.fit(in_units(rows, [5, 17], 1e4), labels)
    message = str(caught[0].message)
    assert "x5, x17 are" in message or "x17, x5 are" in message
    assert "make_pipeline(thresher.UnitScaler(), FTRLClassifier(...))" in message
    assert caught[0].filename == __file__


# ---------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e6])
def test_the_remedy_gives_the_same_model(problem, factor):
    rows, labels = problem
    plain, _, odd = plain_and_odd("ThresherClassifier", problem, factor)
    mended = make_pipeline(thresher.UnitScaler(), make("ThresherClassifier")).fit(odd, labels)
    assert_allclose(mended[-1].coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert_array_equal(mended.predict(odd), plain.predict(rows))


@pytest.mark.parametrize(
    "values",
    [
        np.ones,
        lambda n: np.exp(np.random.default_rng(0).normal(size=n)),
        lambda n: 999 * np.random.default_rng(0).random(n),
    ],
    ids=["marks", "weights", "pixels"],
)
def test_columns_in_one_unit_are_left_alone(values):
    rows = labelled_rows(n=300, p=60)[0]
    rows.data = values(rows.nnz)
    assert not odd_in(rows).size
    scaler = thresher.UnitScaler().fit(rows)
    assert_array_equal(scaler.scale_, np.ones(60))
    assert_array_equal(scaler.transform(rows).toarray(), rows.toarray())


@pytest.mark.parametrize("value", [1e300, 1e-300])
def test_no_number_is_too_far_off(problem, value):
    rows = problem[0].toarray()
    rows[:, 5] = value
    assert odd_in(sparse.csr_array(rows)).tolist() == [5]
    assert np.isfinite(thresher.UnitScaler().fit(rows).scale_).all()


def test_one_value_tells_no_unit():
    rows = sparse.csr_array(np.vstack([np.ones((9, 3)), [1.0, 1.0, 1e6]]) * [1, 1, 1])
    rare = sparse.csr_array(np.column_stack([rows.toarray()[:, :2], [0] * 9 + [1e6]]))
    assert not odd_in(rare).size


def test_columns_of_unknown_unit_are_dropped_only_where_units_differ(problem):
    rows, _ = problem  # columns 3 and 11 never occur
    there = np.ones((1, 40))
    assert thresher.UnitScaler().fit(rows).transform(there)[0, 3] == 1.0
    scaler = thresher.UnitScaler().fit(in_units(rows, [5], 1e4))
    assert scaler.transform(there)[0, [3, 11]].tolist() == [0.0, 0.0]
    assert np.count_nonzero(scaler.transform(there)) == 38


def test_rows_given_to_the_remedy_stay_as_they_were(problem):
    odd = in_units(problem[0], [5], 1e4)
    before = odd.copy()
    scaler = thresher.UnitScaler().fit(odd)
    for given in (odd, odd.toarray()):
        assert np.abs(scaler.transform(given)).max() < 100
    assert_array_equal(odd.toarray(), before.toarray())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_remedy_keeps_types_and_names(problem, kind):
    frame = pd.DataFrame(in_units(problem[0], [5], 1e4).toarray().astype(kind))
    frame.columns = [f"word {j}" for j in range(40)]
    scaler = thresher.UnitScaler().fit(frame)
    assert scaler.transform(frame).dtype == kind
    assert_array_equal(scaler.get_feature_names_out(), frame.columns)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_factors_that_are_too_large_for_single_precision_do_not_overflow(form):
    rows = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32)
    rows *= np.array([1e18] * 4 + [1e-22], np.float32)
    scaler = thresher.UnitScaler().fit(rows)
    assert scaler.scale_[4] > np.finfo(np.float32).max
    scaled = scaler.transform(form(rows))
    assert scaled.dtype == np.float32
    expected = rows.astype(np.float64) * scaler.scale_
    assert_allclose(scaled.toarray() if sparse.issparse(scaled) else scaled, expected, rtol=1e-6)
