"""Where our numbers meet the paper's and where they do not, from stored results."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments import paper
from experiments.methods import LOSS_TITLES, METHODS
from experiments.registry import named
from experiments.store import Store
from experiments.summary import summarize
from experiments.tables import NOTHING, markdown, number
from experiments.tasks import Line

REACH = 2.0  # of the printed standard deviations
READINGS = ("unit-variance", "nonzero-rms")


class Meeting(NamedTuple):
    """One printed test error beside ours."""

    line: Line
    printed: float
    ours: float
    verdict: str


def verdict(ours: float, printed: paper.Printed) -> str:
    """Return whether our mean lies within the printed spread, or on which side."""
    if abs(ours - printed.mean) <= REACH * (printed.deviation or 0.0):
        return "agrees"
    return "lower" if ours < printed.mean else "higher"


def meetings(store: Store, sets: Sequence[str]) -> Iterator[Meeting]:
    """Yield every printed error of an exact set that we measured on a reading of its scaling."""
    exact = [name for name in sets if paper.size(name) and name not in paper.STANDS_FOR]
    of_paper = [maker for maker in METHODS.values() if maker.in_paper]
    for name, maker, scaling in itertools.product(exact, of_paper, READINGS):
        for loss in maker.losses:
            line = Line(name, scaling, maker.name, loss)
            printed = paper.printed("error", name, maker.name, loss)
            found = summarize(store, line, named(name).columns)
            if printed and found:
                side = verdict(found.error.mean, printed)
                yield Meeting(line, printed.mean, found.error.mean, side)


def agreement_table(store: Store, sets: Sequence[str]) -> str:
    """Return the meetings as a table: a row for each printed error, a column for each reading."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for meeting in meetings(store, sets):
        line = meeting.line
        about = (named(line.dataset).title, METHODS[line.method].title, LOSS_TITLES[line.loss])
        row = rows.setdefault(about, [number(meeting.printed), *[NOTHING] * len(READINGS)])
        words = f"{number(meeting.ours)}, {meeting.verdict}"
        row[1 + READINGS.index(line.scaling)] = words
    header = ["Data set", "Method", "Loss", "Paper", *READINGS]
    return markdown(header, [[*about, *row] for about, row in rows.items()])
