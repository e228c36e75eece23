"""What the tests of regressors share: both losses, small settings, and units by the book."""

import numpy as np
import pytest

from cases import TARGET_LOSSES, UNSPARED, make
from thresher import ThresherRegressor

BOTH = pytest.mark.parametrize("loss", TARGET_LOSSES)


class Unspared(ThresherRegressor):
    """The regressor with weights that cost nothing, however few rows there are."""

    decisions = UNSPARED


def small(**changes):
    return make("ThresherRegressor", **changes)


def measured(loss, y, fit_intercept=True):
    """Return centre and unit, by the book."""
    centre = (np.mean if loss == "squared_error" else np.median)(y) if fit_intercept else 0.0
    if loss == "squared_error":
        return centre, np.sqrt(np.mean((y - centre) ** 2))
    return centre, 1.35 * np.median(np.abs(y - centre)) / 0.6745
