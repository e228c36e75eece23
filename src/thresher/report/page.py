"""The whole page: one file, nothing fetched from anywhere."""

from importlib.resources import files

from thresher.estimators.describing import Description, Selection
from thresher.estimators.wording import parameters_of, provenance_of
from thresher.report.curve import history_chart
from thresher.report.markup import facts, folded, section, text, tile
from thresher.report.reading import reading
from thresher.report.selected import table

# nothing on the page can run or load anything, whatever a feature is called
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(description: Description, title: str, top: int = 100) -> str:
    """Return a model's page, with so many features of each selection."""
    style = files("thresher.report").joinpath("style.css").read_text(encoding="utf-8")
    several = len(description.selections) > 1
    parts = [_selection(one, top, several) for one in description.selections]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{text(title)}</title>\n<style>\n{style}</style></head>\n<body><main>"
        f"{_header(description, title)}{''.join(parts)}{reading(description)}"
        f"{_origin(description)}"
        "</main></body></html>\n"
    )


def _header(description: Description, title: str) -> str:
    """Return what the model is, at a glance."""
    share = description.kept / max(description.width, 1)
    tiles = [
        tile(f"{description.kept:,}", "features kept"),
        tile(f"{description.width:,}", "columns in the data"),
        tile(_per_cent(share), "of the columns kept"),
    ]
    classes = ""
    if description.classes:
        tiles.append(tile(f"{len(description.classes):,}", "classes"))
        classes = f"<p class='note'>Classes: {text(', '.join(description.classes))}</p>"
    loss = description.parameters.get("loss")
    return (
        f"<header><p class='kicker'>{text(description.method)} · {text(str(loss))}</p>"
        f"<h1>{text(title)}</h1>{classes}"
        f"<div class='tiles'>{''.join(tiles)}</div>{_size(description)}</header>"
    )


def _size(description: Description) -> str:
    """Return why there are so many features, where the method has chosen."""
    choice = description.size_choice
    return f"<p class='note'><b>Why so many:</b> {text(choice['why'])}</p>" if choice else ""


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 else f"{100 * share:.1g} %"


def _selection(selection: Selection, top: int, several: bool) -> str:
    """Return what was selected and how it came to that."""
    of = f" for {selection.positive}" if several else ""
    parts = [section(f"What was selected{of}", table(selection, top))]
    if selection.history:
        parts.append(section(f"How it narrowed down{of}", history_chart(selection.history)))
    return "".join(parts)


def _origin(description: Description) -> str:
    """Return where the model comes from and how it was trained."""
    known = {**provenance_of(description), "passes over the rows": f"{description.passes:,}"}
    parameters = folded("All parameters", facts(parameters_of(description)))
    return section("Where it comes from", facts(known), parameters)
