"""The calibration of selection probabilities: its fit, its tables, its picture."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from experiments.calibration import (
    MADE_UP,
    REAL,
    STREAM,
    WEIGHED,
    Group,
    Measured,
    fitted,
    fitted_independence,
    left_out,
    measure,
    tasks,
    tell,
)
from experiments.calibration_weighed import fitted_slope, slopes_left_out
from experiments.errors import StudyError
from experiments.reliability import Pairs, bins, draw, table_of_bins, table_of_fits, table_of_groups
from experiments.sections import with_sections
from thresher.estimators.grouping import probability_of_any
from thresher.learners.calibration import (
    CONSTANTS,
    Constants,
    Standing,
    refit_probabilities,
    weighed_probabilities,
)

SECTIONS = ("bins", "fits", "made up", "weighed", "streams", "groups")


def simulated(slope, power, crowd=0.1, above=2.0, refits=400):
    """Return fits whose refits follow the formula with the given constants."""
    rng = np.random.default_rng(0)
    measured = []
    for number, (alone, kept) in enumerate([(0.5, 30), (3.0, 60), (20.0, 25), (3.0, 20)]):
        standing = Standing(rng.lognormal(sigma=1.5, size=300), np.full(300, alone), kept)
        law = refit_probabilities(standing, Constants(slope, power, crowd, above))
        share = rng.binomial(refits, law) / refits
        couples = np.argsort(-law)[:40].reshape(2, 20).T
        told = [probability_of_any(law[couple], 0.3) for couple in couples]
        groups = [Group(*pair) for pair in zip(couples, told, strict=True)]
        measured.append(Measured(f"set {number}", kept, standing, share, groups))
    return measured


def simulated_weighed(slope, refits=4000):
    """Return fits of weighed features whose refits follow the formula."""
    rng = np.random.default_rng(1)
    measured = []
    for number, kept in enumerate([10, 30, 60]):
        standing = Standing(rng.gamma(2.0, size=300), rng.gamma(2.0, size=300), kept)
        share = rng.binomial(refits, weighed_probabilities(standing, slope)) / refits
        measured.append(Measured(f"few {number}", kept, standing, share, [], WEIGHED))
    return measured


def test_the_slope_of_weighed_features_is_found_again():
    measured = simulated_weighed(1.5)
    assert fitted_slope(measured) == pytest.approx(1.5, rel=0.03)
    # one set that obeys another law is judged by the others'
    other = measured[0]._replace(share=weighed_probabilities(measured[0].standing, 0.5))
    pairs = slopes_left_out([other, *measured[1:]])
    expected = weighed_probabilities(other.standing, fitted_slope(measured[1:]))
    assert_array_equal(pairs[0].predicted, expected)
    assert [one.title for one in pairs] == ["few 0, 10", "few 1, 30", "few 2, 60"]


def test_it_is_found_how_much_features_say_alone():
    law, rng, measured = Constants(2.0, 0.4, 0.1, 2.0, 0.4, 0.7), np.random.default_rng(2), []
    for number, kept in enumerate((20, 30, 60)):
        scores, alone = rng.lognormal(sigma=1.5, size=300), rng.gamma(2.0, 2.0, size=300)
        standing = Standing(scores, alone, kept)
        share = rng.binomial(400, refit_probabilities(standing, law)) / 400
        measured.append(Measured(f"set {number}", kept, standing, share, []))
    assert fitted(measured, law._replace(own=0.2)).own == pytest.approx(0.7, abs=0.1)
    assert fitted(measured, law._replace(own=0.0)).own == 0.0
    assert fitted(measured, law._replace(spread=0.0)).spread == 0.0


@pytest.mark.parametrize("constants", [(2.0, 0.4, 0.3, 3.0), (4.0, 0.1, 0.0, 1.0)])
def test_constants_are_found_again(constants):
    measured = simulated(*constants)
    found = fitted(measured, CONSTANTS._replace(spread=0.0))
    at_ten = [one.slope * 10**one.crowd for one in (found, Constants(*constants))]
    assert at_ten[0] == pytest.approx(at_ten[1], rel=0.1)
    assert found.power == pytest.approx(constants[1], abs=0.06)
    assert found.crowd == pytest.approx(constants[2], abs=0.1)
    assert found.above == pytest.approx(constants[3], rel=0.15)
    assert fitted_independence(measured, Constants(*constants)) == pytest.approx(0.3, abs=0.01)


def test_without_groups_members_count_as_independent():
    measured = [one._replace(groups=[]) for one in simulated(2.0, 0.4)]
    assert fitted_independence(measured, Constants(2.0, 0.4, 0.1, 2.0)) == 1.0


def test_sets_are_judged_by_constants_of_the_others():
    measured = simulated(2.0, 0.4)
    # one set that obeys another law: it must not have been in the fit that predicts it
    law = refit_probabilities(measured[2].standing, Constants(0.2, 0.0, 0.0, 1.0))
    measured[2] = measured[2]._replace(share=law)
    pairs, groups = left_out(measured)
    assert len(groups) == 80
    titles = [one.title for one in pairs[REAL]]
    assert titles == ["set 0, 30", "set 1, 60", "set 2, 25", "set 3, 20"]
    errors = [np.abs(one.predicted - one.share).mean() for one in pairs[REAL]]
    assert errors[2] > 0.05


def test_what_was_made_of_the_same_rows_is_left_out_together():
    measured = simulated(2.0, 0.4)
    law = refit_probabilities(measured[0].standing, Constants(0.2, 0.0, 0.0, 1.0))
    measured[0] = measured[0]._replace(share=law, name="set 1, labels shuffled", kind=MADE_UP)
    pairs, _ = left_out(measured)
    assert [one.title for one in pairs[MADE_UP]] == ["set 1, labels shuffled, 30"]
    [alone] = [one for one in left_out(measured[1:])[0][REAL] if one.title == "set 1, 60"]
    [beside] = [one for one in pairs[REAL] if one.title == "set 1, 60"]
    assert np.array_equal(alone.predicted, beside.predicted)


def test_tables_and_picture_tell_what_was_predicted_and_what_came(tmp_path):
    pairs = [Pairs("dexter, 2", 2, np.array([0.99, 0.55, 0.0]), np.array([1.0, 0.5, 0.0]))]
    assert [one.features for one in bins(pairs)] == [1, 1, 1]
    kinds = {REAL: pairs, STREAM: [pairs[0]._replace(predicted=np.array([0.99, 0.85, 0.0]))]}
    assert "| 0.50-0.60 | 1 | 0.550 | 0.500 | | | |" in table_of_bins(kinds)
    assert "| dexter, 2 | 0.77 | 0.75 | 0.03 |" in table_of_fits(pairs)
    assert "| 0.75-0.90 | 2 | 0.80 | 0.70 |" in table_of_groups([(0.78, 0.6), (0.82, 0.8)])
    assert draw(kinds, tmp_path / "new" / "picture.svg").read_text("utf-8").startswith("<?xml")


def test_the_page_gets_its_tables(tmp_path, capsys):
    old = "\n".join(f"{name}:\n<!-- {name} -->\nSTALE\n<!-- end of {name} -->" for name in SECTIONS)
    page = tmp_path / "page.md"
    page.write_text(old)
    streams = [one._replace(kind=STREAM, groups=[]) for one in simulated(1.0, 0.2)]
    tell([*simulated(2.0, 0.4), *streams, *simulated_weighed(1.5)], page, tmp_path / "picture.svg")
    text, said = page.read_text(), capsys.readouterr().out
    assert "STALE" not in text
    assert "\nCONSTANTS = Constants(slope=" in said
    assert "\nSTREAM_CONSTANTS = Constants(slope=" in said
    assert "WEIGHED_SLOPE = 1.5" in said
    assert "INDEPENDENCE = 0." in said
    assert text.index("| probability | real: features") < text.index("| set, size")
    assert "fits:\n<!-- fits -->\n| set, size" in text
    assert text.count("| set 1, 60 |") == 2
    assert "| probability of the group |" in text
    with pytest.raises(StudyError, match="end of bins"):
        with_sections("no marks", {"bins": ""})


@pytest.mark.parametrize("name", ["noise, 200 x 300", "noise in marks, one pass"])
def test_noise_is_measured_fit_by_fit_and_in_a_stream(name):
    ten, fifty = tasks([name])
    measured = measure(ten, refits=2)
    assert (ten.size, fifty.size) == (10, 50)
    assert (measured.name, measured.kind) == (name, STREAM if "one pass" in name else MADE_UP)
    assert measured.share.sum() == pytest.approx(10)
    assert 0 < measured.contest.said < 5


def test_the_page_in_the_repository_has_the_marks():
    page = (Path(__file__).parents[2] / "docs" / "selection.md").read_text("utf-8")
    filled = with_sections(page, dict.fromkeys(SECTIONS, "here"))
    assert filled.count("here\n<!-- end of") == len(SECTIONS)
