"""A fitted model as one HTML page that anybody can open, offline."""

import os
from typing import TYPE_CHECKING, Any

from thresher.files.atomic import write_bytes

if TYPE_CHECKING:
    from thresher.estimators.base import LinearModel
    from thresher.formats.protocol import Source

__all__ = ["write"]


def write(
    model: "LinearModel",
    path: str | os.PathLike[str],
    test: "Source | tuple[Any, Any] | None" = None,
) -> None:
    """Write a fitted model as one HTML page, see ``LinearModel.report``."""
    from thresher.report.page import page

    write_bytes(path, page(model, test).encode("utf-8", "xmlcharrefreplace"))
