"""Old addresses: modules and names that moved inside TensorFlow and Keras since 1.15.

TF1 programs import from ``tensorflow.python`` as from a public place. The tables were made by comparing what the
modules of 1.15.5 had with what today's have; a name is looked up at its new address when a program first asks for it,
so that nothing is imported for a program that does not.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from typing import Any

from . import missing

__all__ = ["apply", "keras_module", "modules"]

_PYTHON = "tensorflow.python"

# old module below tensorflow.python -> new modules, of which the first that has a name gives it; ! is not below
_MODULES = {
    "framework.tensor_like": "types.core",
    "eager.profiler": "profiler.profiler_v2",
    "feature_column.dense_features": "!tf_keras.src.feature_column.dense_features",
    "feature_column.dense_features_v2": "!tf_keras.src.feature_column.dense_features_v2",
    "ops.distributions.transformed_distribution": "!tf1sessions.contrib.distributions.transformed_distribution",
    "ops.rnn_cell": "!tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    "ops.rnn_cell_impl": "!tf_keras.api._v1.keras.__internal__.legacy.rnn_cell !tf_keras.src.layers.rnn.legacy_cells",
    "ops.losses.loss_reduction": "ops.losses.losses_impl",
    "training.distribution_strategy_context": "distribute.distribute_lib",
    "training.distribute": "distribute.distribute_lib",
    "training.tracking.base": "trackable.base",
    "training.tracking.data_structures": "trackable.data_structures",
    "training.tracking.python_state": "trackable.python_state",
    "training.tracking.tracking": "trackable.autotrackable",
    "training.tracking.graph_view": "checkpoint.graph_view",
    "training.tracking.util": "checkpoint.checkpoint",
    "training.tracking.layer_utils": "trackable.layer_utils",
    "training.tracking": "trackable",
    "training.checkpointable": "trackable",
    "training.checkpointable.base": "trackable.base",
    "training.checkpoint_management": "checkpoint.checkpoint_management",
    "training.training_ops": "training.gen_training_ops",
    "training.saving.functional_saver": "checkpoint.functional_saver",
    "layers": "!tf_keras.src.legacy_tf_layers",
    "layers.base": "!tf_keras.src.legacy_tf_layers.base",
    "layers.core": "!tf_keras.src.legacy_tf_layers.core",
    "layers.convolutional": "!tf_keras.src.legacy_tf_layers.convolutional",
    "layers.pooling": "!tf_keras.src.legacy_tf_layers.pooling",
    "layers.normalization": "!tf_keras.src.legacy_tf_layers.normalization",
    "layers.layers": "!tf_keras.api._v1.keras.__internal__.legacy.layers",
    "pywrap_tensorflow_internal": "pywrap_tensorflow",
}

# old module below tensorflow.python -> {name: "new.module:name" below tensorflow.python, or "tf.name"}
_NAMES = {
    "framework.op_def_registry": {"get_registered_ops": "=registered_ops"},
    "client.session": {"SessionInterface": "client.session:SessionInterface"},
    "data.ops.dataset_ops": {
        name: f"data.ops.{address}"
        for name, address in {
            "CacheDataset": "cache_op:CacheDataset",
            "ConcatenateDataset": "concatenate_op:_ConcatenateDataset",
            "FilterDataset": "filter_op:_FilterDataset",
            "FlatMapDataset": "flat_map_op:_FlatMapDataset",
            "InterleaveDataset": "interleave_op:_InterleaveDataset",
            "MapDataset": "map_op:_MapDataset",
            "Options": "options:Options",
            "PaddedBatchDataset": "padded_batch_op:_PaddedBatchDataset",
            "ParallelMapDataset": "map_op:_ParallelMapDataset",
            "RangeDataset": "range_op:_RangeDataset",
            "SkipDataset": "skip_op:_SkipDataset",
            "TakeDataset": "take_op:_TakeDataset",
            "TensorDataset": "from_tensors_op:_TensorDataset",
            "TensorSliceDataset": "from_tensor_slices_op:_TensorSliceDataset",
            "ZipDataset": "zip_op:_ZipDataset",
        }.items()
    },
    "data.util.nest": {"is_sequence": "data.util.nest:is_nested"},
    "util.nest": {"is_sequence": "util.nest:is_nested"},
    "eager.function": {"defun": "eager.polymorphic_function.polymorphic_function:function"},
    "feature_column.feature_column_lib": {
        "DenseFeatures": "tf.keras.layers.DenseFeatures",
        "FeatureColumn": "feature_column.feature_column_v2_types:FeatureColumn",
    },
    "feature_column.feature_column_v2": {"FeatureColumn": "feature_column.feature_column_v2_types:FeatureColumn"},
    "framework.graph_util": {"convert_variables_to_constants": "tf.graph_util.convert_variables_to_constants"},
    "framework.graph_util_impl": {"convert_variables_to_constants": "tf.graph_util.convert_variables_to_constants"},
    "framework.ops": {
        "Tensor": "tf.Tensor",
        "IndexedSlices": "tf.IndexedSlices",
        "IndexedSlicesValue": "tf.IndexedSlicesValue",
        "convert_to_tensor_or_indexed_slices": "tf.convert_to_tensor_or_indexed_slices",
        "convert_n_to_tensor_or_indexed_slices": "framework.indexed_slices:convert_n_to_tensor_or_indexed_slices",
        "internal_convert_to_tensor_or_indexed_slices":
            "framework.indexed_slices:internal_convert_to_tensor_or_indexed_slices",
        "convert_to_tensor_v2": "framework.tensor_conversion:convert_to_tensor_v2",
        "register_tensor_conversion_function": "tf.register_tensor_conversion_function",
        "default_session": "framework.stack:default_session",
        "enable_tensor_equality": "tf.enable_tensor_equality",
        "disable_tensor_equality": "tf.disable_tensor_equality",
        "RegisterShape": "=ignore",
        "register_dense_tensor_like_type": "=ignore",
    },
    "framework.tensor_shape": {"scalar": "=scalar", "vector": "=vector", "matrix": "=matrix"},
    "framework.tensor_util": {
        "is_tensor": "tf.is_tensor",
        "maybe_set_static_shape": "ops.shape_util:maybe_set_static_shape",
        "shape_tensor": "ops.shape_util:shape_tensor",
    },
    "ops.array_ops": {"stack": "tf.stack", "unstack": "tf.unstack"},
    "ops.control_flow_ops": {
        "Assert": "tf.Assert",
        "case": "tf.case",
        "cond": "tf.cond",
        "switch_case": "tf.switch_case",
        "while_loop": "tf.while_loop",
        "CondContext": "ops.control_flow_ops:CondContext",
    },
    "ops.math_ops": {
        "bincount_v1": "tf.bincount", "bessel_i0e": "tf.math.bessel_i0e", "bessel_i1e": "tf.math.bessel_i1e",
    },
    "ops.nn": {
        name: f"tf.nn.{name}"
        for name in ("bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_rnn", "static_state_saving_rnn")
    } | {"rnn_cell": "tf.nn.rnn_cell", "l2_normalize_v2": "tf.nn.l2_normalize"},
    "ops.nn_impl": {"l2_normalize_v2": "tf.nn.l2_normalize"},
    "ops.random_ops": {"random_crop": "tf.random_crop"},
    "ops.variable_scope": {
        "variable": "tf.Variable",
        "default_variable_creator": "ops.variable_v1:default_variable_creator",
        "enable_resource_variables": "tf.enable_resource_variables",
        "disable_resource_variables": "tf.disable_resource_variables",
        "resource_variables_enabled": "tf.resource_variables_enabled",
    },
    "ops.variables": {
        "RefVariable": "ops.ref_variable:RefVariable",
        "VariableV1": "tf.Variable",
        "is_variable_initialized": "tf.is_variable_initialized",
    },
    "ops.standard_ops": {"stack": "tf.stack", "unstack": "tf.unstack", "random_crop": "tf.random_crop"},
    "ops.parallel_for": {
        "for_loop": "ops.parallel_for.control_flow_ops:for_loop",
        "jacobian": "ops.parallel_for.gradients:jacobian",
        "batch_jacobian": "ops.parallel_for.gradients:batch_jacobian",
    },
    "pywrap_tensorflow": {
        "NewCheckpointReader": "tf.train.NewCheckpointReader",
        "CheckpointReader": "util._pywrap_checkpoint_reader:CheckpointReader",
        "EventsWriter": "client._pywrap_events_writer:EventsWriter",
        "IsGoogleCudaEnabled": "tf.test.is_built_with_cuda",
    },
    "saved_model.utils_impl": {
        name: f"saved_model.path_helpers:{name}"
        for name in ("get_assets_dir", "get_or_create_assets_dir", "get_or_create_variables_dir", "get_variables_dir",
                     "get_variables_path")
    },
}  # fmt: skip

# Modules of the standalone Keras 2.0 to 2.3 that are elsewhere now; below keras.
_KERAS_MODULES = [
    (r"layers\.(core|convolutional|pooling|recurrent|normalization|merge|embeddings|wrappers|advanced_activations"
     r"|local|noise|convolutional_recurrent|cudnn_recurrent)", "layers"),
    (r"objectives", "losses"),
    (r"backend\.(tensorflow_backend|common)", "backend"),
    (r"utils\.(visualize_util|vis_utils)", "utils.vis_utils"),
    (r"preprocessing\.(image|sequence|text)\..*", r"preprocessing.\1"),
    (r"saving\.(hdf5_format|model_config|save|saving_utils|saved_model(?:\..*)?)", r"saving.legacy.\1"),
]  # fmt: skip


def _scalar() -> Any:
    return _shape([])


def _vector(length: Any) -> Any:
    return _shape([length])


def _matrix(rows: Any, columns: Any) -> Any:
    return _shape([rows, columns])


def _shape(dimensions: list[Any]) -> Any:
    return sys.modules["tensorflow"].TensorShape(dimensions)


def _ignore(*_: Any, **__: Any) -> Any:
    """A registration that TensorFlow does not need any more, also as a decorator."""
    return lambda function: function


def _registered_ops() -> dict[str, Any]:
    """The definition of each operation, by its name."""
    internal: Any = importlib.import_module("tensorflow.core.framework.op_def_pb2")
    operations = internal.OpList()
    client: Any = importlib.import_module(f"{_PYTHON}.client.pywrap_tf_session")
    buffer = client.TF_GetAllOpList()
    operations.ParseFromString(client.TF_GetBuffer(buffer))
    return {operation.name: operation for operation in operations.op}


_MADE = {
    "=ignore": _ignore,
    "=matrix": _matrix,
    "=registered_ops": _registered_ops,
    "=scalar": _scalar,
    "=vector": _vector,
}


def modules(fullname: str) -> list[str]:
    """The modules that have today what was in ``fullname`` in 1.15; empty if it did not move."""
    targets = _MODULES.get(fullname.removeprefix(f"{_PYTHON}."), "").split()
    return [target[1:] if target.startswith("!") else f"{_PYTHON}.{target}" for target in targets]


def keras_module(name: str) -> str:
    """The name below Keras today of what was ``name`` below standalone Keras."""
    for pattern, target in _KERAS_MODULES:
        found = re.fullmatch(pattern, name)
        if found:
            return found.expand(target)
    return name


def apply() -> None:
    """Let the modules that TensorFlow has imported, and those that it will, find their old names. Idempotent."""
    for name in _NAMES:
        found = sys.modules.get(f"{_PYTHON}.{name}")
        if found is None and importlib.util.find_spec(f"{_PYTHON}.{name}") is not None:
            found = importlib.import_module(f"{_PYTHON}.{name}")
        if found is not None:
            _add_getattr(found, name)


def _add_getattr(module: Any, key: str) -> None:
    names = {name: address for name, address in _NAMES[key].items() if not hasattr(module, name)}
    earlier = vars(module).get("__getattr__")

    def getattr_(name: str) -> Any:
        if name in names:
            value = _find(names[name])
            setattr(module, name, value)
            return value
        if earlier is not None:
            return earlier(name)
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        raise missing.symbol_error(f"{_PYTHON}.{key}.{name}")

    vars(module)["__getattr__"] = getattr_


def _find(address: str) -> Any:
    if address in _MADE:
        return _MADE[address]
    if address.startswith("tf."):
        value: Any = sys.modules["tensorflow"]
        for part in address.split(".")[1:]:
            value = getattr(value, part)
        return value
    where, _, name = address.partition(":")
    return getattr(importlib.import_module(f"{_PYTHON}.{where}"), name)
