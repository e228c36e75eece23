"""The calibration of selection probabilities: its fit, its tables, its picture."""

from pathlib import Path

import numpy as np
import pytest

from experiments.calibration import (
    Group,
    Measured,
    fitted,
    fitted_independence,
    left_out,
    tell,
)
from experiments.errors import StudyError
from experiments.reliability import Pairs, bins, draw, table_of_bins, table_of_fits, table_of_groups
from experiments.sections import with_sections
from thresher.estimators.grouping import probability_of_any
from thresher.learners.calibration import Constants, Standing, refit_probabilities


def simulated(slope, power, above=2.0, refits=400):
    """Return fits whose refits follow the formula with the given constants."""
    rng = np.random.default_rng(0)
    measured = []
    for number, evidence in enumerate([0.5, 3.0, 20.0]):
        standing = Standing(rng.lognormal(sigma=1.5, size=300), np.full(300, evidence), 30)
        law = refit_probabilities(standing, Constants(slope, power, above))
        share = rng.binomial(refits, law) / refits
        couples = np.argsort(-law)[:40].reshape(2, 20).T
        told = [probability_of_any(law[couple], 0.3) for couple in couples]
        groups = [Group(*pair) for pair in zip(couples, told, strict=True)]
        measured.append(Measured(f"set {number}", 30, standing, share, groups))
    return measured


@pytest.mark.parametrize("constants", [(2.0, 0.4, 3.0), (4.0, 0.1, 1.0)])
def test_constants_are_found_again(constants):
    measured = simulated(*constants)
    found = fitted(measured)
    assert found.slope == pytest.approx(constants[0], rel=0.1)
    assert found.power == pytest.approx(constants[1], abs=0.06)
    assert found.above == pytest.approx(constants[2], rel=0.15)
    assert fitted_independence(measured, Constants(*constants)) == pytest.approx(0.3, abs=0.01)


def test_without_groups_members_count_as_independent():
    measured = [one._replace(groups=[]) for one in simulated(2.0, 0.4)]
    assert fitted_independence(measured, Constants(2.0, 0.4, 2.0)) == 1.0


def test_sets_are_judged_by_constants_of_the_others():
    measured = simulated(2.0, 0.4)
    # one set that obeys another law: it must not have been in the fit that predicts it
    scores, evidence, kept = measured[2].standing
    law = refit_probabilities(Standing(scores, evidence, kept), Constants(0.5, 0.0, 1.0))
    measured[2] = measured[2]._replace(share=law)
    pairs, groups = left_out(measured)
    assert len(groups) == 60
    assert [one.title for one in pairs] == ["set 0, 30", "set 1, 30", "set 2, 30"]
    errors = [np.abs(one.predicted - one.share).mean() for one in pairs]
    assert errors[2] > 0.1


def test_tables_and_picture_tell_what_was_predicted_and_what_came(tmp_path):
    pairs = [Pairs("dexter, 2", 2, np.array([0.99, 0.55, 0.0]), np.array([1.0, 0.5, 0.0]))]
    assert [one.features for one in bins(pairs)] == [1, 1, 1]
    assert "| 0.50-0.60 | 1 | 0.550 | 0.500 |" in table_of_bins(pairs)
    assert "| dexter, 2 | 0.77 | 0.75 | 0.03 |" in table_of_fits(pairs)
    assert "| 0.75-0.90 | 2 | 0.80 | 0.70 |" in table_of_groups([(0.78, 0.6), (0.82, 0.8)])
    assert draw(pairs, tmp_path / "new" / "picture.svg").read_text("utf-8").startswith("<?xml")


def test_the_page_gets_its_tables(tmp_path, capsys):
    names = ("bins", "fits", "groups")
    old = "\n".join(f"{name}:\n<!-- {name} -->\nSTALE\n<!-- end of {name} -->" for name in names)
    page = tmp_path / "page.md"
    page.write_text(old)
    tell(simulated(2.0, 0.4), page, tmp_path / "picture.svg")
    text, said = page.read_text(), capsys.readouterr().out
    assert "STALE" not in text
    assert "CONSTANTS = Constants(slope=" in said
    assert "INDEPENDENCE = 0." in said
    assert text.index("| probability | features") < text.index("| set, size")
    assert "fits:\n<!-- fits -->\n| set, size" in text
    assert "| set 1, 30 |" in text
    assert "| probability of the group |" in text
    with pytest.raises(StudyError, match="end of bins"):
        with_sections("no marks", {"bins": ""})


def test_the_page_in_the_repository_has_the_marks():
    page = (Path(__file__).parents[2] / "docs" / "selection.md").read_text("utf-8")
    filled = with_sections(page, dict.fromkeys(("bins", "fits", "groups"), "here"))
    assert filled.count("here\n<!-- end of") == 3
