"""What models are worth: recorded errors and stability on small sets, which must not get worse.

Every model is fitted on halves of the rows and measured on rows that it has not seen: its error,
and the kappa of the features that two halves without a common row select. ``python
tests/test_worth.py`` records the numbers anew, in ``worth.json``; do so when a change is meant.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.preprocessing import normalize

import thresher
from cases import CLASSICS
from thresher import FTRLClassifier, ThresherClassifier, ThresherRegressor
from thresher.stability import cohen_kappa

RECORD = Path(__file__).parent / "worth.json"
N_SPLITS = 5
RISE, FALL = 1.05, 0.05  # of errors and of kappa, at most


def words(seed=1, n=1200, p=2500):
    """Return rows of words as in documents: few are frequent, and a fifth of them count."""
    rng = np.random.default_rng(seed)
    frequencies = np.minimum(0.4, 3.0 / np.arange(1, p + 1) ** 0.8)
    rows = rng.random((n, p)) < frequencies * rng.lognormal(0.0, 0.4, (n, 1))
    rows = rows * rng.geometric(0.7, (n, p))
    weights = np.where(np.arange(p) % 5 == 2, rng.normal(size=p), 0.0)
    weights[100:] *= 0.3
    scores = np.sqrt(rows) @ weights / np.sqrt(1.0 + rows.sum(axis=1)) * 20.0
    labels = scores - np.median(scores) + rng.logistic(size=n) > 0
    return sparse.csr_array(rows.astype(float)), labels.astype(int)


def numbers(seed=2, n=500, p=120):
    """Return rows of measurements in groups that go together, and targets of a dozen of them."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) + np.repeat(rng.normal(size=(n, p // 6)), 6, axis=1)
    weights = np.where(np.arange(p) % 10 == 0, rng.normal(size=p), 0.0)
    return rows * rng.lognormal(0, 2, p), rows @ weights + 2.0 * rng.normal(size=n)


# Rows and labels, and sizes at which the flagship is measured.
SETS = {
    "breast_cancer": (lambda: load_breast_cancer(return_X_y=True), (2, 6, 15)),
    "digits": (lambda: load_digits(return_X_y=True), (8, 24)),
    "words": (words, (10, 40, 150)),
    "numbers": (numbers, (4, 12)),
}


def halves(n):
    """Yield rows for learning, twice a half of two thirds of all, and the rest for measuring."""
    for seed in range(N_SPLITS):
        order = np.random.default_rng(seed).permutation(n)
        test, one, other = np.array_split(order, 3)
        yield one, other, test


def models(name, rows, labels):
    """Yield a name and a fitted model of everything that is measured on a set."""
    sizes, of_numbers = SETS[name][1], labels.dtype.kind == "f"
    kind = ThresherRegressor if of_numbers else ThresherClassifier
    for size in sizes:
        model = kind(n_features_to_select=size, random_state=0)
        yield f"{size} features", model.fit(rows, labels)
    yield "by itself", kind(random_state=0).fit(rows, labels)
    known = {} if of_numbers else {"classes": np.unique(labels)}
    stream = kind(n_features_to_select=sizes[-2], random_state=0)
    yield "stream", stream.partial_fit(rows, labels, **known)
    if not of_numbers:
        yield "ftrl", FTRLClassifier(random_state=0).fit(rows, labels)


def measured(name):
    """Return error and kappa of every model on a set."""
    rows, labels = SETS[name][0]()
    found = {}
    for one, other, test in halves(labels.size):
        pairs = zip(
            models(name, rows[one], labels[one]),
            models(name, rows[other], labels[other]),
            strict=True,
        )
        for (model_name, first), (_, second) in pairs:
            # the share of wrong classes, or the mean squared error over the variance
            errors = [1.0 - model.score(rows[test], labels[test]) for model in (first, second)]
            kappa = cohen_kappa(first.get_support(), second.get_support())
            found.setdefault(model_name, []).append((np.mean(errors), kappa))
    return {
        model_name: dict(
            zip(("error", "kappa"), np.nanmean(runs, axis=0).round(4).tolist(), strict=True)
        )
        for model_name, runs in found.items()
    }


def recorded():
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


@pytest.mark.jit
@pytest.mark.filterwarnings("ignore:No number of features")
@pytest.mark.parametrize("name", SETS)
def test_models_are_worth_what_they_were(name):
    before, now = recorded()[name], measured(name)
    assert list(before) == list(now)
    worse = {}
    for model, figures in before.items():
        error, kappa = now[model]["error"], now[model]["kappa"]
        if not (error <= figures["error"] * RISE and kappa >= figures["kappa"] - FALL):
            worse[model] = f"{figures} was recorded, it is {now[model]}"
    assert worse == {}


@pytest.fixture(scope="module")
def text():
    return words(n=4000, p=20000)


@pytest.mark.jit
@pytest.mark.parametrize("name", CLASSICS)
def test_defaults_work_at_once_on_a_stream_of_text(name, text):
    rows, labels = text
    for X in (rows, normalize(rows)):
        model = getattr(thresher, name)(random_state=0)
        model.partial_fit(X[:3000], labels[:3000], classes=[0, 1])
        assert log_loss(labels[3000:], model.predict_proba(X[3000:])) < 0.97 * np.log(2)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "No number of features")
    RECORD.write_text(json.dumps({name: measured(name) for name in SETS}, indent=2) + "\n")
