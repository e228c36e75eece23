"""Asking for memory changes nothing, wherever it is."""

import numba
import numpy as np
import pytest

from thresher.jit import jit
from thresher.kernels.prefetch import prefetch, prefetch_span


@jit
def ask_one(numbers, place):
    prefetch(numbers, place)


@jit
def ask_span(numbers, first, last):
    prefetch_span(numbers, first, last)


@pytest.mark.parametrize("kind", [np.uint32, np.float32, np.float64])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 9), (3, 10**9), (9, 3), (-5, 2), (2, -1)])
def test_any_place_will_do(kind, first, last):
    numbers = np.arange(10, dtype=kind)
    ask_one(numbers, first)
    ask_span(numbers, first, last)
    np.testing.assert_array_equal(numbers, np.arange(10))


@pytest.mark.jit
@pytest.mark.parametrize(("ask", "places"), [(ask_one, (3,)), (ask_span, (3, 9))])
def test_a_question_is_put_to_the_machine(ask, places):
    anew = numba.njit(ask.py_func)  # what comes from a cache cannot be read
    anew(np.zeros(10), *places)
    (written,) = anew.inspect_llvm().values()
    assert "call void @llvm.prefetch" in written
