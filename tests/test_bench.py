"""``thresher bench``: what is compared runs in turn, agrees, and is told as it was measured.

No time is asserted here.
"""

import platform
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import run, write_svmlight
from thresher.bench import agreement, c_compiler, one_path
from thresher.bench.agreement import Disagreement, agreements
from thresher.bench.bars import BARS, bar_of
from thresher.bench.c_compiler import NoCompiler
from thresher.bench.chart import chart
from thresher.bench.clock import best_of
from thresher.bench.data import NAMED, declared, make_text, make_uniform, read_file
from thresher.bench.measures import MEASURES
from thresher.bench.memory import bytes_in
from thresher.bench.page import TITLES, page, terminal_table
from thresher.bench.record import Measured, Record, ratio
from thresher.bench.setting import Setting
from thresher.cli.bench import NAMES
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.units import Tally, Unit

DOCS = Path(__file__).parent.parent / "docs"


def record_of(*measured):
    return Record(
        {"python": "3", "numpy": "2"}, {"processor": "abacus", "cores": "1"}, {"rounds": 3},
        list(measured),
    )  # fmt: skip


GOOD = Measured("classics", "letters", "FTRL / scikit-learn SGD, L1", 0.5, {"FTRL": 4.0})
BAD = Measured("reader", "letters", "scikit-learn / thresher", 2.0, {"thresher": 0.25})


def test_tasks_run_in_turn_and_the_first_round_does_not_count():
    calls = []
    seconds = best_of(2, {name: lambda name=name: calls.append(name) for name in "ab"})
    assert calls == ["a", "b"] * 3
    assert set(seconds) == {"a", "b"}


def test_every_measure_has_a_name_a_title_and_a_bar():
    assert list(MEASURES) == NAMES == list(TITLES)
    assert set(BARS) == set(NAMES)


@pytest.mark.parametrize(
    ("one", "must"),
    [
        (GOOD, 1.0),
        (Measured("shared", "rcv1-sample", "ours / theirs", 1), 0.6),
        (Measured("shared", "a9a", "ours / theirs", 1), 1.2),
        (Measured("independent", "a9a", "thresher, two threads / scikit-learn SGD, L1", 1), 3.0),
        (Measured("start", "a new process", "import thresher", 1), 0.15),
    ],
)
def test_some_figures_have_a_bar_of_their_own(one, must):
    assert bar_of(one).must == must


def test_bars_know_which_side_is_good():
    assert bar_of(GOOD).met(0.9)
    assert not bar_of(GOOD).met(1.1)
    assert bar_of(BAD).met(11)
    assert not bar_of(BAD).met(9)


def test_a_ratio_is_one_part_over_the_other():
    one = ratio("predict", "letters", ("a", "b"), {"a": 3.0, "b": 2.0})
    assert (one.what, one.value) == ("a / b", 1.5)


def test_a_record_survives_its_file():
    record = record_of(GOOD, BAD)
    assert Record.from_text(record.text()) == record


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"measured": [{"a": 1}]}', '{"measured": []}'])
def test_other_files_are_no_records(text):
    with pytest.raises(ValueError, match="no record"):
        Record.from_text(text)


def test_tables_tell_what_was_reached():
    lines = terminal_table([GOOD, BAD]).splitlines()
    assert [line.split()[-1] for line in lines[2:]] == ["yes", "no"]
    written = page(record_of(GOOD, BAD), "picture.svg")
    assert "![" in written
    assert "picture.svg" in written
    assert "abacus, 1 cores; python 3, numpy 2" in written
    assert "| 2 | ≥ 10 | 30 | **no** | thresher 0.25 |" in written
    assert "Vowpal" not in written  # nothing was measured against it


def test_the_page_of_the_documentation_tells_what_its_record_holds():
    record = Record.from_text((DOCS / "benchmarks.json").read_text("utf-8"))
    again = "thresher bench --from docs/benchmarks.json --page docs/benchmarks.md"
    assert (DOCS / "benchmarks.md").read_text("utf-8") == page(record, "benchmarks.svg"), again
    assert (DOCS / "benchmarks.svg").read_text("utf-8") == chart(record), again


def test_the_chart_has_a_bar_for_every_figure():
    drawn = chart(record_of(GOOD, BAD, replace(GOOD, data="<script>")))
    assert drawn.count('class="met"') == 2
    assert drawn.count('class="missed"') == 1
    assert "<script>" not in drawn


def test_a_record_names_no_machine():
    begun = Record.begin(rounds=1)
    assert set(begun.machine) == {"processor", "cores", "system"}
    assert platform.node() not in begun.text()


def test_arrays_are_counted_wherever_they_are():
    class Held:
        def __init__(self):
            self.arrays = {"a": [np.zeros(2)], "b": (np.zeros(3, np.int32), "word", 7)}

    assert bytes_in(Held()) == 16 + 12


def test_files_are_read_as_two_classes(tmp_path, multiclass):
    rows, labels = multiclass
    path = write_svmlight(tmp_path / "rows.svm", rows, np.unique(labels, return_inverse=True)[1])
    data = read_file(path)
    assert data.name == "rows"
    assert set(data.y.tolist()) == {-1, 1}
    assert data.X.indices.dtype == np.int32
    np.testing.assert_array_equal(data.X.toarray(), rows.toarray()[:, : data.X.shape[1]])
    assert Setting(files=(str(path),)).main().name == "rows"


def test_known_sets_are_found_where_they_are(tmp_path, monkeypatch, binary):
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path))
    assert [one.name for one in Setting(small=True).each_set()] == ["generated text"]
    write_svmlight(tmp_path / "a9a_train.svm", binary[0], 2 * binary[1] - 1)
    monkeypatch.setitem(NAMED, "a9a", "a9a_train.svm")
    assert [one.name for one in Setting().each_set()] == ["a9a"]


@pytest.mark.jit
def test_results_agree():
    told = list(agreements(make_text(150)))
    assert len(told) == len(agreement.CHECKS)
    unchecked = [words for words in told if not words.startswith("checked: ")]
    assert unchecked == [] or (len(unchecked) == 1 and "no C compiler" in unchecked[0])


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(c_compiler.shutil, "which", lambda name: None)


def test_without_a_compiler_the_loop_in_c_is_left_out(no_compiler, monkeypatch):
    words = "an independent path learns what the same loop in C learns"
    monkeypatch.setattr(agreement, "CHECKS", {words: agreement.CHECKS[words]})
    (told,) = agreements(make_text(10))
    assert told.startswith(f"not checked: {words}; no C compiler")
    said = []
    assert list(MEASURES["c"](Setting(small=True, say=said.append))) == []
    assert said == ["c: no C compiler is installed (cc, gcc or clang)"]


def compiler_or_skip():
    try:
        return c_compiler.compiler()
    except NoCompiler as reason:
        pytest.skip(str(reason))


def test_c_that_does_not_compile_is_told(tmp_path):
    compiler_or_skip()
    (tmp_path / "wrong.c").write_text("int one(void) { return two; }", "utf-8")
    with pytest.raises(NoCompiler, match="fails: "):
        c_compiler.compiled(tmp_path / "wrong.c")


@pytest.mark.jit
@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("margin += updates", "margin -= updates"),
        ("weights[j] = weight;", "weights[j] = weight * (1.0 + 1e-7);"),
        ("doses[touches[j]]", "doses[1]"),
        ("learnt = n_updates;", "learnt = 0;"),
    ],
)
def test_a_loop_in_c_that_errs_is_found_out(line, wrong, tmp_path, monkeypatch):
    compiler_or_skip()
    source = one_path.SOURCE.read_text("utf-8")
    assert source.count(line) == 1
    (tmp_path / "wrong.c").write_text(source.replace(line, wrong), "utf-8")
    monkeypatch.setattr(one_path, "SOURCE", tmp_path / "wrong.c")
    with pytest.raises(Disagreement, match="the same loop in C"):
        list(agreements(make_text(150)))


@pytest.mark.jit
def test_a_path_is_compared_with_c_nonzero_by_nonzero():
    compiler_or_skip()
    (one,) = MEASURES["c"](Setting(small=True, rounds=1))
    assert one.what.startswith("one path / C (")
    assert "-O3 -march=native" in one.what
    assert len(one.parts) == 2


def test_the_loop_in_c_knows_the_fields_of_the_kernels_tuples():
    source = one_path.SOURCE.read_text("utf-8")
    for name, kind in {"rows": Rows, "updates": Updates, "path": Unit, "tally": Tally}.items():
        inside = source.partition(f"struct {name} {{")[2].partition("}")[0]
        assert re.findall(r"\*(\w+)", inside) == list(kind._fields)


@pytest.mark.parametrize("words", agreement.CHECKS)
def test_a_disagreement_is_told(words, monkeypatch):
    monkeypatch.setattr(agreement, "CHECKS", {words: lambda data: False})
    with pytest.raises(Disagreement, match=words[:20]):
        list(agreements(make_text(10)))


@pytest.mark.jit
def test_a_reader_that_errs_is_found_out(monkeypatch):
    honest = agreement.read_ours
    monkeypatch.setattr(
        agreement, "read_ours", lambda path: replace(honest(path), values=honest(path).values + 1)
    )
    with pytest.raises(Disagreement, match="svmlight"):
        list(agreements(make_text(60)))


def test_rows_declared_wider_are_the_same_rows():
    data = make_uniform(20, 50, per_row=5)
    wide = declared(data, 500)
    assert wide.X.shape == (20, 500)
    np.testing.assert_array_equal(wide.X.toarray()[:, :50], data.X.toarray())


@pytest.mark.jit
def test_the_command_measures_saves_and_draws(tmp_path, binary):
    rows = write_svmlight(tmp_path / "rows.svm", binary[0], 2 * binary[1] - 1)
    saved, first, second = (tmp_path / name for name in ("r.json", "a.md", "b.md"))
    words = ["--small", "--data", rows, "--save", saved, "--page", first, "--chart"]
    result = run("bench", "classics", "predict", "features", *words, tmp_path / "c.svg")
    assert result.exit_code == 0, result.output
    assert "FTRL / scikit-learn SGD, L1" in result.stdout
    assert "classics: FTRL" in result.stderr
    again = run("bench", "--from", saved, "--page", second, "--chart", tmp_path / "c.svg")
    assert again.stdout == result.stdout
    assert first.read_bytes() == second.read_bytes()
    assert {one.measure for one in Record.from_text(saved.read_text("utf-8")).measured} == {
        "classics",
        "predict",
        "features",
    }


def test_a_check_that_fails_ends_in_an_error(tmp_path, monkeypatch):
    saved = tmp_path / "r.json"
    saved.write_text(record_of(GOOD).text(), "utf-8")
    monkeypatch.setattr(agreement, "CHECKS", {"two and two are five": lambda data: False})
    result = run("bench", "--from", saved, "--check")
    assert (result.exit_code, "two and two are five" in result.stderr) == (1, True)
