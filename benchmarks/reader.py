"""How fast is svmlight text read, against scikit-learn's load_svmlight_file?

Both read the same files in turn in one run, on one thread: ours as a stream of chunks, theirs into
one matrix. What both have read is compared first. Rows are generated with the shape of the RCV1
sample and written in several ways; where the environment variable THRESHER_DATA names a folder, its
svmlight files (*.svm, plain or compressed) are unpacked and read as well.

    python benchmarks/reader.py [--quick]
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from peers import make_text
from thresher.data.sources.cutting import joined
from thresher.data.sources.files import TextFiles
from thresher.data.sources.protocol import Reading
from thresher.data.sources.svmlight import SvmlightSource
from timing import best_of, print_table, save

N_ROWS = 20_000
LARGEST = 200 << 20  # bytes of a file beyond which theirs takes minutes
OURS, THEIRS = "thresher", "scikit-learn"
# how values are written
WRITTEN: dict[str, Callable[[float], str]] = {
    "four digits": "{:.4g}".format,
    "nine digits": "{:.9f}".format,
    "all digits": repr,
    "exponents": "{:.8e}".format,
    "counts": lambda value: str(int(value * 100) + 1),
}


def write_rows(path: Path, rows: sparse.csr_matrix, labels: np.ndarray, written: Any) -> None:
    """Write rows as svmlight text, indices from 1."""
    with path.open("w") as file:
        for row, label in enumerate(labels):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            pairs = zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)
            file.write(f"{label:+d} {' '.join(f'{c + 1}:{written(v)}' for c, v in pairs)}\n")


def files(folder: Path, quick: bool) -> Iterator[tuple[str, Path]]:
    """Yield generated files, and the real ones where there are any."""
    rows, labels = make_text(N_ROWS // 10 if quick else N_ROWS)
    for name, written in WRITTEN.items():
        path = folder / "generated.svm"
        write_rows(path, rows, labels, written)
        yield f"generated, {name}", path
    if not quick and "THRESHER_DATA" in os.environ:
        for packed in sorted(Path(os.environ["THRESHER_DATA"]).glob("*.svm*")):
            path = folder / "real.svm"
            with path.open("wb") as file:
                shutil.copyfileobj(_Unpacked(packed), file)
            if path.stat().st_size <= LARGEST:
                yield packed.name.partition(".")[0], path


class _Unpacked:
    """A file of any kind, block by block."""

    def __init__(self, path: Path) -> None:
        self.blocks = TextFiles([path]).blocks()

    def read(self, _: int) -> bytes:
        """Return the next block."""
        return next((block.data for block in self.blocks), b"")


def read_ours(path: Path) -> None:
    """Read a file from the first row to the last."""
    for _ in SvmlightSource([str(path)], Reading()).chunks():
        pass


def agree(path: Path) -> None:
    """Assert that both read the same, to the last bit."""
    ours = joined(list(SvmlightSource([str(path)], Reading()).chunks()))
    rows, labels = load_svmlight_file(str(path))
    rows.eliminate_zeros()
    np.testing.assert_array_equal(ours.labels, labels)
    np.testing.assert_array_equal(ours.starts, rows.indptr)
    np.testing.assert_array_equal(ours.columns, rows.indices)
    np.testing.assert_array_equal(ours.values, rows.data)


def measure(path: Path, rounds: int) -> dict[str, Any]:
    """Return megabytes per second of both, and how many times as fast ours is."""
    agree(path)
    tasks = {OURS: lambda: read_ours(path), THEIRS: lambda: load_svmlight_file(str(path))}
    seconds = best_of(rounds, tasks)
    size = path.stat().st_size / 1e6
    return {
        "megabytes": size,
        "mb_per_second": {name: size / seconds[name] for name in tasks},
        "ratio": seconds[THEIRS] / seconds[OURS],
    }


def main() -> None:
    """Measure every file there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds; saves nothing")
    quick = parser.parse_args().quick
    rounds = 1 if quick else 5
    with tempfile.TemporaryDirectory() as folder:
        measured = [
            {"data": name, **measure(path, rounds)} for name, path in files(Path(folder), quick)
        ]
    lines = [
        [
            one["data"],
            f"{one['megabytes']:.1f}",
            *(f"{one['mb_per_second'][name]:.0f}" for name in (OURS, THEIRS)),
            f"{one['ratio']:.1f}",
        ]
        for one in measured
    ]
    print_table(["", "MB", f"{OURS}, MB/s", f"{THEIRS}, MB/s", "ratio"], lines)
    if not quick:
        save("reader", {"rows": N_ROWS, "rounds": rounds}, measured)


if __name__ == "__main__":
    main()
