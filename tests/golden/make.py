"""Makes the golden files of the current format: python tests/golden/make.py, once per version.

Files of older versions are never made again: that they still load is what they are for.
"""

import json
from pathlib import Path

import numpy as np

import thresher
from thresher.data.naming import GrowingNames
from thresher.files.container import FORMAT

HERE = Path(__file__).parent
WIDTH = 24


def golden_rows(n=60):
    """Return rows that need no generator of random numbers to be the same for ever."""
    places = np.arange(n * WIDTH).reshape(n, WIDTH)
    values = (places * 7919 % 101) / 16.0 - 3.0
    return np.where(places * 104729 % 11 < 3, values, 0.0)


def golden_models():
    """Return fitted models by the names of their files: slim ones, and two to go on with."""
    rows = golden_rows()
    labels = (rows @ np.linspace(-1, 1, WIDTH) > 0).astype(int)
    three = np.array(["ash", "elm", "oak"])[labels + (rows[:, 3] > 0)]
    weights = {"ash": 2.0, "elm": 1.0, "oak": 1.5}
    plain = thresher.RDAClassifier(l1=0.05, random_state=1, class_weight=weights).fit(rows, three)
    stable = thresher.ThresherClassifier(n_features_to_select=6, n_stages=5, max_iter=5)
    stable.set_params(random_state=2).fit(rows, labels)
    stable._names = GrowingNames([f"wörd {column}" for column in range(WIDTH)])
    stable.data_fingerprint_ = "0123456789abcdef"
    state = thresher.StabilizedTruncatedSGDClassifier(burst_size=4, n_paths=3, random_state=3)
    state.partial_fit(rows[:50], labels[:50] > 0, classes=[False, True])
    flagship = thresher.ThresherClassifier(n_features_to_select=6, n_stages=5, random_state=4)
    flagship.partial_fit(rows[:50], labels[:50], classes=[0, 1])
    units = thresher.ThresherClassifier(n_features_to_select=6, n_stages=5, max_iter=5)
    units.set_params(random_state=5).fit(rows * np.where(np.arange(WIDTH) == 20, 1e6, 1.0), labels)
    offsets = thresher.ThresherClassifier(n_features_to_select=6, n_stages=5, max_iter=5)
    offsets.set_params(random_state=6).fit(
        rows + np.where(np.arange(WIDTH) > 18, 40.0, 0.0), labels
    )
    roots = thresher.ThresherClassifier(n_features_to_select=6, n_stages=5, max_iter=5)
    roots.set_params(random_state=7, value_power=0.5).fit(rows, labels)
    return {
        "model": plain,
        "stabilized": stable,
        "state": state,
        "flagship-state": flagship,
        "units": units,
        "offsets": offsets,
        "roots": roots,
    }


def main():
    """Write the files, and beside them what the models say of the rows."""
    expected = {}
    for name, model in golden_models().items():
        model.save(HERE / f"{name}-v{FORMAT}.thresher", training_state=name.endswith("state"))
        margins = model.decision_function(golden_rows())
        expected[name] = {
            "margins": [[float(one).hex() for one in np.atleast_1d(row)] for row in margins],
            "labels": model.predict(golden_rows()).tolist(),
            "parameters": repr(sorted(model.get_params().items())),
        }
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (HERE / f"expected-v{FORMAT}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
