"""Peak memory, each in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.timing import Figure, Setting

ROOT = Path(__file__).parents[1]
WIDTH, CHUNKS, CHUNK_ROWS = 10_000_000, 20, 1_000
# What both sides run: the peak beyond what is loaded before, in megabytes.
STREAM = """
import sys
from benchmarks.memory import forget_peak, peak
from benchmarks.peers import classic, flagship, sgd_l1
from benchmarks.rows import uniform
chunks, n, width = map(int, sys.argv[2:])
rows = uniform(n, width)
model = {{"ours": lambda: {ours}, "theirs": sgd_l1}}[sys.argv[1]]
few = uniform(50, 100)
model().partial_fit(few.X, few.y, classes=[-1, 1]).predict(few.X)  # loads and compiles
forget_peak()
before, one = peak(), model()
for k in range(chunks):
    part = slice(k * n // chunks, (k + 1) * n // chunks)
    one.partial_fit(rows.X[part], rows.y[part], classes=[-1, 1])
    one.predict(rows.X[part])
print(max(peak() - before, 0.1))
"""
START = """
from time import perf_counter
started = perf_counter()
import numpy as np
from {module} import {name}
X, y = np.eye(20), np.arange(20) % 2
{name}(random_state=0).fit(X, y)
print(perf_counter() - started)
"""


def peak() -> float:
    """Return the most memory that this process has had, in megabytes."""
    import resource  # not on Windows

    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(one.split()[1]) / 1024 for one in lines if one.startswith("VmHWM:"))
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> None:
    """Start the peak anew, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def stream(setting: Setting) -> Iterator[Figure]:
    """Memory of a stream with ten million columns over that of scikit-learn's SGD."""
    rows = CHUNKS * (5 if setting.small else CHUNK_ROWS)
    size = [str(CHUNKS), str(rows), str(WIDTH // 100 if setting.small else WIDTH)]
    for name, ours in {"FTRL": "classic('FTRL')", "flagship": "flagship()"}.items():
        code = STREAM.format(ours=ours)
        parts = {f"{name}, MB": run_alone(code, "ours", *size)}
        parts["scikit-learn SGD, MB"] = run_alone(code, "theirs", *size)
        yield Figure.of("memory of a wide stream", "uniform", parts)


def start(setting: Setting) -> Iterator[Figure]:
    """Seconds of an import and a first fit in a new process, kernels compiled before."""
    sides = {
        "FTRL": ("thresher", "FTRLClassifier"),
        "flagship": ("thresher", "ThresherClassifier"),
    }
    theirs = START.format(module="sklearn.linear_model", name="SGDClassifier")
    for side, (module, name) in sides.items():
        code = START.format(module=module, name=name)
        run_alone(code)
        parts = {
            side: min(run_alone(code) for _ in range(setting.rounds)),
            "scikit-learn SGD": min(run_alone(theirs) for _ in range(setting.rounds)),
        }
        yield Figure.of("import and first fit", "20 rows", parts)


def run_alone(code: str, *words: str) -> float:
    """Return the number that a program prints last, in a process of its own."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return float(done.stdout.split()[-1])
