"""thresher inspect: what a model is and selected; and the table that other programs read."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import make
from commands import run, train_jsonl
from thresher import load
from thresher.cli.chart import bar, log_bars
from thresher.estimators.describing import Selection, describe
from thresher.estimators.names import columns_used, names_of
from thresher.estimators.wording import false_selections_of, printable

ESCAPE = "\x1b[31mred\x07"


@pytest.fixture(scope="module")
def flagship(tmp_path_factory):
    path, _ = train_jsonl(tmp_path_factory.mktemp("two"), "ThresherClassifier")
    return path


@pytest.fixture(scope="module")
def three_classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    return train_jsonl(folder, "ThresherClassifier", labels=("ash", "elm", "oak"))[0]


def shown(*words):
    result = run("inspect", *words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_the_header_says_what_the_model_is(flagship):
    text = shown(flagship)
    assert text.splitlines()[0] == "ThresherClassifier"
    for words in ("log_loss", "2: drop, keep", "8 kept of 10", "thresher 0.1.0"):
        assert words in text


def test_features_are_sorted_by_the_size_of_their_weights(flagship):
    model = load(flagship)
    table = shown(flagship).partition("\nfeature ")[2]
    features = describe(model).selections[0].features
    assert [abs(one.weight) for one in features] == sorted(
        (abs(one.weight) for one in features), reverse=True
    )
    places = [table.index(f"\n{one.name} ") for one in features]
    assert places == sorted(places)


def test_top_and_all_say_how_many_are_shown(flagship):
    assert "5 more features: --all shows them" in shown(flagship, "--top", 3)
    assert "more features" not in shown(flagship, "--top", 3, "--all")


def test_the_history_is_drawn(flagship):
    history = load(flagship).history_
    text = shown(flagship)
    first, last = history[0]["stable"], history[-1]["stable"]
    assert f"Features still stable after each stage: {first} to {last}" in text
    assert "┤" in text


def test_every_class_has_its_table(three_classes):
    text = shown(three_classes)
    assert [name for name in ("ash", "elm", "oak") if f"Class {name} against the rest" in text] == (
        ["ash", "elm", "oak"]
    )


def test_json_has_everything_the_model_shows(flagship):
    model, found = load(flagship), json.loads(shown(flagship, "--json"))
    table = model.selection_table()
    table = table[table.weight != 0]
    selection = found["selections"][0]
    assert [one["name"] for one in selection["features"]] == table.feature.tolist()
    assert [one["weight"] for one in selection["features"]] == table.weight.tolist()
    assert [one["rows"] for one in selection["features"]] == table.rows.tolist()
    assert [one["probability"] for one in selection["features"]] == (
        table.selection_probability.tolist()
    )
    assert selection["history"] == model.history_
    assert selection["intercept"] == model.intercept_[0]
    assert found["classes"] == ["drop", "keep"]
    assert found["parameters"]["n_paths"] == model.n_paths
    assert found["provenance"]["data_fingerprint"] == model.data_fingerprint_


def bounded(*bounds):
    records = [
        {"threshold": pi, "features": n, "expected_false_at_most": most} for pi, n, most in bounds
    ]
    return Selection("keep", 0.0, [], [], records)


def test_the_bound_on_false_selections_is_told_where_it_says_anything():
    [words] = false_selections_of(bounded((0.6, 9, 12.0), (0.75, 8, 1.234)))
    assert words.startswith(
        "Of the 8 features with a probability of 0.75 or more, at most 1.2 are expected to be false"
    )
    assert false_selections_of(bounded((0.6, 9, 12.0), (0.75, 0, 5.0))) == []
    assert false_selections_of(bounded()) == []


def test_the_bound_is_shown_and_in_the_json(tmp_path, monkeypatch):
    path, _ = train_jsonl(tmp_path, "ThresherClassifier")
    bounds = load(path).selection_table().attrs["expected_false_selections"]
    assert json.loads(shown(path, "--json"))["selections"][0]["false_selections"] == bounds
    # eight of ten features: the bound says nothing
    assert "expected to be false" not in " ".join(shown(path).split())
    monkeypatch.setattr("thresher.estimators.false_selections.bound", lambda *_: 0.0)
    assert "are expected to be false" in " ".join(shown(path).split())
    assert "are expected to be false" in run("report", path, "-o", "-").stdout


def test_it_works_without_pandas(flagship, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "wheat" in shown(flagship)


def test_methods_without_stages_have_no_probabilities_and_no_chart(tmp_path):
    path, _ = train_jsonl(tmp_path)
    text = shown(path)
    assert "probability" not in text
    assert "┤" not in text
    feature = json.loads(shown(path, "--json"))["selections"][0]["features"][0]
    assert feature["probability"] is None


def test_a_model_without_features_says_so(tmp_path):
    path, _ = train_jsonl(tmp_path, l1=1e6)
    assert "No feature has a weight" in shown(path)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(flagship, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(len(line) for line in shown(flagship).splitlines()) <= width


def test_names_cannot_steer_the_terminal_and_are_not_taken_for_markup(tmp_path):
    words = [ESCAPE, "[bold]", "chaff", "wheat", "dust", "corn"]
    path, _ = train_jsonl(tmp_path, words=words)
    text = shown(path)
    assert "\x1b" not in text
    assert r"\x1b[31mred\x07" in text
    assert "[bold]" in text
    assert ESCAPE in [
        one["name"] for one in json.loads(shown(path, "--json"))["selections"][0]["features"]
    ]


def test_columns_of_arrays_are_called_as_scikit_learn_does(binary):
    model = make("FTRLClassifier").fit(*binary)
    used = columns_used(model)
    assert names_of(model, used) == [f"x{column}" for column in used]
    assert names_of(model, used) == model.get_feature_names_out().tolist()


def test_a_model_that_was_never_saved_is_described_as_its_file_would_be(binary, tmp_path):
    model = make("ThresherClassifier").fit(*binary)
    model.save(tmp_path / "model")
    assert describe(load(tmp_path / "model")) == describe(model)


@given(st.text())
def test_printable_text_has_nothing_that_steers(text):
    assert printable(text).isprintable()


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=300), st.integers(20, 120))
def test_charts_keep_to_their_width(numbers, width):
    chart = log_bars(numbers, width)
    assert max(len(line) for line in chart) <= width
    assert len(chart) == 10


def test_bars_rise_with_the_logarithm():
    chart = log_bars([10_000, 1_000, 100], 40, height=4)
    heights = [sum(line[8 + 3 * k : 9 + 3 * k] == "█" for line in chart) for k in range(3)]
    assert heights == [4, 2, 0]


def test_bars_are_as_long_as_their_share():
    assert (bar(1.0, 4), bar(0.5, 4), bar(0.125, 4), bar(0.0, 4)) == ("████", "██", "▌", "")
