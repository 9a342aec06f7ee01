"""The table of :mod:`.calls`: functions and classes of TensorFlow 1, and what they are in TensorFlow 2."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

__all__ = ["BOUND_INITIALIZERS", "DROPPED", "ENTRIES", "CallEntry"]

#: Arguments of TensorFlow 1 that change no number: names of scopes, colocation, and what is always so now.
DROPPED = frozenset(
    "reuse use_locking scope collections loss_collection variables_collections outputs_collections validate_shape "
    "caching_device expected_shape validate_indices use_resource fused partition_strategy cooperative parallel_stack "
    "partitioner use_cudnn_on_gpu _sentinel".split()
)


@dataclasses.dataclass(frozen=True)
class CallEntry:
    """A function or class of TensorFlow 1.

    Attributes:
        kind: ``function``, ``named`` (a function of a text), ``template`` (of which ``target`` is the text), ``layer``,
            ``variable``, ``get_variable``, ``global_step``, ``metric`` or ``optimizer``.
        target: What it is in TensorFlow 2.
        parameters: Its parameters, in their order.
        named: Parameter -> what TensorFlow 2 calls it. Others cannot be written.
        positional: How many of them mean the same by position.
        defaults: New name -> what is written where it is not given.
        values: Parameter -> how its value is written.
        aliases: Other names that parameters of TensorFlow 1 have.
        keeps_none: Parameters for which None says something.
        base: What a layer without a name is called.
    """

    kind: str
    target: str
    parameters: tuple[str, ...]
    named: Mapping[str, str]
    positional: int
    defaults: Mapping[str, str] = dataclasses.field(default_factory=dict)
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)
    keeps_none: frozenset[str] = frozenset()
    base: str = ""


def _entry(
    kind: str, target: str, parameters: str, positional: int, unknown: str = "", defaults: str = "", **renamed: str
) -> CallEntry:
    """An entry whose parameters are called alike, but for those in ``renamed``; those in ``unknown`` have no equal.

    ``defaults`` is text such as ``epsilon=1e-8 rho=0.95``, by the new names.
    """
    names = tuple(parameters.split())
    known = [name for name in names if name not in unknown.split()]
    written = dict(each.split("=") for each in defaults.split())
    keeps_none = frozenset(each for each in ("activation_fn", "biases_initializer") if each in names)
    named = {name: renamed.get(name, name) for name in known}
    return CallEntry(kind, target, names, named, positional, written, keeps_none=keeps_none)


def _same(target: str, parameters: str, positional: int = 9) -> CallEntry:
    return _entry("function", target, parameters, positional)


def _layer(target: str, parameters: str, positional: int) -> CallEntry:
    rest = "trainable name reuse"
    return _entry("layer", f"tf.keras.layers.{target}", f"inputs {parameters} {rest}", positional)


def _template(target: str, parameters: str, defaults: str = "") -> CallEntry:
    return _entry("template", target, parameters, 0, defaults=defaults)


_INITIALIZED = (
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
    "kernel_constraint bias_constraint"
)
_POOLED = "pool_size strides padding data_format"
_NORMALIZED = (
    "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
    "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint training"
)

_LAYERS = {
    "tf.layers.dense": _layer("Dense", f"units {_INITIALIZED}", 3),
    "tf.layers.conv1d": _layer(
        "Conv1D", f"filters kernel_size strides padding data_format dilation_rate {_INITIALIZED}", 4
    ),
    "tf.layers.conv2d": _layer(
        "Conv2D", f"filters kernel_size strides padding data_format dilation_rate {_INITIALIZED}", 4
    ),
    "tf.layers.conv3d": _layer(
        "Conv3D", f"filters kernel_size strides padding data_format dilation_rate {_INITIALIZED}", 4
    ),
    "tf.layers.conv2d_transpose": _layer(
        "Conv2DTranspose", f"filters kernel_size strides padding data_format {_INITIALIZED}", 4
    ),
    "tf.layers.max_pooling1d": _layer("MaxPooling1D", _POOLED, 3),
    "tf.layers.max_pooling2d": _layer("MaxPooling2D", _POOLED, 3),
    "tf.layers.max_pooling3d": _layer("MaxPooling3D", _POOLED, 3),
    "tf.layers.average_pooling1d": _layer("AveragePooling1D", _POOLED, 3),
    "tf.layers.average_pooling2d": _layer("AveragePooling2D", _POOLED, 3),
    "tf.layers.average_pooling3d": _layer("AveragePooling3D", _POOLED, 3),
    "tf.layers.flatten": _layer("Flatten", "data_format", 0),
    "tf.layers.batch_normalization": _layer("BatchNormalization", _NORMALIZED, 0),
    "tf1sessions.contrib.layers.flatten": _entry(
        "layer", "tf.keras.layers.Flatten", "inputs outputs_collections scope", 0
    ),
    "tf1sessions.contrib.layers.fully_connected": _entry(
        "layer",
        "tf.keras.layers.Dense",
        "inputs num_outputs activation_fn normalizer_fn normalizer_params weights_initializer weights_regularizer "
        "biases_initializer biases_regularizer reuse variables_collections outputs_collections trainable scope",
        1,
        "normalizer_fn normalizer_params biases_regularizer weights_regularizer",
        "activation=tf.nn.relu",
        num_outputs="units",
        activation_fn="activation",
        weights_initializer="kernel_initializer",
        biases_initializer="bias_initializer",
    ),
    "tf.feature_column.input_layer": dataclasses.replace(
        _entry("layer", "tf.keras.layers.DenseFeatures", "inputs feature_columns weight_collections trainable", 1),
        named={"feature_columns": "feature_columns", "trainable": "trainable"},
        aliases={"features": "inputs"},
    ),
    "tf.layers.dropout": dataclasses.replace(
        _layer("Dropout", "rate noise_shape seed training", 1), defaults={"rate": "0.5"}
    ),
}

_VARIABLES = {
    "tf.Variable": _entry(
        "variable", "tf.Variable", "initial_value trainable collections validate_shape caching_device name", 1
    ),
    "tf.get_variable": _entry(
        "get_variable", "tf.Variable", "name shape dtype initializer regularizer trainable", 0, unknown="regularizer"
    ),
    "tf.train.get_or_create_global_step": _entry("global_step", "", "graph", 0, unknown="graph"),
    "tf.train.create_global_step": _entry("global_step", "", "graph", 0, unknown="graph"),
}
_VARIABLES["tf.Variable"] = dataclasses.replace(
    _VARIABLES["tf.Variable"],
    parameters=(*_VARIABLES["tf.Variable"].parameters, "variable_def", "dtype"),
    named={name: name for name in ("initial_value", "trainable", "name", "dtype")},
)

_OPTIMIZERS = {
    "tf.train.GradientDescentOptimizer": _entry(
        "optimizer", "tf.keras.optimizers.legacy.SGD", "learning_rate use_locking name", 1
    ),
    "tf.train.MomentumOptimizer": _entry(
        "optimizer",
        "tf.keras.optimizers.legacy.SGD",
        "learning_rate momentum use_locking name use_nesterov",
        2,
        use_nesterov="nesterov",
    ),
    "tf.train.AdamOptimizer": _entry(
        "optimizer",
        "tf.keras.optimizers.legacy.Adam",
        "learning_rate beta1 beta2 epsilon use_locking name",
        4,
        defaults="learning_rate=0.001 epsilon=1e-8",
        beta1="beta_1",
        beta2="beta_2",
    ),
    "tf.train.AdagradOptimizer": _entry(
        "optimizer",
        "tf.keras.optimizers.legacy.Adagrad",
        "learning_rate initial_accumulator_value use_locking name",
        2,
        defaults="initial_accumulator_value=0.1",
    ),
    "tf.train.AdadeltaOptimizer": _entry(
        "optimizer",
        "tf.keras.optimizers.legacy.Adadelta",
        "learning_rate rho epsilon use_locking name",
        3,
        defaults="learning_rate=0.001 rho=0.95 epsilon=1e-8",
    ),
    # Keras begins with other averages and adds epsilon elsewhere.
    "tf.train.RMSPropOptimizer": _entry(
        "optimizer",
        "tf.compat.v1.train.RMSPropOptimizer",
        "learning_rate decay momentum epsilon use_locking centered name",
        9,
    ),
    "tf.train.FtrlOptimizer": _entry(
        "optimizer",
        "tf.compat.v1.train.FtrlOptimizer",
        "learning_rate learning_rate_power initial_accumulator_value l1_regularization_strength "
        "l2_regularization_strength use_locking name",
        9,
    ),
}


def _initializer(target: str, parameters: str, positional: int, defaults: str = "") -> CallEntry:
    return _entry("function", f"tf.keras.initializers.{target}", parameters, positional, "dtype", defaults)


_XAVIER = _entry(
    "template", "{tf}.keras.initializers.GlorotUniform(seed={seed})", "uniform seed dtype", 0, "dtype", "seed=None"
)
_KEPT_XAVIER = _entry(
    "template", "{tf}.compat.v1.glorot_uniform_initializer(seed={seed})", "uniform seed dtype", 0, "dtype", "seed=None"
)
_INITIALIZERS = {
    "tf.zeros_initializer": _entry("function", "tf.zeros_initializer", "dtype", 0, "dtype"),
    "tf.ones_initializer": _entry("function", "tf.ones_initializer", "dtype", 0, "dtype"),
    "tf.constant_initializer": _entry(
        "function", "tf.constant_initializer", "value dtype verify_shape", 1, "dtype verify_shape"
    ),
    "tf.random_normal_initializer": _entry(
        "function", "tf.random_normal_initializer", "mean stddev seed dtype", 3, "dtype", "stddev=1.0"
    ),
    "tf.truncated_normal_initializer": _initializer("TruncatedNormal", "mean stddev seed dtype", 3, "stddev=1.0"),
    "tf.random_uniform_initializer": _entry(
        "function", "tf.random_uniform_initializer", "minval maxval seed dtype", 3, "dtype", "minval=0.0 maxval=1.0"
    ),
    "tf.glorot_uniform_initializer": _initializer("GlorotUniform", "seed dtype", 1),
    "tf.glorot_normal_initializer": _initializer("GlorotNormal", "seed dtype", 1),
    "tf.variance_scaling_initializer": _initializer("VarianceScaling", "scale mode distribution seed dtype", 4),
    "tf.orthogonal_initializer": _initializer("Orthogonal", "gain seed dtype", 2),
    "tf.contrib.layers.xavier_initializer": _XAVIER,
    "tf1sessions.contrib.layers.xavier_initializer": _XAVIER,
}
#: Initializers that are bound to a name stay those of TensorFlow 1 (None, or an entry): those of Keras 2 draw the same
#: numbers at each call, and that of a constant makes whole numbers of them where TensorFlow 1 makes float32.
BOUND_INITIALIZERS = {
    "tf.constant_initializer": None,
    "tf.truncated_normal_initializer": None,
    "tf.glorot_uniform_initializer": None,
    "tf.glorot_normal_initializer": None,
    "tf.variance_scaling_initializer": None,
    "tf.orthogonal_initializer": None,
    "tf.contrib.layers.xavier_initializer": _KEPT_XAVIER,
    "tf1sessions.contrib.layers.xavier_initializer": _KEPT_XAVIER,
}

_MEAN = "{tf}.reduce_mean"
_LOSSES = {
    "tf.losses.mean_squared_error": _template(
        f"{_MEAN}({{tf}}.math.squared_difference({{predictions}}, {{labels}}))", "labels predictions"
    ),
    "tf.losses.absolute_difference": _template(
        f"{_MEAN}({{tf}}.abs({{predictions}} - {{labels}}))", "labels predictions"
    ),
    "tf.losses.softmax_cross_entropy": _template(
        f"{_MEAN}({{tf}}.nn.softmax_cross_entropy_with_logits("
        "labels={tf}.stop_gradient({onehot_labels}), logits={logits}))",
        "onehot_labels logits",
    ),
    "tf.losses.sparse_softmax_cross_entropy": _template(
        f"{_MEAN}({{tf}}.nn.sparse_softmax_cross_entropy_with_logits(labels={{labels}}, logits={{logits}}))",
        "labels logits",
    ),
    "tf.losses.sigmoid_cross_entropy": _template(
        f"{_MEAN}({{tf}}.nn.sigmoid_cross_entropy_with_logits(labels={{multi_class_labels}}, logits={{logits}}))",
        "multi_class_labels logits",
    ),
}

_LOSSES["tf1sessions.contrib.seq2seq.sequence_loss"] = _template(
    "{tf}.reduce_sum({tf}.nn.sparse_softmax_cross_entropy_with_logits(labels={targets}, logits={logits}) * {weights})"
    " / ({tf}.reduce_sum({weights}) + 1e-12)",
    "logits targets weights",
)

_SCHEDULES = "{tf}.keras.optimizers.schedules."
_DECAYS = {
    "tf.train.exponential_decay": _template(
        f"{_SCHEDULES}ExponentialDecay({{learning_rate}}, {{decay_steps}}, {{decay_rate}}, {{staircase}})"
        "({global_step})",
        "learning_rate global_step decay_steps decay_rate staircase",
        "staircase=False",
    ),
    "tf.train.inverse_time_decay": _template(
        f"{_SCHEDULES}InverseTimeDecay({{learning_rate}}, {{decay_steps}}, {{decay_rate}}, {{staircase}})"
        "({global_step})",
        "learning_rate global_step decay_steps decay_rate staircase",
        "staircase=False",
    ),
    "tf.train.polynomial_decay": _template(
        f"{_SCHEDULES}PolynomialDecay({{learning_rate}}, {{decay_steps}}, {{end_learning_rate}}, {{power}}, {{cycle}})"
        "({global_step})",
        "learning_rate global_step decay_steps end_learning_rate power cycle",
        "end_learning_rate=0.0001 power=1.0 cycle=False",
    ),
    "tf.train.piecewise_constant": _template(
        f"{_SCHEDULES}PiecewiseConstantDecay({{boundaries}}, {{values}})({{x}})", "x boundaries values"
    ),
    "tf.train.cosine_decay": _template(
        f"{_SCHEDULES}CosineDecay({{learning_rate}}, {{decay_steps}}, {{alpha}})({{global_step}})",
        "learning_rate global_step decay_steps alpha",
        "alpha=0.0",
    ),
}

_FUNCTIONS = {
    "tf.gradients": _same("tf.gradients", "ys xs grad_ys"),
    "tf.set_random_seed": _same("tf.random.set_seed", "seed"),
    "tf.constant": _same("tf.constant", "value dtype shape name"),
    "tf.shape": _entry("function", "tf.shape", "input name out_type", 1),
    "tf.size": _entry("function", "tf.size", "input name out_type", 1),
    "tf.ones_like": _entry("function", "tf.ones_like", "tensor dtype name optimize", 2, "optimize", tensor="input"),
    "tf.norm": _entry("function", "tf.norm", "tensor ord axis keepdims name", 4),
    "tf.confusion_matrix": _entry(
        "function", "tf.math.confusion_matrix", "labels predictions num_classes dtype name weights", 3
    ),
    "tf.scan": _same("tf.scan", "fn elems initializer"),
    "tf.while_loop": _entry(
        "loop",
        "tf.while_loop",
        "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory name",
        4,
    ),
    "tf.map_fn": _same("tf.map_fn", "fn elems dtype"),
    "tf.foldl": _same("tf.foldl", "fn elems initializer"),
    "tf.cond": _entry("function", "tf.cond", "pred true_fn false_fn strict name", 3, "strict"),
    "tf.decode_raw": _same("tf.io.decode_raw", "input_bytes out_type little_endian", 3),
    "tf.parse_single_example": _same("tf.io.parse_single_example", "serialized features", 2),
    "tf.parse_example": _same("tf.io.parse_example", "serialized features", 2),
    "tf.metrics.accuracy": _entry("metric", "tf.keras.metrics.Accuracy", "labels predictions weights", 0),
    "tf.metrics.mean": _entry("metric", "tf.keras.metrics.Mean", "values weights", 0),
    "tf.decode_csv": _entry("function", "tf.io.decode_csv", "records record_defaults field_delim", 3),
    "tf.nn.embedding_lookup": _entry("function", "tf.nn.embedding_lookup", "params ids partition_strategy name", 2),
    "tf.nn.in_top_k": _template("{tf}.math.in_top_k({targets}, {predictions}, {k})", "predictions targets k name"),
    "tf.nn.xw_plus_b": _template("{tf}.matmul({x}, {weights}) + {biases}", "x weights biases"),
    "tf.nn.dropout": _template("{tf}.nn.dropout({x}, rate=1 - {keep_prob})", "x keep_prob"),
    "tf.nn.moments": _entry(
        "function", "tf.nn.moments", "x axes shift name keep_dims", 2, "shift", keep_dims="keepdims"
    ),
    "tf.nn.max_pool": _entry(
        "function", "tf.nn.max_pool2d", "value ksize strides padding data_format name", 4, value="input"
    ),
    "tf.nn.avg_pool": _entry(
        "function", "tf.nn.avg_pool2d", "value ksize strides padding data_format name", 4, value="input"
    ),
    "tf.nn.softmax_cross_entropy_with_logits_v2": _entry(
        "function", "tf.nn.softmax_cross_entropy_with_logits", "_sentinel labels logits axis name", 0
    ),
    "tf.nn.softmax_cross_entropy_with_logits": _template(
        "{tf}.nn.softmax_cross_entropy_with_logits(labels={tf}.stop_gradient({labels}), logits={logits}, axis={dim})",
        "_sentinel labels logits dim",
        "dim=-1",
    ),
    "tf.nn.sigmoid_cross_entropy_with_logits": _entry(
        "function", "tf.nn.sigmoid_cross_entropy_with_logits", "_sentinel labels logits name", 0
    ),
    "tf.nn.sparse_softmax_cross_entropy_with_logits": _entry(
        "function", "tf.nn.sparse_softmax_cross_entropy_with_logits", "_sentinel labels logits name", 0
    ),
    "tf.transpose": _entry("function", "tf.transpose", "a perm name conjugate", 2),
    "tf.arg_max": _entry("function", "tf.argmax", "input dimension output_type", 2, dimension="axis"),
    "tf.arg_min": _entry("function", "tf.argmin", "input dimension output_type", 2, dimension="axis"),
    "tf.gather": _entry("function", "tf.gather", "params indices validate_indices name axis batch_dims", 2),
    "tf.gather_nd": _entry("function", "tf.gather_nd", "params indices name batch_dims", 2),
    "tf.where": _entry("function", "tf.where", "condition name", 1),  # of three tensors, those are not broadcast
    "tf.convert_to_tensor": _entry(
        "function", "tf.convert_to_tensor", "value dtype name preferred_dtype", 2, preferred_dtype="dtype_hint"
    ),
    "tf.nn.weighted_cross_entropy_with_logits": _entry(
        "function",
        "tf.nn.weighted_cross_entropy_with_logits",
        "labels logits pos_weight name targets",
        3,
        targets="labels",
    ),
    "tf.name_scope": _entry("named", "tf.name_scope", "name default_name values", 1, "default_name values"),
    "tf.device": _entry("named", "tf.device", "device_name_or_function", 1, device_name_or_function="device_name"),
    "tf.assign": _template("{ref}.assign({value})", "ref value"),
    "tf.assign_add": _template("{ref}.assign_add({value})", "ref value"),
    "tf.assign_sub": _template("{ref}.assign_sub({value})", "ref value"),
    "tf.to_float": _template("{tf}.cast({x}, {tf}.float32)", "x"),
    "tf.to_int32": _template("{tf}.cast({x}, {tf}.int32)", "x"),
    "tf.to_int64": _template("{tf}.cast({x}, {tf}.int64)", "x"),
    "tf.random_normal": _same("tf.random.normal", "shape mean stddev dtype seed name"),
}

#: Names of TensorFlow 1 -> what they are. A name that is not here stays, as ``tf.compat.v1`` has it.
ENTRIES: dict[str, CallEntry] = {
    **{name: dataclasses.replace(each, base=name.rpartition(".")[2]) for name, each in _LAYERS.items()},
    **_VARIABLES,
    **_OPTIMIZERS,
    **_INITIALIZERS,
    **_LOSSES,
    **_DECAYS,
    **_FUNCTIONS,
}
