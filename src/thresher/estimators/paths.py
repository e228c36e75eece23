"""What the estimators with several paths share."""

from abc import abstractmethod
from typing import Any

import numpy as np

from thresher.estimators.base import OnlineModel
from thresher.estimators.going_on import refuse_change
from thresher.learners.paths import Paths

# Steps of paths, relative as in thresher.estimators.rates: longer than a lone path's, since the
# average over paths and bursts takes their noise away.
# Those of numbers were cross-validated on generated documents (experiments/regression.py --rates).
PATH_RATES = {
    "log_loss": 3.0,
    "hinge": 1.0,
    "squared_hinge": 0.5,
    "modified_huber": 0.5,
    "squared_error": 0.5,
    "huber": 1.0,
}


class PathsModel(OnlineModel):
    """A model that purges features for good, and can say how sure it is of the others."""

    normalize: bool | str

    @property
    def rows_normalized_(self) -> bool:
        """Whether rows are scaled to unit length; what was decided if ``normalize`` is "auto"."""
        return self._model_fitted().vocabulary.normalize

    @property
    def selection_probabilities_(self) -> np.ndarray:
        """How surely each feature is selected; a row per class if there are more than two.

        Of ``ThresherClassifier`` the probability that a refit on a random half of the rows, at the
        same size, selects the feature. Of ``StabilizedTruncatedSGDClassifier`` how often it was
        selected at the ends of bursts, when it was last judged.
        """
        model = self._model_fitted()
        rows = [model.probabilities(problem) for problem in model.problems]
        return self._spread(rows, [float(kept) for kept in self._unseen_kept()])

    @property
    def stable_(self) -> np.ndarray:
        """Mask of the features never purged; a row per class if there are more than two."""
        return self._spread([paths.stable for paths in self._states()], self._unseen_kept())

    @property
    def history_(self) -> Any:
        """One record per stage: a list of dicts, or a list of those per class if there are many.

        ``rows_seen`` counts a row as often as it was learnt: in every pass, and on a stream, whose
        first rows are learnt up to ten times.
        """
        histories = [list(paths.history) for paths in self._states()]
        return histories[0] if len(histories) == 1 else histories

    def _refuse_changed(self) -> None:
        super()._refuse_changed()
        if not self._model.slim:  # of which nothing goes on
            refuse_change(self, "n_paths", self._states()[0].n_paths)
            if self.normalize != "auto":
                refuse_change(self, "normalize", self._model.vocabulary.normalize)

    def _scales_rows(self) -> bool:
        return bool(self.normalize)  # "auto" does, until rows say otherwise

    @abstractmethod
    def _unseen_kept(self) -> list[bool]:
        """Return, for every problem, whether columns that never occurred count as stable."""

    def _states(self) -> list[Paths]:
        return [problem.state for problem in self._model_fitted().problems]

    def _spread(self, by_slot: list[Any], unseen: list[Any]) -> np.ndarray:
        """Return what is known by slot as arrays over all columns; a row per problem if many."""
        spread = self._model_fitted().vocabulary.spread
        rows = [spread(one, fill) for one, fill in zip(by_slot, unseen, strict=True)]
        return rows[0] if len(rows) == 1 else np.array(rows)
