"""The paper's Section 4 beside what happens: Lemma 2 in a burst, Theorem 1 and Corollary 1 in runs.

Truncation is compared with the library's learners, on rows drawn from a known model. Regret needs
the loss before every update, which no learner keeps; so its updates are written out here, and a
test holds them against the learners.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from experiments.records import Record
from experiments.reproduce.lines import prepared
from thresher import (
    PlainSGDClassifier,
    StabilizedTruncatedSGDClassifier,
    TruncatedGradientClassifier,
)

# ------------------------------------------------------------------------------- one burst

DENSITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
BURST, STEP, GRAVITY, BURSTS = 50, 0.1, 0.005, 2000
EFFECT = 1.0  # w* of the features in the first half; the others have none
ONCE: dict[str, Any] = {
    "loss": "log_loss",
    "eta0": STEP,
    "learning_rate": "constant",
    "fit_intercept": False,
    "shuffle": False,
    "max_iter": 1,
    "tol": None,
}


def algorithm_1(gravity: float, burst: int, **more: Any) -> TruncatedGradientClassifier:
    """Return Algorithm 1: every weight is shrunk by g_0 K."""
    return TruncatedGradientClassifier(**{**ONCE, "gravity": gravity, "burst_size": burst, **more})


def algorithm_2(gravity: float, burst: int, **more: Any) -> StabilizedTruncatedSGDClassifier:
    """Return Algorithm 2: a weight is shrunk by g_0 times its touches; nothing is purged."""
    alone = {"n_paths": 1, "gravity": gravity, "burst_size": burst, "purge_threshold": 0.0}
    return StabilizedTruncatedSGDClassifier.from_paper(**{**ONCE, **alone, **more})


def truth() -> np.ndarray:
    """Return w*: of every density one feature with an effect, and one without."""
    return np.repeat([EFFECT, 0.0], len(DENSITIES))


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a burst: entries -1 and 1 by density, labels by the logistic model."""
    shape = BURST, 2 * len(DENSITIES)
    X = rng.choice([-1.0, 1.0], shape) * (rng.random(shape) < np.tile(DENSITIES, 2))
    return X, np.where(rng.random(BURST) < 1 / (1 + np.exp(-X @ truth())), 1, -1)


def truncations() -> Record:
    """Return, by feature, what each algorithm takes of a weight, and how much nearer 2 is to w*."""
    rng, star = np.random.default_rng(0), truth()
    size, shrunk = np.zeros(star.size), np.zeros((2, star.size))
    gain, bound = np.zeros(star.size), np.zeros(star.size)
    for _ in range(BURSTS):
        X, y = draw(rng)
        makers = (
            PlainSGDClassifier(**ONCE),
            algorithm_1(GRAVITY, BURST),
            algorithm_2(GRAVITY, BURST),
        )
        free, first, second = (model.fit(X, y).coef_.ravel() for model in makers)
        size, shrunk = size + np.abs(free), shrunk + np.abs([free - first, free - second])
        gain += (first - star) ** 2 - (second - star) ** 2
        bound += 2 * GRAVITY * (X == 0).sum(axis=0) * np.abs(star)
    shares = {"first": shrunk[0] / size, "second": shrunk[1] / size}
    means = {"gain": gain / BURSTS, "bound": bound / BURSTS}
    return {name: values.tolist() for name, values in {**shares, **means}.items()}


# ---------------------------------------------------------------------------------- regret

REGRET_SETS = ("rcv1-sample", "a9a")
UPDATES = tuple(2**k for k in range(8, 15))
REGRET_BURST, STAGE, THRESHOLD = 5, 25, 0.7
# g_0 / eta: what an update adds to the penalty of every weight, or of those that it touches.
ALGORITHMS = {"1": "Algorithm 1", "2": "Algorithm 2", "4": "Algorithm 2, purging"}
PENALTIES = {"1": 2e-3, "2": 0.1, "4": 0.1}


class Run(NamedTuple):
    """Summed loss before updates, summed penalty after bursts, its factor of every |w_j|."""

    loss: float
    penalty: float
    factors: np.ndarray
    weights: np.ndarray


def run(X: Any, y: np.ndarray, eta: float, gravity: float, algorithm: str) -> Run:
    """Learn rows in turn: bursts of Algorithm 1 or 2; "4" also purges, as Algorithm 4 does."""
    w, factors = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    touches, stable = np.zeros(w.size), np.ones(w.size, np.bool_)
    bursts, selected = np.zeros(w.size), np.zeros(w.size)
    loss = penalty = 0.0
    for t, (first, last) in enumerate(zip(X.indptr[:-1], X.indptr[1:], strict=True), 1):
        columns, values = X.indices[first:last], X.data[first:last]
        margin = y[t - 1] * (values @ w[columns])
        loss += np.logaddexp(0.0, -margin)
        w[columns] += stable[columns] * values * (eta * y[t - 1] / (1 + np.exp(margin)))
        touches[columns] += 1
        if t % REGRET_BURST:
            continue
        g = gravity * (REGRET_BURST if algorithm == "1" else touches)
        w = np.sign(w) * np.maximum(np.abs(w) - g, 0.0)
        penalty, factors = penalty + float(np.sum(g * np.abs(w))) / eta, factors + g / eta
        bursts, selected = bursts + (touches > 0), selected + ((touches > 0) & (w != 0))
        touches[:] = 0
        if algorithm == "4" and t % STAGE == 0:
            stable &= selected >= THRESHOLD * bursts
            w *= stable
            bursts[:] = selected[:] = 0
    return Run(float(loss), penalty, factors, w)


def hindsight(X: Any, y: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the weights with the least loss and penalty of all, known only afterwards."""
    used = np.flatnonzero(factors)
    scaled = sparse.csr_matrix(X[:, used] @ sparse.diags(1 / factors[used]))
    model = LogisticRegression(
        l1_ratio=1.0, solver="liblinear", C=1.0, fit_intercept=False, tol=1e-4, max_iter=200
    )
    star = np.zeros(factors.size)
    star[used] = model.fit(scaled, y).coef_.ravel() / factors[used]
    return star


def regret(task: Record) -> Record:
    """Return the regret of runs of several lengths T with eta = 1 / sqrt(T), and its bound.

    Rows have length 1, so that of Assumption 2's constants A = 0 and B = 1 will do. Without the
    purge, the bound of Theorem 1 is then (|w*|^2 / eta + eta T) / 2.
    """
    split, found = prepared(task["set"], "row-l2"), []
    order = np.random.default_rng(0).permutation(split.y_train.size)
    for n in UPDATES:
        rows = order[:n]
        X, y, eta = split.X_train[rows], split.y_train[rows], n**-0.5
        one = run(X, y, eta, PENALTIES[task["algorithm"]] * eta, task["algorithm"])
        star = hindsight(X, y, one.factors)
        best = np.logaddexp(0.0, -y * (X @ star)).sum() + one.factors @ np.abs(star)
        square = float(star @ star)
        found.append(
            {
                "regret": one.loss + one.penalty - float(best),
                "bound": (square / eta + eta * n) / 2,
                "nonzero": int(np.count_nonzero(one.weights)),
                "nonzero in hindsight": int(np.count_nonzero(star)),
            }
        )
    return {"runs": found}


TASKS: list[Record] = [
    {"what": "burst", "set": "drawn", "algorithm": "1 and 2"},
    *(
        {"what": "regret", "set": name, "algorithm": algorithm}
        for name in REGRET_SETS
        for algorithm in PENALTIES
    ),
]


def measure(task: Record) -> Record:
    """Return what a picture shows."""
    return truncations() if task["what"] == "burst" else regret(task)
