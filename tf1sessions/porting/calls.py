"""One way to call a graph: inputs by name, outputs as the graph or its builder has them.

A call goes straight to the concrete function for the inputs that are given. Switches (inputs that are one boolean) may
be given as Python's ``True`` and ``False``: for each there is a concrete function in which the branches not taken are
not there. Given as a tensor, they are tensors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import keyword
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError
from tf1sessions.models.interface import TensorSpec, in_order
from tf1sessions.models.one_thread import suits_one_thread
from tf1sessions.porting.graphs.replay import GraphReplay
from tf1sessions.porting.graphs.structure import CONTROL, Key, key_of
from tf1sessions.porting.staging import Staging
from tf1sessions.runtime import private, tf

__all__ = ["GraphFunction", "GraphParts", "PreparedFunction", "argument_names"]

tf2: Any = tf.compat.v2

# TensorFlow's modules take their time to find a name.
_Variable: Any = tf2.Variable
_TENSORS: Any = (tf.Tensor, _Variable)

#: For how many shapes of its inputs a call has functions of their own. Arbitrary: batches that are full, the last one,
#: and those of an evaluation.
_SHAPES = 4


@dataclasses.dataclass(frozen=True)
class GraphParts:
    """A graph, and what takes the place of what it keeps.

    Attributes:
        graph_def: The graph.
        where: Where it comes from, for errors.
        variables: Node of a variable -> the ``tf.Variable``.
        constants: Const node -> the ``tf.Variable`` that takes its place.
        tables: Node of a table -> the table.
        streams: Random operation -> how far its stream is.
        container: Where queues, readers, iterators and tables live that the graph makes; None if it may make none.
        shape_of: The shape that the program gave a tensor of this name, where that is known.
    """

    graph_def: Any
    where: str
    variables: Mapping[str, Any]
    constants: Mapping[str, Any]
    tables: Mapping[str, Any]
    streams: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    container: str | None = None
    shape_of: Callable[[str], Any] | None = None


class GraphFunction:
    """``function(x=..., training=True)``; or ``function(structure)``, with the inputs in the structure they have.

    Args:
        name: Of the signature.
        parts: The graph.
        inputs: Name -> what it is.
        outputs: Name -> tensor.
        effects: Operations that a call runs as well, after the outputs are computed.
        structures: The inputs and the outputs with their names in the place of tensors; flat dicts by default.

    Attributes:
        name, inputs, outputs, effects: As given.

    Thread-safety: safe to call from any thread.
    """

    def __init__(
        self,
        name: str,
        parts: GraphParts,
        inputs: Mapping[str, TensorSpec],
        outputs: Mapping[str, str],
        effects: Sequence[str] = (),
        structures: tuple[Any, Any] | None = None,
    ) -> None:
        self.name = name
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        self._parts = parts
        self.effects = tuple(effects)
        self._given: Any
        self._results: Any
        self._structures = structures
        self._given, self._results = structures or (None, None)
        if self._results is None:
            self._results = {each: each for each in outputs}
        self._switches = {
            each for each, spec in inputs.items() if spec.dtype == tf.bool and spec.shape.is_compatible_with([])
        }
        self._calls: dict[Any, PreparedFunction] = {}
        self._lock = threading.Lock()  # held while a call is traced

    @property
    def concrete(self) -> Any:
        """The ConcreteFunction of the inputs that have no default. Its arguments are in the order of :attr:`inputs`."""
        return self._call_for(self._required(), {}).concrete

    def prepare(self) -> None:
        """Trace the function of the inputs that have no default, so that what is not possible is reported now.

        With switches, which mostly come as Python's True and False, calls run functions of their own, and that one may
        never be called: only the structure of the graph is checked then.
        """
        if self._switches:
            self._body(self._required(), {})
        else:
            self.concrete  # noqa: B018 - a property that traces

    def __call__(self, values: Any = None, /, *more: Any, **named: Any) -> Any:
        """Runs the graph.

        Args:
            values: Inputs by name, or in the structure that the builder took; or the first input.
            *more: Then the others, in the order of :attr:`inputs`, optional ones last.
            **named: Inputs by name.

        Returns:
            The tensors: by the names of the outputs, or in the structure that the builder returned.

        Raises:
            TypeError: An input is unknown or missing.
            ValueError: A value does not have the shape of its input.
        """
        given: Mapping[str, Any] = named
        if more or values is not None or not self.inputs.keys() >= named.keys():
            given = self._arguments(values, more, named)
        call = self._calls.get(tuple(given))
        if call is None or self._switches:
            call, given = self._call_of(given)
        return call(given)

    def remade(self, parts: GraphParts, make: Callable[..., GraphFunction]) -> GraphFunction:
        """Make an object of this class of other parts, by ``make``."""
        return make(self.name, parts, self.inputs, self.outputs, self.effects, self._structures)

    def inlined(self, values: Any = None, /, *more: Any, **named: Any) -> Any:
        """Make the graph in the graph of the moment, as a function that is called there: a GradientTape sees it."""
        given = self._arguments(values, more, named)
        fixed, rest = self._fixed(given)
        self._check({*given})
        _, body = self._body(tuple(rest), fixed)
        tensors = [tf.convert_to_tensor(value, self.inputs[name].dtype) for name, value in rest.items()]
        return tf2.function(lambda *each: body(each, False, False), autograph=False)(*tensors)

    def _arguments(self, values: Any, more: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of a call by name."""
        if more:
            return in_order(self.name, self.inputs, (values, *more), named, self._spec_text)
        if values is not None or not self.inputs.keys() >= named.keys():
            return self._by_name({} if values is None else values, named)
        return dict(named)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in the order in which their structure is flattened."""
        return list(tf.nest.flatten(self._results))

    def _required(self) -> tuple[str, ...]:
        return tuple(name for name, spec in self.inputs.items() if not spec.optional)

    def _by_name(self, values: Any, named: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(values, Mapping):
            values, named = {**values, **named}, {}
            if self._given is None or all(key in self.inputs for key in values):
                return dict(values)
        required = self._required()
        if self._given is not None and (not isinstance(values, Mapping) or isinstance(self._given, Mapping)):
            with contextlib.suppress(_OtherStructure):
                return {**dict(_matched(self._given, values)), **named}
        if isinstance(values, Mapping):
            return dict(values)  # which of them is wrong is reported where they are used
        if len(required) == 1:
            return {required[0]: values, **named}
        raise TypeError(f"the signature {self.name!r} takes {self._spec_text()}, by name or in that structure")

    def _call_of(self, given: Mapping[str, Any]) -> tuple[PreparedFunction, Mapping[str, Any]]:
        fixed, rest = self._fixed(given)
        return self._call_for(tuple(rest), fixed), rest

    def _fixed(self, given: Mapping[str, Any]) -> tuple[dict[str, bool], dict[str, Any]]:
        """The switches that are given as Python's True and False, and the other inputs."""
        fixed = {name: bool(given[name]) for name in self._switches if isinstance(given.get(name), bool | np.bool_)}
        return fixed, {name: value for name, value in given.items() if name not in fixed}

    def _call_for(self, names: tuple[str, ...], fixed: Mapping[str, bool]) -> PreparedFunction:
        key = names if not fixed else (names, *sorted(fixed.items()))
        call = self._calls.get(key)
        if call is None:
            self._check({*names, *fixed})
            order = tuple(name for name in self.inputs if name in names)
            same = order if not fixed else (order, *sorted(fixed.items()))
            with self._lock:
                call = self._calls.get(same) or self._traced(order, fixed)
                self._calls[same] = self._calls[key] = call
        return call

    def _check(self, names: set[str]) -> None:
        unknown = [name for name in names if name not in self.inputs]
        missing = [name for name in self._required() if name not in names]
        if unknown or missing:
            wrong = f"has no input {unknown[0]!r}" if unknown else f"needs the input {missing[0]!r}, which is not given"
            raise TypeError(f"the signature {self.name!r} {wrong}; its inputs are {self._spec_text()}")

    def _spec_text(self) -> str:
        each = [
            f"{name} {spec.dtype.name} {spec.shape}" + (" (optional)" if spec.optional else "")
            for name, spec in self.inputs.items()
        ]
        return ", ".join(each) or "none"

    # -- tracing

    def _traced(self, names: Sequence[str], fixed: Mapping[str, bool]) -> PreparedFunction:
        specs = [self.inputs[name] for name in names]
        replay, body = self._body(names, fixed)
        arguments_of = argument_names(names)

        def traced(keep_loops: bool, shapes: Sequence[Any], known: bool = False) -> Any:
            arguments = [
                tf.TensorSpec(shape, spec.dtype, arguments_of[name])
                for name, spec, shape in zip(names, specs, shapes, strict=True)
            ]
            with tf.init_scope():
                made = tf2.function(lambda *values: body(values, keep_loops, keep_loops and known), autograph=False)
                return made.get_concrete_function(*arguments)

        concrete = traced(False, [spec.shape for spec in specs])
        is_open = any(not spec.shape.is_fully_defined() for spec in specs)  # else the same would be traced again
        pays = replay.can_keep_loops or (is_open and bool(self.effects))
        return PreparedFunction(concrete, specs, functools.partial(traced, replay.can_keep_loops) if pays else None)

    def _body(self, names: Sequence[str], fixed: Mapping[str, bool]) -> tuple[GraphReplay, Callable[..., Any]]:
        """Return what makes the graph in the default graph, of the tensors of these inputs in this order.

        It takes further arguments of :meth:`Replay.run` by name.
        """
        parts = self._parts
        keys = [key_of(self.inputs[name].tensor) for name in names]
        constants = {key_of(self.inputs[name].tensor): value for name, value in fixed.items()}
        outputs = {name: key_of(tensor) for name, tensor in self.outputs.items()}
        cut: set[Key] = {*keys, *constants, *((name, 0) for name in parts.constants)}
        effects: list[Key] = [(effect, CONTROL) for effect in self.effects]
        replay = GraphReplay(parts.graph_def, [*outputs.values(), *effects], cut, parts.where, parts.container)

        def run(values: Sequence[Any], keep_loops: bool, known_shapes: bool, **more: Any) -> Any:
            given = {**dict(zip(keys, values, strict=True)), **constants}
            given |= {(name, 0): variable for name, variable in parts.constants.items() if (name, 0) in replay.used}
            handles = {name: parts.tables[name].resource_handle for name in replay.tables}
            options = {"streams": parts.streams, "keep_loops": keep_loops, "known_shapes": known_shapes, **more}
            made = replay.run(given, parts.variables, handles, **options)
            # Not only run, but waited for: what a condition of TensorFlow 2 does is left out where nothing takes its
            # results, unless the function that it calls names it.
            with tf.control_dependencies([made[key] for key in effects if made[key] is not None]):
                return tf.nest.map_structure(lambda name: tf.identity(made[outputs[name]]), self._results)

        return replay, run


class _OtherStructure(Exception):
    """Values are not in the structure that was expected."""


def _matched(names: Any, values: Any) -> Iterator[tuple[str, Any]]:
    """The values by the names that a structure has in their places; a value may be a list itself."""
    if isinstance(names, str):
        yield names, values
    elif isinstance(names, Mapping):
        if not isinstance(values, Mapping) or names.keys() != values.keys():
            raise _OtherStructure
        for key, name in names.items():
            yield from _matched(name, values[key])
    else:
        if not isinstance(values, list | tuple) or len(values) != len(names):
            raise _OtherStructure
        for name, value in zip(names, values, strict=True):
            yield from _matched(name, value)


class PreparedFunction:
    """A concrete function, and what its arguments must be.

    Where nothing records (no tape, no graph), TensorFlow is asked for the function straight away: with the tensors and
    the settings with which the concrete function would ask for it in the end. There, loops are those of TensorFlow 1,
    if they can be kept, and the shapes are those that the values have: TensorFlow then computes shapes once, and not in
    each iteration and for each gradient. One thread runs it where two gain nothing.

    Args:
        concrete: The function.
        specs: Its inputs.
        exact: Traces the same function for inputs of certain shapes, and with its loops as they are if they can be
            kept. Its second argument says whether such loops may rely on the shapes. None if that would gain nothing.
    """

    def __init__(self, concrete: Any, specs: Sequence[TensorSpec], exact: Callable[..., Any] | None = None) -> None:
        self.concrete = concrete
        devices = private.context.context().list_logical_devices()
        one_device = len(devices) == 1
        self._inputs = [(spec.name, _InputSpec(spec, devices[0].name if one_device else None)) for spec in specs]
        self._shapes = [spec.shape for spec in specs]
        self._open = [index for index, shape in enumerate(self._shapes) if not shape.is_fully_defined()]
        self._function = _TracedFunction.of(concrete, one_device, not self._open)
        self._count = len(concrete.outputs)
        # Which operation of a loop is on which of several devices is left to TensorFlow 2's loops.
        self._exact = exact if one_device and self._function is not None else None
        self._by_shapes: dict[Any, _TracedFunction] = {}  # of the inputs that are open
        self._general: _TracedFunction | None = None  # for all other shapes
        self._lock = threading.Lock()  # held while one is traced
        results = concrete.structured_outputs
        self._keys = (
            sorted(results) if type(results) is dict and not any(map(tf.nest.is_nested, results.values())) else None
        )

    def __call__(self, given: Mapping[str, Any]) -> Any:
        context = private.context.context()
        eager = context.executing_eagerly()
        values = [each.tensor(given[name], eager) for name, each in self._inputs]
        function = self._function
        if function is None or private.record.could_possibly_record() or not eager:
            return self.concrete(*values)
        if self._exact is not None:
            shapes = tuple([values[index]._shape_tuple() for index in self._open])
            function = self._by_shapes.get(shapes) or self._general or self._function_for(shapes)
        options = context.function_call_options  # this thread's
        chosen = options.executor_type
        if function.one_thread and chosen is None:
            options.executor_type = "SINGLE_THREADED_EXECUTOR"
        try:
            outputs = context.call_function(function.name, values + function.captured, self._count) or []
        finally:
            options.executor_type = chosen
        if self._keys is not None:
            return dict(zip(self._keys, outputs, strict=True))
        return tf.nest.pack_sequence_as(self.concrete.structured_outputs, outputs)

    def _function_for(self, shapes: tuple[Any, ...]) -> _TracedFunction:
        """The function for values of these shapes, traced when it is new; after so many, one for all."""
        assert self._exact is not None
        with self._lock:
            found = self._by_shapes.get(shapes) or self._general
            if found is not None:
                return found
            if len(self._by_shapes) < _SHAPES:
                found = self._exactly_for(shapes)
            if found is not None:
                self._by_shapes[shapes] = found
            else:
                self._general = found = _TracedFunction.of(self._exact(self._shapes), True, not self._open)
            assert found is not None
            return found

    def _exactly_for(self, shapes: tuple[Any, ...]) -> _TracedFunction | None:
        """None where it cannot be made of values of these shapes: what is wrong, if it is, the call will show."""
        assert self._exact is not None
        all_shapes = list(self._shapes)
        for index, shape in zip(self._open, shapes, strict=True):
            all_shapes[index] = shape
        try:
            return _TracedFunction.of(self._exact(all_shapes, True), True, True)
        except (ValueError, ConversionError):
            return None


@dataclasses.dataclass(frozen=True)
class _TracedFunction:
    """The function by which TensorFlow knows a concrete function.

    Attributes:
        name: Of it.
        captured: What it takes after its inputs.
        concrete: Kept as long as this, or the function is gone.
        one_thread: Whether the thread that calls runs it.
    """

    name: str
    captured: list[Any]
    concrete: Any
    one_thread: bool

    @classmethod
    def of(cls, concrete: Any, one_device: bool, sizes_known: bool) -> _TracedFunction | None:
        """None where its results need more than being given: what a resource holds is noted on the tensor."""
        inner: Any = getattr(concrete, "_inference_function", None)
        known = hasattr(private.context.Context, "call_function") and hasattr(inner, "name")
        if not known or any(each.dtype in (tf.resource, tf.variant) for each in concrete.outputs):
            return None
        one_thread = one_device and suits_one_thread(concrete.graph, sizes_known)
        return cls(inner.name, list(concrete.captured_inputs), concrete, one_thread)


class _InputSpec:
    """The requirements on the value of an input, and the tensor that is made of it.

    Args:
        spec: Of the input.
        device: The only device there is; None if there are several.
    """

    def __init__(self, spec: TensorSpec, device: str | None) -> None:
        self._name = spec.name
        self._dtype = spec.dtype
        self._numbers = None if spec.dtype == tf.string else np.dtype(spec.dtype.as_numpy_dtype)
        self._shape = None if spec.shape.rank is None else spec.shape.as_list()
        self._last: tuple[int, ...] | None = None  # a shape that fits
        plain = self._numbers is not None and self._numbers.kind in "biufc"  # NumPy's own
        self._staging = Staging(self._numbers, device) if plain and device is not None else None

    def tensor(self, value: Any, eager: bool) -> Any:
        """A value as a tensor: as feeding it to a session would make it, of a copy of what an array holds.

        Args:
            value: Anything that is a tensor, or can become one.
            eager: Whether it is to be one with a value, and not one of the graph that is being made.

        Raises:
            ValueError: It is of another dtype or shape.
        """
        if isinstance(value, np.ndarray) or not isinstance(value, _TENSORS):
            if self._numbers is not None:
                value = np.asarray(value, self._numbers)
            if eager and self._staging is not None:
                if value.shape != self._last:
                    self._check_shape(list(value.shape))
                    self._last = value.shape
                return self._staging.tensor(value)
            value = tf.constant(value, self._dtype)
        elif isinstance(value, _Variable):
            value = value.read_value()
        if value.dtype is not self._dtype and value.dtype != self._dtype:
            raise ValueError(f"input {self._name!r} is {self._dtype.name}, and {value.dtype.name} was given")
        if value.shape.rank is not None:
            self._check_shape(value.shape.as_list())
        return value

    def _check_shape(self, dims: list[int | None]) -> None:
        if self._shape is not None and dims != self._shape and not _fit(dims, self._shape):
            raise ValueError(
                f"input {self._name!r} has the shape {self._shape}, and a value of the shape {dims} was given"
            )


def _fit(dims: Sequence[int | None], others: Sequence[int | None]) -> bool:
    """Whether two shapes can be the same; None is a dimension that is open."""
    return len(dims) == len(others) and all(
        [one is None or other is None or one == other for one, other in zip(dims, others, strict=True)]
    )


def argument_names(names: Iterable[str]) -> dict[str, str]:
    """The names of inputs as arguments, each another one: what is no letter, digit or underscore becomes one.

    A name that can be an argument stays as it is; others that would be equal get numbers, in alphabetical order. Names
    that differ in capitals alone count as equal, as they do among the operations of a graph.

    Example:
        >>> argument_names(["a/b", "a_b", "a.b", "A_b"])
        {'A_b': 'A_b', 'a.b': 'a_b_1', 'a/b': 'a_b_2', 'a_b': 'a_b_3'}
    """
    names = sorted(names)
    found: dict[str, str] = {}
    for name in names:
        if _argument_name(name) == name and name.lower() not in map(str.lower, found):
            found[name] = name
    taken = {name.lower() for name in found}
    for name in names:
        if name not in found:
            plain = _argument_name(name)
            numbered = (f"{plain}_{number}" for number in itertools.count(1))
            found[name] = next(each for each in itertools.chain([plain], numbered) if each.lower() not in taken)
            taken.add(found[name].lower())
    return {name: found[name] for name in names}


def _argument_name(name: str) -> str:
    safe = re.sub(r"\W", "_", name, flags=re.ASCII)
    is_free = safe[:1].isalpha() and not keyword.iskeyword(safe) and safe != "self"  # which methods of a module have
    return safe if is_free else f"input_{safe}"
