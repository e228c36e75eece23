"""Help teaches and is there at once, options come from declarations, failures have their codes."""

import dataclasses
import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thresher
from cases import SMALL
from commands import run, shell
from thresher.cli import failing, main, options
from thresher.cli.commands import PLACES
from thresher.cli.commands import thresher as program
from thresher.cli.screen import json_text, printable
from thresher.files import FileError, ModelFileError
from thresher.formats.errors import DataError, OptionError
from thresher.formats.protocol import Reading
from thresher.validation import FLAG, Kind, Number, OneOf, Parameter, Whole

HEAVY = ("numba", "sklearn", "scipy", "numpy", "pandas", "rich")
READERS = ("train", "predict", "evaluate", "convert", "report")


# ------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("name", PLACES)
def test_every_command_teaches_with_examples(name):
    _, found, examples = run(name, "--help").stdout.partition("Examples:")
    assert found
    assert f"thresher {name}" in examples


def test_the_help_lists_commands_the_rule_and_exit_codes():
    text = run("--help").stdout
    assert all(f"\n  {name}" in text for name in PLACES)
    words = " ".join(text.split())
    assert "unless it has --force" in words
    assert all(f"{code} {meaning}" in words for code, meaning in failing.MEANINGS.items())


QUICK = [["--help"], ["--version"], ["predcit"], ["train"], ["train", "a", "--format", "x"]]
QUICK += [["predict", "m"], ["inspect", "none"], ["evaluate", "none", "a"], ["inspect", "m", "-x"]]
QUICK += [[name, "--help"] for name in PLACES if name != "train"]


NO_ROWS = [["train", "none", "-o", "m"], ["convert", "none", "-o", "m"]]
NO_ROWS += [["predict", "here", "none"], ["evaluate", "here", "none"]]


@pytest.mark.parametrize(
    ("commands", "code", "heavy"),
    [(QUICK, (0, 2, 4), HEAVY), (NO_ROWS, (3,), tuple(name for name in HEAVY if name != "numpy"))],
)
def test_help_and_usual_errors_import_nothing_heavy_and_take_no_time(
    tmp_path, commands, code, heavy
):
    (tmp_path / "here").write_text("a model")
    look = (
        "import sys\nfrom click.testing import CliRunner\n"
        "from thresher.cli.commands import thresher\n"
        f"for words in {commands!r}:\n"
        f"    assert CliRunner().invoke(thresher, words).exit_code in {code}, words\n"
        f"print(*(name for name in {heavy!r} if name in sys.modules))"
    )
    words, how = [sys.executable, "-c", look], {"capture_output": True, "text": True}
    done = subprocess.run(words, check=False, cwd=tmp_path, **how)
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)


def test_help_takes_less_than_a_fifth_of_a_second_of_work():
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "thresher", "--help"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.2


def test_a_command_that_is_not_there_suggests_one_that_is():
    assert "Did you mean predict?" in run("predcit", code=2).stderr


def test_completion_prints_a_script_for_the_shell():
    for name in ("bash", "zsh", "fish"):
        assert f"_THRESHER_COMPLETE={name}_complete" in run("completion", name).stdout


def test_commands_options_and_methods_are_completed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["thresher"])
    monkeypatch.setenv("_THRESHER_COMPLETE", "bash_complete")
    for words, expected in {
        "thresher re": ["report"],
        "thresher predict --all": ["--allow-no-features"],
        "thresher train --method ftrl --l": ["--label", "--loss", "--l1", "--l2"],
        "thresher train --method f": ["fobos", "ftrl"],
    }.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        with pytest.raises(SystemExit):
            main()
        out = capsys.readouterr().out
        assert sorted(line.split(",")[1] for line in out.split()) == sorted(expected)


# ------------------------------------------------------------------------- options are declarations


def command(name):
    return program.get_command(click.Context(program), name)


def test_options_of_reading_are_the_fields_of_reading_and_mean_the_same_everywhere():
    names = {one.name for one in dataclasses.fields(Reading)} - {"labelled", "ignore_labels"}
    known = {reader: {one.name: one for one in command(reader).params} for reader in READERS}
    for name in names:
        about = {
            (one.opts[0], one.help, str(one.type), one.metavar)
            for one in (known[reader][name] for reader in READERS)
        }
        assert len(about) == 1


def test_other_options_mean_the_same_in_all_commands():
    for shared in ("force", "quiet", "allow_no_features"):
        params = [one for name in PLACES for one in command(name).params if one.name == shared]
        assert len(params) > 1
        assert len({(tuple(one.opts), one.help) for one in params}) == 1


def test_methods_are_the_public_estimators():
    assert set(SMALL) <= set(options.METHODS.values()) <= set(thresher.__all__)
    assert options.METHODS["thresher"] == "ThresherClassifier"
    assert options.METHODS["truncated-gradient"] == "TruncatedGradientClassifier"


@pytest.mark.parametrize("method", options.METHODS)
def test_every_parameter_is_an_option_of_its_method(method):
    kind = getattr(thresher, options.METHODS[method])
    names = {one.name for one in options.parameter_options(method)}
    assert names == {one.name for one in kind.parameters} - {"warm_start", "verbose"}
    text = run("train", "--method", method, "--help").stdout
    assert f"Parameters of {method}:" in text
    assert "--n-jobs" in text
    assert "--seed" in text


def test_a_new_parameter_appears_by_itself(monkeypatch):
    kind = thresher.FTRLClassifier
    new = Parameter("new_one", 3, (Whole(1),), "int", "What ``it`` does.")
    monkeypatch.setattr(kind, "parameters", (*kind.parameters, new))
    text = " ".join(run("train", "--method", "ftrl", "--help").stdout.split())
    assert "--new-one NUMBER What it does. [default: 3]" in text


WEIGHTS = (Kind(dict, "a dict"), OneOf("balanced", None))


@pytest.mark.parametrize(
    ("allowed", "text", "expected"),
    [
        ((Whole(1),), "3", 3),
        ((Whole(1),), "0", "'0' is not allowed: it must be a whole number of at least 1."),
        ((Whole(1),), "3.0", "must be a whole number"),
        ((Number(0, 1), OneOf(None)), ".5", 0.5),
        ((Number(0, 1), OneOf(None)), "none", None),
        ((Number(0, 1), OneOf(None)), "nan", "a number in [0, 1], or none"),
        ((OneOf("auto"), Whole(1), Number(0, 1, True, True)), "0.1", 0.1),
        ((OneOf("auto"), Whole(1), Number(0, 1, True, True)), "1", 1),
        ((OneOf("auto"), *FLAG), "no", False),
        ((OneOf("a", "b"), Kind(Callable, "a scorer")), "c", "it must be a, or b."),
        (WEIGHTS, "balanced", "balanced"),
        (WEIGHTS, "-1=1,1=5", {-1: 1.0, 1: 5.0}),
        (WEIGHTS, "a=b=1,c=.5", {"a=b": 1.0, "c": 0.5}),
        (WEIGHTS, "soon", "weights of classes, such as -1=1,1=5"),
    ],
)
def test_values_are_read_as_their_declaration_allows(allowed, text, expected):
    value = options.Value(Parameter("x", None, allowed, "", ""))
    assert not options.Value(Parameter("x", None, (Kind(Callable, "a scorer"),), "", "")).exists
    if isinstance(expected, str) and expected != text:
        with pytest.raises(click.BadParameter) as caught:
            value.convert(text, None, None)
        assert expected in str(caught.value)
    else:
        found = value.convert(text, None, None)
        assert (found, type(found)) == (expected, type(expected))


def test_messages_name_options():
    for message, expected in {
        "hash_bits=99: it must be 1 to 30.": "--hash-bits 99: it must be 1 to 30.",
        "use sep=';' (--sep ';'), or on_error='skip', --on-error skip": (
            "use --sep ';', or --on-error skip"
        ),
        "missing= (--missing) has alternatives": "--missing has alternatives",
        "name them all (classes=, --classes).": "name them all (--classes).",
        "set alpha=3 and label=x": "set alpha=3 and --label x",
    }.items():
        assert options.in_options(message) == expected


# --------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (DataError("bad\nrow", file="a.svm", line=3), 3, "a.svm, line 3: bad row"),
        (OptionError("sep=';' means nothing"), 2, "--sep ';' means nothing"),
        (ModelFileError("damaged"), 4, "damaged"),
        (FileError("x is full", errno.ENOSPC), 5, "x is full"),
        (OSError(errno.ENOSPC, "No space"), 5, "No space is left"),
        (ImportError("pip install 'thresher[zstd]'"), 3, "pip install"),
        (ModuleNotFoundError("No module", name="x"), 1, "should not"),
        (ValueError("loss must be\x1b[31m"), 3, r"loss must be\x1b[31m"),
        (MemoryError(), 1, "not enough memory"),
        (KeyError("slot"), 1, "KeyError: 'slot'"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (click.UsageError("no"), 2, "Error: no"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_every_failure_is_a_line_and_its_code(error, code, words, monkeypatch, capsys):
    monkeypatch.delenv(failing.TRACEBACK, raising=False)
    monkeypatch.setattr(failing, "silence", lambda stream: None)
    with pytest.raises(SystemExit) as ended, failing.failing_well():
        raise error
    said = capsys.readouterr().err
    assert (ended.value.code, len(said.splitlines())) == (code, bool(words))
    assert code in failing.MEANINGS
    assert words in said


def test_a_traceback_can_be_had(monkeypatch):
    monkeypatch.setenv(failing.TRACEBACK, "1")
    with pytest.raises(KeyError), failing.failing_well():
        raise KeyError("slot")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_no_space_left_for_help_is_an_error_of_one_line():
    for words in ("--help", "--version", "completion bash"):
        code, _, said = shell(f"thresher {words} > /dev/full")
        assert (code, len(said.splitlines())) == (5, 1)
        assert said.startswith("Error: No space is left")


# --------------------------------------------------------------------------------- what is printed

NASTY = "\x1b[31m\x07 \x85 \u202egnp.exe \u2066 \u200f \ufeff \u2028 \x7f \ud800 \U000e0001"


@given(st.text() | st.just(NASTY))
def test_printed_text_cannot_steer_a_terminal(text):
    assert printable(text).isprintable()
    line = json_text({"name": text})
    assert line.isprintable()
    assert json.loads(line) == {"name": text}
