"""Memory: of a feature, of a fit beyond its input, and of a file and one ten times as long."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from thresher.bench.contestants import PASSES, PATHS, SHARE, shared_paths
from thresher.bench.judging import write_svmlight
from thresher.bench.record import Measured, ratio
from thresher.bench.setting import Setting
from thresher.data.sources.shuffle import BUFFER_NONZEROS
from thresher.learners.timetable import STREAM_FIRST_STAGE

N_FEATURES = 100_000
FIT = """
import sys
import numpy as np
from scipy import sparse
import thresher
from thresher.bench.peak import forget_peak, peak_bytes, resident_bytes

X, y = sparse.load_npz(sys.argv[1]), np.load(sys.argv[2])
make = {make}
make().set_params(max_iter=1).fit(X[:200], np.arange(200) % 2)  # for what is loaded only once
forget_peak()
before = resident_bytes()
make().fit(X, y)
print(peak_bytes() - before)
"""
TRAIN = """
import sys
from thresher.bench.peak import peak_bytes
from thresher.cli import main
main(["train", *sys.argv[1:], "--quiet"], standalone_mode=False)
print(peak_bytes())
"""
WAYS = {
    "one pass over text": ["--max-iter", "1", "--no-shuffle"],
    "two passes over shards": ["--method", "ftrl", "--max-iter", "2"],
}


def features(setting: Setting) -> Iterator[Measured]:
    """Bytes that sixteen paths keep of a feature that has occurred, once a stage has ended."""
    n = N_FEATURES // 100 if setting.small else N_FEATURES
    rows = sparse.csr_array(np.ones((2, n)))
    model = shared_paths()
    for _ in range(STREAM_FIRST_STAGE // 2 + 1):
        model.partial_fit(rows, [-1, 1], classes=[-1, 1])
    held = model._model
    parts = {
        "paths": bytes_in([problem.state for problem in held.problems]) / n,
        "vocabulary": bytes_in(held.vocabulary) / n,
    }
    yield Measured("features", "full rows", f"{PATHS} paths", sum(parts.values()), parts)


def bytes_in(thing: Any) -> int:
    """Return the size of all arrays in a value, whatever it is made of."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, dict):
        return sum(map(bytes_in, thing.values()))
    if isinstance(thing, list | tuple):
        return sum(map(bytes_in, thing))
    return bytes_in(vars(thing)) if hasattr(thing, "__dict__") else 0


def peak(setting: Setting) -> Iterator[Measured]:
    """Peak memory of a fit beyond its input, over the input."""
    data = setting.main()
    size = sum(one.nbytes for one in (data.X.data, data.X.indices, data.X.indptr))
    common = f"max_iter={PASSES}, tol=None, random_state=0"
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder, "rows.npz"), Path(folder, "labels.npy")
        sparse.save_npz(rows, data.X)
        np.save(labels, data.y)
        for words, make in {
            "shared paths": (
                f"lambda: thresher.ThresherClassifier(n_paths={PATHS}, "
                f"n_features_to_select={SHARE}, {common})"
            ),
            "FTRL": f"lambda: thresher.FTRLClassifier({common})",
        }.items():
            beyond = run_alone(FIT.format(make=make), str(rows), str(labels))
            parts = {f"{words}: peak beyond the input": beyond, "input": size}
            yield ratio("peak", data.name, (f"{words}: peak beyond the input", "input"), parts)


def stream(setting: Setting) -> Iterator[Measured]:
    """Peak memory of training on a file ten times as long over that of the file.

    The file has more rows than are shuffled at once: how many those are is no matter of its length.
    """
    data = setting.generated()
    enough = 1 if setting.small else BUFFER_NONZEROS // data.X.nnz + 1
    with tempfile.TemporaryDirectory() as folder:
        text = Path(write_svmlight(data, Path(folder))).read_bytes()
        short, long = Path(folder, "short.svm"), Path(folder, "long.svm")
        for path, times in ((short, enough), (long, 10 * enough)):
            with path.open("wb") as file:
                file.writelines([text] * times)
        for way, words in WAYS.items():
            out = ["-o", str(Path(folder, "model.thresher")), *words]
            names = (f"{way}: ten times the rows", "once")
            run_alone(TRAIN, str(short), *out)  # what has to be compiled takes memory
            peaks = [run_alone(TRAIN, str(path), *out) for path in (long, short)]
            parts = dict(zip(names, peaks, strict=True))
            yield ratio("stream", data.name, names, parts)


def run_alone(code: str, *words: str) -> float:
    """Return the number that a program prints last, run in a process of its own."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])
