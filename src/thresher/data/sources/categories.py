"""Columns that were taken for categories: which, and whether their values look like such."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.data.sources.tables import listed

LOOKED_AT = 8192  # rows, from the first on
FEWEST = 20  # values that can tell anything
NEARLY_ALL = 0.9  # of which at least so many differ where they are no categories


class FirstStrings:
    """The strings in a source's first rows, by key, until they have been judged."""

    def __init__(self, judged: bool = False) -> None:
        self.columns: dict[str, list[str]] = {}
        self._rows, self._judged = 0, judged

    def see(self, row: Mapping[str, Any]) -> None:
        """Remember the strings of a row."""
        if self._judged:
            return
        for name, value in row.items():
            if isinstance(value, str):
                self.columns.setdefault(name, []).append(value)
        self._rows += 1
        if self._rows == LOOKED_AT:
            self.judge()

    def judge(self) -> None:
        """Warn of strings that are no categories, once; of all only the keys are kept."""
        if not self._judged:
            self._judged = True
            warn_of_unlike(self.columns)
            self.columns = {name: [] for name in self.columns}


def taken_words(columns: Sequence[str], because: str) -> str | None:
    """Say which columns were taken for categories, if any were."""
    return f"Taken for categories, as {because}: {listed(columns)}." if columns else None


def warn_of_unlike(columns: Mapping[str, Sequence[str]]) -> None:
    """Warn if nearly all values of some columns differ, which no other row can be told by."""
    unlike = [name for name, values in columns.items() if _differ(values)]
    if unlike:
        warnings.warn(
            f"Nearly all values of {listed(unlike)} differ: each is a category of its own, from "
            "which nothing can be learnt about other rows. Leave columns of ids out, make numbers "
            "of dates, and read sentences as lines of label<TAB>text (format='text', --format "
            "text).",
            UserWarning,
            stacklevel=2,
        )


def _differ(values: Sequence[str]) -> bool:
    present = [value for value in values if value.strip()]
    return len(present) >= FEWEST and len(set(present)) >= NEARLY_ALL * len(present)
