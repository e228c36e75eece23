"""What threads sum up as they end a stage, and that sums which no longer hold are never used."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cases import assert_same_bits, labelled_rows, make
from thresher.kernels.judging import path_sums
from thresher.kernels.masks import highest
from thresher.kernels.rows import Updates
from thresher.learners.adaptive_paths import forget_sums, mean_weights, note_sums, units_of
from thresher.learners.stacking import stacked_orders
from thresher.learners.thresher import Thresher

LAYOUTS = [{"n_paths": 5}, {"n_paths": 20}, {"n_paths": 3, "paths": "permutation"}]


def fitted(**changes):
    rows, labels = labelled_rows(n=60, p=30)
    return make("ThresherClassifier", n_features_to_select=5, max_iter=3, tol=None, **changes).fit(
        rows, labels
    )


def paths_of(model):
    return model._model.problems[0].state


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_by_unit_give_the_same_mean(layout):
    paths = paths_of(fitted(**layout))
    directly = mean_weights(paths)
    note_sums(paths, [unit.sums() for unit in units_of(paths)])
    assert "sums" in paths.notes
    from_note = mean_weights(paths)
    assert from_note[0].tobytes() == directly[0].tobytes()
    assert from_note[1] == directly[1]
    assert "sums" not in paths.notes  # good for once


def test_a_note_of_sums_is_what_the_next_mean_comes_from():
    paths = paths_of(fitted(n_paths=20))
    note_sums(paths, [np.full(paths.n_slots, 3.0), np.full(paths.n_slots, 7.0)])
    assert_array_equal(mean_weights(paths)[0], 0.5)
    note_sums(paths, [np.full(paths.n_slots, 3.0)])
    forget_sums(paths)
    assert "sums" not in paths.notes


def test_every_stage_that_selects_is_closed_with_sums_of_the_threads(monkeypatch):
    seen = []
    judged = Thresher.close_stage

    def look(self, paths, vocabulary):
        if self.timetable.selects(paths.stage.number):
            noted = paths.notes.get("sums")
            forget_sums(paths)
            sums = sum(unit.sums() for unit in units_of(paths))
            seen.append(noted is not None and noted.tobytes() == sums.tobytes())
            note_sums(paths, [sums])
        judged(self, paths, vocabulary)

    monkeypatch.setattr(Thresher, "close_stage", look)
    fitted(n_paths=20)
    assert len(seen) > 2
    assert all(seen)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_that_sum_up_do_not_matter(layout, n_jobs):
    assert_same_bits(fitted(n_jobs=n_jobs, **layout), fitted(**layout))


def test_a_restored_state_knows_no_sums_of_what_was_undone():
    paths = paths_of(fitted(n_paths=20))
    restore = paths.savepoint(None)
    note_sums(paths, [unit.sums() for unit in units_of(paths)])
    restore()
    assert paths.notes == {}


@pytest.mark.parametrize("change", ["grow", "updates", "spread"])
def test_sums_are_dropped_where_weights_are_about_to_change(change):
    model = fitted(n_paths=20)
    paths, learner = paths_of(model), model._model.learner
    note_sums(paths, [unit.sums() for unit in units_of(paths)])
    if change == "grow":
        paths.grow(paths.n_slots + 1)
    elif change == "updates":
        learner._begin(paths, 1)
    else:
        paths.keep(np.arange(paths.n_slots) < 3)
        paths.spread()
    assert "sums" not in paths.notes


def test_paths_that_are_alone_are_summed_up_in_their_order():
    weights = np.random.default_rng(0).normal(size=(7, 1500, 1)).astype(np.float32)
    weights *= np.float32(10.0) ** np.arange(-9, 12, 3, dtype=np.float32)[:, None, None]
    sums, expected = np.zeros(1400), np.zeros(1400)
    path_sums(weights, sums)
    for path in weights:
        expected += path[:1400, 0].astype(np.float64)
    assert sums.tobytes() == expected.tobytes()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 9])
def test_the_highest_scores_and_those_on_the_bar(n):
    scores, mask = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 2.0, 0.0]), np.arange(7) != 4
    higher, level, places = highest(scores, mask, n)
    ranks = np.sort(scores[mask])[::-1]
    if n >= ranks.size:
        assert_array_equal(higher, mask)
        assert level.size == places == 0
        return
    assert_array_equal(higher, mask & (scores > ranks[n - 1]))
    assert_array_equal(level, np.flatnonzero(mask & (scores == ranks[n - 1])))
    assert places == n - np.count_nonzero(higher)


def updates_of(orders):
    some = np.ones(orders[0].size)
    return [Updates(order, some, some, some, some, some) for order in orders]


def test_orders_that_lie_in_one_array_are_not_copied():
    orders = np.arange(12).reshape(3, 4).copy()
    found, first = stacked_orders(updates_of([order[1:3] for order in orders]))
    assert found is orders
    assert first == 1


@pytest.mark.parametrize(
    "pick",
    [
        lambda orders: [order.copy() for order in orders],
        lambda orders: [orders[1], orders[0], orders[2]],
        lambda orders: [orders[0], orders[1]],
        lambda orders: [orders[0, :2], orders[1, 1:3], orders[2, :2]],
        lambda orders: [orders[0]] * 3,
    ],
)
def test_other_orders_are_copied(pick):
    orders = pick(np.arange(12).reshape(3, 4).copy())
    found, first = stacked_orders(updates_of(orders))
    assert_array_equal(found[:, first : first + orders[0].size], np.stack(orders))
