"""Fit and predict among threads, after a fork, and the word that is said while kernels compile."""

import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import event

from cases import fingerprint, labelled_rows, make
from elsewhere import printed_by
from test_jit import compiled_kernels
from thresher.compiling import PATIENCE, CompileWatch
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.rows import Updates
from thresher.kernels.sgd import descend

PARALLEL = [
    ("FTRLClassifier", {}),
    ("ThresherClassifier", {"n_jobs": 2, "paths": "permutation"}),
    ("ThresherClassifier", {"n_jobs": 2}),
]


@pytest.mark.jit
def test_all_kernels_are_compiled_to_hold_no_lock():
    kernels = compiled_kernels()
    assert kernels
    assert [name for name, one in kernels.items() if not one.targetoptions["nogil"]] == []


@pytest.mark.jit
def test_other_threads_go_on_while_a_kernel_learns():
    rows, labels = labelled_rows(n=500, p=200, density=0.2)
    kernel_rows, _ = Vocabulary(200).absorb(rows, np.dtype(np.float64))
    targets, state = np.where(labels > 0, 1.0, -1.0), (np.zeros(200), np.zeros(1))

    def updates(n):
        order, steps = np.resize(np.arange(500), n), np.full(n, 1e-3)
        return Updates(order, steps, steps, np.ones(n), targets, np.ones(500))

    descend(kernel_rows, updates(10), LOG_LOSS, *state)  # compiles
    thread = Thread(target=descend, args=(kernel_rows, updates(2_000_000), LOG_LOSS, *state))
    thread.start()
    beats = 0
    while thread.is_alive():
        thread.join(0.002)
        beats += 1
    assert beats > 5  # one call of a kernel: with the lock held there would be one or two


@pytest.mark.parametrize(("name", "settings"), PARALLEL)
def test_threads_may_fit_and_predict_at_once(binary, name, settings):
    rows, labels = binary
    fitted = make(name, **settings).fit(rows, labels)
    expected = fingerprint(fitted), fitted.decision_function(rows).tobytes()
    shared = make(name, **settings).fit(rows, labels)

    def work(_):
        mine = make(name, **settings).fit(rows, labels)
        return fingerprint(mine), shared.decision_function(rows).tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(8))) == {expected}


FORKED = """
import json, multiprocessing, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks among threads
from cases import fingerprint, labelled_rows, make
name, settings = sys.argv[1], json.loads(sys.argv[2])
rows, labels = labelled_rows()

def work(_=None):
    model = make(name, **settings).fit(rows, labels)
    return [fingerprint(model), model.predict(rows).tolist()]

before = work()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(json.dumps([before, *pool.map(work, range(3)), work()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a fork that is meant to be used")
@pytest.mark.parametrize(("name", "settings"), PARALLEL)
def test_a_forked_process_fits_and_predicts_the_same(name, settings):
    first, *others = json.loads(printed_by(FORKED, name, json.dumps(settings), timeout=120))
    assert others == [first] * 4


# ------------------------------------------------------------------------------------- compiling


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def compiling(module):
    return SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))}
    )


def watch_of(caplog):
    caplog.set_level(logging.WARNING, "thresher")
    clock = Clock()
    return CompileWatch(Path("/somewhere"), clock), clock


def test_a_long_wait_is_explained_once(caplog):
    watch, clock = watch_of(caplog)
    kernel = compiling("thresher.kernels.bursts")
    for _ in range(3):
        watch.on_start(kernel)
        watch.on_start(kernel)  # a helper
        clock.now += 0.8 * PATIENCE
        watch.on_end(kernel)
        watch.on_end(kernel)
    assert len(caplog.messages) == 1
    assert "compiling" in caplog.text
    assert "/somewhere" in caplog.text


def test_nobody_is_told_that_kernels_are_kept_where_they_are_not(caplog):
    _, clock = watch_of(caplog)
    watch = CompileWatch(Path("/somewhere"), clock, kept=False)
    watch.on_start(compiling("thresher.kernels.bursts"))
    clock.now += 2 * PATIENCE
    watch.on_start(compiling("thresher.kernels.bursts"))
    assert "compiled again" in caplog.text
    assert "NUMBA_CACHE_DIR" in caplog.text
    assert "nothing to wait for" not in caplog.text


def test_a_short_wait_and_other_peoples_kernels_are_no_news(caplog):
    watch, clock = watch_of(caplog)
    for module, seconds in (("thresher.kernels.sgd", 0.5), ("elsewhere", 99)):
        for _ in range(2):
            watch.on_start(compiling(module))
            clock.now += seconds * PATIENCE / 2
            watch.on_end(compiling(module))
    assert caplog.messages == []


@pytest.mark.jit
def test_numba_tells_when_it_compiles(monkeypatch):
    heard = []
    monkeypatch.setattr(CompileWatch, "on_start", lambda self, event: heard.append(event))
    with event.install_listener("numba:compile", CompileWatch(Path())):
        numba.njit(lambda number: 3 * number)(1)
    assert heard[0].data["dispatcher"].py_func(2) == 6
