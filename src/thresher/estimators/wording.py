"""A model's description in words that terminals and pages share."""

from typing import Any

from thresher.estimators.describing import Description, Selection
from thresher.estimators.storing.provenance import LIBRARIES

DIGITS = 16  # of a fingerprint, that are enough to tell data apart


def printable(text: str) -> str:
    """Return a name from a file as it can be shown: signs that steer a terminal are written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def facts_of(description: Description) -> dict[str, str]:
    """Return the facts of a model that are worth a line."""
    classes = ", ".join(printable(label) for label in description.classes)
    labels = {"classes": f"{len(description.classes)}: {classes}"} if classes else {}
    choice = description.size_choice
    return {
        "loss": str(description.parameters.get("loss")),
        **labels,
        "features": f"{description.kept:,} kept of {description.width:,}",
        **({"size": printable(choice["why"])} if choice else {}),
        "passes": f"{description.passes:,}",
        **({"steps": description.steps} if description.steps else {}),
        **({"prediction": description.computation} if description.computation else {}),
    }


def meaning_of(selection: Selection) -> str:
    """Say what the sign of a weight means, and what has been done that it means that."""
    if selection.positive is None:
        return "Weights above 0 raise the prediction."
    means = f"Weights above 0 speak for {printable(selection.positive)}."
    return " ".join([means, *done_for(selection)])


def done_for(selection: Selection) -> list[str]:
    """Return, in sentences, what the rows have made the fit do beside the usual."""
    done = []
    if selection.weighed:
        done.append("Features were weighed against each other, for few columns say anything.")
    if selection.margins is not None:
        done.append(_calibrated(selection.margins["scale"], selection.margins["shift"]))
    return done


def _calibrated(scale: float, shift: float) -> str:
    """Say how decision values were changed; one of the two changes may be none."""
    changes = [f"rescaled by {scale:.3g}"] if scale != 1.0 else []
    changes += [f"shifted by {shift:+.3g}"] if shift != 0.0 else []
    return (
        f"Decision values were {' and '.join(changes)}, as calibration on held-out folds suggested."
    )


def false_selections_of(selection: Selection) -> list[str]:
    """Return the bound on false selections as a sentence, at a threshold where it says anything."""
    for one in selection.false_selections:
        if one["expected_false_at_most"] < one["features"]:
            return [
                f"Of the {one['features']:,} features with a probability of {one['threshold']:g} "
                f"or more, at most {one['expected_false_at_most']:.2g} are expected to be false "
                "(Meinshausen & Bühlmann, 2010). Read it as a guide: it takes all features that "
                "say nothing for alike, and probabilities for exact."
            ]
    return []


def provenance_of(description: Description) -> dict[str, str]:
    """Return where a model comes from, as far as it is known."""
    known = dict(description.provenance)
    known["seed"] = description.parameters.get("random_state", known.get("seed"))
    known["data_fingerprint"] = (known.get("data_fingerprint") or "")[:DIGITS]
    versions = [f"{name} {known.pop(name)}" for name in (*LIBRARIES, "python") if name in known]
    words = {name.replace("_", " "): _words(value) for name, value in known.items()}
    words["made with"] = ", ".join(versions)
    return {printable(name): printable(one) for name, one in words.items() if one}


def parameters_of(description: Description) -> dict[str, str]:
    """Return the parameters, as they would be given."""
    given = description.parameters.items()
    return {name: "None" if value is None else printable(_words(value)) for name, value in given}


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "" if value is None else str(value)
