"""The next row is asked for while one is learnt: they come in no order that memory foresees."""

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from thresher.jit import jit

_config: Any = numba.config

LINE = 64  # bytes of a cache line
# Nonzeros of a row that are asked for: of longer ones the machine foresees the rest by itself.
MOST = 256
AHEAD = LINE // 8  # values in a cache line


def _prefetch(_typing, array, _place):
    """Ask for the cache line of ``array[place]``; nothing is read, so any place will do."""

    def generate(context, builder, _signature, arguments):
        data = context.make_array(array)(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        to_read, keep, of_data = number(0), number(3), number(1)
        builder.call(ask, [address, to_read, keep, of_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _plain_prefetch(_array, _place):
    """Do nothing: not compiled, there is no cache to speak of."""


prefetch = _plain_prefetch if _config.DISABLE_JIT else intrinsic(_prefetch)


@jit
def prefetch_row(rows, i):
    """Ask for a row's slots and values."""
    first = rows.starts[i]
    last = min(rows.starts[i + 1], first + MOST)
    for k in range(first, last, LINE // 4):
        prefetch(rows.slots, k)
    for k in range(first, last, LINE // 8):
        prefetch(rows.values, k)


@jit
def prefetch_next(rows, order, t):
    """Ask for the row that comes after row number ``t`` of an order."""
    if t + 1 < order.size:
        prefetch_row(rows, order[t + 1])
