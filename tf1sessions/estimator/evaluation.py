"""Evaluating a graph at a checkpoint, and the summaries of what came out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime import tf1 as tf
from .util import log

__all__ = [
    "Evaluation",
    "StopAfterNEvalsHook",
    "get_or_create_eval_step",
    "write_checkpoint_path",
    "write_dict_to_summary",
]


class StopAfterNEvalsHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Stops an evaluation after ``eval_ops`` have run a number of times.

    Args:
        num_evals: That number; None never stops.
        log_progress: Whether to log how far it is.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._every = 1 if not log_progress or num_evals is None else max(1, num_evals // 10)
        self._log_progress = log_progress
        self._completed: Any = None

    def _set_evals_completed_tensor(self, completed: Any) -> None:
        self._completed = completed

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs({"evals_completed": self._completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                log.info("Evaluation [%d]", done)
            elif done % self._every == 0 or done == self._num_evals:
                log.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


def get_or_create_eval_step() -> Any:
    """The graph's counter of evaluation steps, a local int64 variable ``eval_step``.

    Raises:
        ValueError: There are several in the collection ``tf.GraphKeys.EVAL_STEP``.
    """
    found = tf.get_collection(tf.GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return tf.get_variable(
        "eval_step",
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.EVAL_STEP],
    )


class Evaluation:
    """The evaluation of the default graph, to be run once or several times.

    Args:
        eval_ops: What is run until a hook stops it or the input ends: an op or tensor.
        final_ops: What is run once afterwards: a dict of tensors.
        hooks: ``SessionRunHook`` objects.
    """

    def __init__(self, eval_ops: Any, final_ops: Any, hooks: Sequence[Any] = ()) -> None:
        step = get_or_create_eval_step()
        counted = tf.assign_add(step, np.int64(1), use_locking=True)
        with tf.control_dependencies([eval_ops, getattr(counted, "op", counted)]):
            done = tf.identity(step.read_value())
        for hook in hooks:
            if hasattr(hook, "_set_evals_completed_tensor"):
                hook._set_evals_completed_tensor(done)
        self._fetches = [eval_ops, counted]
        self._final = tf.train.FinalOpsHook(final_ops)
        self._hooks = [*hooks, self._final]

    def run(self, checkpoint_path: str | None, scaffold: Any, master: str = "", config: Any = None) -> dict[str, Any]:
        """Evaluates, and returns what ``final_ops`` gave.

        Args:
            checkpoint_path: What is restored first; None initializes only.
            scaffold: A ``tf.train.Scaffold``.
            master: The address of a TensorFlow server; "" is this process.
            config: A ``tf.ConfigProto``.
        """
        log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        creator = tf.train.ChiefSessionCreator(
            scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config
        )
        with tf.train.MonitoredSession(session_creator=creator, hooks=self._hooks) as session:
            while not session.should_stop():
                session.run(self._fetches)
        log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
        results: dict[str, Any] = self._final.final_ops_values
        return results


def write_dict_to_summary(output_dir: str, dictionary: Mapping[str, Any], current_global_step: int) -> None:
    """Writes what an evaluation gave to the event files of ``output_dir``, and to the log."""
    log.info("Saving dict for global step %d: %s", current_global_step, _as_text(dictionary))
    summary = tf.summary.Summary()
    for key in sorted(dictionary):
        if key != "global_step" and dictionary[key] is not None:
            _add_value(summary, key, dictionary[key])
    writer = tf.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, current_global_step)
    writer.flush()


def _as_text(dictionary: Mapping[str, Any]) -> str:
    pairs = ((key, dictionary[key]) for key in sorted(dictionary))
    return ", ".join(f"{key} = {value!s}" for key, value in pairs if not isinstance(value, bytes))


def _add_value(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, (np.float32, float)):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, (np.int64, np.int32, int)) and not isinstance(value, bool):
        summary.value.add(tag=key, simple_value=int(value))
    elif isinstance(value, bytes):
        try:
            parsed = tf.summary.Summary.FromString(value)
        except Exception as error:  # protobuf's own DecodeError
            log.warning("Skipping summary for %s, cannot parse string to Summary.", key)
            log.debug("%s", error)
            return
        for i, found in enumerate(parsed.value):
            found.tag = f"{key}/{i}"
        summary.value.extend(parsed.value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=tf.make_tensor_proto(value))
        log.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard plugin for "
            "visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for more information)."
        )
    else:
        log.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a "
            "serialized string of Summary.",
            key,
        )


def write_checkpoint_path(output_dir: str, checkpoint_path: str, current_global_step: int) -> None:
    """Writes which checkpoint was evaluated to the event files of ``output_dir``."""
    log.info("Saving '%s' summary for global step %d: %s", "checkpoint_path", current_global_step, checkpoint_path)
    summary = tf.summary.Summary()
    summary.value.add(tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint_path, dtype=tf.string))
    writer = tf.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, current_global_step)
    writer.flush()
