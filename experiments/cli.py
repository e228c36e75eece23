"""The command line: words in, tables and figures out."""

import argparse
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import report
from experiments.command import add_common, ended
from experiments.plan import Want
from experiments.progress import Progress
from experiments.registry import named
from experiments.run import run
from experiments.scope import FULL, QUICK, Scope
from experiments.store import Store
from experiments.traces import TRACES

FIGURES = {"1": "figure-1", "2": "figure-2", "3": "figure-3", "regret": "regret"}


def parser() -> argparse.ArgumentParser:
    """Return the command's words."""
    command = argparse.ArgumentParser(
        prog="python -m experiments", description="Make the paper's tables and figures anew."
    )
    add = command.add_argument
    add("--table", type=int, choices=(1, 2, 3, 4), help="make and print one table only")
    add("--figure", choices=(*FIGURES, "matched"), help="make and draw one figure only")
    add("--data", metavar="NAME", action="append", help="one data set only; may be repeated")
    add(
        "--quick",
        action="store_true",
        help="one permutation of the small sets, no choice of settings",
    )
    add("--docs", type=Path, help="folder the report is written to (docs; results if partial)")
    add_common(command, Path("results"), os.cpu_count() or 1, "all cores")
    return command


def wanted(options: argparse.Namespace, scope: Scope) -> Want:
    """Return what the options ask for."""
    sets = tuple(named(name).name for name in options.data or scope.sets)
    if options.table is not None:
        return Want(sets, finals=options.table > 1, matched=False, traces=())
    if options.figure == "matched":
        return Want(sets, finals=False, traces=())
    if options.figure is not None:
        return Want((), finals=False, matched=False, traces=(FIGURES[options.figure],))
    # Traces belong to sets of their own: chosen sets are run without them.
    return Want(sets, traces=() if options.data else tuple(TRACES))


def main(words: Sequence[str] | None = None) -> int:
    """Run the study; return 0, or 1 when cells failed, 2 for what the user must mend."""
    signal.signal(signal.SIGTERM, _stop)
    return ended(_reproduce, parser().parse_args(words))


def _reproduce(options: argparse.Namespace) -> list[str]:
    scope = QUICK if options.quick else FULL
    want, folder = wanted(options, scope), options.results / scope.name
    failures = []
    if not options.only_report:
        failures = run(want, scope, folder, options.jobs, Progress())
    # A page of part of the study must not take the place of the whole one's.
    whole = scope is FULL and options.data is None
    docs = options.docs or (Path("docs") if whole else folder)
    _show(options, scope, want, docs, Store(folder))
    return failures


def _show(options: argparse.Namespace, scope: Scope, want: Want, docs: Path, store: Store) -> None:
    if options.table is not None:
        print(report.table(options.table, store, want.sets))
    elif options.figure is not None:
        drawn = report.draw_all(store, want.sets, docs / "reproduction")
        print(*(path for _, path in drawn), sep="\n")
    else:
        print(report.write(store, scope, want.sets, docs))


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt
