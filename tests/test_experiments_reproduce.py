"""The paper's study: scalings, the choice of settings, sizes met, tables, and the whole of it."""

import lzma

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from experiments import data, records
from experiments.data import DataSet, Part, Split
from experiments.reproduce import __main__ as command
from experiments.reproduce import lines, matched, paper, readings, tables, theory, traces
from experiments.reproduce.methods import METHODS, Knob

OUTSIDE = ("sklearn-sgd-l1", "liblinear-l1")


def test_scalings_learn_from_training_rows_only():
    train = sparse.csr_matrix([[0.0, 2, 1], [4, 2, 0], [0, 2, 0], [4, 2, 3]])
    test = sparse.csr_matrix([[8.0, 1, 0]])
    a, b = lines.unit_variance(train, test)
    deviation = np.std(train.toarray(), axis=0)
    assert np.std(a.toarray(), axis=0)[[0, 2]] == pytest.approx(1)
    assert b.toarray()[0] == pytest.approx([8 / deviation[0], 1, 0])
    a, b = lines.nonzero_rms(train, test)
    assert a.toarray()[1] == pytest.approx([1, 1, 0])
    assert b.toarray()[0] == pytest.approx([2, 0.5, 0])
    (rows,) = lines.row_l2(sparse.csr_matrix([[3.0, 4], [0, 0]]))
    assert rows.toarray().tolist() == [[0.6, 0.8], [0, 0]]


def score(name, errors, percent):
    return lines.Score({"name": name}, errors, percent)


BEST = score("best", [4.0, 6.0, 5.0, 5.0], 50.0)  # standard error 0.408


@pytest.mark.parametrize(
    ("others", "chosen"),
    [
        ([score("near", [5.4] * 4, 10.0)], "near"),
        ([score("far", [5.5] * 4, 10.0)], "best"),
        ([score("near", [5.4] * 4, 10.0), score("nearer", [5.1] * 4, 10.0)], "nearer"),
        ([score("denser", [5.0] * 4, 80.0)], "best"),
        ([score("empty", [5.1] * 4, 0.0)], "best"),
    ],
)
def test_the_sparsest_within_one_standard_error_is_chosen(others, chosen):
    assert lines.sparsest_of_the_best([BEST, *others])["name"] == chosen
    assert lines.sparsest_of_the_best([*others, BEST])["name"] == chosen


def test_an_empty_model_is_chosen_only_if_all_are():
    scores = [score("a", [9.0] * 3, 0.0), score("b", [8.0] * 3, 0.0)]
    assert lines.sparsest_of_the_best(scores)["name"] == "b"


@pytest.mark.parametrize(
    ("knob", "share", "value"),
    [
        (Knob("l1", 1e-4, 1.0), 0.5, 1e-2),
        (Knob("C", 100.0, 1.0), 1.0, 1.0),
        (Knob("t", 0.5, 0.9, "linear"), 0.5, 0.7),
        (Knob("r", 0.5, 0.995, "complement"), 0.5, 0.95),
    ],
)
def test_knobs_run_from_dense_to_sparse(knob, share, value):
    assert knob.at(share) == pytest.approx(value)


def test_sizes_are_met_by_bisection():
    counts = {}

    def count(share):
        counts[share] = round(2000 * np.exp(-6 * share))
        return counts[share]

    assert abs(counts.get(matched.bisect(count, 100), 0) - 100) <= 1
    assert matched.bisect(lambda share: 5000 if share < 0.4 else 3, 50) == pytest.approx(
        0.4, abs=0.1
    )


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_can_be_built_with_its_settings(method):
    for scaling in lines.SCALINGS:
        params = method.settings(scaling)[-1]
        built = method.build(method.losses[0], 3, params).get_params()
        assert built["random_state"] == 3
        assert {name: built[name] for name in params} == params
    if method.in_paper:
        assert not method.build("hinge", 0, method.settings("unit-variance")[0]).fit_intercept
        assert method.build("hinge", 0, method.settings("row-l2")[0]).fit_intercept


def test_the_papers_numbers():
    assert paper.printed("error", "dexter", "stabilized-paper", "log_loss") == (6.41, 0.43)
    assert paper.printed("percent", "rcv1-sample", "rda", "hinge") == (11.38, 0.10)
    assert paper.printed("kappa", "arcene", "truncated-gradient", "log_loss").mean == 0.35
    assert paper.printed("kappa", "arcene", "rda", "hinge") is None
    assert paper.printed("error", "a9a", "rda", "hinge") is None
    assert paper.size("gisette-mini") == (5000, 13.0, 6000, 1000)
    sides = [tables.verdict(one, paper.Printed(5.0, 0.5)) for one in (5.9, 3.0, 6.1)]
    assert sides == ["agrees", "lower", "higher"]
    both = [tables.within_both([mean - 1, mean + 1], paper.Printed(5.0, 0.5)) for mean in (6.9, 7)]
    assert both == [True, False]


def test_wins_and_losses_have_one_rule():
    one, other = [4.0, 6.0], [5.5, 6.5]  # means 5 and 6; standard errors 1 and 0.5
    assert tables.outcome(one, other, -1) == tables.outcome(other, one, -1) == "tied"
    assert tables.outcome(one, [7.0, 7.2], -1) == tables.outcome([7.0, 7.2], one, 1) == "won"
    assert tables.outcome([7.0, 7.2], one, -1) == "lost"
    assert tables.outcome([0.4], [0.4], 1) == "tied"


def test_a_run_that_overflows_is_all_wrong(monkeypatch):
    def overflow(*_):
        raise ValueError("The numbers overflow in row 3")

    monkeypatch.setattr(lines, "fit", overflow)
    rows = sparse.csr_matrix(np.eye(4))
    split = Split(rows, np.ones(4), rows, np.ones(4))
    found = lines.result(METHODS["sgd"], "hinge", {}, split, 0)
    assert (found.error, found.percent) == (100.0, 100.0)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A set of 60 rows and 100 columns, with the outside methods only."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 100)) < 0.3, rng.integers(1, 9, (120, 100)), 0.0)
    signal = X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(0, 0.5, 120)
    y = np.where(signal > np.median(signal), 1, -1)
    folder = tmp_path / "data"
    folder.mkdir()
    for half, rows in {"train": slice(60), "valid": slice(60, None)}.items():
        with lzma.open(folder / f"tiny_{half}.svm.xz", "wb") as sink:
            dump_svmlight_file(X[rows], y[rows], sink, zero_based=False)
    monkeypatch.setenv("THRESHER_DATA", str(folder))
    parts = (Part("tiny_train", 60), Part("tiny_valid", 60))
    monkeypatch.setitem(data.SETS, "tiny", DataSet("tiny", "Tiny", "", "paper", 100, parts, ""))
    tasks = [
        {"set": "tiny", "scaling": scaling, "method": method, "loss": "log_loss"}
        for scaling in ("unit-variance", "row-l2")
        for method in OUTSIDE
    ]
    monkeypatch.setattr(lines, "TASKS", tasks)
    monkeypatch.setattr(lines, "SETS", ["tiny"])
    monkeypatch.setattr(command, "SETS", [{"set": "tiny"}])
    monkeypatch.setattr(lines, "PERMUTATIONS", 3)
    monkeypatch.setattr(matched, "SIZES", (5, 10))
    monkeypatch.setattr(matched, "TASKS", [{"set": "tiny", "method": method} for method in OUTSIDE])
    monkeypatch.setattr(traces, "TASKS", [{"figure": "2"}])
    few = [{"set": "tiny", "loss": "log_loss", "reading": "growth"}]
    monkeypatch.setattr(readings, "TASKS", few)
    monkeypatch.setattr(readings, "EXACT", ["tiny"])
    monkeypatch.setattr(readings, "PERMUTATIONS", 2)
    monkeypatch.setattr(theory, "REGRET_SETS", ("tiny", "tiny"))
    monkeypatch.setattr(theory, "UPDATES", (8, 16))
    monkeypatch.setattr(theory, "BURSTS", 20)
    regrets = [{"what": "regret", "set": "tiny", "algorithm": one} for one in theory.PENALTIES]
    monkeypatch.setattr(theory, "TASKS", [theory.TASKS[0], *regrets])
    lines.loaded.cache_clear()
    lines.prepared.cache_clear()
    return tmp_path / "results"


@pytest.mark.jit
def test_the_whole_study(tiny, monkeypatch, capsys):
    assert command.main(["--folder", str(tiny)]) == 0
    text = (tiny / "README.md").read_text("utf-8")
    assert "$" not in text
    assert f"| Method | {data.named('tiny').title} |" in text
    assert tables.NOT_YET in text  # of our own methods
    assert sorted(path.name for path in (tiny / "figures").iterdir()) == [
        "figure-2.svg",
        "lemma-2.svg",
        "matched-tiny.svg",
        "regret.svg",
    ]
    found = records.read(tiny / "lines.jsonl", ("set", "scaling", "method", "loss"))
    line = found["tiny", "row-l2", "liblinear-l1", "log_loss"]
    assert len(line["errors"]) == 3
    assert np.mean(line["errors"]) < 35
    assert line["params"]["C"] in METHODS["liblinear-l1"].grids["row-l2"]["C"]
    point = records.read(tiny / "matched.jsonl", ("set", "method"))["tiny", "liblinear-l1"]
    assert [
        abs(one["selected"][0] - size) <= 2
        for one, size in zip(point["points"], (5, 10), strict=True)
    ]

    def never(*_):
        raise AssertionError("measured twice")

    monkeypatch.setattr(lines, "measure", never)
    monkeypatch.setattr(matched, "measure", never)
    assert command.main(["--folder", str(tiny)]) == 0
    assert (tiny / "README.md").read_text("utf-8") == text
    assert command.main(["--folder", str(tiny), "--only", "method=magic"]) == 2
    assert "fits no task" in capsys.readouterr().err
