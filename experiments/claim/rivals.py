"""Who is compared: our learner, the judges, and what each may choose."""

from dataclasses import dataclass, field
from typing import Any

from experiments.claim import sizes
from experiments.claim.sizing import Elimination, Penalised, Refitted, Sizer, Wanted
from experiments.methods import Params, method

OURS, L1, FTRL = "thresher", "liblinear-l1", "ftrl"
PASSES = {"max_iter": 20}
PERMUTATIONS, FEW_PERMUTATIONS = 10, 3


@dataclass(frozen=True)
class Rival:
    """A method of the comparison.

    ``steps`` are the values its step is chosen from, by cross-validation on each set. A method
    that is ``far_behind`` has few permutations, and shares of the columns as its only sizes. The
    result of a ``batch`` method does not depend on the order of the rows: it is fitted once.
    """

    name: str
    title: str
    params: Params = field(default_factory=dict)
    steps: tuple[str, tuple[float, ...]] | None = None
    batch: bool = False
    far_behind: bool = False
    halves: bool = True

    @property
    def settings(self) -> list[Params]:
        """The settings the step's choice is made from."""
        if self.steps is None:
            return [self.params]
        name, values = self.steps
        return [{**self.params, name: value} for value in values]

    @property
    def seeds(self) -> range:
        """The permutations of the rows."""
        if self.batch:
            return range(1)
        return range(FEW_PERMUTATIONS if self.far_behind else PERMUTATIONS)

    def sizes(self, dataset: str) -> list[int]:
        """Return the sizes at which the method is measured on a set."""
        return sizes.shares(dataset) if self.far_behind else sizes.sizes(dataset)

    def sizer(self, params: Params) -> Sizer:
        """Return what makes the method's models of a wanted size."""
        if self.name == OURS:
            return Wanted(method(OURS), params)
        if self.name == "ridge-elimination":
            return Elimination()
        if self.name == "l1-refit":
            return Refitted(Penalised(method(L1), params))
        return Penalised(method(self.name), params)

    @property
    def recipe(self) -> list[Any]:
        """What decides the method's results, as far as this table knows it."""
        return [self.name, self.settings, len(self.seeds)]


RIVALS = {
    rival.name: rival
    for rival in (
        Rival(OURS, "ThresherClassifier"),
        Rival(L1, "liblinear, l1", batch=True),
        Rival("l1-refit", "l1, then ridge on its features", batch=True, halves=False),
        Rival("ridge-elimination", "ridge, recursive elimination, refit", batch=True),
        Rival(FTRL, "FTRL, step tuned", PASSES, ("alpha", (3.0, 10.0, 30.0, 100.0))),
        Rival("rda", "RDA", PASSES, ("gamma", (0.001, 0.003, 0.01, 0.03))),
        Rival("sklearn-sgd-l1", "scikit-learn SGD, l1", PASSES, halves=False),
        Rival(
            "truncated-gradient",
            "truncated gradient",
            PASSES,
            ("eta0", (1.0, 3.0, 10.0)),
            far_behind=True,
            halves=False,
        ),
        Rival(
            "fobos",
            "FOBOS",
            PASSES,
            ("eta0", (1.0, 10.0, 100.0)),
            far_behind=True,
            halves=False,
        ),
    )
}

# Not of a wanted size: what all columns together can give.
DENSE = Rival("dense", "ridge, all columns", batch=True)
