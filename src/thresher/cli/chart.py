"""A curve as bars of text: how many features are left after each stage."""

from collections.abc import Sequence
from math import log10

EIGHTHS = " ▁▂▃▄▅▆▇█"
WIDEST = 3  # columns of text for one number


def log_bars(numbers: Sequence[int], width: int, height: int = 8) -> list[str]:
    """Return a chart on a logarithmic scale, with its axes, in lines of at most ``width`` signs.

    Where there are more numbers than columns, each column shows the last of its share of them.
    """
    low, high = _decades(numbers)
    ticks = [round(10 ** (low + (high - low) * k / height)) for k in range(height, 0, -1)]
    labels = [f"{ticks[0]:,}", *[""] * (height - 1)]
    labels[height // 2] = f"{ticks[height // 2]:,}"
    margin = max(len(label) for label in labels)
    shown = _thinned(numbers, width - margin - 2)
    each = max(1, min(WIDEST, (width - margin - 2) // len(shown)))
    heights = [8 * height * (log10(max(n, 1)) - low) / (high - low) for n in shown]
    lines = []
    for row, label in enumerate(labels):
        signs = [_sign(eighths - 8 * (height - 1 - row)) * each for eighths in heights]
        lines.append(f"{label:>{margin}} ┤{''.join(signs)}".rstrip())
    return [*lines, *_floor(margin, 10**low, len(shown) * each, len(numbers))]


def bar(share: float, width: int) -> str:
    """Return a bar as long as a share of the width, to an eighth of a sign."""
    whole, rest = divmod(round(share * width * 8), 8)
    return "█" * whole + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")


def _decades(numbers: Sequence[int]) -> tuple[float, float]:
    """Return the ends of the scale: the lowest power of ten needed, and the largest number."""
    least, most = max(min(numbers), 1), max(*numbers, 2)
    return float(int(log10(least))) if least < most else 0.0, log10(most)


def _sign(eighths: float) -> str:
    return EIGHTHS[round(min(max(eighths, 0.0), 8.0))]


def _thinned(numbers: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the numbers, evenly, the last among them."""
    count = min(len(numbers), max(most, 1))
    return [numbers[(k + 1) * len(numbers) // count - 1] for k in range(count)]


def _floor(margin: int, least: float, columns: int, last: int) -> list[str]:
    """Return the horizontal axis and what its ends are called."""
    ends = f"1{last:>{max(columns - 1, len(str(last)) + 1)}}" if last > 1 else "1"
    return [f"{least:>{margin},.0f} ┼{'─' * columns}", f"{'':{margin}}  {ends}"]
