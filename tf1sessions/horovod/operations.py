"""``allreduce``, ``allgather`` and ``broadcast``: operations of a graph, or done at once in eager mode.

Each gives its tensors to rank 0 under the operation's name and waits for those that all ranks get (:func:`exchanged`).
As with Horovod, the name is that of the tensor in the graph: ranks whose graphs differ elsewhere, or which run
operations in another order, still find each other. All gradients of an optimizer go in one exchange. With one rank
there is nothing to exchange, and the operations are plain ones.

An operation that waits must not keep a thread of the session's pool: with two threads, two ranks that begin with other
operations would wait for each other for ever. A ``py_func`` keeps one. So it stands in the function of a data set of
one element, with a thread of its own, and the graph takes that element: an operation that keeps no thread while it
waits.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import Tf1SessionsError, UsageError
from ..runtime import tf1 as tf
from . import ranks
from .compression import Compression
from .reductions import Contribution, ExchangePart

__all__ = [
    "Average",
    "Max",
    "Min",
    "Product",
    "Sum",
    "allgather",
    "allreduce",
    "average_all",
    "broadcast",
    "check_combining",
    "exchanged",
    "rank_op",
    "size_op",
]

# What becomes of the tensors of an allreduce, by Horovod's numbers.
Average, Sum, Min, Max, Product = 0, 1, 3, 4, 5
_KINDS = {Average: "sum", Sum: "sum", Min: "min", Max: "max", Product: "product"}
_eager_numbers = itertools.count()


def exchanged(name: str, parts: Sequence[ExchangePart], tensors: Sequence[Any]) -> list[Any]:
    """Exchange tensors with the other ranks, in one message. There is no gradient.

    Args:
        name: What the ranks know it by; made unique in its graph.
        parts: What is to be done with each tensor.
        tensors: Tensors of numbers.

    Returns:
        A tensor for each, of its dtype.
    """
    tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
    for part, tensor in zip(parts, tensors, strict=True):
        _check(name, part, tensor)
    if tf.executing_eagerly():
        received = _exchange(f"{name}_{next(_eager_numbers)}", parts, tensors)
        return [tf.convert_to_tensor(array) for array in received]
    shapes = [
        tf.TensorShape([None]).concatenate(tensor.shape[1:]) if part.kind == "gather" else tensor.shape
        for part, tensor in zip(parts, tensors, strict=True)
    ]
    return _waiting_operation(name, parts, tensors, shapes)


def _waiting_operation(
    name: str, parts: Sequence[ExchangePart], tensors: Sequence[Any], shapes: Sequence[Any]
) -> list[Any]:
    key = tf.get_default_graph().unique_name(name, mark_as_used=False)
    dtypes = [tensor.dtype for tensor in tensors]

    def run(*arrays: Any) -> list[Any]:
        try:
            return _exchange(key, parts, arrays)
        except Tf1SessionsError as error:
            raise error.with_traceback(None) from None  # which TensorFlow writes into the message

    def element(*inner: Any) -> tuple[Any, ...]:
        return tuple(tf.numpy_function(run, inner, dtypes))

    with tf.device("/cpu:0"):  # where Python is
        dataset = tf.data.Dataset.from_tensors(tuple(tensors)).map(element)
        types = {"output_types": dtypes, "output_shapes": shapes}
        own_thread = tf.raw_ops.PrivateThreadPoolDataset(
            input_dataset=dataset._variant_tensor, num_threads=tf.constant(1, tf.int64), **types
        )
        return list(tf.raw_ops.DatasetToSingleElement(dataset=own_thread, name=name, **types))


def _exchange(key: str, parts: Sequence[ExchangePart], arrays: Sequence[Any]) -> list[Any]:
    return ranks.exchange(key, Contribution(tuple(parts), [np.asarray(array) for array in arrays]))


def _check(name: str, part: ExchangePart, tensor: Any) -> None:
    if tensor.dtype in (tf.string, tf.resource, tf.variant):
        raise UsageError(f"{name} takes numbers, not a tensor of {tensor.dtype.name}", where=str(tensor))
    if part.kind == "gather" and tensor.shape.rank == 0:
        raise UsageError(f"{name} joins along the first dimension, and a scalar has none", where=str(tensor))
    if part.root >= ranks.size():
        raise UsageError(f"there is no rank {part.root}: there are {ranks.size()}", where=name)


def _name(verb: str, tensor: Any, name: str | None) -> str:
    if name is None:
        name = "" if tf.executing_eagerly() else tensor.name
    return f"Horovod{verb}_{re.sub('[^a-zA-Z0-9_]', '_', name)}"


def allreduce(
    tensor: Any,
    average: bool | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    name: str | None = None,
) -> Any:
    """Combine a tensor over all ranks. A tf.IndexedSlices is gathered: its rows are those of all ranks.

    Args:
        tensor: A Tensor, Variable or IndexedSlices; of the same shape and dtype on all ranks.
        average: Whether it is averaged, which it is by default, or else summed.
        device_dense: Ignored: exchanges are on the CPU.
        device_sparse: Ignored.
        compression: Of :class:`.compression.Compression`.
        op: In place of ``average``: Average, Sum, Min, Max or Product.
        prescale_factor: What the tensor is multiplied by before.
        postscale_factor: And what after.
        name: What the ranks know the exchange by; by default the tensor's name.

    Raises:
        UsageError: Both of ``average`` and ``op`` are given, or there is no such op; or it is Min, Max or Product for
            IndexedSlices.
    """
    op = _op(average, op)
    if isinstance(tensor, tf.IndexedSlices):
        if op not in (Average, Sum):
            raise UsageError("IndexedSlices can be averaged or summed", where=f"hvd.allreduce(op={op})")
        scaled = _scaled(tensor.values, prescale_factor)
        values = allgather(scaled, name=None if name is None else f"{name}_values")
        indices = allgather(tensor.indices, name=None if name is None else f"{name}_indices")
        values = _scaled(_divided(values) if op == Average else values, postscale_factor)
        return tf.IndexedSlices(values, indices, dense_shape=tensor.dense_shape)
    tensor = tf.convert_to_tensor(tensor)
    travelling, context = compression.compress(_scaled(tensor, prescale_factor))
    reduced = _reduce(travelling, _KINDS[op], _name("Allreduce", tensor, name))
    reduced = compression.decompress(reduced, context)
    return _scaled(_divided(reduced) if op == Average else reduced, postscale_factor)


def _op(average: bool | None, op: int | None) -> int:
    if op is None:
        return Sum if average is False else Average
    if average is not None:
        raise UsageError("average and op say the same", where="hvd.allreduce()", next_step="Give op alone.")
    if op not in _KINDS:
        raise UsageError(f"op is {op!r}, and not hvd.Average, Sum, Min, Max or Product", where="hvd.allreduce()")
    return op


def _scaled(tensor: Any, factor: float) -> Any:
    return tensor if factor == 1.0 else tensor * tf.cast(factor, tensor.dtype)


def _divided(tensor: Any) -> Any:
    size = tf.cast(ranks.size(), tensor.dtype)
    return tensor / size if tensor.dtype.is_floating or tensor.dtype.is_complex else tensor // size


def _reduce(tensor: Any, kind: str, name: str) -> Any:
    if ranks.size() == 1:
        return tf.identity(tensor)

    def gradient(upstream: Any) -> Any:
        if kind != "sum":
            raise UsageError(f"an allreduce by {kind} has no gradient", next_step="Use hvd.Sum or hvd.Average.")
        return exchanged(f"{name}_grad", [ExchangePart("sum")], [upstream])[0]

    return _with_gradient(tensor, lambda inner: exchanged(name, [ExchangePart(kind)], [inner])[0], gradient)


def _with_gradient(tensor: Any, forward: Callable[[Any], Any], gradient: Callable[[Any], Any]) -> Any:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def run(inner: Any) -> Any:
        return forward(inner), gradient

    return run(tensor)


def allgather(tensor: Any, name: str | None = None) -> Any:
    """Join the tensors of all ranks along their first dimension, in the order of the ranks.

    Args:
        tensor: ``[n, ...]``; n may differ from rank to rank, the rest may not.
        name: What the ranks know the exchange by; by default the tensor's name.

    Raises:
        UsageError: It is a scalar, or of strings.
    """
    tensor = tf.convert_to_tensor(tensor)
    full = _name("Allgather", tensor, name)
    _check(full, ExchangePart("gather"), tensor)
    if ranks.size() == 1:
        return tf.identity(tensor)
    rows = tf.shape(tensor)[:1]

    def gradient(upstream: Any) -> Any:
        summed, counts = exchanged(f"{full}_grad", [ExchangePart("sum"), ExchangePart("gather")], [upstream, rows])
        return tf.split(summed, counts, num=ranks.size())[ranks.rank()]

    return _with_gradient(tensor, lambda inner: exchanged(full, [ExchangePart("gather")], [inner])[0], gradient)


def broadcast(tensor: Any, root_rank: int, name: str | None = None) -> Any:
    """Return the tensor that one rank has, on all ranks.

    Args:
        tensor: Of the same shape and dtype on all ranks.
        root_rank: Whose it is.
        name: What the ranks know the exchange by; by default the tensor's name.

    Raises:
        UsageError: There is no such rank, or the tensor is of strings.
    """
    tensor = tf.convert_to_tensor(tensor)
    full = _name("Broadcast", tensor, name)
    part = ExchangePart("broadcast", _root(root_rank))
    _check(full, part, tensor)
    if ranks.size() == 1:
        return tf.identity(tensor)

    def gradient(upstream: Any) -> Any:
        summed = exchanged(f"{full}_grad", [ExchangePart("sum")], [upstream])[0]
        if ranks.rank() == root_rank:
            return summed
        with tf.control_dependencies([summed]):  # the root waits for this rank's part
            return tf.zeros_like(upstream)

    return _with_gradient(tensor, lambda inner: exchanged(full, [part], [inner])[0], gradient)


def _root(root_rank: int) -> int:
    if root_rank < 0:
        raise UsageError(f"root_rank is {root_rank}", next_step="Give the number of a rank, from 0.")
    return int(root_rank)


def check_combining(where: str, op: int, predivide: float, passes: int) -> None:
    """Refuse what an optimizer of all ranks cannot do.

    Args:
        where: For the error.
        op: How gradients are combined.
        predivide: What they are divided by before, and multiplied by afterwards.
        passes: How many steps a rank is to add up before one of all ranks.

    Raises:
        UsageError: One of them is not supported, or two do not go together.
    """
    if passes != 1:
        raise UsageError(f"backward_passes_per_step is {passes}, and only 1 is there", where=where)
    if op not in (Average, Sum):
        raise UsageError("op is hvd.Average or hvd.Sum", where=f"{where[:-1]}op={op!r})")
    if not predivide > 0 or (predivide != 1.0 and op != Average):
        raise UsageError(
            f"gradient_predivide_factor is {predivide!r}", where=where, next_step="It is above 0, and for hvd.Average."
        )


def average_all(
    gradients: Sequence[Any], name: str, compression: Any, sparse_as_dense: bool, op: int, predivide: float = 1.0
) -> list[Any]:
    """Combine gradients over all ranks in one exchange.

    Args:
        gradients: Tensors, IndexedSlices or None.
        name: Of the exchange.
        compression: Of :class:`.compression.Compression`, for those that are dense.
        sparse_as_dense: Whether IndexedSlices become tensors before.
        op: Average or Sum.
        predivide: What those that are dense are divided by before, and multiplied by afterwards.

    Returns:
        One for each, of its kind.
    """
    if sparse_as_dense:
        gradients = [tf.convert_to_tensor(each) if isinstance(each, tf.IndexedSlices) else each for each in gradients]
    if ranks.size() == 1:
        return list(gradients)
    parts: list[ExchangePart] = []
    tensors: list[Any] = []
    contexts: list[Any] = []
    for each in gradients:
        if isinstance(each, tf.IndexedSlices):
            parts += [ExchangePart("gather"), ExchangePart("gather")]
            tensors += [each.values, each.indices]
            contexts += [None, None]
        elif each is not None:
            travelling, context = compression.compress(each if predivide == 1.0 else each / predivide)
            parts.append(ExchangePart("sum"))
            tensors.append(travelling)
            contexts.append(context)
    if not tensors:
        return list(gradients)
    came = iter(zip(exchanged(name, parts, tensors), contexts, strict=True))
    return [_received(each, came, compression, op, predivide) for each in gradients]


def _received(gradient: Any, came: Any, compression: Any, op: int, predivide: float) -> Any:
    if gradient is None:
        return None
    result = compression.decompress(*next(came))
    result = _divided(result) if op == Average else result
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(result, next(came)[0], dense_shape=gradient.dense_shape)
    return result if predivide == 1.0 else result * predivide


def size_op(name: str | None = None) -> Any:
    """Return the number of ranks as an int32 tensor."""
    return tf.constant(ranks.size(), tf.int32, name=name or "HorovodSize")


def rank_op(name: str | None = None) -> Any:
    """The number of this rank, as an int32 tensor."""
    return tf.constant(ranks.rank(), tf.int32, name=name or "HorovodRank")
