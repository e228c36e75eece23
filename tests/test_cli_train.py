"""``thresher train``: from files to a model, whatever happens on the way."""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import thresher
from cases import SMALL
from commands import draw, run, start, write_csv, write_jsonl, write_svmlight
from format_cases import small_chunks
from thresher.cli import learning
from thresher.cli.options import METHODS
from thresher.formats.blocks import SAMPLE
from thresher.formats.holdout import HeldOut
from thresher.formats.opening import open_rows

FTRL = ("--method", "ftrl", "--l1", ".1", "--max-iter", "3")
WORDS = ("train", "rows.svm", "-o", "m", *FTRL)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with a small file of rows."""
    monkeypatch.chdir(tmp_path)
    write_svmlight(Path("rows.svm"), draw())
    return tmp_path


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_with_its_parameters(method):
    name = METHODS[method]
    settings = {**SMALL.get(name, {}), "n_jobs": 1, "seed": 5}
    words = [w for k, v in settings.items() for w in (f"--{k.replace('_', '-')}", str(v))]
    rows = write_jsonl(Path("x.jsonl"), draw(kind="numbers" if "regressor" in method else "two"))
    result = run("train", rows, "-o", "m", "--method", method, *words)
    assert "Wrote m: " in result.stderr
    model = thresher.load("m")
    assert type(model).__name__ == name
    assert {k: getattr(model, {"seed": "random_state"}.get(k, k)) for k in settings} == settings
    whole = getattr(thresher, name)(**{**SMALL.get(name, {}), "random_state": 5}).fit_stream(rows)
    assert np.array_equal(model.coef_, whole.coef_)


def test_the_summary_for_people_and_for_machines():
    write_svmlight(Path("rows.svm"), draw(100))
    said = run(*WORDS).stderr
    assert "Indices count from 1" in said
    assert "10 features of 10 columns, 100 rows, 3 passes." in said
    assert "before they were learned, in the first pass: error " in said
    result = run(*WORDS, "--json", "--quiet", "--force")
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert 0 < found.pop("progressive_error") < 0.6
    counts = {"rows": 100, "passes": 3, "features": 10, "width": 10, "skipped": 0}
    assert found == {"model": "m", **counts, "evaluation": None}
    said = run("train rows.svm -o m --force --sizes --n-features-to-select 3").stderr
    assert "as asked for" in said
    assert [line.split()[0] for line in said.splitlines() if "±" in line] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("-o m", 2, "Name a file to train on"),
        ("rows.svm", 2, "Name the model to write: -o MODEL"),
        ("rows.svm -o m --l1 1", 2, "--l1 is no parameter of the method thresher"),
        ("rows.svm -o m --nothing", 2, "No such option"),
        ("rows.svm -o m --method x", 2, "'x' is not one of"),
        ("rows.svm -o m --caution -1", 2, "'-1' is not allowed: it must be a num"),
        ("rows.svm -o m --class-weight x", 2, "weights of classes, such as -1=1,1=5"),
        ("rows.svm -o m --classes a,,b", 2, "'' is no class"),
        ("rows.svm -o m --holdout 1", 2, "1.0 is not in the range 0<x<1"),
        ("rows.svm -o m --holdout .1 --test t", 2, "evaluate by one of them"),
        ("- -o m --checkpoint c", 2, "Standard input cannot be read again, as --c"),
        ("- -o m --holdout .1", 2, "as --holdout needs"),
        ("rows.svm -o m --checkpoint -", 2, "--checkpoint needs a file"),
        ("rows.svm -o m --checkpoint c", 2, "or learn each row in turn with --keep"),
        ("rows.svm -o m --sizes --method ftrl", 2, "--sizes is for the methods thresher and"),
        ("rows.svm -o - --json", 2, "both go to standard output"),
        ("--resume c rows.svm --seed 1", 2, "leave out FILE, --seed"),
        ("rows.svm -o m -i n --classes a,b", 2, "leave --classes out"),
        ("rows.svm -o m -i n", 4, "n: there is no such file"),
        ("--resume c", 4, "c: there is no such file. thresher train FILE... --checkpoint c"),
        ("--resume rows.svm", 4, "not a file that Thresher wrote"),
        ("none.svm -o m", 3, "none.svm: there is no such file"),
        (". -o m", 3, "is a directory"),
        ("rows.svm -o m --test none.svm", 3, "none.svm: there is no such file"),
        ("rows.svm -o no/m", 5, "no/m cannot be written: the folder does not exist"),
        ("none.svm -o .", 5, ". cannot be written: it is a directory"),
        ("none.svm -o m --checkpoint no/c", 5, "the folder does not exist"),
    ],
)
def test_wrong_words_are_named(words, code, message):
    assert message in run(f"train {words}", code=code).words
    assert os.listdir() == ["rows.svm"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("# only a comment\n", "not a single row"),
        ("1 1:1\n1 2:1\n", "All rows looked at are of class 1"),
        ("1 1:1\n-1 2:x\n", "bad.svm, line 2"),
        ("1 1:1\n-1 2:nan\n", "bad.svm, line 2"),
        ("1.5 1:1\n2.5 2:1\n", "--method thresher-regressor"),
    ],
)
def test_bad_files_are_named_with_their_lines(content, message):
    Path("bad.svm").write_text(content)
    for method in ("thresher", "ftrl"):
        assert message in run(f"train bad.svm -o m --method {method}", code=3).stderr
    assert not Path("m").exists()


def test_rows_can_be_left_out():
    with open("rows.svm", "a") as file:
        file.write("1 2:x\n")
    for more in ("", "--quiet", "--quiet --method ftrl"):
        said = run(f"train rows.svm -o m --on-error skip --force {more}").stderr
        assert "1 row was left out:\n  rows.svm, line 61" in said


def test_gaps_and_codes_of_tables_are_named_and_read_alike_by_all_commands():
    lines = [f"{k % 2},{'' if k % 3 else k},0{k % 5},{k % 7 + k % 2}\n" for k in range(120)]
    Path("gaps.csv").write_text("label,a,zip,b\n" + "".join(lines))
    notes = ["leading zeros: 'zip'", "Numbers are missing in 'a': each counts as its column's mean"]
    for words in ("", "--method ftrl", "--missing zero"):
        said = run(f"train gaps.csv -o m --force {words}").stderr
        assert [note in said for note in notes] == [True, "zero" not in words]
        model, how = thresher.load("m"), words.split()[-1:] == ["zero"]
        frame = pd.read_csv("gaps.csv", dtype={"zip": str}).drop(columns="label")
        margins = model.decision_function(frame.fillna({"a": 0}) if how else frame).tolist()
        found = run("predict m gaps.csv --what margin").stdout.split()
        assert list(map(float, found)) == margins
    said = run("train gaps.csv -o m --force --missing error", code=3).stderr
    assert "gaps.csv, line 3, column 2: there is no number, in column 'a'" in said
    run("convert gaps.csv -o gaps.rows")
    for rows in ("csv", "rows"):
        run(f"train gaps.{rows} -o {rows}")
    assert run("predict csv gaps.csv").stdout == run("predict rows gaps.csv").stdout


def test_models_of_all_sizes_are_printed_with_any_number_of_folds():
    shown = run("train rows.svm -o m --sizes --cv 4 --json")
    path = thresher.load("m").path_
    assert thresher.load("m").cv == 4
    assert json.loads(shown.stdout)["path"]["sizes"] == path.sizes.tolist()
    table = shown.stderr.split("held-out error\n")[1].split("\n\n")[0].splitlines()
    assert [int(line.split()[0]) for line in table] == path.sizes.tolist()


def test_a_pipe_is_learned_in_one_pass():
    data = Path("rows.svm").read_bytes()
    assert "1 pass." in run("train", "-", "-o", "piped", *FTRL, stdin=data).stderr
    run("train", "rows.svm", "-o", "m", *FTRL[:-1], "1", "--no-shuffle")
    assert np.array_equal(thresher.load("piped").coef_, thresher.load("m").coef_)
    assert "1 pass." in run("train", "-", "-o", "flagship", stdin=data).stderr
    os.mkfifo("pipe")
    said = run("train", "pipe", "-o", "n", *FTRL, "--checkpoint", "c", code=2).stderr
    assert "A pipe cannot be read again" in said


def test_classes_and_their_weights():
    run(*WORDS, "--classes", "-1,0,1", "--class-weight", "-1=1,0=1,1=3")
    model = thresher.load("m")
    assert model.classes_.tolist() == [-1, 0, 1]
    assert model.class_weight == {-1: 1.0, 0: 1.0, 1: 3.0}


# ------------------------------------------------------------------------------------- evaluation


@pytest.mark.parametrize("how", [["--test", "test.svm"], ["--holdout", ".3"]])
@pytest.mark.parametrize("method", ["ftrl", "thresher"])
def test_figures_are_printed_and_kept(how, method):
    write_svmlight(Path("test.svm"), draw(40, seed=2))
    words = ("train", "rows.svm", "-o", "m", "--method", method, *how)
    found = json.loads(run(*words, "--json").stdout)["evaluation"]
    assert found["of"].startswith(how[1] if how[0] == "--test" else "rows.svm (0.3 of the rows")
    known = json.loads(run("inspect", "m", "--json").stdout)["provenance"]["evaluation"]
    assert known == found
    said = run(*words, "--force").stderr
    assert f"error     {found['error']:.2%}" in said
    assert "true \\ predicted" in said
    assert f"error {found['error']:.2%}, " in run("inspect", "m").stdout
    if how[0] == "--test":
        again = json.loads(run("evaluate", "m", "test.svm", "--json").stdout)
        assert {**again, "of": "test.svm"} == found


def test_held_out_rows_are_not_learned():
    with small_chunks(n_rows=7, n_bytes=100):
        parts = [HeldOut(open_rows("rows.svm"), 0.3, 0, held=held) for held in (False, True)]
        labels = [np.concatenate([chunk.labels for chunk in part.chunks()]) for part in parts]
    sizes = [part.size for part in labels]
    assert sum(sizes) == 60
    assert 5 < sizes[1] < 35
    found = json.loads(run(*WORDS, "--holdout", ".3", "--json").stdout)
    assert (found["rows"], found["evaluation"]["rows"]) == tuple(sizes)
    run("convert", "rows.svm", "-o", "x.rows")
    binary = HeldOut(open_rows("x.rows"), 0.3, 0, held=True)
    assert binary.n_rows == sizes[1]
    lines = Path("rows.svm").read_text().splitlines(keepends=True)
    drawn = HeldOut(open_rows("x.rows"), 0.3, 0, held=False)._mine(0, 60)
    Path("kept.svm").write_text("".join(lines[place] for place in drawn))
    run("train", "kept.svm", "-o", "kept", *FTRL)
    assert np.array_equal(thresher.load("kept").coef_, thresher.load("m").coef_)


def test_a_model_that_cannot_be_evaluated_is_written_all_the_same():
    Path("test.svm").write_text("7 1:1\n")
    result = run(*WORDS, "--test", "test.svm", code=3)
    assert "Wrote m: " in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: The label 7 at row 1")
    assert thresher.load("m").n_iter_ == 3
    write_jsonl(Path("other.jsonl"), [{"gene": 1, "label": 1}])
    said = run(*WORDS, "--force", "--test", "other.jsonl", code=3).stderr
    assert "features by numbers" in said


# ----------------------------------------------------------------------------------------- going on


def halves(write, ending):
    rows = draw(80)
    return [write(Path(f"{name}{ending}"), part)
            for name, part in {"all": rows, "a": rows[:40], "b": rows[40:]}.items()]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "write", "ending"),
    [
        ("ftrl", write_jsonl, ".jsonl"),
        ("plain-sgd", write_svmlight, ".svm"),
        ("thresher", write_jsonl, ".jsonl"),
        ("stabilized-truncated-sgd", write_jsonl, ".jsonl"),
    ],
)
def test_training_goes_on_from_a_model(method, write, ending):
    whole, first, second = halves(write, ending)
    once = [] if method == "thresher" else ["--max-iter", "1", "--no-shuffle"]
    words = ["--method", method, "--keep-state", *once]
    labels = ["--classes", "drop,keep" if ending == ".jsonl" else "-1,1"]
    run("train", whole, "-o", "whole", *words, *labels)
    run("train", first, "-o", "half", *words, *labels)
    run("train", second, "-i", "half", "-o", "both", "--method", method)
    whole, both = thresher.load("whole"), thresher.load("both")
    assert np.array_equal(whole.coef_, both.coef_)
    assert whole.column_names(np.arange(10)) == both.column_names(np.arange(10))
    found = json.loads(run("inspect", "both", "--json").stdout)["provenance"]["files"]
    assert found == [f"b{ending}"]


def test_going_on_changes_parameters_that_may_change():
    run(*WORDS, "--keep-state", "--holdout", ".2")
    run("train rows.svm -i m -o n --max-iter 1 --l1 .5")  # options of the method of the model
    model = thresher.load("n")
    assert (model.max_iter, model.l1, model.random_state) == (1, 0.5, 0)
    assert "evaluation" not in model.provenance_
    csv = write_csv(Path("x.csv"), draw())
    for words, code, message in (
        ("rows.svm -i n -o x", 4, "n has only what prediction needs. To go on from a model, train"),
        ("rows.svm -i m -o x --method rda", 4, "m is a FTRLClassifier, not of the method rda"),
        (f"{csv} -i m -o x", 3, "features by numbers"),
        ("rows.svm -i m -o m", 5, "would replace it"),
    ):
        assert message in run(f"train {words}", code=code).words


# ------------------------------------------------------------------------------------- checkpoints

KEPT = (*WORDS, "--checkpoint", "state.ckpt")


def stop_after_the_first_chunk(monkeypatch, number=signal.SIGINT):
    monkeypatch.setattr(learning.Progress, "reach", lambda *_: signal.raise_signal(number))


@pytest.fixture(params=["svm", "jsonl"])
def stopped(request, folder):
    """The command and the checkpoint of a training that was stopped after its first chunk."""
    words = list(KEPT)
    if request.param == "jsonl":
        words[1] = str(write_jsonl(Path("rows.jsonl"), draw()))
    words += ["--holdout", ".1", "--class-weight", "balanced"]
    with pytest.MonkeyPatch.context() as patch, small_chunks(n_rows=7, n_bytes=200):
        stop_after_the_first_chunk(patch)
        said = run(*words, code=130).words
    assert said.endswith("Stopped. Go on with: thresher train --resume state.ckpt")
    assert not Path("m").exists()
    return words, Path("state.ckpt")


def test_going_on_from_a_checkpoint_gives_the_same_bits(stopped, folder, monkeypatch):
    words, state = stopped
    state.rename("moved.ckpt")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert "Evaluated by rows." in run("train --resume ../moved.ckpt").stderr
    assert not (folder / "moved.ckpt").exists()
    monkeypatch.chdir(folder)
    other = ["whole" if word == "m" else word for word in words]
    run(*other)
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    assert not state.exists()


def test_a_checkpoint_is_not_replaced_by_another_training(stopped):
    words, state = stopped
    before = state.read_bytes()
    expected = "choose another name for --checkpoint, go on from it with --resume, or replace it"
    assert expected in run(*words, code=5).words
    assert state.read_bytes() == before
    run(*words, "--force")
    assert not state.exists()


def test_a_damaged_checkpoint_is_refused(stopped):
    _, state = stopped
    whole = state.read_bytes()
    assert "it is not a model, but a checkpoint" in run("inspect", state, code=4).stderr
    for damaged in (whole[:-9], whole[:-1] + bytes([whole[-1] ^ 1])):
        state.write_bytes(damaged)
        for words in ("train --resume", "inspect"):
            assert "state.ckpt cannot be loaded: it is damaged" in run(words, state, code=4).words
    run(*WORDS)
    state.write_bytes(Path("m").read_bytes())
    assert "it is not a checkpoint" in run("train --resume", state, code=4).stderr


@pytest.mark.parametrize("change", ["more", "middle"])
def test_data_that_changed_meanwhile_is_an_error(change, folder, monkeypatch):
    lines = Path("rows.svm").read_text() * (3 * SAMPLE // 1000)
    Path("rows.svm").write_text(lines)
    with monkeypatch.context() as patch:
        stop_after_the_first_chunk(patch)
        run(*KEPT, code=130)
    text = bytearray(lines.encode())
    place = text.index(b"\n", len(text) // 2) - 1
    text[place] ^= 1
    Path("rows.svm").write_bytes(text if change == "middle" else lines.encode() + b"1 1:1\n")
    os.utime("rows.svm", ns=(1, 1))
    message = {"more": "The data is not what it was", "middle": "The data was written anew"}[change]
    assert message in run("train", "--resume", "state.ckpt", code=3).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_kept_of_a_stopped_training(monkeypatch, number):
    stop_after_the_first_chunk(monkeypatch, number)
    for words, kept in (
        ([], "kept: --checkpoint FILE would keep it."),
        (["--checkpoint", "state.ckpt"], "Go on with: thresher train --res"),
    ):
        assert kept in run(*WORDS, *words, code=128 + number).words
    said = run("train rows.svm -o m", code=128 + number).stderr
    assert said.endswith("Stopped. Nothing is kept.\n")


def test_signals_before_anything_is_learned(monkeypatch):
    monkeypatch.setattr(learning, "_begun", lambda *_: signal.raise_signal(signal.SIGTERM))
    said = run(*KEPT, code=143).stderr
    assert said == "Stopped. Nothing is kept.\n"
    assert os.listdir() == ["rows.svm"]


@pytest.mark.jit
@pytest.mark.parametrize("method", ["ftrl", "stabilized-truncated-sgd"])
def test_killed_training_goes_on_to_the_same_bits(folder, method):
    write_svmlight(Path("rows.svm"), draw(3000))
    learn = f"train rows.svm --method {method} --max-iter 40 --tol none"
    run(f"{learn} -o whole --quiet")
    kills, command = 0, f"{learn} -o m --checkpoint c --checkpoint-every .001".split()
    while kills < 2:
        process = start(*command, "--quiet")
        until = time.monotonic() + 120
        seen = Path("c").stat().st_mtime_ns if kills else 0
        while process.poll() is None and time.monotonic() < until:
            if Path("c").exists() and Path("c").stat().st_mtime_ns != seen:
                break
            time.sleep(0.002)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "the training ended too soon"
        kills, command = kills + 1, ["train", "--resume", "c"]
    run(*command)
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    left = [name for name in os.listdir() if not name.endswith(".part")]  # of a write cut short
    assert sorted(left) == ["m", "rows.svm", "whole"]
