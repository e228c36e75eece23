"""What all tests share: tiny data, and the switch between compiled and plain kernels."""

import logging
import signal

import numpy as np
import pytest
from hypothesis import settings

pytest.register_assert_rewrite("cases")
# only now can its assertions say what is wrong
from cases import NO_JIT, labelled_rows  # noqa: E402

# a background shell ignores it, and tests that press Ctrl-C would wait for hours
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.load_profile("suite")


def pytest_configure(config):
    config.addinivalue_line("markers", "jit: needs compiled kernels, or far too long without them")


def pytest_collection_modifyitems(items):
    """Without the JIT, skip what would take hours, and let NumPy say what machine code does not."""
    if not NO_JIT:
        return
    for item in items:
        if item.get_closest_marker("jit"):
            item.add_marker(pytest.mark.skip(reason="needs the JIT (NUMBA_DISABLE_JIT=1)"))
        item.add_marker(
            pytest.mark.filterwarnings(
                "ignore:(overflow|invalid value|divide by zero) encountered:RuntimeWarning"
            )
        )


@pytest.fixture(scope="session")
def binary():
    """Sparse rows with two classes; two columns never occur."""
    return labelled_rows(n_classes=2)


@pytest.fixture(scope="session")
def multiclass():
    """The same rows with three classes, named by strings."""
    rows, labels = labelled_rows(n_classes=3)
    return rows, np.array(["ash", "elm", "oak"])[labels]


@pytest.fixture(scope="session")
def problems(binary, multiclass):
    """Both of them."""
    return binary, multiclass


@pytest.fixture(autouse=True)
def usual_log_level():
    """Undo what quiet commands of earlier tests and fixtures have set."""
    logging.getLogger("thresher").setLevel(logging.NOTSET)
