"""Monitors: the hooks of ``contrib.learn``, from before there were hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...estimator.util import function_args, log
from ...runtime import tf1 as tf

__all__ = [
    "BaseMonitor",
    "EveryN",
    "NanLossDuringTrainingError",
    "RunHookAdapterForMonitors",
    "StopAtStep",
    "ValidationMonitor",
    "replace_monitors_with_hooks",
]

NanLossDuringTrainingError: Any = tf.train.NanLossDuringTrainingError


class BaseMonitor:
    """Is called for each step of a training. Not thread-safe."""

    def __init__(self) -> None:
        self._estimator: Any = None
        self._max_steps: int | None = None

    def set_estimator(self, estimator: Any) -> None:
        """Sets the estimator that is trained."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """The training begins, and goes to step ``max_steps``."""
        self._max_steps = max_steps

    def end(self, session: Any = None) -> None:
        """The training ends."""

    def step_begin(self, step: int) -> list[Any]:
        """Step ``step`` begins; returns tensors, or their names, whose values :meth:`step_end` wants."""
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Step ``step`` ended; ``output`` are values by tensors' names. Returns whether the training is to end."""
        return False

    def post_step(self, step: int, session: Any) -> None:
        """After :meth:`step_end`."""


class EveryN(BaseMonitor):
    """Calls its ``every_n_*`` methods at each of the first steps, at every Nth one, and at the last one.

    Args:
        every_n_steps: How many steps there are between.
        first_n_steps: How many of the first steps.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_active_step = 0
        self._active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """After :meth:`every_n_step_end`."""

    def step_begin(self, step: int) -> list[Any]:
        first = step <= self._first_n_steps
        due = step >= self._last_active_step + self._every_n_steps
        self._active = first or due or step == self._max_steps
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        return self.every_n_step_end(step, output) if self._active else False

    def post_step(self, step: int, session: Any) -> None:
        if self._active:
            self.every_n_post_step(step, session)
            self._last_active_step = step


class StopAtStep(BaseMonitor):
    """Ends the training after ``num_steps`` of its steps, or at the step ``last_step``.

    Raises:
        ValueError: Not exactly one is given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def step_begin(self, step: int) -> list[Any]:
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        assert self._last_step is not None
        return step >= self._last_step


class ValidationMonitor(EveryN):
    """Evaluates the model at every Nth step at which there is a new checkpoint, and may end the training early.

    Args:
        x: Features; see ``Estimator.evaluate``.
        y: Labels.
        input_fn: In place of arrays.
        batch_size: The size of a batch.
        eval_steps: How many batches.
        every_n_steps: How many steps there are between.
        metrics: See ``Estimator.evaluate``.
        hooks: See ``Estimator.evaluate``.
        early_stopping_rounds: The training ends if so many steps brought nothing better.
        early_stopping_metric: The metric that has to get better.
        early_stopping_metric_minimize: Whether less is better.
        name: Of the evaluation.
        check_interval_secs: Of no effect: a look for a checkpoint is cheap.

    Raises:
        ValueError: Neither arrays nor an ``input_fn`` are given.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        del check_interval_secs
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        given = {
            "x": x,
            "y": y,
            "input_fn": input_fn,
            "batch_size": batch_size,
            "steps": eval_steps,
            "metrics": metrics,
            "hooks": hooks,
            "name": name,
        }
        self._arguments = {key: value for key, value in given.items() if value is not None}
        self._early_stopping_rounds = early_stopping_rounds
        self._early_stopping_metric = early_stopping_metric
        self._minimize = early_stopping_metric_minimize
        self._best_value: Any = None
        self._best_value_step: int | None = None
        self._best_metrics: dict[str, Any] | None = None
        self._early_stopped = False
        self._latest_path: str | None = None

    @property
    def early_stopped(self) -> bool:
        """Whether this monitor ended the training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation."""
        return self._best_value_step

    @property
    def best_value(self) -> Any:
        """The metric's best value."""
        return self._best_value

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """All metrics of the best evaluation."""
        return self._best_metrics

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        path = tf.train.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            log.debug("Skipping evaluation: there is no new checkpoint at step %d.", step)
            return False
        self._latest_path = path
        takes = function_args(self._estimator.evaluate)
        found = self._estimator.evaluate(**{key: value for key, value in self._arguments.items() if key in takes})
        log.info("Validation (step %d): %s", step, ", ".join(f"{key} = {found[key]}" for key in sorted(found)))
        if self._early_stopping_rounds is None:
            return False
        value = found.get(self._early_stopping_metric)
        if value is None:
            raise ValueError(f"Metric {self._early_stopping_metric} missing from outputs {list(found)}.")
        if self._best_value is None or ((value < self._best_value) == self._minimize and value != self._best_value):
            self._best_value, self._best_metrics, self._best_value_step = value, dict(found), step
        assert self._best_value_step is not None
        if step - self._best_value_step < self._early_stopping_rounds:
            return False
        log.info(
            "Stopping. Best step: %d with %s = %s.",
            self._best_value_step,
            self._early_stopping_metric,
            self._best_value,
        )
        self._early_stopped = True
        return True


class RunHookAdapterForMonitors(tf.train.SessionRunHook):  # type: ignore[misc]
    """A hook that calls monitors for the steps of a training."""

    def __init__(self, monitors: Sequence[BaseMonitor]) -> None:
        self._monitors = monitors
        self._global_step: Any = None
        self._last_step: int | None = None

    def begin(self) -> None:
        self._last_step = None
        self._global_step = tf.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._global_step)) + 1
        wanted = {}
        for monitor in self._monitors:
            for tensor in monitor.step_begin(self._last_step) or ():
                name = tensor if isinstance(tensor, str) else tensor.name
                wanted[name] = run_context.session.graph.as_graph_element(name)
        return tf.train.SessionRunArgs({"step": self._global_step, "tensors": wanted})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._last_step is not None
        step = self._last_step
        if any([monitor.step_end(step, run_values.results["tensors"]) for monitor in self._monitors]):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._last_step = int(run_values.results["step"]) + 1
        if self._last_step <= step:  # the step was read before it was counted
            self._last_step = step + 1

    def end(self, session: Any) -> None:
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(session)


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks for all monitors and hooks of the list, or for the single one."""
    given = monitors_or_hooks or []
    if not isinstance(given, (list, tuple)):
        given = [given]
    hooks = [hook for hook in given if isinstance(hook, tf.train.SessionRunHook)]
    monitors = [monitor for monitor in given if not isinstance(monitor, tf.train.SessionRunHook)]
    for monitor in monitors:
        if not isinstance(monitor, BaseMonitor):
            raise TypeError(f"monitors must be monitors or SessionRunHooks, and got {monitor!r}")
        monitor.set_estimator(estimator)
    if monitors:
        hooks.append(RunHookAdapterForMonitors(monitors))
    return hooks
