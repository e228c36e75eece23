"""Tables in which something is not as it should be: never read wrongly in silence."""

import numpy as np
import pytest

from commands import run
from named_rows import read_text, small_chunks
from thresher import FTRLClassifier, load
from thresher.cli.failing import BAD_DATA, USAGE
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames
from thresher.data.sources.table import TableSource
from thresher.estimators.refitting import rows_like

N, AT = 1000, 500  # rows, and the one that may be dirty


def table(cell=None, seed=0):
    """Return a table of numbers, with one cell replaced."""
    values = np.random.default_rng(seed).normal(size=(N, 2)).round(3)
    lines = [f"{int(a + b > 0)},{a},{b}" for a, b in values]
    if cell is not None:
        lines[AT] = f"1,{cell},{values[AT, 1]}"
    return "\n".join(["label,a,b", *lines, ""])


DIRTY = {
    "1.2O": "'1.2O' is not a number, but 'a' was taken for a column of numbers, by its first",
    '"1,234"': "'1,234' is not a number, but 'a' was taken for a column of numbers",
    "#N/A": "'#N/A' is not a number: leave cells of 'a' empty where a number is missing",
    "<NA>": "'<NA>' is not a number: leave cells of 'a' empty",
    "#DIV/0!": "'#DIV/0!' is not a number: leave cells of 'a' empty",
    "None": "'None' is not a number: leave cells of 'a' empty",
    "--": "'--' is not a number: leave cells of 'a' empty",
    "NaN": "'NaN' is not finite: leave cells of 'a' empty",
}


@pytest.mark.parametrize("cell", DIRTY)
def test_a_dirty_cell_does_not_make_categories_of_numbers(cell):
    with pytest.raises(DataError) as caught:
        read_text(TableSource, table(cell), suffix=".csv")
    assert (caught.value.line, caught.value.column) == (AT + 2, 2)
    assert DIRTY[cell] in str(caught.value)
    assert "--on-error skip" in str(caught.value)


@pytest.mark.parametrize("cell", DIRTY)
def test_a_dirty_cell_costs_its_row_if_rows_may_be_skipped(cell):
    found = read_text(TableSource, table(cell), on_error="skip")
    whole = read_text(TableSource, table())
    assert found.source.skipped.count == 1
    assert found.rows == whole.rows[:AT] + whole.rows[AT + 1 :]


@pytest.mark.parametrize("n_bytes", [40, 1000, 1 << 20])
def test_it_does_not_matter_where_blocks_of_a_file_end(n_bytes):
    with small_chunks(n_rows=8192, n_bytes=n_bytes), pytest.raises(DataError) as caught:
        read_text(TableSource, table("oops"))
    assert caught.value.line == AT + 2


WARDS = "label,ward\n" + "1,3\n0,7\n1,7\n0,12a\n" * 5


def test_columns_can_be_said_to_hold_categories():
    with pytest.raises(DataError, match=r"'12a' is not .*--categories ward\)"):
        read_text(TableSource, WARDS)
    found = read_text(TableSource, WARDS, categories=["ward"])
    assert found.rows[:4] == [{"ward=3": 1}, {"ward=7": 1}, {"ward=7": 1}, {"ward=12a": 1}]
    assert found.source.decided is None
    with pytest.raises(DataError, match=r"no column 'town' for the categories\. There are 'label'"):
        read_text(TableSource, WARDS, categories=["town"])
    with pytest.raises(ValueError, match="categories='ward': give a list of columns"):
        read_text(TableSource, WARDS, categories="ward")
    with pytest.raises(ValueError, match="'label' is no feature, but label or weight"):
        read_text(TableSource, WARDS, categories=["ward", "label"])


def test_a_model_and_its_refits_know_what_was_said(tmp_path):
    path = tmp_path / "wards.csv"
    path.write_text(WARDS)
    model = FTRLClassifier(l1=0.0).fit_stream(path, categories=["ward"])
    model.save(tmp_path / "m.thresher")
    source = rows_like(load(tmp_path / "m.thresher"), [str(path)])
    assert len(list(source.chunks())) == 1
    assert source.names.categorical == {"ward": True}


def test_the_command_says_which_columns_are_categories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wards.csv").write_text(WARDS)
    (tmp_path / "shop.csv").write_text("label,price,colour\n" + "1,2.5,red\n0,1,blue\n" * 20)
    train = ("train", "-o", "m.thresher", "--method", "ftrl")
    for words in ((), ("--no-cache",)):
        said = run(*train, "shop.csv", *words)
        assert "Taken for categories, as most cells are words: 'colour'." in said.stderr
    result = run(*train, "wards.csv")
    assert result.exit_code == BAD_DATA
    assert "line 5, column 2: '12a' is not a number" in result.stderr
    assert run(*train, "wards.csv", "--categories", "ward").exit_code == 0
    assert run("predict", "m.thresher", "wards.csv").exit_code == 0
    assert load("m.thresher")._names.categorical == {"ward": True}
    result = run(*train, "rows.svm", "--categories", "ward")
    assert result.exit_code == USAGE
    assert "--categories is for tables without types (csv, tsv)" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("predict m.thresher shop.csv --categories price", "--categories price: the model has"),
        ("evaluate m.thresher shop.csv --categories colour,no", "--categories no: the model has"),
        ("predict m.thresher shop.csv --categories colour", None),
        ("train shop.csv -o n --categories colour,label", "--categories label: this column holds"),
        ("train shop.csv -o n --weight price --categories price", "this column holds the weight"),
        ("train shop.csv -o n --index-base 0", "those of csv rows have names"),
        ("predict m.thresher shop.csv --index-base 1", "those of csv rows have names"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.csv").write_text("label,price,colour\n" + "1,2.5,red\n0,1,blue\n" * 20)
    assert run("train", "shop.csv", "-o", "m.thresher", "--method", "ftrl").exit_code == 0
    result = run(*words.split())
    assert result.exit_code == (0 if message is None else USAGE)
    assert message is None or message in " ".join(result.stderr.split())


# --------------------------------------------------------------------------------------- headers

ROWS = ["1,2.5,7", "-0.0,1,-0.0", "1,,3", "1,NA,3", "0,1", "5", "1,2,3", "1e3,0,2"]


@pytest.mark.parametrize("first", ROWS)
@pytest.mark.parametrize("label", [None, "1"])
def test_a_row_is_not_taken_for_the_header(first, label):
    with pytest.raises(DataError, match=r"line 2: there seems to be no header.*label,a,b"):
        read_text(TableSource, f"\n{first}\n{first}\n", label=label)


def test_columns_may_be_called_by_numbers():
    assert read_text(TableSource, "0,1,2\n1,5,6\n", label="0").rows == [{"1": 5, "2": 6}]
    assert read_text(TableSource, "7,label\n5,1\n").rows == [{"7": 5}]
    names = GrowingNames(["7", "9"], {"7": False, "9": False})
    assert read_text(TableSource, "7,9\n5,6\n", names=names, labelled=False).rows == [
        {"7": 5, "9": 6}
    ]
