"""Amounts that drown each other are learnt as roots, where held-out rows prefer these."""

import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import thresher
from cases import labelled_rows
from commands import run
from thresher.cli.watching import Watch
from thresher.data.powers import raised
from thresher.estimators.decisions import roots
from thresher.estimators.decisions.amounts import drown_each_other, even_shares
from thresher.estimators.exporting.computing import computation
from thresher.files.errors import ModelFileError
from unit_cases import in_units

WORDS, TELLING = 300, 12


def long_documents(n=240, seed=0):
    """Return counts of words, a few of them huge; which words there are tells two classes apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    there = rng.random((n, WORDS)) < 0.12
    there[:, :TELLING] |= (rng.random((n, TELLING)) < 0.35) & (labels == 1)[:, None]
    counts = np.ceil(rng.lognormal(0.0, 2.0, there.shape))
    return sparse.csr_array(there * counts), labels


def classifier(**changes):
    """Return a small model of such documents."""
    small = {"n_features_to_select": TELLING, "random_state": 0, "max_iter": 20, "n_stages": 8}
    return thresher.ThresherClassifier(**{**small, **changes})


@pytest.fixture(scope="module")
def documents():
    return long_documents()


@pytest.fixture(scope="module")
def rooted(documents):
    return classifier().fit(*documents)


@pytest.fixture
def asked(monkeypatch):
    """Return the powers that held-out rows are asked about."""
    powers = []

    def ask(model, *others, **options):
        powers.append(model._power)
        return real(model, *others, **options)

    real = roots.held_out_losses
    monkeypatch.setattr(roots, "held_out_losses", ask)
    return powers


def test_values_are_raised_and_signs_stay():
    dense = np.array([[4.0, 0.0, -9.0], [0.0, 0.25, -0.0]])
    expected = np.array([[2.0, 0.0, -3.0], [0.0, 0.5, 0.0]])
    assert_array_equal(raised(dense, 0.5), expected)
    assert_array_equal(raised(sparse.csr_array(dense), 0.5).toarray(), expected)
    assert_allclose(raised(dense, 0.3), np.sign(dense) * np.abs(dense) ** 0.3)
    assert raised(dense, 1.0) is dense


def test_even_shares_are_those_of_equal_values():
    rng = np.random.default_rng(0)
    dense = rng.lognormal(0, 2, (40, 30)) * (rng.random((40, 30)) < 0.4)
    dense[3] = 0.0
    dense[4, 7:] = dense[5] = 0.0
    dense[5, 2] = 17.0
    expected = [
        np.sum(row**2) ** 2 / np.sum(row**4) / np.count_nonzero(row) for row in dense if row.any()
    ]
    assert_allclose(even_shares(sparse.csr_array(dense)), expected)
    assert_allclose(even_shares(sparse.csr_array(np.full((2, 9), 3.0))), 1.0)
    assert_array_equal(even_shares(sparse.csr_array([[1e200, 1e-200]])), 1.0)


def test_only_sparse_amounts_of_very_different_sizes_drown_each_other(documents):
    rows, _ = documents
    assert drown_each_other(rows)
    assert not drown_each_other(raised(rows, 0.25))
    assert not drown_each_other(raised(rows, 1e-9))
    assert not drown_each_other(-rows)
    assert not drown_each_other(sparse.csr_array((5, 3)))
    filled = np.random.default_rng(0).lognormal(0, 2, (50, 40))
    assert not drown_each_other(sparse.csr_array(filled))


def test_columns_in_other_units_do_not_drown_the_others():
    rows = abs(labelled_rows(n=200, p=60, density=0.2)[0])
    assert not drown_each_other(in_units(rows, [1, 5, 9], 1e3))


def test_roots_are_learnt_where_they_tell_more(documents, rooted, asked):
    rows, labels = long_documents(1000, seed=1)
    assert rooted.value_power_ == 0.5
    as_they_are = classifier(value_power=1.0).fit(*documents)
    assert rooted.score(rows, labels) > as_they_are.score(rows, labels) + 0.02
    assert not asked  # who is told the power asks nobody


def test_a_model_of_roots_is_that_of_rows_of_roots(documents, rooted):
    rows, labels = documents
    by_hand = classifier(value_power=1.0).fit(raised(rows, 0.5), labels)
    assert_array_equal(by_hand.coef_, rooted.coef_)
    assert_array_equal(by_hand.decision_function(raised(rows, 0.5)), rooted.decision_function(rows))
    expected = raised(rows, 0.5) @ rooted.coef_[0]
    lengths = np.sqrt((raised(rows, 0.5) ** 2).sum(axis=1))
    assert_allclose(rooted.decision_function(rows), expected / lengths + rooted.intercept_)


def test_held_out_rows_may_speak_against_roots(documents, monkeypatch):
    def losses(model, some, folds, run_all, select):
        return np.linspace(0, 1, some.importance.size) + 2.0 - model._power

    monkeypatch.setattr(roots, "held_out_losses", losses)
    assert classifier().fit(*documents).value_power_ == 1.0


def test_whoever_interrupts_the_question_loses_nothing(documents, rooted, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    before = rooted.coef_
    monkeypatch.setattr(roots, "held_out_losses", stop)
    with pytest.raises(KeyboardInterrupt):
        rooted.fit(documents[0][:200], documents[1][:200])
    assert_array_equal(rooted.coef_, before)
    assert rooted.value_power_ == 0.5


def test_nobody_is_asked_without_need(documents, asked):
    rows, labels = labelled_rows(n=120, p=40)
    assert classifier(n_features_to_select=5).fit(rows, labels).value_power_ == 1.0
    few = documents[0][:30], documents[1][:30]
    assert classifier().fit(*few).value_power_ == 1.0  # fifteen rows of a class tell nothing
    assert not asked
    classifier().fit(*documents)
    assert asked == [1.0, 0.5]


def test_several_classes_are_asked_together(documents):
    rows, labels = documents
    three = labels + (np.arange(labels.size) % 3 == 0)
    model = classifier().fit(rows, three)
    assert model.value_power_ == 0.5
    assert model.coef_.shape[0] == 3


def test_threads_do_not_matter(documents, rooted):
    assert_array_equal(classifier(n_jobs=2).fit(*documents).coef_, rooted.coef_)


def test_streams_ask_their_first_rows(documents):
    rows, labels = documents
    chunks = [(rows[first : first + 60], labels[first : first + 60]) for first in range(0, 240, 60)]
    stream = classifier(max_iter=1).fit_stream(iter(chunks))
    assert stream.value_power_ == 0.5
    by_hand = classifier(max_iter=1, value_power=1.0)
    by_hand.fit_stream((raised(some, 0.5), mine) for some, mine in chunks)
    assert_array_equal(stream.coef_, by_hand.coef_)


def test_files_larger_than_memory_go_on_with_roots(documents, in_chunks, tmp_path, monkeypatch):
    rows, labels = documents
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(rows, labels, "rows.svm")
    words = "--max-iter", 3, "--n-features-to-select", TELLING
    assert run("train", "rows.svm", "-o", "whole", *words).exit_code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "learnt", lambda *_: signal.raise_signal(signal.SIGINT))
        run("train", "rows.svm", "-o", "parts", "--checkpoint", "ckpt", *words)
    assert run("train", "--resume", "ckpt").exit_code == 0
    whole, parts = thresher.load("whole"), thresher.load("parts")
    assert whole.value_power_ == parts.value_power_ == 0.5
    assert_array_equal(whole.decision_function(rows), parts.decision_function(rows))


def test_partial_fit_takes_values_as_it_is_told(documents):
    rows, labels = documents
    with pytest.warns(UserWarning, match="drown the others.*value_power=0.5") as warned:
        stream = classifier().partial_fit(rows[:100], labels[:100], classes=[0, 1])
    stream.partial_fit(rows[100:], labels[100:])  # warns no more
    assert stream.value_power_ == 1.0
    assert len(warned) == 1
    assert warned[0].filename == __file__
    classifier(value_power=1.0).partial_fit(rows, labels, classes=[0, 1])
    told = classifier(value_power=0.5).partial_fit(rows, labels, classes=[0, 1])
    by_hand = classifier().partial_fit(raised(rows, 0.5), labels, classes=[0, 1])
    assert_array_equal(told.coef_, by_hand.coef_)
    with pytest.raises(ValueError, match=r"value_power=0.7, but .* value_power=0.5"):
        told.set_params(value_power=0.7).partial_fit(rows, labels)


def test_learning_goes_on_with_roots(documents, rooted, tmp_path):
    rows, labels = documents
    rooted.save(tmp_path / "model.thresher", training_state=True)
    loaded = thresher.load(tmp_path / "model.thresher")
    fresh = classifier().fit(rows, labels)
    for model in (loaded, fresh):
        model.partial_fit(rows[:50], labels[:50])
        assert model.value_power_ == 0.5
    assert_array_equal(loaded.coef_, fresh.coef_)


def test_files_keep_the_power(documents, rooted, tmp_path):
    from thresher.estimators.storing.loading import estimator_from
    from thresher.estimators.storing.saving import tree_of

    rooted.save(tmp_path / "model.thresher")
    loaded = thresher.load(tmp_path / "model.thresher")
    assert loaded.value_power_ == 0.5
    assert_array_equal(
        loaded.decision_function(documents[0]), rooted.decision_function(documents[0])
    )
    tree = tree_of(rooted)
    tree["fitted"]["value_power"] = 1.5
    with pytest.raises(ModelFileError, match="no power"):
        estimator_from(tree)


@pytest.mark.parametrize("normalize", [True, False])
def test_other_programs_take_roots_too(documents, normalize):
    rows, labels = documents
    model = classifier(value_power=0.5, normalize=normalize).fit(rows, labels)
    margins = model.decision_function(rows)
    elsewhere = model.to_sklearn()
    assert_allclose(elsewhere.decision_function(rows), margins)
    assert_allclose(elsewhere.decision_function(rows.toarray()), margins)
    assert_array_equal(elsewhere.predict(rows), model.predict(rows))


@pytest.mark.parametrize("power", [0.5, 0.3])
def test_onnx_takes_roots_too(documents, power, tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    rows, labels = documents
    rows = rows.toarray()
    rows[:, ::7] *= -1
    model = classifier(value_power=power).fit(rows, labels)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession((tmp_path / "model.onnx").read_bytes())
    _, scores, _ = session.run(None, {"X": rows})
    assert_allclose(scores[:, 0], model.decision_function(rows), rtol=1e-9, atol=1e-9)


def test_tables_and_words_tell_the_power(documents, rooted, tmp_path):
    rooted.export_coefficients(tmp_path / "weights.csv")
    header, first, *_ = (tmp_path / "weights.csv").read_text().splitlines()
    assert dict(zip(header.split(","), first.split(","), strict=True))["value_power"] == "0.5"
    assert computation(rooted).startswith(
        "Before anything else values are replaced by their square roots"
    )
    other = classifier(value_power=0.3).fit(*documents)
    assert computation(other).startswith(
        "Before anything else values are replaced by their powers of 0.3"
    )


def test_who_trains_is_told(documents, tmp_path, capsys):
    classifier(verbose=1).fit(*documents)
    assert "Square roots are learnt" in capsys.readouterr().out
    dump_svmlight_file(*documents, str(tmp_path / "rows.svm"))
    paths = [tmp_path / name for name in ("rows.svm", "model", "other")]
    trained = run("train", paths[0], "-o", paths[1], "--n-features-to-select", 12)
    assert "Values: Square roots are learnt" in trained.stderr
    told = run("train", paths[0], "-o", paths[2], "--value-power", 0.3)
    assert "Values:" not in told.stderr
    assert thresher.load(paths[2]).value_power_ == 0.3


def test_an_earlier_fit_has_no_say(documents):
    once = classifier(n_features_to_select="auto").fit(*documents)
    again = classifier(n_features_to_select="auto").fit(documents[0][:200], documents[1][:200])
    assert_array_equal(again.fit(*documents).coef_, once.coef_)


def test_clones_know_nothing_of_it(rooted):
    assert clone(rooted).value_power == "auto"
