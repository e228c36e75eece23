"""Sources of small svmlight texts, and what they read or refuse."""

import numpy as np
import pytest

from thresher.data.errors import DataError
from thresher.data.sources.protocol import Reading
from thresher.data.sources.svmlight import SvmlightSource


def source_of(folder, *texts, names=None, **reading):
    """Return a source of texts, each of which becomes a file in the folder."""
    paths = [folder / f"{number}.svm" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return SvmlightSource([str(path) for path in paths], Reading(**reading), names)


def whole(source):
    """Return all rows of a source as a dense array, and their labels."""
    chunks = list(source.chunks())
    width = chunks[-1].width
    rows = [chunk.rows.toarray() for chunk in chunks]
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in rows]
    return np.concatenate(padded), np.concatenate([chunk.labels for chunk in chunks])


def refused(source):
    with pytest.raises(DataError) as caught:
        list(source.chunks())
    return caught.value
