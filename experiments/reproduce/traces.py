"""What Figures 1 to 3 draw: sizes over updates, the annealing function, levels of density."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from experiments.data import Split
from experiments.records import Record
from experiments.reproduce.lines import fit, prepared
from experiments.reproduce.matched import Chosen
from experiments.reproduce.methods import LOSSES, METHODS, Params
from thresher import TruncatedGradientClassifier, losses
from thresher.online.passes import Batch, Feed, Pace, Passes
from thresher.online.protocol import Online
from thresher.online.stabilized import StabilizedTruncatedSGD
from thresher.online.stages import annealed_rejection_rate
from thresher.online.truncated_gradient import TruncatedGradient
from thresher.rows import Rows
from thresher.threads import Threads

LAST_UPDATES, LEVELS = 1000, 16
HOME_1 = "dexter"  # the set of Figure 1
# Of Figure 3, and of one like it: the set and its scaling.
HOMES_3 = {"3": ("dorothea", "unit-variance"), "3b": ("dexter", "nonzero-rms")}
SCALINGS_1 = ("unit-variance", "row-l2")
METHODS_1 = ("truncated-gradient", "stabilized-paper", "stabilized")


def measure(task: Record, lines: Chosen) -> Record:
    """Return what a figure draws."""
    return {"curves": FIGURES[task["figure"]](lines)}


def sizes_over_updates(lines: Chosen) -> dict[str, Any]:
    """Return the percentage of nonzero weights over the last updates."""
    curves = {}
    for scaling in SCALINGS_1:
        for method in METHODS_1:
            params = _params(lines, HOME_1, scaling, method, "log_loss")
            model = METHODS[method].build("log_loss", 0, params)
            curves[f"{method}/{scaling}"] = counts(model, prepared(HOME_1, scaling))
    return curves


def _params(lines: Chosen, *line: str) -> Params:
    if line not in lines:
        raise ValueError(f"the line {' '.join(line)} has not been measured yet")
    return lines[line]["params"]


def counts(model: Any, split: Split) -> dict[str, list[float]]:
    """Return the percentage of nonzero weights of the model that each last update would leave."""
    learner, passes = _learner(model), Passes(model.max_iter)
    X = normalize(split.X_train) if model.get_params().get("normalize") else split.X_train
    (n, width), state, pace, alone = X.shape, learner.start(X.shape[1]), Pace(), Threads()
    state.grow(width, width)
    batch, targets = Batch.of(Rows.of(X), np.ones(n)), split.y_train.astype(float)
    percents: list[float] = []
    for number in range(passes.most):
        orders = passes.orders(number, n, learner.n_orders, alone)
        feed = Feed(batch, targets, orders, learner.steps, pace)
        while feed.left and not learner.finished(state):
            if learner.room(state) <= 0:
                learner.close(state)
                continue
            early = (passes.most - 1 - number) * n + feed.left - LAST_UPDATES
            most = min(learner.room(state), early) if early > 0 else 1
            learner.advance(state, batch.rows, feed.next(most), alone)
            if early <= 0:
                weights, _ = learner.weights(state)
                percents.append(round(100 * np.count_nonzero(weights) / width, 3))
    percents += percents[-1:] * (LAST_UPDATES - len(percents))  # all has been purged
    return {"updates": list(range(1 - LAST_UPDATES, 1)), "percents": percents}


def _learner(model: Any) -> Online:
    """Return the learner of a model, to be fed by hand."""
    settings = losses.LOSSES["log_loss"], model.fit_intercept, model.get_params()
    if isinstance(model, TruncatedGradientClassifier):
        return TruncatedGradient.of(*settings)
    return StabilizedTruncatedSGD.of(*settings)


def annealing(_: Chosen) -> dict[str, Any]:
    """Return the rejection rate by the share of stable features, for three annealing rates."""
    shares = np.linspace(0, 1, 101).tolist()
    return {
        str(rate): [float(annealed_rejection_rate(share, 0.7, rate)) for share in shares]
        for rate in (-5.0, 0.0, 5.0)
    } | {"shares": shares}


def density_levels(lines: Chosen, home: tuple[str, str]) -> dict[str, Any]:
    """Return the share of features selected at each level of density, in equal steps of its log."""
    split, level = prepared(*home), _levels(prepared(*home))
    occurring, members = np.flatnonzero(level >= 0), np.bincount(level[level >= 0])
    filled = members > 0
    edges = _edges(split)
    middles = 100 * np.sqrt(edges[:-1] * edges[1:])[: members.size] / split.y_train.size
    curves = {"density": middles[filled].tolist(), "features": members[filled].tolist()}
    for method, loss in product(METHODS_1, LOSSES):
        if (*home, method, loss) in lines:
            params = _params(lines, *home, method, loss)
            selected = fit(METHODS[method], loss, params, split, 0).get_support()[occurring]
            hits = np.bincount(level[occurring], weights=selected, minlength=members.size)
            curves[f"{method}/{loss}"] = (hits[filled] / members[filled]).tolist()
    return curves


def _edges(split: Split) -> np.ndarray:
    return np.geomspace(1, split.X_train.getnnz(axis=0).max() + 1, LEVELS + 1)


def _levels(split: Split) -> np.ndarray:
    """Return the level of every column, -1 where it does not occur."""
    return np.digitize(split.X_train.getnnz(axis=0), _edges(split)) - 1


FIGURES = {
    "1": sizes_over_updates,
    "2": annealing,
    **{name: partial(density_levels, home=home) for name, home in HOMES_3.items()},
}
TASKS: list[Record] = [{"figure": name} for name in FIGURES]
