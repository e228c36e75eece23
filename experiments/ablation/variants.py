"""The variants: the default, and the default with one thing changed.

A variant changes parameters of the classifier, or the learner it makes, or the rows it is given.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thresher import ThresherClassifier
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.levelling import Margins
from thresher.estimators.decisions.rarity import Rarity
from thresher.estimators.decisions.selecting_steps import USUAL
from thresher.learners.judge import OF_COLUMNS
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
    kind: type[ThresherClassifier] = ThresherClassifier

    def build(self, size: int, seed: int) -> ThresherClassifier:
        """Return an unfitted classifier of a wanted size."""
        chosen = {"normalize": self.scaling == "row-l2", **self.params}
        kind = self.kind if self.change is None else changed(self.change)
        return kind(n_features_to_select=size, random_state=seed, **chosen)


def changed(change: Change) -> type[ThresherClassifier]:
    """Return the classifier with another learner inside."""

    class Changed(ThresherClassifier):
        """The default but for one change."""

        def _learner(self, n_rows: int | None) -> Thresher:
            return change(super()._learner(n_rows))

    return Changed


class UnmeasuredClassifier(ThresherClassifier):
    """The default, but for columns far from zero, which it learns as they are."""

    measures_columns = False


class UnlevelledClassifier(ThresherClassifier):
    """The default, but for weights and margins, which it leaves as the refit has them."""

    decisions = without(ThresherClassifier.decisions, Margins)


class AlikeClassifier(ThresherClassifier):
    """The default, but for columns that few rows have, which count like others."""

    decisions = without(ThresherClassifier.decisions, Rarity)


def _long_steps(learner: Thresher) -> Thresher:
    return replace(learner, selecting=learner.refitting, growth=1.0)


def _steady_steps(learner: Thresher) -> Thresher:
    middle = learner.selecting.longer(learner.growth**0.5)
    return replace(learner, selecting=middle, growth=1.0)


def _short_steps(learner: Thresher) -> Thresher:
    return replace(learner, selecting=learner.selecting.longer(1 / 3))


def _usual_steps(learner: Thresher) -> Thresher:
    first, last = USUAL
    return replace(learner, selecting=learner.refitting.longer(first), growth=last / first)


def _equal_steps(learner: Thresher) -> Thresher:
    return replace(learner, halving=1e9)


def _late_halving(learner: Thresher) -> Thresher:
    return replace(learner, halving=2 * learner.halving)


def _unexchanged(learner: Thresher) -> Thresher:
    return replace(learner, exchanges=False)


def _unweighed(learner: Thresher) -> Thresher:
    return replace(learner, weighs=False)


def _unsettled(learner: Thresher) -> Thresher:
    return replace(learner, settles=False)


def _by_weight(learner: Thresher) -> Thresher:
    return replace(learner, salience=(0.0, 0.0))


def _by_size(learner: Thresher) -> Thresher:
    return replace(learner, salience=OF_COLUMNS)


VARIANTS = {
    DEFAULT: Variant("the default"),
    "permutation": Variant("every path its own order of the rows", {"paths": "permutation"}),
    "one-path": Variant("one path", {"n_paths": 1}),
    "no-refit": Variant("no refit", {"refit": 0.0}),
    "one-stage": Variant("all purged in one stage", {"n_stages": 1}),
    "gravity": Variant("gravity that cancels 70 % at first", {"rejection_rate": 0.7}),
    "equal-steps": Variant("one length of steps for all features", change=_equal_steps),
    "late-halving": Variant("steps that shorten half as early", change=_late_halving),
    "by-weight": Variant("score by the weight alone", change=_by_weight),
    "by-size": Variant("score by the column's size, not by gradients", change=_by_size),
    "steady-steps": Variant("selecting steps of one length", change=_steady_steps),
    "long-steps": Variant("selecting steps as long as the refit's", change=_long_steps),
    "short-steps": Variant("selecting steps a third as long", change=_short_steps),
    "usual-steps": Variant("selecting steps as of many rows", change=_usual_steps),
    "no-exchange": Variant("features that went stay away", change=_unexchanged),
    "unweighed": Variant("features are not weighed where few speak", change=_unweighed),
    "unsettled": Variant("weights that the refit has come to", change=_unsettled),
    "far-columns": Variant("columns far from zero as they are", kind=UnmeasuredClassifier),
    "alike": Variant("columns that few rows have count like others", kind=AlikeClassifier),
    "unlevelled": Variant("weights and margins as the refit has them", kind=UnlevelledClassifier),
    "hinge": Variant("hinge loss", {"loss": "hinge"}),
    "unit-variance": Variant("columns of unit variance, rows as they are", scaling="unit-variance"),
}
