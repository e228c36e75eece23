"""Every data set of the study: size, split, public home, checksums and licence note.

The facts stand in ``registry.toml``. Roles: ``paper`` sets are in the paper's tables, ``extension``
sets are ours, ``full`` sets are the paper's own where the study runs on a smaller stand-in.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.errors import StudyError

TRAIN_SHARE = 0.7  # of a set that comes as one part


@dataclass(frozen=True)
class Home:
    """Where a part can be downloaded, and how its text reads (see ``formats``)."""

    kind: str
    urls: tuple[str, ...]
    member: str | None = None
    lines: tuple[int, int | None] = (0, None)


@dataclass(frozen=True)
class Part:
    """One file of rows: its name, its size, its checksums and its home."""

    file: str
    rows: int
    positives: int | None = None
    sha256: str | None = None
    content: str | None = None
    home: Home | None = None


@dataclass(frozen=True)
class DataSet:
    """A training and a test part, or one part to be split 70/30 with ``split_seed``."""

    name: str
    title: str
    domain: str
    role: str
    columns: int
    parts: tuple[Part, ...]
    licence: str
    note: str = ""
    split_seed: int = 0
    millions: float = 0.0

    @property
    def train_rows(self) -> int:
        """Return the number of training rows."""
        rows = self.parts[0].rows
        return rows if len(self.parts) == 2 else int(TRAIN_SHARE * rows)


def _part(name: str, facts: dict[str, Any]) -> Part:
    home = None
    if "kind" in facts:
        lines = tuple(facts.pop("lines", (0, None)))
        home = Home(facts.pop("kind"), tuple(facts.pop("urls")), facts.pop("member", None), lines)
    return Part(f"{name}.svm.xz", home=home, **facts)


def _read() -> dict[str, DataSet]:
    text = (Path(__file__).parent / "registry.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    parts = {name: _part(name, facts) for name, facts in table["parts"].items()}
    return {
        name: DataSet(name, parts=tuple(parts[part] for part in facts.pop("parts")), **facts)
        for name, facts in table["sets"].items()
    }


SETS = _read()


def named(name: str) -> DataSet:
    """Return the set of that name, or say which names there are."""
    if name not in SETS:
        raise StudyError(f"there is no data set {name!r}; known are: {', '.join(SETS)}")
    return SETS[name]


def of_role(*roles: str) -> list[str]:
    """Return the names of the sets with one of these roles, in the registry's order."""
    return [name for name, facts in SETS.items() if facts.role in roles]
