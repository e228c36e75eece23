"""The quick form with every method and every figure: on a tiny set, and on Dexter where it is."""

import os
import shutil
from dataclasses import replace

import pytest
from small_study import cells, run_all

from experiments import cli, report
from experiments.methods import METHODS
from experiments.plan import Want
from experiments.scope import QUICK
from experiments.store import Store
from experiments.traces import TRACES

SCOPE = replace(QUICK, sets=("tiny",))


def test_every_method_and_every_figure(tiny, tmp_path):
    folder = tmp_path / "results"
    assert run_all(folder, SCOPE, Want(("tiny",))) == []
    lines = 2 * sum(len(maker.losses) for maker in METHODS.values())
    assert len(cells(folder, "final")) == lines
    assert [path.stem for path in cells(folder, "trace")] == sorted(TRACES)
    store = Store(folder)
    text = report.write(store, SCOPE, ("tiny",), tmp_path / "docs").read_text(encoding="utf-8")
    for name in (*TRACES, "matched-tiny"):
        assert f"(reproduction/{name}.svg)" in text
        assert (tmp_path / "docs" / "reproduction" / f"{name}.svg").stat().st_size > 1000

    assert_figure_3_needs_no_pieces(store)


def assert_figure_3_needs_no_pieces(store):
    before = store.read(("trace", "figure-3"))
    store.path(("trace", "figure-3")).unlink()
    shutil.rmtree(store.folder / "pieces")
    assert run_all(store.folder, SCOPE, Want(("tiny",))) == []
    assert store.read(("trace", "figure-3")) == before
    # two losses of three methods: what the figure shows is fitted again, nothing else
    assert len(cells(store.folder, "pieces")) == 6


@pytest.mark.skipif("THRESHER_DATA" not in os.environ, reason="needs Dexter in THRESHER_DATA")
def test_the_quick_form_on_dexter(tmp_path, capsys):
    words = ["--quick", "--data", "dexter", "--results", str(tmp_path), "--jobs", "1"]
    assert cli.main([*words, "--table", "3"]) == 0
    table = capsys.readouterr().out
    # Plain SGD with logistic loss keeps every column that occurs: 7,751 of 20,000, as printed.
    assert "38.76 [38.76 ± 0.00]" in table
