"""What brings files of older versions up to date, as headers and arrays (see ``container``)."""

from typing import Any

Header = dict[str, Any]
Arrays = dict[str, Any]

# The flagship's steps were all alike then, in double precision.
FLAGSHIP = "ThresherClassifier"
NO_LONGER = ("total", "salience", "bias_total", "bar", "mean", "bias_mean")


def second(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 1 as version 2 would have it.

    The flagship's weights lie differently since, and nobody can go on learning with the old ones:
    what is left of such a model is what prediction needs.
    """
    for model in (header, header.get("estimator")):
        if isinstance(model, dict) and model.get("kind") == "model":
            if model["class"] == FLAGSHIP:
                model["parameters"]["dtype"] = "float64"
                model["state"] = None
            for problem in (model["state"] or {}).get("problems", []):
                units = problem["state"].get("units", [])
                features = [problem["state"]["features"]] if units else []
                for arrays_of in [*(unit["arrays"] for unit in units), *features]:
                    for kind in ("by_slot", "whole"):
                        for name in NO_LONGER:
                            arrays_of[kind].pop(name, None)
    return header, arrays


def third(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 2 as version 3 would have it: no rows were learnt again then."""
    for model in (header, header.get("estimator")):
        if isinstance(model, dict) and model.get("kind") == "model":
            stages = [paths["stage"] for paths in model["model"]["paths"] or []]
            if model["state"] is not None:
                model["state"]["rehearsal"] = None
                states = [problem["state"] for problem in model["state"]["problems"]]
                stages += [state["stage"] for state in states if "stage" in state]
            for stage in stages:
                stage["repeated"] = 0
    return header, arrays


def fourth(header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return a file of version 3, which is as version 4 would have it: no column had an offset.

    Who reads version 3 only would judge rows of columns with offsets wrongly, and must refuse them.
    """
    return header, arrays
