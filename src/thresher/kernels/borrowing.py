"""Arrays that a kernel uses without counting how often: whoever has called it keeps them alive.

Numba counts who uses an array, also for every part of it that is handed on, and threads that count
the same array take turns in doing so. Where each has thousands of small things to do in a call,
that costs more than a tenth of the time.
"""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

_config: Any = numba.config


def _uncounted(context, builder, kind, value):
    """Return a value in which no array has an owner, and arrays made of those have none either."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        for owner in ("meminfo", "parent"):
            setattr(array, owner, getattr(array, owner).type(None))
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for place, member in enumerate(kind):
            part = builder.extract_value(value, place)
            part = _uncounted(context, builder, member, part)
            value = builder.insert_value(value, part, place)
    return value


def _borrowed(_typing, kind):
    """Return arrays, or tuples of them, as they are, but uncounted."""

    def generate(context, builder, _signature, arguments):
        return _uncounted(context, builder, kind, arguments[0])

    return kind(kind), generate


def _plain_borrowed(arrays):
    return arrays


borrowed: Any = _plain_borrowed if _config.DISABLE_JIT else intrinsic(_borrowed)
