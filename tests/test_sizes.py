"""How many features: judged on rows that were not learnt, chosen by rule, said in words."""

import doctest
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import KFold

import thresher
from cases import assert_same_bits, labelled_rows, random_rows
from commands import run
from golden.make import golden_rows
from thresher import ModelFileError, ThresherClassifier, ThresherClassifierCV
from thresher.data.chunk import Chunk
from thresher.data.sources.given import GivenSource
from thresher.data.vocabulary import Vocabulary
from thresher.demo.data import PROBE, QUICK, Recipe, make_documents
from thresher.estimators.gathering import looked_into, some_rows
from thresher.estimators.loading import estimator_from
from thresher.estimators.saving import tree_of
from thresher.estimators.sizing import usual_sizes
from thresher.learners.timetable import fixed_timetable
from thresher.train import Passes
from thresher.train.feed import Batch
from thresher.train.folds import stratified_folds
from thresher.train.judges import ClassJudge
from thresher.train.platt import calibrated, log_losses
from thresher.train.shrinking import Plan, ShrinkingRun, Sight
from thresher.train.sizing import Trial, columns_of, judge_size, smallest_good
from thresher.workers import Workers

FEW = {"max_iter": 20, "n_paths": 2, "n_stages": 6, "random_state": 3}


@pytest.fixture(scope="module")
def documents():
    return make_documents(Recipe(**QUICK))


@pytest.fixture(scope="module")
def chosen(documents):
    return ThresherClassifier(random_state=0).fit(documents.X_train, documents.y_train)


@pytest.fixture(scope="module")
def crossed(binary):
    return ThresherClassifierCV(cv=3, sizes=[2, 4, 0.2, 20], **FEW).fit(*binary)


def told(model):
    """Return what a model says of its size, in values that can be compared."""
    choice = model.size_choice_
    path = None if choice.path is None else {k: v.tobytes() for k, v in choice.path.items()}
    return choice.size, choice.why, path


@pytest.mark.jit
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherClassifierCV])
def test_the_examples_do_what_they_show(kind):
    example = doctest.DocTestParser().get_doctest(kind.__doc__, {}, kind.__name__, None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
    assert kind.__doc__.index("random_state :") < kind.__doc__.index("Examples")


class TestCalibration:
    margins = np.random.default_rng(0).normal(size=20_000)
    chance = np.random.default_rng(1).random(20_000)

    def test_scale_and_shift_are_found(self):
        targets = np.where(self.chance < expit(2 * self.margins - 1), 1.0, -1.0)
        found = calibrated(self.margins, targets, np.ones(targets.size))
        assert_allclose(found, 2 * self.margins - 1, atol=0.2)

    def test_units_of_margins_do_not_matter(self):
        targets = np.where(self.chance < expit(self.margins), 1.0, -1.0)
        weights = np.ones(targets.size)
        found = calibrated(self.margins, targets, weights)
        assert_allclose(calibrated(1e-6 * self.margins, targets, weights), found, atol=1e-3)

    def test_a_weight_of_two_counts_as_two_rows(self):
        targets = np.where(self.chance < expit(self.margins), 1.0, -1.0)
        weights = 1.0 + (np.arange(targets.size) % 3 == 0)
        twice = np.repeat(np.arange(targets.size), weights.astype(int))
        once = calibrated(self.margins, targets, weights)[twice]
        assert_allclose(
            calibrated(self.margins[twice], targets[twice], np.ones(twice.size)), once, atol=1e-3
        )

    @pytest.mark.parametrize("margins", [[-3.0, -1, 1, 3], [0.0, 0, 0, 0], [3.0, 1, -1, -3]])
    def test_perfect_and_empty_margins_stay_finite(self, margins):
        targets = np.array([-1.0, -1, 1, 1])
        found = calibrated(np.array(margins), targets, np.ones(4))
        assert np.isfinite(found).all()
        # it knows at least as much as a coin, and margins never speak for the other class
        assert (np.diff(found) * np.diff(margins) >= 0).all()
        assert log_losses(found, targets).mean() <= np.log(2) + 1e-9


class TestFolds:
    labels = np.repeat([0, 1, 2], [41, 17, 2])

    def test_every_row_is_held_out_once(self):
        folds = stratified_folds(self.labels, 4, seed=5)
        assert_array_equal(np.sort(np.concatenate([f.held for f in folds])), np.arange(60))
        for fold in folds:
            assert_array_equal(np.sort(np.r_[fold.training, fold.held]), np.arange(60))

    def test_classes_are_dealt_out_evenly(self):
        counts = [np.bincount(self.labels[f.held], minlength=3) for f in self.folds()]
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(np.sum(counts, axis=1)) <= 1

    def test_the_seed_decides(self):
        assert_array_equal(self.folds()[0].held, self.folds()[0].held)
        assert not np.array_equal(self.folds()[0].held, stratified_folds(self.labels, 4, 6)[0].held)

    def folds(self):
        return stratified_folds(self.labels, 4, seed=5)


def table(losses, error=0.02):
    losses = np.array(losses)
    return {"log_loss": losses, "log_loss_se": np.full(losses.size, error)}


def test_the_smallest_size_within_a_standard_error_is_chosen():
    verdict = smallest_good(table([0.5, 0.321, 0.319, 0.3, 0.31]), "log_loss", 0.69, spared=0.0)
    assert (verdict.best, verdict.chosen, verdict.lenient) == (3, 2, False)
    assert smallest_good(table([0.31, 0.5, 0.3]), "log_loss", 0.69, spared=0.0).chosen == 0


def test_a_share_of_what_is_explained_may_be_lost():
    losses = [0.5, 0.321, 0.319, 0.3, 0.31]
    verdict = smallest_good(table(losses, error=0.001), "log_loss", 0.7, spared=0.1)
    assert (verdict.chosen, verdict.lenient) == (2 - 1, True)
    assert verdict.margin == pytest.approx(0.04)


def test_rows_count_by_their_weight():
    targets, weights = np.array([1.0, 1, -1, -1]), np.array([3.0, 3, 1, 1])
    batch = Batch(None, np.ones(4), weights)
    folds = stratified_folds(np.array([1, 1, 0, 0]), 2, seed=0)
    trial = Trial(range(7), batch, [targets], folds, ClassJudge())
    assert trial.null_loss() == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    wrong = Sight(np.arange(2), np.array([-1.0, -1.0]))  # both rows of a fold are taken for -1
    judged = judge_size(trial, [wrong, wrong], 2)
    assert judged["error"] == pytest.approx(0.75)
    assert judged["error_se"] == pytest.approx(np.sqrt(2 * 0.75**2 + 2 * 0.75**2) / 8)
    assert judged["log_loss"] == pytest.approx(
        trial.null_loss(), abs=0.02
    )  # as sure as few rows let it be
    assert (judged["nonzeros"], judged["stability"]) == (2, 1)


@pytest.mark.parametrize("sizes", [[1], [3, 40, 117], [3, 4, 5, 6, 120]])
def test_every_size_is_looked_at_once_and_while_there_are_enough_features(sizes):
    due = Plan(sizes, 10, 100).due(120)
    assert len(due) == 11
    assert sorted(size for some in due for size in some) == sizes
    assert due[0] == [size for size in sizes if size == 120]


def test_sizes_suit_the_number_of_columns():
    assert usual_sizes(2) == [1, 2]
    assert usual_sizes(123)[-1] == 123
    assert (usual_sizes(50_000)[0], usual_sizes(50_000)[-1]) == (10, 1_500)


@pytest.mark.jit
def test_what_is_held_out_has_no_say():
    rows, labels = labelled_rows(n=80)
    targets = np.where(labels > 0, 1.0, -1.0)
    fold = stratified_folds(labels, 4, seed=0)[1]
    upside_down = targets.copy()
    upside_down[fold.held] *= -1
    seen = [shrunk(rows, mine, fold) for mine in (targets, upside_down)]
    for size in (3, 10, 38):
        assert_array_equal(seen[0][size].margins, seen[1][size].margins)
        assert_array_equal(seen[0][size].slots, seen[1][size].slots)
        assert seen[0][size].slots.size == size
        assert seen[0][size].margins.size == fold.held.size
    flipped = targets.copy()
    flipped[fold.training] *= -1
    assert not np.array_equal(shrunk(rows, flipped, fold)[10].margins, seen[0][10].margins)


def shrunk(rows, targets, fold):
    """Return what one run sees on its way to three features."""
    estimator = ThresherClassifier(**FEW, n_features_to_select=3)
    estimator._seed = 1
    learner = replace(estimator._learner(60), timetable=fixed_timetable(500, 8, 0.0))
    vocabulary = Vocabulary(rows.shape[1], True)
    vocabulary.learn_by_frequency(rows)
    batch = Batch(*vocabulary.absorb(rows, np.dtype(np.float32)), np.ones(targets.size))
    passes = Passes(None, 0.0, True, 1)
    plan = Plan([3, 10, 38], 8, 200)
    return ShrinkingRun(learner, plan, vocabulary, batch, targets, fold, passes).run(Workers())


@pytest.mark.jit
def test_planted_features_are_kept_and_few_others(documents, chosen):
    kept = chosen.get_support()
    assert 12 <= chosen.n_features_selected_ == kept.sum() <= 48
    assert (documents.band_of[kept] == PROBE).mean() <= 0.2
    larger = ThresherClassifier(n_features_to_select=400, random_state=0)
    larger.fit(documents.X_train, documents.y_train)
    held = documents.X_test, documents.y_test
    assert chosen.score(*held) >= larger.score(*held)


@pytest.mark.jit
def test_the_choice_says_what_it_was_and_why(chosen):
    choice = chosen.size_choice_
    assert choice.size in choice.path["size"]
    assert choice.why.startswith(f"{choice.size:,} features: log loss 0.")
    assert "of 4 folds" in choice.why
    assert tuple(choice.path) == columns_of(ClassJudge())
    assert all(column.size == choice.path["size"].size for column in choice.path.values())


@pytest.mark.jit
def test_labels_that_nothing_tells_need_few_features():
    documents = make_documents(Recipe(**QUICK))
    labels = np.random.default_rng(1).permutation(documents.y_train)
    model = ThresherClassifier(random_state=0).fit(documents.X_train, labels)
    assert model.n_features_selected_ <= 20


@pytest.mark.jit
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherClassifierCV])
def test_threads_do_not_matter(problem, kind):
    alone = kind(**FEW).fit(*problem)
    many = kind(**FEW, n_jobs=3).fit(*problem)
    assert told(alone) == told(many)
    assert alone.size_choice_.path is not None
    assert_same_bits(many, alone)


@pytest.mark.jit
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherClassifierCV])
def test_rows_of_no_weight_are_as_good_as_none(binary, kind):
    rows, labels = binary
    weights = np.where(np.arange(labels.size) % 4 == 0, 0.0, 1.5)
    kept = np.flatnonzero(weights)
    whole = kind(**FEW).fit(rows, labels, weights)
    part = kind(**FEW).fit(rows[kept], labels[kept], weights[kept])
    assert told(whole) == told(part)
    assert_array_equal(whole.coef_, part.coef_)


@pytest.mark.jit
def test_all_classes_have_the_same_size(multiclass):
    model = ThresherClassifier(**FEW).fit(*multiclass)
    assert (model.stable_.sum(axis=1) == model.size_choice_.size).all()


@pytest.mark.jit
def test_folds_are_as_few_as_the_rarer_class():
    rows, labels = labelled_rows()
    labels = np.where(np.arange(labels.size) < 3, 1, 0)
    assert "of 3 folds" in ThresherClassifier(**FEW).fit(rows, labels).size_choice_.why


@pytest.mark.jit
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherClassifierCV])
def test_a_single_row_of_a_class_leaves_it_to_the_rule(kind):
    rows, labels = labelled_rows()
    labels = np.where(np.arange(labels.size) < 1, 1, 0)
    choice = kind(**FEW).fit(rows, labels).size_choice_
    assert "for want of rows" in choice.why
    assert (choice.size, choice.path) == (38, None)


@pytest.mark.jit
def test_of_many_rows_some_are_looked_at(binary, monkeypatch):
    rows, labels = binary
    whole = told(ThresherClassifier(**FEW).fit(rows, labels))
    monkeypatch.setattr("thresher.estimators.sizing.MOST_ROWS", 30)
    some = told(ThresherClassifier(**FEW).fit(rows, labels))
    assert some != whole
    assert some == told(ThresherClassifier(**FEW, n_jobs=2).fit(rows, labels))


@pytest.mark.jit
def test_a_rare_third_class_does_not_spoil_the_choice():
    rows, labels = labelled_rows()
    labels = np.where(np.arange(labels.size) < 1, 2, labels)
    assert "of 4 folds" in ThresherClassifier(**FEW).fit(rows, labels).size_choice_.why


def test_a_size_that_was_asked_for(binary):
    model = ThresherClassifier(**FEW, n_features_to_select=0.2).fit(*binary)
    assert told(model) == (8, "8 features, as asked for.", None)


@pytest.mark.jit
def test_a_warm_start_keeps_what_was_chosen(binary):
    model = ThresherClassifier(**FEW, warm_start=True).fit(*binary)
    first = told(model)
    rows, labels = binary
    other = rows[:40], labels[:40]
    assert told(ThresherClassifier(**FEW).fit(*other)) != first
    assert told(model.fit(*other)) == first
    model.set_params(n_features_to_select=2).fit(*binary)
    assert (model.n_features_selected_, model.size_choice_.size) == (2, 2)


@pytest.mark.jit
def test_a_fit_anew_chooses_anew(binary):
    rows, labels = binary
    model = ThresherClassifier(**FEW).fit(rows, labels)
    other = random_rows(n=60, p=30, seed=4)
    assert told(model.fit(other, labels)) == told(ThresherClassifier(**FEW).fit(other, labels))


def test_a_stream_follows_its_rule(binary):
    rows, labels = binary
    model = ThresherClassifier(random_state=0).partial_fit(rows, labels, classes=[0, 1])
    assert model.size_choice_.size == 38
    assert "by rule of thumb: one per cent of the columns" in model.size_choice_.why


def pieces(rows, labels, size):
    """Return a stream that passes once, so many rows at a time."""
    firsts = range(0, labels.size, size)
    return iter([(rows[k : k + size], labels[k : k + size]) for k in firsts])


@pytest.mark.jit
def test_a_source_that_passes_once_is_looked_into(binary, monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_ROWS", 50)
    rows, labels = binary
    once = ThresherClassifier(**FEW).fit_stream(pieces(rows, labels, 7))
    assert once.size_choice_.path is not None
    assert once.n_features_selected_ <= once.size_choice_.size
    cut = ThresherClassifier(**FEW).fit_stream(pieces(rows, labels, 31), classes=[0, 1])
    assert told(cut) == told(once)
    assert_array_equal(cut.coef_, once.coef_)
    # every row is learnt, those that were looked at included
    assert once._class_counts.sum() == labels.size
    asked = ThresherClassifier(**FEW, n_features_to_select=once.size_choice_.size)
    assert_array_equal(asked.fit_stream(pieces(rows, labels, 9)).coef_, once.coef_)


@pytest.mark.jit
def test_first_rows_of_one_class_leave_it_to_the_rule(binary, monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_ROWS", 20)
    rows, labels = binary
    order = np.argsort(labels, kind="stable")
    once = ThresherClassifier(**FEW).fit_stream(pieces(rows[order], labels[order], 7))
    assert "rule of thumb" in once.size_choice_.why
    assert once._class_counts.sum() == labels.size


def test_rows_to_look_at_do_not_depend_on_chunks(monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_NONZEROS", 50)
    rows, labels = labelled_rows()
    found = []
    for size in (1, 7, 60):
        source, some = looked_into(GivenSource(pieces(rows, labels, size)))
        found.append(some.rows)
        assert sum(len(chunk) for chunk in source.chunks()) == labels.size
    assert 0 < found[0].shape[0] < 60
    for other in found[1:]:
        assert_array_equal(other.toarray(), found[0].toarray())


@pytest.fixture
def file(tmp_path, monkeypatch, binary):
    monkeypatch.chdir(tmp_path)
    rows, labels = binary
    table = sparse.csr_array(rows)
    with open("rows.svm", "w") as out:
        for row, label in enumerate(labels):
            part = slice(table.indptr[row], table.indptr[row + 1])
            pairs = zip(table.indices[part] + 1, table.data[part], strict=True)
            print(label, *(f"{column}:{float(value)!r}" for column, value in pairs), file=out)
    return "rows.svm"


@pytest.mark.jit
def test_files_that_can_be_read_again_are_asked(file):
    model = ThresherClassifier(**FEW).fit_stream(file)
    choice = model.size_choice_
    assert choice.path is not None
    assert model.n_features_selected_ == choice.size
    assert told(ThresherClassifier(**FEW, n_jobs=2).fit_stream(file)) == told(model)
    balanced = ThresherClassifier(**FEW, class_weight="balanced").fit_stream(file)
    assert balanced.size_choice_.path is not None


def test_rows_that_cannot_be_learnt_choose_nothing():
    rows, labels = np.array([0, 1, 2]), np.array([0, 1])
    good = Chunk(rows, np.array([0, 0]), np.ones(2), 1, labels, np.ones(2))
    for chunks in ([], [replace(good, labels=None)], [replace(good, weights=-good.weights)]):
        assert some_rows(GivenChunks(chunks), shuffle=False, seed=0) is None
    some = some_rows(GivenChunks([good] * 6_000), shuffle=False, seed=0)
    assert some.rows.shape == (10_000, 1)


class GivenChunks:
    """A source of a few chunks, that cannot be shuffled."""

    rewinds = False

    def __init__(self, chunks):
        self.chunks = lambda: iter(chunks)


@pytest.mark.jit
def test_the_command_line_says_what_was_chosen(file):
    words = ("--max-iter", 20, "--n-paths", 2, "-o", "m.thresher")
    result = run("train", file, *words)
    assert result.exit_code == 0, result.stderr
    choice = thresher.load("m.thresher").size_choice_
    assert f"Size: {choice.why}" in result.stderr
    assert choice.path is not None
    printed = run("inspect", "m.thresher").stdout
    assert f"{choice.size:,} features: log loss" in " ".join(printed.split())
    description = json.loads(run("inspect", "m.thresher", "--json").stdout)
    assert description["size_choice"]["size"] == choice.size
    assert description["size_choice"]["path"]["size"] == choice.path["size"].tolist()
    assert run("train", file, *words, "--quiet", "--json").exit_code == 0


@pytest.mark.jit
@pytest.mark.parametrize("training_state", [False, True])
def test_the_choice_survives_the_disk(crossed, chosen, tmp_path, training_state):
    for model in (crossed, chosen):
        model.save(tmp_path / "m.thresher", training_state=training_state)
        loaded = thresher.load(tmp_path / "m.thresher")
        assert type(loaded) is type(model)
        assert told(loaded) == told(model)
        assert loaded.n_features_selected_ == model.n_features_selected_
        assert loaded.get_params() == model.get_params()


@pytest.mark.jit
def test_nonsense_in_a_file_is_refused(crossed):
    for change in (
        {"size": -1},
        {"why": 3},
        {"path": {"size": np.arange(3)}},
        {"path": {**crossed.path_, "error": np.zeros(2)}},
    ):
        tree = tree_of(crossed)
        tree["fitted"]["size_choice"] |= change
        with pytest.raises(ModelFileError, match="cannot be"):
            estimator_from(tree)


def test_files_of_the_first_version_know_what_was_asked_for():
    model = thresher.load(Path(__file__).parent / "golden" / "stabilized-v1.thresher")
    assert model.size_choice_.size == 6
    assert model.predict(golden_rows()).size == 60


@pytest.mark.jit
def test_cross_validation_obeys_the_one_standard_error_rule(crossed):
    path = crossed.path_
    assert path["size"].tolist() == [2, 4, 8, 20]
    best = path["log_loss"].argmin()
    good = path["log_loss"] <= path["log_loss"][best] + path["log_loss_se"][best]
    assert crossed.size_choice_.size == crossed.n_features_selected_ == path["size"][good][0]
    assert "explains" not in crossed.size_choice_.why
    assert_array_equal(path["nonzeros"], path["size"])
    assert ((path["error"] >= 0) & (path["error"] <= 1)).all()
    assert path["stability"].max() <= 1


@pytest.mark.jit
def test_splitters_are_taken_and_stored_as_numbers(binary, tmp_path):
    model = ThresherClassifierCV(cv=KFold(4), sizes=np.array([3, 9]), **FEW).fit(*binary)
    assert "of 4 folds" in model.size_choice_.why
    model.save(tmp_path / "m.thresher")
    loaded = thresher.load(tmp_path / "m.thresher")
    assert (loaded.cv, loaded.sizes) == (4, [3, 9])
    assert clone(model).cv is not model.cv


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": []}, "a list of whole numbers"),
        ({"sizes": [3, 1.5]}, "a list of whole numbers"),
        ({"sizes": 5}, "a list of whole numbers"),
        ({"cv": 1}, "of at least 2"),
        ({"cv": "many"}, "a method split"),
    ],
)
def test_strange_parameters_are_refused(binary, changes, words):
    with pytest.raises(ValueError, match=words):
        ThresherClassifierCV(**changes).fit(*binary)


def test_cross_validation_is_not_for_streams():
    model = ThresherClassifierCV()
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "fit_stream")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(None, None)
    assert "all at hand" in str(caught.value.__cause__)
