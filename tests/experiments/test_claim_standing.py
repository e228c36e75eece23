"""The bar's arithmetic on numbers small enough to check by hand."""

import math

import numpy as np
import pytest

from experiments.claim.ceiling import ceilings, lost_by_chance
from experiments.claim.judging import pack_counts, unpack_counts
from experiments.claim.sizing import Elimination, nearest_place, ridge_on
from experiments.claim.standing import (
    Agreement,
    Duel,
    Point,
    advantage,
    duels,
    geometric_mean,
    halves,
    points,
    unreached,
)
from experiments.overlaps import triangle
from experiments.store import Store


def point(missed, rows, sizes=(50,), size=50):
    return Point("dexter", size, np.array(missed), np.array(rows), np.diag(sizes))


def stored(size, missed, rows, overlaps):
    packed = pack_counts(np.array(rows))
    return {"size": size, "missed": missed, "rows": packed, "overlaps": overlaps}


def keep(folder, name, *stored_points, kind="matched"):
    store = Store(folder)
    store.write((kind, "dexter", name), "any", {"points": list(stored_points)})
    return store


def test_errors_and_ratios_never_divide_by_zero():
    perfect, other = point([0, 0], [0] * 10), point([2], [1, 1] + [0] * 8)
    assert perfect.error == 5.0  # half an error of ten rows
    assert Duel(perfect, other).ratio == pytest.approx(0.25)
    assert Duel(other, perfect).ratio == pytest.approx(4.0)


def test_the_standard_error_is_paired_over_rows_and_counts_permutations():
    # Both miss the same row: the test set cannot tell them apart.
    same = Duel(point([1], [1, 0, 0, 0]), point([1], [1, 0, 0, 0]))
    assert same.standard_errors == (0.0, 0.0)
    ours, theirs = point([1, 3], [2, 1, 1, 0]), point([1], [0, 0, 0, 1])
    of_rows, of_orders = Duel(ours, theirs).standard_errors
    assert of_rows == pytest.approx(100 * np.std([1, 0.5, 0.5, -1], ddof=1) / 2)
    assert of_orders == pytest.approx(100 / 4 * math.sqrt(2) / math.sqrt(2))


def test_a_cell_is_lost_beyond_one_standard_error_only():
    rows = [1] * 30 + [0] * 70
    worse, better = point([30], rows), point([10], [1] * 10 + [0] * 90)
    assert Duel(worse, better).lost
    assert not Duel(better, worse).lost
    one_more = point([11], [1] * 11 + [0] * 89)
    assert not Duel(one_more, better).lost  # 1 % worse, standard error 1 %


def test_a_rival_is_compared_at_sizes_it_reaches_only(tmp_path):
    store = keep(
        tmp_path, "thresher", stored(50, [1], [1, 0], [50]), stored(100, [1], [1, 0], [100])
    )
    keep(tmp_path, "ftrl", stored(50, [1], [0, 1], [54]), stored(100, [1], [0, 1], [111]))
    assert [duel.ours.size for duel in duels(store, "ftrl")] == [50]
    assert [each.size for each in unreached(store, "ftrl")] == [100]
    assert duels(store, "rda") == []
    assert points(store, "arcene", "ftrl") == {}


def test_the_oracle_takes_the_best_of_every_cell(tmp_path):
    rows = [0] * 100
    store = keep(tmp_path, "thresher", stored(50, [8], rows, [50]), stored(100, [4], rows, [100]))
    keep(tmp_path, "ftrl", stored(50, [10], rows, [50]), stored(100, [8], rows, [100]))
    keep(tmp_path, "rda", stored(50, [2], rows, [50]), stored(100, [1], rows, [900]))
    by_rival = {one.rival: one for one in ceilings(store)}
    assert by_rival["ftrl"].ours == pytest.approx(math.sqrt(0.8 * 0.5))
    assert by_rival["ftrl"].best == pytest.approx(math.sqrt(0.2 * 0.5))  # rda is not of that size
    assert by_rival["rda"].best == 1.0
    assert lost_by_chance(store, ("ftrl", "rda")) == pytest.approx(3 * 0.1587, abs=1e-3)


def test_kappa_over_halves_tells_crossing_from_disjoint_halves(tmp_path):
    # Halves 2i and 2i + 1 share nothing, all others everything.
    overlaps = np.full((8, 8), 10)
    for half in range(0, 8, 2):
        overlaps[half, half + 1] = overlaps[half + 1, half] = 0
    store = keep(tmp_path, "thresher", {"size": 10, "overlaps": triangle(overlaps)}, kind="halves")
    found = halves(store, "dexter", "thresher")[10]
    assert found.crossing == 1.0
    assert found.disjoint == pytest.approx(-10 / 19990)
    keep(tmp_path, "ftrl", {"size": 10, "overlaps": triangle(np.full((8, 8), 10))}, kind="halves")
    gain = advantage(store, "ftrl", lambda each: each.disjoint, ["dexter", "arcene"])
    assert gain == pytest.approx(found.disjoint - 1.0)
    assert isinstance(found, Agreement)


def test_geometric_mean():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert math.isnan(geometric_mean([]))


def test_counts_survive_packing():
    counts = np.array([0, 0, 10, 3, 0])
    assert unpack_counts(pack_counts(counts)).tolist() == counts.tolist()


@pytest.mark.parametrize(("size", "expected"), [(500, 0.5), (250, 0.75), (10, 0.99)])
def test_bisection_finds_the_size(size, expected):
    assert nearest_place(lambda share: round(1000 * (1 - share)), size) == pytest.approx(
        expected, abs=0.01
    )


def test_bisection_returns_the_nearest_place_seen():
    # 7 is never met: sizes jump from 100 to 5 at 0.3.
    place = nearest_place(lambda share: 100 if share < 0.3 else 5, 7)
    assert place >= 0.3


def test_bisection_goes_beyond_the_sparse_end():
    assert 1.5 <= nearest_place(lambda share: 5 if share < 1.5 else 1, 1) < 3


def test_elimination_keeps_the_features_that_tell(tiny):
    from experiments.fitting import prepared

    data = prepared("tiny", "row-l2")
    kept = np.flatnonzero(Elimination().model(8, data.X_train, data.y_train, 0).coef_)
    assert len(kept) == 8
    assert {0, 1, 2} <= set(kept.tolist())
    none = ridge_on(np.array([], dtype=int), data.X_train, data.y_train)
    assert not none.coef_.any()
