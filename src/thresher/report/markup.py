"""Pieces of HTML whose text can never be taken for markup."""

from collections.abc import Mapping
from html import escape

from thresher.estimators.wording import printable


def text(words: str) -> str:
    """Return any words as a page can hold them."""
    return escape(printable(words), quote=True)


def tile(number: str, words: str) -> str:
    """Return a large number with a few words beneath it."""
    return f'<div class="tile"><strong>{text(number)}</strong><span>{text(words)}</span></div>'


def facts(pairs: Mapping[str, str]) -> str:
    """Return a list of names and what each of them is."""
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(words)}</dd>" for name, words in pairs.items())
    return f"<dl>{rows}</dl>"


def section(title: str, *inside: str) -> str:
    """Return a part of the page under its heading."""
    return f"<section><h2>{text(title)}</h2>{''.join(inside)}</section>"


def folded(title: str, inside: str) -> str:
    """Return a part of the page that opens when it is asked for."""
    return f"<details><summary>{text(title)}</summary>{inside}</details>"
