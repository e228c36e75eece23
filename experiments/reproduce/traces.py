"""What Figures 1 to 3 draw: sizes over updates, the annealing function, levels of density."""

from typing import Any

import numpy as np

from experiments.data import Split
from experiments.records import Record
from experiments.reproduce.lines import fit, loaded, prepared
from experiments.reproduce.matched import Chosen
from experiments.reproduce.methods import METHODS, Params
from thresher.online.stages import annealed_rejection_rate

LAST_UPDATES, LEVELS = 1000, 16
HOME_1, HOME_3 = "dexter", "dorothea"  # the sets of Figures 1 and 3
SCALINGS_1 = ("unit-variance", "row-l2")
METHODS_1 = METHODS_3 = ("truncated-gradient", "stabilized-paper", "stabilized")


def measure(task: Record, lines: Chosen) -> Record:
    """Return what a figure draws."""
    return {"curves": FIGURES[task["figure"]](lines)}


def sizes_over_updates(lines: Chosen) -> dict[str, Any]:
    """Return the percentage of nonzero weights over the last updates."""
    curves = {}
    for scaling in SCALINGS_1:
        for method in METHODS_1:
            params = _params(lines, HOME_1, scaling, method, "log_loss")
            trace = _by_update if method == "truncated-gradient" else _by_stage
            curves[f"{method}/{scaling}"] = trace(method, params, prepared(HOME_1, scaling))
    return curves


def _params(lines: Chosen, *line: str) -> Params:
    if line not in lines:
        raise ValueError(f"the line {' '.join(line)} has not been measured yet")
    return lines[line]["params"]


def _by_update(method: str, params: Params, split: Split) -> dict[str, list[float]]:
    """Learn one row at a time over the last updates, and count after each."""
    X, y = split.X_train, split.y_train
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(y.size) for _ in range(params["max_iter"])])
    early, late = order[:-LAST_UPDATES], order[-LAST_UPDATES:]
    model = METHODS[method].build("log_loss", 0, params)
    if early.size:
        model.partial_fit(X[early], y[early], classes=[-1, 1])
    percents = []
    for row in late:
        model.partial_fit(X[[row]], y[[row]], classes=[-1, 1])
        percents.append(100 * model.n_features_selected_ / X.shape[1])
    return {"updates": list(range(1 - late.size, 1)), "percents": percents}


def _by_stage(method: str, params: Params, split: Split) -> dict[str, list[float]]:
    """Return the sizes at the ends of stages; in between a size stays as it is."""
    model, _ = fit(METHODS[method], "log_loss", params, split, 0)
    stages = [(stage["rows_seen"], stage["nonzero"]) for stage in model.history_]
    end = max(stages[-1][0], model.n_iter_ * split.y_train.size)
    begin = end - LAST_UPDATES
    kept = [(begin, count) for seen, count in stages if seen <= begin][-1:]
    kept += [(seen, count) for seen, count in stages if seen > begin]
    kept.append((end, model.n_features_selected_))
    return {
        "updates": [seen - end for seen, _ in kept],
        "percents": [100 * count / split.X_train.shape[1] for _, count in kept],
    }


def annealing(_: Chosen) -> dict[str, Any]:
    """Return the rejection rate by the share of stable features, for three annealing rates."""
    shares = np.linspace(0, 1, 101).tolist()
    return {
        str(rate): [float(annealed_rejection_rate(share, 0.7, rate)) for share in shares]
        for rate in (-5.0, 0.0, 5.0)
    } | {"shares": shares}


def density_levels(lines: Chosen) -> dict[str, Any]:
    """Return the share of features selected at each level of density, in equal steps of its log."""
    counts = loaded(HOME_3).X_train.getnnz(axis=0)
    occurring = np.flatnonzero(counts)
    edges = np.geomspace(1, counts.max() + 1, LEVELS + 1)
    level = np.digitize(counts[occurring], edges) - 1
    members = np.bincount(level, minlength=LEVELS)
    filled = members > 0
    middles = 100 * np.sqrt(edges[:-1] * edges[1:]) / loaded(HOME_3).y_train.size
    curves = {"density": middles[filled].tolist(), "features": members[filled].tolist()}
    for method in METHODS_3:
        for loss in METHODS[method].losses:
            params = _params(lines, HOME_3, "unit-variance", method, loss)
            model, _ = fit(METHODS[method], loss, params, prepared(HOME_3, "unit-variance"), 0)
            hits = np.bincount(level, weights=model.get_support()[occurring], minlength=LEVELS)
            curves[f"{method}/{loss}"] = (hits[filled] / members[filled]).tolist()
    return curves


FIGURES = {"1": sizes_over_updates, "2": annealing, "3": density_levels}
TASKS: list[Record] = [{"figure": name} for name in FIGURES]
