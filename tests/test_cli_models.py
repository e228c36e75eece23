"""What is done with models: predict, evaluate, inspect, export, report; and rows in other forms."""

import csv
import gzip
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss, r2_score, roc_auc_score

from commands import CLASSES, draw, run, write_csv, write_jsonl, write_svmlight
from format_cases import small_chunks
from thresher import load

FTRL = ("--method", "ftrl", "--l1", ".1", "--max-iter", "5")
HOW = {
    "two": FTRL,
    "three": FTRL,
    "path": ("--n-features-to-select", "4"),
    "numbers": ("--method", "thresher-regressor"),
    "hinge": (*FTRL, "--loss", "hinge"),
}


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of models by name."""
    folder, made = tmp_path_factory.mktemp("models"), {}
    for name, words in HOW.items():
        rows = write_jsonl(folder / f"{name}.jsonl", draw(kind=kind_of(name)))
        made[name] = folder / f"{name}.thresher"
        run("train", rows, "-o", made[name], *words, "--quiet")
    return made


def kind_of(name):
    return name if name in CLASSES else "two"


@pytest.fixture
def new(tmp_path):
    """Rows that the models have not seen."""
    return write_jsonl(tmp_path / "new.jsonl", draw(30, seed=1))


def matrix(rows, name):
    """Return rows as the columns of a model are: words as they occurred in training."""
    known = draw(kind=kind_of(name))
    words = list(dict.fromkeys(word for row in known for word in row if word != "label"))
    return np.array([[row.get(word, 0) for word in words] for row in rows], float)


def predicted(*words, **more):
    return run("predict", *words, **more).stdout.splitlines()


# ---------------------------------------------------------------------------------------- predict


@pytest.mark.parametrize("name", HOW)
def test_predictions_are_those_of_the_model_to_the_last_bit(models, new, name):
    model, rows = load(models[name]), matrix(draw(30, seed=1), name)
    numbers = name == "numbers"
    expected = model.predict(rows) if numbers else model.decision_function(rows)
    with small_chunks(n_rows=4, n_bytes=200):
        margins = predicted(models[name], new, "--what", "margin")
    assert cells(margins) == np.reshape(expected, (30, -1)).tolist()
    labels = [str(label) for label in model.predict(rows).tolist()]
    assert predicted(models[name], new) == labels
    objects = [json.loads(line) for line in predicted(models[name], new, "--json")]
    assert [str(one["prediction" if numbers else "label"]) for one in objects] == labels
    if not hasattr(model, "predict_proba"):
        said = run("predict", models[name], new, "--what", "probability", code=2).stderr
        assert "Choose label or margin" in said
        assert all("probability" not in one for one in objects)
        return
    shares = model.predict_proba(rows)
    lines = predicted(models[name], new, "--what", "probability")
    shown, expected = shares[:, 1:], shares[:, 1].tolist()
    if name == "three":
        shown = shares
        expected = [dict(zip(CLASSES[name], row, strict=True)) for row in shares.tolist()]
    assert cells(lines) == shown.tolist()
    assert [one["probability"] for one in objects] == expected


def cells(lines):
    return [[float(cell) for cell in line.split("\t")] for line in lines]


def test_labels_in_the_rows_do_not_matter(models, new, tmp_path):
    rows = draw(30, seed=1)
    expected = predicted(models["two"], new)
    for label in ({}, {"label": "unheard of"}, {"label": 3}):
        bare = [{**{k: v for k, v in row.items() if k != "label"}, **label} for row in rows]
        assert predicted(models["two"], write_jsonl(tmp_path / "x.jsonl", bare)) == expected


def test_several_files_standard_input_and_compressed_files(models, new, tmp_path):
    once = predicted(models["two"], new)
    packed = tmp_path / "new.jsonl.gz"
    packed.write_bytes(gzip.compress(new.read_bytes()))
    piped = predicted(models["two"], "-", "--format", "jsonl", stdin=new.read_bytes())
    assert piped == predicted(models["two"], packed) == once
    assert predicted(models["two"], new, packed) == once + once


def test_a_file_is_written_whole_or_not_at_all(models, new, tmp_path):
    out, bad = tmp_path / "out.txt", tmp_path / "bad.jsonl"
    assert run("predict", models["two"], new, "-o", out).stdout == ""
    assert out.read_text().splitlines() == predicted(models["two"], new)
    out.write_text("old")
    bad.write_text('{"grain": 1}\n{"grain": \n')
    result = run("predict", models["two"], bad, "-o", out, "--force", code=3)
    assert f"{bad}, line 2" in result.stderr
    assert out.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_rows_of_other_data_are_an_error_unless_allowed(models, tmp_path):
    rows = write_jsonl(tmp_path / "x.jsonl", [{"gene": 1, "label": "keep"}] * 2)
    some = write_jsonl(tmp_path / "y.jsonl", [{"label": "keep"}, {"grain": 1, "label": "keep"}])
    for command in ("predict", "evaluate"):
        said = run(command, models["two"], rows, code=4).stderr
        assert said.startswith("Error: None of the model's 10 features occurs in any of the 2 rows")
        run(command, models["two"], rows, "--allow-no-features")
        run(command, models["two"], some)


def test_rows_left_out_are_named_quiet_or_not(models, tmp_path):
    rows = write_jsonl(tmp_path / "x.jsonl", draw(3))
    rows.write_text(rows.read_text() + "nonsense\n" * 7)
    for command in ("predict", "evaluate"):
        said = run(command, models["two"], rows, "--on-error", "skip", "--quiet").stderr
        assert "7 rows were left out:" in said
        assert "line 4" in said
        assert said.endswith("...\n")


# --------------------------------------------------------------------------------------- evaluate


def figures(*words):
    return json.loads(run("evaluate", *words, "--json").stdout)


@pytest.mark.parametrize("name", ["two", "three", "hinge", "path"])
def test_classes_are_evaluated_as_scikit_learn_does(models, tmp_path, name):
    drawn = draw(50, seed=5, kind=kind_of(name))
    rows = write_jsonl(tmp_path / "test.jsonl", drawn)
    model, labels = load(models[name]), np.array([row["label"] for row in drawn])
    X = matrix(drawn, name)
    with small_chunks(n_rows=7, n_bytes=400):
        found = figures(models[name], rows)
    assert found["error"] == pytest.approx(np.mean(model.predict(X) != labels))
    assert found["confusion"] == confusion_matrix(labels, model.predict(X)).tolist()
    known = name != "hinge"
    expected = log_loss(labels, model.predict_proba(X)) if known else None
    assert found["log_loss"] == (pytest.approx(expected) if known else None)
    two = name != "three"
    expected = roc_auc_score(labels == "keep", model.decision_function(X)) if two else None
    assert found["auc"] == (pytest.approx(expected) if two else None)
    text = run("evaluate", models[name], rows).stdout
    assert f"error     {found['error']:.2%}" in text
    assert ("AUC" in text, "log loss" in text) == (two, known)
    assert text.splitlines()[-1].split() == [
        CLASSES[kind_of(name)][-1],
        *map(str, map(int, found["confusion"][-1])),
    ]


def test_numbers_are_evaluated_as_scikit_learn_does(models, tmp_path):
    drawn = draw(50, seed=5, kind="numbers")
    rows = write_jsonl(tmp_path / "test.jsonl", drawn)
    model, numbers = load(models["numbers"]), [row["label"] for row in drawn]
    found = figures(models["numbers"], rows)
    assert found["r2"] == pytest.approx(r2_score(numbers, model.predict(matrix(drawn, "numbers"))))
    assert "R2        0." in run("evaluate", models["numbers"], rows).stdout


def test_labels_that_cannot_be_evaluated_are_named(models, tmp_path):
    for row, message in (
        ({"grain": 1, "label": "burn"}, "'burn' at row 4 is not among the classes"),
        ({"grain": 1}, "line 4"),
        ({"grain": 1, "label": 7}, "line 4"),
    ):
        rows = write_jsonl(tmp_path / "x.jsonl", [*draw(3), row])
        assert message in run("evaluate", models["two"], rows, code=3).stderr


# ---------------------------------------------------------------------------------------- inspect


def inspected(*words):
    return run("inspect", *words).stdout


@pytest.mark.parametrize("name", HOW)
def test_inspect_shows_what_there_is_strongest_first(models, name):
    model, found = load(models[name]), json.loads(inspected(models[name], "--json"))
    features = found["features"]
    assert found["method"] == type(model).__name__
    assert found["parameters"]["random_state"] == 0
    assert found["provenance"]["files"] == [f"{name}.jsonl"]
    effects = [abs(one["effect"]) for one in features]
    assert effects == sorted(effects, reverse=True)
    known = {one["name"]: one.get("weights", [one["weight"]]) for one in features}
    names = model.get_feature_names_out()
    coef = np.atleast_2d(model.coef_)[:, model.get_support()]
    assert known == dict(zip(names, coef.T.tolist(), strict=True))
    assert inspected(models[name]).startswith(f"{found['method']}\n")
    text = inspected(models[name]).partition("\nfeature ")[2]
    places = [text.index(f"\n{one['name']} ") for one in features]
    assert places == sorted(places)
    assert ("frequency" in text) == (name in ("path", "numbers"))


def test_bars_and_order_follow_the_effect_not_the_weight(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) * [1, 1e4]
    rows = tmp_path / "x.csv"
    labels = (X @ [0.5, 2e-4] + 0.1 * rng.normal(size=80) > 0).astype(int)
    lines = [f"{label},{small},{large}\n" for label, (small, large) in zip(labels, X, strict=True)]
    rows.write_text("label,small,large\n" + "".join(lines))
    run("train", rows, "-o", tmp_path / "m", "--n-features-to-select", "2")
    features = json.loads(inspected(tmp_path / "m", "--json"))["features"]
    assert [one["name"] for one in features] == ["large", "small"]
    assert features[0]["weight"] < features[1]["weight"]
    large, small = [line for line in inspected(tmp_path / "m").splitlines() if "█" in line]
    assert (large.count("█"), large.split()[0]) == (16, "large")
    assert large.count("█") > small.count("█")


def test_the_number_shown_and_how_long_lines_are(models, monkeypatch):
    text = inspected(models["two"], "--top", 3)
    assert "7 more features: --all shows them." in text
    assert text.count("█\n") <= 3
    assert "more features" not in inspected(models["two"], "--all")
    assert all(line == line.rstrip() for line in text.splitlines())
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, inspected(models["path"]).splitlines())) > 100  # in a pipe
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes what it writes to for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    assert max(map(len, inspected(models["path"]).splitlines())) < 80


def test_the_path_of_sizes(models):
    path = json.loads(inspected(models["path"], "--sizes", "--json"))
    model = load(models["path"])
    assert (path["sizes"], path["size"]) == (model.path_.sizes.tolist(), 4)
    lines = inspected(models["path"], "--sizes").splitlines()
    assert [int(line.split()[0]) for line in lines[1:-2]] == path["sizes"]
    assert [line for line in lines if line.endswith("*")] == [lines[path["sizes"].index(4) + 1]]
    for command in (("inspect",), ("export", "-o", models["two"].with_suffix(".csv"))):
        said = run(command[0], models["two"], *command[1:], "--sizes", code=2).stderr
        assert "has one size only" in said


def test_names_and_labels_cannot_steer_the_terminal(tmp_path):
    nasty = "\x1b[31mred\u202e[bold]\x9b"
    rows = [{**row, nasty: k % 2, "label": f"{k % 2}\x07"} for k, row in enumerate(draw())]
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    run("train", path, "-o", tmp_path / "m", *FTRL)
    for words in (["inspect"], ["inspect", "--json"], ["evaluate", path], ["predict", path]):
        text = run(words[0], tmp_path / "m", *words[1:]).stdout
        assert all(line.isprintable() for line in text.splitlines())
    assert nasty in [
        one["name"] for one in json.loads(inspected(tmp_path / "m", "--json"))["features"]
    ]


def test_a_model_without_features(tmp_path):
    rows = write_jsonl(tmp_path / "x.jsonl", draw())
    run("train", rows, "-o", tmp_path / "m", "--method", "ftrl", "--l1", "1e6")
    assert "No feature has a weight." in inspected(tmp_path / "m")
    assert set(predicted(tmp_path / "m", rows)) <= {"drop", "keep"}


# ------------------------------------------------------------------------------ files of models


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"", "is empty"),
        (b"1 2:3\n", "not a file that Thresher wrote"),
        ("cut", "damaged"),
        ("flipped", "damaged"),
        ("folder", "is a directory"),
    ],
)
def test_what_is_no_model_is_refused(models, new, tmp_path, content, message, report):
    path, whole = tmp_path / "m", models["two"].read_bytes()
    if content == "folder":
        path.mkdir()
    elif content is not None:
        flipped = whole[:-9] + bytes([whole[-9] ^ 4]) + whole[-8:]
        path.write_bytes({"cut": whole[:-20], "flipped": flipped}.get(content, content))
    more = {"export": ["-o", tmp_path / "x.csv"], "report": ["-o", tmp_path / "x"], "inspect": []}
    for command in ("predict", "inspect", "evaluate", "export", "report"):
        words = more.get(command, [new])
        said = run(command, path, *words, code=4).stderr
        assert message in said
        assert len(said.splitlines()) == 1
        assert "name its file" in run(command, "-", *words, code=4).stderr


@pytest.fixture
def report(monkeypatch):
    """Replace the page by one that is quick to write."""
    room = types.ModuleType("thresher.report")
    room.write = lambda model, path, test=None: Path(path).write_text(
        f"{type(model).__name__} {0 if test is None else sum(map(len, test.chunks()))}"
    )
    monkeypatch.setitem(sys.modules, "thresher.report", room)


def test_a_report_may_evaluate_rows(models, new, tmp_path, report):
    page = tmp_path / "x.html"
    run("report", models["two"], "-o", page)
    assert page.read_text() == "FTRLClassifier 0"
    run("report", models["two"], "-o", page, "--test", new, "--test", new, "--force")
    assert page.read_text() == "FTRLClassifier 60"


def test_exports_are_chosen_by_the_ending(models, tmp_path):
    for ending in (".csv", ".tsv", ".json", ".parquet", ".onnx"):
        pytest.importorskip({".parquet": "pyarrow", ".onnx": "onnx"}.get(ending, "json"))
        out, expected = tmp_path / f"x{ending.upper()}", tmp_path / f"y{ending}"
        assert run("export", models["path"], "-o", out).stderr == f"Wrote {out}.\n"
        load(models["path"]).export(expected)
        assert out.read_bytes() == expected.read_bytes()


def test_exports_have_options_of_their_own(models, tmp_path):
    out = tmp_path / "x.csv"
    run("export", models["path"], "-o", out, "--sizes")
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    sizes = {row["size"] for row in csv.DictReader(lines)}
    assert len(sizes) == len(load(models["path"]).path_.sizes)
    for words, message in {
        ("x.txt",): "its ending must be one of .csv",
        ("x.onnx", "--sizes"): "--sizes is for tables",
        ("x.csv", "--dtype", "float64", "--force"): "--dtype is for graphs",
        ("-",): "-o must name a file",
    }.items():
        path = words[0] if words[0] == "-" else tmp_path / words[0]
        assert message in run("export", models["path"], "-o", path, *words[1:], code=2).words


# ----------------------------------------------------------------------- formats, crossed with all


FORMS = {".jsonl": write_jsonl, ".csv": write_csv, ".svm": write_svmlight}


@pytest.mark.parametrize("ending", FORMS)
def test_all_commands_read_all_formats_alike(tmp_path, ending):
    rows = FORMS[ending](tmp_path / f"train{ending}", draw())
    test = FORMS[ending](tmp_path / f"test{ending}", draw(30, seed=1))
    binary = {path: path.with_suffix(".rows") for path in (rows, test)}
    for path, made in binary.items():
        assert run("convert", path, "-o", made).stderr.splitlines()[-1].startswith(f"Wrote {made}:")
    run("train", rows, "-o", tmp_path / "text", *FTRL)
    run("train", binary[rows], "-o", tmp_path / "binary", *FTRL)
    one, other = load(tmp_path / "text"), load(tmp_path / "binary")
    assert np.array_equal(np.sort(one.coef_), np.sort(other.coef_)) or ending == ".csv"
    expected = predicted(tmp_path / "text", test)
    assert predicted(tmp_path / "text", binary[test]) == expected
    assert figures(tmp_path / "text", binary[test]) == figures(tmp_path / "text", test)
    right = np.mean([("keep", "1")[ending == ".svm"] == one for one in expected])
    assert 0.2 < right < 0.8


def test_what_is_not_given_is_as_in_training(tmp_path):
    rows = write_jsonl(tmp_path / "a.jsonl", [{"y": r.pop("label"), **r} for r in draw()])
    run("train", rows, "-o", tmp_path / "m", "--label", "y", "--hash-bits", 8, *FTRL)
    assert figures(tmp_path / "m", rows)["rows"] == 60
    zero = write_svmlight(tmp_path / "zero.svm", draw(), base=0)
    one = write_svmlight(tmp_path / "one.svm", draw(), base=1)
    run("train", zero, "-o", tmp_path / "n", "--index-base", "0", *FTRL)
    expected = predicted(tmp_path / "n", zero)
    assert predicted(tmp_path / "n", one, "--index-base", "1") == expected


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--sep", ";"], 2, "--sep ';' means nothing for svmlight rows"),
        (["--label", "y"], 2, "--label 'y' means nothing"),
        (["--hash-bits", "99"], 2, "--hash-bits 99: it must be 1 to 30"),
        (["--sep", "ab"], 2, "--sep 'ab': it must be one character"),
        (["--categories", "label"], 2, "'label' is the label"),
        (["--index-base", "2"], 2, "'2' is not one of 'auto', '0', '1'"),
        (["--format", "jsonl"], 3, "rows"),
        (["--format", "npz"], 3, "rows.svm"),
    ],
)
def test_options_of_reading_are_checked_alike(tmp_path, words, code, message):
    rows = write_svmlight(tmp_path / "rows.svm", draw())
    run("train", rows, "-o", tmp_path / "m", *FTRL)
    out = ["-o", tmp_path / "out"]
    for command, before, after in (
        ("train", [], out),
        ("convert", [], out),
        ("predict", [tmp_path / "m"], []),
        ("evaluate", [tmp_path / "m"], []),
    ):
        assert message in run(command, *before, rows, *after, *words, code=code).words


def test_names_and_numbers_are_not_mixed(models, tmp_path):
    rows = write_svmlight(tmp_path / "rows.svm", draw())
    assert "features by names" in run("predict", models["two"], rows, code=3).stderr
    assert "--format" in run("evaluate", models["two"], rows, code=3).stderr


# ----------------------------------------------------------------------- binary rows and the cache


def test_convert_tells_what_it_wrote(tmp_path):
    rows, out = write_jsonl(tmp_path / "x.jsonl", draw()), tmp_path / "x.rows"
    found = json.loads(run("convert", rows, "-o", out, "--json").stdout)
    size = out.stat().st_size
    assert found == {"output": str(out), "rows": 60, "bytes": size, "skipped": 0}
    bare = write_jsonl(tmp_path / "bare.jsonl", [{"grain": 1}])
    assert "label" in run("convert", bare, "-o", out, "--force", code=3).stderr
    assert out.stat().st_size == size
    run("convert", bare, "-o", out, "--force", "--unlabelled")
    assert "-o must name a file" in run("convert", rows, "-o", "-", code=2).stderr


def test_large_text_is_kept_in_the_cache_shown_and_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("thresher.formats.cache.LEAST", 1)
    rows = write_jsonl(tmp_path / "x.jsonl", draw())
    said = [
        run("train", rows, "-o", tmp_path / f"m{k}", *FTRL, *words).words
        for k, words in enumerate([["--no-cache"], [], []])
    ]
    assert ["Keeping the rows" in one for one in said] == [False, True, False]
    assert "from the cache" in said[2]
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()
    kept = json.loads(run("cache", "--json").stdout)["kept"]
    assert [one["files"] for one in kept] == [[str(rows)]]
    assert str(rows) in run("cache").stdout
    assert f"Freed {kept[0]['n_bytes']:,} bytes" in run("cache", "--clear").stdout
    assert json.loads(run("cache", "--json").stdout)["kept"] == []
    assert json.loads(run("cache", "--clear", "--json").stdout) == {"freed": 0}


def test_the_demonstration_is_run(monkeypatch):
    called = []
    room = types.ModuleType("thresher.demo")
    room.main = lambda quick, seed: called.append((quick, seed))
    monkeypatch.setitem(sys.modules, "thresher.demo", room)
    run("demo", "--quick")
    run("demo", "--seed", 3)
    assert called == [(True, 0), (False, 3)]
