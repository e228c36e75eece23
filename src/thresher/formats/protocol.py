"""What every source of rows can do, and how rows are to be read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from thresher.formats.errors import DataError

if TYPE_CHECKING:  # chunks need Numba, and the command line needs no more than the options
    from thresher.formats.chunk import Chunk
    from thresher.formats.names import Names

MOST_BITS = 30  # of a hash: four bytes for each of its values
SHOWN = 5  # skipped rows whose error is kept in full
LINE_BYTES = 64 << 20

Progress = Callable[[int], None]  # is called with the number of rows so far
Notify = Callable[[str], None]  # is called with messages in plain English


@dataclass
class Skipped:
    """How many rows of the last pass were left out because they could not be read."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, error: DataError) -> None:
        """Count a row that was left out."""
        self.count += 1
        if len(self.examples) < SHOWN:
            self.examples.append(str(error))


class Source(Protocol):
    """Rows that can be read from the first to the last, as chunks, in bounded memory.

    Each call of ``chunks`` begins a pass. Where ``rewinds`` is False there is only one. ``decided``
    holds what was decided from the first rows, in plain English, for callers to print.
    """

    rewinds: bool
    n_rows: int | None  # None: not known before the end
    skipped: Skipped
    decided: list[str]

    @property
    def names(self) -> "Names | None":
        """Return what columns are called; None if they are just numbers."""
        ...

    @property
    def index_base(self) -> int | None:
        """Return what a file of numbered columns calls the first, 0 or 1; None if no file does."""
        ...

    def chunks(self) -> Iterator["Chunk"]:
        """Read the rows from the first on."""
        ...

    def fingerprint(self) -> str:
        """Return what distinguishes this data from other data, at hardly any cost."""
        ...

    def modified(self) -> list[int]:
        """Return when its files changed (ns), where the fingerprint does not cover every row."""
        ...


class Around:
    """Rows of another source, in a way of its own; all else is the other's."""

    rewinds: bool
    n_rows: int | None
    skipped: Skipped
    decided: list[str]
    names: "Names | None"
    index_base: int | None

    def __init__(self, source: Source) -> None:
        self.source = source

    def __getattr__(self, name: str) -> Any:
        """Return what has no value here."""
        return getattr(self.__dict__["source"], name)

    def fingerprint(self) -> str:
        """Return what distinguishes this data from other data."""
        return self.source.fingerprint()

    def modified(self) -> list[int]:
        """Return when its files changed."""
        return self.source.modified()


class PeekedSource(Around):
    """A source that is read once, some of whose chunks have been read already."""

    rewinds = False

    def __init__(self, source: Source, seen: Sequence["Chunk"], rest: Iterator["Chunk"]) -> None:
        super().__init__(source)
        self._chunks = chain(seen, rest)

    def chunks(self) -> Iterator["Chunk"]:
        """Read the rows from the first on."""
        return self._chunks


def option(default: Any, help: str, **more: Any) -> Any:
    """Declare an option of reading; the command line is made from these declarations."""
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True)
class Reading:
    """How rows are to be read; every format uses what concerns it (see its ``FORMAT.options``)."""

    format: str = option("auto", "How the files are written; auto goes by their names.")
    label: str | None = option(None, "Column, key or entry of the label.  [default: label]")
    weight: str | None = option(None, "Column, key or entry of the rows' weights.")
    index_base: int | None = option(
        None, "Whether the first column is 0 or 1; auto goes by the first rows.", choices=(0, 1)
    )
    hash_bits: int | None = option(
        None, "Number features by a hash of N bits instead of keeping a vocabulary."
    )
    on_error: str = option(
        "raise",
        "What to do with rows that cannot be read: stop, or leave out and count.",
        choices=("raise", "skip"),
    )
    labelled: bool = option(True, "False: rows may come without labels.")
    ignore_labels: bool = option(False, "True: labels are not read, as in prediction.")
    max_line_bytes: int = option(LINE_BYTES, "The longest line that is read, in bytes.")
    categories: Sequence[str] = option((), "Columns of categories, even if they hold numbers.")
    keep: Sequence[str] = option((), "The columns that are features, by name or pattern (*, ?).")
    ignore: Sequence[str] = option((), "Columns that are no features, by name or pattern (*, ?).")
    index_column: str | None = option(None, "Column that identifies rows: no feature.")
    na_values: Sequence[str] = option((), "Cells that mean a missing value, as empty ones do.")
    missing: str | None = option(
        None,
        "A missing number is its column's mean, beside a feature COLUMN=missing; 0; or an error.  "
        "[default: as in training, else mean]",
        choices=("mean", "zero", "error"),
    )
    sep: str | None = option(None, "What separates cells, instead of a comma or a tab.")
    quote: str = option('"', "What encloses cells that hold separators; empty: nothing does.")

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        for name in ("categories", "keep", "ignore", "na_values"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ValueError(f"{name}={value!r}: give a list of strings.")
            object.__setattr__(self, name, list(value))  # as JSON gives it back
        for one in fields(self):
            value, choices = getattr(self, one.name), one.metadata.get("choices")
            if choices and value not in (one.default, *choices):
                words = ", ".join(map(repr, choices[:-1]))
                raise ValueError(f"{one.name}={value!r}: it must be {words} or {choices[-1]!r}.")
        self._check_numbers()
        if self.weight == (self.label or "label"):
            raise ValueError(f"label and weight are both {self.weight!r}: name two columns.")
        apart = {self.label or "label", self.weight, self.index_column} & {*self.categories}
        if apart:
            raise ValueError(
                f"categories: {apart.pop()!r} is the label, the weight or the index, not a feature."
            )
        object.__setattr__(self, "labelled", self.labelled and not self.ignore_labels)

    def _check_numbers(self) -> None:
        if self.hash_bits is not None and not 1 <= self.hash_bits <= MOST_BITS:
            raise ValueError(f"hash_bits={self.hash_bits!r}: it must be 1 to {MOST_BITS}.")
        if self.max_line_bytes < 1:
            raise ValueError(f"max_line_bytes={self.max_line_bytes!r}: it must be at least 1.")
        characters = {"sep": "," if self.sep is None else self.sep, "quote": self.quote or '"'}
        for name, value in characters.items():
            if len(value) != 1 or value in "\r\n":
                raise ValueError(f"{name}={value!r}: it must be one character.")
        if self.sep is not None and self.sep == self.quote:
            raise ValueError(f"sep and quote are both {self.sep!r}: they must differ.")


EVERY_FORMAT = ("format", "on_error", "labelled", "ignore_labels")  # options that all formats take


class Open(Protocol):
    """Opens files of a format."""

    def __call__(
        self, paths: Sequence[str], reading: Reading, names: "Names | None" = None
    ) -> Source:
        """Return their rows; ``names`` are those of a model that is to predict."""
        ...


class Format(NamedTuple):
    """What opens files of a format, and the options of reading that concern it."""

    open: Open
    options: tuple[str, ...] = ()
