"""convert(): a model of TensorFlow 1 as a SavedModel of TensorFlow 2, whose variables train, with proof.

::

    out ──▶ target: may it be written? ─────────────────────────────────────────────────────────┐
    source ──▶ modules: a tf.Module ──▶ survey: what comes along, what does not ──▶ (dry run: the end)
       │                            └─▶ a hidden folder beside OUT ──▶ loaded again ──▶ proof ──▶ OUT
       └──▶ reference_values: a session and its answers, meanwhile ────────────────────┘

A checkpoint without a graph becomes a checkpoint of objects (``checkpoints/``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import gc
import logging
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.models import census
from tf1sessions.models.files import checkpoint_prefix
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.model import Model
from tf1sessions.porting import checkpoints
from tf1sessions.porting.checkpoints.conversion import ConvertedCheckpoint
from tf1sessions.porting.conversion import Conversion
from tf1sessions.porting.modules import GraphModule, require_eager, written_name
from tf1sessions.porting.reference_values import ReferenceSession, ValuesFrom
from tf1sessions.porting.sources import Port, Source, open_source
from tf1sessions.porting.survey import survey
from tf1sessions.porting.target import Target
from tf1sessions.runtime import tf

__all__ = ["convert"]

_log = logging.getLogger("tf1sessions")
tf2: Any = tf.compat.v2


def convert(
    source: Port,
    out: str | os.PathLike[str],
    *,
    signature: str | None = None,
    inputs: Any = None,
    outputs: Sequence[str] | Mapping[str, str] | None = None,
    train: bool | str | Sequence[str] | Mapping[str, str] | None = None,
    trainable: str | Collection[str] | Callable[[str], bool] | None = None,
    partitions: str = "joined",
    tags: Sequence[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    initialize: bool = False,
    allow_ops: Collection[str] = (),
    force: bool = False,
    dry_run: bool = False,
    check: bool = True,
) -> Conversion | ConvertedCheckpoint:
    """Writes a model of TensorFlow 1 as a SavedModel that plain TensorFlow 2 loads, calls and trains on.

    ``tf.saved_model.load(out)`` gives an object with ``variables``, ``trainable_variables``, ``by_name``, the
    ``signatures``, ``update()`` for the graph's UPDATE_OPS, and ``train()`` where the train operation was asked for.
    Operations keep their names.

    Args:
        source: As for :func:`~tf1sessions.porting.function`. A checkpoint without a graph becomes one of objects, by
            :func:`tf1sessions.porting.checkpoints.convert`.
        out: A folder that is not there yet; written whole or not at all. The prefix, for a checkpoint without a graph.
        signature: The only signature to keep; all of them by default.
        inputs, outputs, train, trainable, partitions, tags, checkpoint, initialize, allow_ops: As for
            :func:`~tf1sessions.porting.function`.
        force: Whether a SavedModel at ``out`` is replaced. It stays until the new one is whole.
        dry_run: Whether only to find out what would be written.
        check: Whether what was written is loaded again and compared with the source, before it is put into place.

    Returns:
        A :class:`~tf1sessions.porting.conversion.Conversion`; ``str()`` of it is a report. Of a checkpoint without a
        graph, a :class:`~tf1sessions.porting.checkpoints.ConvertedCheckpoint`.

    Raises:
        UsageError: ``out`` is there, or cannot be written; or an argument names what the model does not have.
        ConversionError: A part of the graph cannot become TensorFlow 2; or it does not give what the source gives.
        ModelError: As :func:`tf1sessions.load`.
        OSError: It cannot be written after all, for want of space, say.

    Thread-safety: safe to call from any thread.

    Example:
        >>> import tensorflow as tf
        >>> import tf1sessions as t1
        >>> def build():
        ...     x = t1.tf1.placeholder(t1.tf1.float32, [None, 2], name="x")
        ...     w = t1.tf1.get_variable("w", [2, 1], initializer=t1.tf1.ones_initializer())
        ...     return {"x": x}, {"y": t1.tf1.matmul(x, w)}
        >>> found = t1.porting.convert(build, "tf2_model")
        >>> [variable.name for variable in found.variables], found.proof.differences
        (['w'], {'serving_default: y': 0.0})
        >>> model = tf.saved_model.load("tf2_model")
        >>> model.signatures["serving_default"](x=tf.constant([[1.0, 2.0]]))["y"].numpy().tolist()
        [[3.0]]
    """
    if checkpoint is None and isinstance(source, str | os.PathLike) and (bare := _bare_checkpoint(source)):
        return checkpoints.convert(bare, out, force=force, dry_run=dry_run)
    require_eager("porting.convert()")
    target = Target.checked(out, _path_of(source), force=force)
    with contextlib.nullcontext() if dry_run else target.whole() as folder:
        _log.info("reading the model")
        opened = open_source(
            source,
            signature=signature,
            inputs=inputs,
            outputs=outputs,
            tags=tags,
            checkpoint=checkpoint,
            initialize=initialize,
            allow_ops=allow_ops,
        )
        if signature is not None:
            opened.prepared.interfaces = {signature: opened.prepared.interfaces[signature]}
        _check_feeds(opened)
        own_ends = opened.structures is not None or inputs is not None or outputs is not None
        compared = check and not dry_run
        values_from = ValuesFrom.choose(source, opened, own_ends, initialize) if compared else ValuesFrom.NOWHERE
        names = {name: written_name(name) for name in opened.prepared.interfaces}
        with ReferenceSession(source, opened, own_ends, values_from) as reference:
            module = GraphModule(opened, train=train, trainable=trainable, partitions=partitions)
            found = survey(opened, module, os.fspath(out), names)
            if folder is None:
                return found
            reference.module_made(module, found)
            _log.info("writing %d variables", len(found.variables))
            _save(module, folder)
            found = dataclasses.replace(found, written=True)
            if not compared:
                return found
            _log.info("comparing what was written with the model")
            del module  # its variables are in the folder, and need not be in memory while others are
            gc.collect()
            return dataclasses.replace(found, proof=reference.compare(folder, names, found.functions))


def _path_of(source: Port) -> str | None:
    if isinstance(source, Model):
        return source.path
    return os.fspath(source) if isinstance(source, str | os.PathLike) else None


def _bare_checkpoint(source: str | os.PathLike[str]) -> str | None:
    """The prefix of a checkpoint that has no graph beside it; None for anything else."""
    path = os.fspath(source)
    if os.path.isdir(path):
        names = os.listdir(path)
        if "checkpoint" not in names or {"saved_model.pb", "saved_model.pbtxt", "export.meta"} & set(names):
            return None
        path = checkpoint_prefix(path)
    prefix = re.sub(r"\.(index|data-\d{5}-of-\d{5})$", "", path)
    return prefix if os.path.exists(prefix + ".index") and not os.path.exists(prefix + ".meta") else None


def _check_feeds(source: Source) -> None:
    """Refuses inputs that no value from outside can be: those of a dtype that has none, and those inside a loop.

    Raises:
        ConversionError: There is one.
    """
    graph_index = source.graph_index
    _, frames = census.control_flow(graph_index, graph_index.graph_def)
    for one in source.prepared.interfaces.values():
        for name, spec in one.inputs.items():
            node = graph_index.nodes[node_of(spec.tensor)]
            dtype = source.spec(name, spec.tensor).dtype
            if dtype in (tf.variant, tf.resource):
                raise ConversionError(
                    f"the input {name!r} is of the dtype {dtype.name}, of which no caller has values",
                    where=source.where,
                    next_step="Name what is computed from it, or what makes it a tensor of numbers.",
                    nodes=(node.name,),
                )
            if node.name in frames and node.op not in ("Exit", "RefExit"):
                raise ConversionError(
                    f"the input {name!r} is the tensor {spec.tensor!r}, a {node.op} inside the loop "
                    f"{frames[node.name][-1]!r}",
                    where=source.where,
                    next_step="Name what goes into the loop, or a placeholder.",
                    nodes=(node.name,),
                )


def _save(module: GraphModule, folder: str) -> None:
    try:
        with tf.init_scope():
            tf2.saved_model.save(module, folder, signatures=module.export_signatures())
    except tf.errors.OpError as error:
        reason = error.message.strip().partition("\n")[0]
        raise OSError(errno.EIO, f"the SavedModel could not be written: {reason}", folder) from error
