"""Labels that are no classes, or that could not be told apart: refused, never merged."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from cases import labelled_rows, make, numbered_rows
from commands import run, write_svmlight
from named_rows import read_text
from thresher import DataError, ThresherRegressor
from thresher.cli.failing import BAD_DATA, USAGE
from thresher.cli.parameters import ClassWeight, labels_from
from thresher.data.sources.table import TableSource
from thresher.data.sources.text import TextSource

ROWS, LABELS = labelled_rows()


def small(**changes):
    return make("FTRLClassifier", **changes)


# ---------------------------------------------------------------------------- numbers to predict


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
@pytest.mark.parametrize("passing", [iter, list])
def test_fit_stream_refuses_numbers_as_fit_does(kind, passing):
    rows, numbers = numbered_rows()
    with pytest.raises(ValueError, match="Unknown label type"):
        small().fit(rows, numbers.astype(kind))
    with pytest.raises(DataError, match=r"is not a whole number: .*--method thresher-regressor"):
        small().fit_stream(passing([(rows, numbers.astype(kind))]))


def test_whole_numbers_are_classes_however_they_are_written():
    model = small().fit_stream([(ROWS, np.where(LABELS > 0, 2.0, 7.0))])
    assert model.classes_.tolist() == [2, 7]


def test_classes_that_are_named_may_be_fractions():
    labels = np.where(LABELS > 0, 0.5, 1.5)
    model = small().fit_stream([(ROWS, labels)], classes=[0.5, 1.5])
    assert model.classes_.tolist() == [0.5, 1.5]
    with pytest.raises(DataError, match=r"label 2\.5 of row 1 is not .*ThresherRegressor"):
        small().fit_stream([(ROWS, labels + 2)], classes=[0.5, 1.5])


@pytest.mark.parametrize("words", [[], ["--no-cache"], ["--method", "ftrl"]])
def test_the_command_names_the_method_for_numbers(tmp_path, words):
    rows, numbers = numbered_rows()
    write_svmlight(tmp_path / "rows.svm", rows, numbers.tolist())
    result = run("train", tmp_path / "rows.svm", "-o", tmp_path / "m.thresher", *words)
    assert result.exit_code == BAD_DATA
    assert "--method thresher-regressor" in result.stderr
    assert not (tmp_path / "m.thresher").exists()


# -------------------------------------------------------------------------------- large numbers

LARGE = ["9007199254740993", "9007199254740992", "9007199254740995", "-9007199254740993", "1e300"]


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("classes", [None, [1, 9007199254740993]])
def test_numbers_beyond_2_to_the_53_are_no_classes(large, classes, tmp_path):
    for name, line in {"csv": f"{large},1\n1,2\n", "svm": f"{large} 1:1\n1 1:2\n"}.items():
        path = tmp_path / f"rows.{name}"
        path.write_text(("label,a\n" if name == "csv" else "") + line * 10)
        for cache in (True, False):
            with pytest.raises(DataError, match=r"beyond 2\^53, where neighbours cannot be told"):
                small().fit_stream(path, classes=classes, cache=cache)


def test_a_model_of_large_classes_is_not_judged_by_labels_that_may_be_others(tmp_path):
    large = np.where(LABELS > 0, 2**53, 2**53 + 2)
    small().fit(ROWS, large).save(tmp_path / "m.thresher")
    write_svmlight(tmp_path / "rows.svm", ROWS, (large + 1).tolist())
    result = run("evaluate", tmp_path / "m.thresher", tmp_path / "rows.svm")
    assert result.exit_code == BAD_DATA
    assert "beyond 2^53" in result.stderr


def test_integers_of_a_program_may_be_large():
    model = small().fit_stream([(ROWS, np.where(LABELS > 0, 2**53, 2**53 + 1))])
    assert model.classes_.tolist() == [2**53, 2**53 + 1]


def test_numbers_from_2_to_the_63_are_exported_as_they_are_or_not_at_all(tmp_path):
    large = np.where(LABELS > 0, 2**63 + 1, 7).astype(np.uint64)
    model = small().fit(ROWS, large)
    pytest.importorskip("pyarrow")
    model.export_coefficients(tmp_path / "a.parquet")
    assert set(pd.read_parquet(tmp_path / "a.parquet")["class"]) == {2**63 + 1}
    pytest.importorskip("skl2onnx")
    with pytest.raises(ValueError, match=r"class 9223372036854775809 is 2\^63 or more.*astype"):
        model.to_onnx(tmp_path / "a.onnx")
    assert not (tmp_path / "a.onnx").exists()


def test_a_regression_may_have_large_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a\n" + "1e20,1\n2e20,2\n4e20,4\n" * 20)
    model = ThresherRegressor(n_features_to_select=1, random_state=0).fit_stream(path)
    rows = pd.DataFrame({"a": [1.0, 4.0]})
    np.testing.assert_allclose(model.predict(rows), [1e20, 4e20], rtol=1e-3)


# -------------------------------------------------------------------------------- zeros in front

CODES = {
    "0012 12": None,
    "12 0012": None,
    "12 7 007": None,
    "0 00": None,
    "-12 +0012": None,
    "007 100 012": [7, 100, 12],
    "00 01 10": [0, 1, 10],
    "12 7 1 0": [12, 7, 1, 0],
    "1 1.0 +1 01.5": [1, 1, 1, 1.5],
    "x 0012 12": ["x", "0012", "12"],
}


@pytest.mark.parametrize("codes", CODES)
def test_codes_with_zeros_in_front_are_not_merged(codes):
    cells = codes.split()
    texts = {
        TableSource: "label,a\n" + "".join(f"{cell},1\n" for cell in cells),
        TextSource: "".join(f"{cell}\tword\n" for cell in cells),
    }
    for kind, text in texts.items():
        if CODES[codes] is None:
            with pytest.raises(DataError, match=r"0012 and 12 are the same"):
                read_text(kind, text)
            found = read_text(kind, text, on_error="skip")
            assert found.source.skipped.count == 1
        else:
            assert read_text(kind, text).labels == CODES[codes]
        assert len(read_text(kind, text, labelled=False).rows) == len(cells)


# -------------------------------------------------------------------------------- dates and times

DAYS = np.where(LABELS > 0, "2020-01-01", "2020-01-02")
TIMES = {
    "datetime64": DAYS.astype("datetime64[D]"),
    "timedelta64": DAYS.astype("datetime64[D]") - np.datetime64("2020-01-01"),
    "a series": pd.Series(pd.to_datetime(DAYS)),
    "zones": pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Zurich"),
    "dates": [date(2020, 1, 1 + (label > 0)) for label in LABELS],
    "moments": np.array([datetime(2020, 1, 1 + (label > 0)) for label in LABELS], object),
    "spans": np.array([timedelta(days=int(label > 0)) for label in LABELS], object),
}


@pytest.mark.parametrize("case", TIMES)
def test_dates_and_times_are_refused_before_they_are_learnt(case):
    labels = TIMES[case]
    with pytest.raises(ValueError, match=r"y\[0\] is a date or a time \(.*Make strings of them"):
        small().fit(ROWS, labels)
    with pytest.raises(ValueError, match=r"classes\[0\] is a date or a time"):
        small().partial_fit(ROWS, labels, classes=labels)
    for model in (small(), ThresherRegressor()):
        with pytest.raises(DataError, match="Item 1 of the stream has a date or a time"):
            model.fit_stream([(ROWS, labels)])


def test_dates_as_strings_are_classes(tmp_path):
    small().fit(ROWS, DAYS).save(tmp_path / "m.thresher")


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("-1,0,+1", [-1, 0, 1]),
        ("1.0, 2", [1, 2]),
        ("1e3,.5", [1000, 0.5]),
        ("a,1", ["a", "1"]),
        ("1,b", ["1", "b"]),
        ("1_0,2_0", ["1_0", "2_0"]),
        ("٣,4", ["٣", "4"]),
    ],
)
def test_labels_are_read_as_in_files(words, labels):
    assert labels_from(words.split(",")) == labels
    weights = ",".join(f"{word}=2" for word in words.split(","))
    assert ClassWeight().convert(weights, None, None) == dict.fromkeys(labels, 2.0)


@pytest.mark.parametrize("classes", ["1,nan", "1,", "a,-Inf"])
def test_what_is_no_class_is_no_label(classes):
    result = run("train", "rows.svm", "-o", "m.thresher", "--classes", classes)
    assert (result.exit_code, "is no class" in result.stderr) == (USAGE, True)
