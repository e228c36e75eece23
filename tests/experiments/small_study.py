"""A study small enough to run in a test: the outside judges on the tiny set, three permutations."""

import io
from dataclasses import replace

from rich.console import Console

from experiments import run
from experiments.lines import Line
from experiments.plan import Want
from experiments.progress import Progress
from experiments.scope import QUICK

OUTSIDE = ("sklearn-sgd-l1", "liblinear-l1")
SCOPE = replace(
    QUICK, sets=("tiny",), permutations={"paper": 3, "extension": 1}, most_settings=2, ladder=5
)
WANT = Want(("tiny",), traces=())
LINE = Line("tiny", "row-l2", "sklearn-sgd-l1", "hinge")


def run_all(folder, scope=SCOPE, want=WANT, jobs=1):
    """Run quietly, in this process if nothing else is said; return what failed."""
    return run.run(want, scope, folder, jobs, Progress(Console(file=io.StringIO())))


def cells(folder, kind=""):
    """Return the files of a kind of cell."""
    return sorted((folder / kind).rglob("*.json"))
