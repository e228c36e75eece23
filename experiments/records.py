"""Results as JSON lines: each measured once and kept, whatever stops the run.

A record is a task, which is a dict of plain values, together with what was measured. Of two records
of the same task the later one counts.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments import markdown
from experiments.data import StudyError

Record = dict[str, Any]
Key = tuple[Any, ...]  # what identifies a task
Work = Callable[[Record], Record]


def key_of(record: Record, fields: Sequence[str]) -> Key:
    """Return what identifies the task of a record."""
    return tuple(record[field] for field in fields)


def read(path: Path, fields: Sequence[str]) -> dict[Key, Record]:
    """Return the records of a file by their tasks; none if there is no file.

    A last line without its end is left out: the run that wrote it was killed.
    """
    if not path.exists():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            continue
        try:
            record = json.loads(line)
            found[key_of(record, fields)] = record
        except (ValueError, TypeError, KeyError) as error:
            raise StudyError(
                f"{path}, line {number}, is damaged: remove the line to measure it anew."
            ) from error
    return found


def append(path: Path, record: Record) -> None:
    """Add a record at the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # of a run that was killed
                file.write(b"\n")
        text = json.dumps(record, separators=(",", ":"))
        file.write(f"{text}\n".encode())


def keep_latest(path: Path, fields: Sequence[str]) -> None:
    """Write a file anew with the last record of each task only."""
    lines = [json.dumps(record, separators=(",", ":")) for record in read(path, fields).values()]
    rewritten = path.with_suffix(".tmp")
    rewritten.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    rewritten.replace(path)


def measure(
    tasks: Sequence[Record], work: Work, path: Path, jobs: int = 1, again: bool = False
) -> list[str]:
    """Measure the tasks that have no record yet, or all ``again``; return what failed, in words."""
    if not tasks:
        return []
    fields = tuple(tasks[0])
    done = {} if again else read(path, fields)
    left = [task for task in tasks if key_of(task, fields) not in done]
    failures, started = [], time.monotonic()
    for number, (task, result) in enumerate(_results(left, work, jobs), 1):
        if isinstance(result, Exception):
            failures.append(f"{_in_words(task)}: {type(result).__name__}: {result}")
        else:
            append(path, {**task, **result})
        remaining = (time.monotonic() - started) / number * (len(left) - number) / 60
        print(
            f"{number} of {len(left)}, {remaining:.0f} min left: {_in_words(task)}",
            file=sys.stderr,
        )
    if again:
        keep_latest(path, fields)
    return failures


def _results(
    tasks: list[Record], work: Work, jobs: int
) -> Iterator[tuple[Record, Record | Exception]]:
    """Yield each task with its result, or with what went wrong; one job runs in this process."""
    if jobs == 1:
        yield from (_attempt(task, work) for task in tasks)
        return
    # New processes instead of forks, which would copy the state of threads and compilers.
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_at_interrupt) as pool:
        waiting = [pool.submit(_attempt, task, work) for task in tasks]
        try:
            yield from (one.result() for one in as_completed(waiting))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _attempt(task: Record, work: Work) -> tuple[Record, Record | Exception]:
    """Return a task's result; what the user can mend ends the run, another error only the task.

    Linear algebra has one thread, so that times are those of one core.
    """
    try:
        with threadpool_limits(limits=1):
            return task, work(task)
    except StudyError:
        raise
    except Exception as error:
        return task, error


def _end_at_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _in_words(task: Record) -> str:
    return " ".join(str(value) for value in task.values())


def study(
    about: str,
    path: Path,
    tasks: Sequence[Record],
    work: Work,
    tables: Mapping[str, Callable[[list[Record]], str]],
    words: Sequence[str] | None = None,
) -> int:
    """Be the command of a study: measure what is missing, print its tables; return an exit code."""
    command = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = command.add_argument
    fields = ", ".join(tasks[0])
    add("--only", action="append", default=[], metavar="FIELD=VALUE", help=f"some tasks: {fields}")
    add("--again", action="store_true", help="measure what has been measured")
    add("--only-tables", action="store_true", help="measure nothing")
    add("--out", type=Path, default=path, help=f"file of the records ({path})")
    add("--jobs", type=int, default=1, help="processes (1)")
    add("--page", type=Path, help="a page to put the tables into")
    options = command.parse_args(words)
    return ended(lambda: _study(options, tasks, work, tables))


def _study(
    options: argparse.Namespace,
    tasks: Sequence[Record],
    work: Work,
    tables: Mapping[str, Callable[[list[Record]], str]],
) -> list[str]:
    failures = []
    if not options.only_tables:
        wanted = some(tasks, options.only)
        failures = measure(wanted, work, options.out, options.jobs, options.again)
    known = read(options.out, tuple(tasks[0]))
    keys = [tuple(task.values()) for task in tasks]
    found = [known[key] for key in keys if key in known]
    for name, text_of in tables.items():
        text = text_of(found)
        print(text, end="\n\n")
        if options.page:
            markdown.fill(options.page, name, text)
    return failures


def some(tasks: Sequence[Record], only: Sequence[str]) -> list[Record]:
    """Return the tasks that have one of the values wanted of each field."""
    wanted: dict[str, set[str]] = {}
    for one in only:
        field, _, value = one.partition("=")
        known = {str(task[field]) for task in tasks} if field in tasks[0] else set()
        if value not in known:
            choices = ", ".join(sorted(known)) or "FIELD=VALUE with " + ", ".join(tasks[0])
            raise StudyError(f"--only {one} fits no task: choose among {choices}.")
        wanted.setdefault(field, set()).add(value)
    return [task for task in tasks if all(str(task[f]) in v for f, v in wanted.items())]


def ended(command: Callable[[], list[str]]) -> int:
    """Run a command that returns what failed; return its exit code: 1 for that, 2 for a mistake."""
    try:
        failures = command()
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. What is measured is kept: the same command goes on.", file=sys.stderr)
        return 130
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0
