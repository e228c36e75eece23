"""The slow, obvious twin of the svmlight reader: splits and regular expressions, line by line.

The policy is that of ``thresher.data.sources.svmlight``; nothing of the package is used.
"""

import math
import re
from typing import NamedTuple

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
