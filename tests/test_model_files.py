"""Models on disk: what was saved is what is loaded."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import thresher
from cases import (
    LOSSES,
    NAMES,
    VARIANTS,
    assert_same_bits,
    dense_coef,
    facts,
    labelled_rows,
    make,
    make_streaming,
    variant_id,
)
from model_cases import assert_predicts_the_same, data_of, saved
from thresher.estimators.storing.loading import loads


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_loaded_model_predicts_the_same_bits(problem, name, changes, training_state, tmp_path):
    rows, labels = problem
    model = make(name, **changes).fit(rows, labels)
    loaded = saved(model, tmp_path, training_state)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.n_iter_ == model.n_iter_
    assert loaded.n_features_in_ == model.n_features_in_
    assert_predicts_the_same(loaded, model, rows)
    shown, expected = facts(loaded), facts(model)
    if not training_state:
        shown.pop("probabilities", None)  # of purged features nothing is known any more
    assert {key: expected[key] for key in shown} == shown
    assert_array_equal(loaded.transform(rows).toarray(), model.transform(rows).toarray())
    assert_array_equal(loaded.get_feature_names_out(), model.get_feature_names_out())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NAMES)
def test_a_stream_can_be_saved_at_any_time(name, loss, tmp_path):
    rows, labels = labelled_rows(n=230, p=30, density=0.1, seed=2)
    model = make_streaming(name, loss=loss)
    for first in range(0, 230, 46):
        now = slice(first, first + 46)
        model.partial_fit(rows[now], labels[now], classes=[0, 1])
        assert_predicts_the_same(saved(model, tmp_path), model, rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_selection_table_of_kept_features_stays(problem, name, tmp_path):
    rows, labels = problem
    frame = pd.DataFrame(rows.toarray(), columns=[f"wörd {j}" for j in range(rows.shape[1])])
    model = make(name).fit(frame, labels)
    loaded = saved(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    table, shown = model.selection_table(), loaded.selection_table()
    kept = table.weight != 0
    assert kept.any()
    selected = shown[shown.weight != 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(selected, table[kept].reset_index(drop=True))
    assert_predicts_the_same(loaded, model, frame)


@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ThresherClassifier", {}),
        ("StabilizedTruncatedSGDClassifier", {"selection": "every"}),
        ("StabilizedTruncatedSGDClassifier", {"selection": "informative"}),
    ],
    ids=variant_id,
)
def test_the_stable_set_stays_and_purged_features_have_probability_0(
    problem, name, changes, paths, tmp_path
):
    rows, labels = problem
    model = make(name, paths=paths, **changes).fit(rows, labels)
    assert not model.stable_.all()
    loaded = saved(model, tmp_path)
    assert_array_equal(loaded.stable_, model.stable_)
    assert loaded.history_ == model.history_
    kept = loaded.selection_probabilities_ != 0
    assert_array_equal(loaded.selection_probabilities_[kept], model.selection_probabilities_[kept])
    assert kept[model.stable_].all()


@pytest.mark.parametrize("name", NAMES)
def test_sparsified_models_stay_sparse(binary, name, tmp_path):
    model = make(name).fit(*binary).sparsify()
    loaded = saved(model, tmp_path)
    assert sparse.issparse(loaded.coef_)
    assert_array_equal(dense_coef(loaded), dense_coef(model))


@pytest.mark.parametrize("name", NAMES)
def test_learning_cannot_go_on_from_a_slim_model(problem, name, tmp_path):
    rows, labels = problem
    model = make(name).fit(rows, labels)
    loaded = saved(model, tmp_path)
    before = facts(loaded)
    words = r"only what prediction needs.*training_state=True.*fit anew"
    with pytest.raises(ValueError, match=words):
        loaded.partial_fit(rows, labels)
    loaded.set_params(warm_start=True)
    with pytest.raises(ValueError, match=words):
        loaded.fit(rows, labels)
    with pytest.raises(ValueError, match=words):
        loaded.save(tmp_path / "again", training_state=True)
    assert not (tmp_path / "again").exists()
    assert facts(loaded) == before
    assert_same_bits(loaded.set_params(warm_start=False).fit(rows, labels), model)
    loaded.partial_fit(rows, labels)


@pytest.mark.parametrize("training_state", [False, True], ids=["slim", "whole"])
@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_is_saved_to_the_same_bytes(problem, name, training_state, tmp_path):
    model = make(name).fit(*problem)
    first = data_of(model, training_state)
    assert data_of(loads(first), training_state) == first
    assert data_of(make(name).fit(*problem), training_state) == first


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_loaded_models_can_be_copied_and_cloned(problem, copied, tmp_path):
    rows, labels = problem
    loaded = saved(make("ThresherClassifier").fit(rows, labels), tmp_path)
    assert_same_bits(copied(loaded), loaded)
    with pytest.raises(ValueError, match="only what prediction needs"):
        copied(loaded).partial_fit(rows, labels)
    assert clone(loaded).get_params() == loaded.get_params()


@pytest.mark.jit
@pytest.mark.parametrize("name", NAMES)
def test_a_wide_model_is_a_few_kilobytes(name, tmp_path):
    rng = np.random.default_rng(0)
    n_rows, width, n_features = 400, 2**26, 300
    columns = np.sort(rng.choice(width, n_features, replace=False))
    picked = rng.random((n_rows, n_features)) < 0.1
    dense = np.where(picked, rng.normal(size=picked.shape), 0.0)
    few = sparse.csr_array(dense)
    rows = sparse.csr_array((few.data, columns[few.indices], few.indptr), shape=(n_rows, width))
    labels = (dense @ rng.normal(size=n_features) > 0).astype(int)
    settings = (
        {"l1": 1e-6} if name in ("FOBOSClassifier", "RDAClassifier", "FTRLClassifier") else {}
    )
    if name == "ThresherClassifier":
        settings = {"n_features_to_select": 300}
    model = getattr(thresher, name)(max_iter=3, random_state=0, **settings).fit(rows, labels)
    loaded = saved(model, tmp_path)
    weights = np.count_nonzero(model._settled()[0])
    size = (tmp_path / "model.thresher").stat().st_size
    assert weights <= n_features
    assert size < 13_000
    assert loaded.n_features_in_ == width
    assert_predicts_the_same(loaded, model, rows[:20])
