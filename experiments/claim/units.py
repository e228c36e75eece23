"""Columns in units a thousand times apart: what they cost, and what scaling them back restores."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.preprocessing import MaxAbsScaler

from experiments.claim.judging import missed
from experiments.claim.rivals import OURS, Rival
from experiments.claim.sizes import share_of
from experiments.claim.sizing import LOSS
from experiments.datasets import Split, load
from experiments.fitting import fit
from experiments.methods import method
from experiments.registry import named
from experiments.store import Store
from thresher import UnitScaler

SEEDS = range(3)
FACTOR, SHARE = 1000.0, 0.1  # of the columns

# What may bring columns to a common scale; the bar is about the one that the warning names.
REMEDIES: dict[str, Callable[[], Any]] = {"MaxAbsScaler": MaxAbsScaler, "UnitScaler": UnitScaler}
NAMED = "UnitScaler"


def unit_sizes(dataset: str) -> list[int]:
    """Return the size at which units are tried: 1 % of the columns, 50 where that is one."""
    one_percent = share_of(named(dataset).columns, 0.01)
    return [one_percent if one_percent > 1 else 50]


def mix_units(dataset: str, _: Rival, __: Store) -> dict[str, Any]:
    """Fit the rows as they are, with a tenth of the columns a thousandfold, and those mended."""
    raw, size = load(dataset), unit_sizes(dataset)[0]
    mixed = _apart(raw)
    return {
        "size": size,
        "raw": _fitted(size, raw),
        "mixed": _fitted(size, mixed),
        "mended": {name: _fitted(size, _mended(mixed, REMEDIES[name]())) for name in REMEDIES},
    }


def _apart(data: Split) -> Split:
    factors = np.ones(data.X_train.shape[1])
    chosen = np.random.default_rng(0).random(len(factors)) < SHARE
    factors[chosen] = FACTOR
    return _with(data, *(csr_matrix(X @ diags(factors)) for X in (data.X_train, data.X_test)))


def _mended(data: Split, scaler: Any) -> Split:
    scaler.fit(data.X_train)
    return _with(data, *(scaler.transform(X) for X in (data.X_train, data.X_test)))


def _with(data: Split, X_train: csr_matrix, X_test: csr_matrix) -> Split:
    return Split(X_train, data.y_train, X_test, data.y_test)


def _fitted(size: int, data: Split) -> dict[str, Any]:
    params, errors = {"n_features_to_select": size}, []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for seed in SEEDS:
            model, _ = fit(method(OURS), LOSS, params, data.X_train, data.y_train, seed)
            errors.append(100 * float(missed(model, data).mean()))
    words = {str(each.message) for each in said if issubclass(each.category, UserWarning)}
    return {"errors": errors, "warnings": sorted(words)}
