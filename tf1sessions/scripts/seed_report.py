"""Which of the seeds that follow from the number of operations are TensorFlow 1's, and from where on that is not known.

In use with ``--seeds report`` alone; seed_words.py tells of it. Data flow::

    an operation is made   ──┐  the stack: the program's line, the call it made, the way from there to the operation
    op_counts.py adds      ──┤                    │
    a seed is drawn        ──┘                    ▼
                                traits of the call ──▶ all measured? ──▶ else the graph is unknown from this call on

A call is what the program itself calls of TensorFlow, Keras or our contrib: the outermost function below the program's
innermost frame. Its traits are what each function on the way makes (other functions, operations, what the table of
differences adds), and what its arguments are: their kinds, not their values. A gradient is one trait, with the kinds
of what it is the gradient of. A call is measured when each of its traits was there in a graph of tests/golden, all of
whose seeds are those of genuine 1.15.5. measured_traits.bin has them; tests/golden/make_measured_traits.py makes it.
"""

from __future__ import annotations

import array
import functools
import importlib.metadata
import inspect
import numbers
import os
import sys
import sysconfig
import threading
import types
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["MEASURED_ON", "Call", "Draw", "GraphSeeds", "SeedReport", "is_measured", "measured", "number", "write"]

#: The releases whose functions were counted. The traits are of the last one: what is made in another way on another
#: release is not measured there.
MEASURED_ON = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
TRAITS = Path(__file__).with_name("measured_traits.bin")

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STANDARD = tuple(
    os.path.join(path, "") for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)
_LIBRARIES = tuple(
    os.path.join("", folder, name, "")
    for folder in (f"{os.sep}site-packages", f"{os.sep}dist-packages")
    for name in ("tensorflow", "tf_keras", "keras", "numpy")
)
# Of the library, but no call of the program: what stands around functions.
_AROUND = (
    "tensorflow/python/util/",
    "tensorflow/python/autograph/impl/",
    "tensorflow/python/framework/override_binary_operator.py",
    "tensorflow/python/profiler/",
    "tf_keras/src/utils/traceback_utils.py",
    "tf1sessions/scripts/",
    "tf1sessions/contrib/framework/arg_scope.py",
)
_COMPOSED = "tf1sessions/scripts/compositions.py"
# Of the library: what makes operations, and constants of what is given to them. A call only if the program calls it.
_MAKERS = (
    "tensorflow/python/framework/constant_op.py",
    "tensorflow/python/framework/constant_tensor_conversion.py",
    "tensorflow/python/framework/op_def_library.py",
    "tensorflow/python/framework/ops.py",
    "tensorflow/python/framework/tensor_conversion.py",
    "tensorflow/python/framework/tensor_conversion_registry.py",
    "tensorflow/python/ops/gen_",
    "tensorflow/python/ops/weak_tensor_ops.py",
)
_GENERATED = "__autograph_generated_file"
# What happens in loops, conditions and functions at every operation.
_ANYWHERE = frozenset(["_control_flow_post_processing", "capture"])
_SEEDS = "_tf1sessions_seed_report"
#: A function of more arguments is not measured for each combination of them.
_MANY = 6
#: Arguments that change no operation.
_TEXTS = frozenset(["base_name", "family", "message", "name", "scope", "shared_name", "summarize", "tag"])


# -- calls and draws --------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Call:
    """A call of the program that made operations in a graph.

    Args:
        code: The function.
        owner: The class whose method it is.
        where: File and line of the program.
        first: How much was seen of the graph before the call.
        why: A trait that was not measured.
    """

    code: types.CodeType
    owner: type | None
    where: tuple[str, int]
    first: int
    why: str | None = None


@dataclass(frozen=True)
class Draw:
    """A seed that follows from the number of operations; ``at``: how much was seen of the graph before it."""

    seed: int
    call: Call
    at: int


@dataclass(eq=False)
class GraphSeeds:
    """What is known of a graph's seeds. ``unknown`` is the first call that was not measured."""

    seed: int | None = None
    seen: int = 0
    unknown: Call | None = None
    draws: list[Draw] = field(default_factory=list)
    shapes: set[Any] = field(default_factory=set)  # of operands whose gradients were made

    def is_exact(self, draw: Draw) -> bool:
        return self.unknown is None or draw.at < self.unknown.first


@dataclass(eq=False)
class _Node:
    """A function that runs, or did a moment ago, and that made operations. Its trait is complete when it has ended."""

    frame: types.FrameType  # kept, so that no other one has its id
    graph: GraphSeeds
    call: Call
    path: str
    is_gradient: bool = False
    whole: _Node | None = None  # the gradient that it is a part of
    made: set[str] = field(default_factory=set)

    def trait(self) -> str:
        return f"{self.path}: {' '.join(sorted(self.made))}"


class SeedReport:
    """Watches how graphs are built. It is safe to call its methods simultaneously from multiple threads.

    Args:
        traits: The measured ones, as numbers.
    """

    def __init__(self, traits: Container[int]) -> None:
        self._traits = traits
        self._lock = threading.Lock()  # protects all of it; held for the time of one operation
        self._nodes: dict[int, dict[tuple[int, int], _Node]] = {}  # by thread; by frame and graph
        self._added: dict[int, list[str]] = {}  # by thread: since its last operation
        self._graphs: list[GraphSeeds] = []

    def made(self, graph: Any, operation: str) -> None:
        """Takes note of an operation that is being made by the caller's caller."""
        with self._lock:
            self._see(graph, sys._getframe(2), operation)

    def counted(self, what: str, before: int, after: int) -> None:
        """Takes note of what a function that is being called adds to the count."""
        with self._lock:
            self._added.setdefault(threading.get_ident(), []).append(f"{what} {before} {after}")

    def drew(self, graph: Any, seed: int | None) -> None:
        """Takes note of a seed that follows from the count; None: of another one."""
        with self._lock:
            seeds, call = self._see(graph, sys._getframe(2), "seed")
            if seed is not None:
                seeds.seed = graph.seed
                seeds.draws.append(Draw(seed, call, seeds.seen - 1))

    def graphs(self) -> list[GraphSeeds]:
        """What is known by now, of each graph in which there are seeds to tell of, in the order of their making."""
        with self._lock:
            for nodes in self._nodes.values():  # what still runs is told as if it had ended
                self._end(nodes, set())
            return [seeds for seeds in self._graphs if seeds.draws]

    def forget_draws(self) -> None:
        """Leave out what was drawn by now: for a forked child, whose parent tells of that."""
        with self._lock:
            for seeds in self._graphs:
                seeds.draws.clear()

    def _see(self, graph: Any, frame: types.FrameType, what: str) -> tuple[GraphSeeds, Call]:
        seeds: GraphSeeds | None = getattr(graph, _SEEDS, None)
        if seeds is None:
            seeds = GraphSeeds()
            setattr(graph, _SEEDS, seeds)
            self._graphs.append(seeds)
        thread = threading.get_ident()
        nodes = self._nodes.setdefault(thread, {})
        running = {id(one) for one in _outwards(frame)}
        self._end(nodes, running)
        stack = _Stack(frame)
        node = nodes.get((id(stack.call), id(seeds))) or self._new_call(seeds, stack, nodes)
        call = node.call
        if call.why is None and (seeds.unknown is None or call.first <= seeds.unknown.first):
            for one, name in stack.inner():
                if name not in _ANYWHERE:
                    node.made.add(name)
                node = nodes.get((id(one), id(seeds))) or self._new_node(seeds, one, name, node, nodes)
            node.made.add("imported" if stack.is_imported else what)
        node.made.update(self._added.pop(thread, ()))
        seeds.seen += 1
        return seeds, call

    def _new_call(self, seeds: GraphSeeds, stack: _Stack, nodes: dict[tuple[int, int], _Node]) -> _Node:
        owner = _owner(stack.call)
        root = _name(stack.call, owner)
        call = Call(stack.function, owner, stack.where(), seeds.seen)
        node = nodes[id(stack.call), id(seeds)] = _Node(stack.call, seeds, call, root)
        if seeds.unknown is None and _kind(stack.call.f_code)[0] == _CALL:
            for trait in _argument_traits(stack.call, root):
                self._check(seeds, call, trait)
        return node

    def _new_node(
        self, seeds: GraphSeeds, frame: types.FrameType, name: str, caller: _Node, nodes: dict[tuple[int, int], _Node]
    ) -> _Node:
        """What is made for any call alike, has a path of its own."""
        whole = caller if caller.is_gradient else caller.whole
        is_gradient = name == "_MaybeCompile"
        if is_gradient:
            path, whole = f"gradient {_gradient_kind(seeds, frame)}", None
        elif name in _ANYWHERE:
            path, whole = name, None
        else:
            path = "gradients" if name == "_GradientsHelper" else f"{caller.path}/{name}"
        node = nodes[id(frame), id(seeds)] = _Node(frame, seeds, caller.call, path, is_gradient, whole)
        return node

    def _end(self, nodes: dict[tuple[int, int], _Node], running: set[int]) -> None:
        for key in [key for key in reversed(nodes) if key[0] not in running]:  # the inner ones first
            node = nodes.pop(key)
            if node.whole is not None:
                node.whole.made.add(str(number(node.trait())))
            else:
                self._check(node.graph, node.call, node.trait())

    def _check(self, seeds: GraphSeeds, call: Call, trait: str) -> None:
        is_relevant = seeds.unknown is None or call.first < seeds.unknown.first
        if is_relevant and call.why is None and number(trait) not in self._traits:
            call.why, seeds.unknown = trait, call


def _outwards(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def number(trait: str) -> int:
    """A trait as it is kept."""
    return zlib.crc32(trait.encode())


@functools.cache
def measured() -> frozenset[int]:
    """The measured traits."""
    found = array.array("I")
    found.frombytes(TRAITS.read_bytes())
    if sys.byteorder == "big":
        found.byteswap()
    return frozenset(found)


def write(traits: Iterable[int]) -> None:
    """Keep traits as the measured ones."""
    kept = array.array("I", sorted(traits))
    if sys.byteorder == "big":
        kept.byteswap()
    TRAITS.write_bytes(kept.tobytes())


@functools.cache
def is_measured() -> bool:
    """Whether functions were counted on the releases that are here."""
    releases = [importlib.metadata.version(name) for name in ("tensorflow", "tf_keras")]
    return all(release.rpartition(".")[0] in MEASURED_ON for release in releases)


# -- stacks -----------------------------------------------------------------------------------------------------------


class _Stack:
    """The stack of an operation that is being made, from the program's innermost frame on."""

    def __init__(self, frame: types.FrameType) -> None:
        self._between: list[tuple[types.FrameType, str]] = []
        self._program: types.FrameType | None = None
        for at in _outwards(frame):
            kind, name = _kind(at.f_code)
            if kind == _PROGRAM:
                self._program = at
                break
            if kind in (_CALL, _INNER):
                self._between.append((at, name))
        self.is_imported = any(name == "_create_op_from_tf_operation" for _, name in self._between)
        self.call = self._between.pop()[0] if self._between else frame
        self.function = self.call.f_code  # by which the program knows it
        if self._between and self.function.co_filename.endswith("weak_tensor_ops.py"):
            self.function = self._between[-1][0].f_code

    def inner(self) -> Iterator[tuple[types.FrameType, str]]:
        """The functions below the call, and their names."""
        for frame, name in reversed(self._between):
            if name in _ANYWHERE or _kind(frame.f_code)[0] == _CALL:
                yield frame, name

    def where(self) -> tuple[str, int]:
        """File and line of the program."""
        for frame in _outwards(self._program):
            path = frame.f_code.co_filename
            if _GENERATED not in path and _kind(frame.f_code)[0] == _PROGRAM:
                return path, frame.f_lineno
        return self.call.f_code.co_filename, self.call.f_lineno


_PROGRAM, _CALL, _INNER, _SKIPPED = range(4)


@functools.cache
def _kind(code: types.CodeType) -> tuple[int, str]:
    """What a frame of this function is: the program's, a call, or neither; and the function's name in traits."""
    path = code.co_filename
    inside = _inside(path)
    if inside is None:
        is_skipped = path.startswith((*_STANDARD, "<frozen"))
        return (_SKIPPED if is_skipped else _PROGRAM), ""
    if code.co_name.startswith("<") or (inside.startswith(_AROUND) and inside != _COMPOSED):
        return _SKIPPED, ""
    return (_INNER if inside.startswith(_MAKERS) else _CALL), code.co_name


def _inside(path: str) -> str | None:
    """The part of a library's path that is the same everywhere; None for what is no library's."""
    if path.startswith(_HERE):
        return os.path.relpath(path, os.path.dirname(_HERE))
    for library in _LIBRARIES:
        _, found, _ = path.rpartition(library)
        if found:
            return path[path.rindex(library) :].split(os.sep, 2)[2]
    return None


def _owner(frame: types.FrameType) -> type | None:
    """The library's class whose method a frame runs."""
    names = frame.f_code.co_varnames
    if not names or names[0] != "self" or "self" not in frame.f_locals:
        return None
    for one in type(frame.f_locals["self"]).__mro__:
        if one.__module__.partition(".")[0] in ("tensorflow", "tf_keras", "tf1sessions", "keras"):
            return one
    return None


def _name(frame: types.FrameType, owner: type | None) -> str:
    file = os.path.basename(frame.f_code.co_filename).removesuffix(".py")
    return ".".join([file, *([owner.__name__] if owner else []), frame.f_code.co_name])


# -- arguments --------------------------------------------------------------------------------------------------------


def _argument_traits(frame: types.FrameType, root: str) -> Iterator[str]:
    code, given = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    arguments = {name: given[name] for name in code.co_varnames[:count] if name in given}
    rest = [name for name in code.co_varnames[count : count + 2] if name in given]
    if code.co_flags & inspect.CO_VARARGS and rest:
        arguments["*"] = given[rest.pop(0)]
    if code.co_flags & inspect.CO_VARKEYWORDS and rest:
        arguments.update({f"**{name}": value for name, value in given[rest[0]].items()})
    owned = arguments.pop("self", None)
    if not _is_tensor(owned):
        for name, value in getattr(owned, "__dict__", {}).items():
            if isinstance(value, bool):
                yield f"{root} self.{name}={value}"
    arguments = {name: value for name, value in arguments.items() if name.lstrip("*") not in _TEXTS}
    if "seed" in arguments:
        arguments["seed"] = None  # its value makes no operation
    kinds = {
        name: _type_kind(value) if name.endswith("dtype") else _value_kind(value) for name, value in arguments.items()
    }
    for name, kind in kinds.items():
        yield f"{root} {name}={kind}"
    shapes = {name: _shape_kind(value.shape) for name, value in arguments.items() if _is_tensor(value)}
    if len(kinds) <= _MANY:
        shapes = {name: shapes.get(name, kind) for name, kind in kinds.items()}
    yield f"{root} {shapes}"


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor_types())


@functools.cache
def _tensor_types() -> tuple[type, ...]:
    """Of TensorFlow, which has been imported."""
    places = {"framework.tensor": "Tensor", "ops.variables": "Variable"}
    return tuple(getattr(sys.modules[f"tensorflow.python.{module}"], name) for module, name in places.items())


def _shape_kind(shape: Any) -> str:
    if shape.rank is None:
        return "?"
    if shape.rank == 0:
        return "scalar"
    return "known" if shape.is_fully_defined() else "open"


def _type_kind(dtype: Any) -> str:
    name = str(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)).removesuffix("_ref")
    for kind, starts in {"floating": ("float", "bfloat", "double", "half"), "integer": ("int", "uint", "qint")}.items():
        if name.startswith(starts):
            return kind
    return name


def _value_kind(value: Any, depth: int = 2) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return value.lower() if depth == 2 else "text"
    if _is_tensor(value):
        return _type_kind(value.dtype) + (" variable" if hasattr(value, "initializer") else "")
    if isinstance(value, float):
        return "float"
    if isinstance(value, numbers.Integral):
        return "int"
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        kinds = sorted({_value_kind(one, depth - 1) for one in value}) if depth else ["..."]
        return f"[{' '.join(kinds)}]" + ("" if len(value) < 2 else "+")
    if type(value).__module__ == "numpy" and hasattr(value, "ndim"):
        return f"array {value.dtype.kind} {min(value.ndim, 1)}"
    if type(value).__name__ == "DType":
        return _type_kind(value)
    return "function" if callable(value) else type(value).__name__


def _gradient_kind(seeds: GraphSeeds, frame: types.FrameType) -> str:
    """Of a gradient that is being made: what its operations depend on."""
    operation = frame.f_locals["op"]
    shapes = [tensor.shape for tensor in operation.inputs]
    kinds = [operation.type, *map(_shape_kind, shapes[:4])]
    if len(shapes) == 2 and None not in (shapes[0].rank, shapes[1].rank):
        first, second = shapes
        is_same = first.as_list() == second.as_list()
        kinds.append("=" if is_same else str((first.rank > second.rank) - (first.rank < second.rank)))
    if all(shape.is_fully_defined() for shape in shapes):
        key = tuple(tuple(shape.as_list()) for shape in shapes)
        kinds.append("again" if key in seeds.shapes else "first")
        seeds.shapes.add(key)
    if "keep_dims" in operation.node_def.attr:
        kinds.append(str(operation.get_attr("keep_dims")))
    context = operation._get_control_flow_context()
    if context is not None:
        kinds.append("loop" if context.GetWhileContext() is not None else "condition")
    helper = frame.f_back
    while helper is not None and helper.f_code.co_name != "_GradientsHelper":
        helper = helper.f_back
    if helper is not None and helper.f_locals.get("gate_gradients"):
        kinds.append("gate")
    return " ".join(kinds)
