"""A fair clock: what is compared runs in turn, and the best of several rounds counts.

Machines differ, and shared ones differ from minute to minute: a ratio means something only if both
of its sides had the same minutes.
"""

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any, Self

Task = Callable[[], Any]
PACKAGES = ("thresher", "numpy", "scipy", "scikit-learn", "numba", "vowpalwabbit", "river")
SHORT_ROUNDS = 50  # of tasks that take milliseconds


@dataclass(frozen=True)
class Figure:
    """Ours over theirs, with the numbers it was made of: seconds, nanoseconds or megabytes."""

    case: str
    data: str
    ours: str
    theirs: str
    parts: Mapping[str, float]

    @classmethod
    def of(cls, case: str, data: str, parts: Mapping[str, float]) -> Self:
        """Return the first of two parts over the second."""
        ours, theirs = parts
        return cls(case, data, ours, theirs, parts)

    @property
    def ratio(self) -> float:
        """Return ours over theirs."""
        return self.parts[self.ours] / self.parts[self.theirs]


@dataclass(frozen=True)
class Setting:
    """How much is measured; ``small`` shows that everything runs, and no more."""

    small: bool = False
    rounds: int = 5
    notify: Callable[[str], None] = print


def best_of(rounds: int, tasks: Mapping[str, Task]) -> dict[str, float]:
    """Return the best seconds of each task; all run in turn in every round, the first of which
    does not count."""
    for task in tasks.values():
        task()
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            started = perf_counter()
            task()
            best[name] = min(best[name], perf_counter() - started)
    return best


def table(figures: list[Figure]) -> str:
    """Return figures as a table for a terminal."""
    rows = [("case", "data", "ours / theirs", "ratio", "from")]
    for one in figures:
        parts = ", ".join(f"{_short(one.parts[name])}" for name in (one.ours, one.theirs))
        rows.append((one.case, one.data, f"{one.ours} / {one.theirs}", _short(one.ratio), parts))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def save(figures: list[Figure], setting: Setting, path: Path) -> None:
    """Write figures, with the versions and the kind of machine that gave them."""
    record = {
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
        "rounds": setting.rounds,
        "figures": [{**asdict(one), "ratio": one.ratio} for one in figures],
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> list[Figure]:
    """Return the figures of a file."""
    record = json.loads(path.read_text(encoding="utf-8"))
    names = Figure.__dataclass_fields__
    return [Figure(**{name: one[name] for name in names}) for one in record["figures"]]


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """Return the processor's model as Linux has it, or what Python knows elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
