"""``thresher train``: from files to a model."""

import json
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import thresher
from cases import ALL
from commands import interrupted_training
from kill_training import write_rows
from thresher.cli import main
from thresher.cli.parameters import METHODS, PARAMETERS

pytestmark = pytest.mark.usefixtures("in_chunks")

QUICK = ["--max-iter", "2"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Go to a folder with a small file of rows."""
    monkeypatch.chdir(tmp_path)
    write_rows("rows.svm", n_rows=60, n_columns=40)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, ["train", *map(str, words)])


def fails(code, *words):
    result = run(*words)
    assert result.exit_code == code, result.output
    return result.stderr


def test_every_parameter_is_an_option():
    options = {words.split("/")[0].strip("-").replace("-", "_") for words, _, _ in PARAMETERS}
    options = options - {"seed"} | {"random_state"}
    kinds = [getattr(thresher, name) for name in METHODS.values()]
    parameters = {field.name for kind in kinds for field in fields(kind)}
    # paths are always shared on a stream; training never goes on from an estimator
    assert parameters - options == {"paths", "warm_start", "verbose"}
    assert options <= parameters
    assert sorted(METHODS.values()) == sorted(name for name in ALL if not name.endswith("CV"))


@pytest.mark.parametrize("method", METHODS)
def test_every_method(rows, method):
    result = run("rows.svm", "-o", "m.thresher", "--method", method, *QUICK)
    assert result.exit_code == 0, result.output
    model = thresher.load("m.thresher")
    assert type(model).__name__ == METHODS[method]
    assert model.max_iter == 2
    assert getattr(model, "classes_", np.array([-1, 1])).tolist() == [-1, 1]
    assert "Wrote" in result.stderr


def test_the_summary_for_machines(rows):
    result = run("rows.svm", "-o", "m.thresher", "--json", "--quiet", "--method", "ftrl", *QUICK)
    summary = json.loads(result.stdout)
    assert summary["rows"] == 60
    assert summary["passes"] == 2
    assert summary["classes"] == [-1, 1]
    assert 0 < summary["features"] <= 40
    assert result.stderr == ""


def write_odd_rows(path):
    """Write rows of which one column is in another unit."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 6)) * [1, 1, 1, 1, 1, 1e4]
    lines = [" ".join(f"{k + 1}:{x!r}" for k, x in enumerate(row.tolist())) for row in rows]
    words = [f"{1 if row[0] > 0 else -1} {line}" for row, line in zip(rows, lines, strict=True)]
    Path(path).write_text("\n".join(words) + "\n")
    return Path(path).read_bytes()


@pytest.mark.parametrize("method", ["thresher", "ftrl"])
def test_units_are_mended_in_files_and_told(rows, method):
    write_odd_rows("odd.svm")
    result = run("odd.svm", "-o", "m.thresher", "--method", method, *QUICK)
    words = "1 column was brought to the unit of the others: 6 times 0.001."
    assert f"Units: {words}" in result.stderr
    assert "Warning" not in result.stderr
    assert thresher.load("m.thresher").column_scales_.tolist()[5] == 0.001
    told = json.loads(run("odd.svm", "-o", "m.thresher", "--json", *QUICK).stdout)
    assert told["units"] == words


def test_units_of_a_pipe_are_warned_of(rows):
    piped = write_odd_rows("odd.svm")
    words = ["train", "-", "-o", "m.thresher", "--max-iter", "1", "--method", "ftrl"]
    result = CliRunner().invoke(main, words, input=piped)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Warning: Columns are in very different units: the values of 6") == 1
    assert CliRunner().invoke(main, [*words, "--quiet"], input=piped).stderr == ""


@pytest.mark.parametrize("option", ["--label", "--weight"])
def test_names_of_columns_are_for_rows_that_have_some(rows, option):
    words = fails(2, "rows.svm", "-o", "m.thresher", option, "y", *QUICK)
    assert f"{option} names a column or a key, and svmlight rows have none" in words
    assert not Path("m.thresher").exists()


def test_text_read_twice_is_kept_as_shards(rows):
    run("rows.svm", "-o", "a.thresher", "--method", "ftrl", *QUICK)
    assert (rows / "rows.svm.shards").is_dir()
    made = (rows / "rows.svm.shards" / "index.json").stat().st_mtime_ns
    again = run("rows.svm", "-o", "b.thresher", "--method", "ftrl", *QUICK)
    assert "made earlier" in again.stderr
    assert (rows / "rows.svm.shards" / "index.json").stat().st_mtime_ns == made
    assert Path("a.thresher").read_bytes() == Path("b.thresher").read_bytes()


def test_no_cache(rows):
    result = run("rows.svm", "-o", "m.thresher", "--no-cache", "--method", "ftrl", *QUICK)
    assert result.exit_code == 0
    assert not (rows / "rows.svm.shards").exists()


def test_one_pass_keeps_nothing(rows):
    result = run("rows.svm", "-o", "m.thresher", "--max-iter", "1")
    assert result.exit_code == 0
    assert not (rows / "rows.svm.shards").exists()
    assert thresher.load("m.thresher").n_iter_ == 1
    assert ", 1 pass." in result.stderr


def test_a_size_is_for_each_of_several_classes(rows):
    Path("three.csv").write_text("label,a,b\n" + "0,1,0\n1,0,1\n2,1,1\n" * 10)
    result = run("three.csv", "-o", "m.thresher", "--n-features-to-select", "1")
    assert "Size: 1 feature for each class, as asked for." in result.stderr


def test_sentences_that_are_categories_are_warned_of(rows):
    lines = [{"label": k % 2, "text": f"sentence {k}"} for k in range(30)]
    Path("texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = run("texts.jsonl", "-o", "m.thresher", *QUICK).stderr
    assert "Taken for categories, as their values are strings: 'text'." in words
    assert words.count("Warning: Nearly all values of 'text' differ") == 1


def test_standard_input(rows):
    text, size = Path("rows.svm").read_bytes(), ("--n-features-to-select", "20")
    result = CliRunner().invoke(main, ["train", "-", "-o", "m.thresher", *size], input=text)
    assert result.exit_code == 0, result.output
    from_file = run("rows.svm", "-o", "f.thresher", "--max-iter", "1", "--no-shuffle", *size)
    assert from_file.exit_code == 0
    piped, filed = thresher.load("m.thresher"), thresher.load("f.thresher")
    np.testing.assert_array_equal(piped.coef_, filed.coef_)


def test_classes_and_weights(rows):
    words = ["--classes", "-1,0,1", "--class-weight", "-1=1,0=1,1=3"]
    run("rows.svm", "-o", "m.thresher", "--method", "ftrl", *words, *QUICK)
    model = thresher.load("m.thresher")
    assert model.classes_.tolist() == [-1, 0, 1]
    assert model.class_weight == {-1: 1.0, 0: 1.0, 1: 3.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "m"], "Name a file to train on"),
        (["rows.svm"], "Name the model to write: -o MODEL"),
        (["rows.svm", "-o", "m", "--l1", "1"], "--l1 is no parameter of the method thresher"),
        (["rows.svm", "-o", "m", "--max-iter", "soon"], "'soon' is not a number or auto"),
        (["rows.svm", "-o", "m", "--class-weight", "x"], "neither balanced nor like -1=1,1=5"),
        (["rows.svm", "-o", "m", "--checkpoint-every", "1w"], "write 30s, 5m or 1h"),
        (["-", "-o", "m", "--checkpoint", "c"], "Standard input cannot be read again"),
        (["rows.svm", "-o", "m", "--checkpoint", "-"], "--checkpoint needs a file"),
        (["rows.svm", "-o", "-", "--json"], "both go to standard output"),
        (["--resume", "c", "rows.svm", "--loss", "hinge"], "leave out FILE, --loss"),
    ],
)
def test_wrong_words(rows, words, message):
    assert message in " ".join(fails(2, *words).split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        ("", "is empty"),
        ("# only a comment\n", "not a single row"),
        ("1 1:1\n1 2:1\n", "All rows looked at are of class 1"),
        ("1 1:1\n-1 2:x\n", "line 2"),
        ("1 1:1\n-1 2:nan\n", "line 2"),
    ],
)
def test_bad_files(rows, content, message):
    if content is not None:
        Path("bad.svm").write_text(content)
    assert message in fails(3, "bad.svm", "-o", "m.thresher")
    assert not Path("m.thresher").exists()


def test_a_parameter_out_of_range(rows):
    assert "n_stages=0" in fails(2, "rows.svm", "-o", "m.thresher", "--n-stages", "0")


def test_rows_can_be_left_out(rows):
    with open("rows.svm", "a") as file:
        file.write("1 2:x\n")
    words = ["rows.svm", "-o", "m.thresher", "--on-error", "skip", "--max-iter", "1"]
    for more in ([], ["--quiet"], ["--quiet", "--json"]):
        result = run(*words, *more)
        assert result.exit_code == 0
        assert "1 row left out" in result.stderr
        assert "line 61" in result.stderr


def test_resuming_what_is_no_checkpoint(rows):
    run("rows.svm", "-o", "m.thresher", "--max-iter", "1")
    assert "not a checkpoint" in fails(4, "--resume", "m.thresher")
    assert "no such file" in fails(4, "--resume", "nothing.ckpt")


@pytest.mark.jit
def test_killed_at_fifty_random_moments(tmp_path):
    script = Path(__file__).with_name("kill_training.py")
    done = subprocess.run(
        [sys.executable, script, "50"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "all the same" in done.stdout


def wait_until_it_learns(checkpoint, seconds=240):
    """Wait for a second checkpoint: the first holds nothing but what the command was told."""
    until = time.monotonic() + seconds
    while not (checkpoint.exists() and checkpoint.stat().st_size > 2000):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.jit
def test_ctrl_c_writes_the_checkpoint_and_says_how_to_go_on(tmp_path):
    rows, state = tmp_path / "rows.svm", tmp_path / "state.ckpt"
    write_rows(rows, n_rows=5000)
    words = [rows, "-o", tmp_path / "m.thresher", "--max-iter", "1000000"]
    words += ["--n-features-to-select", "20", "--checkpoint", state, "--checkpoint-every", "0.05s"]
    code, said = interrupted_training(words, lambda _: wait_until_it_learns(state))
    assert code == 130
    assert f"To go on: thresher train --resume {state}" in said
    assert not (tmp_path / "m.thresher").exists()


def test_data_that_changed_meanwhile(rows):
    from thresher.cli.checkpoints import write_checkpoint
    from thresher.cli.recipe import Recipe
    from thresher.estimators.streaming import StreamTraining, training_source

    recipe = Recipe(
        files=[str(rows / "rows.svm")],
        output=str(rows / "m.thresher"),
        method="ftrl",
        parameters={"random_state": 0, "max_iter": 1},
        reading={},
        classes=None,
        cache=True,
        checkpoint=str(rows / "state.ckpt"),
        checkpoint_every=30.0,
    )
    source = training_source(recipe.estimator(), recipe.files, True, {})
    training = StreamTraining.begin(recipe.estimator(), source)
    next(training.steps())
    write_checkpoint(recipe, training)
    write_rows("rows.svm", n_rows=61, n_columns=40)
    assert "The data is not what it was" in fails(3, "--resume", "state.ckpt")
