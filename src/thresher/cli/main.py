"""The commands and their help."""

import click

from thresher import __version__
from thresher.cli.failing import EXIT_CODES
from thresher.cli.lazy import LazyGroup
from thresher.cli.words import examples

# in the order of a day's work
PLACES = {
    "train": "thresher.cli.train:train",
    "predict": "thresher.cli.predict:predict",
    "inspect": "thresher.cli.inspect:inspect",
    "evaluate": "thresher.cli.evaluate:evaluate",
    "report": "thresher.cli.report:report",
    "export": "thresher.cli.export:export",
    "convert": "thresher.cli.convert:convert",
    "demo": "thresher.cli.demo:demo",
    "reproduce": "thresher.cli.reproduce:reproduce",
    "bench": "thresher.cli.bench:bench",
    "completion": "thresher.cli.completion:completion",
}

FIRST_STEPS = examples(
    "thresher demo --quick",
    "thresher train rows.svm -o spam.thresher",
    "thresher inspect spam.thresher",
    "thresher predict spam.thresher new.svm > labels.txt",
)


@click.group(
    cls=LazyGroup,
    places=PLACES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{FIRST_STEPS}\n\n{EXIT_CODES}",
)
@click.version_option(__version__)
def main() -> None:
    """Small, stable, accurate linear models for sparse data, learned online."""
