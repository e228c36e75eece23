"""The flagship: features by exact elimination, as many as held-out rows ask for."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils import check_random_state

from thresher.estimators.folds import ScoreOfMargins, make_splits
from thresher.estimators.inputs import check_rows
from thresher.estimators.labels import check_weights, with_weight
from thresher.estimators.learning import OnlineModel
from thresher.estimators.online import OnlineClassifier
from thresher.estimators.parameters import CLASS_WEIGHT, FIT_INTERCEPT, N_JOBS, RANDOM_STATE, VERBOSE
from thresher.estimators.regressor import OnlineRegressor
from thresher.estimators.scores import rows_of, targets_of
from thresher.fitted import Fitted
from thresher.formats.chunk import Chunk
from thresher.formats.labels import checked_classes
from thresher.formats.protocol import Source
from thresher.losses import CLASS_LOSSES, HINGE, HUBER, LOSSES, NUMBER_LOSSES
from thresher.online.parameter import Parameter, Parameters
from thresher.online.thresh import Thresh
from thresher.prepare import Preparation, Statistics
from thresher.rows import Rows
from thresher.threads import threads
from thresher.validation import FLAG, Callable, Number, OneOf, Whole
from thresher.winnow.frequency import half_sample_counts
from thresher.winnow.path import Path, Plan, winnow
from thresher.winnow.sample import Sample

NORMAL_SPREAD = 1.4826  # of a normal distribution's standard deviation to its median deviation

OWN: Parameters = (
    Parameter(
        "n_features_to_select",
        "auto",
        (OneOf("auto"), Whole(1), Number(0, 1, open_low=True, open_high=True)),
        'int, float or "auto"',
        'How many features to select: a number, or a share of all columns. "auto" is the smallest '
        "number whose held-out loss is within one standard error of the best; ``partial_fit`` then "
        "selects one per cent of the columns that occur, and at least 100.",
    ),
    Parameter(
        "caution",
        1.0,
        (Number(0),),
        "float",
        "Features are selected with the strongest penalty whose held-out loss is at most this many "
        "standard errors worse than the best. 0 gives the most accurate model, 10 the selection "
        "that changes least from one sample of rows to the next.",
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
SHARED: Parameters = (FIT_INTERCEPT, RANDOM_STATE, N_JOBS, VERBOSE)

ATTRIBUTES = """
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


class ThresherModel(OnlineModel):
    """What the flagship's classifier and regressor have in common."""

    fixed: ClassVar[tuple[str, ...]] = ("loss", "n_features_to_select", "normalize", "fit_intercept")
    stored: ClassVar[dict[str, Any]] = {**OnlineModel.stored, "path_": Path}
    at_hand: ClassVar[bool] = True

    # a stream passes once, in its own order
    max_iter, tol, shuffle, warm_start = 1, None, False, False

    n_features_to_select: int | float | str
    caution: float
    cv: Any
    scoring: Any
    normalize: bool | str
    path_: Path

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select features and fit their weights from rows that are all at hand.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array of shape (n_rows,)
            Labels of two or more classes; for regressors finite numbers.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts; rows of weight 0 are left out.
        groups : array of shape (n_rows,), optional
            Rows of one group are never both learned from and held out.
        """
        with self._exclusive():
            self._check_parameters()
            draft = self._draft(fresh=True)
            rows = check_rows(draft, X, reset=True)
            targets = draft._begin_targets(y, rows.n)
            weights = check_weights(sample_weight, rows.n)
            draft._winnow(rows, targets, weights, None if groups is None else np.asarray(groups))
            return self._become(draft)

    def fit_chunk(self, chunk: Chunk, source: Source, classes: Any = None) -> Self:
        """Learn all rows of a source, which are at hand, as ``fit`` does."""
        with self._exclusive():
            self._check_parameters()
            draft = self._draft(fresh=True)
            draft.n_features_in_, draft.reading_ = chunk.width, getattr(self, "reading_", {})
            if classes is None and hasattr(self, "class_weight") and chunk.labels is not None:
                classes = checked_classes(np.unique(chunk.labels))
            draft._begin_classes(classes)
            targets, weights = targets_of(draft, chunk, 1)
            draft._names, draft.index_base_ = source.names, source.index_base
            draft._winnow(rows_of(chunk), targets, weights, None)
            draft.end_stream(source)
            return self._become(draft)

    def at_size(self, size: int) -> Self:
        """Return a fitted model with at most so many features, at once: nothing is fitted anew.

        It has the largest size on the path that is not above ``size``.
        """
        path = self._known_path()
        if not 1 <= size:
            raise ValueError(f"size={size}: it must be at least 1.")
        model = self._draft(fresh=False)
        model.n_features_to_select = int(path.sizes[path.place(size)])
        model.path_ = path._replace(size=model.n_features_to_select)
        model._fitted = model._at_path(model.path_)
        return model

    def selection_counts(
        self, X: Any, y: Any, n_resamples: int = 50, sample_weight: Any = None
    ) -> np.ndarray:
        """Return how many of ``n_resamples`` random halves of the rows select each feature.

        Every half selects as many features as this model has, under its penalty.
        """
        path = self._known_path()
        rows, weights = check_rows(self, X), None
        targets = self.known_targets(y, rows.n)
        weights = check_weights(sample_weight, rows.n)
        sample, *_ = self._sample(rows, targets, weights, self._fitted.preparation)
        with threads(self.n_jobs) as team:
            return half_sample_counts(
                sample, path.size, 1.0 / path.penalty, n_resamples, self._seed, team
            )

    @property
    def selection_frequency_(self) -> np.ndarray:
        """The share of folds that select each feature."""
        path = self._known_path()
        frequency, place = np.zeros(self.n_features_in_), path.place(path.size)
        frequency[path.fold_columns[place]] = path.fold_shares[place]
        return frequency

    @property
    def penalty_(self) -> float:
        """The penalty under which features were selected."""
        return self._known_path().penalty

    def why_selected(self) -> str:
        """Return in plain English how many features were selected, how, and how sure that is."""
        path = self._known_path()
        place, best = path.place(path.size), int(path.loss.argmin())
        given = "as asked for"
        if self.n_features_to_select == "auto":
            given = "the smallest number whose held-out loss is within one standard error of the best"
        lines = [
            f"{path.size:,} of {self.n_features_in_:,} features were selected: {given}.",
            f"Held-out loss {path.loss[place]:.4g} (standard error {path.loss_se[place]:.2g}), "
            f"{self._error_name} {path.error[place]:.4g}; the best on the path has "
            f"{path.sizes[best]:,} features and loss {path.loss[best]:.4g}; no features: "
            f"{path.null_loss:.4g}.",
            f"Features were selected under the penalty {path.penalty:g} (caution="
            f"{self.caution:g}).",
        ]
        if not path.clear:
            lines.append(NOT_CLEAR)
        return "\n".join(lines)

    # ------------------------------------------------------------------------------ internals

    _error_name = "error"

    def _winnow(
        self, rows: Rows, targets: np.ndarray, weights: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Learn from rows at hand."""
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        importance = self._importance(targets, weights)
        kept, rows, targets, importance = with_weight(rows, targets, importance)
        statistics = Statistics.of(rows, self.n_features_in_, importance)
        unit = None if self.normalize == "auto" else bool(self.normalize)
        preparation = Preparation.from_statistics(statistics, unit)
        sample, centre, scale = self._sample(rows, targets, importance, preparation, prepare=False)
        labels = targets if hasattr(self, "classes_") else None
        splits = make_splits(
            self.cv, targets, labels, None if groups is None else groups[kept], self._seed
        )
        plan = Plan(self._wanted(), float(self.caution), self._score(targets, centre, scale))
        with threads(self.n_jobs) as team:
            path = winnow(sample, splits, plan, team)
        self._take_path(path.in_units(centre, scale), preparation)

    def _take_path(self, path: Path, preparation: Preparation) -> None:
        """Become the model of a path whose weights are those of prepared rows."""
        self._prepared = preparation._replace(kept_length=path.kept_length)
        self.path_ = path.of_raw_values(preparation)
        self.n_iter_ = 1
        self._fitted = self._at_path(self.path_)
        if self.verbose:
            print(self.why_selected())
        elif not path.clear:
            warnings.warn(NOT_CLEAR, UserWarning, stacklevel=4)

    def _sample(
        self,
        rows: Rows,
        targets: np.ndarray,
        importance: np.ndarray,
        preparation: Preparation,
        prepare: bool = True,
    ) -> tuple[Sample, float, float]:
        """Return the rows as they are winnowed, and the centre and the unit of their targets."""
        goals, centre, scale = self._winnow_targets(targets, importance)
        sample = Sample(
            preparation.apply(rows),
            self.n_features_in_,
            goals,
            importance,
            LOSSES[self.loss].code,
            self._n_outputs(),
            self.fit_intercept,
            preparation.in_length(self.n_features_in_),
        )
        return sample, centre, scale

    def _at_path(self, path: Path) -> Fitted:
        """Return the model of the path's size."""
        place = path.place(path.size)
        columns = path.columns[place]
        return Fitted(
            columns,
            path.weights[place],
            path.intercepts[place],
            self.n_features_in_,
            self._prepared,
            self._link(),
            getattr(self, "classes_", None),
            self._feature_names(columns),
        )

    def _known_path(self) -> Path:
        self._fitted  # noqa: B018  (raises where nothing is fitted)
        if "path_" not in vars(self):
            raise AttributeError(
                "There is no path: it comes from fit, which compares models on held-out rows; "
                "partial_fit has one model only."
            )
        return self.path_

    def _wanted(self) -> int | None:
        """Return how many features are wanted; None if held-out rows choose."""
        wanted = self.n_features_to_select
        if wanted == "auto":
            return None
        if isinstance(wanted, float):
            return max(1, round(wanted * self.n_features_in_))
        return int(wanted)

    def _score(self, targets: np.ndarray, centre: float, scale: float) -> ScoreOfMargins | None:
        """Return what scores held-out margins, if it is not the loss."""
        if self.scoring is None:
            return None
        return ScoreOfMargins(self, self.scoring, targets, centre, scale)

    def _selection_facts(self) -> dict[str, np.ndarray]:
        if "path_" not in vars(self):
            return {}
        return {"frequency": self.selection_frequency_[self._fitted.columns]}

    def _n_outputs(self) -> int:
        """Return how many margins a row has."""
        raise NotImplementedError

    def _winnow_targets(
        self, targets: np.ndarray, importance: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        """Return targets as they are winnowed, the centre taken from them, and their unit."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------- streams

    def _learn_next(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        if "path_" in vars(self):
            raise ValueError(
                "partial_fit cannot go on from fit, which compares rows that are all at hand. Begin "
                "with a new model (sklearn.base.clone), or fit all rows together."
            )
        return super()._learn_next(X, y, sample_weight, classes)

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


NOT_CLEAR = (
    "No number of features is clearly better than none: the best held-out loss is within two "
    "standard errors of that of a model without features."
)


class ThresherClassifier(ThresherModel, OnlineClassifier):
    __doc__ = f"""Linear classifier with few features, which are stable from sample to sample.

    ``fit`` screens the columns by how certain their marginal effect is, fits penalized weights of
    the best to convergence, and lets the smallest leave until a single feature is left. Folds do
    the same without their rows; what they hold out chooses the penalties and, on request, the
    number of features. Several classes share one set of features.

    ``partial_fit`` learns one pass over a stream, in bounded memory.
    {ATTRIBUTES}"""

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
    __doc__ = f"""Linear regressor with few features, which are stable from sample to sample.

    Features are selected as by ``ThresherClassifier``. Neither the units of the columns nor those
    of the targets matter.
    {ATTRIBUTES}"""

    parameters: ClassVar[Parameters] = (
        *OWN,
        Parameter(
            "loss",
            "squared_error",
            (OneOf(*NUMBER_LOSSES),),
            " or ".join(f'"{name}"' for name in NUMBER_LOSSES),
            "What is minimized. Huber's loss is linear beyond one spread of the targets.",
        ),
        *SHARED,
    )
    _error_name = "mean squared error"

    def _n_outputs(self) -> int:
        return 1

    def _winnow_targets(
        self, targets: np.ndarray, importance: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        if LOSSES[self.loss].code == HUBER:
            centre = float(np.median(targets))
            unit = NORMAL_SPREAD * float(np.median(np.abs(targets - centre)))
        else:
            centre = float(np.average(targets, weights=importance))
            unit = float(np.sqrt(np.average((targets - centre) ** 2, weights=importance)))
        if not self.fit_intercept:
            centre = 0.0
        unit = unit if unit > 0 else 1.0
        return (targets - centre) / unit, centre, unit
