"""scikit-learn's own checks, every estimator crossed with every check."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import thresher
from cases import NAMES

# Weighting a row is not the same as showing it twice to a learner that takes one step after the
# other; scikit-learn expects its own SGD to fail these two as well.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight 2 is not two rows to SGD"
    for kind in ("dense", "sparse")
}


@pytest.mark.jit
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore:All features were purged")
@parametrize_with_checks(
    [getattr(thresher, name)() for name in NAMES],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
