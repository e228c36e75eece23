"""The bar's command on a tiny set: what is left, made once, forgotten on demand, and a page."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.claim import cli, matching, tasks
from experiments.claim.bar import bar
from experiments.claim.rivals import RIVALS
from experiments.claim.sizes import choosing_sizes, share_of, shares, sizes
from experiments.store import Store
from experiments.tables import markdown

JUDGES = ("liblinear-l1", "l1-refit")
WORDS = [word for name in JUDGES for word in ("--method", name)]


@pytest.fixture
def only_tiny(tiny, monkeypatch, tmp_path):
    """The claim about the tiny set, in folders of its own; one command away."""
    for name, kind in tasks.KINDS.items():
        # the planted data are large, and nothing else is asked of these judges
        sets = ("tiny",) if name in ("matched", "halves") else ()
        monkeypatch.setitem(tasks.KINDS, name, kind._replace(sets=sets))
    monkeypatch.setattr(cli, "SETS", ("tiny",))
    monkeypatch.setattr("experiments.claim.tables.SETS", ("tiny",))
    monkeypatch.setattr("experiments.claim.tables.TITLES", ["Tiny"])
    monkeypatch.setattr("experiments.claim.pictures.SETS", ("tiny",))

    def command(*words):
        folders = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
        return cli.main([*words, *folders])

    return command


def test_sizes_are_below_the_number_of_columns_and_each_once(tiny):
    assert sizes("tiny") == [2, 3, 6, 50, 100, 200]
    assert shares("tiny") == [2, 3, 6]
    assert choosing_sizes("tiny") == [3, 6, 100]
    assert share_of(123, 0.001) == 1


def test_the_command_measures_once_and_writes_the_page(only_tiny, tmp_path, monkeypatch, capsys):
    assert only_tiny(*WORDS) == 0
    store = Store(tmp_path / "results")
    made = {path.relative_to(store.folder).as_posix() for path in store.folder.rglob("*.json")}
    assert {f"matched/tiny/{name}.json" for name in JUDGES} <= made
    assert "halves/tiny/liblinear-l1.json" in made
    assert "halves/tiny/l1-refit.json" not in made
    page = (tmp_path / "docs" / "claim.md").read_text(encoding="utf-8")
    assert "geometric mean" in capsys.readouterr().out
    assert "liblinear, l1" in page
    assert "$" not in page
    assert (tmp_path / "docs" / "claim" / "errors.svg").exists()

    again = tasks.KINDS["matched"]._replace(make=lambda *_: pytest.fail("measured again"))
    monkeypatch.setitem(tasks.KINDS, "matched", again)
    assert only_tiny(*WORDS) == 0


def test_a_method_is_measured_again_on_demand_and_no_other(only_tiny, tmp_path, monkeypatch):
    measured = []

    def match(dataset, rival, store):
        measured.append(rival.name)
        return {"points": [], "seconds": 0.0}

    kind = tasks.KINDS["matched"]._replace(make=match)
    monkeypatch.setitem(tasks.KINDS, "matched", kind)
    monkeypatch.setitem(tasks.KINDS, "halves", tasks.KINDS["halves"]._replace(methods=()))
    only_tiny(*WORDS)
    assert sorted(measured) == sorted(JUDGES)
    measured.clear()
    only_tiny(*WORDS, "--again", "l1-refit")
    assert measured == ["l1-refit"]


def test_other_settings_make_a_cell_stale(tiny, monkeypatch):
    key = ("matched", "tiny", "ftrl")
    before = tasks.recipe_of(key)
    monkeypatch.setitem(tasks.EVERYBODY, "ftrl", replace(RIVALS["ftrl"], params={"max_iter": 5}))
    assert tasks.recipe_of(key) != before


def test_halves_of_a_halving_share_no_row():
    y = np.array([1, -1] * 20)
    halves = matching.halves_of(y)
    assert len(halves) == 2 * matching.HALVINGS
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*first, *second]) == list(range(40))
        assert abs(int(y[first].sum())) <= 2


def test_every_rival_can_be_made():
    for rival in RIVALS.values():
        assert rival.sizer(rival.settings[0]) is not None
        assert len(rival.seeds) == (1 if rival.batch else 3 if rival.far_behind else 10)


def test_an_empty_store_makes_a_page_of_dashes(tmp_path):
    rows = bar(Store(tmp_path))
    assert {row.met for row in rows} == {"-"}
    assert markdown(["a"], []) == "| a |\n| --- |"


def test_only_cells_of_the_kinds_asked_for_are_made(only_tiny, tmp_path):
    assert only_tiny(*WORDS, "--kind", "halves") == 0
    made = {path.name for path in (tmp_path / "results").iterdir() if path.is_dir()}
    assert made == {"halves", "step"}  # which the halves' rivals take
    with pytest.raises(SystemExit):
        only_tiny(*WORDS, "--kind", "quarters")
