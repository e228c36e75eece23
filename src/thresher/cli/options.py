"""Options made of declarations: how rows are read, and the parameters of methods.

Nothing is listed here: the options of reading are the fields of ``Reading``, methods are the public
estimators, and their options are the parameters that these declare.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import Field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import thresher
from thresher.cli.files import present
from thresher.formats.opening import FORMATS
from thresher.formats.protocol import Reading

if TYPE_CHECKING:
    from thresher.validation import Parameter

Decorator = Callable[[Callable[..., Any]], Any]

OUTPUT, TRAINING, READING, OTHER = "Output", "Training", "Reading rows", "Options"
# What may be given of how rows are read; commands themselves set the other two.
READ = [one for one in fields(Reading) if one.name not in ("labelled", "ignore_labels")]
NO_OPTIONS = ("warm_start", "verbose")  # parameters that only programs need
RENAMED = {"random_state": "seed"}
MOST_WORDS = 8  # that stand in the help as what may be given


class Option(click.Option):
    """An option with its place in the help."""

    def __init__(self, *args: Any, section: str = OTHER, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class Command(click.Command):
    """A command whose help has sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(param, "section", OTHER), []).append(record)
        for name in sorted(sections, key=lambda name: name == OTHER):
            with formatter.section(name):
                formatter.write_dl(sections[name])


def command(short_help: str, *examples: str, cls: type[Command] = Command) -> Decorator:
    """Make a command, whose help ends with examples."""
    return click.command(cls=cls, short_help=short_help, epilog=epilog(*examples))


def epilog(*examples: str) -> str:
    """Return commands to try, which click leaves as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in examples)])


def option(*names: str, help: str, section: str = OTHER, **kwargs: Any) -> Decorator:
    """Add an option in a section of the help."""
    return click.option(*names, cls=Option, help=help, section=section, **kwargs)


def _hush(ctx: click.Context, _: click.Parameter, quiet: bool) -> bool:
    logger = logging.getLogger("thresher")
    if quiet:
        ctx.call_on_close(partial(logger.setLevel, logger.level))
        logger.setLevel(logging.ERROR)
    return quiet


model = click.argument("model", metavar="MODEL", type=click.Path(readable=False),
                       callback=lambda _ctx, _param, path: present(path))  # fmt: skip
files = click.argument("files", nargs=-1, required=True, metavar="FILE...")
force = option("-f", "--force", is_flag=True, section=OUTPUT,
               help="Replace files that are there already, but never what is read.")  # fmt: skip
quiet = option("-q", "--quiet", is_flag=True, callback=_hush,
               help="Print nothing but errors, and rows that were left out.")  # fmt: skip
allow_no_features = option("--allow-no-features", is_flag=True,
                           help="Go on if no row has any of the model's features.")  # fmt: skip


def output(metavar: str, help: str, required: bool = True) -> Decorator:
    """Add ``-o``."""
    return option("-o", "--output", help=help, section=OUTPUT, metavar=metavar, required=required)


def as_json(help: str) -> Decorator:
    """Add ``--json``."""
    return option("--json", "as_json", is_flag=True, help=help)


# ------------------------------------------------------------------------------- how rows are read


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for everything that is declared of how rows are read."""
    for one in reversed(READ):
        name, help = f"--{_dashed(one.name)}", one.metadata["help"]
        more = {"type": _reading_type(one), "metavar": "A,B,..." if one.default == () else None}
        command = option(name, section=READING, help=help, **more)(command)
    return command


def _reading_type(one: "Field[Any]") -> Any:
    choices = ("auto", *FORMATS) if one.name == "format" else one.metadata.get("choices")
    if choices is not None:
        return click.Choice([*(["auto"] if one.default is None else []), *map(str, choices)])
    return int if int in (one.type, *getattr(one.type, "__args__", ())) else str


def reading_from(options: dict[str, Any]) -> dict[str, Any]:
    """Take what was given of how to read rows out of a command's options."""
    taken = {one.name: (options.pop(one.name, None), one.default) for one in READ}
    given = {name: _value(*pair) for name, pair in taken.items() if pair[0] not in (None, "auto")}
    try:
        Reading(**given)
    except ValueError as error:
        raise click.UsageError(in_options(str(error))) from None
    return given


def _value(given: Any, default: Any) -> Any:
    if default == ():
        return given.split(",")
    if given in ("0", "1"):
        return int(given)
    return given.replace("\\t", "\t") if isinstance(given, str) else given


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def in_options(message: str) -> str:
    """Return a message that names keywords of programs as one that names options."""
    names = "|".join(one.name for one in READ)
    message = re.sub(rf"\b(?:{names})=[^()]*? \((--[^()]*)\)", r"\1", message)
    message = re.sub(r"\b\w+=\S*?, (?=--)", "", message)
    return re.sub(rf"\b({names})=", lambda found: f"--{_dashed(found[1])} ", message)


# ------------------------------------------------------------------------------------- parameters


def _method(estimator: str) -> str:
    """Return what the command line calls an estimator: TruncatedGradient is truncated-gradient."""
    between = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(between, "-", estimator.removesuffix("Classifier")).lower()


METHODS = {
    _method(name): name
    for name in sorted(thresher.__all__, key=lambda name: (not name.startswith("Thresher"), name))
    if name.endswith(("Classifier", "Regressor"))
}


def parameter_options(method: str) -> list[Option]:
    """Return an option for each parameter of a method that can be given as text."""
    declared: tuple[Parameter, ...] = getattr(thresher, METHODS[method]).parameters
    values = [(one, Value(one)) for one in declared if one.name not in NO_OPTIONS]
    return [_parameter_option(one, value, method) for one, value in values if value.exists]


def _parameter_option(one: "Parameter", value: "Value", method: str) -> Option:
    name = _dashed(RENAMED.get(one.name, one.name))
    default = "0" if one.name == "random_state" else _word(one.default)
    doc = one.doc.replace("``", "").replace("None", "none")
    return Option(
        [one.name, f"--{name}/--no-{name}" if value.is_flag else f"--{name}"],
        default=None,
        help=f"{doc}  [default: {default}]",
        section=f"Parameters of {method}",
        **({"is_flag": True} if value.is_flag else {"type": value}),
    )


class Value(click.ParamType):
    """The value of a parameter: whatever its declaration allows."""

    name = "value"

    def __init__(self, parameter: "Parameter") -> None:
        from thresher.validation import Kind, Number, OneOf, Whole

        self.allowed = parameter.allowed
        values = [v for one in self.allowed if isinstance(one, OneOf) for v in one.values]
        self.words = {_word(value): value for value in values}
        self.numbers = [str(one) for one in self.allowed if isinstance(one, Number | Whole)]
        self.weights = any(isinstance(one, Kind) and one.kind is dict for one in self.allowed)
        self.is_flag = set(self.words) == {"yes", "no"}
        self.exists = bool(self.words or self.numbers or self.weights)

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        """Return what the help shows."""
        kinds = ["NUMBER"] if self.numbers else []
        kinds += ["CLASS=WEIGHT,..."] if self.weights else []
        return "|".join([*kinds, *(self.words if len(self.words) <= MOST_WORDS else ["NAME"])])

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the first reading of a text that is allowed."""
        if not isinstance(value, str):
            return value
        for one in self._readings(value):
            if any(constraint.allows(one) for constraint in self.allowed):
                return one
        weights = ["weights of classes, such as -1=1,1=5"] if self.weights else []
        choices = ", or ".join([*self.numbers, *self.words, *weights])
        return self.fail(f"{value!r} is not allowed: it must be {choices}.", param, ctx)

    def _readings(self, text: str) -> Iterator[Any]:
        if text in self.words:
            yield self.words[text]
        kinds: list[Callable[[str], Any]] = [int, float]
        for kind in kinds + ([_weights] if self.weights else []):
            with suppress(ValueError):
                yield kind(text)


def _weights(text: str) -> dict[Any, float]:
    pairs = [pair.rpartition("=") for pair in text.split(",")]
    weights = [float(weight) for _, _, weight in pairs]
    if not all(between for _, between, _ in pairs):
        raise ValueError
    return dict(zip(labels_from([label for label, _, _ in pairs]), weights, strict=True))


def _word(value: object) -> str:
    """Return how a value is written on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def labels_from(words: Sequence[str]) -> list[Any]:
    """Return labels as readers of files give them: numbers if all of them are such."""
    from thresher.formats.errors import BadRow
    from thresher.formats.fields import NOT_FINITE, decimal

    words = [word.strip() for word in words]
    for word in words:
        if not word or word.lower() in NOT_FINITE:
            raise click.UsageError(f"{word!r} is no class: leave it out, or choose another name.")
    try:
        numbers = [decimal(word) for word in words]
    except BadRow:
        return words
    return [int(number) if number.is_integer() else number for number in numbers]
