"""Shards: some of the rows, which one worker reads, from a file or from what a task gives."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from thresher.estimators.inputs import rows_of, tidy_rows, unchecked_rows
from thresher.estimators.labels import check_weights
from thresher.estimators.thresher import ThresherClassifier
from thresher.formats.chunk import Chunk
from thresher.formats.chunk import joined as joined_chunks
from thresher.formats.errors import DataError
from thresher.formats.names import GrowingNames, HashedNames, Names
from thresher.formats.opening import open_rows
from thresher.formats.protocol import Reading
from thresher.rows import Rows


class Facts(NamedTuple):
    """What is known of a shard besides its rows.

    ``names`` are those of files; ``columns`` those of a data frame.
    """

    labels: np.ndarray
    weights: np.ndarray
    width: int
    names: Names | None
    columns: np.ndarray | None
    index_base: int | None
    fingerprint: str


class Shard(NamedTuple):
    """Rows, whose columns are numbered as this shard knows them, and what is known of them."""

    rows: Rows
    facts: Facts


class Start(NamedTuple):
    """What the first rows of all decide: names of columns up to then, and what indices begin with.

    Means of a table's columns, which stand in for missing numbers, are kept by the names.
    """

    names: Names | None
    index_base: int | None


def look_at(paths: Sequence[str], how: Reading) -> Start:
    """Return what the first rows decide; files without any decide nothing."""
    for path in paths:
        source = open_rows([path], how)
        for chunk in source.chunks():
            if source.names is not None or chunk.columns.size:
                return Start(source.names, source.index_base)
    return Start(source.names, source.index_base)


def read_file(path: str, how: Reading, start: Start) -> Shard:
    """Return the rows of a file."""
    names = start.names
    if isinstance(names, GrowingNames):  # reading adds to them, and other tasks have the same
        names = GrowingNames([names.name(j) for j in range(len(names))], names.kinds)
    elif isinstance(names, HashedNames):
        names = HashedNames(names.n_bits, kinds=names.kinds)
    source = open_rows([path], replace(how, index_base=start.index_base), names)
    chunks, n_rows = [], 0
    for chunk in source.chunks():
        if chunk.labels is None:
            raise DataError(f"Row {n_rows + 1:,} or a later one has no label.", file=path)
        n_rows += len(chunk)
        chunks.append(chunk.at(np.arange(len(chunk))))  # the next chunk may reuse its memory
    if not chunks:
        chunks = [Chunk(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), 0, np.zeros(0))]
    whole = joined_chunks(chunks)
    try:
        weights = check_weights(whole.weights, len(whole), 1)
    except ValueError as error:
        raise DataError(str(error), file=path) from None
    facts = Facts(
        np.zeros(0) if whole.labels is None else whole.labels,
        weights,
        max(whole.width, len(source.names or ())),
        source.names,
        None,
        source.index_base,
        source.fingerprint(),
    )
    return Shard(rows_of(whole), facts)


def take_pair(pair: Any, number: int) -> Shard:
    """Return the rows of a tuple of X and y, or of X, y and weights."""
    if not isinstance(pair, tuple | list) or len(pair) not in (2, 3):
        raise ValueError(f"Shard {number} is no tuple of X and y, or of X, y and weights.")
    return take_rows(pair[0], pair[1], pair[2] if len(pair) == 3 else None, number)


def take_rows(X: Any, y: Any, weights: Any, number: int) -> Shard:
    """Return the rows of a matrix or a data frame."""
    model = ThresherClassifier()  # is only to note what the columns are called
    try:
        n_rows = X.shape[0]
        rows = tidy_rows(model, *unchecked_rows(model, X, True)) if n_rows else Rows.none()
        weights = check_weights(weights, n_rows)
        labels = np.asarray(y).reshape(-1)
        if labels.size != n_rows:
            raise ValueError(f"X has {n_rows} rows but y has {labels.size} labels.")
    except (ValueError, TypeError) as error:
        raise ValueError(f"Shard {number}: {error}") from None
    columns = vars(model).get("feature_names_in_")
    return Shard(rows, Facts(labels, weights, int(X.shape[1]), None, columns, None, ""))


def facts_of(shard: Shard) -> Facts:
    """Return what is known of a shard besides its rows."""
    return shard.facts


def joined_names(shards: Sequence[Names | None]) -> tuple[Names | None, list[np.ndarray | None]]:
    """Return the names of all shards, numbered as if one after the other had been read.

    Beside them is the number of each shard's columns, None where they have kept theirs.
    """
    first = shards[0]
    if first is None:
        return None, [None] * len(shards)
    every = [names.tree()["names"] for names in shards if names is not None]
    if isinstance(first, HashedNames):
        names = [name for one in every for name in one]
        return HashedNames(first.n_bits, names, first.kinds), [None] * len(shards)
    whole = GrowingNames(kinds=first.kinds)
    for one in shards:
        whole.kinds.update({} if one is None else {**one.kinds, **whole.kinds})
    return whole, [whole.number(names) for names in every]


def with_columns(rows: Rows, numbers: np.ndarray) -> Rows:
    """Return rows whose columns have other numbers, ascending again."""
    owners, columns = rows.of_values(), numbers[rows.columns]
    order = np.lexsort((columns, owners))
    return rows._replace(columns=columns[order].astype(np.uint32), values=rows.values[order])
