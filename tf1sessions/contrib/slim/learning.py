"""slim.learning: a train operation, and the loop that runs it under a ``tf.train.Supervisor``.

Data flow of :func:`train`: the supervisor restores or initializes the variables, and has threads that save checkpoints
and summaries; each step runs ``train_step_fn``, which returns the loss and whether to stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..training import training
from ..training.training import add_gradients_summaries, clip_gradient_norms, multiply_gradients

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "create_train_op",
    "multiply_gradients",
    "train",
    "train_step",
]

_DEFAULT: Any = 0  # 1.15's mark for "not given": None means "none"


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _DEFAULT,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Any:
    """A tensor that makes a train step when it is fetched, and is the loss.

    Args:
        total_loss: The loss, a scalar.
        optimizer: A ``tf.train.Optimizer``.
        global_step: Counts the steps; the graph's unless given, and None for no counting.
        update_ops: Operations to run before; those of UPDATE_OPS unless given.
        variables_to_train: TRAINABLE_VARIABLES unless given.
        clip_gradient_norm: The greatest norm of each gradient; 0 for none.
        summarize_gradients: Whether there are summaries of the gradients.
        gate_gradients: As in ``tf.train.Optimizer.compute_gradients``.
        aggregation_method: As there.
        colocate_gradients_with_ops: As there.
        gradient_multipliers: ``{variable or its operation's name: factor}``.
        check_numerics: Whether a loss that is no finite number is an error.
    """

    def transform(pairs: Any) -> Any:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    if global_step is _DEFAULT:
        global_step = tf.train.get_or_create_global_step()
    return training.create_train_op(
        total_loss,
        optimizer,
        global_step=global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Makes one train step.

    Args:
        sess: The session.
        train_op: What :func:`create_train_op` returns.
        global_step: The global step.
        train_step_kwargs: ``should_stop`` and ``should_log``, tensors that are run after the step; with
            ``should_trace``, the step's trace is written into the folder ``logdir``.

    Returns:
        The loss, and whether to stop.

    Raises:
        ValueError: There is ``should_trace`` and no ``logdir``.
    """
    started = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            metadata = tf.RunMetadata()
    total_loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.time() - started
    if metadata is not None:
        _write_trace(metadata, train_step_kwargs["logdir"], step)
        if "summary_writer" in train_step_kwargs:
            train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        tf.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, total_loss, seconds)
    should_stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return total_loss, should_stop


def _write_trace(metadata: Any, logdir: str, step: int) -> None:
    """Writes the step's operations in the format of Chrome's tracing page."""
    events = [
        {
            "name": node.timeline_label or node.node_name,
            "cat": "Op",
            "ph": "X",
            "pid": pid,
            "tid": node.thread_id,
            "ts": node.all_start_micros,
            "dur": node.all_end_rel_micros,
            "args": {"name": node.node_name, "device": device.device},
        }
        for pid, device in enumerate(metadata.step_stats.dev_stats)
        for node in device.node_stats
    ]
    path = os.path.join(logdir, f"tf_trace-{step}.json")
    tf.logging.info("Writing trace to %s", path)
    with tf.gfile.Open(path, "w") as file:
        file.write(json.dumps({"traceEvents": events}))


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _DEFAULT,
    init_feed_dict: Mapping[Any, Any] | None = None,
    local_init_op: Any = _DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = _DEFAULT,
    summary_op: Any = _DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains until ``number_of_steps`` is reached, the data ends, or ``train_step_fn`` says so.

    Args:
        train_op: What :func:`create_train_op` returns.
        logdir: The folder of checkpoints and summaries, from whose newest checkpoint it goes on; None for none.
        train_step_fn: Makes a step: a function of the session, ``train_op``, the global step and
            ``train_step_kwargs``, which returns the loss and whether to stop.
        train_step_kwargs: See :func:`train_step`, whose keys are made unless given.
        log_every_n_steps: How often the loss is logged.
        graph: The graph; the default one unless given.
        master: The address of a server; "" for this process.
        is_chief: Whether this process initializes the variables, and saves.
        global_step: The global step; the graph's unless given.
        number_of_steps: The global step at which training ends; None for never.
        init_op: Initializes the variables; all global ones unless given.
        init_feed_dict: What is fed to it.
        local_init_op: Initializes local variables and tables; all unless given.
        init_fn: A function of the session that is called after ``init_op``, such as one that restores a checkpoint.
        ready_op: Names the variables that are not initialized; all are asked unless given.
        summary_op: Serialized summaries; all merged unless given, and None for none.
        save_summaries_secs: How often they are saved.
        summary_writer: Writes them; one in ``logdir`` unless given, and None for none.
        startup_delay_steps: The global step for which a process that is not the chief waits.
        saver: The ``tf.train.Saver``; one of all variables unless given.
        save_interval_secs: How often checkpoints are saved.
        sync_optimizer: A ``tf.train.SyncReplicasOptimizer``, or a list of them.
        session_config: The session's ``ConfigProto``.
        session_wrapper: A function of the session that returns the one to use.
        trace_every_n_steps: How often a trace of the step is written into ``logdir``; None for never.
        ignore_live_threads: Whether threads that do not stop in time are ignored.

    Returns:
        The last loss; None if there was no step.

    Raises:
        ValueError: An argument is wrong; the message names it.

    Attention: this is **not** thread-safe: it finalizes the graph and runs in the calling thread until training ends.
    """
    optimizers = [] if sync_optimizer is None else list(_listed(sync_optimizer))
    _check_train(
        train_op, logdir, summary_op, saver, trace_every_n_steps, optimizers, startup_delay_steps, number_of_steps
    )
    with (graph or tf.get_default_graph()).as_default() as graph:
        global_step = tf.train.get_or_create_global_step() if global_step is None else global_step
        saver = saver or tf.train.Saver()
        operations = _operations(init_op, local_init_op, ready_op, summary_op, optimizers, is_chief)
        if train_step_kwargs is _DEFAULT:
            train_step_kwargs = _step_arguments(
                global_step, number_of_steps, log_every_n_steps, trace_every_n_steps if is_chief else None, logdir
            )
    supervisor = tf.train.Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_feed_dict=init_feed_dict,
        summary_writer=_given(summary_writer, lambda: tf.train.Supervisor.USE_DEFAULT),
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
        **operations.of_supervisor,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    delay = min(startup_delay_steps, number_of_steps or startup_delay_steps)
    with supervisor.managed_session(master, start_standard_services=False, config=session_config) as session:
        session = session_wrapper(session) if session_wrapper is not None else session
        with _services(supervisor, session, operations, logdir, delay, ignore_live_threads):
            return _make_steps(supervisor, lambda: train_step_fn(session, train_op, global_step, train_step_kwargs))


class _Operations(NamedTuple):
    """The operations of the graph that run beside the training steps."""

    of_supervisor: dict[str, Any]
    queue_runners: list[Any]
    init_tokens: list[Any]


def _operations(
    init_op: Any, local_init_op: Any, ready_op: Any, summary_op: Any, optimizers: Sequence[Any], is_chief: bool
) -> _Operations:
    """Makes what is not given, and what optimizers need that wait for replicas."""
    init_op = _given(init_op, tf.global_variables_initializer)
    ready_op = _given(ready_op, tf.report_uninitialized_variables)
    local_init_op = _given(local_init_op, lambda: tf.group(tf.local_variables_initializer(), tf.tables_initializer()))
    ready_for_local_init_op, queue_runners, init_tokens = None, [], []
    for optimizer in optimizers:
        queue_runners.append(optimizer.get_chief_queue_runner())
        if is_chief:
            init_tokens.append(optimizer.get_init_tokens_op())
            own = optimizer.chief_init_op
        else:
            own = optimizer.local_step_init_op
        local_init_op = tf.group(local_init_op, own)
        ready_for_local_init_op = optimizer.ready_for_local_init_op
    of_supervisor = {
        "init_op": init_op,
        "local_init_op": local_init_op,
        "ready_for_local_init_op": ready_for_local_init_op,
        "ready_op": ready_op,
        "summary_op": _given(summary_op, tf.summary.merge_all),
    }
    return _Operations(of_supervisor, queue_runners, init_tokens)


def _given(value: Any, make: Callable[[], Any]) -> Any:
    return make() if value is _DEFAULT else value


@contextlib.contextmanager
def _services(
    supervisor: Any, session: Any, operations: _Operations, logdir: str | None, delay: int, ignore_live_threads: bool
) -> Iterator[None]:
    """Run the supervisor's threads beside the training, and write a checkpoint at the end."""
    tf.logging.info("Starting Session.")
    if supervisor.is_chief:
        if logdir:
            supervisor.start_standard_services(session)
    elif delay > 0:
        _wait_for_step(session, supervisor.global_step, delay)
    threads = supervisor.start_queue_runners(session)
    tf.logging.info("Starting Queues.")
    if supervisor.is_chief and operations.queue_runners:
        supervisor.start_queue_runners(session, operations.queue_runners)
        session.run(operations.init_tokens)
    yield
    if logdir and supervisor.is_chief:
        tf.logging.info("Finished training! Saving model to disk.")
        supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)


def _check_train(
    train_op: Any,
    logdir: str | None,
    summary_op: Any,
    saver: Any,
    trace_every_n_steps: int | None,
    optimizers: Sequence[Any],
    startup_delay_steps: int,
    number_of_steps: int | None,
) -> None:
    """Checks the arguments of :func:`train`."""
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op is not _DEFAULT and summary_op is not None:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace_every_n_steps is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _make_steps(supervisor: Any, step: Callable[[], tuple[Any, Any]]) -> Any:
    """Makes steps until one asks to stop, the supervisor does, or the data ends; gives the last loss."""
    total_loss = None
    try:
        while not supervisor.should_stop():
            total_loss, should_stop = step()
            if should_stop:
                tf.logging.info("Stopping Training.")
                supervisor.request_stop()
                break
    except tf.errors.OutOfRangeError as error:  # the data has ended
        tf.logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
    return total_loss


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _step_arguments(
    global_step: Any, number_of_steps: int | None, log_every: int, trace_every: int | None, logdir: str | None
) -> dict[str, Any]:
    with tf.name_scope("train_step"):
        arguments: dict[str, Any] = {}
        if number_of_steps:
            arguments["should_stop"] = tf.greater_equal(global_step, number_of_steps)
        else:
            arguments["should_stop"] = tf.constant(False)
        if log_every > 0:
            arguments["should_log"] = tf.equal(tf.math.mod(global_step, log_every), 0)
        if trace_every is not None:
            arguments["should_trace"] = tf.equal(tf.math.mod(global_step, trace_every), 0)
            arguments["logdir"] = logdir
        return arguments


def _wait_for_step(session: Any, global_step: Any, step: int) -> None:
    """Polls once a second until the chief has got there."""
    while session.run(global_step) < step:
        tf.logging.info("Waiting for step %d before starting training.", step)
        time.sleep(1)
