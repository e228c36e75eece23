"""Where paths are on their way."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from thresher.files import access


@dataclass
class Stage:
    """Where the paths are, and what rules them there."""

    burst_size: int
    number: int = 1
    done: int = 0  # updates of this stage
    bursts: int = 0  # bursts before this stage
    known: int = 0  # the vocabulary's slots that were in use when the stage began
    rows_seen: int = 0
    repeated: int = 0  # of those, rows of a stream that were learnt again
    gravity: float = 0.0
    rejection_rate: float = 0.0
    ends: int = 0  # ends of bursts since features were last judged, where all share the count
    over: bool = False  # whether no feature is left, so that nothing can change any more
    closed: bool = False  # whether columns that have not occurred yet are purged as well
    few_speak: bool = False  # whether only few features say anything: they are weighed at the end
    held_back: bool = False  # whether weights are shortened by what they could not know
    careful: bool = False  # whether short steps lead; see thresher.learners.striding
    streamed: bool = False  # whether the last judged features did not know how much was to come

    @property
    def new_rows(self) -> int:
        """Return how many rows were seen, those that were learnt again not counted."""
        return self.rows_seen - self.repeated

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Stage":
        """Return the stage that gave a tree."""
        least = {"burst_size": 1, "number": 1}
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.type is bool:
                values[field.name] = access.flag(tree, field.name)
            elif field.type is int:
                values[field.name] = access.whole(tree, field.name, least.get(field.name, 0))
            else:
                values[field.name] = access.number(tree, field.name)
        return cls(**values)
