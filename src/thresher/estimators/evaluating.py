"""How well a model predicts labelled rows that come in chunks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.labels import check_told_apart
from thresher.data.sources.protocol import Source
from thresher.estimators.judging_numbers import NumberJudge, NumberScores
from thresher.estimators.meeting import Meeting
from thresher.estimators.overflowing import refuse_infinite
from thresher.estimators.reading import margins_of

LEAST = 1e-15  # of a probability, so that one sure mistake does not make the log loss infinite

Told = Callable[[int], None]


def keep_quiet(count: int) -> None:
    """Tell nobody how much is done."""


@dataclass(frozen=True)
class Scores:
    """What came out of classes; None where it has no meaning."""

    rows: int
    error: float
    log_loss: float | None
    auc: float | None
    nonzeros: int


class Judge:
    """Sums over rows; of two classes the margins are kept, 8 bytes a row, for their ranks."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.number = {label: k for k, label in enumerate(model.classes_.tolist())}
        self.rows, self.total, self.wrong, self.log_loss = 0, 0.0, 0.0, 0.0
        self.ranked: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def see(self, chunk: Chunk, margins: np.ndarray) -> None:
        """Compare predictions with labels."""
        labels = self._numbers(chunk)
        weights = np.ones(len(chunk)) if chunk.weights is None else chunk.weights
        predicted = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
        self.rows += len(chunk)
        self.total += float(weights.sum())
        self.wrong += float(weights @ (predicted != labels))
        if hasattr(self.model, "predict_proba"):
            mine = self.model._probabilities(margins)[np.arange(labels.size), labels]
            self.log_loss -= float(weights @ np.log(np.maximum(mine, LEAST)))
        if margins.ndim == 1:
            self.ranked.append((margins, labels == 1, weights))

    def scores(self) -> Scores:
        """Return what came out."""
        if not self.total > 0:
            raise DataError("There is not a single row to judge, or none with a weight above 0.")
        probable = hasattr(self.model, "predict_proba")
        return Scores(
            rows=self.rows,
            error=self.wrong / self.total,
            log_loss=self.log_loss / self.total if probable else None,
            auc=self._auc(),
            nonzeros=int(np.count_nonzero(self.model._settled()[0])),
        )

    def _numbers(self, chunk: Chunk) -> np.ndarray:
        """Return the classes of rows by number; all of them must be known."""
        if chunk.labels is None:
            raise DataError("The rows have no labels: there is nothing to compare with.")
        check_told_apart(chunk.labels)
        labels = chunk.labels.tolist()
        try:
            return np.array([self.number[label] for label in labels], np.int64)
        except KeyError as error:
            row = self.rows + labels.index(error.args[0]) + 1
            raise DataError(
                f"The label {error.args[0]!s} of row {row:,} is none of the model's classes "
                f"{', '.join(map(str, self.number))}. Leave such rows out, or train with them."
            ) from None

    def _auc(self) -> float | None:
        """Return the area under the ROC curve, of two classes that both occur."""
        from sklearn.metrics import roc_auc_score

        if not self.ranked:
            return None
        margins, positive, weights = (
            np.concatenate(part) for part in zip(*self.ranked, strict=True)
        )
        if positive[weights > 0].all() or not positive[weights > 0].any():
            return None
        return float(roc_auc_score(positive, margins, sample_weight=weights))


def evaluate(
    model: Any, source: Source, told: Told = keep_quiet
) -> tuple[Scores | NumberScores, Meeting]:
    """Return how well a model predicts a source, and whether the two have met."""
    judge = NumberJudge(model) if is_regressor(model) else Judge(model)
    meeting = Meeting(model)
    for chunk, margins in margins_of(model, source):
        refuse_infinite(margins, judge.rows)
        judge.see(chunk, margins)
        meeting.see(chunk)
        told(len(chunk))
    return judge.scores(), meeting
