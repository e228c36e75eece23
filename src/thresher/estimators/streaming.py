"""Learning from a source, chunk after chunk, so that it can stop and go on between any two."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.cache import cached
from thresher.data.sources.given import GivenSource
from thresher.data.sources.opening import open_source
from thresher.data.sources.passes import passes_over
from thresher.data.sources.protocol import Reading, Source
from thresher.data.sources.shards import ShardSource
from thresher.estimators.decisions.decision import settle_first
from thresher.estimators.decisions.offsets import shifted_words, warn_of_offsets
from thresher.estimators.decisions.rarity import rarity_words
from thresher.estimators.decisions.roots import roots_words
from thresher.estimators.decisions.step_lengths import steps_words
from thresher.estimators.decisions.units import rescaled_words
from thresher.estimators.gathering import (
    Labelled,
    all_rows,
    looked_into,
    rows_again,
    rows_to_the_end,
    some_rows,
)
from thresher.estimators.inputs import check_weights
from thresher.estimators.lessons import learnt_by, sample_of
from thresher.estimators.overflowing import overflow_placed, remedy
from thresher.estimators.progressive import Progressive
from thresher.estimators.told_rows import told_of
from thresher.train import Sample
from thresher.train.fit import unchanged
from thresher.workers import workers


def training_source(
    estimator: Any,
    source: Any,
    cache: bool,
    reading: dict[str, Any],
    names: Names | None = None,
    say: Callable[[str], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Source:
    """Return what an estimator learns from, kept as shards if it is to be read more than once.

    ``names`` are those known so far of a training that goes on; ``say`` is told what happens, and
    ``progress`` how many rows have been kept.
    """
    if isinstance(source, str | Path) or _are_paths(source):
        paths = [source] if isinstance(source, str | Path) else source
        how = Reading.asked(reading)
        estimator._reading = {"label": how.label, "weight": how.weight}
        opened = open_source(paths, how)
        wants_more = estimator._stream_passes(1) != 1
        if cache and wants_more and opened.rewinds and not isinstance(opened, ShardSource):
            kept = cached(opened, [str(path) for path in paths], how, say, progress)
            decided = getattr(opened, "decided", None)
            if say and decided:
                say(decided)
            return kept
        return opened if names is None else open_source(paths, how, names)
    if reading:
        raise ValueError(f"{', '.join(reading)}: options of reading are for files.")
    if hasattr(source, "chunks"):
        return source
    if isinstance(source, Iterable):
        return GivenSource(source)
    raise TypeError(
        f"fit_stream takes paths, a source or an iterable of (rows, labels), not {source!r}."
    )


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(one, str | Path) for one in source)
    )


FIRST_ROWS, EASED = 64, 1 << 13


@dataclass
class StreamTraining:
    """An estimator on its way through a source: passes finished, and rows of the current one."""

    estimator: Any
    source: Source
    n_rows: int | None  # in a pass, if that was known before the first
    progressive: Progressive
    passes: int = 0
    rows: int = 0
    rows_a_pass: int = 0
    before: np.ndarray = field(default_factory=lambda: np.zeros(0))  # weights a pass ago
    at_hand: Labelled | None = None  # all rows, where they are few: nothing is to be kept between
    kept: Labelled | None = None  # the first rows of a source that passes once
    watched: bool = False  # whether rows are predicted before they are learnt

    @classmethod
    def begin(cls, estimator: Any, source: Source, classes: Any = None) -> "StreamTraining":
        """Start with an empty model, its classes, if any, told or found in the first rows."""
        n_rows = source.n_rows if source.rewinds else None
        source, at_hand = _all_at_hand(estimator, source, n_rows)
        estimator.n_features_in_ = 0 if at_hand is None else at_hand.rows.shape[1]
        source = estimator._begin_source(source, classes, lambda: estimator._stream_learner(n_rows))
        some = None
        if at_hand is None:
            source, some = _first_rows(estimator, source, n_rows)
        estimator._names, estimator._index_base = source.names, source.index_base
        if some is not None:
            settle_first(estimator, some)
        for decision in estimator.decisions:
            decision.prepare_source(estimator, some)
        kept = None if source.rewinds else some
        return cls(estimator, source, n_rows, estimator._progressive(), at_hand=at_hand, kept=kept)

    def steps(self) -> Iterator[Chunk]:
        """Learn to the end; after each chunk, give it, with everything in a state to be kept."""
        if self.at_hand is None:
            yield from self._in_chunks()
            self._look_back()
        else:
            self._learn_at_hand(self.at_hand)
        self._finish()

    def _in_chunks(self) -> Iterator[Chunk]:
        """Learn pass by pass, in chunks; give each as soon as it is learnt."""
        estimator, model = self.estimator, self.estimator._model
        most = estimator._stream_passes(self.n_rows) if self.source.rewinds else 1
        read = passes_over(self.source, estimator.shuffle, estimator._seed)
        while self.passes != most and not model.finished:
            for chunk in self._eased(read(self.passes, self.rows)):
                self._learn(chunk)
                yield chunk
                if model.finished:
                    break
            self._refuse_nothing()
            self.passes, self.rows = self.passes + 1, 0
            if self._settled():
                break

    def _eased(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Cut the first rows small if they are watched: what is learnt tells of what follows."""
        for chunk in chunks:
            first = 0
            while first < len(chunk):
                small = self.watched and self.passes == 0 and self.rows < EASED
                last = first + (max(FIRST_ROWS, self.rows) if small else len(chunk))
                yield chunk[first:last]
                first = last

    def share_done(self) -> float | None:
        """Return how much of the training is done, if anybody can know."""
        if self.n_rows is None:
            return None
        done = self.passes * self.n_rows + self.rows
        return min(1.0, done / self.estimator._planned_updates(self.n_rows))

    def summary(self) -> dict[str, Any]:
        """Return what was learnt, in a few numbers."""
        estimator = self.estimator
        return {
            "rows": self.rows_a_pass,
            "passes": estimator.n_iter_,
            "features": int(estimator._settled()[0].any(axis=0).sum()),
            "width": estimator.n_features_in_,
            **estimator._summary(),
            **self.progressive.summary(),
            "skipped": self.source.skipped.count,
            "values": roots_words(estimator),
            "rarity": rarity_words(estimator),
            "offsets": shifted_words(estimator),
            "units": rescaled_words(estimator),
            "steps": steps_words(estimator),
            "size": getattr(getattr(estimator, "size_choice_", None), "why", None),
        }

    def n_features(self) -> int:
        """Return how many features are still in play."""
        model = self.estimator._model
        stable = [getattr(problem.state, "stable", None) for problem in model.problems]
        known = [int(mask.sum()) for mask in stable if mask is not None]
        return max(known) if known else int(self.estimator._settled()[0].any(axis=0).sum())

    def _learn(self, chunk: Chunk) -> None:
        """Learn some rows, all of them or none."""
        estimator, anew = self.estimator, self.passes == 0
        labels, weights = told_of(estimator, self.source, chunk, self.rows)
        if self.watched and anew:
            self.progressive.see(estimator, chunk.rows, labels)
        learner = estimator._stream_learner(self.n_rows)
        with overflow_placed(self.rows, self._in_which_order()):
            estimator._learn_rows(chunk.rows, labels, weights, learner, anew, self._recall)
        estimator.n_features_in_ = estimator._model.vocabulary.n_columns
        estimator._names, estimator._index_base = self.source.names, self.source.index_base
        estimator._watch_columns(chunk.rows)
        self.rows += len(chunk)
        self.rows_a_pass = max(self.rows_a_pass, self.rows)
        estimator.n_iter_ = self.passes + 1

    def _recall(self, learnt: int) -> Sample | None:
        """Return some of so many rows that have been learnt: read again, or kept until now."""
        estimator, some = self.estimator, self.kept
        if self.source.rewinds:
            some = rows_again(self.source, estimator.shuffle, estimator._seed, learnt)
        elif some is not None:
            some, self.kept = some.beginning(learnt), None
        sample = sample_of(estimator, some)
        return None if sample is None else learnt_by(estimator, sample)

    def _look_back(self) -> None:
        """Let rows say, at the end of a stream, which features should have been others."""
        with workers(self.estimator.n_jobs) as run_all:
            self.estimator._model.look_back(self._recall, run_all.check)
        self.estimator._weights = None

    def _learn_at_hand(self, data: Labelled) -> None:
        """Learn all rows at once, as ``fit`` does."""
        estimator, n_rows = self.estimator, data.labels.size
        labels = estimator._chunk_labels(data.labels, 1)
        with overflow_placed(0):
            estimator._fit_rows(data.rows, labels, check_weights(data.weights, n_rows, 1))
        if estimator._offsets is None:
            warn_of_offsets(estimator, estimator._raised(data.rows))
        self.passes, self.rows_a_pass = estimator.n_iter_, n_rows

    def _in_which_order(self) -> str:
        """Say what a row's number means where it is not that of the source."""
        shuffled = self.estimator.shuffle and self.source.rewinds
        return f" of pass {self.passes + 1}, in which rows are shuffled" if shuffled else ""

    def _refuse_nothing(self) -> None:
        if self.rows == 0:
            raise DataError(f"There is not a single row to learn from in pass {self.passes + 1}.")

    def _settled(self) -> bool:
        """Return whether a whole pass has changed no weight enough to go on."""
        estimator = self.estimator
        states = [problem.state for problem in estimator._model.problems]
        learner = estimator._model.learner
        if not estimator.tol or not all(learner.may_stop(state) for state in states):
            return False
        before, (now, _) = self.before, estimator._settled()
        self.before = now.ravel().copy()
        return before.size == now.size and unchanged(before, self.before, estimator.tol)

    def _finish(self) -> None:
        """Leave no number in the model that cannot be used, and no name that nobody needs."""
        weights, intercepts = self.estimator._settled()
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise DataError(f"The numbers overflowed. {remedy(self.estimator)}")
        self.estimator.data_fingerprint_ = self.source.fingerprint()


def _all_at_hand(
    estimator: Any, source: Source, n_rows: int | None
) -> tuple[Source, Labelled | None]:
    """Return all rows if they are few and learnt more than once, and the source as it was."""

    def n_passes(n_rows: int) -> float:
        return estimator._planned_updates(n_rows) / max(n_rows, 1)

    if not estimator._wants_all():
        return source, None
    if n_rows is None:
        return rows_to_the_end(source, n_passes)
    return source, all_rows(source, n_passes(n_rows))


def _first_rows(
    estimator: Any, source: Source, n_rows: int | None
) -> tuple[Source, Labelled | None]:
    """Return rows that tell what is to be learnt how, if anybody asks, and the source for it.

    What is read once, and not counted, is learnt as ``partial_fit`` does: as it comes.
    """
    asks = estimator._asks_first_rows()
    again = n_rows is not None or estimator._stream_passes(None) != 1
    if source.rewinds and (again or asks):
        return source, some_rows(source, estimator.shuffle, estimator._seed)
    return looked_into(source) if asks else (source, None)
