"""The selected features as a table people can read."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from thresher.estimators.false_selections import false_selections, meaning_of_probabilities
from thresher.estimators.grouping import Groups, group, probability_of_any
from thresher.estimators.names import names_of
from thresher.learners.paths import Paths


def selection_table(estimator: Any, rows: sparse.csr_array | None = None) -> Any:
    """Return a DataFrame of the selected features, strongest first, then the purged ones.

    With rows, features that stand in for each other are named as groups.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "selection_table() needs pandas: pip install 'thresher[pandas]'."
        ) from None
    weights, _ = estimator._settled()
    if rows is not None and estimator._model.vocabulary.normalize:
        rows = sparse.csr_array(normalize(rows))  # while all that makes up their length is there
    tables = [_table(pd, estimator, k, row, rows) for k, row in enumerate(weights)]
    table = tables[0]
    if len(tables) > 1:
        joined = pd.concat(tables, keys=estimator.classes_, names=["class"])
        table = joined.reset_index("class").reset_index(drop=True)
    table.attrs.update(_attributes(estimator, weights))
    return table


def _attributes(estimator: Any, weights: np.ndarray) -> dict[str, Any]:
    """Return what the probabilities mean, and how many features are expected to be false."""
    model = estimator._model
    bounds: list[dict[str, Any]] = []
    for number, (problem, row) in enumerate(zip(model.problems, weights, strict=True)):
        named = {"class": estimator._positive(number)} if len(weights) > 1 else {}
        bounds += [named | one for one in false_selections(model, problem, row)]
    known = {"expected_false_selections": bounds} if bounds else {}
    return meaning_of_probabilities(model) | known


def _table(
    pd: Any, estimator: Any, problem: int, weights: np.ndarray, rows: sparse.csr_array | None
) -> Any:
    """Return one problem's table."""
    vocabulary = estimator._model.vocabulary
    probability, purged_at = _stage_columns(estimator._model, problem)
    listed = np.flatnonzero((weights != 0) | (purged_at > 0))
    columns = vocabulary["columns"][listed]
    strengths = estimator._strengths(weights)[listed]
    rank = np.lexsort((columns, -probability[listed], -purged_at[listed], -strengths))
    listed, columns = listed[rank], columns[rank]
    stages = pd.array(purged_at[listed], dtype="Int64")
    stages[purged_at[listed] == 0] = pd.NA
    names = names_of(estimator, columns)
    shown = {
        "feature": names,
        "weight": weights[listed],
        "sign": np.sign(weights[listed]).astype(int),
        "selection_probability": probability[listed],
        "rows": vocabulary["occurrences"][listed],
        "purged_at": stages,
    }
    if rows is not None:
        n_selected = int(np.count_nonzero(weights))
        groups = group(rows[:, columns], n_selected)
        shown |= _group_columns(groups, names, probability[listed])
    return pd.DataFrame(shown)


def _stage_columns(model: Any, problem: int) -> tuple[np.ndarray, np.ndarray]:
    """Return selection probabilities and stages of purging; learners without paths have none."""
    state, n_slots = model.problems[problem].state, len(model.vocabulary)
    if isinstance(state, Paths):
        return model.probabilities(model.problems[problem]), state.shown("purged_at")
    return np.full(n_slots, np.nan), np.zeros(n_slots, np.int64)


def _group_columns(groups: Groups, names: list[str], probability: np.ndarray) -> dict[str, Any]:
    """Return the columns that tell of groups; a feature that stands alone has none."""
    words = np.array(names, dtype=object)
    stand_ins = np.full(words.size, None, dtype=object)
    together = np.full(words.size, np.nan)
    for leader in np.unique(groups.leader[groups.leader >= 0]):
        stand_ins[leader] = words[groups.members(leader)].tolist()
        mine = groups.leader == leader
        together[mine] = probability_of_any(probability[mine])
    return {
        "group": np.where(groups.leader >= 0, words[groups.leader], None),
        "correlation": groups.correlation,
        "group_probability": together,
        "stand_ins": stand_ins,
    }
