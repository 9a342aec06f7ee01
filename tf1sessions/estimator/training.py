"""Training and evaluating in turns: :func:`train_and_evaluate`.

Data flow: training saves a checkpoint -> a listener evaluates that checkpoint in a graph of its own -> each exporter
gets the result; then training goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..runtime import tf1 as tf
from .estimator import Estimator
from .exporter import Exporter
from .run_config import TaskType
from .util import log

__all__ = ["EvalSpec", "TrainSpec", "train_and_evaluate"]


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class TrainSpec(_TrainFields):
    """How to train.

    Args:
        input_fn: See :meth:`Estimator.train`.
        max_steps: The global step to train to; None trains until the input ends.
        hooks: ``SessionRunHook`` objects.

    Raises:
        TypeError: An argument is of another kind.
        ValueError: ``max_steps`` is not positive.
    """

    __slots__ = ()

    def __new__(
        cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Iterable[Any] | None = None
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class EvalSpec(_EvalFields):
    """How to evaluate and export.

    Args:
        input_fn: See :meth:`Estimator.evaluate`.
        steps: How many batches; None goes on until the input ends.
        name: Of the evaluation.
        hooks: ``SessionRunHook`` objects.
        exporters: :class:`Exporter` objects, or one.
        start_delay_secs: Seconds that an evaluator of its own waits at first.
        throttle_secs: The least seconds between evaluations.

    Raises:
        TypeError: An argument is of another kind.
        ValueError: A number is too small, or exporters share a name.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            _checked_hooks(hooks),
            _checked_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return found


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    found = (exporters,) if isinstance(exporters, Exporter) else exporters
    if not isinstance(found, Iterable) or not all(isinstance(exporter, Exporter) for exporter in found):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    found = tuple(found)
    names = [exporter.name for exporter in found]
    if len(set(names)) != len(names) or not all(names):
        raise ValueError(
            f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {names}"
        )
    return found


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains, and evaluates and exports each checkpoint that ``eval_spec.throttle_secs`` lets through, and the last.

    Args:
        estimator: The model. It must save checkpoints.
        train_spec: How to train.
        eval_spec: How to evaluate.

    Returns:
        The last evaluation, and what each exporter returned for it; (None, None) if there was nothing to train.

    Raises:
        TypeError: An argument is of another kind.
        ValueError: ``TF_CONFIG`` has a cluster of several tasks.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
    config = estimator.config
    if config.num_worker_replicas != 1 or config.num_ps_replicas or config.task_type == TaskType.EVALUATOR:
        raise ValueError(
            f"train_and_evaluate runs on one machine here, and TF_CONFIG has the cluster "
            f"{os.environ.get('TF_CONFIG')}. Remove it from the environment."
        )
    log.info("Not using Distribute Coordinator.")
    log.info("Running training and evaluation locally (non-distributed).")
    log.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
        "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    listener = _EvaluatingListener(estimator, train_spec.max_steps, eval_spec)
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=train_spec.hooks,
        saving_listeners=[listener],
    )
    return listener.eval_result, listener.export_results


class _EvaluatingListener(tf.train.CheckpointSaverListener):  # type: ignore[misc]
    """Evaluates and exports what training saved."""

    def __init__(self, estimator: Estimator, max_steps: int | None, spec: EvalSpec) -> None:
        self.eval_result: dict[str, Any] | None = None
        self.export_results: list[Any] | None = None
        self._estimator = estimator
        self._max_steps = max_steps
        self._spec = spec
        self._timer: Any = None
        self._saved_before = False

    def begin(self) -> None:
        self._timer = tf.train.SecondOrStepTimer(every_secs=self._spec.throttle_secs)
        self._saved_before = False

    def after_save(self, session: Any, global_step_value: int) -> None:
        del session
        if not self._saved_before:  # that was before the first step
            self._saved_before = True
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            log.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._spec.throttle_secs)

    def end(self, session: Any, global_step_value: int) -> None:
        del session
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, global_step: int) -> None:
        self._timer.update_last_triggered_step(global_step)
        checkpoint = self._estimator.latest_checkpoint()
        self.eval_result = self._estimator.evaluate(
            input_fn=self._spec.input_fn,
            steps=self._spec.steps,
            name=self._spec.name,
            checkpoint_path=checkpoint,
            hooks=self._spec.hooks,
        )
        final = self._max_steps is not None and bool(global_step >= self._max_steps)
        self.export_results = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
                checkpoint_path=checkpoint,
                eval_result=self.eval_result,
                is_the_final_export=final,
            )
            for exporter in self._spec.exporters
        ]
        if final:
            log.debug("Calling exporter with the `is_the_final_export=True`.")
