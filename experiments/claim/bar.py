"""The bar: every row of the table, what was measured beside what is asked."""

import math
from collections.abc import Callable
from typing import NamedTuple

from experiments.claim import rows, standing
from experiments.claim.rivals import FTRL, L1, OURS
from experiments.claim.tasks import KINDS
from experiments.claim.units import NAMED
from experiments.store import Store
from experiments.tables import NOTHING, number


class Row(NamedTuple):
    """One demand: its words, what was measured, and whether the bar and the aim are met."""

    words: str
    measured: str
    bar: str
    aim: str
    met: str


def verdict(bar: bool, aim: bool | None = None) -> str:
    """Return how far a demand is met, in a word."""
    if not bar:
        return "no"
    return "aim" if aim else "bar"


def _at_most(words: str, value: float, bar: float, aim: float, digits: int = 2) -> Row:
    shown = number(value, digits)
    return Row(words, shown, f"{bar:g}", f"{aim:g}", _side(shown, bar, aim))


def _at_least(words: str, value: float, bar: float, aim: float, digits: int = 2) -> Row:
    shown = number(value, digits)
    return Row(words, shown, f"{bar:g}", f"{aim:g}", _side(shown, bar, aim, sign=-1))


def _side(shown: str, bar: float, aim: float, sign: int = 1) -> str:
    """Judge a number as it is shown: nobody can see more digits."""
    if shown == NOTHING:
        return NOTHING
    value = sign * float(shown)
    return verdict(value <= sign * bar, value <= sign * aim)


# rival, bar, aim
RATIOS = (
    (L1, "l1", 0.88, 0.80),
    ("l1-refit", "l1 with refit", 0.95, 0.88),
    ("ridge-elimination", "ridge with recursive elimination and refit", 0.90, 0.80),
    (FTRL, "FTRL with its step tuned", 0.90, 0.80),
    ("rda", "RDA", 0.80, 0.70),
    ("sklearn-sgd-l1", "scikit-learn's SGD-l1", 0.80, 0.70),
    ("truncated-gradient", "truncated gradient", 0.80, 0.70),
    ("fobos", "FOBOS", 0.80, 0.70),
)


def ratios(store: Store) -> list[Row]:
    """Return the geometric means of our error over each rival's."""
    return [
        _at_most(f"error / that of {words}, geometric mean", standing.ratio(store, rival), bar, aim)
        for rival, words, bar, aim in RATIOS
    ]


def lost_cells(store: Store) -> list[Row]:
    """Return in how many cells l1 or FTRL is better by more than one standard error."""
    met = standing.cells_met(store, (L1, FTRL))
    lost = {duel.cell for _, duel in standing.lost(store, (L1, FTRL))}
    words = f"cells worse than l1 or FTRL by more than one standard error, of {len(met)}"
    return [_at_most(words, len(lost) if met else math.nan, 2, 0, digits=0)]


def stability(store: Store) -> list[Row]:
    """Return kappa over permutations, and over halves beside l1 and FTRL."""
    kappa = standing.mean(point.kappa for point in standing.all_points(store, OURS))
    over_halves = [
        _at_least(
            f"kappa over random halves minus {words}'s",
            standing.advantage(store, rival, lambda each: each.crossing, KINDS["halves"].sets),
            bar,
            aim,
        )
        for rival, words, bar, aim in ((L1, "l1", 0.08, 0.15), (FTRL, "FTRL", 0.03, 0.10))
    ]
    return [_at_least("kappa over permutations", kappa, 0.97, 0.99, digits=3), *over_halves]


def planted(store: Store) -> list[Row]:
    """Return the planted features found by band, and the false discoveries at the default size."""
    cell = store.read(("planted", "planted", OURS))
    if cell is None:
        return []
    found, false = rows.found_by_band(cell["points"]), rows.false_share(cell["auto"])
    bar, aim = (4, 10, 11, 11), (8, 12, 12, 12)
    met = [all(a >= b for a, b in zip(found, asked, strict=True)) for asked in (bar, aim)]
    shown = [" / ".join(f"{each:g}" for each in numbers) for numbers in (found, bar, aim)]
    words = "planted features found, document frequency 12 / 60 / 240 / 900, of 12 each, T = 48"
    size = rows.mean_size(cell["auto"])
    return [
        Row(words, *shown, verdict(*met)),
        _at_most(
            f"false discoveries at the default size ({size:.0f}), planted data, %", false, 20, 10, 0
        ),
    ]


def untuned(store: Store) -> list[Row]:
    """Return how far the untuned default is from the best dense model, on the worst text set."""
    gaps = rows.untuned_gaps(store)
    if not gaps:
        return []
    worst, widest = max(gap.points for gap in gaps), max(gap.percent for gap in gaps)
    words = "error of the untuned default above the best dense model's, worst text set, points"
    row = _at_most(words, worst, 1.0, 0.3)
    row = row._replace(measured=f"{row.measured} at {widest:.1f} % of columns or fewer")
    return [row._replace(bar="1.0 at <= 3 %", met=row.met if widest <= 3 else "no")]


def stream(store: Store) -> list[Row]:
    """Return the error of one pass over that of ten."""
    value = standing.geometric_mean(each.ratio for each in rows.streams(store))
    return [
        _at_most("one pass over a stream / ten passes, error, geometric mean", value, 1.15, 1.05)
    ]


def units(store: Store) -> list[Row]:
    """Return what is left of the harm that mixed units do: by themselves, or once mended."""
    cases = rows.unit_cases(store)
    alone = standing.geometric_mean(each.mixed / each.raw for each in cases)
    value = standing.geometric_mean(each.mended[NAMED] / each.raw for each in cases)
    words = "columns in units 1000x apart: error / as they were, geometric mean"
    by_itself = _at_most(words, alone, 1.05, 1.05)
    named = f"{value:.2f} after {NAMED}, warned on {sum(each.warned for each in cases)} sets"
    met = by_itself.met
    if met == "no":
        met = verdict(value <= 1.05 and all(each.warned for each in cases))
    measured = f"{by_itself.measured} ({named})" if cases else by_itself.measured
    return [Row(words, measured, "1.05, a warning names them", "by itself", met)]


def oracle(store: Store) -> list[Row]:
    """Return how often the oracle's error is at or below the paper's, at no more features."""
    meetings = rows.oracle_meetings(store)
    below = sum(each.error <= each.printed_error for each in meetings)
    words = "oracle protocol: error at or below the paper's at no more features, of 6"
    return [Row(words, str(below), "6", "", verdict(below == 6) if meetings else NOTHING)]


PARTS: tuple[Callable[[Store], list[Row]], ...] = (
    ratios,
    lost_cells,
    stability,
    planted,
    untuned,
    stream,
    units,
    oracle,
)


def bar(store: Store) -> list[Row]:
    """Return the whole table."""
    return [row for part in PARTS for row in part(store)]
