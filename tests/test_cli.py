"""The command ``thresher``: helps at once, and leads to the demonstration and the study."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from thresher.cli import main
from thresher.cli.reproduce import find_study


@pytest.mark.parametrize("words", [["--help"], ["demo", "--help"]])
def test_help_teaches_with_an_example(words):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert "thresher demo" in result.output.split("Examples:")[1]


def test_help_imports_nothing_heavy():
    look = (
        "import sys, thresher.cli; "
        "sys.exit(any(name in sys.modules for name in ('numba', 'sklearn', 'scipy', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


def test_the_study_is_found_from_below_its_folder(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "registry.toml").touch()
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert find_study(tmp_path / "a" / "b") == tmp_path


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_outside_the_repository_reproduce_helps_nevertheless(tmp_path, monkeypatch, word):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["reproduce", "--quick", word])
    assert result.exit_code == 0
    assert "run this in a clone" in result.output
    assert "thresher reproduce" in result.output.split("Examples:")[1]


def test_outside_the_repository_reproduce_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["reproduce", "--quick"])
    assert result.exit_code == 1
    assert "inside a clone" in result.output
