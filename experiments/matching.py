"""Measure one method along its path of sparsity."""

from typing import Any

import numpy as np

from experiments.fitting import fit_and_judge, prepared
from experiments.judge import Verdict
from experiments.lines import Line, chosen_params, recipe
from experiments.matched import TARGETS, interpolate, ladder, place
from experiments.methods import method
from experiments.overlaps import overlaps_of
from experiments.scope import Scope
from experiments.store import Store
from thresher.stability import kappa_from_overlaps


def match_recipe(line: Line, scope: Scope, store: Store) -> str:
    """Return what decides a path: the chosen setting, the knob's range and the targets."""
    params = chosen_params(line, scope, store)
    knob = method(line.method).knob
    extent = [scope.matched_permutations, scope.ladder]
    return recipe(line, params, repr(knob), TARGETS, extent)


def match(line: Line, scope: Scope, store: Store) -> None:
    """Trace a method's path on several permutations and read it off at the target sizes."""
    key, made_by = ("matched", *line), match_recipe(line, scope, store)
    if store.read(key, made_by) is not None:
        return
    run = _Run(line, chosen_params(line, scope, store) or {})
    places = ladder(lambda share: run.verdict(share, 0).nonzero, most=scope.ladder)
    seeds = range(scope.matched_permutations)
    points = [run.point(share, seeds) for share in places]
    store.write(key, made_by, {"points": points, "targets": _read_off(points)})


class _Run:
    """One line's fits along the path, each made once."""

    def __init__(self, line: Line, params: dict[str, Any]) -> None:
        self.line, self.params = line, params
        self.method = method(line.method)
        self.data = prepared(line.dataset, line.scaling)
        self.known: dict[tuple[float, int], Verdict] = {}

    def verdict(self, share: float, seed: int) -> Verdict:
        knob = self.method.knob
        if knob is None:
            raise ValueError(f"{self.method.name} has no sparsity parameter")
        if (share, seed) not in self.known:
            value = place(knob, share)
            if knob.scale == "integer":
                value = min(value, self.data.X_train.shape[1])
            params = {**self.params, knob.name: value}
            fitted = fit_and_judge(self.method, self.line.loss, params, self.data, seed)
            self.known[share, seed] = fitted[0]
        return self.known[share, seed]

    def point(self, share: float, seeds: range) -> dict[str, Any]:
        verdicts = [self.verdict(share, seed) for seed in seeds]
        kappa = _kappa(verdicts, self.data.X_train.shape[1])
        return {
            "place": share,
            "sizes": [verdict.nonzero for verdict in verdicts],
            "errors": [verdict.error for verdict in verdicts],
            "kappa": kappa if np.isfinite(kappa) else None,
        }


def _kappa(verdicts: list[Verdict], columns: int) -> float:
    if len(verdicts) < 2:
        return float("nan")
    return kappa_from_overlaps(overlaps_of([verdict.support for verdict in verdicts]), columns)


def _read_off(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Read errors off every permutation's own path, kappa off the mean path."""
    sizes = np.array([point["sizes"] for point in points], dtype=float)
    errors = np.array([point["errors"] for point in points])
    kappas = [np.nan if point["kappa"] is None else point["kappa"] for point in points]
    table = []
    for target in TARGETS:
        found = [interpolate(s, e, target) for s, e in zip(sizes.T, errors.T, strict=True)]
        seen = [value for value in found if np.isfinite(value)]
        kappa = interpolate(sizes.mean(axis=1), kappas, target)
        table.append(
            {
                "features": target,
                "error": float(np.mean(seen)) if seen else None,
                "deviation": float(np.std(seen, ddof=1)) if len(seen) > 1 else None,
                "kappa": kappa if np.isfinite(kappa) else None,
            }
        )
    return table
