"""An inspection and its graph as one HTML page, which needs nothing but a browser.

``diagram.html`` beside this file is the page: its style, and the script that draws. :func:`page` puts the data in it,
as JSON in which no tag can end. Nodes are numbers there; scopes are made from their names by the script, which also
lays out what is open. A function is a scope by its name.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tf1sessions.models import flops
from tf1sessions.models.census import dtype_name
from tf1sessions.models.files import Artifact
from tf1sessions.models.flops import Shape
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.inspection import Inspection
from tf1sessions.models.risks import functions_of
from tf1sessions.runtime import private

__all__ = ["page"]

# The kinds of nodes, by which they are coloured: the name of the colour, and what the legend says.
_KINDS = {
    "input": "input",
    "output": "output",
    "variable": "variable",
    "constant": "constant",
    "product": "matrix product, convolution",
    "arithmetic": "arithmetic",
    "moving": "shapes, moving values, other",
    "control": "control flow",
    "source": "queue, reader, dataset, table",
    "training": "training, saving, reporting",
    "unknown": "unknown operation",
}
_PRODUCTS = ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv", "Einsum", "LSTM", "GRU", "CudnnRNN", "Dilation2D")
_CONTROL = frozenset(
    """
    Enter Exit If LoopCond Merge NextIteration PartitionedCall RefEnter RefExit RefMerge RefNextIteration RefSwitch
    StatefulPartitionedCall StatelessIf StatelessWhile Switch While Case StatelessCase
    """.split()
)
_SOURCES = ("Queue", "Reader", "Dataset", "Iterator", "HashTable", "LookupTable", "InitializeTable", "TensorArray")
_TRAINING = ("Apply", "Assign", "Gradient", "Grad", "Save", "Restore", "Summary", "Scatter", "MergeV2Checkpoints")
_VARIABLES = frozenset("Variable VariableV2 VarHandleOp ReadVariableOp AutoReloadVariable".split())
# Attributes that say what the picture says already.
_OBVIOUS = frozenset("T Tidx Tparams Tindices Tshape dtype N value shared_name container _class _output_shapes".split())


def page(artifact: Artifact, inspection: Inspection) -> str:
    """The page, as text of one HTML file."""
    text = json.dumps(_data(artifact, inspection), separators=(",", ":"), allow_nan=False)
    template = importlib.resources.files("tf1sessions.models").joinpath("diagram.html").read_text("utf-8")
    return template.replace("@DATA@", text.replace("<", "\\u003c"), 1)


def _data(artifact: Artifact, inspection: Inspection) -> dict[str, Any]:
    nodes = list(_nodes(artifact.graph_def))
    number = {node.name: index for index, node in enumerate(nodes)}
    ops = _TextTable()
    shape_texts = _TextTable()
    called = functions_of(artifact.graph_def, artifact.graph_def.library, inspection.needed)
    sizes = {each.name: each.bytes or 0 for each in inspection.variables}
    sizes |= {each.name: each.bytes for each in inspection.constants}
    why = {name: risk.why for risk in inspection.risks for name in risk.nodes}
    unknown = {name for names in inspection.unknown_ops.values() for name in names}
    fed = {node_of(each.tensor) for each in inspection.inputs}
    given = {node_of(each.tensor) for each in inspection.outputs}
    kinds = list(_KINDS)

    def kind(node: _DrawnNode) -> str:
        if node.name in unknown:
            return "unknown"
        if node.name in fed:
            return "input"
        return "output" if node.name in given else _kind(node.op, node.name in sizes)

    return {
        "names": list(number),
        "opNames": ops.texts,
        "ops": [ops[node.op] for node in nodes],
        "kindNames": kinds,
        "kindTexts": _KINDS,
        "kinds": [kinds.index(kind(node)) for node in nodes],
        "inputs": [_flat((number[name], output) for name, output in node.inputs if name in number) for node in nodes],
        "controls": [[number[name] for name in node.controls if name in number] for node in nodes],
        "shapeTexts": shape_texts.texts,
        "shapes": [[shape_texts[text] for text in _outputs(node, inspection)] for node in nodes],
        "bytes": [sizes.get(node.name, 0) for node in nodes],
        "flops": [_flops(node, inspection) for node in nodes],
        "risks": [why.get(node.name, 0) for node in nodes],
        "needed": [int(node.name in inspection.needed or node.function in called) for node in nodes],
        "attrs": [list(_attributes(node.proto)) for node in nodes],
        "report": inspection.to_dict(),
    }


@dataclasses.dataclass(frozen=True)
class _DrawnNode:
    """A node of the graph, or of a function in it: then its name is ``function/node``.

    ``inputs`` are the names of nodes with the numbers of their outputs.
    """

    name: str
    op: str
    proto: Any
    inputs: Sequence[tuple[str, int]]
    controls: Sequence[str]
    function: str | None = None


def _nodes(graph_def: Any) -> Iterator[_DrawnNode]:
    """The nodes of a graph and of its functions, the arguments of these too; each name once."""
    seen = set()
    for node in (*_of_graph(graph_def), *_of_functions(graph_def)):
        if node.name not in seen:
            seen.add(node.name)
            yield node


def _of_graph(graph_def: Any) -> Iterator[_DrawnNode]:
    for node in graph_def.node:
        inputs = []
        for entry in node.input:
            if not entry.startswith("^"):
                name = node_of(entry)
                inputs.append((name, int(entry[len(name) + 1 :] or 0)))
        yield _DrawnNode(node.name, node.op, node, inputs, [entry[1:] for entry in node.input if entry.startswith("^")])


def _of_functions(graph_def: Any) -> Iterator[_DrawnNode]:
    for function in graph_def.library.function:
        name = function.signature.name
        body = {node.name: node for node in function.node_def}
        for argument in function.signature.input_arg:
            yield _DrawnNode(f"{name}/{argument.name}", "argument", type(graph_def)().node.add(), (), (), name)
        for node in function.node_def:
            inputs, controls = [], []
            for entry in node.input:
                source, _, output = entry.removeprefix("^").partition(":")
                if entry.startswith("^"):
                    controls.append(f"{name}/{source}")
                else:
                    inputs.append((f"{name}/{source}", _number_of(body.get(source), output)))
            yield _DrawnNode(f"{name}/{node.name}", node.op, node, inputs, controls, name)


def _number_of(node: Any, output: str) -> int:
    """The number of the output that a function calls ``"values:1"``."""
    name, _, index = output.partition(":")
    number = int(index) if index.isdecimal() else 0
    definition = private.op_def_registry.get(node.op) if node is not None else None
    for argument in definition.output_arg if definition is not None else ():
        if argument.name == name:
            break
        number += len(list(_dtypes_of(node, argument)))
    return number


def _flat(pairs: Iterable[tuple[int, int]]) -> list[int]:
    return [number for pair in pairs for number in pair]


class _TextTable:
    """Texts and their numbers, each text once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def _kind(op: str, is_weight: bool) -> str:
    """Return what kind of node an operation makes; the large constants of a frozen graph are its variables."""
    if op == "Const":
        return "variable" if is_weight else "constant"
    if op in _VARIABLES:
        return "variable"
    if op in _CONTROL:
        return "control"
    if any(part in op for part in _TRAINING):
        return "training"
    if any(part in op for part in _SOURCES):
        return "source"
    if any(part in op for part in _PRODUCTS):
        return "product"
    if op in ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"):
        return "input"
    return "arithmetic" if flops.has_rule(op) else "moving"


def _outputs(node: _DrawnNode, inspection: Inspection) -> Iterable[str]:
    """The dtype and shape of each output of a node, as far as known."""
    shapes = inspection.shapes.get(node.name, ())
    definition = private.op_def_registry.get(node.op)
    types = [each for output in definition.output_arg for each in _dtypes_of(node.proto, output)] if definition else []
    for index in range(max(len(shapes), len(types))):
        shape = shapes[index] if index < len(shapes) else None
        yield f"{types[index] if index < len(types) else ''} {_shape_text(shape)}".strip()


def _dtypes_of(node: Any, output: Any) -> Iterator[str]:
    """The names of the dtypes that one output of an operation's definition stands for."""
    if output.type_list_attr:
        types = list(node.attr[output.type_list_attr].list.type)
    else:
        count = max(0, node.attr[output.number_attr].i) if output.number_attr else 1
        types = [output.type or node.attr[output.type_attr].type] * min(count, 64)
    for each in types:
        yield dtype_name(each) if each else ""


def _shape_text(shape: Shape) -> str:
    return (
        "shape not known" if shape is None else f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
    )


def _flops(node: _DrawnNode, inspection: Inspection) -> int:
    if node.name not in inspection.needed:
        return 0
    shapes = inspection.shapes
    inputs = [shapes[name][output] if output < len(shapes.get(name, ())) else None for name, output in node.inputs]
    return flops.count(node.proto, inputs, shapes.get(node.name, ())) or 0


def _attributes(node: Any) -> Iterable[str]:
    """The attributes that say something, short."""
    for name in sorted(node.attr):
        if name in _OBVIOUS or name.startswith("_"):
            continue
        value = node.attr[name]
        which = value.WhichOneof("value")
        if which == "list":
            items = [
                *value.list.i,
                *value.list.f,
                *value.list.b,
                *(each.decode(errors="replace") for each in value.list.s),
            ]
            text = str(items) if items else ""
        elif which in ("i", "f", "b"):
            text = str(getattr(value, which))
        elif which == "s":
            text = value.s.decode(errors="replace")
        elif which == "func":
            text = value.func.name
        else:
            continue
        if text:
            yield f"{name} = {text[:60]}"
