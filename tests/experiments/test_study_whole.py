"""The quick form with every method and every figure: on a tiny set, and on Dexter where it is."""

import io
import os
from dataclasses import replace

import pytest
from rich.console import Console

from experiments import cli, report, run
from experiments.methods import METHODS
from experiments.plan import Want
from experiments.progress import Progress
from experiments.scope import QUICK
from experiments.store import Store
from experiments.traces import TRACES

SCOPE = replace(QUICK, sets=("tiny",))


def test_every_method_and_every_figure(tiny, tmp_path):
    quiet = Progress(Console(file=io.StringIO()))
    failures = run.run(Want(("tiny",)), SCOPE, tmp_path / "results", 1, quiet)
    assert failures == []
    store = Store(tmp_path / "results")
    lines = 2 * sum(len(maker.losses) for maker in METHODS.values())
    assert len(list(store.keys("final"))) == lines
    assert [key[1] for key in store.keys("trace")] == sorted(TRACES)
    text = report.write(store, SCOPE, ("tiny",), tmp_path / "docs").read_text(encoding="utf-8")
    for name in (*TRACES, "matched-tiny"):
        assert f"(reproduction/{name}.svg)" in text
        assert (tmp_path / "docs" / "reproduction" / f"{name}.svg").stat().st_size > 1000


@pytest.mark.skipif("THRESHER_DATA" not in os.environ, reason="needs Dexter in THRESHER_DATA")
def test_the_quick_form_on_dexter(tmp_path, capsys):
    words = ["--quick", "--data", "dexter", "--results", str(tmp_path), "--jobs", "1"]
    assert cli.main([*words, "--table", "3"]) == 0
    table = capsys.readouterr().out
    # Plain SGD with logistic loss keeps every column that occurs: 7,751 of 20,000, as printed.
    assert "38.76 [38.76 ± 0.00]" in table
