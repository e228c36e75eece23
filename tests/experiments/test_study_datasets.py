"""Data sets: from a folder, from the cache, from the net; and everything that can be wrong."""

import bz2
import http.server
import io
import tarfile
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from experiments import registry
from experiments.datasets import load, split
from experiments.errors import StudyError
from experiments.formats import digest, svmlight_lines
from experiments.registry import SETS, DataSet, Home, Part


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A local web site: a dict of files, its address, and no folder of data."""
    files, hits = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            body = files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    for name in ("http_proxy", "HTTP_PROXY", "THRESHER_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    yield files, f"http://127.0.0.1:{server.server_port}", hits, tmp_path / "cache"
    server.shutdown()
    server.server_close()


def small_gisette(address):
    """The full Gisette's entry, its two parts moved to another home and cut to three rows."""
    facts = SETS["gisette"]
    parts = []
    for part in facts.parts:
        names = [f"{address}/{url.rsplit('/', 1)[1]}" for url in part.home.urls]
        home = replace(part.home, urls=tuple(names))
        parts.append(replace(part, rows=3, positives=2, home=home, sha256=None, content=None))
    return replace(facts, columns=4, parts=tuple(parts))


def serve_gisette(files):
    for half in ("train", "valid"):
        files[f"/gisette_{half}.data"] = b"0 5 0 7 \n1 0 0 0 \n0 0 0 3 \n"
        files[f"/gisette_{half}.labels"] = b"1\n-1\n1\n"


def test_a_full_set_comes_over_http_once(site):
    files, address, hits, cache = site
    serve_gisette(files)
    data = load(small_gisette(address))
    assert data.X_train.toarray().tolist() == [[0, 5, 0, 7], [1, 0, 0, 0], [0, 0, 0, 3]]
    assert data.y_test.tolist() == [1, -1, 1]
    assert sorted(path.name for path in cache.iterdir()) == [
        "gisette_train.svm.xz",
        "gisette_train.svm.xz.sha256",
        "gisette_valid.svm.xz",
        "gisette_valid.svm.xz.sha256",
    ]
    before = len(hits)
    load(small_gisette(address))
    assert len(hits) == before


def test_a_wrong_download_leaves_nothing(site):
    files, address, _, cache = site
    serve_gisette(files)
    facts = small_gisette(address)
    wrong = replace(facts, parts=(replace(facts.parts[0], content="0" * 64), facts.parts[1]))
    with pytest.raises(StudyError, match="numbers are not the published ones"):
        load(wrong)
    assert list(cache.iterdir()) == []


def test_a_short_download_is_refused(site):
    files, address, _, cache = site
    serve_gisette(files)
    files["/gisette_train.data"] = b"0 5 0 7 \n1 0 0 0 \n"
    files["/gisette_train.labels"] = b"1\n-1\n"
    with pytest.raises(StudyError, match="has 2 rows"):
        load(small_gisette(address))
    assert list(cache.iterdir()) == []


def test_an_altered_cache_is_noticed(site):
    files, address, _, cache = site
    serve_gisette(files)
    load(small_gisette(address))
    path = cache / "gisette_train.svm.xz"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(StudyError, match="SHA-256 differs"):
        load(small_gisette(address))


def test_a_missing_page_says_what_to_do(site):
    _, address, _, _ = site
    with pytest.raises(StudyError, match=r"could not download .* THRESHER_DATA"):
        load(small_gisette(address))


def archive(kind, name, text):
    if kind == "zip":
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as box:
            box.writestr(name, text)
        return sink.getvalue()
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:bz2") as box:
        entry = tarfile.TarInfo(f"folder/{name}")
        entry.size = len(text)
        box.addfile(entry, io.BytesIO(text))
    return sink.getvalue()


@pytest.mark.parametrize("ending", ["zip", "tar.bz2", "bz2", "txt"])
def test_packed_homes(site, ending):
    files, address, _, _ = site
    text = b"+1 1:2 3:1 3:1\n-1 2:4\n+1 1:1\n+1 2:2\n"
    body = text if ending == "txt" else bz2.compress(text)
    files[f"/set.{ending}"] = (
        archive(ending, "rows", text) if ending in ("zip", "tar.bz2") else body
    )
    home = Home("svmlight", (f"{address}/set.{ending}",), "rows")
    train = Part("set_train.svm.xz", 3, 2, home=replace(home, lines=(0, 3)))
    test = Part("set_valid.svm.xz", 1, 1, home=replace(home, lines=(3, 4)))
    data = load(DataSet("set", "Set", "none", "full", 3, (train, test), "none"))
    assert data.X_train.toarray().tolist() == [[2, 0, 1], [0, 4, 0], [1, 0, 0]]
    assert data.y_train.tolist() == [1, -1, 1]
    assert data.X_test.toarray().tolist() == [[0, 2, 0]]


def test_an_archive_without_the_member(site):
    files, address, _, _ = site
    files["/set.zip"] = archive("zip", "other", b"")
    home = Home("svmlight", (f"{address}/set.zip",), "rows")
    facts = DataSet("s", "S", "n", "full", 3, (Part("s.svm.xz", 1, home=home),), "n")
    with pytest.raises(StudyError, match="cannot be unpacked"):
        load(facts)


@pytest.mark.parametrize(
    ("kind", "row", "line"),
    [
        ("pairs", "7:3 2:1 7:3", "1 2:1 7:3"),
        ("indices", "2 9 4", "1 2:1 4:1 9:1"),
        ("dense", "0 5 0 0 1 ", "1 2:5 5:1"),
        ("dense", "0 0 ", "1"),
    ],
)
def test_public_formats(kind, row, line):
    assert list(svmlight_lines(kind, [row], ["1\n"])) == [line]


def test_rows_and_labels_must_pair():
    with pytest.raises(ValueError, match="shorter"):
        list(svmlight_lines("dense", ["1", "2"], ["1"]))


def test_a_folder_of_data(tiny):
    data = load("tiny")
    assert data.X_train.shape == data.X_test.shape == (60, 300)
    assert set(data.y_train) == {-1, 1}


def test_an_altered_file(tiny, tmp_path):
    path = tmp_path / "data" / "tiny_train.svm.xz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StudyError, match="SHA-256 differs"):
        load("tiny")


def test_unreadable_text(tiny, tmp_path):
    path = tmp_path / "data" / "tiny_train.svm.xz"
    path.write_bytes(b"not compressed")
    parts = tuple(replace(part, sha256=None) for part in tiny.parts)
    with pytest.raises(StudyError, match="cannot be read"):
        load(replace(tiny, parts=parts))


def test_a_missing_file_without_a_home(tiny, tmp_path):
    (tmp_path / "data" / "tiny_train.svm.xz").unlink()
    with pytest.raises(StudyError, match="no public home"):
        load("tiny")


def test_a_missing_folder(tiny, monkeypatch):
    monkeypatch.setenv("THRESHER_DATA", "/nowhere/at/all")
    with pytest.raises(StudyError, match="not a folder"):
        load("tiny")


def test_an_unknown_set():
    with pytest.raises(StudyError, match="no data set 'dextre'; known are: rcv1-sample, dexter"):
        load("dextre")


def test_the_split_is_seventy_thirty_and_fixed():
    X = np.arange(20).reshape(10, 2)
    first, again = split(X, np.arange(10), seed=0), split(X, np.arange(10), seed=0)
    assert len(first.y_train) == 7
    assert sorted([*first.y_train, *first.y_test]) == list(range(10))
    assert first.y_train.tolist() == again.y_train.tolist()
    assert first.X_train[0, 0] == 2 * first.y_train[0]


def test_the_digest_sees_every_number():
    from scipy.sparse import csr_matrix

    X, y = csr_matrix([[1.0, 0], [0, 2]]), np.array([1, -1])
    same = digest(X.copy(), y.astype(float))
    assert digest(X, y) == same
    changed = X.copy()
    changed.data[0] = 1.5
    assert len({same, digest(changed, y), digest(X, -y), digest(X[:, ::-1].tocsr(), y)}) == 4


def test_the_registry_is_complete():
    assert registry.of_role("paper") == [
        "rcv1-sample",
        "dexter",
        "dorothea",
        "gisette-mini",
        "arcene",
    ]
    assert registry.of_role("full") == ["rcv1", "gisette"]
    for facts in SETS.values():
        assert facts.licence
        assert len(facts.parts) in (1, 2)
        for part in facts.parts:
            assert part.home is not None or part.sha256 is not None
