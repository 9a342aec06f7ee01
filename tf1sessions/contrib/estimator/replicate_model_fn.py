"""A model on several devices of one machine: :func:`replicate_model_fn`, :class:`TowerOptimizer`.

Data flow: the batch is split -> each device builds ``model_fn`` on its part, a tower, with the variables of the first
tower -> gradients are kept until the last tower applies those of all -> losses, metrics and predictions are joined.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...estimator.model_fn import EstimatorSpec, ModeKeys
from ...estimator.util import function_args
from ...runtime import private
from ...runtime import tf1 as tf
from .._wrapped_optimizer import WrappedOptimizer

__all__ = ["TowerOptimizer", "replicate_model_fn"]

_CPU = "/device:CPU:0"
_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", "VarIsInitializedOp")
_SUMS = (tf.losses.Reduction.SUM,)


@dataclasses.dataclass
class _Towers:
    """The towers while they are built: how many, which one is, and the gradients of the optimizers of each.

    One thread builds them, which alone knows of them.
    """

    count: int
    averages: bool
    index: int = 0
    optimizers: int = 0  # of the current tower
    gradients: dict[int, list[list[tuple[Any, Any]]]] = dataclasses.field(default_factory=dict)

    @property
    def is_last(self) -> bool:
        return self.index == self.count - 1

    def joined(self, optimizer: int) -> list[tuple[Any, Any]]:
        """The gradients of all towers, by variable."""
        by_tower = self.gradients[optimizer]
        found = []
        for pairs in zip(*by_tower, strict=True):
            present = [gradient for gradient, _ in pairs if gradient is not None]
            found.append((self._sum(present) if present else None, pairs[0][1]))
        return found

    def _sum(self, gradients: list[Any]) -> Any:
        if isinstance(gradients[0], tf.IndexedSlices):
            values = tf.concat([gradient.values for gradient in gradients], 0)
            indices = tf.concat([gradient.indices for gradient in gradients], 0)
            return tf.IndexedSlices(values, indices, gradients[0].dense_shape)
        return tf.add_n(gradients)


_towers: contextvars.ContextVar[_Towers | None] = contextvars.ContextVar("towers", default=None)


class TowerOptimizer(WrappedOptimizer):
    """An optimizer for :func:`replicate_model_fn`; without that, or with one device, it is the optimizer itself.

    Args:
        optimizer_or_optimizer_fn: A ``tf.train.Optimizer``, or a function that makes one.
    """

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        self._given = optimizer_or_optimizer_fn
        self._made: Any = None
        super().__init__(use_locking=False, name="TowerOptimizer")

    @property
    def _opt(self) -> Any:
        if self._made is None:
            given = self._given
            self._made = given if isinstance(given, tf.train.Optimizer) else given()
        return self._made

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's; where losses are averaged, those of the tower's part of the loss."""
        towers = _towers.get()
        if towers is not None and towers.averages and towers.count > 1:
            loss = (loss if not callable(loss) else loss()) / towers.count
        return self._opt.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients of all towers in the last one, and nothing before."""
        towers = _towers.get()
        if towers is None or towers.count == 1:
            return self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        number = towers.optimizers
        towers.optimizers += 1
        towers.gradients.setdefault(number, []).append(list(grads_and_vars))
        if not towers.is_last:
            return tf.no_op()
        slots = tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE, auxiliary_name_scope=False)
        with slots, tf.name_scope(""):  # no other tower has made them
            return self._opt.apply_gradients(towers.joined(number), global_step=global_step, name=name)

    def get_name(self) -> Any:
        return self._opt.get_name()

    def variables(self) -> Any:
        return self._opt.variables()


def replicate_model_fn(
    model_fn: Callable[..., EstimatorSpec],
    loss_reduction: str = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """A ``model_fn`` that splits each batch over ``devices``, and trains by all of their gradients.

    Args:
        model_fn: Of one device; it trains with a :class:`TowerOptimizer`.
        loss_reduction: SUM adds the towers' losses and gradients; any other but NONE averages them.
        devices: Their names; without any all GPUs, or the CPU if there is none.

    Raises:
        ValueError: ``loss_reduction`` is NONE.
    """
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    chosen = list(devices or ()) or [f"/device:GPU:{i}" for i, _ in enumerate(_gpus())] or [_CPU]
    takes = function_args(model_fn)

    def replicated_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        given = {"mode": mode, "params": params, "config": config}
        arguments = {name: value for name, value in given.items() if name in takes}
        towers = _Towers(len(chosen), averages=loss_reduction not in _SUMS)
        token = _towers.set(towers)
        try:
            specs = []
            parts = zip(_shards(features, len(chosen)), _shards(labels, len(chosen)), strict=True)
            for index, (part, part_labels) in enumerate(parts):
                towers.index, towers.optimizers = index, 0
                if "labels" in takes:
                    arguments["labels"] = part_labels
                with _tower(index, chosen[index], chosen):
                    specs.append(model_fn(features=part, **arguments))
        finally:
            _towers.reset(token)
        if len(specs) == 1:
            return specs[0]
        if mode == ModeKeys.TRAIN and not towers.gradients:
            raise ValueError(
                "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with multiple `devices`."
            )
        with tf.device(_CPU):
            return _joined(specs, mode, towers.averages)

    return replicated_model_fn


def _gpus() -> Sequence[Any]:
    found: Sequence[Any] = tf.config.list_logical_devices("GPU")
    return found


@contextlib.contextmanager
def _tower(index: int, device: str, devices: Sequence[str]) -> Iterator[None]:
    """Build a tower inside: with the first tower's variables, which are on the CPU if there are several devices."""
    variables = devices[0] if len(devices) == 1 else _CPU

    def place(op: Any) -> str:
        return variables if op.type in _VARIABLES else device

    scope = tf.name_scope(f"tower_{index}") if index else contextlib.nullcontext()
    with scope, tf.variable_scope(tf.get_variable_scope(), reuse=True if index else None), tf.device(place):
        yield


def _shards(tree: Any, count: int) -> list[Any]:
    """The parts of a tensor, or of a dict of them, for each device."""
    if tree is None:
        return [None] * count
    if isinstance(tree, dict):
        parts = {name: _shards(tensor, count) for name, tensor in tree.items()}
        return [{name: parts[name][i] for name in tree} for i in range(count)]
    if count == 1:
        return [tree]
    if isinstance(tree, tf.SparseTensor):
        found: list[Any] = tf.sparse.split(sp_input=tree, num_split=count, axis=0)
        return found
    tensor = tf.convert_to_tensor(tree)
    size = tensor.shape.as_list()[0]
    if size is not None and size % count:
        raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}.")
    found = tf.split(tensor, count)
    return found


def _joined(specs: Sequence[EstimatorSpec], mode: str, averages: bool) -> EstimatorSpec:
    first = specs[0]
    if mode == ModeKeys.PREDICT:
        outputs = first.export_outputs
        return first._replace(
            predictions=_concatenated([spec.predictions for spec in specs]),
            export_outputs=outputs
            and {name: _joined_output([spec.export_outputs[name] for spec in specs]) for name in outputs},
        )
    losses = [spec.loss for spec in specs]
    loss = tf.reduce_mean(losses, name="loss") if averages else tf.add_n(losses, name="loss")
    if mode == ModeKeys.TRAIN:
        return first._replace(loss=loss, train_op=tf.group(*[spec.train_op for spec in specs]))
    metrics = {}
    for name in first.eval_metric_ops:
        values, updates = zip(*[spec.eval_metric_ops[name] for spec in specs], strict=True)
        metrics[name] = (tf.reduce_mean(values, 0), tf.group(*updates))
    return first._replace(loss=loss, eval_metric_ops=metrics, predictions={})


def _concatenated(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], dict):
        return {name: tf.concat([part[name] for part in parts], 0) for name in parts[0]}
    return tf.concat(list(parts), 0)


def _joined_output(outputs: Sequence[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, private.export_output.ClassificationOutput):
        parts: Mapping[str, Any] = {
            name: None if getattr(first, name) is None else _concatenated([getattr(output, name) for output in outputs])
            for name in ("scores", "classes")
        }
        return private.export_output.ClassificationOutput(**parts)
    if isinstance(first, private.export_output.RegressionOutput):
        return private.export_output.RegressionOutput(_concatenated([output.value for output in outputs]))
    return private.export_output.PredictOutput(_concatenated([output.outputs for output in outputs]))
