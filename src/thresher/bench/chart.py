"""All figures as one picture: how each stands to its acceptance threshold."""

from math import log10

from thresher.bench.bars import bar_of
from thresher.bench.record import Measured, Record
from thresher.report.markup import text

WIDE, LINE, LEFT, RIGHT, TOP = 900, 20, 430, 70, 48
DECADES = (-2.0, 1.0)  # of the ratio to the bar
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.name{text-anchor:end}.head{font-weight:600}"
    ".met{fill:#2a7f62}.missed{fill:#c0563b}.must{stroke:#333}.aim{stroke:#333;stroke-width:2}"
    ".grid{stroke:#ddd}"
)


def chart(record: Record) -> str:
    """Return an SVG picture: bars to the left of the line have reached what they must.

    The scale is logarithmic, and figures where more is better are turned round.
    """
    tall = TOP + LINE * len(record.measured) + 10
    bars = "".join(_bar(place, one) for place, one in enumerate(record.measured))
    grid = "".join(_grid(power, tall) for power in (-2, -1, 0, 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {tall}" role="img">'
        f"<title>Figures over their acceptance thresholds</title><style>{STYLE}</style>"
        f'<rect width="{WIDE}" height="{tall}" fill="#fff"/>'
        f'<text class="head" x="{LEFT}" y="18">measured / threshold, log scale; mark: target</text>'
        f"{grid}{bars}</svg>\n"
    )


def _share(one: Measured, value: float) -> float:
    """Return how a value stands to the bar: at most 1 is good."""
    bar = bar_of(one)
    return bar.must / value if bar.higher else value / bar.must


def _x(share: float) -> float:
    low, high = DECADES
    place = (log10(max(share, 10**low)) - low) / (high - low)
    return LEFT + (WIDE - LEFT - RIGHT) * min(place, 1.0)


def _bar(place: int, one: Measured) -> str:
    """Return a figure's name, its bar and its number."""
    y, share = TOP + LINE * place, _share(one, one.value)
    end, aim = _x(share), _x(_share(one, bar_of(one).aim))
    number = max(end, aim, _x(1.0)) + 8  # beyond all lines that would cross it
    kind = "met" if share <= 1 else "missed"
    return (
        f'<text class="name" x="{LEFT - 8}" y="{y + 13}">{text(_name(one))}</text>'
        f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{max(end - LEFT, 1):.1f}" '
        f'height="{LINE - 7}"/><path class="aim" d="M{aim:.1f} {y + 1}v{LINE - 3}"/>'
        f'<text x="{number:.1f}" y="{y + 13}">{one.value:.3g}</text>'
    )


def _name(one: Measured) -> str:
    words = f"{one.what}, {one.data}"
    return words if len(words) <= 62 else f"{words[:61]}…"


def _grid(power: int, tall: int) -> str:
    x = _x(10.0**power)
    kind = "must" if power == 0 else "grid"
    return (
        f'<path class="{kind}" d="M{x:.1f} {TOP - 4}V{tall - 6}"/>'
        f'<text x="{x - 8:.1f}" y="{TOP - 10}">{10.0**power:g}</text>'
    )
