"""What brings files of older versions up to date, as headers and arrays (see ``container``)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Header = dict[str, Any]
Arrays = dict[str, Any]

# The flagship's steps were all alike then, in double precision.
FLAGSHIP = "ThresherClassifier"
ROOTS = ("ThresherClassifier", "ThresherClassifierCV")  # that learn roots where these tell more
NO_LONGER = ("total", "salience", "bias_total", "bar", "mean", "bias_mean")


def _models(header: Header) -> Iterator[Header]:
    """Return the models in a file: a finished one, or that of a checkpoint."""
    for model in (header, header.get("estimator")):
        if isinstance(model, dict) and model.get("kind") == "model":
            yield model


def _states(model: Header) -> list[Header]:
    """Return what a model's learner knew of every problem, if the file holds that."""
    return [problem["state"] for problem in (model["state"] or {}).get("problems", [])]


def _stages(model: Header) -> list[Header]:
    """Return where paths are on their way, as often as the file says it."""
    stages = [paths["stage"] for paths in model["model"]["paths"] or []]
    return stages + [state["stage"] for state in _states(model) if "stage" in state]


def second(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 1 as version 2 would have it.

    The flagship's weights lie differently since, and nobody can go on learning with the old ones:
    what is left of such a model is what prediction needs.
    """
    for model in _models(header):
        if model["class"] == FLAGSHIP:
            model["parameters"]["dtype"] = "float64"
            model["state"] = None
        for state in _states(model):
            units = state.get("units", [])
            features = [state["features"]] if units else []
            for arrays_of in [*(unit["arrays"] for unit in units), *features]:
                for kind in ("by_slot", "whole"):
                    for name in NO_LONGER:
                        arrays_of[kind].pop(name, None)
    return header, arrays


def third(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 2 as version 3 would have it: no rows were learnt again then."""
    for model in _models(header):
        if model["state"] is not None:
            model["state"]["rehearsal"] = None
        for stage in _stages(model):
            stage["repeated"] = 0
    return header, arrays


def fourth(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 3, which is as version 4 would have it: no column had an offset.

    Who reads version 3 only would judge rows of columns with offsets wrongly, and must refuse them.
    """
    return header, arrays


def fifth(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 4 as version 5 would have it.

    Nobody had asked then what features say alone. Until new rows do, their probabilities of being
    selected are told with the caution that is due to what is not known.
    """
    for model in _models(header):
        for stage in _stages(model):
            stage["streamed"] = False
        for number, state in enumerate(_states(model)):
            if "features" in state:
                whole, by_slot = state["features"]["whole"], state["features"]["by_slot"]
                places = [f"upgraded/{number}/pull", f"upgraded/{number}/pull_facts"]
                sizes = [state["features"]["n_slots"], 3]
                arrays |= {at: np.zeros(n) for at, n in zip(places, sizes, strict=True)}
                by_slot["pull"] = {"$": "array", "at": places[0]}
                whole["pull_facts"] = {"$": "array", "at": places[1]}
    return header, arrays


def sixth(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 5 as version 6 would have it: no features were weighed then."""
    for model in _models(header):
        for stage in _stages(model):
            stage["few_speak"] = False
    return header, arrays


def seventh(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 6 as version 7 would have it: all paths had taken long steps then.

    So they go on beside the others, none of which has erred more so far.
    """
    for model in _models(header):
        for stage in _stages(model):
            stage["careful"] = stage["held_back"] = False
        for number, state in enumerate(_states(model)):
            for place, unit in enumerate(state.get("units", [])):
                if "bias_facts" in unit["arrays"]["whole"]:
                    at = f"upgraded/{number}/behind/{place}"
                    arrays[at] = np.zeros(1)
                    unit["arrays"]["whole"]["behind"] = {"$": "array", "at": at}
    return header, arrays


def eighth(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 7 as version 8 would have it: values were learnt as they are then.

    Who reads version 7 only would judge values by weights of their roots, and must refuse them.
    """
    for model in _models(header):
        if model["class"] in ROOTS:
            model["parameters"]["value_power"] = "auto"
    return header, arrays
