"""Columns in very different units brought to one scale, for whoever learns them."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from thresher.estimators.decisions.units import Sizes
from thresher.estimators.inputs import check_rows


class UnitScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Brings columns in units far from those of most others to a common scale.

    Columns whose nonzero values are, in root mean square, more than 100 times larger or smaller
    than those of the median column are multiplied by the power of 1000 that brings them nearest to
    it. Columns of ten rows or more that are then still more than 10 times larger or smaller get
    the median size, and with them all columns that have a value in most rows, for their sizes say
    nothing. All others are left as they are: what sizes mean within one unit, as in tf-idf, stays.
    If there are such columns, one that did not occur in ``fit`` is set to 0, for nobody knows its
    unit. Zeros stay zeros; sparse rows stay sparse.

    Attributes
    ----------
    scale_ : array of shape (n_features_in_,)
        What each column is multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 2.0, 4000.0], [2.0, 1.0, 3000.0], [1.0, 1.0, 1000.0]])
    >>> UnitScaler().fit(rows).scale_.round(6).tolist()
    [1.0, 1.0, 0.001]
    """

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> "UnitScaler":
        """Find the columns in other units, and what brings them to that of most."""
        rows = check_rows(self, X, reset=True)
        scales = Sizes.in_rows(rows).scales(rows.shape)
        self.scale_ = np.ones(rows.shape[1]) if scales is None else scales.spread(rows.shape[1])
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows with every column in the same unit, sparse if they were."""
        check_is_fitted(self)
        checked = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False, copy=True
        )
        kind = checked.dtype  # a factor may be too large or too small for it
        if not sparse.issparse(checked):
            return (checked * self.scale_).astype(kind, copy=False)
        checked.data = (checked.data * self.scale_[checked.indices]).astype(kind, copy=False)
        return checked
