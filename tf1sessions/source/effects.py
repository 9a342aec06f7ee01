"""Effects of TensorFlow's calls, by the paths of names.py: which make operations, sessions, variables."""

from __future__ import annotations

import functools
import re

__all__ = [
    "EAGER_SWITCHES",
    "SESSIONS",
    "STARTS_CUDA",
    "is_session",
    "makes_operations",
]

#: Makers of sessions in this process.
SESSIONS = frozenset(
    [
        "tf.Session", "tf.InteractiveSession", "tf.train.MonitoredTrainingSession", "tf.train.MonitoredSession",
        "tf.train.SingularMonitoredSession", "t1.GraphSession", "t1.Session",
    ]
)  # fmt: skip

#: What looks at the GPUs, and so makes CUDA read its environment.
STARTS_CUDA = frozenset(
    [
        "tf.config.list_physical_devices", "tf.config.experimental.list_physical_devices",
        "tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices", "tf.test.is_gpu_available",
        "tf.test.gpu_device_name", "tf.python.client.device_lib.list_local_devices",
    ]
)  # fmt: skip

#: Settle whether operations run at once.
EAGER_SWITCHES = frozenset(
    [
        "tf.disable_eager_execution", "tf.disable_v2_behavior", "tf.enable_eager_execution", "tf.enable_v2_behavior",
        "t1.enable_v1_behavior",
    ]
)  # fmt: skip

# Modules whose functions all make operations, and the functions in them that do not.
_MODULES = re.compile(
    r"tf\.(nn|layers|losses|image|math|linalg|strings|sparse|metrics|signal|bitwise|random|sets|audio|spectral"
    r"|contrib\.(layers|slim|losses|metrics|crf|seq2seq|legacy_seq2seq))\.(?P<name>[a-z]\w*)"
)
_NOT_IN_MODULES = re.compile(
    r".*(\.set_(random_)?seed|initializer|regularizer|_column|arg_scope|\.get_\w+|summaries|sum_regularizer"
    r"|\.create_global_generator|\.rnn_cell\.\w+|argument_scope|\.variance_scaling|\.is_\w+|slim\.(learning|evaluation"
    r"|nets|data|dataset|queues|tfexample_decoder|model_analyzer|summary|summaries)\b.*|\.assert_global_step"
    r"|\.parse_feature_columns\w*|\.(apply_to|infer|filter|add)_\w+|\.create_partitioned\w*|\.real_valued\w*)"
)
_TOP = frozenset(
    """
    abs accumulate_n acos acosh add add_check_numerics_ops add_n all angle arg_max arg_min argmax argmin argsort
    as_string asin asinh assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near
    assert_negative assert_non_negative assert_positive assert_rank assert_variables_initialized assign assign_add
    assign_sub atan atan2 atanh batch_gather batch_to_space bincount bitcast boolean_mask broadcast_to case cast
    ceil check_numerics cholesky clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value complex concat
    cond confusion_matrix conj constant convert_to_tensor cos cosh count_nonzero count_up_to cross cumprod cumsum
    decode_base64 decode_csv decode_raw depth_to_space dequantize diag diag_part div div_no_nan divide
    dynamic_partition dynamic_stitch edit_distance einsum encode_base64 equal erf erfc exp expand_dims expm1
    extract_image_patches eye fft fft2d fill floor floor_div floordiv floormod foldl foldr gather gather_nd
    get_variable global_norm global_variables_initializer gradients greater greater_equal group guarantee_const
    hessians histogram_fixed_width identity identity_n ifft igamma imag initialize_all_tables
    initialize_all_variables initialize_local_variables initialize_variables invert_permutation is_finite is_inf
    is_nan is_variable_initialized less less_equal lgamma lin_space linspace local_variables_initializer log log1p
    log_sigmoid logical_and logical_not logical_or logical_xor map_fn matching_files matmul matrix_band_part
    matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_solve matrix_transpose maximum meshgrid
    minimum mod mul multinomial multiply neg negative norm not_equal one_hot ones ones_like pack pad parallel_stack
    parse_example parse_single_example placeholder placeholder_with_default polygamma pow py_func py_function qr
    quantize random_crop random_gamma random_normal random_poisson random_shuffle random_uniform range rank
    read_file real realdiv reciprocal reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min
    reduce_prod reduce_sum regex_replace report_uninitialized_variables reshape reverse reverse_sequence rint round
    rsqrt saturate_cast scalar_mul scan scatter_add scatter_nd scatter_nd_add scatter_nd_update scatter_sub
    scatter_update segment_max segment_mean segment_min segment_prod segment_sum sequence_mask setdiff1d shape
    shape_n sigmoid sign sin sinh size slice sort space_to_batch space_to_depth sparse_concat sparse_placeholder
    sparse_reduce_sum sparse_reset_shape sparse_slice sparse_split sparse_tensor_dense_matmul sparse_tensor_to_dense
    sparse_to_dense split sqrt square squared_difference squeeze stack stop_gradient strided_slice string_join
    string_split string_to_hash_bucket string_to_hash_bucket_fast string_to_number sub substr subtract svd
    tables_initializer tan tanh tensor_scatter_add tensor_scatter_update tensordot tile to_bfloat16 to_double
    to_float to_int32 to_int64 trace transpose truediv truncated_normal truncatediv tuple unique unique_with_counts
    unpack unsorted_segment_sum unstack Variable variables_initializer verify_tensor_all_finite where where_v2
    while_loop write_file zeros zeros_like
    """.split()
)
_SUMMARIES = frozenset(["scalar", "histogram", "image", "audio", "text", "merge", "merge_all", "tensor_summary"])
_TRAIN = frozenset(
    """
    Saver batch batch_join cosine_decay create_global_step exponential_decay get_or_create_global_step
    input_producer inverse_time_decay limit_epochs match_filenames_once natural_exp_decay piecewise_constant
    polynomial_decay range_input_producer shuffle_batch shuffle_batch_join slice_input_producer
    string_input_producer
    """.split()
)
#: Methods of an optimizer that add to the graph.
_OPTIMIZES = frozenset(["minimize", "compute_gradients", "apply_gradients"])
_OPTIMIZER = re.compile(r"tf\.(train|contrib\.opt)\.\w*Optimizer\(\)\.(?P<method>\w+)")


def is_session(path: str | None) -> bool:
    """Whether calling ``path`` makes a session."""
    return path in SESSIONS


@functools.lru_cache(maxsize=8192)
def makes_operations(path: str | None) -> bool:
    """Whether calling ``path`` adds operations to a graph.

    Example:
        >>> makes_operations("tf.nn.relu"), makes_operations("tf.reset_default_graph")
        (True, False)
    """
    if path is None or not path.startswith("tf."):
        return False
    rest = path[3:]
    if rest in _TOP:
        return True
    if _MODULES.fullmatch(path):
        return not _NOT_IN_MODULES.fullmatch(path)
    module, _, name = rest.rpartition(".")
    if module == "summary":
        return name in _SUMMARIES
    if module == "train":
        return name in _TRAIN
    found = _OPTIMIZER.fullmatch(path)
    return found is not None and found["method"] in _OPTIMIZES
