"""The numbers of features at which everybody is measured."""

from experiments.matched import TARGETS
from experiments.registry import named

SHARES = (0.005, 0.01, 0.02)


def share_of(columns: int, share: float) -> int:
    """Return a share of the columns as a number of features, at least one."""
    return max(1, round(share * columns))


def shares(dataset: str) -> list[int]:
    """Return 0.5, 1 and 2 % of a set's columns; on a set with few columns some are the same."""
    columns = named(dataset).columns
    return sorted({share_of(columns, share) for share in SHARES})


def sizes(dataset: str) -> list[int]:
    """Return every size measured on a set: numbers and shares below the number of columns."""
    columns = named(dataset).columns
    return sorted({size for size in TARGETS if size < columns} | set(shares(dataset)))


def choosing_sizes(dataset: str) -> list[int]:
    """Return the sizes at which a step is chosen: 100 features, 1 and 2 % of the columns."""
    columns = named(dataset).columns
    return sorted({100, share_of(columns, 0.01), share_of(columns, 0.02)})
