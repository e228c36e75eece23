"""Text files of every kind as blocks of whole lines, and what is wrong with those that are not."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from format_cases import every
from thresher.formats.blocks import InputFiles
from thresher.formats.errors import DataError

TEXT = b"".join(b"row %d of %d\n" % (k, k * k) for k in range(200)) + b"the last"


def zstd(data):
    return pytest.importorskip("zstandard").compress(data)


CODECS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.fixture(params=CODECS)
def packed(request, tmp_path):
    """Return what packs text into a file of one kind."""

    def pack(*parts, change=lambda data: data):
        path = tmp_path / f"text.txt{request.param}"
        path.write_bytes(change(b"".join(CODECS[request.param](part) for part in parts)))
        return path

    return pack


@pytest.fixture
def plain(tmp_path):
    def write(data, name="text.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def read_blocks(*paths, size=4 << 20):
    blocks = InputFiles(paths).blocks(size)
    return [block._replace(data=bytes(block.data)) for block in blocks]


def read(*paths, size=4 << 20):
    return b"".join(block.data for block in read_blocks(*paths, size=size))


def refused(*paths, size=4 << 20):
    with pytest.raises(DataError) as caught:
        read(*paths, size=size)
    return str(caught.value)


@every("size", [1, 2, 3, 7, 16, 17, 100, 1 << 20])
def test_blocks_are_whole_lines_with_their_numbers(plain, size):
    blocks = read_blocks(plain(TEXT), size=size)
    assert b"".join(bytes(block.data) for block in blocks) == TEXT
    line = 1
    for block in blocks:
        assert block.first_line == line
        assert block.data.endswith(b"\n") or block is blocks[-1]
        assert len(block.data) <= max(size, 40)
        line += block.data.count(b"\n")


@every("length", [15, 16, 17, 31, 32, 33])
def test_a_file_may_end_exactly_where_a_block_does(plain, length):
    for text in (b"x" * length, b"x" * (length - 1) + b"\n", b"\n" * length):
        assert read(plain(text), size=16) == text


def test_each_file_counts_its_own_lines(plain):
    one, other = plain(b"a\nb", "one"), plain(b"c\n", "other")
    blocks = read_blocks(one, other)
    assert [(block.data, block.first_line) for block in blocks] == [(b"a\nb", 1), (b"c\n", 1)]
    assert [block.file for block in blocks] == [str(one), str(other)]


def test_a_line_may_be_longer_than_a_block(plain):
    text = b"x\n" + b"y" * 10_000 + b"\nz\n" + b"x" * 50_000 + b"\n"
    blocks = read_blocks(plain(text), size=64)
    assert b"".join(bytes(block.data) for block in blocks) == text
    assert [block.first_line for block in blocks] == [1, 2, 4]


@every("size", [16, 64, 4 << 20])
def test_lines_are_bounded(plain, size):
    def blocks(length):
        return InputFiles([plain(b"a\n" + b"x" * length + b"\nb\n")], 1000).blocks(size)

    assert sum(len(block.data) for block in blocks(1000)) == 1005
    with pytest.raises(DataError, match=r"line 2: this line is longer than 1,000 bytes"):
        list(blocks(1001))


BOMB = """
import resource, sys, time
from thresher.formats.errors import DataError
from thresher.formats.opening import open_rows
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    list(open_rows(sys.argv[1], max_line_bytes=4 << 20).chunks())
except DataError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@every("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_a_few_bytes_that_become_one_huge_line_are_refused_soon(tmp_path, ending):
    """A line of 150 MB takes less than 100 MB of memory, and is a few kB on disk."""
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(b"".join([CODECS[ending](b"1 1:1\n" + b"x" * (150 << 20))]))
    result = subprocess.run(
        [sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, check=True
    )
    message, kilobytes = result.stdout.splitlines()
    assert f"{path}, line 2: this line is longer than 4,194,304 bytes" in message
    assert int(kilobytes) < 100_000


@every("size", [1, 50, 4 << 20])
def test_compressed_files(packed, size):
    assert read(packed(TEXT), size=size) == TEXT


def test_compressed_streams_behind_each_other_and_zeros_behind_them(packed):
    assert read(packed(TEXT, TEXT[:50])) == TEXT + TEXT[:50]
    assert read(packed(TEXT, change=lambda data: data + bytes(8))) == TEXT
    assert read(packed(b"", TEXT, b"")) == TEXT


def test_a_compressed_file_cut_off_anywhere_is_refused(packed):
    length = packed(TEXT[:300]).stat().st_size
    for kept in range(1, length):
        message = refused(packed(TEXT[:300], change=lambda data, n=kept: data[:n]))
        assert "is cut off" in message
    assert "is cut off" in refused(packed(TEXT, TEXT, change=lambda data: data[:-1]))


def test_what_follows_a_compressed_stream_is_not_ignored(packed):
    assert "is damaged after" in refused(packed(TEXT, change=lambda data: data + b"rubbish"))


def test_damaged_and_misnamed_compressed_files(packed, plain):
    path = packed(TEXT, change=lambda data: data[:30] + bytes(10) + data[40:])
    assert "damaged" in refused(path) or "cut off" in refused(path)
    path.write_bytes(TEXT)
    assert "as its name suggests" in refused(path)


@every("end", CODECS)
def test_a_compressed_file_whose_name_does_not_say_so(plain, end):
    assert f"rename it to end in {end}" in refused(plain(CODECS[end](TEXT), "text"))


def test_a_compressed_pipe_can_be_unpacked_on_the_way(monkeypatch):
    packed = io.BytesIO(CODECS[".gz"](TEXT))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=packed))
    message = refused("-")
    assert "standard input: is compressed" in message
    assert "gunzip -c FILE.gz | thresher ... -" in message


def test_nothing_in_a_compressed_file(packed):
    assert "is empty" in refused(packed(b""))


def test_zstd_is_an_extra(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"pip install 'thresher\[zstd\]'"):
        read(plain(b"x", "text.zst"))


def test_files_that_cannot_be_read(tmp_path, plain, monkeypatch):
    assert refused(tmp_path / "none.txt") == f"{tmp_path / 'none.txt'}: there is no such file"
    assert "is a directory: name the files in it" in refused(tmp_path)
    assert "is empty: there is nothing to read" in refused(plain(b""))
    path = plain(b"x")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "permission denied" in refused(path)


def test_an_error_while_reading_is_told_in_words(plain, monkeypatch):
    def fail(*_, **__):
        raise OSError(5, "Input/output error")

    path = plain(b"x")
    monkeypatch.setattr("builtins.open", fail)
    assert "cannot be read: Input/output error" in refused(path)


@every(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(TEXT + b"more"), "grew from 3,152 to 3,156 bytes while"),
        (lambda path: path.write_bytes(TEXT[:-1]), "shrank from 3,152 to 3,151 bytes while"),
        (lambda path: os.utime(path, (1, 1)), "was changed while it was read"),
    ],
)
def test_a_file_that_changes_while_it_is_read(plain, change, words):
    path = plain(TEXT)
    blocks = InputFiles([path]).blocks(64)
    next(blocks)
    change(path)
    with pytest.raises(DataError, match=words):
        list(blocks)


def test_a_file_that_changes_between_two_passes(plain):
    path = plain(TEXT)
    files = InputFiles([path])
    list(files.blocks())
    list(files.blocks())
    path.write_bytes(TEXT + b"more")
    with pytest.raises(DataError, match="since it was first looked at"):
        list(files.blocks())


def test_standard_input(monkeypatch, plain):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT)))
    files = InputFiles(["-", plain(b"x\n")])
    assert not files.rewinds
    assert files.size is None
    blocks = [block._replace(data=bytes(block.data)) for block in files.blocks()]
    assert [bytes(block.data) for block in blocks] == [TEXT, b"x\n"]
    assert blocks[0].file == "standard input"


def test_standard_input_that_is_empty_or_named_twice(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))
    assert refused("-") == "standard input: is empty: there is nothing to read"
    with pytest.raises(DataError, match="named twice"):
        InputFiles(["-", "-"])
    with pytest.raises(DataError, match="no file to read"):
        InputFiles([])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    files = InputFiles([path])
    assert not files.rewinds
    assert b"".join(bytes(block.data) for block in files.blocks(64)) == TEXT
    writer.join()


def test_a_fingerprint_tells_names_sizes_beginnings_and_ends(plain, tmp_path):
    text = b"x" * 200_000
    known = InputFiles([plain(text)]).fingerprint()
    assert known == InputFiles([plain(text)]).fingerprint()
    (tmp_path / "elsewhere").mkdir()
    assert known == InputFiles([plain(text, "elsewhere/text.txt")]).fingerprint()
    others = [
        plain(text, "other.txt"),
        plain(text + b"x", "more.txt"),
        plain(b"y" + text[1:]),
    ]
    marks = {InputFiles([path]).fingerprint() for path in others}
    marks.add(InputFiles([plain(text[:-1] + b"y")]).fingerprint())
    assert len(marks | {known}) == 5
    assert InputFiles(["-"]).fingerprint() == InputFiles(["-"]).fingerprint()
