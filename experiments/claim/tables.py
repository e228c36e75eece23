"""The page's tables, as Markdown from stored cells."""

from collections.abc import Callable, Sequence

from experiments.claim import rows, standing
from experiments.claim.bar import bar
from experiments.claim.ceiling import ceilings
from experiments.claim.resplit_standing import matches
from experiments.claim.rivals import FTRL, L1, OURS, RIVALS
from experiments.claim.sizes import sizes
from experiments.claim.standing import Agreement, Point
from experiments.claim.tasks import KINDS, ON_HALVES
from experiments.claim.units import REMEDIES
from experiments.methods import LOSS_TITLES
from experiments.registry import named
from experiments.store import Store
from experiments.tables import NOTHING, markdown, number
from thresher.demo.data import FAINT

SETS = KINDS["matched"].sets
TITLES = [named(name).title for name in SETS]
OTHERS = [name for name in RIVALS if name != OURS]
ORACLES = "ours, at the end", "ours, on the way", "paper"


def bar_table(store: Store) -> str:
    """Return the bar."""
    header = ["", "measured", "bar", "aim", "met"]
    return markdown(header, [list(row) for row in bar(store)])


def ratio_table(store: Store) -> str:
    """Return our error over each rival's, by set: geometric means over sizes."""
    table = []
    for rival in OTHERS:
        duels = standing.duels(store, rival)
        by_set = [
            standing.geometric_mean(duel.ratio for duel in duels if duel.ours.dataset == name)
            for name in SETS
        ]
        better = sum(duel.difference < 0 for duel in duels)
        lost = sum(duel.lost for duel in duels)
        counts = [str(len(duels)), str(better), str(lost)]
        everything = number(standing.geometric_mean(duel.ratio for duel in duels))
        table.append([RIVALS[rival].title, *map(number, by_set), f"**{everything}**", *counts])
    return markdown(["Rival", *TITLES, "all", "cells", "won", "lost"], table)


def ceiling_table(store: Store) -> str:
    """Return our error over each rival's beside that of the best method of every cell."""
    table = [
        [RIVALS[one.rival].title, number(one.ours), number(one.best)] for one in ceilings(store)
    ]
    return markdown(["Rival", "ours", "the best of all, an oracle"], table)


def weighted_table(store: Store) -> str:
    """Return our error over rivals' on columns as they are, and on columns times their rarity."""
    kind, table = KINDS["weighted"], []
    for dataset in kind.sets:
        ours = standing.points(store, dataset, OURS)
        for rival in kind.methods:
            both = [
                standing.points(store, dataset, rival, each) for each in ("matched", "weighted")
            ]
            ratios = [_mean_ratio(ours, theirs) for theirs in both]
            table.append([named(dataset).title, RIVALS[rival].title, *map(number, ratios)])
    return markdown(["Data set", "Rival", "columns as they are", "times their rarity"], table)


def _mean_ratio(ours: dict[int, Point], theirs: dict[int, Point]) -> float:
    """Return the geometric mean of our errors over theirs, at sizes that they reach."""
    return standing.geometric_mean(
        ours[size].error / point.error for size, point in theirs.items() if point.reached
    )


def resplit_table(store: Store) -> str:
    """Return our error over some rivals' on other splits, by set: geometric means over sizes."""
    table = []
    for rival in (name for name in KINDS["resplits"].methods if name != OURS):
        found = matches(store, SETS, rival)
        by_set = [
            standing.geometric_mean(one.ratio for one in found if one.dataset == name)
            for name in SETS
        ]
        everything = number(standing.geometric_mean(one.ratio for one in found))
        counts = [len(found), sum(one.won for one in found), sum(one.lost for one in found)]
        cells = [*map(number, by_set), f"**{everything}**", *map(str, counts)]
        table.append([RIVALS[rival].title, *cells])
    return markdown(["Rival", *TITLES, "all", "cells", "won", "lost"], table)


def lost_table(store: Store) -> str:
    """Return the cells in which l1 or FTRL is better by more than one standard error."""
    table = []
    for rival, duel in standing.lost(store, (L1, FTRL)):
        of_rows, of_orders = duel.standard_errors
        errors = [duel.ours.error, duel.theirs.error, duel.difference, of_rows, of_orders]
        where = [named(duel.ours.dataset).title, f"{duel.ours.size:,}", RIVALS[rival].title]
        table.append([*where, *map(number, errors)])
    names = ["ours", "theirs", "difference", "its SE, test rows", "its SE, orders"]
    return markdown(["Data set", "Features", "Rival", *names], table)


def error_tables(store: Store) -> str:
    """Return every method's error at every size, a table for each set."""
    parts = []
    for dataset in SETS:
        wanted = sizes(dataset)
        table = []
        for name, rival in RIVALS.items():
            points = standing.points(store, dataset, name)
            table.append([rival.title, *(_error(points.get(size)) for size in wanted)])
        parts.append(f"**{named(dataset).title}**, of {named(dataset).columns:,} columns")
        parts.append(markdown(["Method", *(f"{size:,}" for size in wanted)], table))
    return "\n\n".join(parts)


def _error(point: Point | None) -> str:
    """Return an error; where the size is another one, with that size."""
    if point is None:
        return NOTHING
    return number(point.error) if point.reached else f"*{point.error:.2f} @{point.features:,.0f}*"


def kappa_table(store: Store) -> str:
    """Return kappa over permutations: means over sizes."""
    table = []
    for name in (name for name, rival in RIVALS.items() if not rival.batch):
        points = standing.all_points(store, name)
        by_set = [
            standing.mean(point.kappa for point in points if point.dataset == dataset)
            for dataset in SETS
        ]
        everything = number(standing.mean(point.kappa for point in points), 3)
        table.append([RIVALS[name].title, *map(number, by_set), f"**{everything}**"])
    return markdown(["Method", *TITLES, "all"], table)


def halves_table(store: Store, measure: Callable[[Agreement], float]) -> str:
    """Return kappa over halves: means over sizes."""
    table = []
    for name in ON_HALVES:
        cells = [list(map(measure, standing.halves(store, each, name).values())) for each in SETS]
        by_set = [number(standing.mean(cell)) for cell in cells]
        everything = number(standing.mean(value for cell in cells for value in cell), 3)
        table.append([RIVALS[name].title, *by_set, f"**{everything}**"])
    return markdown(["Method", *TITLES, "all"], table)


def planted_table(store: Store) -> str:
    """Return what is found of the planted features."""
    bands = [f"{band.rows}" for band in FAINT.bands]
    table = []
    for name in KINDS["planted"].methods:
        cell = store.read(("planted", "planted", name))
        if cell:
            table.append(_planted(RIVALS[name].title, cell["points"]))
            if cell["auto"]:
                table.append(_planted(f"{RIVALS[name].title}, its own size", cell["auto"]))
    return markdown(["Method", "features", *bands, "false, %", "test error, %"], table)


def _planted(title: str, points: Sequence[dict[str, float]]) -> list[str]:
    found = [f"{each:g}" for each in rows.found_by_band(points)]
    error = standing.mean(point["error"] for point in points)
    size, false = rows.mean_size(points), rows.false_share(points)
    return [title, number(size, 0), *found, number(false, 0), number(error, 1)]


def untuned_table(store: Store) -> str:
    """Return the untuned default beside the best dense model."""
    table = [
        [named(gap.dataset).title, *map(number, (gap.ours, gap.dense, gap.points, gap.percent))]
        for gap in rows.untuned_gaps(store)
    ]
    return markdown(["Data set", "default", "dense ridge", "difference", "columns kept, %"], table)


def stream_table(store: Store) -> str:
    """Return one pass beside ten."""
    table = [
        [named(one.dataset).title, f"{one.size:,}", *map(number, (one.once, one.ten, one.ratio))]
        for one in rows.streams(store)
    ]
    return markdown(["Data set", "Features", "one pass", "ten passes", "ratio"], table)


def units_table(store: Store) -> str:
    """Return the errors of mixed units."""
    table = []
    for one in rows.unit_cases(store):
        errors = [one.raw, one.mixed, *(one.mended[name] for name in REMEDIES)]
        about = [named(one.dataset).title, f"{one.size:,}", *map(number, errors)]
        table.append([*about, "yes" if one.warned else "no"])
    names = ["as they were", "mixed", *(f"mixed, {name}" for name in REMEDIES), "warned"]
    return markdown(["Data set", "Features", *names], table)


def oracle_table(store: Store) -> str:
    """Return our oracles beside the paper's."""
    table = [
        [
            named(one.dataset).title,
            LOSS_TITLES[one.loss],
            *map(number, one[2:]),
        ]
        for one in rows.oracle_meetings(store)
    ]
    names = [f"{what} %, {who}" for what in ("error", "nonzero") for who in ORACLES]
    return markdown(["Data set", "Loss", *names], table)


def unreached_table(store: Store) -> str:
    """Return the sizes that a method does not reach, with the nearest that it does."""
    table = []
    for name in OTHERS:
        for dataset in SETS:
            missing = [
                f"{point.size:,} ({point.overlaps[0, 0]:,})"
                for point in standing.unreached(store, name)
                if point.dataset == dataset
            ]
            if missing:
                table.append([RIVALS[name].title, named(dataset).title, ", ".join(missing)])
    return markdown(["Method", "Data set", "wanted (nearest)"], table)


def steps_table(store: Store) -> str:
    """Return the steps chosen."""
    table = []
    for name, rival in RIVALS.items():
        if rival.steps:
            cells = [store.read(("step", dataset, name)) for dataset in SETS]
            shown = [f"{cell['params'][rival.steps[0]]:g}" if cell else NOTHING for cell in cells]
            table.append([f"{rival.title}: {rival.steps[0]}", *shown])
    return markdown(["Method", *TITLES], table)
