"""The whole way on a tiny set with the outside judges: plan, run, stop, resume, tables, page."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from experiments import cli, fitting, report, run, work
from experiments.errors import StudyError
from experiments.lock import alone
from experiments.methods import METHODS
from experiments.plan import Want, first_wave, second_wave
from experiments.progress import Progress, clock
from experiments.scope import QUICK
from experiments.store import Store
from experiments.summary import summarize
from experiments.tasks import Line

OUTSIDE = ("sklearn-sgd-l1", "liblinear-l1")
SCOPE = replace(
    QUICK, sets=("tiny",), permutations={"paper": 3, "extension": 1}, most_settings=2, ladder=5
)
WANT = Want(("tiny",), traces=())
LINE = Line("tiny", "row-l2", "sklearn-sgd-l1", "hinge")


@pytest.fixture
def study(tiny, monkeypatch, tmp_path):
    """Only the outside judges, only the tiny set, quietly."""
    for name in list(METHODS):
        if name not in OUTSIDE:
            monkeypatch.delitem(METHODS, name)
    return tmp_path / "results"


def quiet():
    return Progress(Console(file=io.StringIO()))


def test_a_run_makes_every_cell(study):
    assert run.run(WANT, SCOPE, study, 1, quiet()) == []
    store = Store(study)
    # two scalings; SGD with two losses, liblinear with one; three permutations each
    assert len(list(store.keys("choice"))) == 6
    assert len(list(store.keys("final"))) == 18
    assert len(list(store.keys("matched"))) == 2
    summary = summarize(store, LINE, 300)
    assert summary.permutations == 3
    assert 0 <= summary.error.mean < 50
    assert summary.seconds > 0


def test_nothing_is_left_after_a_run_and_only_the_lost_is_made_again(study, monkeypatch):
    run.run(WANT, SCOPE, study, 1, quiet())
    store = Store(study)
    assert first_wave(WANT, SCOPE, store) == second_wave(WANT, SCOPE, store) == []
    store.path(("final", *LINE, "001")).unlink()
    store.path(("final", *LINE, "002")).write_text("{")
    left = second_wave(WANT, SCOPE, store)
    assert [(task.line, task.seeds) for task in left] == [(LINE, (1, 2))]
    before = store.path(("final", *LINE, "000")).stat().st_mtime_ns
    run.run(WANT, SCOPE, study, 1, quiet())
    assert second_wave(WANT, SCOPE, store) == []
    assert store.path(("final", *LINE, "000")).stat().st_mtime_ns == before


def test_a_stopped_run_goes_on(study, monkeypatch):
    finished, real = [], work.perform

    def perform(task, scope, store):
        if len(finished) == 4:
            raise KeyboardInterrupt
        finished.append(task)
        real(task, scope, store)

    monkeypatch.setattr(run, "perform", perform)
    with pytest.raises(KeyboardInterrupt):
        run.run(WANT, SCOPE, study, 1, quiet())
    kept = len(list(Store(study).keys()))
    assert kept == 4
    monkeypatch.setattr(run, "perform", real)
    assert run.run(WANT, SCOPE, study, 1, quiet()) == []


def test_one_broken_method_does_not_cost_the_others(study, monkeypatch):
    broken = replace(METHODS["liblinear-l1"], make="experiments.judges:nothing_there")
    monkeypatch.setitem(METHODS, "liblinear-l1", broken)
    failures = run.run(WANT, SCOPE, study, 1, quiet())
    assert len(failures) == 2
    assert "liblinear-l1" in failures[0]
    assert len(list(Store(study).keys("final"))) == 12


def test_all_cores(study):
    """Fresh processes know only what is on disk: the registered sets are not the test's."""
    with pytest.raises(StudyError, match="no data set 'tiny'"):
        run.run(WANT, SCOPE, study, 2, quiet())


def test_two_runs_at_once_are_refused(study, capsys):
    study.mkdir()
    with alone(study / "full"):
        code = cli.main(["--results", str(study), "--table", "1", "--data", "dexter"])
    assert code == 2
    assert "another run is at work" in capsys.readouterr().err


def test_tables_and_page_come_from_stored_results(study, tmp_path, monkeypatch):
    run.run(WANT, SCOPE, study, 1, quiet())

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
