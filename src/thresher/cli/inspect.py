"""``thresher inspect``: what a model is, and which features it selected."""

from typing import TYPE_CHECKING, Any

import click

from thresher.cli import options as opt
from thresher.cli.files import path_of
from thresher.cli.screen import json_text, printable

if TYPE_CHECKING:
    from rich.table import Table

    from thresher.estimators.base import LinearModel
    from thresher.winnow.path import Path

Tree = dict[str, Any]

BAR = 16  # characters of the longest bar
DIGITS = 16  # of a fingerprint, which are enough to tell data apart
ABOVE, BELOW = "cyan", "yellow"  # colours of what is above and below 0
LONGEST = 1 << 15  # columns of a table in a file or a pipe, whose lines are not folded
KNOWN = ("name", "class", "weight", "effect")
PATH = ("sizes", "loss", "loss_se", "error", "error_se")


@opt.command(
    "Show a model and what it selected.",
    "thresher inspect spam.thresher",
    "thresher inspect spam.thresher --top 100",
    "thresher inspect spam.thresher --sizes",
    "thresher inspect spam.thresher --json | jq -r '.features[].name'",
)
@opt.model
@opt.option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
            help="Show so many of the strongest features.")  # fmt: skip
@opt.option("--all", "everything", is_flag=True, help="Show all features.")
@opt.option("--sizes", is_flag=True, help="Show the models of all sizes instead, if there are any.")
@opt.as_json("Print all of it as a JSON object.")
def inspect(model: str, top: int, everything: bool, sizes: bool, as_json: bool) -> None:
    """Show what MODEL is, which features it selected, and how strong they are.

    Features are sorted by their effect, which the bars show: the change of the margin by one
    standard deviation of a measured column; of other columns the weight.
    """
    from thresher.estimators.saving import load

    fitted = load(model)
    if sizes:
        path = path_of(fitted)
        click.echo(json_text(path_tree(path)) if as_json else "\n".join(path_lines(path)))
        return
    tree = as_tree(fitted)
    click.echo(json_text(tree) if as_json else text_of(tree, None if everything else top))


def as_tree(model: "LinearModel") -> Tree:
    """Return all there is to show, as plain values."""
    from thresher.estimators.saving import parameters_tree
    from thresher.export.contents import Contents, formula

    fitted, known = model.fitted_, vars(model)
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
        "features": features_of(model),
    }
    if hasattr(model, "path_"):
        tree |= {"selection": model.why_selected(), "path": path_tree(model.path_)}
    return tree


def features_of(model: "LinearModel") -> list[Tree]:
    """Return the selected features, strongest first, each with the class where it is strongest."""
    import numpy as np

    from thresher.estimators.base import effects_of

    fitted, facts = model.fitted_, model.selection_facts()
    effects = effects_of(fitted)
    strongest = np.abs(effects).argmax(axis=0) if fitted.columns.size else effects[0]
    names, features = model.column_names(fitted.columns), []
    for k in np.argsort(-np.abs(effects).max(axis=0, initial=0.0), kind="stable"):
        output = strongest[k]
        one = {"name": names[k], "weight": fitted.weights[output, k], "effect": effects[output, k]}
        if fitted.n_outputs > 1 and fitted.labels is not None:
            one |= {"class": fitted.labels.tolist()[output], "weights": fitted.weights[:, k]}
        one |= {name: numbers[k] for name, numbers in facts.items()}
        features.append({name: getattr(v, "tolist", lambda v=v: v)() for name, v in one.items()})
    return features


def path_tree(path: "Path") -> Tree:
    """Return the models of all sizes as plain values."""
    columns = {name: getattr(path, name).tolist() for name in PATH}
    return {**columns, "null_loss": float(path.null_loss), "size": int(path.size)}


def path_lines(path: "Path") -> list[str]:
    """Return a line for every size: how well it predicts rows held out by folds."""
    lines = [f"{'size':>8}  {'held-out loss':>19}  {'held-out error':>19}"]
    for row in zip(*(getattr(path, name) for name in PATH), strict=True):
        line = "{:>8,}  {:>9.4f} ± {:<7.4f}  {:>9.4f} ± {:<7.4f}".format(*row)
        lines.append(f"{line}  *" if row[0] == path.size else line.rstrip())
    chosen = f"* is the size of the model. Without any feature the loss is {path.null_loss:.4f}."
    return [*lines, "", chosen]


# ---------------------------------------------------------------------------------- in a terminal


def text_of(tree: Tree, top: int | None) -> str:
    """Return a model as text, with so many of its features; None is all."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=LONGEST)
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    for name, words in facts_of(tree).items():
        facts.add_row(name, Text(printable(words)))
    shown = tree["features"][:top]
    with console.capture() as captured:
        console.print(Text(tree["method"], style="bold"), facts, Text(), sep="\n")
        if shown:
            console.print(_table(shown))
        console.print(Text(_legend(tree, len(shown)), style="dim"))
    # tables are padded to their full width, of no use to a file or a pipe
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def facts_of(tree: Tree) -> dict[str, str]:
    """Return what is worth a line."""
    from thresher.estimators.scores import in_one_line

    about, classes = dict(tree["provenance"]), tree["classes"]
    figures, files = about.pop("evaluation", None), about.pop("files", [])
    facts = {
        "loss": str(tree["parameters"].get("loss")),
        "classes": "" if classes is None else f"{len(classes)}: {', '.join(map(str, classes))}",
        "features": f"{len(tree['features']):,} selected of {tree['n_columns']:,} columns",
        "selection": " ".join(tree.get("selection", "").splitlines()),
        "passes": f"{tree['passes']:,}" if tree["passes"] and "path" not in tree else "",
        "prediction": "; ".join(tree["prediction"]),
        "evaluation": in_one_line(figures) if figures else "",
        "data": ", ".join([*files, (tree["data_fingerprint"] or "")[:DIGITS]]).removesuffix(", "),
        "seed": str(tree["parameters"].get("random_state")),
        "written by": ", ".join(f"{name} {version}" for name, version in about.items()),
    }
    return {name: words for name, words in facts.items() if words}


def _table(features: list[Tree]) -> "Table":
    """Return the features as a table, with bars of what they are sorted by."""
    from rich.bar import Bar
    from rich.table import Table
    from rich.text import Text

    numbers = ["weight"]
    if any(one["weight"] != one["effect"] for one in features):
        numbers.append("effect")
    words = ["name", "class"] if "class" in features[0] else ["name"]
    more = [name for name in features[0] if name not in (*KNOWN, "weights")]
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for name in words:
        table.add_column("feature" if name == "name" else name, overflow="fold")
    for name in (*numbers, "", *more):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    most = abs(features[0]["effect"]) or 1.0
    for one in features:
        colour = ABOVE if one["effect"] > 0 else BELOW
        cells = [Text(printable(str(one[name]))) for name in words]
        cells += [Text(f"{one[name]:+.4g}", style=colour) for name in numbers]
        bar = Bar(most, 0, abs(one["effect"]), width=BAR, color=colour)
        table.add_row(*cells, bar, *(f"{one[name]:.4g}" for name in more))
    return table


def _legend(tree: Tree, shown: int) -> str:
    """Return what weights mean, and how many are not shown."""
    classes, hidden = tree["classes"], len(tree["features"]) - shown
    if not shown:
        return "No feature has a weight."
    if classes is None:
        words = "Weights above 0 raise the prediction."
    elif len(classes) == 2:
        words = f"Weights above 0 are evidence for {printable(str(classes[1]))}."
    else:
        words = "Weights are for the class where the feature is strongest (all: --json)."
    return f"{words} {hidden:,} more features: --all shows them." if hidden else words
