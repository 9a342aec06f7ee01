"""Evaluation: waiting for checkpoints, and running a model on each.

Data flow: :func:`checkpoints_iterator` gives paths; an evaluation restores one, runs ``eval_ops`` until a hook such as
:class:`StopAfterNEvalsHook` stops it, and then ``final_ops`` once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...estimator.evaluation import StopAfterNEvalsHook, get_or_create_eval_step
from ...runtime import tf1 as tf

__all__ = [
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "checkpoints_iterator",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "wait_for_new_checkpoint",
]

_log = logging.getLogger("tensorflow")  # the one that tf.logging writes to


def wait_for_new_checkpoint(
    checkpoint_dir: str, last_checkpoint: str | None = None, seconds_to_sleep: float = 1, timeout: float | None = None
) -> str | None:
    """The path of a checkpoint other than ``last_checkpoint``, as soon as there is one.

    Args:
        checkpoint_dir: Where checkpoints are saved.
        last_checkpoint: The one that is known; None if none is.
        seconds_to_sleep: Seconds between looks.
        timeout: Seconds after which to give up and return None; None waits forever.
    """
    _log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.monotonic() + timeout
    while True:
        found: str | None = tf.train.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            _log.info("Found new checkpoint at %s", found)
            return found
        if stop is not None and time.monotonic() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields the paths of new checkpoints as they appear.

    Args:
        checkpoint_dir: Where checkpoints are saved.
        min_interval_secs: The least seconds between two of them.
        timeout: Seconds to wait for one; None waits forever.
        timeout_fn: Called after a timeout; if it returns False, waiting goes on. Without it, that is the end.
    """
    path = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if found is None:
            if timeout_fn is None:
                _log.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        path = found
        started = time.monotonic()
        yield path
        time.sleep(max(0.0, started + min_interval_secs - time.monotonic()))


class SummaryAtEndHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Writes summaries once, when the evaluation ends.

    Args:
        log_dir: The folder to write to.
        summary_writer: The writer, in place of ``log_dir``.
        summary_op: The summaries; None for all that the graph has.
        feed_dict: What to feed for them.

    Raises:
        ValueError: Neither a folder nor a writer is given.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        if not log_dir and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict
        self._global_step: Any = None

    def begin(self) -> None:
        if self._replace_summary_op:  # for each evaluation anew: its graph may have more
            self._summary_op = tf.summary.merge_all()
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        step = tf.train.global_step(session, self._global_step)
        if self._summary_op is not None:
            summary = session.run(self._summary_op, self._feed_dict)
            self._summary_writer.add_summary(summary, step)
        self._summary_writer.flush()


class _Evaluation:
    """The graph of an evaluation, to be run on one checkpoint after another."""

    def __init__(self, eval_ops: Any, final_ops: Any, final_ops_feed_dict: Any, hooks: Sequence[Any] | None) -> None:
        step = get_or_create_eval_step()
        hooks = list(hooks or [])
        if eval_ops is not None:
            counted = tf.assign_add(step, tf.ones([], tf.int64), use_locking=True)
            if isinstance(eval_ops, dict):
                eval_ops = {**eval_ops, "update_eval_step": counted}
            elif isinstance(eval_ops, (list, tuple)):
                eval_ops = [*eval_ops, counted]
            else:
                eval_ops = [eval_ops, counted]
            first = [*eval_ops.values()] if isinstance(eval_ops, dict) else eval_ops
            with tf.control_dependencies([op for op in first if hasattr(op, "graph")]):
                done = tf.identity(step.read_value())
        else:
            done = tf.identity(step)
        for hook in hooks:
            if hasattr(hook, "_set_evals_completed_tensor"):
                hook._set_evals_completed_tensor(done)
        self._eval_ops = eval_ops
        self._final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
        self._hooks = [*hooks, self._final]

    def run(self, checkpoint: str, master: str, scaffold: Any, feed_dict: Any, config: Any) -> Any:
        """Runs it on ``checkpoint`` and returns what ``final_ops`` gave."""
        creator = tf.train.ChiefSessionCreator(
            scaffold=scaffold, checkpoint_filename_with_path=checkpoint, master=master, config=config
        )
        _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        with tf.train.MonitoredSession(session_creator=creator, hooks=self._hooks) as session:
            if self._eval_ops is not None:
                while not session.should_stop():
                    session.run(self._eval_ops, feed_dict)
        _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        return self._final.final_ops_values


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
) -> Any:
    """Evaluates the model at one checkpoint.

    Args:
        checkpoint_path: The checkpoint.
        master: The address of a TensorFlow server; "" is this process.
        scaffold: A ``tf.train.Scaffold`` that initializes and restores.
        eval_ops: What to run until a hook stops it: a tensor or op, or a list or dict of them; or None.
        feed_dict: What to feed for it.
        final_ops: What to run once afterwards.
        final_ops_feed_dict: What to feed for that.
        hooks: ``tf.train.SessionRunHook`` objects, such as :class:`StopAfterNEvalsHook`.
        config: A ``tf.ConfigProto``.

    Returns:
        What ``final_ops`` gave.
    """
    evaluation = _Evaluation(eval_ops, final_ops, final_ops_feed_dict, hooks)
    return evaluation.run(checkpoint_path, master, scaffold, feed_dict, config)


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates the model at each checkpoint that appears; see :func:`evaluate_once` and :func:`checkpoints_iterator`.

    Args:
        checkpoint_dir: Where checkpoints are saved.
        master: As for :func:`evaluate_once`, like all that is not here.
        scaffold: See there.
        eval_ops: See there.
        feed_dict: See there.
        final_ops: See there.
        final_ops_feed_dict: See there.
        eval_interval_secs: The least seconds between evaluations.
        hooks: See there.
        config: See there.
        max_number_of_evaluations: How many evaluations; None has no limit.
        timeout: Seconds to wait for a checkpoint; None waits forever.
        timeout_fn: Called after a timeout; if it returns False, waiting goes on.

    Returns:
        What ``final_ops`` gave the last time.
    """
    evaluation = _Evaluation(eval_ops, final_ops, final_ops_feed_dict, hooks)
    values = None
    done = 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = evaluation.run(path, master, scaffold, feed_dict, config)
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return values
