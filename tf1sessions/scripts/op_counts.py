"""How many operations TensorFlow 1.15.5's functions make beyond those of TensorFlow 2.21.

Measured call by call against genuine 1.15.5 (tests/golden/make_seeds.py). An entry takes the arguments of its function
and returns two numbers: those beyond until the function draws, and those after that. They leave out what functions
differ by that it calls and that have entries of their own.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

__all__ = ["CONTRIB", "FUNCTIONS", "GRADIENTS", "KEEP_ANSWERS", "PROBES", "Differs"]

Differs = Callable[..., tuple[int, int]]

#: By module and name.
FUNCTIONS: dict[str, Differs] = {}
#: The same, of this package's own ``tf.contrib``.
CONTRIB: dict[str, Differs] = {}
#: Of gradients, by the type of the operation.
GRADIENTS: dict[str, Differs] = {}
#: Functions that call one of their arguments once more than 1.15.5's, the first time: the function, and that argument.
PROBES = {"tensorflow.python.ops.variable_scope:_VariableStore._get_single_variable": "regularizer"}
#: The modules of regularizers that keep their first answer: with these nothing is made twice.
KEEP_ANSWERS = {"tf1sessions.contrib.framework.variables"}

_SEEN = "_tf1sessions_seen"
_NOTED = "_tf1sessions_noted"
_OPS = "tensorflow.python.ops."
_KERAS = "tf_keras.src.layers."
_FEATURES = "tensorflow.python.feature_column.feature_column_v2:"


def _of(*places: str) -> Callable[[Differs], Differs]:
    def add(differs: Differs) -> Differs:
        FUNCTIONS.update(dict.fromkeys(places, differs))
        return differs

    return add


def _by(before: int, after: int) -> Differs:
    return lambda *_, **__: (before, after)


FUNCTIONS |= {
    _OPS + "array_ops:matrix_diag": _by(0, -4),
    "tensorflow.python.data.ops.dataset_ops:DatasetV1._make_initializable_iterator": _by(0, 3),
    _OPS + "clip_ops:clip_by_global_norm": _by(0, 1),
    _OPS + "array_ops:matrix_diag_part": _by(0, -2),
    _OPS + "array_ops:matrix_set_diag": _by(0, -1),
    _OPS + "histogram_ops:histogram_fixed_width_bins": _by(0, -6),
    _OPS + "math_ops:_unsorted_segment_N": _by(0, -13),
    "tensorflow.python.training.ftrl:FtrlOptimizer._prepare": _by(0, -9),
    _OPS + "image_ops_impl:per_image_standardization": _by(0, 1),
    _OPS + "math_ops:linspace_nd": _by(0, -67),
    "tensorflow:nn.swish": _by(0, -2),
    _OPS + "parsing_ops:parse_single_example": _by(0, -4),
    _OPS + "random_ops:random_gamma": _by(-2, 0),
    "tensorflow.python.training.saver:BaseSaverBuilder._AddShardedSaveOpsForV2": _by(0, -3),
    "tensorflow.python.training.sync_replicas_optimizer:SyncReplicasOptimizer.apply_gradients": _by(0, 1),
    "tf_keras.src.regularizers:L1.__call__": _by(0, 2),
    "tf_keras.src.regularizers:L2.__call__": _by(0, 4),
}
# They choose the kind of generator in the graph today.
_of(
    *(
        f"{_OPS}stateless_random_ops:stateless_{kind}"
        for kind in ("random_normal", "random_uniform", "truncated_normal")
    )
)(_by(0, -2))


# -- drawing ----------------------------------------------------------------------------------------------------------


@_of(_OPS + "random_ops:random_uniform")
def _random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", *_: Any, **__: Any
) -> tuple[int, int]:
    """It scaled always; today not where nothing would change."""
    if _dtype(dtype).is_integer or not (isinstance(minval, int) and minval == 0):
        return 0, 0
    return (2, 3) if maxval is None or (isinstance(maxval, int) and maxval == 1) else (0, 2)


# -- arrays and arithmetic --------------------------------------------------------------------------------------------


@_of(_OPS + "math_ops:_ReductionDims")
def _reduction_dims(x: Any, axis: Any) -> tuple[int, int]:
    """All axes were a constant for tensors whose rank is known, 0 too; not for variables."""
    if axis is not None:
        return 0, 0
    if not _is_tensor(x):  # a list or an array has no rank that either of them knows
        return (0, 3) if getattr(getattr(x, "shape", None), "rank", None) else (0, 0)
    return (0, -3) if x.shape.rank == 0 else (0, 0)


@_of(_OPS + "array_ops:split")
def _split(value: Any, num_or_size_splits: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, int(isinstance(num_or_size_splits, int))


@_of(_OPS + "tensor_getitem_override:_slice_helper", "tensorflow.python.framework.tensor:Tensor.__getitem__")
def _slice(tensor: Any, slice_spec: Any, var: Any = None) -> tuple[int, int]:
    """Beside a tensor today the bounds that are left out are constants of its type."""
    specs = slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec]
    if not any(_is_tensor(bound) for one in specs for bound in _bounds(one)):
        return 0, 0
    then: list[list[str]] = [[], [], []]  # of each bound: the type of a tensor, or none
    now: list[list[str]] = [[], [], []]
    constants = 0
    for one in specs:
        types = [bound.dtype.name for bound in _bounds(one) if _is_tensor(bound)]
        kept = "int64" if "int64" in types else types[0] if types else ""
        if not isinstance(one, slice):
            bounds, kept = (one, one, None), kept if kept in ("int16", "int64") else ""
        else:
            bounds = (one.start, one.stop, one.step)
        for place, bound in enumerate(bounds):
            given = bound.dtype.name if _is_tensor(bound) else ""
            then[place].append(given)
            now[place].append(given or (kept if bound is None else ""))
            constants += bool(bound is None and kept)
    return 0, sum(map(_stacked, then)) + _casts(then) - sum(map(_stacked, now)) - _casts(now) - constants


def _bounds(one: Any) -> tuple[Any, ...]:
    return (one.start, one.stop, one.step) if isinstance(one, slice) else (one,)


def _stacked(types: list[str]) -> int:
    return 1 + types.count("") if any(types) else 1


def _casts(lists: list[list[str]]) -> int:
    return sum("int64" not in types for types in lists) if any("int64" in types for types in lists) else 0


@_of(_OPS + "array_ops:reshape")
def _reshape(tensor: Any, shape: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """An empty list is a constant of floats first."""
    return 0, -int(isinstance(shape, (list, tuple)) and not shape)


@_of(_OPS + "signal.fft_ops:rfft", _OPS + "signal.fft_ops:irfft")
def _real_transform(input_tensor: Any, fft_length: Any = None, name: Any = None) -> tuple[int, int]:
    """A length that is known is made a constant once more."""
    if fft_length is not None:
        return 0, -int(not _is_tensor(fft_length) or _constant(fft_length) is not None)
    known: Any = getattr(input_tensor, "shape", None)
    return 0, -int(not hasattr(known, "rank") or (known.rank is not None and known[-1:].is_fully_defined()))


@_of(_OPS + "array_ops:transpose")
def _transpose(a: Any, perm: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, int(perm is None and _is_tensor(a) and a.shape.rank is None)


@_of(_OPS + "math_ops:tensordot")
def _tensordot(a: Any, b: Any, axes: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """It transposed and reshaped also where nothing changes."""
    if isinstance(axes, int):
        rank = a.shape.rank if _is_tensor(a) else len(_module("numpy").shape(a))
        if rank is None:
            return 0, 0
        left, right = list(range(rank - axes, rank)), list(range(axes))
    elif isinstance(axes, (list, tuple)) and len(axes) == 2:
        left, right = ([side] if isinstance(side, int) else list(side) for side in axes)
    else:
        return 0, 0
    is_matrix = _free_axes(a, left) == _free_axes(b, right) == 1  # which need not be reshaped
    return 0, _kept_by_tensordot(a, left, False) + _kept_by_tensordot(b, right, True) + 2 * is_matrix


def _free_axes(value: Any, axes: list[int]) -> int:
    shape = value.shape if hasattr(value, "shape") else _module("numpy").shape(value)
    if getattr(shape, "rank", 0) is None or (hasattr(shape, "as_list") and None in shape.as_list()):
        return 0
    return len(shape) - len(axes)


def _kept_by_tensordot(value: Any, axes: list[int], flipped: bool) -> int:
    known = value.shape if hasattr(value, "shape") else _module("numpy").shape(value)
    if getattr(known, "rank", 0) is None:
        return 0
    shape = known.as_list() if hasattr(known, "as_list") else list(known)
    if None in shape:
        return 0
    axes = [axis % len(shape) for axis in axes]
    free = [axis for axis in range(len(shape)) if axis not in axes]
    order = axes + free if flipped else free + axes
    contracted, others = (math.prod(shape[axis] for axis in part) for part in (axes, free))
    matrix = [contracted, others] if flipped else [others, contracted]
    is_transposed = order != list(range(len(shape)))
    return 2 * (not is_transposed) + 2 * ([shape[axis] for axis in order] == matrix)


@_of(_OPS + "tensor_array_ops:_GraphTensorArray.size")
def _tensor_array_size(self: Any, name: Any = None) -> tuple[int, int]:
    return 0, int(not self._dynamic_size and self._size is not None and _is_tensor(self._size))


@_of(_OPS + "confusion_matrix:confusion_matrix")
def _confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """It added to zeros."""
    return 0, 3 if num_classes is None or _is_tensor(num_classes) else 2


@_of(_OPS + "array_ops:one_hot")
def _one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, *_: Any, **__: Any
) -> tuple[int, int]:
    """It made a tensor of a value to learn its type, and another one to use it."""
    return 0, sum(value is not None and not _is_tensor(value) for value in (on_value, off_value))


@_of(_OPS + "array_ops:repeat")
def _repeat(input: Any, repeats: Any, axis: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, -7 if isinstance(repeats, int) and axis is not None else 0


@_of(_OPS + "math_ops:saturate_cast")
def _saturate_cast(value: Any, dtype: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Each limit was an operation of its own, and is one of two of the same one."""
    kind, given = _dtype(dtype), _dtype(value.dtype) if hasattr(value, "dtype") else None
    if given is None or given.is_complex or kind.is_complex:
        return 0, 0
    limits = int(given.min < kind.min) + int(given.max > kind.max)
    return 0, 2 * limits - 3


@_of(_OPS + "math_grad:_GatherDropNegatives")
def _gather_drop_negatives(
    params: Any, ids: Any, zero_clipped_indices: Any = None, is_positive: Any = None
) -> tuple[int, int]:
    """It added one axis after the other."""
    if is_positive is not None or params.shape.rank is None or ids.shape.rank is None:
        return 0, 0
    return 0, 2 * (params.shape.rank - 1) - 12


# -- images -----------------------------------------------------------------------------------------------------------


@_of(_OPS + "image_ops_impl:_AssertAtLeast3DImage")
def _assert_image(image: Any) -> tuple[int, int]:
    """It asserted that batches are not empty, too; today only the last three axes are looked at."""
    shape = image.shape
    if shape.rank is None or not shape[-3:].is_fully_defined():
        return 0, -4
    return 0, 0 if shape.is_fully_defined() else 22


@_of(_OPS + "image_ops_impl:_CheckAtLeast3DImage")
def _check_image(image: Any, require_static: Any = True) -> tuple[int, int]:
    """The same, for those that call this by themselves."""
    return (0, 0) if _module("sys")._getframe(2).f_code.co_name == "_AssertAtLeast3DImage" else _assert_image(image)


@_of(_OPS + "image_ops_impl:crop_to_bounding_box")
def _crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> tuple[int, int]:
    """The sizes that stay are looked up today."""
    return 0, -8 if _is_tensor(target_height) or _is_tensor(target_width) else -12


@_of(_OPS + "image_ops_impl:_resize_images_common")
def _resize_images(
    images: Any, resizer_fn: Any, size: Any, preserve_aspect_ratio: Any, *_: Any, **__: Any
) -> tuple[int, int]:
    """A size that is known was not taken apart in the graph."""
    return 0, -6 if preserve_aspect_ratio and not _is_tensor(size) else 0


@_of(_OPS + "image_ops_impl:adjust_jpeg_quality")
def _adjust_jpeg_quality(image: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """It did not limit what it converted."""
    return 0, -4 if _is_tensor(image) and image.dtype.is_floating else 0


@_of(_OPS + "image_ops_impl:decode_image")
def _decode_image(contents: Any, channels: Any = None, *dtype: Any, **more: Any) -> tuple[int, int]:
    """It chose between formats in the graph."""
    return 0, 0 if dtype or more.keys() - {"name"} else 75


@_of(_OPS + "parsing_ops:parse_example")
def _parse_example(serialized: Any, features: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Each key was a constant of its own; today there is one for each kind of features."""
    keys = set()
    for key, feature in features.items():
        if hasattr(feature, "index_key"):
            indices = feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]
            keys |= {feature.value_key, *indices}
        else:
            keys.add(key)
    return 0, len(keys) - 3


# -- lookups ----------------------------------------------------------------------------------------------------------


@_of(_OPS + "embedding_ops:_embedding_lookup_and_transform")
def _embedding_lookup(params: Any, ids: Any, *_: Any, **more: Any) -> tuple[int, int]:
    """It named what it read of a resource once more."""
    params = params[0] if isinstance(params, (list, tuple)) and len(params) == 1 else params
    is_resource = getattr(params, "handle", None) is not None
    return 0, int(is_resource and more.get("transform_fn") is None and more.get("max_norm") is None)


@_of(_OPS + "embedding_ops:embedding_lookup_sparse_impl")
def _sparse_lookup(
    params: Any,
    segment_ids: Any,
    sp_weights: Any,
    ids: Any,
    combiner: Any,
    ignore_weights: Any,
    max_norm: Any = None,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    """It looked each row up once, and then those that are to be added up; today only where it cannot add at once."""
    if sp_weights is not None:
        return 0, 0
    is_resource = getattr(params[0], "handle", None) is not None
    return 0, 1 if is_resource or max_norm is not None or len(params) > 1 else 5


@_of(_OPS + "array_ops:zeros", _OPS + "array_ops:ones")
def _filled(shape: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """It multiplied the sizes, to see whether there are few elements."""
    if not isinstance(shape, (list, tuple)) or not any(map(_is_tensor, shape)):
        return 0, 0
    made, product = 2, shape[0]
    for size in shape[1:]:
        if _is_tensor(product) or _is_tensor(size):
            made += 1 if _is_tensor(product) and _is_tensor(size) else 2
            product = size if _is_tensor(size) else product
        else:
            product = product * size
    return 0, made


@_of("tensorflow.python.training.ftrl:FtrlOptimizer._create_slots")
def _ftrl_slots(self: Any, var_list: Any) -> tuple[int, int]:
    return 0, -2 * len(var_list)


@_of("tensorflow:train.polynomial_decay")
def _polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end: Any = None,
    power: Any = None,
    cycle: Any = False,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    return 0, int(not _is_tensor(decay_steps)) + (4 if cycle else 0)


# -- layers -----------------------------------------------------------------------------------------------------------


@_of(_KERAS + "convolutional.base_conv:Conv.convolution_op")
def _convolution(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, int(all(rate == 1 for rate in self.dilation_rate))


@_of(_KERAS + "convolutional.conv2d_transpose:Conv2DTranspose.call")
def _transposed_convolution(self: Any, inputs: Any) -> tuple[int, int]:
    """The size of its output was always computed in the graph."""
    rows, columns = (2, 3) if self.data_format == "channels_first" else (1, 2)
    shape = inputs.shape.as_list()
    if shape[rows] is None or shape[columns] is None:
        return 0, 0
    if self.output_padding is not None:
        return 0, 26
    return 0, 10 if self.padding == "same" else 14


@_of(_KERAS + "normalization.batch_normalization:BatchNormalizationBase._fused_batch_norm")
def _fused_batch_norm(self: Any, inputs: Any, mask: Any, training: Any) -> tuple[int, int]:
    known = _module("tf_keras.src.utils.control_flow_util").constant_value(training)
    read = 2 * (known is not False and hasattr(self.moving_mean, "handle"))  # what training has no use for
    return 0, (0 if known is None else 2 if known else 1) - read


@_of(_KERAS + "reshaping.flatten:Flatten.call")
def _flatten(self: Any, inputs: Any) -> tuple[int, int]:
    shape = inputs.shape.as_list() if inputs.shape.rank else [1]
    return 0, 6 if shape[0] is None and None not in shape[1:] and len(shape) > 1 else 0


@_of("tf_keras.src.backend:resize_images")
def _keras_resize_images(x: Any, height: Any, width: Any, data_format: str, *_: Any, **__: Any) -> tuple[int, int]:
    """The size was always looked up in the graph."""
    sizes = x.shape[2:4] if data_format == "channels_first" else x.shape[1:3]
    return 0, 4 if sizes.is_fully_defined() else 0


@_of(_KERAS + "rnn.time_distributed:TimeDistributed.call")
def _time_distributed(self: Any, inputs: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, -2 if _is_tensor(inputs) and inputs.shape.as_list()[0] is None else 0


@_of("tf_keras.src.utils.metrics_utils:sparse_categorical_matches")
def _sparse_matches(y_true: Any, y_pred: Any) -> tuple[int, int]:
    """Today labels that were squeezed make the shape of the result again."""
    return 0, -1 - int(_ranks_are_one(y_true, y_pred))


@_of("tf_keras.src.metrics.accuracy_metrics:sparse_categorical_accuracy")
def _sparse_accuracy(y_true: Any, y_pred: Any) -> tuple[int, int]:
    """And that is squeezed."""
    return 0, -int(_ranks_are_one(y_true, y_pred) and y_true.shape.as_list()[1:][-1:] == [1])


def _ranks_are_one(one: Any, other: Any) -> bool:
    return _is_tensor(one) and _is_tensor(other) and one.shape.rank is not None and one.shape.rank == other.shape.rank


@_of(_FEATURES + "IdentityCategoricalColumn._transform_input_tensor")
def _identity_column(self: Any, input_tensor: Any) -> tuple[int, int]:
    """It asserted that numbers are in range."""
    return 0, 38 if self.default_value is None else 0


@_of("tf_keras.src.utils.losses_utils:compute_weighted_loss")
def _keras_weighted_loss(losses: Any, sample_weight: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """It multiplied by ones."""
    return 0, 9 if sample_weight is None else 0


@_of("tf_keras.src.optimizers.legacy.optimizer_v2:OptimizerV2.apply_gradients")
def _keras_apply_gradients(self: Any, grads_and_vars: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Gradients of several devices are gathered today, where there is only one, too."""
    return 0, -1 - len(grads_and_vars) if isinstance(grads_and_vars, (list, tuple)) else 0


# -- contrib ----------------------------------------------------------------------------------------------------------

_CONTRIB = "tf1sessions.contrib."


def _of_contrib(place: str) -> Callable[[Differs], Differs]:
    def add(differs: Differs) -> Differs:
        CONTRIB[_CONTRIB + place] = differs
        return differs

    return add


CONTRIB |= {
    _CONTRIB + "crf:crf_log_likelihood": _by(0, 36),
    _CONTRIB + "opt.weight_decay_optimizers:DecoupledWeightDecayExtension._decay_weights_op": _by(0, 1),
}


@_of_contrib("rnn.core_rnn_cell:zeros")
def _contrib_zeros(size: Any, batch_size: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """It made both sizes once more, to learn the shape."""
    return 0, sum(2 if _is_tensor(part) else 1 for part in (size, batch_size))


@_of_contrib("layers.convolutions:convolution")
def _contrib_convolution(
    inputs: Any,
    num_outputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = "SAME",
    data_format: Any = None,
    rate: Any = 1,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    return 0, int(all(each == 1 for each in _module("numpy").ravel(rate)))


@_of_contrib("layers.convolutions:_transposed")
def _contrib_transposed(
    inputs: Any, weights: Any, window: Any, strides: Any, padding: Any, data_format: str, filters: Any
) -> tuple[int, int]:
    sizes = inputs.shape.as_list()[2:] if data_format.startswith("NC") else inputs.shape.as_list()[1:-1]
    return 0, 14 if len(sizes) == 2 and None not in sizes else 0


@_of_contrib("layers.layers:flatten")
def _contrib_flatten(inputs: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return _flatten(None, inputs) if _is_tensor(inputs) else (0, 0)


@_of_contrib("layers.normalization:group_norm")
def _contrib_group_norm(inputs: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """What was known of the shape it wrote down."""
    batch, *others = inputs.shape.as_list()
    return 0, 3 if batch is None and None not in others else 0


@_of_contrib("layers.normalization:batch_norm")
def _contrib_batch_norm(inputs: Any, *args: Any, **kwargs: Any) -> tuple[int, int]:
    function = _module(_CONTRIB + "layers.normalization").batch_norm
    scope = _module(_CONTRIB + "framework.arg_scope")
    given = inspect.signature(function).bind(
        inputs, *args, **{**scope.current_arg_scope().get(scope.arg_scope_func_key(function), {}), **kwargs}
    )
    given.apply_defaults()
    told = given.arguments
    if told["renorm"] or told["batch_weights"] is not None or told["zero_debias_moving_mean"]:
        return 0, 0
    training = _module("tf_keras.src.utils.control_flow_util").constant_value(told["is_training"])
    rank = inputs.shape.rank if _is_tensor(inputs) else None
    if told["fused"] is False:
        return 0, -2 if rank == 4 else 0
    if rank == 2:
        return 0, 0 if training is None else -8 if training else -10
    if told["updates_collections"] is None:
        return 0, 0
    return 0, -1 if training is False else 3


# -- gradients --------------------------------------------------------------------------------------------------------


def _gradient_of(*operations: str) -> Callable[[Differs], Differs]:
    def add(differs: Differs) -> Differs:
        GRADIENTS.update(dict.fromkeys(operations, differs))
        return differs

    return add


GRADIENTS |= {
    "BroadcastTo": _by(0, -1),
    "MatrixDiagPartV3": _by(0, 1),
    "MatrixDiagV3": _by(0, 1),
    "MatrixSetDiagV3": _by(0, 2),
    "SparseSoftmaxCrossEntropyWithLogits": _by(0, 1),
}


@_gradient_of("LeakyReluGrad", "Relu6Grad", "ReluGrad", "Sign")
def _zero_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It filled zeros into a shape that it had looked up."""
    return 0, 2


@_gradient_of("Add", "AddV2", "Sub", "Mul", "Pow", "SquaredDifference")
def _broadcast_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Where both shapes are known, what was broadcast was looked up in the graph, once for each pair of shapes."""
    x, y = op.inputs
    if y.op.type == "Sub" and y.op.inputs[0] is y.op.inputs[1]:  # clip_by_global_norm lets see what is not finite
        return 0, 1
    if op.type != "Pow" and _is_tensor(grad) and x.shape == y.shape == grad.shape and x.shape.is_fully_defined():
        return 0, 0
    sides = _broadcast_sides(x, y)
    if sides is None:
        return 0, 0
    if not (x.shape.is_fully_defined() and y.shape.is_fully_defined()):
        return 0, 5 - 3 * sides + (12 if _is_in_loop(op) else 0)  # a loop keeps its shapes on stacks
    is_new = _is_new(op.graph, "broadcasts", tuple(x.shape.as_list()), tuple(y.shape.as_list()))
    return 0, (1 if is_new else -2) + sides - _only_ranks_differ(x, y)


@_gradient_of("RealDiv", "Div", "DivNoNan", "FloorMod")
def _division_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Both sides were summed and reshaped, whether they had been broadcast or not."""
    sides = _broadcast_sides(*op.inputs)
    return 0, 0 if sides is None else 5 - 3 * sides + _kept_by_loop(op)


@_gradient_of("RFFT", "RFFT2D")
def _real_transform_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """A length that is known is made a constant once more, for the inverse."""
    return 0, -int(_constant(op.inputs[1]) is not None)


@_gradient_of("Conv3D")
def _convolution_3d_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Each shape was looked up by itself."""
    return 0, int(not all(tensor.shape.is_fully_defined() for tensor in op.inputs))


@_gradient_of("GatherV2")
def _gather_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It cast the shape, whose type may be chosen today, and knew less of other axes than the first."""
    axis = _constant(op.inputs[2])
    cast = int(_minor_release() >= 19)  # TensorFlow 2.16 to 2.18 cast it, too
    if axis is None or axis == 0:
        return 0, cast
    return 0, cast - (4 if op.get_attr("batch_dims") == 0 else 14)


@_gradient_of("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
def _sparse_lookup_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It gathered before it summed; of a sparse lookup it went on through the rows that had been looked up."""
    gathered = 2 * (op.type == "SparseSegmentSum")
    return 0, gathered + (13 if op.get_attr("sparse_gradient") else 0)


@_gradient_of("Atan2")
def _angle_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It did not look for what had been broadcast."""
    x, y = op.inputs
    return 0, -2 if x.shape.is_fully_defined() and y.shape.is_fully_defined() else -7


@_gradient_of("SelectV2")
def _selection_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It looked for what had been broadcast although nothing had."""
    sides = [_broadcast_sides(side, op.outputs[0]) for side in op.inputs[1:]]
    return 0, 5 - 3 * sum(side is None or side > 0 for side in sides)


@_gradient_of("Maximum", "Minimum")
def _extreme_gradient(op: Any, grad: Any) -> tuple[int, int]:
    sides = _broadcast_sides(*op.inputs)
    return 0, 2 if sides is None else 7 - 3 * sides + _kept_by_loop(op) - _only_ranks_differ(*op.inputs)


@_gradient_of("Sum", "Mean")
def _sum_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """What a sum over some axes leaves was computed in the graph: once for each shape that is known, else each time."""
    shape = op.inputs[0].shape
    axes = _constant(op.inputs[1])
    axes = None if axes is None else tuple(axes.reshape(-1).tolist())
    beyond = int(op.type == "Mean" and not (shape.is_fully_defined() and op.outputs[0].shape.is_fully_defined()))
    if shape.rank is not None and axes == tuple(range(shape.rank)):
        return 0, beyond
    if shape.is_fully_defined() and axes is not None:
        return 0, beyond + (12 if _is_new(op.graph, "reductions", tuple(shape.as_list()), axes) else 0)
    return 0, beyond + (14 if op.get_attr("keep_dims") else 3)


@_gradient_of("Max", "Min")
def _extremes_gradient(op: Any, grad: Any) -> tuple[int, int]:
    if op.get_attr("keep_dims"):
        return 0, 11
    return 0, 7 if op.inputs[0].shape.is_fully_defined() else 0


@_gradient_of("Prod")
def _product_gradient(op: Any, grad: Any) -> tuple[int, int]:
    return 0, 12 if op.inputs[0].shape.is_fully_defined() else 0


@_gradient_of("StridedSlice")
def _slice_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Today what is known of a shape and a slice is written anew."""
    tensor, *slices = op.inputs
    return 0, -int(tensor.shape.is_fully_defined()) - sum(_constant(part) is not None for part in slices)


@_of(_OPS + "gradients_util:_GradientsHelper")
def _gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: Any = "",
    colocate: Any = False,
    gate: Any = False,
    *_: Any,
    **more: Any,
) -> tuple[int, int]:
    """Notes for the others whether gradients wait for each other, and with respect to what they are taken."""
    sought = {getattr(x, "op", None) for x in (xs if isinstance(xs, (list, tuple)) else [xs])}
    setattr(_default_graph(), _NOTED, (bool(more.get("gate_gradients", gate)), sought))
    return 0, 0


def _is_sought(tensor: Any) -> bool:
    """Whether the gradients that are being made go on through a tensor."""
    _, sought = getattr(tensor.graph, _NOTED, (False, set()))
    waiting, seen = [tensor.op], set()
    while waiting:
        op = waiting.pop()
        if op in sought:
            return True
        if op not in seen:
            seen.add(op)
            waiting += [part.op for part in op.inputs]
    return False


@_gradient_of("MatMul")
def _product_gradient_of_matrices(op: Any, grad: Any) -> tuple[int, int]:
    """Of tensordot, through what it had transposed and reshaped."""
    scope = op.name.rpartition("/")[0] + "/"
    if not scope.rpartition("/")[0].rpartition("/")[2].startswith("Tensordot"):
        return 0, 0
    beyond = 0
    for tensor in op.inputs:
        if not tensor.op.name.startswith(scope) or tensor.op.type not in ("Reshape", "Transpose"):
            missing = 4
        elif tensor.op.type == "Transpose":
            missing = 2
        else:
            inner = tensor.op.inputs[0].op
            missing = 0 if inner.type == "Transpose" and inner.name.startswith(scope) else 2
        if missing and _is_sought(tensor):
            beyond += missing
    if not any(user.type == "Reshape" and f"{user.name}/" == scope for user in op.outputs[0].consumers()):
        beyond += 2
    return 0, beyond


@_gradient_of("BatchMatMulV2")
def _batches_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """It looked for what had been broadcast although nothing had, but where both are of one shape."""
    one, other = (tensor.shape for tensor in op.inputs)
    if one.is_fully_defined() and other.is_fully_defined() and one == other:
        return 0, 0
    first, second = one[:-2], other[:-2]
    return 0, 15 if first.is_fully_defined() and second.is_fully_defined() and first == second else 0


@_gradient_of("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """It gave gradients of the batch's own statistics, which an optimizer let wait for the others."""
    return 0, 2 if op.get_attr("is_training") and getattr(op.graph, _NOTED, (False,))[0] else 0


@_gradient_of("TensorArrayWriteV3", "TensorArrayScatterV3")
def _array_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """Today it waits for the write, whose flow a loop has to keep for that."""
    return 0, -8 if _is_in_loop(op) else -2


def _broadcast_sides(x: Any, y: Any) -> int | None:
    """How many of two operands were broadcast; None where today's TensorFlow finds that out when it runs."""
    found = _module(_OPS + "math_grad")._InferGradientReductionAxes(x.shape, y.shape)
    if found[0] is None or found[1] is None:
        return None
    return int(bool(found[0]) or x.shape.rank < y.shape.rank) + int(bool(found[1]) or y.shape.rank < x.shape.rank)


def _only_ranks_differ(x: Any, y: Any) -> int:
    """Today axes of size 1 that one operand lacks are looked for in the other one's gradient, too."""
    return int(
        x.shape.is_fully_defined()
        and y.shape.is_fully_defined()
        and x.shape.rank != y.shape.rank
        and x.shape.num_elements() == y.shape.num_elements()
    )


def _kept_by_loop(op: Any) -> int:
    """A loop keeps shapes that are not known on stacks, for its gradients."""
    return 6 * sum(not tensor.shape.is_fully_defined() for tensor in op.inputs) if _is_in_loop(op) else 0


def _is_in_loop(op: Any) -> bool:
    context = op._get_control_flow_context()
    return context is not None and context.GetWhileContext() is not None


def _is_new(graph: Any, kind: str, *key: Any) -> bool:
    seen = getattr(graph, _SEEN, None)
    if seen is None:
        seen = set()
        setattr(graph, _SEEN, seen)
    is_new = (kind, *key) not in seen
    seen.add((kind, *key))
    return is_new


# -- inside -----------------------------------------------------------------------------------------------------------


def _module(name: str) -> Any:
    """A module, imported when it is needed: ``install()`` imports none of them."""
    return importlib.import_module(name)


def _minor_release() -> int:
    return int(_module("importlib.metadata").version("tensorflow").split(".")[1])


def _default_graph() -> Any:
    return _module("tensorflow.python.framework.ops").get_default_graph()


def _dtype(value: Any) -> Any:
    return _module("tensorflow.python.framework.dtypes").as_dtype(value)


def _constant(tensor: Any) -> Any:
    """The array that a tensor always is, None where that is not known."""
    return _module("tensorflow.python.framework.tensor_util").constant_value(tensor)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _module("tensorflow.python.framework.tensor").Tensor)
