"""The flagship: features by exact elimination, as many as held-out rows ask for."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.folds import ScoreOfMargins, Split, make_splits
from thresher.estimators.labels import check_weights, with_weight
from thresher.estimators.parameters import ALWAYS, CLASS_WEIGHT, SELECTION
from thresher.estimators.path_model import NOT_CLEAR, PathModel
from thresher.estimators.regressor import OnlineRegressor
from thresher.estimators.streaming import SourceTraining
from thresher.estimators.winnow_training import WinnowTraining
from thresher.formats.names import Names
from thresher.formats.protocol import Source
from thresher.losses import CLASS_LOSSES, HINGE, LOSSES, NUMBER_LOSSES
from thresher.online.thresh import Thresh
from thresher.prepare import Preparation, Statistics
from thresher.rows import Rows
from thresher.threads import Report, share_of, threads
from thresher.validation import OneOf, Parameter, Parameters
from thresher.winnow.path import Path, Plan, half_sample_counts, n_calls, winnow
from thresher.winnow.screen import Sample, n_screened

NORMAL_SPREAD = 1.4826  # of a normal distribution's standard deviation to its median deviation


class ThresherModel(PathModel):
    """What the flagship's classifier and regressor have in common."""

    fixed: ClassVar[tuple[str, ...]] = (
        "loss",
        "n_features_to_select",
        "normalize",
        "fit_intercept",
    )
    attributes = """
    Attributes
    ----------
    path_ : Path
        After ``fit``: a model of every size, from the one chosen down to a single feature, with
        held-out loss and error and their standard errors.
    selection_frequency_ : array of shape (n_features,)
        After ``fit``: the share of folds that select each feature.
    penalty_ : float
        After ``fit``: the penalty under which features were selected.
    n_features_selected_ : int
        Number of features with a weight.
    """
    # a stream passes once, in its own order
    tol, shuffle, warm_start = None, False, False

    n_features_to_select: int | float | str
    caution: float
    cv: Any
    scoring: Any
    normalize: bool | str
    max_columns: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select features and fit their weights from rows that are all at hand.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array of shape (n_rows,)
            Labels of two or more classes; for regressors finite numbers.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts, compared with the others: weights are divided by their mean.
            Rows of weight 0 are left out.
        groups : array of shape (n_rows,), optional
            Rows of one group are never both learned from and held out.
        """
        with self._exclusive():
            self.check_parameters()
            draft = self._draft(fresh=True)
            rows = draft._checked(X, reset=True)
            targets = draft._begin_targets(y, rows.n)
            weights = check_weights(sample_weight, rows.n)
            if groups is not None and np.shape(groups) != (rows.n,):
                raise ValueError(f"groups has shape {np.shape(groups)}, but X has {rows.n} rows.")
            draft.seed_ = int(check_random_state(self.random_state).randint(2**31))
            groups = None if groups is None else np.asarray(groups)
            draft.learn_at_hand(rows, targets, weights, groups)
            return self._become(draft)

    def selection_counts(
        self, X: Any, y: Any, n_resamples: int = 50, sample_weight: Any = None
    ) -> np.ndarray:
        """Return how many of ``n_resamples`` random halves of the rows select each feature.

        Every half selects as many features as this model has, under its penalty.
        """
        path = self._known_path()
        rows, preparation = self._checked(X), self.fitted_.preparation
        targets = self.known_targets(y, rows.n)
        importance = self.importance_of(targets, check_weights(sample_weight, rows.n))
        _, rows, targets, importance = with_weight(rows, targets, importance)
        sample = self.sample(preparation.apply(rows), targets, importance, preparation)
        with threads(self.n_jobs) as team:
            return half_sample_counts(
                sample,
                path.size,
                n_screened(path.size) if self.max_columns is None else self.max_columns,
                1.0 / path.penalty,
                n_resamples,
                self.seed_,
                team,
            )

    # ------------------------------------------------------------------------------ internals

    def learn_at_hand(
        self,
        rows: Rows,
        targets: np.ndarray,
        weights: np.ndarray,
        groups: np.ndarray | None = None,
        report: Report | None = None,
    ) -> None:
        """Learn from rows that are all at hand; ``report`` is called with the share done."""
        importance = self.importance_of(targets, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        live = rows.occurring(self.n_features_in_)  # the work follows these, not the width
        rows = rows.renumbered(self.n_features_in_, live)
        add_up = Statistics.of if self.max_columns is None else Statistics.exactly
        preparation = self.preparation_for(add_up(rows, live.size, importance), live)
        plan, splits = self.plan(targets, importance, None if groups is None else groups[kept])
        sample = self.sample(preparation.apply(rows), targets, importance, preparation, live.size)
        with self.team(report, len(splits), plan.largest(targets.size)) as team:
            path = winnow(sample, splits, plan, team)
        preparation = preparation._replace(measured=live[preparation.measured])
        self.take_path(path.of_columns(live), targets, importance, preparation)

    def team(self, report: Report | None, n_folds: int, largest: int) -> Any:
        """Open threads that report the share of their calls that have returned."""
        n = n_calls(n_folds, min(largest, self.n_features_in_), LOSSES[self.loss].code)
        return threads(self.n_jobs, share_of(report, n))

    def preparation_for(
        self, statistics: Statistics, numbers: np.ndarray | None = None
    ) -> Preparation:
        """Return how rows with such statistics are prepared; columns may have other numbers."""
        unit = None if self.normalize == "auto" else bool(self.normalize)
        return Preparation.from_statistics(statistics, unit, numbers)

    def plan(
        self, targets: np.ndarray, importance: np.ndarray, groups: np.ndarray | None = None
    ) -> tuple[Plan, list[Split]]:
        """Return what is wanted of the path, and the places of rows in folds."""
        labels = targets if hasattr(self, "classes_") else None
        wanted, most = self._wanted(), self.max_columns
        if wanted is not None and most is not None and wanted > most:
            raise ValueError(
                f"n_features_to_select={wanted:,} features cannot be selected from max_columns="
                f"{most:,} columns: raise max_columns."
            )
        splits = make_splits(self.cv, targets, labels, groups, self.seed_)
        _, centre, unit = self._winnow_targets(targets, importance)
        score = None
        if self.scoring is not None:
            score = ScoreOfMargins(self, self.scoring, targets, centre, unit)
        return Plan(wanted, float(self.caution), score, self.max_columns), splits

    def sample(
        self,
        rows: Rows,
        targets: np.ndarray,
        importance: np.ndarray,
        preparation: Preparation,
        n_columns: int | None = None,
    ) -> Sample:
        """Return prepared rows as they are winnowed; ``n_columns`` are all by default."""
        n_columns = self.n_features_in_ if n_columns is None else n_columns
        return Sample(
            rows,
            n_columns,
            self._winnow_targets(targets, importance)[0],
            importance,
            LOSSES[self.loss].code,
            self._n_outputs(),
            self.fit_intercept,
            preparation.in_length(n_columns),
        )

    def take_path(
        self,
        path: Path,
        targets: np.ndarray,
        importance: np.ndarray,
        preparation: Preparation,
        quiet: bool = False,
    ) -> None:
        """Become the model of a path whose weights are those of prepared rows."""
        _, centre, unit = self._winnow_targets(targets, importance)
        self._prepared = preparation._replace(kept_length=path.kept_length)
        self.path_ = path.in_units(centre, unit).of_raw_values(preparation)
        self.n_iter_ = 1
        self._count_rows(targets)
        self.fitted_ = self._at_path(self.path_, self._prepared)
        if not quiet:
            self.announce(stacklevel=5)

    def announce(self, stacklevel: int) -> None:
        """Print what was selected, or warn if nothing is clear, where the caller was called."""
        if self.verbose:
            print(self.why_selected())
        elif not self.path_.clear:
            warnings.warn(NOT_CLEAR, UserWarning, stacklevel=stacklevel)

    def _wanted(self) -> int | None:
        """Return how many features are wanted; None if held-out rows choose."""
        wanted = self.n_features_to_select
        if wanted == "auto":
            return None
        if isinstance(wanted, Integral):
            return int(wanted)
        if not self.n_features_in_:
            raise ValueError(
                f"n_features_to_select={wanted} is a share of the columns, and nobody knows how "
                "many a stream will have: give a number of features."
            )
        return max(1, round(float(wanted) * self.n_features_in_))

    def importance_of(self, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return how much each row counts: one row on average, as penalties are for such."""
        importance = super().importance_of(targets, weights)
        return importance * (np.count_nonzero(importance) / importance.sum())

    def _n_outputs(self) -> int:
        """Return how many margins a row has."""
        raise NotImplementedError

    def _winnow_targets(
        self, targets: np.ndarray, importance: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        """Return targets as they are winnowed, the centre taken from them, and their unit."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------- streams

    def start_training(
        self, source: Source, classes: Any = None, watched: bool = False
    ) -> SourceTraining:
        """Return what learns a source: as ``fit`` does, if it can be read again."""
        if source.rewinds:
            return WinnowTraining.begin(self, source, classes)
        return super().start_training(source, classes, watched)

    def begin_source(self, classes: Any) -> None:
        """Start without having learned anything; classes are known."""
        self.n_features_in_ = 0
        self._begin_classes(classes)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))

    def know_columns(self, names: Names | None, index_base: int | None, width: int) -> None:
        """Take over how many columns a source has, and what they are called."""
        self.n_features_in_ = width
        self._names, self.index_base_ = names, index_base

    def _learn_next(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        if "path_" not in vars(self):
            return super()._learn_next(X, y, sample_weight, classes)
        warnings.warn(BEGINS_ANEW, UserWarning, stacklevel=3)
        with self._exclusive():
            draft = self._draft(fresh=True)
            if classes is None:
                classes = getattr(self, "classes_", None)
            super(ThresherModel, draft)._learn_next(X, y, sample_weight, classes)
            return self._become(draft)

    def _learner(self) -> Thresh:
        n_classes = len(getattr(self, "classes_", ()))
        return Thresh.of(
            LOSSES[self.loss],
            self.fit_intercept,
            n_features=self._wanted(),
            n_outputs=n_classes if n_classes > 2 else 1,
        )

    def _preparation(self) -> Preparation:
        return Preparation.none(unit=self.normalize is not False)


BEGINS_ANEW = (
    "partial_fit begins a new model: it cannot go on from fit, which compares rows that are all at "
    "hand."
)


class ThresherClassifier(ThresherModel, OnlineClassifier):
    """Linear classifier with few features, which are stable from sample to sample.

    ``fit`` screens the columns by how certain their marginal effect is, fits penalized weights of
    the best to convergence, and lets the smallest leave until a single feature is left. Folds do
    the same without their rows; what they hold out chooses the penalties and, on request, the
    number of features. Several classes share one set of features.

    ``partial_fit`` learns one pass over a stream, in bounded memory.
    """

    parameters: ClassVar[Parameters] = (
        *SELECTION,
        Parameter(
            "loss",
            "log_loss",
            (OneOf(*(name for name in CLASS_LOSSES if LOSSES[name].code != HINGE)),),
            '"log_loss", "squared_hinge" or "modified_huber"',
            "What is minimized. Several classes need the log loss.",
        ),
        CLASS_WEIGHT,
        *ALWAYS,
    )
    _joint = True

    def _n_outputs(self) -> int:
        if self.classes_.size > 2 and self.loss != "log_loss":
            raise ValueError(f'loss={self.loss!r}: several classes need loss="log_loss".')
        return 1 if self.classes_.size == 2 else self.classes_.size

    def _winnow_targets(
        self, targets: np.ndarray, importance: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        return self._problem_targets(targets)[0], 0.0, 1.0


class ThresherRegressor(ThresherModel, OnlineRegressor):
    """Linear regressor with few features, which are stable from sample to sample.

    Features are selected as by ``ThresherClassifier``. Neither the units of the columns nor those
    of the targets matter.
    """

    parameters: ClassVar[Parameters] = (
        *SELECTION,
        Parameter(
            "loss",
            "squared_error",
            (OneOf(*NUMBER_LOSSES),),
            ", ".join(f'"{name}"' for name in NUMBER_LOSSES),
            "What is minimized. Huber's loss is linear beyond one spread of the targets. "
            '"quantile_90" predicts what nine of ten targets stay below.',
        ),
        *ALWAYS,
    )
    _error_name = "mean squared error"

    def _n_outputs(self) -> int:
        return 1

    def _winnow_targets(
        self, targets: np.ndarray, importance: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        robust, centre, unit = LOSSES[self.loss].robust, 0.0, 0.0
        if self.fit_intercept:
            mean = float(np.average(targets, weights=importance))
            centre = median(targets, importance) if robust else mean
        if robust:
            unit = NORMAL_SPREAD * median(np.abs(targets - centre), importance)
        if not unit > 0:  # or more than half of the targets are the same
            with np.errstate(over="ignore"):
                unit = float(np.sqrt(np.average((targets - centre) ** 2, weights=importance)))
        unit = unit if unit > 0 else 1.0
        if not np.isfinite(unit):
            raise ValueError("The targets are too large: divide y by a constant.")
        return (targets - centre) / unit, centre, unit


def median(numbers: np.ndarray, importance: np.ndarray) -> float:
    """Return the median of numbers, each as often as it counts."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(importance[order])
    places = [np.searchsorted(below, below[-1] / 2, side=side) for side in ("left", "right")]
    return float(numbers[order[places]].mean())
