"""The studies: data sets that are checked, records that survive, methods of the size wanted."""

import bz2
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from threadpoolctl import threadpool_limits

from experiments import (
    classes,
    data,
    defaults,
    judge,
    markdown,
    planted,
    records,
    regression,
    rivals,
    sizes,
)
from experiments.data import DataSet, Part, StudyError
from thresher import FTRLClassifier
from thresher.demo import Band, Recipe, make_documents
from thresher.online import rda, steps


@pytest.fixture(autouse=True)
def one_thread():
    """Threads of linear algebra get into each other's way where cores are busy."""
    with threadpool_limits(limits=1):
        yield


# ------------------------------------------------------------------------------------ data sets

TEXT = b"+1 1:2 3:1 3:1\n-1 2:4\n+1 1:1\n+1 2:2\n"


def packed(ending):
    """Return the text as a download with such an ending."""
    sink = io.BytesIO()
    if ending == "zip":
        with zipfile.ZipFile(sink, "w") as box:
            box.writestr("folder/rows", TEXT)
    elif ending == "tar.bz2":
        with tarfile.open(fileobj=sink, mode="w:bz2") as box:
            entry = tarfile.TarInfo("folder/rows")
            entry.size = len(TEXT)
            box.addfile(entry, io.BytesIO(TEXT))
    else:
        return bz2.compress(TEXT) if ending == "bz2" else TEXT
    return sink.getvalue()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A public home of downloads, and an empty cache."""
    monkeypatch.delenv("THRESHER_DATA", raising=False)
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    return tmp_path


def declare(monkeypatch, *parts, columns=3):
    monkeypatch.setitem(data.SETS, "tiny", DataSet("tiny", "Tiny", "", "full", columns, parts, ""))


def part_of(home, ending="txt", **facts):
    path = home / f"set.{ending}"
    path.write_bytes(packed(ending))
    known = {"rows": 3, "positives": 2, "member": "rows", "lines": (0, 3), **facts}
    return Part("tiny_train", urls=(path.as_uri(),), **known)


@pytest.mark.parametrize("ending", ["zip", "tar.bz2", "bz2", "txt"])
def test_a_set_is_downloaded_once_and_checked(ending, home, monkeypatch):
    train = part_of(home, ending)
    test = Part("tiny_valid", 1, 1, urls=train.urls, member="rows", lines=(3, 4))
    declare(monkeypatch, train, test)
    assert not data.available("tiny")
    split = data.load("tiny")
    assert split.X_train.toarray().tolist() == [[2, 0, 1], [0, 4, 0], [1, 0, 0]]
    assert split.y_train.tolist() == [1, -1, 1]
    assert split.X_test.toarray().tolist() == [[0, 2, 0]]
    (home / f"set.{ending}").unlink()
    assert data.available("tiny")
    assert data.load_all("tiny")[0].shape == (4, 3)


def test_a_wrong_download_leaves_nothing(home, monkeypatch):
    for facts, message in (
        ({"content": "0" * 64}, "not the published ones"),
        ({"rows": 7}, "has 3 rows, 2 of them positive; there should be 7 and 2"),
        ({"positives": 1}, "there should be 3 and 1"),
    ):
        declare(monkeypatch, part_of(home, **facts))
        with pytest.raises(StudyError, match=message):
            data.load("tiny")
        assert list((home / "cache").iterdir()) == []


def test_what_is_missing_or_damaged_is_an_error(home, monkeypatch):
    part = part_of(home)
    declare(monkeypatch, part)
    data.load("tiny")
    path = home / "cache" / part.file
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(StudyError, match="SHA-256 differs"):
        data.load("tiny")
    path.with_name(f"{path.name}.sha256").unlink()
    with pytest.raises(StudyError, match="download it again"):
        data.load("tiny")
    path.unlink()
    (home / "set.txt").unlink()
    with pytest.raises(StudyError, match=r"cannot be downloaded .* THRESHER_DATA"):
        data.load("tiny")
    declare(monkeypatch, Part("nowhere", 1))
    with pytest.raises(StudyError, match="no public home"):
        data.load("tiny")
    monkeypatch.setenv("THRESHER_DATA", str(home / "set.txt"))
    with pytest.raises(StudyError, match="not a folder"):
        data.load("tiny")
    with pytest.raises(StudyError, match="no data set 'dextre': choose among rcv1-sample, dexter"):
        data.load("dextre")


def test_formats_of_the_challenge():
    for kind, line, pairs in (
        ("pairs", "3:5 1:2", "1:2 3:5"),
        ("indices", "4 2", "2:1 4:1"),
        ("dense", "0 7 0", "2:7"),
    ):
        assert list(data.svmlight_lines(kind, [line], ["-1"])) == [f"-1 {pairs}"]


def test_the_table_of_sets_is_complete():
    papers = ["rcv1-sample", "dexter", "dorothea", "gisette-mini", "arcene"]
    assert data.of_role("paper") == papers
    assert len(data.of_role("new")) == 8
    for facts in data.SETS.values():
        assert facts.licence
        assert all(part.urls or part.sha256 for part in facts.parts)


# -------------------------------------------------------------------------------------- records

TASKS = [{"set": name, "size": size} for name in "ab" for size in (1, 2)]


def test_only_what_is_missing_is_measured(tmp_path):
    path, calls = tmp_path / "new" / "out.jsonl", []

    def work(task):
        calls.append(task)
        if task == TASKS[2] and len(calls) < 5:
            raise ValueError("bad luck")
        return {"error": task["size"] / 10}

    assert records.measure(TASKS, work, path) == ["b 1: ValueError: bad luck"]
    assert records.measure(TASKS, work, path) == []
    assert calls == [*TASKS, TASKS[2]]
    found = records.read(path, ("set", "size"))
    assert found["b", 2] == {"set": "b", "size": 2, "error": 0.2}
    records.append(path, {**TASKS[0], "error": 7})
    assert records.read(path, ("set", "size"))["a", 1]["error"] == 7
    assert records.measure(TASKS[:1], work, path, again=True) == []
    assert records.read(path, ("set", "size"))["a", 1]["error"] == 0.1
    assert len(path.read_text().splitlines()) == len(TASKS)


def test_half_a_line_of_a_killed_run_is_left_out(tmp_path):
    path = tmp_path / "out.jsonl"
    records.append(path, {"set": "a", "size": 1})
    path.write_bytes(path.read_bytes() + b'{"set": "b", "si')
    assert list(records.read(path, ("set", "size"))) == [("a", 1)]
    records.append(path, {"set": "b", "size": 2})
    with pytest.raises(StudyError, match="line 2, is damaged"):
        records.read(path, ("set", "size"))


def test_some_tasks():
    assert records.some(TASKS, ["set=a", "size=2"]) == [TASKS[1]]
    assert records.some(TASKS, ["set=a", "set=b"]) == TASKS
    for wrong in ("set=c", "colour=red", "set"):
        with pytest.raises(StudyError, match="fits no task"):
            records.some(TASKS, [wrong])


def test_a_study_prints_its_table_and_fills_a_page(tmp_path, capsys):
    page, out = tmp_path / "page.md", str(tmp_path / "out.jsonl")
    page.write_text("Before\n<!-- sum -->\nold\n<!-- end of sum -->\nafter\n")
    tables = {"sum": lambda found: str(sum(one["n"] for one in found))}

    def command(*words):
        return records.study("", tmp_path / "x", TASKS, lambda t: {"n": t["size"]}, tables, words)

    assert command("--out", out, "--page", str(page)) == 0
    assert capsys.readouterr().out == "6\n\n"
    assert page.read_text() == "Before\n<!-- sum -->\n6\n<!-- end of sum -->\nafter\n"
    assert command("--only", "set=z", "--out", out) == 2
    page.write_text("no marks")
    assert command("--only-tables", "--out", out, "--page", str(page)) == 2


# ------------------------------------------------------------------------------------ the judge


def judged(method, wrong, name="dexter", split=0):
    mistakes = [judge.pack(np.array(one, bool)) for one in wrong]
    errors = [float(np.mean(one)) for one in wrong]
    return {
        "set": name, "split": split, "method": method, "tested": len(wrong[0]), "sizes": [20, 50],
        "errors": errors, "losses": errors, "seconds": [1.0, 2.0], "mistakes": mistakes,
        "kappas": [0.5],
    }  # fmt: skip


def test_mistakes_are_packed():
    wrong = np.random.default_rng(0).random(1801) < 0.1
    assert np.array_equal(judge.unpack(judge.pack(wrong), 1801), wrong)


def test_wins_and_losses_are_counted_by_one_rule():
    few, none, many = [1] * 4 + [0] * 96, [0] * 100, [1] * 30 + [0] * 70
    ours, theirs = judged("thresher", [few, none]), judged("l1", [many, none])
    assert judge.wins_and_losses([(ours, theirs)]) == (1, 0, 2)
    assert judge.wins_and_losses([(theirs, ours)]) == (0, 1, 2)
    swapped = judged("l1", [few[::-1], none])  # as many other rows: nobody wins
    assert judge.wins_and_losses([(ours, swapped)]) == (0, 0, 2)


def test_tables_of_the_judge():
    assert [markdown.number(one) for one in (1.234, None, float("nan"))] == ["1.23", "-", "-"]
    many, few = [1] * 20 + [0] * 80, [1] * 10 + [0] * 90
    found = [
        judged(method, [wrong, wrong], name)
        for name in ("dexter", "arcene", "pcmac", "ads")
        for method, wrong in (("thresher", few), ("l1", many))
    ]
    line = judge.table(found).splitlines()[2]
    assert line.startswith("| L1 | 0.512 ± 0.000 (2) | 0.512 ± 0.000 (2) | 0.500 ± 0.000 (4) |")
    assert "| 4, 0 of 4 | 4, 0 of 4 | - | 0.500, 0.500 | 1.000 |" in line
    assert "| Dexter | paper | 0.51 | - | - | - |" in judge.table_by_set(found)


def tiny_rows(n=60, p=30):
    rng = np.random.default_rng(0)
    X = rng.random((n, p)) * (rng.random((n, p)) < 0.5)
    return sparse.csr_matrix(X), np.where(X[:, 0] + X[:, 1] - X[:, 2] > 0.3, 1, -1)


@pytest.mark.jit
@pytest.mark.parametrize("method", rivals.METHODS)
def test_methods_select_about_the_wanted_number(method):
    X, y = tiny_rows()
    selected = rivals.METHODS[method](X, y, 5, 0)
    assert abs(selected.columns.size - 5) <= 2
    assert np.mean((selected.margins(X) > 0) == (y > 0)) > 0.8


@pytest.mark.jit
def test_a_method_is_judged_at_every_size(home, monkeypatch):
    X, y = tiny_rows(80)
    folder = home / "data"
    folder.mkdir()
    with lzma.open(folder / "tiny_all.svm.xz", "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False)
    monkeypatch.setenv("THRESHER_DATA", str(folder))
    declare(monkeypatch, Part("tiny_all", 80), columns=30)
    monkeypatch.setattr(judge, "SIZES", (5, 10, 20))
    monkeypatch.setattr(judge, "STABILITY_SIZES", (5,))
    found = judge.judge({"set": "tiny", "split": 0, "method": "univariate"})
    assert found["sizes"] == [5, 10]  # 20 is more than the share of the columns
    assert found["tested"] == 24
    assert judge.unpack(found["mistakes"][0], 24).mean() == found["errors"][0]
    assert 0 < found["kappas"][0] <= 1


# ------------------------------------------------------------------------------ smaller studies


@pytest.mark.jit
def test_planted_columns_are_counted():
    task = {"data": "make_classification", "seed": 0, "split": 1, "method": "univariate"}
    one = planted.measure(task)
    assert len(one["columns"]) == 10
    assert one["found"] == [sum(column < 10 for column in one["columns"])]
    other = {**one, "columns": [*one["columns"][:5], 490, 491, 492, 493, 494]}
    assert planted.agreement([{**task, **one}, {**task, **other}]) == pytest.approx(5 / 15)
    assert "univariate" in planted.table_of_numbers([{**task, **one}, {**task, **other}])


@pytest.mark.jit
@pytest.mark.parametrize("method", regression.METHODS)
def test_regression_is_measured(method):
    name = "normal, 80 x 500, noise 0.1"
    task = {"data": name, "seed": 0, "size": 20, "method": method}
    found = regression.measure(task)
    assert 0.2 < found["r2"] < 1
    assert 3 <= found["found"] <= 10
    assert f"| {name} | 20 |" in regression.table([{**task, **found}])


@pytest.mark.jit
@pytest.mark.parametrize("method", classes.METHODS)
def test_several_classes_are_measured(method, monkeypatch):
    X, y, _ = classes.digits()
    tiny = classes.Case(X[:300], y[:300], (10,))
    monkeypatch.setattr(classes, "_made", lambda name: tiny)
    found = classes.measure({"data": "digits", "split": 0, "method": method})
    assert found["errors"][0] < 0.6
    assert 0 < found["losses"][0] < 2


def test_cases_of_several_classes():
    for case in (build() for build in classes.CASES.values()):
        assert np.unique(case.y).size >= 4
        assert max(case.sizes) < case.X.shape[1]


@pytest.mark.jit
def test_sizes_are_compared_on_one_path(monkeypatch):
    tiny = Recipe((Band("frequent", 90, 4.0),), 12, n_rows=200, n_columns=100, noise_per_row=10)
    made = make_documents(tiny)
    monkeypatch.setattr(sizes, "make_documents", lambda recipe: made)
    task = {"set": "planted 4", "split": 0}
    found = sizes.measure(task)
    assert found["sizes"] == [10, 20, 50, 100][: len(found["sizes"])]
    assert len(found["errors"]) == len(found["sizes"]) >= 2
    assert 0 <= found["false"] < 1
    assert "| planted 4 |" in sizes.table([{**task, **found}])


def test_defaults_of_the_classics_are_those_of_the_study():
    found = list(records.read(Path("results/defaults.jsonl"), ("method", "set")).values())
    assert len(found) == len(defaults.TASKS)
    chosen = {"FTRL": FTRLClassifier().alpha, "RDA": rda.FIRST} | dict.fromkeys(
        ["FOBOS", "TruncatedGradient", "PlainSGD"], steps.DECAYING
    )
    for method, step in chosen.items():
        best = defaults.ratios_of(method, found).mean(axis=1).argmin()
        setting = defaults.settings_of(method)[best]
        assert setting.get("rate", setting.get("alpha")) == step
        assert f"| {method} | " in defaults.table(found)
    task = {"method": "PlainSGD", "set": "tiny"}
    rows = sparse.csr_matrix(np.eye(6)), np.array([1, -1, 1, -1, 1, -1])
    with mock.patch.object(defaults, "rows_of", return_value={"scaled": rows, "raw": rows}):
        measured = defaults.measure(task)
    assert np.shape(measured["found"]) == (4, 4, 2)
    assert "| PlainSGD | rate " in defaults.table([{**task, **measured}])
