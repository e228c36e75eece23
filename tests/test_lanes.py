"""Lanes: compiled, not compiled, or compiled for another machine, they give one answer."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from cases import LOSSES
from elsewhere import printed_by
from thresher.kernels import plain_lanes
from thresher.kernels.sigmoid import FAR
from thresher.learners.adaptive_unit import AdaptiveUnit, line_width
from thresher.learners.striding import strides

# Fits of every kind, as the bits of their weights.
FITS = """
import hashlib, json
from cases import DECISIONS, labelled_rows, make
from thresher import ThresherClassifier
ThresherClassifier.decisions = DECISIONS  # all: cases leave one out where nothing is compiled
rows, labels = labelled_rows(n=120, p=40, density=0.2)
found = {}
for changes in CHANGES:
    model = make("ThresherClassifier", **changes).fit(rows, labels)
    found[str(changes)] = hashlib.sha256(model.coef_.tobytes()).hexdigest()
stream = make("ThresherClassifier")
for first in range(0, 120, 30):
    stream.partial_fit(rows[first : first + 30], labels[first : first + 30], classes=[0, 1])
found["stream"] = hashlib.sha256(stream.coef_.tobytes()).hexdigest()
print(json.dumps(found))
"""
SINGLE = [{"loss": loss} for loss in LOSSES] + [{"paths": "permutation"}, {"rejection_rate": 0.5}]


def bits(changes, **environment):
    return json.loads(printed_by(FITS.replace("CHANGES", repr(changes)), **environment))


@pytest.mark.jit
def test_compiled_or_not_the_bits_are_the_same():
    every = [*SINGLE, {"dtype": "float64"}]
    assert bits(every) == bits(every, NUMBA_DISABLE_JIT="1")


@pytest.mark.jit
@pytest.mark.skipif("THRESHER_LONG" not in os.environ, reason="compiles all anew: THRESHER_LONG=1")
@pytest.mark.parametrize("machine", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_other_registers_give_the_same_bits(tmp_path, machine):
    """SSE2, AVX2 and AVX-512, as far as this machine has them."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    needed = {"x86-64": "sse2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}[machine]
    if needed not in flags:
        pytest.skip(f"this machine has no {needed}")
    other = {"NUMBA_CPU_NAME": machine, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    changes = SINGLE[1:2]  # the log loss
    assert bits(changes) == bits(changes, **other)


def test_the_quotient_is_the_logistic_slope_in_single_precision(monkeypatch):
    from thresher.kernels import sigmoid

    for name in ("clipped", "filled", "minus", "over", "plus", "scaled", "times"):
        monkeypatch.setattr(sigmoid, name, getattr(plain_lanes, name))
    plain = getattr(sigmoid.lane_log_slopes, "py_func", sigmoid.lane_log_slopes)
    margins = np.linspace(-1.5 * FAR, 1.5 * FAR, 16 * 5000).astype(np.float32).reshape(-1, 16)
    for target in (-1.0, 1.0):
        slopes = np.array([plain(line, target) for line in margins])
        exact = -target * expit(-target * margins.astype(float))
        assert slopes.dtype == np.float32
        assert np.abs(slopes - exact).max() < 4e-7


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_have_one_order(dtype):
    lanes = np.arange(line_width(np.dtype(dtype))).astype(dtype)
    assert plain_lanes.total(lanes) == lanes.sum()
    assert plain_lanes.clipped(lanes, np.full_like(lanes, 2.5)).max() == 2.5


def test_lanes_without_a_path_stay_out_of_it():
    unit = AdaptiveUnit(3, np.dtype(np.float32))
    assert unit.width == 16
    shares = unit.shares(np.array([[1.25, 0.0, 1.25]]), strides(unit, 0.25, 2.0))
    assert shares.takes[0].tolist() == [1.25, 0.0, 1.25] + [0.0] * 13
    assert shares.active.tolist() == [2]
    assert list(unit.fitting) == [2]
    assert shares.steps[0, :3].tolist() == [1.0, 0.25, 2.0]
    assert shares.steps[1, :3].tolist() == [1.0, 1.0, 0.0]
    assert shares.steps[2].tolist() == [1.0, -1.0, 0.0] + [0.0] * 13
