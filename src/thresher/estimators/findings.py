"""What a classifier found out about its rows, and so decided, as its users see it."""

from typing import Any

import numpy as np

from thresher.learners.paths import Paths
from thresher.train.platt import Line


class Findings:
    """The part of the flagship that shows its decisions: see ``decisions``."""

    _lines: list[Line] | None = None

    @property
    def value_power_(self: Any) -> float:
        """The power that values are raised to before anything else is done to them.

        What ``value_power`` says; if that is "auto", what was decided. ``coef_``,
        ``column_scales_`` and ``column_offsets_`` are for values that are raised.
        """
        self._model_fitted()
        return self._power

    @property
    def rare_columns_count_more_(self: Any) -> bool:
        """Whether columns are multiplied by log(1 + rows / rows that have them): idf.

        It is part of ``column_scales_``. ``fit`` does so with fewer than 2,000 rows of amounts, if
        held-out rows are told better.
        """
        self._model_fitted()
        return self._rarity

    @property
    def step_scale_(self: Any) -> float:
        """How many times as long as usual the steps of ``fit`` were.

        4 where nearly all of the loss was explained, and longer steps lowered the held-out loss by
        far; otherwise 1.
        """
        self._model_fitted()
        return self._step_scale

    @property
    def margin_lines_(self: Any) -> np.ndarray:
        """What held-out rows made of margins: a scale and a shift, for every class if many.

        They are part of weights and intercepts already: 1 and 0 where nothing was changed.
        """
        self._model_fitted()
        lines = self._lines or [Line()] * self._n_problems
        return np.array(lines[0] if len(lines) == 1 else lines)

    @property
    def features_weighed_(self: Any) -> bool | np.ndarray:
        """Whether features were weighed against each other; of many classes, for each.

        ``fit`` does so with the logistic loss and up to 300 features, if a few columns say nearly
        all there is to say of the labels, and the others nothing beyond chance.
        """
        self._model_fitted()
        weighed = [is_weighed(state) for state in self._states()]
        return weighed[0] if len(weighed) == 1 else np.array(weighed)


def is_weighed(state: Any) -> bool:
    """Return whether a problem's features were weighed against each other."""
    return isinstance(state, Paths) and state.stage.few_speak
