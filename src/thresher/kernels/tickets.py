"""Tickets by which threads share out pieces of work, for kernels that hold no lock.

Work comes in rounds: the tickets of a round are given out once the round before it is done, and who
hands in its last piece opens the next. Every thread has tickets of its own, the same in all rounds,
so that what they are about stays in the cache of its core; whoever has used up its own takes what
others have left. A round takes less than a millisecond, and to be woken takes a thread a good part
of that: so whoever finds no ticket looks again and again. A thread that the system has set aside
holds up nobody unless it is in the middle of a piece.
"""

import os
import threading
import time
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from thresher.jit import jit

_config: Any = numba.config

# Places in a desk, each in a cache line of its own. Of the rounds that were opened and the pieces
# that were handed in all know; from OWN on there is how many tickets of each thread's were taken.
LINE = 8
PIECES, OPEN, DONE, OVER, OWN = range(0, 5 * LINE, LINE)
PATIENCE = 500  # looks before the processor is offered to others
NUMBER = ir.IntType(64)


def new_desk(n_tickets: int, n_threads: int) -> np.ndarray:
    """Return a desk that gives out so many tickets in every round, the first of which is open."""
    desk = np.zeros(OWN + LINE * n_threads, np.int64)
    desk[PIECES], desk[OPEN] = n_tickets, 1
    return desk


def _place(context, builder, array, arguments):
    data = context.make_array(array)(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


def _look(_typing, array, _at):
    """Return a number as it is now, whoever has written it."""

    def generate(context, builder, _signature, arguments):
        place = _place(context, builder, array, arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(array, types.int64), generate


def _raised(_typing, array, _at, _by):
    """Add to a number; return what it has become."""

    def generate(context, builder, _signature, arguments):
        place = _place(context, builder, array, arguments)
        before = builder.atomic_rmw("add", place, arguments[2], "seq_cst")
        return builder.add(before, arguments[2])

    return types.int64(array, types.int64, types.int64), generate


def _replaced(_typing, array, _at, _old, _new):
    """Put a new number in place of an old one; return whether the old one was still there."""

    def generate(context, builder, _signature, arguments):
        place = _place(context, builder, array, arguments)
        pair = builder.cmpxchg(place, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.int64, types.int64, types.int64), generate


def _give_way(_typing):
    """Let another thread have the processor, where the system knows how."""

    def generate(context, builder, _signature, _arguments):
        if os.name == "posix":
            kind = ir.FunctionType(ir.IntType(32), [])
            known = builder.module.globals.get("sched_yield")
            builder.call(known or ir.Function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


_one_at_a_time = threading.Lock()


def _plain_look(desk, at):
    return desk[at]


def _plain_raised(desk, at, by):
    with _one_at_a_time:
        desk[at] += by
        return desk[at]


def _plain_replaced(desk, at, old, new):
    with _one_at_a_time:
        there = desk[at] == old
        if there:
            desk[at] = new
        return there


def _plain_give_way():
    time.sleep(0)


look: Any
raised: Any
replaced: Any
give_way: Any
if _config.DISABLE_JIT:
    look, raised, replaced = _plain_look, _plain_raised, _plain_replaced
    give_way = _plain_give_way
else:
    look, raised, replaced = intrinsic(_look), intrinsic(_raised), intrinsic(_replaced)
    give_way = intrinsic(_give_way)


@jit
def take_own(desk, owner):
    """Return one of the tickets that belong to a thread, -1 if it has none left."""
    n_owners = (desk.size - OWN) // LINE
    first = desk[PIECES] * owner // n_owners
    count = desk[PIECES] * (owner + 1) // n_owners - first
    taken = look(desk, OWN + LINE * owner)
    while taken < count * look(desk, OPEN):
        if replaced(desk, OWN + LINE * owner, taken, taken + 1):
            return first + taken % count
        taken = look(desk, OWN + LINE * owner)
    return -1


@jit
def take_any(desk, thread):
    """Return a ticket, the thread's own before others'; -1 if there is none now."""
    n_owners = (desk.size - OWN) // LINE
    for k in range(n_owners):
        ticket = take_own(desk, (thread + k) % n_owners)
        if ticket >= 0:
            return ticket
    return -1


@jit
def take_ticket(desk, thread):
    """Return a ticket once there is one; -1 if there will be no more."""
    looks = 0
    while look(desk, OVER) == 0:
        ticket = take_any(desk, thread)
        if ticket >= 0:
            return ticket
        looks += 1
        if looks > PATIENCE:
            give_way()
    return -1


@jit
def hand_in(desk, pieces):
    """Say that some pieces are done; return whether the last of their round was among them."""
    return raised(desk, DONE, pieces) == desk[PIECES] * look(desk, OPEN)


@jit
def open_round(desk):
    """Give out the tickets of another round."""
    raised(desk, OPEN, 1)


@jit
def close_desk(desk):
    """Give out no more tickets."""
    raised(desk, OVER, 1)


@jit
def given_up(desk):
    """Return whether no more tickets are given out: who still works may lay it down."""
    return look(desk, OVER) > 0
