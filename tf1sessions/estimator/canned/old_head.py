"""Heads as the canned estimators of TensorFlow 1 and ``tf.contrib.estimator`` have them.

They are the heads of head.py behind another face: everything is in the head's name scope, metrics are beside it, and a
loss that is a sum is also shown as an average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...runtime import tf1 as tf
from ..model_fn import EstimatorSpec, ModeKeys
from .head import BinaryClassHead, Head, LossSpec, MultiClassHead, RegressionHead
from .head_parts import Metrics, summarize, train_op_of
from .multi_head import checked_heads, label_of, merged_loss, merged_predictions, split_logits

__all__ = ["OldHead", "OldHeadBase", "OldMultiHead", "classification_head", "regression_head"]


class OldHeadBase:
    """The base class of heads before :class:`Head`: what programs derive their own from, or test heads with."""

    @property
    def name(self) -> str | None:
        raise NotImplementedError("Calling an abstract method.")

    @property
    def logits_dimension(self) -> int:
        raise NotImplementedError("Calling an abstract method.")

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> Any:
        raise NotImplementedError("Calling an abstract method.")

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        raise NotImplementedError("Calling an abstract method.")


class OldHead(OldHeadBase):
    """A head as the canned estimators of TensorFlow 1 and ``tf.contrib.estimator`` have it.

    Everything is in the head's name scope, metrics are beside it, and a loss that is a sum is also shown as an average.

    Args:
        head: The head.
    """

    def __init__(self, head: Head) -> None:
        self._head = head
        head._in_own_scope = True

    @property
    def name(self) -> str | None:
        return self._head.name

    @property
    def logits_dimension(self) -> int:
        return self._head.logits_dimension

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
        """The loss with what it is made from."""
        del mode
        return self._head.loss_spec(labels, logits, features)

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """Return what a ``model_fn`` returns; see :meth:`Head.create_estimator_spec`."""
        head = self._head
        with tf.name_scope(self.name, "head") as scope:
            predictions = head.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(
                    mode=mode, predictions=predictions, export_outputs=head._export_outputs(predictions, logits)
                )
            spec = self.create_loss(features, mode, logits, labels)
            penalty = tf.add_n(regularization_losses) if regularization_losses else None
            loss = spec.training_loss if penalty is None else spec.training_loss + penalty
        if mode == ModeKeys.EVAL:
            with _metrics_scope(head):
                metrics = head._all_metrics(spec, predictions, logits, penalty)
            return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        with tf.name_scope(scope):
            train_op = train_op_of(loss, optimizer, train_op_fn)
            average = None
            if head._reduction == tf.losses.Reduction.SUM:
                average = spec.training_loss / tf.reduce_sum(spec.weights * tf.ones_like(spec.unreduced_loss))
        summarize(
            {head._key("loss"): loss, head._key("average_loss"): average, head._key("regularization_loss"): penalty}
        )
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)


@contextmanager
def _metrics_scope(head: Head) -> Iterator[None]:
    """Metrics of classification are in a scope of their own, those of regression are not."""
    if isinstance(head, RegressionHead):
        yield
    else:
        with tf.name_scope(None, "metrics"):
            yield


class OldMultiHead(OldHeadBase):
    """Several heads as ``tf.contrib.estimator.multi_head`` has them; see :class:`MultiHead`."""

    def __init__(self, heads: Sequence[OldHead], head_weights: Sequence[float] | None = None) -> None:
        checked_heads(heads, head_weights)
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ()) or None

    @property
    def name(self) -> str:
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
        """The weighted sum of the losses; what it was made from is by the head's name."""
        logits = split_logits(logits, self._heads)
        specs = {
            head.name: head.create_loss(features, mode, logits[str(head.name)], label_of(labels, head))
            for head in self._heads
        }
        loss = merged_loss([spec.training_loss for spec in specs.values()], self._head_weights)
        return LossSpec(
            loss, *({name: spec[field] for name, spec in specs.items()} for field in range(1, len(LossSpec._fields)))
        )

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """Return what a ``model_fn`` returns; see :meth:`Head.create_estimator_spec`."""
        logits = split_logits(logits, self._heads)
        specs = [
            head.create_estimator_spec(
                features,
                mode,
                logits[str(head.name)],
                None if mode == ModeKeys.PREDICT else label_of(labels, head),
                train_op_fn=lambda loss: tf.no_op(),
            )
            for head in self._heads
        ]
        if mode == ModeKeys.PREDICT:
            return merged_predictions(self._heads, specs)
        if mode == ModeKeys.EVAL:
            return self._merged_evaluation(specs, regularization_losses)
        penalty = tf.add_n(regularization_losses) if regularization_losses else None
        loss = merged_loss([spec.loss for spec in specs], self._head_weights)
        if penalty is not None:
            loss += penalty
        train_op = train_op_of(loss, optimizer, train_op_fn)
        summarize({"loss": loss, "regularization_loss": penalty})
        return EstimatorSpec(mode=mode, predictions=self._predictions(specs), loss=loss, train_op=train_op)

    def _predictions(self, specs: Sequence[EstimatorSpec]) -> dict[Any, Any]:
        return {
            (head.name, key): value
            for head, spec in zip(self._heads, specs, strict=True)
            for key, value in spec.predictions.items()
        }

    def _merged_evaluation(self, specs: Sequence[EstimatorSpec], regularization_losses: Any) -> EstimatorSpec:
        metrics: Metrics = {}
        with tf.name_scope(None, "merge_eval"):
            loss = merged_loss([spec.loss for spec in specs], self._head_weights)
            if regularization_losses:
                penalty = tf.add_n(regularization_losses)
                metrics["regularization_loss"] = tf.metrics.mean(penalty, name="regularization_loss")
                loss += penalty
            for head, spec in zip(self._heads, specs, strict=True):
                name = f"loss/{head.name}"
                metrics[name] = tf.metrics.mean(spec.loss, name=name)
                metrics.update(spec.eval_metric_ops)
        return EstimatorSpec(
            mode=ModeKeys.EVAL, predictions=self._predictions(specs), loss=loss, eval_metric_ops=metrics
        )


def classification_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> OldHead:
    """The head of a classifier: of one logit for two classes, else of one for each."""
    if n_classes == 2:
        return OldHead(
            BinaryClassHead(
                weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
            )
        )
    return OldHead(
        MultiClassHead(
            n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    )


def regression_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> OldHead:
    """The head of a regressor."""
    return OldHead(
        RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction)
    )
