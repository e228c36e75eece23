"""Held-out error against the number of features, drawn as SVG.

The drawing stretches to whatever width there is. Text is laid over it, so that it stays readable
on a phone.
"""

from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np

from thresher.winnow.path import Path

LEVELS = 4  # lines across the chart, or a few more
STEPS = 1, 2, 5, 10  # levels are so many powers of ten apart
NEAR = 8.0  # per cent of the width: labels that are no nearer than this do not touch


class Scale(NamedTuple):
    """How sizes and errors become per cent of the width and of the height."""

    most: float  # the largest size, as a logarithm
    top: float  # the largest error
    step: float  # from one level to the next

    @classmethod
    def of(cls, path: Path) -> "Scale":
        """Return the scale of a path, from no error up to a whole level."""
        highest = max(float((path.error + path.error_se).max()), 1e-12)
        power = 10.0 ** floor(log10(highest / LEVELS))
        step = power * next(one for one in STEPS if one * power * LEVELS >= highest * 0.999)
        return cls(log10(path.sizes[-1]), step * ceil(highest / step - 1e-9), step)

    def x(self, size: float) -> float:
        """Return how far from the left a size is."""
        return 100.0 * log10(size) / self.most

    def y(self, error: float) -> float:
        """Return how far from the top an error is."""
        return 100.0 * (1.0 - min(max(error / self.top, 0.0), 1.0))

    def points(self, sizes: np.ndarray, errors: np.ndarray) -> str:
        """Return the points of a line."""
        pairs = zip(sizes.tolist(), errors.tolist(), strict=True)
        return " ".join(f"{self.x(size):.2f},{self.y(error):.2f}" for size, error in pairs)


def path_chart(path: Path, error_name: str) -> str:
    """Return the chart of a path that has more than one size."""
    scale = Scale.of(path)
    return (
        f'<figure><div class="chart">{_levels(scale)}'
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="Held-out {error_name} against the number of features">'
        f"{_band(path, scale)}{_chosen(path, scale)}{_marks(path, scale, error_name)}</svg></div>"
        f'<div class="ticks">{_ticks(path, scale)}</div>'
        f"<figcaption>number of features</figcaption></figure>"
    )


def _band(path: Path, scale: Scale) -> str:
    """Return the curve, and a standard error to either side of it."""
    upper = scale.points(path.sizes, path.error + path.error_se)
    lower = scale.points(path.sizes[::-1], (path.error - path.error_se)[::-1])
    line = scale.points(path.sizes, path.error)
    return (
        f'<polygon class="band" points="{upper} {lower}"/><polyline class="line" points="{line}"/>'
    )


def _chosen(path: Path, scale: Scale) -> str:
    """Return a line and a dot at the size of the model."""
    place = path.place(path.size)
    x, y = scale.x(path.sizes[place]), scale.y(path.error[place])
    line = f'<line class="chosen" x1="{x:.2f}" y1="0" x2="{x:.2f}" y2="100"/>'
    return f'{line}<path class="dot" d="M{x:.2f},{y:.2f}h0"/>'


def _marks(path: Path, scale: Scale, error_name: str) -> str:
    """Return an invisible strip for each size, which shows its figures under the pointer."""
    middles = [scale.x(size) for size in path.sizes]
    ends = [0.0, *((a + b) / 2 for a, b in pairwise(middles)), 100.0]
    figures = zip(path.sizes, path.error, path.error_se, pairwise(ends), strict=True)
    return "".join(
        f'<rect class="mark" x="{left:.2f}" y="0" width="{right - left:.2f}" height="100">'
        f"<title>{size:,} features: {error_name} {error:.4g} ± {se:.2g}</title></rect>"
        for size, error, se, (left, right) in figures
    )


def _levels(scale: Scale) -> str:
    """Return a line and a label at each level."""
    errors = [k * scale.step for k in range(round(scale.top / scale.step) + 1)]
    return "".join(
        f'<span class="level" style="top:{scale.y(error):.2f}%"><b>{error:.4g}</b></span>'
        for error in errors
    )


def _ticks(path: Path, scale: Scale) -> str:
    """Return the size of the model, and powers of ten and the largest size where there is room."""
    shown = {int(path.sizes[path.place(path.size)])}
    powers = [10**power for power in range(ceil(scale.most))]
    for size in (int(path.sizes[-1]), *powers):
        if all(abs(scale.x(size) - scale.x(other)) > NEAR for other in shown):
            shown.add(size)
    return "".join(
        f'<span style="left:{scale.x(size):.2f}%">{size:,}</span>' for size in sorted(shown)
    )
