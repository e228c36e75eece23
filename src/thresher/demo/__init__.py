"""A look at the library on data whose answer is known: ``python -m thresher.demo``."""

from thresher.demo.command import main

__all__ = ["main"]
