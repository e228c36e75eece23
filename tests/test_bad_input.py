"""Bad input is refused with a message that names it, says what to do, and harms nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from cases import NAMES, assert_same_bits, facts, make

NAN, INF = float("nan"), float("inf")


def stained(rows, value, row=4, column=2):
    """Return the rows, dense, with one number replaced."""
    dense = rows.toarray()
    dense[row, column] = value
    return dense


def named(dense):
    return pd.DataFrame(dense, columns=[f"word {j}" for j in range(dense.shape[1])])


def refused(call, before, *messages):
    """Assert that a call raises a ValueError with all these words, the model left as it was."""
    model = call.__self__

    def attempt(*args, **kwargs):
        with pytest.raises(ValueError) as error:  # noqa: PT011  the words are checked below
            call(*args, **kwargs)
        for message in messages:
            assert message in str(error.value)
        if before is None:
            assert not hasattr(model, "coef_")
            assert not hasattr(model, "n_features_in_")
        else:
            assert facts(model) == before

    return attempt


# ------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(("value", "word"), [(NAN, "NaN"), (INF, "infinity"), (-INF, "infinity")])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_array, named])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_must_be_finite(binary, name, container, value, word):
    rows, labels = binary
    bad = container(stained(rows, value))
    where = ["row 4", "column 2"] + (["word 2"] if container is named else [])
    model = make(name)
    refused(model.fit, None, word, *where)(bad, labels)
    refused(model.partial_fit, None, word, *where)(bad, labels, classes=[0, 1])
    model.fit(container(rows.toarray()), labels)
    before = facts(model)
    for call in (model.fit, model.partial_fit):
        refused(call, before, word, *where)(bad, labels)
    refused(model.decision_function, before, word, *where)(bad)


# -------------------------------------------------------------------------------------- labels

LABELS = {
    "one class": (["a"] * 60, ["one class", "'a'"]),
    "mixed in a list": (["a", 1] * 30, ["mixed type", "'a'"]),
    "mixed in an array": (np.array(["a", 1] * 30, dtype=object), ["mixed type"]),
    "mixed in a series": (pd.Series(["a", 1] * 30, index=range(7, 67)), ["mixed type"]),
    "too few": ([0, 1] * 20, ["60", "40"]),
    "continuous": (np.linspace(0, 1, 60), ["continuous"]),
    "not a number": (np.array([0.0, NAN] * 30), ["NaN"]),
    "infinite": (np.array([0.0, INF] * 30), ["inf"]),
    "none": (None, ["y"]),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", NAMES)
def test_labels_must_be_of_two_classes_or_more(binary, name, labels):
    y, messages = LABELS[labels]
    refused(make(name).fit, None, *messages)(binary[0], y)
    model = make(name).fit(*binary)
    refused(model.fit, facts(model), *messages)(binary[0], y)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_partial_fit_needs_all_classes(binary, name):
    rows, labels = binary
    model = make(name)
    refused(model.partial_fit, None, "classes")(rows, labels)
    refused(model.partial_fit, None, "one class")(rows, labels, classes=[1])
    refused(model.partial_fit, None, "label", "0", "[1, 2]")(rows, labels, classes=[1, 2])


LATER = {
    "unknown class": ({"y": [0, 1, 7]}, ["7", "row 2", "[0, 1]"]),
    "strings for numbers": ({"y": ["0", "1", "1"]}, ["'0'", "[0, 1]"]),
    "mixed type": ({"y": ["a", 1, 1]}, ["mixed type"]),
    "too few labels": ({"y": [0, 1]}, ["3", "2"]),
    "other classes": ({"classes": [0, 1, 2]}, ["[0, 1, 2]", "[0, 1]"]),
    "fewer columns": ({"X": np.ones((3, 39))}, ["39", "40"]),
    "more columns": ({"X": np.ones((3, 41))}, ["41", "40"]),
    "negative weight": ({"sample_weight": [1, -1, 1]}, ["sample_weight", "row 1"]),
}


@pytest.mark.parametrize("case", LATER)
@pytest.mark.parametrize("name", NAMES)
def test_later_chunks_must_fit_the_first(binary, name, case):
    changes, messages = LATER[case]
    rows, labels = binary
    never_failed, model = (make(name).partial_fit(rows, labels, classes=[0, 1]) for _ in range(2))
    chunk = {"X": rows[:3], "y": labels[:3], **changes}
    refused(model.partial_fit, facts(model), *messages)(**chunk)
    for one in (never_failed, model):
        one.partial_fit(rows, labels)
    assert_same_bits(model, never_failed)


# ------------------------------------------------------------------------------------- weights

WEIGHTS = {
    "negative": (np.where(np.arange(60) == 5, -1.0, 1.0), ["sample_weight", "row 5", "-1"]),
    "not a number": (np.where(np.arange(60) == 5, NAN, 1.0), ["sample_weight", "row 5", "nan"]),
    "infinite": (np.where(np.arange(60) == 5, INF, 1.0), ["sample_weight", "row 5", "inf"]),
    "too few": (np.ones(59), ["sample_weight", "59", "60"]),
    "a table": (np.ones((60, 2)), ["sample_weight", "60"]),
    "all zero": (np.zeros(60), ["zero"]),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", NAMES)
def test_sample_weights_must_be_one_finite_number_a_row(binary, name, weights):
    sample_weight, messages = WEIGHTS[weights]
    refused(make(name).fit, None, *messages)(*binary, sample_weight=sample_weight)
    model = make(name).fit(*binary)
    refused(model.fit, facts(model), *messages)(*binary, sample_weight=sample_weight)


@pytest.mark.parametrize(
    "class_weight", [{0: -1.0, 1: 1.0}, {0: NAN, 1: 1.0}, {0: INF, 1: 1.0}, {0: 0.0, 1: 0.0}]
)
@pytest.mark.parametrize("name", NAMES)
def test_class_weights_must_be_finite_and_not_negative(binary, name, class_weight):
    refused(make(name, class_weight=class_weight).fit, None, "class_weight")(*binary)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_two_classes_must_count(binary, name):
    rows, labels = binary
    of_one = {"class_weight": {0: 0.0, 1: 1.0}}
    refused(make(name, **of_one).fit, None, "class_weight", "one class", "two or more")(*binary)
    refused(make(name, **of_one).partial_fit, None, "one class")(*binary, classes=[0, 1])
    words = ["Only rows of class 1 have a weight above zero", "two classes or more"]
    refused(make(name).fit, None, *words)(rows, labels, sample_weight=labels)


# ---------------------------------------------------------------------------------- parameters

FLAGS = [1, None, "yes"]
NOT_POSITIVE = [0, -1.0, NAN, INF, "fast", None, True]
NEGATIVE = [-1.0, NAN, INF, "much", None, True]
NOT_A_SHARE = [-0.1, 1.1, NAN, "half", None]
NOT_A_COUNT = [0, -3, 2.5, "many", None, True]
WRONG = {
    "loss": ["squared_error", None, 1],
    "max_iter": [0, -1, 1.5, None, True, "many"],
    "tol": [-1e-3, NAN, INF, "small", True],
    "fit_intercept": FLAGS,
    "shuffle": FLAGS,
    "warm_start": FLAGS,
    "normalize": FLAGS,
    "class_weight": ["heavy", 3, [1, 2]],
    "random_state": [-1, 2**32, 1.5, "seed"],
    "n_jobs": [0, 1.5, "all", True],
    "verbose": [-1, 0.5, "loud", None],
    "eta0": NOT_POSITIVE,
    "learning_rate": ["adaptive", None, 0.1],
    "gravity": NEGATIVE,
    "burst_size": NOT_A_COUNT,
    "ceiling": [-1.0, NAN, "high", True],
    "l1": NEGATIVE,
    "l2": NEGATIVE,
    "rho": NEGATIVE,
    "beta": NEGATIVE,
    "gamma": NOT_POSITIVE,
    "alpha": NOT_POSITIVE,
    "n_paths": NOT_A_COUNT,
    "bursts_per_stage": NOT_A_COUNT,
    "n_stages": NOT_A_COUNT,
    "dtype": ["float16", "int", 32, None],
    "rejection_rate": NOT_A_SHARE,
    "purge_threshold": NOT_A_SHARE,
    "annealing_rate": [NAN, INF, -INF, "fast", None],
    "min_evidence": [-1, 0.5, "some", None],
    "burst_growth": [0, -0.1, NAN, INF, "more"],
    "selection": ["all", None],
    "shrinkage": ["cubic", None],
    "paths": ["own", None],
    "refit": [-0.1, 1.0, 1.5, NAN, "yes", None],
    "value_power": [0, 0.0, -1, 1.5, NAN, "root", None],
    "n_features_to_select": [0, -1, 0.0, 1.0, 1.5, NAN, "few", None],
}
PARAMETERS = [(name, parameter) for name in NAMES for parameter in make(name).get_params()]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_parameter_out_of_range_is_named(binary, name, parameter):
    rows, labels = binary
    for value in WRONG[parameter]:
        words = [f"{parameter}={value!r}", name, "must be"]
        model = make(name, **{parameter: value})
        refused(model.fit, None, *words)(rows, labels)
        refused(model.partial_fit, None, *words)(rows, labels, classes=[0, 1])


SCALARS = [
    ("PlainSGDClassifier", {"loss": np.str_("hinge")}, {"loss": "hinge"}),
    ("PlainSGDClassifier", {"shuffle": np.False_}, {"shuffle": False}),
    ("PlainSGDClassifier", {"max_iter": np.int32(2), "eta0": 1}, {"max_iter": 2, "eta0": 1.0}),
    ("FOBOSClassifier", {"l1": np.float32(0.5), "eta0": 1}, {"l1": 0.5, "eta0": 1.0}),
    ("TruncatedGradientClassifier", {"gravity": 1, "ceiling": 2}, {"gravity": 1.0, "ceiling": 2.0}),
    ("RDAClassifier", {"l1": 0, "gamma": np.int64(3)}, {"l1": 0.0, "gamma": 3.0}),
    ("FTRLClassifier", {"alpha": 1, "beta": np.float32(0.5)}, {"alpha": 1.0, "beta": 0.5}),
    (
        "StabilizedTruncatedSGDClassifier",
        {"rejection_rate": np.float32(0.5), "annealing_rate": 2},
        {"rejection_rate": 0.5, "annealing_rate": 2.0},
    ),
    (
        "ThresherClassifier",
        {"n_features_to_select": np.float32(0.25), "refit": 0},
        {"n_features_to_select": 0.25, "refit": 0.0},
    ),
]


@pytest.mark.parametrize(("name", "given", "meant"), SCALARS)
def test_numpys_scalars_and_whole_numbers_are_as_good_as_pythons(binary, name, given, meant):
    assert_same_bits(make(name, **given).fit(*binary), make(name, **meant).fit(*binary))


# ---------------------------------------------------------------------------------- not fitted


@pytest.mark.parametrize("name", NAMES)
def test_before_fit_there_is_nothing_to_read(binary, name):
    model = make(name)
    for attribute in ("coef_", "intercept_", "classes_", "history_", "stable_"):
        assert not hasattr(model, attribute)
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(binary[0])
    for method in ("sparsify", "densify", "selection_table", "get_support"):
        with pytest.raises(NotFittedError):
            getattr(model, method)()


def test_more_columns_than_memory_are_refused_in_words():
    rows = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 2**42])), shape=(2, 2**42 + 1))
    with pytest.raises(ValueError, match="columns, for which there is no memory"):
        make("PlainSGDClassifier").fit(rows, [0, 1])


def test_rows_to_predict_are_not_told_of_training(binary):
    model = make("PlainSGDClassifier").fit(*binary)
    with pytest.raises(ValueError, match="contains NaN at row 4, column 2") as told:
        model.predict(stained(binary[0], NAN))
    assert "training" not in str(told.value)
