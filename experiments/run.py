"""The runner: waves of tasks on all cores, stopped at any time, taken up where it stopped."""

import functools
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context
from pathlib import Path

from experiments import plan
from experiments.errors import StudyError
from experiments.lock import alone
from experiments.plan import Task, Want
from experiments.progress import Progress
from experiments.scope import Scope
from experiments.store import Store
from experiments.work import perform

WAVES = (
    ("choosing settings", plan.first_wave),
    ("permutations and paths", plan.second_wave),
    ("traces for figures", plan.third_wave),
)

Perform = Callable[[Task], None]
Outcome = tuple[Task, Exception | None]


def run(want: Want, scope: Scope, folder: Path, jobs: int, progress: Progress) -> list[str]:
    """Make every cell that is wanted and missing; return what failed, in words."""
    store = Store(folder)
    failures = []
    with alone(folder):
        sweep(folder)
        for title, wave in WAVES:
            left = wave(want, scope, store)
            worker = functools.partial(perform, scope=scope, store=store)
            failures += run_wave(title, left, worker, jobs, progress)
    return failures


def run_wave(
    title: str, left: list[Task], worker: Perform, jobs: int, progress: Progress
) -> list[str]:
    """Do a wave's tasks and show it; return what failed, in words."""
    failures = []
    with progress.wave(title, sum(task.weight for task in left)):
        for task, problem in _perform_all(left, worker, jobs):
            progress.advance(task.weight)
            if problem is not None:
                failures.append(_in_words(task, problem))
    return failures


def _perform_all(left: list[Task], worker: Perform, jobs: int) -> Iterator[Outcome]:
    """Yield each task as it is done, with what went wrong; stop only for what the user must mend.

    One job runs in this process: simple to debug and to test.
    """
    if jobs == 1:
        for task in left:
            yield _attempt(task, worker)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the workers inherit it: one thread each
    # Fresh processes, not forks: a fork would copy the state of threads and compilers.
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker) as pool:
        waiting = [pool.submit(_attempt, task, worker) for task in left]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Nothing is lost with a worker: its cells are whole or absent.
            for process in active_children():
                process.terminate()
            raise


def _attempt(task: Task, worker: Perform) -> Outcome:
    try:
        worker(task)
    except StudyError:
        raise
    except Exception as problem:
        # One broken cell must not cost the others; it is reported at the end.
        return task, problem
    return task, None


def _start_worker() -> None:
    """Let Ctrl-C end a worker without a word: cells are whole or absent anyway."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def sweep(folder: Path) -> None:
    """Remove drafts that a killed run left behind."""
    for draft in folder.rglob("*.draft"):
        draft.unlink()


def _in_words(task: Task, problem: Exception) -> str:
    about = "/".join(part for part in task.line if part)
    return f"{task.kind} {about}: {type(problem).__name__}: {problem}"
