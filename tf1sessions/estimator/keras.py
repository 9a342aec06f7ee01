"""An Estimator made of a Keras model: :func:`model_to_estimator`, which is ``tf.keras.estimator.model_to_estimator``.

Data flow: the model's weights go to the checkpoint ``keras/keras_model.ckpt`` of the Estimator's folder, once; each
graph of the Estimator gets a clone of the model, built on what the input function gave and compiled as the model was,
and starts from that checkpoint until there is one of its own.

The models are those of tf_keras (Keras 2). In a TensorFlow 2 program, tf_keras can no longer use the models and layers
that were there when an Estimator was made of one of them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf
from .estimator import Estimator
from .given import complete_config
from .model_fn import EstimatorSpec, ModeKeys
from .run_config import RunConfig
from .util import log

__all__ = ["model_to_estimator"]

_SIGNATURE = "serving_default"
_COMPILE_ARGUMENTS = ("loss", "metrics", "weighted_metrics", "loss_weights", "sample_weight_mode")
_NOT_COMPILED = (
    "The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling "
    "`model_to_estimator()`."
)


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str = "saver",
    **later: Any,
) -> Estimator:
    """An Estimator that trains, evaluates and exports a compiled Keras model.

    It starts with the model's trainable weights; as in TensorFlow 1.15, moving averages and what an optimizer
    remembers start anew. A model that was subclassed starts with new weights. Features and labels are by the names of
    the model's inputs and outputs, or in their order; with ``{"features": ..., "sample_weights": ...}`` as features,
    the examples' losses are weighted.

    Args:
        keras_model: The model, of tf_keras.
        keras_model_path: Where it was saved, if it is not given.
        custom_objects: name -> class or function, for layers that Keras does not know.
        model_dir: Where checkpoints and summaries go.
        config: A ``RunConfig``.
        checkpoint_format: "saver": checkpoints by variables' names.
        later: What tf_keras passes on, and TensorFlow 1.15 had not: nothing but None and False.

    Raises:
        ValueError: There is no model, or two; it is not compiled; or the format is another.
        TypeError: There is an argument that 1.15 had not.
    """
    unknown = [name for name, value in later.items() if value]
    if unknown:
        raise TypeError(f"model_to_estimator() got an unexpected keyword argument {unknown[0]!r}")
    if keras_model is None and keras_model_path is None:
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model is not None and keras_model_path is not None:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in ("saver", "checkpoint"):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}')
    if checkpoint_format == "checkpoint":
        raise ValueError('Checkpoints are by name here. Use model_to_estimator(..., checkpoint_format="saver").')
    config = complete_config(config, os.fspath(model_dir) if model_dir else None)
    if keras_model is None:
        log.info("Loading models from %s", keras_model_path)
        keras_model = _keras("saving.legacy.save").load_model(keras_model_path, custom_objects)
    else:
        log.info("Using the Keras model provided.")
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(_NOT_COMPILED)
    source = _Source(keras_model, custom_objects)
    start = None
    if source.is_graph:
        start = os.path.join(config.model_dir or "", "keras", "keras_model.ckpt")
        source.save(start, config.session_config)
    elif keras_model.built:
        log.warning(
            "The weights of a Keras model that is subclassed from `Model` are not carried over: the estimator starts "
            "with new ones. The model itself stays as it is."
        )
    return Estimator(source.model_fn, config=config, warm_start_from=start)


class _Source:
    """A compiled model that clones are made of.

    Args:
        model: The model.
        custom_objects: See :func:`model_to_estimator`.
    """

    def __init__(self, model: Any, custom_objects: Mapping[str, Any] | None) -> None:
        self._model = model
        self._custom_objects = dict(custom_objects or {})
        self.is_graph: bool = model._is_graph_network
        arguments = model._get_compile_args()
        self._arguments = {name: arguments[name] for name in _COMPILE_ARGUMENTS if arguments.get(name) is not None}
        self._make_optimizer = _optimizer_maker(model.optimizer)

    def save(self, path: str, session_config: Any) -> None:
        """Writes the model's weights as a checkpoint of a training graph."""
        values = self._model.get_weights()
        tf.io.gfile.makedirs(os.path.dirname(path))
        with tf.Graph().as_default(), self._clone(ModeKeys.TRAIN, tf.train.create_global_step(), None, None) as clone:
            clone._make_train_function()
            with tf.Session(config=session_config) as session:
                session.run(tf.global_variables_initializer())
                for variable, value in zip(clone.weights, values, strict=True):
                    session.run(variable.initializer, {variable.initializer.inputs[1]: value})
                tf.train.Saver().save(session, path)

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """Return what the Estimator builds."""
        features, sample_weights = _split_sample_weights(features)
        inputs = _in_order(features, getattr(self._model, "input_names", None), "features", "inputs")
        targets = _in_order(labels, getattr(self._model, "output_names", None), "labels", "outputs")
        _keras("backend").deprecated_internal_set_learning_phase(mode == ModeKeys.TRAIN)
        step = tf.train.get_global_step()
        with self._clone(mode, step, inputs, targets, sample_weights) as clone:
            predictions = dict(zip(clone.output_names, clone.outputs, strict=True))
            loss = train_op = metrics = None
            if mode == ModeKeys.TRAIN:
                clone._make_train_function()
                train_op = clone.train_function.updates_op
            elif mode == ModeKeys.EVAL:
                clone._make_test_function()
            if mode != ModeKeys.PREDICT:
                loss, metrics = clone.total_loss, {metric.name: metric for metric in clone.metrics}
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs={_SIGNATURE: private.export_output.PredictOutput(predictions)},
        )

    @contextlib.contextmanager
    def _clone(self, mode: str, step: Any, inputs: Any, targets: Any, sample_weights: Any = None) -> Iterator[Any]:
        """A clone in the default graph; a subclassed model without a configuration is its own clone meanwhile."""
        cloning = _keras("models.cloning")
        with _keras("utils").CustomObjectScope(self._custom_objects):
            clone = cloning.clone_and_build_model(
                self._model, input_tensors=inputs, compile_clone=False, in_place_reset=not self.is_graph
            )
            if mode != ModeKeys.PREDICT:
                arguments = {**self._arguments, **_fresh_metrics(self._arguments)}
                clone.compile(self._make_optimizer(step), target_tensors=targets, **arguments)
            if sample_weights is not None:
                clone._compile_weights_loss_and_weighted_metrics(sample_weights=sample_weights)
            try:
                yield clone
            finally:
                if clone is self._model:
                    cloning.in_place_subclassed_model_state_restoration(self._model)


def _keras(name: str) -> Any:
    return importlib.import_module(f"tf_keras.src.{name}")


def _optimizer_maker(optimizer: Any) -> Callable[[Any], Any]:
    """A function that makes the same optimizer anew; it counts the steps in the variable that it is given."""
    v1, optimizers = _keras("optimizers.optimizer_v1"), _keras("optimizers")
    if isinstance(optimizer, v1.TFOptimizer):
        return lambda step: v1.TFOptimizer(optimizer.optimizer, step)
    if isinstance(optimizer, tf.train.Optimizer):
        return lambda step: v1.TFOptimizer(optimizer, step)
    if isinstance(optimizer, optimizers.optimizer.Optimizer):
        optimizer = optimizers.convert_to_legacy_optimizer(optimizer)
    kind, config = type(optimizer), optimizer.get_config()

    def make(step: Any) -> Any:
        made = kind.from_config(config)
        made.iterations = step
        return made

    return make


def _fresh_metrics(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with metrics, each without the state of the original."""
    clone = _keras("metrics").base_metric.clone_metrics
    return {name: clone(arguments[name]) for name in ("metrics", "weighted_metrics") if name in arguments}


def _split_sample_weights(features: Any) -> tuple[Any, list[Any] | None]:
    if isinstance(features, dict) and features.keys() == {"features", "sample_weights"}:
        weights = features["sample_weights"]
        return features["features"], weights if isinstance(weights, list) else [weights]
    return features, None


def _in_order(given: Any, names: Sequence[str] | None, what: str, of_model: str) -> list[Any] | None:
    """``given`` in the order of the model's ``names``, which are None for a model that has none yet.

    Raises:
        KeyError: ``given`` is a dict with other names.
    """
    if given is None:
        return None
    if isinstance(given, dict):
        if not names:
            return list(given.values())
        if given.keys() != set(names):
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected {of_model} keys defined in the keras "
                f"model.\n\tExpected keys: {set(names)}\n\t{what} keys: {set(given)}\n\t"
                f"Difference: {given.keys() ^ set(names)}"
            )
        return [tf.convert_to_tensor(given[name]) for name in names]
    if isinstance(given, (list, tuple)):
        return [tf.convert_to_tensor(value) for value in given]
    return [tf.convert_to_tensor(given)]
