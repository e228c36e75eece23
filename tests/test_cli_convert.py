"""thresher convert and thresher export: rows as shards, models for other programs."""

import csv
import errno
import json
import os

import pytest

from commands import draw_objects, run, train_jsonl, write_jsonl
from thresher import load
from thresher.cli.failing import BAD_DATA, NO_OUTPUT, USAGE


@pytest.fixture
def rows(tmp_path):
    return write_jsonl(tmp_path / "rows.jsonl", draw_objects(20, seed=7))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return train_jsonl(tmp_path_factory.mktemp("model"))[0]


def test_shards_are_written_and_told(rows, tmp_path):
    result = run("convert", rows, "-o", tmp_path / "rows.shards")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 shard, 10 columns, 20 rows" in result.stderr
    assert (tmp_path / "rows.shards").is_dir()


def test_json_says_what_was_written(rows, tmp_path):
    folder = str(tmp_path / "rows.shards")
    result = run("convert", rows, "-o", folder, "--json", "--quiet")
    assert json.loads(result.stdout) == {
        "folder": folder, "rows": 20, "columns": 10, "shards": 1
    }  # fmt: skip
    assert result.stderr == ""


def test_a_model_reads_shards_as_it_reads_their_file(model, rows, tmp_path):
    """The shards number their features in an order of their own."""
    run("convert", rows, "-o", tmp_path / "rows.shards")
    expected = run("predict", model, rows, "--output", "margin").stdout
    assert run("predict", model, tmp_path / "rows.shards", "--output", "margin").stdout == expected


def test_what_is_there_is_replaced_only_by_force(rows, tmp_path):
    folder = tmp_path / "rows.shards"
    run("convert", rows, "-o", folder)
    again = run("convert", rows, "-o", folder)
    assert (again.exit_code, "--force" in again.stderr) == (NO_OUTPUT, True)
    assert run("convert", rows, "-o", folder, "--force").exit_code == 0


def test_what_is_no_shards_is_never_replaced(rows, tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    result = run("convert", rows, "-o", folder, "--force")
    assert result.exit_code == NO_OUTPUT
    assert "choose another name" in result.stderr
    assert (folder / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("command", ["convert", "train"])
def test_a_full_disk_is_no_fault_of_the_data(rows, tmp_path, monkeypatch, command):
    """Training keeps its rows as shards too."""

    def fail(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    options = ["--method", "sgd"] if command == "train" else []
    result = run(command, rows, "-o", tmp_path / "out", *options)
    assert (result.exit_code, "no space left" in result.stderr) == (NO_OUTPUT, True)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.jsonl"]


def test_rows_without_labels_are_converted_on_request(tmp_path):
    rows = write_jsonl(tmp_path / "bare.jsonl", [{"grain": 1}, {"chaff": 2}])
    refused = run("convert", rows, "-o", tmp_path / "shards")
    assert (refused.exit_code, "label" in refused.stderr) == (BAD_DATA, True)
    assert not (tmp_path / "shards").exists()
    assert run("convert", rows, "-o", tmp_path / "shards", "--unlabelled").exit_code == 0


def test_rows_left_out_are_told(rows, tmp_path):
    rows.write_text(rows.read_text() + "nonsense\n")
    result = run("convert", rows, "-o", tmp_path / "shards", "--on-error", "skip")
    assert (result.exit_code, "line 21" in result.stderr) == (0, True)


@pytest.mark.parametrize(("name", "words"), [("none.jsonl", "no such"), ("empty.jsonl", "empty")])
def test_what_cannot_be_read_leaves_no_folder(name, words, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    result = run("convert", tmp_path / name, "-o", tmp_path / "shards")
    assert (result.exit_code, words in result.stderr) == (BAD_DATA, True)
    assert not (tmp_path / "shards").exists()


def test_coefficients_are_exported_by_the_ending(model, tmp_path):
    weights = load(model).coef_[0]
    for ending in ("csv", "tsv", "json"):
        out = tmp_path / f"weights.{ending}"
        assert run("export", model, "-o", out).exit_code == 0
        if ending == "json":
            table = json.loads(out.read_text())
        else:
            with out.open(newline="") as file:
                table = list(csv.DictReader(file, delimiter="\t" if ending == "tsv" else ","))
        found = {one["feature"]: float(one["weight"]) for one in table}
        assert len(found) == 1 + (weights != 0).sum()
        names = load(model)._names
        assert all(found[names.name(column)] == w for column, w in enumerate(weights) if w)


def test_parquet_is_exported(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run("export", model, "-o", tmp_path / "w.parquet").exit_code == 0
    assert parquet.read_table(tmp_path / "w.parquet").num_rows == 11


def test_other_endings_are_refused_before_anything_is_read(tmp_path):
    result = run("export", tmp_path / "none", "-o", tmp_path / "w.xlsx")
    assert (result.exit_code, ".parquet" in result.stderr) == (USAGE, True)
