"""How long the first moments take in a new process, kernels compiled before."""

from collections.abc import Iterator

from thresher.bench.memory import run_alone
from thresher.bench.record import Measured
from thresher.bench.setting import Setting

IMPORT = """
from time import perf_counter
start = perf_counter()
import thresher
print(perf_counter() - start)
"""
FIRST_FIT = """
from time import perf_counter
import numpy as np
from scipy import sparse
from thresher import ThresherClassifier
rows = sparse.random_array((200, 500), density=0.05, rng=np.random.default_rng(0), format="csr")
labels = np.arange(200) % 2
start = perf_counter()
ThresherClassifier(max_iter=1, random_state=0).fit(rows, labels)
print(perf_counter() - start)
"""


def start(setting: Setting) -> Iterator[Measured]:
    """Seconds of importing the package, and of the first fit after the import."""
    run_alone(FIRST_FIT)  # compiles, if nobody has
    for words, code in {"import thresher": IMPORT, "first fit": FIRST_FIT}.items():
        best = min(run_alone(code) for _ in range(setting.rounds))
        yield Measured("start", "a new process", words, best, {"seconds": best})
