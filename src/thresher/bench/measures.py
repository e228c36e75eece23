"""Everything that can be measured, by name."""

from collections.abc import Callable, Iterator, Sequence

from thresher.bench.judging import predict, reader
from thresher.bench.memory import features, peak, stream
from thresher.bench.record import Measured
from thresher.bench.scaling import rows, threads, width
from thresher.bench.setting import Setting
from thresher.bench.start import start
from thresher.bench.training import (
    against_c,
    against_liblinear,
    against_river,
    against_vowpal,
    classics,
    independent,
    shared,
)

MEASURES: dict[str, Callable[[Setting], Iterator[Measured]]] = {
    "shared": shared,
    "liblinear": against_liblinear,
    "independent": independent,
    "c": against_c,
    "classics": classics,
    "vw": against_vowpal,
    "river": against_river,
    "threads": threads,
    "width": width,
    "rows": rows,
    "reader": reader,
    "predict": predict,
    "features": features,
    "peak": peak,
    "stream": stream,
    "start": start,
}


def measure(setting: Setting, names: Sequence[str]) -> Iterator[Measured]:
    """Give figures as they come in."""
    for name in names:
        yield from MEASURES[name](setting)
