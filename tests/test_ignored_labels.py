"""Prediction looks at no label: whatever stands there, every row is predicted, and as without."""

import json

import pytest

from commands import run
from thresher.cli.failing import BAD_DATA
from thresher.data.errors import DataError
from thresher.data.sources.opening import open_source

STRANGE = ["x", "nan", "1,2", "1", "-inf", "0012", ""]
ROWS = {
    "svmlight": lambda label, k: f"{label} 1:{k} 2:1\n",
    "csv": lambda label, k: f'"{label}",{k},1\n',
    "tsv": lambda label, k: f"{label}\t{k}\t1\n",
    "vw": lambda label, k: f"{label} | a:{k} b:1\n",
    "jsonl": lambda label, k: json.dumps({"label": label, "a": k, "b": 1}) + "\n",
    "text": lambda label, k: f"{label}\t{'aa ' * k}bb\n",
}
HEADERS = {"csv": "label,a,b\n", "tsv": "label\ta\tb\n"}


def write(path, form, labels):
    """Write a row for each label, and return the path."""
    lines = [ROWS[form](label, 1 + k % 3) for k, label in enumerate(labels)]
    path.write_text(HEADERS.get(form, "") + "".join(lines))
    return path


@pytest.fixture(params=list(ROWS))
def trained(request, tmp_path):
    """A format, a model of it, and the words that read more such rows."""
    form = request.param
    rows = write(tmp_path / "train", form, [k % 3 // 2 for k in range(60)])
    path = tmp_path / "m.thresher"
    result = run("train", rows, "--format", form, "-o", path, "--method", "ftrl", "--no-cache")
    assert result.exit_code == 0, result.output
    return form, path, tmp_path


def test_strange_labels_are_predicted_as_any(trained):
    form, model, folder = trained
    plain = write(folder / "plain", form, ["1"] * len(STRANGE))
    strange = write(folder / "strange", form, STRANGE)
    words = ("--format", form, "--output", "margin", "--on-error", "skip")
    expected = run("predict", model, plain, *words)
    found = run("predict", model, strange, *words)
    assert (expected.exit_code, found.exit_code) == (0, 0), found.output
    assert found.stdout == expected.stdout
    assert len(found.stdout.splitlines()) == len(STRANGE)


def test_evaluation_stays_strict(trained):
    form, model, folder = trained
    for label in ("nan", "1,2"):
        rows = write(folder / "strange", form, ["1", label])
        assert run("evaluate", model, rows, "--format", form).exit_code == BAD_DATA


@pytest.mark.parametrize("label", [[1, 2], {"a": 1}, 10**400, None, True, "x"])
def test_json_lines_may_have_any_value_for_a_label(label, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"label": 1, "a": 2}) + "\n" + json.dumps({"label": label, "a": 3}))
    (chunk,) = open_source(path, ignore_labels=True).chunks()
    assert (len(chunk), chunk.labels) == (2, None)


def test_svmlight_labels_are_words_without_a_colon(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("x qid:3 1:2 # a comment\n1:2\n" + "9" * 30 + " 1:2\nx # none\n" + "é 1:2\n")
    (chunk,) = open_source(path, ignore_labels=True).chunks()
    assert chunk.starts.tolist() == [0, 1, 2, 3, 3, 4]
    path.write_text("x 1:2\ny 1:2 z\n")
    with pytest.raises(DataError, match="line 2, column 7: 'z' is not a pair"):
        list(open_source(path, ignore_labels=True).chunks())
    path.write_text("x\r1:2\n\r 1:2\n")
    with pytest.raises(DataError, match="line 1, column 2: a carriage return"):
        list(open_source(path, ignore_labels=True).chunks())


def test_arrow_columns_of_labels_are_not_looked_at(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"label": [1.0, float("nan"), None], "a": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    (chunk,) = open_source(tmp_path / "rows.parquet", ignore_labels=True).chunks()
    assert (len(chunk), chunk.labels) == (3, None)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_numbers_that_overflow_are_told_with_their_row(command, tmp_path):
    rows, model = tmp_path / "rows.svm", tmp_path / "m.thresher"
    rows.write_text("1 1:1 2:2\n-1 1:-1 2:-2\n" * 30)
    train = ("train", rows, "-o", model, "--method", "sgd", "--no-cache", "--eta0", "10")
    assert run(*train).exit_code == 0
    rows.write_text("1 1:1\n-1 1:-1.7e308 2:-1.7e308\n")
    result = run(command, model, rows, "--json")
    assert result.exit_code == BAD_DATA, result.output
    assert "overflowed while predicting row 2: its values are too large" in result.stderr
    assert "Infinity" not in result.stdout
