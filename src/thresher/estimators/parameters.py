"""Parameters that several estimators share: what they may be, and what is said of them.

Estimators are dataclasses: a parameter is a field, and the signature that scikit-learn reads is
made from the fields. What is said here, or by a class it derives from, is added to the docstring
of every class that has the parameter and does not speak of it itself.
"""

import re
from inspect import cleandoc
from itertools import chain

import numpy as np

from thresher.kernels.losses import (
    HINGE,
    HUBER,
    LOG_LOSS,
    MODIFIED_HUBER,
    SQUARED_ERROR,
    SQUARED_HINGE,
)
from thresher.validation import FLAG, Constraint, Kind, Number, OneOf, Whole

Constraints = dict[str, tuple[Constraint, ...]]

CLASS_LOSSES = {
    "hinge": HINGE,
    "log_loss": LOG_LOSS,
    "squared_hinge": SQUARED_HINGE,
    "modified_huber": MODIFIED_HUBER,
}
TARGET_LOSSES = {"squared_error": SQUARED_ERROR, "huber": HUBER}
LOSSES = {**CLASS_LOSSES, **TARGET_LOSSES}
NO_VALUE = OneOf(None)

COMMON: Constraints = {
    "max_iter": (Whole(1),),
    "tol": (Number(0), NO_VALUE),
    "fit_intercept": FLAG,
    "shuffle": FLAG,
    "random_state": (
        Whole(0, 2**32 - 1),
        NO_VALUE,
        Kind(np.random.RandomState, "a numpy.random.RandomState"),
    ),
    "n_jobs": (Whole(never=0), NO_VALUE),
    "warm_start": FLAG,
    "verbose": (Whole(0), *FLAG),
}
CLASSIFYING: Constraints = {
    **COMMON,
    "loss": (OneOf(*CLASS_LOSSES),),
    "class_weight": (Kind(dict, "a dict of class: weight"), OneOf("balanced", None)),
}
REGRESSING: Constraints = {
    **COMMON,
    "loss": (OneOf(*TARGET_LOSSES),),
    "epsilon": (Number(0, open_low=True),),
}
STEPS: Constraints = {
    "eta0": (OneOf("auto"), Number(0, open_low=True)),
    "learning_rate": (OneOf("constant", "invsqrt"),),
}
PATHS: Constraints = {
    "n_paths": (Whole(1),),
    "paths": (OneOf("permutation", "shared"),),
    "normalize": FLAG,
}

WORDS = {
    "n_paths": """int
        Parallel SGD paths.""",
    "paths": """"permutation" or "shared"
        Whether every path reads the rows in its own order, or all share one stream of which each
        takes random bursts, which is faster. ``partial_fit`` always shares.""",
    "normalize": """bool
        Whether rows are scaled to unit length, in training and prediction: long documents then
        count no more than short ones, and steps suit all data sets.""",
    "eta0": """float or "auto"
        Length of the (first) step. A number is the absolute rate; "auto" is relative to the rows'
        mean squared norm so far, so that the units of the data do not matter.""",
    "learning_rate": """"constant" or "invsqrt"
        Whether steps stay as long, or fall with the square root of the number of updates.""",
    "max_iter": """int
        Passes over the rows in ``fit``.""",
    "tol": """float or None
        ``fit`` ends early after a pass in which no weight changed by more than this share of the
        largest weight; None never ends early.""",
    "fit_intercept": """bool
        Whether to learn an intercept; it is never shrunk.""",
    "shuffle": """bool
        Whether ``fit`` reads the rows in a new random order in each pass.""",
    "random_state": """int, RandomState or None
        Seed of all that is random.""",
    "n_jobs": """int or None
        Threads, over paths or classes; the result is the same to the last bit for any number.""",
    "warm_start": """bool
        Whether ``fit`` goes on from what was learnt before.""",
    "verbose": """int
        Whether ``fit`` prints a line after every pass; of many, after ever fewer.""",
}


# A parameter in a docstring whose indentation is gone, as Python 3.13 has it anyway.
ENTRY = re.compile(r"^(\w+) : (.*(?:\n    .*)+)", re.MULTILINE)
EXAMPLES = "\n\nExamples\n--------\n"


def with_shared_words(docstring: str, parameters: set[str], elders: list[str]) -> str:
    """Return a docstring with what is to be said of parameters it does not mention.

    ``elders`` are the docstrings of the classes it derives from, the nearest first.
    """
    docstring, examples, shown = cleandoc(docstring).partition(EXAMPLES)
    words = dict(ENTRY.findall(docstring))
    missing = [*(ENTRY.findall(cleandoc(elder)) for elder in elders), _words_here()]
    for name, said in chain.from_iterable(missing):
        if name in parameters and name not in words:
            words[name] = said
            docstring += f"\n{name} : {said}"
    return f"{docstring}{examples}{shown}\n"


def _words_here() -> list[tuple[str, str]]:
    return [(name, said.replace("\n        ", "\n    ")) for name, said in WORDS.items()]
