"""Where our numbers meet the paper's and where they do not, from stored results."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from experiments import paper
from experiments.lines import Line
from experiments.methods import LOSS_TITLES, LOSSES, METHODS
from experiments.registry import named
from experiments.store import Store
from experiments.summary import Summary, summarize
from experiments.tables import NOTHING, markdown, number

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
    verdicts: dict[str, list[str]] = {reading: [] for reading in READINGS}
    for meeting in meetings(store, sets):
        line = meeting.line
        about = (named(line.dataset).title, METHODS[line.method].title, LOSS_TITLES[line.loss])
        row = rows.setdefault(about, [number(meeting.printed), *[NOTHING] * len(READINGS)])
        words = f"{number(meeting.ours)}, {meeting.verdict}"
        row[1 + READINGS.index(line.scaling)] = words
        verdicts[line.scaling].append(meeting.verdict)
    header = ["Data set", "Method", "Loss", "Paper", *READINGS]
    total = ["**All**", "", "", "", *(_counted(verdicts[reading]) for reading in READINGS)]
    return markdown(header, [*([*about, *row] for about, row in rows.items()), total])


def _counted(verdicts: Sequence[str]) -> str:
    counts = [verdicts.count(side) for side in ("agrees", "lower", "higher")]
    return "{} agree, {} lower, {} higher".format(*counts)


# What the paper says of its method beside the truncated gradient.
CLAIMS: dict[str, Callable[[Summary, Summary], bool]] = {
    "lower test error": lambda its, other: its.error.mean < other.error.mean,
    "smaller deviation of it": lambda its, other: its.error.deviation < other.error.deviation,
    "fewer nonzero weights": lambda its, other: its.percent.mean < other.percent.mean,
    "higher kappa": lambda its, other: its.kappa > other.kappa,  # not where it is undefined
}


def claims_table(store: Store, sets: Sequence[str]) -> str:
    """Return on how many of the paper's sets and losses each of its claims holds."""
    pairs = {reading: list(_pairs(store, sets, reading)) for reading in READINGS}
    rows = []
    for claim, holds in CLAIMS.items():
        counts = [f"{sum(holds(*p) for p in pairs[r])} of {len(pairs[r])}" for r in READINGS]
        rows.append([claim, *counts])
    return markdown(["Claim", *READINGS], rows)


def _pairs(store: Store, sets: Sequence[str], scaling: str) -> Iterator[tuple[Summary, Summary]]:
    """Yield the paper's method beside the truncated gradient, stand-in sets included."""
    for name, loss in itertools.product(filter(paper.size, sets), LOSSES):
        both = [
            summarize(store, Line(name, scaling, each, loss), named(name).columns)
            for each in ("stabilized-paper", "truncated-gradient")
        ]
        if both[0] and both[1]:
            yield both[0], both[1]


def unit_rows_win(store: Store, sets: Sequence[str]) -> str:
    """Return in how many lines rows of unit length err less than columns of unit variance."""
    wins = lines = 0
    for name, maker in itertools.product(sets, METHODS.values()):
        for loss in maker.losses:
            both = (Line(name, scaling, maker.name, loss) for scaling in ("row-l2", READINGS[0]))
            ours, its = (summarize(store, line, named(name).columns) for line in both)
            if ours and its:
                lines += 1
                wins += ours.error.mean < its.error.mean
    return f"{wins} of {lines}"
