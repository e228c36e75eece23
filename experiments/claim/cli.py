"""Measure the bar: ThresherClassifier's defaults against its rivals at the same sizes."""

import argparse
import functools
from collections.abc import Sequence

from experiments.claim.page import write
from experiments.claim.tables import bar_table
from experiments.claim.tasks import EVERYBODY, KINDS, PLANTED, forget, left_to_do, perform
from experiments.command import add_choice, ended, make_page, page_command
from experiments.lock import alone
from experiments.progress import Progress
from experiments.run import run_wave, sweep
from experiments.store import Store

SETS = (*KINDS["matched"].sets, PLANTED)


def parser() -> argparse.ArgumentParser:
    """Return the command's words."""
    command = page_command("claim", __doc__)
    add_choice(command, "--data", SETS, "one data set only; may be repeated")
    add_choice(command, "--method", EVERYBODY, "one method only; may be repeated")
    add_choice(command, "--kind", KINDS, "one kind of cells only; may be repeated")
    add_choice(command, "--again", EVERYBODY, "measure a method's cells again")
    return command


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is missing, write the page; return 0, 1 when cells failed, 2 for a mistake."""
    study = functools.partial(make_page, measure=_measure, table=bar_table, write=write)
    return ended(study, parser().parse_args(words))


def _measure(options: argparse.Namespace) -> list[str]:
    folder, store = options.results, Store(options.results)
    sets, kinds = options.data or SETS, options.kind or tuple(KINDS)
    methods = options.method or tuple(EVERYBODY)
    with alone(folder):
        sweep(folder)
        forget(kinds, sets, options.again or (), store)
        left = left_to_do(kinds, sets, methods, store)
        worker = functools.partial(perform, store=store)
        return run_wave("measuring", left, worker, options.jobs, Progress())
