"""Look for Vowpal Wabbit text, JSON lines, CSV or plain text at which a reader breaks.

    pip install atheris
    python fuzz/formats.py [-max_total_time=300] [other options of libFuzzer]

The text's first byte chooses the format and whether bad lines are skipped. A reader may refuse a
text in words (a DataError); any other error is a find, and so are rows that are not as they must
be: columns ascending, values finite and not 0. One that fails is written to the current folder; to
try it again, name it: python fuzz/formats.py crash-...
"""

import sys
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["thresher.data"]):
    from thresher.data.errors import DataError
    from thresher.data.sources.opening import open_source

import numpy as np

CORPUS = Path(__file__).resolve().parent / "corpus" / "formats"
FORMATS = ("vw", "jsonl", "csv", "text")


def read(data: bytes) -> None:
    """Read a text, and look whether its rows are rows."""
    if len(data) < 2:
        return
    form, on_error = FORMATS[data[0] % 4], ("raise", "skip")[data[0] // 4 % 2]
    with tempfile.NamedTemporaryFile() as file:
        file.write(data[1:])
        file.flush()
        with suppress(DataError):
            for chunk in open_source(file.name, format=form, on_error=on_error).chunks():
                _check(chunk)


def _check(chunk) -> None:
    assert np.isfinite(chunk.values).all()
    assert chunk.values.all()
    assert chunk.columns.max(initial=-1) < chunk.width
    for first, last in pairwise(chunk.starts):
        assert (np.diff(chunk.columns[first:last]) > 0).all()


def main() -> None:
    """Run libFuzzer on the committed corpus, or on what is named."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    with tempfile.TemporaryDirectory() as found:
        atheris.Setup([*sys.argv, *([] if named else [found, str(CORPUS)])], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
