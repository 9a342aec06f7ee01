"""Where TensorFlow 1.15 kept the parts of ``tf.contrib``: inner addresses that programs import all the same.

Pure data, for the import hooks of scripts: each address below ``tensorflow.contrib.<module>`` gives the names of our
module ``<module>``, of a file in it that has the address's last name first.
"""

from __future__ import annotations

__all__ = ["INNER", "is_inner"]

# contrib module -> folder below it -> the modules in that folder
INNER: dict[str, dict[str, str]] = {
    "cluster_resolver": {
        "python.training": (
            "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver "
            "tfconfig_cluster_resolver tpu_cluster_resolver"
        ),
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
            "parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops sliding "
            "threadpool unique writers"
        ),
    },
    "distributions": {
        "python.ops": (
            "autoregressive batch_reshape binomial cauchy chi2 conditional_distribution "
            "conditional_transformed_distribution deterministic distribution_util estimator geometric gumbel "
            "half_normal independent inverse_gamma kumaraswamy logistic mixture mixture_same_family "
            "moving_stats mvn_diag mvn_diag_plus_low_rank mvn_full_covariance mvn_linear_operator mvn_tril "
            "negative_binomial normal_conjugate_posteriors onehot_categorical poisson poisson_lognormal "
            "quantized_distribution relaxed_bernoulli relaxed_onehot_categorical sample_stats seed_stream "
            "shape sinh_arcsinh vector_diffeomixture vector_exponential_diag "
            "vector_exponential_linear_operator vector_laplace_diag vector_laplace_linear_operator "
            "vector_sinh_arcsinh_diag vector_student_t wishart"
        ),
        "python.ops.bijectors": (
            "absolute_value affine affine_linear_operator affine_scalar batch_normalization chain "
            "cholesky_outer_product conditional_bijector exp fill_triangular gumbel inline invert kumaraswamy "
            "masked_autoregressive matrix_inverse_tril ordered permute power_transform real_nvp reshape "
            "scale_tril sigmoid sinh_arcsinh softmax_centered softplus softsign square transform_diagonal "
            "weibull"
        ),
    },
    "eager": {
        "python": "datasets metrics metrics_impl network parameter_server saver tfe",
    },
    "estimator": {
        "python.estimator": (
            "boosted_trees dnn_with_layer_annotations early_stopping export exporter extenders head hooks "
            "logit_fns multi_head replicate_model_fn rnn saved_model_estimator"
        ),
    },
    "factorization": {
        "python.ops": "clustering_ops factorization_ops gmm gmm_ops kmeans wals",
    },
    "framework": {
        "python.framework": "checkpoint_utils experimental graph_util tensor_util",
        "python.ops": "arg_scope audio_ops checkpoint_ops ops prettyprint_ops script_ops sort_ops variables",
    },
    "image": {
        "python.ops": (
            "dense_image_warp distort_image_ops image_ops interpolate_spline "
            "single_image_random_dot_stereograms sparse_image_warp"
        ),
    },
    "layers": {
        "python.layers": (
            "embedding_ops encoders feature_column feature_column_ops initializers layers normalization "
            "optimizers regularizers rev_block_lib summaries target_column utils"
        ),
        "python.ops": "bucketization_op sparse_feature_cross_op sparse_ops",
    },
    "learn": {
        "python.learn": (
            "basic_session_run_hooks evaluable experiment export_strategy graph_actions learn_runner "
            "learn_runner_lib metric_spec models monitored_session monitors session_run_hook "
            "summary_writer_cache trainable"
        ),
        "python.learn.datasets": "base mnist produce_small_datasets synthetic text_datasets",
        "python.learn.estimators": (
            "_sklearn composable_model constants debug dnn dnn_linear_combined dynamic_rnn_estimator "
            "estimator head kmeans linear logistic_regressor metric_key model_fn prediction_key rnn_common "
            "run_config state_saving_rnn_estimator svm tensor_signature"
        ),
        "python.learn.learn_io": "dask_io data_feeder generator_io graph_io numpy_io pandas_io",
        "python.learn.ops": "embeddings_ops losses_ops seq2seq_ops",
        "python.learn.preprocessing": "categorical categorical_vocabulary text",
        "python.learn.utils": "export gc input_fn_utils inspect_checkpoint saved_model_export_utils",
    },
    "legacy_seq2seq": {
        "python.ops": "seq2seq",
    },
    "lookup": {
        "": "lookup_ops",
    },
    "losses": {
        "python.losses": "loss_ops",
        "python.metric_learning": "metric_loss_ops",
    },
    "memory_stats": {
        "python.ops": "memory_stats_ops",
    },
    "metrics": {
        "python.metrics": "classification",
        "python.ops": "confusion_matrix_ops histogram_ops metric_ops set_ops",
    },
    "opt": {
        "python.training": (
            "adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer "
            "elastic_average_optimizer external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer "
            "lazy_adam_optimizer matrix_functions model_average_optimizer moving_average_optimizer "
            "multitask_optimizer_wrapper nadam_optimizer powersign reg_adagrad_optimizer shampoo sign_decay "
            "variable_clipping_optimizer weight_decay_optimizers"
        ),
    },
    "predictor": {
        "": (
            "contrib_estimator_predictor core_estimator_predictor predictor predictor_factories "
            "saved_model_predictor"
        ),
    },
    "rnn": {
        "python.ops": "core_rnn_cell fused_rnn_cell gru_ops lstm_ops rnn rnn_cell",
        "python.tools": "checkpoint_convert",
    },
    "seq2seq": {
        "python.ops": (

            "attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder helper loss sampler"
        ),
    },
    "slim": {
        "": "nets",
        "python.slim": "evaluation learning model_analyzer queues summaries",
        "python.slim.data": (
            "data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue "
            "tfexample_decoder"
        ),
        "python.slim.nets": (
            "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 "
            "resnet_v2 vgg"
        ),
    },
    "summary": {
        "": "summary",
    },
    "tensor_forest": {
        "client": "eval_metrics random_forest",
        "python": "tensor_forest",
        "python.ops": "data_ops model_ops stats_ops tensor_forest_ops",
    },
    "tpu": {
        "python.ops": "tpu_ops",
        "python.tpu": (
            "_tpu_estimator_embedding async_checkpoint bfloat16 datasets device_assignment error_handling "
            "feature_column functional keras_support keras_tpu_variables session_support tensor_tracer "
            "topology tpu tpu_config tpu_context tpu_embedding tpu_embedding_gradient tpu_estimator tpu_feed "
            "tpu_function tpu_optimizer tpu_sharding tpu_system_metadata training_loop util"
        ),
    },
    "training": {
        "python.training": (
            "bucket_ops device_setter evaluation feeding_queue_runner hparam resample sampling_ops "
            "sequence_queueing_state_saver training tuner"
        ),
    },
    "util": {
        "": "loader",
    },
}


def _all(module: str) -> frozenset[str]:
    """The inner addresses below ``module``, folders included."""
    found: set[str] = set()
    for folder, names in INNER.get(module, {}).items():
        parts = folder.split(".") if folder else []
        found.update(".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        found.update(".".join([*parts, name]) for name in names.split())
    return frozenset(found)


def is_inner(module: str, address: str) -> bool:
    """Whether 1.15 had ``tensorflow.contrib.<module>.<address>``.

    Example:
        >>> is_inner("layers", "python.layers.initializers"), is_inner("layers", "python.no_such_thing")
        (True, False)
    """
    return address in _all(module)
