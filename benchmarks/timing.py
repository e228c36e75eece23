"""What the benchmarks share: fair clocks, aligned tables, results that say what made them.

Nothing here asserts a time: machines differ, and shared ones differ from minute to minute. Ratios
are taken between things measured in turn in one run, and the best of several rounds counts.
"""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import thresher.estimators

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("thresher", "numpy", "scipy", "scikit-learn", "numba")
LEARNERS: dict[str, Callable[..., Any]] = {
    name.removesuffix("Classifier"): getattr(thresher, name)
    for name in thresher.estimators.__all__
    if name.endswith("Classifier")
}
# One fit is timed, not the search for a size.
LEARNERS["Thresher"] = partial(thresher.ThresherClassifier, n_features_to_select=0.01)


def best_of(rounds: int, tasks: Mapping[Any, Callable[[], Any]]) -> dict[Any, float]:
    """Return the best seconds of each task, all of them run in turn in every round.

    A first round, for compilers and caches, does not count.
    """
    for task in tasks.values():
        task()
    times = [{name: _seconds(task) for name, task in tasks.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in times) for name in tasks}


def _seconds(task: Callable[[], Any]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def print_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print columns that line up: the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    for number, row in enumerate(cells):
        padded = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *padded]))
        if number == 0:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))
    print(flush=True)


def save(name: str, settings: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> None:
    """Write results and the versions that made them to ``results/<name>.json``."""
    made_by = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{package: version(package) for package in PACKAGES},
    }
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    record = {"versions": made_by, "settings": dict(settings), "measured": list(measured)}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"Saved in benchmarks/results/{path.name}")
