"""Look for text at which a reader breaks, or svmlight's kernel reads otherwise than Python.

    pip install atheris
    python fuzz/text.py [svmlight] [-max_total_time=300] [other options of libFuzzer]

With ``svmlight``, svmlight text is read by both; without, any text format.
The first byte chooses how the rest is read. A reader may refuse a text (a DataError); any other
error is a find, and so are rows that are not canonical. What fails is written to the current
folder.
"""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

# Numba cannot compile what atheris instruments.
KERNELS = [f"thresher.formats.{name}" for name in ("chunk", "svmlight_lines")]

with atheris.instrument_imports(include=["thresher.formats"], exclude=KERNELS):
    from format_cases import TEXTS, compare_svmlight, read_text
    from thresher.formats.errors import DataError


def read_any(data: bytes) -> None:
    """Read a text in one of the formats; ``read_text`` checks the rows."""
    if len(data) > 1:
        form, on_error = TEXTS[data[0] % len(TEXTS)], ("raise", "skip")[data[0] // len(TEXTS) % 2]
        with suppress(DataError):
            read_text(form, data[1:], on_error=on_error)


def compare(data: bytes) -> None:
    """Compare the kernel that reads svmlight text with what Python reads."""
    if len(data) > 1:
        compare_svmlight(data[1:], data[0] % 2 == 1, data[0] // 2 % 2)


def main() -> None:
    """Run libFuzzer on the committed corpus."""
    svmlight = "svmlight" in sys.argv
    options = [word for word in sys.argv if word != "svmlight"]
    folder = HERE / "corpus" / ("svmlight" if svmlight else "formats")
    with tempfile.TemporaryDirectory() as found:
        dictionary = f"-dict={HERE / 'svmlight.dict'}"
        arguments = [*options, dictionary, found, str(folder)]
        atheris.Setup(arguments, compare if svmlight else read_any)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
