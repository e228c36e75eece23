"""How many features, from rows that come as a stream or lie in files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import thresher
from cases import labelled_rows
from commands import run
from size_cases import FEW, told
from thresher import ThresherClassifier
from thresher.data.chunk import Chunk
from thresher.data.sources.given import GivenSource
from thresher.estimators.gathering import looked_into, some_rows

pytestmark = pytest.mark.usefixtures("in_chunks")


def test_a_stream_follows_its_rule(binary):
    rows, labels = binary
    model = ThresherClassifier(random_state=0).partial_fit(rows, labels, classes=[0, 1])
    assert model.size_choice_.size == 38
    assert "by rule of thumb: one per cent of the columns" in model.size_choice_.why


def pieces(rows, labels, size):
    """Return a stream that passes once, so many rows at a time."""
    firsts = range(0, labels.size, size)
    return iter([(rows[k : k + size], labels[k : k + size]) for k in firsts])


@pytest.mark.jit
def test_a_source_that_passes_once_is_looked_into(binary, monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_ROWS", 50)
    rows, labels = binary
    once = ThresherClassifier(**FEW).fit_stream(pieces(rows, labels, 7))
    assert once.size_choice_.path is not None
    assert once.n_features_selected_ <= once.size_choice_.size
    cut = ThresherClassifier(**FEW).fit_stream(pieces(rows, labels, 31), classes=[0, 1])
    assert told(cut) == told(once)
    assert_array_equal(cut.coef_, once.coef_)
    # every row is learnt, those that were looked at included
    assert once._class_counts.sum() == labels.size
    asked = ThresherClassifier(**FEW, n_features_to_select=once.size_choice_.size)
    assert_array_equal(asked.fit_stream(pieces(rows, labels, 9)).coef_, once.coef_)


@pytest.mark.jit
def test_first_rows_of_one_class_leave_it_to_the_rule(binary, monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_ROWS", 20)
    rows, labels = binary
    order = np.argsort(labels, kind="stable")
    once = ThresherClassifier(**FEW).fit_stream(pieces(rows[order], labels[order], 7))
    assert "rule of thumb" in once.size_choice_.why
    assert once._class_counts.sum() == labels.size


def test_rows_to_look_at_do_not_depend_on_chunks(monkeypatch):
    monkeypatch.setattr("thresher.estimators.gathering.MOST_NONZEROS", 50)
    rows, labels = labelled_rows()
    found = []
    for size in (1, 7, 60):
        source, some = looked_into(GivenSource(pieces(rows, labels, size)))
        found.append(some.rows)
        assert sum(len(chunk) for chunk in source.chunks()) == labels.size
    assert 0 < found[0].shape[0] < 60
    for other in found[1:]:
        assert_array_equal(other.toarray(), found[0].toarray())


@pytest.fixture
def file(tmp_path, monkeypatch, binary):
    monkeypatch.chdir(tmp_path)
    rows, labels = binary
    table = sparse.csr_array(rows)
    with open("rows.svm", "w") as out:
        for row, label in enumerate(labels):
            part = slice(table.indptr[row], table.indptr[row + 1])
            pairs = zip(table.indices[part] + 1, table.data[part], strict=True)
            print(label, *(f"{column}:{float(value)!r}" for column, value in pairs), file=out)
    return "rows.svm"


@pytest.mark.jit
def test_files_that_can_be_read_again_are_asked(file):
    model = ThresherClassifier(**FEW).fit_stream(file)
    choice = model.size_choice_
    assert choice.path is not None
    assert model.n_features_selected_ == choice.size
    assert told(ThresherClassifier(**FEW, n_jobs=2).fit_stream(file)) == told(model)
    balanced = ThresherClassifier(**FEW, class_weight="balanced").fit_stream(file)
    assert balanced.size_choice_.path is not None


def test_rows_that_cannot_be_learnt_choose_nothing():
    rows, labels = np.array([0, 1, 2]), np.array([0, 1])
    good = Chunk(rows, np.array([0, 0]), np.ones(2), 1, labels, np.ones(2))
    for chunks in ([], [replace(good, labels=None)], [replace(good, weights=-good.weights)]):
        assert some_rows(GivenChunks(chunks), shuffle=False, seed=0) is None
    some = some_rows(GivenChunks([good] * 6_000), shuffle=False, seed=0)
    assert some.rows.shape == (10_000, 1)


class GivenChunks:
    """A source of a few chunks, that cannot be shuffled."""

    rewinds = False

    def __init__(self, chunks):
        self.chunks = lambda: iter(chunks)


@pytest.mark.jit
def test_the_command_line_says_what_was_chosen(file):
    words = ("--max-iter", 20, "--n-paths", 2, "-o", "m.thresher")
    result = run("train", file, *words)
    assert result.exit_code == 0, result.stderr
    choice = thresher.load("m.thresher").size_choice_
    assert f"Size: {choice.why}" in result.stderr
    assert choice.path is not None
    printed = run("inspect", "m.thresher").stdout
    assert f"{choice.size:,} features: log loss" in " ".join(printed.split())
    description = json.loads(run("inspect", "m.thresher", "--json").stdout)
    assert description["size_choice"]["size"] == choice.size
    assert description["size_choice"]["path"]["size"] == choice.path["size"].tolist()
    assert run("train", file, *words, "--quiet", "--json").exit_code == 0
