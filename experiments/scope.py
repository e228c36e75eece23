"""How much of the study is run: all of it, or the quick form that the tests run."""

from dataclasses import dataclass

from experiments.methods import Method, Params
from experiments.registry import DataSet, of_role

FEW = 10  # permutations
FEW_ROWS = 500


@dataclass(frozen=True)
class Scope:
    """The extent of a run: sets, permutations, folds, and how finely the grids are tried."""

    name: str
    sets: tuple[str, ...]
    permutations: dict[str, int]
    oracle_permutations: int
    matched_permutations: int
    ladder: int
    most_settings: int | None = None
    most_passes: int | None = None

    def seeds(self, facts: DataSet, method: Method, scaling: str) -> range:
        """Return the seeds of a line's permutations, fewer for what is beside the point."""
        most = self.permutations[facts.role]
        slow = method.choice_rows is not None and scaling != "unit-variance"
        return range(min(most, FEW) if slow or scaling == "nonzero-rms" else most)

    def folds(self, method: Method, rows: int) -> int:
        """Return the number of folds: five on few rows, three on many or with a slow method."""
        if self.most_settings is not None:
            return 2
        return 5 if rows <= FEW_ROWS and method.choice_rows is None else 3

    def settings(self, method: Method, scaling: str, facts: DataSet) -> list[Params]:
        """Return the settings to try, evenly thinned in the quick form."""
        every = [self._shortened(params) for params in method.settings(scaling, facts)]
        if self.most_settings is None or len(every) <= self.most_settings:
            return every
        step = -(-len(every) // self.most_settings)
        return every[step // 2 :: step]

    def _shortened(self, params: Params) -> Params:
        if self.most_passes is None or "max_iter" not in params:
            return params
        return {**params, "max_iter": min(params["max_iter"], self.most_passes)}


FULL = Scope(
    "full",
    sets=tuple(of_role("paper", "extension")),
    permutations={"paper": 50, "extension": 10, "full": 50},
    oracle_permutations=10,
    matched_permutations=3,
    ladder=12,
)

QUICK = Scope(
    "quick",
    sets=("dexter", "arcene"),
    permutations={"paper": 1, "extension": 1, "full": 1},
    oracle_permutations=1,
    matched_permutations=2,
    ladder=3,
    most_settings=1,
    most_passes=5,
)
