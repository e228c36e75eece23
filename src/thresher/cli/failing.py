"""Errors in plain English, and exit codes that mean something."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import NoReturn

import click

from thresher.cli.screen import say, silence

UNEXPECTED, USAGE, BAD_DATA, BAD_MODEL, NO_OUTPUT = 1, 2, 3, 4, 5
INTERRUPTED, NO_READER, TERMINATED = 130, 141, 143

MEANINGS = {
    0: "done",
    UNEXPECTED: "an error of the program",
    USAGE: "a wrong option or argument",
    BAD_DATA: "data that cannot be read or learned from",
    BAD_MODEL: "a model file that cannot be used",
    NO_OUTPUT: "output that cannot be written, or would replace something",
    INTERRUPTED: "interrupted (Ctrl-C)",
    NO_READER: "whoever read the output has gone (predict | head)",
    TERMINATED: "terminated",
}
TRACEBACK = "THRESHER_TRACEBACK"  # the variable that lets Python print where an error arose


class CannotWrite(click.ClickException):
    """Output that must not, or cannot, go where it is to go."""

    exit_code = NO_OUTPUT


class WrongModel(click.ClickException):
    """A model file that cannot be used here."""

    exit_code = BAD_MODEL


@contextmanager
def failing_well() -> Iterator[None]:
    """Turn whatever goes wrong into a line on standard error and an exit code."""
    try:
        yield
    except click.exceptions.Exit:
        raise
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(NO_READER)
    except (KeyboardInterrupt, click.Abort) as error:
        _leave("Interrupted.", getattr(error, "code", INTERRUPTED))
    except click.ClickException as error:
        usage = StringIO()
        error.show(file=usage)
        _leave(usage.getvalue().rstrip(), error.exit_code)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        message, code = explain(error)
        _leave(f"Error: {' '.join(message.split())}", code)


def explain(error: Exception) -> tuple[str, int]:
    """Return an error's message, and its exit code."""
    from thresher.cli.options import in_options
    from thresher.files import FileError, ModelFileError
    from thresher.formats.errors import OptionError

    needed = isinstance(error, ImportError) and error.name is None  # a package to be installed
    if isinstance(error, OptionError):
        return in_options(str(error)), USAGE
    if isinstance(error, ModelFileError):
        return str(error), BAD_MODEL
    if isinstance(error, OSError):
        full = error.errno == errno.ENOSPC and not isinstance(error, FileError)
        words = "No space is left for the output: free some, and try again." if full else str(error)
        return words, NO_OUTPUT
    if isinstance(error, ValueError) or needed:
        return in_options(str(error)), BAD_DATA
    if isinstance(error, MemoryError):
        return str(error) or "There is not enough memory.", UNEXPECTED
    return (
        f"This should not happen: {type(error).__name__}: {error}. Set {TRACEBACK}=1 to see where, "
        "and please report it.",
        UNEXPECTED,
    )


def _leave(message: str, code: int) -> NoReturn:
    """Print what happened, and end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence(sys.stdout)
    say(message)
    sys.exit(code)
