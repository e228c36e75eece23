"""The page of a model: one file, which fetches nothing, and shows every name as text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thresher
from cases import NAMES, labelled_rows, make
from thresher.files import FileError
from thresher.report import page, write
from thresher.report.chart import Scale, path_chart

EVIL = "<script>alert(1)</script>"
VOID = {"meta"}
ROWS, LABELS = labelled_rows(n=120, p=20, density=0.4, seed=5)
CLASSES = np.array(["ash", "elm", "<oak>"])[labelled_rows(120, 20, 0.4, 5, n_classes=3)[1]]
NUMBERS = ROWS @ np.random.default_rng(0).normal(size=20)


class Reader(HTMLParser):
    """Collects tags, texts by tag and the names of features; every tag must be closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.names, self.text = [], [], [], ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if ("scope", "row") in attrs:
            self.names.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data
        if self.tags and self.tags[-1] == ("th", {"scope": "row"}) and self.open[-1:] == ["th"]:
            self.names[-1] += data

    def all(self, tag):
        return [attrs for found, attrs in self.tags if found == tag]


@pytest.fixture(scope="module")
def flagship():
    return thresher.ThresherClassifier(random_state=0).fit(ROWS, LABELS)


@pytest.fixture(scope="module")
def html(flagship):
    return page(flagship)


def test_the_page_is_written_as_one_file(flagship, html, tmp_path):
    flagship.report(tmp_path / "model.html")
    assert (tmp_path / "model.html").read_text("utf-8") == html
    assert [one.name for one in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(FileError, match="folder does not exist"):
        write(flagship, tmp_path / "none" / "model.html")


def test_nothing_is_fetched_and_no_other_script_can_run(html):
    reader = Reader(html)
    assert not {tag for tag, _ in reader.tags} & {"link", "img", "iframe", "object", "base", "form"}
    names = {name for _, attrs in reader.tags for name in attrs}
    assert not names & {"src", "href", "srcset", "action", "data"}
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"url\(|@import|https?:", html)
    assert len(reader.all("script")) == 1
    policy = next(one["content"] for one in reader.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy


def test_every_feature_is_a_row_strongest_first(flagship, html):
    table = flagship.selection_table()
    assert Reader(html).names == table["feature"].tolist()
    shown = [float(one) for one in re.findall(r'data-value="([^"]*)"', html)]
    assert shown == table[["weight", "frequency"]].to_numpy().ravel().tolist()
    heads = [attrs for attrs in Reader(html).all("th") if "scope" not in attrs]
    assert ["data-number" in attrs for attrs in heads] == [False, True, True]


def test_the_curve_has_a_point_for_every_size_and_marks_the_chosen_one(flagship, html):
    path, reader = flagship.path_, Reader(html)
    points = reader.all("polyline")[0]["points"].split()
    assert len(points) == path.sizes.size == len(reader.all("rect"))
    scale, place = Scale.of(path), path.place(path.size)
    x, y = points[place].split(",")
    assert reader.all("line")[0]["x1"] == x
    assert reader.all("path")[0]["d"] == f"M{x},{y}h0"
    assert float(y) == pytest.approx(100 * (1 - path.error[place] / scale.top), abs=0.01)
    assert f"{path.error[place]:.4g}" in reader.text


def test_a_scale_holds_all_errors_between_round_levels(flagship):
    for error in (0.0, 1e-9, 0.04, 0.1, 0.41, 7.0, 5e8):
        errors = np.full(flagship.path_.sizes.size, error)
        path = flagship.path_._replace(error=errors, error_se=errors / 8)
        scale = Scale.of(path)
        assert scale.top >= error * 1.124
        assert 2 <= round(scale.top / scale.step) <= 5
        Reader(path_chart(path, "error"))


def test_a_path_of_one_size_has_no_curve():
    model = thresher.ThresherClassifier(n_features_to_select=1, random_state=0).fit(ROWS, LABELS)
    reader = Reader(page(model))
    assert "Held-out error" in reader.text
    assert not reader.all("polyline")


@pytest.mark.parametrize("name", NAMES)
def test_models_without_a_path_have_a_page(name):
    for labels in (LABELS, CLASSES):
        reader = Reader(page(make(name).fit(ROWS, labels)))
        assert "holds no rows out" in reader.text
        assert not reader.all("polyline")
        assert reader.names
        assert all(str(label) in reader.text for label in set(labels.tolist()))


@pytest.mark.parametrize(("name", "y"), [("Classifier", CLASSES), ("Regressor", NUMBERS)])
def test_other_targets_have_a_page(name, y):
    model = getattr(thresher, f"Thresher{name}")(random_state=0).fit(ROWS, y)
    reader = Reader(page(model, (ROWS, y)))
    assert ("squared error" if name == "Regressor" else "log loss") in reader.text
    assert "On test rows" in reader.text
    assert len(reader.names) == model.n_features_selected_


def test_other_models_have_a_page():
    stream = thresher.ThresherClassifier(random_state=0).partial_fit(ROWS, LABELS, classes=[0, 1])
    text = Reader(page(stream)).text
    assert "learned a stream" in text
    assert "Learned from" not in text
    assert "No feature has a weight" in doubts(make("FTRLClassifier", l1=1e6).fit(ROWS, LABELS))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6)) * 10.0 ** np.arange(-3, 3) + 7
    measured = thresher.ThresherClassifier(random_state=0).fit(X, X[:, 0] > 7)
    assert Reader(page(measured)).names[0] == "x0"


def test_test_rows_of_files_are_evaluated(flagship, tmp_path):
    lines = "".join(f"{label} {column}:1\n" for label in (0, 1) for column in range(5))
    expected = {lines: ", 10 rows", "0 70:1\n1 70:1\n": "trained on other data?"}
    for text, words in expected.items():
        (tmp_path / "test.svm").write_text(text)
        rows = thresher.open_rows(tmp_path / "test.svm", index_base=0)
        write(flagship, tmp_path / "p.html", rows)
        assert words in Reader((tmp_path / "p.html").read_text("utf-8")).text


def doubts(model):
    reader = Reader(page(model))
    return reader.text if reader.all("ul") else ""


@pytest.mark.filterwarnings("ignore:No number of features")
def test_what_is_known_against_a_model_comes_first(flagship):
    assert doubts(flagship) == ""
    rare = np.where(np.arange(120) < 7, EVIL, "b")
    for rows, labels, message in (
        (ROWS[:60], LABELS[:60], "only 60 rows to learn from"),
        (ROWS, rare, f"The class {EVIL} is rare: it has 7 of 120"),
        (ROWS, np.arange(120) % 2, "No number of features is clearly better than none"),
    ):
        model = thresher.ThresherClassifier(random_state=0).fit(rows, labels)
        assert message in doubts(model).partition("What it predicts")[0]


def test_counts_of_rows_are_kept_by_files_and_dropped_by_streams(flagship, tmp_path):
    flagship.save(tmp_path / "m.thresher")
    loaded = thresher.load(tmp_path / "m.thresher")
    assert loaded.row_counts_.tolist() == np.bincount(LABELS).tolist()
    assert Reader(page(loaded)).names == Reader(page(flagship)).names
    model = make("FTRLClassifier").fit(ROWS, LABELS, sample_weight=np.arange(120) % 2)
    assert model.row_counts_.sum() == 60
    assert not hasattr(model.partial_fit(ROWS, LABELS), "row_counts_")


def test_only_the_strongest_of_many_features_are_shown(monkeypatch, flagship):
    monkeypatch.setattr("thresher.report.SHOWN", 2)
    model = thresher.FTRLClassifier(l1=0.0, random_state=0).fit(ROWS, LABELS)
    reader = Reader(page(model))
    assert reader.names == model.selection_table()["feature"].tolist()[:2]
    assert f"{model.n_features_selected_ - 2} weaker features are not shown" in reader.text


@given(st.text(min_size=1, max_size=20))
def test_any_name_is_shown_as_text(name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({name: [0.0, 1.0, 2.0, 3.0], name + EVIL: [0.0, 0.0, 1.0, 5.0]})
    model = make("FTRLClassifier", l1=0.0).fit(frame, [name, name, "é" + name, "é" + name])
    reader = Reader(page(model))
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    assert set(reader.names) == {visible, visible + EVIL}
    assert len(reader.all("script")) == 1
    assert visible in reader.text
