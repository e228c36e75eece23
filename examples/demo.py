"""Train every classifier on generated documents, and show which of the planted words it selects.

Run ``python examples/demo.py``, or ``make demo``. Each method has one setting that decides how many
features it keeps. It is chosen out of seven values, on a third of the training rows; the test rows
are used once, for the error in the table.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import thresher
from thresher.demo import NOISE, QUICK, Documents, Recipe, make_documents

SIZES = (12, 25, 50, 100, 200, 400, 800)
HALF_DECADES = (1, 3, 10, 30, 100, 300, 1000)
N_SHOWN = 15  # features of the flagship
WIDTH = len("StabilizedTruncatedSGD")


class Method(NamedTuple):
    """A classifier, and the values of the one setting that is chosen for it."""

    name: str
    estimator: Any
    setting: str = ""
    values: Sequence[float] = ()


class Result(NamedTuple):
    """What one method selected, and how well it predicts."""

    method: Method
    model: Any
    chosen: Any
    error: float
    columns: np.ndarray
    seconds: float


def scaled(factor: float) -> list[float]:
    """Return half decades times a factor."""
    return [factor * one for one in HALF_DECADES]


def methods() -> list[Method]:
    """Return all classifiers of the package, and two of scikit-learn's to compare."""
    best = make_pipeline(SelectKBest(chi2), LogisticRegression(C=10))
    l1 = LogisticRegression(l1_ratio=1.0, solver="liblinear")
    return [
        Method("Thresher", thresher.ThresherClassifier(), "n_features_to_select", SIZES),
        Method("Thresher, by itself", thresher.ThresherClassifier()),
        Method(
            "StabilizedTruncatedSGD",
            thresher.StabilizedTruncatedSGDClassifier(),
            "purge_threshold",
            (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        ),
        Method("FTRL", thresher.FTRLClassifier(), "l1", scaled(0.1)),
        Method("RDA", thresher.RDAClassifier(), "l1", scaled(1e-5)),
        Method("FOBOS", thresher.FOBOSClassifier(), "l1", scaled(1e-5)),
        Method(
            "TruncatedGradient", thresher.TruncatedGradientClassifier(), "gravity",
            scaled(1e-6),
        ),
        Method("PlainSGD", thresher.PlainSGDClassifier()),
        Method("scikit-learn, L1", l1, "C", scaled(0.1)),
        Method("scikit-learn, chi2", best, "selectkbest__k", SIZES),
    ]  # fmt: skip


def support(model: Any) -> np.ndarray:
    """Return the columns that a model uses."""
    if hasattr(model, "named_steps"):
        return model[0].get_support(indices=True)
    return np.flatnonzero(np.asarray(model.coef_).ravel())


def choose(method: Method, data: Documents, seed: int) -> Any:
    """Return the value with the fewest errors on held-out training rows; of equals the sparser."""
    X_fit, X_held, y_fit, y_held = train_test_split(
        data.X_train, data.y_train, test_size=1 / 3, random_state=seed
    )
    ranks = []
    for value in method.values:
        model = clone(method.estimator).set_params(**{method.setting: value}).fit(X_fit, y_fit)
        ranks.append((-model.score(X_held, y_held), support(model).size))
    return method.values[ranks.index(min(ranks))] if ranks else None


def run(method: Method, data: Documents, seed: int) -> Result:
    """Choose a method's setting, train it on all training rows, and test it."""
    if "random_state" in method.estimator.get_params():
        method.estimator.set_params(random_state=seed)
    chosen = choose(method, data, seed)
    settings = {method.setting: chosen} if method.setting else {}
    model = clone(method.estimator).set_params(**settings)
    started = perf_counter()
    model.fit(data.X_train, data.y_train)
    seconds = perf_counter() - started
    error = 1.0 - model.score(data.X_test, data.y_test)
    return Result(method, model, chosen, error, support(model), seconds)


def introduction(recipe: Recipe, data: Documents) -> str:
    """Describe the data."""
    bands = "\n".join(
        f"  {band.name:<9} {recipe.words_per_band} words, each in {band.rows:>3} training documents"
        for band in recipe.bands
    )
    return f"""\
{recipe.n_rows:,} documents to train on and as many to test; {recipe.n_columns:,} words, about \
{data.X_train.nnz / recipe.n_rows:.0f} in a document.
{recipe.n_planted} planted words decide the class. Each has the same effect on the log odds:
{bands}
The other {recipe.n_columns - recipe.n_planted:,} words have no effect. Most rare words are out of \
reach: among so many others,
some do as well by chance. The true weights err on {data.least_error:.1%} of the test documents.
"""


def heading(recipe: Recipe) -> str:
    """Return the two lines above the table, and a rule."""
    bands = "  ".join(band.name for band in recipe.bands) + "  all"
    first = f"{'':<{WIDTH}}   test            planted words found"
    second = f"{'':<{WIDTH}}  error  features  {bands}  noise  seconds  chosen"
    return "\n".join([first, second, "-" * (len(second) + 22)])


def line(result: Result, recipe: Recipe, data: Documents) -> str:
    """Return a row of the table."""
    found = data.found(result.columns)
    cells = [f"{n:>{len(band.name)}}" for n, band in zip(found, recipe.bands, strict=True)]
    setting = result.method.setting.rpartition("__")[2]
    chosen = f"{setting}={result.chosen:g}" if setting else "-"
    noise = int(np.sum(data.band_of[result.columns] == NOISE))
    return (
        f"{result.method.name:<{WIDTH}}  {result.error:>5.1%}  {result.columns.size:>8,}  "
        f"{'  '.join(cells)}  {sum(found):>3}  {noise:>5,}  {result.seconds:>7.2f}  {chosen}"
    )


def strongest(result: Result, data: Documents) -> Iterator[str]:
    """Yield the strongest features of a model, with the truth in their names."""
    weights = result.model.coef_.ravel()
    occurrences = np.bincount(data.X_train.indices, minlength=weights.size)
    yield f"The {N_SHOWN} strongest features of {result.method.name}:"
    yield "feature      weight  documents"
    for column in np.argsort(-np.abs(weights), kind="stable")[:N_SHOWN]:
        yield f"{data.names[column]:<11} {weights[column]:>+7.1f}  {occurrences[column]:>9}"


def main(words: Sequence[str] | None = None, recipe: Recipe | None = None) -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the methods")
    parser.add_argument("--quick", action="store_true", help="a third of the rows and columns")
    options = parser.parse_args(words)
    recipe = recipe or replace(QUICK if options.quick else Recipe(), seed=options.seed)
    data = make_documents(recipe)
    print(introduction(recipe, data), heading(recipe), sep="\n", flush=True)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of settings that nobody will choose
        for method in methods():
            results.append(run(method, data, options.seed))
            print(line(results[-1], recipe, data), flush=True)
    print(
        "\nSettings are chosen on a third of the training documents, seconds are those of the "
        "final fit.\nThe first run also compiles the package's kernels, which takes a minute.\n"
    )
    print(*strongest(results[0], data), sep="\n")


if __name__ == "__main__":
    main()
