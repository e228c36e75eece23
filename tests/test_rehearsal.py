"""The first rows of a stream are learnt again while there are few of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import thresher
from cases import assert_same_bits, facts, labelled_rows, make_streaming, numbered_rows, stream
from thresher.estimators.target_units import Measure, Units
from thresher.learners import stages
from thresher.learners.timetable import Timetable
from thresher.randomness import earlier
from thresher.train import model as train_model
from thresher.train import rehearsal

pytestmark = pytest.mark.usefixtures("in_chunks")

NAME = "ThresherClassifier"
ROWS, LABELS = labelled_rows(n=260, p=30, density=0.1, seed=2, n_classes=3)


@pytest.fixture
def few(monkeypatch):
    """Let a stream have few rows up to its tenth, so that it has many from its ninetieth on."""
    monkeypatch.setattr(stages, "FEW", 10)


def remembered(model):
    """Return how many rows a model remembers; None if it remembers none any more."""
    return None if model._model.rehearsal is None else len(model._model.rehearsal)


def updates(model):
    return model._model.problems[0].pace.updates


def test_rows_are_learnt_again_less_and_less(few):
    model = make_streaming(NAME)
    model._seed = 0
    counts = model._learner(None).rehearsals(0, 120)
    assert counts[:11].tolist() == [9] * 11
    assert (np.diff(counts) <= 0).all()
    assert counts[90] == 1
    assert counts[91:].tolist() == [0] * 29


def test_only_rows_that_have_come_are_learnt_again():
    rows = np.repeat(np.arange(40), 500)
    drawn = earlier(7, rows, np.tile(np.arange(500), 40))
    assert (drawn <= rows).all()
    assert (drawn >= 0).all()
    for row in range(40):  # none is left out, and none preferred
        times = np.bincount(drawn[rows == row], minlength=row + 1)
        assert times.min() > 0
        assert times.max() < 500 / (row + 1) + 6 * np.sqrt(500 / (row + 1))
    assert (drawn != earlier(8, rows, np.tile(np.arange(500), 40))).any()


@pytest.mark.parametrize("cuts", [(3, 10, 89, 90, 91, 92), (50,), tuple(range(1, 130))])
def test_cuts_do_not_matter_while_rows_are_forgotten(few, cuts):
    whole, parts = make_streaming(NAME), make_streaming(NAME)
    stream(whole, ROWS, LABELS)
    stream(parts, ROWS, LABELS, cuts)
    assert_same_bits(parts, whole)
    assert updates(whole) == 260 + whole._learner(None).rehearsals(0, 260).sum()
    assert remembered(whole) is None


def test_many_nonzeros_are_not_remembered(monkeypatch):
    sizes = np.cumsum(np.diff(ROWS.indptr))
    monkeypatch.setattr(rehearsal, "MOST_NONZEROS", int(sizes[24]))
    model, parts = make_streaming(NAME), make_streaming(NAME)
    model.partial_fit(ROWS[:25], LABELS[:25], classes=[0, 1, 2])
    assert remembered(model) == 25
    assert updates(model) == 250
    model.partial_fit(ROWS[25:], LABELS[25:])
    assert remembered(model) is None
    assert updates(model) == 250 + 235
    stream(parts, ROWS, LABELS, (20, 40))
    assert_same_bits(parts, model)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        (NAME, (ROWS, LABELS), {"classes": [0, 1, 2]}),
        ("ThresherRegressor", numbered_rows(n=200), {}),
    ],
)
def test_a_saved_stream_goes_on_with_its_rows(tmp_path, name, data, told):
    rows, labels = data
    model = make_streaming(name).partial_fit(rows[:70], labels[:70], **told)
    model.save(tmp_path / "model", training_state=True)
    loaded = thresher.load(tmp_path / "model")
    assert remembered(loaded) == 70
    for one in (model, loaded):
        one.partial_fit(rows[70:], labels[70:])
    assert_same_bits(loaded, model)


def test_what_does_not_fit_together_is_refused():
    model = make_streaming(NAME)
    model.partial_fit(ROWS[:20], LABELS[:20], classes=[0, 1, 2])
    tree = model._model.rehearsal.tree()
    again = rehearsal.Rehearsal.from_tree(tree, 3, np.dtype(np.float32), 30)
    assert len(again) == 20
    for branch, name, wrong in [
        ("nonzeros", "slots", tree["nonzeros"]["slots"] + 30),
        ("rows", "ends", tree["rows"]["ends"][::-1].copy()),
        ("rows", "ends", tree["rows"]["ends"] - 1),
    ]:
        bad = {**tree, branch: {**tree[branch], name: wrong}}
        with pytest.raises(thresher.ModelFileError, match="do not fit together"):
            rehearsal.Rehearsal.from_tree(bad, 3, np.dtype(np.float32), 30)


def test_rows_that_were_read_before_are_not_remembered():
    model = make_streaming(NAME, max_iter=2)
    chunks = [(ROWS[:100], LABELS[:100]), (ROWS[100:], LABELS[100:])]
    once = make_streaming(NAME, max_iter=1).fit_stream(iter(chunks), classes=[0, 1, 2])
    model.fit_stream(chunks, classes=[0, 1, 2])
    assert remembered(once) == 260
    assert remembered(model) is None


def test_what_was_fitted_goes_on_without():
    model = make_streaming(NAME).fit(ROWS, LABELS)
    before = updates(model)
    model.partial_fit(ROWS[:50], LABELS[:50])
    assert updates(model) == before + 50


@pytest.mark.parametrize("name", ["StabilizedTruncatedSGDClassifier", "FTRLClassifier"])
def test_others_learn_every_row_once(name):
    model = make_streaming(name)
    stream(model, ROWS[:60], LABELS[:60] > 0)
    assert updates(model) == 60
    assert remembered(model) is None


def test_few_rows_teach_more(monkeypatch):
    rows, labels = labelled_rows(n=2_200, p=60, density=0.2, seed=4)
    errors = {}
    for times in (0, 9):
        monkeypatch.setattr(stages, "REHEARSALS", times)
        model = make_streaming(NAME, n_features_to_select=30, n_paths=16)
        model.partial_fit(rows[:200], labels[:200], classes=[0, 1])
        errors[times] = np.mean(model.predict(rows[200:]) != labels[200:])
    assert errors[9] < 0.8 * errors[0]


# ----------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize("cuts", [(1, 2, 3, 5, 8, 9, 31, 64, 91), tuple(range(1, 130))])
def test_cuts_do_not_matter_while_numbers_get_other_units(few, loss, cuts):
    rows, targets = numbered_rows(n=260)
    whole, parts = (make_streaming("ThresherRegressor", loss=loss) for _ in range(2))
    stream(whole, rows, targets)
    stream(parts, rows, targets, cuts)
    assert_same_bits(parts, whole)
    assert updates(whole) == 260 + whole._learner(None).rehearsals(0, 260).sum()


def test_numbers_are_learnt_again_in_the_units_of_the_moment(monkeypatch):
    rows, targets = numbered_rows(n=40)
    taught = []

    class Overheard(train_model.Feed):
        def __init__(self, batch, mine, *others, **more):
            taught.append(mine)
            super().__init__(batch, mine, *others, **more)

    monkeypatch.setattr(train_model, "Feed", Overheard)
    stream(make_streaming("ThresherRegressor"), rows, 1e6 * targets + 1e7)
    scales = Units().follow(1e6 * targets + 1e7, np.ones(40), Measure())[1]
    assert {len(mine) for mine in taught} >= {1, 3, 7, 15, 31, 40}  # before units change
    for mine in taught:
        centre, unit = scales[len(mine) - 1]
        assert_array_equal(mine, (1e6 * targets[: len(mine)] + 1e7 - centre) / unit)


def test_few_numbers_teach_more(monkeypatch):
    rows, targets = numbered_rows(n=1_200)
    targets[:3] = targets[0] + 1e-9 * np.arange(3)  # whose spread is none to learn in
    scores = {}
    for times in (0, 9):
        monkeypatch.setattr(stages, "REHEARSALS", times)
        model = make_streaming("ThresherRegressor", n_features_to_select=10, n_paths=16)
        scores[times] = model.partial_fit(rows[:200], targets[:200]).score(
            rows[200:], targets[200:]
        )
    assert scores[9] > scores[0] + 0.1


def test_the_selection_goes_on_by_new_rows():
    table = Timetable(40)
    ends, rows = [], 0
    for stage in range(1, 41):
        rows += 2 * table.burst_size(rows)
        ends.append(rows)
        assert table.goes_on(stage, rows)
        assert stage > 38 or not table.goes_on(stage + 2, rows)
    assert not table.goes_on(1, 99)
    assert table.goes_on(41, 0)
    assert Timetable(40, fixed_burst=5).goes_on(1, 0)
    assert_array_equal(np.diff(ends[:7]), 100)


def test_a_stream_does_not_change_its_precision():
    model = make_streaming(NAME)
    model.partial_fit(ROWS[:70], LABELS[:70], classes=[0, 1, 2])
    before = facts(model)
    with pytest.raises(ValueError, match="dtype='float64', but float32 weights"):
        model.set_params(dtype="float64").partial_fit(ROWS[70:], LABELS[70:])
    assert facts(model.set_params(dtype="float32")) == before
    whole = make_streaming(NAME).partial_fit(ROWS, LABELS, classes=[0, 1, 2])
    assert_same_bits(model.partial_fit(ROWS[70:], LABELS[70:]), whole)
