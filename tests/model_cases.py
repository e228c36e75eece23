"""What the tests of model files share: trips to the disk, and ways to write nonsense."""

import copy

import numpy as np

import thresher
from thresher.estimators.storing.loading import estimator_from
from thresher.estimators.storing.saving import tree_of
from thresher.files import container
from thresher.files.container import ModelFileError
from thresher.files.tree import pack

PREDICTED = ("predict", "decision_function", "predict_proba")


def saved(model, tmp_path, training_state=False):
    """Return the model after a trip to the disk."""
    model.save(tmp_path / "model.thresher", training_state=training_state)
    return thresher.load(tmp_path / "model.thresher")


def data_of(model, training_state=False):
    """Return the bytes of a model's file."""
    return container.dumps(*pack(tree_of(model, training_state)))


def assert_predicts_the_same(loaded, model, rows):
    for name in PREDICTED:
        if hasattr(model, name):
            one, other = getattr(loaded, name)(rows), getattr(model, name)(rows)
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()


def leaves(tree, path=()):
    """Return the paths to everything in a tree that is neither a dict nor a list."""
    if isinstance(tree, dict) and tree:
        return [leaf for key in tree for leaf in leaves(tree[key], (*path, key))]
    if isinstance(tree, list) and tree:
        return [leaf for i, one in enumerate(tree) for leaf in leaves(one, (*path, i))]
    return [path]


JUNK = [
    None,
    -1,
    2**70,
    0.5,
    np.nan,
    "junk",
    True,
    [],
    {},
    [[]],
    np.zeros(0),
    np.full(3, np.nan),
    np.full(2, -1),
    np.full((2, 2), 2**62),
    np.array(["a", "b"]),
    np.array(["a", "a"], object),
]


def assert_nonsense_is_refused_or_harmless(tree, use):
    """Assert that a file which says something else than it did is never a crash.

    It may be another model: then what ``use`` makes of that must be finite numbers.
    """
    refused = 0
    for path in leaves(tree):
        for junk in JUNK:
            try:
                loaded = estimator_from(replaced(tree, path, junk))
            except ModelFileError:
                refused += 1
                continue
            assert np.isfinite(use(loaded)).all()
            assert len(loaded.selection_table())
    assert refused > 0.6 * len(leaves(tree)) * len(JUNK)


def replaced(tree, path, value):
    """Return a copy of a tree with another value at one place."""
    if not path:
        return value
    inner = copy.copy(tree)
    inner[path[0]] = replaced(tree[path[0]], path[1:], value)
    return inner
