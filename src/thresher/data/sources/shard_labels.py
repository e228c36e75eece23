"""Labels of rows that are kept: of one kind, and counted as they go by."""

from collections import Counter
from typing import Any

import numpy as np

from thresher.data.errors import DataError

NONE, NUMBERS, WORDS = "none", "numbers", "words"
MOST_CLASSES = 1 << 16  # who has more distinct labels has no classes, and nobody counts them


class LabelCounts:
    """The kind of the labels so far, and how often each has occurred."""

    def __init__(self) -> None:
        self.kind: str | None = None
        self._counts: Counter[Any] | None = Counter()

    def add(self, labels: np.ndarray | None) -> np.ndarray | list[str] | None:
        """Count a chunk's labels; return them as float64, as a list of strings, or not at all."""
        kind, tidy = _tidied(labels)
        if kind != (self.kind or kind):
            raise DataError(
                f"Some rows have {_said(self.kind)}, others {_said(kind)}: rows that are kept "
                "together must be labelled in one way."
            )
        self.kind = kind
        if tidy is not None and self._counts is not None:
            self._counts.update(tidy if isinstance(tidy, list) else tidy.tolist())
            self._counts = self._counts if len(self._counts) <= MOST_CLASSES else None
        return tidy

    def tree(self) -> dict[str, Any]:
        """Return the kind, and the classes with their counts unless there are too many."""
        counted = None if self._counts is None else dict(sorted(self._counts.items()))
        return {
            "kind": self.kind or NONE,
            "classes": None if counted is None else list(counted),
            "counts": None if counted is None else list(counted.values()),
        }


def merged(trees: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of several sets and their counts, if they were counted."""
    total: Counter[Any] = Counter()
    for tree in trees:
        total.update(dict(zip(tree["classes"], tree["counts"], strict=True)))
    classes = np.array(sorted(total), dtype_of(trees[0]["kind"]))
    return classes, np.array([total[label] for label in sorted(total)], np.int64)


def dtype_of(kind: str) -> Any:
    """Return the type of an array of such labels."""
    return object if kind == WORDS else np.float64


def _tidied(labels: np.ndarray | None) -> tuple[str, np.ndarray | list[str] | None]:
    if labels is None:
        return NONE, None
    if labels.dtype.kind in "OU":
        words = labels.tolist()
        if all(isinstance(word, str) for word in words):
            return WORDS, words
        labels = np.array(words)
    if labels.dtype.kind not in "biuf":
        raise DataError("Labels must be all numbers or all strings to be kept.")
    return NUMBERS, _exact(labels)


def _exact(labels: np.ndarray) -> np.ndarray:
    """Return numbers as float64, if that is what they are."""
    numbers = labels.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise DataError("A label is not a finite number.")
    if labels.dtype.kind in "iu" and not np.array_equal(numbers.astype(labels.dtype), labels):
        raise DataError("A label is a number beyond 2^53: give such labels as strings.")
    return numbers


def _said(kind: str | None) -> str:
    return {NONE: "no label", NUMBERS: "numbers for labels"}.get(kind or "", "words for labels")
