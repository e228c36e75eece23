"""The table of rare columns that count for more, and the scaling that gives rivals the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from experiments import rarity
from experiments.datasets import Split
from experiments.scaling import scaled


@pytest.mark.jit
def test_a_line_has_errors_for_everybody(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2 == 0
    frequent = (rng.random((400, 40)) < 0.5) * (1 + rng.poisson(3, (400, 40)))
    rare = rng.random((400, 200)) < 0.005
    rare[:, :30] |= (rng.random((400, 30)) < 0.06) & labels[:, None]
    rows = sparse.csr_matrix(np.hstack([frequent, rare]).astype(float))
    monkeypatch.setattr(rarity, "kinds_of_rows", lambda: iter([("bags", rows, labels, 300)]))
    monkeypatch.setattr(rarity, "DRAWINGS", 2)
    monkeypatch.setattr(rarity, "SIZE", 20)
    assert rarity.main([]) == 0
    *_, line = capsys.readouterr().out.splitlines()
    name, learnt, more, *cells = line.strip("| ").split(" | ")
    assert (name, learnt, more) == ("bags", "300", "2 of 2")
    default, alike, *others = map(float, cells)
    assert default < alike
    assert len(others) == 4


def test_documents_are_the_docstrings_of_functions_and_classes():
    long = "What it does. " * 30
    source = f'"""{long}"""\n\ndef one():\n    """{long}"""\n\nclass Two:\n    """Short."""\n'
    assert list(rarity._documents(source)) == [long]
    assert list(rarity._documents("def broken(:")) == []


def test_rivals_get_columns_times_the_logarithm_of_their_rarity():
    train = sparse.csr_matrix([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    test = sparse.csr_matrix([[0.0, 2.0, 5.0]])
    data = scaled(Split(train, np.ones(2), test, np.ones(1)), "row-rarity")
    first = np.array([np.log(2), np.log(3), 0.0])
    assert_allclose(data.X_train.toarray()[0], first / np.linalg.norm(first))
    assert_allclose(data.X_test.toarray(), [[0.0, 1.0, 0.0]])  # nobody knows how rare the last is
