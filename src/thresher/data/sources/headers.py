"""The first line of a CSV or TSV file, which names the columns."""

from collections.abc import Collection, Sequence

from thresher.data.errors import DataError
from thresher.data.sources.cells import MISSING, says_number
from thresher.data.sources.fields import Malformed
from thresher.data.sources.other_formats import refused_separator
from thresher.data.sources.records import Records
from thresher.data.sources.tables import check_columns, listed

FEW = 3  # columns; fewer that are called 0 and 1 are as likely the cells of a row


def read_header(records: Records, known: Collection[str], file: str) -> list[str]:
    """Return the names of the columns; some may be known from elsewhere."""
    try:
        columns = next((cells for cells in records if cells), [])
    except Malformed as problem:
        raise DataError(problem.message, file=file, line=records.line) from None
    if not columns:
        raise DataError("has blank lines only: its first line must name the columns", file=file)
    columns = [name.strip() for name in columns]
    refusal = refused_separator(columns)
    if refusal is not None and not set(columns) <= set(known):
        raise DataError(refusal, file=file, line=records.line)
    if _is_row(columns) and not set(columns) <= set(known):
        raise DataError(
            f"there seems to be no header, as all cells of this line are numbers: "
            f"{listed(columns)}. Write a line with the columns' names above it, as in label,a,b; "
            "if these are the names, write some that are no numbers.",
            file=file,
            line=records.line,
        )
    check_columns(columns, file)
    return columns


def _is_row(columns: Sequence[str]) -> bool:
    """Return whether the first line is a row: numbers, and not the names 0, 1, 2, ... of pandas."""
    if len(columns) >= FEW and columns == [str(place) for place in range(len(columns))]:
        return False
    cells = {name.lower() for name in columns} - MISSING - {""}
    return bool(cells) and all(map(says_number, cells))
