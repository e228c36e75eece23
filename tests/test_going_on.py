"""Parameters changed between calls: some take effect, the others are refused, none is ignored."""

import pytest
from numpy.testing import assert_array_equal

import thresher
from cases import PATHED, facts, labelled_rows, make_streaming, numbered_rows, stream

REGRESSOR = "ThresherRegressor"
CHANGES = [
    *((name, change) for name in [*PATHED, REGRESSOR] for change in ({"n_paths": 5},)),
    *((name, {"normalize": False}) for name in PATHED),
    (REGRESSOR, {"normalize": True}),
    (REGRESSOR, {"loss": "squared_error"}),
    (REGRESSOR, {"epsilon": 2.0}),
]
KEPT = {"n_paths": 3, "normalize": True}
KEPT_BY_REGRESSOR = {"n_paths": 3, "normalize": False, "loss": "huber", "epsilon": 1.35}


def begun(name, how="partial_fit"):
    """Return a model that has learnt a little, and the rows to go on with."""
    rows, labels = (numbered_rows if name == REGRESSOR else labelled_rows)(n=120)
    loss = {"loss": "huber"} if name == REGRESSOR else {}
    model = make_streaming(name, warm_start=True, **loss)
    if how == "fit":
        model.fit(rows, labels)
    else:
        stream(model, rows, labels)
    return model, rows, labels


@pytest.mark.parametrize("change", [{"loss": "squared_error"}, {"epsilon": 2.0}], ids=str)
def test_no_file_says_that_numbers_were_measured_otherwise(change, tmp_path):
    model, rows, _ = begun(REGRESSOR)
    ((parameter, _),) = change.items()
    with pytest.raises(ValueError, match=f"^{parameter}=.*Set it back"):
        model.set_params(**change).save(tmp_path / "model", training_state=True)
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "model")  # predictions are what they were
    assert (thresher.load(tmp_path / "model").predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("call", ["partial_fit", "fit"])
@pytest.mark.parametrize("how", ["partial_fit", "fit", "load"])
@pytest.mark.parametrize(("name", "change"), CHANGES, ids=str)
def test_what_has_shaped_the_state_cannot_change(name, change, how, call, tmp_path):
    model, rows, labels = begun(name, how)
    if how == "load":
        model.save(tmp_path / "model", training_state=True)
        model = thresher.load(tmp_path / "model")
    before = facts(model)
    ((parameter, _),) = change.items()
    learnt = (KEPT_BY_REGRESSOR if name == REGRESSOR else KEPT)[parameter]
    words = f"^{parameter}=.* {parameter}={learnt!r}, .*set_params.*begin anew: fit, with warm"
    with pytest.raises(ValueError, match=words):
        getattr(model.set_params(**change), call)(rows, labels)
    assert facts(model) == before
    getattr(model.set_params(**{parameter: learnt}), call)(rows, labels)
    model.set_params(warm_start=False, **change).fit(rows, labels)


@pytest.mark.parametrize("name", [*PATHED, REGRESSOR])
def test_a_file_knows_how_many_paths_it_holds(name, tmp_path):
    model, rows, labels = begun(name)
    model.set_params(n_paths=5).save(tmp_path / "model", training_state=True)
    loaded = thresher.load(tmp_path / "model")
    with pytest.raises(ValueError, match=r"n_paths=5, .* with n_paths=3"):
        loaded.partial_fit(rows, labels)


def test_epsilon_may_change_where_nobody_asks_for_it():
    rows, y = numbered_rows()
    model, never_changed = (stream(make_streaming(REGRESSOR), rows, y) for _ in range(2))
    assert model.loss == "squared_error"
    model.set_params(epsilon=7.0).partial_fit(rows, y)
    assert_array_equal(model.coef_, never_changed.partial_fit(rows, y).coef_)


@pytest.mark.parametrize("paths", ["shared", "permutation"])
def test_other_bursts_are_taken_up_with_the_next_stage(paths):
    rows, labels = labelled_rows(n=60)
    model = make_streaming("StabilizedTruncatedSGDClassifier", paths=paths, warm_start=True)
    model.fit(rows, labels)
    known = len(model.history_)
    assert {record["burst_size"] for record in model.history_} == {6}
    model.set_params(burst_size=4).fit(rows, labels)
    assert {record["burst_size"] for record in model.history_[known:]} == {4}
