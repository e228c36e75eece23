"""Columns by name: which number a feature's name has, and which name a number.

Formats whose features have names look up the numbers of all names of a chunk at once. No dictionary
is made beforehand: names are numbered as they come, or hashed. Either way the name of a column that
is selected is known in the end.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

Kind = float | None

ZERO = float("inf")  # the kind of a column of numbers of which a missing one counts as 0
SHOWN = 3  # names with one hash that are shown
CACHED = 1 << 18  # names whose hash is kept in memory


def has_mean(kind: Kind) -> bool:
    """Return whether a column of numbers has a mean that stands in for missing ones."""
    return kind not in (None, ZERO)


class Names(Protocol):
    """Columns by name.

    ``kinds`` holds what the columns of tables are, so that a model's tables are always read alike:
    None of categories; of numbers, the mean that stands in for a missing one, or ``ZERO``.
    """

    kinds: dict[str, Kind]

    def number(self, names: Sequence[str]) -> np.ndarray:
        """Return the columns (int64) of the names of a whole chunk; unseen names get new ones."""
        ...

    def name(self, column: int) -> str:
        """Return what a column is called, ``#column`` if that is not known."""
        ...

    def __len__(self) -> int:
        """Return how many columns there are."""
        ...

    def only(self, columns: np.ndarray) -> "Names":
        """Return what a finished model needs that has weights for these columns alone."""
        ...

    def tree(self) -> dict[str, Any]:
        """Return everything as scalars, lists of strings and arrays."""
        ...


class GrowingNames:
    """Names numbered in the order in which they first occur, without end."""

    def __init__(self, names: Sequence[str] = (), kinds: dict[str, Kind] | None = None) -> None:
        self.kinds = dict(kinds or {})
        self._columns = _InOrder()
        self.number(names)

    def number(self, names: Sequence[str]) -> np.ndarray:
        """Return the columns of the names; unseen names get the next ones."""
        return _look_up(self._columns, names)

    def name(self, column: int) -> str:
        """Return what a column is called."""
        return self._columns.names[column]

    def __len__(self) -> int:
        """Return how many names have occurred."""
        return len(self._columns)

    def forget_from(self, column: int) -> None:
        """Forget the names of a column and of all that are newer."""
        for name in self._columns.names[column:]:
            del self._columns[name]
        del self._columns.names[column:]

    def only(self, columns: np.ndarray) -> "KnownNames":
        """Return the names of these columns; what else occurs will be unknown."""
        kept = np.unique(columns)
        names = [self.name(column) for column in kept.tolist()]
        return KnownNames(kept, names, len(self), self.kinds)

    def tree(self) -> dict[str, Any]:
        """Return all names in their order."""
        return {"kind": "growing", "names": list(self._columns.names), **_kinds(self.kinds)}


class KnownNames:
    """The few names a finished model has kept, out of ``width`` columns.

    Unknown names are numbered from ``width`` on, distinct ones differently, anew in every call: a
    row has the length that it had in training, and memory stays bounded.
    """

    def __init__(
        self,
        columns: np.ndarray,
        names: Sequence[str],
        width: int,
        kinds: dict[str, Kind] | None = None,
    ) -> None:
        self.kinds = dict(kinds or {})
        self._width = width
        self._columns = dict(zip(names, map(int, columns), strict=True))
        self._names = {column: name for name, column in self._columns.items()}

    def number(self, names: Sequence[str]) -> np.ndarray:
        """Return the columns of the names; ``width`` and above for unknown ones."""
        return _look_up(_Beyond(self._columns, self._width), names)

    def name(self, column: int) -> str:
        """Return what a column is called, ``#column`` if it was not kept."""
        return self._names.get(column, f"#{column}")

    def __len__(self) -> int:
        """Return how many columns there were in training."""
        return self._width

    def only(self, columns: np.ndarray) -> "KnownNames":
        """Return a copy with the names of these columns."""
        kept = [c for c in np.unique(columns).tolist() if c in self._names]
        names = [self._names[c] for c in kept]
        return KnownNames(np.array(kept, np.int64), names, self._width, self.kinds)

    def tree(self) -> dict[str, Any]:
        """Return columns and names beside each other, and the width."""
        columns = np.array(list(self._names), np.int64)
        known = {"columns": columns, "names": list(self._names.values()), "width": self._width}
        return {"kind": "known", **known, **_kinds(self.kinds)}


class HashedNames:
    """Names numbered by the last ``n_bits`` bits of their BLAKE2b hash.

    Memory is bounded however many names occur. Names are remembered by column, the first few
    where several have the same hash.
    """

    def __init__(
        self,
        n_bits: int,
        names: Iterable[str] = (),
        kinds: dict[str, Kind] | None = None,
    ) -> None:
        if not 1 <= n_bits <= 62:
            raise ValueError(f"Names are hashed to 1 to 62 bits, not {n_bits}.")
        self.n_bits = n_bits
        self.kinds = dict(kinds or {})
        self._remembered: dict[int, tuple[str, ...]] = {}
        self._columns = _ByHash(n_bits, self._remembered)
        self.number(list(names))

    def number(self, names: Sequence[str]) -> np.ndarray:
        """Return the hashes of the names."""
        if len(self._columns) > CACHED:
            self._columns.clear()
        return _look_up(self._columns, names)

    def name(self, column: int) -> str:
        """Return what a column is called: ``a|b`` if shared, ``#column`` if forgotten."""
        names = self._remembered.get(column, (f"#{column}",))
        return "|".join(names[:SHOWN] + ("…",) * (len(names) > SHOWN))

    def __len__(self) -> int:
        """Return how many hashes there can be."""
        return 1 << self.n_bits

    def only(self, columns: np.ndarray) -> "HashedNames":
        """Return a copy that remembers the names of these columns."""
        wanted = np.unique(columns).tolist()
        names = [name for c in wanted for name in self._remembered.get(c, ())]
        return HashedNames(self.n_bits, names, self.kinds)

    def tree(self) -> dict[str, Any]:
        """Return the names remembered; their hashes are their columns."""
        names = [name for shared in self._remembered.values() for name in shared]
        return {"kind": "hashed", "n_bits": self.n_bits, "names": names, **_kinds(self.kinds)}


def names_from_tree(tree: dict[str, Any]) -> Names:
    """Return the names whose tree this is."""
    means = np.asarray(tree["means"], np.float64)
    if not (means > -ZERO).all():
        raise ValueError("The mean of a column is no number.")
    numbers = zip(tree["numeric"], means.tolist(), strict=True)
    kinds: dict[str, Kind] = {**dict(numbers), **dict.fromkeys(tree["categorical"])}
    names = tree["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("Names are no strings.")
    match tree["kind"]:
        case "growing":
            return GrowingNames(names, kinds)
        case "known":
            return KnownNames(tree["columns"], names, int(tree["width"]), kinds)
        case "hashed":
            return HashedNames(int(tree["n_bits"]), names, kinds)
        case other:
            raise ValueError(f"Names of an unknown kind: {other!r}.")


class _InOrder(dict[str, int]):
    """Numbers by name: a name that is looked up for the first time gets the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        self[name] = column = len(self.names)
        self.names.append(name)
        return column


class _Beyond(dict[str, int]):
    """Known numbers by name, and numbers from a width on for names looked up beside them."""

    def __init__(self, known: dict[str, int], width: int) -> None:
        super().__init__()
        self.known, self.following = known, width

    def __missing__(self, name: str) -> int:
        column = self.known.get(name, self.following)
        self.following += column == self.following
        self[name] = column
        return column


class _ByHash(dict[str, int]):
    """Hashes by name; a name that is looked up is remembered for its column."""

    def __init__(self, n_bits: int, remembered: dict[int, tuple[str, ...]]) -> None:
        super().__init__()
        self.mask, self.remembered = (1 << n_bits) - 1, remembered

    def __missing__(self, name: str) -> int:
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self[name] = column = int.from_bytes(digest, "little") & self.mask
        names = self.remembered.get(column, ())
        if name not in names and len(names) <= SHOWN:  # one more than is shown stands for the rest
            self.remembered[column] = (*names, name)
        return column


def _look_up(columns: dict[str, int], names: Sequence[str]) -> np.ndarray:
    """Return the number of every name."""
    return np.fromiter(map(columns.__getitem__, names), np.int64, len(names))


def _kinds(kinds: dict[str, Kind]) -> dict[str, Any]:
    """Return the kinds of tables' columns as lists."""
    means = {name: mean for name, mean in kinds.items() if mean is not None}
    return {
        "numeric": list(means),
        "means": list(means.values()),
        "categorical": [name for name, mean in kinds.items() if mean is None],
    }
