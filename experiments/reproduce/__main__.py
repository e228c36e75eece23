"""``python -m experiments.reproduce``: measure what is missing, write the page and its figures."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from string import Template

from experiments import data, records
from experiments.records import Key, Record
from experiments.reproduce import figures, lines, matched, readings, tables, theory, traces
from experiments.reproduce.methods import METHODS

FOLDER = Path("results/reproduction")
TEMPLATE = Path(__file__).parent / "page.template.md"
SETS: list[Record] = [{"set": name} for name in lines.SETS]


def _facts(task: Record) -> Record:
    return data.facts_of(task["set"])


def measure(folder: Path, only: Sequence[str], jobs: int, again: bool) -> list[str]:
    """Measure what is missing, the lines first: all else uses their settings."""
    some_lines = records.some(lines.TASKS, only)
    keys = {(task["set"], task["method"]) for task in some_lines if _is_matched(task)}
    some_matched = [task for task in matched.TASKS if tuple(task.values()) in keys]
    failures = records.measure(SETS, _facts, folder / "sets.jsonl")
    failures += records.measure(some_lines, lines.measure, folder / "lines.jsonl", jobs, again)
    chosen = records.read(folder / "lines.jsonl", tuple(lines.TASKS[0]))
    work = partial(matched.measure, lines=chosen)
    failures += records.measure(some_matched, work, folder / "matched.jsonl", jobs, again)
    if not only:
        work = partial(traces.measure, lines=chosen)
        failures += records.measure(traces.TASKS, work, folder / "figures.jsonl", jobs, again)
        for part in (readings, theory):
            path = folder / f"{part.__name__.rpartition('.')[2]}.jsonl"
            failures += records.measure(part.TASKS, part.measure, path, jobs, again)
    return failures


def _is_matched(task: Record) -> bool:
    return (task["scaling"], task["loss"]) == (matched.SCALING, matched.LOSS)


def write_page(folder: Path) -> Path:
    """Write the page and its figures from records; return the page."""
    found = {
        name: records.read(folder / f"{name}.jsonl", tuple(tasks[0]))
        for name, tasks in {
            "sets": SETS, "lines": lines.TASKS, "matched": matched.TASKS, "figures": traces.TASKS,
            "readings": readings.TASKS, "theory": theory.TASKS,
        }.items()
    }  # fmt: skip
    measured = {key: found["lines"][key] for key in _keys(lines.TASKS) if key in found["lines"]}
    curves = found["figures"], found["matched"], found["theory"]
    drawn = figures.draw_all(*curves, lines.SETS, folder / "figures")
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        table_1=tables.table_1(found["sets"], lines.SETS),
        table_2=tables.comparison(measured, lines.SETS, "error"),
        table_3=tables.comparison(measured, lines.SETS, "percent"),
        table_4=tables.comparison(measured, lines.SETS, "kappa"),
        oracle=tables.oracle_table(measured),
        agreement=tables.agreement_table(measured, lines.SETS),
        readings=tables.readings_table(found["readings"]),
        claims=tables.claims_table(measured, lines.SETS),
        matched=_matched(found["matched"]),
        figures="\n\n".join(f"![{words}](figures/{path.name})" for words, path in drawn),
        settings="\n\n".join(
            f"**{one}**\n\n{tables.settings_table(measured, one)}" for one in lines.SCALINGS
        ),
    )
    page = folder / "README.md"
    page.write_text(text, encoding="utf-8")
    return page


def _keys(tasks: Sequence[Record]) -> list[Key]:
    return [tuple(task.values()) for task in tasks]


def _matched(found: Mapping[Key, Record]) -> str:
    parts = []
    for name in lines.SETS:
        for measure, title in {"error": "test error, %", "kappa": "Cohen's kappa"}.items():
            parts.append(f"**{data.named(name).title}: {title}**")
            parts.append(tables.matched_table(found, name, measure))
    return "\n\n".join(parts)


def main(words: Sequence[str] | None = None) -> int:
    """Run the study; return an exit code."""
    command = argparse.ArgumentParser(prog="python -m experiments.reproduce", description=__doc__)
    add = command.add_argument
    add(
        "--only",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="some lines only, by set, scaling, method or loss; may be repeated. Methods are "
        + ", ".join(METHODS),
    )
    add("--again", action="store_true", help="measure what has been measured")
    add("--only-page", action="store_true", help="measure nothing")
    add("--jobs", type=int, default=1, help="processes (1)")
    add("--folder", type=Path, default=FOLDER, help=f"of records, page and figures ({FOLDER})")
    options = command.parse_args(words)

    def study() -> list[str]:
        failures = []
        if not options.only_page:
            failures = measure(options.folder, options.only, options.jobs, options.again)
        print(write_page(options.folder))
        return failures

    return records.ended(study)


if __name__ == "__main__":
    raise SystemExit(main())
