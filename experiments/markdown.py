"""Tables as Markdown, and the places of pages that they fill."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from experiments.data import StudyError

NOTHING = "-"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def fill(page: Path, name: str, text: str) -> None:
    """Replace what a page has between ``<!-- name -->`` and ``<!-- end of name -->``."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    marked = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.DOTALL)
    old = page.read_text(encoding="utf-8")
    if len(marked.findall(old)) != 1:
        raise StudyError(f"{page} needs the marks {first} and {last} once, around its table.")
    page.write_text(marked.sub(lambda _: f"{first}\n{text}\n{last}", old), encoding="utf-8")
