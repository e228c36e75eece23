"""Rows, labels and weights at the door: any container alike, and clear errors that harm nothing."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import NAMES, assert_same_bits, facts, labelled_rows, make, stream
from thresher import ThresherClassifier
from thresher.estimators.labels import running_importance

NAN, INF = float("nan"), float("inf")
ROWS, LABELS = labelled_rows()
ROWS = sparse.csr_array(np.round(ROWS.toarray() * 8) / 8)  # float32 holds these exactly
DENSE = ROWS.toarray()
NAMED = [f"word {j}" for j in range(40)]


def small(**changes):
    return make("FTRLClassifier", **changes)


def frame(dense=DENSE, **columns):
    return pd.DataFrame(dense, columns=NAMED).assign(**columns)


# ---------------------------------------------------------------------------------- containers


def unsorted(rows):
    """Return CSR with every row's columns in descending order."""
    backwards = np.concatenate(
        [np.arange(rows.indptr[i + 1] - 1, rows.indptr[i] - 1, -1) for i in range(rows.shape[0])]
    )
    return sparse.csr_array(
        (rows.data[backwards], rows.indices[backwards], rows.indptr), rows.shape
    )


def with_zeros(rows):
    """Return CSR that stores every zero."""
    n, p = rows.shape
    parts = rows.toarray().ravel(), np.tile(np.arange(p), n), np.arange(n + 1) * p
    return sparse.csr_array(parts, (n, p))


def repeated(rows):
    """Return CSR in which each number is the sum of two."""
    coo = rows.tocoo()
    order = np.argsort(np.tile(coo.row, 2), kind="stable")
    values = np.concatenate([0.25 * coo.data, 0.75 * coo.data])[order]
    return sparse.csr_array((values, np.tile(coo.col, 2)[order], 2 * rows.indptr), rows.shape)


def with_indices(indices, indptr):
    def convert(rows):
        converted = rows.copy()
        # SciPy itself would bring them to one type
        converted.indices = rows.indices.astype(indices)
        converted.indptr = rows.indptr.astype(indptr)
        return converted

    return convert


def read_only(rows):
    frozen = rows.copy()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.setflags(write=False)
    return frozen


def with_spare_room(rows):
    """Return CSR whose arrays are longer than the rows need."""
    larger = rows.copy()
    larger.data = np.append(rows.data, [NAN, 7.0])
    larger.indices = np.append(rows.indices, [0, 99]).astype(np.int32)
    return larger


CONTAINERS = {
    "dense": lambda rows: rows.toarray(),
    "dense by columns": lambda rows: np.asfortranarray(rows.toarray()),
    "dense every second": lambda rows: np.repeat(rows.toarray(), 2, axis=1)[:, ::2],
    "float32": lambda rows: rows.toarray().astype(np.float32),
    "float32 sparse": lambda rows: rows.astype(np.float32),
    "lists": lambda rows: rows.toarray().tolist(),
    **{
        f"{form} {kind}": lambda rows, f=form, k=kind: getattr(sparse, f"{f}_{k}")(rows)
        for form in ("csr", "csc", "coo", "lil", "bsr")
        for kind in ("matrix", "array")
    },
    **{
        f"{a} indices, {b} indptr": with_indices(a, b)
        for a, b in (("int32", "int32"), ("int64", "int64"), ("int32", "int64"), ("int64", "int32"))
    },
    "unsorted": unsorted,
    "stored zeros": with_zeros,
    "repeated": repeated,
    "read-only": read_only,
    "spare room": with_spare_room,
    "frame": lambda rows: frame(rows.toarray()),
    "sparse frame": lambda rows: pd.DataFrame.sparse.from_spmatrix(rows, columns=NAMED),
}


def numbers_in(held):
    """Return copies of all arrays a container is made of."""
    if sparse.issparse(held):
        names = ("data", "indices", "indptr", "row", "col")
        return [np.copy(getattr(held, name)) for name in names if hasattr(held, name)]
    return [np.array(held)]


def learned(rows, labels=LABELS):
    """Return models of the rows: fitted, of a stream, and the flagship's."""
    streamed = small().partial_fit(rows, labels, classes=[0, 1]).partial_fit(rows, labels)
    flagship = ThresherClassifier(n_features_to_select=4, random_state=0).fit(rows, labels)
    return small().fit(rows, labels), streamed, flagship


USUAL = learned(ROWS)


@pytest.mark.filterwarnings("ignore:No number of features is clearly better")
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_does_not_matter_and_is_not_changed(container):
    held = CONTAINERS[container](ROWS)
    before = numbers_in(held)
    for model, expected in zip(learned(held), USUAL, strict=True):
        assert_same_bits(model, expected)
        assert_array_equal(model.decision_function(held), expected.decision_function(ROWS))
        if "spare" not in container:
            assert model.transform(held).shape[1] == model.n_features_selected_
    for array, copy in zip(numbers_in(held), before, strict=True):
        assert_array_equal(array, copy)
        assert array.dtype == copy.dtype


def test_labels_and_weights_may_be_lists_or_series():
    weights = np.linspace(0.5, 1.5, 60)
    fitted = small().fit(ROWS, LABELS, sample_weight=weights)
    streamed = stream(small(), ROWS, LABELS, weights=weights)
    for kind in (list, pd.Series, lambda y: pd.Series(y, index=y * 0 + 7)):
        assert_same_bits(small().fit(ROWS, kind(LABELS), sample_weight=list(weights)), fitted)
        assert_same_bits(small().partial_fit(ROWS, kind(LABELS), [0, 1], kind(weights)), streamed)


def test_integers_booleans_and_numerals_are_numbers():
    present = DENSE != 0
    expected = small().fit(present.astype(float), LABELS)
    for kind in (bool, np.int32, object):
        assert_same_bits(small().fit(present.astype(kind), LABELS), expected)
    assert_same_bits(small().fit(DENSE.astype(str), LABELS), small().fit(DENSE, LABELS))


# ------------------------------------------------------------------------------------- columns


def test_columns_of_frames_are_found_by_name():
    table = frame()
    model = small().fit(table, LABELS)
    assert_array_equal(model.feature_names_in_, NAMED)
    more = table.assign(other="text")[["other", *NAMED[::-1]]]
    for method in (model.predict, model.decision_function, model.transform):
        assert_array_equal(method(more), method(table))
    assert_same_bits(
        stream(small(), table, LABELS).partial_fit(more, LABELS),
        stream(small(), table, LABELS).partial_fit(table, LABELS),
    )
    for method in (model.predict, model.transform, lambda X: model.partial_fit(X, LABELS)):
        with pytest.raises(ValueError, match="X lacks 2 of the 40 columns of training: word 0, w"):
            method(table.iloc[:, 2:])
    with pytest.raises(ValueError, match="X has 39 features, but FTRLClassifier is expecting 40"):
        small().fit(ROWS, LABELS).predict(DENSE[:, :39])


def test_rows_without_names_are_taken_in_order_with_a_warning():
    model = small().fit(frame(), LABELS)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(model.predict(ROWS), model.predict(frame()))


def test_two_columns_of_one_name_are_refused():
    twice = frame().rename(columns={"word 7": "word 3"})
    for call in (small().fit, small().fit(frame(), LABELS).score):
        with pytest.raises(ValueError, match="Two columns of X are called 'word 3'"):
            call(twice, LABELS)


# -------------------------------------------------------------------------------- wrong numbers


def stained(value, row=4, column=2, kind=float):
    dense = DENSE.astype(kind)
    dense[row, column] = value
    return dense


def refused(model, X, y, *words):
    """Assert that all calls raise an error with these words, and leave the model as it was."""
    known = hasattr(model, "coef_")
    before = facts(model) if known else None
    for call in (model.fit, lambda X, y: model.partial_fit(X, y, classes=[0, 1])):
        with pytest.raises(ValueError, match=".*".join(words)):
            call(X, y)
        assert facts(model) == before if known else not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_array, frame])
def test_numbers_must_be_finite(container):
    where = "row 4, column 2" + (r" \('word 2'\)" if container is frame else "")
    for value, word in ((NAN, "NaN"), (INF, "infinity"), (-INF, "infinity")):
        bad = container(stained(value))
        refused(small(), bad, LABELS, word, where)
        model = small().fit(container(DENSE), LABELS)
        refused(model, bad, LABELS, word, where)
        with pytest.raises(ValueError, match=where):
            model.predict(bad)


TEXT = {
    "an array": (stained("elm", kind=object), r"X has 'elm' at row 4, column 2, .*OneHotEncoder"),
    "a frame": (frame(**{"word 7": "elm"}), r"X has 'elm' at row 0, column 7 \('word 7'\)"),
    "categories": (frame(**{"word 7": pd.Categorical(["elm"] * 60)}), r"column 7 \('word 7'\)"),
    "dates": (frame(**{"word 7": pd.Timestamp("2020-01-01")}), r"row 0, column 7 \('word 7'\)"),
    "zones": (frame(**{"word 7": pd.Timestamp("2020-01-01", tz="UTC")}), "row 0, column 7"),
    "datetime64": (np.full((60, 40), "2020-01-01", "datetime64[D]"), "row 0, column 0"),
    "spans": (np.ones((60, 40), "timedelta64[s]"), "row 0, column 0"),
    "lists": ([[np.datetime64("2020-01-01")] * 40] * 60, "row 0, column 0"),
    "texts": (["elm and oak"] * 60, "X is a list of texts: .*TfidfVectorizer"),
    "ragged": ([[1, 2], [3]] * 30, "inhomogeneous"),
}


@pytest.mark.parametrize("case", TEXT)
def test_text_and_dates_are_named_with_their_place(case):
    X, message = TEXT[case]
    refused(small(), X, LABELS, message)
    with pytest.raises(ValueError, match=message):
        small().fit(frame() if isinstance(X, pd.DataFrame) else DENSE, LABELS).predict(X)


def test_entries_outside_of_the_shape_are_refused():
    for kind, column in product((np.int32, np.int64), (40, 10**6, -1)):
        rows = with_indices(kind, kind)(ROWS)
        rows.indices[2] = column
        refused(small(), rows, LABELS, rf"an entry at row 0, column {column}, but its shape is")
        with pytest.raises(ValueError, match="its indices, or its shape, are wrong"):
            small().fit(ROWS, LABELS).predict(rows)
    for form in ("csc", "coo"):
        strange = getattr(sparse, f"{form}_array")(ROWS)
        (strange.indices if form == "csc" else strange.row)[3] = 99
        with pytest.raises(ValueError, match=r"index|indices"):
            small().fit(strange, LABELS)


def test_a_broken_indptr_is_refused():
    for place, value in ((3, 10**6), (4, 0), (0, 5), (60, 10**6)):
        rows = ROWS.copy()
        rows.indptr[place] = value
        refused(small(), rows, LABELS, "The sparse matrix is broken")


def test_more_columns_than_can_be_numbered_are_refused():
    wide = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 2**42])), shape=(2, 2**42 + 1))
    with pytest.raises(ValueError, match=r"columns, and there can be at most .*FeatureHasher"):
        small().fit(wide, [0, 1])


# -------------------------------------------------------------------------------------- labels

BAD_LABELS = {
    "one class": (["a"] * 60, "only one class, 'a'"),
    "mixed in a list": (["a", 1] * 30, r"mixed type: y\[0\] is the string 'a' and y\[1\] is 1"),
    "mixed in a series": (pd.Series(["a", 1] * 30, index=range(7, 67)), "mixed type"),
    "too few": ([0, 1] * 20, "X has 60 rows but y has 40 labels"),
    "continuous": (np.linspace(0, 1, 60), "continuous"),
    "NaN": (np.array([0.0, 1, NAN] * 20), "contains NaN at row 2"),
    "infinite": (np.array([0.0, 1, INF] * 20), "contains infinity .*at row 2"),
    "none": (None, "requires y to be passed"),
    "None": (np.array(["a", None] * 30, object), r"y\[1\] is missing \(None\)"),
    "NA": (pd.Series(["a", pd.NA, "b"] * 20, dtype="string"), r"y\[1\] is missing \(<NA>\)"),
    "a category": (pd.Series(["a", None, "b"] * 20, dtype="category"), r"y\[1\] is missing"),
    "NA of numbers": (pd.array([0, 1, None] * 20, dtype="Int64"), "contains NaN at row 2"),
    "dates": (
        pd.Series(pd.date_range("2020", periods=60)),
        r"y\[0\] is a date or a time .*strings",
    ),
    "times": (np.array([np.timedelta64(1, "s")] * 60, object), r"y\[0\] is a date"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_labels_must_be_of_two_classes_of_one_type(case):
    y, message = BAD_LABELS[case]
    for model in (small(), small().fit(ROWS, LABELS)):
        with pytest.raises(ValueError, match=message):
            model.fit(ROWS, y)
    if case not in ("one class", "continuous"):
        with pytest.raises(ValueError, match=f"{message}|is not among"):
            model.partial_fit(ROWS, y)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (None, r"needs classes=, all labels"),
        ([1], r"classes=\[1\] has only one class"),
        ([0, 1, None], r"classes\[2\] is missing"),
        ([0, 1, NAN], r"classes\[2\] is missing"),
        (np.array([0, 1, INF]), "must be finite numbers"),
        ([0, "b"], r"classes\[1\] is the string 'b'"),
        ([1, 2], r"label 0 at row \d+ is not among the classes \[1, 2\]"),
        (["0", "1"], r"label 0 at row 0 is not among the classes \['0', '1'\]"),
    ],
    ids=str,
)
def test_the_first_partial_fit_needs_all_classes(classes, message):
    model = small()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(ROWS, np.sort(LABELS), classes=classes)
    assert not hasattr(model, "classes_")


LATER = {
    "unknown class": ({"y": [0, 1, 7]}, r"label 7 at row 2 is not among the classes \[0, 1\]"),
    "strings for numbers": ({"y": ["0", "1", "1"]}, r"label '0' at row 0 .*\[0, 1\]"),
    "too few labels": ({"y": [0, 1]}, "3 rows but y has 2"),
    "other classes": ({"classes": [0, 1, 2]}, r"classes=\[0, 1, 2\] differ .*\[0, 1\]"),
    "fewer columns": ({"X": np.ones((3, 39))}, "39 features, .*40"),
    "more columns": ({"X": sparse.csr_array(np.ones((3, 41)))}, "41 features, .*40"),
    "no rows": ({"X": np.ones((0, 40)), "y": []}, "0 sample"),
    "a vector": ({"X": np.ones(40)}, "Expected 2D array"),
    "negative weight": ({"sample_weight": [1, -1, 1]}, "sample_weight is -1.0 at row 1"),
}


@pytest.mark.parametrize("case", LATER)
def test_later_chunks_must_fit_the_first(case):
    changes, message = LATER[case]
    for name in ("FTRLClassifier", "StabilizedTruncatedSGDClassifier", "ThresherClassifier"):
        never_failed, model = (stream(make(name), ROWS, LABELS) for _ in range(2))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(**{"X": ROWS[:3], "y": LABELS[:3], **changes})
        assert_same_bits(model.partial_fit(ROWS, LABELS), never_failed.partial_fit(ROWS, LABELS))


CLASSES = [
    np.array([-128, 127], np.int8),
    np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
    np.array([0.0, 2.0]),
    np.array([False, True]),
    np.array(["ash", "oak tree"]),
    np.array(["ash", "oak tree"], object),
]


def test_classes_of_any_type_come_back_as_they_were():
    flagship = ThresherClassifier(n_features_to_select=4, random_state=0)
    for classes, model in product(CLASSES, (small(l1=0.01), flagship)):
        predicted = model.fit(ROWS, classes[LABELS]).predict(ROWS)
        assert predicted.dtype == classes.dtype
        positive = (model.decision_function(ROWS) > 0).astype(int)
        assert predicted.tolist() == classes[positive].tolist()
        assert set(predicted.tolist()) == set(classes.tolist())


# ------------------------------------------------------------------------------------- weights

BAD_WEIGHTS = {
    "negative": (np.where(np.arange(60) == 5, -1.0, 1.0), "sample_weight is -1.0 at row 5"),
    "NaN": (np.where(np.arange(60) == 5, NAN, 1.0), "sample_weight is nan at row 5"),
    "too few": (np.ones(59), r"sample_weight has shape \(59,\), but X has 60 rows"),
    "a table": (np.ones((60, 2)), r"shape \(60, 2\)"),
    "all zero": (np.zeros(60), "leave no row with a weight above zero"),
    "text": (["heavy"] * 60, "sample_weight must be a number for every row"),
    "one class": (LABELS.astype(float), "Only rows of class 1 have a weight above zero"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_sample_weights_must_be_one_finite_number_a_row(case):
    weights, message = BAD_WEIGHTS[case]
    for model in (small(), small().fit(ROWS, LABELS)):
        with pytest.raises(ValueError, match=message):
            model.fit(ROWS, LABELS, sample_weight=weights)


BAD_CLASS_WEIGHTS = [
    ({0: -1.0, 1: 1.0}, "finite and not negative"),
    ({0: NAN, 1: 1.0}, "finite and not negative"),
    ({0: 0.0, 1: 1.0}, "only one class a weight above zero"),
    ({0: "heavy", 1: 1}, "could not convert"),
    ({0: [1], 1: 2}, "must be a string or a real number"),
    ({0: 1, 7: 1}, r"7 is not among \[0, 1\]"),
]


def test_class_weights_must_be_numbers_of_classes():
    for class_weight, message in BAD_CLASS_WEIGHTS:
        model = small(class_weight=class_weight)
        for call in (model.fit, partial(stream, model)):
            with pytest.raises(ValueError, match=rf"^class_weight=.*{message}"):
                call(ROWS, LABELS)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_weight_zero_teach_nothing(name):
    weights = np.linspace(0.5, 1.5, 60)
    weights[20:40] = 0.0
    whole = stream(make(name), ROWS, LABELS, weights=weights)
    assert_same_bits(stream(make(name), ROWS, LABELS, [20, 30, 40], weights), whole)
    kept = weights > 0
    assert_same_bits(stream(make(name), ROWS[kept], LABELS[kept], [], weights[kept]), whole)


def test_balanced_weights_are_scikit_learns_in_fit_and_follow_the_rows_of_a_stream():
    labels = np.where(np.arange(60) % 5 == 0, 1, LABELS)
    weights = 60 / (2 * np.bincount(labels))
    balanced = small(class_weight="balanced").fit(ROWS, labels)
    assert_same_bits(balanced, small().fit(ROWS, labels, sample_weight=weights[labels]))
    so_far = np.cumsum(labels[:, None] == np.arange(2), axis=0)[np.arange(60), labels]
    running = np.arange(1, 61) / (2 * so_far)
    found = running_importance("balanced", np.arange(2), labels, np.zeros(2, int))
    assert_allclose(found, running, rtol=1e-15)
    assert_same_bits(
        stream(small(class_weight="balanced"), ROWS, labels, [7, 31]),
        stream(small(), ROWS, labels, weights=running),
    )
