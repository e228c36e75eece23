"""Independent paths: stages that a kernel ends are those that Python ends, whoever runs them."""

import numpy as np
import pytest
from scipy import sparse

from cases import assert_same_bits, labelled_rows, make
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.train import feed

NAME = "StabilizedTruncatedSGDClassifier"
SETTINGS = [
    {},
    {"selection": "informative", "shrinkage": "linear"},
    {"min_evidence": 20, "annealing_rate": -3.0, "burst_growth": 0.3},
    {"selection": "informative", "min_evidence": 4, "annealing_rate": 2.0},
    {"purge_threshold": 0.9, "rejection_rate": 0.9},
]


def closed_by_python(monkeypatch, fit):
    """Return a fit of which every call has one row, and how many stages Python closed in it."""
    closed = []
    close_stage = StabilizedTruncatedSGD.close_stage
    with monkeypatch.context() as patch:
        patch.setattr(feed, "SLICE", 0)
        patch.setattr(
            StabilizedTruncatedSGD,
            "close_stage",
            lambda *args: closed.append(close_stage(*args)),
        )
        return fit(), len(closed)


@pytest.mark.parametrize("changes", SETTINGS)
def test_kernels_end_stages_as_python_does(monkeypatch, changes):
    data = labelled_rows(n=70, p=40, density=0.2)

    def fit():
        return make(NAME, paths="permutation", **changes).fit(*data)

    slow, n_closed = closed_by_python(monkeypatch, fit)
    fast = fit()
    assert_same_bits(fast, slow)
    assert fast.history_ == slow.history_
    assert len(fast.history_) in (n_closed, n_closed - 1)  # one that ends with the rows stays open
    assert fast.history_[-1]["stable"] < fast.history_[0]["stable"]


def test_pools_grow_with_rows_that_lengthen(monkeypatch):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 50))
    dense[:18, 1:] = 0.0  # the first stage
    labels = (dense.sum(axis=1) > 0).astype(int)

    def fit():
        changes = {"shuffle": False, "purge_threshold": 0.0, "max_iter": 2}
        return make(NAME, paths="permutation", **changes).fit(sparse.csr_array(dense), labels)

    slow, _ = closed_by_python(monkeypatch, fit)
    assert_same_bits(fit(), slow)
