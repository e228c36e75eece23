"""Tables from stored results made up by hand."""

import numpy as np
import pytest

from experiments import tables
from experiments.agreement import agreement_table, claims_table, verdict
from experiments.lines import Line
from experiments.paper import Printed
from experiments.report import table
from experiments.store import Store
from experiments.summary import moments, summarize

SGD = Line("dexter", "unit-variance", "sgd", "hinge")
OURS = Line("dexter", "unit-variance", "stabilized-paper", "hinge")


@pytest.fixture
def store(tmp_path):
    """Two permutations of two methods, and the oracle of one."""
    made = Store(tmp_path)
    for line, protocol, errors in (
        (SGD, "final", [7.0, 8.0]),
        (OURS, "final", [9.0, 10.0]),
        (OURS, "best-iterate", [6.0, 6.5]),
    ):
        facts = {"error": errors, "nonzero": [3, 3], "percent": [0.015] * 2, "seconds": [0.25] * 2}
        sets = {"seeds": [0, 1], "overlaps": [3, 2, 3]}
        made.write((protocol, *line), "r", {"params": {"max_iter": 5}, **facts, **sets})
        made.write(("choice", *line), "r", {"params": {"max_iter": 5}})
    made.write(
        ("data", "dexter"), "r", {"columns": 20000, "density": 0.47, "train": 300, "test": 300}
    )
    return made


def row_of(text, title):
    found = [line for line in text.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in found[0].split("|")[2:-1]]


def test_errors_stand_beside_the_papers(store):
    text = tables.comparison(store, ["dexter"], "unit-variance", "hinge", "error")
    assert row_of(text, "Standard SGD") == ["7.50 ± 0.71 [7.77 ± 0.96]"]
    assert row_of(text, "RDA") == ["- [11.42 ± 0.59]"]
    assert row_of(text, "FTRL-proximal") == ["-"]


def test_the_oracle_stands_alone_and_named(store):
    text = tables.comparison(store, ["dexter"], "unit-variance", "hinge", "error")
    title = "Stabilized truncated SGD, paper's settings"
    assert row_of(text, title) == ["9.50 ± 0.71 [6.58 ± 0.57]"]
    assert "6.25" not in text
    beside = tables.oracle_table(store, ["dexter"], ["unit-variance"])
    assert "error %: best iterate (oracle)" in beside.splitlines()[0]
    row = row_of(beside, "Dexter")
    assert row[2:5] == ["9.50 ± 0.71", "6.25 ± 0.35", "6.58 ± 0.57"]


def test_stability(store):
    text = tables.comparison(store, ["dexter"], "unit-variance", "hinge", "kappa")
    assert row_of(text, "Standard SGD")[0].startswith("0.67 (0.67, ")
    summary = summarize(store, SGD, 20000)
    assert summary.kappa == pytest.approx(2 / 3, abs=1e-3)


def test_seconds_and_sizes(store):
    text = tables.comparison(store, ["dexter"], "unit-variance", "hinge", "seconds")
    assert row_of(text, "Standard SGD") == ["0.250"]
    rows = table(1, store, ["dexter", "arcene"]).splitlines()
    assert rows[2].startswith("| Dexter | Text Mining | 20,000 | 0.47 | 300 | 300 |")
    assert rows[3].startswith("| *paper: Dexter* |  | 20,000 | 0.48 | 300 | 300 |")
    assert len(rows) == 4


def test_other_scalings_stand_without_the_paper(store):
    text = tables.comparison(store, ["dexter"], "row-l2", "hinge", "error")
    assert "[" not in text


def test_agreement(store):
    text = agreement_table(store, ["dexter", "gisette-mini"])
    assert "| Dexter | Standard SGD | Hinge loss | 7.77 | 7.50, agrees | - |" in text
    assert "| 6.58 | 9.50, higher | - |" in text
    assert text.endswith(
        "| **All** |  |  |  | 1 agree, 0 lower, 1 higher | 0 agree, 0 lower, 0 higher |"
    )
    assert verdict(1.0, Printed(5.0, 1.0)) == "lower"


def test_claims(store):
    rival = Line(*OURS[:2], "truncated-gradient", "hinge")
    facts = {"error": [12.0, 14.0], "percent": [0.010] * 2, "seeds": [0, 1], "overlaps": [2, 0, 2]}
    store.write(("final", *rival), "r", {"params": {}, **facts})
    store.write(("choice", *rival), "r", {"params": {}})
    text = claims_table(store, ["dexter", "a9a"])
    for claim in ("lower test error", "smaller deviation of it", "higher kappa"):
        assert row_of(text, claim) == ["1 of 1", "0 of 0"]
    assert row_of(text, "fewer nonzero weights") == ["0 of 1", "0 of 0"]


def test_cells_of_an_older_choice_are_left_out(store):
    store.write(("choice", *SGD), "r", {"params": {"max_iter": 5, "eta0": 0.1}})
    assert summarize(store, SGD, 20000) is None
    store.write(("choice", *SGD), "r", {"params": {"max_iter": 5}})
    assert summarize(store, SGD, 20000).permutations == 2


def test_numbers_without_a_value():
    assert tables.number(None) == tables.number(float("nan")) == "-"
    assert np.isnan(moments([3.0]).deviation)
    assert tables.spread(moments([3.0])) == "3.00"
