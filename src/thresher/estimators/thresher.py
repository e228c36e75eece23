"""The flagship as scikit-learn's estimators."""

from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.decisions.columns import Columns
from thresher.estimators.decisions.decision import Decisions
from thresher.estimators.decisions.levelling import Margins
from thresher.estimators.decisions.rarity import Rarity
from thresher.estimators.decisions.roots import Roots
from thresher.estimators.decisions.selecting_steps import SuitedSteps
from thresher.estimators.decisions.sizing import Size
from thresher.estimators.decisions.sparing import Sparing
from thresher.estimators.decisions.step_lengths import LongerSteps
from thresher.estimators.findings import Findings
from thresher.estimators.going_on import refuse_change
from thresher.estimators.parameters import CLASSIFYING, REGRESSING, Constraints
from thresher.estimators.regressor import OnlineRegressor
from thresher.estimators.thresher_model import ThresherModel
from thresher.learners.judge import OF_COLUMNS
from thresher.validation import Number, OneOf


@dataclass(kw_only=True, eq=False, repr=False)
class ThresherClassifier(Findings, ThresherModel, OnlineClassifier):
    """A linear classifier with few, stably selected features.

    Several SGD paths take random bursts of one stream of rows. After each stage of bursts the
    features with the most salient mean weights are kept and the others purged, until the wanted
    number is left. Up to 100 features are then exchanged for purged ones, where that raises the
    likelihood enough. The selected features are refitted, by penalized maximum likelihood where
    many rows support it or labels are noisy. If only few columns are informative, features are
    selected by a likelihood search instead (``features_weighed_``). Held-out rows calibrate margins
    if rows are few (``margin_lines_``), and decide whether rare columns of sparse counts are
    weighted more (``rare_columns_count_more_``), and whether steps are longer where classes are
    nearly separable (``step_scale_``).

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep for each class: a number, or a share of all columns. "auto" lets
        ``fit`` choose. On held-out rows of four folds it tries sizes from a single feature up to
        3 % of the columns that occur (at least 200; all columns, if there are at most 1,000), and
        takes the smallest that is not clearly worse than the best: by no more than two standard
        errors of the difference between their log losses, as long as that is 1 to 10 % of what the
        best explains. ``size_choice_`` says what was chosen and why. ``fit_stream`` does the same
        with the first rows of what it reads. ``partial_fit`` keeps one per cent of the columns that
        occur, and at least 100.
    value_power : float or "auto", default="auto"
        The power, above 0 and up to 1, that values are raised to before anything else is done to
        them, in training and prediction; signs are kept. "auto" is 1, unless a few counts dominate
        each row's norm, as counts of words in long documents do: then 0.5, square roots, unless
        the loss on held-out rows is against it. ``value_power_`` says which. ``partial_fit`` cannot
        know, and takes values as they are.

    Examples
    --------
    >>> from thresher import ThresherClassifier
    >>> from thresher.demo.data import QUICK, Recipe, make_documents
    >>> documents = make_documents(Recipe(**QUICK))
    >>> model = ThresherClassifier(random_state=0)
    >>> _ = model.fit(documents.X_train, documents.y_train)
    >>> model.n_features_selected_ == model.size_choice_.size < 48
    True
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        **ThresherModel.constraints,
        "value_power": (OneOf("auto"), Number(0, 1, open_low=True)),
    }
    decisions: ClassVar[Decisions] = (
        Roots(),
        Columns(),
        Rarity(),
        SuitedSteps(),
        Size(),
        LongerSteps(),
        Margins(),
    )

    value_power: float | str = "auto"

    def _power_at_first(self) -> float:
        return 1.0 if self.value_power == "auto" else float(self.value_power)

    def _refuse_changed(self) -> None:
        super()._refuse_changed()
        if self.value_power != "auto":
            refuse_change(self, "value_power", self._power)


@dataclass(kw_only=True, eq=False, repr=False)
class ThresherRegressor(ThresherModel, OnlineRegressor):
    """A linear regressor with few, stably selected features.

    It selects as ``ThresherClassifier`` does, by the squared or the Huber loss. ``fit`` ends with
    the penalized least-loss weights of the selected features, with a penalty that follows the noise
    of the targets (unless ``refit`` is 0); where rows are few for the features, held-out rows
    decide whether weights cost their size, as the lasso's do. Targets are learned relative to their
    mean and spread (median and median absolute deviation for the Huber loss), so that their units
    do not matter:
    ``a * y + b`` with a > 0 gives the same features, and weights times a.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many features to keep: a number, or a share of all columns. "auto" lets ``fit`` choose,
        as ThresherClassifier does, by the loss of the regression on held-out rows of four folds;
        ``size_choice_`` says what was chosen and why. ``fit_stream`` does the same with the first
        rows of what it reads. ``partial_fit`` keeps 1 % of the columns that occur, at least 100.
    normalize : bool or "auto", default=False
        Whether rows are scaled to unit length, in training and prediction. Predictions are then no
        longer linear in X: wanted where a document's length should not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher import ThresherRegressor
    >>> X = np.random.default_rng(0).poisson(0.1, size=(1000, 200)).astype(float)
    >>> y = 20 + 3 * X[:, 5] - 2 * X[:, 17]
    >>> model = ThresherRegressor(n_features_to_select=2, random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [5, 17]
    >>> model.coef_[[5, 17]].round(2).tolist(), round(model.intercept_, 2)
    ([3.0, -2.0], 20.0)
    """

    constraints: ClassVar[Constraints] = {**REGRESSING, **ThresherModel.constraints}
    decisions: ClassVar[Decisions] = (Columns(), Size(), Sparing())
    salience: ClassVar[tuple[float, float]] = OF_COLUMNS  # squared errors curve alike everywhere

    normalize: bool = False
