"""A call that fails, wherever it fails, leaves the estimator as it was to the last bit."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cases import (
    CLASSICS,
    NAMES,
    VARIANTS,
    assert_same_bits,
    facts,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)
from thresher.estimators.overflowing import Overflowed
from thresher.randomness import permutation

N_ROWS, WIDTH = 260, 60
STEEP = {"loss": "squared_hinge"}  # a loss whose slope grows with the error runs away at once
STEPS = [name for name in NAMES if name not in ("RDAClassifier", "FTRLClassifier")]


def data(n_classes):
    return labelled_rows(n=N_ROWS, p=WIDTH, density=0.05, seed=6, n_classes=n_classes)


def poisoned(rows, labels):
    """Return the rows with a few more at the end that no learner survives, and their weights."""
    last = sparse.csr_array(np.repeat(np.eye(1, WIDTH), 6, axis=0))
    weights = np.r_[np.ones(labels.size), np.full(6, 1e300)]
    return (
        sparse.vstack([rows, last]).tocsr(),
        np.r_[labels, [0, 1, 0, 1, 0, 1]],
        weights,
    )


def fail(model, rows, labels):
    """Let a chunk overflow after its last good row."""
    bad_rows, bad_labels, weights = poisoned(rows, labels)
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(bad_rows, bad_labels, sample_weight=weights)


# ------------------------------------------------------------------------------------ overflow


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1, 5, 70])
@pytest.mark.parametrize("name", NAMES)
def test_a_stream_that_keeps_failing_learns_as_if_it_never_had(name, size, n_classes):
    """Chunks of a row close bursts that earlier ones opened; chunks of 70 rows end stages."""
    rows, labels = data(n_classes)
    never_failed, model = (make_streaming(name, **STEEP) for _ in range(2))
    for first in range(0, 70 if size == 1 else N_ROWS, size):
        now = slice(first, first + size)
        chunk = rows[now], labels[now]
        if first:
            fail(model, *chunk)
            assert_same_bits(model, never_failed)
        for one in (never_failed, model):
            one.partial_fit(*chunk, classes=np.unique(labels))
    assert_same_bits(model, never_failed)


@pytest.mark.parametrize("name", ["StabilizedTruncatedSGDClassifier"])
@pytest.mark.parametrize("selection", ["informative", "every"])
def test_failing_inside_a_stage_harms_no_feature_of_earlier_chunks(name, selection):
    rows, labels = data(2)
    never_failed, model = (make(name, selection=selection, **STEEP) for _ in range(2))
    for first in range(0, N_ROWS, 5):
        chunk = rows[first : first + 5], labels[first : first + 5]
        if first:
            fail(model, *chunk)
        for one in (never_failed, model):
            one.partial_fit(*chunk, classes=[0, 1])
    assert_same_bits(model, never_failed)


@pytest.mark.parametrize("name", NAMES)
def test_a_first_call_that_overflows_leaves_nothing(name):
    rows, labels = data(2)
    model = make_streaming(name, **STEEP)
    bad_rows, bad_labels, weights = poisoned(rows, labels)
    for call in (model.fit, lambda *args, **kw: model.partial_fit(*args, classes=[0, 1], **kw)):
        with pytest.raises(ValueError, match="overflowed"):
            call(bad_rows, bad_labels, sample_weight=weights)
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "n_features_in_")
    assert_same_bits(
        stream(model, rows, labels), stream(make_streaming(name, **STEEP), rows, labels)
    )


@pytest.mark.parametrize("name", STEPS)
def test_steps_that_are_too_long_are_explained(name):
    rows, labels = data(2)
    with pytest.raises(ValueError, match=r"overflowed while learning row \d+.*[Ll]ower eta0"):
        make(name, eta0=1e300, **STEEP).fit(rows, labels)
    with pytest.raises(ValueError, match=r"overflowed while learning row \d+.*[Ll]ower eta0"):
        make(name, eta0=1e300, **STEEP).partial_fit(rows, labels, classes=[0, 1])


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_fit_that_overflows_leaves_the_fit_before(name, changes):
    rows, labels = data(2)
    model = make(name, **changes, **STEEP).fit(rows, labels)
    before = facts(model)
    bad_rows, bad_labels, weights = poisoned(rows, labels)
    with pytest.raises(ValueError, match="overflowed"):
        model.fit(bad_rows, bad_labels, sample_weight=weights)
    assert facts(model) == before
    with pytest.raises(ValueError, match="overflowed"):
        model.set_params(warm_start=True).fit(bad_rows, bad_labels, sample_weight=weights)
    assert facts(model) == before


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_partial_fit_that_overflows_leaves_the_fit_before(name, changes):
    rows, labels = data(2)
    never_failed, model = (make(name, **changes, **STEEP).fit(rows, labels) for _ in range(2))
    fail(model, rows[:50], labels[:50])
    for one in (never_failed, model):
        one.partial_fit(rows, labels)
    assert_same_bits(model, never_failed)


@pytest.mark.parametrize("name", ["PlainSGDClassifier", "FOBOSClassifier"])
def test_an_overflow_on_the_very_last_row_is_seen(name):
    """The margin is finite still, the weights are not."""
    rows, labels = data(2)
    never_failed, model = (stream(make(name, eta0=0.1), rows, labels) for _ in range(2))
    huge = np.zeros((1, WIDTH))
    huge[0, 0] = 1e12
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(huge, [1 - model.predict(huge)[0]], sample_weight=[1e300])
    assert_same_bits(model, never_failed)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_the_row_that_overflows_is_named(name, changes):
    bad_rows, bad_labels, weights = poisoned(*data(2))
    with pytest.raises(ValueError, match=r"row 26[0-5]\."):
        make_streaming(name, **changes, **STEEP).partial_fit(
            bad_rows, bad_labels, classes=[0, 1], sample_weight=weights
        )
    with pytest.raises(ValueError, match=r"overflowed while learning row 26[0-5]\."):
        make(name, shuffle=False, **changes, **STEEP).fit(bad_rows, bad_labels, weights)


@pytest.mark.parametrize("name", CLASSICS)
def test_the_row_that_overflows_is_named_however_rows_are_shuffled(name):
    bad_rows, bad_labels, weights = poisoned(*data(2))
    order = permutation(make(name).fit(*data(2))._seed, 0, 0, weights.size)
    with pytest.raises(Overflowed) as in_order:
        make(name, shuffle=False, **STEEP).fit(bad_rows[order], bad_labels[order], weights[order])
    with pytest.raises(Overflowed, match=rf"row {order[in_order.value.row]}\."):
        make(name, **STEEP).fit(bad_rows, bad_labels, weights)


def test_a_failed_call_does_not_bring_new_settings_in():
    rows, labels = data(2)
    never_failed, model = (stream(make("RDAClassifier", **STEEP), rows, labels) for _ in range(2))
    model.set_params(l1=0.5)
    fail(model, rows[:5], labels[:5])
    assert_same_bits(model, never_failed)


# ---------------------------------------------------------------------------------- interrupts


class Interrupting:
    """A learner's advance that is interrupted after one of its calls has done its work."""

    def __init__(self, advance, number):
        self.advance = advance
        self.left = number

    def __call__(self, *args):
        learnt = self.advance(*args)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return learnt


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_partial_fit_leaves_no_trace(name, n_classes, number, monkeypatch):
    rows, labels = data(n_classes)
    never_failed, model = (stream(make_streaming(name), rows[:30], labels[:30]) for _ in range(2))
    learner = type(model._model.learner)
    interrupting = Interrupting(learner.advance, number)
    with monkeypatch.context() as patch:
        patch.setattr(learner, "advance", lambda *args: interrupting(*args))
        try:
            model.partial_fit(rows[30:], labels[30:])
        except KeyboardInterrupt:
            assert_same_bits(model, never_failed)
        else:  # one class in one piece needs one call only
            assert interrupting.left > 0
            return
    for one in (never_failed, model):
        one.partial_fit(rows[30:], labels[30:])
    assert_same_bits(model, never_failed)


@pytest.mark.parametrize("name", ["PlainSGDClassifier", "ThresherClassifier"])
def test_threads_that_are_still_at_work_cannot_undo_the_undoing(name, monkeypatch):
    rows, labels = data(3)
    never_failed, model = (stream(make(name, n_jobs=2), rows[:30], labels[:30]) for _ in range(2))
    learner, first = type(model._model.learner), model._model.problems[0].state
    advance = learner.advance

    def one_fails_and_others_are_late(self, state, *args):
        if state is first:
            raise KeyboardInterrupt
        time.sleep(0.3)
        return advance(self, state, *args)

    with monkeypatch.context() as patch:
        patch.setattr(learner, "advance", one_fails_and_others_are_late)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(rows[30:], labels[30:])
    time.sleep(0.6)
    assert_same_bits(model, never_failed)
    for one in (never_failed, model):
        one.partial_fit(rows[30:], labels[30:])
    assert_same_bits(model, never_failed)


LONG_FIT = """
import signal, sys
from cases import labelled_rows, make
name, n_classes, n_jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = make(name, max_iter=10**6, tol=None, n_jobs=n_jobs)
rows, labels = labelled_rows(n=5000, p=200, density=0.2, n_classes=n_classes)
make(name, max_iter=1, n_jobs=n_jobs).fit(rows[:50], labels[:50])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell may have muted it
print("ready", flush=True)
try:
    model.fit(rows, labels)
except KeyboardInterrupt:
    print("stopped", hasattr(model, "coef_"), flush=True)
"""


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "n_classes", "n_jobs"),
    [
        ("PlainSGDClassifier", 2, 1),
        ("PlainSGDClassifier", 3, 2),
        ("ThresherClassifier", 2, 2),
        ("ThresherClassifier", 3, 1),
    ],
)
def test_ctrl_c_during_fit_is_answered(name, n_classes, n_jobs):
    command = [sys.executable, "-c", LONG_FIT, name, str(n_classes), str(n_jobs)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            answer, _ = process.communicate(timeout=5)
            assert answer == "stopped False\n"
        finally:
            process.kill()
