"""Checks of messages for what could bring TensorFlow down, or be misread.

TensorFlow trusts a GraphDef in places: it recurses into functions without an end, computes with the sizes that a tensor
claims, and stops the process where a check of its own fails. Each check here has a case in tests/models/test_checks.py.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tf1sessions.errors import ModelFileError
from tf1sessions.models.files import Artifact
from tf1sessions.models.graph_index import function_values, functions_named, node_of, tensor_name
from tf1sessions.models.upgrades.rewriting import Graph, LocatedNode, attr_value, connect, inputs_of
from tf1sessions.runtime import private, tf

__all__ = ["check", "hardened", "is_type"]

_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*")
#: What TensorFlow can address.
_MOST_ELEMENTS = 2**62
_MOST_DIMENSIONS = 254
_MOST_OUTPUTS = 2**20
#: Outputs of all nodes. TensorFlow makes an object for each; the largest graphs that people have are of 200,000 nodes.
_MOST_OUTPUTS_IN_ALL = 2**22
#: Bytes that constants ask for beyond what the file has of them: a constant may be one number for all of its elements.
_MOST_EXPANDED = 2**32
#: Attributes that name something. A name of 100,000 characters in an error keeps TensorFlow busy for minutes.
_NAMES = frozenset({"frame_name", "shared_name", "container"})
_LONGEST_NAME = 4096
#: TensorFlow stops the process where more dimensions are claimed than tensors have. Programs use one or two.
_MOST_BATCH_DIMENSIONS = 8
#: Nesting of functions that are called from each other. TensorFlow recurses; real models stay below ten.
_MOST_NESTED = 64
#: Calls of functions, each with the calls that it makes in turn. TensorFlow follows every one while it only imports the
#: graph: 64 functions that call each other twice would keep it busy for ever.
_MOST_CALLS = 2**16


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
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if not node.name or not node.op:
            yield f"a node has no {'name' if not node.name else 'operation'}"
        elif not _NAME.fullmatch(node.name):
            yield f"a node has the name {node.name[:200]!r}"
        if node.name in nodes:
            yield f"two nodes are called {node.name!r}"
        nodes[node.name] = node
    yield from _sizes(graph_def)
    types: dict[str, list[int] | None] = {}
    for node in graph_def.node:
        yield from _attributes(node, node.name in artifact.contents)
        yield from _required(node)
        types[node.name] = _types_of(node, outputs=True)
    for node in graph_def.node:
        yield from _inputs(node, types)
        yield from _operands(node, nodes)
    yield from _functions(graph_def)
    yield from _circles(graph_def.node)


def _sizes(graph_def: Any) -> Iterator[str]:
    """Yield what little text can ask for: outputs without number, constants of one number for any shape."""
    outputs = expanded = 0
    for node in (*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)):
        outputs += _output_count(node)
        if outputs > _MOST_OUTPUTS_IN_ALL:
            yield f"its nodes have more than {_MOST_OUTPUTS_IN_ALL:,} outputs, {_output_count(node):,} of {node.name!r}"
            return
        tensor = node.attr["value"].tensor if node.op == "Const" and "value" in node.attr else None
        if tensor is not None and tensor.dtype and tensor.dtype in _types() and not tensor.tensor_content:
            count = math.prod(max(dim.size, 0) for dim in tensor.tensor_shape.dim)
            given = max(len(getattr(tensor, name, ())) for name in _VALUES)
            expanded += max(0, count - given) * tf.as_dtype(tensor.dtype).size
            if expanded > _MOST_EXPANDED:
                yield (
                    f"its constants ask for more than {_MOST_EXPANDED / 2**30:.0f} GB that the file does not have, "
                    f"{count:,} elements in {node.name!r}"
                )
                return


def _output_count(node: Any) -> int:
    operation = _operation(node.op)
    if operation is None:
        return 1
    return sum(
        max(_attr(node, operation, each.number_attr).i, 0)
        if each.number_attr
        else len(_attr(node, operation, each.type_list_attr).list.type)
        if each.type_list_attr
        else 1
        for each in operation.outputs
    )


def _inputs(node: Any, types: dict[str, list[int] | None]) -> Iterator[str]:
    """Each input is there, is of the type that the operation takes, and they are as many as it takes."""
    expected = _types_of(node, outputs=False)
    data = 0
    control = False
    for entry in node.input:
        if entry.startswith("^"):
            control = True
            if entry[1:] not in types:
                yield f"the node {node.name!r} waits for {entry[1:]!r}, which is not there"
            continue
        if control:
            yield f"the node {node.name!r} has the input {entry!r} after a control input"
        source, _, index = tensor_name(entry).rpartition(":")
        if source not in types:
            yield f"the node {node.name!r} takes {entry!r}, which is not there"
            return
        made = types[source]
        if int(index) >= (_MOST_OUTPUTS if made is None else len(made)):
            yield f"the node {node.name!r} takes {entry!r}, which has no such output"
            return
        if made is not None and expected is not None and data < len(expected):
            given, wanted = made[int(index)], expected[data]
            if given and wanted and _base(given) != _base(wanted):
                dtypes = tf.as_dtype(_base(given)).name, tf.as_dtype(_base(wanted)).name
                yield f"the node {node.name!r} takes {entry!r}, which is {dtypes[0]} and not {dtypes[1]}"
        data += 1
    if expected is not None and data != len(expected):
        yield f"the node {node.name!r} has {data} inputs where its operation {node.op} takes {len(expected)}"


def _base(dtype: int) -> int:
    """The number of a type without the mark of a reference."""
    return dtype - 100 if dtype > 100 else dtype


#: Operands that TensorFlow reads without looking at their rank, if it can compute them while it imports or optimises a
#: graph: operation and number of the input -> the rank that it takes.
_RANKS = {("Switch", 1): 0, ("RefSwitch", 1): 0, ("SplitV", 1): 1}
_RANKS |= {(f"QueueDequeue{many}{version}", 1): 0 for many in ("Many", "UpTo") for version in ("", "V2")}
#: Those for which not even the inference of shapes looks.
_NEVER_LOOKED_AT = {op: rank for (op, _), rank in _RANKS.items() if "Switch" not in op}


def _operands(node: Any, nodes: dict[str, Any]) -> Iterator[str]:
    for index, entry in enumerate(node.input):
        rank = _RANKS.get((node.op, index))
        source = nodes.get(node_of(entry))
        if rank is None or source is None or source.op != "Const":
            continue
        dims = [dim.size for dim in source.attr["value"].tensor.tensor_shape.dim]
        if (math.prod(dims) != 1) if rank == 0 else (len(dims) != rank):
            wanted = "a single value" if rank == 0 else "a vector"
            yield f"the node {node.name!r} takes {entry!r} of the shape {dims} for {wanted}"


def hardened(graph_def: Any) -> Any:
    """Return the graph without what TensorFlow would trust, and end the process where it is wrong, in functions too.

    Full types that were recorded are dropped: TensorFlow infers them anew. Operands whose rank it does not look at get
    an EnsureShape before them: they may be computed, from constants or from shapes, while it imports the graph, and a
    wrong rank is an error of the import then.

    Args:
        graph_def: One that :func:`check` has passed. It is not changed; the same object is returned where there is
            nothing of both.
    """
    graph = Graph(graph_def)
    if not _not_looked_at(graph) and not any(place.node.HasField("experimental_type") for place in graph):
        return graph_def
    copy = tf.GraphDef()
    copy.CopyFrom(graph_def)
    graph = Graph(copy)
    for place in graph:
        place.node.ClearField("experimental_type")
    for place in _not_looked_at(graph):
        _ensure_rank(graph, place)
    return copy


def _not_looked_at(graph: Graph) -> list[LocatedNode]:
    """Nodes with such an operand that is not a constant of the graph, which check() has looked at."""
    places = [place for op in _NEVER_LOOKED_AT for place in graph.places.get(op, ())]
    return [place for place in places if len(inputs_of(place.node)[0]) > 1 and not _has_constant(graph, place)]


def _has_constant(graph: Graph, place: LocatedNode) -> bool:
    source = graph.nodes.get(node_of(place.node.input[1])) if place.function is None else None
    return source is not None and source.op == "Const"


def _ensure_rank(graph: Graph, place: LocatedNode) -> None:
    node = place.node
    operation = _operation(node.op)
    dtype = tf.int32.as_datatype_enum
    if operation is not None and "Tlen" in operation.attrs:
        dtype = _attr(node, operation, "Tlen").type
    shape = tf.TensorShape([None] * _NEVER_LOOKED_AT[node.op]).as_proto()
    data, _ = inputs_of(node)
    attrs = {"T": attr_value(type=dtype), "shape": attr_value(shape=shape)}
    ensured = graph.add(place, "rank", "EnsureShape", data[1:2], **attrs)
    connect(node, [data[0], graph.outputs(place, ensured)[0], *data[2:]])


# ---------------------------------------------------------------------------------------------------- definitions


@dataclasses.dataclass(frozen=True)
class _Argument:
    """An argument of an operation: how many tensors of which type, given by attributes or fixed."""

    number_attr: str
    type_list_attr: str
    type_attr: str
    type: int


@dataclasses.dataclass(frozen=True)
class _Operation:
    inputs: tuple[_Argument, ...]
    outputs: tuple[_Argument, ...]
    attrs: dict[str, str]  # name -> the field of AttrValue that its value is in
    required: frozenset[str]
    defaults: dict[str, Any]


_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"} | {
    kind: kind for kind in ("type", "shape", "tensor", "func")
}


@functools.cache
def _operation(op: str) -> _Operation | None:
    definition = private.op_def_registry.get(op)
    if definition is None:
        return None

    def arguments(listed: Any) -> tuple[_Argument, ...]:
        return tuple(_Argument(arg.number_attr, arg.type_list_attr, arg.type_attr, arg.type) for arg in listed)

    return _Operation(
        arguments(definition.input_arg),
        arguments(definition.output_arg),
        {attr.name: _FIELDS.get(attr.type, "list") for attr in definition.attr},
        frozenset(attr.name for attr in definition.attr if not attr.HasField("default_value")),
        {attr.name: attr.default_value for attr in definition.attr if attr.HasField("default_value")},
    )


def _required(node: Any, demanded: bool = True) -> Iterator[str]:
    """The attributes that an operation demands are there, and each is of its kind."""
    operation = _operation(node.op)
    if operation is None:
        return
    for name in sorted(operation.required - node.attr.keys()) if demanded else ():
        yield f"the node {node.name!r} lacks the attribute {name!r} of its operation {node.op}"
    for name in operation.attrs.keys() & node.attr.keys():
        kind = node.attr[name].WhichOneof("value")
        wanted = operation.attrs[name]
        if kind not in (wanted, "placeholder"):
            yield f"the attribute {name!r} of the node {node.name!r} is {kind or 'nothing'}, not {wanted}"
    for argument in (*operation.inputs, *operation.outputs):
        if argument.number_attr and not 0 <= _attr(node, operation, argument.number_attr).i <= _MOST_OUTPUTS:
            number = _attr(node, operation, argument.number_attr).i
            yield f"the attribute {argument.number_attr!r} of the node {node.name!r} is {number}"
    if node.op == "Const" and node.attr["value"].tensor.dtype != node.attr["dtype"].type:
        yield f"the constant {node.name!r} has a value of another type than its own"
    if "batch_dims" in operation.attrs and abs(node.attr["batch_dims"].i) > _MOST_BATCH_DIMENSIONS:
        yield f"the node {node.name!r} claims {node.attr['batch_dims'].i} dimensions of batches"
    if "fused_ops" in operation.attrs and not node.attr["fused_ops"].list.s:
        yield f"the node {node.name!r} of the operation {node.op} names nothing that was fused"


def _attr(node: Any, operation: _Operation, name: str) -> Any:
    return node.attr[name] if name in node.attr else operation.defaults.get(name, _NONE)


_NONE = tf.AttrValue()


def _types_of(node: Any, outputs: bool) -> list[int] | None:
    """The number of the type of each output or data input; 0 where it is not given, None for an unknown operation."""
    operation = _operation(node.op)
    if operation is None:
        return None
    found: list[int] = []
    for argument in operation.outputs if outputs else operation.inputs:
        if argument.type_list_attr:
            found += _attr(node, operation, argument.type_list_attr).list.type
        else:
            count = _attr(node, operation, argument.number_attr).i if argument.number_attr else 1
            one = _attr(node, operation, argument.type_attr).type if argument.type_attr else argument.type
            found += [one] * min(max(count, 0), _MOST_OUTPUTS)
    return found


def _attributes(node: Any, content_left_out: bool = False) -> Iterator[str]:
    for key, attr in node.attr.items():
        if key in _NAMES and len(attr.s) > _LONGEST_NAME:
            yield f"the attribute {key!r} of the node {node.name!r} is a name of {len(attr.s)} characters"
        tensors = [attr.tensor] if attr.HasField("tensor") else list(attr.list.tensor)
        shapes = [attr.shape] if attr.HasField("shape") else list(attr.list.shape)
        for number in [attr.type] if attr.HasField("type") else list(attr.list.type):
            if number not in _types():
                yield f"the attribute {key!r} of the node {node.name!r} is the unknown type {number}"
        for tensor in tensors:
            for problem in _tensor(tensor, content_left_out and key == "value"):
                yield f"the attribute {key!r} of the node {node.name!r} {problem}"
        for shape in shapes:
            for problem in _shape(shape, open_dimensions=True):
                yield f"the attribute {key!r} of the node {node.name!r} {problem}"


@functools.cache
def _types() -> frozenset[int]:
    """The numbers of the types that TensorFlow knows, references included; 0 stands for none."""
    return frozenset({0, *(number for number in range(1, 200) if is_type(number))})


def is_type(number: int) -> bool:
    """Whether TensorFlow knows a type of that number, other than none."""
    try:
        tf.as_dtype(number)
    except TypeError:
        return False
    return True


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
    if not tensor.dtype or tensor.dtype not in _types():
        yield f"is a tensor of the unknown type {tensor.dtype}"
        return
    dtype = tf.as_dtype(tensor.dtype)
    if dtype._is_ref_dtype:
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
    if dtype == tf.string and tensor.tensor_content:
        yield "is a tensor of strings with raw bytes"
        return
    count = math.prod(dim.size for dim in tensor.tensor_shape.dim)
    given = sum(len(getattr(tensor, name, ())) for name in _VALUES)
    if content_left_out:
        return
    if tensor.tensor_content:
        if len(tensor.tensor_content) != count * dtype.size:
            yield f"is a tensor of {count} x {dtype.name} with {len(tensor.tensor_content)} bytes"
    elif (dtype.is_complex and given > 2 * count) or (not dtype.is_complex and given > count):
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
            # What an operation demands is looked at when the function is called, so an old one may lack it.
            for problem in (*_attributes(node), *_required(node, demanded=False)):
                yield f"in the function {name!r}, {problem}"
    calls = {
        name: _calls(function.node_def, function_values(function), functions) for name, function in functions.items()
    }
    for gradient in graph_def.library.gradient:
        if gradient.function_name in calls and gradient.gradient_func in functions:
            calls[gradient.function_name].append(gradient.gradient_func)
    graph = _calls(graph_def.node, (value for node in graph_def.node for value in node.attr.values()), functions)
    yield from _recursion(calls, graph)


def _calls(nodes: Iterable[Any], values: Iterable[Any], functions: Collection[str]) -> list[str]:
    """The functions that nodes call, by their operations or by the values of attributes, each as often as they do."""
    named = itertools.chain((node.op for node in nodes), functions_named(values, strings=False))
    return sorted(name for name in named if name in functions)


def _recursion(calls: dict[str, list[str]], graph: Iterable[str]) -> Iterator[str]:
    """Functions that call themselves, nest too deeply, or multiply: TensorFlow follows each call on its own.

    Args:
        calls: Function -> the functions that it calls, each as often as it does.
        graph: Those that the graph calls.
    """
    depth: dict[str, int] = {}
    total: dict[str, int] = {}  # of calls, with those that they make
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
                total[name] = sum(1 + total[called] for called in calls[name])
                if total[name] > _MOST_CALLS:
                    yield f"the function {name!r} makes more than {_MOST_CALLS:,} calls, with those that they make"
                    return
    if sum(1 + total[called] for called in graph) > _MOST_CALLS:
        yield f"its nodes make more than {_MOST_CALLS:,} calls of functions, with those that they make"


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
