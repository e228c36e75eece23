"""What all formats have in common: every test here is crossed with the registry."""

import bz2
import gzip
import lzma
import os
from contextlib import suppress

import numpy as np
import pytest

from format_cases import (
    NAMED,
    NAMES,
    ROWS,
    TEXTS,
    WRITERS,
    every,
    name_in,
    read_all,
    same,
    small_chunks,
    write,
)
from thresher.formats import binary_file
from thresher.formats.errors import DataError
from thresher.formats.names import HashedNames, KnownNames
from thresher.formats.opening import FORMATS, find_format, format_of, open_rows
from thresher.formats.protocol import Reading

BINARY = [name for name in FORMATS if name not in TEXTS]
every_format = every("form", FORMATS)
every_text = every("form", TEXTS)
every_named = every("form", NAMED)


def by_name(result):
    """Return rows by names, also where columns are numbers."""
    if result.source.names is not None:
        return result.rows
    return [{NAMES[column]: value for column, value in row.items()} for row in result.rows]


def test_every_format_is_tested():
    assert set(WRITERS) == set(FORMATS)


@every_format
def test_rows_and_labels(form, tmp_path):
    found = read_all(open_rows(write(tmp_path, form), format=form))
    assert by_name(found) == [row for _, row in ROWS]
    assert found.labels == [label for label, _ in ROWS]
    assert found.weights == [1.0] * len(ROWS)
    assert found.source.n_rows == len(ROWS)
    assert found.source.rewinds
    assert found.source.skipped.count == 0


@every_format
def test_a_second_pass_is_like_the_first(form, tmp_path):
    source = open_rows(write(tmp_path, form), format=form)
    assert same(read_all(source), read_all(source))


@every_format
def test_where_chunks_end_does_not_matter(form, tmp_path):
    path = write(tmp_path, form)
    whole = read_all(open_rows(path, format=form))
    for n_rows, n_bytes in ((1, 16), (7, 16), (1, 10_000), (7, 10_000)):
        with small_chunks(n_rows, n_bytes):
            assert same(read_all(open_rows(path, format=form)), whole)


@every_format
def test_several_files_are_read_one_after_the_other(form, tmp_path):
    paths = [write(tmp_path, form), write(tmp_path, form, ROWS[:1] + ROWS[7:9], name="more")]
    found = read_all(open_rows(paths, format=form))
    assert by_name(found) == [row for _, row in [*ROWS, ROWS[0], *ROWS[7:9]]]
    marks = {open_rows(some, format=form).fingerprint() for some in (paths, paths[:1], paths[1:])}
    assert len(marks) == 3


@every_format
def test_rows_in_binary_are_the_same(form, tmp_path):
    source, path, reached = open_rows(write(tmp_path, form), format=form), tmp_path / "x.rows", []
    binary_file.write(source, str(path), progress=reached.append)
    assert same(read_all(open_rows(path)), read_all(source))
    assert reached[-1] == len(ROWS)


@every_named
def test_hashed_names_are_not_lost(form, tmp_path):
    if "hash_bits" not in find_format(form).options:
        return
    path = write(tmp_path, form)
    hashed = read_all(open_rows(path, format=form, hash_bits=30))
    assert isinstance(hashed.source.names, HashedNames)
    assert hashed.rows == [row for _, row in ROWS]


@every_named
def test_a_model_that_kept_few_names_reads_rows_of_the_same_lengths(form, tmp_path):
    path = write(tmp_path, form)
    whole = read_all(open_rows(path, format=form))
    kept = whole.source.names.only(np.array([1]))
    assert isinstance(kept, KnownNames)
    found = read_all(open_rows(path, Reading(format=form, labelled=False), kept))
    lengths = [[sorted(row.values()) for row in one.rows] for one in (found, whole)]
    assert lengths[0] == lengths[1]
    assert [row.get("bb") for row in found.rows] == [row.get("bb") for _, row in ROWS]
    for row, columns in zip(found.rows, found.columns, strict=True):
        assert [name_in(found.source, column) for column in columns] == list(row)


@every_format
def test_labels_are_not_read_in_prediction(form, tmp_path):
    (chunk,) = open_rows(write(tmp_path, form), format=form, ignore_labels=True).chunks()
    assert len(chunk) == len(ROWS)
    assert form == "binary" or chunk.labels is None


@every_format
def test_files_that_cannot_be_opened(form, tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    cases = {
        empty: "is empty",
        tmp_path: "is a directory",
        tmp_path / "no": "there is no such file",
    }
    for path, message in cases.items():
        with pytest.raises(DataError, match=message):
            read_all(open_rows(path, format=form))


@every_format
def test_options_that_mean_nothing_are_refused(form, tmp_path):
    values = {"label": "aa", "weight": "bb", "sep": "|", "index_base": 1, "hash_bits": 4}
    for name in set(values) - set(find_format(form).options):
        with pytest.raises(DataError, match=rf"{name}=.* means nothing for {form} rows.*--format:"):
            open_rows(write(tmp_path, form), format=form, **{name: values[name]})


@every("form", [name for name in FORMATS if name != "binary"])
def test_a_file_that_changes_while_it_is_read(form, tmp_path):
    path = write(tmp_path, form)
    with small_chunks():
        chunks = open_rows(path, format=form).chunks()
        next(chunks)
        os.utime(path, (1, 1))
        with pytest.raises(DataError, match="was changed while it was read"):
            list(chunks)


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@every_text
def test_compressed_text(form, tmp_path):
    path = tmp_path / os.path.basename(write(tmp_path, form))
    for ending, pack in PACKED.items():
        (tmp_path / f"packed{ending}").write_bytes(pack(path.read_bytes()))
        found = read_all(open_rows(tmp_path / f"packed{ending}", format=form))
        assert same(found, read_all(open_rows(path, format=form)))


@every_text
def test_line_ends_and_marks_do_not_matter(form, tmp_path):
    path = tmp_path / os.path.basename(write(tmp_path, form))
    whole = read_all(open_rows(path, format=form))
    data = path.read_bytes()
    for changed in (
        data.rstrip(b"\n"),
        data.replace(b"\n", b"\r\n"),
        data.replace(b"\n", b"\n\n"),
        b"\xef\xbb\xbf" + data,
    ):
        path.write_bytes(changed)
        assert same(read_all(open_rows(path, format=form)), whole)


BAD = {"csv": "1", "tsv": "1"}  # a line that cannot be read; elsewhere:
BAD_LINE = "what?"


@every_text
def test_a_bad_line_is_named_or_skipped_and_counted(form, tmp_path):
    path = tmp_path / os.path.basename(write(tmp_path, form))
    whole = read_all(open_rows(path, format=form))
    lines = path.read_text().splitlines(keepends=True)
    bad = BAD.get(form, BAD_LINE) + "\n"
    path.write_text("".join([*lines[:4], bad, *lines[4:], bad * 9]))
    with pytest.raises(DataError) as caught:
        read_all(open_rows(path, format=form))
    assert (caught.value.file, caught.value.line) == (str(path), 5)
    source = open_rows(path, format=form, on_error="skip")
    for _ in range(2):
        assert same(read_all(source), whole)
        assert source.skipped.count == 10
        assert len(source.skipped.examples) == 5
        assert f"{path}, line 5" in source.skipped.examples[0]


@every_text
def test_a_line_that_is_too_long_is_refused_with_file_and_line(form, tmp_path):
    path = tmp_path / os.path.basename(write(tmp_path, form))
    path.write_bytes(path.read_bytes() + b"x" * 500 + b"\n")
    lines = path.read_text().count("\n")
    for on_error in ("raise", "skip"):
        with pytest.raises(DataError, match=r"longer than 300 bytes.*--max-line-bytes") as caught:
            read_all(open_rows(path, format=form, max_line_bytes=300, on_error=on_error))
        assert (caught.value.file, caught.value.line) == (str(path), lines)


@every("form", [name for name in TEXTS if name != "svmlight"])
def test_bytes_that_are_no_text_are_named(form, tmp_path):
    path = tmp_path / os.path.basename(write(tmp_path, form))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], lines[4].rstrip() + b"\xe9\n", *lines[5:]]))
    with pytest.raises(DataError, match="byte 0xe9 is not UTF-8") as caught:
        read_all(open_rows(path, format=form))
    assert caught.value.line == 5
    place = len(lines[4].rstrip()) + 1
    if form in ("csv", "tsv"):
        assert f"(character {place} of the line)" in str(caught.value)
    else:
        assert caught.value.column == place
    found = read_all(open_rows(path, format=form, on_error="skip"))
    assert (found.source.skipped.count, len(found.rows)) == (1, len(ROWS) - 1)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of categories that nearly all differ
@every("form", [name for name in FORMATS if name != "arrow"])
def test_whatever_a_file_holds_is_read_or_refused_in_words(form, tmp_path):
    """For Arrow files see ``test_formats_arrow``: there a fault may end the interpreter."""
    path = tmp_path / os.path.basename(write(tmp_path, form))
    good, rng = path.read_bytes(), np.random.default_rng(0)
    for k in range(150):
        place, size = rng.integers(len(good)), rng.integers(1, 12)
        noise = rng.choice(np.frombuffer(b"0123.:|\"',{}[]\t\n -enf\xff\0PK", np.uint8), size)
        path.write_bytes(good[:place] + noise.tobytes() + good[place + size * (k % 2) :])
        for on_error in ("raise", "skip"):
            with suppress(DataError):
                read_all(open_rows(path, format=form, on_error=on_error))


# ------------------------------------------------------------------------------------- opening


@every(
    ("path", "form"),
    [
        ("D.CSV", "csv"),
        ("D.CSV.GZ", "csv"),
        ("d.Tsv.XZ", "tsv"),
        ("a.b.JSONL.BZ2", "jsonl"),
        ("rows.rows", "binary"),
        ("X.npy", "npz"),
        ("rows", "svmlight"),
        ("rows.unknown", "svmlight"),
        ("-", "svmlight"),
        ("x.csv/rows", "svmlight"),
    ],
)
def test_formats_are_found_by_name(path, form):
    assert format_of(path) == form


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(DataError, match="no format 'xml': choose svmlight, vw, jsonl"):
        open_rows("x", format="xml")
    with pytest.raises(DataError, match=r"a\.svm looks like svmlight and b\.csv like csv: name"):
        open_rows(["a.svm", "b.csv"])
    with pytest.raises(DataError, match="no file to read"):
        open_rows([])
    with pytest.raises(TypeError, match="lable is no option of reading: there are format, label"):
        open_rows("x", lable="y")


@every(
    ("options", "message"),
    [
        ({"on_error": "stop"}, "on_error='stop': it must be 'raise' or 'skip'"),
        ({"index_base": 2}, "index_base=2: it must be 0 or 1"),
        ({"hash_bits": 31}, "hash_bits=31: it must be 1 to 30"),
        ({"max_line_bytes": 0}, "max_line_bytes=0: it must be at least 1"),
        ({"weight": "label"}, "label and weight are both 'label'"),
        ({"categories": "ward"}, "categories='ward': give a list of strings"),
        ({"categories": ["label"]}, "'label' is the label, the weight or the index"),
        ({"sep": ""}, "sep='': it must be one character"),
        ({"sep": "||"}, r"sep='\|\|': it must be one character"),
        ({"quote": "\n"}, "quote='.n': it must be one character"),
        ({"sep": "|", "quote": "|"}, r"sep and quote are both '\|'"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Reading(**options)
