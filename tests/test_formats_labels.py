"""Labels: which classes a source has, what is no class, and what is ignored in prediction."""

import json

import numpy as np
import pandas as pd
import pytest

from format_cases import every, read_text, refused
from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError
from thresher.formats.given import GivenSource
from thresher.formats.labels import (
    LOOKED_AT,
    MOST_LOOKED_AT,
    find_classes,
    first_missing,
    first_time,
    tidy_labels,
)
from thresher.formats.protocol import PeekedSource


def given(labels, size=1000, once=False):
    """Return a source of rows without features."""
    labels = np.asarray(labels)
    parts = [labels[k : k + size] for k in range(0, len(labels), size)]
    items = [(np.zeros((len(part), 1)), part) for part in parts]
    return GivenSource(iter(items) if once else items)


@every(
    ("labels", "classes"),
    [
        ([2.0, 7.0, 2.0], [2, 7]),
        ([3, 1, 2], [1, 2, 3]),
        (["b", "a", "b"], ["a", "b"]),
        ([2**53, 2**53 + 1], [2**53, 2**53 + 1]),  # integers of a program are exact
    ],
)
def test_classes_are_those_of_the_rows(labels, classes):
    _, found = find_classes(given(labels))
    assert found.tolist() == classes


@every("size", [100, 5000, 100_000])
def test_the_first_rows_tell_wherever_chunks_end(size):
    labels = np.zeros(3 * LOOKED_AT, np.int64)
    labels[10], labels[LOOKED_AT] = 1, 2
    source, classes = find_classes(given(labels, size))
    assert classes.tolist() == [0, 1]
    assert isinstance(source, GivenSource)
    late = np.zeros(MOST_LOOKED_AT + 5, np.int64)
    late[2 * LOOKED_AT] = 1
    assert find_classes(given(late, size))[1].tolist() == [0, 1]


def test_rows_that_were_looked_at_are_still_there():
    source, _ = find_classes(given([1, 2, 3, 4], 2, once=True))
    assert isinstance(source, PeekedSource)
    assert not source.rewinds
    chunks = list(source.chunks())
    assert [chunk.labels.tolist() for chunk in chunks] == [[1, 2], [3, 4]]
    assert (source.n_rows, source.names, source.skipped.count, source.decided) == (4, None, 0, [])


NO_CLASSES = {
    "fractions": ([0.5, 1.0], "0.5 is not a whole number, so labels seem to be numbers to predict"),
    "large": ([1e300, 1.0], r"beyond 2\^53, where neighbours cannot be distinguished"),
    "one": ([1, 1], "All rows looked at are of class 1: a classifier needs two"),
    "none": ([], "not a single row to learn from"),
}


@every("case", NO_CLASSES)
def test_what_is_no_class(case):
    labels, message = NO_CLASSES[case]
    with pytest.raises(DataError, match=message):
        find_classes(given(labels))


def test_rows_without_labels_have_no_classes():
    rows = Chunk.of(np.eye(2))
    source = GivenSource([rows.rows], labelled=False)
    with pytest.raises(DataError, match="The rows have no labels"):
        find_classes(source)


def test_labels_that_are_none_or_times():
    moments = pd.Series(pd.to_datetime(["2020-01-01", None]))
    for missing in ([1, np.nan], ["a", None], [1, pd.NA], np.array([1, pd.NaT], object)):
        assert first_missing(np.array(missing, object)) == 1
    assert first_missing(np.array([1.0, np.nan])) == 1
    assert first_missing(np.array(["", "a"])) is None
    assert first_time(moments.to_numpy()) == 0
    assert first_time(np.array([1, pd.Timestamp(0)], object)) == 1
    assert first_time(np.array([1, 2])) is None
    assert tidy_labels(np.array([1.0, 2.0])).dtype == np.int64
    assert tidy_labels(np.array([1.0, 2.5])).dtype == np.float64
    assert tidy_labels(np.array([1.0, 2.0**53])).dtype == np.float64


STRANGE = ["x", "nan", "1,2", "1", "-inf", "0012", ""]
ROWS = {
    "svmlight": lambda label: f"{label} 1:2 2:1\n",
    "csv": lambda label: f'"{label}",2,1\n',
    "vw": lambda label: f"{label} | a:2 b:1\n",
    "jsonl": lambda label: json.dumps({"label": label, "a": 2, "b": 1}) + "\n",
    "text": lambda label: f"{label}\taa aa bb\n",
}


@every("form", ROWS)
def test_strange_labels_do_not_matter_in_prediction(form):
    header = "label,a,b\n" if form == "csv" else ""
    text = header + "".join(map(ROWS[form], STRANGE))
    found = read_text(form, text, ignore_labels=True)
    assert [sorted(row.values()) for row in found.rows] == [[1, 2]] * len(STRANGE)
    assert found.labels == [None] * len(STRANGE)
    if form != "jsonl":  # there strings are labels, whatever they are
        refused(form, text)


def test_labels_of_any_kind_in_json_and_svmlight():
    for label in ([1, 2], {"a": 1}, 10**400, None, True):
        text = json.dumps({"label": label, "a": 3})
        assert read_text("jsonl", text, ignore_labels=True).rows == [{"a": 3}]
    text = "x qid:3 1:2 # a comment\n1:2\n" + "9" * 30 + " 1:2\nx # none\né 1:2\n"
    found = read_text("svmlight", text, ignore_labels=True)
    assert [len(row) for row in found.rows] == [1, 1, 1, 0, 1]
    assert "'z' is not a pair" in refused("svmlight", "y 1:2 z\n", ignore_labels=True).message
    assert "carriage return" in refused("svmlight", "x\r1:2\n", ignore_labels=True).message
