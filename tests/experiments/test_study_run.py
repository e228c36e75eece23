"""The whole way on a tiny set with the outside judges: plan, run, stop, resume, tables, page."""

import io
from dataclasses import replace

import pytest
from rich.console import Console
from small_study import LINE, SCOPE, cells, run_all

from experiments import cli, fitting, report, run, work
from experiments.ablation import cli as ablation
from experiments.claim import cli as claim
from experiments.errors import StudyError
from experiments.lock import alone
from experiments.methods import METHODS
from experiments.progress import Progress
from experiments.store import Store
from experiments.summary import summarize
from thresher.cli.words import clock


def test_a_run_makes_every_cell(study):
    assert run_all(study) == []
    store = Store(study)
    # two scalings; SGD with two losses, liblinear with one; three permutations each
    assert len(cells(study, "choice")) == len(cells(study, "final")) == 6
    assert len(cells(study, "pieces")) == 18
    assert len(cells(study, "matched")) == 2
    summary = summarize(store, LINE, 300)
    assert summary.permutations == 3
    assert 0 <= summary.error.mean < 50
    assert summary.seconds > 0


def test_a_stopped_run_goes_on(study, monkeypatch):
    finished, real = [], work.perform

    def perform(task, scope, store):
        if len(finished) == 4:
            raise KeyboardInterrupt
        finished.append(task)
        real(task, scope, store)

    monkeypatch.setattr(run, "perform", perform)
    with pytest.raises(KeyboardInterrupt):
        run_all(study)
    assert len(cells(study)) == 4
    monkeypatch.setattr(run, "perform", real)
    assert run_all(study) == []


def test_one_broken_method_does_not_cost_the_others(study, monkeypatch):
    broken = replace(METHODS["liblinear-l1"], make="experiments.judges:nothing_there")
    monkeypatch.setitem(METHODS, "liblinear-l1", broken)
    failures = run_all(study)
    assert len(failures) == 2
    assert "liblinear-l1" in failures[0]
    assert len(cells(study, "final")) == 4


def test_all_cores(study):
    """Fresh processes know only what is on disk: the registered sets are not the test's."""
    with pytest.raises(StudyError, match="no data set 'tiny'"):
        run_all(study, jobs=2)


def test_two_runs_at_once_are_refused(study, capsys):
    study.mkdir()
    with alone(study / "full"):
        code = cli.main(["--results", str(study), "--table", "1", "--data", "dexter"])
    assert code == 2
    assert "another run is at work" in capsys.readouterr().err


def test_tables_and_page_come_from_stored_results(study, tmp_path, monkeypatch):
    run_all(study)

    def never(*args):
        raise AssertionError("a report measures nothing")

    monkeypatch.setattr(fitting, "fit", never)
    page = report.write(Store(study), SCOPE, ("tiny",), tmp_path / "docs")
    text = page.read_text(encoding="utf-8")
    assert report.table(2, Store(study), ("tiny",)) in text
    assert "| Method | Tiny |" in text
    assert "$" not in text
    again = report.write(Store(study), SCOPE, ("tiny",), tmp_path / "more")
    assert again.read_text(encoding="utf-8") == text
    drawn = sorted(path.name for path in (tmp_path / "docs" / "reproduction").iterdir())
    assert drawn == ["matched-tiny.svg"]
    for name in drawn:
        one, two = (tmp_path / each / "reproduction" / name for each in ("docs", "more"))
        assert one.read_bytes() == two.read_bytes()


def test_the_command_prints_a_table(study, capsys, monkeypatch):
    monkeypatch.setattr(cli, "QUICK", SCOPE)
    words = ["--quick", "--results", str(study), "--jobs", "1"]
    assert cli.main([*words, "--table", "2"]) == 0
    printed = capsys.readouterr().out
    assert report.table(2, Store(study / "quick"), ("tiny",)) == printed.rstrip("\n")
    assert cli.main([*words, "--table", "2", "--only-report"]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "dextre"], "no data set 'dextre'"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
    ],
)
def test_bad_words(words, message, capsys, tmp_path):
    assert cli.main(["--results", str(tmp_path), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("study", [claim, ablation])
def test_other_studies_need_a_process_too(study, capsys, tmp_path):
    folders = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    assert study.main([*folders, "--jobs", "0"]) == 2
    assert "--jobs must be 1 or more" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_progress_tells_the_time_left():
    text = io.StringIO()
    progress = Progress(Console(file=text, width=100))
    with progress.wave("fitting", 4.0):
        for _ in range(4):
            progress.advance(1.0)
    lines = text.getvalue().splitlines()
    assert lines[0].startswith("fitting: 25%")
    assert lines[-1] == "fitting: 100%, 0:00 left"
    assert [clock(5), clock(65), clock(3725)] == ["0:05", "1:05", "1:02:05"]
