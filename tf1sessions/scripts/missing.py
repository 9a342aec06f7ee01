"""What TensorFlow 1.15 had and today's TensorFlow has not: the replacement of each, and the errors that say so.

An entry of :data:`REPLACEMENTS` covers the name and everything below it; the longest entry that fits is taken. The
errors are kinds of ``AttributeError`` and ``ImportError``, so that ``hasattr(tf, "contrib")`` and ``try: import`` in
old programs work, and they name the line of the program: the first one on the stack that is not ours.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from importlib import metadata
from types import FrameType

from ..errors import MissingModuleError, MissingSymbolError

__all__ = ["REPLACEMENTS", "module_error", "replacement", "symbol_error"]

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PASSED_THROUGH = os.path.join("tensorflow", "python", "util", "module_wrapper.py")  # reads attributes for others

REPLACEMENTS = {
    "tf.contrib": "tf.contrib left TensorFlow with version 2.0, and this part of it is not rebuilt here; look for a "
    "counterpart in tf.layers, tf.nn, tf.train or tf.data",
    "tf.contrib.layers.xavier_initializer": "Use tf.glorot_uniform_initializer()",
    "tf.contrib.layers.xavier_initializer_conv2d": "Use tf.glorot_uniform_initializer()",
    "tf.contrib.layers.variance_scaling_initializer": "Use tf.variance_scaling_initializer(scale=2.0)",
    "tf.contrib.layers.l1_regularizer": "Use tf.keras.regularizers.l1(scale)",
    "tf.contrib.layers.l2_regularizer": "Use tf.keras.regularizers.l2(0.5 * scale)",
    "tf.contrib.layers.fully_connected": "Use tf.layers.dense (its activation is None unless given)",
    "tf.contrib.layers.conv2d": "Use tf.layers.conv2d (its activation is None unless given)",
    "tf.contrib.layers.conv2d_transpose": "Use tf.layers.conv2d_transpose",
    "tf.contrib.layers.convolution2d": "Use tf.layers.conv2d",
    "tf.contrib.layers.max_pool2d": "Use tf.layers.max_pooling2d",
    "tf.contrib.layers.avg_pool2d": "Use tf.layers.average_pooling2d",
    "tf.contrib.layers.batch_norm": "Use tf.layers.batch_normalization and run its tf.GraphKeys.UPDATE_OPS",
    "tf.contrib.layers.layer_norm": "Use tf.keras.layers.LayerNormalization",
    "tf.contrib.layers.flatten": "Use tf.layers.flatten",
    "tf.contrib.layers.dropout": "Use tf.layers.dropout (with rate = 1 - keep_prob)",
    "tf.contrib.layers.embed_sequence": "Use tf.nn.embedding_lookup on a tf.get_variable",
    "tf.contrib.layers.one_hot_encoding": "Use tf.one_hot",
    "tf.contrib.layers.optimize_loss": "Use an optimizer of tf.train and its minimize()",
    "tf.contrib.layers.apply_regularization": "Add tf.losses.get_regularization_loss() to the loss",
    "tf.contrib.layers.real_valued_column": "Use tf.feature_column.numeric_column",
    "tf.contrib.rnn": "Most of it is in tf.nn.rnn_cell; static_rnn is tf.nn.static_rnn",
    "tf.contrib.rnn.static_rnn": "Use tf.nn.static_rnn",
    "tf.contrib.rnn.static_bidirectional_rnn": "Use tf.nn.static_bidirectional_rnn",
    "tf.contrib.rnn.BasicLSTMCell": "Use tf.nn.rnn_cell.BasicLSTMCell",
    "tf.contrib.rnn.BasicRNNCell": "Use tf.nn.rnn_cell.BasicRNNCell",
    "tf.contrib.rnn.LSTMCell": "Use tf.nn.rnn_cell.LSTMCell",
    "tf.contrib.rnn.GRUCell": "Use tf.nn.rnn_cell.GRUCell",
    "tf.contrib.rnn.RNNCell": "Use tf.nn.rnn_cell.RNNCell",
    "tf.contrib.rnn.MultiRNNCell": "Use tf.nn.rnn_cell.MultiRNNCell",
    "tf.contrib.rnn.DropoutWrapper": "Use tf.nn.rnn_cell.DropoutWrapper",
    "tf.contrib.rnn.ResidualWrapper": "Use tf.nn.rnn_cell.ResidualWrapper",
    "tf.contrib.rnn.LSTMStateTuple": "Use tf.nn.rnn_cell.LSTMStateTuple",
    "tf.contrib.data": "Use tf.data, or tf.data.experimental",
    "tf.contrib.training.HParams": "Use a plain class, or argparse.Namespace",
    "tf.contrib.framework.get_or_create_global_step": "Use tf.train.get_or_create_global_step",
    "tf.contrib.framework.get_variables": "Use tf.global_variables(scope)",
    "tf.contrib.framework.nest": "Use tf.nest",
    "tf.contrib.framework.sort": "Use tf.sort",
    "tf.contrib.eager": "Use tf.enable_eager_execution and tf.GradientTape; its tfe.Variable is tf.Variable",
    "tf.contrib.distributions": "Use tf.distributions",
    "tf.contrib.lookup": "Use tf.lookup",
    "tf.contrib.summary": "Use tf.summary (and tf.compat.v2.summary for eager code)",
    "tf.contrib.estimator": "tf.estimator left TensorFlow with version 2.16",
    "tf.contrib.ffmpeg": "Use tf.audio.decode_wav, or run the program ffmpeg",
    "tf.contrib.tfprof": "Use tf.profiler",
    "tf.contrib.metrics": "Use tf.metrics",
    "tf.contrib.losses": "Use tf.losses",
    "tf.contrib.opt": "Use the optimizers of tf.train",
    "tf.contrib.keras": "Use tf.keras",
    "tf.contrib.image": "Use tf.image",
    "tf.contrib.tensorboard": "Use the package tensorboard",
    "tf.contrib.slim": "Use tf.layers, or write the model with tf.keras.layers",
    "tf.contrib.learn": "Use tf.keras; tf.contrib.learn and tf.estimator are gone",
    "tf.estimator": "tf.estimator left TensorFlow with version 2.16; use tf.train.MonitoredTrainingSession or tf.keras",
    "tf.examples": "Only tensorflow.examples.tutorials.mnist is available",
    "tf.app.estimator": "tf.estimator left TensorFlow with version 2.16",
    "tf.config.experimental_list_devices": "Use tf.config.list_physical_devices()",
    "tf.data.experimental.CheckpointInputPipelineHook": "Save the iterator with "
    "tf.data.experimental.make_saveable_from_iterator and a tf.train.Saver",
    "tf.data.experimental.MapVectorizationOptions": "Leave it out: tf.data no longer vectorizes map functions",
    "tf.data.experimental.StatsAggregator": "Leave it out: tf.data collects no statistics any more; see tf.profiler",
    "tf.data.experimental.StatsOptions": "Leave it out: tf.data collects no statistics any more; see tf.profiler",
    "tf.data.experimental.bytes_produced_stats": "Leave it out: tf.data collects no statistics any more",
    "tf.data.experimental.latency_stats": "Leave it out: tf.data collects no statistics any more",
    "tf.keras.estimator": "tf.estimator left TensorFlow with version 2.16; use model.fit",
    "tf.keras.experimental.LinearCosineDecay": "Use tf.train.linear_cosine_decay",
    "tf.keras.experimental.NoisyLinearCosineDecay": "Use tf.train.noisy_linear_cosine_decay",
    "tf.keras.experimental.PeepholeLSTMCell": "Use tf.nn.rnn_cell.LSTMCell(use_peepholes=True)",
    "tf.keras.experimental.export_saved_model": "Use tf.keras.models.save_model(model, path, save_format='tf')",
    "tf.keras.experimental.load_from_saved_model": "Use tf.keras.models.load_model(path)",
    "tf.keras.experimental.terminate_keras_multiprocessing_pools": "Leave it out: the pools end by themselves",
    "tf.keras.mixed_precision.experimental": "Use tf.keras.mixed_precision",
    "tf.keras.utils.HDF5Matrix": "Use h5py.File(path)[dataset]",
    "tf.keras.utils.convert_all_kernels_in_model": "Leave it out: it was for models of the Theano backend",
    "tf.keras.utils.multi_gpu_model": "Use tf.distribute.MirroredStrategy",
    "tf.keras.wrappers": "Use the package scikeras",
    "tf.lite.experimental": "Convert with tf.lite.TFLiteConverter",
    "tf.lite.experimental.nn": "Use the cells of tf.nn.rnn_cell and tf.nn.dynamic_rnn",
    "tf.raw_ops.CompareAndBitpack": "Use tf.cast(input > threshold, tf.uint8) and pack the bits in NumPy",
    "tf.tpu.experimental": "TPU embeddings are configured with tf.tpu.experimental.embedding in TensorFlow 2",
    "tf.python.keras.wrappers": "Use the package scikeras",
}
_BEFORE_1_0 = {
    "mul": "multiply", "sub": "subtract", "neg": "negative", "pack": "stack", "unpack": "unstack", "inv": "reciprocal",
    "select": "where", "batch_matmul": "matmul", "batch_cholesky": "cholesky", "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_transpose": "matrix_transpose", "batch_matrix_diag": "matrix_diag", "batch_fft": "fft",
    "complex_abs": "abs", "listdiff": "setdiff1d", "scalar_summary": "summary.scalar",
    "histogram_summary": "summary.histogram", "image_summary": "summary.image", "audio_summary": "summary.audio",
    "merge_summary": "summary.merge", "merge_all_summaries": "summary.merge_all",
    "train.SummaryWriter": "summary.FileWriter", "nn.rnn": "nn.static_rnn",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn", "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "nn.seq2seq": "contrib.legacy_seq2seq", "initialize_variables": "variables_initializer",
    "image.random_crop": "random_crop", "batch_svd": "svd",
    "batch_self_adjoint_eig": "self_adjoint_eig",
}  # fmt: skip
REPLACEMENTS.update({f"tf.{old}": f"It left with TensorFlow 1.0: use tf.{new}" for old, new in _BEFORE_1_0.items()})
_TPU_DEBUG_OPS = re.compile(r"tf\.raw_ops\.(Load|Retrieve)TPUEmbedding\w+GradAccumDebug")


def replacement(symbol: str) -> str | None:
    """What to use in place of ``symbol`` ("tf.contrib.rnn.GRUCell"), as a sentence without its full stop."""
    if _TPU_DEBUG_OPS.fullmatch(symbol):
        return "Leave it out: it was for debugging TPU embeddings"
    while symbol:
        if symbol in REPLACEMENTS:
            return REPLACEMENTS[symbol]
        symbol = symbol.rpartition(".")[0]
    return None


def symbol_error(symbol: str) -> MissingSymbolError:
    """The error for reading ``symbol`` ("tf.contrib"), which is not there."""
    frame = _caller()
    full = _as_written(symbol, frame)
    name = symbol.rpartition(".")[2]
    return MissingSymbolError(
        f"{full} is not available in TensorFlow {_version()}",
        where=_place(frame),
        next_step=_sentence(full),
        name=name,
        symbol=full,
    )


def module_error(module: str) -> MissingModuleError:
    """The error for importing ``module`` ("tensorflow.contrib.rnn"), which is not there."""
    frame = _caller()
    written = _as_imported(module, frame)
    symbol = re.sub(r"^tensorflow(\.compat\.v1)?(?=\.)", "tf", written)
    return MissingModuleError(
        f"{written} is not available in TensorFlow {_version()}",
        where=_place(frame),
        next_step=_sentence(symbol),
        name=module,
        symbol=symbol,
    )


def _sentence(symbol: str) -> str:
    text = replacement(symbol)
    return f"{text}." if text else "It has no known replacement."


@functools.lru_cache(maxsize=1)
def _version() -> str:
    """The version of the TensorFlow that is really running."""
    return metadata.version("tensorflow")


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OURS, "<frozen importlib")) and not name.endswith(_PASSED_THROUGH):
            return frame
        frame = frame.f_back
    return None


def _place(frame: FrameType | None) -> str | None:
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _as_written(symbol: str, frame: FrameType | None) -> str:
    """``symbol`` with what the program's line reads from it: "tf.contrib.layers.flatten" for "tf.contrib"."""
    if frame is None:
        return symbol
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    found = re.search(rf"\b\w+\.{re.escape(symbol.partition('.')[2])}((?:\.\w+)*)", line)
    return symbol + found.group(1) if found else symbol


def _as_imported(module: str, frame: FrameType | None) -> str:
    """``module`` with what the program's line imports of it: "tensorflow.contrib.rnn" for "tensorflow.contrib"."""
    if frame is None:
        return module
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    found = re.search(rf"\b{re.escape(module)}((?:\.\w+)*)(?:\s+import\s+(\w+))?", line)
    if not found:
        return module
    return module + found.group(1) + (f".{found.group(2)}" if found.group(2) else "")
