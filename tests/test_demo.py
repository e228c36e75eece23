"""The demonstration: data as declared, every classifier in it, text that lines up."""

import numpy as np
import pytest

from examples import demo
from thresher import demo as small
from thresher.demo import NOISE, Band, Recipe, make_documents

TINY = Recipe(
    (Band("rare", 4, 3.0), Band("frequent", 90, 3.0)),
    words_per_band=4,
    n_rows=180,
    n_columns=60,
    noise_per_row=8,
)


@pytest.fixture(scope="module")
def documents():
    return make_documents(Recipe())


def occurrences(rows):
    return np.bincount(rows.indices, minlength=rows.shape[1])


def test_planted_words_occur_as_often_as_declared(documents):
    for place, band in enumerate(Recipe().bands):
        columns = documents.band_of == place
        assert columns.sum() == 12
        assert set(occurrences(documents.X_train)[columns]) == {band.rows}
        assert set(occurrences(documents.X_test)[columns]) == {band.rows}
    assert documents.found(np.arange(5000)) == [12, 12, 12, 12]


def test_planted_words_tell_the_class_and_others_do_not(documents):
    counts = occurrences(documents.X_train)
    z = ((documents.X_train != 0).T @ documents.y_train) / np.sqrt(np.maximum(counts, 1))
    frequent = counts >= 100
    assert z[frequent & (documents.band_of == NOISE)].std() == pytest.approx(1.0, abs=0.2)
    planted = z[documents.band_of == 3]
    assert np.abs(planted).min() > 5
    assert (planted > 0).sum() == 6
    assert np.abs(documents.X_train.power(2).sum(axis=1) - 1).max() < 1e-12


def test_names_give_the_truth_away_and_a_seed_makes_the_same_data(documents):
    for name, band in zip(documents.names, documents.band_of, strict=True):
        kind = "noise" if band == NOISE else Recipe().bands[band].name
        assert name.rpartition("-")[0] == kind
    assert len(set(documents.names)) == 5000
    one, same = (make_documents(TINY) for _ in range(2))
    assert (one.X_train != same.X_train).nnz == 0
    assert np.array_equal(one.y_test, same.y_test)
    assert 0 < one.least_error < 0.5


@pytest.mark.jit
def test_the_example_has_a_row_for_every_classifier(capsys):
    demo.main([], TINY)
    lines = capsys.readouterr().out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("---"))
    rows = lines[start + 1 : start + 1 + len(demo.methods())]
    for method, row in zip(demo.methods(), rows, strict=True):
        assert row.startswith(method.name)
    ends = [lines[start - 1].index(word) + len(word) for word in ("error", "features", "noise")]
    assert all(row[end - 1] != " " and row[end : end + 1] == " " for end in ends for row in rows)
    assert "4         4    8" in next(row for row in rows if row.startswith("PlainSGD"))


@pytest.mark.jit
def test_settings_do_not_depend_on_the_test_rows():
    data, method = make_documents(TINY), demo.methods()[-2]
    blind = data._replace(X_test=None, y_test=None)
    assert {len(method.values) for method in demo.methods()} == {0, 7}
    assert demo.choose(method, blind, 0) == demo.choose(method, data, 0)


@pytest.mark.jit
def test_the_package_shows_a_small_part(monkeypatch, capsys):
    monkeypatch.setattr(small, "QUICK", TINY)
    small.main(quick=True)
    printed = capsys.readouterr().out
    assert "of 4 frequent words (90 documents)" in printed
    assert "true weights" in printed
