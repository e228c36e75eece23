"""A model calls its columns by the names they had in training, wherever these came from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import thresher
from commands import run
from thresher import ThresherClassifier, ThresherRegressor
from thresher.data.errors import DataError
from thresher.estimators.reading import margins_of, source_for

SMALL = {"n_features_to_select": 2, "n_stages": 3, "n_paths": 2, "random_state": 0}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    words = [f"c{k}" for k in (7, 3, 15, 1, 4)]
    return pd.DataFrame(rng.normal(size=(60, 5)), columns=words)


@pytest.fixture
def labels(frame):
    return np.where(frame.c15 + 2 * frame.c3 > 0, 1, 0)


def fitted(source, **reading):
    return ThresherClassifier(**SMALL).fit_stream(source, **reading)


def in_file(tmp_path, kind, frame, labels):
    """Return a file with the rows, in which features are called as columns are."""
    path = tmp_path / f"rows.{kind}"
    table = frame.assign(label=labels)
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    elif kind == "jsonl":
        table.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return str(path)


def names_in(table):
    return set(table.feature[table.weight != 0])


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl"])
def test_selected_features_are_called_as_in_the_file(tmp_path, frame, labels, kind):
    model = fitted(in_file(tmp_path, kind, frame, labels))
    assert model.get_feature_names_out().tolist() == ["c3", "c15"]
    assert names_in(model.selection_table()) == {"c3", "c15"}


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("again", [False, True])
def test_a_frame_must_have_the_columns_of_the_table(tmp_path, frame, labels, kind, again):
    model = fitted(in_file(tmp_path, kind, frame, labels))
    if again:
        model.save(tmp_path / "model")
        model = thresher.load(tmp_path / "model")
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.predict(frame).shape == labels.shape
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        model.predict(frame.rename(columns={"c3": "d3"}))
    selected = model.set_output(transform="pandas").transform(frame)
    assert selected.columns.tolist() == ["c3", "c15"]


def test_columns_of_svmlight_files_are_called_by_their_numbers(tmp_path, frame, labels):
    path = str(tmp_path / "rows.svm")
    dump_svmlight_file(frame.to_numpy(), labels, path, zero_based=False)
    model = fitted(path)
    assert model.get_feature_names_out().tolist() == ["2", "3"]
    assert names_in(model.selection_table()) == {"2", "3"}


def test_a_frame_with_other_columns_than_a_growing_source_is_refused(tmp_path, frame, labels):
    model = fitted(in_file(tmp_path, "jsonl", frame, labels))
    assert model.predict(frame.to_numpy()).shape == labels.shape
    with pytest.raises(ValueError, match="calls column 1 'c3': X has other columns"):
        model.predict(frame[frame.columns[::-1]])


def test_categories_are_features_of_their_own(tmp_path, frame, labels):
    towns = np.where(labels == 1, "Bern", "Rom")
    model = fitted(in_file(tmp_path, "csv", frame.assign(town=towns), labels))
    assert not hasattr(model, "feature_names_in_")
    assert set(model.get_feature_names_out()) == names_in(model.selection_table())
    assert any(name.startswith("town=") for name in model.get_feature_names_out())


def test_hashed_columns_are_no_columns_of_a_table(tmp_path, frame, labels):
    model = fitted(in_file(tmp_path, "csv", frame, labels), hash_bits=8)
    assert not hasattr(model, "feature_names_in_")
    assert set(model.get_feature_names_out()) == {"c3", "c15"}


def test_another_training_brings_other_names(tmp_path, frame, labels):
    path = in_file(tmp_path, "csv", frame, labels)
    model = fitted(path)
    assert model.fit(frame.to_numpy(), labels).get_feature_names_out().tolist() == ["x1", "x2"]
    assert names_in(model.selection_table()) == {"x1", "x2"}
    model.fit(frame.rename(columns=str.upper), labels).fit_stream([(frame.to_numpy(), labels)])
    assert model.get_feature_names_out().tolist() == ["x1", "x2"]
    model.fit_stream(path).fit(frame.rename(columns=str.upper), labels)
    assert model.get_feature_names_out().tolist() == ["C3", "C15"]


@pytest.mark.parametrize("as_iterator", [False, True])
def test_chunks_that_are_frames_bring_their_names(frame, labels, as_iterator):
    chunks = [(frame[:30], labels[:30]), (frame[30:], labels[30:])]
    model = fitted(iter(chunks) if as_iterator else chunks)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert set(model.get_feature_names_out()) == {"c3", "c15"}
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[frame.columns[::-1]])
    model.partial_fit(frame, labels)


def test_names_of_chunks_are_kept_in_files(tmp_path, frame, labels):
    numbers = frame.c3 * 2 + 1
    model = ThresherRegressor(**SMALL).fit_stream([(frame, numbers)])
    model.save(tmp_path / "model")
    loaded = thresher.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


OTHER = {
    "another order": (lambda x: x[x.columns[::-1]], "item 1 in another order. Give all items"),
    "another name": (lambda x: x.rename(columns={"c3": "d"}), "'d' is only in one of items 1"),
    "one less": (lambda x: x.drop(columns="c3"), "'c3' is only in one of items 1 and 2"),
    "no names": (lambda x: x.to_numpy(), "Item 2 of the stream has no names"),
}


@pytest.mark.parametrize("max_iter", [1, 20])
@pytest.mark.parametrize("case", OTHER)
def test_chunks_must_agree_in_their_columns(frame, labels, case, max_iter):
    change, words = OTHER[case]
    chunks = [(frame[:30], labels[:30]), (change(frame[30:]), labels[30:])]
    model = ThresherClassifier(**SMALL, max_iter=max_iter)
    with pytest.raises(DataError, match=words):
        model.fit_stream(chunks)


def test_names_must_not_come_late_nor_twice(frame, labels):
    with pytest.raises(DataError, match=r"Item 2 of the stream has names .* item 1 has none"):
        fitted([(frame.to_numpy()[:30], labels[:30]), (frame[30:], labels[30:])])
    twice = frame.set_axis(list("abcda"), axis=1)
    with pytest.raises(DataError, match="Two columns of the stream are called 'a'"):
        fitted([(twice, labels)])


def test_dense_chunks_must_be_as_wide_as_the_first(frame, labels):
    rows = frame.to_numpy()
    with pytest.raises(DataError, match=r"Item 2 of the stream has 4 columns, .* before it 5"):
        fitted([(rows[:30], labels[:30]), (rows[30:, :4], labels[30:])])


@pytest.mark.parametrize("kind", ["units", "offsets"])
def test_a_saved_model_of_prepared_columns_predicts_files_as_before(tmp_path, kind):
    """Of rows at unit length all columns count, also those that were not selected."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 20)) * np.exp(rng.normal(size=(300, 1)))
    y = rows[:, :3].sum(axis=1) > 0
    rows = rows + 40.0 if kind == "offsets" else rows * np.where(np.arange(20) % 5 == 1, 1e4, 1)
    table = pd.DataFrame(rows, columns=[f"c{j}" for j in range(20)]).assign(label=y.astype(int))
    table.to_csv(tmp_path / "rows.csv", index=False)
    model = ThresherClassifier(n_features_to_select=3, normalize=True, random_state=0)
    model.fit_stream(tmp_path / "rows.csv")
    assert (model.column_scales_ != 1).any()
    model.save(tmp_path / "model.thresher")
    found = [
        np.concatenate([margins for _, margins in margins_of(one, source_for(one, file))])
        for one in (model, thresher.load(tmp_path / "model.thresher"))
        for file in [tmp_path / "rows.csv"]
    ]
    assert np.array_equal(*found)
    assert np.mean((found[0].ravel() > 0) == y) > 0.7


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl"])
def test_files_are_read_by_the_names_of_the_frame_of_training(tmp_path, frame, labels, kind):
    ThresherClassifier(**SMALL).fit(frame, labels).save(tmp_path / "model.thresher")
    model = thresher.load(tmp_path / "model.thresher")
    turned = frame.iloc[:, ::-1].assign(other=1.0)
    source = source_for(model, in_file(tmp_path, kind, turned, labels), labelled=True)
    found = np.concatenate([margins for _, margins in margins_of(model, source)])
    np.testing.assert_allclose(found, model.decision_function(frame), rtol=1e-8)
    if kind != "jsonl":
        few = source_for(model, in_file(tmp_path, kind, frame[["c3"]], labels))
        with pytest.raises(DataError, match="columns are missing that the model has learned from"):
            list(few.chunks())


@pytest.mark.parametrize("kind", ["svmlight", "shards"])
def test_numbered_rows_are_columns_of_the_frame_of_training(tmp_path, frame, labels, kind):
    model = ThresherClassifier(**SMALL).fit(frame, labels)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(frame.to_numpy(), labels, str(path), zero_based=True)
    if kind == "shards":
        run("convert", path, "-o", tmp_path / "shards")
        path = tmp_path / "shards"
    found = [margins for _, margins in margins_of(model, source_for(model, path))]
    np.testing.assert_allclose(np.concatenate(found), model.decision_function(frame), rtol=1e-8)
