"""``python -m experiments.calibration``: what selection probabilities promise, against refits.

Fits on whole training parts, refits on random halves of them, fits the formula's constants to the
share of refits that select each feature, and judges it on sets that were left out of the fitting.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import xlogy

from experiments.errors import StudyError
from experiments.fitting import training_rows
from experiments.registry import named
from experiments.reliability import Pairs, draw, table_of_bins, table_of_fits, table_of_groups
from thresher import ThresherClassifier
from thresher.estimators.refitting import Labelled, selected_on_halves
from thresher.learners.calibration import (
    CONTENDERS,
    FEWEST_CONTENDERS,
    POWER,
    SLOPE,
    Standing,
    refit_probabilities,
)

SETS = (
    "dexter",
    "gisette-mini",
    "reuters_moneyfx",
    "farm_ads",
    "rcv1-sample",
    "dorothea",
    "arcene",
    "a9a",
)
SIZES, SMALL_SIZES = (30, 100, 300), (10, 30, 60)  # the latter for sets of few columns
FEW = 1000  # columns
REFITS = 16
SURE = 1e-4  # probabilities nearer to 0 or 1 than this are not told apart


class Measured(NamedTuple):
    """One fit, and the share of refits that selected each of its features."""

    name: str
    size: int
    standing: Standing
    share: np.ndarray
    groups: list[tuple[float, float]]  # that one member is selected: as told, and by refits

    def contenders(self) -> "Measured":
        """Return the same of the strongest features only: the others have probability 0."""
        first = np.argsort(-self.standing.scores, kind="stable")
        first = first[: max(CONTENDERS * self.size, FEWEST_CONTENDERS)]
        scores, evidence, kept = self.standing
        standing = Standing(scores[first], evidence[first], kept)
        return self._replace(standing=standing, share=self.share[first])


def measure(name: str, size: int, refits: int) -> Measured:
    """Fit on all rows, refit on halves."""
    X, y = training_rows(name)
    data = Labelled(X, y, np.ones(len(y)))
    model = ThresherClassifier(n_features_to_select=size, random_state=0).fit(X, y)
    chosen = selected_on_halves(model, data, refits, seed=1)
    inner = model._model
    standing = inner.learner.standing(inner.problems[0].state, inner.vocabulary)
    shares = np.bincount(np.concatenate(chosen), minlength=X.shape[1]) / refits
    share = shares[inner.vocabulary["columns"]]
    return Measured(name, size, standing, share, groups_of(model, X, chosen))


def groups_of(
    model: ThresherClassifier, X: csr_matrix, chosen: list[np.ndarray]
) -> list[tuple[float, float]]:
    """Return, of each group, its probability and the share of refits that selected a member."""
    table = model.selection_table(X)
    found = []
    for _, members in table[table.group.notna()].groupby("group"):
        columns = [int(name.removeprefix("x")) for name in members.feature]
        share = np.mean([np.isin(columns, one).any() for one in chosen])
        found.append((float(members.group_probability.iloc[0]), float(share)))
    return found


def deviance(one: Measured, constants: np.ndarray) -> float:
    """Return how far shares are from what is predicted of them, per selected feature."""
    slope, power = np.exp(constants[0]), constants[1]
    p = np.clip(refit_probabilities(one.standing, slope, power), SURE, 1 - SURE)
    share = one.share
    told = xlogy(share, share / p) + xlogy(1 - share, (1 - share) / (1 - p))
    return float(told.sum() / one.size)


def fitted(measured: list[Measured]) -> np.ndarray:
    """Return the logarithm of the slope, and the power, that predict the shares best."""
    contenders = [one.contenders() for one in measured]
    start = np.array([np.log(SLOPE), POWER])
    simplex = start + 0.15 * np.array([[0, 0], [1, 0], [0, 1]])
    rules = {"initial_simplex": simplex, "xatol": 0.005, "fatol": 0.0002, "maxiter": 80}
    found = minimize(
        lambda constants: np.mean([deviance(one, constants) for one in contenders]),
        start,
        method="Nelder-Mead",
        options=rules,
    )
    return found.x


def left_out(measured: list[Measured]) -> list[Pairs]:
    """Return predictions for every set by constants that were fitted to the others."""
    pairs = []
    for name in dict.fromkeys(one.name for one in measured):
        others = [one for one in measured if one.name != name]
        log_slope, power = fitted(others or measured)
        for one in measured:
            if one.name == name:
                predicted = refit_probabilities(one.standing, np.exp(log_slope), power)
                pairs.append(Pairs(f"{name}, {one.size}", one.size, predicted, one.share))
    return pairs


def main(words: list[str] | None = None) -> int:
    """Measure, print constants and tables, draw the picture."""
    command = argparse.ArgumentParser(prog="python -m experiments.calibration", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", help="one set; repeatable")
    command.add_argument("--refits", type=int, default=REFITS, help="on halves, for every fit")
    command.add_argument("--picture", type=Path, default=Path("docs/selection/reliability.svg"))
    options = command.parse_args(words)
    measured = []
    for name in options.data or SETS:
        sizes = SMALL_SIZES if named(name).columns < FEW else SIZES
        for size in sizes:
            measured.append(measure(name, size, options.refits))
            print(f"measured {name} at {size} features", flush=True)
    if not measured:
        raise StudyError("there is no set to measure")
    log_slope, power = fitted(measured)
    print(f"\nSLOPE, POWER = {np.exp(log_slope):.2f}, {power:.2f}\n")
    pairs = left_out(measured)
    groups = [pair for one in measured for pair in one.groups]
    print(table_of_bins(pairs), table_of_fits(pairs), table_of_groups(groups), sep="\n\n")
    print(f"\n{draw(pairs, options.picture)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
