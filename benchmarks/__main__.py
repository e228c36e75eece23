"""``python -m benchmarks``: time and memory beside other libraries.

python -m benchmarks                       every case, on the RCV1 sample or generated rows
python -m benchmarks fit predict           some cases
python -m benchmarks --save                write benchmarks/results.json
python -m benchmarks --small --check       only whether what is compared agrees
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import timing
from benchmarks.agreement import Disagreement, agreements
from benchmarks.cases import CASES
from benchmarks.rows import main_rows
from benchmarks.timing import Figure, Setting

RESULTS = Path(__file__).parent / "results.json"


def main(words: Sequence[str] | None = None) -> int:
    """Check and measure; return an exit code."""
    command = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add("case", nargs="*", choices=[*CASES, []], help=", ".join(CASES))
    add("--small", action="store_true", help="tiny rows and one round: shows that everything runs")
    add("--check", action="store_true", help="check that results agree; without cases no more")
    add("--rounds", type=int, default=5, help="the best of so many counts (5)")
    add("--save", nargs="?", type=Path, const=RESULTS, help=f"write the figures ({RESULTS.name})")
    options = command.parse_args(words)
    setting = Setting(options.small, 1 if options.small else options.rounds)
    # Threads of linear algebra get into each other's way where cores are busy.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rows that nobody can learn
        if options.check and not _check(setting):
            return 1
        if options.check and not options.case:
            return 0
        figures = _measure(options.case or list(CASES), setting)
    print("", timing.table(figures), sep="\n")
    if options.save:
        timing.save(figures, setting, options.save)
    return 0


def _check(setting: Setting) -> bool:
    """Print what was checked; return whether all of it holds."""
    try:
        for checked in agreements(main_rows(setting)):
            print(checked)
    except Disagreement as error:
        print(f"error: {error}", file=sys.stderr)
        return False
    return True


def _measure(names: Sequence[str], setting: Setting) -> list[Figure]:
    """Print figures as they come in, and return them."""
    figures = []
    for name in names:
        for one in CASES[name](setting):
            print(f"{one.case}: {one.ours} / {one.theirs} {one.ratio:.3g}", flush=True)
            figures.append(one)
    return figures


if __name__ == "__main__":
    raise SystemExit(main())
