"""Replacements for names of TensorFlow 1.15 that are gone, and the texts of errors for missing names.

An entry of :data:`REPLACEMENTS`, among them those of :data:`CONTRIB`, covers the name and everything below it; the
longest entry that fits is taken, and ``{rest}`` in it is what follows the entry's name in the symbol. ``tfp`` is the
package tensorflow_probability, ``tfio`` tensorflow_io, ``tfmot`` tensorflow_model_optimization.

Names of ``tf.contrib`` that tf1sessions.contrib has are not in the table.
"""

from __future__ import annotations

import linecache
import re
from types import FrameType

from . import contrib_addresses

__all__ = ["CONTRIB", "REPLACEMENTS", "as_written", "entry", "find", "is_of_version_1"]

_IO = "Use the package tensorflow_io"
_OTHER_LOSS = "Use one of the other losses of tf.contrib.losses.metric_learning, such as triplet_semihard_loss"
_PRUNING = "Use tfmot.sparsity.keras of the package tensorflow_model_optimization"
_STATES = "Cut the sequences with tf.data, and keep the state in a tf.Variable"

CONTRIB: dict[str, str] = {
    "tf.contrib": "It left TensorFlow with version 2.0, and this part of it is not rebuilt here; look for a "
    "counterpart in tf.layers, tf.nn, tf.train or tf.data",
    "tf.contrib.all_reduce": "Use tf.distribute.MirroredStrategy, or the package horovod",
    "tf.contrib.autograph": "Use tf.autograph",
    "tf.contrib.batching.batch_function": "Use tf.nondifferentiable_batch_function",
    "tf.contrib.bayesflow": "Use tfp.monte_carlo of the package tensorflow_probability",
    "tf.contrib.bayesflow.monte_carlo.expectation": "Use tfp.monte_carlo.expectation of the package "
    "tensorflow_probability",
    "tf.contrib.bigtable": f"{_IO}: tfio.bigtable",
    "tf.contrib.boosted_trees": "Use tf.estimator.BoostedTreesClassifier or tf.estimator.BoostedTreesRegressor",
    "tf.contrib.checkpoint": "Attributes of a tf.Module are tracked, lists and dicts too; save it with "
    "tf.train.Checkpoint",
    "tf.contrib.checkpoint.capture_dependencies": "Make the variables attributes of a tf.Module",
    "tf.contrib.checkpoint.dot_graph_from_checkpoint": "Use tf.train.list_variables(path)",
    "tf.contrib.checkpoint.split_dependency": "Make the parts attributes of a tf.Module",
    "tf.contrib.cloud": _IO,
    "tf.contrib.cloud.BigQueryReader": f"{_IO}: tfio.bigquery.BigQueryClient",
    "tf.contrib.cloud.BigtableClient": f"{_IO}: tfio.bigtable",
    "tf.contrib.cloud.BigtableTable": f"{_IO}: tfio.bigtable",
    "tf.contrib.cloud.BlockCacheParams": f"{_IO}: tfio.gcs.BlockCacheParams",
    "tf.contrib.cloud.configure_colab_session": f"{_IO}: tfio.gcs.configure_colab_session",
    "tf.contrib.cloud.configure_gcs": f"{_IO}: tfio.gcs.configure_gcs",
    "tf.contrib.compiler": "Use tf.xla.experimental",
    "tf.contrib.compiler.xla.estimator_model_fn": "Use tf.xla.experimental.compile in the model_fn",
    "tf.contrib.constrained_optimization": "Use the package tensorflow_constrained_optimization",
    "tf.contrib.data": "Use tf.data, or tf.data.experimental",
    "tf.contrib.data.LMDBDataset": f"{_IO}: tfio.IODataset.from_lmdb",
    "tf.contrib.deprecated": "Use tf.summary",
    "tf.contrib.deprecated.audio_summary": "Use tf.summary.audio",
    "tf.contrib.deprecated.histogram_summary": "Use tf.summary.histogram",
    "tf.contrib.deprecated.image_summary": "Use tf.summary.image",
    "tf.contrib.deprecated.merge_all_summaries": "Use tf.summary.merge_all",
    "tf.contrib.deprecated.merge_summary": "Use tf.summary.merge",
    "tf.contrib.deprecated.scalar_summary": "Use tf.summary.scalar",
    "tf.contrib.distribute": "Use tf.distribute{rest}",
    "tf.contrib.distribute.Monitor": "Write the loop, with the session's run()",
    "tf.contrib.distribute.MultiWorkerAllReduce": "Use tf.distribute.experimental.MultiWorkerMirroredStrategy",
    "tf.contrib.distribute.UpdateContext": "Use tf.distribute.get_strategy().extended.update",
    "tf.contrib.distributions": "Use the package tensorflow_probability",
    "tf.contrib.eager": "Use tf.GradientTape, tf.Variable, tf.train.Checkpoint and tf.keras.metrics",
    "tf.contrib.estimator": "Use tf.estimator",
    "tf.contrib.factorization": "Use tf.contrib.factorization.WALSModel",
    "tf.contrib.ffmpeg": "Use tf.audio.decode_wav, or run the program ffmpeg",
    "tf.contrib.framework": "Use tf.train, tf.nest or the functions of variables in tf",
    "tf.contrib.fused_conv": "Use tf.nn.conv2d, tf.nn.bias_add and the activation: TensorFlow fuses them",
    "tf.contrib.grid_rnn": "Write it with the cells of tf.nn.rnn_cell",
    "tf.contrib.hadoop": _IO,
    "tf.contrib.hooks.ProfilerHook": "Use tf.train.ProfilerHook",
    "tf.contrib.ignite": "Use tf.data.Dataset.from_generator with a client of Apache Ignite",
    "tf.contrib.image": "Use tf.image",
    "tf.contrib.image.single_image_random_dot_stereograms": "Write it with NumPy, in a tf.py_func",
    "tf.contrib.input_pipeline": "Use tf.data",
    "tf.contrib.integrate": "Use tfp.math.ode of the package tensorflow_probability, or scipy.integrate.solve_ivp",
    "tf.contrib.kafka": f"{_IO}: tfio.IODataset.from_kafka",
    "tf.contrib.keras": "Use tf.keras{rest}",
    "tf.contrib.keras.api.keras": "Use tf.keras{rest}",
    "tf.contrib.keras.metrics.cosine_similarity": "Use tf.keras.losses.cosine_similarity",
    "tf.contrib.keras.utils.HDF5Matrix": "Use tf.keras.utils.HDF5Matrix",
    "tf.contrib.keras.utils.convert_all_kernels_in_model": "Leave it out: it was for models of the Theano backend",
    "tf.contrib.keras.wrappers": "Use tf.keras.wrappers",
    "tf.contrib.kernel_methods": "Use tf.keras.layers.experimental.RandomFourierFeatures and a dense layer",
    "tf.contrib.kernel_methods.sparse_multiclass_hinge_loss": "Use tf.keras.losses.CategoricalHinge on one-hot labels",
    "tf.contrib.kinesis": _IO,
    "tf.contrib.labeled_tensor": "Use plain tensors and the functions of tf; arrays with labels are in the package "
    "xarray",
    "tf.contrib.layers": "Use tf.layers",
    "tf.contrib.layers.feature_column": "Use tf.feature_column",
    "tf.contrib.learn": "Use tf.estimator",
    "tf.contrib.losses": "Use tf.losses",
    "tf.contrib.losses.metric_learning.cluster_loss": _OTHER_LOSS,
    "tf.contrib.lookup": "Use tf.lookup",
    "tf.contrib.metrics": "Use tf.metrics",
    "tf.contrib.libsvm": f"{_IO}: tfio.IODataset.from_libsvm, or sklearn.datasets.load_svmlight_file",
    "tf.contrib.linear_optimizer": "Use tf.train.sdca_optimizer, or another optimizer such as tf.train.FtrlOptimizer",
    "tf.contrib.memory_stats": "Use tf.config.experimental.get_memory_info",
    "tf.contrib.meta_graph_transform": "Use tf.graph_util.remove_training_nodes and tf.graph_util.extract_sub_graph",
    "tf.contrib.mixed_precision": "Use tf.train.experimental.enable_mixed_precision_graph_rewrite",
    "tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager": "Use tf.train.experimental.DynamicLossScale",
    "tf.contrib.mixed_precision.FixedLossScaleManager": "Use tf.train.experimental.FixedLossScale",
    "tf.contrib.mixed_precision.LossScaleOptimizer": "Use tf.train.experimental.MixedPrecisionLossScaleOptimizer",
    "tf.contrib.model_pruning": _PRUNING,
    "tf.contrib.nearest_neighbor": "Use sklearn.neighbors.NearestNeighbors, or the package faiss",
    "tf.contrib.nn": "Use tf.nn",
    "tf.contrib.nn.rank_sampled_softmax_loss": "Use tf.nn.sampled_softmax_loss",
    "tf.contrib.nn.sampled_sparse_softmax_loss": "Use tf.nn.sampled_softmax_loss",
    "tf.contrib.optimizer_v2": "Use tf.train{rest}",
    "tf.contrib.optimizer_v2.OptimizerV2": "Use tf.train.Optimizer",
    "tf.contrib.predictor": 'Use tf.saved_model.load(session, ["serve"], path) and the session\'s run()',
    "tf.contrib.proto": "Use tf.io{rest}",
    "tf.contrib.quantization": "Use the function of this name in tf.quantization or tf.nn, or the operation in "
    "tf.raw_ops",
    "tf.contrib.receptive_field": "Use the package receptive_field",
    "tf.contrib.reduce_slice_ops": "Use tf.math.segment_sum and its kin",
    "tf.contrib.remote_fused_graph": "Use tf.lite",
    "tf.contrib.rnn": "Use tf.nn.rnn_cell",
    "tf.contrib.rpc": "Use the package grpcio in a tf.py_func",
    "tf.contrib.saved_model.load_keras_model": "Use tf.keras.models.load_model",
    "tf.contrib.saved_model.save_keras_model": "Use tf.keras.models.save_model",
    "tf.contrib.session_bundle": "Use tf.saved_model.Builder and tf.saved_model.load",
    "tf.contrib.session_bundle.constants": "Use tf.saved_model.signature_constants",
    "tf.contrib.session_bundle.gc": "List the folder with tf.gfile.ListDirectory and remove the old exports",
    "tf.contrib.slim": "Look for it in tf.contrib.layers and tf.contrib.framework",
    "tf.contrib.slim.DataFrameColumn": "Use tf.feature_column",
    "tf.contrib.slim.losses.metric_learning.cluster_loss": _OTHER_LOSS,
    "tf.contrib.solvers": "Use tf.linalg",
    "tf.contrib.solvers.lanczos": "Use tf.linalg.svd, or scipy.sparse.linalg.svds",
    "tf.contrib.solvers.least_squares.cgls": "Use tf.linalg.lstsq",
    "tf.contrib.solvers.linear_equations.conjugate_gradient": "Use tf.linalg.experimental.conjugate_gradient",
    "tf.contrib.solvers.util": "Use tf.linalg.LinearOperatorFullMatrix and tf.linalg.l2_normalize",
    "tf.contrib.sparsemax": "Write it with tf.sort and tf.cumsum",
    "tf.contrib.specs": "Write the model with tf.layers",
    "tf.contrib.stat_summarizer": "Run with tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) and give the "
    "tf.RunMetadata to tf.profiler.profile",
    "tf.contrib.summary": "Use tf.summary",
    "tf.contrib.tensor_forest": "Use tf.contrib.tensor_forest.client.random_forest.TensorForestEstimator",
    "tf.contrib.tensorboard": "Use the package tensorboard",
    "tf.contrib.tensorrt": "TensorFlow has no TensorRT any more: convert the model with the package tf2onnx",
    "tf.contrib.testing": "Read events with tf.train.summary_iterator",
    "tf.contrib.text": "Use tf.keras.preprocessing.sequence.skipgrams",
    "tf.contrib.timeseries": "Use tfp.sts of the package tensorflow_probability, or the package statsmodels",
    "tf.contrib.tpu": "Use tf.tpu",
    "tf.contrib.tpu.profiler": "Use tf.profiler",
    "tf.contrib.training": "Use tf.train and tf.data",
    "tf.contrib.training.NextQueuedSequenceBatch": _STATES,
    "tf.contrib.training.SequenceQueueingStateSaver": _STATES,
    "tf.contrib.training.batch_sequences_with_states": _STATES,
}

REPLACEMENTS: dict[str, str] = {
    **CONTRIB,
    "tf.estimator": "This part of tf.estimator is not rebuilt here; write a model_fn for tf.estimator.Estimator",
    "tf.examples": "Only tensorflow.examples.tutorials.mnist is available",
    "tf.app.estimator": "tf.estimator left TensorFlow with version 2.16",
    "tf.config.experimental_list_devices": "Use tf.config.list_logical_devices",
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


def entry(symbol: str) -> str | None:
    """The name of the entry that covers ``symbol``: its own or that of the nearest module above it."""
    while symbol:
        if symbol in REPLACEMENTS:
            return symbol
        symbol = symbol.rpartition(".")[0]
    return None


def is_of_version_1(symbol: str) -> bool:
    """Whether ``symbol`` has an entry of its own, and is not TensorFlow 2's.

    Example:
        >>> is_of_version_1("tf.mul"), is_of_version_1("tf.random.set_seed"), is_of_version_1("tf.multiply")
        (True, False, False)
    """
    return symbol in REPLACEMENTS and symbol.removeprefix("tf.") not in _OF_TENSORFLOW_2


def find(symbol: str) -> str | None:
    """Return what to use in place of ``symbol``, as a sentence without its full stop; None if that is not known.

    Example:
        >>> find("tf.contrib.optimizer_v2.AdamOptimizer"), find("tf.contrib.optimizer_v2.adam.AdamOptimizer")
        ('Use tf.train.AdamOptimizer', 'Use tf.train.AdamOptimizer')
    """
    if _TPU_DEBUG_OPS.fullmatch(symbol):
        return "Leave it out: it was for debugging TPU embeddings"
    name = entry(symbol)
    return None if name is None else REPLACEMENTS[name].replace("{rest}", _rest(name, symbol))


def _rest(name: str, symbol: str) -> str:
    """Return what follows ``name`` in ``symbol``, without the inner address of a module of ``tf.contrib``."""
    parts = symbol[len(name) + 1 :].split(".")
    module = name.removeprefix("tf.contrib.")
    for length in range(len(parts) - 1, 0, -1):
        if contrib_addresses.is_inner(module, ".".join(parts[:length])):
            parts = parts[length:]
            break
    return "".join(f".{part}" for part in parts if part)


def as_written(symbol: str, frame: FrameType | None) -> str:
    """``symbol`` with what the program's line reads from it: "tf.contrib.keras.layers.Dense" for "tf.contrib.keras"."""
    if frame is None:
        return symbol
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    last = symbol.partition(".")[2]
    while last:  # "tf.contrib.learn.io.x" may be written learn.io.x, with the names that were imported
        before = r"(?<!\w)" if "." in last else r"(?<=\.)"
        found = re.search(rf"{before}{re.escape(last)}((?:\.\w+)*)", line)
        if found:
            return symbol + found.group(1)
        last = last.partition(".")[2]
    return symbol
