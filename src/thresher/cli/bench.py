"""``thresher bench``: times against peers.

The benchmarks are not part of the installed package: they live in the project's repository, and
this command starts them there.
"""

import subprocess
import sys
from pathlib import Path

import click

from thresher.cli.failing import INTERRUPTED
from thresher.cli.words import examples

BENCHMARKS = {
    "peers": "every classifier against scikit-learn's SGD",
    "width": "what columns cost that never occur",
}


def find_benchmarks(start: Path) -> Path | None:
    """Return the folder of benchmarks, at or above ``start``, if there is one."""
    for folder in (start, *start.parents):
        if all((folder / "benchmarks" / f"{name}.py").is_file() for name in BENCHMARKS):
            return folder / "benchmarks"
    return None


@click.command(
    short_help="Measure times against scikit-learn.",
    epilog=examples("thresher bench", "thresher bench peers --quick"),
)
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)), metavar="[peers] [width]")
@click.option("--quick", is_flag=True, help="Less data: numbers in a minute, not to be quoted.")
def bench(names: tuple[str, ...], quick: bool) -> None:
    """Measure how long training takes, side by side with scikit-learn.

    peers compares every classifier with scikit-learn's SGD; width measures what columns cost that
    never occur. Without a name both are run. This works inside a clone of the project's
    repository.
    """
    folder = find_benchmarks(Path.cwd())
    if folder is None:
        raise click.ClickException(
            "The benchmarks are not here. Run this command inside a clone of the project's "
            "repository, in the folder that contains benchmarks/."
        )
    for name in names or BENCHMARKS:
        click.echo(f"{name}: {BENCHMARKS[name]}", err=True)
        _run([sys.executable, f"{name}.py", *(["--quick"] if quick else [])], folder)


def _run(command: list[str], folder: Path) -> None:
    """Run a benchmark, and leave as it left if it failed."""
    try:
        code = subprocess.run(command, cwd=folder, check=False).returncode
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code:
        sys.exit(code)
