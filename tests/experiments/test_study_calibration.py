"""The calibration of selection probabilities: its fit, its tables, its picture."""

import numpy as np
import pytest

from experiments.calibration import Measured, fitted, left_out
from experiments.reliability import Pairs, bins, draw, table_of_bins, table_of_fits, table_of_groups
from thresher.learners.calibration import Standing, refit_probabilities


def simulated(slope, power, refits=400):
    """Return fits whose refits follow the formula with the given constants."""
    rng = np.random.default_rng(0)
    measured = []
    for number, evidence in enumerate([0.5, 3.0, 20.0]):
        standing = Standing(rng.lognormal(sigma=1.5, size=300), np.full(300, evidence), 30)
        share = rng.binomial(refits, refit_probabilities(standing, slope, power)) / refits
        measured.append(Measured(f"set {number}", 30, standing, share, []))
    return measured


@pytest.mark.parametrize(("slope", "power"), [(2.0, 0.4), (4.0, 0.1)])
def test_constants_are_found_again(slope, power):
    log_slope, found = fitted(simulated(slope, power))
    assert np.exp(log_slope) == pytest.approx(slope, rel=0.1)
    assert found == pytest.approx(power, abs=0.06)


def test_sets_are_judged_by_constants_of_the_others():
    measured = simulated(2.0, 0.4)
    # one set that obeys another law: it must not have been in the fit that predicts it
    scores, evidence, kept = measured[2].standing
    law = refit_probabilities(Standing(scores, evidence, kept), 30.0, 0.4)
    measured[2] = measured[2]._replace(share=law)
    pairs = left_out(measured)
    assert [one.title for one in pairs] == ["set 0, 30", "set 1, 30", "set 2, 30"]
    errors = [np.abs(one.predicted - one.share).mean() for one in pairs]
    assert errors[2] > 0.02


def test_tables_and_picture_tell_what_was_predicted_and_what_came(tmp_path):
    pairs = [Pairs("dexter, 2", 2, np.array([0.99, 0.55, 0.0]), np.array([1.0, 0.5, 0.0]))]
    assert [one.features for one in bins(pairs)] == [1, 1, 1]
    assert "| 0.50-0.60 | 1 | 0.550 | 0.500 |" in table_of_bins(pairs)
    assert "| dexter, 2 | 0.77 | 0.75 | 0.03 |" in table_of_fits(pairs)
    assert "| 0.75-0.90 | 2 | 0.80 | 0.70 |" in table_of_groups([(0.78, 0.6), (0.82, 0.8)])
    assert draw(pairs, tmp_path / "new" / "picture.svg").read_text("utf-8").startswith("<?xml")
