"""The commands and their help."""

import click

from thresher import __version__
from thresher.cli.reproduce import reproduce


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: thresher demo",
)
@click.version_option(__version__)
def main() -> None:
    """Small, stable, accurate linear models for sparse data, learned online."""


@main.command(epilog="Example: thresher demo --quick")
@click.option("--quick", is_flag=True, help="Less data: a first look in a few seconds.")
def demo(quick: bool) -> None:
    """Train all seven classifiers on planted data and show what they select."""
    from thresher.demo import main as run_demo

    run_demo(["--quick"] if quick else [])


main.add_command(reproduce)
