"""``thresher convert`` and ``thresher cache``: rows in binary form, which need no parsing."""

import json
from pathlib import Path
from typing import Any

import click

from thresher.cli.files import check_outputs, file_only, note_decided, note_skipped
from thresher.cli.options import (
    OUTPUT,
    Command,
    examples,
    files_argument,
    force_option,
    json_option,
    option,
    quiet_option,
    reading_from,
    reading_options,
)
from thresher.cli.screen import Progress, noting_warnings, say


@click.command(
    cls=Command,
    short_help="Convert rows to a binary file.",
    epilog=examples(
        "thresher convert rows.svm.gz -o all.rows",
        "thresher convert day*.csv --label clicked -o clicks.rows",
        "thresher train all.rows -o model.thresher",
    ),
)
@files_argument
@option("-o", "--output", required=True, metavar="FILE.rows", section=OUTPUT,
        help="The binary file.")  # fmt: skip
@force_option
@option("--unlabelled", is_flag=True, help="Rows may come without labels.")
@json_option("Print what was written as a JSON object.")
@reading_options
@quiet_option
def convert(
    files: tuple[str, ...],
    output: str,
    force: bool,
    unlabelled: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Convert FILEs (- is standard input) to one binary file, which other commands read.

    Binary rows need no parsing and know their number. They are checked for damage as they are read.
    """
    reading = reading_from(options)
    file_only(output, "Binary rows")
    check_outputs({"-o": output}, files, force)
    from thresher.formats.opening import open_rows, write_rows

    source = open_rows(files, labelled=not unlabelled, **reading)
    with noting_warnings(quiet), Progress("converting", quiet) as progress:
        write_rows(source, output, "binary", progress.reach)
    note_decided(source, quiet)
    note_skipped(source)
    size = Path(output).stat().st_size
    if as_json:
        facts = {"output": output, "rows": progress.rows, "bytes": size}
        click.echo(json.dumps({**facts, "skipped": source.skipped.count}))
    else:
        say(f"Wrote {output}: {progress.rows:,} rows, {size:,} bytes.", quiet)


@click.command(
    cls=Command,
    short_help="Show or clear the cache of rows.",
    epilog=examples("thresher cache", "thresher cache --clear"),
)
@option("--clear", is_flag=True, help="Delete all that the cache holds.")
@json_option("Print what there is as a JSON object.")
def cache(clear: bool, as_json: bool) -> None:
    """Show which rows are kept in binary form, or delete them.

    Large text that is read more than once is kept so, in the user's cache (~/.cache/thresher/rows).
    What has not been used for a month is deleted by itself, and all of it can be at any time.
    """
    from thresher.formats.cache import cache_folder, clear_cache, kept_rows

    if clear:
        freed = clear_cache()
        click.echo(json.dumps({"freed": freed}) if as_json else f"Freed {freed:,} bytes.")
        return
    kept = kept_rows()
    if as_json:
        known = [{"path": str(one.path), "bytes": one.n_bytes, "files": one.files} for one in kept]
        click.echo(json.dumps({"folder": str(cache_folder()), "kept": known}))
        return
    for one in kept:
        click.echo(f"{one.n_bytes:>15,} bytes  {', '.join(one.files)}")
    total = sum(one.n_bytes for one in kept)
    click.echo(f"{total:>15,} bytes  in {cache_folder()}")
