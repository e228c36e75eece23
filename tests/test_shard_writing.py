"""Shards: there whole or not at all, in bounded memory."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from shard_cases import (
    SMALL,
    MadeSource,
    assert_same_rows,
    cut_up,
    leftovers,
    random_chunk,
    write,
)
from thresher.data.errors import DataError
from thresher.data.sources.shard_set import is_shards, read_set
from thresher.data.sources.shard_writer import write_shards
from thresher.data.sources.shards import ShardSource
from thresher.files import folder as folders
from thresher.files.errors import FileError

# ----------------------------------------------------------------------------------- what is no set


def test_what_is_no_set(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("1 1:1\n")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "00000.rows").write_bytes(b"")
    expected = {
        "nothing": "No such file",
        "empty": "is a directory without shards",
        "file": "is not a folder",
        "half": "have no index",
    }
    for name, message in expected.items():
        assert not is_shards(tmp_path / name)
        with pytest.raises(DataError, match=message):
            ShardSource([str(tmp_path / name)])
    with pytest.raises(DataError, match="No folder"):
        ShardSource([])


def test_nothing_else_is_ever_replaced(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    (tmp_path / "file").write_text("something")
    for name in ("mine", "file"):
        with pytest.raises(FileError, match=f"{name} exists and is no folder of shards"):
            write(tmp_path, random_chunk(5), name=name)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all of it"
    (tmp_path / "empty").mkdir()
    assert write(tmp_path, random_chunk(5), name="empty").n_rows == 5


def test_no_rows_are_no_set(tmp_path):
    with pytest.raises(DataError, match="not a single row"):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_changes_meanwhile(tmp_path):
    made = MadeSource([random_chunk(5)])
    with pytest.raises(DataError, match="changed while"):
        write_shards(made, tmp_path / "set", lambda _: setattr(made, "mark", "other"))
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------ whole or not at all


class Interrupted(Exception):
    pass


def failing(chunks, error):
    yield from chunks
    raise error


@pytest.mark.parametrize("error", [Interrupted(), KeyboardInterrupt(), DataError("bad line")])
def test_a_failure_leaves_what_was_there(tmp_path, error):
    before = random_chunk(40)
    write(tmp_path, before)
    made = MadeSource([])
    made.chunks = lambda: failing([random_chunk(60, seed=1)], error)
    with pytest.raises(type(error)):
        write_shards(made, tmp_path / "set", limits=SMALL)
    assert_same_rows(ShardSource(tmp_path / "set").chunks(), [before])
    assert leftovers(tmp_path) == []


class FullFile:
    """A file on a disk on which so many bytes are left."""

    left = 0

    def __init__(self, file):
        self.file = file

    def write(self, data):
        FullFile.left -= len(data)
        if FullFile.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


@pytest.mark.parametrize("left", [0, 100, 1000, 2000, 4000])
def test_no_space_left(tmp_path, monkeypatch, left):
    def open_full(path, mode):
        file = open(path, mode)  # noqa: SIM115
        return FullFile(file) if "x" in mode else file

    FullFile.left = left
    for module in ("shard", "sealed"):
        monkeypatch.setattr(f"thresher.files.{module}.open", open_full, raising=False)
    with pytest.raises(FileError, match=r"no space left on the device. Free some"):
        write(tmp_path, random_chunk(70))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_disk_that_fails_late(tmp_path, monkeypatch, code):
    def fail(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="set cannot be written") as caught:
        write(tmp_path, random_chunk(70))
    assert caught.value.errno == code
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


KILLED = """
    import sys
    from pathlib import Path
    from shard_cases import MadeSource, cut_up, random_chunk
    from thresher.data.sources.cutting import Limits
    from thresher.data.sources.shard_writer import write_shards
    source = MadeSource(cut_up(random_chunk(300), range(10, 300, 10)))
    print("ready", flush=True)
    while True:
        write_shards(source, Path(sys.argv[1]), limits=Limits(20, 1000))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nobody is killed here")
@pytest.mark.parametrize("moment", [0.0, 0.011, 0.037, 0.08, 0.2])
def test_killed_at_any_moment(tmp_path, moment):
    whole = random_chunk(300)
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "set")]
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout.readline() == b"ready\n"
        time.sleep(moment)
        child.kill()
    if (tmp_path / "set").exists():
        assert_same_rows(ShardSource(tmp_path / "set").chunks(), [whole])
    assert_same_rows(write(tmp_path, whole).chunks(), [whole])
    for name in leftovers(tmp_path):  # killed before there was a lock, or after all was done
        assert not (tmp_path / name / folders.LOCK).exists()


def test_what_the_killed_left_is_swept(tmp_path, monkeypatch):
    places = [tmp_path / f".set.{name}{folders.ENDING}" for name in ("dead", "old", "new")]
    for place in places:
        place.mkdir()
        (place / "00000.rows").touch()
    (places[0] / folders.LOCK).touch()
    long_ago = time.time() - 2 * folders.LONG_AGO
    os.utime(places[1], (long_ago, long_ago))
    write(tmp_path, random_chunk(5))
    assert leftovers(tmp_path) == [places[2].name]


def test_who_is_at_work_is_not_swept(tmp_path):
    def others_write(_):
        write(tmp_path, random_chunk(10, seed=9))

    chunk = random_chunk(70)
    made = MadeSource(cut_up(chunk, [20, 40]))
    source = write_shards(made, tmp_path / "set", others_write, limits=SMALL)
    assert_same_rows(source.chunks(), [chunk])
    assert leftovers(tmp_path) == []


def test_many_write_at_once(tmp_path):
    chunk = random_chunk(40)
    failures = []

    def work():
        try:
            for _ in range(5):
                write(tmp_path, chunk)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_same_rows(ShardSource(tmp_path / "set").chunks(), [chunk])
    assert failures == []
    assert leftovers(tmp_path) == []


def test_a_set_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").mkdir()
    write(tmp_path, random_chunk(5))
    assert (tmp_path / "set").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "set").symlink_to(tmp_path / "elsewhere")
    write(tmp_path, random_chunk(5))
    assert (tmp_path / "set").is_symlink()
    assert read_set(tmp_path / "elsewhere").n_rows == 5


# ------------------------------------------------------------------------------------------- memory

PEAK = """
    import resource, sys
    from pathlib import Path
    from shard_cases import MadeSource, random_chunk
    from thresher.data.sources.cutting import Limits
    from thresher.data.sources.shard_writer import write_shards
    from thresher.data.sources.shuffle import ShuffledShards
    chunk = random_chunk(1000)
    source = MadeSource([])
    source.chunks = lambda: (chunk for _ in range(int(sys.argv[2])))
    kept = write_shards(source, Path(sys.argv[1]), limits=Limits(10_000, 1 << 20))
    passes = ShuffledShards(kept, 0, 5_000)
    for chunks in (kept.chunks(), passes.pass_chunks(0), passes.pass_chunks(1)):
        assert sum(map(len, chunks)) == kept.n_rows
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.jit
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise")
def test_memory_does_not_follow_the_number_of_rows(tmp_path):
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    peaks = []
    for n_chunks in (40, 400):  # thousands of rows
        command = [
            sys.executable,
            "-c",
            textwrap.dedent(PEAK),
            str(tmp_path / "set"),
            str(n_chunks),
        ]
        environment = {**os.environ, "PYTHONPATH": paths}
        peaks.append(int(subprocess.check_output(command, env=environment)))
    assert peaks[1] < 1.05 * peaks[0]
