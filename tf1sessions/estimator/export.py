"""``tf.estimator.export``: what a served model gets, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..runtime import private
from ..runtime import tf1 as tf

__all__ = [
    "ClassificationOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    "build_raw_supervised_input_receiver_fn",
]

ClassificationOutput = private.export_output.ClassificationOutput
ExportOutput = private.export_output.ExportOutput
PredictOutput = private.export_output.PredictOutput
RegressionOutput = private.export_output.RegressionOutput

_FEATURE = "feature"
_LABEL = "label"
_RECEIVER = "input"


class _Serving(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


class _Supervised(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: Any


class ServingInputReceiver(_Serving):
    """The result of a ``serving_input_receiver_fn``.

    Args:
        features: A tensor, which the model gets as ``{"feature": tensor}``, or a dict of them.
        receiver_tensors: What is fed: a tensor or a dict of them.
        receiver_tensors_alternatives: name -> what can be fed instead, in a signature of its own.

    Raises:
        ValueError: A name or tensor is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        features = _wrapped(features, _FEATURE, "features", "feature", integers=True)
        return super().__new__(cls, features, *_receivers(receiver_tensors, receiver_tensors_alternatives))


class TensorServingInputReceiver(_Serving):
    """:class:`ServingInputReceiver` for a model whose ``features`` is one tensor."""

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        if not _is_tensor(features):
            raise ValueError("feature must be a Tensor or SparseTensor.")
        return super().__new__(cls, features, *_receivers(receiver_tensors, receiver_tensors_alternatives))


class SupervisedInputReceiver(_Supervised):
    """The result of an ``input_receiver_fn`` for training and evaluation.

    Args:
        features: A tensor or a dict of them.
        labels: A tensor or a dict of them.
        receiver_tensors: What is fed: a tensor or a dict of them.
    """

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        # Tensors stay tensors: model_fn gets what it gets in training.
        _wrapped(features, _FEATURE, "features", "feature", integers=True)
        _wrapped(labels, _LABEL, "labels", "label", integers=True)
        receiver_tensors = _wrapped(receiver_tensors, _RECEIVER, "receiver_tensors", "receiver tensor")
        return super().__new__(cls, features, labels, receiver_tensors)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor))


def _wrapped(value: Any, default: str, name: str, one: str, integers: bool = False) -> dict[Any, Any]:
    """``value`` as a dict, checked."""
    if value is None:
        raise ValueError(f"{name} must be defined.")
    found: dict[Any, Any] = value if isinstance(value, dict) else {default: value}
    for key, tensor in found.items():
        if not isinstance(key, (str, int) if integers else str):
            raise ValueError(f"{one} keys must be strings{' or ints' if integers else ''}: {key}.")
        if not _is_tensor(tensor):
            raise ValueError(f"{one} {key} must be a Tensor or SparseTensor.")
    return found


def _receivers(tensors: Any, alternatives: Any) -> tuple[Any, Any]:
    tensors = _wrapped(tensors, _RECEIVER, "receiver_tensors", "receiver_tensor")
    if alternatives is None:
        return tensors, None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    return tensors, {
        name: _wrapped(group, _RECEIVER, "receiver_tensors", "receiver_tensors_alternative")
        for name, group in alternatives.items()
    }


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A ``serving_input_receiver_fn`` that is fed ``tf.Example`` protos as strings.

    Args:
        feature_spec: name -> ``tf.FixedLenFeature`` or ``tf.VarLenFeature``.
        default_batch_size: How many examples are fed; None for any number.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def _placeholders(tensors: Any, default_batch_size: int | None, default_name: str = _FEATURE) -> Any:
    """Placeholders like ``tensors``, a tensor or a dict of them, whose first dimension is the batch."""

    def placeholder(tensor: Any, name: str) -> Any:
        # the tensors of a TensorFlow 2 program have no names
        name = tensor.op.name if isinstance(getattr(tensor, "graph", None), tf.Graph) else name
        return tf.placeholder(tensor.dtype, [default_batch_size, *tensor.shape.as_list()[1:]], name)

    if isinstance(tensors, dict):
        return {key: placeholder(tensor, str(key)) for key, tensor in tensors.items()}
    return placeholder(tensors, default_name)


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A ``serving_input_receiver_fn`` that is fed the features themselves.

    Args:
        features: name -> a tensor of the dtype and shape, of any graph.
        default_batch_size: How many examples are fed; None for any number.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        receivers = _placeholders(features, default_batch_size)
        return ServingInputReceiver(receivers, receivers)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """An ``input_receiver_fn`` for training and evaluation that is fed features and labels.

    Args:
        features: A tensor of the dtype and shape, or a dict of them.
        labels: The same of the labels.
        default_batch_size: How many examples are fed; None for any number.

    Raises:
        ValueError: Features and labels share a name.
    """
    overlap = set(features if isinstance(features, dict) else [_RECEIVER])
    overlap &= set(labels if isinstance(labels, dict) else [_LABEL])
    if overlap:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {overlap}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders(features, default_batch_size)
        fed_labels = _placeholders(labels, default_batch_size, _LABEL)
        receivers = {
            **(fed_features if isinstance(fed_features, dict) else {_RECEIVER: fed_features}),
            **(fed_labels if isinstance(fed_labels, dict) else {_LABEL: fed_labels}),
        }
        return SupervisedInputReceiver(fed_features, fed_labels, receivers)

    return supervised_input_receiver_fn
