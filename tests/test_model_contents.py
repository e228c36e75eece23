"""What a model file holds besides weights: types, names, seeds, and where it comes from."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import thresher
from cases import make, make_streaming, stream
from elsewhere import printed_by
from model_cases import assert_predicts_the_same, saved
from thresher.data.naming import GrowingNames, HashedNames, KnownNames


@pytest.mark.parametrize(
    "names",
    [
        [0, 1],
        [-3, 7],
        [-1.0, 2.0],
        [False, True],
        ["no", "yes"],
        np.array(["nö", "jä" * 9], object),
        np.array([3, 200], np.uint8),
        np.array([1, 2], np.float32),
        np.array([10**15, 10**16]),
    ],
    ids=str,
)
def test_classes_keep_their_type(binary, names, tmp_path):
    rows, labels = binary
    model = make("PlainSGDClassifier").fit(rows, np.asarray(names)[labels])
    loaded = saved(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert_predicts_the_same(loaded, model, rows)


@pytest.mark.parametrize(
    "class_weight",
    [None, "balanced", {0: 2.0, 1: 0.5}, {np.int64(0): np.float32(2), np.int64(1): 1}],
    ids=str,
)
def test_weights_of_classes_may_have_any_keys(binary, class_weight, tmp_path):
    model = make("PlainSGDClassifier", class_weight=class_weight).fit(*binary)
    assert saved(model, tmp_path).class_weight == class_weight


def test_parameters_keep_their_types(binary, tmp_path):
    changes = {
        "eta0": np.float64(0.25),
        "max_iter": np.int64(2),
        "tol": None,
        "fit_intercept": np.bool_(True),
        "n_jobs": -1,
    }
    loaded = saved(make("PlainSGDClassifier", **changes).fit(*binary), tmp_path)
    for name, value in changes.items():
        assert getattr(loaded, name) == value
        assert type(getattr(loaded, name)) is type(value)


def test_of_a_random_state_the_seed_it_gave_is_kept(binary, tmp_path):
    model = make("PlainSGDClassifier", random_state=np.random.RandomState(5)).fit(*binary)
    loaded = saved(model, tmp_path)
    assert loaded.random_state == model._seed == loaded.provenance_["seed"]
    assert "RandomState" in loaded.provenance_["random_state"]
    unseeded = saved(make("PlainSGDClassifier", random_state=None).fit(*binary), tmp_path)
    assert unseeded.random_state is None


def test_settings_changed_after_training_do_not_change_what_was_learnt(binary, tmp_path):
    rows, labels = binary
    model = stream(make_streaming("ThresherClassifier"), rows, labels)
    before = model.decision_function(rows)
    model.set_params(normalize=False, n_stages=3, n_features_to_select=2, n_paths=5)
    for training_state in (False, True):
        loaded = saved(model, tmp_path, training_state)
        assert_array_equal(loaded.decision_function(rows), before)
        assert loaded.n_paths == 5


def test_the_file_tells_where_a_model_comes_from(binary, tmp_path):
    model = make("PlainSGDClassifier").fit(*binary)
    model.data_fingerprint_ = "abc"
    loaded = saved(model, tmp_path)
    assert loaded.data_fingerprint_ == "abc"
    known = loaded.provenance_
    assert set(known) >= {"thresher", "numpy", "scipy", "scikit-learn", "numba", "python", "seed"}
    assert known["numpy"] == np.__version__
    assert known["data_fingerprint"] == "abc"


def test_names_of_files_are_kept_for_the_features_kept(binary, tmp_path):
    rows, labels = binary
    words = [f"wörd {j}" for j in range(40)]
    model = make("ThresherClassifier").fit(rows, labels)
    model._names = GrowingNames(words)
    loaded = saved(model, tmp_path)
    assert isinstance(loaded._names, KnownNames)
    assert len(loaded._names) == 40
    kept = np.flatnonzero(model.stable_)
    assert [loaded._names.name(j) for j in kept] == [words[j] for j in kept]
    assert_array_equal(loaded._names.number([words[j] for j in kept]), kept)
    gone = np.flatnonzero(~model.stable_)
    assert all(loaded._names.name(j) != words[j] for j in gone)
    selected = loaded.selection_table().query("weight != 0")
    assert set(selected.feature) == {words[j] for j in np.flatnonzero(model.coef_[0])}
    whole = saved(model, tmp_path, training_state=True)
    assert isinstance(whole._names, GrowingNames)
    assert [whole._names.name(j) for j in range(40)] == words
    again = saved(loaded, tmp_path)
    assert [again._names.name(j) for j in kept] == [words[j] for j in kept]


def test_hashed_names_of_survivors_are_kept(tmp_path):
    names = HashedNames(6)
    words = [f"w{j}" for j in range(12)]
    columns = names.number(words)
    rng = np.random.default_rng(0)
    dense = np.zeros((60, 64))
    dense[:, columns] = rng.normal(size=(60, 12))
    model = make("ThresherClassifier", n_features_to_select=3)
    model.fit(dense, (dense[:, columns[0]] > 0).astype(int))
    model._names = names
    loaded = saved(model, tmp_path)
    assert isinstance(loaded._names, HashedNames)
    (kept,) = np.nonzero(model.coef_[0])
    assert [loaded._names.name(j) for j in kept] == [names.name(j) for j in kept]
    assert sum(not loaded._names.name(j).startswith("#") for j in set(columns.tolist())) == 3
    assert_array_equal(loaded._names.number(words), columns)


@pytest.mark.parametrize(("base", "first"), [(None, "x0"), (0, "0"), (1, "1")])
def test_numbered_columns_are_called_as_in_their_files(base, first, tmp_path):
    rows, labels = np.eye(6)[[0, 1] * 10], np.array([0, 1] * 10)
    model = make("PlainSGDClassifier").fit(rows, labels)
    if base is not None:
        model._index_base = base
    for one in (model, saved(model, tmp_path)):
        assert sorted(one.selection_table().feature)[0] == first


def test_only_fitted_models_of_our_own_can_be_saved(binary, tmp_path):
    class Mine(thresher.PlainSGDClassifier):
        """A linear classifier."""

    with pytest.raises(NotFittedError):
        make("PlainSGDClassifier").save(tmp_path / "model")
    with pytest.raises(TypeError, match="Mine is not one of Thresher's own classes"):
        Mine().fit(*binary).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_saving_where_there_is_no_folder_says_so(binary, tmp_path):
    with pytest.raises(OSError, match="the folder does not exist"):
        make("PlainSGDClassifier").fit(*binary).save(tmp_path / "no" / "model")


def test_importing_thresher_for_loading_imports_nothing_heavy():
    program = "import sys, thresher; thresher.ModelFileError; print('numba' in sys.modules)"
    assert printed_by(program) == "False\n"
