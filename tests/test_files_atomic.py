"""Files are written whole or not at all, whatever goes wrong meanwhile."""

import errno
import os
import subprocess
import sys
import threading
import time

import pytest

from format_cases import every
from thresher.files import FileError
from thresher.files.atomic import ABANDONED, replacing, write_bytes

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def old(tmp_path):
    """A file that was there before."""
    path = tmp_path / "model"
    path.write_bytes(b"old")
    return path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_made_or_replaced(tmp_path):
    path = tmp_path / "model"
    for content in (b"first", b"second, longer", b""):
        write_bytes(path, content)
        assert path.read_bytes() == content
    assert names_in(tmp_path) == ["model"]


def test_readers_see_the_old_file_until_the_new_one_is_whole(old):
    with replacing(old) as file:
        file.write(b"half of it")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"half of it"


@every("error", [RuntimeError, KeyboardInterrupt])
def test_whatever_goes_wrong_the_old_file_stays(old, error):
    def fail():
        with replacing(old) as file:
            file.write(b"half of it")
            raise error

    with pytest.raises(error):
        fail()
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == ["model"]


@every("function", ["fsync", "replace"])
@every(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left on the device"),
        (errno.EROFS, "file system is read-only"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_when_the_system_refuses_the_old_file_stays(old, monkeypatch, function, number, words):
    def fail(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(FileError, match=f"model cannot be written: .*{words}") as caught:
        write_bytes(old, b"new")
    monkeypatch.undo()
    assert caught.value.errno == number
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == ["model"]


def test_a_limit_met_in_the_middle_of_a_file(old):
    program = """
import resource, sys
from thresher.files.atomic import write_bytes
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_bytes(sys.argv[1], bytes(100_000))
except OSError as error:
    print(type(error).__name__, error)
"""
    command = [sys.executable, "-c", program, str(old)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert answer.startswith("FileError")
    assert "larger than the file system or your file size limit allows" in answer
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == ["model"]


def test_errors_of_other_files_are_left_alone(old, tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), replacing(old):
        (tmp_path / "folder" / "elsewhere").read_bytes()


@every(
    ("name", "words"),
    [
        ("folder", "it is a directory"),
        ("missing/model", "the folder does not exist. Create it first"),
        ("file/model", "a part of its path is a file, not a folder"),
        ("x" * 300, "its name is too long"),
        ("pipe", "it is a device or a pipe"),
    ],
)
def test_places_that_cannot_be_written(tmp_path, name, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match=words):
        write_bytes(tmp_path / name, b"new")
    assert names_in(tmp_path) == ["file", "folder", "pipe"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no such folder")
def test_a_folder_that_exists_is_not_called_missing():
    with pytest.raises(FileError, match=r"no file can be created in /proc \(") as found:
        write_bytes("/proc/model", b"new")
    assert "does not exist" not in str(found.value)


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_a_file_that_is_protected_is_not_replaced(old):  # pragma: no cover
    old.chmod(0o444)
    with pytest.raises(FileError, match="do not have permission"):
        write_bytes(old, b"new")
    old.parent.chmod(0o555)
    with pytest.raises(FileError, match="do not have permission"):
        write_bytes(old.parent / "other", b"new")
    old.parent.chmod(0o755)


def test_permissions_and_links_stay(old, tmp_path):
    old.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(old)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"
    assert old.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "model", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


def test_a_later_writer_removes_what_a_killed_one_left(old):
    fresh, left = old.with_name(".model.0.part"), old.with_name(".model.1.part")
    for path in (fresh, left):
        path.write_bytes(b"half of it")
    os.utime(left, (time.time() - ABANDONED - 9,) * 2)
    write_bytes(old, b"new")
    assert names_in(old.parent) == [fresh.name, "model"]  # somebody may still write to it


def test_many_writers_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "model"

    def write(letter):
        for _ in range(20):
            write_bytes(path, letter * 10_000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    content = path.read_bytes()
    assert len(content) == 10_000
    assert len(set(content)) == 1
    assert names_in(tmp_path) == ["model"]
