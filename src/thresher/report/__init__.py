"""A fitted model as one HTML page that anybody can open, offline.

It shows what the model predicts and from what, how well, and its features.
"""

import os
from base64 import b64encode
from dataclasses import asdict
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from thresher.estimators.base import LinearModel, strengths
from thresher.estimators.saving import provenance
from thresher.estimators.scores import (
    ClassFigures,
    NumberFigures,
    evaluate,
    evaluate_stream,
    in_one_line,
)
from thresher.estimators.thresher import NOT_CLEAR
from thresher.export.contents import Contents, formula
from thresher.files.atomic import write_bytes
from thresher.formats.protocol import Source
from thresher.report.chart import path_chart
from thresher.winnow.path import Path

SHOWN = 500  # features in the table
FEW_ROWS, FEW_OF_CLASS = 100, 20  # with fewer rows, of all or of a class, the page warns
SCRIPT = """
for (const button of document.querySelectorAll("th button")) button.onclick = () => {
  const head = button.parentNode, body = head.closest("table").tBodies[0];
  const up = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up > 0 ? "ascending" : "descending");
  const key = row => row.cells[head.cellIndex].dataset.value ?? row.cells[head.cellIndex].innerText;
  const order = (a, b) => key(a).localeCompare(key(b), "en");
  const number = (a, b) => key(a) - key(b);
  const compare = "number" in head.dataset ? number : order;
  body.append(...[...body.rows].sort((a, b) => up * compare(a, b)));
};
"""

Figures = ClassFigures | NumberFigures
Facts = dict[str, str]


def write(
    model: LinearModel,
    path: str | os.PathLike[str],
    test: Source | tuple[Any, Any] | None = None,
) -> None:
    """Write a fitted model as one HTML page, see ``LinearModel.report``."""
    write_bytes(path, page(model, test).encode("utf-8", "xmlcharrefreplace"))


def page(model: LinearModel, test: Source | tuple[Any, Any] | None = None) -> str:
    """Return the page of a fitted model, evaluated by labelled rows if there are any."""
    figures, warnings = _evaluated(model, test)
    fitted = model.fitted_
    title = f"{type(model).__name__}: {fitted.columns.size:,} of {fitted.n_columns:,} features"
    parts = [
        f"<h1>{text(title)}</h1>",
        _warnings([*_doubts(model), *warnings]),
        _section("What it predicts", _facts(_purpose(model))),
        _section("How good it is", _quality(model, figures)),
        _section("Its features", _features(model)),
        _section("How it was made", _origin(model)),
    ]
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()  # no other script can run
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    template = Template(files(__name__).joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        title=text(title), policy=policy, script=SCRIPT, body="\n".join(filter(None, parts))
    )


# ----------------------------------------------------------------------------------------- markup


def text(words: Any) -> str:
    """Return anything as a page can show it; invisible characters are written out."""
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(words))
    return escape("".join(shown))


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{title}</h2>{inside}</section>"


def _facts(facts: Facts) -> str:
    rows = (f"<dt>{text(name)}</dt><dd>{text(words)}</dd>" for name, words in facts.items())
    return f"<dl>{''.join(rows)}</dl>"


def _note(words: str) -> str:
    return f'<p class="note">{text(words)}</p>'


def _warnings(warnings: list[str]) -> str:
    items = "".join(f"<li>{text(words)}</li>" for words in warnings)
    return f'<ul class="warnings" role="list">{items}</ul>' if items else ""


# ------------------------------------------------------------------------------------------- words


def _doubts(model: LinearModel) -> list[str]:
    """Return what is known against the model."""
    path, fitted, doubts = getattr(model, "path_", None), model.fitted_, []
    if path is not None and not path.clear:
        doubts.append(NOT_CLEAR)
    if not fitted.columns.size:
        doubts.append("No feature has a weight: the prediction is the same for every row.")
    counts = getattr(model, "row_counts_", None)
    if counts is None:
        return doubts
    if counts.sum() < FEW_ROWS:
        doubts.append(
            f"There were only {counts.sum():,} rows to learn from: other rows may give other "
            "features, and the held-out figures are rough."
        )
    if fitted.labels is not None:
        for label, count in zip(fitted.labels.tolist(), counts.tolist(), strict=True):
            if count < FEW_OF_CLASS:
                doubts.append(
                    f"The class {label} is rare: it has {count:,} of {counts.sum():,} rows, too "
                    "few to learn it or to measure how well it is predicted."
                )
    return doubts


def _purpose(model: LinearModel) -> Facts:
    """Return what the model predicts, and from what."""
    fitted, reading = model.fitted_, getattr(model, "reading_", {})
    predicted = "a number"
    if fitted.labels is not None:
        predicted = f"one of {fitted.labels.size:,} classes: {', '.join(map(str, fitted.labels))}"
    if reading.get("label"):
        predicted = f"{reading['label']}, {predicted}"
    used = f"{fitted.columns.size:,} features, selected from {fitted.n_columns:,} columns"
    counts = getattr(model, "row_counts_", None)
    rows = {} if counts is None else {"Learned from": _counted(counts, fitted.labels)}
    how = {"Computation": "; ".join(formula(Contents.of(model)))}
    return {"Prediction": predicted, "From": used, **rows, **how}


def _counted(counts: np.ndarray, labels: np.ndarray | None) -> str:
    """Return how many rows there were, of each class."""
    rows = f"{counts.sum():,} rows"
    if labels is None:
        return rows
    classes = zip(counts.tolist(), labels.tolist(), strict=True)
    return f"{rows}: {', '.join(f'{count:,} of {label}' for count, label in classes)}"


def _origin(model: LinearModel) -> str:
    """Return what the model was made by and from, and with which parameters."""
    known = vars(model)
    facts = {"method": type(model).__name__, **known.get("provenance_", provenance(model))}
    if "files" in facts:
        facts["files"] = ", ".join(facts["files"])
    if "evaluation" in facts:
        facts["evaluation"] = in_one_line(facts["evaluation"])
    if known.get("data_fingerprint_"):
        facts["fingerprint of the data"] = known["data_fingerprint_"]
    parameters = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    folded = f"<details><summary>All parameters</summary>{_facts(parameters)}</details>"
    return _facts(facts) + folded


# ----------------------------------------------------------------------------------------- quality


def _evaluated(
    model: LinearModel, test: Source | tuple[Any, Any] | None
) -> tuple[Figures | None, list[str]]:
    """Return how well labelled rows are predicted, and what is odd about them."""
    if test is None:
        return None, []
    if isinstance(test, tuple):
        return evaluate(model, *test), []
    figures, warning = evaluate_stream(model, test)
    return figures, [] if warning is None else [f"Test rows: {warning}"]


def _quality(model: LinearModel, figures: Figures | None) -> str:
    """Return how well the model predicts test rows, and rows that folds held out."""
    path = getattr(model, "path_", None)
    parts = [] if figures is None else [_facts({"On test rows": in_one_line(asdict(figures))})]
    if path is not None:
        of_numbers = model.fitted_.labels is None
        parts.append(_held_out(path, "squared error" if of_numbers else "error"))
    if not parts:
        return _note(
            "Nothing is known of it: the model learned a stream, or by a method that holds no rows "
            "out. Evaluate it by test rows (test=, or --test on the command line)."
        )
    return "".join(parts)


def _held_out(path: Path, error_name: str) -> str:
    """Return how well rows that folds held out are predicted, at the model's size and at others."""
    place, best = path.place(path.size), int(path.loss.argmin())
    facts = {
        f"Held-out {error_name}": f"{path.error[place]:.4g} ± {path.error_se[place]:.2g}",
        "Held-out loss": f"{path.loss[place]:.4g} ± {path.loss_se[place]:.2g}; without features "
        f"{path.null_loss:.4g}",
        "Best size": f"{path.sizes[best]:,} features, with the loss {path.loss[best]:.4g}",
    }
    note = _note(
        "Folds of the training rows were held out; ± is one standard error. They also chose the "
        "penalties and, unless it was given, the number of features: new rows may be predicted a "
        "little worse."
    )
    chart = path_chart(path, error_name) if path.sizes.size > 1 else ""
    return _facts(facts) + chart + note


# ---------------------------------------------------------------------------------------- features


def _features(model: LinearModel) -> str:
    """Return the strongest features as a table, and what its columns mean."""
    fitted = model.fitted_
    if not fitted.columns.size:
        return _note("No feature has a weight.")
    facts = {name: one for name, one in model.selection_facts().items() if name != "effect"}
    effects, names = strengths(fitted), model.column_names(fitted.columns)
    order = np.argsort(-effects, kind="stable")[:SHOWN].tolist()
    longest = effects[order[0]] or 1.0
    heads = ["feature", *(["class"] if fitted.n_outputs > 1 else []), "weight", "", *facts]
    rows = (
        _row(model, names[k], k, effects[k] / longest, [float(one[k]) for one in facts.values()])
        for k in order
    )
    return (
        f"{''.join(map(_note, _legend(model, list(facts))))}"
        f'<div class="scroll"><table><thead><tr>{"".join(map(_head, heads))}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _legend(model: LinearModel, facts: list[str]) -> list[str]:
    """Return what the table shows, in sentences."""
    fitted = model.fitted_
    n_left = fitted.columns.size - SHOWN
    if fitted.labels is None:
        meaning = "A weight above 0 raises the prediction."
    elif fitted.n_outputs == 1:
        meaning = f"A weight above 0 is for {fitted.labels[1]}, one below 0 for {fitted.labels[0]}."
    else:
        meaning = "Of each feature, the class with its largest weight is shown."
    meaning += " Bars compare effects in units that do not depend on what columns are measured in."
    if "frequency" in facts:
        meaning += " The frequency is the share of folds that select the feature."
    if "probability" in facts:
        meaning += " The probability is how often the feature was selected in training."
    left = [f"{n_left:,} weaker features are not shown."] if n_left > 0 else []
    return [meaning, *left]


def _head(name: str) -> str:
    if not name:
        return '<td class="bar"></td>'
    number = "" if name in ("feature", "class") else ' class="number" data-number'
    return f"<th{number}><button>{text(name)}</button></th>"


def _row(model: LinearModel, name: str, place: int, length: float, facts: list[float]) -> str:
    """Return a feature as a row of the table; the length of its bar is a share of the longest."""
    labels, weights = model.fitted_.labels, model.fitted_.weights[:, place]
    output = int(np.abs(weights).argmax())
    weight, side = float(weights[output]), "up" if weights[output] > 0 else "down"
    cells = [
        f'<th scope="row">{text(name)}</th>',
        f"<td>{text(labels[output])}</td>" if labels is not None and weights.size > 1 else "",
        _number(weight, f"{weight:+.4g}".replace("-", "\N{MINUS SIGN}")),
        f'<td class="bar"><i class="{side}" style="width:{50 * length:.2f}%"></i></td>',
        *(_number(fact, f"{fact:.2f}") for fact in facts),
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _number(number: float, shown: str) -> str:
    return f'<td class="number" data-value="{number!r}">{shown}</td>'
