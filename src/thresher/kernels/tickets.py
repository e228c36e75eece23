"""Tickets by which threads share out pieces of work, for kernels that hold no lock.

Work comes in rounds: the tickets of a round are given out once the round before it is done, and who
hands in its last piece opens the next. A round takes less than a millisecond, and to be woken takes
a thread a good part of that: so whoever finds no ticket looks again and again. A thread that the
system has set aside holds up nobody unless it is in the middle of a piece.
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

TAKEN, OPEN, DONE, OVER = range(0, 32, 8)  # places in a desk, each in a cache line of its own
PATIENCE = 500  # looks before the processor is offered to others
NUMBER = ir.IntType(64)


def new_desk(n_tickets: int) -> np.ndarray:
    """Return a desk that has the tickets of a first round."""
    desk = np.zeros(32, np.int64)
    desk[OPEN] = n_tickets
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
def take_ticket(desk):
    """Return the next ticket once there is one, -1 if there will be no more."""
    looks = 0
    while look(desk, OVER) == 0:
        ticket = look(desk, TAKEN)
        if ticket < look(desk, OPEN):
            if replaced(desk, TAKEN, ticket, ticket + 1):
                return ticket
        else:
            looks += 1
            if looks > PATIENCE:
                give_way()
    return -1


@jit
def hand_in(desk):
    """Say that a piece is done; return whether it was the last of its round."""
    return raised(desk, DONE, 1) == look(desk, OPEN)


@jit
def open_round(desk, n_tickets):
    """Give out the tickets of another round."""
    raised(desk, OPEN, n_tickets)


@jit
def close_desk(desk):
    """Give out no more tickets."""
    raised(desk, OVER, 1)
