"""The table of errors on columns far from zero."""

import pytest

from experiments import offsets


@pytest.mark.jit
def test_a_line_has_an_error_for_everybody(capsys, monkeypatch):
    monkeypatch.setattr(offsets, "HALVES", 2)
    assert offsets.main(["--data", "made-up genes"]) == 0
    *_, line = capsys.readouterr().out.splitlines()
    name, shape, ours, bare, ridge = line.strip("| ").split(" | ")
    assert (name, shape) == ("made-up genes", "300 x 3000")
    assert 0 <= float(ours) < float(bare) / 2
    assert 0 <= float(ridge) < 30
