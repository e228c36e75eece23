"""How many features were left after each stage, drawn on a logarithmic scale.

The drawing stretches to whatever width there is; words are laid over it, so that they stay
readable on a phone.
"""

from math import ceil, floor, log10
from typing import Any, NamedTuple

from thresher.report.markup import text

LINES = {"stable": "still stable", "nonzero": "with a weight"}
TICKS = 5  # along the horizontal axis
MOST_MARKS = 400  # stages that answer when they are pointed at


class Scale(NamedTuple):
    """Powers of ten at the bottom and at the top."""

    low: float
    high: float

    def y(self, number: float) -> float:
        """Return how far from the top, in per cent, a number lies."""
        share = (log10(max(number, 1)) - self.low) / (self.high - self.low)
        return 100 * (1 - min(max(share, 0.0), 1.0))


def history_chart(history: list[dict[str, Any]]) -> str:
    """Return the curves with their axes, or words where there is nothing to draw."""
    if len(history) < 2:
        return '<p class="note">Training ended before its second stage: there is no curve.</p>'
    scale = _scale([record[name] for record in history for name in LINES])
    drawing = "".join(_line(history, name, scale) for name in LINES) + _marks(history)
    return (
        f"{_legend()}<figure><div class='chart'>{_grid(scale)}"
        f"<svg viewBox='0 0 100 100' preserveAspectRatio='none' role='img' "
        f"aria-label='{text(_summary(history))}'>{drawing}</svg></div>"
        f"<div class='ticks'>{_ticks(len(history))}</div>"
        f"<figcaption>stage</figcaption></figure><p class='note'>{text(_summary(history))}</p>"
    )


def _scale(numbers: list[int]) -> Scale:
    """Return whole powers of ten around all numbers."""
    low = floor(log10(max(min(numbers), 1)))
    return Scale(low, max(ceil(log10(max(*numbers, 1))), low + 1))


def _x(place: int, count: int) -> float:
    return 100 * place / (count - 1)


def _line(history: list[dict[str, Any]], name: str, scale: Scale) -> str:
    """Return one curve; the first is filled down to the axis."""
    count = len(history)
    points = [(_x(k, count), scale.y(record[name])) for k, record in enumerate(history)]
    path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    area = f"<polygon class='area' points='0,100 {path} 100,100'/>" if name == "stable" else ""
    return f"{area}<polyline class='{name}' points='{path}'/>"


def _marks(history: list[dict[str, Any]]) -> str:
    """Return invisible strips that tell the numbers of a stage to whoever points at them."""
    step = -(-len(history) // MOST_MARKS)
    wide = 100 * step / len(history)
    marks = []
    for k, record in enumerate(history[::step]):
        words = f"stage {record['stage']}: {record['stable']:,} stable, {record['nonzero']:,} with "
        words += f"a weight, {record['rows_seen']:,} rows seen"
        marks.append(
            f"<rect class='mark' x='{k * wide:.3f}' y='0' width='{wide:.3f}' height='100'>"
            f"<title>{text(words)}</title></rect>"
        )
    return "".join(marks)


def _grid(scale: Scale) -> str:
    """Return a line and a label for every power of ten."""
    powers = range(int(scale.low), int(scale.high) + 1)
    return "".join(
        f"<span class='level' style='top:{scale.y(10**power):.2f}%'><b>{10**power:,}</b></span>"
        for power in powers
    )


def _ticks(count: int) -> str:
    """Return the numbers of a few stages, evenly apart."""
    places = sorted({round(k * (count - 1) / (TICKS - 1)) for k in range(TICKS)})
    return "".join(
        f"<span style='left:{_x(place, count):.2f}%'>{place + 1}</span>" for place in places
    )


def _legend() -> str:
    entries = "".join(f"<li class='{name}'>{words}</li>" for name, words in LINES.items())
    return f"<ul class='legend'>{entries}</ul>"


def _summary(history: list[dict[str, Any]]) -> str:
    first, last = history[0], history[-1]
    return (
        f"{first['stable']:,} features were stable after stage {first['stage']:,} and "
        f"{last['stable']:,} after stage {last['stage']:,}, when {last['rows_seen']:,} rows "
        "had been seen."
    )
