"""The same seed gives the same bits: on any number of threads, again, and in another process."""

import numpy as np
import pytest

from cases import (
    NAMES,
    PATHED,
    VARIANTS,
    assert_same_bits,
    facts,
    fingerprint,
    labelled_rows,
    make,
    make_streaming,
    stream,
    variant_id,
)
from elsewhere import printed_by

ELSEWHERE = """
from cases import VARIANTS, fingerprint, labelled_rows, make
for name, changes in VARIANTS:
    print(fingerprint(make(name, **changes).fit(*labelled_rows(n_classes=3))))
"""


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_threads_do_not_matter_in_fit(problem, name, changes, n_jobs):
    many = {"n_paths": 11} if name in PATHED else {}  # more paths than one bundle holds
    alone = make(name, **changes, **many).fit(*problem)
    assert_same_bits(make(name, n_jobs=n_jobs, **changes, **many).fit(*problem), alone)


@pytest.mark.parametrize("n_jobs", [2, 8])
@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_matter_on_a_stream(problem, name, n_jobs):
    alone = stream(make_streaming(name), *problem, cuts=[20])
    assert_same_bits(stream(make_streaming(name, n_jobs=n_jobs), *problem, cuts=[20]), alone)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_a_refit_gives_the_same_bits(problem, name, changes):
    model = make(name, **changes).fit(*problem)
    before = facts(model)
    stream(model, *problem)
    model.fit(*problem)
    assert facts(model) == before


@pytest.mark.parametrize("name", NAMES)
def test_equal_random_states_give_the_same_bits(binary, name):
    one, other = (make(name, random_state=np.random.RandomState(7)) for _ in range(2))
    assert_same_bits(one.fit(*binary), other.fit(*binary))


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=variant_id)
def test_other_seeds_give_other_models(problem, name, changes):
    one, other = (make(name, random_state=seed, **changes).fit(*problem) for seed in (1, 2))
    assert facts(one)["coef"] != facts(other)["coef"]


def test_another_process_gives_the_same_bits():
    there = printed_by(ELSEWHERE).split()
    data = labelled_rows(n_classes=3)
    here = [fingerprint(make(name, **changes).fit(*data)) for name, changes in VARIANTS]
    assert there == here
