"""Hooks that know the Estimator that they train with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..runtime import tf1 as tf
from .estimator import Estimator
from .evaluation import Evaluation, write_dict_to_summary
from .util import log

__all__ = ["InMemoryEvaluatorHook", "StopAtCheckpointStepHook", "make_stop_at_checkpoint_step_hook"]


class InMemoryEvaluatorHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Evaluates the model while it trains, without a checkpoint: before the first step, now and then, and at the end.

    Args:
        estimator: The model.
        input_fn: See :meth:`Estimator.evaluate`, as for the next three.
        steps: See there.
        hooks: See there.
        name: See there.
        every_n_iter: Training steps between evaluations.

    Raises:
        ValueError: ``every_n_iter`` is not positive, or there are several machines.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._hooks = [*(hooks or []), *estimator._convert_eval_steps_to_hooks(steps)]
        self._eval_dir = estimator.eval_dir(name)
        self._timer = tf.train.SecondOrStepTimer(every_steps=every_n_iter)
        self._iterations = 0
        self._graph: Any = None
        self._sources: dict[str, Any] = {}

    def begin(self) -> None:
        self._timer.reset()
        self._iterations = 0
        trained = {variable.op.name: variable for variable in tf.global_variables()}
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._scaffold, update_op, eval_dict, hooks = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks
            )
            self._evaluation = Evaluation(update_op, eval_dict, hooks)
            self._copied = [variable for variable in tf.global_variables() if variable.op.name in trained]
            self._values = {
                variable.op.name: tf.placeholder(variable.dtype.base_dtype, variable.shape) for variable in self._copied
            }
            others = [variable for variable in tf.global_variables() if variable.op.name not in trained]
            self._set = tf.group(
                *[tf.assign(variable, self._values[variable.op.name]) for variable in self._copied],
                *[variable.initializer for variable in others],
            )
        self._sources = {name: trained[name] for name in self._values}

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        del run_values
        self._iterations += 1
        if self._timer.should_trigger_for_step(self._iterations):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._sources)
        self._timer.update_last_triggered_step(self._iterations)
        with self._graph.as_default():
            theirs = self._scaffold
            scaffold = tf.train.Scaffold(
                init_op=self._set,
                init_feed_dict={self._values[name]: value for name, value in values.items()},
                ready_op=theirs.ready_op,
                ready_for_local_init_op=theirs.ready_for_local_init_op,
                local_init_op=theirs.local_init_op,
                saver=theirs.saver,
            )
            results = self._evaluation.run(
                None, scaffold, self._estimator.config.evaluation_master, self._estimator._session_config
            )
            self._timer.update_last_triggered_step(self._iterations)
            write_dict_to_summary(self._eval_dir, results, results[tf.GraphKeys.GLOBAL_STEP])


class StopAtCheckpointStepHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Ends a worker's training when the chief has saved the checkpoint of a step.

    Args:
        model_dir: Where the chief saves.
        last_step: The step.
        wait_after_file_check_secs: Seconds between looks.

    Raises:
        ValueError: A step or folder is missing.
    """

    def __init__(self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs
        self._step: Any = None

    def begin(self) -> None:
        self._step = tf.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if _saved_step(self._model_dir) < self._last_step:
            time.sleep(self._wait_secs)  # the chief is still saving: not a step further than it
        else:
            log.info("Checkpoint step %d is saved; requesting to stop.", self._last_step)
            run_context.request_stop()


def _saved_step(model_dir: str) -> int:
    path = tf.train.latest_checkpoint(model_dir)
    return int(tf.train.load_variable(path, tf.GraphKeys.GLOBAL_STEP)) if path else 0


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Any:
    """The hook that ends training at ``last_step``: the chief's by its steps, other workers' by its checkpoints."""
    if estimator.config.is_chief:
        return tf.train.StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
