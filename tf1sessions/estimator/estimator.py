"""The Estimator: a model that is trained, evaluated, used and exported.

Data flow: each call builds its own graph: ``input_fn`` -> (features, labels) -> ``model_fn`` -> ``EstimatorSpec``, and
runs that in a monitored session. What passes from call to call is in ``model_dir``: checkpoints, and event files.

    train      _train_model -> _train_with_spec          tf.train.MonitoredTrainingSession
    evaluate   _evaluate_build_graph -> _evaluate_run    evaluation.Evaluation
    predict    a tf.train.MonitoredSession in a generator
    export     saved_models.py

A subclass that does more than pass a ``model_fn`` (as TPUEstimator) overrides
``_assert_members_are_not_overridden``, and then what it needs of: ``_call_input_fn``, ``_call_model_fn``,
``_create_global_step``, ``_convert_train_steps_to_hooks``, ``_convert_eval_steps_to_hooks``,
``_add_meta_graph_for_mode``.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf
from . import saved_models
from .distributed import Replicas, checked_strategy
from .evaluation import Evaluation, StopAfterNEvalsHook, write_checkpoint_path, write_dict_to_summary
from .given import check_positive, checked_hooks, checked_listeners, complete_config, verify_model_fn_args
from .model_fn import LOSS_METRIC_KEY, EstimatorSpec, ModeKeys
from .predictions import chosen_predictions, examples_of
from .run_config import RunConfig
from .util import function_args, is_metric, log, parse_input_fn_result
from .warm_start import settings_of

__all__ = ["Estimator"]

InputFn = Callable[..., Any]
_MAY_OVERRIDE = {"_assert_members_are_not_overridden", "_create_and_assert_global_step", "_create_global_step"}


class Estimator:
    """Trains, evaluates and uses a model.

    Its methods are not to be overridden; a subclass passes another ``model_fn``. Attention: this is **not**
    thread-safe, but several Estimators may run in threads of their own.

    Args:
        model_fn: A function of ``features``, and of those of ``labels``, ``mode``, ``params`` and ``config`` that it
            needs, that returns an :class:`EstimatorSpec`.
        model_dir: Where checkpoints and summaries go; without it that of ``config``, or a temporary folder.
        config: A :class:`RunConfig`.
        params: What ``model_fn`` and input functions get as ``params``.
        warm_start_from: A checkpoint, a SavedModel, or a ``WarmStartSettings``, whose values training starts with.

    Raises:
        ValueError: ``model_fn`` takes other arguments; a subclass overrides a method; or arguments contradict.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        self._assert_members_are_not_overridden()
        self._config = complete_config(config, os.fspath(model_dir) if model_dir else None)
        self._model_dir: str = self._config.model_dir or ""
        self._session_config = self._config.session_config
        log.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or _replica_device_fn(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params: Any = copy.deepcopy(params or {})
        self._warm_start_settings = settings_of(warm_start_from)

    @property
    def model_dir(self) -> str:
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """``model_fn`` with ``params`` bound: a function of features, labels, mode and config."""

        def public_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # ----------------------------------------------------------------------------------------------- checkpoints

    def get_variable_value(self, name: str) -> Any:
        """The value of the variable ``name`` in the latest checkpoint.

        Raises:
            ValueError: There is no checkpoint yet.
        """
        self._check_trained()
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint.

        Raises:
            ValueError: There is no checkpoint yet.
        """
        self._check_trained()
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint in ``model_dir``; None if there is none."""
        found: str | None = tf.train.latest_checkpoint(self.model_dir)
        return found

    def _warm_start_checkpoint(self) -> str | None:
        """The path of the checkpoint that training starts with; None if there is none."""
        if not self._warm_start_settings:
            return None
        path: str = self._warm_start_settings.ckpt_to_initialize_from
        return tf.train.latest_checkpoint(path) if tf.io.gfile.isdir(path) else path

    def _check_trained(self) -> None:
        if not self.latest_checkpoint():
            raise ValueError(f"Could not find trained model in model_dir: {self._model_dir}.")

    def eval_dir(self, name: str | None = None) -> str:
        """Return the folder of the summaries of this name's evaluations."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # -------------------------------------------------------------------------------------------------- training

    def train(
        self,
        input_fn: InputFn,
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains from the latest checkpoint on, and saves one at the end.

        Args:
            input_fn: Returns a dataset of (features, labels), or these as tensors or dicts of tensors.
            hooks: ``SessionRunHook`` objects.
            steps: How many steps to train; None trains until the input ends.
            max_steps: The global step to train to.
            saving_listeners: ``CheckpointSaverListener`` objects.

        Returns:
            This estimator.

        Raises:
            ValueError: Both of ``steps`` and ``max_steps`` are given, or one is not positive.
            TypeError: Something in ``hooks`` or ``saving_listeners`` is of another kind.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_positive("steps", steps)
        check_positive("max_steps", max_steps)
        if max_steps is not None and _saved_step(self._model_dir) >= max_steps:
            log.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = checked_hooks(hooks)
        all_hooks.extend(self._convert_train_steps_to_hooks(steps, max_steps))
        loss = self._train_model(input_fn, all_hooks, checked_listeners(saving_listeners))
        log.info("Loss for final step: %s.", loss)
        return self

    def _convert_train_steps_to_hooks(self, steps: int | None, max_steps: int | None) -> list[Any]:
        if steps is None and max_steps is None:
            return []
        return [tf.train.StopAtStepHook(steps, max_steps)]

    def _train_model(self, input_fn: InputFn, hooks: list[Any], saving_listeners: list[Any]) -> Any:
        strategy = checked_strategy(self._config.train_distribute, "train_distribute")
        if strategy:
            return self._train_distributed(strategy, input_fn, hooks, saving_listeners)
        # Evaluation, prediction and export are this process's own, without the parameter servers.
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            step = self._create_and_assert_global_step(graph)
            # The step that hooks read is made before the model.
            private.training_util._get_or_create_global_step_read(graph)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return self._train_with_spec(spec, [*input_hooks, *hooks], step, saving_listeners)

    def _train_distributed(self, strategy: Any, input_fn: InputFn, hooks: list[Any], listeners: list[Any]) -> Any:
        with tf.Graph().as_default() as graph, strategy.scope(), strategy._scale_loss_for_estimator_enabled():
            tf.set_random_seed(self._config.tf_random_seed)
            step = self._create_and_assert_global_step(graph)
            private.training_util._get_or_create_global_step_read(graph)
            replicas = self._call_model_fn_on_replicas(strategy, input_fn, ModeKeys.TRAIN)
            return self._train_with_spec(replicas.spec(), [replicas.input_hook, *hooks], step, listeners)

    def _call_model_fn_on_replicas(self, strategy: Any, input_fn: InputFn, mode: str, *metrics_of: Any) -> Replicas:
        def call_input_fn(context: Any) -> Any:
            takes = "input_context" in function_args(input_fn)
            return self._call_input_fn(partial(input_fn, input_context=context) if takes else input_fn, mode)

        return Replicas(
            strategy,
            call_input_fn,
            lambda features, labels: self._call_model_fn(features, labels, mode, self.config),
            *metrics_of,
        )

    def _train_with_spec(self, spec: EstimatorSpec, hooks: list[Any], step: Any, listeners: list[Any]) -> Any:
        if self._warm_start_settings:
            log.info("Warm-starting with WarmStartSettings: %s", repr(self._warm_start_settings))
            tf.train.warm_start(*self._warm_start_settings)
        if not any(_name(summary) == "loss" for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)):
            tf.summary.scalar("loss", spec.loss)
        tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
        hooks = [*hooks, tf.train.NanTensorHook(spec.loss)]
        config = self._config
        if config.log_step_count_steps is not None:
            shown = {"loss": spec.loss, "step": step}
            hooks.append(tf.train.LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
        hooks.extend(spec.training_hooks)
        self._add_saver(spec.scaffold)
        chief_hooks = self._saver_hooks(spec, hooks, listeners)
        loss = None
        with tf.train.MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief,
            checkpoint_dir=self._model_dir,
            scaffold=spec.scaffold,
            hooks=hooks,
            chief_only_hooks=[*chief_hooks, *spec.training_chief_hooks],
            save_checkpoint_secs=0,  # the saver hook does that
            save_summaries_steps=config.save_summary_steps,
            config=self._session_config,
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=config.log_step_count_steps,
        ) as session:
            # The session ends with the input, in the middle of a run.
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
        return loss

    def _add_saver(self, scaffold: Any) -> None:
        if scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS):
            return
        saver = tf.train.Saver(
            sharded=True,
            max_to_keep=self._config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)

    def _saver_hooks(self, spec: EstimatorSpec, hooks: list[Any], listeners: list[Any]) -> list[Any]:
        """The hooks that save checkpoints beyond those that were given, and lets ``listeners`` listen to one."""
        given = [*hooks, *spec.training_chief_hooks]
        savers = [hook for hook in given if isinstance(hook, tf.train.CheckpointSaverHook)]
        new = []
        if not savers and (self._config.save_checkpoints_secs or self._config.save_checkpoints_steps):
            new = savers = [
                tf.train.CheckpointSaverHook(
                    self._model_dir,
                    save_secs=self._config.save_checkpoints_secs,
                    save_steps=self._config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                )
            ]
        if listeners:
            if not savers:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            savers[0]._listeners = [*savers[0]._listeners, *listeners]
        return new

    # ------------------------------------------------------------------------------------------------ evaluation

    def evaluate(
        self,
        input_fn: InputFn,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates the model, and writes what came out to the event files of :meth:`eval_dir`.

        Args:
            input_fn: As for :meth:`train`.
            steps: How many batches; None goes on until the input ends.
            hooks: ``SessionRunHook`` objects.
            checkpoint_path: The checkpoint; None takes the latest, or initializes if there is none.
            name: Of this evaluation, if there are several.

        Returns:
            The metrics of ``model_fn`` by name, "loss", and "global_step".

        Raises:
            ValueError: ``steps`` is not positive, or a metric has a name that is taken.
        """
        all_hooks = checked_hooks(hooks)
        all_hooks.extend(self._convert_eval_steps_to_hooks(steps))
        if not checkpoint_path:
            checkpoint_path = self.latest_checkpoint()
            if not checkpoint_path:
                log.info(
                    "Could not find trained model in model_dir: %s, running initialization to evaluate.",
                    self._model_dir,
                )
        strategy = checked_strategy(self._config.eval_distribute, "eval_distribute")
        scope = (
            strategy.scope if strategy else contextlib.nullcontext
        )  # of the graph that is the default when it is made
        with tf.Graph().as_default(), scope():
            scaffold, update_op, eval_dict, all_hooks = self._evaluate_build_graph(input_fn, all_hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, scaffold, update_op, eval_dict, all_hooks, self.eval_dir(name))

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[Any]:
        if steps is None:
            return []
        check_positive("steps", steps)
        return [StopAfterNEvalsHook(num_evals=steps)]

    def _evaluate_build_graph(
        self, input_fn: InputFn, hooks: list[Any], checkpoint_path: str | None = None
    ) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        """Builds the graph of an evaluation: (scaffold, update op, value by metric, all hooks)."""
        tf.set_random_seed(self._config.tf_random_seed)
        step = self._create_and_assert_global_step(tf.get_default_graph())
        strategy = checked_strategy(self._config.eval_distribute, "eval_distribute")
        if strategy:
            replicas = self._call_model_fn_on_replicas(strategy, input_fn, ModeKeys.EVAL, _metrics_with_loss)
            spec, input_hooks = replicas.spec(), [replicas.input_hook]
        else:
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        if self._warm_start_settings and not checkpoint_path:
            log.info("Warm-starting with WarmStartSettings: %s", repr(self._warm_start_settings))
            tf.train.warm_start(*self._warm_start_settings)
        update_op, eval_dict = replicas.metrics() if strategy else _metric_ops(_metrics_with_loss(spec))
        eval_dict[tf.GraphKeys.GLOBAL_STEP] = step
        return spec.scaffold, update_op, eval_dict, [*input_hooks, *hooks, *spec.evaluation_hooks]

    def _evaluate_run(
        self,
        checkpoint_path: str | None,
        scaffold: Any,
        update_op: Any,
        eval_dict: dict[str, Any],
        all_hooks: list[Any],
        output_dir: str,
    ) -> dict[str, Any]:
        """Runs what :meth:`_evaluate_build_graph` built, and writes the summaries."""
        evaluation = Evaluation(update_op, eval_dict, all_hooks)
        results = evaluation.run(checkpoint_path, scaffold, self._config.evaluation_master, self._session_config)
        step = results[tf.GraphKeys.GLOBAL_STEP]
        write_dict_to_summary(output_dir, results, step)
        if checkpoint_path:
            write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

    # ----------------------------------------------------------------------------------------------- predictions

    def predict(
        self,
        input_fn: InputFn,
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for each example; nothing is built before the first is asked for.

        Args:
            input_fn: Returns a dataset of features or of (features, anything), or these as tensors.
            predict_keys: Which predictions; None means all.
            hooks: ``SessionRunHook`` objects.
            checkpoint_path: The checkpoint; None takes the latest, or initializes if there is none.
            yield_single_examples: Whether batches are taken apart.

        Yields:
            A dict of arrays if the predictions are a dict, else an array.

        Raises:
            ValueError: There is none of ``predict_keys``, or batches have several sizes.
        """
        all_hooks = checked_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = self.latest_checkpoint()
            if not checkpoint_path:
                log.info(
                    "Could not find trained model in model_dir: %s, running initialization to predict.",
                    self._model_dir,
                )
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            if self._warm_start_settings and not checkpoint_path:
                log.info("Warm-starting with WarmStartSettings: %s", repr(self._warm_start_settings))
                tf.train.warm_start(*self._warm_start_settings)
            predictions = chosen_predictions(spec.predictions, predict_keys)
            creator = tf.train.ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            all_hooks = [*input_hooks, *all_hooks, *spec.prediction_hooks]
            with tf.train.MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    values = session.run(predictions)
                    if yield_single_examples:
                        yield from examples_of(values)
                    else:
                        yield values

    # ---------------------------------------------------------------------------------------------------- export

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """:meth:`export_saved_model` of before 1.13, for predictions.

        Args:
            export_dir_base: See there, as for the others.
            serving_input_receiver_fn: See there.
            assets_extra: See there.
            as_text: See there.
            checkpoint_path: See there.
            strip_default_attrs: Whether attributes of ops that have their defaults are left out.
        """
        return self._export_all_saved_models(
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs,
        )

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model as a SavedModel to a new folder, whose name is the time, in ``export_dir_base``.

        Args:
            export_dir_base: Where.
            serving_input_receiver_fn: Returns a ``ServingInputReceiver``.
            assets_extra: Path below the folder assets.extra -> file to copy there.
            as_text: Whether the SavedModel is written as text.
            checkpoint_path: The checkpoint; None takes the latest.
            experimental_mode: What the model is built for.

        Returns:
            The folder's path.

        Raises:
            ValueError: There is no checkpoint, or no receiver.
        """
        return self._export_all_saved_models(
            export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """:meth:`export_saved_model` with a graph for each mode.

        Args:
            export_dir_base: See there.
            input_receiver_fn_map: mode -> function that returns its receiver.
            assets_extra: See there.
            as_text: See there.
            checkpoint_path: See there.
        """
        return self._export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    def _export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Any],
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        checkpoint_path: str | None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        if None in input_receiver_fn_map.values():
            raise ValueError("An input_receiver_fn must be defined.")
        if not checkpoint_path:
            checkpoint_path = self.latest_checkpoint() or self._warm_start_checkpoint()
        if not checkpoint_path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        with saved_models.new_folder(export_dir_base, assets_extra, as_text) as (folder, builder):
            # The first mode saves the variables: training has the most of them.
            save_variables = True
            for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
                if mode in input_receiver_fn_map:
                    self._add_meta_graph_for_mode(
                        builder,
                        input_receiver_fn_map,
                        checkpoint_path,
                        save_variables,
                        mode,
                        strip_default_attrs=strip_default_attrs,
                    )
                    save_variables = False
            if save_variables:
                raise ValueError(f"No valid modes for exporting found. Got {list(input_receiver_fn_map)}.")
        return folder

    def _add_meta_graph_for_mode(
        self,
        builder: Any,
        input_receiver_fn_map: Mapping[str, Any],
        checkpoint_path: str,
        save_variables: bool = True,
        mode: str = ModeKeys.PREDICT,
        export_tags: Sequence[str] | None = None,
        check_variables: bool = True,
        strip_default_attrs: bool = True,
    ) -> None:
        """Builds the model for ``mode`` and adds it to the SavedModel."""
        with tf.Graph().as_default() as graph:
            self._create_and_assert_global_step(graph)
            tf.set_random_seed(self._config.tf_random_seed)
            receiver = input_receiver_fn_map[mode]()
            spec = self._call_model_fn(receiver.features, getattr(receiver, "labels", None), mode, self.config)
            saved_models.add_meta_graph(
                builder,
                spec,
                receiver,
                checkpoint_path,
                export_tags=export_tags,
                save_variables=save_variables,
                check_variables=check_variables,
                strip_default_attrs=strip_default_attrs,
                session_config=self._session_config,
            )

    # ----------------------------------------------------------------------------------------- the user's functions

    def _get_features_from_input_fn(self, input_fn: InputFn, mode: str) -> tuple[Any, list[Any]]:
        """The features of a prediction and their hooks."""
        features, _, hooks = parse_input_fn_result(self._call_input_fn(input_fn, mode))
        self._validate_features_in_predict_input(hooks)
        return features, hooks

    def _validate_features_in_predict_input(self, hooks: list[Any]) -> None:
        if not hooks and not tf.get_default_graph().get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            log.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
                "This is probably a mistake."
            )

    def _get_features_and_labels_from_input_fn(self, input_fn: InputFn, mode: str) -> tuple[Any, Any, list[Any]]:
        """Features, labels (or None) and their hooks."""
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _call_input_fn(self, input_fn: InputFn, mode: str) -> Any:
        """Calls ``input_fn`` on the CPU with those of ``mode``, ``params`` and ``config`` that it takes."""
        given = {"mode": mode, "params": self.params, "config": self.config}
        takes = function_args(input_fn)
        with tf.device("/cpu:0"):
            return input_fn(**{name: value for name, value in given.items() if name in takes})

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        """Calls ``model_fn`` with those of the arguments that it takes."""
        takes = function_args(self._model_fn)
        given: dict[str, Any] = {}
        if "labels" in takes:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        for name, value in (("mode", mode), ("params", self.params), ("config", config)):
            if name in takes:
                given[name] = value
        log.info("Calling model_fn.")
        spec = self._model_fn(features=features, **given)
        log.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _create_global_step(self, graph: Any) -> Any:
        return tf.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        step = self._create_global_step(graph)
        if step is not tf.train.get_global_step(graph):
            raise ValueError("_create_global_step() must return the graph's global step.")
        if not step.dtype.base_dtype.is_integer:
            raise ValueError("The global step must be an integer.")
        return step

    def _assert_members_are_not_overridden(self) -> None:
        """Raises a ValueError if a subclass overrides anything; one that knows what it does overrides this."""
        own = {name for name in vars(Estimator) if not name.startswith("__")} - _MAY_OVERRIDE
        overridden = sorted(name for name in own if getattr(type(self), name) is not vars(Estimator)[name])
        if overridden:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {type(self)} does override {overridden}"
            )


def _replica_device_fn(config: RunConfig) -> Any:
    """Return the device of an op where there are parameter servers; None elsewhere."""
    if config.num_ps_replicas <= 0:
        return None
    return tf.train.replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        merge_devices=True,
        cluster=config.cluster_spec,
    )


def _saved_step(model_dir: str) -> int:
    """The global step of the latest checkpoint; 0 without one."""
    path = tf.train.latest_checkpoint(model_dir)
    if path is None:
        return 0
    return int(tf.train.NewCheckpointReader(path).get_tensor(tf.GraphKeys.GLOBAL_STEP))


def _name(summary: Any) -> str:
    return str(summary.op.name)


def _metrics_with_loss(spec: EstimatorSpec) -> dict[str, tuple[Any, Any]]:
    """The value and the update of each metric of an evaluation, and of the mean of its loss, by name."""
    if LOSS_METRIC_KEY in spec.eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already defines a default '
            "metric with the same name."
        )
    metrics = {**spec.eval_metric_ops, LOSS_METRIC_KEY: tf.metrics.mean(spec.loss)}
    if tf.GraphKeys.GLOBAL_STEP in metrics:
        raise ValueError(
            "Metric with name `global_step` is not allowed, because Estimator already defines a default metric "
            "with the same name."
        )
    return {
        name: (metric.result(), metric.updates[0]) if is_metric(metric) else metric
        for name, metric in sorted(metrics.items())
    }


def _metric_ops(metrics: dict[str, tuple[Any, Any]]) -> tuple[Any, dict[str, Any]]:
    """One op that updates all metrics, and their values by name."""
    updates = [update for _, update in metrics.values()]
    return tf.group(*updates) if updates else None, {name: value for name, (value, _) in metrics.items()}
