"""Lines of svmlight text: those that are plain are read by a kernel, all others by Python.

Nearly all lines are plain. Every other one, whether there is something wrong with it or only a
number that the kernel does not know, is read by ``read_line``, which knows the whole grammar (see
``thresher.formats.svmlight``) and all messages.
"""

import re
from typing import NamedTuple

import numpy as np

from thresher.formats.decimals import U0, U1, read_decimal, take_digits
from thresher.formats.errors import BadRow
from thresher.formats.fields import decimal, shown
from thresher.jit import inlined, jit

LAST_INDEX = 2**63 - 1
UNUSED = -1  # index of a slot without a pair
NUL, TAB, NEWLINE, RETURN, SPACE, HASH, COLON = (int(byte) for byte in b"\0\t\n\r #:")
QUERY = np.frombuffer(b"qid:", np.uint8).copy()
MOST_DIGITS = np.uint64(18)  # of an index that the kernel reads


class Rules(NamedTuple):
    """Which indices are allowed, whether rows must have labels, and whether these are looked at."""

    lowest: int
    highest: int
    labelled: bool
    ignored: bool


class Lines(NamedTuple):
    """Rows as they stand in a text: pairs may be in any order, and have zeros."""

    places: np.ndarray  # where the line of each row begins and ends, and its number, from 0
    labels: np.ndarray  # NaN for none
    odd: np.ndarray  # rows whose lines Python must read
    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    def without(self, rows: list[int]) -> "Lines":
        """Return all other rows, and no slots without a pair."""
        used = self.indices != UNUSED
        counts = np.bincount(row_of_each(self.starts)[used], minlength=self.labels.size)
        places, labels = np.delete(self.places, rows, 0), np.delete(self.labels, rows)
        starts = np.concatenate([[0], np.cumsum(np.delete(counts, rows))])
        return Lines(places, labels, self.odd, starts, self.indices[used], self.values[used])


def row_of_each(starts: np.ndarray) -> np.ndarray:
    """Return the row of each pair."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def read_text(text: np.ndarray, rules: Rules) -> tuple[Lines, bool]:
    """Return the rows of a text, and whether all is read and in canonical form."""
    n_lines, n_pairs = (int(np.count_nonzero(text == byte)) for byte in (NEWLINE, COLON))
    places, odd = np.empty((n_lines, 3), np.int64), np.empty(n_lines, np.int64)
    labels, starts = np.empty(n_lines), np.zeros(n_lines + 1, np.int64)
    indices, values = np.empty(n_pairs, np.int64), np.empty(n_pairs)
    n_rows, n_odd, tidy = read_lines(text, rules, places, labels, odd, starts, indices, values)
    n, odd = starts[n_rows], odd[:n_odd]
    starts, indices, values = starts[: n_rows + 1], indices[:n], values[:n]
    if not tidy:
        odd = np.union1d(odd, _with_repeats(starts, indices))
    tidy = tidy and not n_odd
    return Lines(places[:n_rows], labels[:n_rows], odd, starts, indices, values), tidy


def _with_repeats(starts: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the rows in which an index occurs twice."""
    rows = row_of_each(starts)
    order = np.lexsort((indices, rows))
    rows, indices = rows[order], indices[order]
    return np.unique(
        rows[1:][(rows[1:] == rows[:-1]) & (indices[1:] == indices[:-1]) & (indices[1:] != UNUSED)]
    )


@jit
def read_lines(text, rules, places, labels, odd, starts, indices, values):
    """Read what is plain of a text; return how many rows there are, how many odd, and if tidy.

    A line that is not plain is odd, and gets a slot for each colon in it. One that is no row is odd
    only if there is a NUL in it.
    """
    p, line, rows, n_odd, n, tidy = U0, 0, 0, 0, 0, True
    while p < np.uint64(text.size):
        first = p
        p = _skip_blanks(text, p)
        is_row, plain, stop, ascending = not _line_ends(text, p), True, n, True
        if is_row:
            labels[rows], p, plain = _read_label(text, p, rules)
        if is_row and plain:
            p = _pass_query(text, p)
            p, stop, plain, ascending = _read_pairs(text, p, rules, n, indices, values)
        while text[p] != NEWLINE:
            plain &= text[p] != NUL
            p += U1
        if not plain:
            stop = _leave_slots(text, first, p, n, indices)
            odd[n_odd] = rows
            n_odd += 1
        if is_row or not plain:
            n, tidy = stop, tidy and (ascending or not plain)
            places[rows, 0], places[rows, 1], places[rows, 2] = first, p, line
            rows += 1
            starts[rows] = n
        p, line = p + U1, line + 1
    return rows, n_odd, tidy


@inlined
def _leave_slots(text, p, end, n, indices):
    """Leave room for the pairs of a line; return where it ends."""
    while p < end:
        if text[p] == COLON:
            indices[n] = UNUSED
            n += 1
        p += U1
    return n


@inlined
def _read_label(text, p, rules):
    """Return a row's label, NaN for none, where it ends, and whether it is plain."""
    label, end, known = read_decimal(text, p)
    if known and _word_ends(text, end) and not rules.ignored:
        return label, end, True
    while not _word_ends(text, end) and text[end] != COLON and text[end] != RETURN:
        end += U1
    is_pair = text[end] == COLON
    plain = not rules.labelled and (is_pair or (rules.ignored and text[end] != RETURN))
    return np.nan, p if is_pair else end, plain


@inlined
def _pass_query(text, p):
    """Pass over the number of a query, if there is one."""
    p = _skip_blanks(text, p)
    for k in range(QUERY.size):
        if text[p + np.uint64(k)] != QUERY[k]:
            return p
    first = p + np.uint64(QUERY.size)
    end, _ = take_digits(text, first, U0)
    return end if U0 < end - first <= MOST_DIGITS and _word_ends(text, end) else p


@inlined
def _read_pairs(text, p, rules, n, indices, values):
    """Read pairs while they are plain; return where they end in both, whether all are, if tidy."""
    last, tidy = -1, True
    while True:
        p = _skip_blanks(text, p)
        if _line_ends(text, p):
            return p, n, True, tidy
        first = p
        p, digits = take_digits(text, p, U0)
        index = np.int64(digits)
        plain = text[p] == COLON and U0 < p - first <= MOST_DIGITS
        plain = plain and rules.lowest <= index <= rules.highest  # a branch of its own costs half
        if not plain:
            return p, n, False, tidy
        value, p, known = read_decimal(text, p + U1)
        if not known or not _word_ends(text, p):
            return p, n, False, tidy
        indices[n], values[n] = index, value
        tidy &= index > last and value != 0.0
        last = index
        n += 1


@inlined
def _skip_blanks(text, p):
    """Return the place of the next byte that is neither space nor tab."""
    while text[p] == SPACE or text[p] == TAB:
        p += U1
    return p


@inlined
def _line_ends(text, p):
    """Return whether nothing more comes in this line but a comment."""
    byte = text[p]
    return byte in (NEWLINE, HASH) or (byte == RETURN and text[p + U1] == NEWLINE)


@inlined
def _word_ends(text, p):
    return text[p] == SPACE or text[p] == TAB or _line_ends(text, p)


WORD, WHOLE = re.compile(rb"[^ \t]+"), re.compile(r"[0-9]+")
PAIR, LATER_PAIR = re.compile(rb"\s*\d+:"), re.compile(rb"[ \t]\d+:")  # svmlight's own


def read_line(line: bytes, rules: Rules) -> tuple[float, dict[int, float]] | None:
    """Return label and pairs of any line, None if it is no row, or raise what is wrong."""
    body, sign, comment = line.partition(b"#")
    body = body if sign else body.removesuffix(b"\r")
    if b"\r" in body:
        message = (
            "a carriage return inside a line: a line ends with a newline, or with both of them"
        )
        raise BadRow(message, body.index(b"\r") + 1)
    words = [
        (found.start() + 1, found[0].decode(errors="replace")) for found in WORD.finditer(body)
    ]
    try:
        row = _read_words(words, rules) if words else None
    except BadRow as problem:
        raise _perhaps_other_format(line, problem) from None
    if b"\0" in comment:
        message = "a NUL byte in a comment: part of this file is lost. Copy or download it again"
        raise BadRow(message, len(body) + comment.index(b"\0") + 2)
    return row


def _read_words(words: list[tuple[int, str]], rules: Rules) -> tuple[float, dict[int, float]]:
    """Return label and pairs in words, of which each has its place in the line."""
    label, pairs = np.nan, dict[int, float]()
    if rules.labelled or ":" not in words[0][1]:
        place, word = words.pop(0)
        label = np.nan if rules.ignored else _label(word, place)
    if words and words[0][1].startswith("qid:"):
        place, word = words.pop(0)
        if not WHOLE.fullmatch(word[4:]):
            raise BadRow(f"{shown(word)}: after qid: there must be a whole number", place)
    for place, word in words:
        digits, colon, value = word.partition(":")
        if not colon:
            raise BadRow(f"{shown(word)} is not a pair index:value", place)
        index = _index(digits, place, rules)
        if index in pairs:
            raise BadRow(f"index {index} occurs in this row twice", place)
        pairs[index] = _number("value", value, place + len(digits) + 1)
    return label, pairs


def _label(word: str, place: int) -> float:
    if ":" in word:
        message = f"the row begins with {shown(word)}: a label, a number, must come first"
        raise BadRow(message, place)
    if "," in word:
        message = f"the label is {shown(word)}: rows with several labels cannot be learned; give "
        raise BadRow(f"{message}each row one number", place)
    return _number("label", word, place)


def _number(what: str, word: str, place: int) -> float:
    try:
        return decimal(word)
    except BadRow as problem:
        raise BadRow(f"the {what} {problem.message}", place) from None


def _index(word: str, place: int, rules: Rules) -> int:
    digits = word.lstrip("0") or "0"
    if word == "qid":
        message = "qid: must come directly after the label"
    elif not WHOLE.fullmatch(word):
        message = f"index {shown(word)} is not a whole number from 0 on"
    elif len(digits) > len(str(LAST_INDEX)) or int(digits) > rules.highest:
        message = f"index {shown(word)} is too large: {rules.highest:,} is the last one"
        if rules.highest < LAST_INDEX:
            message += ". Hash the indices with hash_bits, for instance 24 (--hash-bits 24)"
    elif int(digits) < rules.lowest:
        message = "index 0, but indices count from 1, as was given or as the first rows show: if "
        message += "they count from 0, use index_base=0 (--index-base 0)"
    else:
        return int(digits)
    raise BadRow(message, place)


def _perhaps_other_format(line: bytes, problem: BadRow) -> BadRow:
    """Return what is wrong with a line, and what to do if it seems to be no svmlight text."""
    _, tab, rest = line.strip().partition(b"\t")
    is_json = line.lstrip().startswith(b"{")
    if not is_json and (PAIR.match(rest) or (not tab and LATER_PAIR.search(line))):
        return problem
    kinds = {
        "JSON lines: use format='jsonl' (--format jsonl)": is_json,
        "a table: use format='tsv' (--format tsv)": b"\t" in rest,
        "labelled text, label<TAB>text: use format='text' (--format text)": bool(tab),
        "CSV: use format='csv' (--format csv)": b"," in line,
        "a table with semicolons: use format='csv', sep=';'": b";" in line,
    }
    hint = next((kind for kind, fits in kinds.items() if fits), None)
    more = "" if hint is None else f"; the line looks like {hint}"
    return BadRow(problem.message + more, problem.column)
