"""thresher report: one page that fetches nothing, runs nothing and shows every name as text."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run, train_jsonl
from thresher import load
from thresher.cli.failing import BAD_MODEL, NO_OUTPUT
from thresher.estimators.describing import Description, Feature, Selection, describe
from thresher.estimators.wording import printable
from thresher.report import page
from thresher.report.curve import history_chart
from thresher.report.selected import AT_ONCE, table

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "col", "th", "td"}  # that need no end, or whose end may be left out


class Reader(HTMLParser):
    """Collects tags and the text of features' names; complains of ends without beginnings."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.names, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if ("scope", "row") in attrs:
            self.names.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        if tag == "th" and attributes.get("scope") == "row" and self.names:
            self.names[-1] += data


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def flagship(tmp_path_factory):
    words = [EVIL, "chaff", "wheat", "dust", "corn", "straw & husk"]
    folder = tmp_path_factory.mktemp("model")
    return train_jsonl(folder, "ThresherClassifier", words=words, n_features_to_select=6)[0]


@pytest.fixture(scope="module")
def written(flagship, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    result = run("report", flagship, "-o", out, "--title", f"Spam {EVIL}")
    assert result.exit_code == 0, result.stderr
    return out.read_text(encoding="utf-8")


def test_every_feature_is_shown_by_its_name(written, flagship):
    features = describe(load(flagship)).selections[0].features
    assert read(written).names == [one.name for one in features]


def test_nothing_on_the_page_can_run_or_be_fetched(written):
    tags = read(written).tags
    names = {tag for tag, _ in tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    attributes = {name for _, attrs in tags for name in attrs}
    assert not attributes & {"src", "href", "srcset", "action", "data"}
    assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in written
    assert "@import" not in written
    assert "http:" not in written
    assert "https:" not in written
    assert ("meta", "default-src 'none'; style-src 'unsafe-inline'") in [
        (tag, attrs.get("content")) for tag, attrs in tags
    ]


def test_light_dark_and_phones_are_provided_for(written):
    assert "prefers-color-scheme: dark" in written
    assert 'name="viewport"' in written
    assert "max-width: 34rem" in written


def test_the_page_says_where_the_model_comes_from(written, flagship):
    text, model = read(written).text, load(flagship)
    assert "ThresherClassifier" in text
    assert model.data_fingerprint_[:16] in text
    assert "thresher 0.1.0" in text
    assert "n_features_to_select" in text


def test_the_history_is_drawn_with_a_point_for_every_stage(written, flagship):
    n_stages = len(load(flagship).history_)
    lines = {attrs["class"]: attrs for tag, attrs in read(written).tags if tag == "polyline"}
    assert set(lines) == {"stable", "nonzero"}
    assert all(len(one["points"].split()) == n_stages for one in lines.values())
    assert written.count("<title>stage") == n_stages


def test_curves_fall_as_features_go():
    history = [
        {"stage": k, "stable": n, "nonzero": n, "rows_seen": k}
        for k, n in enumerate([1000, 100, 10])
    ]
    points = re.search("class='stable' points='([^']*)'", history_chart(history))[1]
    assert points == "0.00,0.00 50.00,50.00 100.00,100.00"


def test_one_stage_is_no_curve():
    assert "there is no curve" in history_chart([{"stage": 1, "stable": 5, "nonzero": 5}])


def test_every_class_has_its_part(tmp_path):
    labels = ("ash", "elm", "<oak>")
    path, _ = train_jsonl(tmp_path, "ThresherClassifier", labels=labels)
    text = read(page(describe(load(path)), "trees")).text
    assert all(f"What was selected for {label}" in text for label in labels)


def test_methods_without_stages_have_no_chart(tmp_path):
    path, _ = train_jsonl(tmp_path)
    text = page(describe(load(path)), "ftrl")
    assert "polyline" not in {tag for tag, _ in read(text).tags}
    assert "probability" not in read(text).text.split("Where it comes from")[0]


def described(features):
    selection = Selection("keep", 0.5, features, [], [])
    return Description("X", {"loss": "hinge"}, ["drop", "keep"], 9, 1, 1, {}, [selection])


def test_a_model_without_features_has_a_page():
    assert "No feature has a weight" in read(page(described([]), "none")).text


def test_the_page_says_what_the_rows_have_made_the_fit_do():
    features = [Feature("word", 1.0, 0.5, 10)]
    plain = Selection("1", 0.0, features, [], [])
    done = replace(plain, weighed=True, margins={"scale": 0.5, "shift": -1.25})
    said, silent = (table(one, top=5) for one in (done, plain))
    assert "weighed against each other" in said
    assert "Decision values were rescaled by 0.5 and shifted by -1.25, as calibration" in said
    assert "weighed" not in silent
    assert "Held-out" not in silent


def test_the_page_says_what_its_words_mean(written, flagship, tmp_path):
    said = read(written).text.partition("How to read it")[2]
    for name in ("probability", "stage", "stable", "weight", "rows"):
        assert name in said
    assert "random half of the rows" in said
    assert "docs/" not in written
    path, _ = train_jsonl(tmp_path)
    text = page(describe(load(path)), "ftrl").partition("How to read it")[2]
    assert "stage" not in text.partition("Where it comes from")[0]


def test_the_page_says_why_there_are_so_many_features(written, flagship):
    assert load(flagship).size_choice_.why in read(written).text
    plain = described([Feature("word", 1.0, 0.5, 10)])
    assert "Why so many" not in page(plain, "none")
    why = "10 features: <best> of 15 sizes."
    assert why in read(page(replace(plain, size_choice={"why": why}), "some")).text


def test_many_features_unfold_and_the_rest_is_counted():
    features = [Feature(f"f{k}", 100.0 - k, None, 1) for k in range(60)]
    shown = read(page(described(features), "many", top=40))
    assert len(shown.names) == 40
    assert f"{40 - AT_ONCE} more" in shown.text
    assert "20 weaker features are not shown" in shown.text
    assert "2 weaker features" in read(page(described(features[:5]), "few", top=3)).text


@given(st.text(min_size=1))
def test_any_name_comes_out_as_text(name):
    shown = read(page(described([Feature(name, -1.0, 0.5, 3)]), name))
    assert shown.names == [printable(name)]
    assert "script" not in {tag for tag, _ in shown.tags}


def test_the_page_can_go_to_standard_output(flagship):
    assert run("report", flagship, "-o", "-").stdout.startswith("<!doctype html>")


def test_what_cannot_be_read_or_written_is_told(flagship, tmp_path):
    assert run("report", tmp_path / "none", "-o", tmp_path / "x.html").exit_code == BAD_MODEL
    result = run("report", flagship, "-o", tmp_path / "no" / "x.html")
    assert (result.exit_code, "folder does not exist" in result.stderr) == (NO_OUTPUT, True)
