"""The regressor in whatever units its targets come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases import make_streaming, numbered_rows, stream
from regressor_cases import BOTH, small


@BOTH
@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize(("times", "plus"), [(1000.0, 7.0), (-0.01, 3.0), (1e-9, 0.0), (1e15, 1.0)])
def test_other_units_give_the_same_features_and_weights_in_those_units(loss, how, times, plus):
    rows, y = numbered_rows(n=230)

    def fitted(targets):
        # in single precision a stream's many updates round too much to compare so closely
        precision = "float32" if how == "fit" else "float64"
        model = make_streaming("ThresherRegressor", loss=loss, dtype=precision)
        return model.fit(rows, targets) if how == "fit" else stream(model, rows, targets)

    plain, other = fitted(y), fitted(times * y + plus)
    assert_array_equal(other.get_support(), plain.get_support())
    assert_allclose(other.coef_, times * plain.coef_, rtol=1e-6, atol=1e-9 * abs(times))
    size = abs(times) * np.abs(y).max()
    assert_allclose(other.intercept_, times * plain.intercept_ + plus, atol=1e-6 * size)
    assert_allclose(other.predict(rows), times * plain.predict(rows) + plus, atol=1e-6 * size)
    assert_allclose(other.selection_probabilities_, plain.selection_probabilities_)


@BOTH
def test_without_intercept_only_the_scale_may_change(numbered, loss):
    rows, y = numbered
    plain, other = (small(loss=loss, fit_intercept=False).fit(rows, t) for t in (y, 1e4 * y))
    assert plain.intercept_ == other.intercept_ == 0.0
    assert_allclose(other.coef_, 1e4 * plain.coef_, rtol=1e-9)


@BOTH
def test_targets_that_are_all_the_same_are_predicted(numbered, loss):
    rows, y = numbered
    model = small(loss=loss, warm_start=True, n_features_to_select=38, max_iter=20)
    model.fit(rows, np.full(y.size, 0.1))
    assert_array_equal(model.predict(rows), 0.1)
    assert not model.coef_.any()
    assert model.fit(rows, y).score(rows, y) > 0.5  # nothing was learnt, not even units
