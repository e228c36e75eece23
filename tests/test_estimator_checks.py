"""scikit-learn's own checks, every estimator crossed with every check."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import thresher
from cases import NAMES
from thresher.estimators.thresher import ThresherModel

# Weighting a row is not the same as showing it twice to a learner that takes one step after the
# other; scikit-learn expects its own SGD to fail these two as well.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight 2 is not two rows to SGD"
    for kind in ("dense", "sparse")
}
FLAGSHIP = {
    "check_fit_score_takes_y": "partial_fit does not go on from fit",
    "check_sample_weight_equivalence_on_dense_data": "cv is a number or a splitter, not a list",
    "check_sample_weight_equivalence_on_sparse_data": "cv is a number or a splitter, not a list",
    "check_fit2d_1sample": "what is wrong with one row is that no column varies",
}
FLAGSHIPS = ["ThresherClassifier", "ThresherRegressor"]


@pytest.mark.jit
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore:No number of features is clearly better")
@pytest.mark.filterwarnings("ignore:All features were purged")
@parametrize_with_checks(
    [getattr(thresher, name)() for name in [*NAMES, *FLAGSHIPS]],
    expected_failed_checks=lambda model: FLAGSHIP if isinstance(model, ThresherModel) else EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
