"""The flagship's estimators on Dask: the local ones, and where the rows are."""

from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.utils.metaestimators import available_if

from thresher.estimators import thresher as local
from thresher.validation import Kind, OneOf, Parameter, Parameters, Whole


@runtime_checkable
class Cluster(Protocol):
    """What runs tasks."""

    def submit(self, function: Any, *given: Any, **options: Any) -> Any:
        """Run a task; return what gives its result."""
        ...


OWN: Parameters = (
    Parameter(
        "client",
        None,
        (OneOf(None), Kind(Cluster, "a dask.distributed.Client")),
        "distributed.Client or None",
        "The cluster; None is the client that was opened last.",
    ),
    Parameter(
        "max_nonzeros",
        250_000_000,
        (Whole(1),),
        "int",
        "``fit`` gathers the columns that are winnowed in one process, up to this many nonzeros.",
    ),
)
OWN_NAMES = tuple(one.name for one in OWN)


class DaskModel(local.ThresherModel):
    """What the estimators on Dask have in common."""

    client: Any
    max_nonzeros: int
    _local: ClassVar[type[local.ThresherModel]]

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any
    ) -> Self:
        """Select features and fit their weights from shards of rows.

        The number of shards and of workers changes no bit of the model, nor does a worker that
        fails on the way. It is that of the local estimator with the same ``max_columns``, if that
        is a number.

        Parameters
        ----------
        X : str, list of paths, dask array or list of delayed
            A pattern of files or their paths, which workers open themselves; a dask array of dense
            or CSR blocks; or delayed tuples of X and y, or of X, y and weights.
        y : array or dask array, optional
            Labels of an array's rows.
        sample_weight : array or dask array, optional
            How much each of an array's rows counts.
        **reading
            How files are read: the options of ``thresher.open_rows``.
        """
        from thresher.dask import fitting

        with self._exclusive():
            self.check_parameters()
            client = fitting.client_of(self.client)
            shards = fitting.shards_of(client, X, y, sample_weight, reading)
            fitted = fitting.fit(client, self._unfitted(), shards, self.max_nonzeros)
            draft = self._draft(fresh=True)
            learned = vars(fitted).items()
            draft.__dict__.update({k: v for k, v in learned if k not in fitted.get_params()})
            self._become(draft)
            self.announce(stacklevel=3)
            return self

    def to_local(self) -> Any:
        """Return the model as an estimator that knows nothing of Dask."""
        model = self._local(**self._local_parameters())
        model.__dict__.update(
            {k: v for k, v in vars(self).items() if k not in (*self.get_params(), "_lock")}
        )
        return model

    def save(self, path: Any, training_state: bool = False) -> None:
        """Write the model to one file, as the local estimator does."""
        self.to_local().save(path, training_state)

    def _local_parameters(self) -> dict[str, Any]:
        given = self.get_params(deep=False)
        return {name: value for name, value in given.items() if name not in OWN_NAMES}

    def _unfitted(self) -> local.ThresherModel:
        """Return what workers fit; a task that is run again must draw the same numbers."""
        parameters = self._local_parameters() | {"verbose": 0}
        if self.random_state is None:
            parameters["random_state"] = int(np.random.default_rng().integers(2**31))
        return self._local(**parameters)

    def _lazily(self, method: str, X: Any, dtype: Any, n_outputs: int | None = None) -> Any:
        """Return a dask array of predictions, block by block."""
        predict, X = getattr(self.to_local(), method), X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1}
        if n_outputs is not None:
            shape = {"chunks": (X.chunks[0], (n_outputs,))}
        meta = np.zeros((0,) if n_outputs is None else (0, 0), dtype)
        return X.map_blocks(predict, dtype=dtype, meta=meta, **shape)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client out: it is of this process."""
        return {**super().__getstate__(), "client": None}


def _is_lazy(X: Any) -> bool:
    return hasattr(X, "dask") and hasattr(X, "map_blocks")


def _has(method: str) -> Any:
    return available_if(lambda model: getattr(model.to_local(), method) is not None)


class ThresherClassifier(DaskModel, local.ThresherClassifier):
    """``thresher.ThresherClassifier`` on shards of rows that workers of a Dask cluster hold.

    Attributes are the same. Predictions of dask arrays are dask arrays.
    """

    parameters: ClassVar[Parameters] = (*local.ThresherClassifier.parameters, *OWN)
    _local = local.ThresherClassifier

    def predict(self, X: Any) -> Any:
        """Return the most likely class of every row."""
        if _is_lazy(X):
            return self._lazily("predict", X, self.classes_.dtype)
        return super().predict(X)

    def decision_function(self, X: Any) -> Any:
        """Return the margins: positive for the second of two classes, or a column per class."""
        if _is_lazy(X):
            n_outputs = self.fitted_.n_outputs
            shape = n_outputs if n_outputs > 1 else None
            return self._lazily("decision_function", X, np.float64, shape)
        return super().decision_function(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every class."""
        if _is_lazy(X):
            return self._lazily("predict_proba", X, np.float64, self.classes_.size)
        return super().predict_proba(X)


class ThresherRegressor(DaskModel, local.ThresherRegressor):
    """``thresher.ThresherRegressor`` on shards of rows that workers of a Dask cluster hold.

    Attributes are the same. Predictions of dask arrays are dask arrays.
    """

    parameters: ClassVar[Parameters] = (*local.ThresherRegressor.parameters, *OWN)
    _local = local.ThresherRegressor

    def predict(self, X: Any) -> Any:
        """Return the number predicted for every row."""
        if _is_lazy(X):
            return self._lazily("predict", X, np.float64)
        return super().predict(X)
