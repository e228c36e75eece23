"""Training that was interrupted, as a tree, and back: it goes on as if nothing had happened."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.files import TextFiles
from thresher.data.sources.protocol import Source
from thresher.estimators.storing.loading import estimator_from, names_from
from thresher.estimators.storing.saving import tree_of
from thresher.estimators.streaming import StreamTraining
from thresher.files import access
from thresher.files.errors import ModelFileError

Tree = dict[str, Any]


def training_tree(training: StreamTraining) -> Tree:
    """Return everything that the rest of the training depends on."""
    return {
        "estimator": tree_of(training.estimator, training_state=True),
        "fingerprint": training.source.fingerprint(),
        "changed": _changed(training.source),
        "n_rows": training.n_rows,
        "passes": training.passes,
        "rows": training.rows,
        "rows_a_pass": training.rows_a_pass,
        "before": training.before,
        "progressive": asdict(training.progressive),
        "watched": training.watched,
    }


def names_in(tree: Tree) -> Names | None:
    """Return the names that were known so far: a source goes on numbering after them."""
    return names_from(access.branch(tree, "estimator"))


def training_from(tree: Tree, source: Source) -> StreamTraining:
    """Return the training that gave a tree, with its source opened again."""
    _refuse_changed(tree, source)
    estimator = estimator_from(access.branch(tree, "estimator"))
    n_rows = None if tree["n_rows"] is None else access.whole(tree, "n_rows")
    estimator._model.learner = estimator._stream_learner(n_rows)
    return StreamTraining(
        estimator,
        source,
        n_rows,
        passes=access.whole(tree, "passes"),
        rows=access.whole(tree, "rows"),
        rows_a_pass=access.whole(tree, "rows_a_pass"),
        before=_weights_before(tree),
        progressive=replace(estimator._progressive(), **access.branch(tree, "progressive")),
        watched=access.flag(tree, "watched"),
    )


def _refuse_changed(tree: Tree, source: Source) -> None:
    """Refuse other data than that which was learnt until now."""
    if access.word(tree, "fingerprint") != source.fingerprint():
        raise DataError(
            "The data is not what it was when the checkpoint was written: bring the old files "
            "back, or train anew."
        )
    before = tree.get("changed")  # not there in what earlier versions wrote
    if before is not None and before != _changed(source):
        raise DataError(
            "The data was written anew since the checkpoint was, and may be other data: bring the "
            "old files back with their times (as cp -p and rsync -t do), or train anew."
        )


def _changed(source: Source) -> list[int] | None:
    """Return when files were changed; None where a fingerprint covers every row.

    That of a file covers no more than its two ends: what changed in its middle is told by time.
    """
    files = getattr(source, "files", None)
    return files.changed() if isinstance(files, TextFiles) else None


def _weights_before(tree: Tree) -> np.ndarray:
    before = tree.get("before")
    if not isinstance(before, np.ndarray) or before.dtype != np.float64 or before.ndim != 1:
        raise ModelFileError("its checksum is right, but the weights a pass ago are none.")
    return before
