"""Errors in plain words, and exit codes that mean something."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import click

UNEXPECTED, USAGE, BAD_DATA, BAD_MODEL, NO_OUTPUT, INTERRUPTED = 1, 2, 3, 4, 5, 130

EXIT_CODES = """Exit codes: 0 done; 1 something unexpected; 2 a wrong option or argument; 3 data
that cannot be read or learnt from; 4 a model file that cannot be used; 5 output that cannot be
written, or would replace what it must not; 130 interrupted.
"""
TRACEBACK = "THRESHER_TRACEBACK"  # the variable that lets errors of the program through


@contextmanager
def failing_well() -> Iterator[None]:
    """Turn what can go wrong into one line on standard error and its exit code."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        _leave_quietly()
    except KeyboardInterrupt:
        _leave("Interrupted.", INTERRUPTED)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        _leave(*_words_and_code(error))


def fails_well(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command in ``failing_well``."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with failing_well():
            return command(*args, **kwargs)

    return wrapped


def _words_and_code(error: Exception) -> tuple[str, int]:
    """Return what to say of an error, and the exit code it has."""
    from thresher.files.errors import FileError, ModelFileError

    if isinstance(error, ModelFileError):
        return str(error), BAD_MODEL
    if isinstance(error, FileError):
        return str(error), NO_OUTPUT
    if isinstance(error, OSError):
        return _words_for(error), NO_OUTPUT
    asks = isinstance(error, ImportError) and error.name is None  # for a package to be installed
    if isinstance(error, ValueError) or asks:
        return str(error), BAD_DATA
    if isinstance(error, MemoryError):
        return "There is not enough memory.", UNEXPECTED
    return (
        f"Something went wrong that should not: {type(error).__name__}: {error}. {TRACEBACK}=1 "
        "shows where; please report it.",
        UNEXPECTED,
    )


def _words_for(error: OSError) -> str:
    if error.errno == errno.ENOSPC and error.filename is None:
        return "No space left while writing the output: free some and retry."
    return str(error)


def _leave(message: str, code: int) -> NoReturn:
    """Say in one line what happened, and end."""
    _let_output_go_if_it_fails()
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _leave_quietly() -> NoReturn:
    """End: whoever read our output has gone, nothing is left to say, and nobody to say it to."""
    _let_output_go_if_it_fails()
    sys.exit(NO_OUTPUT)


def _let_output_go_if_it_fails() -> None:
    """Let what cannot be written vanish, or Python would complain of it once more at its end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
