"""Graphs that would write or read a file when they run, each hidden in a random way; and harmless ones like them.

Nothing here is run by itself: test_risks.py and benchmarks/attacks/model_risks.py load them, which must be refused.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import tf1sessions as t1

#: How many functions lie between the graph and the operation, at most.
DEEPEST = 3

FORMS = ("frozen.pb", "frozen.pbtxt", "graph.meta", "saved_model")


class Graph:
    """A GraphDef whose output ``y`` leads to an operation that touches the file ``victim``, unless ``harmless``."""

    def __init__(self, victim: str, rng: random.Random, harmless: bool = False) -> None:
        self.tf = t1.tf1
        self.rng = rng
        self.victim = victim
        self.harmless = harmless
        self.made = self.tf.GraphDef()
        self.made.versions.producer = 1087
        self.count = 0
        self.ways: list[str] = []
        # names of the file and of what is written lie in the graph, or in each function
        self.x = self._node(self.made.node, "x", "Placeholder", dtype=self.tf.float32)
        entry = self._hide(self.made.node, rng.randrange(DEEPEST + 1), self._leaf())
        self._node(self.made.node, "y", "Identity", ["x", f"^{entry}"], T=self.tf.float32)

    # -- parts

    def _name(self, what: str) -> str:
        self.count += 1
        return f"{what}_{self.count}"

    def _node(self, nodes: Any, name: str, op: str, inputs: Any = (), **attrs: Any) -> Any:
        node = nodes.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            self._set(node.attr[key], value)
        return node

    def _set(self, attr: Any, value: Any) -> None:
        if isinstance(value, self.tf.DType):
            attr.type = value.as_datatype_enum
        elif isinstance(value, tuple):  # a function: its name, and attributes of it
            attr.func.name = value[0]
            for key, inner in value[1].items():
                self._set(attr.func.attr[key], inner)
        elif isinstance(value, list):
            attr.list.SetInParent()
            for each in value:
                if isinstance(each, tuple):
                    attr.list.func.add().name = each[0]
                else:
                    attr.list.type.append(each.as_datatype_enum)
        elif isinstance(value, dict):
            attr.placeholder = value["placeholder"]
        else:
            attr.s = str(value).encode()

    def _text(self, nodes: Any, value: str) -> str:
        node = nodes.add(name=self._name("text"), op="Const")
        node.attr["dtype"].type = self.tf.string.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(self.tf.make_tensor_proto(value))
        return str(node.name)

    def _function(self) -> Any:
        function = self.made.library.function.add()
        function.signature.name = self._name("f")
        return function

    # -- what is hidden

    def _leaf(self) -> Any:
        """A function that adds the operation to nodes; it returns the name, and what the caller must hand over."""
        way = self.rng.choice(["write", "read", "save", "print", "print_by_caller", "cache_by_caller", "debug"])
        self.ways.append(way)
        tf, victim = self.tf, self.victim

        def add(nodes: Any) -> tuple[str, dict[str, Any]]:
            inside = nodes is not self.made.node
            if self.harmless:
                return str(self._node(nodes, self._name("nothing"), "NoOp").name), {}
            if way == "write":
                parts = [self._text(nodes, victim), self._text(nodes, "x")]
                return str(self._node(nodes, self._name("w"), "WriteFile", self._outputs(nodes, parts)).name), {}
            if way == "read":
                parts = self._outputs(nodes, [self._text(nodes, victim)])
                return str(self._node(nodes, self._name("r"), "ReadFile", parts).name), {}
            if way == "save":
                parts = [
                    self._text(nodes, victim),
                    self._text(nodes, "v"),
                    self._text(nodes, ""),
                    self._text(nodes, "v"),
                ]
                made = self._node(nodes, self._name("s"), "SaveV2", self._outputs(nodes, parts), dtypes=[tf.string])
                return str(made.name), {}
            if way == "debug":
                parts = self._outputs(nodes, [self._text(nodes, "x")])
                made = self._node(nodes, self._name("d"), "DebugIdentity", parts, T=tf.string)
                made.attr["debug_urls"].list.s.append(f"file://{victim}".encode())
                return str(made.name), {}
            if way == "cache_by_caller" and inside:
                # the name of the cache is a constant whose value the caller of the function decides on
                constant = self._node(nodes, self._name("c"), "Const", dtype=tf.string, value={"placeholder": "file"})
                parts = [self._dataset(nodes), *self._outputs(nodes, [str(constant.name)])]
                made = self._node(nodes, self._name("cache"), "CacheDataset", parts, output_types=[tf.string])
                made.attr["output_shapes"].list.shape.add()
                return str(made.name), {"file": victim}
            attrs: dict[str, Any] = {"output_stream": f"file://{victim}"}
            carried: dict[str, Any] = {}
            if way == "print_by_caller" and inside:
                attrs, carried = {"output_stream": {"placeholder": "stream"}}, {"stream": f"file://{victim}"}
            parts = self._outputs(nodes, [self._text(nodes, "x")])
            return str(self._node(nodes, self._name("p"), "PrintV2", parts, **attrs).name), carried

        return add

    def _outputs(self, nodes: Any, names: list[str]) -> list[str]:
        return names if nodes is self.made.node else [f"{name}:output:0" for name in names]

    # -- how it is hidden

    def _hide(self, nodes: Any, depth: int, leaf: Any) -> str:
        if depth == 0:
            return str(leaf(nodes)[0])
        function = self._function()
        name, carried = str(function.signature.name), {}
        if depth == 1:
            entry, carried = leaf(function.node_def)
            for key in carried:
                function.signature.attr.add(name=key, type="string")
        else:
            entry = self._hide(function.node_def, depth - 1, leaf)
        self._node(function.node_def, self._name("end"), "NoOp", [f"^{entry}"])
        way = self.rng.choice(
            [
                "call",
                "operation",
                "branch",
                "case",
                "loop",
                "attribute",
                "default",
                "own_attribute",
                "gradient",
                "dataset",
            ]
            + ["twin", "string"]
        )
        if carried:  # only a call can hand over attributes
            way = "call"
        self.ways.append(way)
        return self._reach(nodes, name, carried, way)

    def _reach(self, nodes: Any, name: str, carried: dict[str, Any], way: str) -> str:
        tf = self.tf
        types: dict[str, Any] = {"Tin": [], "Tout": []}
        if way == "operation":
            return str(self._node(nodes, self._name("n"), name).name)
        if way == "branch":
            flag = self._flag(nodes)
            attrs = {"then_branch": (name, {}), "else_branch": (name, {}), "Tcond": tf.bool}
            return str(self._node(nodes, self._name("n"), "If", [flag], **attrs, **types).name)
        if way == "case":
            number = nodes.add(name=self._name("k"), op="Const")
            number.attr["dtype"].type = tf.int32.as_datatype_enum
            number.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0))
            made = self._node(nodes, self._name("n"), "Case", self._outputs(nodes, [number.name]), **types)
            made.attr["branches"].list.func.add().name = name
            return str(made.name)
        if way == "loop":
            attrs = {"cond": (name, {}), "body": (name, {}), "T": []}
            return str(self._node(nodes, self._name("n"), "While", **attrs).name)
        if way == "dataset":
            attrs = {"f": (name, {}), "Targuments": [], "output_types": [tf.string]}
            made = self._node(nodes, self._name("n"), "MapDataset", [self._dataset(nodes)], **attrs)
            made.attr["output_shapes"].list.shape.add()
            return str(made.name)
        if way in ("attribute", "default", "own_attribute", "gradient", "twin", "string"):
            wrapper = self._function()
            inner = {"placeholder": "g"} if way in ("attribute", "default") else (str(wrapper.signature.name), {})
            handed: dict[str, Any] = {}
            if way in ("attribute", "default"):
                self._node(wrapper.node_def, self._name("n"), "StatefulPartitionedCall", f=inner, **types)
                wrapper.signature.attr.add(name="g", type="func")
                if way == "default":
                    wrapper.signature.attr[0].default_value.func.name = name
                else:
                    handed = {"g": (name, {})}
            elif way == "own_attribute":
                wrapper.attr["_made_of"].func.name = name
            elif way == "gradient":
                self.made.library.gradient.add(function_name=wrapper.signature.name, gradient_func=name)
            elif way == "twin":
                own = next(each for each in self.made.library.function if each.signature.name == name)
                own.attr["api_implements"].s = wrapper.attr["api_implements"].s = b"twins"
            else:
                wrapper.attr["forward_function_name"].s = name.encode()
            called = (str(wrapper.signature.name), handed)
            return str(self._node(nodes, self._name("n"), "StatefulPartitionedCall", f=called, **types).name)
        call = (name, carried)
        return str(self._node(nodes, self._name("n"), "StatefulPartitionedCall", f=call, **types).name)

    def _dataset(self, nodes: Any) -> str:
        """A data set of one text, as an input of another node."""
        parts = self._outputs(nodes, [self._text(nodes, "x")])
        made = self._node(nodes, self._name("t"), "TensorDataset", parts, Toutput_types=[self.tf.string])
        made.attr["output_shapes"].list.shape.add()
        return str(made.name) if nodes is self.made.node else f"{made.name}:handle:0"

    def _flag(self, nodes: Any) -> str:
        flag = nodes.add(name=self._name("flag"), op="Const")
        flag.attr["dtype"].type = self.tf.bool.as_datatype_enum
        flag.attr["value"].tensor.CopyFrom(self.tf.make_tensor_proto(True))
        return self._outputs(nodes, [flag.name])[0]


def write(graph: Graph, form: str, folder: Path) -> str:
    """Writes a graph in one of :data:`FORMS`; returns the path."""
    tf = graph.tf
    if form.startswith("frozen"):
        tf.io.write_graph(graph.made, str(folder), form, as_text=form.endswith("txt"))
        return str(folder / form)
    meta = tf.MetaGraphDef(graph_def=graph.made)
    meta.meta_info_def.tags.append("serve")
    signature = meta.signature_def["serving_default"]
    for group, name in ((signature.inputs, "x"), (signature.outputs, "y")):
        group[name].name = f"{name}:0"
        group[name].dtype = tf.float32.as_datatype_enum
        group[name].tensor_shape.unknown_rank = True
    if form == "graph.meta":
        (folder / form).write_bytes(meta.SerializeToString())
        return str(folder / form)
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
    os.makedirs(folder / form, exist_ok=True)
    (folder / form / "saved_model.pb").write_bytes(saved.SerializeToString())
    return str(folder / form)
