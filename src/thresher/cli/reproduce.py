"""``thresher reproduce``: the paper's tables and figures.

The study is not part of the installed package: its code and results live in the project's
repository, and this command starts it there.
"""

import subprocess
import sys
from pathlib import Path

import click

from thresher.cli.words import examples

HELP = {"-h", "--help"}


def find_study(start: Path) -> Path | None:
    """Return the project's folder, at or above ``start``, if it has the study in it."""
    for folder in (start, *start.parents):
        if (folder / "experiments" / "registry.toml").is_file():
            return folder
    return None


@click.command(
    short_help="Make the paper's tables and figures anew.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
    epilog=examples("thresher reproduce --quick", "thresher reproduce --help"),
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE STUDY]...")
@click.pass_context
def reproduce(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Make the paper's tables and figures from real data.

    The study is no part of the installed package: run this in a clone of the project's repository,
    where --help shows the study's own options.
    """
    folder = find_study(Path.cwd())
    if folder is None and HELP.intersection(words):
        click.echo(ctx.get_help())
        return
    if folder is None:
        raise click.ClickException(
            "The study is not here. Run this command inside a clone of the project's repository, "
            "in the folder that contains experiments/."
        )
    study = [sys.executable, "-m", "experiments", *words]
    try:
        sys.exit(subprocess.run(study, cwd=folder, check=False).returncode)
    except KeyboardInterrupt:  # the study has heard it too, and says how to go on
        sys.exit(130)
