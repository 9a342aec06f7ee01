"""Arguments and results of a ``model_fn``: :class:`ModeKeys` and :class:`ModelFnOps`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...estimator.export import PredictOutput
from ...estimator.model_fn import EstimatorSpec
from ...runtime import tf1 as tf

__all__ = ["ModeKeys", "ModelFnOps"]


class ModeKeys:
    """The purposes that a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises a ``ValueError`` unless ``key`` is one of these."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    output_alternatives: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    mode: Any


class ModelFnOps(_Fields):
    """The model that a ``model_fn`` built in the default graph.

    Args:
        mode: One of :class:`ModeKeys`.
        predictions: A tensor or a dict of them.
        loss: A scalar.
        train_op: What to run for a step.
        eval_metric_ops: name -> (value, update op).
        output_alternatives: name -> (problem type, name -> tensor), for serving.
        training_chief_hooks: Hooks of the chief when it trains.
        training_hooks: Those of every worker.
        scaffold: A ``tf.train.Scaffold``.

    Raises:
        ValueError: Something that ``mode`` needs is missing.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        if loss is not None:
            loss = tf.convert_to_tensor(loss)
            if loss.shape.num_elements() not in (None, 1):
                raise ValueError(f"Loss must be scalar, given: {loss}")
            loss = loss if loss.shape.rank == 0 else tf.reshape(loss, [])
        if isinstance(predictions, dict):
            predictions = {key: _tensor(value) for key, value in predictions.items()}
        elif predictions is not None:
            predictions = _tensor(predictions)
        return super().__new__(
            cls,
            predictions={} if predictions is None else predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=dict(eval_metric_ops or {}),
            output_alternatives=output_alternatives,
            training_chief_hooks=list(training_chief_hooks or ()),
            training_hooks=list(training_hooks or ()),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: str | None = None) -> EstimatorSpec:
        """The ``tf.estimator.EstimatorSpec`` of this model."""
        alternatives = self.output_alternatives or {}
        outputs = None
        if alternatives:
            default = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
            chosen = default_serving_output_alternative_key
            if chosen not in alternatives and len(alternatives) > 1:
                raise ValueError(f"default_serving_output_alternative_key must be one of {list(alternatives)}")
            outputs = {str(key): PredictOutput(tensors) for key, (_, tensors) in alternatives.items() if key}
            outputs[default] = PredictOutput(
                (alternatives[chosen] if chosen in alternatives else next(iter(alternatives.values())))[1]
            )
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops={name: op for name, op in self.eval_metric_ops.items() if name != "loss"},
            export_outputs=outputs,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _tensor(value: Any) -> Any:
    return value if isinstance(value, tf.SparseTensor) else tf.convert_to_tensor(value)
