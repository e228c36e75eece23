"""Numbers too large to learn with: where, and what may help."""

from collections.abc import Mapping
from typing import Any

import numpy as np

HEAVY = 1e6  # times that a row counts, from which on its weight may be what overflows
SHORTER = {"eta0": "lower", "alpha": "lower", "gamma": "raise"}  # ways to shorter steps


def overflowed(
    parameters: Mapping[str, Any], row: int, importance: np.ndarray, where: str = ""
) -> ValueError:
    """Return the error of a row at which the numbers overflowed, with what may help."""
    heaviest = float(importance.max())
    heavy = [f"lower the weights of rows or classes (one is {heaviest:.3g})"]
    numbers = [name for name in SHORTER if isinstance(parameters.get(name), int | float)]
    helps = [
        *(heavy if heaviest >= HEAVY else []),
        *(f"{SHORTER[name]} {name}" for name in numbers),
        "multiply X by a number that brings its values nearer to 1",
    ]
    advice = f"{', '.join(helps)}, or bring its columns to similar scales (MaxAbsScaler)."
    return ValueError(
        f"The numbers overflowed while learning row {row:,}{where}. {advice[0].upper()}{advice[1:]}"
    )
