"""The Estimator of ``contrib.learn``: fit, evaluate and predict, from arrays or from an ``input_fn``.

Data flow: each call makes a ``tf.estimator.Estimator`` of the same folder, whose ``model_fn`` calls this one's and
turns its :class:`ModelFnOps` into what that expects; arrays become an ``input_fn`` (data_feeder.py), monitors become
hooks (monitors.py).
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...estimator.estimator import Estimator as _CoreEstimator
from ...estimator.export import ServingInputReceiver
from ...estimator.model_fn import EstimatorSpec
from ...estimator.run_config import RunConfig as _CoreRunConfig
from ...estimator.util import function_args, log
from ...runtime import tf1 as tf
from .. import layers
from .data_feeder import input_fn_of
from .metric_spec import MetricSpec
from .model_fn import ModeKeys, ModelFnOps
from .monitors import replace_monitors_with_hooks
from .run_config import RunConfig

__all__ = [
    "BaseEstimator",
    "Estimator",
    "NotFittedError",
    "SKCompat",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
]

_LOSS = "_loss_of_the_model"  # a metric named "loss" is not allowed there


class NotFittedError(ValueError, AttributeError):
    """An estimator is used before it was fit."""


class BaseEstimator:
    """The base of all estimators of ``contrib.learn``. Not thread-safe.

    Args:
        model_dir: Where checkpoints and summaries go; without it that of ``config``, or a temporary folder.
        config: A ``RunConfig``.
    """

    def __init__(self, model_dir: Any = None, config: Any = None) -> None:
        config = RunConfig() if config is None else copy.deepcopy(config)
        if not isinstance(config, _CoreRunConfig):
            raise ValueError(f"config must be an instance of RunConfig, but provided {config}.")
        folder = os.fspath(model_dir) if model_dir is not None else config.model_dir
        if model_dir is not None and config.model_dir is not None and config.model_dir != folder:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. In constructor: "
                f"'{folder}', in RunConfig: '{config.model_dir}' "
            )
        if folder is None:
            folder = tempfile.mkdtemp()
            log.warning("Using temporary folder as model directory: %s", folder)
        session_config = config.session_config or getattr(config, "tf_config", None)
        self._config: Any = config.replace(model_dir=folder, session_config=session_config)
        self._model_dir: str = folder
        self._labels_info: Any = None  # of fit and evaluate: predictions have placeholders for labels
        self._input_has_queues = False  # of the latest predictions

    @property
    def config(self) -> Any:
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> str:
        return self._model_dir

    @property
    def model_fn(self) -> Callable[..., Any]:
        """A function of features, labels, mode and config that returns :class:`ModelFnOps`."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # ------------------------------------------------------------------------------------- fit, evaluate, predict

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains from the latest checkpoint on.

        Args:
            x: Features: an array [N, ...] or a dict of them; in another order each epoch.
            y: Labels: an array [N, ...] or a dict of them.
            input_fn: Returns (features, labels), in place of arrays.
            steps: How many steps; None trains until the input ends, which that of arrays does not.
            batch_size: The size of a batch of arrays; all of them without it.
            monitors: Monitors and ``SessionRunHook`` objects.
            max_steps: The global step to train to.

        Returns:
            This estimator.

        Raises:
            ValueError: Arguments contradict.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        input_fn = _input_fn(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = replace_monitors_with_hooks(monitors, self)
        self._core().train(input_fn, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> Any:
        """:meth:`fit`, of one step unless set otherwise."""
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
            x: Features; see :meth:`fit`. Once, in their order.
            y: Labels.
            input_fn: Returns (features, labels), in place of arrays.
            feed_fn: Returns what is fed at each step.
            batch_size: The size of a batch of arrays; all of them without it.
            steps: How many batches; None goes on until the input ends.
            metrics: name, or (name, prediction's key) -> ``MetricSpec`` or function of predictions and labels.
            name: Of this evaluation, if there are several.
            checkpoint_path: The checkpoint; None takes the latest.
            hooks: ``SessionRunHook`` objects.
            log_progress: Of no effect.

        Returns:
            The metrics by name, "loss", and "global_step".

        Raises:
            NotFittedError: There is no checkpoint.
        """
        del log_progress
        input_fn = _input_fn(x, y, input_fn, batch_size, shuffle=False, epochs=1)
        all_hooks = [*(hooks or ()), *([tf.train.FeedFnHook(feed_fn)] if feed_fn else [])]
        self._check_fitted(checkpoint_path)
        found = self._core(metrics=metrics).evaluate(input_fn, steps, all_hooks, checkpoint_path, name)
        if _LOSS in found:
            found["loss"] = found.pop(_LOSS)
        return found

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions.

        Args:
            x: Features; see :meth:`fit`. Once, in their order.
            input_fn: Returns features, or (features, labels), in place of arrays.
            batch_size: The size of a batch of arrays; all of them without it.
            outputs: Names of predictions; None for all.
            as_iterable: Whether an iterator is returned; otherwise the predictions of all arrays, or of the first batch
                of ``input_fn``. The iterator ends after the first batch, too, if ``input_fn`` has no queue.
            iterate_batches: Whether the iterator is one of batches.

        Raises:
            NotFittedError: There is no checkpoint.
        """
        from_arrays = x is not None
        input_fn = _input_fn(x, None, input_fn, batch_size, shuffle=False, epochs=1)
        self._check_fitted(None)
        core = self._core(outputs=outputs)
        if as_iterable:
            return self._iterate(core, input_fn, iterate_batches, from_arrays)
        batches = core.predict(input_fn, yield_single_examples=False)
        if not from_arrays:
            first = next(batches)
            batches.close()  # type: ignore[attr-defined]
            return first
        return _joined(list(batches))

    def _iterate(
        self, core: _CoreEstimator, input_fn: Callable[[], Any], iterate_batches: bool, from_arrays: bool
    ) -> Iterator[Any]:
        """Yields predictions: of all batches of arrays and queues, and of the first one of anything else.

        Without a queue an input is a constant to 1.15.5, which would yield the same for ever.
        """
        for batch in core.predict(input_fn, yield_single_examples=False):
            if iterate_batches:
                yield batch
            elif isinstance(batch, dict):
                for i in range(min(len(value) for value in batch.values())):
                    yield {key: value[i] for key, value in batch.items()}
            else:
                yield from batch
            if not from_arrays and not self._input_has_queues:
                return

    # ------------------------------------------------------------------------------------------------- variables

    def get_variable_value(self, name: str) -> Any:
        """The value of the variable ``name`` in the latest checkpoint."""
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint."""
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def _check_fitted(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path and not tf.train.latest_checkpoint(self._model_dir):
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")

    # ------------------------------------------------------------------------------------------------- the model

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any = None) -> ModelFnOps:
        """The model, in the default graph."""
        raise NotImplementedError(f"{type(self).__name__} has no model")

    def _core(self, metrics: Mapping[Any, Any] | None = None, outputs: Sequence[str] | None = None) -> _CoreEstimator:
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            if mode == ModeKeys.INFER:
                labels = _placeholders(self._labels_info)
                self._input_has_queues = bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
            else:
                self._labels_info = _info(labels)
            ops = self._call_model_fn(features, labels, mode, config)
            predictions = None
            metric_ops: dict[str, Any] = {}
            if mode == ModeKeys.INFER:
                predictions = _chosen(ops.predictions, outputs)
            elif mode == ModeKeys.EVAL:
                metric_ops = {**ops.eval_metric_ops, **_metric_ops(metrics, features, labels, ops.predictions)}
                if "loss" in metric_ops:
                    metric_ops[_LOSS] = metric_ops.pop("loss")
            return EstimatorSpec(
                mode=mode,
                predictions=predictions,
                loss=ops.loss,
                train_op=ops.train_op,
                eval_metric_ops=metric_ops,
                training_chief_hooks=ops.training_chief_hooks,
                training_hooks=ops.training_hooks,
                scaffold=ops.scaffold,
            )

        return _CoreEstimator(model_fn, config=self._config)


class Estimator(BaseEstimator):
    """Trains, evaluates and uses the model of a function.

    Args:
        model_fn: A function of features and labels, and of those of ``mode``, ``params``, ``config`` and ``model_dir``
            that it takes, that returns :class:`ModelFnOps` or (predictions, loss, train_op).
        model_dir: Where checkpoints and summaries go.
        config: A ``RunConfig``.
        params: What ``model_fn`` gets as ``params``.
        feature_engineering_fn: A function of (features, labels) that returns others for ``model_fn``.

    Raises:
        ValueError: ``params`` are given to a ``model_fn`` that takes none.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
    ) -> None:
        super().__init__(model_dir, config)
        if model_fn is not None:
            takes = function_args(model_fn)
            if params is not None and "params" not in takes:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were "
                    "passed to the Estimator's constructor."
                )
            if params is None and "params" in takes:
                log.warning(
                    "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
                    model_fn,
                )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or (lambda features, labels: (features, labels))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(params={self.params})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn asks for them."""
        del deep
        return {"params": self.params}

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any = None) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        if self._model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        given = {"mode": mode, "params": self.params, "config": config or self.config, "model_dir": self.model_dir}
        takes = function_args(self._model_fn)
        found = self._model_fn(features, labels, **{name: value for name, value in given.items() if name in takes})
        if isinstance(found, ModelFnOps):
            return found
        if not isinstance(found, tuple) or len(found) != 3:
            raise ValueError(
                f"Unrecognized value returned by model_fn, please return ModelFnOps or (predictions, loss, train_op); "
                f"it returned {found!r}"
            )
        predictions, loss, train_op = found
        return ModelFnOps(mode, predictions=predictions, loss=loss, train_op=train_op)

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes the model as a SavedModel to a new folder in ``export_dir_base``.

        Args:
            export_dir_base: Where.
            serving_input_fn: Returns :class:`InputFnOps` or a ``ServingInputReceiver``.
            default_output_alternative_key: Which of the model's alternatives is the default signature.
            assets_extra: Path below the folder assets.extra -> file to copy there.
            as_text: Whether the SavedModel is written as text.
            checkpoint_path: The checkpoint; None takes the latest.
            strip_default_attrs: Whether attributes of operations with their default values are left out.

        Returns:
            The folder's path.
        """
        self._check_fitted(checkpoint_path)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            del labels
            ops = self._call_model_fn(features, None, mode, config)
            return ops.estimator_spec(default_output_alternative_key)

        def receiver_fn() -> Any:
            found = serving_input_fn()
            if hasattr(found, "receiver_tensors"):
                return found
            return ServingInputReceiver(found.features, found.default_inputs)

        return _CoreEstimator(model_fn, config=self._config).export_savedmodel(
            export_dir_base, receiver_fn, assets_extra, as_text, checkpoint_path, strip_default_attrs
        )


class SKCompat:
    """An estimator with the arguments that scikit-learn's have.

    Args:
        estimator: An estimator of ``contrib.learn``.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def __repr__(self) -> str:
        return "SKCompat()"

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> SKCompat:
        """Trains with arrays; see :meth:`BaseEstimator.fit`."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
    ) -> dict[str, Any] | None:
        """The metrics for arrays; see :meth:`BaseEstimator.evaluate`."""
        found: dict[str, Any] = self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name="score" if name is None else name
        )
        return found

    def predict(self, x: Any, batch_size: int = 128, outputs: Sequence[str] | None = None) -> Any:
        """The predictions for an array, as an array or a dict of them.

        Of a classifier or regressor, too, it is all of them: not its own ``predict()``, which gives one.
        """
        return BaseEstimator.predict(self._estimator, x, None, batch_size, outputs, as_iterable=False)


def _input_fn(
    x: Any, y: Any, input_fn: Callable[[], Any] | None, batch_size: int | None, shuffle: bool, epochs: int | None
) -> Callable[[], Any]:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    return input_fn_of(x, y, batch_size, shuffle, epochs)


def _info(labels: Any) -> Any:
    """Types and shapes of labels; None for what has none."""
    if labels is None:
        return None
    if isinstance(labels, dict):
        return {key: _info(value) for key, value in labels.items()}
    if isinstance(labels, tf.Tensor):
        shape = labels.shape
        return labels.dtype, tf.TensorShape([None, *shape[1:]]) if shape.rank else shape
    return None


def _placeholders(info: Any) -> Any:
    if isinstance(info, dict):
        return {key: _placeholders(value) for key, value in info.items()}
    return None if info is None else tf.placeholder(*info)


def _chosen(predictions: Any, outputs: Sequence[str] | None) -> Any:
    if not isinstance(predictions, dict) or outputs is None:
        return predictions
    chosen = {key: value for key, value in predictions.items() if key in outputs}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {list(predictions)}, provided {list(outputs)}.")
    return chosen


def _joined(batches: list[Any]) -> Any:
    if isinstance(batches[0], dict):
        return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    return np.concatenate(batches)


def _metric_ops(metrics: Mapping[Any, Any] | None, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """The operations of the metrics that an evaluation was given."""
    found: dict[str, Any] = {}
    if isinstance(labels, dict) and len(labels) == 1:
        (labels,) = labels.values()
    for key, metric in (metrics or {}).items():
        if isinstance(metric, MetricSpec):
            found[key] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(key, tuple):
            if len(key) != 2:
                raise ValueError(f"Invalid metric for {key}. It returned a tuple with len {len(key)}, expected 2.")
            if not isinstance(predictions, dict):
                raise ValueError(
                    f"Metrics passed provide (name, prediction), but predictions are not dict. Metrics: {metrics}, "
                    f"Predictions: {predictions}."
                )
            name, prediction = key
            found[name] = metric(predictions[prediction], labels)
        else:
            if isinstance(predictions, dict):
                raise ValueError(
                    "Metrics passed provide only name, no prediction, but predictions are dict. "
                    f"Metrics: {metrics}, Labels: {labels}."
                )
            found[key] = metric(predictions, labels)
    return {name: op if isinstance(op, tuple) else (tf.convert_to_tensor(op), tf.no_op()) for name, op in found.items()}


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """A ``real_valued_column`` for each feature that ``input_fn`` returns; named "" if that is a tensor.

    Raises:
        ValueError: A feature is neither of whole nor of real numbers.
    """
    with tf.Graph().as_default():
        found = input_fn()
        return _columns(found[0] if isinstance(found, (tuple, list)) else found)


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A ``real_valued_column`` for each array of ``x``; named "" if that is an array.

    Raises:
        ValueError: An array is neither of whole nor of real numbers.
    """
    with tf.Graph().as_default():
        features = input_fn_of(x)()[0]
        return _columns(features)


def _columns(features: Any) -> list[Any]:
    named = features if isinstance(features, dict) else {"": features}
    columns = []
    for key, tensor in named.items():
        if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
            raise ValueError(
                "Non integer or non floating types are not supported for auto detection. Please define corresponding "
                f"FeatureColumn for tensor {key} {tensor}."
            )
        dimension = tensor.shape[1:].num_elements() if tensor.shape.rank else None
        columns.append(layers.real_valued_column(key, dimension=dimension or 1, dtype=tensor.dtype))
    return columns
