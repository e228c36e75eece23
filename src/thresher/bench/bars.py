"""What every figure has to reach, and what it should."""

from dataclasses import dataclass

from thresher.bench.record import Measured


@dataclass(frozen=True)
class Bar:
    """A figure is good below the bar, or above it where ``higher`` is better."""

    must: float
    aim: float
    unit: str = ""
    higher: bool = False

    def met(self, value: float) -> bool:
        """Return whether a figure reaches it."""
        return value >= self.must if self.higher else value <= self.must


BARS = {
    "shared": Bar(1.2, 0.6),
    "liblinear": Bar(1.0, 0.6),
    "independent": Bar(5.0, 3.5),
    "c": Bar(1.25, 1.0),
    "classics": Bar(1.0, 0.4),
    "vw": Bar(0.3, 0.1),
    "river": Bar(0.01, 0.003),
    "threads": Bar(1.7, 1.9, higher=True),
    "width": Bar(2.0, 1.2),
    "rows": Bar(17.0, 16.0),
    "reader": Bar(10.0, 30.0, higher=True),
    "predict": Bar(1.2, 0.5),
    "features": Bar(96.0, 80.0, "bytes"),
    "peak": Bar(1.5, 0.3),
    "stream": Bar(1.2, 1.05),
    "start": Bar(1.0, 0.5, "seconds"),
}
SPECIAL = {
    ("shared", "rcv1-sample"): Bar(0.6, 0.3),
    ("independent", "two threads"): Bar(3.0, 1.9),
    ("threads", "one line"): Bar(0.95, 1.0, higher=True),  # a second thread has nothing to do
    ("start", "import thresher"): Bar(0.15, 0.05, "seconds"),
}


def bar_of(one: Measured) -> Bar:
    """Return the bar of a figure: some data sets and some subjects have their own."""
    for (measure, words), bar in SPECIAL.items():
        if measure == one.measure and (words == one.data or words in one.what):
            return bar
    return BARS[one.measure]
