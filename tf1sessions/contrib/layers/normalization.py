"""Normalization over the batch, over layers, over groups of channels and over single images.

In the shapes, B is the batch, H and W height and width, and C the channels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..framework.arg_scope import add_arg_scope
from ..framework.variables import add_model_variable
from .utils import (
    channels_last,
    claim_name,
    collect_named_outputs,
    finish,
    get_variable_collections,
    known,
    layer_scope,
    parameter,
    smart_cond,
)

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


def _initial(param_initializers: Any, name: str, default: Any) -> Any:
    return (param_initializers or {}).get(name, default)


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: Any = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: Any = 0.99,
    adjustment: Any = None,
) -> Any:
    """Batch normalization (https://arxiv.org/abs/1502.03167).

    The variables are ``beta``, ``gamma``, ``moving_mean`` and ``moving_variance``, all [C].

    Args:
        inputs: [B, ..., C]; or [B, C, ...] with ``data_format`` "NCHW".
        decay: How much of the moving averages stays at each step.
        center: Whether ``beta`` is added.
        scale: Whether the result is multiplied by ``gamma``.
        epsilon: Added to the variance.
        activation_fn: A function of the output, or None.
        param_initializers: Initializers, by the names above.
        param_regularizers: Regularizers of "beta" and "gamma".
        updates_collections: Where the operations go that update the moving averages: the train step has to run them.
            None makes the output wait for them instead.
        is_training: Whether the statistics are those of the batch, and not the moving averages: a bool, or a tensor.
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists by the names above.
        outputs_collections: Collections of the output.
        trainable: Whether ``beta`` and ``gamma`` are trained.
        batch_weights: [B], the weight of each example in the statistics; ``fused`` is then not used.
        fused: Whether TensorFlow's one operation for it is used, of which the moving variance is the unbiased one.
            Where it can be, unless given: for inputs with 2 or 4 dimensions.
        data_format: "NHWC" or "NCHW".
        zero_debias_moving_mean: Whether the start at zero is taken out of ``moving_mean``.
        scope: The layer's variable scope.
        renorm: Whether the batch's statistics are corrected by moving ones in training, too (arXiv:1702.03275), with
            the further variables ``moving_stddev``, ``renorm_mean`` and ``renorm_stddev``.
        renorm_clipping: Limits of the correction, by the names "rmin", "rmax" and "dmax"; they may be tensors.
        renorm_decay: How much of the moving averages for that stays at each step.
        adjustment: A function of the shape of the inputs, in training, that gives a factor and an offset for what is
            normalized; or None. It is not used with ``batch_weights``, ``updates_collections`` or
            ``zero_debias_moving_mean``.

    Raises:
        ValueError: The shape is not known well enough, an argument is wrong, or ``renorm`` is asked for with
            ``batch_weights``, ``updates_collections`` or ``zero_debias_moving_mean``.
    """
    plain = _is_plain(batch_weights, updates_collections, zero_debias_moving_mean, renorm)
    settings = _BatchNorm(
        decay,
        center,
        scale,
        epsilon,
        param_initializers or {},
        {} if param_regularizers is None else param_regularizers,
        is_training,
        variables_collections,
        trainable,
        channels_last(data_format),
    )
    with layer_scope(scope, "BatchNorm", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank, channels = inputs.shape.rank, _known_channels(inputs, settings.last)
        corrects = renorm or adjustment is not None
        one_op = fused is not False and batch_weights is None and not corrects and rank in (2, 4)
        # 1.15 has two implementations, which differ in the order of the variables and in what they collect.
        if plain and not (one_op and rank == 2):
            outputs = settings.by_layer(
                inputs,
                sc,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                fused=False if corrects or fused is False or rank != 4 else None,
                _reuse=reuse,
            )
        else:
            outputs = settings.by_operations(
                inputs, sc, channels, one_op, batch_weights, updates_collections, zero_debias_moving_mean
            )
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _is_plain(batch_weights: Any, updates_collections: Any, zero_debias: bool, renorm: bool) -> bool:
    """Whether ``tf.layers.BatchNormalization`` can do what is asked for."""
    plain = batch_weights is None and updates_collections == tf.GraphKeys.UPDATE_OPS and not zero_debias
    if renorm and not plain:
        raise ValueError("renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean")
    return plain


def _known_channels(inputs: Any, last: bool) -> int:
    shape = inputs.shape
    if shape.rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels: int | None = shape.as_list()[-1 if last else 1] if shape.rank > 1 else None
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
    return channels


@dataclasses.dataclass(frozen=True)
class _BatchNorm:
    """The arguments of :func:`batch_norm` that both implementations need; ``last``: whether channels are."""

    decay: Any
    center: bool
    scale: bool
    epsilon: float
    initializers: Mapping[str, Any]
    regularizers: Mapping[str, Any]
    is_training: Any
    variables_collections: Any
    trainable: bool
    last: bool

    def __post_init__(self) -> None:
        if not isinstance(self.regularizers, dict):
            kind = type(self.regularizers).__name__
            raise ValueError(f"batch_norm: param_regularizers must be a dict, and is {kind}.")

    def by_layer(self, inputs: Any, scope: Any, **settings: Any) -> Any:
        """The output, by ``tf.layers.BatchNormalization``, which gets ``settings``."""
        layer = tf.layers.BatchNormalization(
            axis=inputs.shape.rank - 1 if self.last else 1,
            momentum=self.decay,
            epsilon=self.epsilon,
            center=self.center,
            scale=self.scale,
            trainable=self.trainable,
            name=scope.name,
            _scope=scope,
            **{f"{name}_initializer": make for name, make in self.initializers.items()},
            **{f"{name}_regularizer": make for name, make in self.regularizers.items()},
            **settings,
        )
        outputs = layer(inputs, training=self.is_training)
        _collect(layer, self.variables_collections)
        return outputs

    def by_operations(
        self,
        inputs: Any,
        scope: Any,
        channels: int,
        one_op: bool,
        batch_weights: Any,
        updates_collections: Any,
        zero_debias_moving_mean: bool,
    ) -> Any:
        """The output, by TensorFlow's one operation for it, or by single operations."""
        claim_name(scope)
        dtype = inputs.dtype.base_dtype
        if dtype in (tf.float16, tf.bfloat16):
            dtype = tf.float32
        given, rank = inputs, inputs.shape.rank
        if one_op and rank == 2:
            given = tf.reshape(inputs, [-1, 1, 1, channels] if self.last else [-1, channels, 1, 1])
        elif batch_weights is not None:
            batch_weights = tf.reshape(tf.cast(batch_weights, dtype), [-1] + [1] * (rank - 1))
        beta = gamma = None
        if self.center:
            beta = self._variable("beta", channels, dtype, tf.zeros_initializer(), True)
        elif one_op:
            beta = tf.constant(0.0, dtype, [channels])
        if self.scale:
            gamma = self._variable("gamma", channels, dtype, tf.ones_initializer(), True)
        elif one_op:
            gamma = tf.constant(1.0, dtype, [channels])
        moving = (
            self._variable("moving_mean", channels, dtype, tf.zeros_initializer()),
            self._variable("moving_variance", channels, dtype, tf.ones_initializer()),
        )

        def update(mean: Any, variance: Any) -> list[Any]:
            return [
                _update(moving[0], mean, self.decay, zero_debias_moving_mean, in_model=not one_op),
                _update(moving[1], variance, self.decay),
            ]

        normalize = _fused if one_op else _unfused
        outputs = normalize(
            given,
            beta,
            gamma,
            moving,
            self.epsilon,
            self.is_training,
            self.last,
            batch_weights,
            update,
            updates_collections,
        )
        outputs.set_shape(given.shape)
        return outputs if given is inputs else tf.reshape(outputs, tf.shape(inputs))

    def _variable(self, name: str, channels: int, dtype: Any, initializer: Any, trained: bool = False) -> Any:
        return parameter(
            name,
            [channels],
            dtype,
            self.initializers.get(name, initializer),
            self.variables_collections,
            trained and self.trainable,
            self.regularizers.get(name) if trained else None,
        )


def _collect(layer: Any, variables_collections: Any) -> None:
    """Puts the variables of a ``tf.layers.BatchNormalization`` into their collections."""
    for variable in layer.variables:
        add_model_variable(variable)
    for name in ("moving_mean", "moving_variance", "beta", "gamma"):
        variable = getattr(layer, name)
        for collection in get_variable_collections(variables_collections, name) or ():
            if variable is not None and not any(known is variable for known in tf.get_collection(collection)):
                tf.add_to_collection(collection, variable)


def _fused(
    inputs: Any,
    beta: Any,
    gamma: Any,
    moving: tuple[Any, Any],
    epsilon: float,
    is_training: Any,
    last: bool,
    batch_weights: Any,
    update: Callable[[Any, Any], list[Any]],
    updates_collections: Any,
) -> Any:
    """The output, by TensorFlow's one operation for it."""
    data_format = "NHWC" if last else "NCHW"

    def training() -> Any:
        return tf.nn.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format)

    def inference() -> Any:
        return tf.nn.fused_batch_norm(
            inputs, gamma, beta, *moving, epsilon=epsilon, is_training=False, data_format=data_format
        )

    outputs, mean, variance = smart_cond(is_training, training, inference)

    def updated() -> Any:
        with tf.control_dependencies(update(mean, variance)):
            return tf.identity(outputs)

    if known(is_training) is False:
        return outputs
    if updates_collections is None:
        return smart_cond(is_training, updated, lambda: outputs)
    _collect_updates(lambda: update(mean, variance), moving, is_training, updates_collections)
    return outputs


def _unfused(
    inputs: Any,
    beta: Any,
    gamma: Any,
    moving: tuple[Any, Any],
    epsilon: float,
    is_training: Any,
    last: bool,
    batch_weights: Any,
    update: Callable[[Any, Any], list[Any]],
    updates_collections: Any,
) -> Any:
    """The output, by single operations."""
    rank = inputs.shape.rank
    channel_axis = rank - 1 if last else 1
    axes = [axis for axis in range(rank) if axis != channel_axis]
    mean, variance = moving
    if known(is_training) is not False:
        if batch_weights is None:
            moments = tf.nn.moments(inputs, axes, keep_dims=not last)
        else:
            moments = tf.nn.weighted_moments(inputs, axes, batch_weights, keepdims=not last)
        if not last:
            moments = [tf.reshape(one, [-1]) for one in moments]
        moments = [tf.cast(one, moving[0].dtype.base_dtype) for one in moments]

        def updated() -> Any:
            with tf.control_dependencies(update(*moments)):
                return tuple(tf.identity(one) for one in moments)

        if updates_collections is None:
            mean, variance = smart_cond(is_training, updated, lambda: moving)
        else:
            _collect_updates(lambda: update(*moments), moving, is_training, updates_collections)
            mean, variance = smart_cond(is_training, lambda: tuple(moments), lambda: moving)

    def along(vector: Any) -> Any:
        if vector is None:
            return None
        vector = tf.cast(vector, inputs.dtype.base_dtype)
        return vector if last else tf.reshape(vector, [1, -1] + [1] * (rank - 2))

    return tf.nn.batch_normalization(inputs, along(mean), along(variance), along(beta), along(gamma), epsilon)


def _collect_updates(
    update: Callable[[], list[Any]], moving: tuple[Any, Any], is_training: Any, collections: Any
) -> None:
    for one in smart_cond(is_training, update, lambda: list(moving)):
        tf.add_to_collections(collections, one)


def _update(variable: Any, value: Any, decay: Any, zero_debias: bool = False, in_model: bool = False) -> Any:
    """Moves ``variable`` towards ``value``.

    Args:
        variable: The moving average.
        value: The batch's.
        decay: How much of ``variable`` stays.
        zero_debias: Whether the start at zero is taken out.
        in_model: Whether what that needs is in MODEL_VARIABLES.
    """
    dtype = variable.dtype.base_dtype
    with tf.name_scope("AssignMovingAvg") as scope:
        rate = tf.cast(1.0 - decay, dtype)
        if not zero_debias:
            return tf.assign_sub(variable, (variable - value) * rate, name=scope)
        with tf.variable_scope(variable.op.name):
            zeros = tf.zeros_initializer()
            biased = tf.get_variable("biased", variable.shape, dtype, zeros, trainable=False)
            steps = tf.get_variable("local_step", [], dtype, zeros, trainable=False)
        if in_model:
            add_model_variable(biased)
            add_model_variable(steps)
        biased = tf.assign_sub(biased, (biased - value) * rate)
        steps = tf.assign_add(steps, tf.ones([], dtype))
        return tf.assign(variable, biased / (1.0 - tf.pow(1.0 - rate, steps)), name=scope)


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Layer normalization (https://arxiv.org/abs/1607.06450): each example by its own mean and variance.

    Args:
        inputs: [B, ...].
        center: Whether the variable ``beta`` is added.
        scale: Whether the result is multiplied by the variable ``gamma``.
        activation_fn: A function of the output, or None.
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists for "beta" and "gamma".
        outputs_collections: Collections of the output.
        trainable: Whether the variables are trained.
        begin_norm_axis: The first dimension that is normalized; all after it are too.
        begin_params_axis: The first dimension that the variables have.
        scope: The layer's variable scope.

    Raises:
        ValueError: An axis is not below the rank, or the shape is not known well enough.
    """
    with layer_scope(scope, "LayerNorm", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < "
                f"rank(inputs) ({rank})"
            )
        params_shape = inputs.shape[begin_params_axis:]
        if not params_shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {inputs.shape}"
            )
        dtype = inputs.dtype.base_dtype
        beta = gamma = None
        if center:
            beta = parameter("beta", params_shape, dtype, tf.zeros_initializer(), variables_collections, trainable)
        if scale:
            gamma = parameter("gamma", params_shape, dtype, tf.ones_initializer(), variables_collections, trainable)
        half = dtype == tf.float16
        mean, variance = tf.nn.moments(
            tf.cast(inputs, tf.float32) if half else inputs, list(range(begin_norm_axis, rank)), keep_dims=True
        )
        if half:
            mean, variance = tf.cast(mean, dtype), tf.cast(variance, dtype)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=1e-3 if half else 1e-12
        )
        outputs.set_shape(inputs.shape)
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Instance normalization (https://arxiv.org/abs/1607.08022): each channel of each example by itself.

    Args:
        inputs: [B, ..., C]; or [B, C, ...] with ``data_format`` "NCHW".
        center: Whether the variable ``beta``, [C], is added.
        scale: Whether the result is multiplied by the variable ``gamma``, [C].
        epsilon: Added to the variance.
        activation_fn: A function of the output, or None.
        param_initializers: Initializers of "beta" and "gamma".
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists for "beta" and "gamma".
        outputs_collections: Collections of the output.
        trainable: Whether the variables are trained.
        data_format: "NHWC" or "NCHW".
        scope: The layer's variable scope.

    Raises:
        ValueError: The shape is not known well enough, or ``data_format`` is another.
    """
    inputs = tf.convert_to_tensor(inputs)
    last = channels_last(data_format)
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    with layer_scope(scope, "InstanceNorm", [inputs], reuse) as sc:
        channel_axis = rank - 1 if last else 1
        channels = inputs.shape.as_list()[channel_axis]
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {inputs.shape}.")
        beta, gamma = _beta_and_gamma(
            channels, inputs.dtype.base_dtype, center, scale, param_initializers, variables_collections, trainable
        )
        if not last:
            wide = [1, channels] + [1] * (rank - 2)
            beta, gamma = (None if vector is None else tf.reshape(vector, wide) for vector in (beta, gamma))
        axes = [axis for axis in range(1, rank) if axis != channel_axis]
        mean, variance = tf.nn.moments(inputs, axes, keep_dims=True)
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(inputs.shape)
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _beta_and_gamma(
    channels: int,
    dtype: Any,
    center: bool,
    scale: bool,
    param_initializers: Any,
    variables_collections: Any,
    trainable: bool,
) -> tuple[Any, Any]:
    made = []
    for name, wanted, initializer in (
        ("beta", center, tf.zeros_initializer()),
        ("gamma", scale, tf.ones_initializer()),
    ):
        initializer = _initial(param_initializers, name, initializer)
        made.append(
            parameter(name, [channels], dtype, initializer, variables_collections, trainable) if wanted else None
        )
    return made[0], made[1]


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Group normalization (https://arxiv.org/abs/1803.08494): each group of channels of each example by itself.

    Args:
        inputs: A tensor of known rank, such as [B, H, W, C].
        groups: How many groups; divides C.
        channels_axis: The dimension C.
        reduction_axes: The dimensions over which, with the channels of a group, mean and variance are taken.
        center: Whether the variable ``beta``, [C], is added.
        scale: Whether the result is multiplied by the variable ``gamma``, [C].
        epsilon: Added to the variance.
        activation_fn: A function of the output, or None.
        param_initializers: Initializers of "beta" and "gamma".
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists for "beta" and "gamma".
        outputs_collections: Collections of the output.
        trainable: Whether the variables are trained.
        scope: The layer's variable scope.
        mean_close_to_zero: Whether the variance is computed without subtracting the mean first: faster, and exact
            only if the mean is near 0.

    Raises:
        ValueError: The shape is not known well enough, the groups do not fit, or an axis is given twice.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank, channel_axis, axes, channels = _checked_axes(inputs, groups, channels_axis, reduction_axes)
    shape = tf.shape(inputs)
    sizes = [shape[axis] if size is None else size for axis, size in enumerate(inputs.shape.as_list())]
    grouped_shape = [*sizes[:channel_axis], groups, channels // groups, *sizes[channel_axis + 1 :]]
    grouped = tf.reshape(inputs, grouped_shape)
    with layer_scope(scope, "GroupNorm", [inputs], reuse) as sc:
        beta, gamma = _beta_and_gamma(
            channels, inputs.dtype.base_dtype, center, scale, param_initializers, variables_collections, trainable
        )
        wide = [1] * (rank + 1)
        wide[channel_axis : channel_axis + 2] = [groups, channels // groups]
        beta, gamma = (None if vector is None else tf.reshape(vector, wide) for vector in (beta, gamma))
        moment_axes = sorted([axis + 1 if axis > channel_axis else axis for axis in axes] + [channel_axis + 1])
        if mean_close_to_zero:
            counts, sums, squares, _ = tf.nn.sufficient_statistics(grouped, moment_axes, keep_dims=True)
            mean, variance = tf.nn.normalize_moments(counts, sums, squares, None)
        else:
            mean, variance = tf.nn.moments(grouped, moment_axes, keep_dims=True)
        gain = tf.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = tf.reshape(grouped * gain + offset, sizes)
        outputs.set_shape(inputs.shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _checked_axes(
    inputs: Any, groups: int, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, int, list[int], int]:
    """The rank, the axis of the channels and those that are reduced, from the front, and the number of channels."""
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError(f"Axis is out of bounds: {channels_axis}.")
    channel_axis = channels_axis % rank
    axes = [axis % rank for axis in reduction_axes]
    if any(axis > rank - 1 for axis in reduction_axes):
        raise ValueError(f"Axis is out of bounds: {list(reduction_axes)}.")
    if channel_axis in axes:
        raise ValueError("reduction_axes must not contain channels_axis")
    channels = inputs.shape.as_list()[channel_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {inputs.shape}.")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return rank, channel_axis, axes, channels
