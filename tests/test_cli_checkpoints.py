"""Checkpoints replace nothing, and what is said when training stops is true."""

import os
import signal
from pathlib import Path

import pytest

from cases import make
from commands import draw_objects, run, write_jsonl
from kill_training import write_rows
from thresher.cli import checkpoints
from thresher.cli.failing import BAD_DATA, INTERRUPTED, NO_OUTPUT, USAGE
from thresher.cli.watching import Watch
from thresher.data.sources.files import SAMPLE
from thresher.estimators.storing.checkpoint import names_in, training_tree
from thresher.estimators.streaming import StreamTraining, training_source
from thresher.files.errors import ModelFileError

WORDS = ("train", "rows.svm", "-o", "m.thresher", "--max-iter", "3")
KEPT = (*WORDS, "--checkpoint", "state.ckpt")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Go to a folder with a small file of rows."""
    monkeypatch.chdir(tmp_path)
    write_rows("rows.svm", n_rows=60, n_columns=40)
    return tmp_path


def fails(code, *words, stdin=None):
    result = run(*words, stdin=stdin)
    assert result.exit_code == code, result.output
    return " ".join(result.stderr.split())


def stop_after_the_first_chunk(monkeypatch):
    def learnt(self, training, n_rows):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Watch, "learnt", learnt)


def stop_before(monkeypatch, owner, name):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, stopped)


@pytest.fixture
def stopped(rows, in_chunks):
    """The checkpoint of a training that was stopped after its first chunk."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after_the_first_chunk(patch)
        said = fails(INTERRUPTED, *KEPT)
    assert f"Stopped. To go on: thresher train --resume {rows / 'state.ckpt'}" in said
    return rows / "state.ckpt"


@pytest.mark.parametrize("file", ["rows.svm", "none.svm"])
def test_a_checkpoint_is_not_begun_anew(stopped, file):
    before = stopped.read_bytes()
    said = fails(NO_OUTPUT, "train", file, "-o", "m.thresher", "--checkpoint", "state.ckpt")
    assert f"{stopped} holds a checkpoint" in said
    assert f"thresher train --resume {stopped}, or remove it first" in said
    assert stopped.read_bytes() == before


def test_going_on_ends_as_if_nothing_had_been(stopped):
    assert run("train", "--resume", "state.ckpt").exit_code == 0
    assert not stopped.exists()
    stopped_model = Path("m.thresher").read_bytes()
    assert run(*KEPT).exit_code == 0
    assert Path("m.thresher").read_bytes() == stopped_model


def test_names_are_read_without_the_model(tmp_path, in_chunks, monkeypatch):
    model, rows = make("FTRLClassifier"), write_jsonl(tmp_path / "rows.jsonl", draw_objects())
    training = StreamTraining.begin(model, training_source(model, rows, False, {}))
    next(training.steps())
    tree = training_tree(training)
    monkeypatch.setattr("thresher.estimators.storing.checkpoint.estimator_from", None)
    assert [names_in(tree).name(k) for k in range(10)] == [model._names.name(k) for k in range(10)]
    tree["estimator"]["names"] = 3
    with pytest.raises(ModelFileError, match="cannot be"):
        names_in(tree)


def test_a_checkpoint_that_was_moved_leaves_its_old_place_alone(stopped, monkeypatch):
    stopped.rename("moved.ckpt")
    stopped.write_text("dear")
    with monkeypatch.context() as patch:
        stop_after_the_first_chunk(patch)
        assert "--resume" in fails(INTERRUPTED, "train", "--resume", "moved.ckpt")
    assert run("train", "--resume", "moved.ckpt").exit_code == 0
    assert not Path("moved.ckpt").exists()
    assert stopped.read_text() == "dear"


def test_nothing_is_left_behind_a_link(rows, in_chunks):
    Path("link.ckpt").symlink_to("state.ckpt")
    assert run(*WORDS, "--checkpoint", "link.ckpt").exit_code == 0
    assert Path("link.ckpt").is_symlink()
    assert not Path("state.ckpt").exists()


@pytest.mark.parametrize("content", ["", "1 1:2\n", "model"])
def test_what_is_no_checkpoint_is_never_replaced(rows, in_chunks, content):
    if content == "model":
        assert run(*WORDS).exit_code == 0
        Path("m.thresher").rename("state.ckpt")
    else:
        Path("state.ckpt").write_text(content)
    before = Path("state.ckpt").read_bytes()
    assert "exists and is no checkpoint" in fails(NO_OUTPUT, *KEPT)
    assert Path("state.ckpt").read_bytes() == before


def test_what_appears_meanwhile_is_not_replaced_either(rows, in_chunks, monkeypatch):
    opened = checkpoints.Keeper.begin

    def begin(self):
        Path("state.ckpt").write_text("dear")
        opened(self)

    monkeypatch.setattr(checkpoints.Keeper, "begin", begin)
    assert "exists and is no checkpoint" in fails(NO_OUTPUT, *KEPT)
    assert Path("state.ckpt").read_text() == "dear"


@pytest.mark.parametrize("cache", ["--cache", "--no-cache"])
def test_nothing_is_written_where_there_is_nothing_to_read(rows, cache):
    fails(BAD_DATA, "train", "none.svm", "-o", "m.thresher", "--checkpoint", "state.ckpt", cache)
    assert os.listdir() == ["rows.svm"]


def test_what_fails_before_a_state_is_kept_can_be_tried_again(rows, in_chunks):
    Path("rows.svm").write_text("1 1:1\n1 2:1\n")
    for _ in range(2):
        assert "All rows looked at are of class 1" in fails(BAD_DATA, *KEPT)
    assert not Path("state.ckpt").exists()


def test_a_pipe_has_no_checkpoint(rows):
    os.mkfifo("pipe")
    words = ("train", "pipe", "-o", "m.thresher", "--checkpoint", "state.ckpt")
    assert "A pipe cannot be read again" in fails(USAGE, *words)
    assert not Path("state.ckpt").exists()


def test_with_a_checkpoint_it_would_be_kept(rows, in_chunks, monkeypatch):
    stop_after_the_first_chunk(monkeypatch)
    assert "nothing is kept. With --checkpoint PATH it would be." in fails(INTERRUPTED, *WORDS)
    piped = ("train", "-", *WORDS[2:])
    said = fails(INTERRUPTED, *piped, stdin=Path("rows.svm").read_bytes())
    assert said.endswith("kept: what comes through a pipe cannot be read again.")


def test_rows_that_are_learnt_at_once_are_kept_nowhere(rows, monkeypatch):
    stop_before(monkeypatch, StreamTraining, "_learn_at_hand")
    said = fails(INTERRUPTED, *WORDS)
    assert "so few rows are learnt at once, with --checkpoint as well." in said
    said = fails(INTERRUPTED, *KEPT)
    assert f"at once. To begin anew: thresher train --resume {rows / 'state.ckpt'}" in said
    monkeypatch.undo()
    monkeypatch.chdir(rows)
    assert run("train", "--resume", "state.ckpt").exit_code == 0


def test_who_is_stopped_early_is_told_what_there_is(rows, monkeypatch):
    with monkeypatch.context() as patch:
        stop_before(patch, StreamTraining, "begin")
        said = fails(INTERRUPTED, *KEPT)
    assert "before anything was learnt. To begin anew: thresher train --resume" in said
    Path("state.ckpt").unlink()
    stop_before(monkeypatch, checkpoints.Keeper, "begin")
    said = fails(INTERRUPTED, *KEPT)
    assert said.endswith("Stopped before anything was learnt: the same command begins anew.")
    assert not Path("state.ckpt").exists()


def change_the_middle(path):
    """Change a digit of a file that lies in neither of the ends that are looked at."""
    text = bytearray(path.read_bytes())
    assert len(text) > 2 * SAMPLE
    place = text.index(b"\n", len(text) // 2) - 1
    text[place] = ord("2") if text[place] == ord("1") else ord("1")
    path.write_bytes(text)


@pytest.fixture
def stopped_without_shards(rows, in_chunks):
    """The checkpoint of a training on a long file that was read as it is."""
    write_rows("rows.svm", n_rows=4000, n_columns=40)
    with pytest.MonkeyPatch.context() as patch:
        stop_after_the_first_chunk(patch)
        fails(INTERRUPTED, *KEPT, "--no-cache")
    return Path("rows.svm")


def test_what_changed_in_the_middle_of_a_file_is_an_error(stopped_without_shards):
    change_the_middle(stopped_without_shards)
    said = fails(BAD_DATA, "train", "--resume", "state.ckpt")
    assert "The data was written anew since the checkpoint was" in said


def test_checkpoints_that_know_no_times_go_on(stopped_without_shards, monkeypatch):
    recipe, state = checkpoints.read_checkpoint("state.ckpt")
    assert state.pop("changed") == [stopped_without_shards.stat().st_mtime_ns]
    os.utime(stopped_without_shards)
    monkeypatch.setattr(checkpoints, "read_checkpoint", lambda _: (recipe, state))
    monkeypatch.setattr("thresher.cli.train.read_checkpoint", checkpoints.read_checkpoint)
    assert run("train", "--resume", "state.ckpt").exit_code == 0
