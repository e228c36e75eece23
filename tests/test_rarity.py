"""Columns that few rows have count for more, where held-out rows are told better so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import thresher
from cases import DECISIONS
from commands import run
from thresher.estimators.decisions import rarity
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.rarity import Rarity, are_weighted, scales_by_rarity
from thresher.estimators.decisions.units import Sizes

FREQUENT, RARE, TELLING = 40, 200, 30
ALIKE = without(DECISIONS, Rarity)


def bags(n=300, seed=0):
    """Return bags of words, of which most are frequent and say nothing; some rare ones tell."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    frequent = (rng.random((n, FREQUENT)) < 0.5) * (1 + rng.poisson(3, (n, FREQUENT)))
    rare = rng.random((n, RARE)) < 0.005
    rare[:, :TELLING] |= (rng.random((n, TELLING)) < 0.06) & (labels == 1)[:, None]
    rare[:, TELLING : 2 * TELLING] |= (rng.random((n, TELLING)) < 0.06) & (labels == 0)[:, None]
    return sparse.csr_array(np.hstack([frequent, rare]).astype(float)), labels


def classifier(**changes):
    """Return a small model of such bags."""
    small = {"n_features_to_select": 30, "random_state": 0, "max_iter": 20, "n_stages": 8}
    return thresher.ThresherClassifier(**{**small, **changes})


def idf(rows):
    """Return what columns are multiplied by."""
    counts = (rows != 0).sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.where(counts > 0, np.log(1 + rows.shape[0] / counts), 0.0)


@pytest.fixture(scope="module")
def some():
    return bags()


@pytest.fixture(scope="module")
def model(some):
    return classifier().fit(*some)


@pytest.fixture
def asked(monkeypatch):
    """Return what is asked of held-out rows."""
    answers = []

    def ask(*words):
        answers.append(real(*words))
        return answers[-1]

    real = rarity.lost_by
    monkeypatch.setattr(rarity, "lost_by", ask)
    return answers


def test_scales_are_the_logarithm_of_rarity(some):
    rows = sparse.csr_array(sparse.hstack([some[0], sparse.csr_array((300, 2))]))
    sizes = Sizes.in_rows(rows)
    scales = scales_by_rarity(sizes, rows.shape, None)
    assert_allclose(scales.spread(rows.shape[1]), idf(rows))
    twice = scales_by_rarity(sizes, rows.shape, scales)
    assert_allclose(twice.spread(rows.shape[1]), idf(rows) ** 2)


def test_rare_columns_count_more_where_they_tell_more(some, model, monkeypatch):
    rows, labels = bags(1000, seed=1)
    assert model.rare_columns_count_more_
    assert_allclose(model.column_scales_, idf(some[0]))
    monkeypatch.setattr(thresher.ThresherClassifier, "decisions", ALIKE)
    alike = classifier().fit(*some)
    assert not alike.rare_columns_count_more_
    assert (alike.column_scales_ == 1).all()
    assert model.score(rows, labels) > alike.score(rows, labels) + 0.05


def test_it_is_a_model_of_columns_so_multiplied(some, model):
    rows, labels = some
    by_hand = sparse.csr_array(rows @ sparse.diags(idf(rows)))
    other = thresher.ThresherClassifier(**model.get_params())
    other.decisions = ALIKE
    other.fit(by_hand, labels)
    assert_array_equal(model.get_support(), other.get_support())
    assert_allclose(model.decision_function(rows), other.decision_function(by_hand), rtol=1e-4)
    lengths = np.sqrt((by_hand**2).sum(axis=1))
    margins = rows @ model.coef_[0] / lengths + model.intercept_
    assert_allclose(model.decision_function(rows), margins)


def test_columns_stay_as_they_are_where_frequent_ones_tell(asked):
    rng = np.random.default_rng(2)
    frequent, rare = rng.random((300, 20)) < 0.4, rng.random((300, 400)) < 0.02
    rows = sparse.csr_array(np.hstack([frequent, rare]).astype(float))
    labels = (frequent[:, :10].sum(axis=1) > frequent[:, 10:].sum(axis=1)).astype(int)
    model = classifier(n_features_to_select=20).fit(rows, labels)
    ((saved, _),) = asked
    assert saved < 0
    assert not model.rare_columns_count_more_
    assert (model.column_scales_ == 1).all()


def test_nobody_is_asked_without_need(some, asked, monkeypatch):
    rows, labels = some
    assert not classifier(normalize=False).fit(rows, labels).rare_columns_count_more_
    assert not classifier().fit(-rows, labels).rare_columns_count_more_
    assert not classifier().fit(rows[:80], labels[:80]).rare_columns_count_more_
    monkeypatch.setattr(rarity, "MANY_ROWS", 300)
    assert not classifier().fit(rows, labels).rare_columns_count_more_
    monkeypatch.setattr(rarity, "MANY_ROWS", 301)
    monkeypatch.setattr(rarity, "WIDEST", 0.5)
    assert not classifier().fit(rows, labels).rare_columns_count_more_
    assert not asked


def test_weighted_columns_are_told(some, asked):
    rows, labels = some
    marks = sparse.csr_array(rows != 0).astype(float)
    sizes = Sizes.in_rows(marks)
    weighted = scales_by_rarity(sizes, marks.shape, None).scaled(marks)
    assert not are_weighted(Sizes.in_rows(rows), 300)
    assert not are_weighted(sizes, 300)
    assert are_weighted(Sizes.in_rows(weighted), 300)
    assert are_weighted(Sizes.in_rows(rows[:2]), 2)  # of which nothing can be told
    assert not classifier().fit(weighted, labels).rare_columns_count_more_
    assert not asked


def test_several_classes_are_asked_together(some):
    rows, labels = some
    three = np.where(np.arange(300) % 3 == 0, 2, labels)
    model = classifier().fit(rows, three)
    assert model.coef_.shape[0] == 3
    assert model.rare_columns_count_more_


def test_units_are_told_apart_from_rarity(some, capsys):
    rows, labels = some
    mixed = sparse.csr_array(rows @ sparse.diags(np.where(np.arange(240) == 5, 1e6, 1.0)))
    model = classifier(verbose=1).fit(mixed, labels)
    said = capsys.readouterr().out
    assert "1 column was brought to the unit of the others: x5" in said
    assert "fewer rows have them" in said
    assert_allclose(model.column_scales_[4], idf(rows)[4])
    assert_allclose(model.column_scales_[5], 1e-6 * idf(rows)[5])


def test_threads_do_not_matter(some, model):
    assert_array_equal(classifier(n_jobs=2).fit(*some).coef_, model.coef_)


def test_files_and_other_programs_know(some, model, tmp_path):
    rows, _ = some
    model.save(tmp_path / "model.thresher")
    loaded = thresher.load(tmp_path / "model.thresher")
    assert loaded.rare_columns_count_more_
    assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))
    assert_allclose(model.to_sklearn().decision_function(rows), model.decision_function(rows))


def test_short_streams_ask_all_their_rows(some):
    rows, labels = some
    chunks = ((rows[first : first + 60], labels[first : first + 60]) for first in range(0, 300, 60))
    stream = classifier(max_iter=1).fit_stream(chunks)
    assert stream.rare_columns_count_more_
    more = sparse.csr_array(sparse.hstack([rows[:50], sparse.csr_array(np.ones((50, 1)))]))
    assert np.isfinite(stream.decision_function(more[:, :240])).all()


def test_whoever_interrupts_the_question_loses_nothing(some, model, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    before = model.coef_
    monkeypatch.setattr(rarity, "held_out_losses", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(some[0][:200], some[1][:200])
    assert_array_equal(model.coef_, before)
    assert model.rare_columns_count_more_


def test_who_trains_is_told(some, tmp_path):
    dump_svmlight_file(*some, str(tmp_path / "rows.svm"))
    words = "-o", tmp_path / "model", "--n-features-to-select", 30
    trained = run("train", tmp_path / "rows.svm", *words)
    assert "Rarity: Columns count for more the fewer rows have them" in trained.stderr
