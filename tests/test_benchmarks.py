"""Benchmarks: what is compared runs in turn and agrees. No time is asserted here."""

import json
import platform

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import agreement, cases, rows, timing
from benchmarks.agreement import Disagreement, agreements
from benchmarks.timing import Figure, Setting

SMALL = Setting(small=True, rounds=1, notify=lambda _: None)
GOOD = Figure.of("pass", "letters", {"FTRL": 2.0, "SGD": 4.0})
QUICK = [name for name in cases.CASES if name not in ("stream", "start", "width", "fit")]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(rows, "SMALL_ROWS", 300)
    monkeypatch.setattr(cases, "SHORT_ROUNDS", 1)
    return rows.small_text()


def test_tasks_run_in_turn_and_the_first_round_does_not_count():
    calls = []
    seconds = timing.best_of(2, {name: lambda name=name: calls.append(name) for name in "ab"})
    assert calls == ["a", "b"] * 3
    assert set(seconds) == {"a", "b"}


def test_figures_survive_their_file_which_names_no_machine(tmp_path):
    path = tmp_path / "results.json"
    timing.save([GOOD], SMALL, path)
    assert timing.load(path) == [GOOD]
    record = json.loads(path.read_text("utf-8"))
    assert record["figures"][0]["ratio"] == GOOD.ratio == 0.5
    assert set(record["machine"]) == {"processor", "cores"}
    assert platform.node() not in path.read_text("utf-8")


def test_tables_line_up():
    lines = timing.table([GOOD, Figure.of("a longer name", "x", {"b": 1, "c": 300})])
    heads, _, *others = lines.splitlines()
    assert all(line[heads.index("ratio") - 1] == " " for line in others)
    assert "300" in lines


def test_the_recorded_figures_are_of_cases_that_exist():
    recorded = timing.load(command.RESULTS)
    assert {one.case.partition(",")[0] for one in recorded} >= {"fit", "pass", "predict", "read"}
    assert all(one.ratio > 0 for one in recorded)


def test_wider_rows_are_the_same_rows():
    data = rows.uniform(20, 50, per_row=5)
    wide = data.wide(500)
    assert wide.X.shape == (20, 500)
    np.testing.assert_array_equal(wide.X.toarray()[:, :50], data.X.toarray())


@pytest.mark.jit
@pytest.mark.parametrize("name", QUICK)
def test_each_case_runs(name, tiny):
    for figure in cases.CASES[name](SMALL):
        assert figure.ratio > 0
        assert list(figure.parts) in ([figure.ours, figure.theirs], [figure.theirs, figure.ours])


@pytest.mark.jit
def test_what_is_compared_agrees(tiny):
    checked = list(agreements(tiny))
    assert len(checked) == len(agreement.CHECKS)


def test_a_disagreement_is_an_error(monkeypatch, capsys):
    words = next(iter(agreement.CHECKS))
    monkeypatch.setattr(agreement, "CHECKS", {words: lambda _: False})
    with pytest.raises(Disagreement, match=words[:20]):
        list(agreements(rows.text(10, 10)))
    assert command.main(["--small", "--check"]) == 1
    assert words[:20] in capsys.readouterr().err


@pytest.mark.jit
def test_a_reader_that_errs_is_found_out(monkeypatch, tiny):
    read = agreement.read_all

    def wrong(path, **options):
        chunk = read(path, **options)
        chunk.values[0] += 1e-9
        return chunk

    monkeypatch.setattr(agreement, "read_all", wrong)
    assert agreement.readers_agree(tiny) is False
