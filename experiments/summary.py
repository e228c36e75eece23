"""A line's permutations in a few numbers, read from stored cells only."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from experiments.judge import unpack
from experiments.store import Store
from experiments.tasks import Line
from thresher.stability import Stability, mean_pairwise_kappa, nogueira_stability


class Moments(NamedTuple):
    """Mean and standard deviation; the deviation of a single value is nan."""

    mean: float
    deviation: float


class Summary(NamedTuple):
    """What the tables show of a line."""

    permutations: int
    error: Moments
    percent: Moments
    nonzero: Moments
    seconds: float
    kappa: float
    stability: Stability
    params: dict[str, Any]


def moments(values: Sequence[float]) -> Moments:
    """Return the mean and the standard deviation (n - 1) of some values."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Moments(float(np.mean(values)), spread)


def summarize(store: Store, line: Line, columns: int, protocol: str = "final") -> Summary | None:
    """Summarize the stored permutations of a line, None when there are none."""
    cells = [store.read(key) for key in store.keys(protocol, *line)]
    choice = store.read(("choice", *line))
    found = [cell for cell in cells if cell is not None and _is_current(cell, choice)]
    if not found:
        return None
    masks = masks_of([unpack(cell["support"]) for cell in found], columns)
    several = len(found) > 1
    unknown = Stability(*[float("nan")] * 4)
    return Summary(
        len(found),
        moments([cell["error"] for cell in found]),
        moments([cell["percent"] for cell in found]),
        moments([cell["nonzero"] for cell in found]),
        float(np.mean([cell.get("seconds", np.nan) for cell in found])),
        mean_pairwise_kappa(masks) if several else float("nan"),
        nogueira_stability(masks) if several else unknown,
        found[0]["params"],
    )


def _is_current(cell: dict[str, Any], choice: dict[str, Any] | None) -> bool:
    """Tell whether a cell has the setting now chosen; passes aside, as an oracle has its own."""
    if choice is None:
        return True
    made, wanted = ({**each["params"], "max_iter": None} for each in (cell, choice))
    return made == wanted


def masks_of(supports: Sequence[np.ndarray], columns: int) -> csr_array:
    """Return feature numbers as a table of masks, one row per set."""
    bounds = np.cumsum([0, *map(len, supports)])
    numbers = np.concatenate(supports).astype(np.int64)
    return csr_array((np.ones(len(numbers)), numbers, bounds), shape=(len(supports), columns))
