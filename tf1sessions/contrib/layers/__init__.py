"""``tf.contrib.layers``: layers, initializers, regularizers, summaries and ``optimize_loss``.

The variables of a layer are made below its variable scope by ``tf.get_variable``, so that scopes share, partition and
reuse them; they are model variables.

Files::

    bucketization_op.py       numbers to buckets
    convolutions.py           conv2d and its kin
    dense.py                  fully_connected
    embedding_ops.py          looking up embeddings
    encoders.py               embed_sequence, bow_encoder
    feature_column.py         columns of features: numbers, crosses, and what networks need
    feature_column_ops.py     inputs and linear models from them
    gdn.py                    generalized divisive normalization
    initializers.py           xavier_initializer and its kin
    layers.py                 dropout, flatten, stack and other small ones
    normalization.py          batch_norm and its kin
    optimizers.py             optimize_loss
    pooling.py                max_pool2d and its kin
    regularizers.py           l2_regularizer and its kin
    rev_block_lib.py          recompute_grad and reversible blocks
    sparse_columns.py         columns of features: ids, and ids with weights
    sparse_feature_cross_op.py  numbers for combinations of values
    summaries.py              summarize_tensor and its kin
    target_column.py          losses, predictions and metrics before there were heads
    utils.py                  what all layers share
"""

from .convolutions import (
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution2d_transpose,
    convolution3d,
    convolution3d_transpose,
    separable_conv2d,
    separable_convolution2d,
)
from .dense import elu, fully_connected, legacy_fully_connected, legacy_linear, legacy_relu, linear, relu, relu6
from .embedding_ops import embedding_lookup_unique, safe_embedding_lookup_sparse
from .encoders import bow_encoder, embed_sequence
from .feature_column import (
    SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
    bucketized_column,
    create_feature_spec_for_parsing,
    crossed_column,
    embedding_column,
    make_place_holder_tensors_for_base_features,
    one_hot_column,
    real_valued_column,
    scattered_embedding_column,
    shared_embedding_columns,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from .feature_column_ops import (
    check_feature_columns,
    infer_real_valued_columns,
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples,
    sequence_input_from_feature_columns,
    transform_features,
    weighted_sum_from_feature_columns,
)
from .gdn import GDN, gdn
from .initializers import variance_scaling_initializer, xavier_initializer, xavier_initializer_conv2d
from .layers import (
    bias_add,
    dense_to_sparse,
    dropout,
    flatten,
    images_to_sequence,
    maxout,
    one_hot_encoding,
    repeat,
    scale_gradient,
    sequence_to_images,
    softmax,
    spatial_softmax,
    stack,
    unit_norm,
)
from .normalization import batch_norm, group_norm, instance_norm, layer_norm
from .optimizers import OPTIMIZER_CLS_NAMES, OPTIMIZER_SUMMARIES, optimize_loss
from .pooling import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d, pool
from .regularizers import apply_regularization, l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer
from .rev_block_lib import RevBlock, recompute_grad, rev_block
from .summaries import (
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)
from .target_column import multi_class_target, regression_target

__all__ = [
    "GDN",
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    "RevBlock",
    "apply_regularization",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bias_add",
    "bow_encoder",
    "bucketized_column",
    "check_feature_columns",
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "dense_to_sparse",
    "dropout",
    "elu",
    "embed_sequence",
    "embedding_column",
    "embedding_lookup_unique",
    "flatten",
    "fully_connected",
    "gdn",
    "group_norm",
    "images_to_sequence",
    "infer_real_valued_columns",
    "input_from_feature_columns",
    "instance_norm",
    "joint_weighted_sum_from_feature_columns",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "layer_norm",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "make_place_holder_tensors_for_base_features",
    "max_pool2d",
    "max_pool3d",
    "maxout",
    "multi_class_target",
    "one_hot_column",
    "one_hot_encoding",
    "optimize_loss",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "pool",
    "real_valued_column",
    "recompute_grad",
    "regression_target",
    "relu",
    "relu6",
    "repeat",
    "rev_block",
    "safe_embedding_lookup_sparse",
    "scale_gradient",
    "scattered_embedding_column",
    "separable_conv2d",
    "separable_convolution2d",
    "sequence_input_from_feature_columns",
    "sequence_to_images",
    "shared_embedding_columns",
    "softmax",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "spatial_softmax",
    "stack",
    "sum_regularizer",
    "summarize_activation",
    "summarize_activations",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "transform_features",
    "unit_norm",
    "variance_scaling_initializer",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]
