"""Independent paths: what one call makes of a whole fit is what Python makes of it, row by row."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cases import LOSSES, NO_JIT, assert_same_bits, labelled_rows, make
from thresher.learners import independent
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.train import feed

NAME = "StabilizedTruncatedSGDClassifier"
SETTINGS = [
    {},
    {"selection": "informative", "shrinkage": "linear"},
    {"min_evidence": 20, "annealing_rate": -3.0, "burst_growth": 0.3},
    {"selection": "informative", "min_evidence": 4, "annealing_rate": 2.0},
    {"purge_threshold": 0.9, "rejection_rate": 0.9},
    {"tol": 0.2, "max_iter": 30},
    {"tol": 0.05, "max_iter": 30, "purge_threshold": 0.2, "shuffle": False},
]


def in_one_call(monkeypatch, fit):
    """Return a fit, and how many calls each thread made of the kernel in it."""
    calls = []
    run_fit = independent.run_fit
    with monkeypatch.context() as patch:
        patch.setattr(independent, "run_fit", lambda *args: calls.append(args[0]) or run_fit(*args))
        return fit(), [calls.count(thread) for thread in sorted(set(calls))]


def row_by_row(monkeypatch, fit):
    """Return a fit of which every call has one row, and how many stages Python closed in it."""
    closed = []
    close_stage = StabilizedTruncatedSGD.close_stage
    with monkeypatch.context() as patch:
        patch.setattr(StabilizedTruncatedSGD, "leads_itself", False)
        patch.setattr(feed, "SLICE", 0)
        patch.setattr(
            StabilizedTruncatedSGD,
            "close_stage",
            lambda *args: closed.append(close_stage(*args)),
        )
        return fit(), len(closed)


@pytest.mark.parametrize("changes", SETTINGS)
def test_a_whole_fit_in_one_call_is_what_python_makes_of_it(monkeypatch, changes):
    data = labelled_rows(n=70, p=40, density=0.2)

    def fit():
        return make(NAME, paths="permutation", **changes).fit(*data)

    slow, n_closed = row_by_row(monkeypatch, fit)
    fast, n_calls = in_one_call(monkeypatch, fit)
    assert n_calls == [1]
    assert_same_bits(fast, slow)
    assert fast.history_ == slow.history_
    assert fast.n_iter_ == slow.n_iter_
    assert len(fast.history_) == n_closed
    assert fast.history_[-1]["stable"] < fast.history_[0]["stable"]


@pytest.mark.parametrize("changes", [{}, {"learning_rate": "invsqrt"}, {"tol": 0.2}])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_losses_and_schedules_and_warm_starts(monkeypatch, loss, changes):
    data, weights = labelled_rows(n=50, p=30, density=0.2), np.linspace(0.0, 3.0, 50)

    def fit():
        model = make(NAME, paths="permutation", warm_start=True, loss=loss, **changes)
        return model.fit(*data, weights).set_params(burst_size=4).fit(*data)

    slow, _ = row_by_row(monkeypatch, fit)
    assert_same_bits(fit(), slow)


@pytest.mark.parametrize("selection", ["every", "informative"])
def test_stages_that_have_become_shorter_end_amid_a_burst(monkeypatch, selection):
    data = labelled_rows(n=55, p=42, density=0.2)
    changes = {"burst_size": 17, "bursts_per_stage": 4, "selection": selection}

    def fit():
        model = make(NAME, paths="permutation", warm_start=True, max_iter=2, **changes).fit(*data)
        return model.set_params(bursts_per_stage=1).fit(*data)

    slow, _ = row_by_row(monkeypatch, fit)
    fast = fit()
    assert_same_bits(fast, slow)
    assert 0 <= fast.selection_probabilities_.min() < fast.selection_probabilities_.max() <= 1


ANY = st.fixed_dictionaries(
    {
        "n_paths": st.integers(1, 5),
        "burst_size": st.sampled_from([1, 2, 5, 17, 200]),
        "bursts_per_stage": st.integers(1, 6),
        "rejection_rate": st.sampled_from([0.0, 0.3, 0.7, 1.0]),
        "annealing_rate": st.sampled_from([-5.0, 0.0, 3.0]),
        "purge_threshold": st.sampled_from([0.0, 0.2, 0.7, 1.0]),
        "min_evidence": st.sampled_from([0, 3, 30]),
        "burst_growth": st.sampled_from([None, 0.02, 0.5, 2.0]),
        "selection": st.sampled_from(["every", "informative"]),
        "tol": st.sampled_from([None, 1e-3, 0.1, 0.5]),
        "max_iter": st.integers(1, 8),
        "shuffle": st.booleans(),
        "n_jobs": st.integers(1, 3),
    }
)
CHANGED = st.fixed_dictionaries(
    {"burst_size": st.integers(1, 9), "bursts_per_stage": st.integers(1, 6)}
)


@pytest.mark.filterwarnings("ignore:All features were purged")
@settings(max_examples=40)
@given(first=ANY, later=CHANGED, seed=st.integers(0, 2**16), streamed=st.booleans())
def test_whatever_the_settings_are(first, later, seed, streamed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 50)), int(rng.integers(2, 40))
    rows = sparse.csr_array(rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3))
    labels = np.arange(n) % int(rng.integers(2, 4))

    def fit():
        model = make(NAME, paths="permutation", warm_start=True, **first)
        if streamed:
            model.partial_fit(rows[: n // 2], labels[: n // 2], classes=np.unique(labels))
        return model.fit(rows, labels).set_params(**later).fit(rows, labels)

    with pytest.MonkeyPatch.context() as monkeypatch:
        slow, _ = row_by_row(monkeypatch, fit)
    fast = fit()
    assert_same_bits(fast, slow)
    assert 0 <= fast.selection_probabilities_.min() <= fast.selection_probabilities_.max() <= 1


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_every_thread_makes_one_call(monkeypatch, n_jobs):
    data = labelled_rows(n=70, p=40, density=0.2)

    def fit():
        return make(NAME, paths="permutation", n_paths=5, n_jobs=n_jobs, max_iter=9).fit(*data)

    alone = make(NAME, paths="permutation", n_paths=5, max_iter=9).fit(*data)
    fast, n_calls = in_one_call(monkeypatch, fit)
    assert n_calls == [1] * n_jobs
    assert_same_bits(fast, alone)


def test_who_is_watched_has_a_call_for_every_pass(monkeypatch, capsys):
    data = labelled_rows(n=70, p=40, density=0.2)
    changes = {"paths": "permutation", "tol": 0.05, "max_iter": 30}
    watched, n_calls = in_one_call(monkeypatch, lambda: make(NAME, verbose=1, **changes).fit(*data))
    assert n_calls == [watched.n_iter_]
    assert 3 < watched.n_iter_ < 30
    assert len(capsys.readouterr().out.splitlines()) >= watched.n_iter_
    assert_same_bits(watched, make(NAME, **changes).fit(*data))


def test_more_stages_than_a_call_can_take_down(monkeypatch):
    data = labelled_rows(n=70, p=40, density=0.2)

    def fit():
        return make(NAME, paths="permutation", tol=0.01).fit(*data)

    whole = fit()
    monkeypatch.setattr(independent, "MOST_STAGES", 2)
    parts, n_calls = in_one_call(monkeypatch, fit)
    assert n_calls == [-(-len(whole.history_) // 2)]
    assert_same_bits(parts, whole)


@pytest.mark.parametrize("growth", [None, 0.05])
def test_pools_have_room_for_rows_that_lengthen(monkeypatch, growth):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 50))
    dense[:18, 1:] = 0.0  # the first stage
    labels = (dense.sum(axis=1) > 0).astype(int)

    def fit():
        changes = {"shuffle": False, "purge_threshold": 0.0, "max_iter": 4, "burst_growth": growth}
        return make(NAME, paths="permutation", **changes).fit(sparse.csr_array(dense), labels)

    slow, _ = row_by_row(monkeypatch, fit)
    assert_same_bits(fit(), slow)


@pytest.mark.parametrize("names", [("burst_size",), ("bursts_per_stage",)])
def test_bursts_and_stages_beyond_the_rows_ask_for_no_room(monkeypatch, names):
    rows, labels = labelled_rows(n=70, p=40, density=0.2)

    def fit():
        model = make(NAME, paths="permutation", max_iter=2, warm_start=True)
        model.set_params(**dict.fromkeys(names, 10**9)).fit(rows, labels)
        # what the bursts have touched so far is pooled when they end after all
        return model.set_params(burst_size=30, bursts_per_stage=2).fit(rows[:20], labels[:20])

    slow, _ = row_by_row(monkeypatch, fit)
    assert_same_bits(fit(), slow)


def test_rows_that_belong_to_others_stay_as_they_are():
    rows, labels = labelled_rows(n=70, p=40, density=0.2, n_classes=3)
    given = [array.copy() for array in (rows.data, rows.indices, rows.indptr)]
    changes = {"paths": "permutation", "normalize": False, "purge_threshold": 0.9}
    several = make(NAME, **changes).fit(rows, labels)
    one = make(NAME, **changes).fit(rows, labels == 1)
    assert not one.stable_.all()
    for array, before in zip((rows.data, rows.indices, rows.indptr), given, strict=True):
        assert array.tobytes() == before.tobytes()
    assert several.coef_[1].tobytes() == one.coef_[0].tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_row_is_named_at_which_numbers_overflow(monkeypatch, n_jobs):
    data = labelled_rows(n=40, p=20, density=0.5)
    changes = {"loss": "squared_hinge", "eta0": 1e150, "normalize": False, "max_iter": 50}

    def fit():
        with pytest.raises(ValueError, match=r"overflowed while learning row \d+") as error:
            make(NAME, paths="permutation", n_jobs=n_jobs, **changes).fit(*data)
        return str(error.value)

    slow, _ = row_by_row(monkeypatch, fit)
    fast, n_calls = in_one_call(monkeypatch, fit)
    assert n_calls == [1] * n_jobs
    assert fast == slow


@pytest.mark.skipif(NO_JIT, reason="who is not compiled hears it anyway")
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals can be sent")
@pytest.mark.parametrize(("n_jobs", "n_classes"), [(1, 2), (2, 2), (2, 3)])
def test_ctrl_c_is_heard_amid_the_one_call(n_jobs, n_classes):
    rows, labels = labelled_rows(n=200, p=40, density=0.2, n_classes=n_classes)
    changes = {"paths": "permutation", "n_jobs": n_jobs, "tol": None, "purge_threshold": 0.0}
    model = make(NAME, **changes).fit(rows, labels)  # compiled by now
    before = model.coef_.tobytes()
    main = threading.get_ident()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: time.sleep(0.5) or signal.pthread_kill(main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            model.set_params(max_iter=10_000_000, burst_size=1000).fit(rows, labels)  # for hours
    assert model.coef_.tobytes() == before
