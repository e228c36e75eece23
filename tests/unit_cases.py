"""Rows with some columns in other units, and models of them."""

import warnings

import numpy as np
from scipy import sparse

from cases import make

ODD = [5, 15, 30]  # the latter two with large weights


def in_units(rows, columns, factor):
    """Return the rows with some columns in another unit."""
    scale = np.ones(rows.shape[1])
    scale[columns] = factor
    return sparse.csr_array(rows @ sparse.diags(scale))


def plain_and_odd(name, problem, factor=1e3, **changes):
    """Return a model, the same fitted with columns in other units, and those rows."""
    rows, labels = problem
    odd = in_units(rows, ODD, factor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return make(name, **changes).fit(rows, labels), make(name, **changes).fit(odd, labels), odd
