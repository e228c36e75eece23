"""The graph of a fit: shards are read, summed, screened and gathered, by tasks without state.

Whatever a worker held when it failed is made again from the tasks before. Nothing but the number of
nonzeros and the fitted model comes to the client.
"""

import glob
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from os.path import abspath, exists
from typing import Any, NamedTuple

import numpy as np

from thresher.dask import shards as read
from thresher.dask import tasks
from thresher.estimators.thresher import ThresherModel
from thresher.estimators.winnow_training import BYTES, SHARE
from thresher.formats.errors import DataError
from thresher.formats.opening import format_of, reading_from
from thresher.formats.protocol import Reading

AT_ONCE = 8  # sums that one task adds up

Future = Any  # of dask.distributed, which has no types
Client = Any


class Shards(NamedTuple):
    """Tasks that give shards, and how they are read if they are files."""

    futures: list[Future]
    reading: Reading | None = None


def client_of(given: Client | None) -> Client:
    """Return a client that was given, or the one that was opened last."""
    try:
        from distributed import default_client
    except ImportError:
        raise ImportError("thresher.dask needs Dask: pip install 'thresher[dask]'.") from None
    if given is not None:
        return given
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "There is no Dask cluster: open one (from dask.distributed import Client; Client()), "
            "or give client=."
        ) from None


# ---------------------------------------------------------------------------------------- shards


def shards_of(client: Client, X: Any, y: Any, weights: Any, reading: dict[str, Any]) -> Shards:
    """Return the shards of whatever a user gives."""
    array = hasattr(X, "map_blocks")
    paths = isinstance(X, str | PathLike) or _all(X, lambda one: isinstance(one, str | PathLike))
    if reading and not paths:
        raise ValueError(f"{', '.join(reading)}: options of reading are for files.")
    if not array and not (y is None and weights is None):
        raise ValueError("y and sample_weight go with a dask array X; other shards have their own.")
    if paths:
        return _of_files(client, X, reading)
    if array:
        return _of_array(client, X, y, weights)
    if _all(X, lambda one: hasattr(one, "dask")):
        pairs = client.compute(list(X))
        each = enumerate(pairs)
        return Shards([_task(client, read.take_pair, pair, k) for k, pair in each])
    raise TypeError(
        "X must be a pattern of files, a list of paths, a dask array, or a list of delayed tuples "
        f"of X and y, not {type(X).__name__}. For arrays at hand use the estimators of thresher."
    )


def _of_files(client: Client, X: Any, reading: dict[str, Any]) -> Shards:
    """Return files, in the order given, or that of their names."""
    given = [X] if isinstance(X, str | PathLike) else list(X)
    paths = [abspath(one) for path in given for one in _matching(fspath(path))]
    how = reading_from(reading)
    formats = {format_of(path) for path in paths} if how.format == "auto" else {how.format}
    if len(formats) > 1:
        raise DataError(f"The files are {', '.join(sorted(formats))}: name one format (format=).")
    how = replace(how, format=formats.pop())
    start = _task(client, read.look_at, paths, how)
    return Shards([_task(client, read.read_file, path, how, start) for path in paths], how)


def _matching(pattern: str) -> list[str]:
    """Return the files that match a pattern; a path without one need not be seen from here."""
    if not glob.has_magic(pattern) or exists(pattern):
        return [pattern]
    found = sorted(glob.glob(pattern))
    if not found:
        raise DataError(f"No file matches {pattern!r}.")
    return found


def _of_array(client: Client, X: Any, y: Any, weights: Any) -> Shards:
    """Return the blocks of a dask array."""
    if y is None:
        raise ValueError("X is a dask array: give the labels of its rows as y.")
    X = X.rechunk({1: -1})
    blocks = client.compute(X.to_delayed().ravel().tolist())
    beside = [_beside(client, X, one) for one in (y, weights)]
    each = enumerate(zip(blocks, *beside, strict=True))
    return Shards([_task(client, read.take_rows, *parts, k) for k, parts in each])


def _beside(client: Client, X: Any, vector: Any) -> Sequence[Any]:
    """Return the numbers beside each block of rows."""
    import dask.array as da

    if vector is None:
        return [None] * X.numblocks[0]
    if not hasattr(vector, "map_blocks"):
        vector = da.from_array(vector, chunks=-1)
    known = not np.isnan([*X.chunks[0], *vector.chunks[0]]).any()
    if not known and vector.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            "X or y has chunks of unknown sizes, and not as many as the other: give both the same "
            "chunks, or call compute_chunk_sizes()."
        )
    if known and vector.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]:,} rows, but y or weights {vector.shape[0]:,}.")
    vector = vector.rechunk({0: X.chunks[0]}) if known else vector
    return list(client.compute(vector.to_delayed().ravel().tolist()))


def _all(X: Any, fits: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and all(map(fits, X))


# ------------------------------------------------------------------------------------------- fit


def fit(client: Client, model: ThresherModel, shards: Shards, most: int) -> ThresherModel:
    """Return the model, fitted to all shards; only its last task has rows of more than one."""
    numbers = range(len(shards.futures))
    facts = [_task(client, read.facts_of, shard) for shard in shards.futures]
    begun = _task(client, tasks.begin, model, facts, shards.reading)
    shares = [_task(client, tasks.share_of, begun, number) for number in numbers]
    pairs = zip(shards.futures, shares, strict=True)
    rows = [_task(client, tasks.rows_that_count, *pair) for pair in pairs]
    pairs = zip(rows, shares, strict=True)
    statistics = [_task(client, tasks.add_statistics, *pair) for pair in pairs]
    prepared = _task(client, tasks.prepare, begun, _added(client, statistics))
    ready = [_task(client, tasks.prepared_rows, one, prepared) for one in rows]
    each = list(zip(ready, shares, strict=True))
    products = [_task(client, tasks.add_products, *one, prepared) for one in each]
    in_folds = [_task(client, tasks.rows_in_folds, *one) for one in each]
    screened = _task(client, tasks.screen, begun, prepared, _added(client, products))
    _refuse_too_many(client, result_of(_task(client, tasks.n_nonzeros_of, screened)), most)
    columns = _task(client, tasks.columns_of, screened)
    kept = [_task(client, tasks.rows_of_columns, one, prepared, columns) for one in ready]
    fitted = _task(client, tasks.winnow_rows, begun, prepared, screened, kept, in_folds)
    found: ThresherModel = result_of(fitted)
    return found


def result_of(task: Future) -> Any:
    """Return what a task gives; workers that run out of memory do not say so."""
    from distributed import KilledWorker

    try:
        return task.result()
    except KilledWorker as error:
        raise RuntimeError(
            "Several workers died in the same task, and it was given up: most likely they ran out "
            "of memory. Cut the rows into more shards, or give workers more memory."
        ) from error


def _added(client: Client, parts: list[Future]) -> Future:
    """Return the sum of all parts, few at once."""
    while True:
        groups = [parts[k : k + AT_ONCE] for k in range(0, len(parts), AT_ONCE)]
        parts = [_task(client, tasks.add_up, group) for group in groups]
        if len(parts) == 1:
            return parts[0]


def _refuse_too_many(client: Client, n_nonzeros: int, most: int) -> None:
    """Raise a MemoryError before more is gathered than fits one process."""
    advice = "Lower max_columns or n_features_to_select"
    if n_nonzeros > most:
        raise MemoryError(
            f"The columns that are winnowed have {n_nonzeros:,} nonzeros, and max_nonzeros="
            f"{most:,} may be gathered in one process. {advice}, or raise max_nonzeros."
        )
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    memory = max((worker["memory_limit"] or 0 for worker in workers), default=0)
    if memory and n_nonzeros * BYTES > SHARE * memory:
        raise MemoryError(
            f"The {n_nonzeros:,} nonzeros of the columns that are winnowed need "
            f"{n_nonzeros * BYTES / 1e9:.1f} GB in one process, and the largest worker has "
            f"{memory / 1e9:.1f}. {advice}, or give workers more memory."
        )


def _task(client: Client, function: Any, *given: Any) -> Future:
    """Return a task; its name is that of the function, and what it gives can be made again."""
    return client.submit(function, *given, pure=False)
