"""Rows that were left out are never left out silently."""

from typing import Any

from thresher.cli.words import say


def say_skipped(source: Any) -> None:
    """Tell how many rows could not be read, and which: all of them, or the first few."""
    skipped = source.skipped
    if not skipped.count:
        return
    rows = "1 row" if skipped.count == 1 else f"{skipped.count:,} rows"
    say(f"{rows} left out, as nothing could be made of them:")
    for example in skipped.examples:
        say(f"  {example}")
    if skipped.count > len(skipped.examples):
        say(f"  ... and {skipped.count - len(skipped.examples):,} more")
