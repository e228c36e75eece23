"""What workers do: pure functions of shards, whose results are all that is kept.

Sums are exact, and everything of single rows is in the order of the shards. So how many shards and
workers there are, and which of them failed on the way, changes no bit of the model.
"""

import copy
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone

from thresher.dask.shards import Facts, Shard, joined_names, with_columns
from thresher.estimators.labels import check_labels
from thresher.estimators.streaming import REMEMBERED
from thresher.estimators.thresher import ThresherModel
from thresher.exact import ExactSums
from thresher.formats.errors import DataError
from thresher.formats.labels import checked_classes
from thresher.formats.protocol import Reading
from thresher.prepare import Preparation, Statistics, exact_statistics
from thresher.rows import Rows, joined
from thresher.winnow.folds import Split
from thresher.winnow.path import Gathered, places_in_folds, rows_in_fold, winnow_gathered
from thresher.winnow.path import Part as FoldPart
from thresher.winnow.screen import Sample, Sums, exact_sums

WIDE = 8  # columns for each nonzero of a shard, above which only those that occur are numbered


class Begun(NamedTuple):
    """The model and all rows that count, without their values.

    ``kept`` are their places among all rows, and ``ends`` those of the shards.
    """

    model: ThresherModel
    targets: np.ndarray
    sample: Sample
    kept: np.ndarray
    ends: np.ndarray
    numbers: list[np.ndarray | None]
    parts: list[tuple[FoldPart, FoldPart]]


class Share(NamedTuple):
    """What concerns one shard: its rows that count, and of these the places of rows in folds."""

    kept: np.ndarray
    sample: Sample
    in_folds: np.ndarray
    numbers: np.ndarray | None


class Added(NamedTuple):
    """Exact sums over rows, of the columns that occur, and how many nonzeros these have."""

    columns: np.ndarray
    counts: np.ndarray
    sums: list[ExactSums]

    @classmethod
    def none(cls, columns: np.ndarray, like: Self) -> Self:
        """Return sums of no rows at all."""
        each = [one.n // max(like.columns.size, 1) for one in like.sums]
        sums = [ExactSums.none(columns.size * k) for k in each]
        return cls(columns, np.zeros(columns.size, np.int64), sums)


class Prepared(NamedTuple):
    """The columns that occur, by which all others are numbered; how rows are prepared."""

    live: np.ndarray
    counts: np.ndarray
    preparation: Preparation


class Screened(NamedTuple):
    """The columns that are winnowed, how many nonzeros they have, and the sums of all."""

    columns: np.ndarray
    n_nonzeros: int
    sums: Sums


# --------------------------------------------------------------------------------------- labels


def begin(model: ThresherModel, facts: Sequence[Facts], reading: Reading | None) -> Begun:
    """Return what the labels and weights of all rows decide."""
    model = clone(model)
    labels = [one.labels for one in facts if one.labels.size]
    if not labels:
        raise DataError("There is not a single row to learn from.")
    every = np.concatenate(labels)
    names, numbers = joined_names([one.names for one in facts])
    model.begin_source(_classes(every, reading) if hasattr(model, "class_weight") else None)
    targets = model.known_targets(every, every.size)
    width = max(one.width for one in facts) if names is None else len(names)
    model.know_columns(names, facts[0].index_base, width)
    _know_frame(model, facts)
    if reading is not None:
        model.reading_ = {name: getattr(reading, name) for name in REMEMBERED}
    model.end_source("-".join(one.fingerprint for one in facts), names)
    importance = model.importance_of(targets, np.concatenate([one.weights for one in facts]))
    kept = np.flatnonzero(importance)
    targets, importance = targets[kept], importance[kept]
    sample = model.sample(Rows.none(), targets, importance, Preparation.none(), 0)
    splits: list[Split] = model.plan(targets, importance)[1]
    parts = [rows_in_fold(sample, split) for split in splits]
    ends = np.cumsum([0, *(one.labels.size for one in facts)])
    return Begun(model, targets, sample, kept, ends, numbers, parts)


def share_of(begun: Begun, number: int) -> Share:
    """Return what concerns one shard."""
    first, last = begun.ends[number : number + 2]
    a, b = np.searchsorted(begun.kept, [first, last])
    wanted = places_in_folds(begun.parts)
    inside = wanted[(wanted >= a) & (wanted < b)] - a
    sample = begun.sample.part(Rows.none(), slice(a, b))
    return Share(begun.kept[a:b] - first, sample, inside, begun.numbers[number])


def rows_that_count(shard: Shard, share: Share) -> Rows:
    """Return the rows that count, whose columns are numbered as in all shards."""
    rows = shard.rows if share.kept.size == shard.rows.n else shard.rows.at(share.kept)
    return rows if share.numbers is None else with_columns(rows, share.numbers)


def _classes(labels: np.ndarray, reading: Reading | None) -> np.ndarray:
    """Return the classes of all labels; whole numbers of files are integers."""
    found = np.unique(check_labels(labels, labels.size))
    return found if reading is None else checked_classes(found)


def _know_frame(model: ThresherModel, facts: Sequence[Facts]) -> None:
    """Take over the names of a data frame's columns; all shards must have the same columns."""
    known = next(one for one in facts if one.labels.size)
    for number, one in enumerate(facts):
        same = one.width == known.width and _names_of(one) == _names_of(known)
        if one.labels.size and not (same or one.fingerprint):
            raise ValueError(
                f"Shard {number} has {one.width:,} columns, and others have {known.width:,}, or "
                "they have other names: all shards need the same columns."
            )
    if known.columns is not None:
        model.feature_names_in_ = known.columns


def _names_of(facts: Facts) -> list[str] | None:
    return None if facts.columns is None else facts.columns.tolist()


# ----------------------------------------------------------------------------------------- sums


def add_statistics(rows: Rows, share: Share) -> Added:
    """Return the sums that decide how rows are prepared."""
    columns, numbered = _numbered(rows, int(rows.columns.max(initial=0)) + 1)
    sums = exact_statistics(numbered, columns.size, share.sample.importance)
    return Added(columns, np.bincount(numbered.columns, minlength=columns.size), sums)


def add_products(rows: Rows, share: Share, prepared: Prepared) -> Added:
    """Return the sums of prepared rows by which columns are screened."""
    columns, numbered = _numbered(rows, prepared.live.size)
    sample = share.sample._replace(rows=numbered, n_columns=columns.size)
    return Added(columns, np.bincount(numbered.columns, minlength=columns.size), exact_sums(sample))


def add_up(parts: Sequence[Added]) -> Added:
    """Return the sums over the rows of all parts, in whatever order."""
    columns = _union([part.columns for part in parts])
    like = max(parts, key=lambda part: part.columns.size)
    whole = Added.none(columns, like)
    for part in parts:
        places = np.searchsorted(columns, part.columns)
        whole.counts[places] += part.counts
        for mine, its in zip(whole.sums, part.sums, strict=True):
            k = mine.n // max(columns.size, 1)
            mine.add((places[:, np.newaxis] * k + np.arange(k)).ravel(), its)
    return whole


def _union(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the columns that occur in any of some parts."""
    columns = np.concatenate(parts)
    width = int(columns.max(initial=-1)) + 1
    if width > WIDE * columns.size:
        return np.unique(columns)
    occurs = np.zeros(width, np.bool_)
    occurs[columns] = True
    return np.flatnonzero(occurs)


def _numbered(rows: Rows, width: int) -> tuple[np.ndarray, Rows]:
    """Return the columns that occur, and rows whose columns are numbered by these."""
    if width > WIDE * rows.columns.size:  # no array of all columns
        columns, numbers = np.unique(rows.columns, return_inverse=True)
        return columns.astype(np.int64), rows._replace(columns=numbers.astype(np.uint32))
    columns = rows.occurring(width)
    return columns, rows.renumbered(width, columns)


# ------------------------------------------------------------------------------------ screening


def prepare(begun: Begun, added: Added) -> Prepared:
    """Return how rows are prepared."""
    totals = (one.totals() for one in added.sums)
    statistics = Statistics(float(begun.sample.importance.sum()), *totals)
    preparation = begun.model.preparation_for(statistics, added.columns)
    return Prepared(added.columns, added.counts, preparation)


def prepared_rows(rows: Rows, prepared: Prepared) -> Rows:
    """Return prepared rows, whose columns are numbered by those that occur anywhere."""
    live = prepared.live
    width = int(live.max(initial=0)) + 1
    if width > WIDE * rows.columns.size:
        rows = rows._replace(columns=np.searchsorted(live, rows.columns).astype(np.uint32))
    else:
        rows = rows.renumbered(width, live)
    return prepared.preparation.apply(rows)


def screen(begun: Begun, prepared: Prepared, added: Added) -> Screened:
    """Return the columns that are winnowed."""
    whole = _whole(begun, prepared)
    sums = Sums.of_exact(whole, added.sums)
    plan, _ = begun.model.plan(begun.targets, whole.importance)
    columns = sums.most_certain(plan.screened(begun.targets.size), whole.intercept)
    return Screened(columns, int(prepared.counts[columns].sum()), sums)


def columns_of(screened: Screened) -> np.ndarray:
    """Return the columns that are winnowed."""
    return screened.columns


def n_nonzeros_of(screened: Screened) -> int:
    """Return how many nonzeros will be gathered."""
    return screened.n_nonzeros


def rows_in_folds(rows: Rows, share: Share) -> Rows:
    """Return the prepared rows of folds with all their columns."""
    return rows.at(share.in_folds)


def rows_of_columns(rows: Rows, prepared: Prepared, columns: np.ndarray) -> Rows:
    """Return all prepared rows with the columns that are winnowed."""
    return rows.renumbered(prepared.live.size, columns)


def _whole(begun: Begun, prepared: Prepared) -> Sample:
    """Return all rows that count, without their values, as they are winnowed."""
    n = prepared.live.size
    return begun.sample._replace(n_columns=n, in_length=prepared.preparation.in_length(n))


# -------------------------------------------------------------------------------------- winnowing


def winnow_rows(
    begun: Begun,
    prepared: Prepared,
    screened: Screened,
    rows: Sequence[Rows],
    in_folds: Sequence[Rows],
) -> ThresherModel:
    """Return the fitted model: what ``fit`` makes of the same rows in one process."""
    model = copy.copy(begun.model)
    whole, importance = _whole(begun, prepared), begun.sample.importance
    plan, _ = model.plan(begun.targets, importance)
    places = places_in_folds(begun.parts)
    gathered = Gathered(screened.columns, joined(rows), places, joined(in_folds))
    with model.team(None, len(begun.parts), plan.largest(begun.targets.size)) as team:
        path = winnow_gathered(whole, screened.sums, gathered, begun.parts, plan, team)
    live, preparation = prepared.live, prepared.preparation
    preparation = preparation._replace(measured=live[preparation.measured])
    model.take_path(path.of_columns(live), begun.targets, importance, preparation, quiet=True)
    return model
