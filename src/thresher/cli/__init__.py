"""The command ``thresher``: words and paths. Heavy imports wait until a command needs them."""

from thresher.cli.main import main

__all__ = ["main"]
