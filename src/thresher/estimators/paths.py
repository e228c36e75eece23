"""What the two classifiers with several paths share."""

from typing import Any

import numpy as np

from thresher.estimators.base import OnlineClassifier
from thresher.learners.paths import Paths
from thresher.validation import FLAG, OneOf, Whole

PATH_CONSTRAINTS = {
    "n_paths": (Whole(1),),
    "paths": (OneOf("permutation", "shared"),),
    "normalize": FLAG,
}


class PathsClassifier(OnlineClassifier):
    """A classifier that purges features for good, and can say how sure it is of the others."""

    @property
    def selection_probabilities_(self) -> np.ndarray:
        """How often each feature was selected, when it was last judged; a row per class if many."""
        return self._by_column("probability", self._unseen_probability())

    @property
    def stable_(self) -> np.ndarray:
        """Mask of the features never purged; a row per class if there are more than two."""
        return ~self._by_column("purged", not self._unseen_probability())

    @property
    def history_(self) -> Any:
        """One record per stage: a list of dicts, or a list of those per class if there are many."""
        histories = [[dict(record) for record in paths.history] for paths in self._states()]
        return histories[0] if len(histories) == 1 else histories

    def _unseen_probability(self) -> float:
        """Return the selection probability of a column that has never occurred."""
        raise NotImplementedError

    def _states(self) -> list[Paths]:
        return [problem.state for problem in self._model_fitted().problems]

    def _by_column(self, name: str, unseen: float) -> np.ndarray:
        spread = self._model_fitted().vocabulary.spread
        rows = np.array([spread(paths.feature(name), unseen) for paths in self._states()])
        return rows[0] if len(rows) == 1 else rows
