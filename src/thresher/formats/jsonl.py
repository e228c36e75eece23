"""JSON lines: an object per line.

    {"label": 1, "features": {"age": 30, "town": "Bern"}}
    {"label": 1, "age": 30, "town": "Bern"}

What is read, and what is refused with the file and the line:

- Where ``features`` is an object, its keys are the features, and keys beside it other than those of
  the label and the weight are not used. Otherwise every key but those two is a feature.
- A number is a value, true is 1, false is 0. A string is a category: ``{"town": "Bern"}`` is
  feature ``town=Bern`` with value 1. Null is as if the key were missing, and counts as 0.
- Where a model has learned from tables, an object is a row of such: a number that is not there
  counts as its column's mean, and keys that are no columns are not used.
- Lists and objects within objects are refused, as is a key that occurs twice in an object, NaN,
  Infinity and numbers beyond the largest double.
- A label is a number or a string, the same in all rows; true and false are 1 and 0. Its key is
  ``label`` unless another is named. It may only be missing, or null, where labels are not required;
  in prediction it may be any value.
- The weight, if its key is named, is a finite number that is not negative. Prediction reads none.
- Blank lines are no rows.

With ``on_error="skip"`` a refused line is left out and counted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import Any

from thresher.formats.chunk import Chunk
from thresher.formats.errors import BadRow
from thresher.formats.fields import weight_of
from thresher.formats.labels import Label
from thresher.formats.named import LineSource, Row
from thresher.formats.names import Names
from thresher.formats.protocol import Format, Reading
from thresher.formats.tables import as_in_table, note_categories, warn_of_distinct_values

FEATURES = "features"
LOOKED_AT = 8192  # rows, from the first on, whose strings are looked at


class JsonLinesSource(LineSource):
    """Rows of JSON lines."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        self._label_key = reading.label or "label"
        self.no_label = f"the row has no label: there is no key {self._label_key!r}, or it is null"
        super().__init__(paths, reading, names)
        self._strings: dict[str, list[str]] | None = {} if names is None else None
        self._n_seen = 0

    def _read(self) -> Iterator[Chunk]:
        yield from super()._read()
        self._note_strings()

    def _row(self, text: str) -> Row | None:
        if not text.strip(" \t\r"):
            return None
        found = _parsed(text)
        label = self._label(found.pop(self._label_key, None))
        key = self.reading.weight
        given = None if key is None else found.pop(key, None)
        weight = None if key is None or self.labels.ignored else _weight(given, key)
        features = found.get(FEATURES)
        features = features if isinstance(features, dict) else found
        names, values = features_of(as_in_table(features, self.naming.kinds))
        if self._strings is not None:
            self._see_strings(features, self._strings)
        if "\\ud" in text or "\\uD" in text:  # only so can half a character get in
            _check_characters([*names, label])
        return Row(names, values, label, weight)

    def _see_strings(self, features: dict[str, Any], strings: dict[str, list[str]]) -> None:
        """Remember the strings of the first rows."""
        for name, value in features.items():
            if isinstance(value, str):
                strings.setdefault(name, []).append(value)
        self._n_seen += 1
        if self._n_seen == LOOKED_AT:
            self._note_strings()

    def _note_strings(self) -> None:
        """Note which keys hold strings, and warn of those that are no categories, once."""
        if self._strings is not None:
            strings, self._strings = self._strings, None
            self.decided += note_categories(list(strings), "their values are strings")
            warn_of_distinct_values(strings)

    def _label(self, label: Any) -> Label:
        if self.labels.ignored:
            return self.labels.missing()
        match label:
            case None:
                return self.labels.missing()
            case str():
                return self.labels.word(label)
            case bool() | int() | float():
                return self.labels.number(_number(label, self._label_key))
            case _:
                raise BadRow(f"the label is {_kind(label)}: it must be a number or a string")


def features_of(found: Mapping[str, Any]) -> tuple[list[str], list[float]]:
    """Return names and values of an object's entries."""
    names: list[str] = []
    values: list[float] = []
    for name, value in found.items():
        if isinstance(value, float | int):  # true and false are ints to Python
            names.append(name)
            values.append(value)
        elif isinstance(value, str):
            names.append(f"{name}={value}")
            values.append(1.0)
        elif value is not None:
            raise BadRow(
                f"the value of {name!r} is {_kind(value)}: values are numbers, strings, true, "
                f"false or null; only the features as a whole may be an object, under {FEATURES!r}"
            )
    try:
        fits = isfinite(sum(values))
    except OverflowError:
        fits = False
    return names, values if fits else [_number(v, n) for n, v in zip(names, values, strict=True)]


def _number(number: float, name: str) -> float:
    """Return a number that a float can hold."""
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if isnan(value):
        raise BadRow(f"the number of {name!r} is NaN: leave it out")
    if not isfinite(value):
        raise BadRow(f"the number of {name!r} is beyond the largest number there is")
    return value


def _weight(weight: Any, key: str) -> float:
    if isinstance(weight, bool) or not isinstance(weight, float | int):
        raise BadRow(f"the row's weight, {key!r}, is {_kind(weight)}: it must be a number")
    return weight_of(_number(weight, key))


def _parsed(text: str) -> dict[str, Any]:
    """Return the object that a line is."""
    try:
        found = _decode(text)
    except json.JSONDecodeError as error:
        raise BadRow(f"this is not JSON: {error.msg}", error.colno) from None
    except RecursionError:
        raise BadRow("lists or objects are nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise BadRow(f"a number cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise BadRow(f"the line is {_kind(found)}: every line must be a JSON object, {{...}}")
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys all differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadRow(f"key {twice!r} occurs twice in an object")
    return found


def _no_constant(word: str) -> float:
    raise BadRow(f"{word} is not finite, nor JSON: write null for a missing value")


_decode = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant).decode


def _check_characters(texts: Sequence[Label]) -> None:
    """Refuse text that cannot be written again: half of a pair of surrogates."""
    for text in texts:
        try:
            str(text).encode()
        except UnicodeEncodeError:
            raise BadRow(f"{text!r} has half a character in it (a lone surrogate)") from None


def _kind(value: Any) -> str:
    """Return what JSON calls a value."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    if type(value) in kinds or value is None or isinstance(value, float | int):
        return kinds.get(type(value), "missing" if value is None else "a number")
    return f"of type {type(value).__name__}"  # in a program


FORMAT = Format(JsonLinesSource, options=("label", "weight", "hash_bits", "max_line_bytes"))
