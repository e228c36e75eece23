"""Every learner equals its slow dense twin to 1e-10, decisions included."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases import LOSSES, NAMES, PATHED, UNCALIBRATED, make
from thresher import ThresherClassifier
from twins import CLASSICS, TWINS, run_of

EXACT = {"rtol": 0, "atol": 1e-10}


@pytest.fixture(autouse=True)
def as_learnt(monkeypatch):
    """Leave margins as they were learnt: calibration on held-out rows is tested on its own."""
    monkeypatch.setattr(ThresherClassifier, "decisions", UNCALIBRATED)


def of_problem(shown, n_problems, problem):
    """Return what a model shows of one problem; with two classes there is but one."""
    return shown if n_problems == 1 else shown[problem]


def assert_equals_classic(model, expected, problem=0, within=EXACT):
    coef, intercept = expected
    assert_allclose(model.coef_[problem], coef, **within)
    assert_allclose(model.intercept_[problem], intercept, **within)


def assert_equals_staged(model, expected, problem=0, within=EXACT):
    n = len(model.coef_)
    history = of_problem(model.history_, n, problem)
    assert [(a["rows_seen"], a["stable"], a["burst_size"]) for a in history] == [
        (a.rows, a.stable, a.burst_size) for a in expected.history
    ]
    if not hasattr(model, "n_stages"):  # gravity takes a feature's one step back: rounding decides
        assert [a["nonzero"] for a in history] == [a.nonzero for a in expected.history]
    assert_allclose(
        [(a["rejection_rate"], a["gravity"]) for a in history],
        [(a.rejection_rate, a.gravity) for a in expected.history],
        **EXACT,
    )
    assert_array_equal(of_problem(model.stable_, n, problem), expected.stable)
    # what features are judged by: how often they were selected, or their mean weight
    judged_by = "mean" if hasattr(model, "n_stages") else "probability"
    by_slot = [paths.feature(judged_by) for paths in model._states()]
    unseen = [float(kept) for kept in model._unseen_kept()]
    evidence = of_problem(model._spread(by_slot, unseen), n, problem)
    assert_allclose(evidence, expected.evidence, **EXACT)
    assert_equals_classic(model, (expected.coef, expected.intercept), problem, within)


def assert_equals(model, expected, problem=0):
    staged = hasattr(model, "history_")
    (assert_equals_staged if staged else assert_equals_classic)(model, expected, problem)


def check(row, data, loss="log_loss", fit_intercept=True, **settings):
    """Fit a model, then its twin with the chances the model drew; compare."""
    run = run_of(data, row.name, loss, fit_intercept, {**row.settings, **settings})
    model = run.estimator(row.name).fit(*data)
    expected = row.twin(run, model)
    assert_equals(model, expected)
    return expected


@pytest.mark.parametrize("row", CLASSICS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classics_equal_their_twins(binary, row, loss, fit_intercept):
    coef, _ = check(row, binary, loss, fit_intercept)
    n_occurring = coef.size - 2
    if row.name != "PlainSGDClassifier" and "eta0" in row.settings:
        assert 0 < np.count_nonzero(coef) < n_occurring  # it did truncate


@pytest.mark.parametrize("name", PATHED)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("paths", ["permutation", "shared"])
def test_staged_learners_equal_their_twins(binary, name, loss, fit_intercept, paths):
    expected = check(TWINS[name], binary, loss, fit_intercept, paths=paths)
    assert len(expected.history) > 4
    assert 0 < np.count_nonzero(expected.coef) < expected.coef.size


@pytest.mark.parametrize("selection", ["informative", "every"])
@pytest.mark.parametrize("shrinkage", ["linear", "sqrt"])
@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize("burst_growth", [None, 0.3])
@pytest.mark.parametrize("min_evidence", [0, 12])
def test_stabilized_equals_its_twin_stage_by_stage(
    binary, selection, shrinkage, paths, burst_growth, min_evidence
):
    expected = check(
        TWINS["StabilizedTruncatedSGDClassifier"],
        binary,
        selection=selection,
        shrinkage=shrinkage,
        paths=paths,
        burst_growth=burst_growth,
        min_evidence=min_evidence,
    )
    assert not expected.stable.all()  # it did purge
    if burst_growth:
        assert len({stage.burst_size for stage in expected.history}) > 1  # it did grow


@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize("refit", [0.0, 0.3])
@pytest.mark.parametrize("n_features_to_select", [5, 12])
def test_thresher_equals_its_twin_stage_by_stage(binary, paths, refit, n_features_to_select):
    wanted = n_features_to_select
    row = TWINS["ThresherClassifier"]
    expected = check(row, binary, paths=paths, refit=refit, n_features_to_select=wanted)
    assert expected.stable.sum() == wanted


@pytest.mark.parametrize(
    "settings",
    [
        {"eta0": 0.4},
        {"learning_rate": "invsqrt"},
        {"shuffle": True},
        {"shuffle": True, "paths": "permutation"},
        {"n_paths": 1, "paths": "permutation"},
        {"n_paths": 1, "paths": "shared"},
        {"n_paths": 11, "paths": "shared"},
        {"rejection_rate": 0.0},
        {"rejection_rate": 1.0},
        {"max_iter": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", PATHED)
def test_staged_learners_equal_their_twins_whatever_the_settings(binary, name, settings):
    check(TWINS[name], binary, **settings)


@pytest.mark.parametrize("annealing_rate", [-5.0, 0.0, 7.0])
@pytest.mark.parametrize("purge_threshold", [0.0, 0.9])
def test_stabilized_equals_its_twin_however_it_anneals(binary, annealing_rate, purge_threshold):
    row = TWINS["StabilizedTruncatedSGDClassifier"]
    check(row, binary, annealing_rate=annealing_rate, purge_threshold=purge_threshold)


@pytest.mark.filterwarnings("ignore:All features were purged")
@pytest.mark.parametrize("selection", ["informative", "every"])
def test_stabilized_equals_its_twin_when_everything_is_purged(binary, selection):
    """Columns that never occur stay stable under "informative", so training goes on."""
    expected = check(
        TWINS["StabilizedTruncatedSGDClassifier"],
        binary,
        selection=selection,
        rejection_rate=1.0,
        annealing_rate=-1e6,
        purge_threshold=1.0,
        max_iter=10,
    )
    assert not expected.coef.any()


# --------------------------------------------------------------------- weights, classes, norms


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_sample_weights_multiply_the_slope_and_zero_removes_the_row(binary, name, loss):
    rows, labels = binary
    weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.7], size=labels.size)
    kept = weights > 0
    run = run_of((rows[kept], labels[kept]), name, loss, settings=TWINS[name].settings)
    run.weights = weights[kept]
    model = run.estimator(name).fit(rows, labels, sample_weight=weights)
    assert_equals(model, TWINS[name].twin(run, model))


@pytest.mark.parametrize("name", NAMES)
def test_several_classes_are_one_twin_each(multiclass, name):
    rows, labels = multiclass
    run = run_of(multiclass, name, settings=TWINS[name].settings)
    model = run.estimator(name).fit(rows, labels)
    for number, one in enumerate(model.classes_):
        run.y = np.where(labels == one, 1.0, -1.0)
        assert_equals(model, TWINS[name].twin(run, model), number)


@pytest.mark.parametrize("name", PATHED)
@pytest.mark.parametrize("paths", ["permutation", "shared"])
def test_normalize_is_the_twin_on_rows_of_unit_length(binary, name, paths):
    rows, labels = binary
    settings = {**TWINS[name].settings, "paths": paths, "normalize": True}
    run = run_of(binary, name, settings=settings)
    model = run.estimator(name).fit(rows, labels)
    lengths = np.linalg.norm(run.X, axis=1, keepdims=True)
    run.X = np.divide(run.X, lengths, out=np.zeros_like(run.X), where=lengths > 0)
    expected = TWINS[name].twin(run, model)
    assert_equals(model, expected)
    margins = run.X @ expected.coef + expected.intercept
    assert_allclose(model.decision_function(rows), margins, **EXACT)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_that_never_occurs_has_no_weight(binary, name):
    model = make(name).fit(*binary)
    assert_array_equal(model.coef_[:, [3, 11]], 0.0)
    assert not model.get_support()[[3, 11]].any()
