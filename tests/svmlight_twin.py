"""The slow, obvious twin of the svmlight reader: splits and regular expressions, line by line.

The grammar is that of ``thresher.formats.svmlight``. Only ``compare`` uses the package.
"""

import math
import re
from typing import NamedTuple

import numpy as np

from thresher.formats import svmlight_kernel as kernel
from thresher.formats.blocks import Block
from thresher.formats.svmlight import BlockReader, fault_error
from thresher.formats.svmlight_kernel import Rules

DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WORDS = re.compile(rb"\r|[^ \t\r]+")


class Row(NamedTuple):
    line: int
    label: float | None
    pairs: list[tuple[int, float]]


class Fault(NamedTuple):
    line: int
    column: int
    kind: str


class Refused(Exception):
    """A line that is not in the grammar: where in it, and why."""


def read(data, lowest=0, highest=2**63 - 1, labelled=True):
    """Return the rows and faults of a text in the order of its lines."""
    found = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines, 1):
        try:
            row = read_line(line.removesuffix(b"\r"), lowest, highest, labelled)
        except Refused as refused:
            found.append(Fault(number, *refused.args))
        else:
            found += [] if row is None else [Row(number, *row)]
    return found


def read_line(line, lowest, highest, labelled):
    body, hash_sign, comment = line.partition(b"#")
    words = [(found.start(), found[0]) for found in WORDS.finditer(body)]
    row = read_words(words, lowest, highest, labelled) if words else None
    if b"\0" in comment:
        raise Refused(len(body + hash_sign) + comment.index(b"\0") + 1, "hole")
    return row


def read_words(words, lowest, highest, labelled):
    label = None
    (place, first), *rest = words
    if labelled or b":" not in first:
        label = decimal(first, place, "label")
        words = rest
    if words and words[0][1].startswith(b"qid:"):
        (place, word), *words = words
        whole(word[4:], place, "qid", 0, 2**63 - 1)
    pairs = [read_pair(*word, lowest, highest) for word in words]
    seen = set()
    for (place, _), (index, _) in zip(words, pairs, strict=True):
        if index in seen:
            raise Refused(place + 1, "repeated")
        seen.add(index)
    return label, sorted((index, value) for index, value in pairs if value != 0)


def read_pair(place, word, lowest, highest):
    index, colon, value = word.partition(b":")
    if not colon:
        raise Refused(place + 1, "pair")
    number = whole(index, place, "index", lowest, highest)
    return number, decimal(value, place + len(index) + 1, "value")


def whole(text, place, kind, lowest, highest):
    digits = text.lstrip(b"0") or b"0"
    sound = re.fullmatch(rb"\d+", text) and len(digits) < 20
    if not sound or not lowest <= int(digits) <= highest:
        raise Refused(place + 1, kind)
    return int(digits)


def decimal(text, place, kind):
    if not DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
        raise Refused(place + 1, kind)
    return float(text)


HIGHEST = 2**31 - 2
KINDS = {
    kernel.BAD_LABEL: "label",
    kernel.BAD_QID: "qid",
    kernel.BAD_PAIR: "pair",
    kernel.BAD_INDEX: "index",
    kernel.BAD_VALUE: "value",
    kernel.REPEATED: "repeated",
    kernel.HOLE: "hole",
}
# Pairs near the end of a text are read byte by byte, others eight at a time; before this, all are.
FILLER = b"\n" + b"# nothing but room behind what is read, so that all of it can be loaded " * 2


def compare(data, labelled=True, lowest=0):
    """Assert that both find the same rows and the same faults."""
    expected = read(data, lowest, HIGHEST, labelled)
    rules = Rules(lowest, HIGHEST, labelled, True)
    found = BlockReader().read(memoryview(bytearray(data)), rules)
    assert rows_of(found) == [row for row in expected if isinstance(row, Row)]
    assert faults_of(found, rules) == [row for row in expected if isinstance(row, Fault)]


def rows_of(found):
    pairs = list(zip(found.indices.tolist(), found.values.tolist(), strict=True))
    labels = [None if np.isnan(label) else label for label in found.labels.tolist()]
    starts = found.starts.tolist()
    return [
        Row(line + 1, label, pairs[start:stop])
        for line, label, start, stop in zip(
            found.lines.tolist(), labels, starts, starts[1:], strict=False
        )
    ]


def faults_of(found, rules):
    block = Block(memoryview(b""), "file", 1)
    errors = [fault_error(fault, found.text, block, rules) for fault in found.faults]
    return [
        Fault(error.line, error.column, KINDS[kind])
        for error, kind in zip(errors, found.faults[:, 0].tolist(), strict=True)
    ]
