"""Addresses of ``tf.contrib``'s parts inside TensorFlow 1.15, from which programs import all the same.

Pure data, all of them, for the import hooks of scripts: each address below ``tensorflow.contrib.<module>`` gives the
names of our module ``<module>``, of a file in it that has the address's last names first.
"""

from __future__ import annotations

import functools

__all__ = ["EARLIER", "FUNCTIONS", "INNER", "is_inner"]

# contrib module -> folder below it -> the modules in that folder; a module with others in it is not named itself
INNER: dict[str, dict[str, str]] = {
    "all_reduce": {
        "python": "all_reduce",
    },
    "autograph": {},
    "batching": {
        "python.ops": "batch_ops",
    },
    "bayesflow": {
        "python.ops": "monte_carlo monte_carlo_impl",
    },
    "bigtable": {
        "ops": "gen_bigtable_ops",
        "python.ops": "bigtable_api",
    },
    "boosted_trees": {
        "python.ops": (
            "batch_ops_utils boosted_trees_ops_loader gen_model_ops gen_prediction_ops gen_quantile_ops "
            "gen_split_handler_ops gen_stats_accumulator_ops gen_training_ops model_ops prediction_ops quantile_ops "
            "split_handler_ops stats_accumulator_ops training_ops"
        ),
        "python.utils": "losses",
    },
    "checkpoint": {
        "python": "containers python_state split_dependency visualize",
    },
    "cloud": {
        "python.ops": "bigquery_reader_ops gcs_config_ops gen_bigquery_reader_ops gen_gcs_config_ops",
    },
    "cluster_resolver": {
        "python.training": (
            "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver "
            "tfconfig_cluster_resolver tpu_cluster_resolver"
        ),
    },
    "cmake": {
        "": "tools",
    },
    "compiler": {
        "": "jit xla",
    },
    "constrained_optimization": {
        "python": (
            "candidates constrained_minimization_problem constrained_optimizer external_regret_optimizer "
            "swap_regret_optimizer"
        ),
    },
    "copy_graph": {
        "python.util": "copy_elements",
    },
    "crf": {
        "python.ops": "crf",
    },
    "cudnn_rnn": {
        "python.layers": "cudnn_rnn",
        "python.ops": "cudnn_rnn_ops",
    },
    "data": {
        "python.ops": (
            "batching counter enumerate_ops error_ops get_single_element grouping interleave_ops iterator_ops "
            "parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops sliding threadpool unique "
            "writers"
        ),
    },
    "decision_trees": {
        "proto": "generic_tree_model_pb2",
    },
    "deprecated": {},
    "distribute": {
        "python": (
            "collective_all_reduce_strategy mirrored_strategy monitor one_device_strategy parameter_server_strategy "
            "tpu_strategy"
        ),
    },
    "distributions": {
        "python.ops": (
            "autoregressive batch_reshape binomial cauchy chi2 conditional_distribution "
            "conditional_transformed_distribution deterministic distribution_util estimator geometric gumbel "
            "half_normal independent inverse_gamma kumaraswamy logistic mixture mixture_same_family moving_stats "
            "mvn_diag mvn_diag_plus_low_rank mvn_full_covariance mvn_linear_operator mvn_tril negative_binomial "
            "normal_conjugate_posteriors onehot_categorical poisson poisson_lognormal quantized_distribution "
            "relaxed_bernoulli relaxed_onehot_categorical sample_stats seed_stream shape sinh_arcsinh "
            "statistical_testing test_util vector_diffeomixture vector_exponential_diag "
            "vector_exponential_linear_operator vector_laplace_diag vector_laplace_linear_operator "
            "vector_sinh_arcsinh_diag vector_student_t wishart"
        ),
        "python.ops.bijectors": (
            "absolute_value affine affine_linear_operator affine_scalar batch_normalization chain "
            "cholesky_outer_product conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy "
            "masked_autoregressive matrix_inverse_tril ordered permute power_transform real_nvp reshape scale_tril "
            "sigmoid sinh_arcsinh softmax_centered softplus softsign square transform_diagonal weibull"
        ),
    },
    "eager": {
        "python": "datasets metrics metrics_impl network parameter_server saver tfe",
    },
    "estimator": {
        "python.estimator": (
            "boosted_trees dnn_with_layer_annotations early_stopping export exporter extenders head logit_fns "
            "multi_head replicate_model_fn rnn saved_model_estimator"
        ),
    },
    "factorization": {
        "python.ops": (
            "clustering_ops factorization_ops factorization_ops_test_utils gen_factorization_ops gmm gmm_ops kmeans "
            "wals"
        ),
    },
    "feature_column": {
        "python.feature_column": "sequence_feature_column",
    },
    "ffmpeg": {
        "": "ffmpeg_ops",
        "ops": "gen_decode_audio_op_py gen_decode_video_op_py gen_encode_audio_op_py",
    },
    "framework": {
        "python.framework": "checkpoint_utils experimental graph_util tensor_util",
        "python.ops": (
            "arg_scope audio_ops checkpoint_ops gen_variable_ops ops prettyprint_ops script_ops sort_ops variables"
        ),
    },
    "fused_conv": {
        "ops": "gen_fused_conv2d_bias_activation_op",
        "python.ops": (
            "fused_conv2d_bias_activation_benchmark fused_conv2d_bias_activation_op "
            "fused_conv2d_bias_activation_op_test_base"
        ),
    },
    "graph_editor": {
        "": "edit reroute select subgraph transform util",
    },
    "grid_rnn": {
        "python.ops": "grid_rnn_cell",
    },
    "hadoop": {
        "python.ops": "gen_dataset_ops hadoop_dataset_ops hadoop_op_loader",
    },
    "hooks": {
        "python.training": "profiler_hook",
    },
    "ignite": {
        "python.ops": "gen_dataset_ops gen_igfs_ops igfs_op_loader igfs_ops ignite_dataset_ops ignite_op_loader",
    },
    "image": {
        "ops": "gen_distort_image_ops gen_image_ops gen_single_image_random_dot_stereograms_ops",
        "python.ops": (
            "dense_image_warp distort_image_ops image_ops interpolate_spline single_image_random_dot_stereograms "
            "sparse_image_warp"
        ),
    },
    "input_pipeline": {
        "ops": "gen_input_pipeline_ops",
        "python.ops": "input_pipeline_ops",
    },
    "integrate": {
        "python.ops": "odes",
    },
    "kafka": {
        "python.ops": "gen_dataset_ops kafka_dataset_ops kafka_op_loader",
    },
    "keras": {
        "api.keras": (
            "activations backend callbacks constraints initializers layers losses metrics models optimizers "
            "regularizers utils"
        ),
        "api.keras.applications": "inception_v3 mobilenet resnet50 vgg16 vgg19 xception",
        "api.keras.datasets": "boston_housing cifar10 cifar100 imdb mnist reuters",
        "api.keras.preprocessing": "image sequence text",
        "api.keras.wrappers": "scikit_learn",
    },
    "kernel_methods": {
        "python": "kernel_estimators losses",
        "python.mappers": "dense_kernel_mapper random_fourier_features",
    },
    "kinesis": {
        "python.ops": "gen_dataset_ops kinesis_dataset_ops kinesis_op_loader",
    },
    "labeled_tensor": {
        "python.ops": "_typecheck core io_ops nn ops sugar",
    },
    "layers": {
        "ops": "gen_sparse_feature_cross_op",
        "python.layers": (
            "embedding_ops encoders feature_column feature_column_ops initializers layers normalization optimizers "
            "regularizers rev_block_lib summaries target_column utils"
        ),
        "python.ops": "bucketization_op sparse_feature_cross_op sparse_ops",
    },
    "learn": {
        "python.learn": (
            "basic_session_run_hooks evaluable experiment export_strategy graph_actions learn_runner learn_runner_lib "
            "metric_spec models monitored_session monitors session_run_hook summary_writer_cache trainable"
        ),
        "python.learn.datasets": "base mnist produce_small_datasets synthetic text_datasets",
        "python.learn.estimators": (
            "_sklearn composable_model constants debug dnn dnn_linear_combined dynamic_rnn_estimator estimator "
            "estimator_test_utils head kmeans linear logistic_regressor metric_key model_fn prediction_key rnn_common "
            "run_config state_saving_rnn_estimator svm tensor_signature test_data"
        ),
        "python.learn.learn_io": "dask_io data_feeder generator_io graph_io numpy_io pandas_io",
        "python.learn.ops": "embeddings_ops losses_ops seq2seq_ops",
        "python.learn.preprocessing": "categorical categorical_vocabulary tests text",
        "python.learn.utils": "export gc input_fn_utils inspect_checkpoint saved_model_export_utils",
    },
    "legacy_seq2seq": {
        "python.ops": "seq2seq",
    },
    "libsvm": {
        "ops": "gen_libsvm_ops",
        "python.ops": "libsvm_ops",
    },
    "linear_optimizer": {
        "python": "sdca_estimator sdca_optimizer",
        "python.ops": "sdca_ops sharded_mutable_dense_hashtable sparse_feature_column",
    },
    "lookup": {
        "": "lookup_ops",
    },
    "losses": {
        "python.losses": "loss_ops",
        "python.metric_learning": "metric_loss_ops",
    },
    "memory_stats": {
        "ops": "gen_memory_stats_ops",
        "python.ops": "memory_stats_ops",
    },
    "meta_graph_transform": {
        "": "meta_graph_transform",
    },
    "metrics": {
        "python.metrics": "classification",
        "python.ops": "confusion_matrix_ops histogram_ops metric_ops set_ops",
    },
    "mixed_precision": {
        "python": "loss_scale_manager loss_scale_optimizer",
    },
    "model_pruning": {
        "python": "learning pruning pruning_utils strip_pruning_vars_lib",
        "python.layers": "core_layers layers rnn_cells",
    },
    "nearest_neighbor": {
        "python.ops": "nearest_neighbor_ops",
    },
    "nn": {
        "python.ops": "alpha_dropout cross_entropy fwd_gradients sampling_ops scaled_softplus",
    },
    "opt": {
        "python.training": (
            "adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer elastic_average_optimizer "
            "external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer lazy_adam_optimizer matrix_functions "
            "model_average_optimizer moving_average_optimizer multitask_optimizer_wrapper nadam_optimizer powersign "
            "reg_adagrad_optimizer shampoo sign_decay variable_clipping_optimizer weight_decay_optimizers"
        ),
    },
    "optimizer_v2": {
        "": "adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols rmsprop",
    },
    "periodic_resample": {
        "python.ops": "gen_periodic_resample_op periodic_resample_op",
    },
    "predictor": {
        "": "contrib_estimator_predictor core_estimator_predictor predictor predictor_factories saved_model_predictor",
    },
    "proto": {
        "python.ops": "decode_proto_op encode_proto_op",
    },
    "quantization": {
        "python": "array_ops math_ops nn_ops",
    },
    "quantize": {
        "python": "common fold_batch_norms graph_matcher input_to_ops quant_ops quantize quantize_graph",
    },
    "receptive_field": {
        "": "receptive_field_api",
        "python.util": "graph_compute_order parse_layer_parameters receptive_field",
    },
    "recurrent": {
        "python": "recurrent_api",
        "python.ops": "functional_rnn recurrent",
    },
    "reduce_slice_ops": {
        "ops": "gen_reduce_slice_ops",
        "python.ops": "reduce_slice_ops",
    },
    "remote_fused_graph": {
        "pylib.python.ops": "gen_remote_fused_graph_ops remote_fused_graph_ops",
    },
    "resampler": {
        "ops": "gen_resampler_ops",
        "python.ops": "resampler_ops",
    },
    "rnn": {
        "python.kernel_tests": "benchmarking",
        "python.ops": "core_rnn_cell fused_rnn_cell gru_ops lstm_ops rnn rnn_cell",
        "python.tools": "checkpoint_convert",
    },
    "rpc": {
        "python.ops": "gen_rpc_op rpc_op",
    },
    "saved_model": {
        "python.saved_model": "keras_saved_model reader",
    },
    "seq2seq": {
        "ops": "gen_beam_search_ops",
        "python.ops": "attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder helper loss sampler",
    },
    "session_bundle": {
        "": "constants exporter gc manifest_pb2",
    },
    "signal": {},
    "slim": {
        "": "nets",
        "python.slim": "evaluation learning model_analyzer queues summaries",
        "python.slim.data": (
            "data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue tfexample_decoder"
        ),
        "python.slim.nets": (
            "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 resnet_v2 vgg"
        ),
    },
    "solvers": {
        "python.ops": "lanczos least_squares linear_equations util",
    },
    "sparsemax": {
        "python.ops": "sparsemax sparsemax_loss",
    },
    "specs": {
        "python": "params_ops specs specs_lib specs_ops summaries",
    },
    "staging": {},
    "stat_summarizer": {},
    "stateless": {},
    "summary": {
        "": "summary",
    },
    "tensor_forest": {
        "client": "eval_metrics random_forest",
        "proto": "fertile_stats_pb2 tensor_forest_params_pb2",
        "python": "tensor_forest",
        "python.ops": (
            "data_ops gen_model_ops gen_stats_ops gen_tensor_forest_ops model_ops stats_ops tensor_forest_ops"
        ),
    },
    "tensorboard": {
        "plugins.projector": "projector_config_pb2",
    },
    "tensorrt": {
        "python": "trt_convert",
    },
    "testing": {
        "python.framework": "fake_summary_writer",
    },
    "text": {
        "python.ops": "gen_skip_gram_ops skip_gram_ops",
    },
    "tfprof": {
        "": "model_analyzer tfprof_logger",
    },
    "timeseries": {
        "python.timeseries": (
            "ar_model estimators feature_keys head input_pipeline math_utils model model_utils saved_model_utils "
            "state_management"
        ),
        "python.timeseries.state_space_models": (
            "filtering_postprocessor kalman_filter level_trend periodic state_space_model structural_ensemble varma"
        ),
    },
    "tpu": {
        "python": "profiler",
        "python.ops": "tpu_ops",
        "python.tpu": (
            "_tpu_estimator_embedding async_checkpoint bfloat16 datasets device_assignment error_handling "
            "feature_column functional keras_support keras_tpu_variables session_support tensor_tracer topology tpu "
            "tpu_config tpu_context tpu_embedding tpu_embedding_gradient tpu_estimator tpu_feed tpu_function "
            "tpu_optimizer tpu_sharding tpu_system_metadata training_loop util"
        ),
    },
    "training": {
        "python.training": (
            "bucket_ops device_setter evaluation feeding_queue_runner hparam hparam_pb2 resample sampling_ops "
            "sequence_queueing_state_saver training tuner"
        ),
    },
    "util": {
        "": "loader",
    },
}


#: The same for what TensorFlow dropped before 1.15, and that programs for earlier releases import.
EARLIER: dict[str, dict[str, str]] = {
    "nccl": {
        "python.ops": "nccl_ops",
    },
    "rnn": {
        "": "rnn_cell",
        "python.ops": "core_rnn",
    },
    "tfprof": {
        "python.tools.tfprof": "model_analyzer tfprof_logger",
    },
}
#: Addresses of files by which a package of 1.15 had a function, too: ``from <package> import <name>`` gave that.
FUNCTIONS = frozenset({"framework.python.framework.experimental", "framework.python.ops.arg_scope"})


@functools.cache
def _all(module: str) -> frozenset[str]:
    """The inner addresses below ``module``, folders included."""
    found: set[str] = set()
    for folder, names in [*INNER.get(module, {}).items(), *EARLIER.get(module, {}).items()]:
        parts = folder.split(".") if folder else []
        found.update(".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        found.update(".".join([*parts, name]) for name in names.split())
    return frozenset(found)


def is_inner(module: str, address: str) -> bool:
    """Whether 1.15, or an earlier release, had ``tensorflow.contrib.<module>.<address>``.

    Example:
        >>> is_inner("layers", "python.layers.initializers"), is_inner("layers", "python.no_such_thing")
        (True, False)
    """
    return address in _all(module)
