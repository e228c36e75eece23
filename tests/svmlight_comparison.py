"""Whether the svmlight reader finds in a text what its slow twin finds."""

import numpy as np

import svmlight_twin as twin
from thresher.data.sources.files import View
from thresher.data.sources.svmlight_blocks import BlockReader
from thresher.data.sources.svmlight_faults import fault_error
from thresher.kernels import svmlight as kernel
from thresher.kernels.svmlight import Rules

HIGHEST = 2**31 - 2
KINDS = {
    kernel.BAD_LABEL: "label",
    kernel.BAD_QID: "qid",
    kernel.BAD_PAIR: "pair",
    kernel.BAD_INDEX: "index",
    kernel.BAD_VALUE: "value",
    kernel.REPEATED: "repeated",
    kernel.HOLE: "hole",
}
# Pairs near the end of a text are read carefully, others in haste; with this behind it, all are.
FILLER = b"\n" + b"# nothing but room behind what is read, so that all of it can be loaded " * 2


def compare(data, labelled=True, lowest=0):
    """Assert that both find the same rows and the same faults."""
    expected = twin.read(data, lowest, HIGHEST, labelled)
    rules = Rules(lowest, HIGHEST, labelled, True)
    found = BlockReader().read(memoryview(bytearray(data)), rules)
    assert rows_of(found) == [row for row in expected if isinstance(row, twin.Row)]
    assert faults_of(found, rules) == [row for row in expected if isinstance(row, twin.Fault)]


def rows_of(found):
    pairs = list(zip(found.indices.tolist(), found.values.tolist(), strict=True))
    labels = [None if np.isnan(label) else label for label in found.labels.tolist()]
    starts = found.starts.tolist()
    return [
        twin.Row(line + 1, label, pairs[start:stop])
        for line, label, start, stop in zip(
            found.lines.tolist(), labels, starts, starts[1:], strict=False
        )
    ]


def faults_of(found, rules):
    view = View(memoryview(b""), "file", 1)
    errors = [fault_error(fault, found.text, view, rules) for fault in found.faults]
    return [
        twin.Fault(error.line, error.column, KINDS[kind])
        for error, kind in zip(errors, found.faults[:, 0].tolist(), strict=True)
    ]
