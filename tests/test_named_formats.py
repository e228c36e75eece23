"""What all text formats with named features have in common, one example each."""

import bz2
import csv
import gzip
import io
import json
import lzma
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from named_rows import read_all, read_text, small_chunks
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames, HashedNames, KnownNames
from thresher.data.sources.jsonl import JsonLinesSource
from thresher.data.sources.opening import format_of, open_source
from thresher.data.sources.protocol import Reading
from thresher.data.sources.table import TableSource
from thresher.data.sources.text import TextSource
from thresher.data.sources.vw import VowpalSource

COLOURS = ["rot", "grün", "blau", "红色", "rot", "", "gelb"]
ROWS = [(k % 3, k / 4, COLOURS[k % 7]) for k in range(30)]  # label, size, colour


def as_vw():
    lines = [f"{y} |f size:{x}" + (f" colour={c}" if c else "") for y, x, c in ROWS]
    return "\n".join(lines) + "\n"


def as_json():
    rows = [{"label": y, "size": x, **({"colour": c} if c else {})} for y, x, c in ROWS]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv():
    text = io.StringIO()
    csv.writer(text).writerows([("label", "size", "colour"), *ROWS])
    return text.getvalue()


def as_text():
    return "".join(f"{y}\t{'size ' * k} {c}\n" for k, (y, _, c) in enumerate(ROWS))


# source, a text, a line of which nothing can be made
FORMATS = {
    "vw": (VowpalSource, as_vw(), "what?"),
    "jsonl": (JsonLinesSource, as_json(), "{"),
    "csv": (TableSource, as_csv(), "1"),
    "text": (TextSource, as_text(), "what?"),
}
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("name", ["D.CSV", "D.CSV.GZ", "d.csv.Gz", "D.Tsv.XZ", "a.b.JSONL.BZ2"])
def test_endings_in_capitals_are_endings(name):
    assert format_of(name) == name.lower().split(".")[-2 if len(name) > 5 else -1]


def test_a_compressed_table_with_a_name_in_capitals_is_read(tmp_path):
    path = tmp_path / "D.CSV.GZ"
    path.write_bytes(gzip.compress(as_csv().encode()))
    assert len(read_all(open_source(path)).rows) == len(ROWS)


@pytest.fixture(params=FORMATS)
def form(request):
    return FORMATS[request.param]


def same(one, other):
    return one[:4] == other[:4]


def test_the_rows(form):
    kind, text, _ = form
    found = read_text(kind, text)
    assert found.labels == [y for y, _, _ in ROWS]
    assert len(found.rows) == found.source.n_rows == 30
    assert found.source.skipped.count == 0
    sizes = [next((v for name, v in row.items() if "size" in name), 0) for row in found.rows]
    assert sizes == [k if kind is TextSource else k / 4 for k in range(30)]
    colours = [name for row in found.rows for name in row if "size" not in name]
    assert [name.split("=")[-1] for name in colours] == [c for _, _, c in ROWS if c]


@pytest.mark.parametrize("n_rows", [1, 7, 100])
@pytest.mark.parametrize("n_bytes", [16, 50, 10_000])
def test_it_does_not_matter_where_chunks_end(form, n_rows, n_bytes):
    kind, text, _ = form
    whole = read_text(kind, text)
    names = GrowingNames([], whole.source.names.categorical)
    with small_chunks(n_rows, n_bytes):
        assert same(read_text(kind, text, names=names), whole)


def test_line_ends_and_marks_do_not_matter(form):
    kind, text, _ = form
    whole = read_text(kind, text)
    bare = text.replace("\r\n", "\n")
    assert same(read_text(kind, bare.rstrip("\n")), whole)
    assert same(read_text(kind, bare.replace("\n", "\r\n")), whole)
    assert same(read_text(kind, bare.replace("\n", "\n\n")), whole)
    assert same(read_text(kind, b"\xef\xbb\xbf" + bare.encode()), whole)


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_files(form, suffix):
    kind, text, _ = form
    packed = PACKED[suffix](text.encode())
    assert same(read_text(kind, packed, suffix=f".x{suffix}"), read_text(kind, text))


def test_a_second_pass_is_like_the_first(form, tmp_path):
    kind, text, bad = form
    path = tmp_path / "rows"
    path.write_text(f"{text}{bad}\n")
    source = kind([str(path)], Reading(on_error="skip"))
    assert source.rewinds
    assert same(read_all(source), read_all(source))
    assert source.skipped.count == 1


def test_several_files_are_read_one_after_the_other(form, tmp_path):
    kind, text, bad = form
    for name, content in (("a", text), ("b", f"{text}{bad}\n")):
        (tmp_path / name).write_text(content)
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    with pytest.raises(DataError) as caught:
        read_all(kind(paths, Reading()))
    assert caught.value.file == paths[1]
    assert caught.value.line == text.count("\n") + 1
    found = read_all(kind(paths, Reading(on_error="skip")))
    once = read_text(kind, text)
    assert (found.rows, found.columns) == (once.rows * 2, once.columns * 2)
    assert kind(paths, Reading()).fingerprint() != kind(paths[:1], Reading()).fingerprint()


def test_rows_that_are_skipped_are_counted(form):
    kind, text, bad = form
    lines = text.splitlines(keepends=True)
    spoilt = [line for row in lines[1:] for line in (row, f"{bad}\n")]
    found = read_text(kind, "".join([lines[0], *spoilt]), on_error="skip")
    whole = read_text(kind, text)
    assert same(found, whole)
    assert found.source.skipped.count == len(lines) - 1
    assert len(found.source.skipped.examples) == 5


def test_bytes_that_are_no_text_are_named(form):
    kind, text, _ = form
    lines = text.encode().splitlines(keepends=True)
    bad = lines[4].rstrip() + b"\xe9\n"
    data = b"".join([*lines[:4], bad, *lines[5:]])
    with pytest.raises(DataError, match="byte 0xe9 is not UTF-8") as caught:
        read_text(kind, data)
    assert caught.value.line == 5
    place = len(lines[4].rstrip().decode()) + 1
    if kind is TableSource:
        assert f"(character {place} of the line)" in str(caught.value)
    else:
        assert caught.value.column == place
    found = read_text(kind, data, on_error="skip")
    assert found.source.skipped.count == 1
    assert len(found.rows) == 29


def test_hashed_names_are_not_lost(form):
    kind, text, _ = form
    whole = read_text(kind, text)
    hashed = read_text(kind, text, hash_bits=30)
    assert isinstance(hashed.source.names, HashedNames)
    assert hashed.rows == whole.rows


def test_a_model_that_kept_few_names_reads_rows_of_the_same_lengths(form):
    kind, text, _ = form
    whole = read_text(kind, text)
    names = whole.source.names
    kept = names.only(np.array([0]))
    assert isinstance(kept, KnownNames)
    with small_chunks():
        found = read_text(kind, text, names=kept)
    assert [sorted(row.values()) for row in found.rows] == [
        sorted(row.values()) for row in whole.rows
    ]
    first = names.name(0)
    assert [row.get(first) for row in found.rows] == [row.get(first) for row in whole.rows]


def test_names_and_columns_belong_together(form):
    kind, text, _ = form
    found = read_text(kind, text)
    names = found.source.names
    for row, columns in zip(found.rows, found.columns, strict=True):
        assert names.number(list(row)).tolist() == columns


def test_files_that_are_none(form, tmp_path):
    kind, *_ = form
    empty = tmp_path / "empty"
    empty.touch()
    for path, message in (
        (empty, "is empty"),
        (tmp_path, "directory"),
        (tmp_path / "x", "no such"),
    ):
        with pytest.raises(DataError, match=message):
            read_all(kind([str(path)], Reading()))


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_found_by_name(name, tmp_path):
    kind, text, _ = FORMATS[name]
    path = tmp_path / f"rows.{name}"
    path.write_text(text)
    source = open_source(path, Reading(format="text" if name == "text" else "auto"))
    assert type(source) is kind
    assert len(read_all(source).rows) == 30


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_whatever_a_file_holds_is_read_or_refused_in_words(name, data):
    kind, text, _ = FORMATS[name]
    start = data.draw(st.integers(0, len(text.encode())))
    stop = start + data.draw(st.integers(0, 20))
    noise = data.draw(st.binary(max_size=20) | st.text("0123.:|\"',{}[]\t\n -enf").map(str.encode))
    spoilt = text.encode()[:start] + noise + text.encode()[stop:]
    small = data.draw(st.booleans())
    for on_error in ("raise", "skip"):
        with suppress(DataError):
            read_text(kind, spoilt, small=small, on_error=on_error)
