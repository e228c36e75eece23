"""Files as commands meet them: models, rows, and where output may go.

One rule holds for all commands: a file that is there is replaced only with --force, and what is
read is never replaced. It is checked before any work.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from thresher.cli import handling, interrupt
from thresher.cli.failing import CannotWrite, WrongModel
from thresher.cli.screen import say

if TYPE_CHECKING:
    from thresher.estimators.base import LinearModel
    from thresher.formats.protocol import Source
    from thresher.winnow.path import Path

STANDARD = "-"  # standard input among what is read, standard output among what is written


# ---------------------------------------------------------------------------------------- models


def present(path: str, option: str = "-o") -> str:
    """Return the path of a model that is there, before anything is imported that takes a second."""
    if path == STANDARD:
        raise WrongModel("A model is not read from standard input: name its file.")
    if not os.path.exists(path):
        raise WrongModel(
            f"{path}: there is no such file. thresher train FILE... {option} {path} makes it."
        )
    return path


def path_of(model: "LinearModel") -> "Path":
    """Return the models of all sizes that a model has."""
    path: Path | None = getattr(model, "path_", None)
    if path is None:
        raise click.UsageError(
            f"--sizes: this {type(model).__name__} has one size only. Those of several come from "
            "ThresherClassifier and ThresherRegressor, where all rows fit into memory."
        )
    return path


# ------------------------------------------------------------------------------------------ rows


def refuse_unreadable(paths: Sequence[str]) -> None:
    """Refuse rows that are not there, before anything is imported that takes a second."""
    from thresher.formats.blocks import InputFiles

    InputFiles(paths)  # raises


def note_decided(source: "Source", quiet: bool) -> None:
    """Print what rows decided of how all are read, each note once."""
    from thresher.cli.options import in_options

    for note in source.decided:
        say(in_options(note), quiet)
    source.decided.clear()


def note_skipped(source: "Source") -> None:
    """Print how many rows were left out, quiet or not, and the first of them."""
    count, examples = source.skipped.count, source.skipped.examples
    if count:
        lines = ["1 row was left out:" if count == 1 else f"{count:,} rows were left out:"]
        lines += examples if count == len(examples) else [*examples, "..."]
        say("\n  ".join(lines))


def refuse_unknown(warning: str | None, allowed: bool) -> None:
    """Refuse rows none of which has any of the model's features, unless that is allowed."""
    if warning is not None and not allowed:
        raise WrongModel(f"{warning[0].upper()}{warning[1:]} --allow-no-features goes on.")


# ---------------------------------------------------------------------------------------- output


def check_outputs(
    outputs: Mapping[str, str | None], inputs: Sequence[str], force: bool = False
) -> None:
    """Refuse outputs, by their options, that cannot be written or would replace something."""
    written = [(option, path) for option, path in outputs.items() if path]
    for option, path in written:
        if any(_same(path, one) for one in inputs):
            raise CannotWrite(
                f"{path} is what is read, and {option} would replace it: choose another name."
            )
    for (option, path), (other, second) in combinations(written, 2):
        if _same(path, second):
            raise CannotWrite(f"{option} and {other} both name {path}: choose two.")
    for option, path in written:
        _check_writable(path)
        if not force and path != STANDARD and os.path.exists(path) and not is_device(path):
            resume = "go on from it with --resume, " if option == "--checkpoint" else ""
            raise CannotWrite(
                f"{path} exists already: choose another name for {option}, {resume}or "
                "replace it with --force."
            )


def file_only(path: str) -> None:
    """Refuse standard output, where a file is needed."""
    if path == STANDARD:
        raise click.UsageError("-o must name a file: what is written is not for a pipe.")


def refuse_terminal(path: str) -> None:
    """Refuse to write bytes to a terminal."""
    if shown_on_terminal(path):
        raise CannotWrite("A terminal cannot show models: name a file, or write -o - > FILE.")


def shown_on_terminal(path: str | None) -> bool:
    """Return whether the output appears on the terminal."""
    return path in (None, STANDARD) and sys.stdout is not None and sys.stdout.isatty()


def is_device(path: str) -> bool:
    """Return whether a path is a device or a pipe: nothing that a file could replace."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """Give a stream of bytes; what goes wrong before the end leaves no file behind."""
    from thresher.files.atomic import replacing

    if path is None or path == STANDARD:
        _check_writable(STANDARD)
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif is_device(path):
        with open(path, "wb") as stream:
            yield stream
    else:
        with handling(interrupt), replacing(path) as stream:
            yield stream


class _Enough(Exception):
    """Nothing is wrong."""


def _check_writable(path: str) -> None:
    """Raise at once what would otherwise be known only after hours of work."""
    from thresher.files.atomic import replacing

    if path == STANDARD and sys.stdout is None:  # as Python has it where a shell says >&-
        raise CannotWrite("Standard output is closed: name a file with -o.")
    if path != STANDARD and not is_device(path):
        try:
            with replacing(path):
                raise _Enough
        except _Enough:
            pass


def _same(written: str, read: str) -> bool:
    """Return whether two paths are one file, by whatever names, links and redirections."""
    first, second = _found(written, sys.stdout), _found(read, sys.stdin)
    if first is not None and second is not None:
        return stat.S_ISREG(first.st_mode) and os.path.samestat(first, second)
    return STANDARD not in (written, read) and os.path.realpath(written) == os.path.realpath(read)


def _found(path: str, standard: Any) -> os.stat_result | None:
    """Return what the system knows of a file; a shell may have opened one as a standard stream."""
    try:
        return os.fstat(standard.fileno()) if path == STANDARD else os.stat(path)
    except (OSError, ValueError, AttributeError):  # not there, or no stream of the system's
        return None
