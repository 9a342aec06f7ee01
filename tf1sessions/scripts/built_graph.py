"""Runs a function that builds a graph of TensorFlow 1, and writes what it built: for ``tf1sessions convert``.

A process of its own, so that the function's file gets TensorFlow 1 by ``import tensorflow as tf``, and whatever it
switches on or off stays here::

    cli/convert.py ──▶ main_program(): train.py:build folder ──▶ graph.meta, values.index, ...
                                                             └─▶ outputs.json
"""

from __future__ import annotations

import collections
import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ..errors import ScriptUsageError
from ..pools.hidden_modules import forget_hidden, preloaded
from . import frames, importer

__all__ = ["GRAPH", "OUTPUTS", "VALUES", "main", "main_program"]

#: What is written: the graph, its outputs as name -> tensor, and the prefix of the variables' values.
GRAPH, OUTPUTS, VALUES = "graph.meta", "outputs.json", "values"


def main(target: str, folder: str, values: bool, at_start: Collection[str]) -> None:
    """Builds and writes a graph.

    Args:
        target: ``"train.py:build"`` or ``"package.train:build"``. The function takes nothing, and returns what the
            model gives: a tensor, or a dict, list or tuple of them; operations among them are train ops.
        folder: Where to. It is there.
        values: Whether the variables are initialized, and their values written too.
        at_start: The modules that there were when this process began.

    Raises:
        ScriptUsageError: There is no such file or function, or it returns something else.
    """
    importer.install()
    build = _function(target, at_start)
    from ..runtime import tf

    with tf.Graph().as_default() as graph:
        made = build()
        try:
            outputs = _write(made, graph, target, folder, values)
        except RuntimeError as error:  # of TensorFlow, which says neither which graph nor why
            if not graph.finalized:
                raise
            raise ScriptUsageError(
                f"{target} finalizes its graph, to which what saves its variables is still added",
                where="MODEL",
                next_step="Leave graph.finalize() to what runs the graph.",
            ) from error
    with open(os.path.join(folder, OUTPUTS), "w", encoding="utf-8") as file:
        json.dump(outputs, file)


def _write(made: Any, graph: Any, target: str, folder: str, values: bool) -> dict[str, str] | None:
    """Writes the graph and the values; returns the outputs as :func:`_sorted` does."""
    from ..runtime import tf

    outputs, operations = _sorted(made, graph, target)
    for operation in operations:
        if operation not in tf.get_collection(tf.GraphKeys.TRAIN_OP):
            tf.add_to_collection(tf.GraphKeys.TRAIN_OP, operation)
    saver = tf.train.Saver() if tf.global_variables() else None
    if values and saver is not None:
        with tf.Session(graph=graph) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            saver.save(session, os.path.join(folder, VALUES), write_meta_graph=False, write_state=False)
    tf.train.export_meta_graph(
        os.path.join(folder, GRAPH), saver_def=None if saver is None else saver.as_saver_def(), graph=graph
    )
    return outputs


def _put_first(folder: str, at_start: Collection[str]) -> None:
    """Put a folder first on the path, after TensorFlow has found what files in it would hide, such as ``queue.py``."""
    importlib.import_module("tf1sessions.runtime")
    forget_hidden(preloaded(at_start), folder)
    sys.path.insert(0, folder)


def _function(target: str, at_start: Collection[str]) -> Callable[[], Any]:
    source, _, name = target.rpartition(":")
    if source.endswith(".py"):
        path = os.path.abspath(source)
        _put_first(os.path.dirname(path), at_start)
        spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
        if spec is None or spec.loader is None or not os.path.isfile(path):
            raise ScriptUsageError(f"there is no file {source!r}", where="MODEL", next_step="Check the path.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        _put_first(os.getcwd(), at_start)
        try:
            module = importlib.import_module(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise
            raise ScriptUsageError(
                f"there is no module {source!r}, nor a model at {target!r}", where="MODEL", next_step="Check the path."
            ) from error
    found = getattr(module, name, None)
    if not callable(found):
        near = sorted(key for key, value in vars(module).items() if callable(value) and not key.startswith("_"))
        raise ScriptUsageError(
            f"{source} has no function {name!r}",
            where="MODEL",
            next_step=f"It has {', '.join(near[:8])}." if near else "Name a function that builds a graph.",
        )
    return found  # type: ignore[no-any-return]


def _sorted(made: Any, graph: Any, target: str) -> tuple[dict[str, str] | None, list[Any]]:
    """Outputs as name -> tensor, None where the graph decides; and the operations."""
    from ..runtime import tf

    named: list[tuple[str, Any]] = []
    operations = []
    for name, item in _named(made):
        if isinstance(item, tf.Operation):
            _check_graph(item, graph, target)
            operations.append(item)
            continue
        try:
            tensor = tf.convert_to_tensor(item)
        except (TypeError, ValueError) as error:
            raise ScriptUsageError(
                f"{target} returned {item!r}, which is no tensor",
                where="MODEL",
                next_step="Let it return what the model gives: a tensor, or a dict, list or tuple of tensors.",
            ) from error
        _check_graph(tensor, graph, target)
        named.append((name, tensor))
    tensors = {tensor.name: tensor.op.name for name, tensor in named if not name}
    of_an_operation = collections.Counter(tensors.values())
    outputs: dict[str, str] = {}
    for name, tensor in named:
        alone = of_an_operation[tensor.op.name] == 1
        name = name or (tensor.op.name if alone else tensor.name)
        if outputs.setdefault(name, tensor.name) != tensor.name:
            raise ScriptUsageError(
                f"{target} returned two tensors named {name!r}, {outputs[name]!r} and {tensor.name!r}",
                where="MODEL",
                next_step="Let it return a dict with a name for each.",
            )
    return outputs or None, operations


def _check_graph(item: Any, graph: Any, target: str) -> None:
    """Only names of tensors are written, and another graph may have the same ones."""
    if item.graph is not graph:
        raise ScriptUsageError(
            f"{target} returned {item.name!r}, which is of another graph",
            where="MODEL",
            next_step="Let it build in the default graph, all of it when it is called.",
        )


def _named(made: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    """The parts of a structure; those of dicts by their keys."""
    if isinstance(made, Mapping):
        for key, item in made.items():
            yield from _named(item, f"{name}/{key}" if name else str(key))
    elif isinstance(made, list | tuple):
        for index, item in enumerate(made):
            yield from _named(item, f"{name}/{index}" if name else "")
    elif made is not None:
        yield name, made


def main_program(at_start: Collection[str]) -> None:
    """The program of the process: builds what its arguments name.

    Args:
        at_start: The modules that there were when the process began.
    """
    try:
        main(sys.argv[1], sys.argv[2], sys.argv[3] == "values", at_start)
    except ScriptUsageError as wrong:
        print(f"Error: {wrong}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:  # whatever the function raises
        frames.strip(error)
        traceback.print_exception(error)
        sys.exit(1)
