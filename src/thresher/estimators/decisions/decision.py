"""A decision, and the moments at which it may be taken."""

from typing import Any

from scipy import sparse

from thresher.estimators.gathering import Labelled
from thresher.estimators.lessons import sample_of
from thresher.train import Sample
from thresher.workers import Workers, workers


class Decision:
    """Something that an estimator decides from rows; at every moment nothing, unless it says so."""

    def settle(
        self, estimator: Any, rows: sparse.csr_array, told: Sample | None, run_all: Workers
    ) -> None:
        """Decide how values and columns are learnt, from rows as they came.

        ``told`` are those whose labels say something; None if nobody knows what they say.
        """

    def prepare(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Decide what only rows that are all at hand can tell, before they are learnt."""

    def prepare_source(self, estimator: Any, some: Labelled | None) -> None:
        """Decide the same from a source's first rows; None if nobody has seen them."""

    def revises(self, estimator: Any, learnt: Sample, run_all: Workers) -> bool:
        """Return whether rows that have just been learnt show that they had better be learnt anew.

        How, has then been decided.
        """
        return False

    def complete(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Set right what rows that are all at hand, once learnt, can tell of the model."""


Decisions = tuple[Decision, ...]


def without(decisions: Decisions, *kinds: type[Decision]) -> Decisions:
    """Return the decisions that are none of some kinds."""
    return tuple(one for one in decisions if not isinstance(one, kinds))


def settle(estimator: Any, rows: sparse.csr_array, told: Sample | None, run_all: Workers) -> None:
    """Let an estimator decide how values and columns are learnt, from rows as they came."""
    for decision in estimator.decisions:
        decision.settle(estimator, rows, told, run_all)


def settle_first(estimator: Any, some: Labelled) -> None:
    """Let it decide the same from a source's first rows, as far as they can tell."""
    with workers(estimator.n_jobs) as run_all:
        settle(estimator, some.rows, sample_of(estimator, some), run_all)
