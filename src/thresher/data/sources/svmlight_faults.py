"""What is wrong with a line of svmlight text, in words."""

import re
from collections.abc import Callable

import numpy as np

from thresher.data.errors import DataError
from thresher.data.sources.files import View
from thresher.data.sources.other_formats import instead_of_svmlight
from thresher.kernels import svmlight as kernel
from thresher.kernels.svmlight import Rules

SHOWN = 40  # bytes of the text at fault
DECIMAL = re.compile(rb"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LAST_INDEX = 2**63 - 1
MISREAD = (kernel.BAD_LABEL, kernel.BAD_PAIR, kernel.BAD_INDEX)  # what other formats run into
# the only byte that ends a word and could not be passed over
RETURN = "a carriage return inside a line: a line ends with a newline, alone or behind one of these"


def fault_error(fault: np.ndarray, text: np.ndarray, view: View, rules: Rules) -> DataError:
    """Return the error that a fault found by the kernel is."""
    kind, place, line = fault.tolist()
    data = text.tobytes()
    start = data.rfind(b"\n", 0, place) + 1
    row = data[start : data.index(b"\n", place)]
    column = place - start
    if kind == kernel.REPEATED:
        column, words = _repeated(row)
    elif kind == kernel.BAD_INDEX:
        words = _index(row[column:], rules)
    else:
        words = WORDS[kind](_word(row[column:]))
    instead = instead_of_svmlight(row) if kind in MISREAD else None
    if instead is not None:
        words = f"{_quoted(_word(row[column:]))} is not svmlight text; {instead}"
    return DataError(words, file=view.file, line=view.first_line + line, column=column + 1)


def _label(word: bytes) -> str:
    if not word:
        return RETURN
    if b":" in word:
        return f"the row begins with {_quoted(word)}: a label, a number, must come first"
    if b"," in word:
        return (
            f"the label is {_quoted(word)}: rows with several labels cannot be learnt from; give "
            "each row one number"
        )
    return f"{_number(word, 'the label')}: in this format classes are called by finite numbers"


def _qid(word: bytes) -> str:
    return f"{_quoted(word)}: behind qid: there must be a whole number"


def _pair(word: bytes) -> str:
    if not word:
        return RETURN
    return f"{_quoted(word)} is not a pair index:value"


def _index(rest: bytes, rules: Rules) -> str:
    index = _word(rest).split(b":")[0]
    if not index:
        return "there is no index before the colon"
    if index == b"qid":
        return "qid: must stand directly behind the label"
    if re.fullmatch(rb"-\d+", index):
        return f"index {_quoted(index)} is negative: indices count from 0 or 1"
    if not re.fullmatch(rb"\d+", index):
        return f"index {_quoted(index)} is not a whole number"
    return _out_of_range(index, rules)


def _out_of_range(index: bytes, rules: Rules) -> str:
    digits = index.lstrip(b"0")
    if not digits:
        return (
            "index 0, but indices count from 1, as was given or as the first rows told: if they "
            "count from 0, say index_base=0 (on the command line --index-base 0)"
        )
    if len(digits) > len(str(LAST_INDEX)) or int(digits) > LAST_INDEX:
        return f"index {_quoted(index)} is too large: none can be beyond 2^63 - 1"
    return (
        f"index {int(digits):,} is too large for a column: {rules.highest:,} is the last one. Hash "
        "the indices with hash_bits, say 24 (on the command line --hash-bits 24)"
    )


def _value(word: bytes) -> str:
    return _number(word, "the value") if word else "there is no value behind the colon"


def _number(word: bytes, what: str) -> str:
    if NOT_FINITE.fullmatch(word):
        return f"{what} {_quoted(word)} is not finite"
    if DECIMAL.fullmatch(word):
        return f"{what} {_quoted(word)} is beyond the largest number there is"
    return f"{what} {_quoted(word)} is not a number"


def _repeated(row: bytes) -> tuple[int, str]:
    """Return where the first index stands that was there before, and say so."""
    seen: set[int] = set()
    for found in re.finditer(rb"(\d++):", row.split(b"#")[0]):
        index = int(found[1].lstrip(b"0") or b"0")
        if index in seen:
            return found.start(), f"index {index} stands in this row twice"
        seen.add(index)
    raise AssertionError("no index repeats")


def _word(rest: bytes) -> bytes:
    """Return what stands at the beginning, up to a blank, a comment or the end of the line."""
    return re.split(rb"[ \t\r#]", rest, maxsplit=1)[0]


def _quoted(word: bytes) -> str:
    """Return bytes as they are shown, unless there are too many."""
    return repr(word[:SHOWN])[1:] + ("..." if len(word) > SHOWN else "")


WORDS: dict[int, Callable[[bytes], str]] = {
    kernel.BAD_LABEL: _label,
    kernel.BAD_QID: _qid,
    kernel.BAD_PAIR: _pair,
    kernel.BAD_VALUE: _value,
    kernel.HOLE: lambda _: (
        "a NUL byte in a comment: part of this file is lost. Copy or download it again"
    ),
}
