"""``tf.contrib.eager``: what eager execution was reached by; most of it has its place in ``tf`` now.

Files::

    execution_callbacks.py  callbacks of operations
    functions.py            defun
    gradients.py            gradients of Python functions
    metrics.py              contrib.eager.metrics
    network.py              networks of layers
    saver.py                checkpoints by names
"""

import sys as _sys
from collections.abc import Iterator as _Iterator
from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as _tf
from . import metrics
from .execution_callbacks import (
    ExecutionCallback,
    add_execution_callback,
    clear_execution_callbacks,
    errstate,
    inf_callback,
    inf_nan_callback,
    nan_callback,
    seterr,
)
from .functions import defun
from .gradients import (
    gradients_function,
    implicit_gradients,
    implicit_value_and_gradients,
    value_and_gradients_function,
)
from .network import Network, Sequential
from .saver import Saver, get_optimizer_variables, restore_variables_on_create

__all__ = [
    "ASYNC",
    "DEVICE_PLACEMENT_EXPLICIT",
    "DEVICE_PLACEMENT_SILENT",
    "DEVICE_PLACEMENT_WARN",
    "SYNC",
    "Checkpoint",
    "Checkpointable",
    "EagerVariableStore",
    "ExecutionCallback",
    "GradientTape",
    "Iterator",
    "Network",
    "Saver",
    "Sequential",
    "TensorSpec",
    "Variable",
    "add_execution_callback",
    "async_clear_error",
    "async_wait",
    "clear_execution_callbacks",
    "connect_to_remote_host",
    "custom_gradient",
    "defun",
    "enable_eager_execution",
    "errstate",
    "executing_eagerly",
    "execution_mode",
    "function",
    "get_optimizer_variables",
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "in_eager_mode",
    "inf_callback",
    "inf_nan_callback",
    "list_devices",
    "make_template",
    "metrics",
    "nan_callback",
    "num_gpus",
    "py_func",
    "restore_variables_on_create",
    "run",
    "run_all_tests_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes",
    "set_execution_mode",
    "set_server_def",
    "seterr",
    "value_and_gradients_function",
]

DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = range(3)
SYNC, ASYNC = range(2)

Checkpoint: Any = _tf.train.Checkpoint
Checkpointable: Any = _tf.Module.__base__  # AutoTrackable
EagerVariableStore: Any = _private.variable_scope.EagerVariableStore
GradientTape: Any = _tf.GradientTape
TensorSpec: Any = _tf.TensorSpec
async_clear_error: Any = _private.context.async_clear_error
async_wait: Any = _private.context.async_wait
connect_to_remote_host: Any = _tf.config.experimental_connect_to_host
custom_gradient: Any = _tf.custom_gradient
enable_eager_execution: Any = _tf.enable_eager_execution
executing_eagerly: Any = _tf.executing_eagerly
execution_mode: Any = _private.context.execution_mode
function: Any = _tf.function
in_eager_mode: Any = _tf.executing_eagerly
make_template: Any = _tf.make_template
py_func: Any = _tf.py_function
set_execution_mode: Any = _private.context.set_execution_mode
set_server_def: Any = _private.context.set_server_def

# where tf.test.TestCase comes from; TensorFlow does not export these two
_test_util: Any = _sys.modules[_tf.test.TestCase.__module__]
run_all_tests_in_graph_and_eager_modes: Any = _test_util.run_all_in_graph_and_eager_modes
run_test_in_graph_and_eager_modes: Any = _test_util.run_in_graph_and_eager_modes


class _Resource(type):
    """Makes what ``tf.Variable`` makes, in the scopes of variable creators, too; always as a resource."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _tf.Variable(*args, **{**kwargs, "use_resource": True})

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _private.resource_variable_ops.BaseResourceVariable)


class Variable(metaclass=_Resource):
    """``tf.Variable`` as a resource."""


def num_gpus() -> int:
    """The number of GPUs."""
    return len(_tf.config.list_logical_devices("GPU"))


def list_devices() -> list[str]:
    """The names of the devices."""
    return [device.name for device in _tf.config.list_logical_devices()]


def run(main: Any = None, argv: Any = None) -> None:
    """``tf.app.run`` with eager execution."""
    _tf.enable_eager_execution()
    _tf.app.run(main, argv)


class Iterator:
    """The elements of a dataset in eager execution.

    Args:
        dataset: A ``tf.data.Dataset``.

    Raises:
        RuntimeError: Execution is not eager.
    """

    def __init__(self, dataset: Any) -> None:
        if not _tf.executing_eagerly():
            raise RuntimeError(
                f"{type(dataset)} objects can only be used when eager execution is enabled, use "
                "tf.data.Dataset.make_initializable_iterator or tf.data.Dataset.make_one_shot_iterator for graphs"
            )
        self._dataset = dataset
        self._elements = iter(dataset)

    def __iter__(self) -> _Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def next(self) -> Any:
        """The next element; ``StopIteration`` after the last."""
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; ``tf.errors.OutOfRangeError`` after the last."""
        return self._elements.get_next()

    @property
    def output_types(self) -> Any:
        return _tf.data.get_output_types(self._dataset)

    @property
    def output_shapes(self) -> Any:
        return _tf.data.get_output_shapes(self._dataset)

    @property
    def output_classes(self) -> Any:
        return _tf.data.get_output_classes(self._dataset)
