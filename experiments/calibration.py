"""``python -m experiments.calibration``: what selection probabilities promise, against refits.

Fits on all rows, refits on random halves of them, fits the formula's constants to the share of
refits that select each feature, and judges it on sets that were left out of the fitting: real ones,
made-up ones, some of which are nothing but noise, those whose features were weighed, and streams.
Prints the constants for thresher.learners.calibration and thresher.estimators.grouping, writes the
tables into docs/selection.md, and draws the picture.
"""

import argparse
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array

from experiments.calibration_tasks import MADE_UP, REAL, STREAM, WEIGHED, Task, tasks
from experiments.calibration_weighed import fitted_slope, slopes_left_out
from experiments.errors import StudyError
from experiments.measured import Group, Measured, deviance
from experiments.reliability import Pairs, draw, table_of_bins, table_of_fits, table_of_groups
from experiments.sections import with_sections
from thresher import ThresherClassifier
from thresher.estimators.grouping import probability_of_any
from thresher.estimators.refitting import Labelled, selected_on_halves
from thresher.learners.calibration import (
    CONSTANTS,
    STREAM_CONSTANTS,
    Constants,
    chances,
    refit_probabilities,
)

REFITS = 16


class OnePass(ThresherClassifier):
    """The flagship, whose ``fit`` is one pass over the rows, in an order of its own."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows as a stream."""
        order = np.random.default_rng(self.random_state).permutation(len(y))
        return self.partial_fit(X[order], y[order], np.unique(y))


def measure(task: Task, refits: int) -> Measured:
    """Fit on all rows, refit on halves."""
    X, y = task.rows, task.labels
    kind = OnePass if task.kind == STREAM else ThresherClassifier
    model = kind(n_features_to_select=task.size, random_state=0).fit(X, y)
    chosen = selected_on_halves(model, Labelled(X, y, np.ones(len(y))), refits, seed=1)
    inner = model._model
    standing = inner.learner.standing(inner.problems[0].state, inner.vocabulary)
    shares = np.bincount(np.concatenate(chosen), minlength=X.shape[1]) / refits
    share = shares[inner.vocabulary["columns"]]
    groups = groups_of(model, X, chosen) if task.kind == REAL else []
    kind_of_fit = WEIGHED if model.features_weighed_ else task.kind
    return Measured(task.name, task.size, standing, share, groups, kind_of_fit)


def groups_of(model: ThresherClassifier, X: csr_array, chosen: list[np.ndarray]) -> list[Group]:
    """Return the groups that a model's table names."""
    table = model.selection_table(X)
    slot_of = {column: slot for slot, column in enumerate(model._model.vocabulary["columns"])}
    found = []
    for _, members in table[table.group.notna()].groupby("group"):
        columns = [int(name.removeprefix("x")) for name in members.feature]
        share = float(np.mean([np.isin(columns, one).any() for one in chosen]))
        found.append(Group(np.array([slot_of[column] for column in columns]), share))
    return found


def fitted(measured: list[Measured], start: Constants = CONSTANTS) -> Constants:
    """Return the constants that predict the shares best; sets count alike.

    Of the last two only those are looked for that count to start with.
    """
    contests = [(one.contest, one.share[one.contest.places]) for one in measured]
    names = [one.name for one in measured]
    weights = [1 / names.count(name) for name in names]
    slope, power, crowd, above, *others = start
    first = np.array([np.log(slope), power, crowd, np.log(above), *filter(None, others)])
    simplex = first + 0.15 * np.vstack([np.zeros(first.size), np.eye(first.size)])
    rules = {"initial_simplex": simplex, "xatol": 0.005, "fatol": 0.0002, "maxiter": 200}

    def mean_deviance(numbers: np.ndarray) -> float:
        constants = _constants(numbers, start)
        deviances = [
            deviance(share, chances(contest, constants), contest.kept)
            for contest, share in contests
        ]
        return float(np.average(deviances, weights=weights))

    best = minimize(mean_deviance, first, method="Nelder-Mead", options=rules).x
    return _constants(best, start)


def _constants(numbers: np.ndarray, start: Constants) -> Constants:
    """Return constants from numbers that may take any value; those that did not count do not."""
    slope, power, crowd, above, *counting = map(float, numbers)
    others = [counting.pop(0) if one else 0.0 for one in (start.spread, start.own)]
    return Constants(float(np.exp(slope)), power, crowd, float(np.exp(above)), *others)


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


def left_out(
    measured: list[Measured], start: Constants = CONSTANTS
) -> tuple[dict[str, list[Pairs]], list[tuple[float, float]]]:
    """Return predictions for every set by its kind, and for groups, by constants of the others.

    Whatever was made of a set's rows is left out together.
    """
    pairs: dict[str, list[Pairs]] = {}
    groups = []
    for name in dict.fromkeys(root(one) for one in measured):
        others = [one for one in measured if root(one) != name] or measured
        constants = fitted(others, start)
        independence = fitted_independence(others, constants)
        for one in measured:
            if root(one) == name:
                predicted = refit_probabilities(one.standing, constants)
                told = Pairs(f"{one.name}, {one.size}", one.size, predicted, one.share)
                pairs.setdefault(one.kind, []).append(told)
                groups += told_of_groups(one, constants, independence)
    return pairs, groups


def root(one: Measured) -> str:
    """Return the name of the rows, whatever was done with them."""
    return one.name.split(",")[0]


def tell(measured: list[Measured], page: Path, picture: Path) -> None:
    """Print the constants, write the tables into the page, draw the picture."""
    fits = [one for one in measured if one.kind in (REAL, MADE_UP)]
    constants = fitted(fits)
    print(f"\nCONSTANTS = {constants}")
    print(f"INDEPENDENCE = {fitted_independence(fits, constants):.2f}\n")
    pairs, groups = left_out(fits, constants)
    streams = [one for one in measured if one.kind == STREAM]
    if streams:
        constants = fitted(streams, STREAM_CONSTANTS)
        print(f"STREAM_CONSTANTS = {constants}\n")
        pairs |= left_out(streams, constants)[0]
    weighed = [one for one in measured if one.kind == WEIGHED]
    if weighed:
        print(f"WEIGHED_SLOPE = {fitted_slope(weighed):.2f}\n")
        pairs[WEIGHED] = slopes_left_out(weighed)
    tables = {
        "bins": table_of_bins(pairs),
        "fits": table_of_fits(pairs.get(REAL, [])),
        "made up": table_of_fits(pairs.get(MADE_UP, [])),
        "weighed": table_of_fits(pairs.get(WEIGHED, [])),
        "streams": table_of_fits(pairs.get(STREAM, [])),
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
    for task in tasks(options.data):
        measured.append(measure(task, options.refits))
        print(f"measured {task.name} at {task.size} features", flush=True)
    if not measured:
        raise StudyError("there is no set to measure")
    tell(measured, options.page, options.picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
