"""What the columns of a fitted model are called."""

from typing import Any

import numpy as np

from thresher.data.naming import HashedNames, Names
from thresher.data.sources.given_columns import frame_names


class NamedColumns:
    """The part of a model that knows what its columns are called.

    Names of a data frame that ``fit`` was given are scikit-learn's to set; all others come with
    the source, and may grow with it.
    """

    _names: Names | None = None  # of a source whose features have names
    _index_base: int | None = None  # what a file of numbered features calls its first column

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of all columns, of a data frame or of a table of numbers in a file."""
        told = vars(self).get("feature_names_in_")
        names = table_names(self._names) if told is None else told
        if names is None:
            raise AttributeError(f"This {type(self).__name__} has no names for all columns.")
        return names

    @feature_names_in_.setter
    def feature_names_in_(self, names: np.ndarray) -> None:
        vars(self)["feature_names_in_"] = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        vars(self).pop("feature_names_in_", None)
        self._forget_source()

    def _forget_source(self) -> None:
        """Know nothing of the source of an earlier training."""
        self._names, self._index_base = None, None
        for fact in ("data_fingerprint_", "provenance_"):
            vars(self).pop(fact, None)


def table_names(names: Names | None) -> np.ndarray | None:
    """Return the names of all columns if each is a column of numbers of one table, else None."""
    if names is None or isinstance(names, HashedNames) or not names.categorical:
        return None
    if len(names.categorical) != len(names) or any(names.categorical.values()):
        return None
    return np.array(list(names.categorical), object)


def refuse_other_names(model: Any, X: Any) -> None:
    """Raise a ValueError if a data frame calls columns otherwise than the model's source did.

    That is for sources whose features are not columns of a table; scikit-learn compares the others.
    """
    names, called = getattr(model, "_names", None), frame_names(X)
    if names is None or called is None or hasattr(model, "feature_names_in_"):
        return
    for column in columns_used(model).tolist():
        if column >= len(called) or called[column] != names.name(column):
            raise ValueError(
                f"The model was trained on features with names, and calls column {column} "
                f"{names.name(column)!r}: X has other columns. Predict rows in the format of "
                "training (thresher predict), or give an array whose columns are in the model's "
                "order."
            )


def names_of(model: Any, columns: np.ndarray) -> list[str]:
    """Return what columns are called: by their names, or as numbered in the files of training.

    Columns of arrays are called x0, x1, ... as scikit-learn does.
    """
    named = getattr(model, "feature_names_in_", None)
    if named is not None:
        return [str(named[column]) for column in columns]
    if model._names is not None:
        return [model._names.name(column) for column in columns.tolist()]
    base = model._index_base
    return [f"x{column}" if base is None else str(column + base) for column in columns.tolist()]


def columns_used(model: Any) -> np.ndarray:
    """Return the columns with a weight, ascending."""
    used = (model._settled()[0] != 0).any(axis=0)
    return np.sort(model._model.vocabulary["columns"][used])
