"""Fitted estimators as files, and back. No code is in a file, and none is imported by its names.

What a file keeps besides parameters and the fitted model, a class declares in ``stored``: names of
attributes and their types. What learning needs to go on, it gives as ``training_tree()``.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_regressor

import thresher
from thresher.estimators.base import LinearModel
from thresher.files import access, container, tree
from thresher.files.access import as_tree, from_tree
from thresher.files.errors import ModelFileError
from thresher.files.tree import Tree, narrow
from thresher.fitted import CLIPPED, LOGISTIC, NO_LINK, SOFTMAX, Fitted
from thresher.formats.names import Names, names_from_tree
from thresher.prepare import Preparation
from thresher.rows import MOST_COLUMNS
from thresher.validation import check_parameters

MODEL, CHECKPOINT = "model", "checkpoint"  # kinds of files
# The classes that a file can name, all of them public.
CLASSES = (
    "FOBOSClassifier",
    "FTRLClassifier",
    "PlainSGDClassifier",
    "RDAClassifier",
    "StabilizedTruncatedSGDClassifier",
    "ThresherClassifier",
    "ThresherRegressor",
    "TruncatedGradientClassifier",
)
NONSENSE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError)


def save(
    model: LinearModel,
    path: str | os.PathLike[str],
    training_state: bool = False,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    ``about`` is added to where the model comes from (``provenance_``), such as a date; all of it
    must be plain values.
    """
    tree.write_tree(path, model_tree(model, training_state, about))


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
    read = tree.read_tree(path)
    with container.naming(path):
        return model_from(read)


def dumps(model: LinearModel, training_state: bool = False) -> bytes:
    """Return the bytes of the file that ``save`` writes."""
    return tree.dumps(model_tree(model, training_state))


def loads(data: bytes) -> Any:
    """Return the estimator whose file has these bytes."""
    return model_from(tree.loads(data))


def model_tree(
    model: LinearModel, training_state: bool = False, about: Mapping[str, Any] | None = None
) -> Tree:
    """Return a fitted estimator as a tree of plain values."""
    if class_of(type(model).__name__) is not type(model):
        raise TypeError(
            f"{type(model).__name__} is not one of Thresher's own classes, and only those can be "
            "loaded again. Use pickle or joblib for classes of your own."
        )
    known = vars(model)
    return {
        "kind": MODEL,
        "class": type(model).__name__,
        "parameters": parameters_tree(model),
        "provenance": {**provenance(model), **(about or {})},
        "fitted": fitted_tree(model.fitted_),
        "selection": dict(model.selection_facts()),
        "facts": {name: as_tree(known[name]) for name in model.stored if name in known},
        "training": model.training_tree() if training_state else None,
    }


def model_from(read: Tree) -> Any:
    """Return the estimator that gave a tree, or raise a ModelFileError."""
    kind = access.word(read, "kind")
    if kind != MODEL:
        raise ModelFileError(f"it is not a model, but a {kind[:80]}.")
    with refusing_nonsense():
        return _model(read)


@contextmanager
def refusing_nonsense() -> Iterator[None]:
    """Raise a ModelFileError whatever goes wrong with a value that was read."""
    try:
        yield
    except ModelFileError:
        raise
    except NONSENSE as error:
        access.refuse(str(error).rstrip(".") or type(error).__name__)


def class_of(name: str) -> type | None:
    """Return the class of a name, None if it is none of ours."""
    return getattr(thresher, name) if name in CLASSES else None


def _model(read: Tree) -> Any:
    kind: Any = class_of(access.word(read, "class"))
    if kind is None:
        access.refuse(f"this version of Thresher has no class {read['class'][:80]!r}")
    model = kind()
    model.set_params(**parameters_from(access.branch(read, "parameters"), model))
    fitted = fitted_from(access.branch(read, "fitted"))
    if (fitted.labels is None) != is_regressor(model):
        access.refuse("labels do not go with the class")
    model.restore(fitted, _selection(access.branch(read, "selection"), fitted))
    facts = facts_from(access.branch(read, "facts"), model.stored, fitted)
    vars(model).update(facts, provenance_=access.branch(read, "provenance"))
    if read.get("training") is not None:
        model.restore_training(access.branch(read, "training"))
    return model


def _selection(read: Tree, fitted: Fitted) -> dict[str, np.ndarray]:
    """Return what else is known of the model's columns, a number for each."""
    return {name: access.array(read, name, np.float64, fitted.columns.shape) for name in read}


# ------------------------------------------------------------------------------------- checkpoints


class Training(Protocol):
    """Training from a source, which can stop and go on."""

    def tree(self) -> Tree:
        """Return everything that the rest of the training depends on."""
        ...


def write_checkpoint(path: str | os.PathLike[str], recipe: Tree, training: Training | None) -> None:
    """Write a training that is under way, whole or not at all.

    The ``recipe`` is what it was started with, such as files and parameters, as plain values;
    without a ``training`` nothing has been learned yet.
    """
    state = None if training is None else training.tree()
    tree.write_tree(path, {"kind": CHECKPOINT, "recipe": recipe, "training": state})


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[Tree, Tree | None]:
    """Return the recipe and the training's tree of a checkpoint, or raise a ModelFileError."""
    read = tree.read_tree(path)
    with container.naming(path):
        kind = access.word(read, "kind")
        if kind != CHECKPOINT:
            raise ModelFileError(f"it is not a checkpoint, but a {kind[:80]}.")
        state = None if read.get("training") is None else access.branch(read, "training")
        return access.branch(read, "recipe"), state


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an intact checkpoint."""
    with suppress(ModelFileError):
        return container.read(path)[0].get("kind") == CHECKPOINT
    return False


def training_names(read: Tree) -> Names | None:
    """Return the names of columns known so far to a model that is in training, and nothing else."""
    training = access.branch(read, "training")
    if training.get("names") is None:
        return None
    with refusing_nonsense():
        return names_from_tree(access.branch(training, "names"))


# -------------------------------------------------------------------------------------- parameters


def parameters_tree(model: Any) -> Tree:
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


def parameters_from(read: Tree, model: Any) -> dict[str, Any]:
    """Return the parameters of a tree, all that the model has, and within their bounds."""
    access.same_names(read, model.get_params(deep=False), "parameters")
    parameters = {
        name: dict(value["pairs"]) if isinstance(value, dict) else value
        for name, value in read.items()
    }
    allowed = {one.name: one.allowed for one in model.parameters}
    check_parameters(type(model).__name__, parameters, allowed)
    return parameters


def provenance(model: Any) -> Tree:
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
    access.same_names(read, Fitted._fields, "parts of the fitted model")
    n_columns = access.whole(read, "n_columns", most=MOST_COLUMNS - 1)
    columns = _ascending(access.integers(read, "columns", None, n_columns), "columns")
    intercepts = access.array(read, "intercepts", np.float64, (None,))
    shape = (intercepts.size, columns.size)
    return Fitted(
        columns,
        _finite(access.array(read, "weights", np.float64, shape), "weights"),
        _finite(intercepts, "intercepts"),
        n_columns,
        _preparation(access.branch(read, "preparation"), n_columns),
        _link(read),
        _labels(read, intercepts.size),
        None if read["names"] is None else names_from_tree(access.branch(read, "names")),
    )


def _preparation(read: Tree, n_columns: int) -> Preparation:
    access.same_names(read, Preparation._fields, "parts of the preparation")
    measured = _ascending(access.integers(read, "measured", None, n_columns), "measured columns")
    factors = _finite(access.array(read, "factors", np.float64, measured.shape), "factors")
    kept = access.flag(read, "kept_length")
    return Preparation(access.flag(read, "unit"), measured, factors, kept)


def _link(read: Tree) -> str:
    link = access.word(read, "link")
    if link not in (NO_LINK, LOGISTIC, CLIPPED, SOFTMAX):
        access.refuse(f"there is no link {link[:80]!r}")
    return link


def _labels(read: Tree, n_outputs: int) -> np.ndarray | None:
    """Return the classes; two have one output, three have three."""
    labels = read["labels"]
    expected = 0 if labels is None else np.shape(labels)[0]
    if n_outputs != (expected if expected > 2 else 1):
        access.refuse(f"{expected} classes do not have {n_outputs} outputs")
    if labels is None:
        return None
    if labels.ndim != 1 or expected < 2 or not (labels[1:] > labels[:-1]).all():
        access.refuse("classes are not in order")
    return labels


def _ascending(columns: np.ndarray, name: str) -> np.ndarray:
    if (np.diff(columns) <= 0).any():
        access.refuse(f"the {name} are not ascending")
    return columns


def _finite(numbers: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(numbers).all():
        access.refuse(f"the {name} are not finite")
    return numbers


def facts_from(read: Tree, kinds: Mapping[str, Any], fitted: Fitted) -> dict[str, Any]:
    """Return attributes of declared types; those of a path must fit the model."""
    if not set(read) <= set(kinds):
        access.refuse(f"there are {', '.join(sorted(set(read) - set(kinds)))}")
    facts = {name: from_tree(kinds[name], one, name) for name, one in read.items()}
    if "feature_names_in_" in facts:
        access.array(read, "feature_names_in_", object, (fitted.n_columns,))
    if "row_counts_" in facts:
        n_counts = 1 if fitted.labels is None else fitted.labels.size
        access.array(read, "row_counts_", np.int64, (n_counts,))
    for fact in facts.values():
        if hasattr(fact, "_fields") and "sizes" in fact._fields:
            _check_path(fact, fitted)
    return facts


def _check_path(path: Any, fitted: Fitted) -> None:
    """Refuse a path that is not made of models like the fitted one, one for every size."""
    n_sizes = len(path.columns)
    parts = [one for one in path if isinstance(one, list | np.ndarray)]
    sizes = [columns.size for columns in path.columns]
    if not n_sizes or any(len(one) != n_sizes for one in parts) or list(path.sizes) != sizes:
        access.refuse("the path has not a model of each of its sizes")
    n_outputs = fitted.intercepts.size
    intercepts = access.array(path._asdict(), "intercepts", np.float64, (n_sizes, n_outputs))
    _finite(intercepts, "intercepts of the path")
    for columns, weights in zip(path.columns, path.weights, strict=True):
        _check_numbers(columns, weights, (n_outputs, columns.size), fitted.n_columns)
    for columns, shares in zip(path.fold_columns, path.fold_shares, strict=True):
        _check_numbers(columns, shares, (columns.size,), fitted.n_columns)


def _check_numbers(columns: Any, weights: Any, shape: tuple[int, ...], n_columns: int) -> None:
    """Refuse columns of a path, and what belongs to them, that are out of order or range."""
    inside = {"columns": columns, "weights": weights}
    _ascending(access.integers(inside, "columns", None, n_columns), "columns of the path")
    _finite(access.array(inside, "weights", np.float64, shape), "weights of the path")
