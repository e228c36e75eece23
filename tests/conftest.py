import pytest
def pytest_configure(config):
    config.addinivalue_line("markers", "jit: needs compiled kernels, or far too long without them")
