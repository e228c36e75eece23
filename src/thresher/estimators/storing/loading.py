"""A fitted estimator from one file. No code is run and nothing imported that a file names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import thresher.estimators
from thresher.data.column_offsets import ColumnOffsets
from thresher.data.column_scales import ColumnScales
from thresher.data.growth import Arrays
from thresher.data.naming import Names, names_from_tree
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.base import OnlineModel
from thresher.estimators.decisions.levelling import lines_from_tree
from thresher.estimators.decisions.size_choice import SizeChoice
from thresher.estimators.decisions.sizing import judge_of
from thresher.estimators.decisions.step_lengths import set_scale
from thresher.estimators.paths import PathsModel
from thresher.files import access, container
from thresher.files.errors import ModelFileError
from thresher.files.tree import read_tree, unpack
from thresher.learners.history import StageHistory
from thresher.learners.pace import Pace
from thresher.learners.paths import Paths, UnitMaker
from thresher.learners.stage import Stage
from thresher.train import Model, Problem

CLASSES = {name: getattr(thresher.estimators, name) for name in thresher.estimators.__all__}
READING = {"label", "weight"}  # what prediction reads as training did
MOST_STAGES = 1 << 31
MOST_PATHS = 1 << 16  # that a file may ask for
NONSENSE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError)

Tree = dict[str, Any]


def load(path: str | os.PathLike[str]) -> OnlineModel:
    """Return the estimator that ``save`` wrote.

    It predicts the same to the last bit and shows the same coefficients, table and history. Of
    features that were purged for all classes nothing is known any more: their selection
    probability is shown as 0. Learning goes on only if the file was saved with
    ``training_state=True``; ``fit`` starts anew in any case.

    Parameters
    ----------
    path : path
        A file written by ``save`` or by ``thresher train``.

    Raises
    ------
    ModelFileError
        A ValueError: the file is missing, damaged, or no model at all.
    """
    tree = read_tree(path)
    with container.naming(path):
        return estimator_from(tree)


def loads(data: bytes) -> OnlineModel:
    """Return the estimator whose file has these bytes."""
    return estimator_from(unpack(*container.loads(data)))


def estimator_from(tree: Tree) -> OnlineModel:
    """Return the estimator that gave a tree (``saving.tree_of``), or raise a ModelFileError."""
    kind = access.word(tree, "kind")
    if kind != "model":
        raise ModelFileError(f"it is no model, but a {kind[:80]}.")
    with _refusing_nonsense():
        return _estimator(tree)


def names_from(tree: Tree) -> Names | None:
    """Return the names of columns in such a tree, if it has any, and nothing else of it."""
    with _refusing_nonsense():
        return None if tree.get("names") is None else _names(access.branch(tree, "names"))


@contextmanager
def _refusing_nonsense() -> Iterator[None]:
    try:
        yield
    except ModelFileError:
        raise
    except NONSENSE as error:
        raise ModelFileError(
            f"its checksum is right, but what it says cannot be: {error}"
        ) from None


def _estimator(tree: Tree) -> OnlineModel:
    name = access.word(tree, "class")
    if name not in CLASSES:
        access.refuse(f"there is no class {name[:80]!r} in this version of Thresher")
    estimator = CLASSES[name]()
    _set_parameters(estimator, access.branch(tree, "parameters"))
    _set_fitted(estimator, access.branch(tree, "fitted"))
    _set_model(estimator, tree)
    _set_origin(estimator, tree)
    return estimator


def _set_parameters(estimator: OnlineModel, tree: Tree) -> None:
    access.same_names(tree, estimator.get_params(deep=False), "parameters")
    parameters = dict(tree)
    if isinstance(tree.get("class_weight"), dict):
        parameters["class_weight"] = dict(tree["class_weight"]["pairs"])
    estimator.set_params(**parameters)
    estimator._check_parameters()
    if getattr(estimator, "n_paths", 1) > MOST_PATHS:
        access.refuse(f"there are {tree['n_paths']} paths")


def _set_fitted(estimator: OnlineModel, tree: Tree) -> None:
    estimator._set_label_facts(tree)
    estimator.n_features_in_ = access.whole(tree, "n_features_in")
    estimator.n_iter_ = access.whole(tree, "n_iter")
    estimator._seed = access.whole(tree, "seed", 0, 2**31 - 1)
    estimator._sparse = access.flag(tree, "sparse")
    if tree.get("value_power") is not None:  # of values that are not learnt as they are
        estimator._power = access.number(tree, "value_power")
        if not 0.0 < estimator._power <= 1.0:
            access.refuse("values are raised to what is no power of theirs")
    estimator._rarity = tree.get("rare_columns") is not None and access.flag(tree, "rare_columns")
    if tree.get("step_scale") is not None:  # of steps that were not as long as usual
        set_scale(estimator, access.number(tree, "step_scale"))
    if tree.get("column_scales") is not None:  # files of earlier versions do not say
        scales = access.branch(tree, "column_scales")
        estimator._scales = ColumnScales.from_tree(scales)
    if tree.get("column_offsets") is not None:
        offsets = access.branch(tree, "column_offsets")
        estimator._offsets = ColumnOffsets.from_tree(offsets, estimator.n_features_in_)
    if tree.get("margin_lines") is not None:
        lines = access.branch(tree, "margin_lines")
        estimator._lines = lines_from_tree(lines, estimator._n_problems)
    names = tree.get("feature_names_in")
    if names is not None:
        estimator.feature_names_in_ = access.array(
            tree, "feature_names_in", object, (estimator.n_features_in_,)
        )


def _set_origin(estimator: Any, tree: Tree) -> None:
    """Set what is known of the data the model was trained on, and of who trained it."""
    names = names_from(tree)
    if names is not None:
        estimator._names = names
    if access.branch(tree, "fitted").get("index_base") is not None:
        estimator._index_base = access.whole(tree["fitted"], "index_base", 0, 1)
    estimator._reading = _reading(access.branch(tree["fitted"], "reading"))
    estimator.provenance_ = access.branch(tree, "provenance")
    fingerprint = estimator.provenance_.get("data_fingerprint")
    if fingerprint is not None:
        estimator.data_fingerprint_ = access.word(estimator.provenance_, "data_fingerprint")


def _reading(tree: Tree) -> dict[str, str | None]:
    """Return which columns or keys of files are no features."""
    if not set(tree) <= READING or not all(isinstance(one, str | None) for one in tree.values()):
        access.refuse("how the rows were read makes no sense")
    return tree


def _names(tree: Tree) -> Names:
    """Return the names of columns; those of a finished model say themselves which they name."""
    if "columns" in tree:
        access.integers(tree, "columns", None, access.whole(tree, "width"))
    return names_from_tree(tree)


def _set_model(estimator: OnlineModel, tree: Tree) -> None:
    slim = access.branch(tree, "model")
    n_columns = access.whole(slim, "n_columns", 0, estimator.n_features_in_)
    columns = access.integers(slim, "columns", None, n_columns)
    if (np.diff(columns) <= 0).any():
        access.refuse("columns are not ascending")
    _set_choice(estimator, tree)
    if tree.get("state") is None:
        estimator._model = _slim_model(estimator, slim, n_columns, columns)
    else:
        learner: Any = estimator._learner(None)
        estimator._model = Model.from_tree(access.branch(tree, "state"), learner)
    if len(estimator._model.problems) != estimator._n_problems:
        access.refuse(f"there are not {estimator._n_problems} problems, as there must be")
    estimator._weights = _weights(estimator._model, slim, columns)


def _set_choice(estimator: Any, tree: Tree) -> None:
    """Set which size was chosen; files of the first versions do not say.

    A stream that can go on still follows its rule, and says so itself.
    """
    stored = access.branch(tree, "fitted").get("size_choice")
    if stored is not None:
        choice = SizeChoice.from_tree(stored, judge_of(estimator))
        estimator._choice = choice if choice.path or tree.get("state") is None else None


def _weights(model: Model, slim: Tree, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weights by slot and intercepts, as they were shown when the model was saved."""
    slots = _slots_of(model.vocabulary, columns)
    stored = access.branches(slim, "weights")
    intercepts = access.array(slim, "intercepts", np.float64, (len(model.problems),))
    if len(stored) != len(model.problems):
        access.refuse("there are not as many weight vectors as problems")
    weights = np.zeros((len(stored), len(model.vocabulary)))
    for row, one in zip(weights, stored, strict=True):
        places = access.integers(one, "places", None, columns.size)
        row[slots[places]] = access.array(one, "values", np.float64, places.shape)
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        access.refuse("weights are not finite")
    return weights, intercepts


def _slots_of(vocabulary: Vocabulary, columns: np.ndarray) -> np.ndarray:
    """Return the slots of columns, all of which must have one."""
    known = vocabulary["columns"]
    order = np.argsort(known)
    places = np.searchsorted(known, columns, sorter=order)
    if columns.size and (places == known.size).any():
        access.refuse("there are weights for columns that never occurred")
    slots = order[places]
    if not np.array_equal(known[slots], columns):
        access.refuse("there are weights for columns that never occurred")
    return slots


def _slim_model(estimator: OnlineModel, slim: Tree, n_columns: int, columns: np.ndarray) -> Model:
    """Return a model of the stored features, which knows nothing of how they were learnt."""
    vocabulary = Vocabulary.from_tree(
        {
            "n_columns": n_columns,
            "normalize": access.flag(slim, "normalize"),
            "columns": columns,
            "occurrences": access.integers(slim, "occurrences", columns.size, 1 << 62),
            "squares": np.zeros(columns.size),
        }
    )
    learner: Any = estimator._learner(None)
    stabilized = isinstance(estimator, PathsModel)
    if stabilized != (slim.get("paths") is not None):
        access.refuse("there are stages where there are none, or none where there are")
    states: list[Any] = [Arrays({}, {}) for _ in access.branches(slim, "weights")]
    if stabilized:
        branches = access.branches(slim, "paths")
        states = [_slim_paths(learner.new_unit, one, columns.size) for one in branches]
    problems = [Problem(state, Pace()) for state in states]
    occurred = None
    if slim.get("candidates") is not None:  # files of earlier versions do not say
        occurred = access.whole(slim, "candidates", columns.size, n_columns)
    return Model(vocabulary, learner, problems, slim=True, occurred=occurred)


def _slim_paths(make_unit: UnitMaker, tree: Tree, n_slots: int) -> Paths:
    """Return paths without any path: what is known of their features and of their way."""
    paths = Paths(make_unit, [], Stage.from_tree(access.branch(tree, "stage")))
    paths.grow(n_slots)
    paths.feature("purged_at")[:] = access.integers(tree, "purged_at", n_slots, MOST_STAGES)
    paths.feature("probability")[:] = access.array(tree, "probability", np.float64, (n_slots,))
    paths.history = StageHistory.from_tree(access.branch(tree, "history"))
    return paths
