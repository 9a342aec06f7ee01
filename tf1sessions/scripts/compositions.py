"""Functions that TensorFlow 1 composed of other operations, so that they gave other bits, or another type.

Data flow: :func:`apply` replaces them inside TensorFlow, for whoever calls them. Those that draw are as they were only
where seeds are TensorFlow 1's (seeds.py): they make other numbers of operations than today's.

The table of what differs besides is in migration_notes/fidelity.md.
"""

from __future__ import annotations

import functools
import importlib
import numbers
import operator
import re
import string
from typing import Any

from . import seeds

__all__ = ["apply"]


def apply(face: Any) -> None:
    """Replace the functions, once a process."""
    nn_ops: Any = importlib.import_module("tensorflow.python.ops.nn_ops")
    nn_ops._dropout = _with_dropout(nn_ops, face)
    face.image.per_image_standardization = _with_type(face)
    image_ops: Any = importlib.import_module("tensorflow.python.ops.image_ops_impl")
    image_ops._flip, image_ops._random_flip = _of_one_image(image_ops, face)
    face.einsum = face.linalg.einsum = _with_products(face)
    face.feature_column.linear_model = _with_resources(face)
    face.nn.swish = _with_sigmoid(face)
    face.nn.weighted_moments = _with_reciprocals(face)
    for name in ("bessel_i0", "bessel_i1"):
        function = _scaled_back(getattr(face.math, name), getattr(face.math, f"{name}e"), face)
        setattr(face.math, name, function)
        setattr(face, name, function)
    activations: Any = importlib.import_module("tf_keras.src.activations")
    activations.softmax = face.keras.activations.softmax = _with_exponentials(activations.softmax, face)


def _with_dropout(nn_ops: Any, tf: Any) -> Any:
    """TensorFlow 1 multiplied by the mask: dropped negative numbers are -0, a rate that is fed is rounded otherwise.

    Today's divides by what is kept, and selects.
    """
    original = nn_ops._dropout

    @functools.wraps(original)
    def dropout(
        x: Any, rate: Any, noise_shape: Any, uniform_sampler: Any, dummy_rng_step: Any, name: Any, default_name: str
    ) -> Any:
        is_number = isinstance(rate, numbers.Real)
        dtype = getattr(x, "dtype", None)
        is_other_type = not is_number and getattr(rate, "dtype", None) != dtype
        if default_name != "dropout" or not seeds.are_counted() or (is_number and not 0 < rate < 1) or is_other_type:
            return original(x, rate, noise_shape, uniform_sampler, dummy_rng_step, name, default_name)
        with tf.name_scope(name, default_name, [x]):
            x = tf.convert_to_tensor(x, name="x")
            if not tf.executing_eagerly():
                rate = tf.convert_to_tensor(rate, x.dtype, name="rate")
                rate.shape.assert_has_rank(0)
                if tf.get_static_value(rate) == 0:
                    return x
            drawn = uniform_sampler(shape=nn_ops._get_noise_shape(x, noise_shape), dtype=x.dtype)
            scale = 1 / (1 - rate)
            kept = tf.cast(drawn >= rate, x.dtype)
            result = x * scale * kept
            if not tf.executing_eagerly():
                result.set_shape(x.shape)
            return result

    return dropout


def _with_type(tf: Any) -> Any:
    """TensorFlow 1 scaled what is neither float16 nor float32 to [0, 1], and back to its type, saturating."""
    image_ops: Any = importlib.import_module("tensorflow.python.ops.image_ops_impl")

    @functools.wraps(image_ops.per_image_standardization)
    def per_image_standardization(image: Any) -> Any:
        image = tf.convert_to_tensor(image, name="image")
        if image.dtype in (tf.float16, tf.float32):
            return image_ops.per_image_standardization(image)
        scaled = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.convert_image_dtype(image_ops.per_image_standardization(scaled), image.dtype, saturate=True)

    return per_image_standardization


def _of_one_image(image_ops: Any, tf: Any) -> tuple[Any, Any]:
    """Return what has no rank was one image, and flipped as such; today that is decided when it runs."""
    flip, random_flip = image_ops._flip, image_ops._random_flip

    def is_one(image: Any) -> bool:
        shape = getattr(image, "shape", None)
        return seeds.are_counted() and not tf.executing_eagerly() and getattr(shape, "rank", 0) is None

    def reverse(image: Any, axis: int) -> Any:
        return image_ops.fix_image_flip_shape(image, tf.reverse(image, [axis]))

    @functools.wraps(flip)
    def _flip(image: Any, flip_index: int, scope_name: str) -> Any:
        if not is_one(image):
            return flip(image, flip_index, scope_name)
        with tf.name_scope(None, scope_name, [image]):
            return reverse(image_ops._AssertAtLeast3DImage(image), flip_index)

    @functools.wraps(random_flip)
    def _random_flip(image: Any, flip_index: int, random_func: Any, scope_name: str) -> Any:
        if not is_one(image):
            return random_flip(image, flip_index, random_func, scope_name)
        with tf.name_scope(None, scope_name, [image]) as scope:
            image = image_ops._AssertAtLeast3DImage(image)
            is_flipped = random_func(shape=[], minval=0, maxval=1.0) < 0.5
            result = tf.cond(is_flipped, lambda: tf.reverse(image, [flip_index]), lambda: image, name=scope)
            return image_ops.fix_image_flip_shape(image, result)

    return _flip, _random_flip


def _with_products(tf: Any) -> Any:
    """TensorFlow 1 multiplied matrices, or arrays, one operand after the other."""
    original = tf.einsum

    @functools.wraps(original)
    def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
        has_ranks = all(getattr(getattr(one, "shape", None), "rank", None) is not None for one in inputs)
        if not seeds.are_counted() or tf.executing_eagerly() or not has_ranks or kwargs.keys() - {"name"}:
            return original(equation, *inputs, **kwargs)
        axes, wanted = _axes_of_einsum(equation, [one.shape.rank for one in inputs])
        if len(axes) == 1 and len(axes[0]) == 2 == inputs[0].shape.rank and axes[0][0] == axes[0][1] and not wanted:
            with tf.name_scope(kwargs.get("name"), "einsum", [equation, inputs]):
                return tf.trace(inputs[0])
        is_repeated = any(len(set(each)) < len(each) for each in axes)
        is_shared = any(sum(axis in each for each in axes) > 2 for axis in {*"".join(axes)} - {*wanted})
        if is_repeated or is_shared or [*map(len, axes)] != [one.shape.rank for one in inputs]:
            return original(equation, *inputs, **kwargs)
        with tf.name_scope(kwargs.get("name"), "einsum", [equation, inputs]):
            result, labels = inputs[0], axes[0]
            for other, others in zip(inputs[1:], axes[1:], strict=True):
                result, labels = _product(tf, result, labels, other, others, {*labels} & {*others} - {*wanted})
            left = [place for place, axis in enumerate(labels) if axis not in wanted]
            if left:
                result = tf.reduce_sum(result, axis=left)
                labels = "".join(axis for axis in labels if axis in wanted)
            return _transposed(tf, result, labels, wanted)

    return einsum


def _axes_of_einsum(equation: str, ranks: list[int]) -> tuple[list[str], str]:
    """A letter for each axis of the operands, and of the result; no axes where the equation is not one."""
    found = re.fullmatch(r"([a-zA-Z,.]+)(->[a-zA-Z.]*)?", equation.replace(" ", ""))
    operands = found[1].split(",") if found else []
    if found is None or len(operands) != len(ranks):
        return [], ""
    free = "".join(letter for letter in string.ascii_letters if letter not in equation)
    lengths = [max(0, rank + 3 - len(one)) if "..." in one else 0 for one, rank in zip(operands, ranks, strict=True)]
    ellipses = [free[len(free) - length :] for length in lengths]
    longest = max(ellipses, key=len)
    axes = [one.replace("...", letters) for one, letters in zip(operands, ellipses, strict=True)]
    if found[2]:
        return axes, found[2][2:].replace("...", longest)
    every = "".join(axes)
    return axes, longest + "".join(sorted(axis for axis in {*every} - {*longest} if every.count(axis) == 1))


def _product(tf: Any, one: Any, axes: str, other: Any, others: str, summed: set[str]) -> tuple[Any, str]:
    """The product of two operands, summed over some axes, and the axes that it has."""
    kept = sorted({*axes} & {*others} - summed)
    free, other_free = sorted({*axes} - {*others}), sorted({*others} - {*axes})
    inner = sorted(summed)
    result = "".join([*kept, *free, *other_free])
    one = _transposed(tf, one, axes, [*kept, *free, *inner])
    other = _transposed(tf, other, others, [*kept, *inner, *other_free])
    if not summed:
        for _ in other_free:
            one = tf.expand_dims(one, -1)
        for _ in free:
            other = tf.expand_dims(other, len(kept))
        return tf.multiply(one, other), result
    sizes, other_sizes = _sizes(tf, one), _sizes(tf, other)
    first, last = len(kept) + len(free), len(kept) + len(inner)
    one = _reshaped(tf, one, [*sizes[: len(kept)], _number(sizes[len(kept) : first]), _number(sizes[first:])])
    other = _reshaped(
        tf, other, [*other_sizes[: len(kept)], _number(other_sizes[len(kept) : last]), _number(other_sizes[last:])]
    )
    return _reshaped(tf, tf.matmul(one, other), [*sizes[:first], *other_sizes[last:]]), result


def _transposed(tf: Any, tensor: Any, axes: Any, wanted: Any) -> Any:
    order = [axes.index(axis) for axis in wanted]
    return tensor if order == sorted(order) else tf.transpose(tensor, order)


def _reshaped(tf: Any, tensor: Any, shape: list[Any]) -> Any:
    is_known = all(isinstance(size, int) for size in shape)
    return tensor if is_known and tensor.shape.as_list() == shape else tf.reshape(tensor, shape)


def _sizes(tf: Any, tensor: Any) -> list[Any]:
    """Numbers where they are known, else tensors."""
    known = tensor.shape.as_list()
    shape: Any = None if None not in known else tf.shape(tensor)
    return [shape[axis] if size is None else size for axis, size in enumerate(known)]


def _number(sizes: list[Any]) -> Any:
    return functools.reduce(operator.mul, sizes, 1)


def _with_exponentials(original: Any, tf: Any) -> Any:
    """Keras computed it by itself for tensors of more than two axes."""

    @functools.wraps(original)
    def softmax(x: Any, axis: int = -1) -> Any:
        is_tensor = isinstance(x, tf.Tensor) and not tf.executing_eagerly()
        if not seeds.are_counted() or not is_tensor or x.shape.rank is None or x.shape.rank <= 2:
            return original(x, axis)
        exponentials = tf.exp(x - tf.reduce_max(x, axis=axis, keepdims=True))
        return exponentials / tf.reduce_sum(exponentials, axis=axis, keepdims=True)

    return softmax


def _with_resources(tf: Any) -> Any:
    """Its variables were resources."""
    original = tf.feature_column.linear_model

    @functools.wraps(original)
    def linear_model(*args: Any, **kwargs: Any) -> Any:
        with tf.variable_scope(tf.get_variable_scope(), use_resource=True, auxiliary_name_scope=False):
            return original(*args, **kwargs)

    return linear_model


def _with_sigmoid(tf: Any) -> Any:
    """TensorFlow 1 had no beta, which today is a constant of its own, with a gradient."""
    original = tf.nn.swish

    @functools.wraps(original)
    def swish(features: Any, *args: Any, **kwargs: Any) -> Any:
        if not seeds.are_counted() or tf.executing_eagerly() or args or kwargs:
            return original(features, *args, **kwargs)

        def product(value: Any) -> Any:
            def gradient(above: Any) -> Any:
                sigmoid = tf.sigmoid(value)
                return above * (sigmoid * (1.0 + value * (1.0 - sigmoid)))

            return value * tf.sigmoid(value), gradient

        return tf.custom_gradient(product)(tf.convert_to_tensor(features))

    return swish


def _with_reciprocals(tf: Any) -> Any:
    """TensorFlow 1 divided once, and multiplied by that."""
    original = tf.nn.weighted_moments

    @functools.wraps(original)
    def weighted_moments(
        x: Any, axes: Any, frequency_weights: Any, name: Any = None, keep_dims: Any = None, keepdims: Any = None
    ) -> Any:
        x = tf.convert_to_tensor(x, name="x")
        if not seeds.are_counted() or tf.executing_eagerly() or x.dtype == tf.float16:
            return original(x, axes, frequency_weights, name, keep_dims, keepdims)
        with tf.name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
            weights = tf.convert_to_tensor(frequency_weights, name="frequency_weights")
            if weights.dtype != x.dtype:
                weights = tf.cast(weights, x.dtype)
            total = tf.reduce_sum(weights * x, axes, keepdims=True, name="weighted_input_sum")
            weight = tf.reduce_sum(weights + tf.zeros_like(x), axes, keepdims=True, name="sum_of_weights")
            divisor = tf.reciprocal(weight, name="inv_weight_sum")
            mean = total * divisor
            squares = weights * tf.squared_difference(x, mean)
            variance = tf.reduce_sum(squares, axes, keepdims=True, name="weighted_distsq") * divisor
            if not (keepdims or keep_dims):
                mean, variance = tf.squeeze(mean, axes), tf.squeeze(variance, axes)
            return mean, variance

    return weighted_moments


def _scaled_back(original: Any, scaled: Any, tf: Any) -> Any:
    """Bessel functions were those that exponentials scale, times these."""

    @functools.wraps(original)
    def bessel(x: Any, name: Any = None) -> Any:
        if not seeds.are_counted() or tf.executing_eagerly():
            return original(x, name)
        with tf.name_scope(name, original.__name__, [x]):
            return tf.exp(tf.abs(x)) * scaled(x)

    return bessel
