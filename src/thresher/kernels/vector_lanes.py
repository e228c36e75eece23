"""Lines of lanes as vectors of LLVM (see ``lanes``).

An array of lanes has rows of one cache line, in order: how many lanes that is follows from the
type of its numbers. Halves of lines may begin anywhere in an array.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LINE = 64  # bytes
INDEX = ir.IntType(32)


class LanesType(types.Type):
    """The type of a line of lanes, or of half of one, in compiled code."""

    def __init__(self, dtype, size=LINE):
        self.dtype = dtype
        self.size = size
        super().__init__(name=f"Lanes({dtype}, {size})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A line of lanes is a vector."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _vector(fe_type.dtype, fe_type.size))


def _vector(dtype, size):
    element = ir.FloatType() if dtype == types.float32 else ir.DoubleType()
    return ir.VectorType(element, size // _size(dtype))


def _size(dtype):
    return dtype.bitwidth // 8


def _row(context, builder, signature, args):
    """Return where a row of an array is."""
    vector = _vector(signature.args[0].dtype, LINE)
    row = context.cast(builder, args[1], signature.args[1], types.intp)
    first = builder.mul(row, ir.Constant(row.type, vector.count))
    return _pointer(context, builder, signature, args, first, vector)


def _half(context, builder, signature, args):
    """Return where half a line is that begins at an entry of an array."""
    vector = _vector(signature.args[0].dtype, LINE // 2)
    first = context.cast(builder, args[1], signature.args[1], types.intp)
    return _pointer(context, builder, signature, args, first, vector)


def _pointer(context, builder, signature, args, first, vector):
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [first]), vector.as_pointer())


def _spread(builder, vector, number):
    """Return a number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(one, nothing, _indices([0] * vector.count))


def _indices(numbers):
    return ir.Constant(ir.VectorType(INDEX, len(numbers)), numbers)


def _loading(find, size, array, place):
    def codegen(context, builder, signature, args):
        return builder.load(find(context, builder, signature, args), align=_size(array.dtype))

    return LanesType(array.dtype, size)(array, place), codegen


def _storing(find, array, place, lanes):
    def codegen(context, builder, signature, args):
        builder.store(args[2], find(context, builder, signature, args), align=_size(array.dtype))
        return context.get_dummy_value()

    return types.void(array, place, lanes), codegen


@intrinsic
def load(typingctx, array, row):
    """Return a row of an array as lanes."""
    return _loading(_row, LINE, array, row)


@intrinsic
def store(typingctx, array, row, lanes):
    """Write lanes to a row of an array."""
    return _storing(_row, array, row, lanes)


@intrinsic
def load_half(typingctx, array, first):
    """Return the entries of an array from a place on as half a line of lanes."""
    return _loading(_half, LINE // 2, array, first)


@intrinsic
def store_half(typingctx, array, first, lanes):
    """Write half a line of lanes to an array from a place on."""
    return _storing(_half, array, first, lanes)


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


@intrinsic
def lane(typingctx, lanes, number):
    """Return one of the lanes."""

    def codegen(context, builder, signature, args):
        return builder.extract_element(args[0], builder.trunc(args[1], INDEX))

    return lanes.dtype(lanes, types.uint64), codegen
