"""The import of TensorFlow, for all of the library but what runs in the process of a script (ARCHITECTURE.md, Rules).

Everything else takes TensorFlow from here::

    caller ──▶ sessions/, pools/ ──▶ runtime.tf        tensorflow.compat.v1, as TensorFlow ships it
                                └──▶ runtime.private   the private names that the fast call needs, or None
    user   ──▶ tf1sessions.tf1 ────▶ runtime.tf1       the same with tf.layers and tf.nn.rnn_cell under Keras 3 too

Importing this module changes nothing: not eager mode, not v2 behaviour, not Keras, not the environment.
:func:`enable_v1_behavior` is the one function that does.
"""

from __future__ import annotations

import importlib
import os
import random
import threading
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tf1sessions.garbage import collector_paused

#: What the import of TensorFlow brings about and needs this module: called when that is complete, and then None.
when_complete: list[Callable[[], None]] | None = []

_drawn = random.getstate()
with collector_paused(make_old=True):  # half a million objects that stay; 0.4 s less
    import tensorflow
    import tensorflow.compat.v1 as _compat_v1
random.setstate(_drawn)  # Rich, which Keras imports with TensorFlow, draws a number

from tf1sessions import forks  # noqa: E402
from tf1sessions.errors import MissingSymbolError, UnsupportedEnvironmentError  # noqa: E402

__all__ = ["enable_v1_behavior", "private", "tf", "tf1"]

OLDEST_TENSORFLOW = (2, 16)
#: The newest minor version that the test suite was run on. A newer one is tried, with one warning.
NEWEST_TENSORFLOW = (2, 21)

# Any: TensorFlow ships no types, and half of the names are made at run time.
tf: Any = _compat_v1


def tensorflow_version() -> tuple[int, int]:
    """Returns the major and minor version of the TensorFlow that is imported."""
    # Not tensorflow.version.VERSION: in a script's process that is what TF1 code expects to read there.
    major, minor = importlib.import_module("tensorflow.python.framework.versions").VERSION.split(".")[:2]
    return int(major), int(minor)


def _check_version() -> None:
    found = tensorflow_version()
    if found < OLDEST_TENSORFLOW:
        raise UnsupportedEnvironmentError(
            f"TensorFlow {found[0]}.{found[1]} is too old",
            where=os.path.dirname(tensorflow.__file__ or "?"),
            next_step="Install tensorflow 2.16 to 2.21 with the tf_keras of the same minor version.",
        )
    if found > NEWEST_TENSORFLOW:
        warnings.warn(
            f"tf1sessions was tested up to TensorFlow {NEWEST_TENSORFLOW[0]}.{NEWEST_TENSORFLOW[1]}; "
            f"this is {found[0]}.{found[1]}",
            stacklevel=3,
        )


_check_version()


#: TensorFlow's private modules, by the names that they have here.
_MODULES = {
    "session": "tensorflow.python.client.session",
    "pywrap_session": "tensorflow.python.client.pywrap_tf_session",
    "ops": "tensorflow.python.framework.ops",
    "stack": "tensorflow.python.framework.stack",  # for testing: the default sessions
    "config_pb2": "tensorflow.core.protobuf.config_pb2",
    "numpy_compat": "tensorflow.python.util.numpy_compat",
    "nest": "tensorflow.python.util.nest",  # for contrib.framework.nest
    # for contrib.cudnn_rnn, whose layers are saved as the variables of cells
    "saveable_object": "tensorflow.python.training.saving.saveable_object",
    "summary_ops": "tensorflow.python.ops.summary_ops_v2",  # for contrib.summary
    # for contrib.distributions
    "distributions_bijector": "tensorflow.python.ops.distributions.bijector_impl",
    "distributions_identity": "tensorflow.python.ops.distributions.identity_bijector",
    "distributions_special": "tensorflow.python.ops.distributions.special_math",
    "tensor_util": "tensorflow.python.framework.tensor_util",
    "distributions_util": "tensorflow.python.ops.distributions.util",
    # for contrib.eager.Variable
    "resource_variable_ops": "tensorflow.python.ops.resource_variable_ops",
    # for models: the messages that the public API does not export
    "meta_graph_pb2": "tensorflow.core.protobuf.meta_graph_pb2",
    "saved_model_pb2": "tensorflow.core.protobuf.saved_model_pb2",
    "indexed_slices": "tensorflow.python.framework.indexed_slices",  # for porting: what a session gives for them
    # for porting.checkpoints
    "object_graph_pb2": "tensorflow.core.protobuf.trackable_object_graph_pb2",
    "importer": "tensorflow.python.framework.importer",  # for lanes
    "op_def_registry": "tensorflow.python.framework.op_def_registry",
    "kernels": "tensorflow.python.framework.kernels",
    "text_format": "google.protobuf.text_format",
    "descriptor_pb2": "google.protobuf.descriptor_pb2",
    "tensor_pb2": "tensorflow.core.framework.tensor_pb2",
    "tensor_bundle_pb2": "tensorflow.core.protobuf.tensor_bundle_pb2",
    "variable_pb2": "tensorflow.core.framework.variable_pb2",
    "iterator_ops": "tensorflow.python.data.ops.iterator_ops",  # for the fork guard
    # for estimator
    "dataset_ops": "tensorflow.python.data.ops.dataset_ops",
    "export_output": "tensorflow.python.saved_model.model_utils.export_output",
    "export_utils": "tensorflow.python.saved_model.model_utils.export_utils",
    "loader_impl": "tensorflow.python.saved_model.loader_impl",
    "training_util": "tensorflow.python.training.training_util",
    # for contrib.autograph
    "tf_decorator": "tensorflow.python.util.tf_decorator",
    "autograph_api": "tensorflow.python.autograph.impl.api",
    "autograph_converter": "tensorflow.python.autograph.core.converter",
    "autograph_directives": "tensorflow.python.autograph.lang.directives",
    "autograph_functions": "tensorflow.python.autograph.lang.special_functions",
    # for contrib.distribute
    "cross_device_ops": "tensorflow.python.distribute.cross_device_ops",
    "distribute_config": "tensorflow.python.distribute.distribute_config",
    "distribute_coordinator": "tensorflow.python.distribute.distribute_coordinator",
    "distribute_lib": "tensorflow.python.distribute.distribute_lib",
    "step_fn": "tensorflow.python.distribute.step_fn",
    # for contrib.eager
    "context": "tensorflow.python.eager.context",
    "autograph_util": "tensorflow.python.eager.polymorphic_function.autograph_util",
    "function_cache": "tensorflow.core.function.polymorphism.function_cache",
    "function_type_utils": "tensorflow.python.eager.polymorphic_function.function_type_utils",
    "op_callbacks": "tensorflow.python.framework.op_callbacks",
    "tracing_compilation": "tensorflow.python.eager.polymorphic_function.tracing_compilation",
    "variable_scope": "tensorflow.python.ops.variable_scope",
    "device_lib": "tensorflow.python.client.device_lib",  # for contrib.memory_stats
    # for contrib.feature_column
    "feature_column": "tensorflow.python.feature_column.feature_column",
    "feature_column_v2": "tensorflow.python.feature_column.feature_column_v2",
    # for contrib.tpu
    "device_assignment": "tensorflow.python.tpu.device_assignment",
    "tensor_tracer": "tensorflow.python.tpu.tensor_tracer",
    "tpu": "tensorflow.python.tpu.tpu",
    "tpu_feed": "tensorflow.python.tpu.tpu_feed",
    "tpu_function": "tensorflow.python.tpu.tpu_function",
    "data_flow_ops": "tensorflow.python.ops.data_flow_ops",  # for contrib.staging
    "nn_ops": "tensorflow.python.ops.nn_ops",  # for contrib.nn
    "xla": "tensorflow.python.compiler.xla.xla",  # for contrib.compiler
    # for contrib.checkpoint
    "autotrackable": "tensorflow.python.trackable.autotrackable",
    "checkpoint": "tensorflow.python.checkpoint.checkpoint",
    "data_structures": "tensorflow.python.trackable.data_structures",
    "trackable_base": "tensorflow.python.trackable.base",
    "tpu_replication": "tensorflow.python.tpu.tpu_replication",
    # for pipelines.row_independence
    "function_def_to_graph": "tensorflow.python.framework.function_def_to_graph",
    "tpu_ops": "tensorflow.python.tpu.ops.tpu_ops",
    "training_loop": "tensorflow.python.tpu.training_loop",
    "record": "tensorflow.python.eager.record",  # for porting
    "script_ops": "tensorflow.python.ops.script_ops",  # for testing
    # for porting.rewriting.native_run and ordered_inputs
    "training_input": "tensorflow.python.training.input",
    "queue_runner_impl": "tensorflow.python.training.queue_runner_impl",
    "control_flow_ops": "tensorflow.python.ops.control_flow_ops",
    "while_v2": "tensorflow.python.ops.while_v2",
    "gen_random_ops": "tensorflow.python.ops.gen_random_ops",
    "gen_stateless_random_ops_v2": "tensorflow.python.ops.gen_stateless_random_ops_v2",
}


class _Private:
    """TensorFlow's private names that the compiled call is built on, looked up once.

    Each is None where this TensorFlow does not have it; ``callable_api`` says whether the compiled call can be used
    at all. Callers then fall back to the public ``Session.run``.
    """

    def __init__(self) -> None:
        for name, module in _MODULES.items():
            setattr(self, name, self._module(module))
        base = getattr(self.session, "BaseSession", None)
        self.callable_api: bool = all(
            (
                hasattr(base, "_make_callable_from_options"),
                hasattr(base, "_do_run"),
                hasattr(base, "_do_call"),
                hasattr(self.session, "_FetchHandler"),
                hasattr(self.pywrap_session, "TF_SessionRunCallable"),
                hasattr(self.pywrap_session, "TF_SessionReleaseCallable"),
                hasattr(self.config_pb2, "CallableOptions"),
                hasattr(tf.Tensor, "_shape_val") or hasattr(getattr(self.ops, "SymbolicTensor", None), "_shape_val"),
            )
        )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # each of _MODULES

    @staticmethod
    def _module(name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


private = _Private()


class _Namespace(types.ModuleType):
    """A module whose names come from another module, some of them replaced. Pickled by its name, as modules are."""

    def __init__(self, name: str, behind: Any, replaced: dict[str, Any]) -> None:
        super().__init__(name, behind.__doc__)
        self.__dict__["_behind"] = behind
        self.__dict__["_replaced"] = replaced

    def __getattr__(self, name: str) -> Any:
        replaced = self.__dict__["_replaced"]
        if name in replaced:
            value = replaced[name]()
        else:
            try:
                value = getattr(self.__dict__["_behind"], name)
            except AttributeError as error:
                raise MissingSymbolError(
                    f"{self.__name__} has no {name!r}",
                    where="TensorFlow {}.{}".format(*tensorflow_version()),
                    next_step="Scripts run by `tf1sessions run` get a wider TensorFlow 1 namespace than the library.",
                ) from error
        if name.startswith("__"):
            return value
        return self.__dict__.setdefault(name, value)  # the first thread's, for all

    def __dir__(self) -> list[str]:
        return sorted({*dir(self.__dict__["_behind"]), *self.__dict__["_replaced"]})

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__name__,)


def _named(name: str) -> Any:
    """``tf1``, or what is in it, by its full name."""
    value = tf1
    for part in name.removeprefix("tf1sessions.tf1").split(".")[1:]:
        value = getattr(value, part)
    return value


_LAYER_MODULES = ("base", "convolutional", "core", "normalization", "pooling")
_LAYER_PREFIX = "tf_keras.src.legacy_tf_layers."
_CELL_MODULES = ("tf_keras.src.layers.rnn.legacy_cells", "tf_keras.src.layers.rnn.legacy_cell_wrappers")
_CELLS = (
    "BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell "
    "ResidualWrapper"
).split()
# tf.layers has functions and classes of these names; `Flatten`/`flatten` etc. are found by either spelling.
_LAYERS = (
    "AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D "
    "Conv3DTranspose Dense Dropout Flatten InputSpec Layer MaxPooling1D MaxPooling2D MaxPooling3D SeparableConv1D "
    "SeparableConv2D average_pooling1d average_pooling2d average_pooling3d batch_normalization conv1d conv2d "
    "conv2d_transpose conv3d conv3d_transpose dense dropout flatten max_pooling1d max_pooling2d max_pooling3d "
    "separable_conv1d separable_conv2d"
).split()


def _legacy_keras(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        version = ".".join(map(str, tensorflow_version()))
        raise UnsupportedEnvironmentError(
            f"tf.layers and tf.nn.rnn_cell need the package tf_keras, and importing {name} failed: {error}",
            where=f"TensorFlow {version}",
            next_step=f"Run: pip install 'tf_keras=={version}.*'",
        ) from error


def _layers() -> types.ModuleType:
    """``tf.layers`` bound to tf_keras directly, so that it works whichever Keras the program uses."""
    sources = [_legacy_keras(_LAYER_PREFIX + module) for module in _LAYER_MODULES]
    found = types.ModuleType("tf1sessions.tf1.layers", "TF1's tf.layers.")
    for name in _LAYERS:
        value = next((getattr(source, name) for source in sources if hasattr(source, name)), None)
        if value is None and name == "InputSpec":
            value = _legacy_keras("tf_keras.src.engine.input_spec").InputSpec
        if value is not None:
            setattr(found, name, value)
    experimental = types.ModuleType("tf1sessions.tf1.layers.experimental")
    experimental.keras_style_scope = sources[0].keras_style_scope  # type: ignore[attr-defined]
    experimental.set_keras_style = sources[0].set_keras_style  # type: ignore[attr-defined]
    found.experimental = experimental  # type: ignore[attr-defined]
    return found


def _rnn_cell() -> types.ModuleType:
    sources = [_legacy_keras(module) for module in _CELL_MODULES]
    found = types.ModuleType("tf1sessions.tf1.nn.rnn_cell", "TF1's tf.nn.rnn_cell.")
    for name in _CELLS:
        setattr(found, name, next(getattr(source, name) for source in sources if hasattr(source, name)))
    return found


#: ``tensorflow.compat.v1`` as TF1 code expects it: ``tf1.layers`` and ``tf1.nn.rnn_cell`` are there under Keras 3 too,
#: and no environment variable has to be set. Reading it is safe from any thread.
tf1: Any = _Namespace(
    "tf1sessions.tf1",
    _compat_v1,
    {
        "layers": _layers,
        "nn": lambda: _Namespace("tf1sessions.tf1.nn", _compat_v1.nn, {"rnn_cell": _rnn_cell}),
    },
)

_behavior_lock = threading.Lock()
_v1_enabled = False


def enable_v1_behavior() -> None:
    """Gives the whole program TensorFlow 1's behaviour: no eager execution, ref variables, v1 control flow and shapes.

    This is process-wide and cannot be undone, so it is for the first lines of a program, before it uses TensorFlow.
    Without it a :class:`~tf1sessions.GraphSession` works too; its graph then has TF2's resource variables, v2 control
    flow and v2 ``TensorShape``. Calling it again does nothing.

    Raises:
        UnsupportedEnvironmentError: When TensorFlow has already run something eagerly, or has tensors alive that
            would change meaning.

    Thread-safety: safe to call from any thread; other threads must not be using TensorFlow at that moment.
    """
    global _v1_enabled
    with _behavior_lock:
        if _v1_enabled:
            return
        context = importlib.import_module("tensorflow.python.eager.context")
        current = context.context_safe()
        if current is not None and getattr(current, "_initialized", False) and tf.executing_eagerly_outside_functions():
            raise UnsupportedEnvironmentError(
                "enable_v1_behavior() came after TensorFlow had already run an eager operation",
                where="this process",
                next_step="Call it first, right after the imports, or run the program with `tf1sessions run`.",
            )
        _compat_v1.disable_v2_behavior()
        _v1_enabled = True


forks.arm(private)

_calls, when_complete = when_complete, None
for _call in _calls or ():
    _call()
