"""Looks along a fit change nothing of it, and see what was there to be seen."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import labelled_rows
from experiments.claim.along import WatchedClassifier, _as_learnt, errors_along
from experiments.datasets import Split
from thresher import ThresherClassifier

SETTINGS = {"n_features_to_select": 6, "n_paths": 3, "random_state": 0, "max_iter": 20}


def rows_in_units():
    rows, labels = labelled_rows(n=120, p=40, density=0.3)
    units = np.where(np.arange(40) % 7 == 2, 1e4, 1.0)
    return sparse.csr_array(rows * units[None, :]), 2 * labels - 1


def test_who_is_watched_learns_the_same():
    data = rows_in_units()
    alone = ThresherClassifier(**SETTINGS).fit(*data)
    watched = WatchedClassifier(**SETTINGS, most_looked_at=20).fit(*data)
    assert_array_equal(watched.coef_, alone.coef_)
    assert_array_equal(watched.intercept_, alone.intercept_)
    assert len(watched.looks_) > 20
    sizes = [look.columns.size for look in watched.looks_]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 20
    assert sizes[-1] == 6


def test_rows_are_seen_as_they_are_learnt():
    rows, labels = rows_in_units()
    model = WatchedClassifier(**SETTINGS).fit(rows, labels)
    chosen, scales = np.flatnonzero(model.coef_), model.column_scales_
    assert 0 < scales[2] < 0.01  # it counts for the lengths of rows
    margins = _as_learnt(model, rows)[:, chosen] @ (model.coef_[0, chosen] / scales[chosen])
    margins += model.intercept_[0]
    assert_allclose(margins, model.decision_function(rows), atol=1e-9)


def test_errors_are_those_of_single_paths():
    rows, labels = rows_in_units()
    model = WatchedClassifier(**SETTINGS, most_looked_at=20).fit(rows, labels)
    found = errors_along(model, Split(rows, labels, rows, labels))
    assert len(found) == 3 * len(model.looks_)
    last, learnt = model.looks_[-1], _as_learnt(model, rows).toarray()
    margins = learnt[:, last.columns] @ last.weights[:, 2].astype(float) + last.intercepts[2]
    assert found[-1] == (np.mean(np.sign(margins) != labels), 6)
    assert min(found)[0] < 0.2
