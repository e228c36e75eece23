"""The plan: which tasks are left to do, in which order, and how heavy each is."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiments import lines, matching, paper, permutations, traces
from experiments.lines import Line
from experiments.methods import METHODS, method
from experiments.permutations import Permutations, permutations_of
from experiments.registry import named
from experiments.scope import Scope
from experiments.store import Store

SCALINGS = ("unit-variance", "nonzero-rms", "row-l2")
MATCHED_SCALING, MATCHED_LOSS = "row-l2", "log_loss"
CHUNK = 10  # permutations a task makes: few enough to spread, enough to load data once


@dataclass(frozen=True)
class Task:
    """Something a worker can do: its kind, what it is about, its permutations, its weight."""

    kind: str
    line: Line
    weight: float = 1.0
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class Want:
    """What a run is to have in the end: data sets, tables' cells, paths, traces."""

    sets: tuple[str, ...]
    finals: bool = True
    matched: bool = True
    traces: tuple[str, ...] = tuple(traces.TRACES)

    def lines(self, scope: Scope) -> list[Line]:
        """Return the lines needed, those of the traces among them."""
        needed = dict.fromkeys(_all_lines(self.sets) if self.finals or self.matched else [])
        for name in self.traces:
            needed.update(dict.fromkeys(traces.needed_lines(name, scope)))
        return list(needed)


def _all_lines(sets: tuple[str, ...]) -> Iterator[Line]:
    for dataset in sets:
        for scaling in SCALINGS:
            for name in methods_on(dataset, scaling):
                for loss in METHODS[name].losses:
                    yield Line(dataset, scaling, name, loss)


def methods_on(dataset: str, scaling: str) -> list[str]:
    """Return the methods tried on a scaled set; the second reading is of the paper alone."""
    if scaling != "nonzero-rms":
        return list(METHODS)
    return [name for name in METHODS if METHODS[name].in_paper and paper.size(dataset)]


def first_wave(want: Want, scope: Scope, store: Store) -> list[Task]:
    """Return the choices and descriptions still to be made."""
    left = []
    for name in want.sets:
        if store.read(("data", name), lines.DATA_RECIPE) is None:
            left.append(Task("describe", Line(name, "", "", "")))
    for line in want.lines(scope):
        if lines.chosen_params(line, scope, store) is None:
            fits = 3 * len(lines.settings_of(line, scope))
            left.append(Task("choose", line, _weight(line, fits, 20)))
    return _in_order(left)


def second_wave(want: Want, scope: Scope, store: Store) -> list[Task]:
    """Return the permutations, oracle runs and paths still to be made."""
    left = []
    for line in want.lines(scope):
        params = lines.chosen_params(line, scope, store)
        if params is None:
            continue  # its choice failed and was reported
        if want.finals and line.dataset in want.sets:
            for protocol in permutations.protocols(line, params):
                left += _pieces_left(permutations_of(protocol, line, params, scope), store)
        if want.matched and line.dataset in want.sets:
            left += _match_left(line, scope, store)
    return _in_order(left)


def third_wave(want: Want, scope: Scope, store: Store) -> list[Task]:
    """Return the traces still to be taken."""
    return [
        Task("trace", Line(name, "", "", ""), 20.0)
        for name in want.traces
        if store.read(("trace", name), traces.trace_recipe(name, scope, store)) is None
    ]


def _pieces_left(those: Permutations, store: Store) -> list[Task]:
    """Return the permutations without a piece, in tasks; an empty task only gathers."""
    if permutations.is_gathered(those, store):
        return []
    todo = permutations.missing(those, store)
    parts = [tuple(todo[i : i + CHUNK]) for i in range(0, len(todo), CHUNK)] or [()]
    kind, line = those.protocol, those.line
    return [Task(kind, line, _weight(line, len(part), those.passes), part) for part in parts]


def _match_left(line: Line, scope: Scope, store: Store) -> list[Task]:
    where = (line.scaling, line.loss) == (MATCHED_SCALING, MATCHED_LOSS)
    if not where or method(line.method).knob is None:
        return []
    if store.read(("matched", *line), matching.match_recipe(line, scope, store)) is not None:
        return []
    return [Task("match", line, _weight(line, scope.ladder * scope.matched_permutations, 20))]


def _weight(line: Line, fits: int, passes: float) -> float:
    return method(line.method).seconds(named(line.dataset), fits, passes)


def _in_order(left: list[Task]) -> list[Task]:
    """Sort by set, so that workers keep its rows at hand; large sets and long tasks first."""

    def place(task: Task) -> tuple[float, str, str, float]:
        line = task.line
        return -named(line.dataset).millions, line.dataset, line.scaling, -task.weight

    return sorted(left, key=place)
