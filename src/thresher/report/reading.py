"""What the words on the page mean, for whoever has nothing but the page."""

from thresher.estimators.describing import Description
from thresher.report.markup import facts, section

WEIGHT = "How strongly the feature speaks, and for which side. "
ROWS = "How many of the rows of training had the feature."
STAGE = (
    "Training comes in stages. At the end of each, features are judged by what was learnt so far, "
    "and the weakest are let go."
)
STABLE = "Of a feature: no stage so far has let it go."


def reading(description: Description) -> str:
    """Return the words and their meanings, those that the page uses."""
    used = {"weight": WEIGHT + description.computation}
    if description.probability is not None:
        used["probability"] = description.probability
    used["rows"] = ROWS
    if any(len(selection.history) > 1 for selection in description.selections):
        used |= {"stage": STAGE, "stable": STABLE}
    return section("How to read it", facts(used))
