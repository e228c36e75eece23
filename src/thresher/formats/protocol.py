"""What every source of rows can do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError
from thresher.formats.names import Names

MOST_BITS = 30  # of a hash: four bytes for each of its values
SHOWN = 5  # skipped rows whose error is kept in full


@dataclass
class Skipped:
    """How many rows of the last pass were left out because nothing could be made of them."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, error: DataError) -> None:
        """Count a row that was left out."""
        self.count += 1
        if len(self.examples) < SHOWN:
            self.examples.append(str(error))


class Source(Protocol):
    """Rows that can be read from the first to the last, as chunks, in bounded memory.

    A pass begins with each call of ``chunks``. Where ``rewinds`` is False there is only one.
    """

    rewinds: bool
    n_rows: int | None  # None: not known before the end
    skipped: Skipped

    @property
    def names(self) -> Names | None:
        """Return what columns are called; None if they are just numbers."""
        ...

    @property
    def index_base(self) -> int | None:
        """Return what a file of numbered columns calls the first: 0 or 1; None if it is no file."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        ...

    def fingerprint(self) -> str:
        """Return what tells this data from other data, cheap enough to be asked at any time."""
        ...


@dataclass(frozen=True)
class Reading:
    """How rows are to be read; every format takes what concerns it."""

    format: str = "auto"
    label: str | None = None  # name of the label's column or key; None: "label"
    weight: str | None = None  # name of the weight's column or key; None: rows count the same
    index_base: int | None = None  # svmlight: indices count from 0 or 1; None: the first rows tell
    hash_bits: int | None = None  # number features by a hash of so many bits
    on_error: str = "raise"  # or "skip"
    labelled: bool = True  # False: rows may come without labels
    ignore_labels: bool = False  # labels are not looked at, whatever they are, as in prediction
    categories: Sequence[str] = ()  # csv, tsv: columns of categories, whatever their cells say

    @classmethod
    def asked(cls, options: dict[str, Any]) -> "Reading":
        """Return the reading that a caller's options ask for."""
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(f"{name} is no option of reading: there are {', '.join(known)}.")
        return cls(**options)

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error={self.on_error!r}: it must be 'raise' or 'skip'.")
        if self.weight == (self.label or "label"):
            raise ValueError(f"label and weight are both {self.weight!r}: name two columns.")
        if self.index_base not in (None, 0, 1):
            raise ValueError(f"index_base={self.index_base!r}: it must be 0, 1 or None (decide).")
        if self.hash_bits is not None and not 1 <= self.hash_bits <= MOST_BITS:
            raise ValueError(f"hash_bits={self.hash_bits!r}: it must be 1 to {MOST_BITS}.")
        if isinstance(self.categories, str):
            raise ValueError(f"categories={self.categories!r}: give a list of columns.")
        apart = {self.label or "label", self.weight}.intersection(self.categories)
        if apart:
            raise ValueError(f"categories: {apart.pop()!r} is no feature, but label or weight.")
        object.__setattr__(self, "categories", list(self.categories))  # as JSON gives it back
        object.__setattr__(self, "labelled", self.labelled and not self.ignore_labels)
