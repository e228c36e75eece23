"""Fitted models for other programs: scikit-learn, ONNX, tables of weights.

A new kind of file is one function from ``Contents`` to bytes and one row in ``WRITERS``.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thresher.export.contents import Contents, Exportable
from thresher.export.onnx import to_onnx
from thresher.export.scikit_learn import to_scikit_learn
from thresher.export.tables import separated, to_json, to_parquet
from thresher.files.atomic import write_bytes

__all__ = ["WRITERS", "export", "to_sklearn"]

# How files are written, by the endings of their names.
WRITERS: dict[str, Callable[..., bytes]] = {
    ".csv": separated(","),
    ".tsv": separated("\t"),
    ".json": to_json,
    ".parquet": to_parquet,
    ".onnx": to_onnx,
}


def export(
    model: Exportable, path: str | os.PathLike[str], every_size: bool = False, **options: Any
) -> None:
    """Write a fitted model to a file for other programs; the ending of its name says for which.

    ``.csv``, ``.tsv``, ``.json`` and ``.parquet`` are tables of names and weights, ``.onnx`` is a
    graph; its option ``dtype`` ("float32" or "float64") is the type of its rows. A table of
    ``every_size`` has the models of all sizes of a model's path.
    """
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ValueError(
            f"{os.fspath(path)}: the ending says what is written, and it must be one of "
            f"{', '.join(WRITERS)}."
        )
    if every_size:
        options["sizes"] = _sizes(model)
    write_bytes(path, WRITERS[ending](Contents.of(model), **options))


def _sizes(model: Any) -> dict[int, Contents]:
    """Return the models of a path by their numbers of features."""
    if not hasattr(model, "path_"):
        raise ValueError(f"every_size=True: {type(model).__name__} has a model of one size only.")
    return {size: Contents.of(model.at_size(size)) for size in model.path_.sizes.tolist()}


def to_sklearn(model: Exportable) -> Any:
    """Return a fitted model as a plain scikit-learn estimator, or a pipeline of such."""
    return to_scikit_learn(Contents.of(model))
