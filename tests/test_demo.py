"""The demonstration: data as declared, every classifier judged, text that lines up."""

import runpy
import sys
from dataclasses import replace

import numpy as np
import pytest

import thresher
from cases import NAMES
from thresher.demo import main, text
from thresher.demo.data import PROBE, QUICK, Band, Recipe, make_documents
from thresher.demo.run import CONTESTANTS, Demo, choose_settings, judge, make_demo, named_selection

TINY = Recipe(
    bands=(Band("rare", 2), Band("frequent", 20)),
    planted_per_band=2,
    n_rows=40,
    n_columns=30,
    probes_per_row=5,
)


def occurrences(X):
    return np.diff(X.tocsc().indptr)


@pytest.fixture(scope="module")
def documents():
    return make_documents(Recipe())


@pytest.fixture(scope="module")
def demo() -> Demo:
    return make_demo(TINY)


@pytest.fixture(scope="module")
def results(demo):  # tens of thousands of updates: not without the JIT
    return list(demo.results())


@pytest.mark.parametrize("part", ["X_train", "X_test"])
def test_planted_features_occur_as_often_as_their_band_says(documents, part):
    recipe, counts = Recipe(), occurrences(getattr(documents, part))
    for place, band in enumerate(recipe.bands):
        mine = counts[documents.band_of == place]
        assert mine.tolist() == [band.rows] * recipe.planted_per_band


def test_all_other_columns_are_probes_and_follow_zipf(documents):
    probes = np.sort(occurrences(documents.X_train)[documents.band_of == PROBE])[::-1]
    assert probes.size == 5000 - 48
    assert probes[0] == 1500  # no word is in more than half of the documents
    # Zipf: the word of rank 1000 is a tenth as frequent as that of rank 100
    assert probes[999] * 10 == pytest.approx(probes[99], rel=0.1)


def test_rows_have_unit_length_and_classes_are_balanced(documents):
    for X, y in (
        (documents.X_train, documents.y_train),
        (documents.X_test, documents.y_test),
    ):
        np.testing.assert_allclose((X * X).sum(axis=1), 1.0)
        assert set(y) == {-1, 1}
        assert abs(y.mean()) < 0.1


def test_every_strong_band_argues_for_both_classes(documents):
    for place in (2, 3):
        columns = documents.X_train[:, documents.band_of == place]
        assert sorted(np.sign(columns.T @ documents.y_train)) == [-1] * 6 + [1] * 6


def test_probes_say_nothing(documents):
    # under independence the mean label over d rows has standard deviation 1/sqrt(d)
    counts = occurrences(documents.X_train)
    frequent_probes = (documents.band_of == PROBE) & (counts >= 100)
    present = documents.X_train[:, frequent_probes] != 0
    z = (present.T @ documents.y_train) / np.sqrt(counts[frequent_probes])
    assert z.std() == pytest.approx(1.0, abs=0.2)


def test_names_tell_the_truth(documents):
    assert len(set(documents.names)) == 5000
    for name, band in zip(documents.names, documents.band_of, strict=True):
        kind = "probe" if band == PROBE else f"planted-{Recipe().bands[band].name}"
        assert name.rpartition("-")[0] == kind


def test_the_same_seed_makes_the_same_data():
    one, same, other = (make_documents(Recipe(seed=seed, **QUICK)) for seed in (3, 3, 4))
    assert (one.X_train != same.X_train).nnz == 0
    assert np.array_equal(one.y_test, same.y_test)
    assert one.names == same.names
    assert (one.X_train != other.X_train).nnz > 0


@pytest.mark.jit
def test_each_classifier_has_one_row(results):
    assert sorted(result.name for result in results) == sorted(NAMES)
    assert results[0].name == "ThresherClassifier"  # whose selection table is shown


def test_everybody_chooses_among_as_many_settings():
    numbers = {len(values) for _, grid in CONTESTANTS for values in grid.values()}
    assert numbers == {7}


@pytest.mark.jit
def test_a_result_is_what_the_model_is(demo, results):
    for result in results:
        support = result.model.get_support()
        error = np.mean(result.model.predict(demo.documents.X_test) != demo.documents.y_test)
        assert result.test_error == pytest.approx(error)
        assert result.n_nonzero == support.sum() == sum(result.found) + result.n_false
        assert result.n_false == support[demo.documents.band_of == PROBE].sum()
        assert result.seconds > 0
    assert results[-1].found == (2, 2)  # plain SGD leaves nothing out


def test_settings_never_depend_on_the_test_rows(demo):
    estimator, grid = thresher.FTRLClassifier(random_state=0), {"l1": (0.1, 1.0, 10.0)}
    upside_down = replace(demo.documents, y_test=-demo.documents.y_test, X_test=None)
    chosen = choose_settings(estimator, grid, demo.documents, seed=0)
    assert chosen == choose_settings(estimator, grid, upside_down, seed=0)


def test_of_settings_that_are_as_good_the_smaller_model_is_chosen(demo):
    # so strong a penalty leaves nothing in either case, and the first of equals is taken
    estimator = thresher.FTRLClassifier(random_state=0)
    chosen = choose_settings(estimator, {"l1": (1e6, 1e7)}, demo.documents, seed=0)
    assert chosen == {"l1": 1e6}


def test_an_empty_model_finds_nothing(demo):
    result = judge(thresher.FTRLClassifier(l1=1e6), {}, TINY, demo.documents)
    assert (result.n_nonzero, result.found, result.n_false) == (0, (0, 0), 0)


@pytest.mark.jit
def test_the_selection_table_has_names(demo, results):
    table = named_selection(results[0], demo.documents)
    selected = set(table.feature[table.weight != 0])
    support = results[0].model.get_support()
    assert selected == {demo.documents.names[column] for column in np.flatnonzero(support)}


@pytest.mark.jit
def test_columns_of_text_line_up(demo, results):
    heading = text.heading(TINY).splitlines()
    ends = [heading[1].index(word) + len(word) for word in ("error", "nonzero", "all", "false")]
    for result in results:
        line = text.line(result, TINY)
        assert all(line[end - 1] != " " and line[end] == " " for end in ends)
    table = text.selection(named_selection(results[0], demo.documents), 5)
    assert len({len(line) for line in table.splitlines()[:6]}) == 1


def test_without_pandas_the_text_says_what_to_install():
    assert "thresher[pandas]" in text.selection(None, 5)


@pytest.mark.jit
def test_the_command_prints_all_of_it(monkeypatch, capsys):
    smaller = {**QUICK, "n_rows": 40, "n_columns": 60, "bands": TINY.bands}
    monkeypatch.setattr("thresher.demo.command.QUICK", smaller)
    main(["--quick", "--seed", "1"])
    printed = capsys.readouterr().out
    for name in NAMES:
        assert name.removesuffix("Classifier") in printed
    assert "selection table" in printed
    assert "planted-frequent-" in printed


def test_the_module_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["demo", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("thresher.demo", run_name="__main__")
    assert "--quick" in capsys.readouterr().out
