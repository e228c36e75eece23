"""The part of a model that knows how many features it is to have, and why."""

from typing import Any

from thresher.estimators.decisions.size_choice import RULE, SizeChoice, as_asked_for, counted
from thresher.estimators.decisions.sizing import choose_quickly, usual_sizes
from thresher.learners.selection import wanted_features
from thresher.train import Sample
from thresher.workers import Workers


class Sized:
    """A model whose size is given, chosen (``decisions.sizing``) or a rule of thumb."""

    _choice: SizeChoice | None = None

    @property
    def size_choice_(self: Any) -> SizeChoice:
        """How many features were wanted, why, and what other sizes were worth."""
        model = self._model_fitted()
        vocabulary, chosen = model.vocabulary, self._chosen_size()
        # a size that was asked for since then is what learning has gone on with
        if self._choice is not None and (model.slim or model.learner.n_features == chosen):
            return self._choice
        given, n_problems = model.learner.n_features, len(model.problems)
        wanted = wanted_features(given, len(vocabulary), vocabulary.n_columns)
        if given is None:
            words = f"{counted(wanted, n_problems)}, by rule of thumb: {RULE}."
            return SizeChoice(wanted, words)
        left = max(int(paths.stable.sum()) for paths in self._states())
        return as_asked_for(given, wanted, left, n_problems)

    @property
    def n_features_selected_(self: Any) -> int:
        """How many features have a weight, for whichever class."""
        return int(self._get_support_mask().sum())

    def _wanted(self: Any) -> int | float | None:
        """Return how many features to keep; None is the rule of thumb."""
        given = self.n_features_to_select
        return self._chosen_size() if given == "auto" else given

    def _chosen_size(self) -> int | None:
        """Return the size that was chosen; None where no sizes were compared."""
        return None if self._choice is None or self._choice.path is None else self._choice.size

    def _has_size(self: Any) -> bool:
        """Return whether learning goes on with a size that was chosen when it was begun."""
        return len(self._model.vocabulary) > 0 and self._choice is not None

    def _choose(self: Any, learnt: Sample, run_all: Workers) -> SizeChoice:
        """Choose a size on rows as they are learnt."""
        return choose_quickly(self, learnt, run_all)

    def _sizes_to_try(self: Any, seen: int, columns: int) -> tuple[list[int], int | None]:
        """Return the sizes, and what runs shrink to if it is not the smallest."""
        return usual_sizes(seen)


def choice_tree(estimator: Any) -> dict[str, Any] | None:
    """Return the choice of an estimator that makes one, as a tree of plain values."""
    return estimator.size_choice_.tree() if isinstance(estimator, Sized) else None
