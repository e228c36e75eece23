"""``python -m experiments.calibration``: what selection probabilities promise, against refits.

Fits on whole training parts, refits on random halves of them, fits the formula's constants to the
share of refits that select each feature, and judges it on sets that were left out of the fitting.
Prints the constants for thresher.learners.calibration and thresher.estimators.grouping, writes the
tables into docs/selection.md, and draws the picture.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import xlogy

from experiments.errors import StudyError
from experiments.fitting import training_rows
from experiments.registry import named
from experiments.reliability import Pairs, draw, table_of_bins, table_of_fits, table_of_groups
from experiments.sections import with_sections
from thresher import ThresherClassifier
from thresher.estimators.grouping import probability_of_any
from thresher.estimators.refitting import Labelled, selected_on_halves
from thresher.learners.calibration import (
    CONSTANTS,
    CONTENDERS,
    FEWEST_CONTENDERS,
    Constants,
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


class Group(NamedTuple):
    """Features that stand in for each other, and the share of refits that selected some."""

    slots: np.ndarray
    share: float


class Measured(NamedTuple):
    """One fit, and the share of refits that selected each of its features."""

    name: str
    size: int
    standing: Standing
    share: np.ndarray
    groups: list[Group]

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


def groups_of(model: ThresherClassifier, X: csr_matrix, chosen: list[np.ndarray]) -> list[Group]:
    """Return the groups that a model's table names."""
    table = model.selection_table(X)
    slot_of = {column: slot for slot, column in enumerate(model._model.vocabulary["columns"])}
    found = []
    for _, members in table[table.group.notna()].groupby("group"):
        columns = [int(name.removeprefix("x")) for name in members.feature]
        share = float(np.mean([np.isin(columns, one).any() for one in chosen]))
        found.append(Group(np.array([slot_of[column] for column in columns]), share))
    return found


def deviance(one: Measured, constants: Constants) -> float:
    """Return how far shares are from what is predicted of them, per selected feature."""
    p = np.clip(refit_probabilities(one.standing, constants), SURE, 1 - SURE)
    share = one.share
    told = xlogy(share, share / p) + xlogy(1 - share, (1 - share) / (1 - p))
    return float(told.sum() / one.size)


def fitted(measured: list[Measured]) -> Constants:
    """Return the constants that predict the shares best."""
    contenders = [one.contenders() for one in measured]
    start = np.array([np.log(CONSTANTS.slope), CONSTANTS.power, np.log(CONSTANTS.above)])
    simplex = start + 0.15 * np.vstack([np.zeros(3), np.eye(3)])
    rules = {"initial_simplex": simplex, "xatol": 0.005, "fatol": 0.0002, "maxiter": 120}
    found = minimize(
        lambda numbers: np.mean([deviance(one, _constants(numbers)) for one in contenders]),
        start,
        method="Nelder-Mead",
        options=rules,
    )
    return _constants(found.x)


def _constants(numbers: np.ndarray) -> Constants:
    """Return constants from numbers that may take any value."""
    return Constants(float(np.exp(numbers[0])), float(numbers[1]), float(np.exp(numbers[2])))


def told_of_groups(
    one: Measured, constants: Constants, independence: float
) -> list[tuple[float, float]]:
    """Return what would be told of each group, and how often refits selected a member."""
    found = refit_probabilities(one.standing, constants)
    return [(probability_of_any(found[g.slots], independence), g.share) for g in one.groups]


def fitted_independence(measured: list[Measured], constants: Constants) -> float:
    """Return the constant of groups that predicts best; sets count alike."""
    names = dict.fromkeys(one.name for one in measured if one.groups)

    def error(independence: float) -> float:
        errors = []
        for name in names:
            mine = [one for one in measured if one.name == name]
            pairs = [pair for one in mine for pair in told_of_groups(one, constants, independence)]
            errors.append(np.mean([(told - came) ** 2 for told, came in pairs]))
        return float(np.mean(errors))

    if not names:
        return 1.0
    return float(minimize_scalar(error, bounds=(0.0, 1.0), method="bounded").x)


def left_out(measured: list[Measured]) -> tuple[list[Pairs], list[tuple[float, float]]]:
    """Return predictions for every set, and its groups, by constants fitted to the others."""
    pairs, groups = [], []
    for name in dict.fromkeys(one.name for one in measured):
        others = [one for one in measured if one.name != name] or measured
        constants = fitted(others)
        independence = fitted_independence(others, constants)
        for one in measured:
            if one.name == name:
                predicted = refit_probabilities(one.standing, constants)
                pairs.append(Pairs(f"{name}, {one.size}", one.size, predicted, one.share))
                groups += told_of_groups(one, constants, independence)
    return pairs, groups


def tell(measured: list[Measured], page: Path, picture: Path) -> None:
    """Print the constants, write the tables into the page, draw the picture."""
    constants = fitted(measured)
    print(f"\nCONSTANTS = {constants}")
    print(f"INDEPENDENCE = {fitted_independence(measured, constants):.2f}\n")
    pairs, groups = left_out(measured)
    tables = {
        "bins": table_of_bins(pairs),
        "fits": table_of_fits(pairs),
        "groups": table_of_groups(groups),
    }
    print(*tables.values(), sep="\n\n")
    page.write_text(with_sections(page.read_text("utf-8"), tables), encoding="utf-8")
    print(f"\n{page}\n{draw(pairs, picture)}")


def main(words: list[str] | None = None) -> int:
    """Measure, and tell what was found."""
    command = argparse.ArgumentParser(prog="python -m experiments.calibration", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", help="one set; repeatable")
    command.add_argument("--refits", type=int, default=REFITS, help="on halves, for every fit")
    command.add_argument("--page", type=Path, default=Path("docs/selection.md"))
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
    tell(measured, options.page, options.picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
