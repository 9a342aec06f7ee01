"""Training: from a loss to an op that trains, and a loop that runs it.

Data flow: :func:`create_train_op` makes one tensor that updates everything and gives the loss; :func:`train` runs it
in a ``MonitoredTrainingSession`` until a hook stops it. Building graphs is for one thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "multiply_gradients",
    "train",
]

_log = logging.getLogger("tensorflow")  # the one that tf.logging writes to

_USE_GLOBAL_STEP = 0
GradsAndVars = Sequence[tuple[Any, Any]]


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Any]:
    """Adds a histogram and the norm of each gradient to the summaries, and returns these."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            _log.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        summaries.append(tf.summary.histogram(f"{var.op.name}_gradient", values))
        summaries.append(tf.summary.scalar(f"{var.op.name}_gradient_norm", tf.global_norm([values])))
    return summaries


def clip_gradient_norms(gradients_to_variables: GradsAndVars, max_norm: Any) -> list[tuple[Any, Any]]:
    """The pairs with each gradient's own norm brought down to ``max_norm``; a gradient that is None stays."""
    clipped = []
    for grad, var in gradients_to_variables:
        if isinstance(grad, tf.IndexedSlices):
            values = tf.clip_by_norm(grad.values, max_norm)
            grad = tf.IndexedSlices(values, grad.indices, grad.dense_shape)
        elif grad is not None:
            grad = tf.clip_by_norm(grad, max_norm)
        clipped.append((grad, var))
    return clipped


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[GradsAndVars], list[tuple[Any, Any]]]:
    """:func:`clip_gradient_norms` as a ``transform_grads_fn`` of :func:`create_train_op`."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars: GradsAndVars, gradient_multipliers: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """The pairs with some gradients multiplied.

    Args:
        grads_and_vars: A list of pairs.
        gradient_multipliers: ``{variable or its name: factor}``.

    Raises:
        ValueError: An argument is of another kind, there is no factor, or one for a gradient that is None.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    # by reference: `==` of variables may be an op
    by_variable = {id(key): factor for key, factor in gradient_multipliers.items() if not isinstance(key, str)}
    by_name = {key: factor for key, factor in gradient_multipliers.items() if isinstance(key, str)}
    multiplied = []
    for grad, var in grads_and_vars:
        if id(var) in by_variable or var.op.name in by_name:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = by_variable[id(var)] if id(var) in by_variable else by_name[var.op.name]
            if isinstance(grad, tf.IndexedSlices):
                values = grad.values * tf.convert_to_tensor(factor, dtype=grad.dtype)
                grad = tf.IndexedSlices(values, grad.indices, grad.dense_shape)
            else:
                grad *= tf.convert_to_tensor(factor, dtype=grad.dtype)
        multiplied.append((grad, var))
    return multiplied


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[GradsAndVars], GradsAndVars] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,  # tf.train.Optimizer.GATE_OP
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """A tensor that updates the variables and gives the loss when it is run.

    Args:
        total_loss: The loss, a scalar.
        optimizer: A ``tf.train.Optimizer``.
        global_step: The variable to count steps in; the default is the graph's, made if there is none; None counts
            nothing.
        update_ops: What to run before the loss is computed; None means the collection ``tf.GraphKeys.UPDATE_OPS``.
        variables_to_train: Some of ``tf.trainable_variables()``; None means all.
        transform_grads_fn: Gets the list of (gradient, variable) and returns the one to apply.
        summarize_gradients: Whether to add summaries of the gradients.
        gate_gradients: See ``tf.train.Optimizer.compute_gradients``; so are the next two.
        aggregation_method: See there.
        colocate_gradients_with_ops: See there.
        check_numerics: Whether a loss that is infinite or no number is an error when the op runs.

    Raises:
        ValueError: No variable has a gradient.
        AssertionError: ``variables_to_train`` is empty or has a variable that is not trainable.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = tf.train.get_or_create_global_step()

    collected = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    updates = list(collected if update_ops is None else update_ops)
    if not {id(op) for op in collected} <= {id(op) for op in updates}:
        _log.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with tf.control_dependencies(updates):
            barrier = tf.no_op(name="update_barrier")
        with tf.control_dependencies([barrier]):
            total_loss = tf.identity(total_loss, name="control_dependency")

    trainable = tf.trainable_variables()
    if variables_to_train is None:
        variables_to_train = trainable
    if not variables_to_train:
        raise AssertionError("create_train_op: there is no variable to train")
    for variable in variables_to_train:
        if not any(variable is other for other in trainable):
            raise AssertionError(f"create_train_op: {variable.name} is not one of tf.trainable_variables()")

    grads = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn is not None:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    applied = optimizer.apply_gradients(grads, global_step=global_step)

    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
        with tf.control_dependencies([applied]):
            train_op = tf.identity(total_loss, name="control_dependency")
    collection = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
    if not any(op is train_op for op in collection):
        collection.append(train_op)
    return train_op


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: int | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs ``train_op`` until a hook asks to stop, with checkpoints and summaries in ``logdir``.

    Args:
        train_op: What :func:`create_train_op` gave.
        logdir: The folder; None if nothing is to be saved.
        master: The address of a TensorFlow server; "" is this process.
        is_chief: Whether this is the process that initializes and saves.
        scaffold: A ``tf.train.Scaffold``.
        hooks: ``tf.train.SessionRunHook`` objects; without one that stops, training does not end.
        chief_only_hooks: Those of the chief.
        save_checkpoint_secs: Seconds between checkpoints; None for no checkpoints.
        save_summaries_steps: Steps between summaries; None for no summaries.
        config: A ``tf.ConfigProto``.
        max_wait_secs: How long a worker waits for the chief.
        run_metadata: A ``tf.RunMetadata`` that each run fills.

    Returns:
        What ``train_op`` gave last; None if it never ran.

    Raises:
        ValueError: ``logdir`` is None and something is to be saved.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with tf.train.MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
