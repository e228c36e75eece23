"""The tables that drive the tests, and how to compare two models.

A new algorithm is a row in SMALL and one in the table of twins; everything else follows.
"""

import hashlib
import os
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

import thresher.estimators
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.levelling import Margins
from thresher.estimators.decisions.sparing import Sparing

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
DECISIONS = thresher.ThresherClassifier.decisions
UNCALIBRATED = without(DECISIONS, Margins)
UNSPARED = without(thresher.ThresherRegressor.decisions, Sparing)
if NO_JIT:  # they fit folds by the same kernels: its own tests run compiled
    thresher.ThresherClassifier.decisions = UNCALIBRATED
    thresher.ThresherRegressor.decisions = UNSPARED
LOSSES = ["hinge", "log_loss", "squared_hinge", "modified_huber"]
ALL = thresher.estimators.__all__
NAMES = [name for name in ALL if name.endswith("Classifier")]
TARGET_LOSSES = ["squared_error", "huber"]
PATHED = ["StabilizedTruncatedSGDClassifier", "ThresherClassifier"]
CLASSICS = [name for name in NAMES if name not in PATHED]

# Settings under which tens of rows see several bursts, stages and passes.
SMALL = {
    "FOBOSClassifier": {"l1": 0.01, "max_iter": 3},
    "FTRLClassifier": {"alpha": 0.5, "l1": 0.2, "max_iter": 3},
    "PlainSGDClassifier": {"max_iter": 3},
    "RDAClassifier": {"l1": 0.02, "max_iter": 3},
    "StabilizedTruncatedSGDClassifier": {
        "n_paths": 3,
        "burst_size": 6,
        "bursts_per_stage": 3,
        "max_iter": 4,
    },
    "ThresherClassifier": {
        "n_paths": 3,
        "n_stages": 6,
        "n_features_to_select": 8,
        "max_iter": 4,
    },
    "ThresherRegressor": {
        "n_paths": 3,
        "n_stages": 6,
        "n_features_to_select": 8,
        "max_iter": 4,
    },
    "TruncatedGradientClassifier": {"gravity": 0.005, "burst_size": 7, "max_iter": 3},
}
# The flagship's first stages on a stream have a hundred rows, and grow the faster the fewer.
STREAMING = {name: {"n_stages": 40} for name in ("ThresherClassifier", "ThresherRegressor")}

# Estimators with several paths, in either way of reading rows, and those without.
VARIANTS = [(name, {}) for name in CLASSICS] + [
    (name, {"paths": paths}) for name in PATHED for paths in ("permutation", "shared")
]


def variant_id(value):
    """Name a variant in test ids by what sets it apart."""
    if isinstance(value, dict):
        return "-".join(str(one) for one in value.values()) or "plain"
    return str(value).removesuffix("Classifier")


def make(name, **changes):
    """Return a new estimator with small settings and a seed."""
    return getattr(thresher, name)(**{"random_state": 3, **SMALL[name], **changes})


def make_streaming(name, **changes):
    """Return a new estimator whose stages are short on a stream."""
    return make(name, **{**STREAMING.get(name, {}), **changes})


def random_rows(n=60, p=40, density=0.15, seed=0):
    """Return sparse rows of normal numbers in which columns 3 and 11 never occur."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, p)) * (rng.random((n, p)) < density)
    dense[:, [3, 11]] = 0.0
    return sparse.csr_array(dense)


def labelled_rows(n=60, p=40, density=0.15, seed=0, n_classes=2):
    """Return sparse rows, and labels 0, 1, ... that a few of the columns tell, with noise."""
    rows = random_rows(n, p, density, seed)
    rng = np.random.default_rng([seed, n_classes])
    weights = rng.normal(size=p) * (rng.random(p) < 0.5)
    scores = rows @ weights + 0.2 * rng.normal(size=n)
    ends = np.quantile(scores, np.arange(1, n_classes) / n_classes)
    return rows, np.digitize(scores, ends)


def numbered_rows(n=60, p=40, density=0.15, seed=0, noise=0.2):
    """Return sparse rows, and numbers that a few of the columns tell, with noise."""
    rows = random_rows(n, p, density, seed)
    rng = np.random.default_rng([seed, 7])
    weights = rng.normal(size=p) * (rng.random(p) < 0.2)
    return rows, 3.0 + 2.0 * (rows @ weights) + noise * rng.normal(size=n)


def dense_coef(model):
    """Return the weights as a dense array, sparsified or not, zeros without a sign."""
    coef = model.coef_
    return (coef.toarray() if sparse.issparse(coef) else coef) + 0.0


def facts(model):
    """Return everything a model shows, as bytes and words that are equal or not."""
    shown = {
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        "coef": dense_coef(model).tobytes(),
        "intercept": np.asarray(model.intercept_).tobytes(),
    }
    if hasattr(model, "history_"):
        shown["history"] = repr(model.history_)
        shown["stable"] = model.stable_.tobytes()
        shown["probabilities"] = model.selection_probabilities_.tobytes()
    return shown


def assert_same_bits(one, other):
    """Assert that two models are equal to the last bit in all they show."""
    one, other = facts(one), facts(other)
    assert [key for key in one if one[key] != other[key]] == []


def fingerprint(model):
    """Return a short name of everything a model shows."""
    return hashlib.sha256(repr(sorted(facts(model).items())).encode()).hexdigest()


def stream(model, rows, labels, cuts=(), weights=None):
    """Feed rows to partial_fit in pieces that end at the cuts."""
    ends = [0, *cuts, rows.shape[0]]
    told = {"classes": np.unique(labels)} if is_classifier(model) else {}
    for first, last in pairwise(ends):
        now = slice(first, last)
        weighted = None if weights is None else weights[now]
        model.partial_fit(rows[now], labels[now], sample_weight=weighted, **told)
    return model
