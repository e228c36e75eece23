"""Looks along a fit change nothing of it, and see what was there to be seen."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import UNCALIBRATED, labelled_rows
from experiments.claim.along import Best, WatchedClassifier, _as_learnt
from experiments.claim.oracle import chosen
from experiments.datasets import Split
from thresher import ThresherClassifier

SETTINGS = {"n_features_to_select": 6, "n_paths": 3, "random_state": 0, "max_iter": 20}


def rows_in_units():
    rows, labels = labelled_rows(n=120, p=40, density=0.3)
    units = np.where(np.arange(40) % 7 == 2, 1e4, 1.0)
    return sparse.csr_array(rows * units[None, :]), 2 * labels - 1


class Looks(list):
    """Everything that was shown, kept."""

    __call__ = list.append


def watched(data, every=7):
    looks = Looks()
    watching = {"show": looks, "look_every": every, "most_looked_at": 20}
    return WatchedClassifier(**SETTINGS, **watching).fit(*data), looks


def test_who_is_watched_learns_the_same(monkeypatch):
    data = rows_in_units()
    monkeypatch.setattr(ThresherClassifier, "decisions", UNCALIBRATED)  # which comes after learning
    alone = ThresherClassifier(**SETTINGS).fit(*data)
    model, looks = watched(data)
    assert_array_equal(model.coef_, alone.coef_)
    assert_array_equal(model.intercept_, alone.intercept_)
    sizes = [look.columns.size for look in looks]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 20
    assert sizes[-1] == 6


def test_there_are_looks_whenever_so_many_updates_were_made():
    often, seldom = (len(watched(rows_in_units(), every)[1]) for every in (5, 50))
    assert often > 9 * seldom > 0


def test_rows_are_seen_as_they_are_learnt():
    rows, labels = rows_in_units()
    model = ThresherClassifier(**SETTINGS).fit(rows, labels)
    chosen, scales = np.flatnonzero(model.coef_), model.column_scales_
    assert 0 < scales[2] < 0.01  # it counts for the lengths of rows
    margins = _as_learnt(model, rows)[:, chosen] @ (model.coef_[0, chosen] / scales[chosen])
    margins += model.intercept_[0]
    assert_allclose(margins, model.decision_function(rows), atol=1e-9)


def test_the_best_is_that_of_a_single_path():
    rows, labels = rows_in_units()
    model, looks = watched((rows, labels))
    best = Best(model, Split(rows, labels, rows, labels))
    learnt, by_hand = _as_learnt(model, rows).toarray(), []
    for look in looks:
        best(look)
        for path in range(3):
            weights = look.weights[:, path].astype(float)
            margins = learnt[:, look.columns] @ weights + look.intercepts[path]
            by_hand.append((np.mean(np.sign(margins) != labels), np.count_nonzero(weights)))
    assert best.found == min(by_hand)
    assert best.found[0] < 0.2


def test_one_size_is_chosen_for_all_permutations():
    def run(error, percent):
        return {"way": {"error": error, "percent": percent}}

    runs = {"20": [run(4.0, 1.0), run(8.0, 1.0)], "40": [run(5.0, 2.0), run(5.0, 1.5)]}
    assert chosen(runs, "way") == (5.0, 1.75)
