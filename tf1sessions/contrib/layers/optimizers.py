"""optimize_loss: a train step from a loss, with decay, noise, multipliers, clipping and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

#: The optimizers that have a name; each is called with the learning rate.
OPTIMIZER_CLS_NAMES: dict[str, Callable[[Any], Any]] = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]

Pairs = list[tuple[Any, Any]]  # of a gradient and its variable


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The train step of ``loss``: a tensor that makes the step when it is fetched, and is the loss.

    Args:
        loss: A scalar.
        global_step: The global step, or None for the graph's, if it has one.
        learning_rate: A float, 0 or above, a scalar tensor, or None. A float becomes the variable ``learning_rate``.
        optimizer: A name of :data:`OPTIMIZER_CLS_NAMES`, a class or function called with the learning rate, or an
            optimizer.
        gradient_noise_scale: The standard deviation of noise that is added to the gradients.
        gradient_multipliers: ``{variable or its name, such as "w:0": factor}``.
        clip_gradients: The greatest global norm, or a function of the list of (gradient, variable); None for neither.
        learning_rate_decay_fn: A function of the learning rate and the global step.
        update_ops: Operations to run before; those of UPDATE_OPS unless given.
        variables: What is trained; TRAINABLE_VARIABLES unless given.
        name: The variable scope.
        summaries: Some of :data:`OPTIMIZER_SUMMARIES`; "loss", "learning_rate" and "global_gradient_norm" unless given.
        colocate_gradients_with_ops: As in ``tf.gradients``.
        increment_global_step: Whether the step counts.

    Raises:
        ValueError: An argument is wrong; the message names it.
    """
    loss = tf.convert_to_tensor(loss)
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        if updates:
            with tf.control_dependencies(list(updates)):
                loss = tf.identity(loss)
        wanted = _wanted(summaries)
        rate = _learning_rate(learning_rate)
        if learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in wanted:
                tf.summary.scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate)
        trained = tf.trainable_variables() if variables is None else variables
        pairs: Pairs = made.compute_gradients(loss, trained, colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = [(_noisy(gradient, gradient_noise_scale), variable) for gradient, variable in pairs]
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        if "global_gradient_norm" in wanted:
            tf.summary.scalar("global_norm/gradient_norm", tf.global_norm([gradient for gradient, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            tf.summary.scalar("loss", loss)
        for gradient, variable in pairs:
            values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
            if values is None:
                continue
            tag = variable.name.replace(":", "_")
            if "gradients" in wanted:
                tf.summary.histogram(f"gradients/{tag}", values)
            if "gradient_norm" in wanted:
                tf.summary.scalar(f"gradient_norm/{tag}", tf.global_norm([values]))
        if clip_gradients is not None and "global_gradient_norm" in wanted:
            tf.summary.scalar("global_norm/clipped_gradient_norm", tf.global_norm([gradient for gradient, _ in pairs]))
        step = made.apply_gradients(pairs, global_step=global_step if increment_global_step else None, name="train")
        with tf.control_dependencies([step]):
            return tf.identity(loss, name="control_dependency")


def adaptive_clipping_fn(
    std_factor: Any = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Pairs], Pairs]:
    """Return a ``clip_gradients`` of :func:`optimize_loss`: gradients larger than usual become as large as usual.

    What is usual is a moving average of the logarithm of the global norm, in variables that are not trained
    (https://arxiv.org/abs/1412.1602, section 3.2.1).

    Args:
        std_factor: How many standard deviations above the mean are still usual.
        decay: How slowly the moving averages move.
        static_max_norm: A norm that the result never exceeds.
        global_step: With it the averages move faster in the first steps: by n / (n + 1) if that is less than ``decay``.
        report_summary: Whether the greatest usual norm is in a summary.
        epsilon: The least variance.
        name: The scope of the variables, "AdaptiveMaxNorm" unless given.
    """

    def clip(pairs: Pairs) -> Pairs:
        gradients = [gradient for gradient, _ in pairs]
        norm = tf.global_norm(gradients)
        with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
            mean, limit = _usual_norm(tf.log(norm + epsilon), std_factor, decay, global_step, epsilon)
        if report_summary:
            tf.summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        factor = tf.where(norm < limit, tf.ones_like(norm), tf.exp(mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        scaled = [
            tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
            if isinstance(gradient, tf.IndexedSlices)
            else gradient
            if gradient is None
            else gradient * factor
            for gradient in gradients
        ]
        return list(zip(scaled, [variable for _, variable in pairs], strict=True))

    return clip


def _usual_norm(log_norm: Any, std_factor: Any, decay: Any, global_step: Any, epsilon: float) -> tuple[Any, Any]:
    """The mean of the logarithm of the norm, moved towards ``log_norm``, and the greatest usual norm; scalars."""
    if global_step is not None:
        step = tf.cast(global_step, log_norm.dtype)
        decay = tf.minimum(decay, step / (step + 1.0))

    def moved(name: str, value: Any) -> Any:
        average = tf.get_variable(
            name, shape=[], dtype=value.dtype, initializer=tf.zeros_initializer(), trainable=False
        )
        return tf.assign_sub(average, (average - value) * (1.0 - decay))

    mean = moved("mean", log_norm)
    square = moved("sq_mean", tf.square(log_norm))
    deviation = tf.sqrt(tf.maximum(epsilon, square - tf.square(mean)))
    return mean, tf.exp(mean + std_factor * deviation)


def _wanted(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for summary in summaries:
        if summary not in OPTIMIZER_SUMMARIES:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {summary}.")
    return summaries


def _learning_rate(learning_rate: Any) -> Any:
    if learning_rate is None:
        return None
    if isinstance(learning_rate, tf.Tensor) and learning_rate.shape.rank == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise ValueError(f"Invalid learning_rate {learning_rate}.")
    return tf.get_variable("learning_rate", [], trainable=False, initializer=tf.constant_initializer(learning_rate))


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](rate)
    if isinstance(optimizer, type) and issubclass(optimizer, tf.train.Optimizer):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is class ({optimizer}).")
        return optimizer(learning_rate=rate)
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if rate is None else optimizer(rate)
        if not isinstance(made, tf.train.Optimizer):
            raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or "
        f"function with one argument. Got {optimizer}."
    )


def _noisy(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    shape = gradient.dense_shape if isinstance(gradient, tf.IndexedSlices) else gradient.shape
    return gradient + tf.truncated_normal(shape) * scale


def _multiplied(pairs: Pairs, multipliers: Mapping[Any, Any]) -> Pairs:
    by_name = {key if isinstance(key, str) else key.name: factor for key, factor in multipliers.items()}
    changed = []
    for gradient, variable in pairs:
        if gradient is not None and variable.name in by_name:
            factor = tf.constant(by_name[variable.name], dtype=tf.float32)
            if isinstance(gradient, tf.IndexedSlices):
                gradient = tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
            else:
                gradient *= factor
        changed.append((gradient, variable))
    return changed


def _clipped(pairs: Pairs, clip_gradients: Any) -> Pairs:
    if clip_gradients is None:
        return pairs
    if isinstance(clip_gradients, float):
        clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], clip_gradients)
        return list(zip(clipped, [variable for _, variable in pairs], strict=True))
    if callable(clip_gradients):
        return list(clip_gradients(pairs))
    raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
