"""Measure what each part of the default gives."""

import argparse
import functools
from collections.abc import Sequence

from experiments.ablation.measuring import SETS, measure, recipe
from experiments.ablation.page import ablation_table, write
from experiments.ablation.variants import VARIANTS
from experiments.command import add_choice, ended, make_page, page_command
from experiments.lines import Line
from experiments.lock import alone
from experiments.plan import Task
from experiments.progress import Progress
from experiments.run import run_wave, sweep
from experiments.store import Store


def parser() -> argparse.ArgumentParser:
    """Return the command's words."""
    command = page_command("ablation", __doc__)
    add_choice(command, "--data", SETS, "one data set only; may be repeated")
    add_choice(command, "--variant", VARIANTS, "one variant only; may be repeated")
    command.add_argument(
        "--again", action="store_true", help="measure these sets and variants again"
    )
    return command


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is missing, write the page; return 0, 1 when cells failed, 2 for a mistake."""
    study = functools.partial(make_page, measure=_measure, table=ablation_table, write=write)
    return ended(study, parser().parse_args(words))


def _measure(options: argparse.Namespace) -> list[str]:
    store = Store(options.results)
    keys = [(d, v) for d in options.data or SETS for v in options.variant or VARIANTS]
    with alone(options.results):
        sweep(options.results)
        missing = [key for key in keys if options.again or store.read(key, recipe(*key)) is None]
        left = [Task("ablate", Line(dataset, "", name, "")) for dataset, name in missing]
        worker = functools.partial(_perform, store=store)
        return run_wave("measuring", left, worker, options.jobs, Progress())


def _perform(task: Task, store: Store) -> None:
    key = (task.line.dataset, task.line.method)
    store.write(key, recipe(*key), measure(*key))
