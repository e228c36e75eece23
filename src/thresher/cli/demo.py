"""``thresher demo``: a first look, on data whose answer is known."""

import click

from thresher.cli.words import examples


@click.command(
    short_help="Show all methods on planted data.",
    epilog=examples("thresher demo", "thresher demo --quick"),
)
@click.option("--quick", is_flag=True, help="Less data: a first look in a few seconds.")
def demo(quick: bool) -> None:
    """Train all seven classifiers on planted data and show what they select."""
    from thresher.demo import main as run_demo

    run_demo(["--quick"] if quick else [])
