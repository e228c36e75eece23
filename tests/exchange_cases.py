"""Rows whose best features can be told, as the exchange sees them."""

import numpy as np
from scipy import sparse

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.losses import LOG_LOSS
from thresher.train.settling import Lesson, Table

FLOAT64 = np.dtype(np.float64)


def given_rows(X, normalize=False, dtype=FLOAT64):
    """Return rows whose slots are in another order than their columns."""
    rows = sparse.csr_array(X)
    vocabulary = Vocabulary(rows.shape[1], normalize)
    vocabulary.learn_by_frequency(rows)
    vocabulary.absorb(rows, dtype)
    return GivenRows(rows, vocabulary, dtype)


def lesson_for(y, loss=LOG_LOSS, penalty=0.1, intercept=True, importance=None):
    weights = np.ones(y.size) if importance is None else importance
    return Lesson(loss, y, weights, penalty, intercept)


def settled(given, lesson, slots):
    return Table(lesson, given.with_slots(slots)).settled(np.zeros(slots.size + 1))


def hidden_truth(n_rows=600, n_columns=30, seed=0):
    """Return marks that tell a class, and copies of them that each tell a part of it."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_columns)) < 0.3).astype(float)
    X[:, 20:] = X[:, [0]] * (rng.random((n_rows, n_columns - 20)) < 0.5)
    y = np.where(rng.random(n_rows) < np.where(X[:, 0] > 0, 0.95, 0.1), 1.0, -1.0)
    X[:, 0] /= 2  # it takes a longer weight than its copies
    return X, y
