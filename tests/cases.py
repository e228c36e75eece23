"""The tables that drive the tests, and how to compare two models.

A new estimator is a row in SMALL, and a classic one in the twins of test_training; everything else
follows.
"""

import os
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

import thresher
from thresher.files import ModelFileError
from thresher.losses import CLASS_LOSSES

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
LOSSES = list(CLASS_LOSSES)


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
        "purge_threshold": 0.5,
        "max_iter": 4,
    },
    "TruncatedGradientClassifier": {"gravity": 0.005, "burst_size": 7, "max_iter": 3},
}
NAMES = list(SMALL)
SMALL["ThresherClassifier"] = {"n_features_to_select": 8}  # whose fit is another: see its own tests
FLAGSHIPS = ["ThresherClassifier", "ThresherRegressor"]
STREAMING = list(SMALL)
PATHED = [name for name in NAMES if name.startswith("Stabilized")]
CLASSICS = [name for name in NAMES if name not in PATHED]
# Estimators with several paths, in either way of reading rows, and those without.
VARIANTS = [(name, {}) for name in CLASSICS] + [
    (name, {"paths": paths}) for name in PATHED for paths in ("permutation", "shared")
]


def variant_id(value):
    """Name a variant in test ids by what distinguishes it."""
    if isinstance(value, dict):
        return "-".join(str(one) for one in value.values()) or "plain"
    return str(value).removesuffix("Classifier")


def make(name, **changes):
    """Return a new estimator with small settings and a seed."""
    return getattr(thresher, name)(**{"random_state": 3, **SMALL[name], **changes})


def random_rows(n=60, p=40, density=0.15, seed=0):
    """Return sparse rows of normal numbers in which columns 3 and 11 never occur."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, p)) * (rng.random((n, p)) < density)
    dense[:, [3, 11]] = 0.0
    return sparse.csr_array(dense)


def labelled_rows(n=60, p=40, density=0.15, seed=0, n_classes=2):
    """Return sparse rows, and labels 0, 1, ... that depend on a few of the columns, with noise."""
    rows = random_rows(n, p, density, seed)
    rng = np.random.default_rng([seed, n_classes])
    weights = rng.normal(size=p) * (rng.random(p) < 0.5)
    scores = rows @ weights + 0.2 * rng.normal(size=n)
    ends = np.quantile(scores, np.arange(1, n_classes) / n_classes)
    return rows, np.digitize(scores, ends)


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


def refuses(call, *values, error=ModelFileError):
    """Return whether a call raises such an error, for loops that name what was not refused."""
    try:
        call(*values)
    except error:
        return True
    return False


def stream(model, rows, labels, cuts=(), weights=None):
    """Feed rows to partial_fit in pieces that end at the cuts."""
    known = {"classes": np.unique(labels)} if is_classifier(model) else {}
    for first, last in pairwise([0, *cuts, rows.shape[0]]):
        now = slice(first, last)
        weighted = None if weights is None else weights[now]
        model.partial_fit(rows[now], labels[now], sample_weight=weighted, **known)
    return model


def poisoned(rows, labels):
    """Return the rows with six more at the end that no learner survives, and their weights."""
    last = sparse.csr_array(np.repeat(np.eye(1, rows.shape[1]), 6, axis=0))
    weights = np.r_[np.ones(labels.size), np.full(6, 1e300)]
    return sparse.vstack([rows, last]).tocsr(), np.r_[labels, [0, 1, 0, 1, 0, 1]], weights


def fail(model, rows, labels):
    """Let a chunk overflow after its last good row."""
    bad_rows, bad_labels, weights = poisoned(rows, labels)
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(bad_rows, bad_labels, sample_weight=weights)
