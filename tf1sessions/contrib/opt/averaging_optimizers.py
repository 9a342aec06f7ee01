"""Optimizers of workers that train copies of the variables and share them from time to time.

Data flow: the custom getter, given to the variable scope, makes for each trained variable a local copy, under the
variable's own name, and a global one on the parameter server, ``global_center_variable/<name>``. A worker's steps
change its copies; each ``period``-th one changes the global variables too, and adds 1 to the global step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from .._wrapped_optimizer import WrappedOptimizer

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
]

_GLOBAL = "global_center_variable"
_LOCAL_CENTER = "local_center_variable"
_GRADIENT = "grad_variable"


class _CustomGetter:
    """Base: makes the local and the global copy of each trained variable; subclasses make more."""

    def __init__(self, worker_device: Any) -> None:
        self._worker_device = worker_device
        self._global_map: dict[str, Any] = {}

    def __call__(self, getter: Any, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any) -> Any:
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with tf.device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=[tf.GraphKeys.LOCAL_VARIABLES], **kwargs)
        if name not in self._global_map:  # else it is a reuse
            self._global_map[name] = _copy(local, _GLOBAL, tf.GraphKeys.GLOBAL_VARIABLES)
            with tf.device(self._worker_device):
                self._more(local, name)
        return local

    def _more(self, local: Any, name: str) -> None:
        """Makes what else is kept of the variable on the worker."""


def _copy(variable: Any, prefix: str, collection: str) -> Any:
    """A variable with the initial value of ``variable``, or its value if that is initialized first."""
    name = f"{prefix}/{variable.op.name}"
    with tf.name_scope(f"{name}/"):
        value = tf.cond(
            tf.is_variable_initialized(variable), variable.read_value, lambda: tf.identity(variable.initial_value)
        )
    value.set_shape(variable.shape)
    return tf.Variable(value, name=name, trainable=False, collections=[collection])


class ModelAverageCustomGetter(_CustomGetter):
    """The getter for :class:`ModelAverageOptimizer`.

    Args:
        worker_device: The device of the local copies.

    Example::

        getter = ModelAverageCustomGetter("/job:worker/task:0")
        with tf.variable_scope("", custom_getter=getter):
            weights = tf.get_variable("weights", [3, 2])
    """


class ElasticAverageCustomGetter(_CustomGetter):
    """The getter for :class:`ElasticAverageOptimizer`; it keeps the last global values that a worker has seen, too.

    Args:
        worker_device: The device of the local copies.
    """

    def __init__(self, worker_device: Any) -> None:
        super().__init__(worker_device)
        self._local_map: dict[str, Any] = {}

    def _more(self, local: Any, name: str) -> None:
        self._local_map[name] = _copy(local, _LOCAL_CENTER, tf.GraphKeys.LOCAL_VARIABLES)


class AGNCustomGetter(_CustomGetter):
    """The getter for :class:`AGNOptimizer`; it keeps the sum of the gradients, too.

    As in 1.15, the sum begins with the value of the variable.

    Args:
        worker_device: The device of the local copies.
    """

    def __init__(self, worker_device: Any) -> None:
        super().__init__(worker_device)
        self._grad_map: dict[str, Any] = {}

    def _more(self, local: Any, name: str) -> None:
        self._grad_map[name] = _copy(local, _GRADIENT, tf.GraphKeys.LOCAL_VARIABLES)


class _LocalOptimizer(WrappedOptimizer):
    """Base: steps of ``opt`` on the local copies, and every ``period``-th time what a subclass does to share them."""

    def __init__(self, opt: Any, period: int, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._period = period
        self._local_step = tf.get_variable(
            "local_step",
            initializer=tf.zeros([], tf.int32),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
        )

    def _then(self, done: list[Any], share: Callable[[], Any], name: str | None = None) -> Any:
        """After ``done``, counts the local step, and calls ``share`` if it is time."""
        with tf.control_dependencies(done):
            step = tf.identity(self._local_step.assign_add(1))
        return tf.cond(
            tf.equal(tf.math.floormod(step, self._period), 0), lambda: tf.group(share()), tf.no_op, name=name or "cond"
        )


def _pairs(grads_and_vars: Any) -> list[tuple[Any, Any]]:
    pairs = list(grads_and_vars)
    if not pairs:
        raise ValueError("Must supply at least one variable")
    return pairs


class _Start(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs an operation once after the session is there."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def begin(self) -> None:
        self._start = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._start)


class ModelAverageOptimizer(_LocalOptimizer):
    """Each ``interval_steps`` steps, all workers wait for each other and get the average of their variables.

    Args:
        opt: The optimizer of the local copies.
        num_worker: The number of workers.
        is_chief: Whether this is the one that writes the averages.
        ma_custom_getter: The getter that the variables were made with.
        interval_steps: How often.
        use_locking: Whether updates take locks.
        name: Of the operations.
    """

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, interval_steps, use_locking, name)
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._global_map = ma_custom_getter._global_map

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``; ``global_step`` counts the averages.

        Raises:
            ValueError: There is no variable, or no ``global_step``.
        """
        pairs = _pairs(grads_and_vars)
        if global_step is None:
            raise ValueError("Global step is required")
        applied = self._opt.apply_gradients(pairs)
        variables = [var for _, var in pairs]
        return self._then([applied], lambda: self._average(variables, global_step), name)

    def _average(self, variables: list[Any], global_step: Any) -> Any:
        """Waits until all workers have given their values; returns the local copies with the averages."""
        averages = []
        given = []
        version = tf.cast(global_step, tf.int64)
        for var in variables:
            center = self._global_map[var.op.name]
            with tf.device(center.device):
                sums = tf.ConditionalAccumulator(
                    var.dtype.base_dtype, var.shape, shared_name=f"{center.op.name}/var_accum"
                )
                given.append(sums.apply_grad(var, local_step=version))
                averages.append((center, sums))
        with tf.device(global_step.device):
            tokens = tf.FIFOQueue(-1, [global_step.dtype.base_dtype], shapes=[[]], shared_name="sync_token_q")
        waits = list(given)
        if self._is_chief:
            with tf.control_dependencies(given):
                written = [
                    center.assign(sums.take_grad(self._num_worker), use_locking=self._use_locking)
                    for center, sums in averages
                ]
            with tf.control_dependencies(written):
                step = tf.identity(global_step.assign_add(1))
            waits.append(tokens.enqueue_many(tf.fill([self._num_worker], step)))
        with tf.control_dependencies(waits):
            token = tokens.dequeue()
        with tf.control_dependencies([token]):
            return tf.group(*[var.assign(self._global_map[var.op.name].read_value()) for var in variables])

    def get_init_op(self) -> Any:
        """The operation that gives all local copies the global values, for before the training."""
        return tf.group(*[var.assign(self._global_map[var.op.name].read_value()) for var in _trained(self._global_map)])

    def make_session_run_hook(self) -> Any:
        """A hook that runs :meth:`get_init_op` at the start."""
        return _Start(self.get_init_op)


def _trained(known: dict[str, Any]) -> list[Any]:
    return [var for var in tf.trainable_variables() if var.op.name in known]


class ElasticAverageOptimizer(_LocalOptimizer):
    """Elastic averaging SGD (arXiv 1412.6651): now and then, local and global variables move towards each other.

    Args:
        opt: The optimizer of the local copies.
        num_worker: The number of workers.
        ea_custom_getter: The getter that the variables were made with.
        communication_period: How often, in local steps.
        moving_rate: How far they move; None for ``BETA / communication_period / num_worker``.
        rho: How much the distance from the global values counts in the loss; None for ``moving_rate / learning_rate``.
        use_locking: Whether updates take locks.
        synchronous: Whether the workers wait for each other before the training.
        name: Of the operations.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, communication_period, use_locking, name)
        self._num_worker = num_worker
        self._global_map = ea_custom_getter._global_map
        self._local_map = ea_custom_getter._local_map
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._synchronous = synchronous

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Compute the inner optimizer's gradients of the loss and ``rho`` times the distance from the global values."""
        variables = tf.trainable_variables() if var_list is None else var_list
        distances = [tf.nn.l2_loss(var - self._local_map[var.op.name]) for var in variables]
        return self._opt.compute_gradients(
            loss + self._rho * tf.add_n(distances),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``; ``global_step`` counts the meetings of local and global values.

        Raises:
            ValueError: There is no variable.
        """
        pairs = _pairs(grads_and_vars)
        applied = self._opt.apply_gradients(pairs)
        variables = [var for _, var in pairs]
        return self._then([applied], lambda: self._meet(variables, global_step), name)

    def _meet(self, variables: list[Any], global_step: Any) -> Any:
        updates = []
        for var in variables:
            center = self._global_map[var.op.name]
            seen = self._local_map[var.op.name].assign(center.read_value(), use_locking=self._use_locking)
            move = self._moving_rate * (var.read_value() - seen)
            with tf.control_dependencies([move]):
                updates.append(var.assign_sub(move, use_locking=self._use_locking))
                updates.append(center.assign_add(move, use_locking=self._use_locking))
        if global_step is not None:
            with tf.control_dependencies(updates), tf.colocate_with(global_step):
                updates.append(global_step.assign_add(1))
        return tf.group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """The operation that gives the local copies of worker ``task_index`` the global values."""
        updates = []
        for var in _trained(self._global_map):
            center = self._global_map[var.op.name].read_value()
            updates += [var.assign(center), self._local_map[var.op.name].assign(center)]
        start = tf.group(*updates)
        if not self._synchronous:
            return start
        queues = [
            tf.FIFOQueue(self._num_worker, [tf.bool], shapes=[[]], shared_name=f"ea_sync_queue_{task}")
            for task in range(self._num_worker)
        ]
        with tf.control_dependencies([start]):
            arrived = [queue.enqueue(True) for task, queue in enumerate(queues) if task != task_index]
        with tf.control_dependencies(arrived):
            return tf.group(queues[task_index].dequeue_many(self._num_worker - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """A hook that runs :meth:`get_init_op` at the start."""
        return _Start(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that saves the global values under the names of the variables, for evaluation.

        Args:
            var_list: As for ``Saver``; the trained variables without it.
            name: Of the saver.
            **kwargs: Of ``Saver``.

        Raises:
            RuntimeError: No variable was made with the getter.
        """
        if not self._global_map:
            raise RuntimeError("The map of global center variables is empty: make the model with the custom getter")
        variables = tf.trainable_variables() if var_list is None else var_list
        named = dict(variables) if isinstance(variables, dict) else {var.op.name: var for var in variables}
        saved = {key: self._global_map.get(var.op.name, var) for key, var in named.items()}
        return tf.train.Saver(saved, name=name, **kwargs)


class AGNOptimizer(_LocalOptimizer):
    """Accumulated gradient normalization (arXiv 1710.02368): workers give the mean gradient of several local steps.

    Args:
        optimizer: The optimizer of the global variables; the local steps are its own, too.
        num_worker: The number of workers.
        custom_getter: The getter that the variables were made with.
        communication_period: How often, in local steps.
        use_locking: Whether updates take locks.
        name: Of the operations.
    """

    def __init__(
        self,
        optimizer: Any,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, communication_period, use_locking, name)
        self._num_worker = num_worker
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``; ``global_step`` counts the steps of the global variables.

        Raises:
            ValueError: There is no variable.
        """
        pairs = [(grad, var) for grad, var in _pairs(grads_and_vars) if grad is not None]
        sums = [self._grad_map[var.op.name].assign_add(tf.convert_to_tensor(grad)) for grad, var in pairs]
        applied = self._opt.apply_gradients(pairs)
        variables = [var for _, var in pairs]
        return self._then([applied, *sums], lambda: self._give(variables, global_step), name)

    def _give(self, variables: list[Any], global_step: Any) -> Any:
        centers = [self._global_map[var.op.name] for var in variables]
        sums = [self._grad_map[var.op.name] for var in variables]
        means = [tf.math.divide(total.read_value(), self._period) for total in sums]
        given = self._opt.apply_gradients(list(zip(means, centers, strict=True)), global_step)
        with tf.control_dependencies([given]):
            taken = [var.assign(center.read_value()) for var, center in zip(variables, centers, strict=True)]
            cleared = [total.assign(tf.zeros(total.shape, total.dtype.base_dtype)) for total in sums]
        return tf.group(*taken, *cleared)

    def get_init_op(self, task_index: int) -> Any:
        """The operation that gives the local copies of worker ``task_index`` the global values."""
        return tf.group(*[var.assign(self._global_map[var.op.name].read_value()) for var in _trained(self._global_map)])

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """A hook that runs :meth:`get_init_op` at the start."""
        return _Start(lambda: self.get_init_op(task_index))
