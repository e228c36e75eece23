"""Which source reads a file: by its name, or as told."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.protocol import Reading, Source

# where each format lives; imported only when a file asks for it
FORMATS = {
    "svmlight": ("thresher.data.sources.svmlight", "SvmlightSource"),
    "vw": ("thresher.data.sources.vw", "VowpalSource"),
    "jsonl": ("thresher.data.sources.jsonl", "JsonLinesSource"),
    "csv": ("thresher.data.sources.table", "TableSource"),
    "tsv": ("thresher.data.sources.table", "TableSource"),
    "text": ("thresher.data.sources.text", "TextSource"),
    "arrow": ("thresher.data.sources.arrow", "ArrowSource"),
    "shards": ("thresher.data.sources.shards", "ShardSource"),
}
SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "svmlight",
    ".dat": "svmlight",
    ".data": "svmlight",
    ".vw": "vw",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "arrow",
    ".arrow": "arrow",
    ".feather": "arrow",
}
PACKED = (".gz", ".bz2", ".xz", ".zst")


def format_of(path: str) -> str:
    """Return the format that a file's name tells; what has no telling name is svmlight text."""
    if Path(path).is_dir():
        return "shards"
    suffixes = [suffix for suffix in Path(path.lower()).suffixes if suffix not in PACKED]
    return SUFFIXES.get(suffixes[-1], "svmlight") if suffixes else "svmlight"


def open_source(
    paths: str | Path | Sequence[str | Path],
    reading: Reading | None = None,
    names: Names | None = None,
    **options: Any,
) -> Source:
    """Return a source that reads files, one after the other, in bounded memory.

    Parameters
    ----------
    paths : path or list of paths
        Files, or folders of shards; ``-`` is standard input.
    reading : Reading, optional
        How to read, instead of single options.
    names : Names, optional
        Those of a model that is to predict; otherwise columns are named as they occur.
    **options
        ``format`` ("svmlight", "vw", "jsonl", "csv", "tsv", "text", "arrow" or "shards"; by default
        the file's name tells), ``label`` and ``weight`` (names of columns or keys), ``index_base``
        (0 or 1 for svmlight; by default the first rows tell), ``hash_bits`` (number features by a
        hash), ``on_error`` ("raise" or "skip"), ``labelled`` (False: rows need no labels),
        ``ignore_labels`` (True: nor are those looked at that they have), ``categories`` (columns
        of a CSV or TSV file that are such, whatever their cells say).
    """
    reading = reading or Reading.asked(options)
    files = [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]
    if not files:
        raise DataError("There is no file to read: name one or more, or - for standard input.")
    form = _one_format(files) if reading.format == "auto" else reading.format
    if form not in FORMATS:
        raise DataError(f"There is no format {form!r}: choose {', '.join(FORMATS)} or auto.")
    reading = replace(reading, format=form)
    module, name = FORMATS[form]
    make: Any = getattr(import_module(module), name)
    source: Source = make(files, reading, names)
    return source


def _one_format(files: list[str]) -> str:
    """Return the format all the files have."""
    formats = {format_of(path): path for path in reversed(files)}
    if len(formats) > 1:
        (one, first), (other, second), *_ = formats.items()
        raise DataError(
            f"{second} looks like {other} and {first} like {one}: name one format for all of them."
        )
    return next(iter(formats))
