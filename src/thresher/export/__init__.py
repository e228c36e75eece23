"""Fitted models for other programs: scikit-learn, ONNX, tables of weights.

A new kind of file is one function from ``Contents`` to bytes and one row in ``WRITERS``.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from thresher.estimators.base import LinearModel
from thresher.export.contents import Contents
from thresher.export.onnx import to_onnx
from thresher.export.scikit_learn import to_scikit_learn
from thresher.export.tables import separated, to_json, to_parquet
from thresher.files.atomic import write_bytes

if TYPE_CHECKING:
    from thresher.estimators.path_model import PathModel

__all__ = ["WRITERS", "Contents", "export", "to_scikit_learn"]

# How files are written, by the endings of their names.
WRITERS: dict[str, Callable[..., bytes]] = {
    ".csv": separated(","),
    ".tsv": separated("\t"),
    ".json": to_json,
    ".parquet": to_parquet,
    ".onnx": to_onnx,
}


def export(
    model: LinearModel, path: str | os.PathLike[str], every_size: bool = False, **options: Any
) -> None:
    """Write a fitted model to a file for other programs, see ``LinearModel.export``."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ValueError(
            f"{os.fspath(path)}: the ending says what is written, and it must be one of "
            f"{', '.join(WRITERS)}."
        )
    if every_size:
        options["sizes"] = _sizes(model)
    write_bytes(path, WRITERS[ending](Contents.of(model), **options))


def _sizes(model: LinearModel) -> dict[int, Contents]:
    """Return the models of a path by their numbers of features."""
    path = getattr(model, "path_", None)
    if path is None:
        raise ValueError(f"every_size=True: {type(model).__name__} has a model of one size only.")
    at_size = cast("PathModel", model).at_size
    return {size: Contents.of(at_size(size)) for size in path.sizes.tolist()}
