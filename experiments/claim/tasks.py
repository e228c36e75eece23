"""What is left to measure, and measuring it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from experiments.claim import matching, oracle, planted, resplits, sizes, units, untuned
from experiments.claim.rivals import DENSE, FTRL, L1, OURS, RIVALS, Rival
from experiments.claim.steps import recipe
from experiments.lines import Line
from experiments.plan import Task
from experiments.registry import SETS
from experiments.scope import FULL
from experiments.store import Key, Store

EVERYBODY = {**RIVALS, DENSE.name: DENSE}
ON_HALVES = tuple(name for name, rival in RIVALS.items() if rival.halves)
PLANTED = "planted"


class Kind(NamedTuple):
    """One kind of cell: how it is made, to what extent on a set, for which methods and sets."""

    make: Callable[[str, Rival, Store], dict[str, Any]]
    extent: Callable[[str], list[Any]]
    methods: tuple[str, ...] = (OURS,)
    sets: tuple[str, ...] = FULL.sets


KINDS = {
    "matched": Kind(matching.match, sizes.sizes, tuple(RIVALS)),
    "resplits": Kind(
        resplits.resplit,
        lambda name: [*sizes.sizes(name), resplits.SPLITS],
        (OURS, L1, FTRL, "rda"),
    ),
    "weighted": Kind(
        partial(matching.match, scaling="row-rarity"),
        sizes.sizes,
        (L1, "l1-refit", "ridge-elimination", FTRL, "rda", "sklearn-sgd-l1"),
        ("gisette-mini",),
    ),
    "halves": Kind(matching.halve, sizes.shares, ON_HALVES),
    "planted": Kind(
        planted.plant,
        lambda _: [planted.WANTED, len(planted.SEEDS)],
        (OURS, L1, "ridge-elimination", FTRL),
        (PLANTED,),
    ),
    "untuned": Kind(untuned.leave_untuned, lambda _: [], sets=untuned.TEXT),
    "dense": Kind(untuned.fit_dense, lambda _: [], (DENSE.name,), untuned.TEXT),
    "stream": Kind(untuned.stream, untuned.stream_sizes),
    "units": Kind(units.mix_units, lambda name: [*units.unit_sizes(name), *units.REMEDIES]),
    "oracle": Kind(oracle.ask, oracle.extent, sets=oracle.SETS),
}


def recipe_of(key: Key) -> str:
    """Return the recipe of a cell."""
    kind, dataset, name = key
    rival = EVERYBODY[name]
    where = rival.sizes(dataset) if kind == "matched" else KINDS[kind].extent(dataset)
    return recipe(kind, rival, where)


def wanted(kinds: Sequence[str], sets: Sequence[str], methods: Sequence[str]) -> Iterator[Key]:
    """Yield the keys of all cells of some kinds, sets and methods."""
    for kind in kinds:
        for dataset in KINDS[kind].sets:
            for name in KINDS[kind].methods:
                if dataset in sets and name in methods:
                    yield kind, dataset, name


def left_to_do(
    kinds: Sequence[str], sets: Sequence[str], methods: Sequence[str], store: Store
) -> list[Task]:
    """Return the cells that are wanted and missing, small sets first, each set's together."""
    missing = [
        key for key in wanted(kinds, sets, methods) if store.read(key, recipe_of(key)) is None
    ]
    tasks = [
        Task(kind, Line(dataset, "", name, ""), _weight(name, dataset))
        for kind, dataset, name in missing
    ]
    return sorted(tasks, key=lambda task: (_millions(task.line.dataset), task.line.dataset))


def perform(task: Task, store: Store) -> None:
    """Make one cell."""
    dataset, name = task.line.dataset, task.line.method
    result = KINDS[task.kind].make(dataset, EVERYBODY[name], store)
    key = (task.kind, dataset, name)
    store.write(key, recipe_of(key), result)


def forget(kinds: Sequence[str], sets: Sequence[str], methods: Sequence[str], store: Store) -> None:
    """Remove the cells of some methods, to have them measured again."""
    for key in wanted(kinds, sets, methods):
        store.path(key).unlink(missing_ok=True)


def _millions(dataset: str) -> float:
    return SETS[dataset].millions if dataset in SETS else 0.0


def _weight(name: str, dataset: str) -> float:
    return (4.0 if name == OURS else 1.0) * (0.1 + _millions(dataset))
