"""Peak memory of ``thresher train`` on a file, and on one ten times as long.

    python benchmarks/memory.py [--rows 60000]

Rows and features are the same in both: the long file repeats the short one. Each training is a
process of its own; its peak is what the operating system says of it at its end.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from timing import save

TRAIN = """
import resource, sys
from thresher.cli import main
main(["train", *sys.argv[1:], "--quiet"], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
WAYS = {
    "one pass over text": ["--max-iter", "1", "--no-shuffle"],
    "two passes over shards": ["--method", "ftrl", "--max-iter", "2"],
}


def write_rows(path, n_rows, n_columns=50_000, nonzeros=80):
    """Write rows of a made-up text: frequent columns first."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        for _ in range(n_rows):
            columns = np.unique((n_columns * rng.random(nonzeros) ** 3).astype(int)) + 1
            label = 1 if (columns < 200).sum() % 2 else -1
            pairs = " ".join(f"{column}:{1 + column % 7}" for column in columns)
            file.write(f"{label} {pairs}\n")


def peak(path, words):
    """Return the megabytes that training on a file takes."""
    model = Path(path).with_suffix(".thresher")
    command = [sys.executable, "-c", TRAIN, str(path), "-o", str(model), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) / 1024


def measure(n_rows):
    """Return the peaks of every way, for the short and the long file."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder, "short.svm"), Path(folder, "long.svm")
        write_rows(short, n_rows)
        with open(long, "wb") as file:
            for _ in range(10):
                file.write(short.read_bytes())
        return {
            way: {path.stem: round(peak(path, words), 1) for path in (short, long)}
            for way, words in WAYS.items()
        }


def main():
    """Measure, print and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the short file")
    rows = parser.parse_args().rows
    peaks = measure(rows)
    for way, found in peaks.items():
        ratio = found["long"] / found["short"]
        print(f"{way:24} {found['short']:8.1f} MB {found['long']:8.1f} MB  ratio {ratio:.3f}")
    measured = [{"way": way, **found} for way, found in peaks.items()]
    save("memory", {"rows": rows, "unit": "MB"}, measured)


if __name__ == "__main__":
    main()
