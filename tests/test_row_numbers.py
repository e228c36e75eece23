"""Errors name the row of a source that is wrong by its place there, in whatever order it came."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from cases import labelled_rows, make
from thresher.data.errors import DataError
from thresher.estimators.overflowing import Overflowed

N_ROWS, WRONG = 300, 211  # from 0

ORDERS = [{"shuffle": True}, {"shuffle": False}]
MODELS = [("PlainSGDClassifier", {}), ("ThresherClassifier", {"max_iter": 1})]
MODELS += [("ThresherClassifier", {})]  # learnt at once


@pytest.fixture(scope="module")
def problem():
    return labelled_rows(n=N_ROWS, p=20)


def in_chunks(*parts):
    """Return a list of chunks of seventy rows."""
    cuts = range(0, N_ROWS, 70)
    return [tuple(part[first : first + 70] for part in parts) for first in cuts]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(("name", "changes"), MODELS)
def test_a_label_that_is_none_of_the_classes(problem, name, changes, order, cache, tmp_path):
    rows, labels = problem
    labels = labels.copy()
    labels[WRONG] = 7
    dump_svmlight_file(rows, labels, str(tmp_path / "rows.svm"))
    with pytest.raises(DataError, match=r"label 7(\.0)? of row 212 is not") as told:
        make(name, **changes, **order).fit_stream(
            tmp_path / "rows.svm", classes=[0, 1], cache=cache
        )
    assert told.value.__context__ is None


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize(("name", "changes"), MODELS)
def test_a_weight_that_is_negative(problem, name, changes, order, once):
    weights = np.ones(N_ROWS)
    weights[WRONG] = -1
    chunks = in_chunks(*problem, weights)
    with pytest.raises(ValueError, match=r"sample_weight is -1\.0 at row 212:"):
        make(name, **changes, **order).fit_stream(iter(chunks) if once else chunks)


def test_a_number_that_is_not_finite(problem):
    rows, _ = problem
    numbers = np.arange(N_ROWS, dtype=float)
    numbers[WRONG] = np.inf
    model = make("ThresherRegressor", max_iter=1)
    with pytest.raises(DataError, match="label of row 212 is not a finite number"):
        model.fit_stream(in_chunks(rows, numbers))


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("PlainSGDClassifier", {"shuffle": False}, r"row 21[2-5]\."),
        ("PlainSGDClassifier", {}, r"row \d+ of pass 1, in which rows are shuffled\."),
        ("ThresherClassifier", {"shuffle": False}, r"row 21[2-5]\."),  # learnt at once
    ],
)
def test_rows_that_make_numbers_overflow(problem, name, changes, words):
    weights = np.ones(N_ROWS)
    weights[WRONG:] = 1e300
    with pytest.raises(Overflowed, match=words) as told:
        make(name, loss="squared_hinge", **changes).fit_stream(in_chunks(*problem, weights))
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)
