"""Columns far from zero are told by name, with a remedy that works."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thresher
from cases import SMALL, labelled_rows, make
from thresher.estimators.offsets import FEWEST_COLUMNS, FEWEST_ROWS, far_columns


def expressions(n=300, p=60, seed=0):
    """Return measurements, of which the first five tell two classes apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    rows = rng.normal(0.0, 0.5, (n, p))
    rows[:, :5] += 0.25 * (2 * labels - 1)[:, None]
    return rows + np.linspace(3.0, 100.0, p), labels


@pytest.mark.filterwarnings("ignore:All features were purged")
@pytest.mark.parametrize("name", list(SMALL))
def test_columns_far_from_zero_are_named(name):
    rows, labels = expressions()
    frame = pd.DataFrame(rows, columns=[f"gene {j}" for j in range(60)])
    frame["gene 3"] *= 1e-3  # its unit does not matter
    with pytest.warns(UserWarning, match=r"far from zero: the means of gene \d+, .* and 55 more"):
        make(name).fit(frame, labels)


def test_the_remedy_helps():
    rows, labels = expressions()
    with pytest.warns(UserWarning, match=r"StandardScaler\(\), ThresherClassifier\(normalize=F"):
        bare = thresher.ThresherClassifier(n_features_to_select=5, random_state=0).fit(rows, labels)
    model = thresher.ThresherClassifier(n_features_to_select=5, normalize=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remedied = make_pipeline(StandardScaler(), model).fit(rows, labels)
    others, truth = expressions(seed=1)
    assert remedied.score(others, truth) > bare.score(others, truth) + 0.1
    assert np.flatnonzero(model.coef_[0]).tolist() == [0, 1, 2, 3, 4]


def test_a_model_that_does_not_scale_rows_is_not_told_to_stop():
    with pytest.warns(UserWarning, match=r"FTRLClassifier\(\.\.\.\)"):
        thresher.FTRLClassifier().fit(*expressions())


def test_the_warning_points_to_the_caller():
    with pytest.warns(UserWarning, match="far from zero") as caught:
        thresher.FTRLClassifier().fit(*expressions())
    assert caught[0].filename == __file__


def test_it_is_said_once_by_a_search_for_the_size():
    model = thresher.ThresherClassifierCV(random_state=0)
    with pytest.warns(UserWarning, match="far from zero") as caught:
        model.fit(*expressions())
    assert len(caught) == 1


def test_sparse_rows_and_columns_around_zero_are_not_far():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make("ThresherClassifier").fit(*labelled_rows(n=200, p=40, density=0.3))
    for dense in (rng.random((100, 20)), rng.normal(size=(100, 20)), np.ones((100, 20))):
        assert not far_columns(sparse.csr_array(dense)).size


def test_most_columns_must_be_far_and_rows_and_columns_several():
    rows, _ = expressions(p=20)
    rows[:, :10] -= rows[:, :10].mean(axis=0)
    assert not far_columns(sparse.csr_array(rows)).size
    rows[:, 9] += 7.0
    assert sorted(far_columns(sparse.csr_array(rows)).tolist()) == list(range(9, 20))
    assert not far_columns(sparse.csr_array(rows[: FEWEST_ROWS - 1])).size
    rows, _ = expressions(p=FEWEST_COLUMNS)
    assert far_columns(sparse.csr_array(rows)).size == FEWEST_COLUMNS
    assert not far_columns(sparse.csr_array(rows[:, 1:])).size


def test_negative_columns_are_as_far():
    rows, _ = expressions()
    assert far_columns(sparse.csr_array(-rows)).size == 60
