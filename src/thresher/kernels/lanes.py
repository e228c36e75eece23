"""A cache line of numbers that go through the same arithmetic together.

The weights of parallel paths lie side by side, so that a row is read once for all of them. LLVM
makes poor code of plain loops over them; here a line is one value, held in vector registers. Where
nothing is compiled, NumPy does the same to the last bit: operations are single, never fused, and
sums have one order whatever the registers' width.
"""

from typing import Any

import numba

_config: Any = numba.config
_lanes: Any
if _config.DISABLE_JIT:
    from thresher.kernels import plain_lanes as _lanes
else:
    from thresher.kernels import vector_lanes as _lanes

LINE = 64  # bytes

load = _lanes.load
store = _lanes.store
load_half = _lanes.load_half
store_half = _lanes.store_half
plus = _lanes.plus
minus = _lanes.minus
times = _lanes.times
over = _lanes.over
filled = _lanes.filled
scaled = _lanes.scaled
clipped = _lanes.clipped
total = _lanes.total
lane = _lanes.lane
