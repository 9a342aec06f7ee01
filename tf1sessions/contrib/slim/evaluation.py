"""slim.evaluation: metrics over a checkpoint, or over each new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..framework.variables import get_variables_to_restore
from ..training import evaluation
from ..training.evaluation import checkpoints_iterator, wait_for_new_checkpoint

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

_DEFAULT: Any = 0  # 1.15's mark for "not given": None means "none"


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Mapping[Any, Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Mapping[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: Mapping[Any, Any] | None = None,
    summary_op: Any = _DEFAULT,
    summary_op_feed_dict: Mapping[Any, Any] | None = None,
    variables_to_restore: Sequence[Any] | None = None,
    session_config: Any = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates one checkpoint.

    Args:
        master: The address of a server; "" for this process.
        checkpoint_path: The checkpoint.
        logdir: The folder of the summaries.
        num_evals: How often ``eval_op`` is run.
        initial_op: Run first, besides the initializers of local variables and tables.
        initial_op_feed_dict: What is fed to it.
        eval_op: Run for each batch.
        eval_op_feed_dict: What is fed to it.
        final_op: Fetched at the end.
        final_op_feed_dict: What is fed to it.
        summary_op: Serialized summaries; all merged unless given, and None for none.
        summary_op_feed_dict: What is fed to it.
        variables_to_restore: The variables that the checkpoint has; all global ones unless given.
        session_config: The session's ``ConfigProto``.
        hooks: More ``SessionRunHook``s.

    Returns:
        The value of ``final_op``; None without one.
    """
    return evaluation.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Mapping[Any, Any] | None = None,
    init_fn: Callable[[Any], Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Mapping[Any, Any] | None = None,
    final_op: Any = None,
    final_op_feed_dict: Mapping[Any, Any] | None = None,
    summary_op: Any = _DEFAULT,
    summary_op_feed_dict: Mapping[Any, Any] | None = None,
    variables_to_restore: Sequence[Any] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates each new checkpoint in a folder; the arguments are those of :func:`evaluate_once`, and these.

    Args:
        checkpoint_dir: The folder of the checkpoints.
        init_fn: A function of the session that is called after the initializers.
        eval_interval_secs: The least time between two evaluations.
        max_number_of_evaluations: How many there are; None for no end.
        timeout: How long, in seconds, to wait for a checkpoint; None for no end.
        timeout_fn: Called then; the loop ends when it returns True.

    Returns:
        The last value of ``final_op``; None without one.
    """
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _scaffold(initial_op: Any, initial_op_feed_dict: Any, init_fn: Any, variables: Sequence[Any] | None) -> Any:
    chosen = get_variables_to_restore() if variables is None else variables
    call = None if init_fn is None else lambda scaffold, session: init_fn(session)
    return tf.train.Scaffold(
        init_op=initial_op,
        init_feed_dict=initial_op_feed_dict,
        init_fn=call,
        saver=tf.train.Saver(chosen) if chosen else None,
    )


def _hooks(
    logdir: str | None, num_evals: int, summary_op: Any, feed_dict: Any, hooks: Sequence[Any] | None
) -> list[Any]:
    if summary_op is _DEFAULT:
        summary_op = tf.summary.merge_all()
    found: list[Any] = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        found.append(evaluation.SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict))
    return [*found, *(hooks or [])]
