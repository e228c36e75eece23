"""Lines in another format than they are read as: messages say which it seems to be."""

import pytest

from named_rows import read_text
from svmlight_cases import refused, source_of
from thresher.data.errors import DataError
from thresher.data.sources.table import TableSource

HINTS = {
    "spam\tYou have won!": "label<TAB>text: say format='text' (--format text)",
    "1\tYou have won at 10:30": "(--format text)",
    "1\tBern\t30": "(--format text), or if it is a table, tsv",
    "label,age,town": "'label,age,town' is not svmlight text; the line looks like CSV: say format",
    "1,30,Bern": "(--format csv)",
    "1;30;Bern": "a table with semicolons: write commas, and say format='csv'",
    '{"label": 1}': "looks like JSON lines: say format='jsonl' (--format jsonl)",
}


@pytest.mark.parametrize("line", HINTS)
def test_what_is_no_svmlight_text_is_recognised(tmp_path, line):
    assert HINTS[line] in refused(source_of(tmp_path, f"{line}\n".encode())).message


@pytest.mark.parametrize("line", ["1,2 1:1", "x\t1:1 2:2", "1\t1:1\ta:2", "x 1:1", "1 a"])
def test_svmlight_text_with_a_fault_is_told_of_its_fault(tmp_path, line):
    assert "looks like" not in refused(source_of(tmp_path, f"{line}\n".encode())).message


def test_a_table_with_other_separators_is_told_so():
    with pytest.raises(DataError, match="line 1: the header has semicolons where commas are"):
        read_text(TableSource, "label;a\n1;2\n", suffix=".csv")
    with pytest.raises(DataError, match=r"has tabs .*format='tsv' \(--format tsv\)"):
        read_text(TableSource, "label\ta\n1\t2\n", suffix=".csv")
