"""What stands in a row of text: numbers, labels and weights, and what is wrong with them."""

from collections.abc import Sequence
from math import isfinite

DIGITS = "0123456789+-.eE"  # float() knows more: underscores, other scripts' digits, blanks
NOT_FINITE = frozenset(
    sign + word for sign in ("", "+", "-") for word in ("nan", "inf", "infinity")
)

UNEVEN = -1  # no number of digits

Label = float | str | None


class Malformed(Exception):
    """A row of which nothing can be made; its source adds the file and the line."""

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.column = message, column


def decimal(text: str) -> float:
    """Return the number that a text says, as ``float`` rounds it."""
    if text.lower() in NOT_FINITE:
        raise Malformed(f"{text!r} is not finite")
    try:
        number = float(text)
    except ValueError:
        raise Malformed(f"{text!r} is not a number") from None
    if text.strip(DIGITS):
        raise Malformed(f"{text!r} is not a number")
    if not isfinite(number):
        raise Malformed(f"{text!r} is beyond the largest number there is")
    return number


def decimals(texts: Sequence[str]) -> list[float]:
    """Return the numbers that several texts say."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return [decimal(text) for text in texts]  # says what is wrong
    if isfinite(sum(numbers)) and not "".join(texts).strip(DIGITS):
        return numbers
    return [decimal(text) for text in texts]


def weight_of(number: float) -> float:
    """Return how much a row counts."""
    if not isfinite(number) or number < 0:
        raise bad_weight(number)
    return float(number)


def bad_weight(number: float) -> Malformed:
    """Return what is wrong with a weight."""
    return Malformed(f"the row's weight is {number:g}: weights are finite and not negative")


class Labels:
    """Reads labels. The first one of a pass decides for all whether they are numbers or words."""

    def __init__(self, required: bool, missing: str, ignored: bool = False) -> None:
        self.required, self._missing = required, missing
        self.ignored = ignored  # no label is looked at: all are as if they were missing
        self.words: bool | None = None  # None: no label yet
        self._padded = False  # whether there were whole numbers with zeros in front
        self._n_digits: int | None = None  # of all whole numbers so far

    def missing(self) -> Label:
        """Return None for a row without label, where such rows are wanted."""
        if self.required:
            raise Malformed(self._missing)
        return None

    def text(self, text: str) -> Label:
        """Return the label that a text says; an empty one is none."""
        if self.ignored or not text:
            return self.missing()
        if text.lower() in NOT_FINITE:
            raise Malformed(f"the label is {text}, which is no class")
        if self.words:
            return text
        try:
            number = self.number(decimal(text))
        except Malformed:
            return self.word(text)
        if self.required:
            self._compare_digits(text.lstrip("+-"))
        return number

    def _compare_digits(self, digits: str) -> None:
        """Refuse whole numbers with zeros in front if others have more or fewer digits.

        Such labels are codes rather than numbers, and 0012 and 12 would become one class.
        """
        if not digits.isdigit():
            return
        n = len(digits)
        padded = self._padded or (n > 1 and digits[0] == "0")
        even = self._n_digits in (None, n)
        if padded and not even:
            raise Malformed(
                f"the label has {n} digits, {digits}, other labels have another number of them, "
                "and there are zeros in front: as numbers, 0012 and 12 are the same. Write all "
                "with as many digits, all without such zeros, or words with a letter in front"
            )
        self._padded, self._n_digits = padded, n if even else UNEVEN

    def number(self, number: float) -> float:
        """Return a label that is a number."""
        if self.words:
            raise Malformed(f"the label is the number {number:g}, but the first label is a word")
        if not isfinite(number):
            raise Malformed(f"the label is {number}, which is no class")
        self.words = False
        return number

    def word(self, word: str) -> str:
        """Return a label that is a word."""
        if self.words is False:
            raise Malformed(
                f"the label {word!r} is not a number, but the first label is: call all classes by "
                "numbers, or all by words"
            )
        self.words = True
        return word
