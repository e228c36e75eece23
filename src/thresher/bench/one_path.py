"""One independent path: our kernel, and the same loop in C."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from thresher.bench.c_compiler import compiled
from thresher.bench.data import Data
from thresher.data.matrix import canonical_csr
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.lone_bursts import run_path
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.rows import Updates
from thresher.kernels.units import EVERY, SQRT, Burst, Tally, Unit
from thresher.randomness import permutation

SOURCE = Path(__file__).with_name("one_path.c")
PASSES = 2
BURST, GRAVITY = 100, 0.1  # on rcv1, less than half of the weights are not 0 in the end


class OnePath:
    """Rows of unit length, an order to learn them in, and a path that begins anew at will."""

    def __init__(self, data: Data) -> None:
        rows = canonical_csr(data.X)
        vocabulary = Vocabulary(rows.shape[1], normalize=True)
        vocabulary.learn_by_frequency(rows)
        self.rows, _ = vocabulary.absorb(rows, np.dtype(np.float64))
        n_rows = data.y.size
        order = np.concatenate([permutation(0, 0, number, n_rows) for number in range(PASSES)])
        ones = np.ones(order.size)
        targets = data.y.astype(np.float64)
        self.updates = Updates(order, ones, ones, ones, targets, np.ones(n_rows))
        self.nonzeros = PASSES * self.rows.slots.size
        self._make_path(len(vocabulary))

    def _make_path(self, n_slots: int) -> None:
        """Make arrays with an entry per slot, and one to spare where the kernels write ahead."""
        self.stable = np.ones(n_slots, np.bool_)
        self.path = Unit(
            np.zeros(n_slots),
            np.zeros(1),
            np.zeros(n_slots, np.int32),
            np.zeros(n_slots + 1, np.uint32),
            np.zeros(n_slots + 1),
            np.zeros(1, np.int64),
        )
        self.tally = Tally(
            np.zeros(n_slots, np.int64),
            np.zeros(n_slots, np.int64),
            np.zeros(self.nonzeros, np.uint32),
            np.zeros(self.nonzeros),
            np.zeros(1, np.int64),
        )

    def begin_anew(self) -> None:
        """Forget everything learnt; pools are overwritten."""
        path, tally = self.path, self.tally
        for array in (path.weights, path.bias, path.touches, path.cursor):
            array.fill(0)
        for array in (tally.evidence, tally.selected, tally.pooled):
            array.fill(0)

    def learn(self) -> int:
        """Learn all updates with our kernel; return how many."""
        self.begin_anew()
        n = self.updates.order.size
        burst = Burst(LOG_LOSS, BURST, GRAVITY, SQRT, EVERY)
        takes = np.ones(n // BURST + 1)
        return run_path(
            self.rows, self.updates, 0, n, burst, 0, takes, 0, self.stable, self.path, self.tally
        )

    def learn_in_c(self, library: ctypes.CDLL) -> int:
        """Learn all updates with the loop in C; return how many."""
        self.begin_anew()
        run = library.run_path
        run.restype = ctypes.c_int64
        return run(
            _pointers(self.rows),
            _pointers(self.updates),
            ctypes.c_int64(self.updates.order.size),
            ctypes.c_int64(BURST),
            ctypes.c_double(GRAVITY),
            ctypes.c_void_p(self.stable.ctypes.data),
            _pointers(self.path),
            _pointers(self.tally),
        )

    def learnt(self) -> np.ndarray:
        """Return a copy of the weights, the constant input's last."""
        return np.concatenate([self.path.weights, self.path.bias])


def c_library() -> ctypes.CDLL:
    """Return the loop in C, or raise a NoCompiler."""
    return compiled(SOURCE)


def _pointers(arrays: tuple[Any, ...]) -> Any:
    """Return a struct of pointers to arrays, in their order."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
