"""A function of TensorFlow 2 as a side: a signature of a SavedModel, a ConcreteFunction, what was converted.

Outputs are what the function itself gives. To look at what is inside, the functions that it calls are written out
(inlining.py), and the part of the graph that some tensors need is run in a function of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError, UnsupportedEnvironmentError, UsageError
from tf1sessions.models.graph_index import GraphIndex, node_of
from tf1sessions.models.interface import TensorSpec, default_name, other_signatures
from tf1sessions.porting.parity.inlining import inlined
from tf1sessions.porting.parity.sides import Side, array
from tf1sessions.porting.parity.views import View
from tf1sessions.runtime import tf

__all__ = ["FunctionSide", "flat_outputs", "of_saved_model", "tensor_arguments"]


class FunctionSide(Side):
    """A ConcreteFunction.

    Args:
        function: It.
        what: What the user calls it.
        kind: What it is.
        keep: What must live as long as it does: the object that owns its variables.
    """

    def __init__(self, function: Any, what: str, kind: str = "function of TensorFlow 2", keep: Any = None) -> None:
        super().__init__(what, kind)
        if not tf.executing_eagerly_outside_functions():
            raise UnsupportedEnvironmentError(
                f"{what} is a {kind}, and this program runs with TensorFlow 1's behaviour",
                where="verify()",
                next_step="Use the command `tf1sessions verify`, or a process without enable_v1_behavior().",
            )
        self._function = function
        self._keep = keep
        self._arguments = tensor_arguments(function)
        names = [name for name, _ in self._arguments]
        feeds = function.inputs[: len(names)]
        self.inputs = {
            name: TensorSpec(name, tensor.name, spec.dtype, spec.shape)
            for (name, spec), tensor in zip(self._arguments, feeds, strict=True)
        }
        outputs = flat_outputs(function.structured_outputs)
        self.outputs = {
            name: TensorSpec(name, tensor.name, tensor.dtype, tensor.shape)
            for (name, _), tensor in zip(outputs.items(), function.outputs, strict=True)
        }

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        with tf.init_scope():
            leaves = iter([self._value(name, given[name]) for name, _ in self._arguments])
            structure = self._function.structured_input_signature
            filled = [next(leaves) if _is_spec(each) else each for each in tf.nest.flatten(structure)]
            args, kwargs = tf.nest.pack_sequence_as(structure, filled)
            return {name: array(value) for name, value in flat_outputs(self._function(*args, **kwargs)).items()}

    def _value(self, name: str, value: Any) -> Any:
        spec = self.inputs[name] if self.inputs else None
        return tf.convert_to_tensor(value, dtype=None if spec is None else spec.dtype)

    @functools.cached_property
    def _graph_def(self) -> Any:
        return inlined(self._function.graph.as_graph_def())

    @functools.cached_property
    def _graph_index(self) -> GraphIndex:
        return GraphIndex(self._graph_def)

    @functools.cached_property
    def view(self) -> View | None:
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(self._graph_def, name="")
        assert self.inputs is not None and self.outputs is not None
        captured = [tensor.name for tensor in self._function.inputs[len(self._arguments) :]]
        feeds = [spec.tensor for spec in self.inputs.values()]
        try:
            fetches = [spec.tensor for spec in self.outputs.values()]
            return View(graph, fetches, [*feeds, *captured], self.what)
        except ConversionError as error:
            self.no_view = str(error)
            return None

    def fetch(self, names: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
        needed = self._graph_index.ancestors([node_of(name) for name in names])
        part = tf.GraphDef()
        part.versions.CopyFrom(self._graph_def.versions)
        part.library.CopyFrom(self._graph_def.library)
        part.node.extend(node for node in self._graph_def.node if node.name in needed)
        assert self.inputs is not None
        count = len(self._arguments)
        inside = dict(
            zip((each.name for each in self._function.inputs[count:]), self._function.captured_inputs, strict=True)
        )
        feeds = {self.inputs[name].tensor: name for name in given}
        feeds = {tensor: name for tensor, name in feeds.items() if node_of(tensor) in needed}
        inside = {tensor: value for tensor, value in inside.items() if node_of(tensor) in needed}

        def body(*values: Any) -> Any:
            graph = tf.get_default_graph()
            mapping = {tensor: graph.capture(value) for tensor, value in inside.items()}
            mapping |= dict(zip(feeds, values, strict=True))
            return tf.import_graph_def(part, name="", input_map=mapping, return_elements=list(names))

        with tf.init_scope():
            values = [self._value(name, given[name]) for name in feeds.values()]
            # Not called as such: TensorFlow would warn of functions that are made in a loop.
            function = tf.function(body, autograph=False).get_concrete_function(*values)
            return [array(value) for value in function(*values)]


def of_saved_model(loaded: Any, what: str, signature: str | None = None) -> FunctionSide:
    """A signature of what ``tf.saved_model.load`` gave.

    Raises:
        UsageError: It has no signature, or none of this name.
    """
    signatures = dict(loaded.signatures)
    if not signatures:
        raise UsageError(
            f"{what} has no signatures",
            where=what,
            next_step="Save it with signatures=, or give a Python function that calls it: module.py:function.",
        )
    name = signature or default_name(signatures)
    if name not in signatures:
        raise UsageError(
            f"{what} has no signature {name!r}",
            where="signature=",
            next_step=other_signatures(name, signatures),
        )
    return FunctionSide(signatures[name], what, "SavedModel of TensorFlow 2", loaded)


def flat_outputs(structure: Any) -> dict[str, Any]:
    """Return a function's results by name: the keys of dicts, the fields of named tuples, else ``"output_0"``..."""
    if isinstance(structure, Mapping):
        return {
            f"{key}/{inner}" if inner else str(key): value
            for key in sorted(structure)
            for inner, value in _inside(structure[key])
        }
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return {
            f"{key}/{inner}" if inner else key: value
            for key in structure._fields
            for inner, value in _inside(getattr(structure, key))
        }
    if isinstance(structure, list | tuple):
        return {f"output_{index}": value for index, value in enumerate(tf.nest.flatten(structure))}
    return {"output_0": structure}


def _inside(value: Any) -> list[tuple[str, Any]]:
    return list(flat_outputs(value).items()) if isinstance(value, Mapping | list | tuple) else [("", value)]


def _is_spec(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "name")


def tensor_arguments(function: Any) -> list[tuple[str, Any]]:
    """The tensors that a ConcreteFunction takes, by name, in the order of its inputs.

    One that is given by keyword has that name: TensorFlow writes the name of its spec without capitals.
    """
    _, named = function.structured_input_signature
    keywords = {id(spec): keyword for keyword, spec in named.items()}
    specs = [each for each in tf.nest.flatten(function.structured_input_signature) if _is_spec(each)]
    return [(keywords.get(id(spec)) or spec.name or f"input_{index}", spec) for index, spec in enumerate(specs)]
