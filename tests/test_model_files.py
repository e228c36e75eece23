"""Models on disk: what was saved is what is loaded, and nothing else is."""

import copy
import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import thresher
from cases import (
    LOSSES,
    NAMES,
    PATHED,
    VARIANTS,
    assert_same_bits,
    dense_coef,
    facts,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)
from files_cases import flips, resealed, truncations
from golden.make import golden_rows
from thresher.data.naming import GrowingNames, HashedNames, KnownNames
from thresher.estimators.loading import estimator_from, loads
from thresher.estimators.saving import tree_of
from thresher.files import container
from thresher.files.container import ModelFileError
from thresher.files.tree import pack, unpack

GOLDEN = Path(__file__).parent / "golden"
PREDICTED = ("predict", "decision_function", "predict_proba")


def saved(model, tmp_path, training_state=False):
    """Return the model after a trip to the disk."""
    model.save(tmp_path / "model.thresher", training_state=training_state)
    return thresher.load(tmp_path / "model.thresher")


def data_of(model, training_state=False):
    """Return the bytes of a model's file."""
    return container.dumps(*pack(tree_of(model, training_state)))


def assert_predicts_the_same(loaded, model, rows):
    for name in PREDICTED:
        if hasattr(model, name):
            one, other = getattr(loaded, name)(rows), getattr(model, name)(rows)
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()


# ----------------------------------------------------------------------------------- slim models


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_loaded_model_predicts_the_same_bits(problem, name, changes, training_state, tmp_path):
    rows, labels = problem
    model = make(name, **changes).fit(rows, labels)
    loaded = saved(model, tmp_path, training_state)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.n_iter_ == model.n_iter_
    assert loaded.n_features_in_ == model.n_features_in_
    assert_predicts_the_same(loaded, model, rows)
    shown, expected = facts(loaded), facts(model)
    if not training_state:
        shown.pop("probabilities", None)  # of purged features nothing is known any more
    assert {key: expected[key] for key in shown} == shown
    assert_array_equal(loaded.transform(rows).toarray(), model.transform(rows).toarray())
    assert_array_equal(loaded.get_feature_names_out(), model.get_feature_names_out())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NAMES)
def test_a_stream_can_be_saved_at_any_time(name, loss, tmp_path):
    rows, labels = labelled_rows(n=230, p=30, density=0.1, seed=2)
    model = make_streaming(name, loss=loss)
    for first in range(0, 230, 46):
        now = slice(first, first + 46)
        model.partial_fit(rows[now], labels[now], classes=[0, 1])
        assert_predicts_the_same(saved(model, tmp_path), model, rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_selection_table_of_kept_features_stays(problem, name, tmp_path):
    rows, labels = problem
    frame = pd.DataFrame(rows.toarray(), columns=[f"wörd {j}" for j in range(rows.shape[1])])
    model = make(name).fit(frame, labels)
    loaded = saved(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    table, shown = model.selection_table(), loaded.selection_table()
    kept = table.weight != 0
    assert kept.any()
    selected = shown[shown.weight != 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(selected, table[kept].reset_index(drop=True))
    assert_predicts_the_same(loaded, model, frame)


@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ThresherClassifier", {}),
        ("StabilizedTruncatedSGDClassifier", {"selection": "every"}),
        ("StabilizedTruncatedSGDClassifier", {"selection": "informative"}),
    ],
    ids=variant_id,
)
def test_the_stable_set_stays_and_purged_features_have_probability_0(
    problem, name, changes, paths, tmp_path
):
    rows, labels = problem
    model = make(name, paths=paths, **changes).fit(rows, labels)
    assert not model.stable_.all()
    loaded = saved(model, tmp_path)
    assert_array_equal(loaded.stable_, model.stable_)
    assert loaded.history_ == model.history_
    kept = loaded.selection_probabilities_ != 0
    assert_array_equal(loaded.selection_probabilities_[kept], model.selection_probabilities_[kept])
    assert kept[model.stable_].all()


@pytest.mark.parametrize("name", NAMES)
def test_sparsified_models_stay_sparse(binary, name, tmp_path):
    model = make(name).fit(*binary).sparsify()
    loaded = saved(model, tmp_path)
    assert sparse.issparse(loaded.coef_)
    assert_array_equal(dense_coef(loaded), dense_coef(model))


@pytest.mark.parametrize("name", NAMES)
def test_learning_cannot_go_on_from_a_slim_model(problem, name, tmp_path):
    rows, labels = problem
    model = make(name).fit(rows, labels)
    loaded = saved(model, tmp_path)
    before = facts(loaded)
    words = r"only what prediction needs.*training_state=True.*fit anew"
    with pytest.raises(ValueError, match=words):
        loaded.partial_fit(rows, labels)
    loaded.set_params(warm_start=True)
    with pytest.raises(ValueError, match=words):
        loaded.fit(rows, labels)
    with pytest.raises(ValueError, match=words):
        loaded.save(tmp_path / "again", training_state=True)
    assert not (tmp_path / "again").exists()
    assert facts(loaded) == before
    assert_same_bits(loaded.set_params(warm_start=False).fit(rows, labels), model)
    loaded.partial_fit(rows, labels)


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_is_saved_to_the_same_bytes(problem, name, training_state, tmp_path):
    model = make(name).fit(*problem)
    first = data_of(model, training_state)
    assert data_of(loads(first), training_state) == first
    assert data_of(make(name).fit(*problem), training_state) == first


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_loaded_models_can_be_copied_and_cloned(problem, copied, tmp_path):
    rows, labels = problem
    loaded = saved(make("ThresherClassifier").fit(rows, labels), tmp_path)
    assert_same_bits(copied(loaded), loaded)
    with pytest.raises(ValueError, match="only what prediction needs"):
        copied(loaded).partial_fit(rows, labels)
    assert clone(loaded).get_params() == loaded.get_params()


@pytest.mark.jit
@pytest.mark.parametrize("name", NAMES)
def test_a_wide_model_is_a_few_kilobytes(name, tmp_path):
    rng = np.random.default_rng(0)
    n_rows, width, n_features = 400, 2**26, 300
    columns = np.sort(rng.choice(width, n_features, replace=False))
    picked = rng.random((n_rows, n_features)) < 0.1
    dense = np.where(picked, rng.normal(size=picked.shape), 0.0)
    few = sparse.csr_array(dense)
    rows = sparse.csr_array((few.data, columns[few.indices], few.indptr), shape=(n_rows, width))
    labels = (dense @ rng.normal(size=n_features) > 0).astype(int)
    settings = (
        {"l1": 1e-6} if name in ("FOBOSClassifier", "RDAClassifier", "FTRLClassifier") else {}
    )
    if name == "ThresherClassifier":
        settings = {"n_features_to_select": 300}
    model = getattr(thresher, name)(max_iter=3, random_state=0, **settings).fit(rows, labels)
    loaded = saved(model, tmp_path)
    weights = np.count_nonzero(model._settled()[0])
    size = (tmp_path / "model.thresher").stat().st_size
    assert weights <= n_features
    assert size < 13_000
    assert loaded.n_features_in_ == width
    assert_predicts_the_same(loaded, model, rows[:20])


# ------------------------------------------------------------------------- what else a file holds


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
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"


# --------------------------------------------------------------------------------- spoilt files


@pytest.fixture(scope="module")
def slim_data():
    """A small file of a stabilized model."""
    rows, labels = labelled_rows()
    return data_of(make("ThresherClassifier").fit(rows, labels))


def test_any_flipped_bit_is_refused(slim_data):
    for spoilt in flips(slim_data, seed=2):
        with pytest.raises(ModelFileError):
            loads(spoilt)


def test_any_truncation_is_refused(slim_data):
    for spoilt in truncations(slim_data, seed=3):
        with pytest.raises(ModelFileError):
            loads(spoilt)


def test_errors_name_the_file(slim_data, tmp_path):
    path = tmp_path / "model.thresher"
    path.write_bytes(slim_data[:-1])
    with pytest.raises(ModelFileError, match=r"model\.thresher cannot be loaded: it is damaged"):
        thresher.load(path)
    with pytest.raises(thresher.ModelFileError, match="nothing cannot be loaded: there is no such"):
        thresher.load(str(tmp_path / "nothing"))
    container.write(path, {"kind": "checkpoint"}, {})
    with pytest.raises(ModelFileError, match="it is no model, but a checkpoint"):
        thresher.load(os.fspath(path))


@settings(max_examples=200)
@given(st.data())
def test_only_model_file_errors_come_of_mutated_files(slim_data, data):
    spoilt = bytearray(slim_data)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[place : place + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    for one in (bytes(spoilt), resealed(bytes(spoilt))):
        try:
            loads(one)
        except ModelFileError:
            continue


def leaves(tree, path=()):
    """Return the paths to everything in a tree that is neither a dict nor a list."""
    if isinstance(tree, dict) and tree:
        return [leaf for key in tree for leaf in leaves(tree[key], (*path, key))]
    if isinstance(tree, list) and tree:
        return [leaf for i, one in enumerate(tree) for leaf in leaves(one, (*path, i))]
    return [path]


JUNK = [
    None,
    -1,
    2**70,
    0.5,
    np.nan,
    "junk",
    True,
    [],
    {},
    [[]],
    np.zeros(0),
    np.full(3, np.nan),
    np.full(2, -1),
    np.full((2, 2), 2**62),
    np.array(["a", "b"]),
    np.array(["a", "a"], object),
]


def replaced(tree, path, value):
    """Return a copy of a tree with another value at one place."""
    if not path:
        return value
    inner = copy.copy(tree)
    inner[path[0]] = replaced(tree[path[0]], path[1:], value)
    return inner


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("name", ["RDAClassifier", *PATHED])
def test_nonsense_with_a_right_checksum_is_refused_or_harmless(name, training_state):
    """A file that says something else than it did may be another model, but never a crash."""
    rows, labels = labelled_rows(n=40, p=12, n_classes=2 if training_state else 3)
    model = stream(make(name, n_jobs=1), rows, labels)
    tree = tree_of(model, training_state)
    refused = 0
    for path in leaves(tree):
        for junk in JUNK:
            try:
                loaded = estimator_from(replaced(tree, path, junk))
            except ModelFileError:
                refused += 1
                continue
            assert np.isfinite(loaded.decision_function(rows)).all()
            assert len(loaded.selection_table())
    assert refused > 0.6 * len(leaves(tree)) * len(JUNK)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["class"], "os.system", "no class 'os.system'"),
        (
            ["parameters", "loss"],
            "zero_one",
            "loss='zero_one' of ThresherClassifier is not allowed",
        ),
        (["parameters", "n_paths"], 10**12, "paths"),
        (["parameters", "more"], 1, "parameters are"),
        (["fitted", "classes"], np.array([1, 0]), "classes are out of order"),
        (["fitted", "classes"], np.array([1]), "there are not two classes"),
        (["fitted", "classes"], np.array([0, 1, 2]), "class_counts|problems"),
        (["fitted", "seed"], -1, "seed is -1"),
        (["model", "columns"], np.array([5, 4], np.uint8), "columns are not ascending"),
        (["model", "columns"], np.array([5, 400], np.uint16), "columns goes from 5 to 400"),
        (["model", "intercepts"], np.array([np.inf]), "weights are not finite"),
        (["model", "n_columns"], 41, "n_columns is 41"),
        (["model", "paths"], None, "stages"),
        (["model", "weights"], [], "as many weight vectors as problems"),
        (["names"], {"kind": "new", "numeric": [], "categorical": []}, "unknown kind"),
        (["fitted", "index_base"], 7, "index_base is 7"),
    ],
)
def test_what_is_wrong_with_nonsense_is_said(slim_data, path, value, words):
    tree = unpack(*container.loads(slim_data))
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(ModelFileError, match=words):
        loads(container.dumps(*pack(tree)))


def test_a_width_for_which_there_is_no_memory_is_refused(slim_data):
    tree = unpack(*container.loads(slim_data))
    tree["model"]["n_columns"] = tree["fitted"]["n_features_in"] = 2**62
    with pytest.raises(ModelFileError, match="no memory"):
        estimator_from(tree)


# --------------------------------------------------------------------------------- golden files


@pytest.mark.parametrize(
    ("version", "name"),
    [
        *itertools.product([1, 2, 3], ["model", "stabilized", "state"]),
        (2, "flagship-state"),
        (3, "flagship-state"),
        (3, "units"),
    ],
)
def test_golden_files_predict_what_they_always_did(version, name):
    expected = json.loads((GOLDEN / f"expected-v{version}.json").read_text("utf-8"))[name]
    model = thresher.load(GOLDEN / f"{name}-v{version}.thresher")
    margins = model.decision_function(golden_rows())
    before = [[float.fromhex(one) for one in row] for row in expected["margins"]]
    # rows' lengths were once computed in another order of operations
    np.testing.assert_array_max_ulp(margins.reshape(len(before), -1), np.array(before), maxulp=4)
    assert model.predict(golden_rows()).tolist() == expected["labels"]
    parameters = model.get_params()
    if version == 1 and parameters.get("dtype"):
        assert parameters.pop("dtype") == "float64"  # which nobody had to say then
    assert repr(sorted(parameters.items())) == expected["parameters"]


def test_golden_files_hold_what_they_always_did():
    plain, stable, state = (
        thresher.load(GOLDEN / f"{name}-v1.thresher") for name in ("model", "stabilized", "state")
    )
    assert plain.classes_.tolist() == ["ash", "elm", "oak"]
    assert plain.class_weight == {"ash": 2.0, "elm": 1.0, "oak": 1.5}
    assert stable.data_fingerprint_ == "0123456789abcdef"
    assert stable.selection_table().feature.str.startswith("wörd ").all()
    # it knows neither of how many features these were chosen, nor of refits
    assert list(stable.selection_table().attrs) == ["selection_probability"]
    assert len(stable.history_) == 5
    assert np.count_nonzero(stable.coef_) == 6
    assert state.classes_.tolist() == [False, True]
    labels = np.arange(10) % 2 == 0
    state.partial_fit(golden_rows()[50:], labels)
    with pytest.raises(ValueError, match="only what prediction needs"):
        stable.partial_fit(golden_rows()[:10], labels.astype(int))
    for version, remembered in ((2, False), (3, True)):
        flagship = thresher.load(GOLDEN / f"flagship-state-v{version}.thresher")
        assert (flagship._model.rehearsal is not None) == remembered
        flagship.partial_fit(golden_rows()[50:], labels.astype(int))
    assert thresher.load(GOLDEN / "units-v3.thresher").column_scales_ is not None
