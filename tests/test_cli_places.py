"""No command replaces what it reads, and what cannot be written is told before any work."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import thresher
from commands import run
from kill_training import write_rows
from thresher.cli import places
from thresher.cli.failing import BAD_MODEL, NO_OUTPUT
from thresher.estimators.storing import saving


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with rows, a model of them by an ending that export knows, and shards."""
    monkeypatch.chdir(tmp_path)
    write_rows("rows.svm", n_rows=60, n_columns=40)
    Path("link.svm").symlink_to("rows.svm")
    train = ("train", "rows.svm", "-o", "model.csv", "--method", "sgd", "--max-iter", "1")
    assert run(*train).exit_code == 0
    assert run("convert", "rows.svm", "-o", "rows.shards").exit_code == 0
    return tmp_path


def contents(folder):
    """Return the bytes of all files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train rows.svm -o rows.svm", "-o would replace it"),
        ("train rows.svm -o link.svm", "-o would replace it"),
        ("train link.svm -o ./rows.svm", "-o would replace it"),
        ("train rows.svm -o m --checkpoint rows.svm", "--checkpoint would replace it"),
        ("train rows.svm -o m --checkpoint ./m", "-o and --checkpoint both name"),
        ("train rows.shards -o rows.shards/index.json", "lies in"),
        ("train rows.svm -o rows.svm.shards", "is where rows are kept"),
        ("train rows.svm -o m --checkpoint ./rows.svm.shards", "is where rows are kept"),
        ("predict model.csv rows.svm -o rows.svm", "-o would replace it"),
        ("predict model.csv rows.svm -o model.csv", "-o would replace it"),
        ("report model.csv -o model.csv", "-o would replace it"),
        ("export model.csv -o model.csv", "-o would replace it"),
        ("convert rows.svm -o rows.svm --force", "-o would replace it"),
        ("convert rows.shards -o rows.shards --force", "-o would replace it"),
        ("convert rows.shards/index.json -o rows.shards --force", "would be replaced"),
        ("convert rows.svm -o -", "Shards are a folder"),
        ("bench --from rows.svm --page rows.svm", "--page would replace it"),
        ("bench --data rows.svm --save a --chart a", "--save and --chart both name a"),
    ],
)
def test_what_is_read_is_not_replaced(folder, words, message):
    before = contents(folder)
    result = run(*words.split())
    assert (result.exit_code, message in result.stderr) == (NO_OUTPUT, True), result.output
    assert contents(folder) == before


def test_a_file_that_is_standard_input_is_not_replaced(folder):
    before = contents(folder)
    words = [sys.executable, "-m", "thresher", "predict", "model.csv", "-", "-o", "rows.svm"]
    with open("rows.svm", "rb") as stdin:
        done = subprocess.run(words, stdin=stdin, capture_output=True, text=True, check=False)
    assert (done.returncode, "-o would replace it" in done.stderr) == (NO_OUTPUT, True)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("path", "message"), [("no/m", "there is no folder"), (".", "is a folder: name a file")]
)
@pytest.mark.parametrize("option", ["-o", "--checkpoint"])
def test_what_cannot_be_written_is_told_before_anything_is_read(folder, option, path, message):
    words = {"-o": "m", option: path}
    result = run("train", "none.svm", *(word for pair in words.items() for word in pair))
    assert (result.exit_code, message in result.stderr) == (NO_OUTPUT, True)


@pytest.mark.parametrize("protected", ["m", "."])
def test_what_is_write_protected_is_told_before_anything_is_read(folder, protected, monkeypatch):
    Path("m").write_text("old")
    allowed, shut = os.access, os.path.realpath(protected)

    def access(path, mode):
        """Root may write everywhere."""
        return allowed(path, mode) and (not mode & os.W_OK or path != shut)

    monkeypatch.setattr(places.os, "access", access)
    result = run("train", "none.svm", "-o", "m")
    assert (result.exit_code, "write-protected" in result.stderr) == (NO_OUTPUT, True)
    assert run("train", "rows.svm", "-o", "/dev/null", "--method", "sgd").exit_code == 0


def test_a_model_goes_to_devices_and_to_standard_output(folder):
    words = ("train", "rows.svm", "--method", "sgd", "--max-iter", "1", "-o")
    assert run(*words, os.devnull).exit_code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    result = run(*words, "-")
    assert result.stdout_bytes == Path("model.csv").read_bytes()
    assert "Wrote the model to standard output" in result.stderr
    assert not Path("-").exists()
    assert saving.bytes_of(thresher.load("model.csv")) == Path("model.csv").read_bytes()


def test_terminals_and_closed_streams_get_no_model(folder, monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(places.sys, "stdout", Terminal())
    with pytest.raises(places.CannotWrite, match="A terminal shows no models"):
        places.refuse_unwritable("-")
    monkeypatch.setattr(places.sys, "stdout", None)
    with pytest.raises(places.CannotWrite, match="Standard output is closed"):
        places.refuse_unwritable("-")


def test_a_model_is_not_read_from_standard_input(folder):
    result = run("inspect", "-")
    assert (result.exit_code, "name its file" in result.stderr) == (BAD_MODEL, True)


def test_a_model_that_may_not_be_read_is_a_model_that_cannot_be_used(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK)
    monkeypatch.setattr("thresher.files.container.open", refuse, raising=False)
    result = run("inspect", "model.csv")
    assert (result.exit_code, "not allowed to read" in result.stderr) == (BAD_MODEL, True)
    monkeypatch.setattr(Path, "exists", refuse)
    result = run("inspect", "model.csv")
    assert (result.exit_code, "cannot be read" in result.stderr) == (BAD_MODEL, True)


@pytest.mark.parametrize("cache", ["--cache", "--no-cache"])
@pytest.mark.parametrize("words", ["-o rows.svm.shards/m", "-o m --checkpoint rows.svm.shards/c"])
def test_nothing_is_written_among_rows_that_are_kept(folder, words, cache):
    assert run("train", "rows.svm", "-o", "m.thresher", "--method", "sgd").exit_code == 0
    before = contents(folder)
    result = run("train", "rows.svm", *words.split(), cache)
    assert (result.exit_code, "would be deleted" in result.stderr) == (NO_OUTPUT, True)
    assert contents(folder) == before


def test_a_folder_by_that_name_that_holds_no_rows_may_be_written_to(folder):
    Path("rows.svm.shards").mkdir()
    words = ("--method", "sgd", "--max-iter", "1")
    assert run("train", "rows.svm", "-o", "rows.svm.shards/m", *words).exit_code == 0
    assert run("train", "link.svm", "-o", "link.svm.shards", *words, "--no-cache").exit_code == 0
