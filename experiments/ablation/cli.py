"""Measure what each part of the default gives."""

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.ablation import page
from experiments.ablation.measuring import SETS, measure, recipe
from experiments.ablation.variants import VARIANTS
from experiments.errors import StudyError
from experiments.lines import Line
from experiments.lock import alone
from experiments.plan import Task
from experiments.progress import Progress
from experiments.run import run_wave, sweep
from experiments.store import Store


def parser() -> argparse.ArgumentParser:
    """Return the command's words."""
    command = argparse.ArgumentParser(prog="python -m experiments.ablation", description=__doc__)
    add = command.add_argument
    several = {"metavar": "NAME", "action": "append"}
    add("--data", choices=SETS, help="one data set only; may be repeated", **several)
    add("--variant", choices=VARIANTS, help="one variant only; may be repeated", **several)
    add("--again", action="store_true", help="measure these sets and variants again")
    add("--results", type=Path, default=Path("results/ablation"), help="folder of finished cells")
    add("--docs", type=Path, default=Path("docs"), help="folder the page is written to")
    add("--jobs", type=int, default=1, help="processes (1)")
    add("--only-report", action="store_true", help="measure nothing, read what is stored")
    return command


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is missing, write the page; return 0, 1 when cells failed, 2 for a mistake."""
    options = parser().parse_args(words)
    try:
        failures = [] if options.only_report else _measure(options)
    except StudyError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; finished cells are kept, the same command goes on", file=sys.stderr)
        return 130
    store = Store(options.results)
    print(page.ablation_table(store))
    print(page.write(store, options.docs))
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _measure(options: argparse.Namespace) -> list[str]:
    store = Store(options.results)
    keys = [(d, v) for d in options.data or SETS for v in options.variant or VARIANTS]
    with alone(options.results):
        sweep(options.results)
        missing = [key for key in keys if options.again or store.read(key, recipe(*key)) is None]
        left = [Task("ablate", Line(dataset, "", name, "")) for dataset, name in missing]
        worker = functools.partial(_perform, store=store)
        return run_wave("measuring", left, worker, options.jobs, Progress())


def _perform(task: Task, store: Store) -> None:
    key = (task.line.dataset, task.line.method)
    store.write(key, recipe(*key), measure(*key))
