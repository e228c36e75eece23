"""Vowpal Wabbit's text format.

    1 2.5 'tag |user age:0.4 male |text:2 sparse models

What is read, and what is refused with the file, the line and the column (counted from 1):

- Before the first bar come the label (a number), the row's weight if it is not 1, and a tag. As in
  Vowpal Wabbit a tag begins with ``'`` or touches the bar: ``1|a`` has no label. Tags are not
  used. What Vowpal Wabbit calls the base, a third number, must be 0: training never begins from
  another model's predictions. A label may only be missing where labels are not required; in
  prediction it may be any word.
- A namespace comes right after its bar, and after a colon the number by which its values are
  multiplied. Feature ``age`` of namespace ``user`` is called ``user^age``; after a bar and a blank
  there is no namespace, and a feature keeps its name. Only these names count: ``|user age`` and
  ``| user^age`` are the same.
- A value is 1 unless given. Features that occur in a row several times are added up. Numbers are
  decimals as in svmlight text.
- Blank lines are no rows.

With ``on_error="skip"`` a refused line is left out and counted.
"""

import re
from math import isfinite

from thresher.formats.errors import BadRow
from thresher.formats.fields import NOT_FINITE, decimal, decimals, weight_of
from thresher.formats.labels import Label
from thresher.formats.named import LineSource, Row
from thresher.formats.protocol import Format


class VowpalSource(LineSource):
    """Rows of Vowpal Wabbit's text."""

    no_label = "the row has no label: write one and a blank before the bar, as in 1 |age:30"

    def _row(self, text: str) -> Row | None:
        head, bar, rest = text.replace("\t", " ").partition("|")
        if not bar:
            if not head.strip(" "):
                return None
            raise BadRow("there is no bar (|) before the features")
        label, weight = self._label(head)
        names: list[str] = []
        values: list[float] = []
        try:
            for space in rest.split("|"):
                self._read_features(space, names, values)
        except _Token as problem:
            raise BadRow(problem.message, _column(text, problem.token, len(head))) from None
        return Row(names, values, label, weight)

    def _label(self, head: str) -> tuple[Label, float | None]:
        """Return label and weight from what comes before the first bar."""
        words = [word for word in head.split(" ") if word]
        if words and (head[-1] != " " or words[-1][0] == "'"):
            words.pop()  # the tag
        if not words:
            return self.labels.missing(), None
        if len(words) > 3:
            raise BadRow(f"{len(words)} words come before the bar: write label, weight, 'tag")
        others = [self._number(word, head) for word in words[1:]]
        if others[1:] and others[1] != 0:
            raise BadRow(f"the row has a base, {words[2]}, which cannot be taken into account")
        weight = weight_of(others[0]) if others else None
        return self._first(words[0], head), weight

    def _first(self, word: str, head: str) -> Label:
        """Return the label, the first word of a head that has any."""
        if self.labels.ignored:
            return self.labels.missing()
        return self.labels.number(self._number(word, head))

    def _number(self, word: str, head: str) -> float:
        try:
            return decimal(word)
        except BadRow as problem:
            message = f"{problem.message}, and before the bar come numbers and a 'tag"
            raise BadRow(message, _column(head, word)) from None

    def _read_features(self, space: str, names: list[str], values: list[float]) -> None:
        """Add the features of a namespace: all between two bars."""
        namespace, *words = space.split(" ")
        prefix, scale = _namespace(namespace) if namespace else ("", 1.0)
        if " :" in space:
            word = next(word for word in words if word[:1] == ":")
            raise _Token(f"{word!r} has a value and no name", word)
        parts = [word.partition(":") for word in words if word]
        names += [prefix + name for name, _, _ in parts]
        texts = [value if colon else "1" for _, colon, value in parts]
        try:
            numbers = decimals(texts)
        except BadRow:
            raise _first_wrong(words) from None
        values += numbers if scale == 1 else _scaled(numbers, scale, namespace)


class _Token(Exception):
    """What is wrong with a word of a line."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.message, self.token = message, token


def _namespace(word: str) -> tuple[str, float]:
    """Return what its features' names begin with, and the scale of their values."""
    name, colon, scale = word.partition(":")
    if not name:
        raise _Token(f"{word!r} is a namespace without name", word)
    try:
        return f"{name}^", decimal(scale) if colon else 1.0
    except BadRow as problem:
        raise _Token(f"the scale of namespace {name!r}: {problem.message}", word) from None


def _scaled(numbers: list[float], scale: float, word: str) -> list[float]:
    """Return numbers times a scale."""
    scaled = [scale * number for number in numbers]
    if not all(map(isfinite, scaled)):
        raise _Token(f"values times the scale of {word!r} are too large for numbers", word)
    return scaled


def _first_wrong(words: list[str]) -> _Token:
    """Return what is wrong with the first feature whose value is no number."""
    for word in words:
        name, colon, value = word.partition(":")
        try:
            decimal(value if colon else "1")
        except BadRow as problem:
            is_category = value[:1].isalpha() and value.lower() not in NOT_FINITE
            advice = f". A category is written {name}={value}" if is_category else ""
            return _Token(f"the value of feature {name!r}: {problem.message}{advice}", word)
    raise AssertionError("all values are numbers")


def _column(text: str, word: str, start: int = 0) -> int:
    """Return where in a line a word begins, counted from 1."""
    found = re.compile(rf"(?<![^ \t|]){re.escape(word)}(?![^ \t|])").search(text, start)
    return found.start() + 1 if found else start + 1


FORMAT = Format(VowpalSource, options=("hash_bits", "max_line_bytes"))
