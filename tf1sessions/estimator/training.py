"""Training and evaluating: :func:`train_and_evaluate`, in turns in one process, or as a task of a cluster.

Data flow: training saves a checkpoint -> it is evaluated in a graph of its own -> each exporter gets the result. In one
process a listener of the training does that, and then training goes on. In a cluster, which ``TF_CONFIG`` describes,

    chief, worker  start a server, and train by it
    master         does that, and evaluates as one process does
    ps             starts a server, which keeps the variables
    evaluator      looks for checkpoints in the model's folder
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..runtime import tf1 as tf
from .estimator import Estimator
from .exporter import Exporter
from .run_config import RunConfig, TaskType
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
    """The specification of a training.

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
    """The specification of evaluation and exports.

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
) -> tuple[dict[str, Any] | None, list[Any] | None] | None:
    """Trains, and evaluates and exports each checkpoint that ``eval_spec.throttle_secs`` lets through, and the last.

    Where ``TF_CONFIG`` has a cluster, this process does its task: the chief and the workers train, the evaluator
    evaluates what the chief saves until ``train_spec.max_steps``, a master does both, and a parameter server serves
    until the process is ended.

    Args:
        estimator: The model. It must save checkpoints.
        train_spec: How to train.
        eval_spec: How to evaluate.

    Returns:
        The last evaluation, and what each exporter returned for it; (None, None) if there was nothing to train. In a
        cluster None.

    Raises:
        TypeError: An argument is of another kind.
        ValueError: ``TF_CONFIG`` has a task that there is not.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id "
            f"{config.task_id}"
        )
    log.info("Not using Distribute Coordinator.")
    if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
        log.info("Running training and evaluation locally (non-distributed).")
        return _train_and_evaluate_here(estimator, train_spec, eval_spec)
    tasks: dict[str, Callable[[Estimator, TrainSpec, EvalSpec], None]] = {
        TaskType.CHIEF: _run_chief,
        TaskType.EVALUATOR: _run_evaluator,
        TaskType.MASTER: _run_master,
        TaskType.PS: _run_parameter_server,
        TaskType.WORKER: _run_worker,
    }
    if config.task_type not in tasks:
        raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {sorted(tasks)}")
    tasks[config.task_type](estimator, train_spec, eval_spec)
    return None


def _train_and_evaluate_here(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    config = estimator.config
    log.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
        "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    evaluator = _Evaluator(estimator, train_spec.max_steps, eval_spec)
    _train(estimator, train_spec, [_EvaluatingListener(evaluator, eval_spec.throttle_secs)])
    return evaluator.eval_result, evaluator.export_results


def _run_chief(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    del eval_spec
    with _server(estimator.config):
        _train(estimator, train_spec)


def _run_master(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    evaluator = _Evaluator(estimator, train_spec.max_steps, eval_spec)
    with _server(estimator.config):
        _train(estimator, train_spec, [_EvaluatingListener(evaluator, eval_spec.throttle_secs)])


def _run_worker(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    del eval_spec
    config = estimator.config
    longest = config.experimental_max_worker_delay_secs
    delay = min(_LONGEST_WORKER_DELAY_SECS if longest is None else longest, (config.task_id + 1) * _WORKER_DELAY_SECS)
    with _server(config):
        if delay > 0:  # so that workers do not all start where the chief did
            log.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
        _train(estimator, train_spec)


def _run_parameter_server(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    del train_spec, eval_spec
    with _server(estimator.config) as server:
        if server is not None:
            server.join()


def _run_evaluator(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Evaluates one checkpoint after the other until one is of ``max_steps``."""
    if eval_spec.start_delay_secs:
        log.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = _Evaluator(estimator, train_spec.max_steps, eval_spec)
    while not evaluator.is_final:
        started = time.time()
        is_new = evaluator.evaluate_new()
        left = eval_spec.throttle_secs - (time.time() - started)
        if left > 0:
            log.info("Waiting %f secs before starting next eval run.", left)
            time.sleep(left)
        elif not is_new:
            log.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new checkpoint. "
                "Please consider to increase it."
            )
            time.sleep(_POLL_SECS)
    log.info("Exiting evaluation, global_step=%s >= train max_steps=%s", evaluator.global_step, train_spec.max_steps)


#: As in TensorFlow 1.15.
_WORKER_DELAY_SECS = 5
_LONGEST_WORKER_DELAY_SECS = 60
#: Between two looks for a checkpoint where the program wants no pause; arbitrary.
_POLL_SECS = 0.1


def _train(estimator: Estimator, spec: TrainSpec, listeners: Sequence[Any] = ()) -> None:
    estimator.train(input_fn=spec.input_fn, max_steps=spec.max_steps, hooks=spec.hooks, saving_listeners=listeners)


@contextlib.contextmanager
def _server(config: RunConfig) -> Iterator[Any]:
    """The started ``tf.train.Server`` of this task; None if it is alone, or if the environment has one.

    TensorFlow cannot stop a server: it ends with the process.
    """
    if not config.master or json.loads(os.environ.get("TF_CONFIG", "{}")).get("environment") == "google":
        yield None
        return
    log.info("Start Tensorflow server.")
    server = tf.train.Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=tf.ConfigProto(log_device_placement=False),
        start=False,
        protocol=config.protocol,
    )
    server.start()
    yield server


class _Evaluator:
    """Evaluates and exports checkpoints; it has what came out last."""

    def __init__(self, estimator: Estimator, max_steps: int | None, spec: EvalSpec) -> None:
        self.eval_result: dict[str, Any] | None = None
        self.export_results: list[Any] | None = None
        self._estimator = estimator
        self._max_steps = max_steps
        self._spec = spec
        self._checkpoint: str | None = None

    @property
    def global_step(self) -> int | None:
        """The step of the last evaluation."""
        return None if self.eval_result is None else int(self.eval_result[tf.GraphKeys.GLOBAL_STEP])

    @property
    def is_final(self) -> bool:
        """Whether training has come to its last step."""
        return self._max_steps is not None and self.global_step is not None and self.global_step >= self._max_steps

    def latest_checkpoint(self) -> str | None:
        """The Estimator's."""
        return self._estimator.latest_checkpoint()

    def evaluate_new(self) -> bool:
        """Evaluates the latest checkpoint, unless it was evaluated; returns whether it did."""
        latest = self.latest_checkpoint()
        if not latest:
            log.warning("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return False
        if latest == self._checkpoint:
            log.warning(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are "
                "expected to be same for the same checkpoint."
            )
            return False
        self.evaluate(latest)
        return True

    def evaluate(self, checkpoint: str | None) -> None:
        """Evaluates and exports ``checkpoint``."""
        self._checkpoint = checkpoint
        self.eval_result = self._estimator.evaluate(
            input_fn=self._spec.input_fn,
            steps=self._spec.steps,
            name=self._spec.name,
            checkpoint_path=checkpoint,
            hooks=self._spec.hooks,
        )
        if self.is_final:
            log.debug("Calling exporter with the `is_the_final_export=True`.")
        self.export_results = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
                checkpoint_path=checkpoint,
                eval_result=self.eval_result,
                is_the_final_export=self.is_final,
            )
            for exporter in self._spec.exporters
        ]


class _EvaluatingListener(tf.train.CheckpointSaverListener):  # type: ignore[misc]
    """Evaluates and exports what training saved."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: float) -> None:
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self._timer: Any = None
        self._saved_before = False

    def begin(self) -> None:
        self._timer = tf.train.SecondOrStepTimer(every_secs=self._throttle_secs)
        self._saved_before = False

    def after_save(self, session: Any, global_step_value: int) -> None:
        del session
        if not self._saved_before:  # that was before the first step
            self._saved_before = True
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            log.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)

    def end(self, session: Any, global_step_value: int) -> None:
        del session
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, global_step: int) -> None:
        self._timer.update_last_triggered_step(global_step)
        self._evaluator.evaluate(self._evaluator.latest_checkpoint())
