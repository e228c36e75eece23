"""Options of every command that reads rows."""

from collections.abc import Callable, Sequence
from typing import Any

import click

NAMED = ["csv", "tsv", "jsonl", "arrow"]  # formats whose columns have names
TABLES = ["csv", "tsv"]  # whose columns have no types
NUMBERED = ["svmlight", "arrow", "shards"]  # formats whose columns may be numbers
FORMATS = ["auto", "svmlight", "vw", "jsonl", "csv", "tsv", "text", "arrow", "shards"]

OPTIONS = [
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        default="auto",
        show_default=True,
        help="How the files are written; auto goes by their names.",
    ),
    click.option("--label", metavar="NAME", help="Column or key of the label.  [default: label]"),
    click.option("--weight", metavar="NAME", help="Column or key of the rows' weights."),
    click.option(
        "--categories",
        metavar="A,B,...",
        help="csv, tsv: columns that hold categories, even if their cells are numbers.",
    ),
    click.option(
        "--index-base",
        type=click.Choice(["auto", "0", "1"]),
        default="auto",
        show_default=True,
        help="svmlight: whether the first column is 0 or 1; auto looks at the first rows.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(1, 30),
        metavar="N",
        help="Number features by a hash of N bits instead of keeping a vocabulary.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        show_default=True,
        help="What to do with rows that cannot be read: stop, or leave out and count.",
    ),
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as keywords."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def reading_for(model: Any, options: dict[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """Return the same for rows that a fitted model is to read: it numbers features in its way."""
    reading = reading_from(options, files)
    _refuse_other_categories(model, reading["categories"])
    bits, wanted = getattr(getattr(model, "_names", None), "n_bits", None), reading["hash_bits"]
    if wanted is not None and wanted != bits:
        by = "without a hash" if bits is None else f"by a hash of {bits} bits"
        raise click.UsageError(
            f"--hash-bits {wanted}: the model numbers its features {by}, and its rows are read so. "
            "Leave it out."
        )
    return reading


def reading_from(options: dict[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """Take the options of reading out of a command's keywords, as ``open_source`` knows them."""
    from thresher.data.sources.opening import format_of

    base = options.pop("index_base")
    names = ("format", "label", "weight", "hash_bits", "on_error")
    taken = {name: options.pop(name) for name in names}
    form = format_of(files[0]) if taken["format"] == "auto" else taken["format"]
    for name in ("label", "weight"):
        if taken[name] is not None and form not in NAMED:
            raise click.UsageError(
                f"--{name} names a column or a key, and {form} rows have none: leave it out, or "
                f"say with --format how the file is written ({', '.join(NAMED)})."
            )
    if base != "auto" and form not in NUMBERED:
        raise click.UsageError(
            f"--index-base says how columns are counted, and those of {form} rows have names: "
            "leave it out."
        )
    return {
        **taken,
        "index_base": None if base == "auto" else int(base),
        "categories": _categories(options.pop("categories"), form, taken),
    }


def _refuse_other_categories(model: Any, wanted: Sequence[str]) -> None:
    """Refuse categories that were none in training, from which the model knows its columns."""
    kinds = getattr(getattr(model, "_names", None), "categorical", {})
    others = [name for name in wanted if not kinds.get(name)]
    if others:
        raise click.UsageError(
            f"--categories {','.join(others)}: the model has learned from no such categories, and "
            "reads its columns as in its training. Leave it out, or train with it."
        )


def _categories(given: str | None, form: str, taken: dict[str, Any]) -> list[str]:
    """Return the columns that are said to hold categories."""
    if given is None:
        return []
    if form not in TABLES:
        raise click.UsageError(
            f"--categories is for tables without types ({', '.join(TABLES)}), and these rows are "
            f"{form}: leave it out."
        )
    names = [name.strip() for name in given.split(",")]
    for what, column in {"label": taken["label"] or "label", "weight": taken["weight"]}.items():
        if column in names:
            raise click.UsageError(
                f"--categories {column}: this column holds the {what}, which is no feature. Leave "
                f"it out of --categories, or name another column with --{what}."
            )
    return names
