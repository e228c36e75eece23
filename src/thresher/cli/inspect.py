"""``thresher inspect``: what a model is, and which features it selected."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.files import load_model, path_of
from thresher.cli.options import Command, examples, json_option, model_argument, option
from thresher.cli.screen import json_text, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thresher.estimators.base import LinearModel

BAR = 16  # characters of the longest bar
DIGITS = 16  # of a fingerprint, which are enough to tell data apart
ABOVE, BELOW = "cyan", "yellow"  # colours of what is above and below 0
LONGEST = 1 << 15  # columns of a table in a file or a pipe, whose lines are not folded
PATH = ("sizes", "loss", "loss_error", "error", "error_error")


@click.command(
    cls=Command,
    short_help="Show a model and what it selected.",
    epilog=examples(
        "thresher inspect spam.thresher",
        "thresher inspect spam.thresher --top 100",
        "thresher inspect spam.thresher --sizes",
        "thresher inspect spam.thresher --json | jq -r '.features[].name'",
    ),
)
@model_argument
@option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
        help="Show so many of the strongest features.")  # fmt: skip
@option("--all", "everything", is_flag=True, help="Show all features.")
@option("--sizes", is_flag=True, help="Show the models of all sizes instead, if there are any.")
@json_option("Print all of it as a JSON object.")
def inspect(model: str, top: int, everything: bool, sizes: bool, as_json: bool) -> None:
    """Show what MODEL is, which features it selected, and how strong they are.

    Features are sorted by their effect, which the bars show: how much the margin changes by one
    standard deviation of a measured column; of other columns the weight.
    """
    fitted = load_model(model)
    if sizes:
        path = path_of(fitted)
        click.echo(json_text(path_tree(path)) if as_json else "\n".join(path_lines(path)))
    elif as_json:
        click.echo(json_text(as_tree(fitted)))
    else:
        _print(fitted, None if everything else top)


# --------------------------------------------------------------------------------- what there is


@dataclass(frozen=True)
class Feature:
    """A selected feature: its weight for the class where its effect is largest."""

    name: str
    label: Any
    weight: float
    effect: float
    weights: list[float]
    facts: dict[str, float]


def features_of(model: "LinearModel") -> list[Feature]:
    """Return the selected features, strongest first."""
    import numpy as np

    fitted, facts = model.fitted_, dict(model.selection_facts())
    units = fitted.preparation.raw_weights(fitted.columns, np.ones(fitted.columns.size))
    effects = np.divide(
        fitted.weights, units, out=np.zeros_like(fitted.weights), where=units > 0
    )
    best = np.abs(effects).argmax(axis=0) if fitted.columns.size else []
    labels = [None] if fitted.labels is None else fitted.labels.tolist()
    labels = labels[-1:] if fitted.n_outputs == 1 else labels
    names = model.column_names(fitted.columns)
    features = [
        Feature(
            name,
            labels[output],
            float(fitted.weights[output, k]),
            float(facts["effect"][k] if "effect" in facts else effects[output, k]),
            fitted.weights[:, k].tolist(),
            {fact: float(numbers[k]) for fact, numbers in facts.items() if fact != "effect"},
        )
        for k, (name, output) in enumerate(zip(names, best, strict=True))
    ]
    return sorted(features, key=lambda one: -abs(one.effect))


def as_tree(model: "LinearModel") -> dict[str, Any]:
    """Return all there is to show, as plain values."""
    from thresher.estimators.saving import parameters_tree
    from thresher.export.contents import Contents, formula

    fitted, known = model.fitted_, vars(model)
    features = [
        {
            "name": one.name,
            "weight": one.weight if len(one.weights) == 1 else one.weights,
            "effect": one.effect,
            **one.facts,
        }
        for one in features_of(model)
    ]
    tree = {
        "method": type(model).__name__,
        "classes": None if fitted.labels is None else fitted.labels.tolist(),
        "n_columns": fitted.n_columns,
        "passes": known.get("n_iter_"),
        "intercepts": fitted.intercepts.tolist(),
        "prediction": formula(Contents.of(model)),
        "parameters": parameters_tree(model),
        "data_fingerprint": known.get("data_fingerprint_"),
        "provenance": known.get("provenance_", {}),
        "features": features,
    }
    return {**tree, "path": path_tree(path_of(model))} if hasattr(model, "path_") else tree


def path_tree(path: Any) -> dict[str, Any]:
    """Return the models of all sizes as plain values."""
    columns = {name: [one.item() if hasattr(one, "item") else one for one in getattr(path, name)]
               for name in PATH}  # fmt: skip
    return {**columns, "null_loss": float(path.null_loss), "size": int(path.size)}


# ---------------------------------------------------------------------------------- in a terminal


def path_lines(path: Any) -> list[str]:
    """Return a line for every size: how well it predicts rows held out by folds."""
    lines = [f"{'size':>8}  {'held-out loss':>20}  {'held-out error':>20}"]
    for size, loss, loss_error, error, error_error in zip(
        *(getattr(path, name) for name in PATH), strict=True
    ):
        line = f"{size:>8,}  {loss:>10.4f} ± {loss_error:<7.4f}  {error:>10.4f} ± {error_error:<7.4f}"
        lines.append(f"{line}  *" if size == path.size else line.rstrip())
    chosen = f"* is the size of the model. Without any feature the loss is {path.null_loss:.4f}."
    return [*lines, "", chosen]


def _print(model: "LinearModel", top: int | None) -> None:
    """Print a model, with so many of its features; None is all."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=LONGEST)
    with console.capture() as captured:
        for part in _parts(model, top):
            console.print(part)
    # tables are padded to their full width, of no use to a file or a pipe
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _parts(model: "LinearModel", top: int | None) -> "Iterator[RenderableType]":
    from rich.table import Table
    from rich.text import Text

    yield Text(type(model).__name__, style="bold")
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    for name, words in facts_of(model).items():
        facts.add_row(name, Text(printable(words)))
    yield facts
    yield Text()
    features = features_of(model)
    if not features:
        yield Text("No feature has a weight.")
        return
    yield _table(features[:top], model.fitted_.preparation.measured.size > 0)
    yield Text(_legend(model, len(features) - len(features[:top])), style="dim")


def facts_of(model: "LinearModel") -> dict[str, str]:
    """Return what is worth a line of a model."""
    from thresher.export.contents import Contents, formula

    fitted, known = model.fitted_, vars(model)
    about = dict(known.get("provenance_", {}))
    evaluation, trained_on = about.pop("evaluation", None), about.pop("files", None)
    facts = {"loss": str(known.get("loss"))}
    if fitted.labels is not None:
        facts["classes"] = f"{len(fitted.labels)}: {', '.join(map(str, fitted.labels.tolist()))}"
    facts["features"] = f"{fitted.columns.size:,} selected of {fitted.n_columns:,} columns"
    if "n_iter_" in known:
        facts["passes"] = f"{known['n_iter_']:,}"
    facts["prediction"] = "; ".join(formula(Contents.of(model)))
    if evaluation:
        facts["evaluation"] = evaluation_words(evaluation)
    if trained_on:
        facts["data"] = ", ".join(trained_on)
    if known.get("data_fingerprint_"):
        facts["fingerprint"] = known["data_fingerprint_"][:DIGITS]
    facts["seed"] = str(known.get("random_state"))
    facts["written by"] = ", ".join(f"{name} {version}" for name, version in about.items())
    return facts


def evaluation_words(figures: dict[str, Any]) -> str:
    """Return in one line how well a model predicted rows."""
    parts = [f"{figures['rows']:,} rows of {figures['of']}"]
    if figures.get("error") is not None:
        parts.append(f"error {100 * figures['error']:.2f} %")
    for name, words in {"log_loss": "log loss", "auc": "AUC", "r2": "R2", "rmse": "RMSE"}.items():
        if figures.get(name) is not None:
            parts.append(f"{words} {figures[name]:.4g}")
    return ", ".join(parts)


def _table(features: list[Feature], measured: bool) -> "RenderableType":
    """Return the features as a table, with bars of what they are sorted by."""
    from rich.table import Table
    from rich.text import Text

    several = len(features[0].weights) > 1
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("feature", overflow="fold")
    if several:
        table.add_column("class", overflow="fold")
    for name in ("weight", "effect") if measured else ("weight",):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", width=BAR, no_wrap=True)
    for name in features[0].facts:
        table.add_column(name, justify="right", no_wrap=True)
    most = max(abs(one.effect) for one in features) or 1.0
    for one in features:
        colour = ABOVE if one.effect > 0 else BELOW
        cells = [Text(printable(one.name))]
        cells += [Text(printable(str(one.label)))] if several else []
        numbers = (one.weight, one.effect) if measured else (one.weight,)
        cells += [Text(f"{number:+.4g}", style=colour) for number in numbers]
        cells.append(Text(bar(abs(one.effect) / most, BAR), style=colour))
        table.add_row(*cells, *(f"{number:.4g}" for number in one.facts.values()))
    return table


def _legend(model: "LinearModel", hidden: int) -> str:
    """Return what weights mean, and how many are not shown."""
    labels = model.fitted_.labels
    if labels is None:
        words = "Weights above 0 raise the prediction."
    elif len(labels) == 2:
        words = f"Weights above 0 are evidence for {printable(str(labels[1]))}."
    else:
        words = "Each weight is for the class where the feature is strongest (all: --json)."
    return f"{words} {hidden:,} more features: --all shows them." if hidden else words


def bar(share: float, width: int) -> str:
    """Return a bar as long as a share of the width, to an eighth of a character."""
    whole, rest = divmod(round(share * width * 8), 8)
    return "█" * whole + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")
