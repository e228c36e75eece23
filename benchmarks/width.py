"""Does a row cost what its nonzeros cost, whatever the number of columns?

Two series. "declared": the same rows, declared to have more and more columns; any work that follows
the declared width shows at once. "spread": columns drawn from all of them, so that more and more
features really occur; each then has fewer rows, and memory caches help less and less.

    python benchmarks/width.py [--quick]
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from timing import LEARNERS, best_of, print_table, save

N_ROWS, PER_ROW, CHUNK = 20_000, 75, 1_000
WIDTHS = (10**4, 10**5, 10**6, 10**7)


def draw_rows(n_rows: int, n_columns: int, seed: int = 0) -> sparse.csr_array:
    """Return rows whose columns are drawn uniformly, numbers from 0 to 1."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(n_columns, size=n_rows * PER_ROW, dtype=np.int32)
    starts = np.arange(0, columns.size + 1, PER_ROW, dtype=np.int32)
    rows = sparse.csr_array((rng.random(columns.size), columns, starts), (n_rows, n_columns))
    rows.sum_duplicates()  # a few at the smallest width
    return rows


def declare(rows: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """Return the same rows in a wider matrix."""
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), (rows.shape[0], n_columns))


def fit_once(learner: Any, X: sparse.csr_array, y: np.ndarray) -> Callable[[], Any]:
    """Return the task of one pass over all rows."""
    return lambda: learner(max_iter=1, tol=None, random_state=0).fit(X, y)


def learn_chunks(learner: Any, X: sparse.csr_array, y: np.ndarray) -> Callable[[], Any]:
    """Return the task of learning all rows as a stream."""
    cuts = [slice(start, start + CHUNK) for start in range(0, X.shape[0], CHUNK)]
    chunks = [(X[cut], y[cut]) for cut in cuts]

    def learn() -> None:
        model = learner(random_state=0)
        for rows, labels in chunks:
            model.partial_fit(rows, labels, classes=[-1, 1])

    return learn


def measure(mode: Any, matrices: dict[int, sparse.csr_array], rounds: int) -> dict[str, list]:
    """Return nanoseconds per nonzero at every width, by learner."""
    labels = np.where(np.random.default_rng(1).random(N_ROWS) < 0.5, 1, -1)
    found = {}
    for name, learner in LEARNERS.items():
        tasks = {p: mode(learner, X, labels[: X.shape[0]]) for p, X in matrices.items()}
        seconds = best_of(rounds, tasks)
        found[name] = [1e9 * seconds[p] / matrices[p].nnz for p in matrices]
    return found


def report(series: str, mode: str, found: dict[str, list], widths: tuple[int, ...]) -> None:
    """Print a table: nanoseconds per nonzero, and how many times those at the smallest width."""
    print(f"{series}, {mode}: ns per nonzero (and the ratio to p = {widths[0]:,})")
    rows = [
        [name, *(f"{one:.1f} ({one / costs[0]:.2f})" for one in costs)]
        for name, costs in found.items()
    ]
    print_table(["", *(f"p = {width:,}" for width in widths)], rows)


def main() -> None:
    """Measure both series in both modes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds; saves nothing")
    quick = parser.parse_args().quick
    n_rows, rounds = (2_000, 1) if quick else (N_ROWS, 5)
    narrow = draw_rows(n_rows, WIDTHS[0])
    series = {
        "declared": {p: declare(narrow, p) for p in WIDTHS},
        "spread": {p: draw_rows(n_rows, p) for p in WIDTHS},
    }
    measured = []
    for name, matrices in series.items():
        for mode in (fit_once, learn_chunks):
            found = measure(mode, matrices, rounds)
            report(name, mode.__name__, found, WIDTHS)
            measured += [
                {"series": name, "mode": mode.__name__, "learner": learner, "ns_per_nonzero": costs}
                for learner, costs in found.items()
            ]
    if not quick:
        settings = {"rows": n_rows, "nonzeros_per_row": PER_ROW, "chunk": CHUNK, "rounds": rounds}
        save("width", {**settings, "columns": WIDTHS}, measured)


if __name__ == "__main__":
    main()
