"""The tables of values as they are, and of their roots."""

import numpy as np
import pytest
from scipy import sparse

from experiments import roots


@pytest.mark.jit
def test_a_line_of_documents_has_errors_for_everybody(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2 == 0
    there = rng.random((300, 200)) < 0.1
    there[:, :8] |= (rng.random((300, 8)) < 0.4) & labels[:, None]
    rows = sparse.csr_matrix(there * np.ceil(rng.lognormal(0, 2, there.shape)))
    monkeypatch.setattr(roots, "source_files", lambda: ([], {"mine?": labels}))
    monkeypatch.setattr(roots, "kinds_of_rows", lambda _: iter([("counts", rows)]))
    monkeypatch.setattr(roots, "LEARNT", (200,))
    monkeypatch.setattr(roots, "DRAWINGS", 1)
    monkeypatch.setattr(roots, "SIZE", 8)
    assert roots.main([]) == 0
    *_, line = capsys.readouterr().out.splitlines()
    name, even, question, n_rows, *errors = line.strip("| ").split(" | ")
    assert (name, question, n_rows) == ("counts", "mine?", "200")
    assert 0 < float(even) < 1 / 8
    default, as_they_are, *rivals = map(float, errors)
    assert default < as_they_are
    assert len(rivals) == 2


@pytest.mark.jit
def test_a_real_set_has_two_lines(tiny, monkeypatch):
    monkeypatch.setattr(roots, "RESPLITS", 1)
    monkeypatch.setattr(roots, "SIZES", (5,))
    lines = list(roots.set_lines(tiny.name))
    assert [line.split(" | ")[2] for line in lines] == ["as they are", "roots"]


def test_files_are_those_of_the_packages():
    texts, questions = roots.source_files()
    assert len(texts) == questions["a test?"].size > 1000
    assert all(0.1 < labels.mean() < 0.9 for labels in questions.values())
