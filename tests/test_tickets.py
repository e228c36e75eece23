"""Tickets: each is given out once in every round, and rounds follow each other, come what may.

Cores that have other things to do seldom run two threads into each other. So the ways in which
threads can meet are played through: between any two looks at the desk another thread may go on.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from threading import Barrier, Condition, Thread

import numba
import numpy as np
import pytest

from cases import NO_JIT
from thresher.jit import jit
from thresher.kernels import tickets
from thresher.kernels.tickets import look, raised, replaced

N_TICKETS, N_ROUNDS = 5, 6
MOST_TURNS = 20_000  # no game takes as many: threads that wait for each other would go on for ever


class Turns:
    """Lets one thread go on at a time, a random one."""

    def __init__(self, seed, n_threads):
        self.random = Random(seed)
        self.waiting = set(range(n_threads))
        self.turn = self.random.randrange(n_threads)
        self.changed = Condition()
        self.count = 0

    def pass_on(self):
        if self.waiting:
            self.turn = self.random.choice(sorted(self.waiting))
            self.changed.notify_all()

    def take(self, thread):
        with self.changed:
            self.count += 1
            assert self.count < MOST_TURNS
            self.pass_on()
            assert self.changed.wait_for(lambda: self.turn == thread, timeout=60)

    def leave(self, thread):
        with self.changed:
            self.waiting.discard(thread)
            self.pass_on()


class SharedDesk:
    """A desk that lets others take a turn before every look and every change."""

    def __init__(self, numbers, turns, thread):
        self.numbers = numbers
        self.turns = turns
        self.thread = thread
        self.size = numbers.size

    def __getitem__(self, place):
        self.turns.take(self.thread)
        return int(self.numbers[place])

    def __setitem__(self, place, number):
        self.turns.take(self.thread)
        self.numbers[place] = number


def plain_look(desk, at):
    return desk[at]


def plain_raised(desk, at, by):
    desk.turns.take(desk.thread)
    desk.numbers[at] += by
    return int(desk.numbers[at])


def plain_replaced(desk, at, old, new):
    desk.turns.take(desk.thread)
    there = desk.numbers[at] == old
    if there:
        desk.numbers[at] = new
    return there


@pytest.fixture
def in_turns(monkeypatch):
    """Let the code of the tickets run as Python, with looks and changes that take turns."""
    for name in ("take_own", "take_any", "take_ticket", "hand_in", "open_round", "close_desk"):
        function = getattr(tickets, name)
        monkeypatch.setattr(tickets, name, getattr(function, "py_func", function))
    monkeypatch.setattr(tickets, "look", plain_look)
    monkeypatch.setattr(tickets, "raised", plain_raised)
    monkeypatch.setattr(tickets, "replaced", plain_replaced)
    monkeypatch.setattr(tickets, "give_way", lambda: None)


def play(seed, n_threads, at_once):
    """Return which round each ticket was taken in, in the order of taking, and was handed in.

    A thread hands in up to so many pieces ``at_once``, as far as there are tickets for them.
    """
    numbers = tickets.new_desk(N_TICKETS, n_threads)
    turns, taken, given = Turns(seed, n_threads), [], []

    def work(thread):
        desk = SharedDesk(numbers, turns, thread)
        with suppress(AssertionError):  # what is missing then is seen below
            while (ticket := tickets.take_ticket(desk, thread)) >= 0:
                pieces = 0
                while ticket >= 0:
                    taken.append((len(given), ticket))
                    turns.take(thread)
                    pieces += 1
                    ticket = tickets.take_any(desk, thread) if pieces < at_once else -1
                if tickets.hand_in(desk, pieces):
                    given.append(len(taken))
                    (tickets.open_round if len(given) < N_ROUNDS else tickets.close_desk)(desk)
        turns.leave(thread)

    threads = [Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, given


@pytest.mark.parametrize("at_once", [1, N_TICKETS])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_every_ticket_is_taken_once_a_round_however_threads_meet(in_turns, n_threads, at_once):
    for seed in range(20):
        taken, given = play(seed, n_threads, at_once)
        assert sorted(taken) == [(k, one) for k in range(N_ROUNDS) for one in range(N_TICKETS)]
        assert given == [N_TICKETS * (k + 1) for k in range(N_ROUNDS)]


def test_threads_keep_to_their_own_tickets_until_they_are_used_up(in_turns):
    desk = SharedDesk(tickets.new_desk(5, 2), Turns(0, 1), 0)
    assert [tickets.take_ticket(desk, 1) for _ in range(4)] == [2, 3, 4, 0]
    assert tickets.take_ticket(desk, 0) == 1
    assert tickets.take_any(desk, 0) == -1


@jit
def raise_often(desk, times):
    """Raise a number so many times."""
    for _ in range(times):
        raised(desk, 0, 1)


def test_no_change_of_a_desk_is_lost():
    desk, times, n_threads = np.zeros(8, np.int64), 100 if NO_JIT else 3_000_000, 3
    raise_often(desk, 1)
    start = Barrier(n_threads)

    def change(_thread):
        start.wait()
        raise_often(desk, times)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(change, range(n_threads)))
    assert desk[0] == n_threads * times + 1


@pytest.mark.skipif(NO_JIT, reason="nothing is compiled")
def test_looks_and_changes_are_atomic():
    @numba.njit
    def use(desk):
        return look(desk, 0) + raised(desk, 0, 1) + replaced(desk, 0, 1, 2)

    use(np.zeros(8, np.int64))
    code = "".join(use.inspect_llvm().values())
    for instruction in ("load atomic", "atomicrmw add", "cmpxchg"):
        assert re.search(rf"{instruction} .*seq_cst", code), instruction
