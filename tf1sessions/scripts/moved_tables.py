"""Tables of what moved inside TensorFlow and Keras since 1.15: modules, and names of modules that are still there.

They were made by comparing what the modules of 1.15.5 had (tests/golden/data/inner_1_15.txt.gz) with what today's have.
"""

from __future__ import annotations

__all__ = ["ENGINE", "GONE", "KERAS_MODULES", "KERAS_PARTS", "MODULES", "NAMES"]

# old module below tensorflow.python -> new modules, of which the first that has a name gives it; ! is not below
MODULES = {
    "framework.tensor_like": "types.core !tf1sessions.scripts.inner.framework",
    "eager.profiler": "profiler.profiler_v2",
    "eager.profiler_client": "profiler.profiler_client",
    "eager.execution_callbacks": "!tf1sessions.contrib.eager.execution_callbacks",
    "autograph.core.naming": "autograph.pyct.naming",
    "autograph.converters.function_scopes": "autograph.converters.functions",
    "autograph.operators.special_values": "autograph.operators.variables",
    "autograph.operators.symbols": "autograph.operators.variables",
    "autograph.pyct.compiler": "autograph.pyct.loader",
    "data.experimental.ops.distribute_options": "data.ops.options",
    "data.experimental.ops.optimization": "data.experimental.ops.testing",
    "data.experimental.ops.optimization_options": "data.ops.options",
    "data.experimental.ops.sleep": "data.experimental.ops.testing",
    "data.experimental.ops.threading_options": "data.ops.options",
    "distribute.all_reduce": "distribute.v1.all_reduce",
    "distribute.distribution_strategy_context": "distribute.distribute_lib",
    "distribute.model_collection.model_collection_base": "!tf_keras.src.distribute.model_collection_base",
    "distribute.model_collection.simple_models": "!tf_keras.src.distribute.simple_models",
    "distribute.model_combinations": "!tf_keras.src.distribute.model_combinations",
    "distribute.saved_model_test_base": "!tf_keras.src.distribute.saved_model_test_base",
    "feature_column.dense_features": "!tf_keras.src.feature_column.dense_features",
    "feature_column.dense_features_v2": "!tf_keras.src.feature_column.dense_features_v2",
    "ops.rnn_cell": "!tf_keras.api._v1.keras.__internal__.legacy.rnn_cell !tf1sessions.scripts.inner.rnn_cells",
    "ops.rnn_cell_impl": "!tf_keras.api._v1.keras.__internal__.legacy.rnn_cell !tf_keras.src.layers.rnn.legacy_cells"
    " !tf1sessions.scripts.inner.rnn_cells",
    "ops.rnn_cell_wrapper_impl": "!tf_keras.src.layers.rnn.legacy_cell_wrappers !tf_keras.src.layers.rnn.cell_wrappers",
    "ops.distributions.transformed_distribution": "!tf1sessions.contrib.distributions.transformed_distribution",
    "ops.linalg.linear_operator_algebra": "ops.linalg.linear_operator",
    "platform.control_imports": "!tf1sessions.scripts.inner.small_modules",
    "profiler.profile_context": "!tf1sessions.contrib.tfprof.profile_context",
    "platform.status_bar": "!tf1sessions.scripts.inner.small_modules",
    "tpu._tpu_estimator_embedding": "!tensorflow_estimator.python.estimator.tpu._tpu_estimator_embedding",
    "tpu.async_checkpoint": "!tf1sessions.contrib.tpu.async_checkpoint",
    "tpu.error_handling": "!tf1sessions.contrib.tpu.error_handling",
    "tpu.session_support": "!tf1sessions.contrib.tpu.session_support",
    "tpu.tpu_config": "!tensorflow_estimator.python.estimator.tpu.tpu_config",
    "tpu.tpu_context": "!tensorflow_estimator.python.estimator.tpu.tpu_context",
    "tpu.tpu_embedding": "!tf1sessions.scripts.inner.tpu_embedding",
    "tpu.tpu_estimator": "!tensorflow_estimator.python.estimator.tpu.tpu_estimator",
    "tpu.util": "!tensorflow_estimator.python.estimator.tpu.util",
    "util.compat_internal": "util.compat",
    "util.deprecation_wrapper": "util.module_wrapper",
    "util.future_api": "!tf1sessions.scripts.inner.small_modules",
    "util.memory": "!tf1sessions.scripts.inner.small_modules",
    "ops.losses.loss_reduction": "ops.losses.losses_impl !tf_keras.src.utils.losses_utils",
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
    "training.training_ops": "ops.gen_training_ops training.gen_training_ops",
    "training.gen_training_ops": "ops.gen_training_ops",
    "training.saving.functional_saver": "checkpoint.functional_saver",
    "layers": "!tf_keras.src.legacy_tf_layers",
    "layers.base": "!tf_keras.src.legacy_tf_layers.base",
    "layers.core": "!tf_keras.src.legacy_tf_layers.core",
    "layers.convolutional": "!tf_keras.src.legacy_tf_layers.convolutional",
    "layers.pooling": "!tf_keras.src.legacy_tf_layers.pooling",
    "layers.normalization": "!tf_keras.src.legacy_tf_layers.normalization",
    "layers.utils": "!tf1sessions.scripts.inner.layers_utils",
    "layers.layers": "!tf_keras.api._v1.keras.__internal__.legacy.layers",
    "pywrap_tensorflow_internal": "pywrap_tensorflow",
    "tensorflow.compiler.xla.experimental.xla_sharding.xla_sharding": "compiler.xla.experimental.xla_sharding",
    "tensorflow.core.protobuf.data.experimental.snapshot_pb2": "!tensorflow.core.protobuf.snapshot_pb2",
    "tensorflow.core.protobuf.graph_debug_info_pb2": "!tensorflow.core.framework.graph_debug_info_pb2",
    "tensorflow.tools.tfprof": "!tensorflow.core.profiler",
    "tensorflow.tools.tfprof.tfprof_log_pb2": "!tensorflow.core.profiler.tfprof_log_pb2",
    "tensorflow.tools.tfprof.tfprof_options_pb2": "!tensorflow.core.profiler.tfprof_options_pb2",
    "tensorflow.tools.tfprof.tfprof_output_pb2": "!tensorflow.core.profiler.tfprof_output_pb2",
    "tensorflow.tools.graph_transforms": "!tf1sessions.scripts.inner.graph_transforms",
    "tensorflow.core.protobuf.trace_events_pb2": "!tensorflow.tsl.profiler.protobuf.trace_events_pb2",
}

# Modules of 1.15.5 of which nothing is left: they can be imported, and their names raise (missing.py has what to use).
GONE = frozenset(
    f"tensorflow.{package}.{name}" if name else f"tensorflow.{package}"
    for package, names in {
        "compiler.tf2tensorrt": "wrap_py_utils",
        "compiler.xla.experimental": "",
        "compiler.xla.experimental.xla_sharding": "",
        "compiler.xla.python_api": "",
        "compiler.xla.python_api.": "types xla_shape",
        "core.framework": "remote_fused_graph_execute_info_pb2",
        "core.kernels": "",
        "core.kernels.boosted_trees": "",
        "core.kernels.boosted_trees.": "boosted_trees_pb2",
        "core.profiler": (
            "op_profile_pb2 profiler_analysis_pb2 profiler_analysis_pb2_grpc profiler_service_pb2 "
            "profiler_service_pb2_grpc"
        ),
        "core.protobuf.data": "",
        "core.protobuf.data.experimental": "",
        "core.protobuf.tpu": "tpu_embedding_output_layout_pb2",
        "lite.experimental.examples": "",
        "lite.experimental.examples.lstm": "",
        "lite.experimental.examples.lstm.": "rnn rnn_cell",
        "lite.experimental.tensorboard": "",
        "lite.experimental.tensorboard.": "ops_util",
        "lite.python": "wrap_toco",
        "lite.python.interpreter_wrapper": "tensorflow_wrap_interpreter_wrapper",
        "lite.python.optimize": "tensorflow_lite_wrap_calibration_wrapper",
        "lite.toco": "model_flags_pb2",
        "lite.toco.python": "",
        "lite.toco.python.": "toco_from_protos",
        "python.autograph.converters": "arg_defaults list_comprehensions",
        "python.autograph.utils": "py_func type_check",
        "python.data.experimental.kernel_tests": "reader_dataset_ops_test_base stats_dataset_test_base",
        "python.data.experimental.kernel_tests.serialization": "",
        "python.data.experimental.kernel_tests.serialization.": "dataset_serialization_test_base",
        "python.data.experimental.ops": "stats_aggregator stats_ops stats_options threadpool",
        "python.debug.cli": "curses_ui curses_widgets",
        "python.debug.examples": "",
        "python.debug.examples.": "debug_errors debug_fibonacci debug_keras debug_mnist debug_tflearn_iris",
        "python.distribute": "estimator_training",
        "python.distribute.model_collection": "",
        "python.framework": "composite_tensor_utils",
        "python.keras.layers.preprocessing": "normalization_v1",
        "python.keras.ops": "",
        "python.ops": "gen_tensor_forest_ops gen_user_ops spectral_ops_test_util tensor_forest_ops",
        "python.ops.linalg": (
            "adjoint_registrations cholesky_registrations inverse_registrations matmul_registrations "
            "registrations_util solve_registrations"
        ),
        "python.tpu": "tpu_embedding_gradient",
        "python.tpu.profiler": "",
        "python.tpu.profiler.": "profiler_analysis_pb2_grpc",
        "python.training": "tensorboard_logging",
        "tools.docs": "doc_generator_visitor generate_lib parser pretty_docs py_guide_parser",
        "tools.pip_package": "simple_console",
    }.items()
    for package, name in [(package.rstrip("."), name) for name in names.split() or [""]]
)


def _below(package: str, modules: str) -> dict[str, str]:
    """Entries for ``modules`` that are names of another module, too."""
    return {module: f"{package}.{module}:" for module in modules.split()}


# old module below tensorflow.python -> {name: "new.module:name" below tensorflow.python ("!..." is not below it;
# without a name it is the module), "tf.name", or "=name" of moved.py}; "*" has the modules that have the other names
NAMES = {
    "": {
        "*": "tf framework.ops framework.dtypes ops.gen_array_ops ops.gen_math_ops ops.gen_nn_ops ops.gen_data_flow_ops"
        " ops.gen_io_ops ops.gen_linalg_ops ops.gen_sparse_ops ops.gen_string_ops ops.gen_parsing_ops"
        " ops.gen_random_ops ops.math_ops ops.array_ops ops.sparse_ops",
        **_below("platform", "app flags gfile test tf_logging resource_loader sysconfig"),
        **_below("lib.io", "file_io python_io"),
        **_below("eager", "context wrap_function"),
        **_below("framework", (
            "common_shapes config constant_op dtypes errors errors_impl graph_util ops random_seed sparse_tensor "
            "tensor_shape tensor_spec tensor_util type_spec"
        )),
        **_below("ops", (
            "array_grad array_ops check_ops clip_ops control_flow_ops control_flow_util distributions gen_array_ops "
            "gen_control_flow_ops gen_data_flow_ops gen_functional_ops gen_io_ops gen_linalg_ops gen_math_ops "
            "gen_nn_ops gen_parsing_ops gen_random_ops gen_sparse_ops gen_state_ops gen_string_ops linalg "
            "linalg_ops_impl list_ops losses map_fn math_grad math_ops metrics nn nn_ops ragged random_ops "
            "resource_variable_ops rnn rnn_cell sets signal sparse_ops state_ops stateful_random_ops tensor_array_ops"
        )),
        **_below("util", (
            "compat deprecation dispatch function_utils nest object_identity tf_inspect tf_should_use"
        )),
        "framework_ops": "framework.ops:",
        "image": "ops.image_ops:",
        "logging": "platform.tf_logging:",
        "py_tf": "pywrap_tensorflow:",
        "pydev": "framework.device:",
        "train": "training.training:",
        "util_compat": "util.compat:",
        "vs": "ops.variable_scope:",
    },
    "ops": {"*": "framework.ops tf", "constant_op": "framework.constant_op:"},
    **{
        key: {}
        for key in (
            "framework.indexed_slices framework.smart_cond framework.tensor_spec framework.type_spec ops.array_grad "
            "ops.confusion_matrix ops.data_flow_ops ops.embedding_ops ops.gradients_impl ops.image_ops_impl "
            "ops.list_ops ops.logging_ops ops.lookup_ops ops.losses.util ops.map_fn ops.math_grad ops.metrics_impl "
            "ops.nn_ops ops.parsing_ops ops.rnn ops.tensor_array_ops ops.template training.moving_averages "
            "training.optimizer training.slot_creator training.training_util"
        ).split()
    },
    "ops.gen_array_ops": {},
    "ops.gen_control_flow_ops": {},
    "ops.gen_data_flow_ops": {},
    "ops.gen_dataset_ops": {"*": "ops.gen_optional_ops"},
    "ops.gen_experimental_dataset_ops": {"*": "ops.gen_dataset_ops"},
    "ops.gen_image_ops": {},
    "ops.gen_io_ops": {},
    "ops.gen_linalg_ops": {},
    "ops.gen_logging_ops": {},
    "ops.gen_math_ops": {"*": "ops.gen_special_math_ops"},
    "ops.gen_nn_ops": {},
    "ops.gen_parsing_ops": {},
    "ops.gen_random_ops": {},
    "ops.gen_script_ops": {},
    "ops.gen_sparse_ops": {},
    "ops.gen_state_ops": {},
    "ops.gen_string_ops": {},
    "ops.gen_tpu_ops": {"*": "ops.gen_tpu_partition_ops"},
    "framework.common_shapes": {
        name: f"!tf1sessions.scripts.inner.framework:{name}"
        for name in
        ("call_cpp_shape_fn", "has_fully_defined_shape", "no_outputs", "rank", "scalar_shape", "unchanged_shape",
         "unchanged_shape_with_rank", "unchanged_shape_with_rank_at_least", "unchanged_shape_with_rank_at_most",
         "unknown_shape")
    },
    "framework.op_def_library": {"OpDefLibrary": "!tf1sessions.scripts.inner.framework:OpDefLibrary"},
    "framework.op_def_registry": {
        "get_registered_ops": "!tf1sessions.scripts.inner.framework:registered_ops",
        "register_op_list": "!tf1sessions.scripts.inner.framework:register_op_list",
    },
    "distribute.distribute_lib": {
        "create_mirrored_variable": "distribute.distribute_utils:create_mirrored_variable",
        "get_loss_reduction": "distribute.distribute_utils:get_loss_reduction",
        "get_distribution_strategy": "tf.distribute.get_strategy",
        "has_distribution_strategy": "tf.distribute.has_strategy",
    },
    "distribute.input_lib": {"*": "distribute.input_util distribute.v1.input_lib"},
    "distribute.mirrored_strategy": {"*": "distribute.mirrored_run"},
    "distribute.values": {
        "*": "distribute.distribute_utils distribute.tpu_values distribute.ps_values distribute.tpu_util"
    },
    "eager.def_function": {"*": "eager.polymorphic_function.polymorphic_function"},
    "eager.context": {
        "VirtualDeviceConfiguration": "tf.config.experimental.VirtualDeviceConfiguration",
        "list_devices": "tf.config.experimental_list_devices",
    },
    "eager.tape": {"*": "eager.record"},
    "framework.config": {
        "get_virtual_device_configuration": "tf.config.experimental.get_virtual_device_configuration",
        "set_virtual_device_configuration": "tf.config.experimental.set_virtual_device_configuration",
    },
    "saved_model.loader_impl": {"_parse_saved_model": "saved_model.loader_impl:parse_saved_model"},
    "training.experimental.mixed_precision": {
        "disable_mixed_precision_graph_rewrite": "tf.train.experimental.disable_mixed_precision_graph_rewrite",
        "enable_mixed_precision_graph_rewrite": "tf.train.experimental.enable_mixed_precision_graph_rewrite",
    },
    "feature_column.sequence_feature_column": {
        "SequenceFeatures": "tf.keras.experimental.SequenceFeatures",
    },
    "ops.custom_gradient": {"copy_handle_data": "ops.handle_data_util:copy_handle_data"},
    "ops.gradients_util": {"IsTrainable": "eager.backprop_util:IsTrainable"},
    "ops.nn_grad": {"*": "ops.nn_fused_batch_norm_grad"},
    "ops.resource_variable_ops": {
        "_to_proto_fn": "ops.ref_variable:_to_proto_fn",
        "_from_proto_fn": "ops.ref_variable:_from_proto_fn",
    },
    "platform.tf_logging": {"_get_logger": "platform.tf_logging:get_logger"},
    "profiler.profiler_v2": {"start_profiler_server": "=start_profiler_server"},
    "tpu.tpu": {"*": "tpu.tpu_replication"},
    "tpu.tpu_strategy_util": {"*": "distribute.cluster_resolver.tpu.tpu_cluster_resolver"},
    "trackable.autotrackable": {"*": "trackable.resource"},
    "trackable.base": {"*": "checkpoint.restore"},
    "util.module_wrapper": {"DeprecationWrapper": "util.module_wrapper:TFModuleWrapper"},
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
    "eager.function": {"defun": "!tf1sessions.contrib.eager.functions:defun"},
    "feature_column.feature_column_lib": {
        "DenseFeatures": "tf.keras.layers.DenseFeatures",
        "FeatureColumn": "feature_column.feature_column_v2_types:FeatureColumn",
    },
    "feature_column.feature_column_v2": {
        "FeatureColumn": "feature_column.feature_column_v2_types:FeatureColumn",
        "_StateManagerImplV2": "!tf_keras.src.feature_column.dense_features_v2:_StateManagerImplV2",
        "_BaseFeaturesLayer": "!tf_keras.src.feature_column.base_feature_layer:_BaseFeaturesLayer",
        "LinearModel": "tf.keras.experimental.LinearModel",
    },
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
        "_eval_using_default_session": "framework.tensor:_eval_using_default_session",
        "enable_tensor_equality": "tf.enable_tensor_equality",
        "disable_tensor_equality": "tf.disable_tensor_equality",
        "RegisterShape": "=ignore",
        "_TensorLike": "!tf1sessions.scripts.inner.framework:_TensorLike",
        "set_shapes_for_outputs": "!tf1sessions.scripts.inner.framework:set_shapes_for_outputs",
        "register_dense_tensor_like_type": "=ignore",
    },
    "framework.tensor_shape": {"scalar": "=scalar", "vector": "=vector", "matrix": "=matrix"},
    "framework.tensor_util": {
        "is_tensor": "tf.is_tensor",
        "maybe_set_static_shape": "ops.shape_util:maybe_set_static_shape",
        "shape_tensor": "ops.shape_util:shape_tensor",
    },
    "ops.array_ops": {"stack": "tf.stack", "unstack": "tf.unstack", "*": "ops.tensor_getitem_override"},
    "ops.control_flow_ops": {
        "Assert": "tf.Assert",
        "case": "tf.case",
        "cond": "tf.cond",
        "switch_case": "tf.switch_case",
        "while_loop": "tf.while_loop",
        "*": "ops.cond ops.while_loop ops.control_flow_case ops.control_flow_switch_case ops.control_flow_assert",
    },
    "ops.math_ops": {
        "bincount_v1": "tf.bincount", "bessel_i0e": "tf.math.bessel_i0e", "bessel_i1e": "tf.math.bessel_i1e",
    },
    "ops.nn": {
        name: f"tf.nn.{name}"
        for name in ("bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_rnn", "static_state_saving_rnn")
    } | {"rnn_cell": "tf.nn.rnn_cell", "l2_normalize_v2": "tf.nn.l2_normalize"},
    "ops.nn_impl": {"l2_normalize_v2": "tf.nn.l2_normalize", "*": "ops.nn_impl_distribute"},
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
        "list_devices": "client._pywrap_device_lib:list_devices",
        "*": "client.pywrap_tf_session client._pywrap_tf_session pywrap_tfe util._pywrap_utils lib.io._pywrap_file_io"
        " lib.io._pywrap_record_io",
    },
    "saved_model.utils_impl": {
        name: f"saved_model.path_helpers:{name}"
        for name in ("get_assets_dir", "get_or_create_assets_dir", "get_or_create_variables_dir", "get_variables_dir",
                     "get_variables_path")
    },
}  # fmt: skip

# Modules of the standalone Keras 2.0 to 2.3 that are elsewhere now; below keras.
KERAS_MODULES = [
    (r"layers\.(core|convolutional|pooling|recurrent|normalization|merge|embeddings|wrappers|advanced_activations"
     r"|local|noise|convolutional_recurrent|cudnn_recurrent)", "layers"),
    (r"objectives", "losses"),
    (r"backend\.(tensorflow_backend|common)", "backend"),
    (r"utils\.(visualize_util|vis_utils)", "utils.vis_utils"),
    (r"preprocessing\.(image|sequence|text)\..*", r"preprocessing.\1"),
    (r"legacy(\.interfaces)?", "inner.keras_legacy"),
    (r"legacy\.layers", "inner.keras_old_layers"),
    (r"utils\.test_utils", "inner.keras_test_utils"),
    (r"utils\.training_utils", "inner.keras_multi_gpu"),
    (r"optimizer_v2", "optimizers.legacy"),
    (r"optimizer_v2\.(adadelta|adagrad|adamax|adam|ftrl|gradient_descent|nadam|optimizer_v2|rmsprop)",
     r"optimizers.legacy.\1"),
    (r"optimizer_v2\.learning_rate_schedule", "optimizers.schedules.learning_rate_schedule"),
    (r"layers\.(dense_attention)", "layers.attention"),
    (r"layers\.(recurrent_v2|rnn_cell_wrapper_v2|normalization_v2)", "layers"),
    (r"premade", "premade_models"),
    (r"premade\.(linear|wide_deep)", r"premade_models.\1"),
    (r"keras_parameterized", "testing_infra.test_combinations"),
    (r"testing_utils", "testing_infra.test_utils"),
    (r"model_subclassing_test_util", "tests.model_subclassing_test_util"),
    (r"distribute\.multi_worker_training_state", "distribute.worker_training_state"),
    (r"wrappers", "inner.keras_wrappers"),
    (r"wrappers\.scikit_learn", "inner.keras_scikit"),
    (r"saving\.saved_model_experimental", "inner.keras_saved_models"),
    (r"utils\.multi_gpu_utils", "inner.keras_multi_gpu"),
    (r"mixed_precision\.experimental", "inner.keras_mixed_precision"),
    (r"mixed_precision\.experimental\.(loss_scale_optimizer|policy)", "inner.keras_mixed_precision"),
    (r"mixed_precision\.experimental\.(autocast_variable|test_util)", r"mixed_precision.\1"),
    (r"saving\.(hdf5_format|model_config|save|saving_utils|saved_model(?:\..*)?)", r"saving.legacy.\1"),
]  # fmt: skip

# module of Keras in 1.15 -> files below tf_keras.src that have what is not public of it today
KERAS_PARTS = {
    "layers.convolutional": "layers.convolutional.base_conv layers.convolutional.base_separable_conv",
    "layers.convolutional_recurrent": "inner.keras_old_layers layers.rnn.base_conv_rnn layers.rnn.base_conv_lstm "
    "layers.rnn.conv_lstm2d",
    "layers.cudnn_recurrent": "layers.rnn.base_cudnn_rnn",
    "layers.dense_attention": "layers.attention.base_dense_attention",
    "layers.local": "layers.locally_connected.locally_connected_utils",
    "layers.merge": "layers.merging.base_merge",
    "layers.normalization": "layers.normalization.batch_normalization",
    "layers.normalization_v2": "layers.normalization.batch_normalization",
    "layers.pooling": (
        "layers.pooling.base_pooling1d layers.pooling.base_pooling2d layers.pooling.base_pooling3d "
        "layers.pooling.base_global_pooling1d layers.pooling.base_global_pooling2d layers.pooling.base_global_pooling3d"
    ),
    "layers.recurrent": (
        "inner.keras_functions layers.rnn.rnn_utils layers.rnn.dropout_rnn_cell_mixin layers.rnn.base_rnn "
        "layers.rnn.gru_v1"
    ),
    "layers.recurrent_v2": "layers.rnn.gru layers.rnn.lstm layers.rnn.gru_lstm_utils",
    "layers.rnn_cell_wrapper_v2": "layers.rnn.cell_wrappers",
    "distribute.distributed_training_utils": "distribute.distributed_training_utils_v1",
    "saving.saved_model.save": "saving.legacy.saved_model.save_impl",
    "utils.conv_utils": "inner.keras_functions",
    "utils.io_utils": "inner.keras_files",
    "utils.generic_utils": "inner.keras_functions saving.object_registration saving.legacy.serialization",
    "utils.layer_utils": "inner.keras_functions",
    "utils.tf_utils": "utils.control_flow_util",
}

# module below Keras' engine in 1.15 -> files below tf_keras.src.engine that have its names, beside the one of its name
ENGINE = {
    "base_layer": "base_layer_v1 node inner.keras_functions",
    "base_layer_utils": "base_layer_v1",
    "input_layer": "node",
    "network": "functional functional_utils node inner.keras_network inner.keras_functions",
    "saving": "inner.keras_functions",
    "topology": "functional input_layer node inner.keras_network inner.keras_functions",
    "training": "training_v1 training_utils_v1 inner.keras_functions",
    "training_arrays": "training_arrays_v1",
    "training_distributed": "training_distributed_v1",
    "training_eager": "training_eager_v1",
    "training_generator": "training_generator_v1",
    "training_utils": "training_utils_v1",
    "training_v2": "training_v1",
    "training_v2_utils": "training_v1",
}
