"""thresher predict: a line for every row, in order, or a message that helps."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from cases import make
from commands import draw_objects, run, train_jsonl, write_jsonl, write_svmlight
from thresher import load
from thresher.cli.failing import BAD_DATA, BAD_MODEL, NO_OUTPUT, USAGE
from thresher.data.sources import files


@pytest.fixture
def fresh(tmp_path):
    """Rows that the models have not seen."""
    return write_jsonl(tmp_path / "new.jsonl", draw_objects(30, seed=1))


def as_matrix(model, objects):
    """Return objects as the rows that the model's own columns make of them."""
    matrix = np.zeros((len(objects), model.n_features_in_))
    for row, one in zip(matrix, objects, strict=True):
        row[model._names.number([name for name in one if name != "label"])] = 1.0
    return matrix


def lines(result):
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def test_labels_are_those_of_the_model_in_the_order_of_the_rows(binary_model, fresh):
    model = load(binary_model[0])
    expected = model.predict(as_matrix(model, draw_objects(30, seed=1)))
    assert lines(run("predict", binary_model[0], fresh)) == expected.tolist()


def test_margins_and_probabilities_read_as_the_same_numbers(binary_model, fresh):
    model = load(binary_model[0])
    rows = as_matrix(model, draw_objects(30, seed=1))
    margins = lines(run("predict", binary_model[0], fresh, "--output", "margin"))
    shares = lines(run("predict", binary_model[0], fresh, "--output", "probability"))
    assert [float(line) for line in margins] == model.decision_function(rows).tolist()
    assert [float(line) for line in shares] == model.predict_proba(rows)[:, 1].tolist()


def test_several_classes_have_a_column_each(three_classes, fresh):
    model = load(three_classes[0])
    rows = as_matrix(model, draw_objects(30, seed=1))
    found = lines(run("predict", three_classes[0], fresh, "--output", "probability"))
    table = [[float(cell) for cell in line.split("\t")] for line in found]
    assert table == model.predict_proba(rows).tolist()


@pytest.mark.parametrize("kind", ["binary_model", "three_classes"])
def test_json_says_everything_of_every_row(kind, fresh, request):
    path, _ = request.getfixturevalue(kind)
    model = load(path)
    rows = as_matrix(model, draw_objects(30, seed=1))
    found = [json.loads(line) for line in lines(run("predict", path, fresh, "--json"))]
    assert [one["label"] for one in found] == model.predict(rows).tolist()
    shares = [[one["probability"][name] for name in model.classes_] for one in found]
    assert shares == model.predict_proba(rows).tolist()


def test_order_is_kept_across_blocks_and_files(binary_model, tmp_path, monkeypatch):
    objects = draw_objects(60, seed=2)
    one = write_jsonl(tmp_path / "one.jsonl", objects[:35])
    two = write_jsonl(tmp_path / "two.jsonl", objects[35:])
    whole = write_jsonl(tmp_path / "whole.jsonl", objects)
    expected = lines(run("predict", binary_model[0], whole, "--output", "margin"))
    monkeypatch.setattr(files, "BLOCK", 256)
    assert lines(run("predict", binary_model[0], one, two, "--output", "margin")) == expected


def test_labels_in_the_rows_do_not_matter(binary_model, fresh, tmp_path):
    bare = [{k: v for k, v in one.items() if k != "label"} for one in draw_objects(30, seed=1)]
    unlabelled = write_jsonl(tmp_path / "bare.jsonl", bare)
    assert run("predict", binary_model[0], unlabelled).stdout == (
        run("predict", binary_model[0], fresh).stdout
    )


def test_standard_input_and_compressed_files_are_read(binary_model, fresh, tmp_path):
    expected = run("predict", binary_model[0], fresh).stdout
    piped = run("predict", binary_model[0], "-", "--format", "jsonl", stdin=fresh.read_bytes())
    assert piped.stdout == expected
    packed = tmp_path / "new.jsonl.gz"
    packed.write_bytes(gzip.compress(fresh.read_bytes()))
    assert run("predict", binary_model[0], packed).stdout == expected


def test_a_file_is_written_whole(binary_model, fresh, tmp_path):
    out = tmp_path / "labels.txt"
    result = run("predict", binary_model[0], fresh, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert out.read_text() == run("predict", binary_model[0], fresh).stdout


def test_a_failure_leaves_the_old_file_and_nothing_else(binary_model, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"grain": 1}\n{"grain": \n')
    out = tmp_path / "labels.txt"
    out.write_text("old")
    result = run("predict", binary_model[0], rows, "-o", out)
    assert result.exit_code == BAD_DATA
    assert f"{rows}, line 2" in result.stderr
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl", "labels.txt"}


def test_rows_left_out_are_told_with_their_lines(binary_model, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"grain": 1}\nnonsense\n{"chaff": 1}\n')
    result = run("predict", binary_model[0], rows, "--on-error", "skip", "--quiet")
    assert lines(result) == ["keep", "drop"]
    assert "1 row left out" in result.stderr
    assert "line 2" in result.stderr


def test_a_model_for_other_data_is_an_error_unless_told_otherwise(binary_model, tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", [{"gene1": 2}, {"gene2": 1}])
    out = tmp_path / "labels.txt"
    result = run("predict", binary_model[0], rows, "-o", out)
    assert result.exit_code == BAD_MODEL
    assert "none of the model's 10 features occurs" in result.stderr
    assert not out.exists()
    assert len(lines(run("predict", binary_model[0], rows, "--allow-no-features"))) == 2


def test_rows_without_any_feature_are_legal_among_others(binary_model, tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", [{}, {"grain": 1}])
    assert len(lines(run("predict", binary_model[0], rows))) == 2


def test_a_model_of_numbered_columns_refuses_names(binary, tmp_path, fresh):
    path = tmp_path / "numbers.thresher"
    make("FTRLClassifier").fit(*binary).save(path)
    result = run("predict", path, fresh)
    assert result.exit_code == BAD_DATA
    assert "trained on other data" in result.stderr


def test_probabilities_need_a_loss_that_gives_them(tmp_path, fresh):
    path, _ = train_jsonl(tmp_path, loss="hinge")
    result = run("predict", path, fresh, "--output", "probability")
    assert result.exit_code == USAGE
    assert "loss=hinge gives no probabilities" in result.stderr
    assert "probability" not in json.loads(lines(run("predict", path, fresh, "--json"))[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"", "is empty"),
        (b"1 2:3\n", "not a file that Thresher wrote"),
    ],
)
def test_what_is_no_model_is_refused(content, message, tmp_path, fresh):
    path = tmp_path / "spam.thresher"
    if content is not None:
        path.write_bytes(content)
    result = run("predict", path, fresh)
    assert result.exit_code == BAD_MODEL
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_damaged_model_and_a_directory_are_refused(binary_model, tmp_path, fresh):
    path = tmp_path / "cut.thresher"
    path.write_bytes(binary_model[0].read_bytes()[:-20])
    assert "damaged" in run("predict", path, fresh).stderr
    result = run("predict", tmp_path, fresh)
    assert (result.exit_code, "is a directory" in result.stderr) == (BAD_MODEL, True)


def test_rows_that_cannot_be_read_are_refused(binary_model, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    for name, message in {"none.jsonl": "no such file", "empty.jsonl": "is empty"}.items():
        result = run("predict", binary_model[0], tmp_path / name)
        assert (result.exit_code, message in result.stderr) == (BAD_DATA, True)
    result = run("predict", binary_model[0], tmp_path)
    assert (result.exit_code, "directory" in result.stderr) == (BAD_DATA, True)


def test_output_that_cannot_be_written_is_told(binary_model, tmp_path, fresh):
    result = run("predict", binary_model[0], fresh, "-o", tmp_path / "no" / "out.txt")
    assert (result.exit_code, "folder does not exist" in result.stderr) == (NO_OUTPUT, True)
    result = run("predict", binary_model[0], fresh, "-o", tmp_path)
    assert (result.exit_code, "is a directory" in result.stderr) == (NO_OUTPUT, True)


def start(model, rows, **streams):
    command = [sys.executable, "-m", "thresher", "predict", str(model), str(rows), "--quiet"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **streams)


def test_a_pipe_that_closes_ends_it_without_a_word(binary_model, fresh):
    process = start(binary_model[0], fresh, stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == NO_OUTPUT


CLOSED = """
import os, sys
os.close({stream})
sys.stdin, sys.stdout = None if {stream} == 0 else sys.stdin, None if {stream} == 1 else sys.stdout
from thresher.cli import main
main({words})
"""


@pytest.mark.parametrize(
    ("stream", "file", "code", "message"),
    [(0, "-", BAD_DATA, "standard input: is closed"), (1, None, NO_OUTPUT, "output is closed")],
)
def test_a_stream_that_was_closed_beforehand(binary_model, fresh, stream, file, code, message):
    words = ["predict", str(binary_model[0]), str(file or fresh), "--format", "jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", CLOSED.format(stream=stream, words=words)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1)
    assert message in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_no_space_left_is_said_in_one_line(binary_model, fresh):
    with open("/dev/full", "wb") as full:
        process = start(binary_model[0], fresh, stdout=full)
        words = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() == NO_OUTPUT
    assert words.startswith("Error: No space left")
    assert len(words.splitlines()) == 1


@pytest.fixture(scope="module")
def numbered(binary, tmp_path_factory):
    """A model trained on svmlight text, its rows, and their file."""
    rows, labels = binary
    folder = tmp_path_factory.mktemp("numbers")
    file = write_svmlight(folder / "rows.svm", rows, labels)
    make("FTRLClassifier").fit_stream(file, cache=False).save(folder / "model.thresher")
    return folder / "model.thresher", rows, file


def test_svmlight_rows_are_predicted_to_the_last_bit(numbered, tmp_path):
    path, rows, file = numbered
    margins = load(path).decision_function(rows).tolist()
    found = lines(run("predict", path, file, "--output", "margin"))
    assert [float(line) for line in found] == margins
    bare = write_svmlight(tmp_path / "bare.svm", rows)
    assert lines(run("predict", path, bare, "--output", "margin")) == found


def test_labels_that_are_whole_numbers_are_written_so(numbered):
    path, rows, file = numbered
    assert lines(run("predict", path, file)) == [str(one) for one in load(path).predict(rows)]


def test_other_files_count_columns_as_those_of_training_unless_told(numbered, tmp_path):
    path, rows, file = numbered
    expected = run("predict", path, file).stdout
    from_zero = write_svmlight(tmp_path / "zero.svm", rows, base=0)
    assert run("predict", path, from_zero).exit_code == BAD_DATA
    assert run("predict", path, from_zero, "--index-base", "0").stdout == expected


def test_a_model_of_names_refuses_numbered_columns(binary_model, numbered):
    result = run("predict", binary_model[0], numbered[2])
    assert result.exit_code == BAD_DATA
    assert "trained on other data" in result.stderr
    assert "features by names" in result.stderr
    assert "--format" in result.stderr


def test_a_bad_line_is_told_with_its_place(numbered):
    result = run("predict", numbered[0], "-", stdin="1 2:1\n1 3:x\n")
    assert result.exit_code == BAD_DATA
    assert "standard input, line 2, column 5" in result.stderr
