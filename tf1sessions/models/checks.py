"""What could bring TensorFlow down, or be misread, is found on the messages first.

TensorFlow trusts a GraphDef in places: it recurses into functions without an end, computes with the sizes that a tensor
claims, and stops the process where a check of its own fails. Each check here has a case in tests/models/test_checks.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models.files import Artifact
from tf1sessions.models.wiring import node_of
from tf1sessions.runtime import tf

__all__ = ["check"]

#: What TensorFlow can address.
_MOST_ELEMENTS = 2**62
_MOST_DIMENSIONS = 254
#: Nesting of functions that are called from each other. TensorFlow recurses; real models stay below ten.
_MOST_NESTED = 64


def check(graph_def: Any, artifact: Artifact) -> None:
    """Checks the structure of a graph, its tensors and its functions.

    Raises:
        ModelFileError: Names the node and what is wrong with it.
    """
    problem = next(_problems(graph_def, artifact), None)
    if problem is not None:
        raise ModelFileError(
            f"the graph is malformed: {problem}",
            where=artifact.path,
            next_step="The file may be damaged: compare it with the original.",
            path=artifact.path,
        )


def _problems(graph_def: Any, artifact: Artifact) -> Iterator[str]:
    yield from _structure(graph_def.node)
    for node in graph_def.node:
        yield from _attributes(node, node.name in artifact.contents)
    yield from _functions(graph_def)
    yield from _circles(graph_def.node)


def _structure(nodes: Iterable[Any]) -> Iterator[str]:
    names: set[str] = set()
    for node in nodes:
        if not node.name or not node.op:
            yield f"a node has no {'name' if not node.name else 'operation'}"
        if node.name in names:
            yield f"two nodes are called {node.name!r}"
        names.add(node.name)
    for node in nodes:
        control = False
        for entry in node.input:
            if node_of(entry) not in names:
                yield f"the node {node.name!r} takes {entry!r}, which is not there"
            if control and not entry.startswith("^"):
                yield f"the node {node.name!r} has the input {entry!r} after a control input"
            control = control or entry.startswith("^")


def _attributes(node: Any, content_left_out: bool = False) -> Iterator[str]:
    for key, attr in node.attr.items():
        tensors = [attr.tensor] if attr.HasField("tensor") else list(attr.list.tensor)
        shapes = [attr.shape] if attr.HasField("shape") else list(attr.list.shape)
        for tensor in tensors:
            for problem in _tensor(tensor, content_left_out and key == "value"):
                yield f"the attribute {key!r} of the node {node.name!r} {problem}"
        for shape in shapes:
            for problem in _shape(shape, open_dimensions=True):
                yield f"the attribute {key!r} of the node {node.name!r} {problem}"


def _shape(shape: Any, open_dimensions: bool) -> Iterator[str]:
    dims = [dim.size for dim in shape.dim]
    if shape.unknown_rank and dims:
        yield "is a shape of unknown rank with dimensions"
    if len(dims) > _MOST_DIMENSIONS:
        yield f"is a shape of {len(dims)} dimensions"
    wrong = [dim for dim in dims if dim < (-1 if open_dimensions else 0)]
    if wrong:
        yield f"has a dimension of {wrong[0]}"
    elif math.prod(max(dim, 1) for dim in dims) > _MOST_ELEMENTS:
        yield f"claims the shape {dims}"


_VALUES = (
    "half_val float_val double_val int_val string_val scomplex_val int64_val bool_val dcomplex_val "
    "resource_handle_val variant_val uint32_val uint64_val float8_val"
).split()


def _tensor(tensor: Any, content_left_out: bool) -> Iterator[str]:
    try:
        dtype = tf.as_dtype(tensor.dtype)
    except TypeError:
        yield f"is a tensor of the unknown type {tensor.dtype}"
        return
    if dtype._is_ref_dtype or tensor.dtype == 0:
        yield f"is a tensor of the type {dtype.name}"
        return
    bad = list(_shape(tensor.tensor_shape, open_dimensions=False))
    if tensor.tensor_shape.unknown_rank:
        bad.append("is a tensor of unknown shape")
    if bad:
        yield from bad
        return
    if dtype in (tf.resource, tf.variant):
        yield f"is a tensor of the type {dtype.name}, which no file can hold"
        return
    count = math.prod(dim.size for dim in tensor.tensor_shape.dim)
    given = sum(len(getattr(tensor, name, ())) for name in _VALUES)
    if content_left_out:
        return
    if tensor.tensor_content and dtype != tf.string:
        if len(tensor.tensor_content) != count * dtype.size:
            yield f"is a tensor of {count} x {dtype.name} with {len(tensor.tensor_content)} bytes"
    elif dtype.is_complex and given > 2 * count or not dtype.is_complex and given > count:
        yield f"is a tensor of {count} x {dtype.name} with {given} values"


def _functions(graph_def: Any) -> Iterator[str]:
    functions = {}
    for function in graph_def.library.function:
        name = function.signature.name
        if name in functions:
            yield f"two functions are called {name!r}"
        functions[name] = function
        names = set()
        for node in function.node_def:
            if node.name in names:
                yield f"two nodes of the function {name!r} are called {node.name!r}"
            names.add(node.name)
            for problem in _attributes(node):
                yield f"in the function {name!r}, {problem}"
    calls = {
        name: sorted({called for node in function.node_def for called in _called(node)} & functions.keys())
        for name, function in functions.items()
    }
    for gradient in graph_def.library.gradient:
        if gradient.function_name in calls and gradient.gradient_func in functions:
            calls[gradient.function_name].append(gradient.gradient_func)
    yield from _recursion(calls)


def _called(node: Any) -> Iterator[str]:
    yield node.op
    for attr in node.attr.values():
        if attr.HasField("func"):
            yield attr.func.name
        for func in attr.list.func:
            yield func.name


def _recursion(calls: dict[str, list[str]]) -> Iterator[str]:
    """Functions that call themselves, or nest too deeply: TensorFlow would recurse until its stack ends."""
    depth: dict[str, int] = {}
    for start in calls:
        stack = [(start, iter(calls[start]))]
        path = {start: None}
        while stack:
            name, rest = stack[-1]
            for called in rest:
                if called in path:
                    yield f"the function {called!r} calls itself: {' -> '.join([*path, called])}"
                    return
                if called not in depth:
                    path[called] = None
                    stack.append((called, iter(calls[called])))
                    break
            else:
                stack.pop()
                path.pop(name)
                depth[name] = 1 + max((depth[called] for called in calls[name]), default=0)
                if depth[name] > _MOST_NESTED:
                    yield f"functions are nested {depth[name]} deep, from {name!r} on"
                    return


def _circles(nodes: Iterable[Any]) -> Iterator[str]:
    """A circle that does not go through a loop's NextIteration."""
    waits = {
        node.name: [] if node.op in ("NextIteration", "RefNextIteration") else [node_of(entry) for entry in node.input]
        for node in nodes
    }
    count = {name: len(entries) for name, entries in waits.items()}
    feeds: dict[str, list[str]] = {name: [] for name in waits}
    for name, entries in waits.items():
        for entry in entries:
            feeds[entry].append(name)
    ready = [name for name, number in count.items() if not number]
    done = 0
    while ready:
        done += 1
        for name in feeds[ready.pop()]:
            count[name] -= 1
            if not count[name]:
                ready.append(name)
    if done < len(waits):
        left = sorted(name for name, number in count.items() if number)
        yield f"{len(left)} nodes wait for each other in a circle, {left[0]!r} among them"
