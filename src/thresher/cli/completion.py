"""``thresher completion``: the shell completes commands, options and files."""

import click

from thresher.cli.failing import fails_well
from thresher.cli.words import examples

SHELLS = ["bash", "zsh", "fish"]
VARIABLE = "_THRESHER_COMPLETE"


@click.command(
    short_help="Print a shell's completion script.",
    epilog=examples(
        "thresher completion bash >> ~/.bashrc",
        "thresher completion zsh >> ~/.zshrc",
        "thresher completion fish > ~/.config/fish/completions/thresher.fish",
        'eval "$(thresher completion bash)"    # just in this shell',
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@fails_well
def completion(shell: str) -> None:
    """Print the script with which a shell completes thresher's commands and options.

    Put it where the shell reads it when it starts, as below, then open a new shell and press Tab
    after thresher.
    """
    from click.shell_completion import get_completion_class

    from thresher.cli.main import main

    complete = get_completion_class(shell)
    if complete is None:
        raise click.ClickException(f"This version of click completes nothing in {shell}.")
    click.echo(complete(main, {}, "thresher", VARIABLE).source())
