"""``thresher convert``: rows as binary shards, which are read at the speed of memory."""

from pathlib import Path
from typing import Any

import click

from thresher.cli.failing import fails_well
from thresher.cli.places import STANDARD, CannotWrite, keep_apart, keep_out
from thresher.cli.progress import Progress
from thresher.cli.reading import reading_from, reading_options
from thresher.cli.skipping import say_skipped
from thresher.cli.words import examples, json_option, quiet_option, say, warnings_said


@click.command(
    short_help="Convert files to binary shards.",
    epilog=examples(
        "thresher convert rows.svm.gz -o rows.shards",
        "thresher convert day*.csv --label clicked -o clicks.shards",
        "thresher train rows.shards -o model.thresher",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "folder", required=True, metavar="FOLDER", help="Where the shards go.")
@click.option("--force", is_flag=True, help="Replace shards that are there already.")
@click.option("--unlabelled", is_flag=True, help="Rows may come without labels.")
@json_option("Say what was written as one JSON object.")
@reading_options
@quiet_option
@fails_well
def convert(
    files: tuple[str, ...],
    folder: str,
    force: bool,
    unlabelled: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Convert FILEs (- is standard input) to a FOLDER of shards.

    Shards are checked for damage when they are read, need no parsing and no more memory than
    their rows in use, and know their number of rows. Train, predict and evaluate take the FOLDER
    as they take files. It is there in full or not at all.
    """
    if folder == STANDARD:
        raise CannotWrite("Shards are a folder, not a stream: name one with -o.")
    keep_apart({"-o": folder}, files)
    keep_out(folder, files)
    if Path(folder).exists() and not force:
        raise CannotWrite(f"{folder} exists: choose another name, or say --force to replace it.")
    from thresher.data.sources.opening import open_source
    from thresher.data.sources.protocol import Reading
    from thresher.data.sources.shard_writer import write_shards

    how = Reading(**reading_from(options, files), labelled=not unlabelled)
    source = open_source(files, how)
    with Progress("converting", quiet=quiet) as shown, warnings_said(quiet):
        written = write_shards(source, folder, shown.reach)
    say_skipped(source)
    _tell(folder, written, shown, as_json, quiet)


def _tell(folder: str, written: Any, shown: Progress, as_json: bool, quiet: bool) -> None:
    """Say what was written."""
    if as_json:
        import json

        facts = {"folder": folder, "rows": written.n_rows, "columns": written.width}
        click.echo(json.dumps({**facts, "shards": written.n_shards}))
        return
    shards = "1 shard" if written.n_shards == 1 else f"{written.n_shards:,} shards"
    say(f"Wrote {folder}: {shards}, {written.width:,} columns, {shown.words()}.", quiet)
