"""The study lies beside the package and is not installed: make it importable; a tiny set to run."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def tiny_rows(rows=60, columns=300, seed=0):
    """Rows whose first three columns tell the label."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((rows, columns)) < 0.3, rng.integers(1, 9, (rows, columns)), 0)
    signal = X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(0, 0.5, rows)
    return X.astype(float), np.where(signal > np.median(signal), 1, -1)


def write_part(folder, file, X, y):
    """Write rows as the study stores them, return the part's facts."""
    import lzma

    from experiments.registry import Part

    with lzma.open(folder / file, "wb") as sink:
        dump_svmlight_file(X, y, sink, zero_based=False)
    from experiments.reading import sha256_of

    return Part(file, len(y), int((y > 0).sum()), sha256_of(folder / file))


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A registered data set "tiny" in a data folder of its own."""
    from experiments import fitting, registry

    folder = tmp_path / "data"
    folder.mkdir()
    parts = []
    for seed, half in enumerate(("train", "valid")):
        parts.append(write_part(folder, f"tiny_{half}.svm.xz", *tiny_rows(seed=seed)))
    facts = registry.DataSet("tiny", "Tiny", "none", "paper", 300, tuple(parts), "none")
    monkeypatch.setitem(registry.SETS, "tiny", facts)
    monkeypatch.setenv("THRESHER_DATA", str(folder))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    yield facts
    fitting.prepared.cache_clear()
    fitting._raw.cache_clear()


@pytest.fixture
def study(tiny, monkeypatch, tmp_path):
    """A folder for results, and only the outside judges to fill it."""
    from small_study import OUTSIDE

    from experiments.methods import METHODS

    for name in list(METHODS):
        if name not in OUTSIDE:
            monkeypatch.delitem(METHODS, name)
    return tmp_path / "results"
