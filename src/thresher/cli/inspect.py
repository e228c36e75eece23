"""``thresher inspect``: what a model has selected, and how it got there."""

import click

from thresher.cli.failing import fails_well
from thresher.cli.models import load_model, model_argument
from thresher.cli.words import examples, json_option


@click.command(
    short_help="Show a model and what it selected.",
    epilog=examples(
        "thresher inspect spam.thresher",
        "thresher inspect spam.thresher --top 100",
        "thresher inspect spam.thresher --json | jq '.selections[0].features[].name'",
    ),
)
@model_argument
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Show so many of the strongest features.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show all features.")
@json_option("Everything there is, as one JSON object.")
@fails_well
def inspect(model: str, top: int, everything: bool, as_json: bool) -> None:
    """Show what MODEL is, which features it selected, and how fast the others went.

    A feature's weight says for which class it speaks and how strongly; probability is how likely
    a refit on half of the rows is to select it (of stabilized: how often it was selected at the
    ends of bursts); rows is in how many rows of training it occurred.
    """
    fitted = load_model(model)
    from thresher.estimators.describing import describe

    description = describe(fitted)
    if as_json:
        import json

        click.echo(json.dumps(description.as_dict(), ensure_ascii=False))
        return
    from thresher.cli.tables import show

    show(description, None if everything else top)
