"""Options made of declarations: how rows are read, and the parameters of methods.

Nothing is listed here: the options of reading are the fields of ``Reading``, methods are the public
estimators, and their options are the parameters that these declare.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

import click

import thresher
from thresher.formats.opening import FORMATS
from thresher.formats.protocol import Reading

if TYPE_CHECKING:
    from thresher.online.parameter import Parameter

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

READING, OUTPUT, TRAINING, OTHER = "Reading rows", "Output", "Training", "Options"
PROGRAMS_ONLY = {"labelled", "ignore_labels"}  # fields of Reading that commands set themselves
NO_OPTIONS = {"warm_start", "verbose"}  # parameters that only programs need
RENAMED = {"random_state": "seed"}


def examples(*lines: str) -> str:
    """Return an epilog of commands to try, which click leaves as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


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
            record = param.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(param, "section", OTHER), []).append(record)
        for name in sorted(sections, key=lambda name: name == OTHER):
            with formatter.section(name):
                formatter.write_dl(sections[name])


def option(*names: str, section: str = OTHER, **kwargs: Any) -> Decorator:
    """Add an option in a section of the help."""
    return click.option(*names, cls=Option, section=section, **kwargs)


model_argument = click.argument("model", metavar="MODEL", type=click.Path(readable=False))
files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE...")


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--quiet``."""
    words = "Print nothing but errors, and rows that were left out."
    return option("-q", "--quiet", is_flag=True, help=words, callback=_hush)(command)


def _hush(ctx: click.Context, param: click.Parameter, quiet: bool) -> bool:
    if quiet:
        logging.getLogger("thresher").setLevel(logging.ERROR)
    return quiet


def json_option(words: str) -> Decorator:
    """Add ``--json``."""
    return option("--json", "as_json", is_flag=True, help=words)


def allow_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--allow-no-features``."""
    words = "Go on if none of the rows has any of the model's features."
    return option("--allow-no-features", is_flag=True, help=words)(command)


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--force``."""
    words = "Replace files that are there already, but never what is read."
    return option("-f", "--force", is_flag=True, help=words, section=OUTPUT)(command)


# ------------------------------------------------------------------------------- how rows are read


class Words(click.ParamType):
    """Words with commas between them."""

    name = "A,B,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        """Return the words."""
        return value.split(",") if isinstance(value, str) else list(value)


class Text(click.ParamType):
    """Text, in which a tab may be written as in programs."""

    name = "text"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the text."""
        return str(value).replace("\\t", "\t")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for everything that can be declared of how rows are read."""
    for one in reversed(fields(Reading)):
        if one.name not in PROGRAMS_ONLY:
            command = _reading_option(one)(command)
    return command


def reading_from(options: dict[str, Any]) -> dict[str, Any]:
    """Take what was given of how to read rows out of a command's options."""
    names = [one.name for one in fields(Reading) if one.name in options]
    taken = {name: options.pop(name) for name in names}
    given = {name: value for name, value in taken.items() if value is not None}
    if given.get("index_base") == "auto":
        del given["index_base"]
    elif "index_base" in given:
        given["index_base"] = int(given["index_base"])
    try:
        Reading(**given)
    except ValueError as error:
        raise click.UsageError(in_options(str(error))) from None
    return given


def _reading_option(one: "Field[Any]") -> Decorator:
    """Return what adds the option of a field."""
    kind: Any = Text()
    if one.name == "format":
        kind = click.Choice(["auto", *FORMATS])
    elif "choices" in one.metadata:
        auto = ["auto"] if one.default is None else []
        kind = click.Choice([*auto, *map(str, one.metadata["choices"])])
    elif int in (one.type, *getattr(one.type, "__args__", ())):
        kind = int
    elif one.default == ():
        kind = Words()
    name = f"--{one.name.replace('_', '-')}"
    return option(name, type=kind, section=READING, help=one.metadata["help"])


def in_options(message: str) -> str:
    """Return a message that names keywords of programs as one that names options."""
    names = "|".join(one.name for one in fields(Reading))
    message = re.sub(r"\b\w+=, (?=--)", "", message)
    return re.sub(
        rf"\b({names})=", lambda found: f"--{found[1].replace('_', '-')} ", message
    )


# ------------------------------------------------------------------------------------- parameters


def _method(estimator: str) -> str:
    """Return what the command line calls an estimator: TruncatedGradient is truncated-gradient."""
    words = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(words, "-", estimator.removesuffix("Classifier")).lower()


METHODS = {
    _method(name): name
    for name in sorted(thresher.__all__, key=lambda name: (not name.startswith("Thresher"), name))
    if name.endswith(("Classifier", "Regressor"))
}


def parameters_of(method: str) -> "list[Parameter]":
    """Return the declared parameters of a method that can be given as text."""
    from thresher.validation import Kind

    def textual(one: "Parameter") -> bool:
        return any(not isinstance(a, Kind) or a.kind is dict for a in one.allowed)

    declared = getattr(thresher, METHODS[method]).parameters
    return [one for one in declared if one.name not in NO_OPTIONS and textual(one)]


def parameter_options(method: str) -> list[click.Option]:
    """Return an option for each parameter of a method."""
    return [_parameter_option(one, method) for one in parameters_of(method)]


def _parameter_option(one: "Parameter", method: str) -> click.Option:
    name = RENAMED.get(one.name, one.name).replace("_", "-")
    value = Value(one)
    default = "0" if one.name == "random_state" else _word(one.default)
    words = f"{re.sub('``?', '', one.doc)}  [default: {default}]"
    more: dict[str, Any] = {"type": value}
    names = [f"--{name}"]
    if value.is_flag:
        names, more = [f"--{name}/--no-{name}"], {"is_flag": True}
    section = f"Parameters of {method}"
    return Option([one.name, *names], default=None, help=words, section=section, **more)


class Value(click.ParamType):
    """The value of a parameter: whatever its declaration allows."""

    name = "value"

    def __init__(self, parameter: "Parameter") -> None:
        from thresher.validation import Kind, OneOf

        self.allowed = parameter.allowed
        values = [v for one in self.allowed if isinstance(one, OneOf) for v in one.values]
        self.words = {_word(value): value for value in values}
        self.is_flag = set(self.words) == {"yes", "no"}
        self.weights = any(isinstance(one, Kind) and one.kind is dict for one in self.allowed)
        self.numbers = any(not isinstance(one, Kind | OneOf) for one in self.allowed)

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        """Return what the help shows."""
        kinds = ["NUMBER"] if self.numbers else []
        kinds += ["CLASS=WEIGHT,..."] if self.weights else []
        return "|".join([*kinds, *self.words])

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the first reading of a text that is allowed."""
        if not isinstance(value, str):
            return value
        for one in self._readings(value):
            if any(constraint.allows(one) for constraint in self.allowed):
                return one
        self.fail(f"{value!r} is not allowed: it must be {self._choices()}.", param, ctx)

    def _readings(self, text: str) -> Iterator[Any]:
        if text in self.words:
            yield self.words[text]
        for kind in (int, float):
            try:
                yield kind(text)
            except ValueError:
                pass
        if self.weights and "=" in text:
            pairs = [pair.rpartition("=") for pair in text.split(",")]
            labels = labels_from([label for label, _, _ in pairs])
            try:
                yield dict(zip(labels, (float(weight) for _, _, weight in pairs), strict=True))
            except ValueError:
                pass

    def _choices(self) -> str:
        from thresher.validation import Kind, OneOf

        kinds = [str(one) for one in self.allowed if not isinstance(one, Kind | OneOf)]
        kinds += ["weights of classes, such as -1=1,1=5"] if self.weights else []
        return ", or ".join([*kinds, *self.words])


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
