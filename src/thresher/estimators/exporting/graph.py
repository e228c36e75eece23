"""The estimators in the words of ONNX: converters that skl2onnx uses, alone or in pipelines.

The graph reads the few columns that have weights and does with them what the estimator does. So
it is as small as the model, and right also where a general converter is not: rows without any
feature keep their length 0, and several classes are compared by their scores.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

LARGEST = np.iinfo(np.int64).max
DOUBLE, INT64 = 11, 7  # ONNX's numbers of these types
PROBABLE = ("log_loss", "modified_huber")


def register(kinds: Sequence[type]) -> None:
    """Tell skl2onnx how classes of ours are converted."""
    from skl2onnx import update_registered_converter

    for kind in kinds:
        name = f"Thresher{kind.__name__}"
        parts = REGRESSION if issubclass(kind, RegressorMixin) else CLASSIFICATION
        shapes, convert, parse = parts
        update_registered_converter(kind, name, shapes, convert, overwrite=True, parser=parse)


def _declared(scope: Any, model: Any, inputs: Any, outputs: dict[str, Any]) -> Any:
    """Declare an operator with these outputs."""
    from skl2onnx import get_model_alias

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    for name, kind in outputs.items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _parse_numbers(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare what comes out of a regression, under the name that skl2onnx gives it."""
    from skl2onnx.common.data_types import DoubleTensorType

    return _declared(scope, model, inputs, {"variable": DoubleTensorType()})


def _shape_numbers(operator: Any) -> None:
    operator.outputs[0].type.shape = [operator.inputs[0].get_first_dimension(), 1]


def _convert_numbers(scope: Any, operator: Any, container: Any) -> None:
    """Put the graph of a regression together."""
    ops, names = _Operations(container.target_opset), [operator.outputs[0].full_name]
    scores = _scores(ops, operator.raw_operator, operator.inputs[0])
    ops.Identity(scores, output_names=names).add_to(scope, container)


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare what comes out: labels, scores, and probabilities of losses that have them."""
    from skl2onnx.common.data_types import DoubleTensorType

    _refuse_large(model.classes_)
    names = ["scores", "probabilities"] if model.loss in PROBABLE else ["scores"]
    outputs = {"label": _label_type(model.classes_), **{name: DoubleTensorType() for name in names}}
    return _declared(scope, model, inputs, outputs)


def _refuse_large(classes: np.ndarray) -> None:
    """Raise a ValueError if a class is a number that a graph's labels cannot be."""
    if classes.dtype.kind == "u" and int(classes[-1]) > LARGEST:
        raise ValueError(
            f"The class {classes[-1]} is 2^63 or more, and the labels of an ONNX graph are smaller "
            "numbers, or words: train with such labels as words (y.astype(str))."
        )


def _label_type(classes: np.ndarray) -> Any:
    from skl2onnx.common import data_types

    kinds = {
        "i": data_types.Int64TensorType,
        "u": data_types.Int64TensorType,
        "b": data_types.BooleanTensorType,
        "f": data_types.DoubleTensorType,
    }
    return kinds.get(classes.dtype.kind, data_types.StringTensorType)()


def _labels(classes: np.ndarray) -> np.ndarray:
    """Return the classes in the type of the output."""
    kinds: dict[str, type] = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    return classes.astype(kinds.get(classes.dtype.kind, object))


def _shapes(operator: Any) -> None:
    """Say how many columns the outputs have."""
    model = operator.raw_operator
    label, scores, *probabilities = operator.outputs
    n_rows = operator.inputs[0].get_first_dimension()
    label.type.shape = [n_rows]
    scores.type.shape = [n_rows, model._settled()[0].shape[0]]
    for one in probabilities:
        one.type.shape = [n_rows, model.classes_.size]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the graph together: scores, the labels they speak for, and probabilities."""
    ops = _Operations(container.target_opset)
    model, names = operator.raw_operator, [one.full_name for one in operator.outputs]
    scores = ops.Identity(_scores(ops, model, operator.inputs[0]), output_names=names[1:2])
    scores.add_to(scope, container)
    label = _label(ops, model, scores, names[:1])
    label.add_to(scope, container)
    if len(names) > 2:
        probabilities = ops.Identity(_probabilities(ops, model, scores), output_names=names[2:])
        probabilities.add_to(scope, container)


class _Operations:
    """ONNX's operations by name, all of one version."""

    def __init__(self, version: int) -> None:
        from skl2onnx.algebra import onnx_ops

        self._all, self._version = onnx_ops, version

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = getattr(self._all, f"Onnx{name}")
        return lambda *args, **options: operation(*args, op_version=self._version, **options)


def _scores(ops: Any, model: Any, rows: Any) -> Any:
    """Return rows times weights plus intercepts, a column per problem."""
    weights, intercepts = model._settled()
    slots = np.flatnonzero((weights != 0).any(axis=0))
    rows = _raised(ops, model._power, ops.Cast(rows, to=DOUBLE))
    if model._offsets is not None and model._model.vocabulary.normalize:
        rows = ops.Sub(rows, model.column_offsets_)
    columns = model._model.vocabulary["columns"][slots]
    picked = ops.Gather(rows, columns.astype(np.int64), axis=1)
    sums = ops.MatMul(picked, np.ascontiguousarray(weights[:, slots].T))
    if model._model.vocabulary.normalize:
        if model._scales is not None:
            rows = ops.Mul(rows, model.column_scales_)
        squares = ops.ReduceSum(ops.Mul(rows, rows), np.array([1]), keepdims=1)
        lengths = ops.Sqrt(squares)
        none = ops.Cast(ops.Equal(lengths, np.array([0.0])), to=DOUBLE)
        sums = ops.Div(sums, ops.Add(lengths, none))  # a row without features: 0 / 1
    return ops.Add(sums, intercepts)


def _raised(ops: Any, power: float, rows: Any) -> Any:
    """Return the values' powers; signs stay."""
    if power == 1.0:
        return rows
    return ops.Mul(ops.Sign(rows), ops.Pow(ops.Abs(rows), np.array([power])))


def _label(ops: Any, model: Any, scores: Any, names: list[str]) -> Any:
    if model.classes_.size == 2:
        places = ops.Cast(ops.Greater(scores, np.array([0.0])), to=INT64)
        places = ops.Squeeze(places, np.array([1]))
    else:
        places = ops.ArgMax(scores, axis=1, keepdims=0)
    return ops.Gather(_labels(model.classes_), places, axis=0, output_names=names)


def _probabilities(ops: Any, model: Any, scores: Any) -> Any:
    if model.loss == "log_loss":
        positive = _sigmoid(ops, scores)
    else:
        inside = ops.Min(ops.Max(scores, np.array([-1.0])), np.array([1.0]))
        positive = ops.Div(ops.Add(inside, np.array([1.0])), np.array([2.0]))
    if model.classes_.size == 2:
        return ops.Concat(ops.Sub(np.array([1.0]), positive), positive, axis=1)
    totals = ops.ReduceSum(positive, np.array([1]), keepdims=1)
    none = ops.Cast(ops.Equal(totals, np.array([0.0])), to=DOUBLE)
    share = ops.Mul(none, np.array([1.0 / model.classes_.size]))  # nobody claims the row
    return ops.Add(ops.Div(positive, ops.Add(totals, none)), share)


def _sigmoid(ops: Any, scores: Any) -> Any:
    """Return sigmoids that are right far below 0, too: those of ONNX's runtime are 0 from -37."""
    one = np.array([1.0])
    return ops.Div(one, ops.Add(ops.Exp(ops.Neg(scores)), one))


REGRESSION = (_shape_numbers, _convert_numbers, _parse_numbers)
CLASSIFICATION = (_shapes, _convert, _parse)
