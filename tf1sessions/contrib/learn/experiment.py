"""Experiments: an estimator with the input functions and the numbers of steps to train and evaluate it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...estimator.estimator import Estimator as _CoreEstimator
from ...estimator.util import log
from ...runtime import tf1 as tf
from .estimator import NotFittedError
from .monitors import ValidationMonitor, replace_monitors_with_hooks

__all__ = ["Experiment"]


class Experiment:
    """Trains and evaluates an estimator of ``contrib.learn`` or of ``tf.estimator``. Not thread-safe.

    Args:
        estimator: The estimator.
        train_input_fn: Returns (features, labels) for training.
        eval_input_fn: Returns (features, labels) for evaluations.
        eval_metrics: Metrics in addition, of an estimator of ``contrib.learn``.
        train_steps: The global step to train to; None trains until the input ends.
        eval_steps: The batches of an evaluation; None goes on until the input ends.
        train_monitors: Monitors and hooks of the training.
        eval_hooks: Hooks of evaluations.
        local_eval_frequency: In :meth:`local_run`, steps between evaluations; only one at the end without it.
        eval_delay_secs: Seconds before the first evaluation, where others train.
        continuous_eval_throttle_secs: The least seconds between evaluations.
        min_eval_frequency: In :meth:`train_and_evaluate`, steps between evaluations at new checkpoints; 1 without it,
            0 for one at the end only.
        delay_workers_by_global_step: Of no effect: there is one worker.
        export_strategies: :class:`ExportStrategy` objects for the end.
        train_steps_per_iteration: In :meth:`continuous_train_and_eval`, steps between evaluations.
        checkpoint_and_export: Whether there are evaluations and exports at each checkpoint of
            :meth:`train_and_evaluate`.
        saving_listeners: ``CheckpointSaverListener`` objects, of an estimator of ``tf.estimator``.
        check_interval_secs: Of no effect: a look for a checkpoint is cheap.

    Raises:
        ValueError: ``estimator`` is none, or arguments contradict.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[[], Any],
        eval_input_fn: Callable[[], Any],
        eval_metrics: Mapping[Any, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Iterable[Any] | None = None,
        eval_hooks: Iterable[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        del delay_workers_by_global_step, check_interval_secs, checkpoint_and_export
        self._core = isinstance(estimator, _CoreEstimator)
        if not self._core and not (hasattr(estimator, "fit") and hasattr(estimator, "evaluate")):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Trainable` or `tf.estimator.Estimator`.")
        if self._core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`")
        if not self._core and saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._train_steps_per_iteration = train_steps_per_iteration
        self._saving_listeners = saving_listeners
        self._export_strategies: list[Any] = []
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        return self._estimator

    @property
    def eval_metrics(self) -> Mapping[Any, Any] | None:
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        return self._eval_steps

    def reset_export_strategies(self, new_export_strategies: Any = None) -> list[Any]:
        """Takes other export strategies, and returns those that were."""
        before = self._export_strategies
        given = new_export_strategies or []
        self._export_strategies = list(given) if isinstance(given, (list, set, frozenset)) else [given]
        return before

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Adds hooks to the training."""
        self._train_monitors.extend(additional_hooks)

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains to ``train_steps``. A worker of a cluster waits for ``delay_secs`` first."""
        if delay_secs:
            time.sleep(delay_secs)
        return self._train(self._train_monitors, self._train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint, and returns the metrics."""
        if delay_secs is None:
            delay_secs = self._eval_delay_secs
        if delay_secs:
            log.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._evaluate(name or "one_pass")

    def local_run(self) -> Any:
        """:meth:`train_and_evaluate`, with evaluations every ``local_eval_frequency`` steps."""
        before, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency or 0
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = before

    def train_and_evaluate(self) -> Any:
        """Trains with evaluations between, and evaluates and exports at the end.

        Returns:
            The metrics, and the results of the export strategies.
        """
        monitors = list(self._train_monitors)
        if self._min_eval_frequency:
            monitors.append(
                ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=self._min_eval_frequency,
                    hooks=self._eval_hooks,
                )
            )
        self._train(monitors, self._train_steps)
        found = self._evaluate(None)
        return found, self._export(found)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous",
    ) -> Any:
        """Evaluates again and again, until ``train_steps`` is reached.

        Args:
            delay_secs: Seconds before the first evaluation.
            throttle_delay_secs: The least seconds between evaluations.
            evaluate_checkpoint_only_once: Whether an evaluation needs a new checkpoint.
            continuous_eval_predicate_fn: A function of ``eval_results`` and ``checkpoint_path`` that says whether to
                go on.
            name: Of the evaluations.
        """
        return self._continuous(
            self._eval_input_fn,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
            name,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous_on_train_data",
    ) -> Any:
        """:meth:`continuous_eval` with the input of training."""
        return self._continuous(
            self._train_input_fn, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn, name
        )

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Callable[..., bool] | None = None) -> Any:
        """Trains and evaluates in turn, until ``train_steps`` is reached.

        Args:
            continuous_eval_predicate_fn: A function of ``eval_results`` and ``checkpoint_path`` that says whether to
                go on.

        Returns:
            The metrics, and the results of the export strategies.
        """
        found = None
        per_turn = self._train_steps_per_iteration or min(1000, (self._train_steps or 10000) // 10 or 1)
        while True:
            step = self._step()
            if self._train_steps is not None and step >= self._train_steps:
                break
            if continuous_eval_predicate_fn and not _go_on(continuous_eval_predicate_fn, found, self._checkpoint()):
                break
            last = step + per_turn
            self._train(self._train_monitors, last if self._train_steps is None else min(last, self._train_steps))
            found = self._evaluate(None)
        return found, self._export(found)

    def test(self) -> Any:
        """Trains and evaluates one step each, and exports. Returns the metrics."""
        self._train(self._train_monitors, None, steps=1)
        found = self._evaluate("one_pass", steps=1)
        self._export(found)
        return found

    def run_std_server(self) -> None:
        """Starts the server of this task of a cluster, and waits for its end."""
        config = self._estimator.config
        tf.train.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=config.session_config,
        ).join()

    def _checkpoint(self) -> str | None:
        found: str | None = tf.train.latest_checkpoint(self._estimator.model_dir)
        return found

    def _step(self) -> int:
        path = self._checkpoint()
        return int(tf.train.load_variable(path, tf.GraphKeys.GLOBAL_STEP)) if path else 0

    def _train(self, monitors: list[Any], max_steps: int | None, steps: int | None = None) -> Any:
        if not self._core:
            return self._estimator.fit(
                input_fn=self._train_input_fn, max_steps=max_steps, steps=steps, monitors=list(monitors)
            )
        return self._estimator.train(
            input_fn=self._train_input_fn,
            max_steps=max_steps,
            steps=steps,
            hooks=replace_monitors_with_hooks(list(monitors), self._estimator),
            saving_listeners=self._saving_listeners,
        )

    def _evaluate(self, name: str | None, steps: int | None = None, input_fn: Callable[[], Any] | None = None) -> Any:
        metrics = {} if self._core else {"metrics": self._eval_metrics}
        return self._estimator.evaluate(
            input_fn=input_fn or self._eval_input_fn,
            steps=self._eval_steps if steps is None else steps,
            name=name,
            hooks=list(self._eval_hooks),
            **metrics,
        )

    def _continuous(
        self,
        input_fn: Callable[[], Any],
        delay_secs: float | None,
        throttle_secs: float | None,
        only_once: bool,
        predicate: Callable[..., bool] | None,
        name: str,
    ) -> Any:
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle_secs = self._throttle_secs if throttle_secs is None else throttle_secs
        if delay_secs:
            log.info("Waiting %f secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        found, before = None, None
        while not predicate or _go_on(predicate, found, before):
            began = time.monotonic()
            path = self._checkpoint()
            if path is not None and not (only_once and path == before):
                try:
                    found = self._evaluate(name, input_fn=input_fn)
                    before = path
                except NotFittedError:  # the checkpoint was removed while it was looked at
                    log.warning("Checkpoint %s is gone.", path)
            if self._train_steps is not None and self._step() >= self._train_steps and before == self._checkpoint():
                break
            time.sleep(max(0.0, throttle_secs - (time.monotonic() - began)))
        return found, self._export(found)

    def _export(self, found: Any) -> list[Any]:
        path = self._checkpoint()
        folder = f"{self._estimator.model_dir}/export"
        return [
            strategy.export(self._estimator, f"{folder}/{strategy.name}", checkpoint_path=path, eval_result=found)
            for strategy in self._export_strategies
        ]


def _go_on(predicate: Callable[..., bool], found: Any, path: str | None) -> bool:
    return predicate(eval_results=found, checkpoint_path=path)
