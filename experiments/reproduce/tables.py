"""Tables 1 to 4 and what agrees with the paper, as Markdown from records."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from experiments.data import named
from experiments.markdown import NOTHING, number, table
from experiments.records import Key, Record
from experiments.reproduce import matched, paper, readings
from experiments.reproduce.lines import SCALINGS, methods_on
from experiments.reproduce.methods import LOSS_TITLES, LOSSES, METHODS

NOT_YET = "not measured yet"
READINGS = ("unit-variance", "nonzero-rms")  # of the paper's scaling
METHOD = "stabilized-paper"  # the paper's
REACH = 2.0  # of the printed standard deviations

Lines = Mapping[Key, Record]  # by set, scaling, method and loss


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean and its deviation, if it has one."""
    if deviation is None or math.isnan(deviation):
        return number(mean)
    return f"{number(mean)} ± {number(deviation)}"


def moments(values: Sequence[float]) -> str:
    """Return the mean and the standard deviation of some values."""
    return spread(float(np.mean(values)), float(np.std(values, ddof=1)))


def table_1(facts: Mapping[Key, Record], sets: Sequence[str]) -> str:
    """Return the data sets, and below each the paper's row."""
    header = ["Data set", "Domain", "Columns", "Density %", "Training rows", "Test rows", "Note"]
    rows = []
    for name in sets:
        if (name,) in facts:
            one, known = facts[name,], named(name)
            sizes = _sizes(one["columns"], one["density"], one["train"], one["test"])
            rows.append([known.title, known.domain, *sizes, known.note])
        if printed := paper.size(name):
            title = paper.STANDS_FOR.get(name, name)
            title = paper.TITLES.get(title, title.capitalize())
            rows.append([f"*paper: {title}*", "", *_sizes(*printed), ""])
    return table(header, rows)


def _sizes(columns: int, density: float, train: int, test: int) -> list[str]:
    return [f"{columns:,}", number(density), f"{train:,}", f"{test:,}"]


def _kappa(line: Record) -> str:
    if line["kappa"] is None:
        return NOTHING
    stability, low, high = line["stability"]
    return f"{number(line['kappa'])} ({number(stability)}, {number(low)} to {number(high)})"


MEASURES: dict[str, Callable[[Record], str]] = {
    "error": lambda line: moments(line["errors"]),
    "percent": lambda line: moments(line["percents"]),
    "kappa": _kappa,
}


def comparison(lines: Lines, sets: Sequence[str], measure: str) -> str:
    """Return one measure, by scaling and loss; the paper's numbers in square brackets."""
    parts = []
    for scaling, loss in product(SCALINGS, LOSSES):
        shown = [name for name in sets if methods_on(name, scaling)]
        methods = [METHODS[name] for name in methods_on(shown[0], scaling)] if shown else []
        rows = [
            [one.title, *(_cell(lines, (name, scaling, one.name, loss), measure) for name in shown)]
            for one in methods
            if loss in one.losses
        ]
        parts.append(f"**{LOSS_TITLES[loss]}, {scaling}**")
        parts.append(table(["Method", *(named(name).title for name in shown)], rows))
    return "\n\n".join(parts)


def _cell(lines: Lines, line: tuple[str, str, str, str], measure: str) -> str:
    ours = MEASURES[measure](lines[line]) if line in lines else NOT_YET
    name, scaling, method, loss = line
    if scaling == "row-l2":
        return ours
    printed = paper.printed(measure, name, method, loss)
    return f"{ours} [{spread(*printed)}]" if printed else ours


def oracle_table(lines: Lines) -> str:
    """Return the final model, the best iterate of the same permutations, and the paper."""
    sides = ("final", "best iterate (oracle)", "paper")
    header = ["Data set", "Scaling", "Loss"]
    header += [f"{what} %: {side}" for what in ("error", "nonzero") for side in sides]
    rows = []
    for (name, scaling, method, loss), line in lines.items():
        if "oracle" in line and scaling in READINGS and paper.size(name):
            row = [named(name).title, scaling, LOSS_TITLES[loss]]
            for measure, key in (("error", "errors"), ("percent", "percents")):
                best = line["oracle"][key]
                printed = paper.printed(measure, name, method, loss)
                row += [moments(line[key][: len(best)]), moments(best)]
                row.append(spread(*printed) if printed else NOTHING)
            rows.append(row)
    return table(header, rows)


def matched_table(found: Mapping[Key, Record], name: str, measure: str) -> str:
    """Return error or kappa of every method at the same numbers of features."""
    rows = []
    for method in METHODS.values():
        one = found.get((name, method.name))
        if one:
            values = [_matched(point, measure) for point in one["points"]]
            rows.append([method.title, *values, *[""] * (len(matched.SIZES) - len(values))])
        elif method.knob:
            rows.append([method.title, NOT_YET, *[""] * (len(matched.SIZES) - 1)])
    return table(["Method", *(f"{size:,}" for size in matched.SIZES)], rows)


def _matched(point: Record | None, measure: str) -> str:
    if point is None:
        return NOTHING
    return number(float(np.mean(point["errors"])) if measure == "error" else point["kappa"])


def settings_table(lines: Lines, scaling: str) -> str:
    """Return what cross-validation chose."""
    rows = []
    for (name, its_scaling, method, loss), line in lines.items():
        if its_scaling == scaling:
            words = ", ".join(f"{key} {value}" for key, value in line["params"].items())
            title = LOSS_TITLES[loss].lower()
            rows.append([named(name).title, METHODS[method].title, title, words or "defaults"])
    return table(["Data set", "Method", "Loss", "Chosen"], rows)


# ---------------------------------------------------------------------------------- agreement


def verdict(ours: float, printed: paper.Printed) -> str:
    """Return whether our mean lies within two printed deviations, or on which side."""
    if abs(ours - printed.mean) <= REACH * printed.deviation:
        return "agrees"
    return "lower" if ours < printed.mean else "higher"


def within_both(errors: Sequence[float], printed: paper.Printed) -> bool:
    """Return whether means are no farther apart than the sum of the printed and our deviation."""
    reach = printed.deviation + float(np.std(errors, ddof=1))
    return abs(float(np.mean(errors)) - printed.mean) <= reach


def agreement_table(lines: Lines, sets: Sequence[str]) -> str:
    """Return every printed error of the sets that are exactly the paper's, beside ours."""
    exact = [name for name in sets if paper.size(name) and name not in paper.STANDS_FOR]
    rows: list[list[str]] = []
    verdicts: dict[str, list[str]] = {reading: [] for reading in READINGS}
    near = dict.fromkeys(READINGS, 0)
    for name, method, loss in product(exact, METHODS.values(), LOSSES):
        printed = paper.printed("error", name, method.name, loss)
        if printed is None:
            continue
        cells = [named(name).title, method.title, LOSS_TITLES[loss], number(printed.mean)]
        for reading in READINGS:
            line = lines.get((name, reading, method.name, loss))
            if line:
                ours = float(np.mean(line["errors"]))
                verdicts[reading].append(verdict(ours, printed))
                near[reading] += within_both(line["errors"], printed)
            cells.append(f"{number(ours)}, {verdicts[reading][-1]}" if line else NOT_YET)
        rows.append(cells)
    counted = [_counted(verdicts[reading]) for reading in READINGS]
    rows.append(["**All**", "", "", "", *counted])
    looser = [f"{near[reading]} within both deviations" for reading in READINGS]
    rows.append(["", "", "", "", *looser])
    return table(["Data set", "Method", "Loss", "Paper", *READINGS], rows)


def _counted(verdicts: Sequence[str]) -> str:
    counts = [verdicts.count(side) for side in ("agrees", "lower", "higher")]
    return "{} agree, {} lower, {} higher".format(*counts)


# What the paper claims of its method beside the truncated gradient: what is compared, and its sign.
CLAIMS: dict[str, tuple[Callable[[Record], Sequence[float]], int]] = {
    "lower test error": (lambda line: line["errors"], -1),
    "smaller deviation of it": (lambda line: [float(np.std(line["errors"]))], -1),
    "fewer nonzero weights": (lambda line: line["percents"], -1),
    "higher kappa": (lambda line: [line["kappa"] or 0.0], 1),
}


def outcome(ours: Sequence[float], theirs: Sequence[float], sign: int) -> str:
    """Return who is ahead by more than a standard error of the difference of means, if it has one.

    The rule is the same in both directions.
    """
    difference = sign * float(np.mean(ours) - np.mean(theirs))
    error = sum(float(np.var(one, ddof=1)) / len(one) for one in (ours, theirs) if len(one) > 1)
    if abs(difference) <= math.sqrt(error):
        return "tied"
    return "won" if difference > 0 else "lost"


def claims_table(lines: Lines, sets: Sequence[str]) -> str:
    """Return on how many of the paper's sets and losses each of its claims holds."""
    pairs = {reading: list(_pairs(lines, sets, reading)) for reading in READINGS}
    rows = []
    for claim, (values, sign) in CLAIMS.items():
        row = [claim]
        for mine in pairs.values():
            found = [outcome(values(its), values(other), sign) for its, other in mine]
            row.append(", ".join(f"{found.count(one)} {one}" for one in ("won", "lost", "tied")))
        rows.append(row)
    return table(["Claim", *READINGS], rows)


def readings_table(found: Mapping[Key, Record]) -> str:
    """Return what other readings of the text give, and which printed errors they agree with."""
    rows = []
    for name, loss in product(readings.EXACT, LOSSES):
        cells = [paper.printed(what, name, METHOD, loss) for what in ("error", "percent")]
        shown = [f"{spread(*one)} %" if one else NOTHING for one in cells]
        rows.append([f"**{named(name).title}, {LOSS_TITLES[loss].lower()}**", *shown, "", ""])
        for key, reading in readings.READINGS.items():
            if (name, loss, key) in found:
                rows.append([reading.title, *_tried(found[name, loss, key], cells[0])])
    header = ["Reading", "sparsest: error", "nonzero", "most accurate: error", "nonzero"]
    return table(header, rows)


def _tried(record: Record, printed: paper.Printed | None) -> list[str]:
    """Return errors and shares of nonzero weights by both choices of settings."""
    cells = []
    for choice in readings.CHOICES:
        errors, percents = record[choice]["errors"], record[choice]["percents"]
        mark = ""
        if printed and verdict(float(np.mean(errors)), printed) == "agrees":
            mark = " **agrees**"
        elif printed and within_both(errors, printed):
            mark = " *near*"
        cells += [moments(errors) + mark, moments(percents)]
    return cells


def _pairs(lines: Lines, sets: Sequence[str], scaling: str) -> Iterator[tuple[Any, Any]]:
    """Yield the paper's method beside the truncated gradient, on stand-ins as well."""
    for name, loss in product(filter(paper.size, sets), LOSSES):
        keys = [(name, scaling, m, loss) for m in (METHOD, "truncated-gradient")]
        if all(key in lines for key in keys):
            yield lines[keys[0]], lines[keys[1]]
