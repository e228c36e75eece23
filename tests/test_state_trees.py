"""What is learnt, as a tree of plain values, from which learning goes on as if never stopped."""

import copy
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import (
    NAMES,
    PATHED,
    VARIANTS,
    assert_same_bits,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)
from thresher.data.growth import Arrays, Log
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.storing.loading import estimator_from
from thresher.estimators.storing.saving import tree_of
from thresher.files import container
from thresher.files.errors import ModelFileError
from thresher.files.tree import pack, unpack
from thresher.learners.pace import Pace
from thresher.learners.stage import Stage
from thresher.train import Model

N_ROWS = 230
ROWS, _ = labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2)
LABELS = {
    n_classes: labelled_rows(n=N_ROWS, p=30, density=0.1, seed=2, n_classes=n_classes)[1]
    for n_classes in (2, 3)
}


def through_bytes(tree):
    return unpack(*container.loads(container.dumps(*pack(tree))))


def written(model):
    """Return a model's whole state as bytes."""
    return container.dumps(*pack(model._model.tree()))


def reborn(model):
    """Return the estimator again, from its state as bytes."""
    return estimator_from(through_bytes(tree_of(model, training_state=True)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4)
@given(cut=st.integers(1, N_ROWS - 1))
def test_a_stream_goes_on_from_anywhere_to_the_same_bits(name, n_classes, cut):
    labels = LABELS[n_classes]
    whole = make_streaming(name)
    whole.partial_fit(ROWS[:cut], labels[:cut], classes=np.unique(labels))
    again = reborn(whole)
    assert_same_bits(again, whole)
    for one in (whole, again):
        one.partial_fit(ROWS[cut:], labels[cut:])
    assert_same_bits(again, whole)
    assert written(again) == written(whole)


@pytest.mark.parametrize("selection", ["informative", "every"])
@pytest.mark.parametrize("changes", [{}, {"burst_growth": 0.3, "min_evidence": 4}], ids=variant_id)
def test_a_stream_that_is_written_after_every_few_rows_goes_on(selection, changes):
    name = "StabilizedTruncatedSGDClassifier"
    model = make(name, selection=selection, **changes)
    for first in range(0, N_ROWS, 7):
        now = slice(first, first + 7)
        model.partial_fit(ROWS[now], LABELS[3][now], classes=[0, 1, 2])
        model = reborn(model)
    whole = stream(make(name, selection=selection, **changes), ROWS, LABELS[3])
    assert_same_bits(model, whole)
    assert written(model) == written(whole)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_stream_goes_on_after_fit(name, changes, n_classes):
    labels, half = LABELS[n_classes], N_ROWS // 2
    whole = make(name, **changes).fit(ROWS[:half], labels[:half])
    again = reborn(whole)
    assert_same_bits(again, whole)
    for one in (whole, again):
        stream(one, ROWS[half:], labels[half:], cuts=[1, 50])
    assert_same_bits(again, whole)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_warm_start_goes_on(name, changes):
    labels = LABELS[2]
    whole = make(name, warm_start=True, **changes).fit(ROWS[:99], labels[:99])
    again = reborn(whole)
    for one in (whole, again):
        one.fit(ROWS, labels)
    assert_same_bits(again, whole)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
def test_weights_of_classes_go_on(class_weight):
    whole = make("PlainSGDClassifier", class_weight=class_weight)
    whole.partial_fit(ROWS[:99], LABELS[2][:99], classes=[0, 1])
    again = reborn(whole)
    for one in (whole, again):
        one.partial_fit(ROWS[99:], LABELS[2][99:])
    assert_same_bits(again, whole)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5)
@given(cuts=st.lists(st.integers(1, N_ROWS - 1), unique=True, max_size=8).map(sorted))
def test_the_tree_does_not_know_how_the_stream_was_cut(name, cuts):
    """Chunks decide how much spare room arrays have, and how often columns were looked up."""
    whole = stream(make_streaming(name), ROWS, LABELS[3])
    parts = stream(make_streaming(name), ROWS, LABELS[3], cuts)
    assert written(parts) == written(whole)


@pytest.mark.parametrize("name", NAMES)
def test_looking_and_failing_leave_no_trace_in_the_tree(name):
    model = stream(make_streaming(name, loss="squared_hinge"), ROWS[:60], LABELS[2][:60])
    before = written(model)
    model.predict(ROWS)
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(ROWS[60:80], LABELS[2][60:80], sample_weight=np.full(20, 1e300))
    assert written(model) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_holds_what_is_in_use_and_no_spare_room(name):
    model = stream(make_streaming(name), ROWS, LABELS[2], range(1, N_ROWS))
    n_slots = len(model._model.vocabulary)
    _, arrays = pack(model._model.tree())
    by_slot = [array for name, array in arrays.items() if "/by_slot/" in name]
    assert by_slot
    assert {array.shape[0] for array in by_slot} == {n_slots}
    assert arrays["vocabulary/columns"].size == n_slots


@pytest.mark.parametrize("name", PATHED)
def test_an_open_burst_is_part_of_the_tree(name):
    model = stream(make_streaming(name), ROWS[:131], LABELS[2][:131])
    units = model._model.tree()["problems"][0]["state"]["units"]
    assert all(unit["burst"]["touched"].size for unit in units)


# ------------------------------------------------------------------------------- single parts


def test_arrays_come_back_without_spare_room():
    arrays = Arrays({"a": np.zeros(0), "b": np.zeros((0, 2), np.int32)}, {"c": np.zeros(3)})
    arrays.grow(3)
    arrays.grow(4)
    arrays["a"][:] = 7.0
    read = arrays.from_tree(through_bytes(arrays.tree()))
    assert read.n_slots == 4
    assert read["a"].tolist() == [7.0] * 4
    assert read["b"].shape == (4, 2)
    assert read["b"].dtype == np.int32
    read.grow(9)
    assert read["a"][4:].tolist() == [0.0] * 5


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tree: tree.pop("n_slots"),
        lambda tree: tree.update(n_slots=3),
        lambda tree: tree.update(n_slots=-1),
        lambda tree: tree.update(n_slots=2.0),
        lambda tree: tree.update(n_slots=True),
        lambda tree: tree.update(by_slot=[]),
        lambda tree: tree["by_slot"].pop("a"),
        lambda tree: tree["by_slot"].update(b=np.zeros(2)),
        lambda tree: tree["by_slot"].update(a=np.zeros(2, np.float32)),
        lambda tree: tree["by_slot"].update(a=np.zeros((2, 1))),
        lambda tree: tree["by_slot"].update(a=[0.0, 0.0]),
        lambda tree: tree["whole"].update(c=np.zeros(4)),
    ],
)
def test_arrays_of_another_kind_are_refused(spoil):
    arrays = Arrays({"a": np.zeros(0)}, {"c": np.zeros(3)})
    arrays.grow(2)
    tree = copy.deepcopy(arrays.tree())
    spoil(tree)
    with pytest.raises(ModelFileError, match="what it says cannot be"):
        arrays.from_tree(tree)


def test_a_log_comes_back_as_far_as_it_is_filled():
    log = Log(a=np.arange(5, dtype=np.uint32), b=np.zeros((5, 2)))
    log.length[0] = 3
    read = log.from_tree(through_bytes(log.tree()))
    assert read["a"].tolist() == [0, 1, 2]
    assert read.length.tolist() == [3]
    assert read.room == 0
    with pytest.raises(ModelFileError, match="differ in number"):
        log.from_tree({"a": np.zeros(2, np.uint32), "b": np.zeros((3, 2))})


def test_a_vocabulary_comes_back():
    vocabulary = Vocabulary(40, normalize=True)
    vocabulary.absorb(ROWS[:50], np.dtype(np.float64))
    read = Vocabulary.from_tree(through_bytes(vocabulary.tree()))
    assert (read.n_columns, read.normalize, len(read)) == (40, True, len(vocabulary))
    for one in (vocabulary, read):
        one.absorb(ROWS[50:], np.dtype(np.float64))
    for name in ("columns", "occurrences", "squares"):
        assert read[name].tolist() == vocabulary[name].tolist()


@pytest.mark.parametrize(
    ("columns", "words"),
    [([0, 40], "columns go up to 40"), ([-1, 3], "columns go"), ([3, 3], "a column occurs twice")],
)
def test_a_vocabulary_of_impossible_columns_is_refused(columns, words):
    numbers = {"occurrences": np.zeros(2, np.int64), "squares": np.zeros(2)}
    tree = {"n_columns": 40, "normalize": False, "columns": np.array(columns), **numbers}
    with pytest.raises(ModelFileError, match=words):
        Vocabulary.from_tree(tree)


def test_pace_and_stage_come_back():
    pace = Pace(7, 0.1)
    assert Pace.from_tree(through_bytes(pace.tree())) == pace
    stage = Stage(5, 3, 2, gravity=0.25, closed=True)
    assert Stage.from_tree(through_bytes(stage.tree())) == stage
    for wrong in ({"burst_size": 0}, {"done": -1}, {"gravity": np.nan}, {"over": 1}):
        with pytest.raises(ModelFileError):
            Stage.from_tree({**asdict(stage), **wrong})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda unit: unit["burst"]["touched"].__setitem__(0, 10**6),
        lambda unit: unit["burst"]["touched"].__setitem__(0, unit["burst"]["touched"][1]),
        lambda unit: unit["arrays"]["by_slot"]["facts"].__setitem__(slice(None), 0),
        lambda unit: unit["arrays"]["by_slot"]["facts"].__setitem__(slice(None), -1),
        lambda unit: unit["pool"].update(
            owners=np.full(1, 10**6, np.uint32), ratios=np.ones(1), length=1
        ),
        lambda unit: unit.update(lanes=10**9),
        lambda unit: unit.update(lanes=2),
    ],
)
def test_bursts_that_kernels_could_not_trust_are_refused(spoil):
    model = stream(make_streaming("ThresherClassifier"), ROWS[:131], LABELS[2][:131])
    tree = through_bytes(model._model.tree())
    spoil(tree["problems"][0]["state"]["units"][0])
    with pytest.raises(ModelFileError):
        Model.from_tree(tree, model._model.learner)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: state.update(units=[]),
        lambda state: state.update(units=[*state["units"][:1], {}]),
        lambda state: state["features"]["by_slot"]["slot"].__setitem__(0, 1),
        lambda state: state["history"].update(stage=np.zeros(99, np.int64)),
        lambda state: state["features"].update(n_slots=0),
    ],
)
def test_paths_that_do_not_fit_together_are_refused(spoil):
    model = stream(make_streaming("ThresherClassifier"), ROWS[:131], LABELS[2][:131])
    tree = through_bytes(model._model.tree())
    spoil(tree["problems"][0]["state"])
    with pytest.raises(ModelFileError):
        Model.from_tree(tree, model._model.learner)
