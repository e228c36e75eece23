"""A fitted model as an ONNX graph of dense rows, as small as the model.

Everything is computed in double precision, so that labels are those of the model itself, also where
rows come in single precision. Outputs have skl2onnx's names and order: ``label`` and
``probabilities`` (``scores`` of a loss that has none), or ``variable`` for numbers.
"""

from typing import Any

import numpy as np

from thresher.export.contents import Contents
from thresher.fitted import CLIPPED, NO_LINK, SOFTMAX, Fitted

OPSET, IR_VERSION = 17, 8  # of 2022, so that old runtimes read it
FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11  # ONNX's numbers of these types
INPUTS = {"float32": FLOAT, "float64": DOUBLE}
LARGEST = np.iinfo(np.int64).max
TINY = 1e-300  # the length of a row that has none


class Graph:
    """A graph that grows by calls: ``graph("Add", a, b)`` returns the name of the sum."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, operation: str, *inputs: str | np.ndarray, **attributes: Any) -> str:
        """Add an operation; arrays among its inputs become constants."""
        from onnx import helper

        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        name = attributes.pop("name", f"{operation}_{len(self.nodes)}")
        self.nodes.append(helper.make_node(operation, names, [name], **attributes))
        return name

    def _constant(self, array: np.ndarray) -> str:
        from onnx import helper, numpy_helper

        name = f"constant_{len(self.constants)}"
        if array.dtype.kind in "OUT":
            words: Any = [str(word).encode() for word in array]
            self.constants.append(helper.make_tensor(name, STRING, array.shape, words))
        else:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


def to_onnx(contents: Contents, dtype: str = "float32") -> bytes:
    """Return the graph as bytes; ``dtype`` is the type of its rows and of what it computes."""
    try:
        from onnx import checker, helper
    except ImportError:
        raise ImportError("ONNX needs the package onnx: pip install 'thresher[onnx]'.") from None
    if dtype not in INPUTS:
        raise ValueError(f"dtype={dtype!r}: it must be one of {', '.join(INPUTS)}.")
    graph, fitted, kind = Graph(), contents.fitted, INPUTS[dtype]
    margins = _margins(graph, fitted, graph("Cast", "X", to=DOUBLE))
    outputs = _outputs(graph, fitted, margins, kind)
    described = [helper.make_tensor_value_info(*output) for output in outputs]
    rows = helper.make_tensor_value_info("X", kind, [None, fitted.n_columns])
    made = helper.make_graph(graph.nodes, "thresher", [rows], described, graph.constants)
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="thresher",
    )
    checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def _margins(graph: Graph, fitted: Fitted, rows: str) -> str:
    """Return weights times values plus intercepts, a column per output."""
    apart = np.isin(fitted.columns, fitted.preparation.measured)
    if not fitted.preparation.unit or apart.all():
        sums = _sums(graph, fitted, rows, np.ones_like(apart))
    else:
        sums = graph("Div", _sums(graph, fitted, rows, ~apart), _lengths(graph, fitted, rows))
        if apart.any():
            sums = graph("Add", sums, _sums(graph, fitted, rows, apart))
    return graph("Add", sums, fitted.intercepts)


def _sums(graph: Graph, fitted: Fitted, rows: str, which: np.ndarray) -> str:
    """Return weights times values of some of the model's columns."""
    columns, weights = fitted.columns[which].astype(np.int64), fitted.weights[:, which]
    if not columns.size:  # runtimes differ in what they make of empty matrices
        columns, weights = np.zeros(1, np.int64), np.zeros((fitted.n_outputs, 1))
    return graph("MatMul", graph("Gather", rows, columns, axis=1), weights.T)


def _lengths(graph: Graph, fitted: Fitted, rows: str) -> str:
    """Return the lengths of rows, in the columns that make them up."""
    measured = fitted.preparation.measured
    if fitted.preparation.kept_length:
        counted = np.setdiff1d(fitted.columns, measured)
        rows = graph("Gather", rows, counted.astype(np.int64), axis=1)
    elif measured.size:
        apart = np.zeros((1, fitted.n_columns), np.bool_)
        apart[0, measured] = True
        rows = graph("Where", apart, np.zeros(1), rows)
    squares = graph("ReduceSum", graph("Mul", rows, rows), np.array([1]), keepdims=1)
    return graph("Max", graph("Sqrt", squares), np.array([TINY]))


def _outputs(graph: Graph, fitted: Fitted, margins: str, kind: int) -> list[tuple[Any, ...]]:
    """Add the outputs; return the name, type and shape of each."""
    if fitted.labels is None:
        graph("Cast", margins, to=kind, name="variable")
        return [("variable", kind, [None, 1])]
    labels, label_kind = _labels(fitted.labels)
    graph("Gather", labels, _places(graph, fitted, margins), axis=0, name="label")
    if fitted.link == NO_LINK:
        graph("Cast", margins, to=kind, name="scores")
        second = ("scores", kind, [None, fitted.n_outputs])
    else:
        graph("Cast", _probabilities(graph, fitted, margins), to=kind, name="probabilities")
        second = ("probabilities", kind, [None, fitted.labels.size])
    return [("label", label_kind, [None]), second]


def _labels(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the classes in a type that ONNX has, and its number."""
    if labels.dtype.kind == "u" and int(labels.max()) > LARGEST:
        raise ValueError(
            f"The class {labels.max()} is 2^63 or more, and labels of an ONNX graph are smaller "
            "integers, or strings: train with strings (y.astype(str))."
        )
    kinds: dict[str, tuple[Any, int]] = {
        "i": (np.int64, INT64),
        "u": (np.int64, INT64),
        "b": (np.bool_, BOOL),
        "f": (np.float64, DOUBLE),
    }
    kind, number = kinds.get(labels.dtype.kind, (object, STRING))
    return labels.astype(kind), number


def _places(graph: Graph, fitted: Fitted, margins: str) -> str:
    """Return the place of the predicted class."""
    if fitted.n_outputs > 1:
        return graph("ArgMax", margins, axis=1, keepdims=0)
    positive = graph("Cast", graph("Greater", margins, np.zeros(1)), to=INT64)
    return graph("Squeeze", positive, np.array([1]))


def _probabilities(graph: Graph, fitted: Fitted, margins: str) -> str:
    """Return the probabilities of all classes."""
    if fitted.link == SOFTMAX:
        top = graph("ReduceMax", margins, axes=[1], keepdims=1)
        return _shares(graph, graph("Exp", graph("Sub", margins, top)), fitted.n_outputs)
    if fitted.link == CLIPPED:
        inside = graph("Min", graph("Max", margins, np.array([-1.0])), np.ones(1))
        positive = graph("Div", graph("Add", inside, np.ones(1)), np.array([2.0]))
    else:  # runtimes' own sigmoids are 0 from -37 on
        small = graph("Exp", graph("Neg", margins))
        positive = graph("Div", np.ones(1), graph("Add", small, np.ones(1)))
    if fitted.n_outputs > 1:
        return _shares(graph, positive, fitted.n_outputs)
    return graph("Concat", graph("Sub", np.ones(1), positive), positive, axis=1)


def _shares(graph: Graph, positive: str, n_classes: int) -> str:
    """Return numbers divided by their sum; the same for each class where all are 0."""
    totals = graph("ReduceSum", positive, np.array([1]), keepdims=1)
    none = graph("Cast", graph("Equal", totals, np.zeros(1)), to=DOUBLE)
    even = graph("Mul", none, np.array([1.0 / n_classes]))
    return graph("Add", graph("Div", positive, graph("Add", totals, none)), even)
