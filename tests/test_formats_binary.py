"""Rows in binary: what is written is read, whole or not at all; the cache; shuffled passes."""

import errno
import os
import time
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from format_cases import check_canonical, every, write
from thresher.files import FileError
from thresher.formats import binary_file, cache, passes
from thresher.formats.binary import BinarySource
from thresher.formats.chunk import CHUNK, Chunk, Limits, cut, in_order, joined
from thresher.formats.errors import DataError
from thresher.formats.labels import find_classes
from thresher.formats.names import GrowingNames, HashedNames, KnownNames
from thresher.formats.opening import open_rows
from thresher.formats.passes import BlockShuffle, BufferShuffle, passes_over
from thresher.formats.protocol import Reading, Skipped

UNLABELLED = Reading(format="binary", labelled=False)


class MadeSource:
    """Chunks that were made beforehand."""

    def __init__(self, *chunks, names=None, index_base=0, rewinds=True):
        self.made, self.names, self.index_base = chunks, names, index_base
        self.rewinds, self.n_rows, self.skipped, self.decided = rewinds, None, Skipped(), []

    def chunks(self):
        yield from self.made

    def fingerprint(self):
        return "made"

    def modified(self):
        return []


def random_chunk(n_rows, width=50, seed=0, values="normal", labels="numbers", weighted=False):
    """Return rows of 0 to 8 nonzeros, the last one empty; labels identify rows."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, min(8, width) + 1, n_rows)
    sizes[-1] = 0
    rows = [np.sort(rng.choice(width, size, replace=False)) for size in sizes]
    columns = np.concatenate(rows).astype(np.int64)
    made = {"normal": rng.normal, "ones": None, "short": rng.integers}[values]
    cells = np.ones(columns.size)
    if made is not None:
        cells = made(size=columns.size) if values == "normal" else made(1, 9, columns.size) / 4.0
    marks = np.arange(n_rows) + 1000.0 * seed
    words = np.array([f"row {mark:g} é" for mark in marks], object)
    return Chunk(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        columns,
        cells,
        width,
        {"numbers": marks, "words": words, "none": None}[labels],
        rng.uniform(0.5, 2, n_rows) if weighted else None,
    )


def cut_up(chunk, cuts):
    return [chunk[a:b] for a, b in pairwise([0, *cuts, len(chunk)])]


def assert_same_rows(ours, theirs):
    """Compare two lists of chunks: the rows, to the bit, wherever they were cut."""
    one, other = joined(list(ours)), joined(list(theirs))
    for name in ("starts", "columns", "values", "labels", "weights"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert (mine is None) == (yours is None), name
        if mine is not None:
            assert (mine.dtype, mine.tolist()) == (yours.dtype, yours.tolist()), name


def rows_by_label(chunks):
    found = {}
    for chunk in chunks:
        check_canonical(chunk)
        for i in range(len(chunk)):
            part = slice(chunk.starts[i], chunk.starts[i + 1])
            weight = None if chunk.weights is None else chunk.weights[i]
            assert chunk.labels[i] not in found
            row = (chunk.columns[part].tolist(), chunk.values[part].tolist(), weight)
            found[chunk.labels[i]] = row
    return found


def order_of(chunks):
    return [label for chunk in chunks for label in chunk.labels.tolist()]


SMALL, WIDE = Limits(20, 60), Limits(30, 1 << 20)  # of a segment, and of a buffer


def kept(folder, *chunks, name="a.rows", limits=SMALL, **known):
    """Write chunks and return them as a source."""
    before, binary_file.SEGMENT = binary_file.SEGMENT, limits
    try:
        binary_file.write(MadeSource(*chunks, **known), str(folder / name))
    finally:
        binary_file.SEGMENT = before
    return BinarySource([str(folder / name)], UNLABELLED)


# ----------------------------------------------------------------------------- there and back


@every("weighted", [False, True])
@every("labels", ["numbers", "words", "none"])
@every("values", ["normal", "ones", "short"])
def test_rows_come_back_as_they_were(tmp_path, values, labels, weighted):
    chunk = random_chunk(70, values=values, labels=labels, weighted=weighted)
    source = kept(tmp_path, *cut_up(chunk, [10, 11, 50]), index_base=1)
    for _ in range(2):
        assert_same_rows(source.chunks(), [chunk])
    assert (source.n_rows, source.width, source.index_base) == (70, 50, 1)
    assert source.n_segments > 2


finite = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


@given(
    st.lists(st.dictionaries(st.integers(0, 2**40), finite, max_size=4), min_size=1, max_size=9),
    st.data(),
)
def test_any_rows_come_back_as_they_were(tmp_path_factory, rows, data):
    labels = data.draw(st.lists(st.text(), min_size=len(rows), max_size=len(rows)))
    pairs = [pair for row in rows for pair in sorted(row.items())]
    columns = np.array([column for column, _ in pairs], np.int64)
    chunk = Chunk(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        columns,
        np.array([value for _, value in pairs], np.float64),
        int(columns.max(initial=0)) + 1,
        np.array(labels, object),
    )
    cuts = data.draw(st.lists(st.integers(1, len(rows)), unique=True).map(sorted))
    source = kept(tmp_path_factory.mktemp("any"), *cut_up(chunk, cuts), limits=Limits(5, 9))
    assert_same_rows(source.chunks(), [chunk])
    assert source.classes.tolist() == sorted(set(labels))


@every("cuts", [[], [1], range(1, 70), [13, 40]])
def test_where_chunks_were_cut_does_not_matter(tmp_path, cuts):
    chunk = random_chunk(70)
    whole, parts = kept(tmp_path, chunk), kept(tmp_path, *cut_up(chunk, cuts), name="b.rows")
    assert parts.fingerprint() == whole.fingerprint()
    assert (tmp_path / "a.rows").read_bytes() == (tmp_path / "b.rows").read_bytes()
    others = [random_chunk(70, seed=1), random_chunk(70, labels="words")]
    marks = {kept(tmp_path, one).fingerprint() for one in others}
    assert len(marks | {whole.fingerprint()}) == 3


def test_rows_without_weights_count_one_beside_others(tmp_path):
    chunks = [random_chunk(20, seed=1), random_chunk(20, seed=2, weighted=True)]
    for limits in (Limits(20, 1000), CHUNK):
        weights = joined(list(kept(tmp_path, *chunks, limits=limits).chunks())).weights
        assert_array_equal(weights, [*np.ones(20), *chunks[1].weights])


def test_what_was_skipped_and_decided_is_kept(tmp_path):
    made = MadeSource(random_chunk(20))
    made.skipped.add(DataError("no number", file="a.txt", line=3))
    made.decided.append("Indices count from 1.")
    binary_file.write(made, str(tmp_path / "a.rows"))
    source = open_rows(tmp_path / "a.rows")
    list(source.chunks())
    assert (source.skipped.count, source.skipped.examples) == (1, ["a.txt, line 3: no number"])
    assert source.decided == ["Indices count from 1."]


def test_classes_are_known_without_reading(tmp_path, monkeypatch):
    chunk = random_chunk(40)
    chunk.labels[:] = np.where(np.arange(40) % 4 == 0, -1, 1)
    source, classes = find_classes(kept(tmp_path, chunk))
    assert classes.tolist() == [-1, 1]
    assert isinstance(source, BinarySource)
    monkeypatch.setattr(binary_file, "MOST_CLASSES", 30)
    with pytest.raises(DataError, match=r"more than .* different labels: .*ThresherRegressor"):
        kept(tmp_path, random_chunk(31)).classes  # noqa: B018
    unlabelled = kept(tmp_path, random_chunk(5, labels="none"))
    with pytest.raises(DataError, match="has no labels"):
        unlabelled.classes  # noqa: B018
    with pytest.raises(DataError, match="has no labels, and training needs them"):
        open_rows(tmp_path / "a.rows")
    with pytest.raises(DataError, match="Labels are numbers in some rows and words in others"):
        kept(tmp_path, random_chunk(5), random_chunk(5, labels="words"))


# -------------------------------------------------------------------------------------- names


def named_chunk(names, words, seed=0):
    """Return rows of two features each, numbered by ``names``."""
    columns = names.number(words).reshape(-1, 2)
    columns.sort(axis=1)
    starts, labels = np.arange(0, columns.size + 1, 2), np.arange(len(columns)) + 10.0 * seed
    return Chunk(starts, columns.ravel(), np.arange(1.0, columns.size + 1), len(names), labels)


def features(source):
    """Return the names in every row."""
    for chunk in source.chunks():
        check_canonical(chunk)
        for first, last in pairwise(chunk.starts.tolist()):
            yield {source.names.name(column) for column in chunk.columns[first:last].tolist()}


@every("make", [GrowingNames, lambda: HashedNames(20)])
def test_files_with_names_of_their_own_are_read_by_name(tmp_path, make):
    one, other = make(), make()
    one.kinds["size"] = None
    kept(tmp_path, named_chunk(one, ["a", "é\ud800", "é\ud800", ""]), names=one)
    kept(tmp_path, named_chunk(other, ["d", "", "", "a"], 1), names=other, name="b.rows")
    paths = [tmp_path / "a.rows", tmp_path / "b.rows"]
    source = open_rows(paths)
    expected = [{"a", "é\ud800"}, {"é\ud800", ""}, {"d", ""}, {"", "a"}]
    assert list(features(source)) == expected
    assert source.names.kinds == {"size": None}
    known = make()
    known.number(["other", ""])
    assert list(features(open_rows(paths, names=known))) == expected


def test_names_of_a_model_number_the_columns(tmp_path):
    names = GrowingNames()
    kept(tmp_path, named_chunk(names, ["a", "b", "b", "c"]), names=names)
    model = KnownNames(np.array([40, 7]), ["c", "a"], 50)
    (chunk,) = open_rows(tmp_path / "a.rows", names=model).chunks()
    assert chunk.columns.tolist() == [7, 50, 40, 50]
    assert chunk.values.tolist() == [1, 2, 4, 3]
    kept(tmp_path, random_chunk(5))
    with pytest.raises(DataError, match="just numbers, but names are needed"):
        open_rows(tmp_path / "a.rows", names=model)


FIFTY = [str(k) for k in range(50)]
UNLIKE = {
    "labels": (
        random_chunk(5, labels="words"),
        {},
        "has numbers for labels, and .* has words for labels",
    ),
    "base": (random_chunk(5), {"index_base": 1}, "counts its columns from 0, and .* from 1"),
    "names": (
        random_chunk(5),
        {"names": GrowingNames(FIFTY)},
        "has names for its",
    ),
    "hash": (
        random_chunk(5),
        {"names": HashedNames(7)},
        "no names for .* has names for",
    ),
}


@every("case", UNLIKE)
def test_files_that_cannot_be_read_together(tmp_path, case):
    chunk, known, message = UNLIKE[case]
    kept(tmp_path, random_chunk(5))
    kept(tmp_path, chunk, name="b.rows", **known)
    with pytest.raises(DataError, match=message):
        open_rows([tmp_path / "a.rows", tmp_path / "b.rows"], labelled=False)


# --------------------------------------------------------------- damage; whole or not at all


def damage(good):
    """Return copies of bytes, each damaged in another way."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        yield bytes(bad)
    for length in {0, 1, 63, 64, 75, 76, len(good) - 1, *rng.integers(0, len(good), 30).tolist()}:
        yield good[:length]
    yield from (good + b"\0", good + b"\n", good * 2, good[:64] + good)


def test_any_damage_is_refused(tmp_path):
    names = GrowingNames(FIFTY)
    kept(tmp_path, random_chunk(40, labels="words", weighted=True), names=names)
    path = tmp_path / "a.rows"
    good = path.read_bytes()
    for bad in damage(good):
        path.write_bytes(bad)
        with pytest.raises(DataError, match=r"a\.rows: is (damaged|empty)"):
            list(open_rows(path).chunks())
    path.write_bytes(good)
    assert sum(map(len, open_rows(path).chunks())) == 40


MADE_UP = {
    "descending": ({"starts": [0, 9, 2], "columns": [0, 1]}, "starts contradict"),
    "too many": ({"starts": [0, 1, 3], "columns": [0, 1]}, "columns contradict"),
    "late": ({"starts": [1, 1, 2], "columns": [0, 1]}, "starts contradict"),
    "empty": ({"starts": [], "columns": [0, 1]}, "starts contradict"),
    "wide": ({"starts": [0, 1, 2], "columns": [0, 9]}, "columns contradict"),
    "negative": ({"starts": [0, 1, 2], "columns": [0, -1]}, "columns contradict"),
    "values": ({"starts": [0, 1, 2], "columns": [0, 1], "values": [1.5]}, "values contradict"),
    "labels": ({"starts": [0, 1, 2], "columns": [0, 1], "labels": [0.0]}, "labels contradict"),
    "no labels": ({"starts": [0, 1, 2], "columns": [0, 1]}, "has no labels"),
    "no starts": ({"columns": [0, 1]}, "has no starts"),
}


@every("case", MADE_UP)
def test_a_file_that_was_made_up(tmp_path, monkeypatch, case):
    """Checksums hold, but compiled code would read outside the arrays."""
    arrays, reason = MADE_UP[case]
    made_up = {
        name: np.array(a, float if name in ("values", "labels") else np.int64)
        for name, a in arrays.items()
    }
    write_segment = binary_file._Writer.write_segment
    monkeypatch.setattr(
        binary_file._Writer, "write_segment", lambda writer, _: write_segment(writer, made_up)
    )
    chunk = Chunk(np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 3, np.zeros(2))
    source = kept(tmp_path, chunk)
    for _ in range(2):
        with pytest.raises(DataError, match=reason):
            list(source.chunks())


def test_arrays_are_checked_once(tmp_path, monkeypatch):
    source = kept(tmp_path, random_chunk(70))
    list(source.chunks())
    monkeypatch.setattr("zlib.crc32", lambda *_: pytest.fail("checked again"))
    list(source.chunks())


@every("error", [KeyboardInterrupt(), DataError("bad line"), OSError(28, "full")])
def test_a_failure_leaves_what_was_there(tmp_path, error):
    before = random_chunk(40)
    kept(tmp_path, before)
    made = MadeSource()

    def fail():
        yield random_chunk(60, seed=1)
        raise error

    made.chunks = fail
    with pytest.raises((KeyboardInterrupt, DataError, FileError)):
        binary_file.write(made, str(tmp_path / "a.rows"))
    assert_same_rows(open_rows(tmp_path / "a.rows").chunks(), [before])
    assert os.listdir(tmp_path) == ["a.rows"]


def test_no_rows_are_no_file(tmp_path):
    with pytest.raises(DataError, match="not a single row"):
        kept(tmp_path)
    assert list(tmp_path.iterdir()) == []


@every("work", ["write", "shuffle"])
def test_memory_does_not_follow_the_number_of_rows(tmp_path, work, monkeypatch):
    alive, most = set(), []

    def chunks():
        for seed in range(300):
            chunk = random_chunk(10, seed=seed)
            alive.add(seed)
            weakref.finalize(chunk.values, alive.discard, seed)
            yield chunk
            del chunk
            most.append(len(alive))

    source = MadeSource()
    source.chunks = chunks
    if work == "write":
        monkeypatch.setattr(binary_file, "SEGMENT", SMALL)
        binary_file.write(source, str(tmp_path / "a.rows"))
    else:
        assert sum(map(len, BufferShuffle(source, 0, SMALL).chunks(0))) == 3000
    assert max(most) < 10


# -------------------------------------------------------------------------------------- cache


@pytest.fixture
def small_cache(tmp_path, monkeypatch):
    """A cache of its own, in which small files are kept too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "LEAST", 0)
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_large_files_are_kept_in_the_users_cache_and_used_again(small_cache, monkeypatch):
    path, said, reached = write(small_cache, "csv"), [], []
    reading = Reading(format="csv")
    opened = open_rows(path, reading)
    for message in ("Keeping the rows of", "Reading the rows of"):
        source = cache.cached(opened, [path], reading, said.append, reached.append)
        assert isinstance(source, BinarySource)
        assert f"{message} {path}" in said.pop()
        assert_same_rows(source.chunks(), opened.chunks())
    assert reached == [28]
    assert os.listdir(small_cache) == ["rows.csv"]
    (found,) = cache.kept_rows()
    assert (found.files, found.n_bytes) == ([path], found.path.stat().st_size)
    assert cache.clear_cache() == found.n_bytes
    assert cache.kept_rows() == []
    monkeypatch.setattr(cache, "LEAST", 64 << 20)
    assert cache.cached(opened, [path], reading) is opened


@every("change", ["time", "content", "reading", "damage", "version"])
def test_what_is_stale_is_made_again(small_cache, change, monkeypatch):
    cache.clear_cache()
    path, reading = write(small_cache, "csv"), Reading(format="csv")
    cache.cached(open_rows(path), [path], reading)
    (found,) = cache.kept_rows()
    if change == "time":
        os.utime(path, ns=(1, 1))
    elif change == "content":
        write(small_cache, "csv", [(1.0, {"aa": 3, "bb": 1, "cc": 1, "dd": 1})] * 3)
    elif change == "reading":
        reading = Reading(format="csv", hash_bits=9)
    elif change == "damage":
        found.path.write_bytes(found.path.read_bytes()[:-1])
    else:
        monkeypatch.setattr(cache.metadata, "version", lambda name: "0")
    said, opened = [], open_rows(path, reading)
    source = cache.cached(opened, [path], reading, said.append)
    assert said[0].startswith("Keeping")
    assert_same_rows(source.chunks(), opened.chunks())
    assert len(cache.kept_rows()) == 1 + (change == "reading")


def test_what_cannot_be_kept_is_read_again(small_cache, monkeypatch):
    path, said = write(small_cache, "csv"), []
    opened = open_rows(path)
    monkeypatch.setattr(
        os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, ""))
    )
    assert cache.cached(opened, [path], Reading(format="csv"), said.append) is opened
    assert "cannot be kept, and are read again in each pass" in said[1]
    assert "no space left" in said[1]
    assert cache.kept_rows() == []


def test_what_has_not_been_used_for_long_goes(small_cache):
    path, other = write(small_cache, "csv"), write(small_cache, "csv", name="other")
    cache.cached(open_rows(path), [path], Reading(format="csv"))
    (old,) = cache.kept_rows()
    left = old.path.with_name(f".{old.path.name}.dead.part")
    left.touch()
    for one in (old.path, left):
        os.utime(one, (time.time() - cache.UNUSED - 9,) * 2)
    cache.cached(open_rows(other), [other], Reading(format="csv"))
    assert [one.files for one in cache.kept_rows()] == [[other]]
    assert not left.exists()


def test_what_passes_once_or_is_binary_is_not_kept(small_cache):
    source = kept(small_cache, random_chunk(30))
    assert cache.cached(source, [small_cache / "a.rows"], Reading()) is source
    once = MadeSource(random_chunk(30), rewinds=False)
    assert cache.cached(once, ["-"], Reading()) is once


# ------------------------------------------------------------------------------------- passes

N_ROWS = 120
ROWS = random_chunk(N_ROWS, weighted=True)
KINDS = ("binary", "text")


@pytest.fixture
def shuffled(tmp_path, monkeypatch):
    """Return what makes a shuffle of either kind, with small blocks."""
    monkeypatch.setattr(passes, "BLOCK", Limits(4, 12))
    source = kept(tmp_path, ROWS)

    def make(kind, seed=0, buffer=WIDE, cuts=(7, 50)):
        if kind == "binary":
            return BlockShuffle(source, seed, buffer)
        return BufferShuffle(MadeSource(*cut_up(ROWS, cuts)), seed, buffer)

    return make


@every("kind", KINDS)
def test_every_row_comes_once(shuffled, kind):
    for number, buffer in enumerate((1, 3, 30, N_ROWS, 10 * N_ROWS)):
        chunks = shuffled(kind, buffer=Limits(buffer, 1 << 20)).chunks(number)
        assert rows_by_label(chunks) == rows_by_label([ROWS])


@every("kind", KINDS)
def test_the_order_follows_from_seed_and_number(shuffled, kind):
    orders = {
        (seed, number): order_of(shuffled(kind, seed).chunks(number))
        for seed in range(3)
        for number in range(4)
    }
    assert len({tuple(found) for found in orders.values()}) == 12
    again = shuffled(kind, 2, cuts=range(1, N_ROWS))
    for number in (3, 0, 2, 1):
        assert order_of(again.chunks(number)) == orders[2, number]


@every("kind", KINDS)
def test_a_pass_can_begin_anywhere(shuffled, kind):
    whole = order_of(shuffled(kind).chunks(1))
    for skip in (0, 1, 29, 30, 31, 75, N_ROWS - 1, N_ROWS, N_ROWS + 5):
        assert order_of(shuffled(kind).chunks(1, skip)) == whole[skip:]


@every("kind", KINDS)
def test_one_buffer_gives_every_order(kind, tmp_path):
    """Of 24 orders of 4 rows, 600 passes meet each about 25 times."""
    source = kept(tmp_path, random_chunk(4)) if kind == "binary" else MadeSource(random_chunk(4))
    read = passes_over(source, True, 5)
    met = [tuple(order_of(read(number, 0))) for number in range(600)]
    counts = np.array([met.count(order) for order in set(met)])
    assert counts.size == 24
    assert ((counts - 25) ** 2 / 25).sum() < 50  # chi square of 23 degrees; 50 once in a thousand


def test_rows_from_everywhere_meet_in_a_buffer(shuffled):
    """Text comes in the order of its buffers, binary rows from everywhere."""
    first = {kind: order_of(shuffled(kind).chunks(0))[:30] for kind in KINDS}
    assert max(first["text"]) < 30
    assert max(first["binary"]) > 90


@every("kind", KINDS)
@every("buffer", [(30, 10**6), (10**6, 60), (1, 1), (7, 25)])
def test_buffers_are_bounded(shuffled, kind, buffer, monkeypatch):
    held = []
    monkeypatch.setattr(
        passes, "in_order", lambda chunk, order: held.append(chunk) or in_order(chunk, order)
    )
    list(shuffled(kind, buffer=Limits(*buffer)).chunks(0))
    sizes = [(len(chunk), chunk.columns.size) for chunk in held]
    block = (4, 12) if kind == "binary" else (1, 8)  # what is never cut
    for size in sizes:
        alone = size[0] <= block[0] and size[1] <= block[1]
        assert alone or (size[0] <= buffer[0] and size[1] <= buffer[1])


@every("shuffle", [False, True])
def test_what_is_read_once_comes_in_its_own_order(shuffle):
    source = MadeSource(*cut_up(ROWS, [50]), rewinds=False)
    assert order_of(passes_over(source, shuffle, 0)(0, 7)) == ROWS.labels.tolist()[7:]
    with pytest.raises(DataError, match="only once cannot be shuffled"):
        BufferShuffle(source, 0)


@given(st.lists(st.integers(0, 11), max_size=20))
def test_gathering_is_indexing(order):
    rows = random_chunk(12)
    at = rows.at(np.array(order, np.int64))
    assert_array_equal(at.rows.toarray(), rows.rows.toarray()[order])
    assert at.labels.tolist() == rows.labels[order].tolist()


def greedy(sizes, limits):
    """Cut as a person would: go on while the next item fits."""
    cuts, held = [0], (0, 0)
    for i, item in enumerate(sizes):
        held = (held[0] + item[0], held[1] + item[1])
        if i > cuts[-1] and (held[0] > limits.rows or held[1] > limits.nonzeros):
            cuts.append(i)
            held = item
    return [*cuts, len(sizes)] if sizes else cuts


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=30),
    st.builds(Limits, st.integers(1, 10), st.integers(1, 20)),
)
def test_cuts_are_greedy(sizes, limits):
    before = [np.cumsum([0, *some]).astype(np.int64) for some in zip(*sizes, strict=True)]
    cuts = cut(*(before or [np.zeros(1, np.int64)] * 2), *limits)
    assert cuts.tolist() == greedy(sizes, limits)
