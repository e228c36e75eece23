"""The variants: the default, and the default with one thing changed.

A variant changes parameters of the classifier, or the learner it makes, or the rows it is given.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from thresher import ThresherClassifier
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.units import LINEAR
from thresher.learners.paths import Paths
from thresher.learners.thresher import Thresher

Change = Callable[[Thresher], Thresher]

DEFAULT = "default"


@dataclass(frozen=True)
class Variant:
    """One thing changed: what it is, and how."""

    title: str
    params: Mapping[str, Any] = field(default_factory=dict)
    change: Change | None = None
    scaling: str = "row-l2"

    def build(self, size: int, seed: int) -> ThresherClassifier:
        """Return an unfitted classifier of a wanted size."""
        chosen = {"normalize": self.scaling == "row-l2", **self.params}
        kind = ThresherClassifier if self.change is None else changed(self.change)
        return kind(n_features_to_select=size, random_state=seed, **chosen)


def changed(change: Change) -> type[ThresherClassifier]:
    """Return the classifier with another learner inside."""

    class Changed(ThresherClassifier):
        """The default but for one change."""

        def _learner(self, n_rows: int | None) -> Thresher:
            return change(super()._learner(n_rows))

    return Changed


def as_kind(kind: type[Thresher]) -> Change:
    """Return the change to a learner of another kind with the same fields."""

    def change(learner: Thresher) -> Thresher:
        return kind(**{each.name: getattr(learner, each.name) for each in fields(learner)})

    return change


class ByWeight(Thresher):
    """Ranks features by their mean weight alone, whatever the column says."""

    def _scores(self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray) -> np.ndarray:
        return np.abs(weights)


class ByFrequency(Thresher):
    """Ranks features by how often they were selected, as the paper does; ties by salience."""

    def _scores(self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray) -> np.ndarray:
        salience = super()._scores(paths, vocabulary, weights)
        return paths.feature("probability") + 1e-6 * salience / max(salience.max(initial=0), 1e-300)


def _long_steps(learner: Thresher) -> Thresher:
    return replace(learner, selecting=learner.refitting)


def _short_steps(learner: Thresher) -> Thresher:
    return replace(learner, selecting=replace(learner.selecting, rate=learner.selecting.rate / 3))


def _steep_gravity(learner: Thresher) -> Thresher:
    return replace(learner, shrinkage=LINEAR)


VARIANTS = {
    DEFAULT: Variant("the default"),
    "permutation": Variant("every path its own order of the rows", {"paths": "permutation"}),
    "one-path": Variant("one path", {"n_paths": 1}),
    "no-refit": Variant("no refit", {"refit": 0.0}),
    "one-stage": Variant("all purged in one stage", {"n_stages": 1}),
    "no-gravity": Variant("no gravity", {"rejection_rate": 0.0}),
    "steep-gravity": Variant("gravity grows with the touches", change=_steep_gravity),
    "by-weight": Variant("score without the column's size", change=as_kind(ByWeight)),
    "by-frequency": Variant("score: how often selected", change=as_kind(ByFrequency)),
    "long-steps": Variant("selecting steps as long as the refit's", change=_long_steps),
    "short-steps": Variant("selecting steps a third as long", change=_short_steps),
    "hinge": Variant("hinge loss", {"loss": "hinge"}),
    "unit-variance": Variant("columns of unit variance, rows as they are", scaling="unit-variance"),
}
