"""What a line, or a header, that cannot be read seems to be instead, and how to say so."""

import re

SEPARATORS = {"\t": "tabs", ";": "semicolons"}  # that a CSV file may have instead of commas
PAIR, PAIR_BEHIND = re.compile(rb"\s*\d+:"), re.compile(rb"[ \t]\d+:")  # svmlight's own


def instead_of_svmlight(row: bytes) -> str | None:
    """Return what to do with a line that seems to be no svmlight text; None if it may be some."""
    if row.lstrip().startswith(b"{"):
        return _looks_like("JSON lines", "jsonl")
    _, tab, rest = row.strip().partition(b"\t")
    if PAIR.match(rest) or (not tab and PAIR_BEHIND.search(row)):
        return None
    if tab:
        return _looks_like("labelled text, label<TAB>text", "text", tables=b"\t" in rest)
    if b"," in row:
        return _looks_like("CSV", "csv")
    if b";" in row:
        return "the line looks like a table with semicolons: write commas, and say format='csv'"
    return None


def refused_separator(columns: list[str]) -> str | None:
    """Return what is wrong with a header of one cell that has other separators in it."""
    found = [sep for sep in SEPARATORS if len(columns) == 1 and sep in columns[0]]
    if not found:
        return None
    remedy = "say format='tsv' (--format tsv)" if found[0] == "\t" else "write commas instead"
    return f"the header has {SEPARATORS[found[0]]} where commas are expected: {remedy}"


def _looks_like(what: str, form: str, tables: bool = False) -> str:
    table = ", or if it is a table, tsv" if tables else ""
    return f"the line looks like {what}: say format={form!r} (--format {form}){table}"
