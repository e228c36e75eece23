"""What a model's labels mean, for classifiers and regressors to say."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.data.sources.protocol import Source
from thresher.estimators.lessons import Lessons, NextLessons
from thresher.estimators.progressive import Progressive
from thresher.learners.protocol import Learner

MakeLearner = Callable[[], Learner]


class MeansLabels(metaclass=ABCMeta):
    """The part of a model that knows its labels."""

    @abstractmethod
    def _check_labels(self, y: Any, n_rows: int) -> np.ndarray:
        """Return labels of a kind that can be learnt, one for every row."""

    @abstractmethod
    def _begin_with(self, labels: np.ndarray | None, make_learner: MakeLearner) -> None:
        """Start with an empty model for labels that are all at hand, or told beforehand."""

    @abstractmethod
    def _refuse_strange(self, labels: np.ndarray) -> None:
        """Raise a ValueError if labels do not go with those learnt before."""

    @abstractmethod
    def _begin_source(self, source: Source, told: Any, make_learner: MakeLearner) -> Source:
        """Start with an empty model for a source; return it with what was looked at still in it."""

    @abstractmethod
    def _chunk_labels(self, labels: np.ndarray, first: int) -> np.ndarray:
        """Return the labels of rows read from a source, the first of them row number ``first``."""

    @abstractmethod
    def _lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons:
        """Return every problem's targets and the rows' importance, from rows all at hand."""

    @abstractmethod
    def _sample_lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons | None:
        """Return the same of a source's first rows, or None if nothing can be told from them."""

    @abstractmethod
    def _next_lessons(self, labels: np.ndarray, weights: np.ndarray) -> NextLessons:
        """Return the same of a stream's next rows, which are added to what is known of labels."""

    @abstractmethod
    def _label_facts(self, training_state: bool) -> dict[str, Any]:
        """Return what was learnt of labels, for a file from which learning may go on or not."""

    @abstractmethod
    def _set_label_facts(self, tree: dict[str, Any]) -> None:
        """Take what a file says of labels, or refuse it."""

    @abstractmethod
    def _progressive(self) -> Progressive:
        """Return what measures how well rows are predicted before they are learnt."""

    @abstractmethod
    def _summary(self) -> dict[str, Any]:
        """Return what else there is to say of a training when it has ended."""
