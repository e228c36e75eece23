"""Help teaches, and is there at once; errors are one line and an exit code that means something."""

import errno
import os
import resource
import subprocess
import sys

import click
import pytest

from commands import run
from thresher.cli import failing
from thresher.cli.main import PLACES
from thresher.data.errors import DataError
from thresher.files.errors import FileError, ModelFileError

HEAVY = ("numba", "sklearn", "scipy", "numpy", "pandas", "rich")
COMMANDS = [name for name in PLACES if name != "reproduce"]  # which passes --help on


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_with_examples(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    _, found, examples = result.output.partition("Examples:")
    assert found
    assert f"thresher {name}" in examples


def test_the_help_lists_commands_and_exit_codes():
    result = run("--help")
    assert all(f"\n  {name}" in result.output for name in PLACES)
    assert "Exit codes: 0 done" in result.output
    assert "..." not in result.output.split("Commands:")[1].split("Examples:")[0].replace(
        "FILE...", ""
    )


def test_help_imports_nothing_heavy():
    look = (
        "import sys\nfrom click.testing import CliRunner\nfrom thresher.cli import main\n"
        f"for words in [[], *([name] for name in {COMMANDS!r})]:\n"
        "    assert CliRunner().invoke(main, [*words, '--help']).exit_code == 0, words\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", look], check=False, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)


def test_importing_the_package_imports_nothing_heavy():
    look = f"import sys, thresher; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_help_takes_less_than_a_fifth_of_a_second_of_work():
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "thresher", "--help"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.2


def test_a_command_that_is_not_there_suggests_one_that_is():
    result = run("predcit")
    assert result.exit_code == failing.USAGE
    assert "Did you mean predict?" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_THRESHER_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("words", ["--help", "--version", "train --help", "completion bash"])
def test_no_space_left_for_help_is_said_in_one_line(words):
    command = [sys.executable, "-m", "thresher", *words.split()]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == failing.NO_OUTPUT
    assert done.stderr.startswith("Error: No space left")
    assert len(done.stderr.splitlines()) == 1


def complete(words):
    """Return what bash would be offered."""
    place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "from thresher.cli import main; main(prog_name='thresher')"],
        env={**os.environ, **place, "_THRESHER_COMPLETE": "bash_complete"},
        check=True,
        capture_output=True,
        text=True,
    )
    return [line.split(",")[1] for line in done.stdout.split()]


def test_commands_and_options_are_completed():
    assert complete("thresher re") == ["report", "reproduce"]
    assert complete("thresher predict --all") == ["--allow-no-features"]


def failing_with(error):
    @click.command()
    @failing.fails_well
    def command():
        raise error

    return click.testing.CliRunner().invoke(command)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (DataError("bad\nrow", file="a.svm", line=3), failing.BAD_DATA, "a.svm, line 3: bad row"),
        (ModelFileError("damaged"), failing.BAD_MODEL, "damaged"),
        (FileError("x cannot be written"), failing.NO_OUTPUT, "x cannot be written"),
        (FileError("x is full", errno.ENOSPC), failing.NO_OUTPUT, "x is full"),
        (OSError(errno.ENOSPC, "No space"), failing.NO_OUTPUT, "No space left"),
        (ImportError("pip install 'thresher[zstd]'"), failing.BAD_DATA, "pip install"),
        (ModuleNotFoundError("No module", name="x"), failing.UNEXPECTED, "should not"),
        (ValueError("loss must be"), failing.BAD_DATA, "loss must be"),
        (MemoryError(), failing.UNEXPECTED, "not enough memory"),
        (KeyError("slot"), failing.UNEXPECTED, "KeyError: 'slot'"),
        (KeyboardInterrupt(), failing.INTERRUPTED, "Interrupted"),
    ],
)
def test_every_failure_is_one_line_and_its_code(error, code, words, monkeypatch):
    monkeypatch.delenv(failing.TRACEBACK, raising=False)
    result = failing_with(error)
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_whoever_wants_the_traceback_gets_it(monkeypatch):
    monkeypatch.setenv(failing.TRACEBACK, "1")
    assert isinstance(failing_with(KeyError("slot")).exception, KeyError)
