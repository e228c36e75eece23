"""Choice on training rows: the sparsest within one standard error of the best."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from experiments.choose import (
    Score,
    folds_of,
    score_all,
    sparsest_within_one_standard_error,
)


def score(name, errors, percent):
    return Score({"name": name}, errors, [percent] * len(errors))


BEST = score("best", [4.0, 6.0, 5.0, 5.0], 50.0)  # standard error 0.408


@pytest.mark.parametrize(
    ("others", "chosen"),
    [
        ([score("near", [5.4] * 4, 10.0)], "near"),
        ([score("far", [5.5] * 4, 10.0)], "best"),
        ([score("near", [5.4] * 4, 10.0), score("nearer", [5.1] * 4, 10.0)], "nearer"),
        ([score("denser", [5.0] * 4, 80.0)], "best"),
        ([score("empty", [5.1] * 4, 0.0)], "best"),
    ],
)
def test_the_rule(others, chosen):
    assert sparsest_within_one_standard_error([BEST, *others]).params["name"] == chosen
    assert sparsest_within_one_standard_error([*others, BEST]).params["name"] == chosen


def test_when_every_model_is_empty():
    scores = [score("a", [9.0] * 3, 0.0), score("b", [8.0] * 3, 0.0)]
    assert sparsest_within_one_standard_error(scores).params["name"] == "b"


def test_folds_cover_the_rows_once():
    X, y = csr_matrix(np.arange(20).reshape(20, 1)), np.resize([1, -1, -1, -1], 20)
    folds = list(folds_of(X, y, 5))
    held_out = np.concatenate([fold.X_test.toarray().ravel() for fold in folds])
    assert sorted(held_out) == list(range(20))
    assert all(np.sum(fold.y_test > 0) == 1 for fold in folds)


def test_every_setting_meets_every_fold():
    X, y = csr_matrix(np.eye(8)), np.resize([1, -1], 8)
    folds = list(folds_of(X, y, 2))
    scores = score_all(
        [{"a": 1}, {"a": 2}], folds, lambda p, fold: (10.0 * p["a"], fold.y_test.sum())
    )
    assert [(each.error, len(each.errors)) for each in scores] == [(10.0, 2), (20.0, 2)]
