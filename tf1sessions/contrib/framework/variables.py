"""Variables and the collections that they are in: model variables, global steps, and ways to choose among them.

Every function works on the default graph. Making variables is for the one thread that builds the graph.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .arg_scope import add_arg_scope

__all__ = [
    "VariableDeviceChooser",
    "add_model_variable",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "local_variable",
    "model_variable",
    "variable",
    "zero_initializer",
]


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises a ``TypeError`` unless it is a scalar variable of a whole-number type, as a global step has to be."""
    tf.train.assert_global_step(global_step_tensor)


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """Returns ``global_step_tensor`` after checking it; without one, the graph's global step or None."""
    if global_step_tensor is None:
        return tf.train.get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def get_global_step(graph: Any = None) -> Any:
    """Returns the graph's global step, or None."""
    return tf.train.get_global_step(graph)


def create_global_step(graph: Any = None) -> Any:
    """Makes the graph's global step; a ``ValueError`` if it has one."""
    return tf.train.create_global_step(graph)


def get_or_create_global_step(graph: Any = None) -> Any:
    """Returns the graph's global step, made if there is none."""
    return tf.train.get_or_create_global_step(graph)


def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: Any = None
) -> Any:
    """A variable in LOCAL_VARIABLES only: it is neither trained nor saved."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def global_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: Any = None
) -> Any:
    """A variable in GLOBAL_VARIABLES only: it is saved and not trained."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """``tf.get_variable`` on ``device``, in ``collections`` (GLOBAL_VARIABLES unless given).

    Args:
        name: The variable's name below the variable scope.
        shape: Its shape.
        dtype: Its type; float32 unless the initializer or scope says otherwise.
        initializer: Its initializer, or the scope's.
        regularizer: A function of the variable; what it returns goes to REGULARIZATION_LOSSES.
        trainable: Whether it is in TRAINABLE_VARIABLES too.
        collections: A collection or a list of them.
        caching_device: Where reads are cached.
        device: A device, or a function of the operation that returns one.
        partitioner: Splits the variable.
        custom_getter: As in ``tf.get_variable``.
        use_resource: As in ``tf.get_variable``.
        synchronization: As in ``tf.get_variable``.
        aggregation: As in ``tf.get_variable``.
    """
    names = [tf.GraphKeys.GLOBAL_VARIABLES] if collections is None else _as_list(collections)
    with tf.device(device or ""):
        return tf.get_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer and _once(regularizer),
            trainable=trainable,
            collections=list(dict.fromkeys(names)),
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=custom_getter,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


def _once(regularizer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``regularizer`` in the name scope of its variable; today's ``get_variable`` asks for each penalty twice."""
    penalties: dict[str, Any] = {}

    def regularize(variable: Any) -> Any:
        name = variable.op.name
        if name not in penalties:
            with tf.name_scope(f"{name}/Regularizer/"):
                penalties[name] = regularizer(variable)
        return penalties[name]

    return regularize


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """:func:`variable` in GLOBAL_VARIABLES and MODEL_VARIABLES, besides ``collections``."""
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[
            *_as_list(collections or []),
            tf.GraphKeys.GLOBAL_VARIABLES,
            tf.GraphKeys.MODEL_VARIABLES,
        ],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def _as_list(names: Any) -> list[Any]:
    return [names] if isinstance(names, str) else list(names)


def add_model_variable(var: Any) -> None:
    """Adds ``var`` to MODEL_VARIABLES, once."""
    if not any(var is known for known in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)):
        tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, var)


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = tf.GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of ``collection`` below ``scope`` whose names end with ``suffix``.

    Args:
        scope: A variable scope or its name, as a regular expression for the name's start.
        suffix: The last part of the name, such as "weights".
        collection: The collection.
    """
    if isinstance(scope, tf.VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "") + ".*" + (suffix if ":" in suffix else suffix + ":")
    found: list[Any] = tf.get_collection(collection, scope)
    return found


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """:func:`get_variables` of MODEL_VARIABLES."""
    return get_variables(scope, suffix, tf.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """:func:`get_variables` of LOCAL_VARIABLES."""
    return get_variables(scope, suffix, tf.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """:func:`get_variables` of TRAINABLE_VARIABLES."""
    return get_variables(scope, suffix, tf.GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables below ``scope`` whose names end with ``suffix``."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables below ``scope`` whose last name is ``given_name``."""
    suffix = f"/{given_name}:|^{given_name}:"
    return get_variables(scope=scope, suffix=suffix)


def get_unique_variable(var_op_name: str) -> Any:
    """The one global variable whose operation has that name.

    Raises:
        ValueError: There is none, or there are several.
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    found = [candidate for candidate in candidates if candidate.op.name == var_op_name]
    if len(found) == 1:
        return found[0]
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The global variables below the scopes of ``include`` (all, without it), without those below ``exclude``."""
    if include is None:
        chosen = get_variables()
    else:
        if not isinstance(include, (list, tuple)):
            raise TypeError("include must be a list or a tuple of variable scopes")
        chosen = [var for scope in include for var in get_variables(scope)]
    left_out: set[int] = set()
    if exclude is not None:
        if not isinstance(exclude, (list, tuple)):
            raise TypeError("exclude must be a list or a tuple of variable scopes")
        left_out = {id(var) for scope in exclude for var in get_variables(scope)}
    return [var for var in chosen if id(var) not in left_out]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose operation's name fits a pattern of ``include_patterns`` and none of ``exclude_patterns``.

    Args:
        var_list: Variables.
        include_patterns: Regular expressions; all variables without them.
        exclude_patterns: Regular expressions.
        reg_search: Whether a pattern may fit anywhere in the name, and not at its start only.
    """
    fits = re.search if reg_search else re.match

    def any_fits(patterns: Sequence[str], var: Any) -> bool:
        return any(fits(pattern, var.op.name) for pattern in patterns)

    return [
        var
        for var in var_list
        if (not include_patterns or any_fits(include_patterns, var))
        and not (exclude_patterns and any_fits(exclude_patterns, var))
    ]


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """An operation that initializes the variable ``ref`` to zeros and returns it; an error if it is initialized."""
    first = tf.logical_not(tf.is_variable_initialized(ref))
    with tf.control_dependencies([tf.Assert(first, ["input is already initialized"])]):
        return tf.assign(ref, tf.zeros(ref.shape, ref.dtype.base_dtype), use_locking=use_locking, name=name)


def get_variable_full_name(var: Any) -> str:
    """The name under which ``var``, or the variable that it is a slice of, is saved."""
    info = getattr(var, "_save_slice_info", None)
    name: str = info.full_name if info is not None else var.op.name
    return name


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns ``{variable's operation name: value}``, and the feeds that it needs."""
    feeds: dict[Any, Any] = {}
    assignments = []
    with tf.name_scope("assign_from_values"):
        for name, value in var_names_to_values.items():
            var = get_unique_variable(name)
            value = np.asarray(value)
            placeholder = tf.placeholder(var.dtype.base_dtype, value.shape, name=f"placeholder/{var.op.name}")
            assignments.append(var.assign(placeholder))
            feeds[placeholder] = value.reshape(var.shape.as_list())
        return tf.group(*assignments), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that assigns ``{variable's operation name: value}``."""
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


def _by_saved_name(var_list: Any) -> dict[str, Any]:
    """``{name in the checkpoint: variable or its slices}``."""
    if isinstance(var_list, Mapping):
        return dict(var_list)
    found: dict[str, Any] = {}
    for var in var_list:
        name = get_variable_full_name(var)
        if getattr(var, "_save_slice_info", None) is not None:
            found.setdefault(name, []).append(var)
        else:
            found[name] = var
    return found


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns the checkpoint's values, and the feeds that it needs.

    Args:
        model_path: The checkpoint.
        var_list: Variables, or ``{name in the checkpoint: variable or list of its slices}``.
        ignore_missing_vars: Whether variables that the checkpoint lacks are left as they are.

    Raises:
        ValueError: The checkpoint lacks a variable, or has it with another number of elements.
    """
    reader = tf.train.NewCheckpointReader(model_path)
    feeds: dict[Any, Any] = {}
    assignments = []
    for name, target in _by_saved_name(var_list).items():
        if not reader.has_tensor(name):
            text = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(text)
            tf.logging.warning(text)
            continue
        value = reader.get_tensor(name)
        for var in target if isinstance(target, (list, tuple)) else [target]:
            info = getattr(var, "_save_slice_info", None)
            part = value
            if info is not None:
                part = value[tuple(slice(o, o + n) for o, n in zip(info.var_offset, info.var_shape, strict=True))]
            shape = var.shape.as_list()
            if part.size != np.prod(shape):
                raise ValueError(
                    f"Total size of new array must be unchanged for {name} "
                    f"lh_shape: [{list(part.shape)}], rh_shape: [{shape}]"
                )
            placeholder = tf.placeholder(var.dtype.base_dtype, shape, name=f"checkpoint/{var.op.name}")
            assignments.append(var.assign(placeholder))
            feeds[placeholder] = np.reshape(part, shape)
    return tf.group(*assignments), feeds


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], None] | None:
    """A function of a session that restores the variables; None if the checkpoint has none of them.

    Args:
        model_path: The checkpoint.
        var_list: Variables, or ``{name in the checkpoint: variable}``.
        ignore_missing_vars: Whether variables that the checkpoint lacks are left as they are.
        reshape_variables: Whether a value of another shape is reshaped.

    Raises:
        ValueError: There are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    names = _by_saved_name(var_list)
    if ignore_missing_vars:
        reader = tf.train.NewCheckpointReader(model_path)
        for name in [name for name in names if not reader.has_tensor(name)]:
            tf.logging.warning("Variable %s missing in checkpoint %s", name, model_path)
            del names[name]
    if not names:
        tf.logging.warning("No Variables to restore")
        return None
    with contextlib.ExitStack() as stack:
        stack.enter_context(tf.name_scope(None))
        saver = tf.train.Saver(names, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


class VariableDeviceChooser:
    """A device function that puts variables on the parameter servers in turn; without any, on a device here.

    Args:
        num_tasks: The number of parameter servers.
        job_name: Their job.
        device_type: "CPU" or "GPU".
        device_index: Which one of it.
        replica: The replica, if there are several.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        device = tf.DeviceSpec(replica=self._replica, device_type=self._device_type, device_index=self._device_index)
        if self._num_tasks > 0:
            device = device.replace(job=self._job_name, task=self._next_task_id)
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return str(device.to_string())
