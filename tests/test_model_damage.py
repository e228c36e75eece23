"""Spoilt model files: refused in words, whatever happened to them, and never a crash."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thresher
from cases import PATHED, labelled_rows, make, stream
from files_cases import flips, resealed, truncations
from model_cases import assert_nonsense_is_refused_or_harmless, data_of
from thresher.estimators.storing.loading import estimator_from, loads
from thresher.estimators.storing.saving import tree_of
from thresher.files import container
from thresher.files.container import ModelFileError
from thresher.files.tree import pack, unpack


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


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("name", ["RDAClassifier", *PATHED])
def test_nonsense_with_a_right_checksum_is_refused_or_harmless(name, training_state):
    rows, labels = labelled_rows(n=40, p=12, n_classes=2 if training_state else 3)
    model = stream(make(name, n_jobs=1), rows, labels)
    tree = tree_of(model, training_state)
    assert_nonsense_is_refused_or_harmless(tree, lambda loaded: loaded.decision_function(rows))


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
