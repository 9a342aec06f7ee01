"""Names of TensorFlow 1.15 that today's TensorFlow has not: the replacement of each, and the errors that say so.

An entry of :data:`REPLACEMENTS` covers the name and everything below it; the longest entry that fits is taken. Those of
``tf.contrib`` are in contrib/replacements.py. The errors are kinds of ``AttributeError`` and ``ImportError``, so that
``hasattr(tf, "contrib")`` and ``try: import`` in old programs work, and they name the line of the program: the first
one on the stack that is not ours.
"""

from __future__ import annotations

import difflib
import functools
import linecache
import os
import re
import sys
from importlib import metadata
from types import FrameType, ModuleType
from typing import Any

from ..contrib import replacements as contrib_replacements
from ..errors import MissingModuleError, MissingSymbolError

__all__ = ["REPLACEMENTS", "library_error", "module_error", "replacement", "symbol_error"]

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: How much of a slip and of the name that was meant is alike at least. Arbitrary.
_ALIKE = 0.85
_PASSED_THROUGH = os.path.join("tensorflow", "python", "util", "module_wrapper.py")  # reads attributes for others

REPLACEMENTS: dict[str, str] = {
    **contrib_replacements.REPLACEMENTS,
    "tf.estimator": "This part of tf.estimator is not rebuilt here; write a model_fn for tf.estimator.Estimator",
    "tf.examples": "Only tensorflow.examples.tutorials.mnist is available",
    "tf.app.estimator": "tf.estimator left TensorFlow with version 2.16",
    "tf.data.experimental.CheckpointInputPipelineHook": "Save the iterator with "
    "tf.data.experimental.make_saveable_from_iterator and a tf.train.Saver",
    "tf.data.experimental.MapVectorizationOptions": "Leave it out: tf.data no longer vectorizes map functions",
    "tf.data.experimental.StatsAggregator": "Leave it out: tf.data collects no statistics any more; see tf.profiler",
    "tf.data.experimental.StatsOptions": "Leave it out: tf.data collects no statistics any more; see tf.profiler",
    "tf.data.experimental.bytes_produced_stats": "Leave it out: tf.data collects no statistics any more",
    "tf.data.experimental.latency_stats": "Leave it out: tf.data collects no statistics any more",
    "tf.keras.experimental.LinearCosineDecay": "Use tf.train.linear_cosine_decay",
    "tf.keras.experimental.NoisyLinearCosineDecay": "Use tf.train.noisy_linear_cosine_decay",
    "tf.keras.experimental.PeepholeLSTMCell": "Use tf.nn.rnn_cell.LSTMCell(use_peepholes=True)",
    "tf.keras.experimental.terminate_keras_multiprocessing_pools": "Leave it out: the pools end by themselves",
    "tf.keras.utils.HDF5Matrix": "Use h5py.File(path)[dataset]",
    "tf.keras.utils.convert_all_kernels_in_model": "Leave it out: it was for models of the Theano backend",
    "tf.lite.experimental": "Convert with tf.lite.TFLiteConverter",
    "tf.lite.experimental.nn": "Use the cells of tf.nn.rnn_cell and tf.nn.dynamic_rnn",
    "tf.raw_ops.CompareAndBitpack": "Use tf.cast(input > threshold, tf.uint8) and pack the bits in NumPy",
    "tf.tpu.experimental": "TPU embeddings are configured with tf.tpu.experimental.embedding in TensorFlow 2",
    "tf.compiler.tf2tensorrt": "TensorFlow has no TensorRT any more: convert the model with the package tf2onnx",
    "tf.core.kernels.boosted_trees": "Read it with tf.estimator.BoostedTreesClassifier",
    "tf.core.profiler": "Use tf.profiler",
    "tf.lite.toco": "Use tf.lite.TFLiteConverter",
    "tf.lite.python": "Use tf.lite.TFLiteConverter and tf.lite.Interpreter",
    "tf.lite.experimental.examples": "Use the cells of tf.nn.rnn_cell and tf.nn.dynamic_rnn",
    "tf.python.autograph": "Use tf.autograph",
    "tf.python.data.experimental.kernel_tests": "Use tf.test.TestCase",
    "tf.python.data.experimental.ops": "Leave it out: tf.data has no statistics and no thread pools any more",
    "tf.python.debug.cli": 'Use the plain interface: LocalCLIDebugWrapperSession(session, ui_type="readline")',
    "tf.python.debug.examples": "Write it with tfdbg.LocalCLIDebugWrapperSession",
    "tf.python.distribute": "Use tf.distribute",
    "tf.python.framework.composite_tensor_utils": "Use tf.nest with expand_composites=True",
    "tf.python.keras.layers.preprocessing": "Use tf.keras.layers.experimental.preprocessing of TensorFlow 2",
    "tf.python.ops.distributions": "It is in tensorflow-probability: run `pip install tensorflow-probability[tf]`",
    "tf.python.ops.gen_tensor_forest_ops": "Use tf.contrib.tensor_forest",
    "tf.python.ops.tensor_forest_ops": "Use tf.contrib.tensor_forest",
    "tf.python.ops.linalg": "Use tf.linalg",
    "tf.python.tpu": "It needs a TPU; take the program's way without one, for most programs use_tpu=False",
    "tf.python.training.tensorboard_logging": "Use tf.logging",
    "tf.tools.docs": "It made TensorFlow's own pages: use the package pdoc for others",
    "tf.tools.graph_transforms": "Use tf.graph_util.remove_training_nodes and tf.graph_util.extract_sub_graph",
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
    "batch_self_adjoint_eig": "self_adjoint_eig", "batch_self_adjoint_eigvals": "self_adjoint_eigvals",
    "batch_cholesky_solve": "cholesky_solve", "batch_fft2d": "fft2d", "batch_fft3d": "fft3d", "batch_ifft": "ifft",
    "batch_ifft2d": "ifft2d", "batch_ifft3d": "ifft3d", "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant", "batch_matrix_diag_part": "matrix_diag_part",
    "batch_matrix_set_diag": "matrix_set_diag", "batch_matrix_solve": "matrix_solve",
    "batch_matrix_solve_ls": "matrix_solve_ls", "batch_matrix_triangular_solve": "matrix_triangular_solve",
    "concat_v2": "concat", "nn.deconv2d": "nn.conv2d_transpose",
}  # fmt: skip
REPLACEMENTS.update({f"tf.{old}": f"It left with TensorFlow 1.0: use tf.{new}" for old, new in _BEFORE_1_0.items()})
_OF_TENSORFLOW_2 = {
    "optimizers": "train, or tf.keras.optimizers", "random.set_seed": "random.set_random_seed",
    "summary.create_file_writer": "contrib.summary.create_file_writer",
    "summary.record_if": "contrib.summary.record_summaries_every_n_global_steps",
    "initializers.RandomNormal": "initializers.random_normal",
    "initializers.GlorotUniform": "initializers.glorot_uniform",
}  # fmt: skip
REPLACEMENTS.update({f"tf.{new}": f"It came with TensorFlow 2: use tf.{old}" for new, old in _OF_TENSORFLOW_2.items()})
_TPU_DEBUG_OPS = re.compile(r"tf\.raw_ops\.(Load|Retrieve)TPUEmbedding\w+GradAccumDebug")


def replacement(symbol: str) -> str | None:
    """Return what to use in place of ``symbol`` ("tf.contrib.rnn.GRUCell"), as a sentence without its full stop."""
    if _TPU_DEBUG_OPS.fullmatch(symbol):
        return "Leave it out: it was for debugging TPU embeddings"
    return contrib_replacements.find(symbol, REPLACEMENTS)


def symbol_error(symbol: str) -> MissingSymbolError:
    """The error for reading ``symbol`` ("tf.contrib"), which is not there."""
    frame = _caller()
    full = contrib_replacements.as_written(symbol, frame)
    name = symbol.rpartition(".")[2]
    return MissingSymbolError(
        f"{full} is not available in TensorFlow {_version()}",
        where=_place(frame),
        next_step=_sentence(full),
        name=name,
        symbol=full,
    )


def library_error(library: ModuleType, name: str, next_step: str) -> MissingSymbolError:
    """The error for reading a name that the installed release of another library has not."""
    symbol = f"{library.__name__}.{name}"
    release = getattr(library, "__version__", "")
    return MissingSymbolError(
        f"{symbol} is not available in {library.__name__} {release}".rstrip(),
        where=_place(_caller()),
        next_step=f"{next_step}.",
        name=name,
        symbol=symbol,
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
    symbol = re.sub(r"^tensorflow(?=\.)", "tf", symbol)
    near = None if symbol in REPLACEMENTS else _nearest(symbol)
    if near is not None:
        return f"Did you mean {near}?"
    text = replacement(symbol)
    return f"{text}." if text else "It has no known replacement."


def _nearest(symbol: str) -> str | None:
    """The name of the same module that a name may be a slip of; None when none is near."""
    module, _, name = symbol.rpartition(".")
    found: Any = sys.modules.get("tensorflow")
    path = "tensorflow"
    for part in module.split(".")[1:]:  # not by getattr(), which may come here again
        path += f".{part}"
        found = vars(found).get(part, sys.modules.get(path)) if isinstance(found, ModuleType) else None
    names = [each for each in dir(found) if not each.startswith("_")]
    alike = {each.lower().replace("_", ""): each for each in names}
    near = difflib.get_close_matches(name.lower().replace("_", ""), alike, 1, _ALIKE)
    return f"{module}.{alike[near[0]]}" if near else None


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


def _as_imported(module: str, frame: FrameType | None) -> str:
    """``module`` with what the program's line imports of it: "tensorflow.contrib.rnn" for "tensorflow.contrib"."""
    if frame is None:
        return module
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    found = re.search(rf"\b{re.escape(module)}((?:\.\w+)*)(?:\s+import\s+(\w+))?", line)
    if not found:
        return module
    return module + found.group(1) + (f".{found.group(2)}" if found.group(2) else "")
