"""Parameters of estimators: declared once, and everything else is made of the declarations.

That is the signature, the checks and the docstring of an estimator, and the command line's options.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from sklearn.metrics import get_scorer_names

from thresher.losses import CLASS_LOSSES
from thresher.validation import (
    FLAG,
    Kind,
    Number,
    OneOf,
    Parameter,
    Parameters,
    Whole,
)

LOSS = Parameter(
    "loss",
    "log_loss",
    (OneOf(*CLASS_LOSSES),),
    ", ".join(f'"{name}"' for name in CLASS_LOSSES),
    "What is minimized. Probabilities need the log loss or modified Huber.",
)
CLASS_WEIGHT = Parameter(
    "class_weight",
    None,
    (Kind(dict, "a dict of class: weight"), OneOf("balanced", None)),
    'dict, "balanced" or None',
    'Weights of classes. "balanced" counts the rows in ``fit``, and the rows so far in '
    "``partial_fit``.",
)
FIT_INTERCEPT = Parameter(
    "fit_intercept", True, FLAG, "bool", "Whether to learn an intercept; it is never shrunk."
)
RANDOM_STATE = Parameter(
    "random_state",
    None,
    (
        Whole(0, 2**32 - 1),
        OneOf(None),
        Kind(np.random.RandomState, "a numpy.random.RandomState"),
    ),
    "int, RandomState or None",
    "Seed of everything random.",
)
N_JOBS = Parameter(
    "n_jobs",
    None,
    (Whole(never=0), OneOf(None)),
    "int or None",
    "Number of threads; the result is the same to the last bit for any number.",
)
VERBOSE = Parameter("verbose", 0, (Whole(0), *FLAG), "int", "Whether ``fit`` reports its progress.")

# What all online classifiers have besides their learner's own parameters.
COMMON: Parameters = (
    LOSS,
    Parameter("max_iter", 20, (Whole(1),), "int", "Passes over the rows in ``fit``."),
    Parameter(
        "tol",
        1e-3,
        (Number(0), OneOf(None)),
        "float or None",
        "``fit`` ends early after a pass in which no weight changed by more than this share of the "
        "largest weight; None never ends early.",
    ),
    FIT_INTERCEPT,
    Parameter(
        "shuffle",
        True,
        FLAG,
        "bool",
        "Whether ``fit`` reads the rows in a new random order in each pass.",
    ),
    CLASS_WEIGHT,
    RANDOM_STATE,
    N_JOBS,
    Parameter(
        "warm_start", False, FLAG, "bool", "Whether ``fit`` goes on from what was learned before."
    ),
    VERBOSE,
)


@runtime_checkable
class Splitter(Protocol):
    """What splits rows into those to learn from and those to hold out, as scikit-learn's do."""

    def split(self, X: Any, y: Any, groups: Any) -> Any:
        """Yield the places of both, fold by fold."""


# What the flagship has besides its loss.
SELECTION: Parameters = (
    Parameter(
        "n_features_to_select",
        "auto",
        (OneOf("auto"), Whole(1), Number(0, 1, open_low=True, open_high=True)),
        'int, float or "auto"',
        'How many features to select: a number, or a share of all columns. "auto" is the smallest '
        "number whose held-out loss is within ``caution`` standard errors of the best, or within "
        "one if that is less; ``partial_fit`` then selects one per cent of the columns that occur, "
        "and at least 100.",
    ),
    Parameter(
        "caution",
        0.25,
        (Number(0),),
        "float",
        "Features are selected with the strongest penalty whose held-out loss is at most this many "
        "standard errors worse than the best. 0 gives the most accurate model; with 10, "
        "selections from different rows usually agree most. 1 is the usual rule for a smaller "
        'model with "auto".',
    ),
    Parameter(
        "cv",
        3,
        (Whole(2), Kind(Splitter, "a scikit-learn splitter")),
        "int or splitter",
        "Folds that are held out, or what splits the rows. Folds have at most 3,000 rows.",
    ),
    Parameter(
        "scoring",
        None,
        (OneOf(None, *get_scorer_names()), Kind(Callable, "a scikit-learn scorer")),
        "str, callable or None",
        "What chooses the penalties and the number of features instead of the held-out loss.",
    ),
    Parameter(
        "normalize",
        "auto",
        (OneOf("auto"), *FLAG),
        'bool or "auto"',
        "Whether rows are scaled to unit length, so that long documents count no more than short "
        'ones. "auto" scales them unless the columns are measurements: dense, or in odd units.',
    ),
    Parameter(
        "max_columns",
        None,
        (Whole(1), OneOf(None)),
        "int or None",
        "How many columns are winnowed, those with the most certain marginal effects; None: 5 "
        "times the largest number of features that is looked at, and at least 1,000. With a "
        "number, ``fit`` sums exactly, and ``thresher.dask`` gives the same model to the last bit.",
    ),
)
ALWAYS: Parameters = (FIT_INTERCEPT, RANDOM_STATE, N_JOBS, VERBOSE)

SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)


class HasParameters:
    """A class whose ``__init__`` and docstring are made of its ``parameters``.

    A subclass that declares ``parameters`` gets its own; all are given by keyword.
    """

    parameters: ClassVar[Parameters] = ()
    attributes: ClassVar[str] = ""  # a section of the docstring, for all subclasses

    def __init_subclass__(cls, **options: Any) -> None:
        """Write the signature and the docstring of a class that declares parameters."""
        super().__init_subclass__(**options)
        if "parameters" in vars(cls):
            cls.__init__ = _initializer(cls.parameters)  # type: ignore[method-assign]
            doc = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{inspect.cleandoc(cls.attributes)}"
            cls.__doc__ = with_parameters(doc, cls.parameters)

    def check_parameters(self) -> None:
        """Raise a ValueError that names the first parameter out of range, and what it may be."""
        for one in self.parameters:
            value = vars(self)[one.name]
            if not any(constraint.allows(value) for constraint in one.allowed):
                raise ValueError(
                    f"The parameter {one.name}={value!r} of {type(self).__name__} is not allowed: "
                    f"it must be {', or '.join(map(str, one.allowed))}."
                )


def _initializer(parameters: Parameters) -> Any:
    """Return an ``__init__`` with the signature of the parameters, which have their defaults."""
    defaults = {one.name: one.default for one in parameters}

    def __init__(self: HasParameters, **given: Any) -> None:
        for name in given:
            if name not in defaults:
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}: there are "
                    f"{', '.join(defaults)}."
                )
        vars(self).update(defaults | given)

    kinds = inspect.Parameter
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            kinds("self", kinds.POSITIONAL_OR_KEYWORD),
            *(kinds(one.name, kinds.KEYWORD_ONLY, default=one.default) for one in parameters),
        ]
    )
    return __init__


def with_parameters(docstring: str, parameters: Parameters) -> str:
    """Return a docstring with a section of parameters before its first section, or at the end."""
    docstring = inspect.cleandoc(docstring)
    entries = "\n".join(_entry(one) for one in parameters)
    section = f"Parameters\n----------\n{entries}\n\n"
    found = SECTION.search(docstring)
    place = found.start() if found else len(docstring)
    return f"{docstring[:place].rstrip()}\n\n{section}{docstring[place:]}".rstrip() + "\n"


def _entry(parameter: Parameter) -> str:
    """Return what a docstring has on a parameter."""
    text = textwrap.fill(parameter.doc, 92, break_long_words=False, break_on_hyphens=False)
    kind = f"{parameter.kind}, default={parameter.default!r}"
    return f"{parameter.name} : {kind}\n{textwrap.indent(text, '    ')}"
