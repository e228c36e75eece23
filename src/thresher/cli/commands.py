"""The commands, their help, and what a shell completes."""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from thresher import __version__
from thresher.cli import options as opt
from thresher.cli.failing import MEANINGS, failing_well

# Where commands live, in the order of a day's work; each is imported when it is needed.
PLACES = {
    "train": "train",
    "predict": "predict",
    "inspect": "inspect",
    "evaluate": "evaluate",
    "report": "export",
    "export": "export",
    "convert": "convert",
    "cache": "convert",
    "demo": "commands",
    "completion": "commands",
}
FIRST_STEPS = opt.epilog(
    "thresher demo",
    "thresher train rows.svm -o spam.thresher",
    "thresher inspect spam.thresher",
    "thresher predict spam.thresher new.svm > labels.txt",
)
RULE = (
    "No command replaces a file that is there, unless it has --force, and none ever replaces what "
    "it reads. Files are written whole or not at all."
)
CODES = f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}."


class Commands(click.Group):
    """Commands that are imported one by one; whatever goes wrong ends with a code of its own."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; --help and --version are written here."""
        with failing_well():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or write its --help."""
        with failing_well():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now, or name one that may have been meant."""
        if cmd_name.startswith("-") or (ctx.resilient_parsing and cmd_name not in PLACES):
            return None
        if cmd_name not in PLACES:
            close = get_close_matches(cmd_name, PLACES, n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise click.UsageError(f"There is no command {cmd_name!r}.{meant}", ctx)
        found: click.Command = getattr(import_module(f"thresher.cli.{PLACES[cmd_name]}"), cmd_name)
        return found


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{FIRST_STEPS}\n\n{RULE}\n\n{CODES}",
)
@click.version_option(__version__)
def thresher() -> None:
    """Small, stable, accurate linear models for sparse data, learned online."""


@opt.command(
    "Select planted words from generated documents.", "thresher demo", "thresher demo --quick"
)
@opt.option("--quick", is_flag=True, help="Fewer documents and words.")
@opt.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Their seed.")
def demo(quick: bool, seed: int) -> None:
    """Train on generated documents, in which a few known words decide the class.

    It prints how many of them are found, and how well new documents are predicted.
    """
    from thresher.demo import main

    main(quick, seed)


@opt.command(
    "Print a shell's completion script.",
    "thresher completion bash >> ~/.bashrc",
    "thresher completion zsh >> ~/.zshrc",
    "thresher completion fish > ~/.config/fish/completions/thresher.fish",
    'eval "$(thresher completion bash)"    # in this shell only',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script with which a shell completes commands, options and files.

    Put it where the shell reads it when it starts, then open a new shell and press Tab.
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    if complete is None:
        raise click.ClickException(f"This version of click completes nothing in {shell}.")
    click.echo(complete(thresher, {}, "thresher", "_THRESHER_COMPLETE").source())
