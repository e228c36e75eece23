"""Every classifier on the same data: settings chosen, model trained, model judged."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, train_test_split

from thresher import (
    FOBOSClassifier,
    FTRLClassifier,
    PlainSGDClassifier,
    RDAClassifier,
    StabilizedTruncatedSGDClassifier,
    ThresherClassifier,
    TruncatedGradientClassifier,
)
from thresher.demo.data import PROBE, Documents, Recipe, make_documents

VALIDATION_SHARE = 1 / 3  # of the training rows

# One knob each, the one that decides how many features stay, with as many values for everybody.
HALF_DECADES = np.array([1, 3, 10, 30, 100, 300, 1000])
CONTESTANTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (ThresherClassifier(), {"n_features_to_select": [12, 25, 50, 100, 200, 400, 800]}),
    (StabilizedTruncatedSGDClassifier(), {"purge_threshold": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]}),
    (FTRLClassifier(), {"l1": 0.1 * HALF_DECADES}),
    (RDAClassifier(), {"l1": 1e-5 * HALF_DECADES}),
    (FOBOSClassifier(), {"l1": 1e-5 * HALF_DECADES}),
    (TruncatedGradientClassifier(), {"gravity": 1e-6 * HALF_DECADES}),
    (PlainSGDClassifier(), {}),
)


@dataclass(frozen=True)
class Result:
    """How one classifier did."""

    name: str
    settings: dict[str, Any]  # those chosen on the validation rows
    test_error: float
    n_nonzero: int
    found: tuple[int, ...]  # planted features with nonzero weight, by band
    n_false: int
    seconds: float
    model: Any


@dataclass(frozen=True)
class Demo:
    """A demonstration: what was made, and what became of it."""

    recipe: Recipe
    documents: Documents

    def results(self) -> Iterator[Result]:
        """Yield the result of each classifier in turn, as soon as it is there."""
        for estimator, grid in CONTESTANTS:
            model = clone(estimator).set_params(random_state=self.recipe.seed)
            settings = choose_settings(model, grid, self.documents, self.recipe.seed)
            yield judge(model.set_params(**settings), settings, self.recipe, self.documents)


def make_demo(recipe: Recipe) -> Demo:
    """Make the data of a demonstration."""
    return Demo(recipe, make_documents(recipe))


def choose_settings(
    estimator: Any, grid: dict[str, Any], documents: Documents, seed: int
) -> dict[str, Any]:
    """Return the settings with the fewest errors on a part of the training rows set aside.

    Of settings that are as good, the one with fewer weights. The test rows are not looked at.
    """
    X_fit, X_held, y_fit, y_held = train_test_split(
        documents.X_train, documents.y_train, test_size=VALIDATION_SHARE, random_state=seed
    )
    settings = list(ParameterGrid(grid))
    models = [clone(estimator).set_params(**one).fit(X_fit, y_fit) for one in settings]
    ranks = [(-model.score(X_held, y_held), model.get_support().sum()) for model in models]
    return settings[ranks.index(min(ranks))]


def judge(estimator: Any, settings: dict[str, Any], recipe: Recipe, documents: Documents) -> Result:
    """Train on all training rows, and compare with the test rows and with what was planted."""
    start = perf_counter()
    estimator.fit(documents.X_train, documents.y_train)
    seconds = perf_counter() - start
    bands = documents.band_of[estimator.get_support()]
    return Result(
        name=type(estimator).__name__,
        settings=settings,
        test_error=1.0 - estimator.score(documents.X_test, documents.y_test),
        n_nonzero=bands.size,
        found=tuple(int(np.sum(bands == band)) for band in range(len(recipe.bands))),
        n_false=int(np.sum(bands == PROBE)),
        seconds=seconds,
        model=estimator,
    )


def named_selection(result: Result, documents: Documents) -> Any:
    """Return a model's selection table with the columns' names in it; None without pandas.

    Names come with data frames, so the model is trained once more on one: the same numbers and the
    same seed give the same model.
    """
    try:
        import pandas as pd
    except ImportError:
        return None
    frame = pd.DataFrame.sparse.from_spmatrix(documents.X_train, columns=documents.names)
    return clone(result.model).fit(frame, documents.y_train).selection_table()
