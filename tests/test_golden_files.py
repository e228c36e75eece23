"""Models that earlier versions have written: they predict what they always did."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import thresher
from golden.make import golden_rows
from thresher.files.container import FORMAT

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("version", "name"),
    [
        *itertools.product(range(1, FORMAT + 1), ["model", "stabilized", "state"]),
        *itertools.product(range(2, FORMAT + 1), ["flagship-state"]),
        *itertools.product(range(3, FORMAT + 1), ["units"]),
        *itertools.product(range(4, FORMAT + 1), ["offsets"]),
        *itertools.product(range(8, FORMAT + 1), ["roots"]),
    ],
)
def test_golden_files_predict_what_they_always_did(version, name):
    expected = json.loads((GOLDEN / f"expected-v{version}.json").read_text("utf-8"))[name]
    model = thresher.load(GOLDEN / f"{name}-v{version}.thresher")
    margins = model.decision_function(golden_rows())
    before = [[float.fromhex(one) for one in row] for row in expected["margins"]]
    # rows' lengths were once computed in another order of operations
    np.testing.assert_array_max_ulp(margins.reshape(len(before), -1), np.array(before), maxulp=4)
    assert model.predict(golden_rows()).tolist() == expected["labels"]
    parameters = model.get_params()
    if version < 8 and parameters.get("value_power"):
        assert parameters.pop("value_power") == "auto"  # nor this
        assert model.value_power_ == 1.0
    if version == 1 and parameters.get("dtype"):
        assert parameters.pop("dtype") == "float64"  # which nobody had to say then
    assert repr(sorted(parameters.items())) == expected["parameters"]


def test_golden_files_hold_what_they_always_did():
    plain, stable, state = (
        thresher.load(GOLDEN / f"{name}-v1.thresher") for name in ("model", "stabilized", "state")
    )
    assert plain.classes_.tolist() == ["ash", "elm", "oak"]
    assert plain.class_weight == {"ash": 2.0, "elm": 1.0, "oak": 1.5}
    assert stable.data_fingerprint_ == "0123456789abcdef"
    assert stable.selection_table().feature.str.startswith("wörd ").all()
    # it knows neither of how many features these were chosen, nor of refits
    assert list(stable.selection_table().attrs) == ["selection_probability"]
    assert len(stable.history_) == 5
    assert np.count_nonzero(stable.coef_) == 6
    assert state.classes_.tolist() == [False, True]
    labels = np.arange(10) % 2 == 0
    state.partial_fit(golden_rows()[50:], labels)
    with pytest.raises(ValueError, match="only what prediction needs"):
        stable.partial_fit(golden_rows()[:10], labels.astype(int))
    for version, remembered in ((2, False), *((n, True) for n in range(3, FORMAT + 1))):
        flagship = thresher.load(GOLDEN / f"flagship-state-v{version}.thresher")
        assert (flagship._model.rehearsal is not None) == remembered
        flagship.partial_fit(golden_rows()[50:], labels.astype(int))
    assert thresher.load(GOLDEN / "units-v3.thresher").column_scales_ is not None
