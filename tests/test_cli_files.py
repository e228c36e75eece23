"""Output goes whole or not at all and in no file's place; streams and signals of a shell."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import thresher
from commands import draw, forked, run, shell, start, write_svmlight
from thresher.cli import files, screen

FTRL = ("--method", "ftrl", "--l1", ".1", "--max-iter", "2")
TRAIN = ("train", "rows.svm", "-o", "model", *FTRL)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with rows, a link to them, a model, and other files."""
    monkeypatch.chdir(tmp_path)
    write_svmlight(Path("rows.svm"), draw())
    Path("link.svm").symlink_to("rows.svm")
    run(*TRAIN, "--quiet")
    Path("model").rename("model.csv")
    for name in ("there", "there.csv"):
        Path(name).write_text("old")
    return tmp_path


def contents():
    """Return the bytes of all files."""
    return {path: path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()}


NO_INPUT = [
    ("train rows.svm -o rows.svm", "-o would replace it"),
    ("train rows.svm -o link.svm", "-o would replace it"),
    ("train link.svm -o ./rows.svm", "-o would replace it"),
    ("train rows.svm -o m --checkpoint rows.svm", "--checkpoint would replace it"),
    ("train rows.svm -o m --checkpoint ./m", "-o and --checkpoint both name"),
    ("train rows.svm -o there --test there", "-o would replace it"),
    ("train rows.svm -i model.csv -o model.csv", "-o would replace it"),
    ("predict model.csv rows.svm -o rows.svm", "-o would replace it"),
    ("predict model.csv rows.svm -o model.csv", "-o would replace it"),
    ("report model.csv -o model.csv", "-o would replace it"),
    ("report model.csv -o there --test there", "-o would replace it"),
    ("export model.csv -o model.csv", "-o would replace it"),
    ("convert rows.svm -o link.svm", "-o would replace it"),
]


@pytest.mark.parametrize(("words", "message"), NO_INPUT)
def test_what_is_read_is_never_replaced(words, message):
    before = contents()
    for force in ("", " --force"):
        assert message in run(words + force, code=5).stderr
        assert contents() == before


OUTPUTS = [
    ("train rows.svm -o {} --method ftrl", "there"),
    ("train rows.svm -o m --method ftrl --checkpoint {}", "there"),
    ("predict model.csv rows.svm -o {}", "there"),
    ("export model.csv -o {}", "there.csv"),
    ("report model.csv -o {}", "there"),
    ("convert rows.svm -o {}", "there"),
]


@pytest.mark.parametrize(("words", "name"), OUTPUTS)
def test_a_file_that_is_there_is_replaced_only_by_force(words, name):
    before = contents()
    for path, message in (
        (f"no/{name}", "does not exist"),
        (".", "a directory"),
        (name, "replace it with --force"),
    ):  # before any work
        line = words.replace("rows.svm", "none.svm").format(path)
        assert message in run(line, code=5).stderr
    assert contents() == before
    line = words.format(name)
    said = run(line, code=5).stderr
    assert f"Error: {name} exists already: choose another name for -" in said
    assert contents() == before
    run(line, "--force")
    assert not Path(name).exists() or Path(name).read_text("latin1") != "old"


def test_a_model_goes_to_standard_output_and_through_pipes():
    result = run("train", "rows.svm", "-o", "-", *FTRL)
    assert result.data == Path("model.csv").read_bytes()
    assert "Wrote the model: " in result.stderr
    for words in (["train rows.svm", *FTRL], ["predict model.csv rows.svm"]):
        run(*words, "-o", os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        run("train", "rows.svm", *FTRL, "-o", "pipe")
        assert reader.communicate()[0] == result.data


def test_terminals_and_closed_streams_get_no_model(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(files.sys, "stdout", Terminal())
    with pytest.raises(files.CannotWrite, match="A terminal cannot show models"):
        files.refuse_terminal("-")
    monkeypatch.setattr(files.sys, "stdout", None)
    with pytest.raises(files.CannotWrite, match="Standard output is closed"):
        files.check_outputs({"-o": "-"}, [])


PREDICT, LEARN = "predict model.csv rows.svm", "train rows.svm -o m --method ftrl"
FULL = pytest.param(
    PREDICT, {"stdout": "/dev/full"}, 5, "No space is left",
    marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "streams", "code", "message"),
    [
        ("predict model.csv - -o rows.svm", {"stdin": "rows.svm"}, 5, "-o would replace it"),
        (f"{PREDICT} --force", {"stdout": "rows.svm"}, 5, "- is what is read"),
        ("predict model.csv -", {"stdin": "closed"}, 3, "standard input: is closed"),
        (PREDICT, {"stdout": "closed"}, 5, "Standard output is closed"),
        (f"{LEARN} -o -", {"stdout": "closed"}, 5, "Standard output is closed"),
        (PREDICT, {"stdout": "out"}, 0, ""),
        (PREDICT, {"stdout": "out", "stderr": "closed", "stdin": "closed"}, 0, ""),
        (f"{PREDICT} -o out", {"stdout": "closed"}, 0, ""),
        (f"{LEARN} -o out", {"stderr": "closed"}, 0, ""),
        (f"{LEARN} -o out", {"stderr": "/dev/null"}, 0, ""),
        (f"{LEARN} -o out --quiet", {"stdout": "closed", "stdin": "closed"}, 0, ""),
        ("predict model.csv none.svm", {"stderr": "closed"}, 3, ""),
        ("--help", {"stderr": "closed"}, 0, ""),
        ("nothing", {"stderr": "closed"}, 2, ""),
        FULL,
        pytest.param(f"{LEARN} -o out", {"stderr": "/dev/full"}, 0, "", marks=FULL.marks),
    ],
)
def test_streams_may_be_closed_or_full_or_what_is_read(words, streams, code, message):
    before = contents()
    found, said = forked(*words.split(), **streams)
    assert (found, len(said.splitlines())) == (code, bool(message)), said
    assert message in said
    assert before.items() <= contents().items()
    if code == 0 and "out" in [*words.split(), *streams.values()]:
        assert Path("out").stat().st_size > 0


def test_a_reader_that_leaves_ends_it_quietly():
    Path("big.svm").write_text(Path("rows.svm").read_text() * 150)
    predict = "thresher predict model.csv big.svm --what margin 2>notes"
    line = f"{predict} | head -2; echo ${{PIPESTATUS[0]}}; cat notes"
    code, out, said = shell(line)
    assert (code, said) == (0, "")
    assert out.splitlines()[2:] == ["141"]
    said = shell("thresher train rows.svm -o m --method ftrl 2>&-; wc -c m; thresher train -o n")[2]
    assert "Name a file" in said
    assert len(Path("m").read_bytes()) > 500


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_at_any_moment_of_its_start(number, seconds):
    line = "train rows.svm -o m --method plain-sgd --tol none --max-iter 100000000"
    process = start(*line.split())
    time.sleep(seconds)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    # before there is a line of ours, Python or the system ends it
    assert process.returncode in (128 + number, -number)
    assert process.returncode < 0 or said.splitlines()[-1].startswith(("Interrupted.", "Stopped."))
    assert not Path("m").exists()
    assert not list(Path.cwd().glob(".*"))


def test_signals_that_were_ignored_stay_so():
    line = "trap '' INT; thresher train rows.svm -o m --method ftrl & kill -INT $!; wait $!"
    assert shell(line)[0] == 0
    assert thresher.load("m").n_iter_ > 0


# ------------------------------------------------------------------------------------ on a terminal


class Terminal:
    """A screen, which remembers what was written to it."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_a_bar_shows_what_is_done_and_notes_stand_above_it(monkeypatch):
    shown = terminal(monkeypatch)
    with screen.Progress("training") as bar:
        assert shown.text == ""
        bar.reach(1200, 0.5, ", pass 1")
        screen.say("A note\x07 [bold]with markup[/bold]")
        with screen.noting_warnings(False):
            screen.warnings.warn("careful", stacklevel=1)
        bar.reach(2500, 0.9)
    lines = shown.text.replace("\r", "\n").split("\n")
    assert any(r"A note\x07 [bold]with markup[/bold]" in line for line in lines)
    assert any("Warning: careful" in line for line in lines)
    assert not any("note" in line and "training" in line for line in lines)
    assert "1,200 rows" in shown.text
    assert "2,500 rows" in shown.text
    screen.say("afterwards")
    assert shown.text.endswith("afterwards\n")


def test_a_bar_shows_how_much_of_the_features_is_selected(monkeypatch):
    shares = []
    show = screen.Progress.show

    def note(self, text, share=None, doing=""):
        shares.extend([share] if doing == "selecting" else [])
        show(self, text, share, doing)

    terminal(monkeypatch)
    monkeypatch.setattr(screen.Progress, "show", note)
    for words in ("--cv 4", "--cv 3 --n-jobs 2 --method thresher-regressor"):
        shares.clear()
        run("train", "rows.svm", "-o", "model", "--force", *words.split())
        assert (shares[0], max(shares)) == (0, 1)
        assert len(set(shares)) == len(shares) > 10


@pytest.mark.parametrize("quiet", [True, False])
def test_there_is_no_bar_for_pipes_and_quiet_commands(monkeypatch, quiet):
    shown = terminal(monkeypatch)
    monkeypatch.setattr(Terminal, "isatty", lambda self: quiet)
    with screen.Progress("training", quiet) as bar:
        bar.reach(10)
        screen.say("a note", quiet)
    assert shown.text == ("" if quiet else "a note\n")


def test_notes_never_fail(monkeypatch):
    def fail(self, text):
        raise BrokenPipeError

    monkeypatch.setattr(Terminal, "write", fail)
    for stream in (Terminal(), None):
        monkeypatch.setattr(screen.sys, "stderr", stream)
        screen.say("nobody reads this")
