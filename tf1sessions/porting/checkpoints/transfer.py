"""Values from a checkpoint of names into objects, and from objects into such a checkpoint.

One row of the plan is in memory at a time: the values of one variable, or of one recurrent cell.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import CheckpointMismatchError, UsageError
from tf1sessions.porting.checkpoints.naming import Naming
from tf1sessions.porting.checkpoints.objects import ValueHolder
from tf1sessions.porting.checkpoints.planning import Planner, RestoreRequest
from tf1sessions.porting.checkpoints.plans import Plan
from tf1sessions.porting.checkpoints.reading import NamedValues, read
from tf1sessions.porting.checkpoints.renaming import Names, Patterns
from tf1sessions.porting.checkpoints.writing import CheckpointWriter, check_target

__all__ = ["plan", "restore", "save_named"]

Source = str | os.PathLike[str] | NamedValues


def plan(
    checkpoint: Source,
    target: Any,
    optimizer: Any = None,
    *,
    names: Names | None = None,
    unused: Patterns | None = None,
    kept: Patterns | None = None,
    averages: Any = None,
    step: Any = None,
    optimizer_name: str | None = None,
    forget_bias: float = 1.0,
) -> Plan:
    """Return what :func:`restore` would do with the same arguments: nothing is changed.

    Raises:
        ModelFileError: The checkpoint cannot be read.
        UsageError: An argument is wrong.
        ConversionError: TensorFlow 1 has no such optimizer.
    """
    values = (checkpoint if isinstance(checkpoint, NamedValues) else read(checkpoint)).as_in_graph()
    request = RestoreRequest(target, optimizer, names, unused, kept, averages, step, optimizer_name, forget_bias)
    return _planner(values, request).plan()


def restore(
    checkpoint: Source,
    target: Any,
    optimizer: Any = None,
    *,
    names: Names | None = None,
    unused: Patterns | None = None,
    kept: Patterns | None = None,
    averages: Any = None,
    step: Any = None,
    optimizer_name: str | None = None,
    forget_bias: float = 1.0,
    dry_run: bool = False,
) -> Plan:
    """Sets the variables of objects, and of their optimizer, from a checkpoint of TensorFlow 1.

    Every variable of both sides is accounted for before the first is set: it is converted, it is declared to be left
    out, or it is in the error.

    Args:
        checkpoint: What :func:`~tf1sessions.porting.checkpoints.read` takes or returns.
        target: A model of Keras 3 or tf_keras that has its variables, a ``tf.Module``, a ``tf.train.Checkpoint``, a
            dict of variables, or what :func:`tf1sessions.porting.function` returns.
        optimizer: An Adam, SGD, RMSprop, Adagrad, Adadelta or Ftrl of Keras 3 or tf_keras, legacy ones too; its slots
            are made if they are not there. False leaves the optimizer's state in the checkpoint out.
        names: Names in the checkpoint -> names in the objects: a dict of variables and scopes, pairs of a pattern and a
            template, or a function. What they do not name is found by rules and suggestions.
        unused: Patterns of names in the checkpoint that are left out, each with the reason.
        kept: Patterns of names in the objects that keep their values, each with the reason.
        averages: Where moving averages go: ``"variables"`` for the variables themselves, a
            ``tf.train.ExponentialMovingAverage`` or a dict of variables by the names of theirs, False for nowhere. An
            optimizer with ``use_ema=True`` takes them without that.
        step: A variable for ``global_step``; without it the optimizer's iterations are.
        optimizer_name: The optimizer's name in the checkpoint, where it was given one there, such as ``"Adam_2"`` in
            ``dense/kernel/Adam_2``, the first slot of the second Adam.
        forget_bias: What the LSTM cells of TensorFlow 1 added to their forget gates; its default was 1.
        dry_run: Whether only to make the plan, and to check it.

    Returns:
        What was done with each variable; ``print()`` shows it as a table. A dry run's plan may have problems.

    Raises:
        ModelFileError: The checkpoint cannot be read. Where that shows only in a value, some variables are set already.
        CheckpointMismatchError: Variables are not accounted for, or have other shapes or dtypes. Nothing was set.
        UsageError: An argument is wrong.
        ConversionError: TensorFlow 1 has no such optimizer.

    Example:
        >>> import tempfile, numpy as np
        >>> from tf1sessions.runtime import tf
        >>> from tf1sessions.porting import checkpoints
        >>> old = {"dense/kernel": tf.Variable(np.ones([2, 3], "f"), use_resource=True)}
        >>> new = {"dense/kernel": tf.Variable(np.zeros([2, 3], "f"), use_resource=True)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = checkpoints.save_named(old, folder + "/model.ckpt")
        ...     print(checkpoints.restore(folder + "/model.ckpt", new))
        checkpoint    ->  objects       how
        dense/kernel  ->  dense/kernel  same name

    Attention: this is **not** thread-safe! Nobody else must set the variables meanwhile.
    """
    values = (checkpoint if isinstance(checkpoint, NamedValues) else read(checkpoint)).as_in_graph()
    request = RestoreRequest(target, optimizer, names, unused, kept, averages, step, optimizer_name, forget_bias)
    planner = _planner(values, request)
    result = planner.plan()
    if dry_run:
        return result
    result.check()
    if planner.modern is not None:
        planner.modern.build(_trainable(target, result.holders))
    for row in result.rows:
        new = row.layout.forward([values[name] for name in row.sources])
        for name, value in zip(row.targets, new, strict=True):
            _assign(result.holders[name], value)
    return result


def save_named(
    target: Any,
    path: str | os.PathLike[str],
    optimizer: Any = None,
    *,
    like: Source | None = None,
    names: Names | None = None,
    unused: Patterns | None = None,
    kept: Patterns | None = None,
    averages: Any = None,
    step: Any = None,
    optimizer_name: str | None = None,
    forget_bias: float = 1.0,
    force: bool = False,
    dry_run: bool = False,
) -> Plan:
    """Writes the variables of objects, and of their optimizer, as a checkpoint that TensorFlow 1's ``Saver`` restores.

    Args:
        target: As for :func:`restore`.
        path: The prefix of the checkpoint.
        optimizer: As for :func:`restore`; it has its slots already. ``global_step`` is written with it.
        like: A checkpoint of the same graph: the names, shapes and layers that it has are those that are written. The
            other arguments then are what they would be for restoring it.
        names: Without ``like``: names in the objects -> names in the checkpoint. What they do not name keeps its name,
            and the cells of recurrent layers get the variables that TensorFlow 1's have.
        unused: With ``like``: patterns of its names that are not written.
        kept: Patterns of names in the objects that are not written, each with the reason.
        averages: As for :func:`restore`, but for ``"variables"``.
        step: A variable that is written as ``global_step``.
        optimizer_name: The optimizer's name in the checkpoint; TensorFlow 1's default name without it.
        forget_bias: What the LSTM cells of TensorFlow 1 will add to their forget gates.
        force: Whether to replace a checkpoint at ``path``.
        dry_run: Whether only to make the plan, and to check it.

    Returns:
        What was written from where.

    Raises:
        CheckpointMismatchError: Variables are not accounted for.
        UsageError: An argument is wrong, or ``path`` cannot be written.
        ConversionError: TensorFlow 1 has no such optimizer.

    Attention: this is **not** thread-safe! Nobody else must set the variables meanwhile.
    """
    prefix = check_target(path, force)
    if averages == "variables":
        raise UsageError(
            "averages='variables' says where averages are restored to",
            where="save_named()",
            next_step="Give the object that keeps the averages, or nothing.",
        )
    where = f"the checkpoint {prefix!r}"
    if like is not None:
        values = like if isinstance(like, NamedValues) else read(like)
        request = RestoreRequest(target, optimizer, names, unused, kept, averages, step, optimizer_name, forget_bias)
        planner = Planner(values.specs, request, where, None, prefix=values.path)
    else:
        request = RestoreRequest(target, optimizer, None, None, kept, averages, step, optimizer_name, forget_bias)
        naming = Naming(request, names)
        planner = Planner(naming.specs, request, where, None, naming.matches)
        planner.problems += naming.problems
    result = planner.plan()
    if dry_run:
        return result
    result.check()
    if planner.modern is not None:
        planner.modern.build(_trainable(target, result.holders))
    with CheckpointWriter(prefix, force) as writer:
        for row in result.rows:
            old = row.layout.backward([result.holders[name].value() for name in row.targets])
            for name, value in zip(row.sources, old, strict=True):
                writer.add(name, np.asarray(value).astype(planner.specs[name].dtype, copy=False))
    return result


def _planner(values: NamedValues, request: RestoreRequest) -> Planner:
    return Planner(values.specs, request, f"the checkpoint {values.path!r}", values.__getitem__, prefix=values.path)


def _trainable(target: Any, holders: Mapping[str, ValueHolder]) -> list[Any]:
    """The variables that an optimizer would be built for, in the objects' own order."""
    own = getattr(target, "trainable_variables", None)
    if own is not None and not callable(own):
        return list(own)
    return [holder.get() for name, holder in holders.items() if holder.spec.trainable and ": " not in name]


def _assign(holder: ValueHolder, value: Any) -> None:
    wanted = holder.spec.dtype
    if value.dtype.kind == "i" and wanted in ("int32", "int64"):
        found = np.asarray(value).astype(wanted)
        if (found != value).any():
            raise CheckpointMismatchError(
                f"{holder.spec} cannot hold {value}",
                where="the checkpoint",
                next_step="Make it a variable of int64.",
                missing=(),
                extra=(),
                shapes=(holder.spec.name,),
            )
        value = found
    holder.assign(value)
