"""Compiled kernels are kept where only their user can write, if there is such a place."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from elsewhere import printed_by
from thresher import cache_folder as places
from thresher.cache_folder import cache_folder

WHERE = "from thresher.cache_folder import *; place = cache_folder('x'); print(*place)"


@pytest.fixture
def homeless(tmp_path, monkeypatch):
    """Let the cache's home be a file, and temporary files have a folder of the test's own."""
    (tmp_path / "a file").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "a file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def own_root(folder):
    return folder / f"thresher-cache-{os.getuid()}"


def test_a_home_that_can_be_written_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert cache_folder("name") == (tmp_path / "thresher" / "name", True)


def test_without_a_home_all_processes_share_one_temporary_folder(homeless):
    first = cache_folder("name")
    assert first == (own_root(homeless) / "name", True)
    assert stat.S_IMODE(own_root(homeless).stat().st_mode) == 0o700
    assert cache_folder("name") == first
    assert [one.name for one in homeless.iterdir()] == [own_root(homeless).name]


def test_who_has_no_home_at_all_has_a_folder(homeless, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def nobody(*_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert cache_folder("name").path.parent == own_root(homeless)


def lay_link(root):
    root.parent.joinpath("theirs").mkdir(mode=0o700)
    root.symlink_to(root.parent / "theirs")


def leave_open(root):
    root.mkdir()
    root.chmod(0o770)


def belong_to_another(root):
    root.mkdir(mode=0o700)
    os.chown(root, 12345, -1)


@pytest.mark.parametrize("spoil", [lay_link, leave_open, belong_to_another, Path.touch])
def test_what_others_could_write_is_not_used(homeless, spoil):
    if spoil is belong_to_another and os.getuid() != 0:
        pytest.skip("only root can give folders away")
    spoil(own_root(homeless))
    folder, kept = cache_folder("name")
    assert not kept
    assert folder.parent == homeless
    assert stat.S_IMODE(folder.stat().st_mode) == places.OWN


def test_a_folder_that_is_not_kept_ends_with_its_process(homeless):
    own_root(homeless).touch()
    path, kept = printed_by(WHERE, TMPDIR=str(homeless)).split()
    assert (kept, Path(path).parent) == ("False", homeless)
    assert not Path(path).exists()
