"""The methods and their parameters, as words on the command line.

Written out, so that ``--help`` need not import the estimators; a test holds the two together.
"""

from collections.abc import Callable, Sequence
from typing import Any

import click

METHODS = {
    "thresher": "ThresherClassifier",
    "thresher-regressor": "ThresherRegressor",
    "stabilized": "StabilizedTruncatedSGDClassifier",
    "sgd": "PlainSGDClassifier",
    "truncated-gradient": "TruncatedGradientClassifier",
    "fobos": "FOBOSClassifier",
    "rda": "RDAClassifier",
    "ftrl": "FTRLClassifier",
}


class NumberOr(click.ParamType):
    """A number, whole if it is written so, or one of a few words."""

    name = "number"

    def __init__(self, **words: Any) -> None:
        self.words = words

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        """Return what is shown in the help."""
        return "|".join(["NUMBER", *self.words])

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number or what the word stands for."""
        if not isinstance(value, str):
            return value
        if value in self.words:
            return self.words[value]
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number" + "".join(f" or {w}" for w in self.words))


class ClassWeight(click.ParamType):
    """balanced, or label=weight pairs with commas between them."""

    name = "weights"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word, or a dict with labels as they would be read from a file."""
        if value == "balanced" or not isinstance(value, str):
            return value
        try:
            pairs = [pair.rsplit("=", 1) for pair in value.split(",")]
            weights = [float(weight) for _, weight in pairs]
        except ValueError:
            self.fail(f"{value!r} is neither balanced nor like -1=1,1=5")
        return dict(zip(labels_from([label for label, _ in pairs]), weights, strict=True))


def labels_from(words: Sequence[str]) -> list[Any]:
    """Return labels as a file's reader would give them: numbers if all of them are such."""
    from thresher.data.sources.fields import NOT_FINITE, Malformed, decimal

    words = [word.strip() for word in words]
    for word in words:
        if not word or word.lower() in NOT_FINITE:
            raise click.UsageError(f"{word!r} is no class: leave it out, or call it otherwise.")
    try:
        numbers = [decimal(word) for word in words]
    except Malformed:
        return words
    return [
        int(word) if word.lstrip("+-").isdigit() else number
        for word, number in zip(words, numbers, strict=True)
    ]


AUTO, NONE = NumberOr(auto="auto"), NumberOr(none=None)
LOSSES = click.Choice(
    ["log_loss", "hinge", "squared_hinge", "modified_huber", "squared_error", "huber"]
)

# option, type, help; the parameter is called as the option, but for --seed
PARAMETERS: list[tuple[str, Any, str]] = [
    (
        "--n-features-to-select",
        AUTO,
        "thresher: features to keep, of more than two classes for each: a number, share, or auto.",
    ),
    ("--loss", LOSSES, "What is minimised.  [default: log_loss; of numbers: squared_error]"),
    ("--epsilon", float, "thresher-regressor: where huber bends, in spreads.  [default: 1.35]"),
    ("--max-iter", AUTO, "Passes over the rows.  [default: 20; thresher: auto]"),
    ("--tol", NONE, "End after a pass that changed no weight by more than this share."),
    ("--eta0", AUTO, "Length of the (first) step; auto suits the rows.  [default: auto]"),
    ("--learning-rate", click.Choice(["constant", "invsqrt"]), "How steps fall."),
    (
        "--normalize/--no-normalize",
        None,
        "thresher, stabilized: scale rows to unit length.  [default: unless they are measurements]",
    ),
    (
        "--value-power",
        AUTO,
        "thresher: power that values are raised to; auto takes roots of counts.  [default: auto]",
    ),
    ("--fit-intercept/--no-fit-intercept", None, "Learn an intercept.  [default: yes]"),
    ("--shuffle/--no-shuffle", None, "Read the rows in a new order each pass.  [default: yes]"),
    ("--class-weight", ClassWeight(), "balanced, or like -1=1,1=5."),
    ("--seed", int, "Seed of all that is random.  [default: 0]"),
    ("--n-jobs", int, "Threads; the result is the same for any number."),
    ("--n-paths", int, "thresher, stabilized: parallel SGD paths.  [default: 16, 8]"),
    ("--dtype", click.Choice(["float32", "float64"]), "thresher: precision of its weights."),
    ("--n-stages", int, "thresher: stages of purging.  [default: 40]"),
    ("--refit", float, "thresher: share of updates that refit.  [default: 0.3]"),
    (
        "--rejection-rate",
        float,
        "thresher, stabilized: updates first cancelled.  [default: 0, 0.7]",
    ),
    ("--burst-size", int, "stabilized, truncated-gradient: updates in a burst."),
    ("--bursts-per-stage", int, "stabilized: bursts in a stage."),
    ("--annealing-rate", float, "stabilized: how fast the rejection rate falls."),
    ("--purge-threshold", float, "stabilized: selection probability that is too low."),
    ("--min-evidence", int, "stabilized: bursts needed before a feature is judged."),
    ("--burst-growth", NONE, "stabilized: bursts lengthen as features go; the paper's alpha."),
    ("--selection", click.Choice(["informative", "every"]), "stabilized: which bursts judge."),
    ("--shrinkage", click.Choice(["linear", "sqrt"]), "stabilized: how gravity follows touches."),
    ("--gravity", float, "truncated-gradient: shrinkage per update."),
    ("--ceiling", NONE, "truncated-gradient: weights above this are not shrunk."),
    ("--l1", float, "fobos, rda, ftrl: the l1 penalty."),
    ("--l2", float, "ftrl: the l2 penalty."),
    ("--alpha", float, "ftrl: length of steps."),
    ("--beta", float, "ftrl: smooths the first steps."),
    ("--gamma", AUTO, "rda: divides the steps; auto suits the rows."),
    ("--rho", float, "rda: the sparsity-enhancing parameter."),
]


def parameter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for every parameter; those not given are None or absent."""
    for option, kind, words in reversed(PARAMETERS):
        command = click.option(option, type=kind, default=None, help=words)(command)
    return command


def parameters_from(options: dict[str, Any], given: set[str]) -> dict[str, Any]:
    """Take the parameters out of a command's keywords: those that were given."""
    names = [option.split("/")[0].strip("-").replace("-", "_") for option, _, _ in PARAMETERS]
    taken = {name: options.pop(name) for name in names}
    found = {name: value for name, value in taken.items() if name in given}
    found["random_state"] = found.pop("seed", 0)
    return found
