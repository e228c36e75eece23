"""``thresher convert`` and ``thresher cache``: rows in binary form, which need no parsing."""

from pathlib import Path
from typing import Any

import click

from thresher.cli import options as opt
from thresher.cli.files import (
    check_outputs,
    file_only,
    note_decided,
    note_skipped,
    refuse_unreadable,
)
from thresher.cli.screen import Progress, json_text, noting_warnings, say


@opt.command(
    "Convert rows to a binary file.",
    "thresher convert rows.svm.gz -o all.rows",
    "thresher convert day*.csv --label clicked -o clicks.rows",
    "thresher train all.rows -o model.thresher",
)
@opt.files
@opt.output("FILE.rows", "The binary file.")
@opt.force
@opt.option("--unlabelled", is_flag=True, help="Rows may come without labels.")
@opt.as_json("Print what was written as a JSON object.")
@opt.reading
@opt.quiet
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
    reading = opt.reading_from(options)
    file_only(output)
    check_outputs({"-o": output}, files, force)
    refuse_unreadable(files)
    from thresher.formats.binary_file import write
    from thresher.formats.opening import open_rows

    source = open_rows(files, labelled=not unlabelled, **reading)
    with noting_warnings(quiet), Progress("converting", quiet) as progress:
        write(source, output, progress.reach)
    note_decided(source, quiet)
    note_skipped(source)
    facts = {"output": output, "rows": progress.rows, "bytes": Path(output).stat().st_size}
    if as_json:
        click.echo(json_text({**facts, "skipped": source.skipped.count}))
    else:
        say(f"Wrote {output}: {facts['rows']:,} rows, {facts['bytes']:,} bytes.", quiet)


@opt.command("Show or clear the cache of rows.", "thresher cache", "thresher cache --clear")
@opt.option("--clear", is_flag=True, help="Delete all that the cache holds.")
@opt.as_json("Print a JSON object.")
def cache(clear: bool, as_json: bool) -> None:
    """Show which rows are kept in binary form, or delete them.

    Large text that is read more than once is kept so, in the user's cache (~/.cache/thresher/rows).
    What has not been used for a month is deleted by itself, and all of it can be at any time.
    """
    from thresher.formats.cache import cache_folder, clear_cache, kept_rows

    if clear:
        freed = clear_cache()
        click.echo(json_text({"freed": freed}) if as_json else f"Freed {freed:,} bytes.")
        return
    kept, folder = kept_rows(), str(cache_folder())
    if as_json:
        facts = [{**one._asdict(), "path": str(one.path)} for one in kept]
        click.echo(json_text({"folder": folder, "kept": facts}))
        return
    for one in kept:
        click.echo(f"{one.n_bytes:>15,} bytes  {', '.join(one.files)}")
    click.echo(f"{sum(one.n_bytes for one in kept):>15,} bytes  in {folder}")
