"""The ablation: variants change what they say, and the page compares them with the default."""

import numpy as np
import pytest

from experiments.ablation import cli, measuring, reading
from experiments.ablation.variants import DEFAULT, VARIANTS, Variant
from experiments.store import Store
from thresher import ThresherClassifier


def learner_of(variant):
    """Return what learns a hundred rows that have nothing in common."""
    estimator = variant.build(500, 0)
    estimator._seed, estimator._own, estimator.n_features_in_ = 0, 1.0, 1000
    return estimator._learner(100)


@pytest.mark.parametrize("name", VARIANTS)
def test_only_the_default_is_the_default(name):
    variant = VARIANTS[name]
    ours, default = learner_of(variant), learner_of(VARIANTS[DEFAULT])
    same = ours == default and type(ours) is type(default) and variant.scaling == "row-l2"
    kind = type(variant.build(5, 0))
    same = same and kind.measures_columns and kind.decisions == ThresherClassifier.decisions
    assert same == (name == DEFAULT)


def stored(missed, overlaps):
    return {"size": 3, "rows": 10, "missed": missed, "overlaps": overlaps}


def test_a_variant_is_read_beside_the_default(tmp_path):
    store = Store(tmp_path)
    same = [3, 3, 3]  # two sets of three features, all of them shared
    default = {"points": [stored([1, 1], same), stored([4, 4], same)], "halves": same}
    variant = {"points": [stored([4, 4], same), stored([4, 4], same)], "halves": same}
    store.write(("dexter", DEFAULT), "any", default)
    store.write(("dexter", "no-refit"), "any", variant)
    assert reading.summarize(store, "no-refit").ratio == pytest.approx(2.0)
    assert reading.summarize(store, DEFAULT).kappa == pytest.approx(1.0)
    assert np.isnan(reading.summarize(store, "hinge").ratio)


@pytest.mark.jit
def test_the_command_makes_the_page(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "SEEDS", 2)
    monkeypatch.setattr(cli, "SETS", ("tiny",))
    monkeypatch.setattr(reading, "SETS", ("tiny", "planted"))
    monkeypatch.setattr(reading, "REAL", ("tiny",))
    chosen = {name: VARIANTS[name] for name in (DEFAULT, "no-refit")}
    quick = {
        name: Variant(each.title, {**each.params, "max_iter": 2, "n_stages": 3})
        for name, each in chosen.items()
    }
    for name in list(VARIANTS):
        monkeypatch.delitem(VARIANTS, name)
    for name, each in quick.items():
        monkeypatch.setitem(VARIANTS, name, each)
    words = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    assert cli.main(words) == 0
    page = (tmp_path / "docs" / "default.md").read_text(encoding="utf-8")
    assert "| the default | 1.000 |" in page
    assert "$" not in page
    monkeypatch.setattr(cli, "measure", lambda *_: pytest.fail("measured again"))
    assert cli.main(words) == 0
