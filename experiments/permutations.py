"""A line's permutations: made one by one, each safe once made, then gathered into one cell.

A piece is one permutation with the features it selected. Pieces are a working area and need not be
kept: of the selected sets a line's cell holds only how many features each two share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.fitting import fit_and_judge, prepared
from experiments.judge import Verdict, pack, unpack
from experiments.lines import Line, recipe
from experiments.methods import Params, method
from experiments.overlaps import overlaps_of, triangle
from experiments.registry import named
from experiments.scope import Scope
from experiments.store import Key, Store

PASSES = (5, 10, 20, 30, 40, 50, 60)
FINAL, ORACLE = "final", "best-iterate"

Piece = dict[str, Any]


@dataclass(frozen=True)
class Permutations:
    """The permutations of a line's chosen setting under a protocol."""

    protocol: str
    line: Line
    params: Params
    seeds: range

    @property
    def key(self) -> Key:
        """The key of the line's cell."""
        return (self.protocol, *self.line)

    @property
    def passes(self) -> int:
        """The passes a permutation makes, the oracle's anew for each look."""
        looks = checkpoints(self.params)
        return sum(looks) if self.protocol == ORACLE else self.params.get("max_iter", 20)

    @property
    def piece_recipe(self) -> str:
        """What decides a piece."""
        looks = [checkpoints(self.params)] if self.protocol == ORACLE else []
        return recipe(self.line, self.params, *looks)

    @property
    def recipe(self) -> str:
        """What decides the line's cell: its pieces and their number."""
        return recipe(self.line, self.piece_recipe, len(self.seeds))

    def piece_key(self, seed: int) -> Key:
        """Return the key of one permutation's piece."""
        return ("pieces", *self.key, f"{seed:03d}")


def permutations_of(protocol: str, line: Line, params: Params, scope: Scope) -> Permutations:
    """Return the permutations a scope asks for."""
    seeds = scope.seeds(named(line.dataset), method(line.method), line.scaling)
    few = range(scope.oracle_permutations)
    return Permutations(protocol, line, params, few if protocol == ORACLE else seeds)


def protocols(line: Line, params: Params) -> list[str]:
    """Return a line's protocols: the oracle is asked about the paper's own method only."""
    # With a single look the oracle is the final model.
    several = len(checkpoints(params)) > 1
    return [FINAL, ORACLE] if method(line.method).oracle and several else [FINAL]


def checkpoints(params: Params) -> list[int]:
    """Return the passes after which the oracle looks: the paper's, up to the chosen number."""
    return [passes for passes in PASSES if passes <= params.get("max_iter", 0)]


def is_gathered(those: Permutations, store: Store) -> bool:
    """Tell whether the line's cell is there; its pieces are then of no more use."""
    return store.read(those.key, those.recipe) is not None


def missing(those: Permutations, store: Store) -> list[int]:
    """Return the seeds that have no piece."""
    made_by = those.piece_recipe
    return [s for s in those.seeds if store.read(those.piece_key(s), made_by) is None]


def piece(those: Permutations, seed: int, store: Store) -> Piece:
    """Return one permutation's piece, made and kept now unless it is there."""
    key, made_by = those.piece_key(seed), those.piece_recipe
    found = store.read(key, made_by)
    if found is None:
        found = MAKERS[those.protocol](those, seed)
        store.write(key, made_by, found)
    return found


def gather(those: Permutations, store: Store) -> None:
    """Write the line's cell once every piece is there: a list for each fact, and the overlaps.

    Whoever makes the last piece gathers. Should two find themselves last, both write the same.
    """
    made_by = those.piece_recipe
    pieces = [store.read(those.piece_key(seed), made_by) for seed in those.seeds]
    found = [each for each in pieces if each is not None]
    if len(found) < len(pieces):
        return
    facts = {name: [each[name] for each in found] for name in found[0]}
    if "support" in facts:
        facts["overlaps"] = triangle(overlaps_of([unpack(each) for each in facts.pop("support")]))
    about = {"params": those.params, "seeds": list(those.seeds)}
    store.write(those.key, those.recipe, {**about, **facts})


def _final(those: Permutations, seed: int) -> Piece:
    """Fit the chosen setting: the model we claim."""
    verdict, seconds = _fit(those, those.params, seed)
    return {**_facts(verdict), "seconds": seconds, "support": pack(verdict.support)}


def _best_iterate(those: Permutations, seed: int) -> Piece:
    """Find the smallest *test* error along a run, as the authors' code reports it.

    Training has no horizon, so stopping earlier is a shorter run with the same seed.
    """
    looks = checkpoints(those.params)
    tried = [_fit(those, {**those.params, "max_iter": passes}, seed)[0] for passes in looks]
    best = int(np.argmin([verdict.error for verdict in tried]))
    return {**_facts(tried[best]), "max_iter": looks[best]}


MAKERS: dict[str, Callable[[Permutations, int], Piece]] = {FINAL: _final, ORACLE: _best_iterate}


def _fit(those: Permutations, params: Params, seed: int) -> tuple[Verdict, float]:
    line = those.line
    data = prepared(line.dataset, line.scaling)
    return fit_and_judge(method(line.method), line.loss, params, data, seed)


def _facts(verdict: Verdict) -> Piece:
    return {"error": verdict.error, "nonzero": verdict.nonzero, "percent": verdict.percent}
