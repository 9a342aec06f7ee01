"""Common parts of cells, and wrappers that project or embed what goes in or comes out."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "CompiledWrapper",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "GRUCell",
    "InputProjectionWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerRNNCell",
    "MultiRNNCell",
    "OutputProjectionWrapper",
    "RNNCell",
    "ResidualWrapper",
]

BasicLSTMCell: Any = tf.nn.rnn_cell.BasicLSTMCell
BasicRNNCell: Any = tf.nn.rnn_cell.BasicRNNCell
DeviceWrapper: Any = tf.nn.rnn_cell.DeviceWrapper
DropoutWrapper: Any = tf.nn.rnn_cell.DropoutWrapper
GRUCell: Any = tf.nn.rnn_cell.GRUCell
LSTMCell: Any = tf.nn.rnn_cell.LSTMCell
LSTMStateTuple: Any = tf.nn.rnn_cell.LSTMStateTuple
MultiRNNCell: Any = tf.nn.rnn_cell.MultiRNNCell
RNNCell: Any = tf.nn.rnn_cell.RNNCell
ResidualWrapper: Any = tf.nn.rnn_cell.ResidualWrapper
LayerRNNCell: Any = BasicRNNCell.__mro__[1]  # the base of cells that make their variables in build(); it has no address

Activation = Callable[[Any], Any]

_lock = threading.Lock()  # protects _registered, and the registration, which fails when it is done twice
_registered: set[str] = set()


def register_gradient(op: str, gradient: Callable[..., list[Any]]) -> None:
    """Gives the operation ``op`` its gradient, which left TensorFlow with contrib. Safe to call from any thread."""
    with _lock:
        if op not in _registered:
            try:
                tf.RegisterGradient(op)(gradient)
            except KeyError:  # other code gave it one
                pass
            _registered.add(op)


def zeros(size: Any, batch_size: Any, dtype: Any) -> Any:
    """[batch_size, *size], made of as many operations as the zero states of cells, which fill them in, too.

    Args:
        size: A number, a scalar tensor, or a shape.
        batch_size: A number or a scalar tensor.
        dtype: The type.
    """
    vectors, known = [], tf.TensorShape([])
    for part in (batch_size, size):
        if tf.is_tensor(part):
            vectors.append(tf.expand_dims(part, 0))
            known = known.concatenate([tf.get_static_value(part)])
        else:
            shape = tf.TensorShape(part)
            vectors.append(tf.constant(shape.as_list(), tf.int32))
            known = known.concatenate(shape)
    made = tf.zeros(tf.concat(vectors, 0), dtype)
    made.set_shape(known)
    return made


def exchanged(tensor: Any) -> Any:
    """``tensor`` [B, T, ...] as [T, B, ...], or the other way round; as it is if it has one dimension."""
    tensor = tf.convert_to_tensor(tensor)
    shape = tensor.shape
    if shape.rank is not None and shape.rank < 2:
        return tensor
    made = tf.transpose(tensor, tf.concat([[1, 0], tf.range(2, tf.rank(tensor))], 0))
    if shape.rank is not None:
        made.set_shape([shape[1], shape[0], *shape[2:]])
    return made


def check_cell(name: str, cell: Any) -> None:
    """Raises a ``TypeError`` if the argument ``name`` cannot be used as a cell."""
    lacking = [
        text
        for text, found in (
            ("'output_size' property is missing", hasattr(cell, "output_size")),
            ("'state_size' property is missing", hasattr(cell, "state_size")),
            (
                "either 'zero_state' or 'get_initial_state' method is required",
                hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state"),
            ),
            ("is not callable", callable(cell)),
        )
        if not found
    ]
    if lacking:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(lacking)}.")


def width(tensor: Any, what: str) -> int:
    """The last dimension of ``tensor`` [B, N], which has to be known.

    Raises:
        ValueError: It is not; ``what`` names the tensor.
    """
    size = tensor.shape.with_rank(2)[1]
    size = getattr(size, "value", size)
    if size is None:
        raise ValueError(f"Could not infer input size from {what}.get_shape()[-1]")
    return int(size)


def linear(
    args: Sequence[Any] | Any,
    output_size: int,
    bias: bool = True,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:
    """``args`` side by side, times the variable ``kernel``, plus the variable ``bias``, both in the current scope.

    Args:
        args: Tensors [B, N], or one.
        output_size: The columns of the result.
        bias: Whether there is a bias.
        bias_initializer: Its initializer; zeros if None.
        kernel_initializer: The kernel's; the scope's if None.
    """
    args = list(args) if isinstance(args, (list, tuple)) else [args]
    inputs = tf.concat(args, 1) if len(args) > 1 else args[0]
    dtype = args[0].dtype.base_dtype
    rows = sum(width(arg, "inputs") for arg in args)
    kernel = tf.get_variable("kernel", [rows, output_size], dtype=dtype, initializer=kernel_initializer)
    if bias:
        initializer = tf.constant_initializer(0.0, dtype=dtype) if bias_initializer is None else bias_initializer
        offset = tf.get_variable("bias", [output_size], dtype=dtype, initializer=initializer)
    result = tf.matmul(inputs, kernel)
    return tf.nn.bias_add(result, offset) if bias else result


def sharded_variable(name: str, shape: Sequence[int], dtype: Any, shards: int) -> Any:
    """A variable of ``shape`` [rows, columns] in ``shards`` parts ``<name>_<i>``, which differ by one row at most."""
    rows, columns = shape
    parts = [
        tf.get_variable(f"{name}_{i}", [rows // shards + (i < rows % shards), columns], dtype=dtype)
        for i in range(shards)
    ]
    if shards == 1:
        return parts[0]
    whole = tf.concat(parts, 0, name=f"{name}/concat")
    tf.add_to_collection(tf.GraphKeys.CONCATENATED_VARIABLES, whole)
    return whole


class UnitsState:
    """For a cell whose state and output are [B, num_units]."""

    _num_units: int

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units


class LSTMState:
    """For a cell whose state is an ``LSTMStateTuple`` of [B, num_units] and the output, [B, num_proj or num_units]."""

    _num_units: int
    _num_proj: int | None = None

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units


class CellWrapper(RNNCell):  # type: ignore[misc]
    """A cell around ``self._cell``, with the same state."""

    _cell: Any

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(CellWrapper):
    """Looks up the inputs, whole numbers, in a variable ``embedding``, and gives the rows to a cell.

    Args:
        cell: The cell.
        embedding_classes: The number of rows.
        embedding_size: The number of columns.
        initializer: Of the variable; None for the scope's, or uniform with a variance of 1.
        reuse: Whether the variables exist already.

    Raises:
        TypeError: ``cell`` is not a cell.
        ValueError: A size is not positive.
    """

    def __init__(
        self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: bool | None = None
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._cell = cell
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """Runs the cell on the rows for ``inputs`` [B] or [B, 1]."""
        with tf.device("/cpu:0"):
            initializer = self._initializer or tf.get_variable_scope().initializer
            if initializer is None:
                limit = math.sqrt(3)
                initializer = tf.random_uniform_initializer(-limit, limit)
            embedding = tf.get_variable(
                "embedding",
                [self._embedding_classes, self._embedding_size],
                initializer=initializer,
                dtype=tf.nest.flatten(state)[0].dtype,
            )
            embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(CellWrapper):
    """Gives ``activation(inputs · kernel + bias)`` to a cell.

    Args:
        cell: The cell.
        num_proj: The columns of the projection.
        activation: Applied to it; None for nothing.
        input_size: Not used.
        reuse: Whether the variables exist already.

    Raises:
        TypeError: ``cell`` is not a cell.
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Activation | None = None,
        input_size: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Runs the cell on the projection of ``inputs`` [B, N]."""
        projected = linear(inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(CellWrapper):
    """Gives ``activation(output · kernel + bias)`` for the output of a cell.

    Args:
        cell: The cell.
        output_size: The columns of the projection.
        activation: Applied to it; None for nothing.
        reuse: Whether the variables exist already.

    Raises:
        TypeError: ``cell`` is not a cell.
        ValueError: ``output_size`` is not positive.
    """

    def __init__(
        self, cell: Any, output_size: int, activation: Activation | None = None, reuse: bool | None = None
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        """Runs the cell and projects what it gives to [B, output_size]."""
        output, new_state = self._cell(inputs, state)
        projected = linear(output, self._output_size)
        return (self._activation(projected) if self._activation else projected), new_state


class CompiledWrapper(CellWrapper):
    """A cell whose step is compiled by XLA, where there is one for the device.

    Args:
        cell: The cell.
        compile_stateful: Whether that goes for operations with a state, too, such as variables and random numbers.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__()
        self._cell = cell
        self._compile: Any = compile_stateful or _is_stateless

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the cell, in its own scope, on ``inputs`` [B, N]."""
        with tf.xla.experimental.jit_scope(self._compile):
            return self._cell(inputs, state, scope)


def _is_stateless(node_def: Any) -> bool:
    return not tf.get_default_graph().op_def_for_type(node_def.op).is_stateful


def _input_size(args: list[Any]) -> int:
    """The sum of the second dimensions of matrices; what is none is a ValueError."""
    for shape in (argument.shape for argument in args):
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {[argument.shape for argument in args]}")
        if tf.compat.dimension_value(shape[1]) is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
    return sum(tf.compat.dimension_value(argument.shape[1]) for argument in args)


class _Linear:
    """A sum of products of matrices ``[B, N]`` and variables, and a bias; programs import it from here.

    Args:
        args: A matrix or some, for which the variables "kernel" and "bias" of the current scope are made.
        output_size: How many columns the result has.
        build_bias: Whether there is a bias.
        bias_initializer: Of the bias, by default zeros.
        kernel_initializer: Of the kernel, by default that of the scope.
    """

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        if args is None or (isinstance(args, list | tuple) and not args):
            raise ValueError("`args` must be specified")
        self._build_bias = build_bias
        self._is_sequence = isinstance(args, list | tuple)
        given = list(args) if self._is_sequence else [args]
        size, dtype = _input_size(given), given[0].dtype
        with tf.variable_scope(tf.get_variable_scope(), auxiliary_name_scope=False) as scope:
            self._weights = tf.get_variable("kernel", [size, output_size], dtype=dtype, initializer=kernel_initializer)
            if build_bias:
                scope.set_partitioner(None)
                if bias_initializer is None:
                    bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
                self._biases = tf.get_variable("bias", [output_size], dtype=dtype, initializer=bias_initializer)

    def __call__(self, args: Any) -> Any:
        """The result ``[B, output_size]`` for a matrix or some."""
        given = [args] if not self._is_sequence else args
        if len(given) == 1:
            product = tf.matmul(args[0] if self._is_sequence else args, self._weights)
        else:
            product = tf.matmul(tf.concat(given, tf.constant(1)), self._weights)
        return tf.nn.bias_add(product, self._biases) if self._build_bias else product


def _linear(
    args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None
) -> Any:
    """Sum products of matrices and a variable, and a bias; see :class:`_Linear`, which this applies at once."""
    if args is None or (isinstance(args, list | tuple) and not args):
        raise ValueError("`args` must be specified")
    given = list(args) if isinstance(args, list | tuple) else [args]
    size, dtype = _input_size(given), given[0].dtype
    with tf.variable_scope(tf.get_variable_scope()) as outer:
        weights = tf.get_variable("kernel", [size, output_size], dtype=dtype, initializer=kernel_initializer)
        product = tf.matmul(given[0] if len(given) == 1 else tf.concat(given, 1), weights)
        if not bias:
            return product
        with tf.variable_scope(outer, auxiliary_name_scope=False) as inner:
            inner.set_partitioner(None)
            if bias_initializer is None:
                bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
            biases = tf.get_variable("bias", [output_size], dtype=dtype, initializer=bias_initializer)
        return tf.nn.bias_add(product, biases)
