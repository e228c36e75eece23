"""A fitted estimator as one file: what prediction needs, and on request all that learning needs.

Kept are the features with a weight in any problem and those that are still stable. Features that
were purged in all problems are forgotten, unless columns that never occurred count as stable: then
the purged ones are what tells the stable set.
"""

import os
from typing import Any

import numpy as np

from thresher.estimators.decisions.levelling import lines_tree
from thresher.estimators.decisions.step_lengths import scale_of
from thresher.estimators.sized import choice_tree
from thresher.estimators.storing.provenance import provenance
from thresher.files import container
from thresher.files.tree import pack, write_tree
from thresher.files.words import narrow
from thresher.learners.paths import Paths


def save(estimator: Any, path: str | os.PathLike[str], training_state: bool = False) -> None:
    """Write a fitted estimator to a file, whole or not at all."""
    write_tree(path, tree_of(estimator, training_state))


def bytes_of(estimator: Any) -> bytes:
    """Return the file that ``save`` writes."""
    return container.dumps(*pack(tree_of(estimator)))


def tree_of(estimator: Any, training_state: bool = False) -> dict[str, Any]:
    """Return a fitted estimator as a tree of plain values; see ``loading.estimator_from``."""
    _refuse_unknown_class(estimator)
    weights, intercepts = estimator._settled()
    _refuse_non_finite(weights, intercepts)
    kept = _kept_slots(estimator, weights)
    columns = estimator._model.vocabulary["columns"][kept]
    return {
        "kind": "model",
        "class": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "provenance": provenance(estimator),
        "fitted": _fitted(estimator, training_state),
        "names": _names(estimator, columns, training_state),
        "model": {
            "n_columns": estimator._model.vocabulary.n_columns,
            "normalize": estimator._model.vocabulary.normalize,
            "columns": narrow(columns),
            "candidates": estimator._model.candidates,
            "occurrences": narrow(estimator._model.vocabulary["occurrences"][kept]),
            "intercepts": intercepts,
            "weights": [_nonzero(row[kept]) for row in weights],
            "paths": _paths(estimator, kept),
        },
        "state": estimator._model.tree() if training_state else None,
    }


def _refuse_unknown_class(estimator: Any) -> None:
    """Refuse what could not be loaded: files name classes, but never bring or import any."""
    import thresher.estimators

    name = type(estimator).__name__
    if getattr(thresher.estimators, name, None) is not type(estimator):
        raise TypeError(
            f"{name} is not one of Thresher's own classes, and only those can be loaded again. "
            "Use pickle or joblib for classes of your own."
        )


def _refuse_non_finite(*numbers: np.ndarray) -> None:
    if not all(np.isfinite(some).all() for some in numbers):
        raise ValueError("The model has weights that are not finite: it cannot be saved.")


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return all parameters; of a generator of random numbers there remains the seed it gave."""
    parameters = estimator.get_params(deep=False)
    weights = parameters.get("class_weight")
    if isinstance(weights, dict):
        parameters["class_weight"] = {"pairs": [list(pair) for pair in weights.items()]}
    if isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = estimator._seed
    if "cv" in parameters:
        parameters.update(estimator._plain_folds())
    return parameters


def _fitted(estimator: Any, training_state: bool) -> dict[str, Any]:
    """Return what scikit-learn knows of a fitted estimator, and what goes with it."""
    return {
        **estimator._label_facts(training_state),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": vars(estimator).get("feature_names_in_"),  # others are in names
        "n_iter": int(estimator.n_iter_),
        "seed": estimator._seed,
        "sparse": estimator._sparse,
        "index_base": getattr(estimator, "_index_base", None),
        "reading": getattr(estimator, "_reading", {}),
        "size_choice": choice_tree(estimator),
        **({} if (lines := lines_tree(estimator)) is None else {"margin_lines": lines}),
        **({} if estimator._power == 1.0 else {"value_power": estimator._power}),
        **({"rare_columns": True} if estimator._rarity else {}),
        **({} if (scale := scale_of(estimator)) == 1.0 else {"step_scale": scale}),
        **({} if estimator._offsets is None else {"column_offsets": estimator._offsets.tree()}),
        **({} if estimator._scales is None else {"column_scales": estimator._scales.tree()}),
    }


def _names(estimator: Any, columns: np.ndarray, training_state: bool) -> dict[str, Any] | None:
    """Return the names of columns read from files: of all that may be met again, or of the kept."""
    names = getattr(estimator, "_names", None)
    if names is None:
        return None
    if training_state:
        return names.tree()
    return names.only(_columns_that_count(estimator, columns)).tree()


def _columns_that_count(estimator: Any, columns: np.ndarray) -> np.ndarray:
    """Return the columns that predictions need: of prepared ones all make up the rows' length."""
    vocabulary = estimator._model.vocabulary
    prepared = estimator._scales is not None or estimator._offsets is not None
    if not (prepared and vocabulary.normalize):
        return columns
    known = [columns]
    if estimator._scales is not None:
        known.append(np.flatnonzero(estimator._scales.factors))
    if estimator._offsets is not None:
        known.append(estimator._offsets.columns)
    return np.unique(np.concatenate(known))


def _kept_slots(estimator: Any, weights: np.ndarray) -> np.ndarray:
    """Return the slots that are stored, by ascending column."""
    kept = (weights != 0).any(axis=0)
    states = [problem.state for problem in estimator._model.problems]
    if isinstance(states[0], Paths):
        kept = kept | np.any([paths.stable for paths in states], axis=0)
        if any(estimator._unseen_kept()):
            kept[:] = True
    slots = np.flatnonzero(kept)
    return slots[np.argsort(estimator._model.vocabulary["columns"][slots])]


def _nonzero(weights: np.ndarray) -> dict[str, np.ndarray]:
    """Return the places and values of the weights that are not zero."""
    places = np.flatnonzero(weights)
    return {"places": narrow(places), "values": weights[places]}


def _paths(estimator: Any, kept: np.ndarray) -> list[dict[str, Any]] | None:
    """Return what the stabilized learners know of the kept features and of their own way."""
    model = estimator._model
    if not isinstance(model.problems[0].state, Paths):
        return None
    return [
        {
            "purged_at": narrow(problem.state.shown("purged_at")[kept]),
            "probability": model.probabilities(problem)[kept],
            "stage": problem.state.stage.tree(),
            "history": problem.state.history.tree(),
        }
        for problem in model.problems
    ]
