"""Rows are asked for before they are learnt: they come in no order that memory foresees.

A row's nonzeros are asked for SOON rows ahead, and what says where they are and what the row counts
LATER rows ahead. Few lines can be on their way at once, and a weight that is waited for is one of
them: kernels ask for nonzeros where they have their weights already.
"""

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_config: Any = numba.config

SOON, LATER = 2, 4
LINE = 64  # bytes of a cache line
# Nonzeros of a row that are asked for: of longer ones the machine foresees the rest by itself.
MOST = 256


def _asker(context, builder, array, value):
    """Return what writes down the question for the cache line of a place in an array."""
    data = context.make_array(array)(context, builder, value).data
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    to_read, keep, of_data = number(0), number(3), number(1)

    def write(place):
        address = builder.bitcast(builder.gep(data, [place]), byte)
        builder.call(ask, [address, to_read, keep, of_data])

    return write


def _prefetch(_typing, array, _place):
    """Ask for the cache line of ``array[place]``; nothing is read, so any place will do."""

    def generate(context, builder, _signature, arguments):
        _asker(context, builder, array, arguments[0])(arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _prefetch_span(_typing, array, _first, _last):
    """Ask for the cache lines of ``array[first:last]``, each once, and for MOST numbers only."""
    in_line = 8 * LINE // array.dtype.bitwidth

    def generate(context, builder, _signature, arguments):
        ask = _asker(context, builder, array, arguments[0])
        first, last = arguments[1:]
        farthest = builder.add(first, first.type(MOST))
        last = builder.select(builder.icmp_signed("<", last, farthest), last, farthest)
        with cgutils.for_range_slice(builder, first, last, first.type(in_line)) as (place, _):
            ask(place)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


def _plain_prefetch(_array, _place):
    """Do nothing: not compiled, there is no cache to speak of."""


def _plain_prefetch_span(_array, _first, _last):
    """Do nothing either."""


prefetch = _plain_prefetch if _config.DISABLE_JIT else intrinsic(_prefetch)
prefetch_span = _plain_prefetch_span if _config.DISABLE_JIT else intrinsic(_prefetch_span)
