"""Operations of TensorFlow, with inputs, for both TensorFlows: whose results have the same bits? Python 3.6 and later.

``CASES`` maps (operation, dtype, what else) to a :class:`Case`. No input is drawn: all follow from a hash of integers.
Sizes are few elements, some packets of a vector unit and a rest, and enough for several threads.
"""

import functools

import numpy as np
import tensorflow as tf

CASES = {}
FLOATS = ("float32", "float64", "float16")
SIZES = ([7], [1003], [300007])


class Case(object):
    """A function of tensors, and the arrays that they are.

    Attributes:
        function: Takes placeholders, returns a tensor or a list of tensors.
        inputs: Arrays.
        gradient: Whether the gradients are results, too.
        steps: How often ``train``, an operation that the function returns after its results, runs first.
    """

    def __init__(self, function, inputs, gradient, steps):
        self.function = function
        self.inputs = inputs
        self.gradient = gradient
        self.steps = steps


def case(operation, dtype, detail, function, *inputs, **settings):
    key = (operation, dtype, str(detail))
    assert key not in CASES, key
    CASES[key] = Case(function, inputs, settings.get("gradient", True), settings.get("steps", 0))


def applied(module, name, *more):
    """A function of a module, with more arguments after those that it is called with."""
    function = getattr(module, name)
    return lambda *tensors: function(*(tensors + more))


def shaped(function, shape):
    return lambda *tensors: tf.reshape(function(*tensors), shape)


def values(shape, low=-1.0, high=1.0, dtype="float32", salt=1):
    """Numbers from a hash of their places: the same everywhere, to the bit."""
    places = np.arange(int(np.prod(shape)), dtype=np.uint64) + np.uint64(salt * 1000003)
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        places = (places ^ (places >> np.uint64(shift))) * np.uint64(factor)
    parts = ((places >> np.uint64(40)).astype(np.float64) + 0.5) / 2.0**24
    found = low + (high - low) * parts
    if np.dtype(dtype).kind in "iu":
        found = np.floor(found)
    return found.astype(dtype).reshape(shape)


def complexes(shape, salt=1):
    return (values(shape, salt=salt) + 1j * values(shape, salt=salt + 1)).astype(np.complex64)


# -- by element -------------------------------------------------------------------------------------------------------

UNARY = {
    "exp": (tf.exp, -8, 8),
    "expm1": (tf.math.expm1, -3, 3),
    "log": (tf.log, 1e-3, 9),
    "log1p": (tf.log1p, -0.9, 9),
    "tanh": (tf.tanh, -6, 6),
    "sigmoid": (tf.sigmoid, -9, 9),
    "log_sigmoid": (tf.log_sigmoid, -9, 9),
    "softplus": (tf.nn.softplus, -9, 9),
    "softsign": (tf.nn.softsign, -9, 9),
    "relu": (tf.nn.relu, -1, 1),
    "relu6": (tf.nn.relu6, -9, 9),
    "elu": (tf.nn.elu, -5, 5),
    "selu": (tf.nn.selu, -5, 5),
    "leaky_relu": (tf.nn.leaky_relu, -5, 5),
    "swish": (tf.nn.swish, -5, 5),
    "sqrt": (tf.sqrt, 1e-3, 9),
    "rsqrt": (tf.rsqrt, 1e-3, 9),
    "square": (tf.square, -9, 9),
    "reciprocal": (tf.math.reciprocal, 0.1, 9),
    "sin": (tf.sin, -9, 9),
    "cos": (tf.cos, -9, 9),
    "tan": (tf.tan, -1.5, 1.5),
    "asin": (tf.asin, -1, 1),
    "acos": (tf.acos, -1, 1),
    "atan": (tf.atan, -9, 9),
    "sinh": (tf.sinh, -3, 3),
    "cosh": (tf.cosh, -3, 3),
    "asinh": (tf.asinh, -9, 9),
    "acosh": (tf.acosh, 1.1, 9),
    "atanh": (tf.atanh, -0.9, 0.9),
    "erf": (tf.erf, -3, 3),
    "erfc": (tf.erfc, -3, 3),
    "lgamma": (tf.lgamma, 0.1, 9),
    "digamma": (tf.digamma, 0.1, 9),
    "bessel_i0e": (tf.math.bessel_i0e, -9, 9),
    "abs": (tf.abs, -9, 9),
    "negative": (tf.negative, -9, 9),
    "sign": (tf.sign, -9, 9),
    "floor": (tf.floor, -9, 9),
    "ceil": (tf.ceil, -9, 9),
    "round": (tf.round, -9, 9),
    "rint": (tf.rint, -9, 9),
    "is_finite": (tf.is_finite, -9, 9),
}
for _name, (_function, _low, _high) in UNARY.items():
    for _dtype in FLOATS:
        if _dtype == "float16" and _name in ("bessel_i0e", "digamma", "rint"):
            continue
        for _size in SIZES if _dtype == "float32" else SIZES[1:2]:
            case(_name, _dtype, _size, _function, values(_size, _low, _high, _dtype), gradient=_name != "rint")

BINARY = {
    "add": (tf.add, -9, 9),
    "subtract": (tf.subtract, -9, 9),
    "multiply": (tf.multiply, -9, 9),
    "divide": (tf.divide, 0.1, 9),
    "pow": (tf.pow, 0.1, 3),
    "maximum": (tf.maximum, -9, 9),
    "minimum": (tf.minimum, -9, 9),
    "squared_difference": (tf.squared_difference, -9, 9),
    "floordiv": (tf.floordiv, 0.1, 9),
    "floormod": (tf.floormod, 0.1, 9),
    "atan2": (tf.atan2, 0.1, 9),
    "xdivy": (tf.math.xdivy, 0.1, 9),
    "xlogy": (tf.math.xlogy, 0.1, 9),
    "igamma": (tf.igamma, 0.2, 5),
    "igammac": (tf.igammac, 0.2, 5),
    "zeta": (tf.zeta, 1.2, 5),
    "polygamma": (lambda n, x: tf.polygamma(tf.floor(n), x), 1.2, 5),
    "less": (tf.less, 0.1, 9),
}
_no_half = {"atan2", "igamma", "igammac", "zeta", "polygamma", "xdivy", "xlogy"}
for _name, (_function, _low, _high) in BINARY.items():
    for _dtype in FLOATS:
        if _dtype == "float16" and _name in _no_half:
            continue
        for _size in SIZES[1:2] if _dtype != "float32" else SIZES[:2] if _name in _no_half else SIZES:
            _inputs = [values(_size, _low, _high, _dtype, salt) for salt in (1, 2)]
            case(_name, _dtype, _size, _function, *_inputs, gradient=_name != "polygamma")
for _name in ("add", "multiply", "divide", "pow"):  # the gradients of these add up what is broadcast
    for _left, _right in (([301, 17], [17]), ([301, 17], [301, 1]), ([2, 1, 9], [5, 1])):
        _inputs = [values(_left, 0.1, 3), values(_right, 0.1, 3, salt=2)]
        case(_name, "float32", "broadcast %s %s" % (_left, _right), BINARY[_name][0], *_inputs)
case(
    "betainc",
    "float32",
    [1003],
    tf.betainc,
    *[values([1003], 0.1, 0.9, salt=salt) for salt in (1, 2, 3)],
    gradient=False,
)
case("add_n", "float32", [1003], lambda *all: tf.add_n(all), *[values([1003], salt=salt) for salt in range(1, 12)])
case("accumulate_n", "float32", [1003], lambda *all: tf.accumulate_n(all), *[values([1003], salt=s) for s in (1, 2, 3)])
case("where", "float32", [1003], lambda x, y: tf.where(x > y, x, y), values([1003]), values([1003], salt=2))
case("clip_by_value", "float32", [1003], lambda x: tf.clip_by_value(x, -0.5, 0.5), values([1003]))
case(
    "complex",
    "complex64",
    [1003],
    lambda x: [tf.abs(x), tf.angle(x), x * tf.conj(x), tf.exp(x)],
    complexes([1003]),
    gradient=False,
)

for _name in ("floordiv", "floormod", "truncatediv", "truncatemod", "add", "multiply", "maximum", "pow"):
    for _dtype in ("int32", "int64"):
        _low, _high = (0, 7) if _name == "pow" else (-90, 90)
        _right = values([1003], 1, 7, _dtype, 2) * (
            1 if _name == "pow" else np.where(np.arange(1003) % 2, -1, 1).astype(_dtype)
        )
        case(_name, _dtype, [1003], getattr(tf, _name), values([1003], _low, _high, _dtype), _right)
case(
    "bitwise",
    "int32",
    [1003],
    lambda x, y: [tf.bitwise.bitwise_xor(x, y), tf.bitwise.left_shift(x, y)],
    values([1003], 0, 99, "int32"),
    values([1003], 0, 9, "int32", 2),
)
for _to in ("float16", "bfloat16", "float64", "int32", "int64", "uint8", "bool", "complex64"):
    case(
        "cast",
        "float32",
        "to " + _to,
        functools.partial(tf.cast, dtype=getattr(tf, _to)),
        values([1003], 0, 250),
        gradient=False,
    )
case("cast", "float64", "to float32", lambda x: tf.cast(x, tf.float32), values([1003], -9, 9, "float64"))
case("cast", "float64", "to float16", lambda x: tf.cast(x, tf.float16), values([1003], -9, 9, "float64"))
case("cast", "float16", "to float32", lambda x: tf.cast(x, tf.float32), values([1003], -9, 9, "float16"))
case("cast", "int32", "to float32", lambda x: tf.cast(x, tf.float32), values([1003], -(2**30), 2**30, "int32"))
case("saturate_cast", "float32", "to uint8", lambda x: tf.saturate_cast(x, tf.uint8), values([1003], -300, 600))


# -- products ---------------------------------------------------------------------------------------------------------

for _dtype in FLOATS:
    for _rows, _inner, _columns in ((3, 5, 7), (1, 784, 128), (64, 64, 64), (129, 257, 65), (100, 784, 256)):
        for _a, _b in ((False, False), (True, False), (False, True), (True, True)):
            if (_a or _b) and (_rows, _inner) not in ((3, 5), (129, 257)):
                continue
            if _dtype == "float16" and _inner == 784:
                continue
            case(
                "matmul",
                _dtype,
                "%dx%dx%d%s%s" % (_rows, _inner, _columns, " a'" * _a, " b'" * _b),
                functools.partial(tf.matmul, transpose_a=_a, transpose_b=_b),
                values([_inner, _rows] if _a else [_rows, _inner], dtype=_dtype),
                values([_columns, _inner] if _b else [_inner, _columns], dtype=_dtype, salt=2),
            )
    case(
        "batch matmul",
        _dtype,
        "4x33x17x9",
        tf.matmul,
        values([4, 33, 17], dtype=_dtype),
        values([4, 17, 9], dtype=_dtype, salt=2),
    )
case(
    "batch matmul",
    "float32",
    "8x10x64x64, b'",
    lambda a, b: tf.matmul(a, b, transpose_b=True),
    values([8, 10, 64]),
    values([8, 64, 64], salt=2),
)
case("matmul", "int32", "33x17x9", tf.matmul, values([33, 17], -9, 9, "int32"), values([17, 9], -9, 9, "int32", 2))
case(
    "tensordot",
    "float32",
    "5x6x7 by 7x6",
    lambda a, b: tf.tensordot(a, b, [[2, 1], [0, 1]]),
    values([5, 6, 7]),
    values([7, 6], salt=2),
)
case(
    "einsum",
    "float32",
    "bij,bjk->bik",
    lambda a, b: tf.einsum("bij,bjk->bik", a, b),
    values([3, 6, 7]),
    values([3, 7, 4], salt=2),
)
case(
    "matmul of a sparse matrix",
    "float32",
    "SparseMatMul",
    lambda a, b: tf.matmul(a, b, a_is_sparse=True),
    values([33, 65]),
    values([65, 9], salt=2),
)


def _sparse(x, y):
    indices = np.stack(np.unravel_index(np.arange(0, 33 * 65, 3), (33, 65)), 1).astype(np.int64)
    return tf.sparse_tensor_dense_matmul(tf.SparseTensor(indices, x, [33, 65]), y)


case("matmul of a sparse matrix", "float32", "33x65x9", _sparse, values([715]), values([65, 9], salt=2))
case("xw_plus_b", "float32", "33x65x9", tf.nn.xw_plus_b, values([33, 65]), values([65, 9], salt=2), values([9], salt=3))
case(
    "dense layer",
    "float32",
    "relu(x w + b)",
    lambda x, w, b: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b)),
    values([33, 65]),
    values([65, 9], salt=2),
    values([9], salt=3),
)


# -- convolutions and pools -------------------------------------------------------------------------------------------

CONVOLUTIONS = {
    "2x9x9x3 by 3x3x3x4": ([2, 9, 9, 3], [3, 3, 3, 4], {}),
    "2x9x9x3 by 3x3x3x4, valid": ([2, 9, 9, 3], [3, 3, 3, 4], {"padding": "VALID"}),
    "2x9x9x3 by 3x3x3x4, stride 2": ([2, 9, 9, 3], [3, 3, 3, 4], {"strides": [1, 2, 2, 1]}),
    "2x9x9x3 by 3x3x3x4, dilated": ([2, 9, 9, 3], [3, 3, 3, 4], {"dilations": [1, 2, 2, 1]}),
    "8x28x28x1 by 5x5x1x32": ([8, 28, 28, 1], [5, 5, 1, 32], {}),
    "8x14x14x32 by 5x5x32x64": ([8, 14, 14, 32], [5, 5, 32, 64], {}),
    "4x7x7x64 by 1x1x64x32": ([4, 7, 7, 64], [1, 1, 64, 32], {}),
}
for _name, (_x, _w, _more) in CONVOLUTIONS.items():
    for _dtype in FLOATS[: 2 if _x[0] == 2 else 1]:
        _settings = dict({"strides": [1, 1, 1, 1], "padding": "SAME"}, **_more)
        case(
            "conv2d",
            _dtype,
            _name,
            functools.partial(tf.nn.conv2d, **_settings),
            values(_x, dtype=_dtype),
            values(_w, dtype=_dtype, salt=2),
            gradient="dilations" not in _more,
        )
_conv = {"strides": [1, 1, 1, 1], "padding": "SAME"}
case(
    "conv2d and bias",
    "float32",
    "relu",
    lambda x, w, b: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, **_conv), b)),
    values([2, 9, 9, 3]),
    values([3, 3, 3, 4], salt=2),
    values([4], salt=3),
)
case(
    "conv1d",
    "float32",
    "4x20x5",
    lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"),
    values([4, 20, 5]),
    values([3, 5, 6], salt=2),
)
case(
    "depthwise_conv2d",
    "float32",
    "2x9x9x3",
    lambda x, w: tf.nn.depthwise_conv2d(x, w, **_conv),
    values([2, 9, 9, 3]),
    values([3, 3, 3, 2], salt=2),
)
case(
    "depthwise_conv2d",
    "float32",
    "4x14x14x32, stride 2",
    lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
    values([4, 14, 14, 32]),
    values([3, 3, 32, 1], salt=2),
)
case(
    "separable_conv2d",
    "float32",
    "2x9x9x3",
    lambda x, d, p: tf.nn.separable_conv2d(x, d, p, **_conv),
    values([2, 9, 9, 3]),
    values([3, 3, 3, 2], salt=2),
    values([1, 1, 6, 4], salt=3),
)
case(
    "conv2d_transpose",
    "float32",
    "2x5x5x6",
    lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 10, 10, 4], [1, 2, 2, 1]),
    values([2, 5, 5, 6]),
    values([3, 3, 4, 6], salt=2),
)
case(
    "conv3d",
    "float32",
    "2x5x6x7x2",
    lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"),
    values([2, 5, 6, 7, 2]),
    values([3, 3, 3, 2, 4], salt=2),
)
case(
    "conv3d_transpose",
    "float32",
    "1x3x3x3x4",
    lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 6, 6, 6, 2], [1, 2, 2, 2, 1]),
    values([1, 3, 3, 3, 4]),
    values([3, 3, 3, 2, 4], salt=2),
)
case(
    "atrous_conv2d",
    "float32",
    "2x9x9x3",
    lambda x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"),
    values([2, 9, 9, 3]),
    values([3, 3, 3, 4], salt=2),
)
case(
    "dilation2d",
    "float32",
    "2x9x9x3",
    lambda x, w: tf.nn.dilation2d(x, w, [1] * 4, [1] * 4, "SAME"),
    values([2, 9, 9, 3]),
    values([3, 3, 3], salt=2),
)
for _size in ([2, 9, 9, 3], [8, 28, 28, 32]):
    for _stride in (1, 2):
        _pool = {"ksize": [1, 3, 3, 1], "strides": [1, _stride, _stride, 1], "padding": "SAME"}
        case(
            "max_pool",
            "float32",
            "%s, stride %d" % (_size, _stride),
            functools.partial(tf.nn.max_pool, **_pool),
            values(_size),
        )
        case(
            "avg_pool",
            "float32",
            "%s, stride %d" % (_size, _stride),
            functools.partial(tf.nn.avg_pool, **_pool),
            values(_size),
        )
case(
    "avg_pool3d",
    "float32",
    "2x5x6x7x2",
    lambda x: tf.nn.avg_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME"),
    values([2, 5, 6, 7, 2]),
)
case(
    "max_pool3d",
    "float32",
    "2x5x6x7x2",
    lambda x: tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME"),
    values([2, 5, 6, 7, 2]),
)
case(
    "max_pool_with_argmax",
    "float32",
    "2x9x9x3",
    lambda x: list(tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")),
    values([2, 9, 9, 3]),
    gradient=False,
)


# -- layers and losses ------------------------------------------------------------------------------------------------

for _size in ([5, 3], [33, 10], [128, 1000]):
    for _dtype in FLOATS:
        _logits, _labels = values(_size, -9, 9, _dtype), values(_size, 0, 1, _dtype, 2)
        _labels = (_labels / _labels.sum(1, keepdims=True, dtype="float64")).astype(_dtype)
        case("softmax", _dtype, _size, tf.nn.softmax, _logits)
        case("log_softmax", _dtype, _size, tf.nn.log_softmax, _logits)
        if _dtype != "float16":
            case(
                "softmax_cross_entropy",
                _dtype,
                _size,
                lambda x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.stop_gradient(y), logits=x),
                _logits,
                _labels,
            )
            case(
                "sparse_softmax_cross_entropy",
                _dtype,
                _size,
                lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x),
                _logits,
                values(_size[:1], 0, _size[1], "int32"),
            )
            case(
                "sigmoid_cross_entropy",
                _dtype,
                _size,
                lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
                _logits,
                _labels,
            )
case(
    "softmax_cross_entropy",
    "float32",
    "by hand",
    lambda x, y: -tf.reduce_sum(y * tf.log(tf.nn.softmax(x))),
    values([33, 10]),
    values([33, 10], 0, 1, salt=2),
)
case(
    "weighted_cross_entropy",
    "float32",
    [33, 10],
    lambda x, y: tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=2.0),
    values([33, 10], -9, 9),
    values([33, 10], 0, 1, salt=2),
)
case("bias_add", "float32", [33, 65], tf.nn.bias_add, values([33, 65]), values([65], salt=2))
case("bias_add", "float32", [8, 28, 28, 32], tf.nn.bias_add, values([8, 28, 28, 32]), values([32], salt=2))
case(
    "bias_add",
    "float64",
    [33, 65],
    tf.nn.bias_add,
    values([33, 65], dtype="float64"),
    values([65], dtype="float64", salt=2),
)
case("l2_loss", "float32", [300007], tf.nn.l2_loss, values([300007]))
case("l2_loss", "float32", [33, 65], tf.nn.l2_loss, values([33, 65]))
case("l2_normalize", "float32", [33, 65], lambda x: tf.nn.l2_normalize(x, 1), values([33, 65]))
case(
    "local_response_normalization",
    "float32",
    [2, 5, 5, 32],
    lambda x: tf.nn.lrn(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75),
    values([2, 5, 5, 32], 0, 9),
)
for _size in ([4, 5, 5, 3], [8, 28, 28, 32]):
    _normed = [values(_size, -3, 5), values(_size[-1:], 0.5, 1.5, salt=2), values(_size[-1:], salt=3)]
    case(
        "fused_batch_norm in training",
        "float32",
        _size,
        lambda x, s, o: list(tf.nn.fused_batch_norm(x, s, o)[:3]),
        *_normed,
        gradient=False,
    )
    case(
        "fused_batch_norm in training",
        "float32",
        "%s, y" % _size,
        lambda x, s, o: tf.nn.fused_batch_norm(x, s, o)[0],
        *_normed,
    )
    case(
        "fused_batch_norm in inference",
        "float32",
        _size,
        lambda x, s, o, m, v: tf.nn.fused_batch_norm(x, s, o, m, v, is_training=False)[0],
        *(_normed + [values(_size[-1:], salt=4), values(_size[-1:], 0.5, 2, salt=5)]),
    )
    case(
        "batch_normalization",
        "float32",
        _size,
        lambda x, s, o: tf.nn.batch_normalization(
            x, tf.nn.moments(x, [0, 1, 2])[0], tf.nn.moments(x, [0, 1, 2])[1], o, s, 1e-3
        ),
        *_normed,
    )
for _dtype in FLOATS:
    case(
        "moments",
        _dtype,
        [33, 65],
        lambda x: list(tf.nn.moments(x, [0])),
        values([33, 65], -3, 5, _dtype),
        gradient=False,
    )
case(
    "moments",
    "float32",
    "33x65, keep_dims",
    lambda x: tf.nn.moments(x, [1], keep_dims=True)[1],
    values([33, 65], -3, 5),
)
case(
    "weighted_moments",
    "float32",
    [33, 65],
    lambda x, w: list(tf.nn.weighted_moments(x, [0], w)),
    values([33, 65], -3, 5),
    values([33, 65], 0, 1, salt=2),
    gradient=False,
)
case(
    "layer normalisation by hand",
    "float32",
    [33, 65],
    lambda x: (
        (x - tf.reduce_mean(x, 1, keepdims=True))
        / tf.sqrt(tf.reduce_mean(tf.square(x - tf.reduce_mean(x, 1, keepdims=True)), 1, keepdims=True) + 1e-5)
    ),
    values([33, 65], -3, 5),
)
for _dtype in FLOATS:
    for _rate in (0.5, 0.3):
        case(
            "dropout",
            _dtype,
            "rate %s" % _rate,
            functools.partial(tf.nn.dropout, rate=_rate, seed=3),
            values([1003], dtype=_dtype),
        )
case("dropout", "float32", "keep_prob 0.9", lambda x: tf.nn.dropout(x, 0.9, seed=3), values([1003]))
case(
    "dropout",
    "float32",
    "a tensor",
    lambda x, keep: tf.nn.dropout(x, keep, seed=3),
    values([1003]),
    np.float32(0.7),
    gradient=False,
)
for _name in (
    "absolute_difference",
    "mean_squared_error",
    "log_loss",
    "huber_loss",
    "mean_pairwise_squared_error",
    "hinge_loss",
):
    _positive = 0.01 if _name == "log_loss" else -1
    case(
        "tf.losses",
        "float32",
        _name,
        (lambda loss: lambda x, y: loss(tf.stop_gradient(y), x))(getattr(tf.losses, _name)),
        values([33, 10], _positive, 0.99),
        values([33, 10], 0, 1, salt=2),
    )
case(
    "tf.losses",
    "float32",
    "softmax_cross_entropy",
    lambda x, y: tf.losses.softmax_cross_entropy(tf.stop_gradient(y), x, label_smoothing=0.1),
    values([33, 10], -9, 9),
    values([33, 10], 0, 1, salt=2),
)
case(
    "tf.losses",
    "float32",
    "sigmoid_cross_entropy",
    lambda x, y: tf.losses.sigmoid_cross_entropy(tf.stop_gradient(y), x, label_smoothing=0.1),
    values([33, 10], -9, 9),
    values([33, 10], 0, 1, salt=2),
)
case(
    "tf.losses",
    "float32",
    "sparse_softmax_cross_entropy",
    lambda x, y: tf.losses.sparse_softmax_cross_entropy(y, x),
    values([33, 10], -9, 9),
    values([33], 0, 10, "int32"),
)
case(
    "tf.losses",
    "float32",
    "weighted",
    lambda x, y, w: tf.losses.mean_squared_error(tf.stop_gradient(y), x, w),
    values([33, 10]),
    values([33, 10], salt=2),
    values([33, 1], 0, 1, salt=3),
    gradient=False,
)
case("clip_by_norm", "float32", [33, 65], lambda x: tf.clip_by_norm(x, 1.5), values([33, 65]))
case("clip_by_norm", "float32", "33x65, axis 1", lambda x: tf.clip_by_norm(x, 1.5, axes=[1]), values([33, 65]))
case(
    "clip_by_global_norm",
    "float32",
    "two",
    lambda x, y: list(tf.clip_by_global_norm([x, y], 1.5)[0]),
    values([33, 65]),
    values([65], salt=2),
    gradient=False,
)
case("global_norm", "float32", "two", lambda x, y: tf.global_norm([x, y]), values([33, 65]), values([65], salt=2))
case("top_k", "float32", "ties", lambda x: list(tf.nn.top_k(tf.round(x), 9)), values([33, 65], -4, 4), gradient=False)
case(
    "in_top_k",
    "float32",
    "ties",
    lambda x, y: tf.nn.in_top_k(x, y, 3),
    np.round(values([33, 10], -4, 4)),
    values([33], 0, 10, "int32"),
)
case(
    "sort",
    "float32",
    "ties",
    lambda x: [tf.sort(tf.round(x)), tf.argsort(tf.round(x), stable=True)],
    values([33, 65], -4, 4),
    gradient=False,
)
case(
    "argsort",
    "float32",
    "ties, not stable",
    lambda x: [tf.argsort(tf.round(x)), tf.argsort(tf.round(x), direction="DESCENDING")],
    values([33, 65], -4, 4),
    gradient=False,
)
case(
    "argmax",
    "float32",
    "ties",
    lambda x: [tf.argmax(tf.round(x), 1), tf.argmin(tf.round(x), 0)],
    values([33, 65], -4, 4),
    gradient=False,
)
case("unique", "int32", [1003], lambda x: list(tf.unique(x)), values([1003], 0, 50, "int32"))
case("one_hot", "float32", [1003], lambda x: tf.one_hot(x, 50), values([1003], 0, 50, "int32"))


# -- sums -------------------------------------------------------------------------------------------------------------

for _name in ("sum", "mean", "prod", "max", "min", "logsumexp", "std", "variance", "euclidean_norm"):
    _function = getattr(tf, "reduce_" + _name, None) or getattr(tf.math, "reduce_" + _name)
    _low, _high = (0.9, 1.1) if _name == "prod" else (-3, 5)
    for _dtype in FLOATS:
        if _dtype == "float16" and _name in ("std", "variance", "euclidean_norm", "prod"):
            continue
        for _size in ([7], [33, 65], [1000, 1000]):
            if _size[0] != 33 and _dtype != "float32" or (_size[0] == 1000 and _name == "prod"):
                continue
            for _axis in (None, 0, 1) if len(_size) == 2 else (None,):
                case(
                    "reduce_" + _name,
                    _dtype,
                    "%s, axis %s" % (_size, _axis),
                    functools.partial(_function, axis=_axis),
                    values(_size, _low, _high, _dtype),
                    gradient=_size[0] != 1000 and _name != "euclidean_norm",
                )
    case(
        "reduce_" + _name,
        "float32",
        "[6, 7, 8, 9], axes 0, 2",
        functools.partial(_function, axis=[0, 2]),
        values([6, 7, 8, 9], _low, _high),
        gradient=_name != "euclidean_norm",
    )
for _order in (1, 2, np.inf, "euclidean"):
    case(
        "norm", "float32", "order %s" % _order, functools.partial(tf.norm, ord=_order, axis=1), values([33, 65], -3, 5)
    )
for _dtype in FLOATS:
    case("cumsum", _dtype, [33, 65], functools.partial(tf.cumsum, axis=1), values([33, 65], dtype=_dtype))
case(
    "cumsum",
    "float32",
    "exclusive, reverse",
    functools.partial(tf.cumsum, exclusive=True, reverse=True),
    values([1003]),
)
case("cumsum", "float32", [300007], tf.cumsum, values([300007]), gradient=False)
case("cumprod", "float32", [33, 65], functools.partial(tf.cumprod, axis=1), values([33, 65], 0.9, 1.1))
case("reduce_sum", "int32", [33, 65], functools.partial(tf.reduce_sum, axis=0), values([33, 65], -99, 99, "int32"))
case("reduce_mean", "int32", [33, 65], functools.partial(tf.reduce_mean, axis=0), values([33, 65], -99, 99, "int32"))

_sorted = np.sort(values([1003], 0, 20, "int32"))
_unsorted = values([1003], 0, 20, "int32", 5)
for _name in ("sum", "mean", "prod", "max", "min"):
    _low, _high = (0.9, 1.1) if _name == "prod" else (-3, 5)
    case(
        "segment_" + _name,
        "float32",
        [1003, 9],
        shaped(applied(tf, "segment_" + _name, _sorted), [20, 9]),
        values([1003, 9], _low, _high),
        gradient=_name != "prod",
    )
    case(
        "unsorted_segment_" + _name,
        "float32",
        [1003, 9],
        applied(tf, "unsorted_segment_" + _name, _unsorted, 20),
        values([1003, 9], _low, _high),
    )
case(
    "unsorted_segment_sqrt_n",
    "float32",
    [1003, 9],
    lambda x: tf.unsorted_segment_sqrt_n(x, _unsorted, 20),
    values([1003, 9]),
)
for _name in ("sum", "mean", "sqrt_n"):
    case(
        "sparse_segment_" + _name,
        "float32",
        [1003, 9],
        shaped(applied(tf, "sparse_segment_" + _name, _unsorted * 5, _sorted), [20, 9]),
        values([100, 9]),
    )
case("gather", "float32", [100, 9], lambda x: tf.gather(x, _unsorted), values([100, 9]))
case("gather_nd", "float32", [20, 9], lambda x: tf.gather_nd(x, _unsorted[:, None]), values([20, 9]))
case(
    "scatter_nd",
    "float32",
    "places several times",
    lambda x: tf.scatter_nd(_unsorted[:, None], x, [20, 9]),
    values([1003, 9]),
)
case(
    "tensor_scatter_add",
    "float32",
    "places several times",
    lambda x, y: tf.tensor_scatter_add(x, _unsorted[:, None], y),
    values([20, 9]),
    values([1003, 9], salt=2),
)
case("embedding_lookup", "float32", "100x9", lambda x: tf.nn.embedding_lookup(x, _unsorted), values([100, 9]))
case(
    "embedding_lookup_sparse",
    "float32",
    "mean",
    lambda x, w: tf.nn.embedding_lookup_sparse(
        x,
        tf.SparseTensor(
            np.stack([_sorted, np.arange(1003)], 1).astype(np.int64), _unsorted.astype(np.int64), [20, 1003]
        ),
        tf.SparseTensor(np.stack([_sorted, np.arange(1003)], 1).astype(np.int64), w, [20, 1003]),
        combiner="mean",
    ),
    values([100, 9]),
    values([1003], 0, 1, salt=2),
    gradient=False,
)
case(
    "dynamic_partition",
    "float32",
    [1003, 9],
    lambda x: list(tf.dynamic_partition(x, _unsorted, 20)),
    values([1003, 9]),
    gradient=False,
)
case(
    "concat and split",
    "float32",
    [33, 65],
    lambda x, y: tf.split(tf.concat([x, y], 1), 2, 1)[1],
    values([33, 65]),
    values([33, 65], salt=2),
)
case("transpose", "float32", [6, 7, 8], lambda x: tf.transpose(x, [2, 0, 1]), values([6, 7, 8]))
case("pad", "float32", "reflect", lambda x: tf.pad(x, [[2, 2], [1, 1]], "REFLECT"), values([33, 65]))
case("tile", "float32", "3, 2", lambda x: tf.tile(x, [3, 2]), values([33, 65]))
case("strided_slice", "float32", "::2, 3:", lambda x: x[::2, 3:], values([33, 65]))


# -- images -----------------------------------------------------------------------------------------------------------

_image = values([2, 13, 17, 3], 0, 1)
for _name in ("bilinear", "nearest_neighbor", "bicubic", "area"):
    for _corners in (False, True):
        for _to in ([20, 31], [7, 8]):
            case(
                "resize_" + _name,
                "float32",
                "to %s%s" % (_to, ", align_corners" * _corners),
                functools.partial(getattr(tf.image, "resize_" + _name), size=_to, align_corners=_corners),
                _image,
                gradient=_name != "area",
            )
case(
    "resize_bilinear",
    "uint8",
    "to [20, 31]",
    lambda x: tf.image.resize_bilinear(x, [20, 31]),
    values([2, 13, 17, 3], 0, 255, "uint8"),
)
case(
    "resize_images",
    "float32",
    "preserve_aspect_ratio",
    lambda x: tf.image.resize_images(x, [40, 40], preserve_aspect_ratio=True),
    _image,
)
case("resize_image_with_pad", "float32", "to 20x20", lambda x: tf.image.resize_image_with_pad(x, 20, 20), _image)
_boxes = np.array([[0, 0, 0.6, 0.7], [0.1, 0.2, 1.1, 0.9]], "float32")
case("crop_and_resize", "float32", "7x9", lambda x, y: tf.image.crop_and_resize(x, y, [0, 1], [7, 9]), _image, _boxes)
case(
    "extract_glimpse",
    "float32",
    "5x5",
    lambda x: tf.image.extract_glimpse(x, [5, 5], [[0.1, 0.2], [-0.3, 0.4]]),
    _image,
    gradient=False,
)
for _name, _arguments in (
    ("brightness", [0.2]),
    ("contrast", [0.4]),
    ("hue", [0.2]),
    ("saturation", [0.6]),
    ("gamma", [0.7]),
):
    case(
        "adjust_" + _name,
        "float32",
        _arguments,
        applied(tf.image, "adjust_" + _name, *_arguments),
        _image,
        gradient=False,
    )
    case(
        "adjust_" + _name,
        "uint8",
        _arguments,
        applied(tf.image, "adjust_" + _name, *_arguments),
        values([13, 17, 3], 0, 255, "uint8"),
        gradient=False,
    )
for _name in (
    "rgb_to_hsv",
    "hsv_to_rgb",
    "rgb_to_grayscale",
    "rgb_to_yiq",
    "yuv_to_rgb",
    "sobel_edges",
    "total_variation",
    "flip_left_right",
    "rot90",
):
    case(_name, "float32", "2x13x17x3", getattr(tf.image, _name), _image, gradient=False)
case("per_image_standardization", "float32", "13x17x3", tf.image.per_image_standardization, _image[0], gradient=False)
case(
    "per_image_standardization",
    "float32",
    "uint8 28x28x1",
    tf.image.per_image_standardization,
    values([28, 28, 1], 0, 255, "uint8"),
    gradient=False,
)
case(
    "convert_image_dtype",
    "uint8",
    "to float and back",
    lambda x: [
        tf.image.convert_image_dtype(x, tf.float32),
        tf.image.convert_image_dtype(tf.image.convert_image_dtype(x, tf.float32), tf.uint8, saturate=True),
    ],
    values([13, 17, 3], 0, 255, "uint8"),
)
case(
    "psnr and ssim",
    "float32",
    "2x13x17x3",
    lambda x, y: [tf.image.psnr(x, y, 1.0), tf.image.ssim(x, y, 1.0)],
    _image,
    values([2, 13, 17, 3], 0, 1, salt=2),
    gradient=False,
)
case(
    "non_max_suppression",
    "float32",
    "40 boxes",
    lambda x, y: tf.image.non_max_suppression(x, y, 10, 0.3),
    np.concatenate([values([40, 2], 0, 0.5), values([40, 2], 0.5, 1, salt=2)], 1),
    values([40], 0, 1, salt=3),
    gradient=False,
)
case(
    "extract_image_patches",
    "float32",
    "3x3",
    lambda x: tf.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    _image,
)
case(
    "JPEG",
    "uint8",
    "encoded, decoded",
    lambda x: [
        tf.image.decode_jpeg(tf.image.encode_jpeg(x)),
        tf.image.decode_jpeg(tf.image.encode_jpeg(x), dct_method="INTEGER_ACCURATE"),
    ],
    values([13, 17, 3], 0, 255, "uint8"),
)
case(
    "PNG",
    "uint8",
    "encoded, decoded",
    lambda x: tf.image.decode_png(tf.image.encode_png(x)),
    values([13, 17, 3], 0, 255, "uint8"),
)


# -- transforms and linear algebra ------------------------------------------------------------------------------------

for _length in (8, 15, 64, 1000):
    case("fft", "complex64", _length, tf.fft, complexes([3, _length]), gradient=False)
    case("ifft", "complex64", _length, tf.ifft, complexes([3, _length]), gradient=False)
    case("rfft", "float32", _length, tf.spectral.rfft, values([3, _length]), gradient=False)
    case("irfft", "complex64", _length, tf.spectral.irfft, complexes([3, _length // 2 + 1]), gradient=False)
case("fft2d", "complex64", "16x12", tf.fft2d, complexes([16, 12]), gradient=False)
case("dct", "float32", 64, lambda x: tf.spectral.dct(x, norm="ortho"), values([3, 64]), gradient=False)
case("stft", "float32", "400 samples", lambda x: tf.abs(tf.signal.stft(x, 64, 32)), values([2, 400]), gradient=False)
case("mfcc", "float32", "20 bins", tf.signal.mfccs_from_log_mel_spectrograms, values([3, 20]), gradient=False)


def _definite(size, dtype):
    half = values([2, size, size], dtype="float64")
    return (np.matmul(half, half.transpose(0, 2, 1)) + size * np.eye(size)).astype(dtype)


for _dtype in FLOATS[:2]:
    for _size in (3, 17, 65):
        _square = (values([2, _size, _size], dtype=_dtype) + 3 * np.eye(_size)).astype(_dtype)
        case("matrix_inverse", _dtype, _size, tf.matrix_inverse, _square)
        case("matrix_determinant", _dtype, _size, tf.matrix_determinant, _square)
        case("slogdet", _dtype, _size, lambda x: list(tf.linalg.slogdet(x)), _square, gradient=False)
        case("matrix_solve", _dtype, _size, tf.matrix_solve, _square, values([2, _size, 4], dtype=_dtype, salt=2))
        case(
            "matrix_triangular_solve",
            _dtype,
            _size,
            tf.matrix_triangular_solve,
            _square,
            values([2, _size, 4], dtype=_dtype, salt=2),
        )
        case("cholesky", _dtype, _size, tf.cholesky, _definite(_size, _dtype))
        case(
            "cholesky_solve",
            _dtype,
            _size,
            tf.cholesky_solve,
            _definite(_size, _dtype),
            values([2, _size, 4], dtype=_dtype, salt=2),
            gradient=False,
        )
        case(
            "self_adjoint_eig",
            _dtype,
            _size,
            lambda x: [tf.self_adjoint_eig(x)[0], tf.abs(tf.self_adjoint_eig(x)[1])],
            _definite(_size, _dtype),
            gradient=False,
        )
        case(
            "svd", _dtype, _size, lambda x: [tf.svd(x, compute_uv=False), tf.abs(tf.svd(x)[1])], _square, gradient=False
        )
        case("qr", _dtype, _size, lambda x: list(tf.qr(x)), _square, gradient=False)
        case(
            "matrix_solve_ls",
            _dtype,
            _size,
            tf.matrix_solve_ls,
            values([2, _size + 5, _size], dtype=_dtype),
            values([2, _size + 5, 2], dtype=_dtype, salt=2),
            gradient=False,
        )
    case("expm", _dtype, 5, tf.linalg.expm, values([2, 5, 5], dtype=_dtype), gradient=False)
    case("matrix_square_root", _dtype, 5, tf.linalg.sqrtm, _definite(5, _dtype), gradient=False)
case("matrix_band_part", "float32", 17, lambda x: tf.matrix_band_part(x, 2, 1), values([2, 17, 17]))
case("trace", "float32", 17, tf.trace, values([2, 17, 17]))
case("cross", "float32", [33, 3], tf.cross, values([33, 3]), values([33, 3], salt=2))


# -- drawing ----------------------------------------------------------------------------------------------------------

for _dtype in FLOATS:
    for _size in ([7], [1003], [300007]):
        if _size[0] == 300007 and _dtype != "float32":
            continue
        case("random_uniform", _dtype, _size, functools.partial(tf.random_uniform, _size, -1, 1, _dtype, 3))
        case("random_normal", _dtype, _size, functools.partial(tf.random_normal, _size, 0.5, 2.0, _dtype, 3))
        case("truncated_normal", _dtype, _size, functools.partial(tf.truncated_normal, _size, 0.5, 2.0, _dtype, 3))
        case("random_gamma", _dtype, _size, functools.partial(tf.random_gamma, _size, [0.5, 3.0], None, _dtype, 3))
        case("random_poisson", _dtype, _size, functools.partial(tf.random_poisson, [0.5, 30.0], _size, _dtype, 3))
    case(
        "stateless_random_uniform",
        _dtype,
        [1003],
        functools.partial(tf.random.stateless_uniform, [1003], [3, 4], dtype=_dtype),
    )
    case(
        "stateless_random_normal",
        _dtype,
        [1003],
        functools.partial(tf.random.stateless_normal, [1003], [3, 4], dtype=_dtype),
    )
    case(
        "stateless_truncated_normal",
        _dtype,
        [1003],
        functools.partial(tf.random.stateless_truncated_normal, [1003], [3, 4], dtype=_dtype),
    )
for _dtype in ("int32", "int64"):
    case("random_uniform", _dtype, [1003], functools.partial(tf.random_uniform, [1003], -9, 9, _dtype, 3))
    case(
        "random_shuffle", _dtype, [1003], functools.partial(tf.random_shuffle, seed=3), values([1003], -99, 99, _dtype)
    )
case(
    "multinomial",
    "float32",
    "33x10, 100",
    lambda x: tf.multinomial(x, 100, seed=3),
    values([33, 10], -3, 3),
    gradient=False,
)
case("random_crop", "float32", "7x8", lambda x: tf.random_crop(x, [2, 7, 8, 3], seed=3), _image, gradient=False)
case(
    "random flips and adjustments",
    "float32",
    "13x17x3",
    lambda x: [
        tf.image.random_flip_left_right(x, 3),
        tf.image.random_brightness(x, 0.3, 3),
        tf.image.random_contrast(x, 0.3, 0.9, 3),
    ],
    _image[0],
    gradient=False,
)
case(
    "candidate samplers",
    "int64",
    "log_uniform, uniform, learned",
    lambda x: (
        list(tf.nn.log_uniform_candidate_sampler(x, 1, 50, True, 1000, seed=3))
        + list(tf.nn.uniform_candidate_sampler(x, 1, 50, True, 1000, seed=3))
    ),
    values([8, 1], 0, 1000, "int64"),
)
for _name, _initializer in (
    ("glorot_uniform", lambda: tf.glorot_uniform_initializer(3)),
    ("variance_scaling", lambda: tf.variance_scaling_initializer(seed=3)),
    ("orthogonal", lambda: tf.orthogonal_initializer(seed=3)),
    ("truncated_normal", lambda: tf.truncated_normal_initializer(stddev=0.1, seed=3)),
    ("uniform_unit_scaling", lambda: tf.uniform_unit_scaling_initializer(seed=3)),
):
    case("initializers", "float32", _name, lambda make=_initializer: make()([33, 65], tf.float32))


# -- training ---------------------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Momentum, Nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "AdagradDA": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1),
    "RMSProp, centered": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.9, centered=True),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.01),
    "ProximalGradientDescent": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.01),
}


def trained(make, use_resource, sparse, x, gradient):
    """A variable after steps with a gradient that grows with it."""
    variable = tf.get_variable("v", initializer=x, use_resource=use_resource)
    optimizer = make()
    read = tf.gather(variable, [0, 3, 5, 3]) if sparse else variable * 1.0
    loss = tf.reduce_sum(
        read * tf.stop_gradient(tf.gather(gradient, [0, 3, 5, 3]) + read if sparse else gradient + read)
    )
    train = optimizer.apply_gradients(optimizer.compute_gradients(loss, [variable]))
    slots = [optimizer.get_slot(variable, name) for name in sorted(optimizer.get_slot_names())]
    return [variable] + slots + [train]


for _name, _make in OPTIMIZERS.items():
    for _resource in (False, True):
        for _is_sparse in (False, True):
            if _is_sparse and _name == "AdagradDA" and _resource:
                continue
            _size = [7, 5] if _is_sparse else [1003]
            _detail = ("sparse" if _is_sparse else "dense") + ", resource" * _resource
            case(
                "optimizer " + _name,
                "float32",
                _detail,
                functools.partial(trained, _make, _resource, _is_sparse),
                values(_size),
                values(_size, salt=2),
                gradient=False,
                steps=5,
            )


def recurrent(make, x):
    cell = make()
    with tf.variable_scope("rnn", initializer=hashed):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return outputs


def hashed(shape, dtype=None, partition_info=None, **_):
    return tf.constant(values([int(size) for size in shape], -0.3, 0.3))


CELLS = {
    "BasicRNNCell": lambda: tf.nn.rnn_cell.BasicRNNCell(9),
    "BasicLSTMCell": lambda: tf.nn.rnn_cell.BasicLSTMCell(9),
    "LSTMCell, peepholes": lambda: tf.nn.rnn_cell.LSTMCell(9, use_peepholes=True, num_proj=5),
    "GRUCell": lambda: tf.nn.rnn_cell.GRUCell(9),
    "LSTMBlockCell": lambda: tf.contrib.rnn.LSTMBlockCell(9),
    "GRUBlockCellV2": lambda: tf.contrib.rnn.GRUBlockCellV2(9),
}
for _name, _make in CELLS.items():
    case("rnn " + _name, "float32", "4x20x5", functools.partial(recurrent, _make), values([4, 20, 5]))

_steps, _classes = 12, 6
_decoded = np.full([3], _steps, "int32")


def _ctc_loss(x):
    labels = tf.SparseTensor(
        np.array([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], np.int64), np.array([1, 2, 0, 4, 4], np.int32), [3, 2]
    )
    return tf.nn.ctc_loss(labels, x, _decoded)


case("ctc_loss", "float32", "12x3x6", _ctc_loss, values([_steps, 3, _classes], -5, 5))
case(
    "ctc_greedy_decoder",
    "float32",
    "12x3x6",
    lambda x: [tf.nn.ctc_greedy_decoder(x, _decoded)[0][0].values, tf.nn.ctc_greedy_decoder(x, _decoded)[1]],
    values([_steps, 3, _classes], -5, 5),
    gradient=False,
)
case(
    "ctc_beam_search_decoder",
    "float32",
    "12x3x6",
    lambda x: [
        tf.nn.ctc_beam_search_decoder(x, _decoded, 5)[0][0].values,
        tf.nn.ctc_beam_search_decoder(x, _decoded, 5)[1],
    ],
    values([_steps, 3, _classes], -5, 5),
    gradient=False,
)


# -- texts, and numbers in few bits -----------------------------------------------------------------------------------

_numbers = values([50], -1000, 1000)
_words = np.array([b"word %d" % number for number in range(50)], object)
case(
    "string hashes",
    "string",
    50,
    lambda x: [
        tf.string_to_hash_bucket_fast(x, 997),
        tf.string_to_hash_bucket(x, 997),
        tf.string_to_hash_bucket_strong(x, 997, [3, 4]),
    ],
    _words,
)
case(
    "as_string",
    "float32",
    50,
    lambda x: [
        tf.as_string(x),
        tf.as_string(x, precision=3),
        tf.as_string(x, scientific=True),
        tf.as_string(x, shortest=True),
    ],
    _numbers,
    gradient=False,
)
case(
    "string_to_number",
    "string",
    50,
    lambda x: [tf.string_to_number(x), tf.string_to_number(x, tf.float64)],
    np.array([b"%.7g" % number for number in _numbers], object),
)
case("fake_quant", "float32", [1003], lambda x: tf.fake_quant_with_min_max_args(x, -0.8, 0.7), values([1003]))
case(
    "fake_quant",
    "float32",
    "1003, variables",
    lambda x, low, high: tf.fake_quant_with_min_max_vars(x, low, high),
    values([1003]),
    np.float32(-0.8),
    np.float32(0.7),
)
case(
    "quantize",
    "float32",
    "quantize_v2",
    lambda x: list(tf.quantize(x, -1.0, 1.0, tf.quint8)),
    values([1003]),
    gradient=False,
)
case(
    "quantize",
    "float32",
    "quantize_and_dequantize",
    lambda x: tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, range_given=True),
    values([1003]),
)
