"""thresher evaluate: the numbers of scikit-learn, over chunks; stability over refits."""

import json
import os

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from cases import make
from commands import draw_objects, run, train_jsonl, write_jsonl
from test_cli_predict import as_matrix
from thresher import load
from thresher.cli.failing import BAD_DATA, BAD_MODEL, USAGE
from thresher.data.sources import files
from thresher.data.sources.given import GivenSource
from thresher.estimators.evaluating import evaluate
from thresher.estimators.refitting import gather, refit_on_halves, rows_like
from thresher.stability import cohen_kappa


def scores(*words):
    result = run("evaluate", *words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_two_classes_are_judged_as_scikit_learn_does(binary_model, tmp_path, monkeypatch):
    objects = draw_objects(50, seed=5)
    rows = write_jsonl(tmp_path / "test.jsonl", objects)
    monkeypatch.setattr(files, "BLOCK", 256)
    found = scores(binary_model[0], rows)
    model, labels = load(binary_model[0]), np.array([one["label"] for one in objects])
    matrix = as_matrix(model, objects)
    assert found["rows"] == 50
    assert found["error"] == pytest.approx(np.mean(model.predict(matrix) != labels))
    assert found["log_loss"] == pytest.approx(log_loss(labels, model.predict_proba(matrix)))
    auc = roc_auc_score(labels == "keep", model.decision_function(matrix))
    assert found["auc"] == pytest.approx(auc)
    assert found["nonzeros"] == np.count_nonzero(model.coef_)


def test_several_classes_have_no_auc(three_classes):
    found = scores(*three_classes)
    model = load(three_classes[0])
    objects = draw_objects(labels=("ash", "elm", "oak"))
    labels = np.array([one["label"] for one in objects])
    matrix = as_matrix(model, objects)
    assert found["auc"] is None
    assert found["error"] == pytest.approx(np.mean(model.predict(matrix) != labels))
    assert found["log_loss"] == pytest.approx(log_loss(labels, model.predict_proba(matrix)))
    assert "AUC" not in run("evaluate", *three_classes).stdout


def test_words_say_the_same_as_json(binary_model):
    found = scores(*binary_model)
    text = run("evaluate", *binary_model).stdout
    assert f"error       {100 * found['error']:.2f} %" in text
    assert f"AUC         {found['auc']:.4f}" in text


def test_weights_count(binary):
    rows, labels = binary
    model = make("FTRLClassifier").fit(rows, labels)
    weights = np.arange(labels.size) % 3
    weighted, _ = evaluate(model, GivenSource([(rows, labels, weights)]))
    repeated, _ = evaluate(model, GivenSource([(rows[np.repeat(range(labels.size), weights)],
                                               np.repeat(labels, weights))]))  # fmt: skip
    assert weighted.error == pytest.approx(repeated.error)
    assert weighted.log_loss == pytest.approx(repeated.log_loss)
    assert weighted.auc == pytest.approx(repeated.auc)


def test_one_class_has_no_auc(binary_model, tmp_path):
    objects = [one for one in draw_objects() if one["label"] == "keep"]
    assert scores(binary_model[0], write_jsonl(tmp_path / "keep.jsonl", objects))["auc"] is None


def test_a_hinge_has_no_log_loss(tmp_path):
    path, rows = train_jsonl(tmp_path, loss="hinge")
    assert scores(path, rows)["log_loss"] is None
    assert "log loss" not in run("evaluate", path, rows).stdout


def test_a_label_never_seen_is_named_with_its_row(binary_model, tmp_path):
    objects = [*draw_objects(3), {"grain": 1, "label": "burn"}]
    result = run("evaluate", binary_model[0], write_jsonl(tmp_path / "x.jsonl", objects))
    assert result.exit_code == BAD_DATA
    assert "The label burn of row 4 is none of the model's classes drop, keep" in result.stderr


def test_rows_without_labels_are_refused(binary_model, tmp_path):
    result = run("evaluate", binary_model[0], write_jsonl(tmp_path / "x.jsonl", [{"grain": 1}]))
    assert (result.exit_code, "label" in result.stderr) == (BAD_DATA, True)


def test_a_model_for_other_data_is_an_error(binary_model, tmp_path):
    rows = write_jsonl(tmp_path / "x.jsonl", [{"gene": 1, "label": "keep"}])
    result = run("evaluate", binary_model[0], rows)
    assert (result.exit_code, "trained on other data" in result.stderr) == (BAD_MODEL, True)


def test_rows_left_out_are_counted(binary_model, tmp_path):
    rows = write_jsonl(tmp_path / "x.jsonl", draw_objects(5))
    rows.write_text(rows.read_text() + "nonsense\n")
    result = run("evaluate", binary_model[0], rows, "--on-error", "skip", "--json")
    assert json.loads(result.stdout)["skipped"] == 1
    assert "line 6" in result.stderr


@pytest.fixture(scope="module")
def sparse_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few")
    return train_jsonl(folder, "ThresherClassifier", n_features_to_select=3)


def test_refits_are_compared_and_come_out_the_same_again(sparse_model):
    found = scores(*sparse_model, "--refits", 3)
    stability = found["stability"]
    assert stability["refits"] == 3
    assert stability["features"] == [3, 3, 3]
    assert stability["low"] <= stability["stability"] <= stability["high"] <= 1
    assert 0 <= stability["in_all"] <= 3
    assert scores(*sparse_model, "--refits", 3) == found
    text = run("evaluate", *sparse_model, "--refits", 3).stdout
    assert f"kappa     {stability['kappa']:.3f}" in text
    assert "3 refits on random halves" in text


def test_two_refits_have_the_kappa_of_their_two_sets(binary):
    rows, labels = binary
    model = make("ThresherClassifier").fit(rows, labels)
    data = gather(GivenSource([(rows[:20], labels[:20]), (rows[20:], labels[20:])]))
    assert (data.rows != rows).nnz == 0
    assert data.labels.tolist() == labels.tolist()
    found = refit_on_halves(model, data, 2, seed=4)
    masks, rng = [], np.random.default_rng(4)
    for number in range(2):
        half = np.sort(rng.permutation(labels.size)[: labels.size // 2])
        refit = make("ThresherClassifier", random_state=4 + number).fit(rows[half], labels[half])
        masks.append(refit.get_support()[np.unique(rows.indices)])
    assert found.kappa == pytest.approx(cohen_kappa(*masks))
    assert found.in_all == np.logical_and(*masks).sum()


@pytest.mark.parametrize(
    "words", [("--label", "bought", "--weight", "wt"), ("--label", "bought"), ("--weight", "wt")]
)
def test_refits_read_rows_as_training_did(words, tmp_path):
    label = "bought" if "bought" in words else "label"
    lines = [f"{i % 3},{i % 5},{1 + i % 2},{i * i % 7 % 2}\n" for i in range(60)]
    rows, path = tmp_path / "shop.csv", tmp_path / "m.thresher"
    rows.write_text(f"price,size,wt,{label}\n" + "".join(lines))
    assert run("train", "-o", path, "--method", "ftrl", *words, rows).exit_code == 0
    assert scores(path, rows, "--refits", 2)["stability"]["refits"] == 2
    data = gather(rows_like(load(path), [str(rows)]))
    weighted = "wt" in words
    assert data.rows.shape[1] == (2 if weighted else 3)
    assert set(data.weights) == ({1.0, 2.0} if weighted else {1.0})


def test_refits_without_features_say_that_nothing_can_be_said(tmp_path):
    path, rows = train_jsonl(tmp_path, l1=1e6)
    assert scores(path, rows, "--refits", 2)["stability"]["stability"] is None
    assert "nothing can be said" in run("evaluate", path, rows, "--refits", 2).stdout


def test_refits_cannot_read_standard_input_twice(binary_model):
    result = run("evaluate", binary_model[0], "-", "--refits", 2, stdin="")
    assert (result.exit_code, "twice" in result.stderr) == (USAGE, True)


def test_refits_cannot_read_a_pipe_twice(binary_model, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it: whoever opens it waits for ever
    result = run("evaluate", binary_model[0], tmp_path / "pipe", "--refits", 2)
    assert (result.exit_code, "a pipe or a device" in result.stderr) == (USAGE, True)


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_a_model_hashes_as_it_does(command, binary_model, tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", draw_objects())
    path = tmp_path / "hashed.thresher"
    make("FTRLClassifier").fit_stream(rows, hash_bits=10).save(path)
    assert run(command, path, rows, "--hash-bits", 10).exit_code == 0
    for model, words in ((path, "by a hash of 10 bits"), (binary_model[0], "without a hash")):
        result = run(command, model, rows, "--hash-bits", 12)
        assert (result.exit_code, words in " ".join(result.stderr.split())) == (USAGE, True)
