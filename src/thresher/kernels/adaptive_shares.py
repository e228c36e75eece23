"""Paths of the flagship that read rows of their own, shared out among threads by tickets."""

from thresher.jit import jit
from thresher.kernels.adaptive import run_alone
from thresher.kernels.bundle import Bundle
from thresher.kernels.rows import Updates
from thresher.kernels.tickets import take_any


@jit
def path_of(stack, path, n_slots):
    """Return the bundle of one path."""
    return Bundle(
        stack.weights[path, :n_slots],
        stack.pace[path, :n_slots],
        stack.squares[path],
        stack.push[path],
        stack.places[path],
        stack.fits[path],
        stack.bias[path],
        stack.bias_facts[path],
        stack.total[path],
        stack.bias_total[path],
        stack.behind[path],
        stack.owners[path],
        stack.ratios[path],
        stack.pooled[path],
    )


@jit
def run_paths(
    thread, desk, rows, orders, steps, updates, rules, done, shares, stack, n_slots, learnt
):
    """Give paths their updates as long as the desk has tickets; note how many each has learnt.

    ``stack`` is a bundle with a first axis of paths, ``orders`` are an array that has one too
    and where in it the updates begin; ``steps`` have it where they differ from path to path.
    """
    rows_of, begin = orders
    while True:
        path = take_any(desk, thread)
        if path < 0:
            return
        mine = Updates(
            rows_of[path, begin : begin + updates.order.size],
            steps[min(path, steps.shape[0] - 1)],
            updates.biases,
            updates.norms,
            updates.targets,
            updates.importance,
        )
        bundle = path_of(stack, path, n_slots)
        learnt[path] = run_alone(rows, mine, rules, done, shares, bundle)
