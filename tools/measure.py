"""Print how large and how tangled the library is, beside the limits it has set itself.

Run ``make measure``. Nothing fails: a limit is a picture to work towards. Functions are counted
when everything has been imported and compiled; a kernel that Python calls counts as one.
"""

import ast
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "thresher"
OPTIMIZED = 1  # the flag of a function's code, which modules and classes do not have
VALUES = ("model", "estimator", "source", "learner", "reader")  # should have a type
OWN = "self", "cls", "draft", "os"  # whose private names may be used
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_field_defaults"}  # of named tuples
RECORDED = {"api", "results", "claim", "reproduction", "selection"}  # docs that are not read


class Figure(NamedTuple):
    """A number, and its limit if it has one."""

    name: str
    value: float | str
    limit: float | None = None

    def __str__(self) -> str:
        """Return it on a line, marked where it is above its limit."""
        value = self.value if isinstance(self.value, str) else f"{self.value:,.6g}"
        limit = "" if self.limit is None else f"(limit {self.limit:,})"
        above = isinstance(self.value, int | float) and self.value > (self.limit or float("inf"))
        return f"{self.name:<58} {value:>9}  {limit}{' ABOVE' if above else ''}".rstrip()


# ------------------------------------------------------------------------------ what runs


def import_one(_: Path) -> Callable[[], object]:
    """Return nothing to run: loading the classifier is all."""
    from thresher import FTRLClassifier

    return FTRLClassifier


def fit(name: str) -> Callable[[Path], Callable[[], object]]:
    """Return what prepares a default ``fit`` of an estimator."""

    def prepare(_: Path) -> Callable[[], object]:
        import thresher

        X, y = _rows()
        return lambda: getattr(thresher, name)(random_state=0).fit(X, y)

    return prepare


def predict(folder: Path) -> Callable[[], object]:
    """Return a run of ``thresher predict`` on a small file, by a default model."""
    import thresher
    from thresher.cli import main

    X, y = _rows()
    model, rows, output = (str(folder / name) for name in ("m.thresher", "rows.svm", "out.txt"))
    thresher.FTRLClassifier(random_state=0).fit(X, y).save(model)
    lines = (" ".join(f"{column}:1" for column in range(1, row % 9 + 2)) for row in range(50))
    Path(rows).write_text("".join(f"{line}\n" for line in lines))

    def run() -> None:
        sys.argv = ["thresher", "predict", model, rows, "--output", output, "--force", "--quiet"]
        with contextlib.suppress(SystemExit):
            main()
        if not Path(output).read_text():
            raise RuntimeError("thresher predict wrote nothing")

    return run


def _rows() -> tuple[Any, Any]:
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((200, 50)) < 0.2) * rng.normal(size=(200, 50)))
    return X, (X @ rng.normal(size=50) > 0).astype(int)


RUNS = {
    "import": import_one,
    "thresher predict": predict,
    "FTRLClassifier.fit": fit("FTRLClassifier"),
    "ThresherClassifier.fit": fit("ThresherClassifier"),
}
LIMITS = {"thresher predict": (90, 30), "FTRLClassifier.fit": (90, 20)}
LIMITS["ThresherClassifier.fit"] = 160, 35


def run_here(name: str) -> None:
    """Print, as JSON, how many of our functions and files a run needs, and what it has loaded."""
    seen: set[tuple[str, str, int]] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_ours(frame.f_code):
            code = frame.f_code  # a generator is called once, and resumed on other lines
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    with tempfile.TemporaryDirectory() as folder:
        run = RUNS[name](Path(folder))
        files = [getattr(one, "__file__", None) or "" for one in list(sys.modules.values())]
        loaded = sum(file.startswith(str(PACKAGE)) for file in files)
        if name != "import":
            run()
            count_kernels(seen)
            threading.setprofile(watch)
            sys.setprofile(watch)
            run()
            sys.setprofile(None)
    print(json.dumps([len(seen), len({file for file, *_ in seen}), loaded]))


def _is_ours(code: CodeType) -> bool:
    """Return whether a code is a function of the library, and not a comprehension of one."""
    ours = code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<")
    return ours and bool(code.co_flags & OPTIMIZED)


def count_kernels(seen: set[tuple[str, str, int]]) -> None:
    """Let kernels that Python calls be counted: the profiler does not see them."""
    from numba.core.dispatcher import Dispatcher

    class Counted:
        def __init__(self, kernel: Any) -> None:
            self.kernel = kernel

        def __call__(self, *values: Any) -> Any:
            code = self.kernel.py_func.__code__
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))
            return self.kernel(*values)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.kernel, name)

    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("thresher."):
            for name, value in list(vars(module).items()):
                if isinstance(value, Dispatcher):
                    setattr(module, name, Counted(value))


def run_figures(name: str) -> list[Figure]:
    """Return the figures of a run, which has a process of its own."""
    command = [sys.executable, __file__, "--run", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return [Figure(name, f"failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")]
    functions, files, loaded = json.loads(done.stdout.splitlines()[-1])
    if name == "import":
        return [Figure("our files loaded by importing FTRLClassifier", loaded, 40)]
    most_functions, most_files = LIMITS[name]
    return [
        Figure(f"our functions run by {name}", functions, most_functions),
        Figure(f"files they are in, for {name}", files, most_files),
    ]


# ---------------------------------------------------------------------------- what is written


def size_figures() -> list[Figure]:
    """Return how much source there is, and how long functions are."""
    files = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    lines = {path: text.count("\n") for path, text in files.items()}
    added = {PACKAGE / "report", PACKAGE / "dask"}  # rooms that the limits leave out
    without = [n for path, n in lines.items() if added.isdisjoint(path.parents)]
    lengths = sorted(
        (_length(function, text.splitlines()), f"{path.stem}.{function.name}")
        for path, text in files.items()
        for function in _functions(ast.parse(text))
    )
    numbers, longest = [length for length, _ in lengths], max(lines, key=lambda path: lines[path])
    return [
        Figure("lines of src/thresher", sum(lines.values())),
        Figure("files of src/thresher", len(lines)),
        Figure("lines without the report and Dask", sum(without), 15_000),
        Figure("files without the report and Dask", len(without), 110),
        Figure(f"lines of the longest file ({longest.name})", lines[longest], 400),
        Figure("functions", len(numbers)),
        Figure("lines of code of a function, median", median(numbers), 8),
        Figure("lines of code of a function, mean", round(mean(numbers), 1)),
        Figure(f"lines of code of the longest function ({lengths[-1][1]})", numbers[-1], 60),
    ]


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """Return how many lines a function has, without docstring, comments and blank lines."""
    counted = set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
    if ast.get_docstring(function) is not None:
        first = function.body[0]
        counted -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(bool(re.match(r"\s*[^\s#]", lines[number - 1])) for number in counted)


def habit_figures() -> list[Figure]:
    """Return how often something is done that should not be."""
    untyped, foreign = [], []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        untyped += [f"{path.stem}.{one}" for one in _untyped(tree)]
        foreign += [f"{path.stem}: {one}" for one in _foreign(tree)]
    return [
        Figure("parameters that are a model or source, typed Any", len(untyped), 0),
        *(Figure(f"    {one}", "") for one in untyped),
        Figure("accesses to a foreign ._x", len(foreign), 0),
        *(Figure(f"    {one}", "") for one in foreign),
    ]


def _untyped(tree: ast.AST) -> Iterator[str]:
    """Yield functions with a parameter of a telling name whose type is Any."""
    for function in _functions(tree):
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            of_any = isinstance(argument.annotation, ast.Name) and argument.annotation.id == "Any"
            if of_any and argument.arg in VALUES:
                yield f"{function.name}({argument.arg})"


def _foreign(tree: ast.AST) -> Iterator[str]:
    """Yield private attributes that are not defined in the same file, and are not of self."""
    nodes = list(ast.walk(tree))
    own = PUBLIC | {node.name for node in _functions(tree)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name)}  # of classes, too
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    own |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    for node in attributes:
        private = node.attr.startswith("_") and not node.attr.startswith("__")
        of_self = isinstance(node.value, ast.Name) and node.value.id in OWN
        of_super = isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"
        if private and node.attr not in own and not (of_self or of_super):
            yield f"{ast.unparse(node)} (line {node.lineno})"


def text_figures() -> list[Figure]:
    """Return how much there is to test by, and to read."""
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(path.read_text("utf-8").count("\n") for path in tests)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    read = [page for page in pages if not RECORDED & {*page.parts, page.stem}]
    words = sum(len(page.read_text("utf-8").split()) for page in read)
    return [
        Figure("lines of tests", lines, 10_000),
        Figure("cases of tests", _cases(), 2_000),
        Figure("words of the README and the docs", words, 20_000),
    ]


def _cases() -> int | str:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = re.search(r"(\d+) tests? collected", done.stdout)
    return int(found[1]) if found else "failed"


def main() -> None:
    """Print all figures, or run one thing whose functions are counted."""
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2])
        return
    for figures in (size_figures(), habit_figures(), text_figures(), *map(run_figures, RUNS)):
        print("\n".join(map(str, figures)), flush=True)


if __name__ == "__main__":
    main()
