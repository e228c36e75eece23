"""The untuned default against what a dense model can give, and one pass against ten."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from experiments.claim.judging import missed, support
from experiments.claim.rivals import OURS, Rival
from experiments.claim.sizes import sizes
from experiments.claim.sizing import LOSS
from experiments.claim.steps import SCALING
from experiments.datasets import Split
from experiments.fitting import fit, prepared
from experiments.methods import method
from experiments.store import Store

TEXT = ("dexter", "rcv1-sample", "farm_ads", "reuters_moneyfx")
PENALTIES = [10.0**power for power in np.arange(-1, 4.5, 0.5)]
STREAM_SEEDS, CHUNK = range(5), 256


def leave_untuned(dataset: str, rival: Rival, _: Store) -> dict[str, Any]:
    """Fit our defaults, number of features and all."""
    data = prepared(dataset, SCALING)
    models = [
        fit(method(OURS), LOSS, {}, data.X_train, data.y_train, seed)[0] for seed in rival.seeds
    ]
    return _verdicts(models, data)


def fit_dense(dataset: str, _: Rival, __: Store) -> dict[str, Any]:
    """Fit ridge logistic regression on all columns, its C by cross-validation."""
    data = prepared(dataset, SCALING)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": PENALTIES}, cv=folds)
    search.fit(data.X_train, data.y_train)
    return {"params": search.best_params_, **_verdicts([search.best_estimator_], data)}


def _verdicts(models: list[Any], data: Split) -> dict[str, Any]:
    return {
        "errors": [100 * float(missed(model, data).mean()) for model in models],
        "sizes": [len(support(model, data)) for model in models],
    }


def stream_sizes(dataset: str) -> list[int]:
    """Return the sizes at which a stream is tried: all but a single feature."""
    return [size for size in sizes(dataset) if size > 1]


def stream(dataset: str, _: Rival, __: Store) -> dict[str, Any]:
    """Learn from rows that pass once, chunk by chunk, and from ten passes over them."""
    data = prepared(dataset, SCALING)
    points = []
    for size in stream_sizes(dataset):
        once = [_once(size, data, seed) for seed in STREAM_SEEDS]
        ten = [_ten(size, data, seed) for seed in STREAM_SEEDS]
        points.append({"size": size, "once": _verdicts(once, data), "ten": _verdicts(ten, data)})
    return {"points": points}


def _once(size: int, data: Split, seed: int) -> Any:
    order = np.random.default_rng(seed).permutation(len(data.y_train))
    chunks = np.array_split(order, -(-len(order) // CHUNK))
    model = method(OURS).build(LOSS, seed, {"n_features_to_select": size, "max_iter": 1})
    passing = ((data.X_train[rows], data.y_train[rows]) for rows in chunks)
    return model.fit_stream(passing, classes=np.unique(data.y_train))


def _ten(size: int, data: Split, seed: int) -> Any:
    params = {"n_features_to_select": size, "max_iter": 10}
    return fit(method(OURS), LOSS, params, data.X_train, data.y_train, seed)[0]
