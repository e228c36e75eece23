"""How long does each classifier train, against scikit-learn's SGD with an L1 penalty?

Twenty passes for everybody, one thread, logistic loss, in turn in one run. The rows are generated
with the shape of the RCV1 sample; where the environment variable THRESHER_DATA names a folder with
rcv1_all.svm.xz, the real ones are measured as well.

    python benchmarks/peers.py [--quick]
"""

import argparse
import lzma
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

from timing import LEARNERS, best_of, print_table, save

N_ROWS, N_COLUMNS, PASSES = 20_000, 47_236, 20
WORDS = 78  # drawn for a row: 75 of them differ, as in RCV1
N_INFORMATIVE = 2_000
PEER = "scikit-learn SGD, L1"

Data = tuple[sparse.csr_matrix, np.ndarray]


def make_text(n_rows: int, seed: int = 0) -> Data:
    """Return unit rows whose words follow Zipf's law, labelled by a noisy linear rule."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(10, N_COLUMNS + 10)  # without stop words
    words = rng.choice(N_COLUMNS, n_rows * WORDS, p=shares / shares.sum()).astype(np.int32)
    starts = np.arange(0, words.size + 1, WORDS, dtype=np.int32)
    rows = sparse.csr_matrix((rng.random(words.size), words, starts), (n_rows, N_COLUMNS))
    rows.sum_duplicates()
    rows = normalize(rows)
    effects = np.zeros(N_COLUMNS)
    effects[rng.permutation(N_COLUMNS)[:N_INFORMATIVE]] = rng.normal(size=N_INFORMATIVE)
    margins = rows @ effects
    noise = rng.normal(scale=margins.std() / 2, size=n_rows)
    return rows, np.where(margins + noise > np.median(margins), 1, -1)


def read_rcv1(folder: Path) -> Data:
    """Return the real documents."""
    with lzma.open(folder / "rcv1_all.svm.xz") as stream:
        X, y = load_svmlight_file(stream, n_features=N_COLUMNS, zero_based=False)
    # scikit-learn's SGD takes no wider indices than these
    small = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_matrix(small, X.shape), y


def data_sets(quick: bool) -> Iterator[tuple[str, Data]]:
    """Yield the generated rows, and the real ones where there are any."""
    yield "generated text", make_text(N_ROWS // 10 if quick else N_ROWS)
    folder = Path(os.environ.get("THRESHER_DATA", ""))
    if not quick and "THRESHER_DATA" in os.environ and (folder / "rcv1_all.svm.xz").exists():
        yield "rcv1-sample", read_rcv1(folder)


def fit_task(estimator: Any, X: sparse.csr_matrix, y: np.ndarray) -> Callable[[], Any]:
    """Return the task of training an estimator."""
    return lambda: estimator.fit(X, y)


def contestants() -> dict[str, Any]:
    """Return scikit-learn's SGD and all of ours, with their default penalties."""
    peer = SGDClassifier(loss="log_loss", penalty="l1", max_iter=PASSES, tol=None, random_state=0)
    ours = {
        name: learner(loss="log_loss", max_iter=PASSES, tol=None, random_state=0)
        for name, learner in LEARNERS.items()
    }
    return {PEER: peer, **ours}


def measure(X: sparse.csr_matrix, y: np.ndarray, rounds: int) -> list[dict[str, Any]]:
    """Return seconds, ratios to scikit-learn and sizes of the models."""
    models = contestants()
    seconds = best_of(rounds, {name: fit_task(model, X, y) for name, model in models.items()})
    return [
        {
            "learner": name,
            "seconds": seconds[name],
            "ratio": seconds[name] / seconds[PEER],
            "nonzero": int(np.count_nonzero(model.coef_)),
        }
        for name, model in models.items()
    ]


def main() -> None:
    """Measure every data set there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds; saves nothing")
    quick = parser.parse_args().quick
    rounds = 1 if quick else 5
    measured = []
    for name, (X, y) in data_sets(quick):
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} nonzeros a row")
        results = measure(X, y, rounds)
        lines = [
            [one["learner"], f"{one['seconds']:.3f}", f"{one['ratio']:.2f}", f"{one['nonzero']:,}"]
            for one in results
        ]
        print_table(["", "seconds", "ratio", "nonzero"], lines)
        measured += [{"data": name, **one} for one in results]
    if not quick:
        save("peers", {"passes": PASSES, "rounds": rounds, "loss": "log_loss"}, measured)


if __name__ == "__main__":
    main()
