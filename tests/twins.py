"""From a fitted estimator to its twin's answer: one row in a table for each learner."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import reference
import reference_stabilized
import reference_thresher
from cases import TARGET_LOSSES, make
from thresher.learners.stages import KEEP
from thresher.learners.timetable import BURSTS_PER_STAGE
from thresher.randomness import burst_weights, permutation

PASSES = 3
# With a hinge and steps of 1/||x||^2 margins fall exactly on 1, where rounding decides.
SAFE_ETA0 = {"hinge": 0.37}


@dataclass
class Run:
    """What a model and its twin are given."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    fit_intercept: bool
    settings: dict = field(default_factory=dict)
    weights: np.ndarray | None = None

    @property
    def common(self):
        return {"loss": self.loss, "weights": self.weights}

    @property
    def order(self):
        return np.tile(np.arange(len(self.X)), PASSES)

    def estimator(self, name):
        common = {"loss": self.loss, "fit_intercept": self.fit_intercept, "tol": None}
        return make(name, **{**common, "shuffle": False, "max_iter": PASSES, **self.settings})

    def own(self, *names):
        return {name: self.settings[name] for name in names if name in self.settings}

    def pace(self, order, model, schedule, share=1.0, mean_square=None):
        """Return steps and intercept inputs.

        The learner's word is taken for one number, the rate that "auto" is relative to.
        """
        eta0 = getattr(model, "eta0", "auto")
        return reference.pace(
            self.X,
            order,
            eta0 if eta0 == "auto" else share * eta0,
            schedule.rate,
            getattr(model, "learning_rate", "constant"),
            self.fit_intercept,
            mean_square,
        )


def run_of(data, name, loss="log_loss", fit_intercept=True, settings=None):
    """Return a run over labelled rows, the label 1 against the rest."""
    rows, labels = data
    has_step = name not in ("RDAClassifier", "FTRLClassifier")
    safe = {"eta0": SAFE_ETA0[loss]} if has_step and loss in SAFE_ETA0 else {}
    targets = np.where(labels == 1, 1.0, -1.0)
    return Run(rows.toarray(), targets, loss, fit_intercept, {**safe, **(settings or {})})


# ------------------------------------------------------------------------------------ classics


def steps_and_biases(run, model):
    etas, biases = run.pace(run.order, model, model._model.learner.pace)
    return {"etas": etas, "biases": biases}


def plain_sgd(run, model):
    return reference.sgd(run.X, run.y, run.order, **steps_and_biases(run, model), **run.common)


def truncated_gradient(run, model):
    own = run.own("gravity", "burst_size", "ceiling") | steps_and_biases(run, model)
    return reference.truncated_gradient(run.X, run.y, run.order, **own, **run.common)


def fobos(run, model):
    own = run.own("l1") | steps_and_biases(run, model)
    return reference.fobos(run.X, run.y, run.order, **own, **run.common)


def rda(run, model):
    pace = steps_and_biases(run, model)
    auto = model.gamma == "auto"
    gammas = 1 / pace["etas"] if auto else np.full(run.order.size, model.gamma)
    own = run.own("l1", "rho") | {"gammas": gammas, "biases": pace["biases"]}
    return reference.rda(run.X, run.y, run.order, **own, **run.common)


def ftrl(run, model):
    own = run.own("alpha", "beta", "l1", "l2")
    biases = steps_and_biases(run, model)["biases"]
    return reference.ftrl(run.X, run.y, run.order, biases=biases, **own, **run.common)


@dataclass
class Row:
    """An estimator, settings of it, and the twin that must agree."""

    name: str
    settings: dict
    twin: Callable

    def __str__(self):
        return "-".join([self.twin.__name__, *(f"{k}={v}" for k, v in self.settings.items())])


CONSTANT = {"eta0": 0.1, "learning_rate": "constant"}
CLASSICS = [
    Row("PlainSGDClassifier", CONSTANT, plain_sgd),
    Row("PlainSGDClassifier", {}, plain_sgd),
    Row(
        "TruncatedGradientClassifier",
        {"gravity": 0.005, "burst_size": 3, "ceiling": 0.3, **CONSTANT},
        truncated_gradient,
    ),
    Row("TruncatedGradientClassifier", {"gravity": 0.005, "burst_size": 7}, truncated_gradient),
    Row("FOBOSClassifier", {"l1": 0.08, **CONSTANT}, fobos),
    Row("FOBOSClassifier", {"l1": 0.02}, fobos),
    Row("RDAClassifier", {"l1": 0.02, "rho": 0.0, "gamma": 9.0}, rda),
    Row("RDAClassifier", {"l1": 0.02, "rho": 0.01}, rda),
    Row("FTRLClassifier", {"alpha": 2.0, "beta": 0.0, "l1": 0.8, "l2": 0.0}, ftrl),
    Row("FTRLClassifier", {"alpha": 0.5, "beta": 1.0, "l1": 0.8, "l2": 0.1}, ftrl),
]

# -------------------------------------------------------------------------------------- stages

STABILIZED = {
    "n_paths": 3,
    "burst_size": 7,
    "bursts_per_stage": 3,
    "rejection_rate": 0.5,
    "annealing_rate": 1.0,
    "purge_threshold": 0.6,
    "min_evidence": 0,
    "burst_growth": None,
    "selection": "informative",
    "shrinkage": "linear",
    "paths": "permutation",
    "normalize": False,
    "max_iter": 5,
}
THRESHER = {
    "n_paths": 3,
    "n_stages": 6,
    "n_features_to_select": 9,
    "rejection_rate": 0.6,
    "refit": 0.3,
    "paths": "shared",
    "normalize": False,
    "max_iter": 8,
    "dtype": "float64",
}
SPARE_PASSES = 12  # bursts are rounded up: the flagship may read more than max_iter says


def takes_of(model):
    """Return every path's weight in burst b, as the model drew it."""
    if model.paths == "permutation":
        return lambda b: np.ones(model.n_paths)
    return lambda b: burst_weights(model._seed, b, 1, model.n_paths, KEEP)[0]


def orders_of(model, n_rows, passes):
    """Return the rows every path reads, as the model drew them."""
    own = model.paths == "permutation"
    if not model.shuffle:
        return [np.tile(np.arange(n_rows), passes)] * model.n_paths
    return [
        np.concatenate(
            [permutation(model._seed, m if own else 0, k, n_rows) for k in range(passes)]
        )
        for m in range(model.n_paths)
    ]


def mean_square(run, model):
    """Return what paths with their own orders know of the rows' norms: the mean of all."""
    return np.mean(np.sum(run.X**2, axis=1)) if model.paths == "permutation" else None


def stabilized(run, model):
    orders = orders_of(model, len(run.X), model.max_iter)
    mean = mean_square(run, model)
    etas, biases = run.pace(orders[0], model, model._model.learner.pace, mean_square=mean)
    elsewhere = ("n_paths", "paths", "normalize", "max_iter")
    own = {key: getattr(model, key) for key in STABILIZED if key not in elsewhere}
    return reference_stabilized.stabilized(
        run.X,
        run.y,
        orders,
        etas=etas,
        biases=biases,
        burst_weights=takes_of(model),
        **own,
        **run.common,
    )


def groups_of(model, most=8):
    """Return which paths share the length of their steps: those that lie side by side."""
    paths = np.arange(model.n_paths)
    return np.array_split(
        paths, len(paths) if model.paths == "permutation" else -(-len(paths) // most)
    )


def bounds_of(run, orders, biases):
    """Return how long each path's steps may be at most: finite where the slope has no bound."""
    endless = np.full(biases.size, np.inf)
    if run.loss not in TARGET_LOSSES:
        return np.array([endless] * len(orders))
    return np.array(
        [reference.within_targets(run.X, o, endless, biases, run.weights) for o in orders]
    )


def thresher(run, model):
    orders = orders_of(model, len(run.X), model.max_iter + SPARE_PASSES)
    mean, learner = mean_square(run, model), model._model.learner
    share = learner.selecting.rate / learner.refitting.rate
    select_etas, biases = run.pace(orders[0], model, learner.selecting, share, mean)
    refit_etas, _ = run.pace(orders[0], model, learner.refitting, mean_square=mean)
    norms = np.cumsum(np.sum(run.X**2, axis=1)[orders[0]]) / np.arange(1, len(orders[0]) + 1)
    return reference_thresher.thresher(
        run.X,
        run.y,
        orders,
        groups=groups_of(model),
        n_features_to_select=model.n_features_to_select,
        n_stages=model.n_stages,
        bursts_per_stage=BURSTS_PER_STAGE,
        rejection_rate=model.rejection_rate,
        refit=model.refit,
        updates=model.max_iter * len(run.X),
        select_etas=select_etas,
        growth=learner.growth,
        refit_etas=refit_etas,
        biases=biases,
        norms=norms if mean is None else np.full(norms.size, mean),
        bounds=bounds_of(run, orders, biases),
        burst_weights=takes_of(model),
        halving=learner.halving,
        powers=learner.salience,
        **run.common,
    )


STAGED = [
    Row("StabilizedTruncatedSGDClassifier", STABILIZED, stabilized),
    Row("ThresherClassifier", THRESHER, thresher),
]
TWINS = {row.name: row for row in CLASSICS + STAGED}
