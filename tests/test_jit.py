"""How the package compiles: once, into a folder of its own, leaving Numba's settings alone."""

import importlib
import json
import pkgutil
import shutil
from pathlib import Path

import numba
import pytest

from elsewhere import printed_by
from thresher import jit, kernels

# Uses everything, in containers that tempt a kernel to compile anew, then counts.
ROUND = """
import json
import numpy as np
from cases import NAMES, labelled_rows, make, make_streaming
from test_containers import CONTAINERS
from test_jit import compiled_kernels

rows, labels = labelled_rows()
for name in NAMES:
    for held in (convert(rows) for convert in CONTAINERS.values()):
        model = make(name, max_iter=2).fit(held, labels)
        model.partial_fit(held, labels)
        model.predict(held)
for name, changes in {
    "PlainSGDClassifier": {"eta0": 1, "loss": "hinge"},
    "FOBOSClassifier": {"l1": 1, "eta0": np.float32(1)},
    "TruncatedGradientClassifier": {"gravity": 0, "ceiling": 1, "burst_size": np.int32(3)},
    "RDAClassifier": {"l1": 0, "gamma": 2, "rho": 1},
    "FTRLClassifier": {"alpha": 1, "beta": 1, "l1": np.float32(1), "l2": 0},
    "StabilizedTruncatedSGDClassifier": {"paths": "shared", "n_jobs": 2, "selection": "every"},
    "ThresherClassifier": {"paths": "permutation", "n_jobs": 2, "rejection_rate": 1},
}.items():
    weights = np.ones(60, np.float32)
    make(name, **changes).fit(rows, labels, weights).partial_fit(rows, labels)
    make_streaming(name, **changes).partial_fit(rows, labels, classes=[0, 1])
print(json.dumps({name: len(kernel.signatures) for name, kernel in compiled_kernels().items()}))
"""
# Kernels that Python calls; the others may have been compiled as parts of these long ago.
CALLED_FROM_PYTHON = {
    "sgd.descend",
    "fobos.descend_shrinking",
    "truncated_gradient.descend_truncating",
    "rda.average_gradients",
    "ftrl.follow_leader",
    "bursts.run_bursts",
    "whole_fits.run_fit",
    "quantile.kth_smallest",
    "margins.margins",
    "rows.squared_norms",
    "slots.number_columns",
    "masks.highest",
    "permuting.write_order",
    "chance.draw_weights",
    "slots.write_scaled",
}


# Kernels that are given rows in single or double precision, or words of four or eight bytes.
BY_PRECISION = {
    f"{module}.{name}"
    for module, names in {
        "leaving": ["move_together"],
        "moving": ["move_up"],
        "rows": ["squared_norms"],
        "slots": ["close_gap", "column_sums", "keep_slots", "write_scaled"],
    }.items()
    for name in names
}


def compiled_kernels():
    """Return every kernel of the package by module and name."""
    found = {}
    for module in pkgutil.iter_modules(kernels.__path__):
        contents = vars(importlib.import_module(f"{kernels.__name__}.{module.name}"))
        for name, thing in contents.items():
            if hasattr(thing, "signatures") and thing.__module__.endswith(f".{module.name}"):
                found[f"{module.name}.{name}"] = thing
    return found


@pytest.mark.jit
def test_every_kernel_has_one_signature_whatever_it_is_given():
    printed_by(ROUND)  # where nothing is compiled yet, parts of kernels are, as others need them
    counts = json.loads(printed_by(ROUND))
    assert {name: n for name, n in counts.items() if n > 1 + (name in BY_PRECISION)} == {}
    assert {name: counts[name] for name in CALLED_FROM_PYTHON if counts[name] < 1} == {}


@pytest.mark.jit
def test_kernels_are_cached_in_a_folder_named_by_their_sources():
    folder = jit._FOLDER
    assert folder.name == jit._fingerprint()
    for kernel in compiled_kernels().values():
        assert Path(kernel._cache.cache_path).is_relative_to(folder)


def test_a_changed_kernel_gets_another_folder(tmp_path, monkeypatch):
    shutil.copytree(jit._PACKAGE / "kernels", tmp_path / "kernels")
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    before = jit._fingerprint()
    assert jit._fingerprint() == before
    source = tmp_path / "kernels" / "shrink.py"
    source.write_text(source.read_text() + "\n# changed\n")
    assert jit._fingerprint() != before


def test_bounds_checks_get_another_folder(monkeypatch):
    names = set()
    for value in ("0", "1"):
        monkeypatch.setenv("NUMBA_BOUNDSCHECK", value)
        names.add(jit._fingerprint())
    assert len(names) == 2


def test_numbas_own_cache_setting_is_put_back():
    before = numba.config.CACHE_DIR
    assert before != str(jit._FOLDER)

    @jit.jit
    def twice(number):
        return 2 * number

    assert twice(3) == 6
    assert before == numba.config.CACHE_DIR
    with pytest.raises(RuntimeError), jit._cache_in_folder():
        raise RuntimeError
    assert before == numba.config.CACHE_DIR
