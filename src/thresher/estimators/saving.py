"""Fitted estimators as files, and back. No code is in a file, and none is imported by its names.

What a file keeps besides parameters and the fitted model, a class declares in ``stored``: names of
attributes and their types. What learning needs to go on, it gives as ``training_tree()``.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import thresher
from thresher.estimators.learning import OnlineModel
from thresher.files import ModelFileError, access, container, tree
from thresher.files.access import as_tree, from_tree
from thresher.files.atomic import write_bytes
from thresher.files.tree import Tree, narrow
from thresher.fitted import CLIPPED, LOGISTIC, NO_LINK, SOFTMAX, Fitted
from thresher.formats.names import names_from_tree
from thresher.rows import MOST_COLUMNS

MODEL, CHECKPOINT = "model", "checkpoint"  # kinds of files
# The classes that a file can name, all of them public.
CLASSES = tuple(name for name in thresher.__all__ if name.endswith(("Classifier", "Regressor")))
NONSENSE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError)


class Stored(NamedTuple):
    """What the file of a model holds."""

    kind: str
    estimator: str  # its class
    parameters: Tree
    provenance: Tree
    fitted: Tree
    selection: dict[str, np.ndarray]
    facts: Tree  # other attributes
    training: Tree | None  # what learning needs to go on


def save(
    model: OnlineModel,
    path: str | os.PathLike[str],
    training_state: bool = False,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    ``about`` is added to where the model comes from (``provenance_``), such as a date; all of it
    must be plain values.
    """
    write_bytes(path, dumps(model, training_state, about))


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that ``save`` wrote.

    It predicts the same to the last bit, and shows the same coefficients, table and path. Learning
    goes on only if the file was saved with ``training_state=True``; ``fit`` begins anew.

    Parameters
    ----------
    path : path
        A file written by ``model.save`` or by ``thresher train``.

    Raises
    ------
    ModelFileError
        A ValueError: the file is missing, damaged, or not a model.
    """
    with container.naming(path):
        return loads(container.bytes_in(path))


def dumps(
    model: OnlineModel, training_state: bool = False, about: Mapping[str, Any] | None = None
) -> bytes:
    """Return the bytes of the file that ``save`` writes."""
    return tree.dumps(model_tree(model, training_state, about))


def loads(data: bytes) -> Any:
    """Return the estimator whose file has these bytes."""
    return model_from(tree.loads(data))


def model_tree(
    model: OnlineModel, training_state: bool = False, about: Mapping[str, Any] | None = None
) -> Tree:
    """Return a fitted estimator as a tree of plain values."""
    if getattr(thresher, type(model).__name__, None) is not type(model):
        raise TypeError(
            f"{type(model).__name__} is not one of Thresher's own classes, and only those can be "
            "loaded again. Use pickle or joblib for classes of your own."
        )
    known = vars(model)
    return Stored(
        MODEL,
        type(model).__name__,
        parameters_tree(model),
        {**provenance(model), **(about or {})},
        fitted_tree(model.fitted_),
        dict(model.selection_facts()),
        {name: as_tree(known[name]) for name in model.stored if name in known},
        model.training_tree() if training_state else None,
    )._asdict()


@contextmanager
def refusing_nonsense() -> Iterator[None]:
    """Raise a ModelFileError whatever goes wrong with a value that was read."""
    try:
        yield
    except ModelFileError:
        raise
    except NONSENSE as error:
        access.refuse(str(error).rstrip(".") or type(error).__name__)


@refusing_nonsense()
def model_from(read: Tree) -> Any:
    """Return the estimator that gave a tree, or raise a ModelFileError."""
    refuse_other_kind(read, MODEL)
    stored: Stored = from_tree(Stored, read, MODEL)
    if stored.estimator not in CLASSES:
        access.refuse(f"this version of Thresher has no class {stored.estimator[:80]!r}")
    model = getattr(thresher, stored.estimator)()
    access.same_names(stored.parameters, model.get_params(deep=False), "parameters")
    model.set_params(
        **{
            name: dict(value["pairs"]) if isinstance(value, dict) else value
            for name, value in stored.parameters.items()
        }
    )
    model.check_parameters()
    fitted, selection = fitted_from(stored.fitted), stored.selection
    if (fitted.labels is None) == hasattr(model, "class_weight"):
        access.refuse("labels do not go with the class")
    for name in selection:
        access.array(selection, name, np.float64, fitted.columns.shape)
    model.restore(fitted, selection)
    facts = facts_from(stored.facts, model.stored, fitted)
    vars(model).update(facts, provenance_=stored.provenance)
    if stored.training is not None:
        model.restore_training(stored.training)
    return model


def refuse_other_kind(read: Tree, kind: str) -> None:
    """Refuse the tree of a file of another kind."""
    found = read.get("kind")
    if found != kind:
        raise ModelFileError(f"it is not a {kind}, but a {str(found)[:80]}.")


# ------------------------------------------------------------------------------------- checkpoints


def write_checkpoint(path: str | os.PathLike[str], recipe: Tree, training: Tree | None) -> None:
    """Write the tree of a training that is under way, whole or not at all.

    The ``recipe`` is what it was started with, such as files and parameters, as plain values;
    without a ``training`` nothing has been learned yet.
    """
    state = {"kind": CHECKPOINT, "recipe": recipe, "training": training}
    write_bytes(path, tree.dumps(state))


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[Tree, Tree | None]:
    """Return the recipe and the training's tree of a checkpoint, or raise a ModelFileError."""
    read = tree.read_tree(path)
    with container.naming(path):
        refuse_other_kind(read, CHECKPOINT)
        return access.part(read, "recipe", Tree), access.part(read, "training", Tree | None)


# -------------------------------------------------------------------------------------- parameters


def parameters_tree(model: OnlineModel) -> Tree:
    """Return all parameters; a generator of random numbers is replaced by the seed it gave."""
    parameters = model.get_params(deep=False)
    for name, value in parameters.items():
        if isinstance(value, np.random.RandomState):
            parameters[name] = model.seed_
        elif isinstance(value, dict):
            parameters[name] = {"pairs": [list(pair) for pair in value.items()]}
        elif not isinstance(value, str | int | float | np.generic | None):
            raise TypeError(
                f"The parameter {name}={value!r} cannot be stored: files hold no code. What was "
                f"learned does not need it any more, so set it to something plain before saving, "
                f"such as set_params({name}=None)."
            )
    return parameters


def provenance(model: OnlineModel) -> Tree:
    """Return where a model comes from; no time, so that the same model gives the same bytes."""
    known = vars(model).get("provenance_")
    if known is not None:
        return dict(known)
    versions = {"thresher": thresher.__version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    state = model.get_params(deep=False).get("random_state")
    drawn = isinstance(state, np.random.RandomState)
    note = {"random_state": "a RandomState, replaced by the seed it gave"} if drawn else {}
    return {**versions, **note}


# ------------------------------------------------------------------------------------ fitted models


def fitted_tree(fitted: Fitted) -> Tree:
    """Return a fitted model as a tree."""
    if not (np.isfinite(fitted.weights).all() and np.isfinite(fitted.intercepts).all()):
        raise ValueError("The model has weights that are not finite: it cannot be saved.")
    return {
        **fitted._asdict(),
        "columns": narrow(fitted.columns),
        "preparation": as_tree(fitted.preparation),
        "names": None if fitted.names is None else fitted.names.tree(),
    }


def fitted_from(read: Tree) -> Fitted:
    """Return the fitted model that gave a tree."""
    names = access.part(read, "names", Tree | None)
    fitted: Fitted = from_tree(Fitted, {**read, "names": None}, "fitted")
    how, n_columns = fitted.preparation, fitted.n_columns
    if not 0 <= n_columns < MOST_COLUMNS:
        access.refuse(f"n_columns is {n_columns}")
    parts, ways = fitted._asdict(), how._asdict()
    columns, measured = _columns(parts, "columns", n_columns), _columns(ways, "measured", n_columns)
    _refuse_infinite(parts, "intercepts", (None,))
    _refuse_infinite(parts, "weights", (fitted.intercepts.size, columns.size))
    _refuse_infinite(ways, "factors", measured.shape)
    if fitted.link not in (NO_LINK, LOGISTIC, CLIPPED, SOFTMAX):
        access.refuse(f"there is no link {fitted.link[:80]!r}")
    _check_labels(fitted.labels, fitted.intercepts.size)
    return fitted._replace(
        columns=columns,
        preparation=how._replace(measured=measured),
        names=None if names is None else names_from_tree(names),
    )


def _check_labels(labels: np.ndarray | None, n_outputs: int) -> None:
    """Refuse classes that are not in order; two have one output, three have three."""
    expected = 0 if labels is None else np.shape(labels)[0]
    if n_outputs != (expected if expected > 2 else 1):
        access.refuse(f"{expected} classes do not have {n_outputs} outputs")
    if labels is None:
        return
    if labels.ndim != 1 or expected < 2 or not (labels[1:] > labels[:-1]).all():
        access.refuse("classes are not in order")


def _columns(read: Tree, key: str, n_columns: int) -> np.ndarray:
    columns = access.integers(read, key, None, n_columns)
    if (np.diff(columns) <= 0).any():
        access.refuse(f"the {key} are not ascending")
    return columns


def _refuse_infinite(read: Tree, key: str, shape: tuple[int | None, ...]) -> None:
    if not np.isfinite(access.array(read, key, np.float64, shape)).all():
        access.refuse(f"the {key} are not finite")


def facts_from(read: Tree, kinds: Mapping[str, Any], fitted: Fitted) -> dict[str, Any]:
    """Return attributes of declared types; those of a path must fit the model."""
    if not set(read) <= set(kinds):
        access.refuse(f"there are {', '.join(sorted(set(read) - set(kinds)))}")
    facts = {name: from_tree(kinds[name], one, name) for name, one in read.items()}
    if "feature_names_in_" in facts:
        access.array(read, "feature_names_in_", object, (fitted.n_columns,))
    reading = {name: one for name, one in facts.get("reading_", {}).items() if one is not None}
    if any(isinstance(one, list) != (name == "na_values") for name, one in reading.items()):
        access.refuse("reading_ has a list for a string, or reversed")
    if "row_counts_" in facts:
        n_counts = 1 if fitted.labels is None else fitted.labels.size
        access.array(read, "row_counts_", np.int64, (n_counts,))
    if "path_" in facts:
        _check_path(facts["path_"]._asdict(), fitted)
    return facts


def _check_path(path: Tree, fitted: Fitted) -> None:
    """Refuse a path that is not made of models like the fitted one, one for every size."""
    n_sizes, n_outputs = len(path["columns"]), fitted.n_outputs
    parts = [one for one in path.values() if isinstance(one, list | np.ndarray)]
    sizes = [columns.size for columns in path["columns"]]
    if not n_sizes or any(len(one) != n_sizes for one in parts) or list(path["sizes"]) != sizes:
        access.refuse("the path has not a model of each of its sizes")
    _refuse_infinite(path, "intercepts", (n_sizes, n_outputs))
    pairs = ("columns", "weights", (n_outputs,)), ("fold_columns", "fold_shares", ())
    for (columns, numbers, n_rows), k in product(pairs, range(n_sizes)):
        inside = {columns: path[columns][k], numbers: path[numbers][k]}
        _refuse_infinite(
            inside, numbers, (*n_rows, _columns(inside, columns, fitted.n_columns).size)
        )
