"""How many features a regression needs: it finds out itself, and says why."""

import doctest
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

import thresher
from cases import TARGET_LOSSES, assert_same_bits, numbered_rows
from commands import run, write_svmlight
from thresher import ThresherRegressor, ThresherRegressorCV
from thresher.estimators.decisions.sizing import strata_of
from thresher.train.judges import NumberJudge
from thresher.train.sizing import columns_of

FEW = {"max_iter": 40, "n_paths": 2, "n_stages": 6, "random_state": 3}
KINDS = [ThresherRegressor, ThresherRegressorCV]


@pytest.fixture(scope="module")
def planted():
    """Return rows, and numbers that three of a hundred columns tell."""
    rng = np.random.default_rng(0)
    rows = rng.poisson(0.3, size=(400, 100)).astype(float)
    return rows, 50 + 30 * rows[:, 5] - 20 * rows[:, 17] + 10 * rows[:, 40] + rng.normal(size=400)


def told(model):
    """Return what a model says of its size, in values that can be compared."""
    choice = model.size_choice_
    path = None if choice.path is None else {k: v.tobytes() for k, v in choice.path.items()}
    return choice.size, choice.why, path


@pytest.mark.jit
def test_the_example_does_what_it_shows():
    text, name = ThresherRegressorCV.__doc__, "ThresherRegressorCV"
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.jit
@pytest.mark.parametrize("loss", TARGET_LOSSES)
def test_planted_features_are_kept_and_few_others(planted, loss):
    model = ThresherRegressor(loss=loss, random_state=0).fit(*planted)
    kept = model.get_support(indices=True)
    assert {5, 17, 40} <= set(kept.tolist())
    assert kept.size == model.n_features_selected_ == model.size_choice_.size <= 14
    assert model.score(*planted) > 0.98


@pytest.mark.jit
def test_the_choice_says_what_it_was_and_why(planted):
    choice = ThresherRegressor(**FEW).fit(*planted).size_choice_
    assert choice.why.startswith(f"{choice.size} features: squared error 0.")
    assert "R2 0.9" in choice.why
    assert "of 4 folds" in choice.why
    assert tuple(choice.path) == columns_of(NumberJudge("squared_error"))
    # squares in units of the targets' spread are what R2 leaves
    assert_allclose(choice.path["squared_error"], 1 - choice.path["r2"], atol=0.01)
    huber = ThresherRegressor(**FEW, loss="huber").fit(*planted).size_choice_
    assert huber.why.startswith(f"{huber.size} features: Huber loss 0.")


@pytest.mark.jit
def test_targets_that_nothing_tells_need_few_features(planted):
    model = ThresherRegressor(random_state=0)
    model.fit(planted[0], np.random.default_rng(1).permutation(planted[1]))
    assert model.n_features_selected_ <= 14


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sizes_are_compared_however_many_targets_are_equal(planted, kind, sign):
    rows, y = planted
    most = np.sort(y)[140]
    model = kind(**FEW).fit(rows, sign * np.minimum(y, most))
    assert model.size_choice_.path is not None
    assert model.n_features_selected_ < 50


@pytest.mark.parametrize("n_rows", [7, 8])
def test_numbers_that_differ_are_dealt_as_those_above_the_median_and_the_others(n_rows):
    numbers = np.random.default_rng(0).normal(size=n_rows)
    expected = (numbers > np.median(numbers)).astype(int)
    assert_array_equal(strata_of(ThresherRegressor(), [numbers]), expected)
    capped = np.minimum(numbers, np.sort(numbers)[1])
    assert strata_of(ThresherRegressor(), [capped]).sum() == n_rows // 2


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS)
def test_units_of_targets_and_threads_do_not_matter(planted, kind):
    rows, y = planted
    alone = kind(**FEW).fit(rows, y)
    assert alone.size_choice_.path is not None
    many = kind(**FEW, n_jobs=3).fit(rows, y)
    assert told(alone) == told(many)
    assert_same_bits(many, alone)
    other = kind(**FEW).fit(rows, 1e6 * y - 7).size_choice_
    assert other.size == alone.size_choice_.size
    assert_allclose(other.path["r2"], alone.size_choice_.path["r2"], rtol=1e-4)


@pytest.mark.jit
def test_wild_targets_do_not_spoil_the_choice_by_the_huber_loss(planted):
    rows, y = planted[0], planted[1].copy()
    y[::40] = 1e6
    model = ThresherRegressor(loss="huber", random_state=0).fit(rows, y)
    assert {5, 17, 40} <= set(model.get_support(indices=True).tolist())
    assert model.n_features_selected_ <= 14


@pytest.mark.parametrize("kind", KINDS)
def test_targets_that_are_all_the_same_leave_it_to_the_rule(kind):
    rows, _ = numbered_rows()
    choice = kind(**FEW).fit(rows, np.ones(60)).size_choice_
    assert "for want of rows" in choice.why
    assert choice.path is None


def test_a_size_that_was_asked_for():
    model = ThresherRegressor(**FEW, n_features_to_select=0.2).fit(*numbered_rows())
    assert told(model) == (8, "8 features, as asked for.", None)


@pytest.mark.jit
@pytest.mark.parametrize("training_state", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_choice_survives_the_disk(planted, tmp_path, kind, training_state):
    model = kind(**FEW).fit(*planted)
    model.save(tmp_path / "m.thresher", training_state=training_state)
    loaded = thresher.load(tmp_path / "m.thresher")
    assert type(loaded) is kind
    assert told(loaded) == told(model)
    assert loaded.get_params() == model.get_params()
    assert_array_equal(loaded.predict(planted[0]), model.predict(planted[0]))


@pytest.mark.jit
def test_files_that_can_be_read_again_are_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, y = numbered_rows(n=200)
    write_svmlight(tmp_path / "rows.svm", rows, y.tolist())
    words = ("--method", "thresher-regressor", "--max-iter", 20, "--n-paths", 2, "-o", "m.thresher")
    result = run("train", "rows.svm", *words)
    assert result.exit_code == 0, result.stderr
    choice = thresher.load("m.thresher").size_choice_
    assert choice.path is not None
    assert f"Size: {choice.why}" in result.stderr
    description = json.loads(run("inspect", "m.thresher", "--json").stdout)
    assert description["size_choice"]["path"]["r2"] == choice.path["r2"].tolist()


@pytest.mark.jit
def test_cross_validation_obeys_the_one_standard_error_rule(planted):
    crossed = ThresherRegressorCV(cv=KFold(4), sizes=[1, 2, 3, 10, 0.5], **FEW).fit(*planted)
    path = crossed.path_
    assert path["size"].tolist() == [1, 2, 3, 10, 50]
    losses = path["squared_error"]
    good = losses <= losses.min() + path["squared_error_se"][losses.argmin()]
    assert crossed.size_choice_.size == crossed.n_features_selected_ == path["size"][good][0]
    assert "of 4 folds" in crossed.size_choice_.why


class Halves:
    """A splitter that looks at the targets."""

    def split(self, rows, y):
        above = y > np.median(y)
        assert 0 < above.sum() < rows.shape[0] / 2 + 1
        assert np.unique(y).size > 2
        yield from [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))]


@pytest.mark.jit
def test_splitters_are_given_the_targets(planted):
    crossed = ThresherRegressorCV(cv=Halves(), sizes=[1, 3], **FEW).fit(*planted)
    assert "of 2 folds" in crossed.size_choice_.why


def test_cross_validation_is_not_for_streams():
    model = ThresherRegressorCV()
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.fit_stream(None)
    assert "ThresherRegressor, with the size" in str(caught.value.__cause__)


class TestJudge:
    targets = np.array([0.0, 1.0, 2.0, 3.0])
    weights = np.array([1.0, 2.0, 1.0, 1.0])

    def judged(self, loss, margins, targets=None):
        judge, targets = NumberJudge(loss), self.targets if targets is None else targets
        return judge.losses([np.asarray(margins)], [targets], self.weights)

    @pytest.mark.parametrize("loss", TARGET_LOSSES)
    def test_margins_that_only_need_stretching_lose_nothing(self, loss):
        assert_allclose(self.judged(loss, 0.2 * self.targets - 5), 0.0, atol=1e-12)

    @pytest.mark.parametrize("loss", TARGET_LOSSES)
    def test_margins_that_speak_for_the_opposite_are_no_better_than_none(self, loss):
        assert_allclose(self.judged(loss, -self.targets), self.judged(loss, np.zeros(4)))

    def test_huber_counts_what_is_beyond_one_as_it_is(self):
        margins = np.arange(100.0)
        targets = np.where(margins == 50, 1050.0, margins)
        losses = NumberJudge("huber").losses([margins], [targets], np.ones(100))
        assert losses[50] == pytest.approx(999.5, abs=0.5)
        assert np.delete(losses, 50).max() < 0.1

    def test_r2_is_that_of_the_weighted_rows(self):
        margins = np.array([0.0, 1.0, 1.0, 3.0])
        scores = NumberJudge("squared_error").scores([margins], [self.targets], self.weights)
        pairs = np.repeat([margins, self.targets], [1, 2, 1, 1], axis=1)
        expected = np.corrcoef(*pairs)[0, 1] ** 2
        assert np.average(scores, weights=self.weights) == pytest.approx(expected)

    def test_nothing_explained_is_the_loss_without_features(self):
        judge = NumberJudge("squared_error")
        expected = np.cov(self.targets, fweights=self.weights.astype(int), bias=True)
        lost = judge.losses([np.zeros(4)], [self.targets], self.weights)
        assert np.average(lost, weights=self.weights) == pytest.approx(expected)
