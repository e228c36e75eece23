"""Where output may go: never in the place of what is read, and never where it cannot be written."""

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import click

from thresher.cli.failing import NO_OUTPUT

STANDARD = "-"  # standard input among what is read, standard output among what is written
INDEX = "index.json"  # the file by which a folder of shards is known


class CannotWrite(click.ClickException):
    """Output that must not, or cannot, go where it was told to."""

    exit_code = NO_OUTPUT


def keep_apart(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse outputs, by their options, that would replace an input or each other."""
    written = [(option, path) for option, path in outputs.items() if path and path != STANDARD]
    for option, path in written:
        for one in inputs:
            _refuse_input(option, path, one)
    for (option, path), (other, second) in combinations(written, 2):
        if _same(path, second):
            raise CannotWrite(f"{option} and {other} both name {path}: choose two names.")


def keep_out(folder: str, inputs: Sequence[str]) -> None:
    """Refuse a folder that would be replaced as a whole, with an input in it."""
    for one in inputs:
        if one != STANDARD and _within(one, folder):
            raise CannotWrite(
                f"{one} is read, and lies in {folder}, which would be replaced: choose another "
                "name for -o."
            )


def keep_off_cache(outputs: Mapping[str, str | None], folder: str | None, wanted: bool) -> None:
    """Refuse outputs where rows are kept as shards, or will be if that is wanted."""
    for option, path in outputs.items():
        if folder is None or not path or path == STANDARD:
            continue
        if wanted and _same(path, folder):
            raise CannotWrite(
                f"{path} is where rows are kept as shards if they are read more than once: choose "
                f"another name for {option}, or say --no-cache."
            )
        if os.path.exists(os.path.join(folder, INDEX)) and _within(path, folder):
            raise CannotWrite(
                f"{path} lies in {folder}, where rows are kept as shards, and would be deleted "
                f"when these are made again: choose another name for {option}."
            )


def refuse_unwritable(path: str) -> None:
    """Say at once what would otherwise be known only after hours of work."""
    if path == STANDARD:
        _refuse_terminal()
        return
    place = os.path.realpath(path)  # behind a link, which stays one
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise CannotWrite(f"{path} cannot be written: there is no folder {folder}.")
    if os.path.isdir(place):
        raise CannotWrite(f"{path} is a folder: name a file.")
    if os.path.exists(place) and not os.access(place, os.W_OK):
        raise CannotWrite(f"{path} cannot be written: it is write-protected. Choose another name.")
    if not is_device(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise CannotWrite(f"{path} cannot be written: {folder} is write-protected.")


def is_device(path: str) -> bool:
    """Return whether a path is a device or a pipe: nothing that could be replaced by a file."""
    found = _found(path)
    return found is not None and not _replaceable(found)


def _refuse_terminal() -> None:
    """Refuse standard output where it is of no use to bytes."""
    if sys.stdout is None:  # as Python has it where a shell says >&-
        raise CannotWrite("Standard output is closed: name a file with -o.")
    if sys.stdout.isatty():
        raise CannotWrite("A terminal shows no models: name a file with -o, or say -o - > FILE.")


def _refuse_input(option: str, path: str, one: str) -> None:
    if _same(path, one):
        raise CannotWrite(
            f"{path} is what is read, and {option} would replace it: choose another name."
        )
    if one != STANDARD and _within(path, one):
        raise CannotWrite(f"{path} lies in {one}, which is read: choose another name for {option}.")


def _same(one: str, other: str) -> bool:
    """Return whether two paths are one file, by whatever names and links."""
    first, second = _found(one), _found(other)
    if first is not None and second is not None:
        return _replaceable(first) and os.path.samestat(first, second)
    return STANDARD not in (one, other) and os.path.realpath(one) == os.path.realpath(other)


def _found(path: str) -> os.stat_result | None:
    """Return what the system says of a file; a shell may have opened one as standard input."""
    try:
        return os.fstat(sys.stdin.fileno()) if path == STANDARD else os.stat(path)
    except (OSError, ValueError, AttributeError):  # not there, or no stream of the system's
        return None


def _replaceable(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)


def _within(path: str, folder: str) -> bool:
    """Return whether a path lies in a folder that is there."""
    return os.path.isdir(folder) and Path(os.path.realpath(folder)) in _above(path)


def _above(path: str) -> Sequence[Path]:
    return Path(os.path.realpath(path)).parents
