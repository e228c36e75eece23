"""A classifier whose features are weighed against each other where only few say anything."""

from typing import Any

import numpy as np

from thresher.learners.paths import Paths


def is_weighed(state: Any) -> bool:
    """Return whether a problem's features were weighed against each other."""
    return isinstance(state, Paths) and state.stage.few_speak


class WeighsFeatures:
    """The part of the flagship that says whether it has weighed features."""

    @property
    def features_weighed_(self: Any) -> bool | np.ndarray:
        """Whether features were weighed against each other; of many classes, for each.

        ``fit`` does so with the logistic loss and up to 300 features, if a few columns say nearly
        all there is to say of the labels, and the others nothing beyond chance.
        """
        self._model_fitted()
        weighed = [is_weighed(state) for state in self._states()]
        return weighed[0] if len(weighed) == 1 else np.array(weighed)
