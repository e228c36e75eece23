"""A model meets rows from files: which columns they have in common, and what it says of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import HashedNames, KnownNames, Names
from thresher.data.sources.opening import open_source
from thresher.data.sources.protocol import Reading, Source


def source_for(
    model: Any, paths: str | Path | Sequence[str | Path], labelled: bool = False, **reading: Any
) -> Source:
    """Return a source whose columns are numbered as the model knows them."""
    names = getattr(model, "_names", None)
    how = as_in_training(model, Reading.asked(reading), labelled)
    source = open_source(paths, how, names)
    if names is None and source.names is not None and hasattr(model, "feature_names_in_"):
        return open_source(paths, how, _names_of_frame(model.feature_names_in_))
    if (names is None) != (source.names is None):
        has, wants = ("names", "numbers") if names is None else ("numbers", "names")
        raise DataError(
            f"The rows have features with {has}, but the model knows its features by {wants}: it "
            "was trained on other data, or these are written in another way than their names tell "
            "(say how with format=, on the command line --format)."
        )
    return source


def _names_of_frame(called: np.ndarray) -> Names:
    """Return the names of a data frame's columns: each holds numbers, as in a table's file."""
    kinds = dict.fromkeys(called.tolist(), False)
    return KnownNames(np.arange(called.size), called.tolist(), called.size, kinds)


def as_in_training(model: Any, reading: Reading, labelled: bool) -> Reading:
    """Return how to read: what nobody says now is as it was when the model was trained.

    The first rows of other files may tell another story of where indices begin.
    """
    before = {"index_base": getattr(model, "_index_base", None), **getattr(model, "_reading", {})}
    names = getattr(model, "_names", None)
    if isinstance(names, HashedNames):
        before["hash_bits"] = names.n_bits
    unsaid = {key: value for key, value in before.items() if getattr(reading, key) is None}
    return replace(reading, labelled=labelled, **unsaid)


def margins_of(model: Any, source: Source) -> Iterator[tuple[Chunk, np.ndarray]]:
    """Give every chunk of a source with its margins, a column per class if there are many.

    Features the model has never seen have no weight. Where rows are scaled to unit length, they
    still make their row longer, and so its margin smaller; unless columns have scales, of which
    there is none for them.
    """
    for chunk in source.chunks():
        yield chunk, model._margins(chunk.rows)
