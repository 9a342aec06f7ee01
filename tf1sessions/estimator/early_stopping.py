"""Hooks that end training before its last step."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..runtime import tf1 as tf
from .estimator import Estimator
from .summaries import read_eval_metrics
from .util import log

__all__ = [
    "make_early_stopping_hook",
    "read_eval_metrics",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that ends training when ``should_stop_fn`` says so.

    Args:
        estimator: The model.
        should_stop_fn: A function of no arguments.
        run_every_secs: Seconds between its calls; None if steps are given.
        run_every_steps: Steps between its calls.

    Raises:
        TypeError: ``estimator`` is none.
        ValueError: Both or none of ``run_every_secs`` and ``run_every_steps`` are given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that ends training when an evaluation gave more than ``threshold``.

    Args:
        estimator: The model.
        metric_name: The name of a metric.
        threshold: The number.
        eval_dir: Where the event files of evaluations are; None means ``estimator.eval_dir()``.
        min_steps: The step before which it does not stop.
        run_every_secs: Seconds between looks; None if steps are given.
        run_every_steps: Steps between looks.
    """
    stop = _threshold(estimator, metric_name, threshold, eval_dir, min_steps, operator.gt, "greater than")
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that ends training when an evaluation gave less than ``threshold``; see :func:`stop_if_higher_hook`."""
    stop = _threshold(estimator, metric_name, threshold, eval_dir, min_steps, operator.lt, "less than")
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that ends training when a metric has not grown for some steps; see :func:`stop_if_higher_hook`."""
    stop = _no_change(estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, operator.gt, "increase")
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that ends training when a metric has not fallen for some steps; see :func:`stop_if_higher_hook`."""
    stop = _no_change(estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, operator.lt, "decrease")
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def _threshold(
    estimator: Estimator,
    metric: str,
    threshold: float,
    eval_dir: str | None,
    min_steps: int,
    beyond: Callable[[Any, Any], bool],
    words: str,
) -> Callable[[], bool]:
    folder = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        for step, metrics in read_eval_metrics(folder).items():
            if step >= min_steps and beyond(metrics[metric], threshold):
                log.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early '
                    "stopping.",
                    step,
                    metric,
                    metrics[metric],
                    words,
                    threshold,
                )
                return True
        return False

    return should_stop


def _no_change(
    estimator: Estimator,
    metric: str,
    max_steps: int,
    eval_dir: str | None,
    min_steps: int,
    better: Callable[[Any, Any], bool],
    word: str,
) -> Callable[[], bool]:
    folder = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, metrics in read_eval_metrics(folder).items():
            if step < min_steps:
                continue
            if best is None or better(metrics[metric], best[1]):
                best = step, metrics[metric]
            since = step - best[0]
            if since >= max_steps:
                log.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured '
                    "for early stopping.",
                    word,
                    metric,
                    since,
                    max_steps,
                )
                return True
        return False

    return should_stop


def _stop_variable() -> Any:
    """The variable that makes all workers stop. It is in checkpoints, as it was in 1.15."""
    with tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf.constant_initializer(False),
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicateHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """The chief's: asks ``should_stop_fn`` now and then."""

    def __init__(self, should_stop_fn: Callable[[], bool], every_secs: float | None, every_steps: int | None) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = tf.train.SecondOrStepTimer(every_secs=every_secs, every_steps=every_steps)
        self._step: Any = None
        self._stop_op: Any = None

    def begin(self) -> None:
        self._step = tf.train.get_global_step()
        self._stop_op = tf.assign(_stop_variable(), True)

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            log.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _CheckForStoppingHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """The other workers': stops when the chief did."""

    def __init__(self) -> None:
        self._stop: Any = None

    def begin(self) -> None:
        self._stop = _stop_variable()

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._stop)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            log.info("Early stopping requested, suspending run.")
            run_context.request_stop()
