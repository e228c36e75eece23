"""Rows, labels and weights of kinds that cannot be learnt: said where, and what to do."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cases import labelled_rows, make, numbered_rows, stream
from thresher import DataError

ROWS, LABELS = labelled_rows()
DENSE = ROWS.toarray()
NUMBERS = numbered_rows()[1]


def small(**changes):
    return make("FTRLClassifier", **changes)


def frame(**columns):
    """Return the rows as a data frame, with some columns replaced."""
    return pd.DataFrame(DENSE, columns=[f"word {j}" for j in range(40)]).assign(**columns)


def stained(value, row=4, column=2):
    """Return the rows as objects, one of them replaced."""
    rows = DENSE.astype(object)
    rows[row, column] = value
    return rows


# ---------------------------------------------------------------------------------------- rows

WORDS = {
    "an array": (stained("elm"), r"X has 'elm' at row 4, column 2, .*OneHotEncoder"),
    "a frame": (frame(**{"word 7": "elm"}), r"X has 'elm' at row 0, column 7 \('word 7'\)"),
    "categories": (
        frame(**{"word 7": pd.Categorical(["elm"] * 60)}),
        r"X has 'elm' at row 0, column 7 \('word 7'\)",
    ),
    "dates": (frame(**{"word 7": pd.Timestamp("2020-01-01")}), r"row 0, column 7 \('word 7'\)"),
    "numerals and a word": (stained("1.5").astype(str) + np.array(["", "x"] * 20), "column 1,"),
    "texts": (["elm and oak"] * 60, "X is a list of texts: .*TfidfVectorizer"),
}


@pytest.mark.parametrize("case", WORDS)
def test_words_are_told_with_their_place(case):
    rows, message = WORDS[case]
    model = small()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(rows, LABELS)
    model.fit(frame() if isinstance(rows, pd.DataFrame) else DENSE, LABELS)
    with pytest.raises(ValueError, match=message):
        model.predict(rows)


TIMES = {
    "datetime64": np.full((60, 2), "2020-01-01", "datetime64[D]"),
    "timedelta64": np.ones((60, 2), "timedelta64[s]"),
    "NaT": np.full((60, 2), "NaT", "datetime64[ns]"),
    "lists": [[np.datetime64("2020-01-01")]] * 60,
    "objects": stained(np.timedelta64(1, "D"), row=0, column=0),
    "a frame": pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60)}),
    "a frame of NaT": pd.DataFrame({"span": pd.to_timedelta([None] * 60)}),
    "zones": pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60, tz="UTC")}),
}


@pytest.mark.parametrize("case", TIMES)
def test_times_are_no_numbers(case):
    """NumPy and scikit-learn make days and nanoseconds of them."""
    rows, message = TIMES[case], "at row 0, column 0.*, where there must be a number"
    model = small()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(rows, LABELS)
    numbers = np.zeros(np.shape(rows)) + LABELS[:, None]
    if isinstance(rows, pd.DataFrame):
        numbers = pd.DataFrame(numbers, columns=rows.columns)
    with pytest.raises(ValueError, match=message):
        model.fit(numbers, LABELS).predict(rows)


def test_rows_of_different_lengths_are_refused_as_ever():
    with pytest.raises(ValueError, match="inhomogeneous"):
        small().fit([[1, 2], [3]], [0, 1])


def test_two_columns_of_one_name_are_refused():
    twice = frame().rename(columns={"word 7": "word 3"})
    for call in (small().fit, small().fit(frame(), LABELS).score):
        with pytest.raises(ValueError, match="Two columns of X are called 'word 3'"):
            call(twice, LABELS)


def strayed(column, index_type=np.int32):
    """Return sparse rows, the third entry of which stands in a column that there is not."""
    rows = sparse.csr_array(DENSE)
    indices = rows.indices.astype(index_type)
    indices[2] = column
    return sparse.csr_array((rows.data, indices, rows.indptr.astype(index_type)), rows.shape)


@pytest.mark.parametrize("column", [40, 1000, -1, 2**31 - 1])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_entries_beside_all_columns_are_refused(column, index_type):
    """Kernels would write to whatever stands there."""
    message = rf"an entry at row 0, column {column}, but its shape is \(60, 40\)"
    stray = strayed(column, index_type)
    for call in (small().fit, small().partial_fit):
        with pytest.raises(ValueError, match=message):
            call(stray, LABELS)
    with pytest.raises(ValueError, match=message):
        small().fit_stream([(stray, LABELS)])


@pytest.mark.parametrize("column", [40, 1000, -1, 2**31 - 1])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_entries_beside_all_columns_are_not_predicted(column, index_type):
    """Also where columns ascend, so that nothing else is wrong with them."""
    last = 1 if column >= 0 else 0
    indices = np.array([3, 3], index_type)
    indices[last] = column
    stray = sparse.csr_array((np.ones(2), indices, np.array([0, 0, 2], index_type)), (2, 40))
    for call in (small().fit(DENSE, LABELS).predict, small().fit(DENSE, LABELS).decision_function):
        with pytest.raises(ValueError, match=rf"an entry at row 1, column {column}"):
            call(stray)


def test_rows_that_end_before_they_begin_are_refused():
    rows = sparse.csr_array(DENSE)
    rows.indptr[3] = rows.indptr[5]
    rows.indptr[4] = 0
    with pytest.raises(ValueError, match="indptr is wrong"):
        small().fit(rows, LABELS)


# -------------------------------------------------------------------------------------- labels

GONE = {
    "None": (np.array(["a", None] * 30, object), r"y\[1\] is missing \(None\)"),
    "NaN": (pd.Series(["a", np.nan, "b"] * 20), r"y\[1\] is missing \(nan\)"),
    "NA": (pd.Series(["a", pd.NA, "b"] * 20, dtype="string"), r"y\[1\] is missing \(<NA>\)"),
    "a category": (pd.Series(["a", None, "b"] * 20, dtype="category"), r"y\[1\] is missing"),
    "numbers": (np.array([0.0, 1, np.nan] * 20), "contains NaN.* at row 2"),
    "infinity": (np.array([0.0, 1, np.inf] * 20), "contains infinity.* at row 2"),
    "NA of numbers": (pd.array([0, 1, None] * 20, dtype="Int64"), "contains NaN.* at row 2"),
}


@pytest.mark.parametrize("case", GONE)
def test_missing_labels_are_told_with_their_row(case):
    labels, message = GONE[case]
    with pytest.raises(ValueError, match=message):
        small().fit(ROWS, labels)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1, None], r"classes\[2\] is missing"),
        ([0, 1, np.nan], r"classes\[2\] is missing"),
        (np.array([0, 1, np.inf]), "must be finite numbers"),
        ([0, "b"], r"classes\[1\] is the string 'b'"),
        ("ab", r"classes=\['ab'\] name one class"),
        ([1, 1], r"classes=\[1\] name one class"),
    ],
    ids=str,
)
def test_classes_must_be_labels_of_one_type(classes, message):
    with pytest.raises(ValueError, match=message):
        small().partial_fit(ROWS, LABELS, classes=classes)
    with pytest.raises(ValueError, match=message):
        small().fit_stream([(ROWS, LABELS)], classes=classes)


def test_labels_are_shown_as_people_write_them():
    with pytest.raises(ValueError, match="only one class, 1:"):
        small().fit(ROWS, np.ones(60, int))
    with pytest.raises(ValueError, match="The label 1 at row 0"):
        small().partial_fit(ROWS[:1], np.ones(1, int), classes=[2, 3])


@pytest.mark.parametrize("name", ["FTRLClassifier", "ThresherRegressor"])
@pytest.mark.parametrize("labels", [np.array([1.0, np.nan] * 30), np.array([1, None] * 30, object)])
def test_missing_labels_in_a_stream_are_told_with_their_place(name, labels):
    with pytest.raises(DataError, match="Item 2 of the stream has no label at its row 2"):
        make(name).fit_stream([(ROWS, np.array([0.0, 1.0] * 30)), (ROWS, labels)])


def test_labels_of_a_stream_do_not_change_their_type():
    words = np.array(["a", "b"] * 30)
    with pytest.raises(DataError, match=r"labels of item 2 .* another type"):
        small().fit_stream(iter([(ROWS, LABELS), (ROWS, words)]))


def test_targets_are_no_dates():
    dates = pd.Series(pd.date_range("2020-01-01", periods=60))
    with pytest.raises(ValueError, match="must be numbers: dates and times are none"):
        make("ThresherRegressor").fit(ROWS, dates)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_targets_too_large_to_be_added_up_are_refused(loss):
    model = make("ThresherRegressor", loss=loss)
    huge = np.where(np.arange(60) % 2, 1e308, -1e308)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"Targets up to 1e\+308 .* another unit"):
            call(ROWS, huge)
    assert stream(model, ROWS, NUMBERS).score(ROWS, NUMBERS) < 1


# -------------------------------------------------------------------------- weights and options


@pytest.mark.parametrize("weights", [["heavy"] * 60, [None, {}] * 30])
def test_weights_that_are_no_numbers_are_named(weights):
    with pytest.raises(ValueError, match="sample_weight must be a number for every row"):
        small().fit(ROWS, LABELS, sample_weight=weights)


@pytest.mark.parametrize("class_weight", [{0: "heavy", 1: 1}, {0: 1, 7: 1}, {0: [1], 1: 2}])
def test_weights_of_classes_that_are_none_are_named(class_weight):
    with pytest.raises(ValueError, match=r"^class_weight="):
        small(class_weight=class_weight).fit(ROWS, LABELS)


def test_options_of_reading_that_nobody_knows_are_named():
    with pytest.raises(TypeError, match="labels is no option of reading: there are format, label,"):
        small().fit_stream("rows.svm", labels="x")


@pytest.mark.parametrize("options", [{"label": "a", "weight": "a"}, {"weight": "label"}])
def test_a_column_is_not_label_and_weight_at_once(options):
    with pytest.raises(ValueError, match="label and weight are both"):
        small().fit_stream("rows.csv", **options)
