"""Threads that share out calls: results in order, the first error, and nobody left at work."""

import threading
import time

import pytest

from thresher.workers import Stopped, workers

THREADS = [1, 2, 5]


@pytest.mark.parametrize("n_jobs", THREADS)
def test_results_come_in_the_order_of_the_calls(n_jobs):
    def late(number):
        time.sleep(0.002 * (number % 3))
        return number, threading.get_ident()

    with workers(n_jobs) as run_all:
        results = run_all(late, range(12))
    assert [number for number, _ in results] == list(range(12))
    assert len({thread for _, thread in results}) <= n_jobs


def test_whoever_asks_works_as_well():
    together = threading.Barrier(2)

    def work(_number):
        together.wait(timeout=30)
        return threading.get_ident()

    with workers(2) as run_all:
        assert threading.get_ident() in run_all(work, range(2))


@pytest.mark.parametrize("n_jobs", THREADS)
def test_the_first_call_that_fails_is_told_whichever_failed_earlier(n_jobs):
    def fail(number):
        time.sleep(0 if number == 2 else 0.02)
        if number in (1, 2):
            raise ValueError(number)

    with workers(n_jobs) as run_all, pytest.raises(ValueError, match="1"):
        run_all(fail, range(3))


def test_an_error_stops_the_calls_after_it():
    started = threading.Event()

    def work(number):
        if number == 0:
            assert started.wait(timeout=30)
            raise ValueError(number)
        started.set()
        while True:
            time.sleep(0.001)
            run_all.check()

    with workers(2) as run_all:
        with pytest.raises(ValueError, match="0"):
            run_all(work, range(50))
        with pytest.raises(Stopped):
            run_all.check()


def test_an_interruption_stops_everybody():
    started, asking = threading.Event(), threading.get_ident()

    def work(_number):
        if threading.get_ident() == asking:
            assert started.wait(timeout=30)
            raise KeyboardInterrupt
        started.set()
        while True:
            time.sleep(0.001)
            run_all.check()

    with workers(2) as run_all, pytest.raises(KeyboardInterrupt):
        run_all(work, range(50))


@pytest.mark.parametrize("n_jobs", THREADS)
def test_what_is_due_later_is_there_when_asked_for(n_jobs):
    with workers(n_jobs) as run_all:
        three, two = run_all.later(max, 2, 3), run_all.later(min, 2, 3)
        assert (two(), three()) == (2, 3)
