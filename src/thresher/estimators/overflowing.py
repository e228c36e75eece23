"""Numbers too large or too small to learn with: where, and what helps."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.errors import DataError
from thresher.learners.protocol import Overflow

RESCALE = "multiply X by a number that brings its values nearer to 1"
HEAVY = 1e6  # times that a row counts, from which on its weight may be what overflows
EVEN_OUT = "bring its columns to similar scales (thresher.UnitScaler, MaxAbsScaler)"


class Overflowed(ValueError):
    """Numbers that overflowed while a row was learnt, and what helps."""

    def __init__(self, row: int, helps: str, where: str = "") -> None:
        super().__init__(row, helps, where)  # what another process makes it of again
        self.row, self.helps, self.where = row, helps, where

    def __str__(self) -> str:
        return f"The numbers overflowed while learning row {self.row}{self.where}. {self.helps}"


@contextmanager
def overflow_explained(estimator: Any, rows: np.ndarray, importance: np.ndarray) -> Iterator[None]:
    """Turn an overflow into an error that says where it happened and what helps."""
    try:
        yield
    except Overflow as overflow:
        helps = remedy(estimator, float(importance.max()))
        raise Overflowed(int(rows[overflow.row]), helps) from None


@contextmanager
def overflow_placed(before: int, where: str = "") -> Iterator[None]:
    """Say the same of a source, whose rows count from 1, after so many ``before``."""
    try:
        yield
    except Overflowed as found:
        raise Overflowed(before + found.row + 1, found.helps, where) from None


def refuse_infinite(margins: np.ndarray, before: int) -> None:
    """Refuse rows that are predicted as no number; the first one comes after so many ``before``."""
    finite = np.isfinite(margins)
    fine = finite if margins.ndim == 1 else finite.all(axis=1)
    if not fine.all():
        raise DataError(
            f"The numbers overflowed while predicting row {before + int(fine.argmin()) + 1:,}: its "
            "values are too large for the model's weights. Mend the row, or leave it out."
        )


def remedy(estimator: Any, heaviest: float = 1.0) -> str:
    """Say what helps an estimator whose numbers overflow; its ``heaviest`` row counts so often."""
    changes = [*_lighter_rows(estimator, heaviest), *_shorter_steps(estimator)]
    helps = [*changes, *_more_digits(estimator), RESCALE, EVEN_OUT]
    words = f"{', '.join(helps[:-1])}, or {helps[-1]}"
    return f"{words[0].upper()}{words[1:]}."


def warn_of_vanishing(estimator: Any, rows: sparse.csr_array) -> None:
    """Warn if the values are so small that nothing is left of their squares."""
    model = estimator._model
    if not rows.nnz or model.vocabulary.normalize:  # unit length is of a good size
        return
    largest = float(np.abs(rows.data).max())
    kind = np.dtype(model.learner.dtype)
    with np.errstate(under="ignore", over="ignore"):
        if np.square(np.array(largest, kind)) > 0:
            return
    helps = " or ".join([*_more_digits(estimator), RESCALE])
    warnings.warn(
        f"The values of X are at most {largest:g}: their squares are 0 in {kind.name}, and hardly "
        f"anything can be learnt from them. {helps[0].upper()}{helps[1:]}.",
        UserWarning,
        stacklevel=4,
    )


def _lighter_rows(estimator: Any, heaviest: float) -> list[str]:
    """Return which weights to lower, if there are huge ones."""
    if heaviest < HEAVY:
        return []
    of_classes = isinstance(getattr(estimator, "class_weight", None), dict)
    named = "sample_weight or class_weight" if of_classes else "sample_weight"
    return [f"lower {named} (a row counts {heaviest:.3g} times)"]


def _shorter_steps(estimator: Any) -> list[str]:
    """Return which parameter makes steps shorter, if one was set that makes them long."""
    parameters = estimator.get_params(deep=False)
    if parameters.get("eta0", "auto") != "auto":
        return ["lower eta0 or set eta0='auto'"]
    return [
        f"{how} {name}"
        for name, how in {"alpha": "lower", "gamma": "raise"}.items()
        if isinstance(parameters.get(name), int | float)
    ]


def _more_digits(estimator: Any) -> list[str]:
    single = estimator.get_params(deep=False).get("dtype") == "float32"
    return ["set dtype='float64'"] if single else []
