"""Labels: read from text, made comparable, and which classes a source has."""

import math
from collections.abc import Sequence
from datetime import date, time, timedelta

import numpy as np

from thresher.formats.chunk import Chunk
from thresher.formats.errors import BadRow, DataError
from thresher.formats.fields import NOT_FINITE, decimal
from thresher.formats.protocol import PeekedSource, Source

EXACT = 2**53  # from here on, several whole numbers are read as one
REGRESSOR = "To predict numbers, use ThresherRegressor (--method thresher-regressor)."
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
UNEVEN = -1  # no number of digits
NONE, NUMBERS, WORDS = "missing", "numbers", "words"  # kinds of labels
# Rows that are looked at for classes; more as long as all are of one class.
LOOKED_AT, MOST_LOOKED_AT = 1 << 13, 1 << 16

Label = float | str | None


class LabelReader:
    """Reads labels. The first one of a pass decides for all whether they are numbers or words."""

    def __init__(self, required: bool, missing: str, ignored: bool = False) -> None:
        self.required, self._missing = required, missing
        self.ignored = ignored  # no label is looked at: all are as if they were missing
        self.words: bool | None = None  # None: no label yet
        self._padded = False  # whether there were whole numbers with leading zeros
        self._n_digits: int | None = None  # of all whole numbers so far

    def missing(self) -> Label:
        """Return None for a row without label, where such rows are wanted."""
        if self.required:
            raise BadRow(self._missing)
        return None

    def text(self, text: str) -> Label:
        """Return the label in a text; an empty one is none."""
        if self.ignored or not text:
            return self.missing()
        if text.lower() in NOT_FINITE:
            raise BadRow(f"the label is {text}, which is no class")
        if self.words:
            return text
        try:
            number = self.number(decimal(text))
        except BadRow:
            return self.word(text)
        if self.required:
            self._compare_digits(text.lstrip("+-"))
        return number

    def number(self, number: float) -> float:
        """Return a label that is a number."""
        if self.words:
            raise BadRow(f"the label is the number {number:g}, but the first label is a word")
        if not math.isfinite(number):
            raise BadRow(f"the label is {number}, which is no class")
        self.words = False
        return number

    def word(self, word: str) -> str:
        """Return a label that is a word."""
        if self.words is False:
            raise BadRow(
                f"the label {word!r} is not a number, but the first label is: use numbers for all "
                "classes, or words for all"
            )
        self.words = True
        return word

    def _compare_digits(self, digits: str) -> None:
        """Refuse whole numbers with leading zeros if others have more or fewer digits.

        Such labels are codes rather than numbers, and 0012 and 12 would become one class.
        """
        if not digits.isdigit():
            return
        n = len(digits)
        padded = self._padded or (n > 1 and digits[0] == "0")
        even = self._n_digits in (None, n)
        if padded and not even:
            raise BadRow(
                f"the label {digits} has {n} digits, other labels have more or fewer, and some "
                "have leading zeros: as numbers, 0012 and 12 are the same. Write all labels with "
                "the same number of digits, or without leading zeros, or begin them with a letter"
            )
        self._padded, self._n_digits = padded, n if even else UNEVEN


def label_array(labels: Sequence[Label]) -> np.ndarray | None:
    """Return labels as numbers or as words; None where any of them is missing."""
    if any(label is None for label in labels):
        return None
    words = bool(labels) and isinstance(labels[0], str)
    return np.array(labels, object if words else np.float64)


def tidy_labels(labels: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers: a file's 1 and 1.0 are the same class."""
    if labels.dtype.kind != "f" or not (np.abs(labels) < EXACT).all():
        return labels
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


def check_distinguishable(labels: np.ndarray) -> None:
    """Refuse classes that are numbers too large to be distinguished from their neighbours."""
    if labels.dtype.kind != "f":
        return
    large = labels[np.abs(labels) >= EXACT]
    if large.size:
        raise DataError(
            f"The label {large[0]:.0f}, or one near it, is a number beyond 2^53, where neighbours "
            "cannot be distinguished: make words of such labels, for instance by a letter in front."
        )


def is_fraction(label: object) -> bool:
    """Return whether a label is a number that is not whole, which is hardly a class."""
    return isinstance(label, float) and math.isfinite(label) and not label.is_integer()


def first_time(labels: np.ndarray) -> int | None:
    """Return the place of the first label that is a date, a time or a span of time."""
    if labels.dtype.kind in "mM":
        return 0 if labels.size else None
    if labels.dtype.kind != "O":
        return None
    return next((i for i, label in enumerate(labels.flat) if isinstance(label, TIMES)), None)


def first_missing(labels: np.ndarray) -> int | None:
    """Return the place of the first label that is None, NaN, or pandas' NA or NaT."""
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([is_missing(label) for label in labels], np.bool_)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None


def is_missing(value: object) -> bool:
    """Return whether a value stands for none at all."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def find_classes(source: Source) -> tuple[Source, np.ndarray]:
    """Return the classes of a source, and a source that still has the rows that were looked at.

    Sources that have counted their labels know all classes; others are those of the first rows.
    """
    known = getattr(source, "classes", None)
    if known is not None:
        return source, checked_classes(known)
    seen: list[Chunk] = []
    labels = np.zeros(0)
    chunks = source.chunks()
    for chunk in chunks:
        seen.append(chunk)
        if chunk.labels is None:
            raise DataError("The rows have no labels: training needs one for every row.")
        labels = np.concatenate([labels, chunk.labels]) if labels.size else chunk.labels
        if labels.size >= LOOKED_AT and np.unique(labels[:LOOKED_AT]).size > 1:
            labels = labels[:LOOKED_AT]  # wherever chunks end, the same rows are looked at
            break
        if labels.size >= MOST_LOOKED_AT:
            break
    classes = checked_classes(np.unique(labels))
    return (source if source.rewinds else PeekedSource(source, seen, chunks)), classes


def checked_classes(labels: np.ndarray) -> np.ndarray:
    """Return distinct labels as classes, or refuse what is none."""
    check_distinguishable(labels)
    fraction = next((label for label in labels.tolist() if is_fraction(label)), None)
    if fraction is not None:
        raise DataError(
            f"The label {fraction!r} is not a whole number, so labels seem to be numbers to "
            f"predict, not classes. {REGRESSOR} If they are classes, use whole numbers or words "
            "for them, or name them all (classes=, --classes)."
        )
    classes = tidy_labels(labels)
    if classes.size == 0:
        raise DataError("There is not a single row to learn from.")
    if classes.size == 1:
        raise DataError(
            f"All rows looked at are of class {classes[0]!s}: a classifier needs two. If others "
            "come later, name all classes (classes=, --classes)."
        )
    return classes
