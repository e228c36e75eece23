"""What the figures draw, measured once and stored: sizes over updates, density levels, regret."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from experiments.fitting import prepared, training_rows
from experiments.judge import unpack, weights
from experiments.lines import Line, chosen_params, recipe
from experiments.methods import Params, method
from experiments.permutations import FINAL, permutations_of, piece
from experiments.regret import cumulative_regret
from experiments.scope import Scope
from experiments.store import Store

LAST_UPDATES = 1000
LEVELS = 16
PAPER_SCALING, OUR_SCALING = "unit-variance", "row-l2"

# Which lines' settings a trace needs, by name.
FIGURE_1 = ("truncated-gradient", "stabilized-paper", "stabilized", "thresher")
FIGURE_3 = ("truncated-gradient", "stabilized-paper", "stabilized")
REGRET = ("sgd", "truncated-gradient", "rda", "fobos", "ftrl", "stabilized")


def needed_lines(name: str, scope: Scope) -> list[Line]:
    """Return the lines whose chosen settings a trace uses."""
    if name == "figure-1":
        home, both = _home("dexter", scope), (PAPER_SCALING, OUR_SCALING)
        return [Line(home, scaling, each, "log_loss") for scaling in both for each in FIGURE_1]
    if name == "figure-3":
        home, both = _home("dorothea", scope), ("hinge", "log_loss")
        return [Line(home, PAPER_SCALING, each, loss) for each in FIGURE_3 for loss in both]
    if name == "regret":
        home = _home("rcv1-sample", scope)
        return [Line(home, OUR_SCALING, each, "log_loss") for each in REGRET]
    return []


def _home(dataset: str, scope: Scope) -> str:
    """Return a figure's set, or the first one there is where a scope is without it."""
    return dataset if dataset in scope.sets else scope.sets[0]


def trace_recipe(name: str, scope: Scope, store: Store) -> str:
    """Return what decides a trace: the settings of its lines."""
    used = needed_lines(name, scope)
    first = used[0] if used else Line("", "", "sgd", "")
    settings = [chosen_params(line, scope, store) for line in used]
    return recipe(first, name, [list(line) for line in used], settings)


def describe(dataset: str) -> dict[str, Any]:
    """Return a set's row of Table 1, from the data itself."""
    X, y = training_rows(dataset)
    test = prepared(dataset, OUR_SCALING).y_test
    rows, columns = X.shape
    return {
        "columns": columns,
        "density": 100 * X.nnz / (rows * columns),
        "train": rows,
        "test": len(test),
        "train_positive": int(np.sum(y > 0)),
        "test_positive": int(np.sum(test > 0)),
        "occurring": int(np.count_nonzero(X.getnnz(axis=0))),
    }


def sizes_over_updates(scope: Scope, store: Store) -> dict[str, Any]:
    """Measure Figure 1: percent of nonzero weights over the last updates on Dexter."""
    curves = {}
    lines = needed_lines("figure-1", scope)
    for line in lines:
        params = chosen_params(line, scope, store) or {}
        data = prepared(line.dataset, line.scaling)
        trace = _by_update if line.method == "truncated-gradient" else _by_stage
        curves[f"{line.method}/{line.scaling}"] = trace(line, params, data.X_train, data.y_train)
    return {"dataset": lines[0].dataset, "curves": curves}


def _by_update(line: Line, params: Params, X: csr_matrix, y: np.ndarray) -> dict[str, list]:
    """Feed rows one at a time over the last updates and count after each."""
    rng = np.random.default_rng(0)
    passes = params.get("max_iter", 20)
    order = np.concatenate([rng.permutation(len(y)) for _ in range(passes)])
    early, late = order[:-LAST_UPDATES], order[-LAST_UPDATES:]
    model = method(line.method).build(line.loss, 0, params)
    if len(early):
        model.partial_fit(X[early], y[early], classes=[-1, 1])
    percents = []
    for row in late:
        model.partial_fit(X[[row]], y[[row]], classes=[-1, 1])
        percents.append(100 * float(np.mean(weights(model)[0] != 0)))
    return {"updates": list(range(-len(late) + 1, 1)), "percents": percents}


def _by_stage(line: Line, params: Params, X: csr_matrix, y: np.ndarray) -> dict[str, list]:
    """Read the sizes in force over the last updates off the model's history.

    Between the ends of stages, and after the last of them, a size stays as it is.
    """
    model = method(line.method).build(line.loss, 0, params).fit(X, y)
    stages = [(stage["rows_seen"], stage["nonzero"]) for stage in model.history_]
    end = max(stages[-1][0], model.n_iter_ * len(y))
    begin = end - LAST_UPDATES
    in_force = [count for seen, count in stages if seen <= begin][-1:]
    kept = [(begin, count) for count in in_force]
    kept += [(seen, count) for seen, count in stages if seen > begin]
    kept.append((end, int(np.count_nonzero(weights(model)[0]))))
    return {
        "updates": [seen - end for seen, _ in kept],
        "percents": [100 * count / X.shape[1] for _, count in kept],
    }


def annealing() -> dict[str, Any]:
    """Tabulate Figure 2: the rejection rate against the share of stable features."""
    from thresher.kernels.annealing import annealed_rejection_rate

    shares = np.linspace(0, 1, 101).tolist()
    rates = {
        str(gamma): [annealed_rejection_rate(share, 0.7, gamma) for share in shares]
        for gamma in (-5.0, 0.0, 5.0)
    }
    return {"shares": shares, "rates": rates}


def density_levels(scope: Scope, store: Store) -> dict[str, Any]:
    """Measure Figure 3: the share of features selected at each level of density.

    Levels are equal steps of the logarithm of a feature's number of nonzero training rows.
    """
    lines = needed_lines("figure-3", scope)
    X, _ = training_rows(lines[0].dataset)
    counts = X.getnnz(axis=0)
    occurring = np.flatnonzero(counts)
    edges = np.geomspace(1, counts.max() + 1, LEVELS + 1)
    level = np.digitize(counts[occurring], edges) - 1
    members = np.bincount(level, minlength=LEVELS)
    filled = members > 0
    curves = {}
    for line in lines:
        params = chosen_params(line, scope, store)
        if params is not None:
            first = piece(permutations_of(FINAL, line, params, scope), 0, store)
            chosen = np.isin(occurring, unpack(first["support"]))
            hits = np.bincount(level, weights=chosen, minlength=LEVELS)
            curves[f"{line.method}/{line.loss}"] = (hits[filled] / members[filled]).tolist()
    middles = 100 * np.sqrt(edges[:-1] * edges[1:]) / X.shape[0]
    facts = {"density": middles[filled].tolist(), "features": members[filled].tolist()}
    return {"dataset": lines[0].dataset, **facts, "curves": curves}


def regret(scope: Scope, store: Store) -> dict[str, Any]:
    """Measure cumulative regret of one pass against the best sparse vector in hindsight."""
    lines = needed_lines("regret", scope)
    data = prepared(lines[0].dataset, lines[0].scaling)
    order = np.random.default_rng(0).permutation(len(data.y_train))
    X, y = data.X_train[order], data.y_train[order]
    builders = {
        line.method: _builder(line, chosen_params(line, scope, store) or {}) for line in lines
    }
    return {"dataset": lines[0].dataset, **cumulative_regret(builders, X, y)}


def _builder(line: Line, params: Params) -> Callable[[], Any]:
    return lambda: method(line.method).build(line.loss, 0, params)


TRACES: dict[str, Callable[[Scope, Store], dict[str, Any]]] = {
    "figure-1": sizes_over_updates,
    "figure-2": lambda scope, store: annealing(),  # noqa: ARG005  needs neither
    "figure-3": density_levels,
    "regret": regret,
}


def take(name: str, scope: Scope, store: Store) -> None:
    """Measure a trace and store it, unless it is there."""
    key, made_by = ("trace", name), trace_recipe(name, scope, store)
    if store.read(key, made_by) is None:
        store.write(key, made_by, TRACES[name](scope, store))
