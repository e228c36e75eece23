"""Prefetching of rows: in a random order, the processor cannot foresee which one comes next.

A row's nonzeros are prefetched SOON rows ahead, and its place LATER rows ahead. This saves a third
of the time of the row updates.
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
MOST = 256  # nonzeros of a row that are prefetched: the processor foresees the rest by itself


def _emitter(context, builder, array, value):
    """Return a function that emits the prefetch of a place in an array."""
    data = context.make_array(array)(context, builder, value).data
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    to_read, keep, of_data = number(0), number(3), number(1)

    def emit(place):
        address = builder.bitcast(builder.gep(data, [place]), byte)
        builder.call(prefetch, [address, to_read, keep, of_data])

    return emit


def _prefetch(_typing, array, _place):
    """Prefetch the cache line of ``array[place]``; nothing is read, so any place will do."""

    def generate(context, builder, _signature, arguments):
        _emitter(context, builder, array, arguments[0])(arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _prefetch_span(_typing, array, _first, _last):
    """Prefetch the cache lines of ``array[first:last]``, up to MOST numbers."""
    in_line = 8 * LINE // array.dtype.bitwidth

    def generate(context, builder, _signature, arguments):
        emit = _emitter(context, builder, array, arguments[0])
        first, last = arguments[1:]
        farthest = builder.add(first, first.type(MOST))
        last = builder.select(builder.icmp_signed("<", last, farthest), last, farthest)
        with cgutils.for_range_slice(builder, first, last, first.type(in_line)) as (place, _):
            emit(place)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


def _nothing(*_):
    """Do nothing: uncompiled code has no use for prefetching."""


prefetch = _nothing if _config.DISABLE_JIT else intrinsic(_prefetch)
prefetch_span = _nothing if _config.DISABLE_JIT else intrinsic(_prefetch_span)
