"""The worker: takes a task, leaves cells."""

from experiments import lines, matching, traces
from experiments.permutations import gather, permutations_of, piece
from experiments.plan import Task
from experiments.scope import Scope
from experiments.store import Store


def perform(task: Task, scope: Scope, store: Store) -> None:
    """Do one task; its results are in the store when it returns."""
    line = task.line
    if task.kind == "describe":
        store.write(("data", line.dataset), lines.DATA_RECIPE, traces.describe(line.dataset))
    elif task.kind == "choose":
        lines.choose(line, scope, store)
    elif task.kind == "match":
        matching.match(line, scope, store)
    elif task.kind == "trace":
        traces.take(line.dataset, scope, store)
    else:
        _permute(task, scope, store)


def _permute(task: Task, scope: Scope, store: Store) -> None:
    """Make some of a line's permutations and gather them all if these were the last."""
    params = lines.chosen_params(task.line, scope, store)
    if params is None:
        raise ValueError(f"no setting is chosen for {'/'.join(task.line)}")
    those = permutations_of(task.kind, task.line, params, scope)
    for seed in task.seeds:
        piece(those, seed, store)
    gather(those, store)
