"""How much is measured, and on what."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from thresher.bench.data import Data, make_text, named_sets, read_file

ROWS, SMALL_ROWS = 20_000, 1_500
ROUNDS = 5


@dataclass
class Setting:
    """Rounds, files and sizes of a run; ``small`` shows that everything works, and no more."""

    small: bool = False
    rounds: int = ROUNDS
    files: tuple[str, ...] = ()
    say: Callable[[str], None] = print
    _read: dict[str, Data] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Return how many rows are generated."""
        return SMALL_ROWS if self.small else ROWS

    def generated(self) -> Data:
        """Return generated rows."""
        return self._once("", lambda: make_text(self.n_rows))

    def main(self) -> Data:
        """Return the rows that most figures are measured on: the first file, or generated ones."""
        return next(self.each_set())

    def each_set(self) -> Iterator[Data]:
        """Give the files' rows, or the known sets', or else generated ones."""
        if self.files:
            for path in self.files:
                yield self._once(path, partial(read_file, path))
        elif not self.small and named_sets():
            for name, read in named_sets().items():
                yield self._once(name, read)
        else:
            yield self.generated()

    def _once(self, key: str, read: Callable[[], Data]) -> Data:
        if key not in self._read:
            self._read[key] = read()
        return self._read[key]
