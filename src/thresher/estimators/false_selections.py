"""How many of the surely selected features are expected to be false, at most.

Meinshausen & Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72, 2010,
Theorem 1: of the features that fits on random halves select with probability pi > 1/2 or more, at
most q^2 / ((2 pi - 1) p) are expected to be noise; q is how many a fit selects, p of how many.
"""

from typing import Any

import numpy as np

from thresher.learners.thresher import Thresher
from thresher.train import Model, Problem

THRESHOLDS = (0.6, 0.75, 0.9)  # set beforehand: chosen by looking, the bound would not hold

HALVES = (
    "The probability that a refit on a random half of the rows, at the same size, selects the "
    "feature: estimated from this one fit by a formula calibrated on such refits of real "
    "data, of made-up data and of noise."
)
BURSTS = "How often the feature was selected at the ends of bursts, when it was last judged."

ASSUMPTIONS = (
    "Meinshausen & Buhlmann (2010), Theorem 1: of the features with a selection probability of at "
    "least the threshold pi, at most q^2 / ((2 pi - 1) p) are false in expectation; q is how many "
    "features a fit selects, p how many occurred. Assumed: all features without any relation to "
    "the label are alike, so that each is as likely to be selected as any other of them; the "
    "method selects features with a relation at least as often as those without; probabilities "
    "are exact, over random halves of independent rows. Words that stand in for each other, and "
    "features that occur in more rows than others, stretch the first assumption; these "
    "probabilities are estimates. Read the bound as a guide, not as a guarantee."
)


def meaning_of_probabilities(model: Model) -> dict[str, Any]:
    """Return what the selection probabilities of a model mean, and what the bound assumes."""
    if bounded(model):
        return {"selection_probability": HALVES, "assumptions": ASSUMPTIONS}
    known = model.probabilities(model.problems[0]) is not None
    return {"selection_probability": BURSTS} if known else {}


def bounded(model: Model) -> bool:
    """Return whether the model's probabilities are over halves, and of how many features."""
    return isinstance(model.learner, Thresher) and bool(model.candidates)


def false_selections(model: Model, problem: Problem, weights: np.ndarray) -> list[dict[str, Any]]:
    """Return the bound at several thresholds, with how many features it is about."""
    probabilities = model.probabilities(problem)
    if probabilities is None or model.candidates is None or not bounded(model):
        return []
    selected = int(np.count_nonzero(weights))
    return [
        {
            "threshold": threshold,
            "features": int((probabilities[weights != 0] >= threshold).sum()),
            "expected_false_at_most": bound(selected, model.candidates, threshold),
        }
        for threshold in THRESHOLDS
    ]


def bound(selected: int, candidates: int, threshold: float) -> float:
    """Return q^2 / ((2 pi - 1) p)."""
    return selected**2 / ((2 * threshold - 1) * candidates)
