"""What the studies' commands share: options, how they end, and what they say of it."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from experiments.errors import StudyError
from experiments.store import Store


def add_common(command: argparse.ArgumentParser, results: Path, jobs: int, said: str) -> None:
    """Add the options of every study; ``jobs`` is the default, ``said`` what is said of it."""
    add = command.add_argument
    add("--results", type=Path, default=results, help="folder of finished cells")
    add("--jobs", type=int, default=jobs, help=f"processes ({said})")
    add("--only-report", action="store_true", help="measure nothing, read what is stored")


def page_command(name: str, said: str | None) -> argparse.ArgumentParser:
    """Return the command of a study that ends in a page of the documentation."""
    command = argparse.ArgumentParser(prog=f"python -m experiments.{name}", description=said)
    add_common(command, Path("results") / name, 1, "1")
    command.add_argument(
        "--docs", type=Path, default=Path("docs"), help="folder the page is written to"
    )
    return command


def add_choice(
    command: argparse.ArgumentParser, option: str, names: Iterable[str], said: str
) -> None:
    """Add an option that picks some of several names, one at a time."""
    command.add_argument(option, choices=tuple(names), help=said, metavar="NAME", action="append")


def make_page(
    options: argparse.Namespace,
    measure: Callable[[argparse.Namespace], list[str]],
    table: Callable[[Store], str],
    write: Callable[[Store, Path], Path],
) -> list[str]:
    """Measure what is missing, print the table, write the page; return what failed."""
    failures = [] if options.only_report else measure(options)
    store = Store(options.results)
    print(table(store))
    print(write(store, options.docs))
    return failures


def ended(study: Callable[[argparse.Namespace], list[str]], options: argparse.Namespace) -> int:
    """Run a study that returns what failed; return 0, 1 for that, 2 for what the user must mend."""
    try:
        if options.jobs < 1:
            raise StudyError(f"--jobs must be 1 or more, got {options.jobs}")
        failures = study(options)
    except StudyError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; finished cells are kept, the same command goes on", file=sys.stderr)
        return 130
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0
