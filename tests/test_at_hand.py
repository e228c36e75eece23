"""Sources so small that they are learnt at once, as arrays are."""

import json
import time
from itertools import pairwise
from weakref import ref

import numpy as np
import pytest

import thresher
from cases import facts, labelled_rows, make, numbered_rows
from commands import interrupted_training, run, write_svmlight
from kill_training import write_rows
from thresher.data.errors import DataError
from thresher.data.sources.given import GivenSource
from thresher.estimators import gathering
from thresher.estimators.streaming import StreamTraining

KINDS = ["ThresherClassifier", "ThresherRegressor"]


def rows_for(name):
    return numbered_rows() if name == "ThresherRegressor" else labelled_rows(n_classes=3)


def in_pieces(rows, labels, *ends):
    bounds = [0, *ends, labels.size]
    return [(rows[first:last], labels[first:last]) for first, last in pairwise(bounds)]


@pytest.mark.parametrize("size", [8, "auto"])
@pytest.mark.parametrize("name", KINDS)
def test_a_source_is_learnt_as_its_rows_are(name, size, tmp_path):
    rows, labels = rows_for(name)
    fitted = facts(make(name, n_features_to_select=size).fit(rows, labels))
    file = write_svmlight(tmp_path / "rows.svm", rows, labels)
    passing = iter(in_pieces(rows, labels, 7, 40))
    for source in (in_pieces(rows, labels, 7, 40), passing, file, f"{file}.shards"):
        shown = facts(make(name, n_features_to_select=size).fit_stream(source))
        # the last columns of a file may never occur, and labels come as other kinds of numbers
        assert shown["history"] == fitted["history"]
        assert shown["intercept"] == fitted["intercept"]
        assert np.frombuffer(shown["coef"]).any()


def test_weights_count():
    rows, labels = labelled_rows()
    weights = np.arange(60) % 3.0
    fitted = make("ThresherClassifier").fit(rows, labels, weights)
    streamed = make("ThresherClassifier").fit_stream([(rows, labels, weights)])
    assert facts(streamed) == facts(fitted)


def begun(model, rows, labels):
    return StreamTraining.begin(model, GivenSource([(rows, labels)]))


def test_many_rows_or_long_work_are_learnt_in_chunks(monkeypatch):
    rows, labels = labelled_rows()
    size = rows.nnz + rows.shape[0]
    for name, most in (("MOST_AT_HAND", size), ("MOST_AT_ONCE", 4 * size)):
        monkeypatch.setattr(gathering, name, most)
        assert begun(make("ThresherClassifier", max_iter=4), rows, labels).at_hand is not None
        monkeypatch.setattr(gathering, name, most - 1)
        assert begun(make("ThresherClassifier", max_iter=4), rows, labels).at_hand is None
        monkeypatch.setattr(gathering, name, 1 << 40)


def test_what_passes_is_learnt_in_one_pass_if_it_is_long(monkeypatch):
    rows, labels = labelled_rows()
    size, pieces = rows.nnz + rows.shape[0], in_pieces(rows, labels, 7, 40)
    streamed = make("ThresherClassifier", max_iter=1).fit_stream(iter(pieces))
    for name, most in (("MOST_PASSING", size), ("MOST_AT_ONCE", 4 * size)):
        for room, waited in ((most, True), (most - 1, False)):
            monkeypatch.setattr(gathering, name, room)
            model = make("ThresherClassifier", max_iter=4).fit_stream(iter(pieces))
            assert (facts(model)["coef"] != facts(streamed)["coef"]) == waited
        monkeypatch.setattr(gathering, name, 1 << 40)


def test_text_that_is_not_kept_is_learnt_from_memory_too(tmp_path):
    rows, labels = labelled_rows()
    file = write_svmlight(tmp_path / "rows.svm", rows, labels)
    kept, read = (make("ThresherClassifier").fit_stream(file, cache=one) for one in (True, False))
    assert facts(read) == facts(kept)


@pytest.mark.parametrize("passes", [1, 4])
def test_a_program_may_fill_the_same_arrays_again(passes):
    rows, labels = labelled_rows()
    weights = 1.0 + np.arange(60) % 3
    given = [(rows[k : k + 20], labels[k : k + 20], weights[k : k + 20]) for k in (0, 20, 40)]

    def refilled():
        two, three = given[0][1].copy(), given[0][2].copy()
        for piece in given:
            one, two[:], three[:] = piece[0].copy(), piece[1], piece[2]
            yield one, two, three
            one.data[:] = 99.0

    model = make("ThresherClassifier", max_iter=passes)
    kept = facts(model.fit_stream(iter(given)))
    assert facts(model.fit_stream(refilled())) == kept


def test_rows_that_were_looked_at_do_not_stay_in_memory(monkeypatch):
    monkeypatch.setattr(gathering, "MOST_PASSING", 3)
    rows, labels = labelled_rows()
    source, whole = gathering.rows_to_the_end(
        GivenSource(iter(in_pieces(rows, labels, 7, 40))), lambda _: 1.0
    )
    assert whole is None
    chunks = source.chunks()
    first = ref(next(chunks))
    assert len(next(chunks)) == 33
    assert first() is None
    assert [len(chunk) for chunk in chunks] == [20]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ThresherClassifier", {"max_iter": 1}),
        ("FTRLClassifier", {}),
        ("StabilizedTruncatedSGDClassifier", {}),
    ],
)
def test_one_pass_and_other_methods_need_no_rows_at_hand(name, changes):
    assert begun(make(name, **changes), *labelled_rows()).at_hand is None


def test_what_is_wrong_is_said(tmp_path):
    rows, labels = labelled_rows()
    strange = np.where(np.arange(60) == 2, 2, labels)
    with pytest.raises(DataError, match="The label 2 of row 3 is not among the classes 0, 1"):
        make("ThresherClassifier").fit_stream([(rows, strange)], classes=[0, 1])
    with pytest.raises(ValueError, match="All rows looked at are of class 1"):
        make("ThresherClassifier").fit_stream([(rows, np.ones(60))])
    with pytest.raises(ValueError, match="sample_weight"):
        make("ThresherClassifier").fit_stream([(rows, labels, -np.ones(60))])


def test_nothing_of_a_failure_is_kept():
    rows, labels = labelled_rows()
    model = make("ThresherClassifier").fit(rows, labels)
    before = facts(model)
    with pytest.raises(DataError):
        model.fit_stream([(rows, labels + 1)], classes=[0, 1])
    assert facts(model) == before


def test_the_command_says_so(tmp_path):
    rows, labels = labelled_rows()
    file = write_svmlight(tmp_path / "rows.svm", rows, labels)
    words = "train", file, "-o", tmp_path / "m.thresher", "--max-iter", "4", "--seed", "3"
    result = run(*words, "--checkpoint", tmp_path / "state.ckpt")
    assert result.exit_code == 0, result.output
    assert "All 60 rows fit into memory: they are learnt from there." in result.stderr
    assert "each row before it was learnt" not in result.stderr
    assert not (tmp_path / "state.ckpt").exists()
    summary = json.loads(run(*words, "--json", "--quiet").stdout)
    assert summary["rows"] == 60
    assert summary["progressive_error"] is None
    chosen = make("ThresherClassifier", n_features_to_select="auto", n_paths=16, n_stages=40)
    fitted = chosen.set_params(max_iter=4, random_state=3).fit(rows, labels)
    loaded = thresher.load(tmp_path / "m.thresher")
    assert loaded.intercept_ == fitted.intercept_
    assert loaded.size_choice_.why == fitted.size_choice_.why


def wait_for_memory(process):
    """Wait until rows are learnt from memory, and a little longer."""
    while "fit into memory" not in process.stderr.readline():
        pass
    time.sleep(0.5)


@pytest.mark.jit
def test_ctrl_c_is_heard(tmp_path):
    rows, state = tmp_path / "rows.svm", tmp_path / "state.ckpt"
    write_rows(rows, n_rows=5000)
    words = [rows, "-o", tmp_path / "m.thresher", "--max-iter", "50000", "--checkpoint", state]
    code, said = interrupted_training(words, wait_for_memory)
    assert code == 130
    assert f"learnt at once. To begin anew: thresher train --resume {state}" in said
    assert not (tmp_path / "m.thresher").exists()
