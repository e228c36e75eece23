"""The paper's lemmas and theorem, and what is true of them; its settings; Algorithm 2 alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from experiments.reproduce import theory
from thresher import StabilizedTruncatedSGDClassifier
from thresher.online.passes import soft_threshold

PAPER = {
    "n_paths": 16,
    "burst_size": 5,
    "bursts_per_stage": 5,
    "rejection_rate": 0.7,
    "selection": "informative",
    "shrinkage": "linear",
    "gravity": None,
    "min_evidence": 0,
    "burst_growth": None,
    "fit_intercept": False,
    "normalize": False,
}


def problem(n=40, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.4, rng=rng, format="csr")
    X = sparse.csr_matrix(X / np.sqrt(X.multiply(X).sum(axis=1)).max())
    return X, np.where(X @ rng.normal(size=p) > 0, 1, -1)


def test_from_paper_has_the_papers_settings_and_no_intercept():
    model = StabilizedTruncatedSGDClassifier.from_paper(random_state=0, purge_threshold=0.5)
    assert {name: model.get_params()[name] for name in PAPER} == PAPER
    assert model.fit(*problem()).intercept_ == 0
    assert model.coef_.any()


# ------------------------------------------------------------------- Algorithms 1 and 2 alone


@pytest.mark.parametrize("algorithm", ["1", "2", "4"])
def test_written_updates_are_those_of_the_learners(algorithm):
    X, y = problem(n=100)
    more = {"eta0": 0.5}
    if algorithm == "4":
        stage = {"bursts_per_stage": theory.STAGE // theory.REGRET_BURST}
        more |= {"purge_threshold": theory.THRESHOLD, **stage}
    make = theory.algorithm_1 if algorithm == "1" else theory.algorithm_2
    model = make(0.01, theory.REGRET_BURST, **more).fit(X, y)
    written = theory.run(X, y, 0.5, 0.01, algorithm).weights
    assert_allclose(model.coef_.ravel(), written, atol=1e-14)
    assert 0 < np.count_nonzero(written) < written.size


# -------------------------------------------------------------------------------- the lemmas


def test_lemma_2_bounds_the_gain_from_above_and_not_from_below():
    """Whatever the weight before truncation. Algorithm 2 gains where w* is beyond the midpoint."""
    rng, g0, K, gains = np.random.default_rng(0), 0.1, 20, []
    for h, star in rng.normal(scale=2, size=(2000, 2)):
        k = rng.integers(K)
        first, second = soft_threshold(h, g0 * K), soft_threshold(h, g0 * k)
        gain = (first - star) ** 2 - (second - star) ** 2
        gains.append(gain)
        assert gain <= 2 * g0 * (K - k) * abs(star) + 1e-12  # printed with >=
        midpoint = (first + second) / 2
        nearer = abs(star) >= abs(midpoint) and star * h > 0
        assert (gain >= -1e-12) == nearer or first == second
        assert soft_threshold(h, g0 * K) ** 2 <= soft_threshold(h, g0 * k) ** 2  # star = 0
    assert min(gains) < 0 < max(gains)


def test_lemma_2_in_bursts_of_the_learners():
    rng, star = np.random.default_rng(1), theory.truth()
    g0, K = theory.GRAVITY, theory.BURST
    for _ in range(5):
        X, y = theory.draw(rng)
        first = theory.algorithm_1(g0, K).fit(X, y).coef_.ravel()
        second = theory.algorithm_2(g0, K).fit(X, y).coef_.ravel()
        gain = (first - star) ** 2 - (second - star) ** 2
        assert (gain <= 2 * g0 * (X == 0).sum(axis=0) * np.abs(star) + 1e-12).all()
        assert (gain[star == 0] <= 0).all()
        assert gain.sum() > 0  # weights have not yet gone beyond w*


def test_lemma_1_holds_as_an_identity_and_not_as_a_bound():
    rng, p, threshold = np.random.default_rng(0), 100, 0.9
    w, star, stable = rng.normal(size=p), rng.normal(size=p), rng.random(p) < 0.5
    gain = np.sum((w - star) ** 2) - np.sum((w * stable - star) ** 2)
    assert gain == pytest.approx(np.sum((w * (w - 2 * star))[~stable]))
    # One feature has an effect, and is selected always; 99 others half of the time, with weights of
    # +-0.01: q = 50.5. All conditions hold with C = 1, and only the 99 are purged.
    q, d, others = 50.5, 1, 99
    assert 0.5 + q**2 / (2 * p * (q - d)) < threshold < 1
    gain = others * 0.5 * 0.01**2
    assert 0 < gain < 2 * threshold * ((1 - q / (2 * threshold * p - p)) * q - d)


# -------------------------------------------------------------------------------- the theorem


@pytest.mark.parametrize("algorithm", ["1", "2"])
@pytest.mark.parametrize("n", [40, 160])
def test_regret_stays_below_theorem_1(algorithm, n):
    """Against any weights, for any order of the rows; A = 0, B = 1 for rows of at most length 1."""
    X, y = problem(n)
    eta = n**-0.5
    run = theory.run(X, y, eta, 0.05 * eta, algorithm)
    rng = np.random.default_rng(0)
    hindsight = theory.hindsight(X, y, run.factors)
    for star in (hindsight, np.zeros(X.shape[1]), *rng.normal(size=(20, X.shape[1]))):
        theirs = np.logaddexp(0, -y * (X @ star)).sum() + run.factors @ np.abs(star)
        assert run.loss + run.penalty - theirs <= (star @ star / eta + eta * n) / 2
        assert theirs >= np.logaddexp(0, -y * (X @ hindsight)).sum() - 1e-3 + (
            run.factors @ np.abs(hindsight)
        )
