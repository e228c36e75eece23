"""Cells: whole or absent, never lost, one run at a time."""

import os
import subprocess
import sys

import pytest

from experiments.errors import StudyError
from experiments.lock import alone
from experiments.store import Store, fingerprint

KEY = ("final", "dexter", "row-l2", "rda", "hinge")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells")


def test_a_cell_comes_back(store):
    store.write(KEY, "recipe", {"error": 1.5})
    assert store.read(KEY) == {"error": 1.5}
    assert store.read(KEY, "recipe") == {"error": 1.5}
    assert store.path(KEY) == store.folder / "final/dexter/row-l2/rda/hinge.json"


def test_keys_that_are_numbers_come_back_as_text(store):
    store.write(KEY, "recipe", {"by size": {9: 1.5, 10: float("inf")}})
    assert store.read(KEY) == {"by size": {"9": 1.5, "10": float("inf")}}


def test_another_recipe_is_another_cell(store):
    store.write(KEY, "old", {"error": 1.5})
    assert store.read(KEY, "new") is None
    store.write(KEY, "new", {"error": 2.5})
    assert store.read(KEY, "new") == {"error": 2.5}


def test_an_absent_cell(store):
    assert store.read(KEY) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: b"",
        lambda text: text.replace(b"1.5", b"0.5"),
        lambda text: b"[1, 2]",
        lambda text: b"\xff\xfe",
        lambda text: text.replace(b'"format":1', b'"format":0'),
    ],
)
def test_a_damaged_cell_is_set_aside_and_made_again(store, damage):
    store.write(KEY, "recipe", {"error": 1.5})
    path = store.path(KEY)
    spoilt = damage(path.read_bytes())
    path.write_bytes(spoilt)
    assert store.read(KEY, "recipe") is None
    assert path.with_suffix(".damaged").read_bytes() == spoilt
    store.write(KEY, "recipe", {"error": 1.5})
    assert store.read(KEY) == {"error": 1.5}


def test_a_failed_write_keeps_the_old_cell(store, monkeypatch):
    store.write(KEY, "recipe", {"error": 1.5})

    def broken(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StudyError, match="No space left"):
        store.write(KEY, "recipe", {"error": 2.5})
    assert store.read(KEY) == {"error": 1.5}
    assert [path.suffix for path in store.path(KEY).parent.iterdir()] == [".json"]


def test_fingerprints_name_values():
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})


def test_two_runs_at_once(tmp_path):
    refused = pytest.raises(StudyError, match=rf"another run .* {os.getpid()}\b")
    with alone(tmp_path), refused, alone(tmp_path):
        pass
    with alone(tmp_path):
        pass


def test_a_killed_run_leaves_no_lock(tmp_path):
    held = "import os\nfrom pathlib import Path\nfrom experiments.lock import alone\n"
    held += f"with alone(Path({str(tmp_path)!r})):\n    os._exit(7)\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", held], env=env, check=False)
    assert ended.returncode == 7  # it died where it should: Python's own errors end with 1
    with alone(tmp_path):
        pass
