"""The flagship's training on a source that can be read again.

A first pass counts: labels, and statistics of the columns. If all rows are few, they are kept, and
learned as by ``fit``. Otherwise a second pass screens the columns and keeps the rows of the folds,
which are few; and a third keeps the screened columns of all rows. The result is the same.
"""

import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thresher.estimators.inputs import rows_of
from thresher.estimators.scores import targets_of
from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError
from thresher.formats.labels import find_classes
from thresher.formats.protocol import Source
from thresher.prepare import Preparation, Statistics
from thresher.rows import Rows, joined
from thresher.threads import Report
from thresher.winnow.path import Gathered, places_in_folds, rows_in_fold, winnow_gathered
from thresher.winnow.screen import Sums

if TYPE_CHECKING:
    from thresher.estimators.thresher import ThresherModel

AT_HAND = 32_000_000  # nonzeros that are kept as they are
BYTES = 40  # of memory that a nonzero takes while columns are eliminated
SHARE = 0.8  # of the machine's memory that they may take


class WinnowTraining:
    """A model that selects features from a source; ``rows`` of pass ``passes`` have been read."""

    can_stop: ClassVar[bool] = False
    progressive_error: ClassVar[None] = None

    def __init__(self, model: "ThresherModel", source: Source) -> None:
        self.model, self.source = model, source
        self.rows = self.passes = self.n_rows = self.n_passes = 0

    @classmethod
    def begin(cls, model: "ThresherModel", source: Source, classes: Any) -> Self:
        """Start without having learned anything; classes are given or found in the first rows."""
        if classes is None and hasattr(model, "class_weight"):
            source, classes = find_classes(source)
        model.begin_source(classes)
        return cls(model, source)

    def steps(self, report: Report | None = None) -> Iterator[Chunk]:
        """Learn to the end; yield chunks as they are read, and then report the share done."""
        self.n_passes = 1
        counted = _Counted(self.model)
        for chunk in self._chunks():
            counted.add(chunk)
            yield chunk
        if not self.n_rows:
            raise DataError("There is not a single row to learn from.")
        model = self.model
        source = self.source
        model.know_columns(source.names, source.index_base, counted.counts.size)
        targets, weights = np.concatenate(counted.targets), np.concatenate(counted.weights)
        if counted.kept is not None:
            model.learn_at_hand(joined(counted.kept), targets, weights, report=report)
        else:
            importance, statistics = model.importance_of(targets, weights), counted.statistics
            if not np.array_equal(importance, weights):  # there are weights of classes
                statistics = yield from self._weighed(importance)
            preparation = model.preparation_for(statistics)
            yield from self._in_passes(targets, importance, preparation, counted.counts, report)
        model.end_stream(source)

    def share_done(self) -> float | None:
        """Return how much of the training is done, if that is known."""
        n_rows = self.source.n_rows or (self.n_rows if self.passes else None)
        if not n_rows or not self.n_passes:
            return None
        return min(1.0, (self.passes * n_rows + self.rows) / (self.n_passes * n_rows))

    def summary(self) -> dict[str, Any]:
        """Return what was learned, in a few numbers."""
        return {
            "rows": self.n_rows,
            "passes": self.passes,
            "features": self.model.n_features_selected_,
            "width": self.model.n_features_in_,
            "progressive_error": None,
            "skipped": self.source.skipped.count,
        }

    def _chunks(self) -> Iterator[Chunk]:
        """Read the source once."""
        self.rows = 0
        for chunk in self.source.chunks():
            yield chunk
            self.rows += len(chunk)
        self.passes, self.n_rows, self.rows = self.passes + 1, self.rows, 0

    def _weighed(self, importance: np.ndarray) -> Generator[Chunk, None, Statistics]:
        """Read once more for the statistics, now that the weights of classes are known."""
        width = self.model.n_features_in_
        statistics = Statistics.of(Rows.none(), width, np.zeros(0))
        self.n_passes += 1
        for chunk, places in self._numbered():
            statistics += Statistics.of(rows_of(chunk), width, importance[places])
            yield chunk
        return statistics

    def _numbered(self) -> Iterator[tuple[Chunk, slice]]:
        """Read the source once more, with the places of the rows."""
        first = 0
        for chunk in self._chunks():
            yield chunk, slice(first, first + len(chunk))
            first += len(chunk)

    def _in_passes(
        self,
        targets: np.ndarray,
        importance: np.ndarray,
        preparation: Preparation,
        counts: np.ndarray,
        report: Report | None,
    ) -> Iterator[Chunk]:
        """Screen in one pass, and keep what is screened in another."""
        self.n_passes += 2
        model = self.model
        plan, splits = model.plan(targets, importance)
        whole = model.sample(Rows.none(), targets, importance, preparation)
        chosen = [rows_in_fold(whole, split) for split in splits]
        wanted = places_in_folds(chosen)
        sums, kept = Sums.of(whole.part(Rows.none(), slice(0))), []
        for chunk, places in self._numbered():
            part = whole.part(preparation.apply(rows_of(chunk)), places)
            sums += Sums.of(part)
            inside = wanted[(wanted >= places.start) & (wanted < places.stop)] - places.start
            kept.append(part.rows.at(inside))
            yield chunk
        columns = sums.most_certain(plan.screened(targets.size), whole.intercept)
        refuse_too_much(int(counts[columns].sum()))
        screened = []
        for chunk, _ in self._numbered():
            rows = preparation.apply(rows_of(chunk))
            screened.append(rows.renumbered(whole.n_columns, columns))
            yield chunk
        gathered = Gathered(columns, joined(screened), wanted, joined(kept))
        with model.team(report, len(splits), plan.largest(targets.size)) as team:
            path = winnow_gathered(whole, sums, gathered, chosen, plan, team)
        model.take_path(path, targets, importance, preparation)


class _Counted:
    """What a first pass over a source counts; rows are kept as long as they are few."""

    def __init__(self, model: "ThresherModel") -> None:
        self._model = model
        self.statistics = Statistics.of(Rows.none(), 0, np.zeros(0))
        self.counts = np.zeros(0, np.int64)
        self.targets: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.kept: list[Rows] | None = []
        self._n_rows = self._n_nonzeros = 0

    def add(self, chunk: Chunk) -> None:
        """Count the next rows."""
        targets, weights = targets_of(self._model, chunk, self._n_rows + 1)
        rows = rows_of(chunk)
        self.targets.append(targets)
        self.weights.append(weights)
        width = max(chunk.width, self.counts.size)
        self.statistics += Statistics.of(rows, width, weights)
        self.counts = np.pad(self.counts, (0, width - self.counts.size))
        self.counts += np.bincount(rows.columns, minlength=width)
        self._n_rows += rows.n
        self._n_nonzeros += rows.values.size
        if self._n_nonzeros > AT_HAND:
            self.kept = None
        elif self.kept is not None:
            self.kept.append(Rows(rows.starts.copy(), rows.columns.copy(), rows.values.copy()))


def refuse_too_much(n_nonzeros: int) -> None:
    """Raise a MemoryError if so many nonzeros would not fit into memory."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no such number on this system
        return
    if n_nonzeros * BYTES > SHARE * memory:
        raise MemoryError(
            f"The {n_nonzeros:,} values of the screened columns need "
            f"{n_nonzeros * BYTES / 1e9:.1f} GB of memory, and this machine has "
            f"{memory / 1e9:.1f}. Select fewer features (n_features_to_select), or learn in one "
            "pass: partial_fit, chunk by chunk."
        )
