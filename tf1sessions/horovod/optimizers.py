"""``DistributedOptimizer`` and ``DistributedGradientTape``: gradients that are averaged over all ranks."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf
from . import operations
from .compression import Compression

__all__ = ["DistributedGradientTape", "DistributedOptimizer"]


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    use_locking: bool = False,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    backward_passes_per_step: int = 1,
    op: int = operations.Average,
    gradient_predivide_factor: float = 1.0,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Any = None,
) -> Any:
    """Return an optimizer that averages gradients over all ranks before it applies them.

    Args:
        optimizer: A ``tf.train.Optimizer``, or one of Keras (then see :func:`.keras.DistributedOptimizer`).
        name: Of the new one.
        use_locking: As of every optimizer.
        device_dense: Ignored: exchanges are on the CPU.
        device_sparse: Ignored.
        compression: How gradients travel.
        sparse_as_dense: Whether gradients that are IndexedSlices become tensors before.
        backward_passes_per_step: 1.
        op: Average or Sum.
        gradient_predivide_factor: What gradients are divided by before they are added up, and multiplied by afterwards.
        average_aggregated_gradients: Ignored: of more than one backward pass.
        num_groups, groups: Ignored: all gradients are one exchange.

    Raises:
        UsageError: ``optimizer`` is none, or one of the other arguments is not supported.
    """
    where = "hvd.DistributedOptimizer()"
    operations.check_combining(where, op, gradient_predivide_factor, backward_passes_per_step)
    combining = (compression, sparse_as_dense, op, float(gradient_predivide_factor))
    if isinstance(optimizer, tf.train.Optimizer):
        return _DistributedOptimizer(optimizer, name, use_locking, combining)
    if isinstance(optimizer, tf.keras.optimizers.Optimizer):
        from . import keras

        return keras.DistributedOptimizer(
            optimizer, name, "", "", compression, sparse_as_dense, gradient_predivide_factor, op
        )
    raise UsageError(f"it takes an optimizer of tf.train or tf.keras, not {type(optimizer).__name__}", where=where)


class _DistributedOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """An optimizer of tf.train around another one."""

    def __init__(
        self, optimizer: Any, name: str | None, use_locking: bool, combining: tuple[Any, bool, int, float]
    ) -> None:
        super().__init__(name=name or f"Distributed{type(optimizer).__name__}", use_locking=use_locking)
        self._optimizer = optimizer
        self._combining = combining  # what average_all() takes after the name

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Compute this rank's gradients as the inner optimizer does, and combine them with those of the others."""
        found = self._optimizer.compute_gradients(*args, **kwargs)
        mine = [gradient for gradient, _ in found]
        gradients = operations.average_all(mine, f"{self.get_name()}_Allreduce", *self._combining)
        return [(gradient, variable) for gradient, (_, variable) in zip(gradients, found, strict=True)]

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """As the inner optimizer."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """As the inner optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """As the inner optimizer."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """As the inner optimizer."""
        return self._optimizer.variables(*args, **kwargs)


class DistributedGradientTape:
    """A ``tf.GradientTape`` whose gradients are averaged over all ranks.

    Args:
        gradtape: The tape; all that is not named here is its own.
        device_dense: Ignored: exchanges are on the CPU.
        device_sparse: Ignored.
        compression: How gradients travel.
        sparse_as_dense: Whether gradients that are IndexedSlices become tensors before.
        op: Average or Sum.
        gradient_predivide_factor: What gradients are divided by before they are added up, and multiplied by afterwards.
        num_groups, groups: Ignored: all gradients are one exchange.
    """

    def __init__(
        self,
        gradtape: Any,
        device_dense: str = "",
        device_sparse: str = "",
        compression: Any = Compression.none,
        sparse_as_dense: bool = False,
        op: int = operations.Average,
        gradient_predivide_factor: float = 1.0,
        num_groups: int = 0,
        groups: Any = None,
    ) -> None:
        operations.check_combining("hvd.DistributedGradientTape()", op, gradient_predivide_factor, 1)
        self._tape = gradtape
        self._combining = (compression, sparse_as_dense, op, float(gradient_predivide_factor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tape, name)

    def __enter__(self) -> DistributedGradientTape:
        self._tape.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._tape.__exit__(*error)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None) -> Any:
        """Return the gradients in the structure of ``sources``, combined over all ranks."""
        found = self._tape.gradient(target, sources, output_gradients)
        flat = operations.average_all(tf.nest.flatten(found), "DistributedGradientTape_Allreduce", *self._combining)
        return tf.nest.pack_sequence_as(found, flat)
