"""What estimators promise beside scikit-learn's own checks."""

import copy
import inspect
import pickle
import re
import threading
import timeit
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier

import thresher
from cases import (
    FLAGSHIPS,
    LOSSES,
    NAMES,
    PATHED,
    assert_same_bits,
    dense_coef,
    facts,
    labelled_rows,
    make,
    stream,
)
from thresher.estimators.base import strengths
from thresher.estimators.regressor import OnlineRegressor
from thresher.fitted import SOFTMAX, Fitted
from thresher.prepare import Preparation
from thresher.validation import Number, OneOf, Whole

every_name = pytest.mark.parametrize("name", NAMES)
every_estimator = pytest.mark.parametrize("name", [*NAMES, *FLAGSHIPS])

# ---------------------------------------------------------------------------------- parameters


@every_estimator
def test_signature_docstring_and_clone_come_from_the_declarations(name):
    kind = getattr(thresher, name)
    declared = {one.name: one.default for one in kind.parameters}
    signature = inspect.signature(kind)
    assert {key: one.default for key, one in signature.parameters.items()} == declared
    assert kind().get_params() == declared
    for one in kind.parameters:
        assert f"\n{one.name} : {one.kind}, default={one.default!r}" in kind.__doc__
    sentences = [line for line in kind.__doc__.splitlines() if line.startswith(" ")]
    assert max(map(len, sentences)) <= 100
    model = kind(fit_intercept=False)
    assert clone(model).get_params() == model.get_params() == declared | {"fit_intercept": False}
    assert repr(model).startswith(f"{name}(")
    with pytest.raises(TypeError, match=f"{name} has no parameter 'speed': there are"):
        kind(speed=3)


WRONG = {  # by what allows values
    Whole: [2.5, None, True, "many", -7],
    Number: [float("nan"), float("inf"), True, [1], -7.0],
    OneOf: ["other", 3, [1]],
}


def wrong_values(parameter):
    kinds = [type(one) for one in parameter.allowed]
    values = [value for kind in kinds for value in WRONG.get(kind, [(), 0.5])]
    return [v for v in values if not any(one.allows(v) for one in parameter.allowed)]


@every_estimator
def test_parameters_out_of_range_are_named(binary, name):
    kind = getattr(thresher, name)
    for parameter in kind.parameters:
        assert wrong_values(parameter)
        for value in wrong_values(parameter):
            model = kind(**{parameter.name: value})
            words = f"parameter {parameter.name}={value!r} of {name} is not allowed: it must be"
            for call in (model.fit, partial(stream, model)):
                with pytest.raises(ValueError, match=re.escape(words)):
                    call(*binary)
            assert not hasattr(model, "coef_")


def test_parameters_are_checked_again_when_they_change(binary):
    model = stream(make("FTRLClassifier"), *binary)
    before = facts(model)
    with pytest.raises(ValueError, match="alpha=-1"):
        model.set_params(alpha=-1).partial_fit(*binary)
    assert facts(model.set_params(alpha=3.0)) == before  # the model as it was learned
    assert facts(model.partial_fit(*binary)) != before


@pytest.mark.parametrize("name", [*PATHED, *FLAGSHIPS])
def test_what_has_shaped_a_stream_cannot_be_changed(binary, name):
    others = {"n_paths": 5, "normalize": False, "n_features_to_select": 3, "fit_intercept": False}
    others["loss"] = "huber" if name.endswith("Regressor") else "squared_hinge"
    model = stream(getattr(thresher, name)(random_state=0), *binary)
    before = facts(model)
    assert model.fixed
    for fixed in model.fixed:
        changed = copy.deepcopy(model).set_params(**{fixed: others[fixed]})
        words = f"{fixed}={others[fixed]!r} cannot go on from what was learned with {fixed}="
        with pytest.raises(ValueError, match=re.escape(words)):
            changed.partial_fit(*binary)
        assert facts(changed) == before
        usual = changed.set_params(**{fixed: getattr(model, fixed)}).partial_fit(*binary)
        assert_same_bits(usual, copy.deepcopy(model).partial_fit(*binary))


def test_numpys_scalars_and_whole_numbers_are_as_good_as_pythons(binary):
    for name, given, meant in (
        ("PlainSGDClassifier", {"loss": np.str_("hinge")}, {"loss": "hinge"}),
        ("PlainSGDClassifier", {"shuffle": np.False_}, {"shuffle": False}),
        ("PlainSGDClassifier", {"max_iter": np.int32(2), "eta0": 1}, {"max_iter": 2, "eta0": 1.0}),
        ("FOBOSClassifier", {"l1": np.float32(0.5)}, {"l1": 0.5}),
        ("RDAClassifier", {"l1": 0, "gamma": np.int64(3)}, {"l1": 0.0, "gamma": 3.0}),
    ):
        assert_same_bits(make(name, **given).fit(*binary), make(name, **meant).fit(*binary))


# ------------------------------------------------------------------------------- fitted models


@every_name
def test_before_fit_there_is_nothing_to_read(binary, name):
    model = make(name)
    for attribute in ("coef_", "intercept_", "classes_", "fitted_", "history_", "stable_"):
        assert not hasattr(model, attribute)
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        with pytest.raises(NotFittedError, match=f"This {name} .*not fitted yet"):
            getattr(model, method)(binary[0])
    for method in ("sparsify", "densify", "selection_table", "get_support"):
        with pytest.raises(NotFittedError):
            getattr(model, method)()


@every_name
def test_coefficients_selection_and_names_agree(problems, name):
    for rows, labels in problems:
        model = make(name).fit(rows, labels)
        coef, fitted = dense_coef(model), model.fitted_
        used = np.flatnonzero(coef.any(axis=0))
        assert_array_equal(fitted.columns, used)
        assert_array_equal(model.get_support(indices=True), used)
        assert model.n_features_selected_ == used.size
        assert_array_equal(model.transform(rows).toarray(), rows.toarray()[:, used])
        assert model.get_feature_names_out().tolist() == [f"x{j}" for j in used]
        given = [f"f{j}" for j in range(40)]
        assert model.get_feature_names_out(given).tolist() == [f"f{j}" for j in used]
        assert_array_equal(model.sparsify().coef_.toarray() + 0.0, coef)
        assert_same_bits(model.densify().partial_fit(rows, labels), model)
        if not fitted.preparation.unit:
            margins = rows @ coef.T + np.asarray(model.fit(rows, labels).intercept_)
            found = model.decision_function(rows)
            assert_allclose(found.reshape(margins.shape), margins, atol=1e-12)


@every_name
def test_what_is_shown_cannot_be_changed_from_outside(binary, name):
    model = make(name).fit(*binary)
    before = facts(model)
    model.coef_[:] = 7.0
    model.intercept_[:] = 7.0
    if name in PATHED:
        model.history_[0]["stable"] = -1
        model.stable_[:] = False
        model.selection_probabilities_[:] = 7.0
    assert facts(model) == before


def test_the_table_is_ordered_by_strength_and_has_a_weight_per_class(multiclass):
    rows, labels = multiclass
    words = pd.DataFrame(rows.toarray(), columns=[f"word {j}" for j in range(40)])
    model = make("FTRLClassifier").fit(words, labels)
    table = model.selection_table()
    assert table.columns.tolist() == ["feature", *(f"weight of {one}" for one in model.classes_)]
    largest = table.iloc[:, 1:].abs().max(axis=1)
    assert largest.is_monotonic_decreasing
    column = int(table.feature[0].removeprefix("word "))
    assert_array_equal(table.iloc[0, 1:].astype(float), model.coef_[:, column])
    assert model.fitted_.names.name(column) == table.feature[0]
    two = make("FTRLClassifier").fit(rows, labels == "ash").selection_table()
    assert two.columns.tolist() == ["feature", "weight"]


class Numbers(OnlineRegressor):
    """A regressor that knows only what it is given."""

    def fit(self, X, y):
        raise NotImplementedError


def test_a_fitted_model_is_all_that_reading_needs():
    measured = Preparation(True, np.array([4]), np.array([0.5]))
    fitted = Fitted(np.array([1, 4]), np.array([[2.0, 2.0]]), np.array([0.25]), 6, measured)
    model = Numbers()
    model.restore(fitted, {"frequency": np.array([0.5, 1.0])})
    X = np.array([[3.0, 4.0, 0, 0, 7.0, 0], [0.0, 0, 0, 0, 0, 0]])
    assert_allclose(model.predict(X), [2.0 * 4 / 5 + 2.0 * 7 + 0.25, 0.25])
    assert_array_equal(model.coef_, [0, 2.0, 0, 0, 2.0, 0])
    assert model.sparsify().coef_.shape == (1, 6)
    assert isinstance(model.intercept_, float)
    assert_array_equal(strengths(fitted), [2.0, 4.0])
    assert model.selection_table().frequency.tolist() == [1.0, 0.5]
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="overflow while predicting row 1"):
        model.predict(np.array([np.zeros(6), [0, 0, 0, 0, 1e308 * 1.5, 0]]) * 1.1)
    with pytest.raises(ValueError, match="only what prediction needs: learning cannot go on"):
        model.training_tree()


# -------------------------------------------------------------------------------- probabilities


@every_name
def test_probabilities_sum_to_one_and_agree_with_predictions(problems, name):
    for (rows, labels), loss in product(problems, ("log_loss", "modified_huber")):
        model = make(name, loss=loss).fit(rows, labels)
        probabilities = model.predict_proba(rows)
        assert probabilities.shape == (labels.size, model.classes_.size)
        assert_allclose(probabilities.sum(axis=1), 1.0)
        assert probabilities.min() >= 0
        places = np.searchsorted(model.classes_, model.predict(rows))
        assert_allclose(probabilities[np.arange(labels.size), places], probabilities.max(axis=1))
        with np.errstate(divide="ignore"):
            assert_allclose(model.predict_log_proba(rows), np.log(probabilities))


def test_a_hinge_has_no_probabilities(binary):
    for loss in ("hinge", "squared_hinge"):
        model = make("FTRLClassifier", loss=loss)
        for _ in range(2):
            assert not hasattr(model, "predict_proba")
            with pytest.raises(AttributeError) as error:
                model.predict_proba(binary[0])
            assert 'use loss="log_loss" or "modified_huber"' in str(error.value.__cause__)
            model.fit(*binary)


def test_a_joint_model_has_a_softmax(multiclass):
    model = make("FTRLClassifier").fit(*multiclass)
    model.fitted_ = model.fitted_._replace(link=SOFTMAX)
    margins = model.decision_function(multiclass[0])
    shares = np.exp(margins)
    expected = shares / shares.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(multiclass[0]), expected)


# ------------------------------------------------------------------------------------ going on


@every_name
def test_warm_starts_go_on_and_others_begin_anew(problems, name):
    for rows, labels in problems:
        once = make(name).fit(rows, labels)
        assert_same_bits(make(name, warm_start=True).fit(rows, labels), once)
        warm = make(name, warm_start=True).fit(rows, labels).fit(rows, labels)
        assert facts(warm)["coef"] != facts(once)["coef"]
        assert_same_bits(stream(make(name), rows, labels).fit(rows, labels), once)
        with pytest.raises(ValueError, match="is not among the classes"):
            warm.fit(rows, np.where(np.arange(60) == 1, "yew", labels.astype(str)))


@every_name
def test_copies_go_on_by_themselves(binary, name):
    model = stream(make(name), *binary)
    assert_same_bits(copy.copy(model), model)
    before, expected = facts(model), copy.deepcopy(model).partial_fit(*binary)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same_bits(again, model)
        assert_same_bits(again.partial_fit(*binary), expected)
        assert facts(model) == before


@every_name
def test_looking_at_the_model_does_not_change_it(binary, name):
    rows, labels = binary
    unseen, seen = make(name), make(name)
    for first in range(0, 60, 20):
        now = slice(first, first + 20)
        for model in (unseen, seen):
            model.partial_fit(rows[now], labels[now], classes=[0, 1])
        facts(seen)
        seen.predict(rows)
    assert_same_bits(seen, unseen)


@every_name
def test_threads_wait_for_each_other(name):
    """Each of two threads teaches the same chunk: in whichever order, all of them are learned."""
    rows, labels = labelled_rows(n=40)
    model, expected = (stream(make(name), rows, labels) for _ in range(2))
    errors = []

    def teach():
        try:
            for _ in range(15):
                model.partial_fit(rows, labels).predict(rows)
        except BaseException as error:
            errors.append(error)

    both = [threading.Thread(target=teach) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    for _ in range(30):
        expected.partial_fit(rows, labels)
    assert not errors
    assert_same_bits(model, expected)


@every_name
def test_verbose_reports_every_pass_and_changes_nothing(binary, name, capsys):
    loud = make(name, verbose=1, tol=None, max_iter=4).fit(*binary)
    passes = re.findall(r"^pass (\d+): \d+ features", capsys.readouterr().out, re.MULTILINE)
    assert passes[:4] == ["1", "2", "3", "4"]
    assert_same_bits(loud, make(name, tol=None, max_iter=4).fit(*binary))
    assert capsys.readouterr().out == ""


@every_name
def test_seeds_decide_the_orders(binary, name):
    one, same = make(name, random_state=1).fit(*binary), make(name, random_state=1).fit(*binary)
    assert_same_bits(one, same)
    assert facts(make(name, random_state=2).fit(*binary)) != facts(one)
    drawn = make(name, random_state=np.random.RandomState(1)).fit(*binary)
    assert drawn.seed_ == one.seed_


# ---------------------------------------------------------------------------------- identities

ONCE = {"max_iter": 2, "tol": None, "shuffle": False}


@pytest.mark.parametrize(
    ("name", "nothing"),
    [
        ("TruncatedGradientClassifier", {"gravity": 0.0}),
        ("TruncatedGradientClassifier", {"gravity": 0.5, "ceiling": 0.0}),
        ("TruncatedGradientClassifier", {"gravity": 0.5, "burst_size": 10**6}),
        ("FOBOSClassifier", {"l1": 0.0}),
    ],
)
def test_gravity_zero_is_sgd(multiclass, name, nothing):
    for loss in LOSSES:
        plain = make("PlainSGDClassifier", loss=loss, **ONCE).fit(*multiclass)
        assert_same_bits(make(name, loss=loss, **ONCE, **nothing).fit(*multiclass), plain)


def test_an_endless_penalty_leaves_only_the_intercept(problems):
    for rows, labels in problems:
        model = make("FTRLClassifier", l1=1e6).fit(rows, labels)
        assert model.n_features_selected_ == np.count_nonzero(model.coef_) == 0
        assert model.intercept_.all()
        with pytest.warns(UserWarning, match="No features were selected"):
            model.transform(rows)


# --------------------------------------------------------------------------------------- speed


@pytest.mark.jit
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_row_costs_no_more_than_scikit_learns_does(kind):
    """It is a third in fact; what is guarded is that no check of microseconds becomes one of ms."""
    rng = np.random.default_rng(0)
    dense, y = (rng.random((1, 2000)) < 0.01).astype(float), np.array([1])
    X = dense[:, :50].copy() if kind == "dense" else sparse.csr_array(dense)
    ours, theirs = make("FTRLClassifier"), SGDClassifier(loss="log_loss")
    for model in (ours, theirs):
        model.partial_fit(X, y, classes=[0, 1])
    seconds = [
        min(timeit.repeat(lambda m=model: m.partial_fit(X, y), number=20, repeat=9))
        for model in (ours, theirs)
    ]
    assert seconds[0] < 1.2 * seconds[1]
