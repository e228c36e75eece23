"""Kill ``thresher train`` at random moments and let it go on: the model must not differ in a bit.

    python tests/kill_training.py 1000

Each child is forked from a process that has everything imported, so that most kills hit work and
not start-up. Cache and checkpoint are removed whenever a training has come to its end.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from thresher.cli import main
from thresher.estimators import gathering

# what is trained on, and how
WAYS = [
    ("rows.svm", ["--n-features-to-select", "20", "--max-iter", "20"]),
    ("rows.svm", ["--method", "thresher-regressor", "--n-features-to-select", "20"]),
    ("rows.svm", ["--n-features-to-select", "20", "--max-iter", "1", "--n-stages", "2"]),
    ("rows.svm", ["--method", "rda", "--tol", "0.5", "--max-iter", "10"]),
    ("rows.vw", ["--max-iter", "1"]),
    ("rows.vw", ["--max-iter", "1", "--no-shuffle", "--hash-bits", "9"]),
    ("rows.vw", ["--method", "ftrl", "--max-iter", "3", "--no-cache"]),
]


def write_rows(path, n_rows=1500, n_columns=300):
    """Write rows whose class depends on a few columns."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        for _ in range(n_rows):
            columns = np.sort(rng.choice(n_columns, 12, replace=False)) + 1
            values = rng.uniform(0.1, 1, columns.size).round(3)
            label = 1 if values[columns < n_columns / 3].sum() > 2 else -1
            pairs = " ".join(f"{c}:{v}" for c, v in zip(columns, values, strict=True))
            file.write(f"{label} {pairs}\n")


def child(words):
    """Run the command in a forked process; return its number."""
    number = os.fork()
    if number:
        return number
    try:
        main(words, standalone_mode=False)
    except BaseException as error:
        print(f"failed: {error!r}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def killed(number, seconds):
    """Wait, then kill; return whether it was still at work, and refuse any failure."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            if status:
                raise SystemExit("a training failed")
            return False
        time.sleep(0.0005)
    os.kill(number, signal.SIGKILL)
    _, status = os.waitpid(number, 0)
    return os.WIFSIGNALED(status)


def write_words(path, n_rows=1500):
    """Write rows with names, of which new ones occur up to the end."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        for row in range(n_rows):
            words = rng.integers(0, 300 + row // 4, 20)
            label = 1 if (words < 40).sum() > 1 else -1
            file.write(f"{label} |a {' '.join(f'w{word}' for word in words)}\n")


def run_way(rows, settings, n_kills, draw):
    """Kill trainings of one kind so many times; return how many models were compared."""
    fresh = ["train", rows, "-o", "killed.thresher", *settings, "--quiet"]
    fresh += ["--checkpoint", "state.ckpt", "--checkpoint-every", "0.001s"]
    # children inherit the kernels that this has loaded
    main(["train", rows, "-o", "whole.thresher", *settings, "--quiet"], standalone_mode=False)
    remove(f"{rows}.shards", "state.ckpt")  # which the last kill of another kind may have left
    began = time.monotonic()
    main(fresh, standalone_mode=False)
    longest = time.monotonic() - began
    kills = compared = 0
    remove(f"{rows}.shards", "killed.thresher")
    while kills < n_kills or not compared:
        words = ["train", "--resume", "state.ckpt", "--quiet"]
        patience = 600 if kills >= n_kills else draw.uniform(0, 0.4 * longest)
        if killed(child(words if Path("state.ckpt").exists() else fresh), patience):
            kills += 1
            continue
        if Path("killed.thresher").read_bytes() != Path("whole.thresher").read_bytes():
            raise SystemExit(f"{rows} {settings}: after {kills} kills the model differs")
        compared += 1
        remove(f"{rows}.shards", "killed.thresher")
    return compared


def remove(*paths):
    """Remove files and folders, if they are there."""
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        Path(path).unlink(missing_ok=True)


def run(n_kills, seed=0):
    """Kill so many times in all; return how many models were compared."""
    draw = random.Random(seed)
    gathering.MOST_AT_HAND = 0  # what is learnt at once has no state to go on from
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_rows("rows.svm")
        write_words("rows.vw")
        compared = sum(run_way(*way, -(-n_kills // len(WAYS)), draw) for way in WAYS)
        os.chdir("/")
    return compared


if __name__ == "__main__":
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{n_kills} kills, {run(n_kills)} models compared: all the same")
