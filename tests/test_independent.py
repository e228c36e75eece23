"""Independent paths: stages that a kernel ends are those that Python ends, whoever runs them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import NO_JIT, assert_same_bits, labelled_rows, make
from thresher.jit import jit
from thresher.kernels.tickets import close_desk, hand_in, new_desk, open_round, take_ticket
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


@jit
def take_all(desk, n_tickets, taken, rounds):
    """Take tickets while there are any; note how often each was taken, and in which round."""
    while True:
        ticket = take_ticket(desk)
        if ticket < 0:
            return
        taken[ticket, 0] += 1
        taken[ticket, 1] = rounds[0]
        if hand_in(desk):
            rounds[0] += 1
            if rounds[0] * n_tickets < len(taken):
                open_round(desk, n_tickets)
            else:
                close_desk(desk)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_ticket_is_taken_once_and_rounds_follow_each_other(n_threads):
    n_tickets, n_rounds = 5, 40 if NO_JIT else 40_000
    desk, rounds = new_desk(n_tickets), np.zeros(1, int)
    taken = np.zeros((n_tickets * n_rounds, 2), int)
    with ThreadPoolExecutor(n_threads) as pool:
        work = [pool.submit(take_all, desk, n_tickets, taken, rounds) for _ in range(n_threads)]
    assert [one.result() for one in work] == [None] * n_threads
    assert_array_equal(taken[:, 0], 1)
    assert_array_equal(taken[:, 1], np.arange(len(taken)) // n_tickets)
