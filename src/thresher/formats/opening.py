"""Which format a file has, by its name or as given, and its rows.

A format is a module of this package that has a ``FORMAT``, and a row in ``FORMATS``. Nothing else
knows it by name: the command line, the messages and the tests go by this registry.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from thresher.formats.compression import CODECS
from thresher.formats.errors import DataError, OptionError
from thresher.formats.protocol import EVERY_FORMAT, Format, Reading, Source

if TYPE_CHECKING:
    from thresher.formats.names import Names


class Entry(NamedTuple):
    """Where a format lives (it is imported when a file needs it), and how its files' names end."""

    module: str
    endings: tuple[str, ...]


FORMATS = {
    "svmlight": Entry("svmlight", (".svm", ".svmlight", ".libsvm", ".txt", ".dat", ".data")),
    "vw": Entry("vw", (".vw",)),
    "jsonl": Entry("jsonl", (".jsonl", ".ndjson")),
    "csv": Entry("csv", (".csv",)),
    "tsv": Entry("csv", (".tsv",)),
    "text": Entry("text", ()),
    "arrow": Entry("arrow", (".parquet", ".arrow", ".feather")),
    "npz": Entry("npz", (".npz", ".npy")),
    "binary": Entry("binary", (".rows",)),
}
USUAL = "svmlight"  # where the name does not show the format


def open_rows(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    reading: Reading | None = None,
    names: "Names | None" = None,
    **options: Any,
) -> Source:
    """Return a source that reads files, one after the other, in bounded memory.

    Parameters
    ----------
    paths : path or list of paths
        Files; ``-`` is standard input.
    reading : Reading, optional
        How to read, instead of single options.
    names : Names, optional
        Those of a model that is to predict; otherwise columns are named as they occur.
    **options
        ``format`` (by default by the files' names), and others: see ``Reading``. One that does
        not concern the format is an error.
    """
    files = [fspath(paths)] if isinstance(paths, str | PathLike) else [fspath(one) for one in paths]
    if not files:
        raise DataError("There is no file to read: name one, or - for standard input.")
    reading = reading_from(options) if reading is None else reading
    form = _one_format(files) if reading.format == "auto" else reading.format
    opened = find_format(form)
    _refuse_other_options(options, opened, form)
    return opened.open(files, replace(reading, format=form), names)


def reading_from(options: dict[str, Any]) -> Reading:
    """Return the reading that has these options."""
    known = Reading.__dataclass_fields__
    for name in options:
        if name not in known:
            raise TypeError(f"{name} is no option of reading: there are {', '.join(known)}.")
    return Reading(**options)


def find_format(name: str) -> Format:
    """Return a format by its name."""
    if name not in FORMATS:
        raise DataError(f"There is no format {name!r}: choose {', '.join(FORMATS)} or auto.")
    found: Format = import_module(f"thresher.formats.{FORMATS[name].module}").FORMAT
    return found


def format_of(path: str) -> str:
    """Return the format of a file by its name."""
    suffixes = [suffix for suffix in PurePath(path.lower()).suffixes if suffix not in CODECS]
    known = {ending: name for name, entry in FORMATS.items() for ending in entry.endings}
    return known.get(suffixes[-1], USUAL) if suffixes else USUAL


def _one_format(files: list[str]) -> str:
    """Return the format that all the files have."""
    formats = {format_of(path): path for path in reversed(files)}
    if len(formats) > 1:
        (one, first), (other, second), *_ = formats.items()
        raise DataError(
            f"{second} looks like {other} and {first} like {one}: name one format for all of them "
            "(format=, --format)."
        )
    return next(iter(formats))


def _refuse_other_options(options: dict[str, Any], opened: Format, form: str) -> None:
    """Refuse options that would have no effect."""
    usual = Reading()
    for name, value in options.items():
        if name in EVERY_FORMAT or name in opened.options or value == getattr(usual, name):
            continue
        able = [other for other in FORMATS if name in find_format(other).options]
        raise OptionError(
            f"{name}={value!r} means nothing for {form} rows: leave it out, or name the format of "
            f"the files (format=, --format: {', '.join(able)})."
        )
