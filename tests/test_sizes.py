"""How many features: chosen in one fit, kept or chosen anew, said in words, and stored."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import thresher
from cases import assert_same_bits, labelled_rows, random_rows
from golden.make import golden_rows
from size_cases import FEW, cross_validated, told
from thresher import ModelFileError, ThresherClassifier, ThresherClassifierCV
from thresher.demo.data import PROBE, QUICK, Recipe, make_documents
from thresher.estimators.storing.loading import estimator_from
from thresher.estimators.storing.saving import tree_of
from thresher.train.judges import ClassJudge
from thresher.train.sizing import columns_of


@pytest.fixture(scope="module")
def crossed(binary):
    return cross_validated(binary)


@pytest.fixture(scope="module")
def documents():
    return make_documents(Recipe(**QUICK))


@pytest.fixture(scope="module")
def chosen(documents):
    return ThresherClassifier(random_state=0).fit(documents.X_train, documents.y_train)


@pytest.mark.jit
@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherClassifierCV])
def test_the_examples_do_what_they_show(kind):
    example = doctest.DocTestParser().get_doctest(kind.__doc__, {}, kind.__name__, None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
    assert kind.__doc__.index("random_state :") < kind.__doc__.index("Examples")


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
@pytest.mark.parametrize("n_telling", [1, 2])
def test_as_few_features_as_tell_all_are_enough(n_telling):
    rows = np.random.default_rng(0).normal(size=(400, 200))
    model = ThresherClassifier(random_state=0).fit(rows, rows[:, :n_telling].sum(axis=1) > 0)
    assert_array_equal(model.get_support(indices=True), np.arange(n_telling))
    assert model.size_choice_.path["size"][0] == 1
    assert model.size_choice_.why.startswith(["1 feature: ", "2 features: "][n_telling - 1])


@pytest.mark.jit
def test_noise_that_tells_a_little_by_chance_needs_few_features(monkeypatch):
    # one of five in 24 drawings that seem to tell something, by one standard error
    rows = np.random.default_rng(7).normal(size=(300, 500))
    labels = np.random.default_rng(7 + 999).integers(0, 2, 300)
    model = ThresherClassifier(random_state=7)
    assert model.fit(rows, labels).n_features_selected_ == 1
    monkeypatch.setattr("thresher.estimators.decisions.sizing.nobody_speaks", lambda *_: False)
    assert model.fit(rows, labels).n_features_selected_ > 10


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
    monkeypatch.setattr("thresher.estimators.decisions.sizing.MOST_ROWS", 30)
    some = told(ThresherClassifier(**FEW).fit(rows, labels))
    assert some != whole
    assert some == told(ThresherClassifier(**FEW, n_jobs=2).fit(rows, labels))


@pytest.mark.jit
def test_a_rare_third_class_does_not_spoil_the_choice():
    rows, labels = labelled_rows()
    labels = np.where(np.arange(labels.size) < 1, 2, labels)
    assert "of 4 folds" in ThresherClassifier(**FEW).fit(rows, labels).size_choice_.why


def test_a_long_fit_is_no_reason_to_look_for_long(binary):
    usual, longer, shorter = (
        ThresherClassifier(random_state=0, max_iter=passes).fit(*binary).size_choice_.path
        for passes in ("auto", 2_000, 3)
    )
    assert_array_equal(longer["log_loss"], usual["log_loss"])
    assert not np.array_equal(shorter["log_loss"], usual["log_loss"])


def test_a_size_that_was_asked_for(binary):
    model = ThresherClassifier(**FEW, n_features_to_select=0.2).fit(*binary)
    assert told(model) == (8, "8 features, as asked for.", None)


def test_a_size_that_there_is_not(binary):
    model = ThresherClassifier(**FEW, n_features_to_select=1000).fit(*binary)
    assert told(model) == (38, "38 features, all that occur: 1,000 were asked for.", None)
    model = ThresherClassifier(**FEW, n_features_to_select=5, warm_start=True).fit(*binary)
    model.set_params(n_features_to_select=10).fit(*binary)
    words = "5 features, all that earlier learning left: 10 were asked for."
    assert (model.n_features_selected_, told(model)) == (5, (5, words, None))


def test_several_classes_have_a_size_each(multiclass):
    model = ThresherClassifier(**FEW, n_features_to_select=1).fit(*multiclass)
    assert told(model) == (1, "1 feature for each class, as asked for.", None)
    chosen = ThresherClassifier(**FEW).fit(*multiclass)
    assert re.match(r"\d+ features? for each class: log loss", chosen.size_choice_.why)


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
@pytest.mark.parametrize("n_rows", [60, 3])  # those are too few to choose by
def test_a_stream_that_goes_on_with_another_size_says_so(binary, n_rows):
    rows, labels = binary
    model = ThresherClassifier(**FEW).fit(rows[:n_rows], np.r_[0, 1, labels[2:n_rows]])
    chosen = told(model)
    assert told(model.set_params(n_features_to_select=2)) == chosen  # it still has that size
    model.partial_fit(rows, labels)
    assert told(model) == (2, "2 features, as asked for.", None)
    model.set_params(n_features_to_select="auto").partial_fit(rows, labels)
    assert told(model) == chosen


@pytest.mark.jit
def test_a_fit_anew_chooses_anew(binary):
    rows, labels = binary
    model = ThresherClassifier(**FEW).fit(rows, labels)
    other = random_rows(n=60, p=30, seed=4)
    assert told(model.fit(other, labels)) == told(ThresherClassifier(**FEW).fit(other, labels))


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
