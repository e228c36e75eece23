"""Commands that are imported when somebody asks for them."""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from thresher.cli.failing import failing_well


class LazyGroup(click.Group):
    """A group that knows where its commands live, ``module:name``, and shows them in that order."""

    def __init__(self, *args: Any, places: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = places

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Understand the command line; --help and --version are written here."""
        with failing_well():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or write its --help."""
        with failing_well():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        if cmd_name not in self.places:
            return None
        module, name = self.places[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or say which one may have been."""
        word = args[0]
        if word.startswith("-") or word in self.places or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        close = get_close_matches(word, self.places, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"There is no command {word!r}.{meant}", ctx)
