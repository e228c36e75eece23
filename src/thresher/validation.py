"""Parameters are declared, and checked once, at the door.

Estimators and the command line's options are made of the declarations.
"""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np


class Constraint(Protocol):
    """Something a parameter's value may be."""

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        ...

    def __str__(self) -> str:
        """Return what is allowed, in words."""
        ...


@dataclass(frozen=True)
class Whole:
    """A whole number, at least ``least`` and at most ``most``, but not ``never``."""

    least: int | None = None
    most: int | None = None
    never: int | None = None

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed; True and False are no numbers here."""
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        enough = whole and value != self.never and (self.least is None or value >= self.least)
        return enough and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        least = "" if self.least is None else f" of at least {self.least}"
        most = "" if self.most is None else f" and at most {self.most}"
        never = "" if self.never is None else f" other than {self.never}"
        return f"a whole number{never}{least}{most}"


@dataclass(frozen=True)
class Number:
    """A finite number between two ends, which belong to it unless they are said to be open."""

    low: float = float("-inf")
    high: float = float("inf")
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        if not isinstance(value, Real) or isinstance(value, bool) or math.isnan(value):
            return False
        number = float(value)
        if math.isinf(number):
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return above and below

    def __str__(self) -> str:
        left = "(" if self.open_low or self.low == float("-inf") else "["
        right = ")" if self.open_high or self.high == float("inf") else "]"
        return f"a number in {left}{self.low:g}, {self.high:g}{right}"


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed; 1 is not taken for True."""
        plain = value.item() if isinstance(value, np.generic) else value
        return any(type(plain) is type(one) and plain == one for one in self.values)

    def __str__(self) -> str:
        return " or ".join(repr(one) for one in self.values)


@dataclass(frozen=True)
class Kind:
    """An instance of a type, or of a protocol that can be checked."""

    kind: Any
    words: str

    def allows(self, value: Any) -> bool:
        """Return whether the value is allowed."""
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return self.words


FLAG = (OneOf(True, False),)


@dataclass(frozen=True)
class Parameter:
    """A parameter: its default, what it may be, its type in words, and one line of what it does."""

    name: str
    default: Any
    allowed: tuple[Constraint, ...]
    kind: str
    doc: str


Parameters = tuple[Parameter, ...]
