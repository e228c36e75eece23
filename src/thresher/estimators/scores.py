"""How well a model predicts labelled rows, which may come in chunks; memory stays bounded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from thresher.estimators.base import LinearModel
from thresher.estimators.classifier import OnlineClassifier, probabilities_of
from thresher.estimators.inputs import rows_of
from thresher.estimators.labels import check_weights
from thresher.estimators.regressor import OnlineRegressor
from thresher.fitted import NO_LINK
from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError
from thresher.formats.protocol import Progress, Source

LEAST = 1e-15  # of a probability, so that one sure mistake does not make the log loss infinite
MOST_DISTINCT = 1 << 20  # margins that are kept apart to rank rows by them
COARSER = 2  # bits of margins that are given up when there are more


@dataclass(frozen=True)
class ClassFigures:
    """How well classes are predicted; None where a figure has no meaning.

    ``confusion`` has a row per true and a column per predicted class: weights of rows.
    """

    rows: int
    features: int
    error: float
    log_loss: float | None
    auc: float | None
    confusion: np.ndarray


@dataclass(frozen=True)
class NumberFigures:
    """How well numbers are predicted; R2 is None where all of them are the same."""

    rows: int
    features: int
    r2: float | None
    rmse: float
    mae: float


class ClassScores:
    """Sums over rows of classes."""

    def __init__(self, model: OnlineClassifier) -> None:
        self.model, self.link = model, model.fitted_.link
        n_classes = model.classes_.size
        self.rows, self.log_loss = 0, 0.0
        self.confusion = np.zeros((n_classes, n_classes))
        self.ranks = Ranks() if n_classes == 2 else None

    def add(self, margins: np.ndarray, places: np.ndarray, weights: np.ndarray) -> None:
        """Compare the margins of rows with the places of their classes."""
        self.rows += places.size
        single = margins.shape[1] == 1
        predicted = (margins[:, 0] > 0).astype(int) if single else margins.argmax(axis=1)
        np.add.at(self.confusion, (places, predicted), weights)
        if self.link != NO_LINK:
            mine = probabilities_of(self.link, margins)[np.arange(places.size), places]
            self.log_loss -= float(weights @ np.log(np.maximum(mine, LEAST)))
        if self.ranks is not None:
            self.ranks.add(margins[:, 0], weights * (places == 1), weights * (places == 0))

    def error(self) -> float | None:
        """Return the share of rows whose class is wrong."""
        total = self.confusion.sum()
        return float((total - np.trace(self.confusion)) / total) if total > 0 else None

    def figures(self) -> ClassFigures:
        """Return how well all rows were predicted."""
        error, total = self.error(), float(self.confusion.sum())
        if error is None:
            raise DataError("There is no row to evaluate, or none with a weight above 0.")
        return ClassFigures(
            self.rows,
            self.model.n_features_selected_,
            error,
            self.log_loss / total if self.link != NO_LINK else None,
            None if self.ranks is None else self.ranks.auc(),
            self.confusion,
        )


class NumberScores:
    """Sums over rows of numbers; those around the mean move with it, so that nothing cancels."""

    def __init__(self, model: OnlineRegressor) -> None:
        self.model = model
        self.rows, self.total, self.squares, self.distances = 0, 0.0, 0.0, 0.0
        self.mean, self.spread = 0.0, 0.0  # of the true numbers; the latter a sum of squares

    def add(self, margins: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> None:
        """Compare the margins of rows with their numbers."""
        self.rows += numbers.size
        errors = margins[:, 0] - numbers
        with np.errstate(over="ignore", invalid="ignore"):
            self.squares += float(weights @ errors**2)
            self.distances += float(weights @ np.abs(errors))
            self._widen(numbers, weights)
        if not np.isfinite(self.squares + self.spread):
            raise DataError(
                "The squares of labels or predictions overflow. Multiply all labels by a number "
                "that brings them nearer to 1, train with these, and evaluate again."
            )

    def error(self) -> float | None:
        """Return the root of the mean squared error."""
        return sqrt(self.squares / self.total) if self.total > 0 else None

    def figures(self) -> NumberFigures:
        """Return how well all rows were predicted."""
        error = self.error()
        if error is None:
            raise DataError("There is no row to evaluate, or none with a weight above 0.")
        r2 = 1 - self.squares / self.spread if self.spread > 0 else None
        features, mae = self.model.n_features_selected_, self.distances / self.total
        return NumberFigures(self.rows, features, r2, error, mae)

    def _widen(self, numbers: np.ndarray, weights: np.ndarray) -> None:
        """Add numbers to their mean and to the squares around it (Chan et al. 1979)."""
        added = float(weights.sum())
        if not added > 0:
            return
        mean = float(weights @ numbers) / added
        total, apart = self.total + added, mean - self.mean
        self.spread += float(weights @ (numbers - mean) ** 2)
        self.spread += apart * apart * self.total * added / total
        self.mean += apart * added / total
        self.total = total


class Ranks:
    """Weights of positive and negative rows by ascending margin, for the area under the ROC curve.

    Beyond a million distinct margins, those that nearly agree are taken for the same.
    """

    def __init__(self) -> None:
        self.margins = self.positive = self.negative = np.zeros(0)
        self._dropped_bits = 0

    def add(self, margins: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> None:
        """Add rows."""
        self._merge(
            np.concatenate([self.margins, self._coarse(margins)]),
            np.concatenate([self.positive, positive]),
            np.concatenate([self.negative, negative]),
        )
        while self.margins.size > MOST_DISTINCT:
            self._dropped_bits += COARSER
            self._merge(self._coarse(self.margins), self.positive, self.negative)

    def auc(self) -> float | None:
        """Return the area; None unless there are rows of both classes."""
        total = self.positive.sum() * self.negative.sum()
        if not total > 0:
            return None
        below = np.cumsum(self.negative) - self.negative / 2
        return float(self.positive @ below / total)

    def _coarse(self, margins: np.ndarray) -> np.ndarray:
        bits = np.ascontiguousarray(margins).view(np.int64)
        return ((bits >> self._dropped_bits) << self._dropped_bits).view(np.float64)

    def _merge(self, margins: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> None:
        self.margins, places = np.unique(margins, return_inverse=True)
        self.positive = np.bincount(places, positive).astype(np.float64)
        self.negative = np.bincount(places, negative).astype(np.float64)


class Margins:
    """The margins of a source's rows, and whether any of the model's features occurs in them.

    Where none does, the data is of another kind. Features that the model has never seen have no
    weight. Where rows are scaled to unit length, they make their row longer all the same.
    """

    def __init__(self, model: LinearModel, source: Source) -> None:
        self.model, self.source, self.columns = model, source, model.fitted_.columns
        self.rows, self.found = 0, False

    def __iter__(self) -> Iterator[tuple[Chunk, np.ndarray]]:
        """Yield every chunk with its margins, a column per output."""
        for chunk in self.source.chunks():
            rows = rows_of(chunk)
            margins = self.model.row_margins(rows, self.rows + 1)
            self.rows += rows.n
            self.found = self.found or bool(np.isin(rows.columns, self.columns).any())
            yield chunk, margins

    def warning(self) -> str | None:
        """Return what is wrong, if there were rows but none of the features."""
        if self.found or not self.columns.size or not self.rows:
            return None
        return (
            f"none of the model's {self.columns.size:,} features occurs in any of the "
            f"{self.rows:,} rows: was it trained on other data?"
        )


def scores_of(model: LinearModel) -> ClassScores | NumberScores:
    """Return what sums up how well a model predicts."""
    if isinstance(model, OnlineClassifier):
        return ClassScores(model)
    if isinstance(model, OnlineRegressor):
        return NumberScores(model)
    raise TypeError(f"{type(model).__name__} is neither a classifier nor a regressor.")


def evaluate(
    model: LinearModel, X: Any, y: Any, sample_weight: Any = None
) -> ClassFigures | NumberFigures:
    """Return how well a model predicts rows that are all at hand."""
    scores, margins = scores_of(model), model.margins(X)
    targets = model.known_targets(y, len(margins))
    scores.add(margins, targets, check_weights(sample_weight, len(margins)))
    return scores.figures()


def evaluate_stream(
    model: LinearModel, source: Source, progress: Progress | None = None
) -> tuple[ClassFigures | NumberFigures, str | None]:
    """Return how well a model predicts the rows of a source, and what is odd about them."""
    scores, predicted = scores_of(model), Margins(model, source)
    for chunk, margins in predicted:
        scores.add(margins, *targets_of(model, chunk, scores.rows + 1))
        if progress is not None:
            progress(scores.rows)
    return scores.figures(), predicted.warning()


def targets_of(model: LinearModel, chunk: Chunk, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the targets and weights of a chunk, whose first row has this number."""
    if chunk.labels is None:
        raise DataError(f"Row {first:,} has no label: every row needs one.")
    try:
        targets = model.known_targets(chunk.labels, len(chunk), first)
        return targets, check_weights(chunk.weights, len(chunk), first)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(str(error)) from None


SHORT = {"error": "error {:.2%}", "log_loss": "log loss {:.4g}", "auc": "AUC {:.4g}"}
SHORT |= {"r2": "R2 {:.4g}", "rmse": "RMSE {:.4g}", "mae": "MAE {:.4g}", "rows": "{:,} rows"}


def in_one_line(figures: Mapping[str, Any]) -> str:
    """Return figures, as a model's file keeps them, in words; ``of`` names the rows."""
    known = [(words, figures.get(name)) for name, words in SHORT.items()]
    parts = [words.format(value) for words, value in known if value is not None]
    return ", ".join(parts) + (f" of {figures['of']}" if "of" in figures else "")
