"""``horovod.keras.callbacks``: what ranks do together while a Keras model is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf
from . import keras, ranks, variables

__all__ = [
    "BroadcastGlobalVariablesCallback",
    "LearningRateScheduleCallback",
    "LearningRateWarmupCallback",
    "MetricAverageCallback",
]


class BroadcastGlobalVariablesCallback(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Gives all variables the values of one rank, when the training begins and, as Horovod does, after its first batch.

    The latter is for variables that an optimizer makes in its first step.

    Args:
        root_rank: The rank whose values they get.
        device: Ignored: exchanges are on the CPU.
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank = root_rank
        self._is_done = False

    def on_train_begin(self, logs: Any = None) -> None:
        self._broadcast()

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self._is_done:
            self._is_done = True
            self._broadcast()

    def _broadcast(self) -> None:
        if tf.executing_eagerly():
            held = [*self.model.variables, *self.model.optimizer.variables()]
            variables.broadcast_variables(held, self.root_rank)
        else:
            keras.broadcast_global_variables(self.root_rank)


class MetricAverageCallback(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Averages an epoch's metrics over all ranks, for the callbacks that come after it in the list.

    Args:
        device: Ignored: exchanges are on the CPU.
    """

    def __init__(self, device: str = "") -> None:
        super().__init__()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs and ranks.size() > 1:
            logs.update(keras.average_values(logs, f"MetricAverageCallback, epoch {epoch}"))


class LearningRateScheduleCallback(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Multiplies the initial learning rate, by a constant or by what a function says of the epoch.

    Args:
        multiplier: A number, or a function of the epoch.
        start_epoch: The first epoch in which it acts.
        end_epoch: The first in which it no longer does; None never ends.
        staircase: Whether the rate changes at the beginning of epochs only; otherwise with each batch, and the epoch
            that ``multiplier`` gets is a fraction.
        momentum_correction: Whether the momentum is scaled for the batch at which the rate changes.
        steps_per_epoch: For ``staircase=False`` where Keras does not know it.
        initial_lr: By default the optimizer's rate when the training begins.
    """

    def __init__(
        self,
        multiplier: float | Callable[[float], float],
        start_epoch: int = 0,
        end_epoch: int | None = None,
        staircase: bool = True,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
        initial_lr: float | None = None,
    ) -> None:
        super().__init__()
        self.start_epoch = start_epoch
        self.end_epoch = math.inf if end_epoch is None else end_epoch
        self.staircase = staircase
        self.momentum_correction = momentum_correction
        self.steps_per_epoch = steps_per_epoch
        self.initial_lr = initial_lr
        self.multiplier: Callable[[float], float] = multiplier if callable(multiplier) else lambda epoch: multiplier
        self.current_epoch = 0
        self._momentum: float | None = None  # what it was before this batch

    def on_train_begin(self, logs: Any = None) -> None:
        if self.initial_lr is None:
            self.initial_lr = self._get("lr")
        if self.staircase or self.steps_per_epoch:
            return
        params = self.params or {}
        steps = params.get("steps")
        if not steps and params.get("samples") and params.get("batch_size"):
            steps = params["samples"] // params["batch_size"]
        if not steps:
            raise UsageError(
                "Keras does not know how many batches an epoch has",
                where=type(self).__name__,
                next_step="Give steps_per_epoch.",
            )
        self.steps_per_epoch = steps

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.current_epoch = epoch

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        if not self.start_epoch <= self.current_epoch < self.end_epoch:
            return
        if not self.staircase:
            assert self.steps_per_epoch
            self._adjust(self.current_epoch + batch / self.steps_per_epoch)
        elif batch == 0:
            self._adjust(self.current_epoch)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._momentum is not None:
            self.model.optimizer.momentum = self._momentum
            self._momentum = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = self._get("lr")

    def _adjust(self, epoch: float) -> None:
        assert self.initial_lr is not None
        old, new = self._get("lr"), self.initial_lr * self.multiplier(epoch)
        self.model.optimizer.lr = new
        if self.momentum_correction and old and hasattr(self.model.optimizer, "momentum"):
            self._momentum = self._get("momentum")
            self.model.optimizer.momentum = self._momentum * new / old

    def _get(self, name: str) -> float:
        return float(tf.keras.backend.get_value(getattr(self.model.optimizer, name)))


class LearningRateWarmupCallback(LearningRateScheduleCallback):
    """Raises the learning rate from that of one rank to the given one, which is for all, during the first epochs.

    See https://arxiv.org/abs/1706.02677.

    Args:
        warmup_epochs: During how many.
        momentum_correction: Whether the momentum is scaled for the batch at which the rate changes.
        steps_per_epoch: Where Keras does not know it.
        verbose: 1 prints a line when the rate is reached.
        initial_lr: By default the optimizer's rate when the training begins.
    """

    def __init__(
        self,
        warmup_epochs: int = 5,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
        verbose: int = 0,
        initial_lr: float | None = None,
    ) -> None:
        def multiplier(epoch: float) -> float:
            assert self.steps_per_epoch
            epoch += 1.0 / self.steps_per_epoch  # what is reached at the end of the batch
            return (epoch * (ranks.size() - 1) / warmup_epochs + 1) / ranks.size()

        super().__init__(multiplier, 0, warmup_epochs, False, momentum_correction, steps_per_epoch, initial_lr)
        self.verbose = verbose

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_end(epoch, logs)
        if self.verbose and epoch == self.end_epoch - 1:
            print(f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {self._get('lr'):g}.")
