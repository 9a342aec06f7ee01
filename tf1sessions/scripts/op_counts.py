"""Counts of operations that TensorFlow 1.15.5's functions make beyond those of TensorFlow 2.21.

Measured call by call against genuine 1.15.5 (tests/golden/make/make_seeds.py). Those of gradients are in
op_counts_gradients.py, those of models in op_counts_models.py; what an entry is, op_entries.py says.
"""

from __future__ import annotations

import math
from typing import Any

from .op_entries import (
    CONTRIB,
    FUNCTIONS,
    GRADIENTS,
    OPS,
    Differs,
    as_dtype,
    by,
    constant,
    is_tensor,
    minor_release,
    module,
    of,
    of_contrib,
)

__all__ = ["CONTRIB", "FUNCTIONS", "GRADIENTS", "KEEP_ANSWERS", "PROBES", "Differs"]

#: Functions that call one of their arguments once more than 1.15.5's, the first time: the function, and that argument.
PROBES = {"tensorflow.python.ops.variable_scope:_VariableStore._get_single_variable": "regularizer"}
#: The modules of regularizers that keep their first answer: with these nothing is made twice.
KEEP_ANSWERS = {"tf1sessions.contrib.framework.variables"}

_SIGNAL = OPS + "signal."
_DATA = "tensorflow.python.data."

FUNCTIONS |= {
    **dict.fromkeys((OPS + "array_ops:matrix_diag", "tensorflow:linalg.diag"), by(0, -4)),
    **dict.fromkeys((OPS + "array_ops:matrix_diag_part", "tensorflow:linalg.diag_part"), by(0, -2)),
    _DATA + "ops.dataset_ops:_OptionsDataset.__init__": by(0, -1),
    # its name in TensorFlow 2.16 to 2.19, and since then
    **dict.fromkeys((_DATA + "ops.dataset_ops:_apply_rewrite", _DATA + "ops.dataset_ops:apply_rewrite"), by(0, -2)),
    _DATA + "ops.interleave_op:_ParallelInterleaveDataset.__init__": by(0, -2),
    _DATA + "ops.readers:ParallelInterleaveDataset.__init__": by(0, 1),
    _DATA + "experimental.ops.readers:CsvDatasetV2.__init__": by(0, -1),
    OPS + "clip_ops:clip_by_global_norm": by(0, 1),
    OPS + "array_ops:matrix_set_diag": by(0, -1),
    OPS + "histogram_ops:histogram_fixed_width_bins": by(0, -6),
    OPS + "sparse_ops:sparse_cross": by(0, -1),
    OPS + "math_ops:linspace_nd": by(0, -67),
    OPS + "parsing_ops:parse_single_example": by(0, -4),
    OPS + "parsing_ops:parse_sequence_example": by(0, -7),
    OPS + "random_ops:random_gamma": by(-2, 0),
}
# They choose the kind of generator in the graph today.
of(
    *(f"{OPS}stateless_random_ops:stateless_{kind}" for kind in ("random_normal", "random_uniform", "truncated_normal"))
)(by(0, -2))


# -- drawing ----------------------------------------------------------------------------------------------------------


@of(OPS + "random_ops:random_uniform")
def _random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", *_: Any, **__: Any
) -> tuple[int, int]:
    """TensorFlow 1 scaled always; today not where nothing would change."""
    if as_dtype(dtype).is_integer or not (isinstance(minval, int) and minval == 0):
        return 0, 0
    return (2, 3) if maxval is None or (isinstance(maxval, int) and maxval == 1) else (0, 2)


# -- arrays and arithmetic --------------------------------------------------------------------------------------------


@of(OPS + "math_ops:_ReductionDims")
def _reduction_dims(x: Any, axis: Any) -> tuple[int, int]:
    """All axes were a constant for tensors whose rank is known, 0 too; not for variables."""
    if axis is not None:
        return 0, 0
    if not is_tensor(x):  # a list or an array has no rank that either of them knows
        has_rank = getattr(getattr(x, "shape", None), "rank", None)
        return 0, 3 + hasattr(x, "handle") if has_rank else 0  # which it read a resource for
    return (0, -3) if x.shape.rank == 0 else (0, 0)


@of(
    *(
        f"{module}{name}"
        for module in (OPS + "math_ops:", "tensorflow:math.")
        for name in ("reduce_variance", "reduce_std")
    )
)
def _variance(input_tensor: Any, axis: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 did not read a variable first."""
    if is_tensor(input_tensor):
        return 0, 0
    return 0, _reduction_dims(input_tensor, axis)[1] + hasattr(input_tensor, "handle")


@of(OPS + "math_ops:reduce_logsumexp")
def _logsumexp(input_tensor: Any, axis: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 read a variable first."""
    if is_tensor(input_tensor):
        return 0, 0
    return 0, -_reduction_dims(input_tensor, axis)[1] - hasattr(input_tensor, "handle")


@of(OPS + "nn_impl:sufficient_statistics")
def _sufficient_statistics(x: Any, axes: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Count the operations that look up the number of summed axes today, where their sizes are not known."""
    sizes = x.shape.as_list() if is_tensor(x) and x.shape.rank is not None else []
    return 0, -int(any(sizes[axis] is None for axis in axes)) if sizes else 0


@of(OPS + "array_ops:split")
def _split(value: Any, num_or_size_splits: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, int(isinstance(num_or_size_splits, int))


@of(OPS + "tensor_getitem_override:_slice_helper", "tensorflow.python.framework.tensor:Tensor.__getitem__")
def _slice(tensor: Any, slice_spec: Any, var: Any = None) -> tuple[int, int]:
    """Beside a tensor today the bounds that are left out are constants of its type."""
    specs = slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec]
    if not any(is_tensor(bound) for one in specs for bound in _bounds(one)):
        return 0, 0
    then: list[list[str]] = [[], [], []]  # of each bound: the type of a tensor, or none
    now: list[list[str]] = [[], [], []]
    constants = 0
    for one in specs:
        types = [bound.dtype.name for bound in _bounds(one) if is_tensor(bound)]
        kept = "int64" if "int64" in types else types[0] if types else ""
        if not isinstance(one, slice):
            bounds, kept = (one, one, None), kept if kept in ("int16", "int64") else ""
        else:
            bounds = (one.start, one.stop, one.step)
        for place, bound in enumerate(bounds):
            given = bound.dtype.name if is_tensor(bound) else ""
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


@of("tensorflow.python.framework.op_def_library:_ExtractInputsAndAttrs")
def _inputs_of_operation(
    op_type_name: Any, op_def: Any, allowed: Any, keywords: Any, default_types: Any, attrs: Any, *_: Any
) -> tuple[int, int]:
    """An empty list where numbers are expected is a constant of floats first, as a shape and as axes."""
    empty = [name for name, value in keywords.items() if isinstance(value, (list, tuple)) and not value]
    if not empty:
        return 0, 0
    kinds = [one.type_attr for one in op_def.input_arg if one.name in empty and not one.number_attr]
    floats = as_dtype("float32")
    kinds = [kind for kind in kinds if kind in default_types and kind not in attrs]
    return 0, -sum(floats not in (allowed.get(kind) or (floats,)) for kind in kinds)


@of(OPS + "array_ops:transpose")
def _transpose(a: Any, perm: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    if perm is not None or not is_tensor(a):
        return 0, 0
    return 0, 1 if a.shape.rank is None else 6 if a.shape.rank == 0 else 0


@of(OPS + "math_ops:tensordot")
def _tensordot(a: Any, b: Any, axes: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 transposed and reshaped also where nothing changes."""
    if isinstance(axes, int):
        rank = a.shape.rank if is_tensor(a) else len(module("numpy").shape(a))
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
    shape = value.shape if hasattr(value, "shape") else module("numpy").shape(value)
    if getattr(shape, "rank", 0) is None or (hasattr(shape, "as_list") and None in shape.as_list()):
        return 0
    return len(shape) - len(axes)


def _kept_by_tensordot(value: Any, axes: list[int], flipped: bool) -> int:
    known = value.shape if hasattr(value, "shape") else module("numpy").shape(value)
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


@of(OPS + "tensor_array_ops:_GraphTensorArray.size")
def _tensor_array_size(self: Any, name: Any = None) -> tuple[int, int]:
    return 0, int(not self._dynamic_size and self._size is not None and is_tensor(self._size))


@of(OPS + "tensor_array_ops:_GraphTensorArray.concat")
def _tensor_array_concat(self: Any, name: Any = None) -> tuple[int, int]:
    """TensorFlow 1 did not ask for the size."""
    return 0, -int(bool(self.element_shape) and self._infer_shape)


@of(OPS + "clip_ops:clip_by_norm", "tensorflow:clip_by_norm")
def _clip_by_norm(t: Any, clip_norm: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Today a norm that is negative counts as 0; an array is a constant for that alone."""
    if module("numpy").isscalar(clip_norm):
        return 0, 0
    return 0, -1 if isinstance(clip_norm, module("numpy").ndarray) else -2


@of(OPS + "confusion_matrix:confusion_matrix")
def _confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 added to zeros."""
    return 0, 3 if num_classes is None or is_tensor(num_classes) else 2


@of(OPS + "array_ops:one_hot")
def _one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, *_: Any, **__: Any
) -> tuple[int, int]:
    """TensorFlow 1 made a tensor of a value to learn its type, and another one to use it."""
    return 0, sum(value is not None and not is_tensor(value) for value in (on_value, off_value))


@of(OPS + "array_ops:repeat")
def _repeat(input: Any, repeats: Any, axis: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, -7 if isinstance(repeats, int) and axis is not None else 0


@of(OPS + "math_ops:cast")
def _cast(x: Any, dtype: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Return what a reference holds is cast to its own type today."""
    of_reference = is_tensor(x) and x.dtype._is_ref_dtype
    return (0, -1) if of_reference and x.dtype.base_dtype == as_dtype(dtype).base_dtype else (0, 0)


@of(OPS + "math_ops:saturate_cast")
def _saturate_cast(value: Any, dtype: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Each limit was an operation of its own, and is one of two of the same one."""
    kind, given = as_dtype(dtype), as_dtype(value.dtype) if hasattr(value, "dtype") else None
    if given is None or given.is_complex or kind.is_complex:
        return 0, 0
    limits = int(given.min < kind.min) + int(given.max > kind.max)
    return 0, 2 * limits - 3


@of(OPS + "math_grad:_GatherDropNegatives")
def _gather_drop_negatives(
    params: Any, ids: Any, zero_clipped_indices: Any = None, is_positive: Any = None
) -> tuple[int, int]:
    """TensorFlow 1 added one axis after the other."""
    if is_positive is not None or params.shape.rank is None or ids.shape.rank is None:
        return 0, 0
    return 0, 2 * (params.shape.rank - 1) - 12


# -- signals ----------------------------------------------------------------------------------------------------------


def _real_transform(rank: int) -> Differs:
    """A length that is known is made a constant once more."""

    def differs(input_tensor: Any, fft_length: Any = None, name: Any = None) -> tuple[int, int]:
        if fft_length is not None:
            return 0, -int(_is_known(fft_length))
        known: Any = getattr(input_tensor, "shape", None)
        return 0, -int(not hasattr(known, "rank") or (known.rank is not None and known[-rank:].is_fully_defined()))

    return differs


def _is_known(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_known, value))
    return not is_tensor(value) or constant(value) is not None


for _rank, _name in enumerate(("fft", "fft2d", "fft3d"), 1):
    of(f"{_SIGNAL}fft_ops:r{_name}", f"{_SIGNAL}fft_ops:ir{_name}")(_real_transform(_rank))


@of(_SIGNAL + "dct_ops:_dct_internal")
def _cosine_transform(
    input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, name: Any = None
) -> tuple[int, int]:
    """TensorFlow 1 was a complex number's part without a constant of its own, and took roots in the graph."""
    if type == 1:
        return 0, -1
    return 0, int(type == 3) + int(norm == "ortho")


@of(_SIGNAL + "shape_ops:frame")
def _frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: Any = None,
) -> tuple[int, int]:
    """TensorFlow 1 computed in the graph what is known, too."""
    if is_tensor(axis) and constant(axis) is None:
        return 0, -7
    are_known = all(not is_tensor(size) or constant(size) is not None for size in (frame_length, frame_step))
    if is_tensor(signal) and not signal.shape.is_fully_defined():
        return 0, -3 if are_known else 2
    return 0, (6 if pad_end else 8) if are_known else 11 if pad_end else 7


@of(_SIGNAL + "reconstruction_ops:overlap_and_add")
def _overlap_and_add(signal: Any, frame_step: Any, name: Any = None) -> tuple[int, int]:
    """TensorFlow 1 computed in the graph what is known, too."""
    is_shape_known = not is_tensor(signal) or signal.shape.is_fully_defined()
    if is_tensor(frame_step) and constant(frame_step) is None:
        return 0, 6 + is_shape_known
    if not is_shape_known:
        return 0, -1 if signal.shape.rank is not None else -7
    step = constant(frame_step) if is_tensor(frame_step) else frame_step
    return 0, 14 if _sizes(signal)[-1] == step else 43


def _sizes(value: Any) -> list[int]:
    shape: Any = getattr(value, "shape", None)
    return list(shape.as_list() if hasattr(shape, "as_list") else module("numpy").shape(value))


@of(_SIGNAL + "window_ops:_raised_cosine_window")
def _window(name: Any, default_name: Any, window_length: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Leave out today's operations that look up whether a window is one sample long."""
    return 0, -5 if is_tensor(window_length) and constant(window_length) is None else 0


@of(_SIGNAL + "spectral_ops:inverse_stft_window_fn")
def _window_back(*_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 divided by zeros, too, as TensorFlow 2.16 to 2.19 do."""
    return 0, -4 if minor_release() >= 20 else 0


@of(_SIGNAL + "mel_ops:linear_to_mel_weight_matrix")
def _mel(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower: Any = 125.0,
    upper: Any = 3800.0,
    dtype: Any = "float32",
    name: Any = None,
) -> tuple[int, int]:
    """The rate was a constant of the type; today it is cast to that."""
    value = constant(sample_rate) if is_tensor(sample_rate) else sample_rate
    kind = as_dtype(value.dtype).name if hasattr(value, "dtype") else "float32" if isinstance(value, float) else "int32"
    return 0, -int(kind != as_dtype(dtype).name)


def _sorted(fewer: int) -> Any:
    def differs(values: Any, axis: Any = -1, direction: str = "ASCENDING", *_: Any, **__: Any) -> tuple[int, int]:
        """Whole numbers were negated by one operation; an axis that is not the last cost two more without a rank."""
        numpy = module("numpy")
        dtype = numpy.dtype(getattr(values.dtype, "as_numpy_dtype", values.dtype)) if hasattr(values, "dtype") else None
        kind = numpy.asarray(values).dtype.kind if dtype is None else dtype.kind
        no_rank = is_tensor(values) and values.shape.rank is None and axis != -1
        return 0, 2 * no_rank - fewer * (kind == "i" and direction == "ASCENDING")

    return differs


FUNCTIONS[OPS + "sort_ops:sort"] = _sorted(4)
FUNCTIONS[OPS + "sort_ops:argsort"] = _sorted(2)


# -- sparse tensors ---------------------------------------------------------------------------------------------------


@of(OPS + "array_ops:sparse_placeholder")
def _sparse_placeholder(dtype: Any, shape: Any = None, name: Any = None) -> tuple[int, int]:
    """A shape that is known could not be fed."""
    return 0, -int(shape is not None)


@of(OPS + "math_ops:_unsorted_segment_N")
def _segments(data: Any, segment_ids: Any, num_segments: Any) -> tuple[int, int]:
    """TensorFlow 1 wrote the shape down that counts have, with an axis for each that segments have of their own."""
    has_more = data.shape.rank is None or data.shape.rank != segment_ids.shape.rank
    return 0, -12 if is_tensor(num_segments) and has_more else -13


@of(OPS + "sparse_ops:sparse_transpose")
def _sparse_transpose(sp_input: Any, perm: Any = None, name: Any = None) -> tuple[int, int]:
    """The order was always computed in the graph; of a shape that is not known, today's is a constant fewer."""
    if perm is not None or sp_input.shape.rank is None:
        return 0, 0
    return 0, 6 if sp_input.shape.is_fully_defined() else 4


@of(*(f"{OPS}sparse_ops:sparse_reduce_{kind}" for kind in ("sum", "max", "sum_sparse", "max_sparse")))
def _sparse_reduction(sp_input: Any, axis: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """All axes are counted as those of a variable."""
    return 0, -_reduction_dims(sp_input, axis)[1]


@of(OPS + "sparse_ops:sparse_concat_v2")
def _sparse_concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: Any = False, *_: Any, **__: Any
) -> tuple[int, int]:
    """A shape that is known was not written down."""
    if not expand_nonconcat_dims or len(sp_inputs) < 2:
        return 0, 0
    return 0, -int(all(part.get_shape().is_fully_defined() for part in sp_inputs))


@of(OPS + "linalg.linear_operator_kronecker:LinearOperatorKronecker._to_dense")
def _kronecker(self: Any) -> tuple[int, int]:
    """TensorFlow 1 looked the shape of each product up."""
    are_known = all(operator.shape.is_fully_defined() for operator in self.operators)
    return 0, (29 if are_known else 4) * (len(self.operators) - 1)


# -- images -----------------------------------------------------------------------------------------------------------


@of(OPS + "image_ops_impl:_AssertAtLeast3DImage")
def _assert_image(image: Any) -> tuple[int, int]:
    """TensorFlow 1 asserted that batches are not empty, too; today only the last three axes are looked at."""
    shape = image.shape
    if shape.rank is None or not shape[-3:].is_fully_defined():
        return 0, -4
    return 0, 0 if shape.is_fully_defined() else 22


@of(OPS + "image_ops_impl:_CheckAtLeast3DImage")
def _check_image(image: Any, require_static: Any = True) -> tuple[int, int]:
    """TensorFlow 1 asserted the same, where this is called by itself."""
    return (0, 0) if module("sys")._getframe(2).f_code.co_name == "_AssertAtLeast3DImage" else _assert_image(image)


@of("tensorflow:image.per_image_standardization")
def _standardization(image: Any) -> tuple[int, int]:
    """TensorFlow 1 converted what is of the type already, too."""
    return 0, int(not hasattr(image, "dtype") or as_dtype(image.dtype).name in ("float16", "float32"))


@of(OPS + "image_ops_impl:central_crop")
def _central_crop(image: Any, central_fraction: Any) -> tuple[int, int]:
    """TensorFlow 1 computed with doubles; today also how large the fraction is, in the graph."""
    shape: Any = getattr(image, "shape", None)
    if getattr(shape, "rank", None) not in (3, 4) or central_fraction == 1:
        return 0, 0
    return 0, -sum(size is None for size in shape.as_list()[-3:-1])


@of(OPS + "image_ops_impl:transpose")
def _transpose_image(image: Any, name: Any = None) -> tuple[int, int]:
    """TensorFlow 1 wanted one image where the rank is not known; today several are chosen in the graph."""
    return 0, -12 if is_tensor(image) and image.shape.rank is None else 0


@of(OPS + "image_ops_impl:rot90")
def _rot90(image: Any, k: Any = 1, name: Any = None) -> tuple[int, int]:
    """TensorFlow 1 wanted one image where the rank is not known; today several are chosen in the graph."""
    return 0, -71 if is_tensor(image) and image.shape.rank is None else 0


@of(OPS + "image_ops_impl:non_max_suppression_padded")
def _padded_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = 0.0,
    pad_to_max_output_size: bool = False,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    """TensorFlow 1 was one kernel."""
    return 0, -14 if pad_to_max_output_size else -8


@of(OPS + "image_ops_impl:crop_to_bounding_box")
def _crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> tuple[int, int]:
    """The sizes that stay are looked up today."""
    return 0, -8 if is_tensor(target_height) or is_tensor(target_width) else -12


@of(OPS + "image_ops_impl:_resize_images_common")
def _resize_images(
    images: Any, resizer_fn: Any, size: Any, preserve_aspect_ratio: Any, *_: Any, **__: Any
) -> tuple[int, int]:
    """A size that is known was not taken apart in the graph."""
    return 0, -6 if preserve_aspect_ratio and not is_tensor(size) else 0


@of(OPS + "image_ops_impl:adjust_jpeg_quality", "tensorflow:image.adjust_jpeg_quality")
def _adjust_jpeg_quality(image: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 did not limit what it converted."""
    return 0, -4 if is_tensor(image) and image.dtype.is_floating else 0


@of(OPS + "image_ops_impl:decode_image")
def _decode_image(contents: Any, channels: Any = None, *dtype: Any, **more: Any) -> tuple[int, int]:
    """TensorFlow 1 chose between formats in the graph."""
    return 0, 0 if dtype or more.keys() - {"name"} else 75


@of(OPS + "parsing_ops:parse_example")
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


@of(OPS + "parsing_ops:parse_single_sequence_example")
def _parse_sequence(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, *_: Any, **__: Any
) -> tuple[int, int]:
    """TensorFlow 1 made the entries of both kinds of keys one by one."""
    return 0, len(context_features or ()) + len(sequence_features or ()) - 6


# -- data sets --------------------------------------------------------------------------------------------------------


@of(_DATA + "ops.dataset_ops:DatasetV1._make_initializable_iterator")
def _initializable(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 optimised what is read, and what it was to do was a constant; not where it is copied to a device."""
    waiting = [self]
    while waiting:
        dataset = waiting.pop()
        if type(dataset).__name__ == "_CopyToDeviceDataset":
            return 0, 0
        waiting += [*dataset._inputs(), *filter(None, [getattr(dataset, "_dataset", None)])]
    return 0, 3


@of(_DATA + "experimental.ops.resampling:rejection_resample")
def _rejection(class_func: Any, target_dist: Any, initial_dist: Any = None, *_: Any, **__: Any) -> tuple[int, int]:
    """A distribution that is known was a data set of its own."""
    return 0, int(initial_dist is not None)


@of_contrib("training.bucket_ops:bucket")
def _bucket(
    tensors: Any, which_bucket: Any, batch_size: Any, num_buckets: int, *_: Any, keep_input: Any = True, **__: Any
) -> tuple[int, int]:
    """TensorFlow 1 asked for each bucket, and for what is kept, with conditions that gave nothing."""
    return 0, 2 * num_buckets + 1 + int(is_tensor(keep_input) and constant(keep_input) is None)


@of_contrib("training.sampling_ops:rejection_sample")
def _rejection_of_examples(
    tensors: Any,
    accept_prob_fn: Any,
    batch_size: Any,
    queue_threads: Any = 1,
    enqueue_many: Any = False,
    prebatch_capacity: Any = 16,
    prebatch_threads: Any = 1,
    runtime_checks: bool = False,
    name: Any = None,
) -> tuple[int, int]:
    """TensorFlow 1 named the probability once more that it had checked."""
    return int(runtime_checks), 0


@of_contrib("training.sampling_ops:stratified_sample")
def _stratified(
    tensors: Any, labels: Any, target_probs: Any, batch_size: Any, init_probs: Any = None, *_: Any, **__: Any
) -> tuple[int, int]:
    """TensorFlow 1 asserted more, of each tensor also how many there are."""
    return 146 + 16 * len(tensors) + (4 if init_probs is None else 0), 0


CONTRIB |= {
    "tf1sessions.contrib.training.bucket_ops:bucket_by_sequence_length": by(0, 4),
    "tf1sessions.contrib.training.resample:resample_at_rate": by(0, -11),  # which repeated in a loop
    "tf1sessions.contrib.training.resample:weighted_resample": by(1, 0),
}


# -- lookups ----------------------------------------------------------------------------------------------------------


@of(OPS + "embedding_ops:_embedding_lookup_and_transform")
def _embedding_lookup(params: Any, ids: Any, *_: Any, **more: Any) -> tuple[int, int]:
    """TensorFlow 1 named what it read of a resource once more."""
    params = params[0] if isinstance(params, (list, tuple)) and len(params) == 1 else params
    is_resource = getattr(params, "handle", None) is not None
    return 0, int(is_resource and more.get("transform_fn") is None)


@of(OPS + "embedding_ops:embedding_lookup_sparse_impl")
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
    """TensorFlow 1 looked each row up once, then those to be added up; today only where it cannot add at once."""
    if sp_weights is not None:
        return 0, 0
    is_resource = getattr(params[0], "handle", None) is not None
    return 0, 1 if is_resource or max_norm is not None or len(params) > 1 else 5


@of(OPS + "array_ops:zeros", OPS + "array_ops:ones")
def _filled(shape: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 multiplied the sizes, to see whether there are few elements."""
    if not isinstance(shape, (list, tuple)) or not any(map(is_tensor, shape)):
        return 0, 0
    made, product = 2, shape[0]
    for size in shape[1:]:
        if is_tensor(product) or is_tensor(size):
            made += 1 if is_tensor(product) and is_tensor(size) else 2
            product = size if is_tensor(size) else product
        else:
            product = product * size
    return 0, made
