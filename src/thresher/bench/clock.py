"""A fair clock: what is compared runs in turn, and the best of several rounds counts.

Machines differ, and shared ones differ from minute to minute: a ratio says something only if both
of its sides had the same minutes.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

Task = Callable[[], Any]
LEAST_ROUNDS = 100  # of tasks that take milliseconds
# Times the rounds where two cores must be free at once, or one for sixteen times as long: who needs
# more quiet finds it less often.
PATIENCE = 4


def best_of(rounds: int, tasks: Mapping[str, Task]) -> dict[str, float]:
    """Return the best seconds of each task, all of them run in turn in every round.

    A first round, for compilers and caches, does not count.
    """
    for task in tasks.values():
        task()
    times = [{name: seconds_of(task) for name, task in tasks.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in times) for name in tasks}


def seconds_of(task: Task) -> float:
    """Return how long a task takes."""
    start = perf_counter()
    task()
    return perf_counter() - start
