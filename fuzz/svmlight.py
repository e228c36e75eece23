"""Look for svmlight text in which the reader finds other things than its slow twin, or breaks.

    pip install atheris
    python fuzz/svmlight.py [-max_total_time=300] [other options of libFuzzer]

The text's first byte chooses how it is read. Inputs that reach something new are kept in a
temporary folder; one that fails is written to the current folder. To try it again, name it:

    python fuzz/svmlight.py crash-...
"""

import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus" / "svmlight"
DICTIONARY = HERE / "svmlight.dict"
sys.path.insert(0, str(HERE.parent / "tests"))

with atheris.instrument_imports(include=["svmlight_twin"]):  # compiled code cannot be watched
    import svmlight_twin  # noqa: F401

from svmlight_comparison import FILLER, compare  # noqa: E402  after the twin, which is watched


def compare_both_ways(data: bytes) -> None:
    """Compare a text as it is, and with room behind it, where pairs are read in haste."""
    if len(data) < 2:
        return
    labelled, lowest = data[0] % 2 == 1, data[0] // 2 % 2
    compare(data[1:], labelled, lowest)
    compare(data[1:] + FILLER, labelled, lowest)


def main() -> None:
    """Run libFuzzer on the committed corpus, or on what is named."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    with tempfile.TemporaryDirectory() as found:
        folders = [] if named else [f"-dict={DICTIONARY}", found, str(CORPUS)]
        atheris.Setup([*sys.argv, *folders], compare_both_ways)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
