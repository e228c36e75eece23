"""The selected features as a table people can read."""

from typing import Any

import numpy as np

from thresher.estimators.describing import names_of
from thresher.learners.paths import Paths


def selection_table(estimator: Any) -> Any:
    """Return a DataFrame of the selected features, strongest first, then the purged ones."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "selection_table() needs pandas: pip install 'thresher[pandas]'."
        ) from None
    weights, _ = estimator._settled()
    tables = [pd.DataFrame(_columns(pd, estimator, k, row)) for k, row in enumerate(weights)]
    if len(tables) == 1:
        return tables[0]
    return pd.concat(tables, keys=estimator.classes_, names=["class"]).reset_index("class")


def _columns(pd: Any, estimator: Any, problem: int, weights: np.ndarray) -> dict[str, Any]:
    """Return the columns of one problem's table."""
    vocabulary = estimator._model.vocabulary
    probability, purged_at = _stage_columns(estimator._model.problems[problem].state, weights.size)
    listed = np.flatnonzero((weights != 0) | (purged_at > 0))
    columns = vocabulary["columns"][listed]
    rank = np.lexsort((columns, -probability[listed], -purged_at[listed], -np.abs(weights[listed])))
    listed, columns = listed[rank], columns[rank]
    stages = pd.array(purged_at[listed], dtype="Int64")
    stages[purged_at[listed] == 0] = pd.NA
    return {
        "feature": names_of(estimator, columns),
        "weight": weights[listed],
        "sign": np.sign(weights[listed]).astype(int),
        "selection_probability": probability[listed],
        "rows": vocabulary["occurrences"][listed],
        "purged_at": stages,
    }


def _stage_columns(state: Any, n_slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return selection probabilities and stages of purging; learners without paths have none."""
    if isinstance(state, Paths):
        return state.feature("probability"), state.feature("purged_at")
    return np.full(n_slots, np.nan), np.zeros(n_slots, np.int64)
