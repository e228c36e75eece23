"""Models as files: what was saved is what is loaded, and what is wrong with a file is named."""

import copy
import json
import os
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import thresher
from cases import FLAGSHIPS, NAMES, assert_same_bits, labelled_rows, make, refuses, stream
from thresher.estimators.saving import (
    CLASSES,
    dumps,
    fitted_from,
    fitted_tree,
    loads,
    model_from,
    model_tree,
    read_checkpoint,
    write_checkpoint,
)
from thresher.estimators.streaming import StreamTraining, training_source
from thresher.files import FileError, ModelFileError, tree
from thresher.fitted import LOGISTIC, NO_LINK, SOFTMAX, Fitted
from thresher.formats.errors import DataError
from thresher.formats.names import GrowingNames, HashedNames, KnownNames
from thresher.losses import CLASS_LOSSES
from thresher.prepare import Preparation

N_ROWS, N_COLUMNS = 120, 15
every_name = pytest.mark.parametrize("name", NAMES)


def data(n_classes=2):
    """Return sparse rows and labels; two columns never occur."""
    return labelled_rows(N_ROWS, N_COLUMNS, density=0.3, n_classes=n_classes)


def assert_same(one, other, rows):
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(one, method) == hasattr(other, method)
        if hasattr(one, method):
            found, expected = getattr(one, method)(rows), getattr(other, method)(rows)
            assert found.dtype == expected.dtype
            assert found.tolist() == expected.tolist()
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    assert_same_bits(one, other)
    assert_array_equal(one.get_support(), other.get_support())
    pd.testing.assert_frame_equal(one.selection_table(), other.selection_table())


def saved(model, tmp_path, training_state=False):
    model.save(tmp_path / "model", training_state=training_state)
    return thresher.load(tmp_path / "model")


# ---------------------------------------------------------------------------- there and back again


@every_name
def test_a_loaded_model_is_the_same(name, tmp_path):
    for n_classes, training_state in product((2, 3), (False, True)):
        rows, labels = data(n_classes)
        model = make(name).fit(rows, labels)
        loaded = saved(model, tmp_path, training_state)
        assert_same(loaded, model, rows)
        assert loaded.n_iter_ == model.n_iter_
        assert loaded.n_features_in_ == N_COLUMNS
        again = dumps(loaded, training_state)
        assert again == dumps(model, training_state) == (tmp_path / "model").read_bytes()
        loaded = saved(model.sparsify(), tmp_path, training_state)
        assert sparse.issparse(loaded.coef_)
        assert_same(loaded, model, rows)


def test_every_loss_can_be_saved(tmp_path):
    rows, labels = data(3)
    for loss in CLASS_LOSSES:
        model = make("PlainSGDClassifier", loss=loss).fit(rows, labels)
        assert_same(saved(model, tmp_path), model, rows)


def test_names_of_data_frames_are_kept(tmp_path):
    rows, labels = data()
    frame = pd.DataFrame(rows.toarray(), columns=[f"wörd {j}" for j in range(N_COLUMNS)])
    model = make("FTRLClassifier", l1=3.0).fit(frame, labels)
    loaded = saved(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.feature_names_in_.dtype == object
    assert_same(loaded, model, frame)
    assert 0 < len(loaded.selection_table()) < N_COLUMNS


def test_loaded_models_can_be_copied_and_cloned():
    rows, labels = data()
    loaded = loads(dumps(make("FTRLClassifier").fit(rows, labels)))
    for copied in (copy.copy(loaded), copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert_same(copied, loaded, rows)
        with pytest.raises(ValueError, match="only what prediction needs"):
            copied.partial_fit(rows, labels)
    assert clone(loaded).get_params() == loaded.get_params()


def test_a_wide_model_is_a_few_kilobytes():
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(2**26, 300, replace=False))
    few = sparse.csr_array(rng.normal(size=(400, 300)) * (rng.random((400, 300)) < 0.1))
    rows = sparse.csr_array((few.data, columns[few.indices], few.indptr), shape=(400, 2**26))
    model = make("PlainSGDClassifier").fit(rows, few.toarray()[:, 0] > 0)
    assert len(dumps(model)) < 8_000
    assert_array_equal(loads(dumps(model)).predict(rows), model.predict(rows))


# ---------------------------------------------------------------------------------- what is in it


LABELS = [
    [0, 1],
    [-3, 7],
    [-1.0, 2.0],
    [False, True],
    ["no", "yes"],
    np.array(["nö", "jä" * 9], object),
    np.array([3, 200], np.uint8),
    np.array([1, 2], np.float32),
    np.array([10**15, 10**16]),
]


def test_classes_keep_their_type(tmp_path):
    rows, places = data()
    for labels in map(np.asarray, LABELS):
        model = make("PlainSGDClassifier").fit(rows, labels[places])
        loaded = saved(model, tmp_path)
        assert loaded.classes_.dtype == model.classes_.dtype
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert_same(loaded, model, rows)


def test_parameters_keep_their_values():
    changes = {
        "eta0": np.float64(0.25),
        "max_iter": np.int64(2),
        "tol": None,
        "fit_intercept": np.bool_(True),
        "n_jobs": -1,
    }
    loaded = loads(dumps(make("PlainSGDClassifier", **changes).fit(*data())))
    for name, value in changes.items():
        assert getattr(loaded, name) == value
        assert not isinstance(getattr(loaded, name), np.generic)
    for value in (None, "balanced", {0: 2.0, 1: 0.5}, {np.int64(0): np.float32(2), np.int64(1): 1}):
        model = make("PlainSGDClassifier", class_weight=value).fit(*data())
        assert loads(dumps(model)).class_weight == value


def test_of_a_random_state_the_seed_it_gave_is_kept():
    def loaded(state):
        return loads(dumps(make("PlainSGDClassifier", random_state=state).fit(*data())))

    drawn = loaded(np.random.RandomState(5))
    assert isinstance(drawn.random_state, int)
    assert "RandomState" in drawn.provenance_["random_state"]
    assert loaded(None).random_state is None


@every_name
def test_settings_changed_after_training_do_not_change_what_was_learned(name):
    rows, labels = data()
    model = make(name).fit(rows, labels)
    before = model.decision_function(rows)
    known = model.get_params()
    changes = {"loss": "hinge", "max_iter": 7, "n_paths": 5, "normalize": False}
    model.set_params(**{key: one for key, one in changes.items() if key in known})
    for training_state in (False, True):
        loaded = loads(dumps(model, training_state))
        assert_array_equal(loaded.decision_function(rows), before)
        assert (loaded.loss, loaded.max_iter) == ("hinge", 7)


def test_the_file_tells_where_a_model_comes_from(tmp_path):
    model = make("PlainSGDClassifier").fit(*data())
    model.data_fingerprint_ = "abc"
    thresher.estimators.saving.save(model, tmp_path / "model", about={"date": "2026-01-31"})
    loaded = thresher.load(tmp_path / "model")
    assert loaded.data_fingerprint_ == "abc"
    known = loaded.provenance_
    assert set(known) == {"thresher", "numpy", "scipy", "scikit-learn", "numba", "python", "date"}
    assert known["numpy"] == np.__version__
    assert not hasattr(loaded.fit(*data()), "provenance_")


class Mine(thresher.PlainSGDClassifier):
    """A class of somebody else."""


def test_only_fitted_models_of_our_own_can_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        make("PlainSGDClassifier").save(tmp_path / "model")
    with pytest.raises(TypeError, match="Mine is not one of Thresher's own classes"):
        Mine().fit(*data()).save(tmp_path / "model")
    model = make("PlainSGDClassifier").fit(*data())
    with pytest.raises(FileError, match="the folder does not exist"):
        model.save(tmp_path / "no" / "model")
    with pytest.raises(TypeError, match=r"The parameter tol=<.*set_params"):
        model.set_params(tol=print).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_every_estimator_can_be_saved():
    public = {name for name in thresher.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert set(CLASSES) == public == {*NAMES, *FLAGSHIPS}


# --------------------------------------------------------------------------------------- going on


@every_name
def test_learning_goes_on_only_with_a_training_state(name, tmp_path):
    rows, labels = data()
    model = make(name, warm_start=True).fit(rows, labels)
    slim = saved(model, tmp_path)
    words = r"only what prediction needs.*training_state=True.*fit anew"
    for call in (slim.partial_fit, slim.fit):
        with pytest.raises(ValueError, match=words):
            call(rows, labels)
    with pytest.raises(ValueError, match=words):
        slim.save(tmp_path / "again", training_state=True)
    assert not (tmp_path / "again").exists()
    assert_same(slim, model, rows)
    anew = make(name).fit(rows, labels)
    assert_same(slim.set_params(warm_start=False).fit(rows, labels), anew, rows)
    slim.partial_fit(rows, labels)
    whole = saved(model, tmp_path, True)
    for method in ("fit", "partial_fit"):
        one, other = (getattr(each, method)(rows, labels) for each in (whole, model))
        assert_same(one, other, rows)


@every_name
def test_a_stream_goes_on_from_anywhere_to_the_same_bits(name):
    for n_classes, class_weight in ((2, None), (3, "balanced"), (3, {0: 2.0, 1: 0.5})):
        rows, labels = data(n_classes)
        whole, parts = (make(name, class_weight=class_weight) for _ in range(2))
        stream(whole, rows, labels)
        for first, last in [(0, 1), (1, 33), (33, 34), (34, N_ROWS)]:
            parts.partial_fit(rows[first:last], labels[first:last], classes=range(n_classes))
            assert_same(loads(dumps(parts)), parts, rows)
            parts = loads(dumps(parts, training_state=True))
        assert dumps(parts, training_state=True) == dumps(whole, training_state=True)


# ----------------------------------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def small():
    rows, labels = data()
    return dumps(make("FTRLClassifier", l1=3.0).fit(rows, labels))


@pytest.fixture(scope="module")
def pathed():
    return dumps(thresher.ThresherClassifier(n_features_to_select=2, random_state=0).fit(*data()))


def test_any_changed_byte_and_any_truncation_are_refused(small):
    assert loads(small)
    for place in range(len(small)):
        spoilt = bytearray(small)
        spoilt[place] ^= 1 << place % 8
        assert refuses(loads, bytes(spoilt)), place
        assert refuses(loads, small[:place]), place


def test_errors_name_the_file(small, tmp_path):
    (tmp_path / "model").write_bytes(small[:-1])
    with pytest.raises(ModelFileError, match="model cannot be loaded: it is damaged"):
        thresher.load(tmp_path / "model")
    with pytest.raises(thresher.ModelFileError, match="nothing cannot be loaded: there is no such"):
        thresher.load(str(tmp_path / "nothing"))
    (tmp_path / "other").write_bytes(tree.dumps({"kind": "checkpoint"}))
    with pytest.raises(ModelFileError, match="it is not a model, but a checkpoint"):
        thresher.load(tmp_path / "other")


def leaves(value, path=()):
    """Return the paths to everything in a tree that is neither a dict nor a list."""
    if isinstance(value, dict) and value:
        return [leaf for key in value for leaf in leaves(value[key], (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for i, one in enumerate(value) for leaf in leaves(one, (*path, i))]
    return [path]


def replaced(value, path, junk):
    """Return a copy of a tree with something else in one place."""
    if not path:
        return junk
    inner = copy.copy(value)
    inner[path[0]] = replaced(value[path[0]], path[1:], junk)
    return inner


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


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("name", [*NAMES, *FLAGSHIPS])
def test_forged_values_are_refused_or_harmless(name, training_state):
    rows, labels = data(2 if training_state else 3)
    if name in FLAGSHIPS:
        model = getattr(thresher, name)(n_features_to_select=3, random_state=0)
        model = model.fit(rows, labels) if not training_state else stream(model, rows, labels)
    else:
        model = make(name, n_jobs=1, max_iter=1).fit(rows, labels)
    good = model_tree(model, training_state)
    refused = 0
    for path in leaves(good):
        for junk in JUNK:
            try:
                loaded = model_from(replaced(good, path, junk))
            except ModelFileError:
                refused += 1
                continue
            sizes = loaded.path_.sizes if hasattr(loaded, "path_") else []
            for one in (loaded, *(loaded.at_size(size) for size in sizes)):
                assert np.isfinite(getattr(one, "decision_function", one.predict)(rows)).all()
                assert one.selection_table() is not None
    assert refused > 0.6 * len(leaves(good)) * len(JUNK)


@pytest.mark.parametrize(
    ("path", "junk", "words"),
    [
        (["kind"], "checkpoint", "it is not a model, but a checkpoint"),
        (["estimator"], "os.system", "has no class 'os.system'"),
        (["estimator"], "open_rows", "has no class 'open_rows'"),
        (["parameters", "loss"], "zero_one", "loss='zero_one' of FTRLClassifier is not allowed"),
        (["parameters", "more"], 1, "the parameters are"),
        (["fitted", "labels"], np.array([1, 0]), "classes are not in order"),
        (["fitted", "labels"], np.array([1]), "classes are not in order"),
        (["fitted", "labels"], np.array([0, 1, 2]), "3 classes do not have 1 outputs"),
        (["fitted", "labels"], None, "labels do not go with the class"),
        (["fitted", "columns"], np.array([5, 4], np.uint8), "the columns are not ascending"),
        (["fitted", "columns"], np.array([5, 400], np.uint16), "columns goes from 5 to 400"),
        (["fitted", "intercepts"], np.array([np.inf]), "the intercepts are not finite"),
        (["fitted", "weights"], np.zeros((2, 2)), "weights has the shape"),
        (["fitted", "n_columns"], 2**31, "n_columns is 2147483648"),
        (["fitted", "link"], "magic", "there is no link 'magic'"),
        (["fitted", "names"], {**GrowingNames().tree(), "kind": "x"}, "unknown kind"),
        (["facts", "index_base_"], 0.5, "index_base_ is of the type float"),
        (["facts", "reading_"], {"label": ["a"]}, "reading_ has a list for a string"),
        (["facts", "__class__"], 1, "there are __class__"),
        (["facts", "feature_names_in_"], np.array([1]), "feature_names_in_ is an array of int64"),
        (["training"], {}, "begun_with is missing"),
        (["facts", "path_", "sizes"], np.array([1]), "has not a model of each of its sizes"),
        (["facts", "path_", "sizes"], np.array([1, 3]), "has not a model of each of its sizes"),
        (["facts", "path_", "intercepts"], np.ones((2, 2)), r"intercepts has the shape \(2, 2\)"),
        (["facts", "path_", "columns", 1], np.array([5, 2]), "not ascending"),
        (["facts", "path_", "columns", 1], np.array([2, 15]), "columns goes from 2 to 15"),
        (["facts", "path_", "weights", 1], np.ones((2, 2)), r"weights has the shape \(2, 2\)"),
        (["facts", "path_", "weights", 1], np.full((1, 2), np.nan), "not finite"),
        (["facts", "path_", "clear"], 1, "path_.clear is of the type int"),
    ],
)
def test_what_is_wrong_with_a_forged_value_is_named(small, pathed, path, junk, words):
    read = tree.loads(pathed if "path_" in path else small)
    inner = read
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = junk
    with pytest.raises(ModelFileError, match=words):
        loads(tree.dumps(read))


# --------------------------------------------------------------------------------- models as values

WORDS = [f"wörd {j}" for j in range(9)]
KNOWN = KnownNames(np.array([2, 5]), WORDS[:2], 9, {"a": True, "b": False})
LINKS = (NO_LINK, None), (LOGISTIC, ["no", "yes"]), (SOFTMAX, [1, 2, 3]), (NO_LINK, [1, 2, 3])


@pytest.mark.parametrize("names", [None, GrowingNames(WORDS), KNOWN, HashedNames(3, WORDS)])
def test_any_fitted_model_comes_back(names):
    preparation = Preparation(True, np.array([1, 5]), np.array([0.5, 2.0]))
    for link, labels in LINKS:
        k = 3 if labels is not None and len(labels) > 2 else 1
        made = (np.array([2, 5]), np.arange(2.0 * k).reshape(k, 2), np.ones(k))
        given = None if labels is None else np.array(labels)
        fitted = Fitted(*made, 9, preparation, link, given, names)
        read = fitted_from(tree.loads(tree.dumps(fitted_tree(fitted))))
        pairs = (read[:4], fitted[:4]), (read.preparation, preparation)
        for one, other in (pair for both in pairs for pair in zip(*both, strict=True)):
            assert_array_equal(one, other)
        assert (read.link, type(read.names)) == (link, type(names))
        assert read.labels is None if labels is None else read.labels.tolist() == labels
        if names is not None:
            assert [read.names.name(j) for j in (2, 5)] == [names.name(j) for j in (2, 5)]
            assert read.names.kinds == names.kinds


# ------------------------------------------------------------------------------------- checkpoints


def write_rows(path, n=N_ROWS):
    """Write rows with named features, in JSON lines."""
    rows, labels = data()
    with open(path, "w") as file:
        for row, label in zip(rows[:n].toarray().tolist(), labels.tolist(), strict=False):
            features = {f"wörd {j}": value for j, value in enumerate(row) if value}
            file.write(json.dumps({"label": label, **features}) + "\n")
    return path


def steps_of(model, path, stop=None):
    """Learn from a file; stop after some chunks and return the training, or learn to the end."""
    training = StreamTraining.begin(model, training_source(model, path, cache=False), watched=True)
    for number, _ in enumerate(training.steps(), 1):
        if number == stop:
            return training
    return training


@every_name
def test_a_stopped_training_goes_on_to_the_same_bits(name, tmp_path):
    path = write_rows(tmp_path / "rows.jsonl")
    whole = steps_of(make(name, max_iter=3), path)
    for stop in (1, 2, 4):
        stopped = steps_of(make(name, max_iter=3), path, stop)
        write_checkpoint(tmp_path / "state", {"files": [str(path)]}, stopped.tree())
        recipe, state = read_checkpoint(tmp_path / "state")
        assert recipe == {"files": [str(path)]}
        names = model_from(state["model"]).known_names
        source = training_source(make(name), path, cache=False, names=names)
        training = StreamTraining.from_tree(state, source)
        for _ in training.steps():
            pass
        assert dumps(training.model, True) == dumps(whole.model, True)
        assert training.summary() == whole.summary()


@pytest.mark.parametrize("change", [lambda path: write_rows(path, n=90), os.utime])
def test_a_training_does_not_go_on_with_changed_data(change, tmp_path):
    path = write_rows(tmp_path / "rows.jsonl")
    state = steps_of(make("FTRLClassifier"), path, 1).tree()
    change(path)
    names = model_from(state["model"]).known_names
    source = training_source(make("FTRLClassifier"), path, cache=False, names=names)
    with pytest.raises(DataError, match=r"(train|begin) anew"):
        StreamTraining.from_tree(state, source)


def test_a_checkpoint_may_hold_no_more_than_its_recipe(small, tmp_path):
    write_checkpoint(tmp_path / "state", {"files": ["a"]}, None)
    assert read_checkpoint(tmp_path / "state") == ({"files": ["a"]}, None)
    (tmp_path / "model").write_bytes(small)
    with pytest.raises(ModelFileError, match="model cannot be loaded: it is not a checkpoint, but"):
        read_checkpoint(tmp_path / "model")
