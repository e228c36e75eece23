"""Sources made up for the tests of shards, shuffling and the cache."""

from itertools import pairwise

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.naming import GrowingNames
from thresher.data.sources.cutting import Limits, joined
from thresher.data.sources.protocol import Reading, Skipped
from thresher.data.sources.shard_writer import write_shards

SMALL = Limits(20, 60)  # of a shard
UNLABELLED = Reading(labelled=False)


class MadeSource:
    """Chunks that were made beforehand, and what is known of them."""

    def __init__(self, chunks, names=None, index_base=0, fingerprint="made", rewinds=True):
        self.made, self.names, self.index_base = list(chunks), names, index_base
        self.rewinds, self.n_rows, self.skipped = rewinds, None, Skipped()
        self.mark, self.passes = fingerprint, 0

    def chunks(self):
        self.passes += 1
        yield from self.made

    def fingerprint(self):
        return self.mark


def random_chunk(n_rows, width=50, seed=0, values="normal", labels="numbers", weighted=False):
    """Return rows of 0 to 8 nonzeros, the last one empty; row i is told by its label."""
    rng = np.random.default_rng(seed)
    most = min(8, width)
    rows = [
        np.sort(rng.choice(width, rng.integers(0, most + 1), replace=False)) for _ in range(n_rows)
    ]
    rows[-1] = rows[-1][:0]
    starts = np.concatenate([[0], np.cumsum([row.size for row in rows])]).astype(np.int64)
    columns = np.concatenate(rows).astype(np.int64)
    made = {
        "normal": lambda size: rng.normal(size=size),
        "ones": np.ones,
        "short": lambda size: rng.integers(1, 9, size) / 4.0,
    }
    marks = np.arange(n_rows) + 1000.0 * seed
    words = np.array([f"row {mark:g} é" for mark in marks], object)
    return Chunk(
        starts,
        columns,
        made[values](columns.size),
        width,
        {"numbers": marks, "words": words, "none": None}[labels],
        rng.uniform(0.5, 2, n_rows) if weighted else None,
    )


def cut_up(chunk, cuts):
    """Return the rows as several chunks."""
    borders = [0, *cuts, len(chunk)]
    return [chunk[a:b] for a, b in pairwise(borders)]


def assert_same_rows(ours, theirs):
    """Compare two lists of chunks: the rows, to the bit, wherever they were cut."""
    one, other = joined(list(ours)), joined(list(theirs))
    for name in ("starts", "columns", "values", "labels", "weights"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert (mine is None) == (yours is None), name
        if mine is not None:
            assert mine.dtype == yours.dtype, name
            assert mine.tolist() == yours.tolist(), name


def rows_by_label(chunks):
    """Return every row under its label, which must not occur twice."""
    found = {}
    for chunk in chunks:
        for i in range(len(chunk)):
            part = slice(chunk.starts[i], chunk.starts[i + 1])
            weight = None if chunk.weights is None else chunk.weights[i]
            assert chunk.labels[i] not in found
            row = (chunk.columns[part].tolist(), chunk.values[part].tolist(), weight)
            found[chunk.labels[i]] = row
    return found


def order_of(chunks):
    """Return the labels in the order in which they come."""
    return [label for chunk in chunks for label in chunk.labels.tolist()]


def write(tmp_path, *chunks, name="set", limits=SMALL, **known):
    """Write chunks as a set of shards and return it."""
    return write_shards(MadeSource(chunks, **known), tmp_path / name, limits=limits)


def leftovers(folder):
    """Return the names of what is hidden in a folder."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def named_fifty():
    """Return names for the columns of random chunks."""
    return GrowingNames([f"feature {k}" for k in range(50)])
