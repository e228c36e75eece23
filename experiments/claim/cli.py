"""Measure the bar: ThresherClassifier's defaults against its rivals at the same sizes."""

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.claim import page
from experiments.claim.tables import bar_table
from experiments.claim.tasks import EVERYBODY, KINDS, PLANTED, forget, left_to_do, perform
from experiments.errors import StudyError
from experiments.lock import alone
from experiments.progress import Progress
from experiments.run import run_wave, sweep
from experiments.store import Store

SETS = (*KINDS["matched"].sets, PLANTED)


def parser() -> argparse.ArgumentParser:
    """Return the command's words."""
    command = argparse.ArgumentParser(prog="python -m experiments.claim", description=__doc__)
    add = command.add_argument
    several = {"metavar": "NAME", "action": "append"}
    add("--data", choices=SETS, help="one data set only; may be repeated", **several)
    add("--method", choices=EVERYBODY, help="one method only; may be repeated", **several)
    add("--again", choices=EVERYBODY, help="measure a method's cells again", **several)
    add("--results", type=Path, default=Path("results/claim"), help="folder of finished cells")
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
    print(bar_table(store))
    print(page.write(store, options.docs))
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _measure(options: argparse.Namespace) -> list[str]:
    folder, store = options.results, Store(options.results)
    sets, methods = options.data or SETS, options.method or tuple(EVERYBODY)
    with alone(folder):
        sweep(folder)
        forget(sets, options.again or (), store)
        left = left_to_do(sets, methods, store)
        worker = functools.partial(perform, store=store)
        return run_wave("measuring", left, worker, options.jobs, Progress())
