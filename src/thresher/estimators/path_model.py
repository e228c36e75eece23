"""A model that was chosen from a path of models, one of every size."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thresher.estimators.learning import OnlineModel
from thresher.fitted import Fitted
from thresher.prepare import Preparation
from thresher.winnow.path import Path

NOT_CLEAR = (
    "No number of features is clearly better than none: the best held-out loss is within two "
    "standard errors of that of a model without features."
)


class PathModel(OnlineModel):
    """What the flagship's models tell of the path that ``fit`` chose them from."""

    stored: ClassVar[dict[str, Any]] = {**OnlineModel.stored, "path_": Path}

    n_features_to_select: int | float | str
    caution: float
    path_: Path
    _error_name = "error"

    def at_size(self, size: int) -> Self:
        """Return a fitted model with at most so many features, at once: nothing is fitted anew.

        It has the largest size on the path that is not above ``size``.
        """
        path = self._known_path()
        if not size >= 1:
            raise ValueError(f"size={size}: it must be at least 1.")
        model = self._draft(fresh=False)
        model.__dict__.pop("_lock", None)
        model._prepared = self.fitted_.preparation
        model.n_features_to_select = int(path.sizes[path.place(size)])
        model.path_ = path._replace(size=model.n_features_to_select)
        model.fitted_ = model._at_path(model.path_, self.fitted_.preparation)
        return model

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
        criterion = "loss" if path.score is None else "score"
        given = "as many as asked for"
        if self.n_features_to_select == "auto":
            given = (
                f"the smallest number whose held-out {criterion} is at most "
                f"{min(self.caution, 1):g} standard errors worse than the best"
            )
        elif path.size != self._wanted():
            given = "all that vary"
        lines = [
            f"{path.size:,} of {self.n_features_in_:,} features were selected: {given}.",
            f"Held-out loss {path.loss[place]:.4g} (standard error {path.loss_se[place]:.2g}), "
            f"{self._error_name} {path.error[place]:.4g}; the best on the path has loss "
            f"{path.loss[best]:.4g} at size {path.sizes[best]:,}, no features "
            f"{path.null_loss:.4g}.",
            f"Features were selected under the penalty {path.penalty:g} (caution="
            f"{self.caution:g}).",
        ]
        if not path.clear:
            lines.append(NOT_CLEAR)
        return "\n".join(lines)

    def _at_path(self, path: Path, preparation: Preparation) -> Fitted:
        """Return the model of the path's size."""
        place = path.place(path.size)
        columns = path.columns[place]
        return Fitted(
            columns,
            path.weights[place],
            path.intercepts[place],
            self.n_features_in_,
            preparation,
            self.link(),
            getattr(self, "classes_", None),
            self._feature_names(columns, preparation),
        )

    def _known_path(self) -> Path:
        check_is_fitted(self)
        if "path_" not in vars(self):
            raise AttributeError(
                "There is no path: it comes from fit, which compares models on held-out rows; "
                "partial_fit has one model only."
            )
        return self.path_

    def _selection_facts(self) -> dict[str, np.ndarray]:
        if "path_" not in vars(self):
            return {}
        return {"frequency": self.selection_frequency_[self.fitted_.columns]}

    def training_tree(self) -> dict[str, Any]:
        """Return all that ``partial_fit`` needs to go on, as a tree of plain values."""
        if "path_" in vars(self):
            raise ValueError(
                "A model from fit has no state of training, as partial_fit cannot go on from it: "
                "save it with training_state=False."
            )
        return super().training_tree()

    def _wanted(self) -> int | None:
        """Return how many features are wanted; None if held-out rows choose."""
        raise NotImplementedError
