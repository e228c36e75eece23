"""Learning from a source chunk by chunk, so that it can stop and go on between any two."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np

from thresher.estimators.base import LinearModel
from thresher.estimators.inputs import rows_of
from thresher.estimators.learning import OnlineModel
from thresher.estimators.scores import targets_of
from thresher.files import access
from thresher.formats.cache import cached
from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError, OptionError
from thresher.formats.given import GivenSource
from thresher.formats.labels import find_classes
from thresher.formats.names import HashedNames, Names, has_mean
from thresher.formats.opening import open_rows, reading_from
from thresher.formats.passes import passes_over
from thresher.formats.protocol import Notify, Progress, Reading, Source
from thresher.online.training import unchanged
from thresher.threads import Report

REMEMBERED = (
    "label",
    "weight",
    "missing",
    "na_values",
)  # options of reading that hold for other files, too
if TYPE_CHECKING:
    from thresher.estimators.winnow_training import WinnowTraining

FIRST_ROWS, MOST_ROWS = 64, 1 << 13  # of the first chunks, if rows are predicted before learned

Tree = dict[str, Any]
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
Given = Paths | Source | Iterable[Any]  # what users may learn from
SourceTraining: TypeAlias = "StreamTraining | WinnowTraining"  # a model on its way through a source


def training_source(
    model: OnlineModel,
    source: Given,
    cache: bool = True,
    reading: dict[str, Any] | None = None,
    names: Names | None = None,
    notify: Notify | None = None,
    progress: Progress | None = None,
) -> Source:
    """Return what a model learns from: files, kept in binary form if read again, or given rows.

    ``names`` are those known so far of a training that goes on. ``notify`` receives what happens in
    words, ``progress`` how many rows have been kept.
    """
    if paths := _paths_in(source):
        how = _as_before(model, names, reading or {})
        model.reading_ = {name: getattr(how, name) for name in REMEMBERED}
        opened = open_rows(paths, how, names, **(reading or {}))
        if model.__sklearn_is_fitted__():
            _refuse_mismatch(model.fitted_.names, opened)
        if not cache or model.stream_passes == 1 or not opened.rewinds:
            return opened
        # what is kept serves all models, so it is not numbered by the names of this one
        own = opened if names is None else open_rows(paths, how)
        kept = cached(own, paths, how, notify, progress, names)
        return opened if kept is own else kept
    return _given(source, reading)


def _given(
    source: Given, reading: dict[str, Any] | None, names: Names | None = None, labelled: bool = True
) -> Source:
    """Return a source of what is no path."""
    if reading:
        raise ValueError(f"{', '.join(reading)}: options of reading are for files.")
    if hasattr(source, "chunks"):
        return cast(Source, source)
    if hasattr(source, "shape") or isinstance(source, Mapping):
        raise TypeError(
            f"X is of type {type(source).__name__}, which is rows and not a stream of them: give "
            "[(X, y)], or [X] where no labels are needed."
        )
    if isinstance(source, Iterable):
        return GivenSource(source, names, labelled)
    raise TypeError(
        f"A stream is paths, a source or an iterable of (rows, labels), not {source!r}."
    )


def prediction_source(
    model: LinearModel, rows: Any, labelled: bool = False, **reading: Any
) -> Source:
    """Return a source of files, or of given rows, whose columns are numbered as the model knows.

    What is not said of how to read them is as it was in training: the first rows of other files may
    tell another story of where indices begin.
    """
    names = model.fitted_.names
    paths = _paths_in(rows)
    if not paths:
        source = _given(rows, reading, names, labelled)
        _refuse_mismatch(names, source)
        _refuse_other_names(names, source.names)
        return source
    how = _as_before(model, names, {"ignore_labels": not labelled, **reading})
    source = open_rows(paths, how, names, **reading)
    _refuse_mismatch(names, source)
    return source


def _as_before(model: LinearModel, names: Names | None, given: dict[str, Any]) -> Reading:
    """Return how to read: what is not given is as it was in training."""
    how = reading_from(given)
    _refuse_other_filling(how.missing, names)
    known = {"index_base": model.index_base_, **getattr(model, "reading_", {})}
    if isinstance(names, HashedNames):
        known["hash_bits"] = names.n_bits
    unsaid = {name: one for name, one in known.items() if getattr(how, name) in (None, [])}
    return replace(how, **unsaid)


def _refuse_other_filling(missing: str | None, names: Names | None) -> None:
    """Refuse to fill gaps in another way than in training."""
    numbers = [kind for kind in (names.kinds if names else {}).values() if kind is not None]
    usual = "mean" if any(map(has_mean, numbers)) else "zero"
    if numbers and missing in ("mean", "zero") and missing != usual:
        raise OptionError(
            f"missing={missing!r}: the model has learned with {usual!r}. Leave the option out, or "
            "train anew."
        )


def _refuse_mismatch(names: Names | None, source: Source) -> None:
    """Refuse columns with names for a model that knows numbers, and the other way round."""
    if (names is None) != (source.names is None):
        has, wants = ("names", "numbers") if names is None else ("numbers", "names")
        raise DataError(
            f"The rows have features with {has}, but the model knows its features by {wants}: it "
            "was trained on other data, or the format is not what the files' names tell (format=, "
            "--format)."
        )


def _paths_in(source: Given) -> list[str | PathLike[str]]:
    """Return the paths that are given, none if it is something else."""
    several: list[Any] = list(source) if isinstance(source, list | tuple) else [source]
    return several if all(isinstance(one, str | PathLike) for one in several) else []


def _refuse_other_names(known: Names | None, names: Names | None) -> None:
    """Refuse a source that numbers features in its own way: it would be predicted wrongly."""
    if isinstance(known, HashedNames) and isinstance(names, HashedNames):
        alike = (known.n_bits, known.kinds) == (names.n_bits, names.kinds)
        known = names if alike else known
    if names is not known:
        raise DataError(
            "The source numbers its features in another way than the model: give the paths of the "
            "files, or open_rows(..., names=model.fitted_.names)."
        )


@dataclass
class StreamTraining:
    """A model on its way through a source: passes finished, and rows of the current one.

    It can stop between any two steps, and go on. If it is ``watched``, rows of the first pass are
    predicted before they are learned: ``errors`` are wrong classes, or squared errors, of
    ``predicted`` rows.
    """

    can_stop: ClassVar[bool] = True

    model: OnlineModel
    source: Source
    watched: bool = False
    passes: int = 0
    rows: int = 0
    rows_a_pass: int = 0
    predicted: int = 0
    errors: float = 0.0
    # columns and weights a pass ago
    before: tuple[np.ndarray, np.ndarray] = field(
        default_factory=lambda: (np.zeros(0, np.int64), np.zeros((1, 0)))
    )

    @classmethod
    def begin(
        cls, model: OnlineModel, source: Source, classes: Any = None, watched: bool = False
    ) -> "StreamTraining":
        """Start without having learned anything; classes are given or found in the first rows."""
        if classes is None and hasattr(model, "class_weight"):
            source, classes = find_classes(source)
        model.begin_stream(classes)
        return cls(model, source, watched)

    def steps(self, report: Report | None = None) -> Iterator[Chunk]:
        """Learn to the end; yield each chunk once it is learned, with all in a state to be kept."""
        model = self.model
        most = model.stream_passes if self.source.rewinds else 1
        read = passes_over(self.source, model.shuffle, model.seed_)
        while self.passes < most and not model.training_.finished:
            for chunk in self._small_at_first(read(self.passes, self.rows)):
                self._learn(chunk)
                yield chunk
                if model.training_.finished:
                    break
            if self.rows == 0:
                raise DataError(
                    f"There is not a single row to learn from in pass {self.passes + 1}."
                )
            self.passes, self.rows = self.passes + 1, 0
            if self._settled():
                break
        model.end_stream(self.source)

    @property
    def progressive_error(self) -> float | None:
        """Error of rows before they were learned: the share of wrong classes, or the RMSE."""
        if not self.predicted:
            return None
        mean = self.errors / self.predicted
        return mean if hasattr(self.model, "classes_") else float(np.sqrt(mean))

    def share_done(self) -> float | None:
        """Return how much of the training is done, if the number of rows is known."""
        if not (self.source.rewinds and self.source.n_rows):
            return None
        done = self.passes * self.source.n_rows + self.rows
        return min(1.0, done / (self.model.stream_passes * self.source.n_rows))

    def summary(self) -> Tree:
        """Return what was learned, in a few numbers."""
        model = self.model
        return {
            "rows": self.rows_a_pass,
            "passes": model.n_iter_,
            "features": model.n_features_selected_,
            "width": model.n_features_in_,
            "progressive_error": self.progressive_error,
            "skipped": self.source.skipped.count,
        }

    def tree(self) -> Tree:
        """Return everything that the rest of the training depends on, as a tree of plain values."""
        from thresher.estimators.saving import model_tree

        counts = {name: getattr(self, name) for name in COUNTS}
        return {
            "model": model_tree(self.model, training_state=True),
            "fingerprint": self.source.fingerprint(),
            "modified": self.source.modified(),
            "watched": self.watched,
            "errors": self.errors,
            "columns_before": self.before[0],
            "weights_before": self.before[1],
            **counts,
        }

    @classmethod
    def from_tree(cls, tree: Tree, source: Source) -> "StreamTraining":
        """Return the training that gave a tree, with its source opened again."""
        from thresher.estimators.saving import model_from

        if access.part(tree, "fingerprint", str) != source.fingerprint():
            raise DataError(
                "The data is not what it was when the checkpoint was written: bring the old files "
                "back, or train anew."
            )
        if tree.get("modified") != source.modified():
            raise DataError(
                "The data was written anew since the checkpoint was, and may be other data: bring "
                "the old files back with their times (cp -p, rsync -t), or train anew."
            )
        columns = access.array(tree, "columns_before", np.int64, (None,))
        return cls(
            model_from(access.part(tree, "model", Tree)),
            source,
            access.part(tree, "watched", bool),
            errors=access.number(tree, "errors"),
            before=(
                columns,
                access.array(tree, "weights_before", np.float64, (None, columns.size)),
            ),
            **{name: access.whole(tree, name) for name in COUNTS},
        )

    def _small_at_first(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Cut the first rows small if they are predicted: what is learned tells of what follows."""
        for chunk in chunks:
            first = 0
            while first < len(chunk):
                small = self.watched and self.passes == 0 and self.rows < MOST_ROWS
                last = first + (max(FIRST_ROWS, self.rows) if small else len(chunk))
                yield chunk[first:last]
                first = last

    def _learn(self, chunk: Chunk) -> None:
        """Learn some rows, all of them or none."""
        targets, weights = self._checked_targets(chunk)
        rows = rows_of(chunk)
        if self.watched and self.passes == 0 and self.rows:
            found = self.model.row_errors(self.model.stream_margins(rows), targets)
            self.predicted, self.errors = self.predicted + rows.n, self.errors + float(found.sum())
        shuffled = self.model.shuffle and self.source.rewinds
        where = f" of pass {self.passes + 1}, in which rows are shuffled" if shuffled else ""
        self.model.learn_stream(
            self.source, rows, chunk.width, targets, weights, self.passes, self.rows + 1, where
        )
        self.rows += rows.n
        self.rows_a_pass = max(self.rows_a_pass, self.rows)

    def _checked_targets(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return targets and weights; an error counts rows in the order of the source."""
        with suppress(ValueError):
            return targets_of(self.model, chunk, self.rows + 1)
        before = 0
        for one in self.source.chunks() if self.source.rewinds else ():
            targets_of(self.model, one, before + 1)
            before += len(one)
        return targets_of(self.model, chunk, self.rows + 1)

    def _settled(self) -> bool:
        """Return whether a whole pass has changed no weight enough to go on."""
        training = self.model.training_
        if not self.model.tol or not training.settles:
            return False
        before, self.before = self.before, training.weights()[:2]
        columns = np.union1d(before[0], self.before[0])
        return unchanged(_spread(columns, *before), _spread(columns, *self.before), self.model.tol)


COUNTS = ("passes", "rows", "rows_a_pass", "predicted")


def _spread(columns: np.ndarray, mine: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights of some of the columns as weights of all."""
    spread = np.zeros((weights.shape[0], columns.size))
    spread[:, np.searchsorted(columns, mine)] = weights
    return spread
