"""Lines of lanes as vectors of LLVM (see ``lanes``).

An array of lanes has rows of one cache line, in order: how many lanes that is follows from the
type of its numbers.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LINE = 64  # bytes
INDEX = ir.IntType(32)


class LanesType(types.Type):
    """The type of a line of lanes in compiled code."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A line of lanes is a vector."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _vector(fe_type.dtype))


def _vector(dtype):
    element = ir.FloatType() if dtype == types.float32 else ir.DoubleType()
    return ir.VectorType(element, LINE // _size(dtype))


def _size(dtype):
    return dtype.bitwidth // 8


def _place(context, builder, signature, args):
    """Return where a row of an array is."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    row = context.cast(builder, args[1], signature.args[1], types.intp)
    vector = _vector(signature.args[0].dtype)
    first = builder.mul(row, ir.Constant(row.type, vector.count))
    return builder.bitcast(builder.gep(array.data, [first]), vector.as_pointer())


def _spread(builder, vector, number):
    """Return a number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(one, nothing, _indices([0] * vector.count))


def _indices(numbers):
    return ir.Constant(ir.VectorType(INDEX, len(numbers)), numbers)


@intrinsic
def load(typingctx, array, row):
    """Return a row of an array as lanes."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        return builder.load(place, align=_size(array.dtype))

    return LanesType(array.dtype)(array, row), codegen


@intrinsic
def store(typingctx, array, row, lanes):
    """Write lanes to a row of an array."""

    def codegen(context, builder, signature, args):
        builder.store(args[2], _place(context, builder, signature, args), align=_size(array.dtype))
        return context.get_dummy_value()

    return types.void(array, row, lanes), codegen


@intrinsic
def plus(typingctx, a, b):
    """Return a + b."""
    return a(a, b), lambda context, builder, signature, args: builder.fadd(*args)


@intrinsic
def minus(typingctx, a, b):
    """Return a - b."""
    return a(a, b), lambda context, builder, signature, args: builder.fsub(*args)


@intrinsic
def times(typingctx, a, b):
    """Return a b."""
    return a(a, b), lambda context, builder, signature, args: builder.fmul(*args)


@intrinsic
def over(typingctx, a, b):
    """Return a / b."""
    return a(a, b), lambda context, builder, signature, args: builder.fdiv(*args)


@intrinsic
def filled(typingctx, lanes, x):
    """Return a number in every lane."""

    def codegen(context, builder, signature, args):
        return _spread(builder, args[0].type, args[1])

    return lanes(lanes, lanes.dtype), codegen


@intrinsic
def scaled(typingctx, lanes, x):
    """Return all lanes times a number."""

    def codegen(context, builder, signature, args):
        return builder.fmul(args[0], _spread(builder, args[0].type, args[1]))

    return lanes(lanes, lanes.dtype), codegen


@intrinsic
def clipped(typingctx, lanes, bounds):
    """Return each lane brought between minus its bound and its bound."""

    def codegen(context, builder, signature, args):
        value, high = args
        low = builder.fneg(high)
        value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
        return builder.select(builder.fcmp_ordered(">", value, high), high, value)

    return lanes(lanes, bounds), codegen


@intrinsic
def total(typingctx, lanes):
    """Return the sum of all lanes, halves first: the order that wide registers take."""

    def codegen(context, builder, signature, args):
        (value,) = args
        while value.type.count > 1:
            count = value.type.count
            nothing = ir.Constant(value.type, ir.Undefined)
            halves = [
                builder.shuffle_vector(value, nothing, _indices(list(part)))
                for part in (range(count // 2), range(count // 2, count))
            ]
            value = builder.fadd(*halves)
        return builder.extract_element(value, ir.Constant(INDEX, 0))

    return lanes.dtype(lanes), codegen
