"""The demonstration as a command."""

import argparse
from collections.abc import Sequence

from thresher.demo import text
from thresher.demo.data import QUICK, Recipe
from thresher.demo.run import make_demo, named_selection

_ABOUT = "Train all seven classifiers on data whose informative features are known."
N_SHOWN = 15  # rows of the selection table


def main(words: Sequence[str] | None = None) -> None:
    """Make data, train every classifier, and print how they did as soon as it is known.

    ``words`` are the command's options; None takes those the process was started with.
    """
    arguments = _parser().parse_args(words)
    recipe = Recipe(seed=arguments.seed, **(QUICK if arguments.quick else {}))
    demo = make_demo(recipe)
    print(text.introduction(recipe, demo.documents), end="\n\n")
    print(text.heading(recipe), flush=True)
    results = []
    for result in demo.results():
        print(text.line(result, recipe), flush=True)
        results.append(result)
    print(f"\n{text.legend(recipe)}\n")
    flagship = results[0]
    print(f"The first rows of {flagship.name}'s selection table, strongest weights first:\n")
    print(text.selection(named_selection(flagship, demo.documents), N_SHOWN))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m thresher.demo", description=_ABOUT)
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the learners")
    parser.add_argument("--quick", action="store_true", help="a third of the rows and columns")
    return parser
