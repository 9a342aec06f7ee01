"""``horovod.keras`` and ``horovod.tensorflow.keras``: Keras' optimizers, and values exchanged outside of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..runtime import tf1 as tf
from . import operations, ranks, variables
from .compression import Compression
from .operations import Average
from .reductions import Contribution, ExchangePart

__all__ = [
    "DistributedOptimizer",
    "allgather",
    "allreduce",
    "average_values",
    "broadcast",
    "broadcast_global_variables",
    "load_model",
]


class _Distributed:
    """The base of a distributed optimizer's class: gradients of all ranks in place of this one's.

    ``get_gradients`` is what models of TensorFlow 1 call, ``_compute_gradients`` is behind ``minimize``.
    """

    _horovod: tuple[Any, bool, int, float]  # compression, sparse_as_dense, op, gradient_predivide_factor

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        found = super().get_gradients(loss, params)  # type: ignore[misc]
        with loss.graph.as_default():
            return self._of_all_ranks(found)

    def _compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        found = super()._compute_gradients(*args, **kwargs)  # type: ignore[misc]
        gradients = self._of_all_ranks([gradient for gradient, _ in found])
        return [(gradient, variable) for gradient, (_, variable) in zip(gradients, found, strict=True)]

    def _of_all_ranks(self, gradients: Sequence[Any]) -> list[Any]:
        return operations.average_all(gradients, f"Distributed{type(self).__name__}_Allreduce", *self._horovod)


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: int = Average,
    num_groups: int = 0,
    backward_passes_per_step: int = 1,
    average_aggregated_gradients: bool = False,
    groups: Any = None,
) -> Any:
    """Return a Keras optimizer as the given one, which averages gradients over all ranks before it applies them.

    Its class has the name of the given one's: a model that was compiled with it loads where there is no Horovod.

    Args:
        optimizer: An optimizer of Keras.
        name: Of the new one; by default that of the old.
        device_dense: Ignored: exchanges are on the CPU.
        device_sparse: Ignored.
        compression: How gradients travel.
        sparse_as_dense: Whether gradients that are IndexedSlices become tensors before.
        gradient_predivide_factor: What gradients are divided by before they are added up, and multiplied by afterwards.
        op: Average or Sum.
        num_groups, groups: Ignored: all gradients are one exchange.
        backward_passes_per_step: 1.
        average_aggregated_gradients: Ignored: of more than one backward pass.

    Raises:
        UsageError: It is no optimizer, or one of the other arguments is not supported.
    """
    where = "hvd.DistributedOptimizer()"
    operations.check_combining(where, op, gradient_predivide_factor, backward_passes_per_step)
    optimizer = tf.keras.optimizers.get(optimizer)
    if not hasattr(optimizer, "get_gradients"):
        raise UsageError(f"it takes an optimizer of Keras, not {optimizer!r}", where=where)
    config = optimizer.get_config()
    if name is not None:
        config["name"] = name
    combining = (compression, sparse_as_dense, op, float(gradient_predivide_factor))
    return _distribute(type(optimizer).from_config(config), combining)


def _distribute(optimizer: Any, combining: tuple[Any, bool, int, float]) -> Any:
    """Make an optimizer a distributed one."""
    kind = type(optimizer)
    if not isinstance(optimizer, _Distributed):
        optimizer.__class__ = type(kind.__name__, (_Distributed, kind), {"__module__": kind.__module__})
    optimizer._horovod = combining
    return optimizer


def broadcast_global_variables(root_rank: int) -> None:
    """Give all global variables of Keras' session the values that they have on one rank."""
    session = tf.keras.backend.get_session()
    with session.graph.as_default():
        session.run(variables.broadcast_global_variables(root_rank))


def allreduce(value: Any, name: str | None = None, average: bool | None = None, op: int | None = None) -> Any:
    """Return a value combined over all ranks, as an array.

    Args:
        value: An array, or a tensor or variable of Keras' session.
        name: What the ranks know the exchange by.
        average: Whether it is averaged, which it is by default, or else summed.
        op: In place of ``average``: Average, Sum, Min, Max or Product.
    """
    op = operations._op(average, op)
    (result,) = _exchange(name or "HorovodAllreduce", ExchangePart(operations._KINDS[op]), value)
    if op != Average:
        return result
    return result / ranks.size() if result.dtype.kind in "fc" else result // ranks.size()


def allgather(value: Any, name: str | None = None) -> Any:
    """Return the values of all ranks, joined along their first dimension, as an array."""
    return _exchange(name or "HorovodAllgather", ExchangePart("gather"), value)[0]


def broadcast(value: Any, root_rank: int, name: str | None = None) -> Any:
    """Return the value that one rank has, as an array."""
    return _exchange(name or "HorovodBroadcast", ExchangePart("broadcast", operations._root(root_rank)), value)[0]


def _exchange(name: str, part: ExchangePart, value: Any) -> list[NDArray[Any]]:
    is_tensor = isinstance(value, (tf.Tensor, tf.Variable))
    array = np.asarray(tf.keras.backend.get_value(value) if is_tensor else value)
    if part.root >= ranks.size():
        raise UsageError(f"there is no rank {part.root}: there are {ranks.size()}", where=name)
    return [array] if ranks.size() == 1 else ranks.exchange(name, Contribution((part,), [array]))


def average_values(values: Mapping[str, Any], name: str) -> dict[str, float]:
    """Return numbers by name, each averaged over all ranks, in one exchange."""
    names = sorted(values)
    mine = np.array([float(values[each]) for each in names])
    return dict(zip(names, (allreduce(mine, name) if names else mine).tolist(), strict=True))


def load_model(
    filepath: Any,
    custom_optimizers: Sequence[Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    compression: Any = Compression.none,
) -> Any:
    """Load a Keras model, and make its optimizer a distributed one; what it remembers is kept.

    Args:
        filepath: Where it was saved.
        custom_optimizers: Classes of optimizers that Keras does not know.
        custom_objects: name -> class or function, for layers that Keras does not know.
        compression: How gradients travel.
    """
    known = {each.__name__: each for each in custom_optimizers or ()}
    model = tf.keras.models.load_model(filepath, custom_objects={**known, **(custom_objects or {})})
    if getattr(model, "optimizer", None) is not None:  # a model that was not compiled has none
        _distribute(model.optimizer, (compression, False, Average, 1.0))
    return model
