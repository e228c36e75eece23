"""The selected features: names, weights as bars to either side of 0, probabilities, rows."""

from thresher.estimators.describing import Feature, Selection
from thresher.estimators.wording import done_for, false_selections_of
from thresher.report.markup import folded, text

AT_ONCE = 25  # features in sight; the others unfold

WIDTHS = '<col><col class="bars"><col class="numbers">{}<col class="counts">'
HEADS = '<th>feature<th class="middle">weight<th>{}<th>rows'


def table(selection: Selection, top: int) -> str:
    """Return the strongest features as a table, and how many there are beside them."""
    if not selection.features:
        return "<p>No feature has a weight: this model says the same of every row.</p>"
    most = max(abs(feature.weight) for feature in selection.features)
    shown = selection.features[:top]
    first, others = shown[:AT_ONCE], shown[AT_ONCE:]
    left = len(selection.features) - len(shown)
    return "".join(
        [
            _legend(selection),
            _table(first, most),
            folded(f"{len(others):,} more", _table(others, most)) if others else "",
            f'<p class="note">{left:,} weaker features are not shown.</p>' if left else "",
            *(f'<p class="note">{text(note)}</p>' for note in false_selections_of(selection)),
        ]
    )


def _legend(selection: Selection) -> str:
    right, left = '<b class="for">right</b>', '<b class="against">left</b>'
    if selection.positive is None:
        meaning = f"Weights to the {right} raise the prediction, those to the {left} lower it."
    else:
        positive = f"<b>{text(selection.positive)}</b>"
        meaning = f"Weights to the {right} speak for {positive}, those to the {left} against it."
    intercept = f"The intercept is {_signed(selection.intercept)}."
    return f'<p class="note">{" ".join([meaning, intercept, *map(text, done_for(selection))])}</p>'


def _table(features: list[Feature], most: float) -> str:
    """Return features as a table; all tables have the same widths."""
    judged = features[0].probability is not None
    widths = WIDTHS.format('<col class="shares">' if judged else "")
    heads = HEADS.format("<th>probability" if judged else "")
    rows = "".join(_row(feature, most) for feature in features)
    return (
        f"<table><colgroup>{widths}</colgroup><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _row(feature: Feature, most: float) -> str:
    """Return a feature as a row of the table."""
    side = "for" if feature.weight > 0 else "against"
    length = 50 * abs(feature.weight) / most
    return (
        f'<tr><th scope="row">{text(feature.name)}</th>'
        f'<td class="bar"><i class="{side}" style="width:{length:.2f}%"></i></td>'
        f'<td class="number {side}">{_signed(feature.weight)}</td>'
        f"{_probability(feature.probability)}"
        f'<td class="number">{feature.rows:,}</td></tr>'
    )


def _probability(probability: float | None) -> str:
    """Return a cell whose line grows with the probability."""
    if probability is None:
        return ""
    line = f'<i style="width:{100 * probability:.1f}%"></i>'
    return f'<td class="number share">{probability:.2f}<span>{line}</span></td>'


def _signed(number: float) -> str:
    """Return a number with its sign, as printers write it."""
    return f"{number:+.4g}".replace("-", "\N{MINUS SIGN}")
