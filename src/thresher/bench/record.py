"""What a run found, as values and as a JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from thresher.bench.machine import machine, versions


@dataclass(frozen=True)
class Measured:
    """One figure: what was measured on which rows, and the numbers it was made from.

    ``parts`` are seconds, bytes or megabytes, by what they belong to.
    """

    measure: str
    data: str
    what: str
    value: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """All figures of a run, and what made them."""

    versions: Mapping[str, str]
    machine: Mapping[str, str]
    settings: Mapping[str, Any]
    measured: list[Measured]

    @classmethod
    def begin(cls, **settings: Any) -> "Record":
        """Return a record of this machine with nothing in it."""
        return cls(versions(), machine(), settings, [])

    def text(self) -> str:
        """Return the record as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Record":
        """Return the record that gave a text, or raise a ValueError."""
        try:
            tree = json.loads(text)
            measured = [Measured(**one) for one in tree.pop("measured")]
            return cls(**tree, measured=measured)
        except (json.JSONDecodeError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"This is no record of thresher bench: {error}.") from None


def ratio(measure: str, data: str, over: tuple[str, str], parts: Mapping[str, float]) -> Measured:
    """Return the figure one part over another."""
    ours, theirs = over
    return Measured(measure, data, f"{ours} / {theirs}", parts[ours] / parts[theirs], dict(parts))
