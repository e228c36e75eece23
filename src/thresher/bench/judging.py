"""Reading text and predicting, against those who do nothing else."""

import operator
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from thresher.bench.clock import LEAST_ROUNDS, best_of
from thresher.bench.contestants import classic, shared_paths
from thresher.bench.data import Data
from thresher.bench.record import Measured, ratio
from thresher.bench.setting import Setting
from thresher.data.chunk import Chunk
from thresher.data.sources.cutting import joined
from thresher.data.sources.opening import open_source

OURS, THEIRS = "thresher", "scikit-learn"


def reader(setting: Setting) -> Iterator[Measured]:
    """scikit-learn's svmlight loader over ours: how many times as fast ours is."""
    with tempfile.TemporaryDirectory() as folder:
        for data in (setting.main(), *([] if setting.small else [setting.generated()])):
            path = write_svmlight(data, Path(folder))
            tasks = {THEIRS: partial(load_svmlight_file, path), OURS: partial(read_ours, path)}
            seconds = best_of(setting.rounds, tasks)
            yield ratio("reader", data.name, (THEIRS, OURS), seconds)


def write_svmlight(data: Data, folder: Path) -> str:
    """Write rows as svmlight text, indices from 1; return the path."""
    path = str(folder / "rows.svm")
    dump_svmlight_file(data.X, data.y, path, zero_based=False)
    return path


def read_ours(path: str) -> Chunk:
    """Return a file's rows in one piece, as scikit-learn's loader does."""
    return joined(list(open_source(path, index_base=1).chunks()))


def predict(setting: Setting) -> Iterator[Measured]:
    """Predicting sparse rows over scipy's product of the rows with the coefficients."""
    for data in setting.each_set():
        for words, model in {"shared paths": shared_paths(), "FTRL": classic("FTRL")}.items():
            model.set_params(max_iter=2).fit(data.X, data.y)
            coef = model.coef_.ravel()
            name, product = f"{words}: predict", "X @ coef"
            tasks = {
                name: partial(model.predict, data.X),
                product: partial(operator.matmul, data.X, coef),
            }
            parts = best_of(max(setting.rounds, LEAST_ROUNDS), tasks)
            yield ratio("predict", data.name, (name, product), parts)
