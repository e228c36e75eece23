"""What a weight is worth: the squared gradients that a feature has had count, and its column."""

from dataclasses import replace

import numpy as np
from scipy import sparse

import thresher
from thresher import ThresherClassifier, ThresherRegressor
from thresher.learners.judge import COLUMN_SALIENCE, OF_COLUMNS, SALIENCE

SETTINGS = {"random_state": 0, "n_stages": 8, "max_iter": 30}


def documents(n=600, p=120, share=0.5, seed=0):
    """Return documents whose first columns tell their class, the first ones most often."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, -1)
    often = 0.4 / np.arange(1, p + 1) ** 0.5
    tells = np.where(np.arange(p) < 24, np.where(np.arange(p) % 2, 0.9, -0.9), 0.0)
    X = rng.random((n, p)) < often * (1 + np.outer(y, tells))
    return sparse.csr_array(X.astype(float)), y


class Selecting(ThresherClassifier):
    """The flagship without an exchange: who was selected stays."""

    def _learner(self, n_rows):
        return replace(super()._learner(n_rows), exchanges=False)


def test_who_stays_stands_above_who_went():
    X, y = documents()
    model = Selecting(n_features_to_select=20, **SETTINGS).fit(X, y)
    learner, paths = model._model.learner, model._states()[0]
    scores = learner.standing(paths, model._model.vocabulary).scores
    went = np.sort(scores[~paths.stable])
    assert scores[paths.stable].min() > went[-1]
    assert 0 < went[0] < went[-1]  # those that went first have kept the score they went with


def test_the_same_scores_are_told_by_a_loaded_state(tmp_path):
    X, y = documents()
    model = ThresherClassifier(n_features_to_select=20, **SETTINGS).fit(X, y)
    model.save(tmp_path / "model.thresher", training_state=True)
    loaded = thresher.load(tmp_path / "model.thresher")
    told, again = (
        one._model.learner.standing(one._states()[0], one._model.vocabulary).scores
        for one in (model, loaded)
    )
    assert np.array_equal(told, again)


def test_numbers_are_judged_by_columns():
    assert ThresherRegressor.salience == (0.0, COLUMN_SALIENCE) == OF_COLUMNS
    assert ThresherClassifier.salience == SALIENCE != OF_COLUMNS


def test_a_column_of_stored_zeros_is_no_trouble():
    X, y = documents(n=100)
    X.data[X.indices == 5] = 0.0
    model = ThresherClassifier(n_features_to_select=5, **SETTINGS).fit(X, y)
    assert np.isfinite(model.selection_probabilities_).all()
    assert not model.get_support()[5]
