"""The flagship on Dask: the local model to the last bit, whatever happens to the workers."""

import hashlib
import json
import logging
import os
import signal
import sys
from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import thresher

distributed = pytest.importorskip("distributed", reason="thresher[dask] is not installed")
import dask  # noqa: E402
import dask.array as da  # noqa: E402

from thresher.dask import ThresherClassifier, ThresherRegressor, fitting  # noqa: E402

pytestmark = pytest.mark.jit
N = 240
RNG = np.random.default_rng(0)
DENSE = np.ceil(512 * RNG.random((N, 50))) / 512 * (RNG.random((N, 50)) < 0.3)  # as text is exact
X = sparse.csr_array(DENSE)
SCORES = np.round(X[:, :4] @ [3.0, -3.0, 2.0, -2.0] + 0.1 * RNG.normal(size=N), 3)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
# Estimator, settings and labels.
CASES = {
    "two classes": (ThresherClassifier, {}, (SCORES > 0).astype(int)),
    "three classes": (ThresherClassifier, {}, np.digitize(SCORES, [-0.5, 0.5])),
    "weighted classes": (ThresherClassifier, {"class_weight": "balanced"}, (SCORES > 0.7) * 1),
    "numbers": (ThresherRegressor, {}, SCORES),
    "raw numbers": (ThresherRegressor, {"normalize": False, "loss": "huber"}, SCORES),
}
SETTINGS = {"random_state": 0, "max_columns": 20, "n_features_to_select": 6}


@pytest.fixture(scope="module")
def twins():
    """Local models, which also compile the kernels before there are workers."""
    return {name: local(kind, settings).fit(X, y) for name, (kind, settings, y) in CASES.items()}


@pytest.fixture(scope="module")
def client(twins):
    """A cluster of two processes."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="1GB",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


def local(kind, settings):
    return getattr(thresher, kind.__name__)(**SETTINGS, **settings)


def spread(name, **settings):
    kind, own, _ = CASES[name]
    return kind(**{**SETTINGS, **own, **settings})


def sha(model):
    """Return what distinguishes a model from others."""
    parts = [part if isinstance(part, list) else [part] for part in model.path_]
    arrays = [one for part in parts for one in part if one is not None]
    arrays += [model.coef_, model.intercept_, model.row_counts_]
    return hashlib.sha256(b"".join(np.asarray(one).tobytes() for one in arrays)).hexdigest()


def cuts(n_shards):
    return np.array_split(np.arange(N), n_shards)


def write(folder, y, n_shards):
    """Write shards, and return a pattern of them."""
    for number, rows in enumerate(cuts(n_shards)):
        path = folder / f"part-{number:02}.svm"
        dump_svmlight_file(X[rows], y[rows], str(path), zero_based=False)
    return folder / "part-*.svm"


@pytest.mark.parametrize(
    ("name", "n_shards"),
    [*product(CASES, [3]), *product(["two classes", "numbers"], [1, 8])],
)
def test_files_give_the_local_model(client, twins, tmp_path, name, n_shards):
    model = spread(name).fit(write(tmp_path, CASES[name][2], n_shards), index_base=1)
    assert sha(model) == sha(twins[name])
    assert model.index_base_ == 1


def test_one_worker_and_threads_of_this_process_give_the_same(client, twins, tmp_path):
    files = write(tmp_path, CASES["two classes"][2], 5)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as other:
        model = spread("two classes", client=other, n_jobs=2).fit(files)
    assert sha(model) == sha(twins["two classes"])


@pytest.mark.parametrize("sample_weight", [None, WEIGHTS])
def test_blocks_and_delayed_give_the_local_model(client, sample_weight):
    kind, settings, y = CASES["three classes"]
    expected = sha(local(kind, settings).fit(X, y, sample_weight))
    blocks = da.from_array(DENSE, chunks=(100, 30)).rechunk({1: -1}).map_blocks(sparse.csr_array)
    weights = None if sample_weight is None else da.from_array(sample_weight, chunks=70)
    for rows, labels in ((blocks, y), (da.from_array(DENSE, chunks=(90, 20)), da.from_array(y))):
        assert sha(spread("three classes").fit(rows, labels, weights)) == expected
    shards = [
        (X[k], y[k]) if sample_weight is None else (X[k], y[k], sample_weight[k]) for k in cuts(4)
    ]
    assert sha(spread("three classes").fit([dask.delayed(one) for one in shards])) == expected


def test_frames_and_empty_shards_give_the_local_model(client, twins, tmp_path):
    pd = pytest.importorskip("pandas")
    y = CASES["two classes"][2]
    frame = pd.DataFrame(DENSE, columns=[f"c{j}" for j in range(50)])
    rows = [*cuts(2), np.arange(0)]
    model = spread("two classes").fit([dask.delayed((frame.iloc[k], y[k])) for k in rows])
    assert sha(model) == sha(twins["two classes"])
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert_array_equal(model.predict(frame.iloc[:, ::-1]), twins["two classes"].predict(X))
    files = write(tmp_path, y, 2)
    for name in ("part-0.svm", "part-000.svm", "part-07.svm"):
        (tmp_path / name).write_text("# no row\n")
    assert sha(spread("two classes").fit(files)) == sha(twins["two classes"])
    with pytest.raises(ValueError, match="other names"):
        spread("two classes").fit([dask.delayed((one, y)) for one in (frame, frame.iloc[:, ::-1])])


def as_jsonl(row, label):
    return json.dumps({"label": label, **{f"word {j}": row[j] for j in np.flatnonzero(row)}})


def as_csv(row, label):
    cells = ["" if j == 2 and row[7] else repr(row[j]) for j in range(10)]
    return ",".join([str(label), "red" if row[8] else f"blue{int(9 * row[9])}", *cells])


HEADER = ",".join(["label", "colour", *(f"c{j}" for j in range(10))]) + "\n"


@pytest.mark.parametrize(
    ("ending", "line", "header", "reading"),
    [
        ("jsonl", as_jsonl, "", {}),
        ("jsonl", as_jsonl, "", {"hash_bits": 20}),
        ("csv", as_csv, HEADER, {}),
    ],
)
def test_columns_with_names_are_numbered_as_locally(
    client, tmp_path, ending, line, header, reading
):
    y, paths = CASES["two classes"][2].tolist(), []
    for number, rows in enumerate(cuts(3)):
        text = header + "".join(f"{line(DENSE[i], y[i])}\n" for i in rows)
        paths.append(tmp_path / f"{number}.{ending}")
        paths[-1].write_text(text)
    settings = {**SETTINGS, "max_columns": 9}
    twin = thresher.ThresherClassifier(**settings).fit_stream(paths, cache=False, **reading)
    model = ThresherClassifier(**settings).fit(paths, **reading)
    assert sha(model) == sha(twin)
    assert model.reading_ == twin.reading_
    assert model.get_feature_names_out().tolist() == twin.get_feature_names_out().tolist()
    one = {"word 0": 1.0, "word 1": 2.0, "c0": 0.5, "colour": "red"}
    assert model.predict_proba_one(one) == twin.predict_proba_one(one)


# --------------------------------------------------------------------------------------- failing


def die_once(function, flag, *given):
    """Kill the process the first time, and work the second."""
    if not os.path.exists(flag):
        with open(flag, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return function(*given)


class Killing:
    """A client whose cluster loses a worker in the first task of a kind."""

    def __init__(self, client, name, flag):
        self.client, self.name, self.flag = client, name, str(flag)

    def __getattr__(self, name):
        return getattr(self.client, name)

    def submit(self, function, *given, **options):
        if function.__name__ == self.name:
            function = partial(die_once, function, self.flag)
        return self.client.submit(function, *given, **options)


@pytest.mark.parametrize("task", ["read_file", "add_products", "rows_of_columns", "winnow_rows"])
def test_a_killed_worker_changes_no_bit(client, twins, tmp_path, task):
    files = write(tmp_path, CASES["numbers"][2], 4)
    model = spread("numbers", client=Killing(client, task, tmp_path / "killed")).fit(files)
    assert (tmp_path / "killed").exists()
    assert sha(model) == sha(twins["numbers"])


def test_an_unreadable_shard_is_named(client, tmp_path):
    files = write(tmp_path, CASES["two classes"][2], 3)
    with open(tmp_path / "part-01.svm", "a") as file:
        file.write("1 3:x\n")
    model = spread("two classes")
    with pytest.raises(thresher.DataError, match=r"part-01\.svm, line 81.*'x'"):
        model.fit(files)
    with pytest.raises((OSError, thresher.DataError), match=r"part-09\.svm"):
        model.fit([tmp_path / "part-00.svm", tmp_path / "part-09.svm"])
    with pytest.raises(thresher.DataError, match="No file matches"):
        model.fit(tmp_path / "*.nothing")
    assert not hasattr(model, "path_")


def test_too_many_nonzeros_are_refused_before_they_are_sent(client, tmp_path):
    files = write(tmp_path, CASES["two classes"][2], 2)
    with pytest.raises(MemoryError, match=r"have 1,\d{3} nonzeros, and max_nonzeros=1,000 may"):
        spread("two classes", max_nonzeros=1000).fit(files)


def bad_rows(number, value):
    rows = DENSE.copy()
    rows[number] = value
    return da.from_array(rows, chunks=100)


Y = CASES["two classes"][2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((bad_rows(150, np.nan), Y), "Shard 1: Input X contains NaN at row 50, column 0"),
        ((bad_rows(0, 1.0), None), "give the labels"),
        ((bad_rows(0, 1.0), Y[:100]), "X has 240 rows, but y or weights 100"),
        (([dask.delayed((X, Y)), dask.delayed((X[:, :9], Y))],), "Shard 1 has 9 columns"),
        (([dask.delayed(X)],), "Shard 0 is no tuple"),
        (([dask.delayed((X, Y))], Y), "go with a dask array"),
        ((bad_rows(0, 1.0), np.zeros(N)), "only one class"),
        ((bad_rows(0, 1.0)[bad_rows(0, 1.0)[:, 0] > 0], Y), "compute_chunk_sizes"),
    ],
)
def test_what_cannot_be_learned_is_named(client, given, message):
    with pytest.raises(ValueError, match=message):
        spread("two classes").fit(*given)


def test_workers_that_die_again_and_again_are_explained():
    class Lost:
        def result(self):
            raise distributed.KilledWorker("task", None, 3)

    with pytest.raises(RuntimeError, match="ran out of memory"):
        fitting.result_of(Lost())


def test_without_a_cluster_there_is_a_hint(monkeypatch):
    with pytest.raises(TypeError, match="X must be a pattern of files"):
        spread("two classes", client=Killing(None, "", "")).fit(X)
    with pytest.raises(ValueError, match=r"client='here'"):
        spread("two classes", client="here").fit(X)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"thresher\[dask\]"):
        spread("two classes").fit(X)


# ------------------------------------------------------------------------------------ afterwards


@pytest.mark.parametrize("name", ["two classes", "three classes", "numbers"])
def test_predictions_of_dask_arrays_are_lazy_and_the_same(client, twins, tmp_path, name):
    model, twin = spread(name).fit([dask.delayed((X, CASES[name][2]))]), twins[name]
    rows = da.from_array(DENSE, chunks=(70, 20))
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(twin, method):
            lazy, known = getattr(model, method)(rows), getattr(twin, method)(X)
            assert isinstance(lazy, da.Array)
            assert (lazy.shape, lazy.dtype) == (known.shape, known.dtype)
            assert_array_equal(lazy.compute(), known)
            assert_array_equal(getattr(model, method)(X), known)
    model.save(tmp_path / "model.thresher")
    for other in (model.to_local(), thresher.load(tmp_path / "model.thresher")):
        assert type(other) is type(twin)
        assert sha(other) == sha(twin)
        assert other.get_params() == twin.get_params()
