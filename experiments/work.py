"""The worker: takes a task, leaves cells."""

from experiments import matching, tasks, traces
from experiments.plan import Task
from experiments.scope import Scope
from experiments.store import Store


def perform(task: Task, scope: Scope, store: Store) -> None:
    """Do one task; its results are in the store when it returns."""
    line = task.line
    if task.kind == "describe":
        store.write(("data", line.dataset), tasks.DATA_RECIPE, traces.describe(line.dataset))
    elif task.kind == "choose":
        tasks.choose(line, scope, store)
    elif task.kind == "match":
        matching.match(line, scope, store)
    elif task.kind == "trace":
        traces.take(line.dataset, scope, store)
    else:
        _repeat(task, scope, store)


def _repeat(task: Task, scope: Scope, store: Store) -> None:
    params = tasks.chosen_params(task.line, scope, store)
    if params is None:
        raise ValueError(f"no setting is chosen for {'/'.join(task.line)}")
    run = tasks.find_oracle if task.kind == "oracle" else tasks.repeat
    run(task.line, task.seeds, params, store)
