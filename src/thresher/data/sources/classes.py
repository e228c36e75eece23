"""Which classes a source has: told by its shards, or by its first rows."""

from itertools import chain

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.labels import REGRESSOR, check_told_apart, is_fraction, tidy_labels
from thresher.data.sources.begun import Begun
from thresher.data.sources.protocol import Source
from thresher.data.sources.shards import ShardSource

# Rows that are looked at before the first is learnt; more as long as all are of one class.
LOOKED_AT, MOST_LOOKED_AT = 1 << 13, 1 << 16


def with_classes(source: Source) -> tuple[Source, np.ndarray]:
    """Return the classes of a source, and the source with the rows that were looked at."""
    if isinstance(source, ShardSource) and source.labels is not None:
        return source, _checked(source.labels[0])
    seen: list[Chunk] = []
    chunks = source.chunks()
    labels = np.zeros(0)
    for chunk in chunks:
        seen.append(chunk)
        if chunk.labels is None:
            raise DataError("The rows have no labels: training needs one for every row.")
        labels = np.concatenate([labels, chunk.labels]) if labels.size else chunk.labels
        if labels.size >= LOOKED_AT and np.unique(labels[:LOOKED_AT]).size > 1:
            labels = labels[:LOOKED_AT]  # wherever chunks end, the same rows are looked at
            break
        if labels.size >= MOST_LOOKED_AT:
            break
    classes = _checked(np.unique(labels))
    return (source if source.rewinds else Begun(source, chain(seen, chunks))), classes


def _checked(labels: np.ndarray) -> np.ndarray:
    """Return the classes that labels name, each of which stands among them once."""
    check_told_apart(labels)
    fraction = next((label for label in labels.tolist() if is_fraction(label)), None)
    if fraction is not None:
        raise DataError(
            f"The label {fraction!r} is not a whole number: these are numbers to be predicted, not "
            f"classes. {REGRESSOR} If they are classes, call them by whole numbers or by words, or "
            "name them all (classes=, or --classes on the command line)."
        )
    classes = tidy_labels(labels)
    _refuse_one_class(classes)
    return classes


def _refuse_one_class(classes: np.ndarray) -> None:
    if classes.size == 0:
        raise DataError("There is not a single row to learn from.")
    if classes.size == 1:
        raise DataError(
            f"All rows looked at are of class {classes[0]!s}: a classifier needs two. If others "
            "come later, name all classes (classes=, or --classes on the command line)."
        )
