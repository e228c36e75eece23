"""Permutations: each safe once made, none made twice, sets kept only as their overlaps."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from small_study import LINE, SCOPE, WANT, cells, run_all

from experiments import fitting, permutations, report
from experiments.fitting import fit_and_judge
from experiments.judge import unpack
from experiments.lines import chosen_params
from experiments.overlaps import overlaps_of, square, triangle
from experiments.permutations import ORACLE, Permutations, gather, missing, permutations_of, piece
from experiments.plan import first_wave, second_wave
from experiments.store import Store
from experiments.summary import summarize
from thresher.stability import mean_pairwise_kappa, nogueira_stability


def left(folder, scope=SCOPE):
    """Return what a run would still do, as lines and seeds."""
    store = Store(folder)
    todo = [*first_wave(WANT, scope, store), *second_wave(WANT, scope, store)]
    return [(task.line, task.seeds) for task in todo]


@pytest.fixture
def line(study):
    """The permutations of one line of a finished study, and its store."""
    assert run_all(study) == []
    store = Store(study)
    return permutations_of("final", LINE, chosen_params(LINE, SCOPE, store), SCOPE), store


@pytest.fixture
def fits(monkeypatch):
    """The seeds fitted from now on."""
    seeds = []

    def fit(*args):
        seeds.append(args[-1])
        return fit_and_judge(*args)

    monkeypatch.setattr(permutations, "fit_and_judge", fit)
    return seeds


def test_overlaps_are_the_sizes_of_intersections():
    supports = [np.array(each, dtype=int) for each in ([1, 3, 9], [], [3, 9, 12], [7])]
    overlaps = overlaps_of(supports)
    assert overlaps.tolist() == [[len({*a} & {*b}) for b in supports] for a in supports]
    assert triangle(overlaps) == [3, 0, 2, 0, 0, 0, 0, 3, 0, 1]
    assert square(triangle(overlaps)).tolist() == overlaps.tolist()
    assert overlaps_of([supports[1]] * 2).tolist() == [[0, 0], [0, 0]]


def test_a_line_is_gathered_from_its_pieces(line):
    those, store = line
    pieces = [piece(those, seed, store) for seed in those.seeds]
    cell = store.read(those.key, those.recipe)
    assert cell["seeds"] == [0, 1, 2]
    for name in ("error", "nonzero", "percent", "seconds"):
        assert cell[name] == [each[name] for each in pieces]
    assert "support" not in cell
    masks = np.zeros((3, 300), dtype=bool)
    for mask, each in zip(masks, pieces, strict=True):
        mask[unpack(each["support"])] = True
    summary = summarize(store, LINE, 300)
    assert summary.kappa == pytest.approx(mean_pairwise_kappa(masks))
    assert summary.stability == pytest.approx(nogueira_stability(masks))


def test_a_clone_without_pieces_makes_nothing(line, fits, tmp_path, monkeypatch):
    _, store = line
    before = report.write(store, SCOPE, ("tiny",), tmp_path / "before").read_text(encoding="utf-8")
    shutil.rmtree(store.folder / "pieces")
    kept = {path: path.read_bytes() for path in cells(store.folder)}
    monkeypatch.setattr(fitting, "load", None)
    assert left(store.folder) == []
    assert run_all(store.folder) == []
    assert fits == []
    assert {path: path.read_bytes() for path in cells(store.folder)} == kept
    after = report.write(store, SCOPE, ("tiny",), tmp_path / "after").read_text(encoding="utf-8")
    assert after == before


def test_half_a_line_goes_on(line, fits):
    those, store = line
    before = store.read(those.key)
    store.path(those.key).unlink()
    store.path(those.piece_key(1)).unlink()
    store.path(those.piece_key(2)).write_text("{")
    assert left(store.folder) == [(LINE, (1, 2))]
    assert summarize(store, LINE, 300) is None
    assert run_all(store.folder) == []
    assert fits == [1, 2]
    assert {**store.read(those.key), "seconds": []} == {**before, "seconds": []}


def test_a_line_whose_pieces_are_there_is_only_gathered(line, fits):
    those, store = line
    before = store.path(those.key).read_bytes()
    store.path(those.key).write_bytes(before[:-9])
    assert left(store.folder) == [(LINE, ())]
    assert run_all(store.folder) == []
    assert fits == []
    assert store.path(those.key).read_bytes() == before


def test_a_permutation_is_safe_once_made(line, monkeypatch):
    those, store = line
    shutil.rmtree(store.folder / "pieces")
    store.path(those.key).unlink()

    def stopped(*args):
        if args[-1] == 2:
            raise KeyboardInterrupt
        return fit_and_judge(*args)

    monkeypatch.setattr(permutations, "fit_and_judge", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_all(store.folder)
    assert missing(those, store) == [2]
    gather(those, store)
    assert store.read(those.key) is None


def test_more_permutations_keep_the_old_ones(line, fits):
    _, store = line
    more = replace(SCOPE, permutations={"paper": 4, "extension": 1})
    assert {seeds for _, seeds in left(store.folder, more)} == {(3,)}
    assert run_all(store.folder, more) == []
    assert set(fits) == {3}
    assert summarize(store, LINE, 300).permutations == 4


def test_another_setting_is_another_line(line):
    those, store = line
    other = replace(those, params={**those.params, "alpha": 0.5})
    assert missing(other, store) == [0, 1, 2]
    assert other.recipe != those.recipe


def test_the_oracle_keeps_no_sets(study):
    store = Store(study)
    params = {"alpha": 1e-3, "max_iter": 20}
    those = Permutations(ORACLE, LINE, params, range(2))
    made = [piece(those, seed, store) for seed in those.seeds]
    gather(those, store)
    cell = store.read(those.key, those.recipe)
    assert cell["max_iter"] == [each["max_iter"] for each in made]
    assert set(cell["max_iter"]) <= {5, 10, 20}
    assert not {"support", "overlaps"} & cell.keys()
    store.write(("choice", *LINE), "r", {"params": params})
    assert np.isnan(summarize(store, LINE, 300, ORACLE).kappa)
