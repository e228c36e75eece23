"""Does a model select the same features when it is trained on other rows?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from thresher.data.errors import DataError
from thresher.data.sources.opening import open_source
from thresher.data.sources.protocol import Reading, Source
from thresher.estimators.evaluating import Told, keep_quiet
from thresher.estimators.gathering import Labelled, gathered
from thresher.estimators.inputs import check_rows, check_weights
from thresher.estimators.names import columns_used
from thresher.estimators.parameters import Constraints
from thresher.estimators.reading import as_in_training
from thresher.estimators.thresher import ThresherClassifier, ThresherRegressor
from thresher.estimators.thresher_cv import CrossValidated
from thresher.stability import mean_pairwise_kappa, nogueira_stability
from thresher.validation import Whole, check_parameters

ASKED: Constraints = {"refits": (Whole(1),), "seed": (Whole(0),)}


@dataclass(frozen=True)
class Refits:
    """How much the selections of several fits agree; nan where they are all empty or all."""

    refits: int
    kappa: float  # Cohen's, mean over pairs
    stability: float  # Nogueira's, with its 95 % interval
    low: float
    high: float
    features: list[int]  # selected by each
    in_all: int  # selected by every one


def rows_like(model: Any, paths: Sequence[str], **reading: Any) -> Source:
    """Return a source that numbers features anew, in the way of the model's training."""
    how = as_in_training(model, Reading.asked(reading), labelled=True)
    names = getattr(model, "_names", None)
    kinds = {} if names is None else names.categorical
    how = replace(how, categories=[name for name, words in kinds.items() if words])
    return open_source(paths, how)


def gather(source: Source, told: Told = keep_quiet) -> Labelled:
    """Read a source into memory."""
    chunks = []
    for chunk in source.chunks():
        if chunk.labels is None:
            raise DataError("The rows have no labels: refits need one for every row.")
        chunks.append(chunk)
        told(len(chunk))
    if not chunks:
        raise DataError("There is not a single row to refit with.")
    return gathered(chunks)


def selection_shares(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, refits: int = 20, seed: int = 0
) -> np.ndarray:
    """Return the share of refits on random halves of the rows that select each column.

    What ``selection_probabilities_`` estimates from one fit, measured: every refit costs one. Each
    has the model's parameters and, where there is a size to choose, selects as many features, of
    several classes as many for each; of a ``CV`` class it is the class without, of the chosen size.

    Parameters
    ----------
    model : estimator
        Fitted on these rows.
    X, y, sample_weight
        The rows it was fitted on.
    refits : int, default=20
        How many halves are drawn.
    seed : int, default=0
        Which halves these are.
    """
    check_is_fitted(model)
    check_parameters("selection_shares", {"refits": refits, "seed": seed}, ASKED)
    rows = check_rows(model, X, reset=False)
    labels = model._check_labels(y, rows.shape[0])
    data = Labelled(rows, labels, check_weights(sample_weight, rows.shape[0]))
    chosen = np.concatenate(selected_on_halves(of_its_size(model), data, refits, seed))
    return np.bincount(chosen, minlength=rows.shape[1]) / refits


def of_its_size(model: Any) -> Any:
    """Return a model to be fitted: one with these parameters that selects as many features."""
    if not hasattr(model, "n_features_to_select"):
        return clone(model)
    kind, parameters = type(model), model.get_params(deep=False)
    if isinstance(model, CrossValidated):
        kind = ThresherRegressor if is_regressor(model) else ThresherClassifier
        parameters = {name: one for name, one in parameters.items() if name in kind.constraints}
    # of several classes each has its own features
    size = columns_used(model).size if model._n_problems == 1 else model.size_choice_.size
    return kind(**{**parameters, "n_features_to_select": max(1, size)})


def refit_on_halves(
    model: Any, data: Labelled, refits: int, seed: int, told: Told = keep_quiet
) -> Refits:
    """Train anew on random halves of the rows, with the model's parameters, and compare."""
    chosen = selected_on_halves(model, data, refits, seed, told)
    return _compared(chosen, np.unique(data.rows.indices))


def selected_on_halves(
    model: Any, data: Labelled, refits: int, seed: int, told: Told = keep_quiet
) -> list[np.ndarray]:
    """Return the columns that models with these parameters select on random halves of the rows."""
    rng = np.random.default_rng(seed)
    chosen = []
    for number in range(refits):
        half = np.sort(rng.permutation(data.labels.size)[: data.labels.size // 2])
        _refuse_one_class(model, data.labels[half], f"Refit {number + 1} of {refits}")
        fresh = clone(model).set_params(random_state=seed + number, warm_start=False)
        fresh.fit(data.rows[half], data.labels[half], data.weights[half])
        chosen.append(columns_used(fresh))
        told(1)
    return chosen


def _refuse_one_class(model: Any, labels: np.ndarray, who: str) -> None:
    """Refuse a half that teaches a classifier nothing; all others are drawn as chance has it."""
    if is_classifier(model) and np.unique(labels).size < 2:
        raise DataError(
            f"{who} drew a half of the rows that has only one class, {labels[:1].tolist()[0]!r}: "
            "give more rows of the other classes, or another seed, or do fewer refits."
        )


def _compared(chosen: list[np.ndarray], occurring: np.ndarray) -> Refits:
    """Return how much selections agree, among the features that occur at all."""
    places = [np.searchsorted(occurring, columns) for columns in chosen]
    starts = np.concatenate([[0], np.cumsum([one.size for one in places])])
    columns = np.concatenate(places)
    shape = (len(chosen), max(occurring.size, 1))
    masks = sparse.csr_array((np.ones(columns.size), columns, starts), shape=shape)
    nogueira = nogueira_stability(masks)
    return Refits(
        refits=len(chosen),
        kappa=mean_pairwise_kappa(masks),
        stability=nogueira.stability,
        low=nogueira.low,
        high=nogueira.high,
        features=[one.size for one in chosen],
        in_all=int((np.bincount(columns, minlength=1) == len(chosen)).sum()),
    )
