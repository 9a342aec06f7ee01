"""Several heads on one model: :class:`MultiHead`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf
from ..model_fn import EstimatorSpec, ModeKeys
from .head import Head, LossSpec
from .head_parts import SERVING, Metrics

__all__ = ["MultiHead", "checked_heads", "label_of", "merged_loss", "merged_predictions", "split_logits"]

# ---------------------------------------------------------------------------------------------------- several heads


def checked_heads(heads: Any, head_weights: Any) -> None:
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(f"heads and head_weights must have the same size. Given: {heads}, {head_weights}")
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")


def split_logits(logits: Any, heads: Sequence[Any]) -> dict[str, Any]:
    """Logits by the head's name: [D0, ..., DN, sum of L] split along the last dimension, unless they are a dict.

    Raises:
        ValueError: A head has none, or they have another last dimension.
    """
    if isinstance(logits, dict):
        missing = [head.name for head in heads if head.name not in logits]
        if missing:
            raise ValueError(f"logits has no value of the heads {missing}. Given: {sorted(logits)}")
        return logits
    sizes = [head.logits_dimension for head in heads]
    with tf.name_scope(None, "split_logits"):
        logits = tf.convert_to_tensor(logits)
        if logits.shape.rank is not None and logits.shape.as_list()[-1] not in (None, sum(sizes)):
            raise ValueError(f"logits shape must be [D0, D1, ... DN, {sum(sizes)}], got {logits.shape}.")
        before = tf.ones([tf.rank(logits) - 1], tf.int32)
        parts, begin = {}, 0
        for head, size in zip(heads, sizes, strict=True):
            parts[head.name] = tf.slice(logits, tf.concat([0 * before, [begin]], 0), tf.concat([-before, [size]], 0))
            begin += size
        return parts


def merged_loss(losses: Sequence[Any], head_weights: Sequence[float] | None) -> Any:
    with tf.name_scope(None, "merge_losses"):
        if head_weights:
            losses = [loss * weight for loss, weight in zip(losses, head_weights, strict=True)]
        return tf.add_n(list(losses))


def merged_predictions(heads: Sequence[Any], specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    """The spec of PREDICT: the signatures of each head, and one of all predictions."""
    predictions: dict[Any, Any] = {}
    outputs: dict[str, Any] = {SERVING: specs[0].export_outputs[SERVING]}
    merged = {}
    for head, spec in zip(heads, specs, strict=True):
        for key, output in spec.export_outputs.items():
            outputs[head.name if key == SERVING else f"{head.name}/{key}"] = output
        for key, value in spec.predictions.items():
            predictions[(head.name, key)] = value
            merged[f"{head.name}/{key}"] = value
    outputs["predict"] = private.export_output.PredictOutput(merged)
    return EstimatorSpec(mode=ModeKeys.PREDICT, predictions=predictions, export_outputs=outputs)


def label_of(labels: Any, head: Any) -> Any:
    if not isinstance(labels, dict):
        raise ValueError(f"labels must be a dict of the heads' names. Given: {labels}")
    if head.name not in labels:
        raise ValueError(f"labels has no value of the head {head.name}. Given: {sorted(labels)}")
    return labels[head.name]


class MultiHead(Head):
    """Several heads on one model: labels, and logits if they are not one tensor, are dicts of the heads' names.

    Losses are added up; predictions have keys ``(head.name, key)``; metrics have the heads' names as suffixes.

    Args:
        heads: Heads that have a name; the first is served by default.
        head_weights: What to multiply their losses by.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        checked_heads(heads, head_weights)
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ()) or None
        self._name = "_".join(str(head.name) for head in heads)
        self._loss_reduction = "sum_over_batch_size"

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        reductions = {head.loss_reduction for head in self._heads}
        if len(reductions) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {sorted(reductions)}")
        return reductions.pop()

    def _labels(self, labels: Any, logits: Any) -> Any:
        return {head.name: head._labels(label_of(labels, head), logits[str(head.name)]) for head in self._heads}

    def loss_spec(self, labels: Any, logits: Any, features: Any = None) -> LossSpec:
        """The weighted sum of the losses; what it was made from is by the head's name."""
        logits = split_logits(logits, self._heads)
        specs = {
            head.name: head.loss_spec(label_of(labels, head), logits[str(head.name)], features) for head in self._heads
        }
        loss = merged_loss([spec.training_loss for spec in specs.values()], self._head_weights)
        return LossSpec(loss, specs, None, None)

    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        return {
            head.name: head._unreduced_loss(labels[head.name], logits[str(head.name)], features) for head in self._heads
        }

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        """``{(head's name, key): prediction}``."""
        logits = split_logits(logits, self._heads)
        with tf.name_scope(None, "merge_pred"):
            found = {
                (head.name, key): value
                for head in self._heads
                for key, value in head.predictions(logits[str(head.name)]).items()
            }
            return found if keys is None else {key: found[key] for key in keys}

    def _metrics(self, spec: LossSpec, predictions: Mapping[Any, Any], logits: Any) -> Metrics:
        found: Metrics = {}
        logits = split_logits(logits, self._heads)
        for head in self._heads:
            inner = spec.unreduced_loss[head.name]
            found[f"loss/{head.name}"] = tf.metrics.mean(inner.training_loss, name=f"loss/{head.name}")
            own = {key: value for (name, key), value in predictions.items() if name == head.name}
            found.update(head._all_metrics(inner, own, logits[str(head.name)], None))
        return found

    def _all_metrics(self, spec: LossSpec, predictions: Mapping[Any, Any], logits: Any, penalty: Any) -> Metrics:
        metrics = self._metrics(spec, predictions, logits)
        if penalty is not None:
            metrics["regularization_loss"] = tf.metrics.mean(penalty, name="regularization_loss")
        return metrics

    def _key(self, key: str) -> str:
        return key

    def _parts_of_loss(self, spec: LossSpec) -> dict[str, Any]:
        return {f"loss/{name}": inner.training_loss for name, inner in spec.unreduced_loss.items()}

    def _export_outputs(self, predictions: Mapping[Any, Any], logits: Any) -> dict[str, Any]:
        split = split_logits(logits, self._heads)
        specs = []
        for head in self._heads:
            own = {key: value for (name, key), value in predictions.items() if name == head.name}
            specs.append(
                EstimatorSpec(
                    mode=ModeKeys.PREDICT,
                    predictions=own,
                    export_outputs=head._export_outputs(own, split[str(head.name)]),
                )
            )
        outputs: dict[str, Any] = merged_predictions(self._heads, specs).export_outputs
        return outputs
