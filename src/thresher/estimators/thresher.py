"""The flagship: features by exact elimination, as many as held-out rows ask for."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils import check_random_state

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.folds import ScoreOfMargins, Split, make_splits
from thresher.estimators.labels import check_weights, with_weight
from thresher.estimators.parameters import (
    CLASS_WEIGHT,
    FIT_INTERCEPT,
    N_JOBS,
    RANDOM_STATE,
    VERBOSE,
)
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
from thresher.validation import FLAG, Callable, Number, OneOf, Parameter, Parameters, Whole
from thresher.winnow.frequency import half_sample_counts
from thresher.winnow.path import Path, Plan, n_calls, winnow
from thresher.winnow.sample import Sample
from thresher.winnow.screen import n_screened

NORMAL_SPREAD = 1.4826  # of a normal distribution's standard deviation to its median deviation

OWN: Parameters = (
    Parameter(
        "n_features_to_select",
        "auto",
        (OneOf("auto"), Whole(1), Number(0, 1, open_low=True, open_high=True)),
        'int, float or "auto"',
        'How many features to select: a number, or a share of all columns. "auto" is the smallest '
        "number whose held-out loss is within ``caution`` standard errors of the best, or within "
        "one if that is less; ``partial_fit`` then selects one per cent of the columns that occur, "
        "and at least 100.",
    ),
    Parameter(
        "caution",
        0.25,
        (Number(0),),
        "float",
        "Features are selected with the strongest penalty whose held-out loss is at most this many "
        "standard errors worse than the best. 0 gives the most accurate model; with 10, "
        "selections from different rows usually agree most. 1 is the usual rule for a smaller "
        'model with "auto".',
    ),
    Parameter(
        "cv",
        3,
        (Whole(2), Callable("a scikit-learn splitter", "split")),
        "int or splitter",
        "Folds that are held out, or what splits the rows. Folds have at most 3,000 rows.",
    ),
    Parameter(
        "scoring",
        None,
        (OneOf(None, *get_scorer_names()), Callable("a scikit-learn scorer")),
        "str, callable or None",
        "What chooses the penalties and the number of features instead of the held-out loss.",
    ),
    Parameter(
        "normalize",
        "auto",
        (OneOf("auto"), *FLAG),
        'bool or "auto"',
        "Whether rows are scaled to unit length, so that long documents count no more than short "
        'ones. "auto" scales them unless the columns are measurements: dense, or in odd units.',
    ),
)
MAX_COLUMNS = Parameter(
    "max_columns",
    None,
    (Whole(1), OneOf(None)),
    "int or None",
    "How many columns are winnowed, those with the most certain marginal effects; None: 5 times "
    "the largest number of features that is looked at, and at least 1,000. With a number, ``fit`` "
    "sums exactly, and ``thresher.dask`` gives the same model to the last bit.",
)
SHARED: Parameters = (FIT_INTERCEPT, RANDOM_STATE, N_JOBS, VERBOSE)


class ThresherModel(PathModel):
    """What the flagship's classifier and regressor have in common."""

    fixed: ClassVar[tuple[str, ...]] = (
        "loss",
        "n_features_to_select",
        "normalize",
        "fit_intercept",
    )
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
            self._check_parameters()
            draft = self._draft(fresh=True)
            rows = draft._checked(X, reset=True)
            targets = draft._begin_targets(y, rows.n)
            weights = check_weights(sample_weight, rows.n)
            if groups is not None and np.shape(groups) != (rows.n,):
                raise ValueError(f"groups has shape {np.shape(groups)}, but X has {rows.n} rows.")
            draft._seed = int(check_random_state(self.random_state).randint(2**31))
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
        importance = self._importance(targets, check_weights(sample_weight, rows.n))
        _, rows, targets, importance = with_weight(rows, targets, importance)
        sample = self.sample(preparation.apply(rows), targets, importance, preparation)
        with threads(self.n_jobs) as team:
            return half_sample_counts(
                sample,
                path.size,
                n_screened(path.size) if self.max_columns is None else self.max_columns,
                1.0 / path.penalty,
                n_resamples,
                self._seed,
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
        importance = self._importance(targets, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        live = rows.occurring(self.n_features_in_)  # the work follows these, not the width
        rows = rows.renumbered(self.n_features_in_, live)
        add_up = Statistics.of if self.max_columns is None else Statistics.exactly
        preparation = self.preparation_for(add_up(rows, live.size, importance))
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

    def preparation_for(self, statistics: Statistics) -> Preparation:
        """Return how rows with such statistics are prepared."""
        unit = None if self.normalize == "auto" else bool(self.normalize)
        return Preparation.from_statistics(statistics, unit)

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
        splits = make_splits(self.cv, targets, labels, groups, self._seed)
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

    def _importance(self, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return how much each row counts: one row on average, as penalties are for such."""
        importance = super()._importance(targets, weights)
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
        self._seed = int(check_random_state(self.random_state).randint(2**31))

    def importance_of(self, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return how much each row counts, of all rows there are."""
        return self._importance(targets, weights)

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

    parameters: ClassVar[Parameters] = (
        *OWN,
        Parameter(
            "loss",
            "log_loss",
            (OneOf(*(name for name in CLASS_LOSSES if LOSSES[name].code != HINGE)),),
            '"log_loss", "squared_hinge" or "modified_huber"',
            "What is minimized. Several classes need the log loss.",
        ),
        CLASS_WEIGHT,
        MAX_COLUMNS,
        *SHARED,
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

    parameters: ClassVar[Parameters] = (
        *OWN,
        Parameter(
            "loss",
            "squared_error",
            (OneOf(*NUMBER_LOSSES),),
            ", ".join(f'"{name}"' for name in NUMBER_LOSSES),
            "What is minimized. Huber's loss is linear beyond one spread of the targets. "
            '"quantile_90" predicts what nine of ten targets stay below.',
        ),
        MAX_COLUMNS,
        *SHARED,
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
