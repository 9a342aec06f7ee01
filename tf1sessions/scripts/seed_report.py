"""The seeds that follow from the number of operations: which are TensorFlow 1's, and from where on that is not known.

In use with ``--seeds report`` alone; seed_words.py writes it out. Data flow::

    an operation is made   ──┐  the stack: the program's line, the call it made, the way from there to the operation
    op_counts.py adds      ──┤                    │
    a seed is drawn        ──┘                    ▼
                        traits of functions in the call ──▶ all measured? ──▶ else the graph is unknown from here on

A call is what the program itself calls of TensorFlow, Keras or our contrib: the outermost function below the program's
innermost frame. It is measured when each function that makes operations in it is, wherever that is called from. A
function is measured when its traits were there in graphs of tests/golden all of whose seeds are those of genuine
1.15.5: which functions and operations it makes, what the table of differences adds, and of what kinds its arguments
are. A gradient is one trait with all that is made for it. How close traits look depends on evidence against a function:
most need the :data:`USUAL` ones; one that is counted wrongly in some recorded graph needs traits that this graph alone
has, and is never measured where none do. measured_traits.txt has a line for each function, with
checksums of its traits; tests/golden/make/make_measured_traits.py makes it, and shows the traits behind the checksums.
"""

from __future__ import annotations

import base64
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import get_ident
from typing import Any

__all__ = [
    "MEASURED_ON",
    "NEVER",
    "USUAL",
    "Draw",
    "GraphSeeds",
    "Measured",
    "MeasuredFunction",
    "ProgramCall",
    "SeedReport",
    "checksum",
    "is_measured",
    "measured",
    "write",
]

#: The releases whose functions were counted. The traits are of the last one: what is made in another way on another
#: release is not measured there.
MEASURED_ON = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
TRAITS = Path(__file__).with_name("measured_traits.txt")
#: How close a trait looks at a function: at the kinds of its arguments, each of many by itself; at all of these
#: together; also at ranks and values, and at how much is added. Beyond that nothing distinguishes them.
USUAL, CLOSE, CLOSEST, NEVER = range(4)
_LEVELS = ("usual", "close", "closest", "never")

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
_COMPOSED = "compositions.py"  # functions that are ours
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
#: A function of more arguments is not measured for each combination of them; of longer lists the items are left out.
_MANY = 6
#: Arguments that change no operation.
_TEXTS = frozenset(["base_name", "family", "message", "name", "scope", "shared_name", "summarize", "tag"])

#: How the names of arguments end that take paths; which one it is changes no operation.
_PATHS = ("dir", "filename", "path", "prefix")


# -- calls and draws --------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class ProgramCall:
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
    call: ProgramCall
    at: int


@dataclass(eq=False)
class GraphSeeds:
    """The seeds of a graph, as far as they are known. ``unknown`` is the first call that was not measured."""

    seed: int | None = None
    seen: int = 0
    unknown: ProgramCall | None = None
    draws: list[Draw] = field(default_factory=list)
    shapes: set[Any] = field(default_factory=set)  # of operands whose gradients were made

    def is_exact(self, draw: Draw) -> bool:
        return self.unknown is None or draw.at < self.unknown.first


@dataclass(frozen=True)
class MeasuredFunction:
    """The traits that were measured of a function.

    Args:
        traits: The checksums of its traits.
        level: How close its traits look.
    """

    traits: frozenset[str]
    level: int = USUAL


@dataclass(frozen=True)
class Measured:
    """The functions that were measured, by name."""

    functions: Mapping[str, MeasuredFunction]

    def has(self, function: str, traits: Callable[[int], list[str]]) -> bool:
        """Whether a function was measured whose traits these are, by level."""
        known = self.functions.get(function)
        return known is not None and known.level < NEVER and known.traits.issuperset(map(checksum, traits(known.level)))


@dataclass(eq=False)
class _FunctionCall:
    """A function that runs, or did a moment ago, and that made operations. Its trait is complete when it has ended."""

    frame: types.FrameType  # kept, so that no other one has its id
    graph: GraphSeeds
    call: ProgramCall
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    gradient: Callable[[int], str] | None = None  # what of, by level
    whole: _FunctionCall | None = None  # the gradient that it is a part of
    made: set[str] = field(default_factory=set)
    added: set[tuple[str, int, int]] = field(default_factory=set)

    def traits(self, level: int) -> list[str]:
        """A function of many arguments has a usual one for each of them, and one for what it makes."""
        if level > USUAL or len(self.arguments) <= _MANY:
            return [self._trait(level, self.arguments, self.made)]
        return [self._trait(level, (), self.made), *(self._trait(level, [name], ()) for name in self.arguments)]

    def _trait(self, level: int, names: Iterable[str], made: Iterable[str]) -> str:
        kind = _closest_kind if level >= CLOSEST else _kind_of
        kinds = " ".join(f"{name}={kind(self.arguments[name])}" for name in names)
        gradient = self.gradient(level) if self.gradient is not None else ""
        added = (
            self.added if level >= CLOSEST else {(what, _sign(one), _sign(other)) for what, one, other in self.added}
        )
        return f"{level} {self.function} {gradient}{kinds}: {' '.join(sorted(made))} {sorted(added)}"


class SeedReport:
    """Watches how graphs are built. It is safe to call its methods simultaneously from multiple threads.

    Args:
        measured: What was measured; it is asked for each function that made operations.
    """

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._lock = threading.Lock()  # protects all of it; held for the time of one operation
        self._nodes: dict[int, dict[tuple[int, int], _FunctionCall]] = {}  # by thread; by frame and graph
        self._added: dict[int, list[tuple[str, int, int]]] = {}  # by thread: since its last operation
        self._graphs: list[GraphSeeds] = []

    def made(self, graph: Any, operation: str) -> None:
        """Takes note of an operation that is being made by the caller's caller."""
        with self._lock:
            self._see(graph, sys._getframe(2), operation)

    def counted(self, what: str, before: int, after: int) -> None:
        """Takes note of what a function that is being called adds to the count."""
        with self._lock:
            self._added.setdefault(get_ident(), []).append((what, before, after))

    def drew(self, graph: Any, seed: int | None) -> None:
        """Takes note of a seed that follows from the count; None: of another one."""
        with self._lock:
            seeds, call = self._see(graph, sys._getframe(2), "seed")
            if seed is not None:
                seeds.seed = graph.seed
                seeds.draws.append(Draw(seed, call, seeds.seen - 1))

    def graphs(self) -> list[GraphSeeds]:
        """Return what is known of each graph in which there are seeds to report, in the order of their making."""
        with self._lock:
            for nodes in self._nodes.values():  # what still runs is reported as if it had ended
                self._end(nodes, set())
            return [seeds for seeds in self._graphs if seeds.draws]

    def forget_draws(self) -> None:
        """Leave out what was drawn by now: for a forked child, whose parent reports it."""
        with self._lock:
            for seeds in self._graphs:
                seeds.draws.clear()

    def _see(self, graph: Any, frame: types.FrameType, what: str) -> tuple[GraphSeeds, ProgramCall]:
        seeds: GraphSeeds | None = getattr(graph, _SEEDS, None)
        if seeds is None:
            seeds = GraphSeeds()
            setattr(graph, _SEEDS, seeds)
            self._graphs.append(seeds)
        thread = get_ident()
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
        node.added.update(self._added.pop(thread, ()))
        seeds.seen += 1
        return seeds, call

    def _new_call(self, seeds: GraphSeeds, stack: _Stack, nodes: dict[tuple[int, int], _FunctionCall]) -> _FunctionCall:
        owner = _owner(stack.call)
        call = ProgramCall(stack.function, owner, stack.where(), seeds.seen)
        node = nodes[id(stack.call), id(seeds)] = _FunctionCall(stack.call, seeds, call, _name(stack.call, owner))
        if _kind(stack.call.f_code)[0] == _CALL:
            node.arguments = _arguments(stack.call)
        return node

    def _new_node(
        self,
        seeds: GraphSeeds,
        frame: types.FrameType,
        name: str,
        caller: _FunctionCall,
        nodes: dict[tuple[int, int], _FunctionCall],
    ) -> _FunctionCall:
        node = nodes[id(frame), id(seeds)] = _FunctionCall(frame, seeds, caller.call, name)
        whole = caller if caller.gradient is not None else caller.whole
        if name == "_MaybeCompile":
            node.function = f"gradient {frame.f_locals['op'].type}"
            node.gradient = _gradient_kinds(seeds, frame)
        elif name in _ANYWHERE:
            pass
        elif whole is not None:
            node.whole = whole
            node.function = name if caller is whole else f"{caller.function}/{name}"
        else:
            node.function = _name(frame, None)
            node.arguments = _arguments(frame)
        return node

    def _end(self, nodes: dict[tuple[int, int], _FunctionCall], running: set[int]) -> None:
        for key in [key for key in reversed(nodes) if key[0] not in running]:  # the inner ones first
            node = nodes.pop(key)
            if node.whole is not None:
                node.whole.made.add(f"{node.function}: {' '.join(sorted(node.made))}")
                node.whole.added |= node.added
            else:
                self._check(node.graph, node.call, node.function, node.traits)

    def _check(self, seeds: GraphSeeds, call: ProgramCall, function: str, traits: Callable[[int], list[str]]) -> None:
        is_relevant = seeds.unknown is None or call.first < seeds.unknown.first
        if is_relevant and call.why is None and not self._measured.has(function, traits):
            call.why, seeds.unknown = function, call


def _outwards(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def checksum(trait: str) -> str:
    """Return what is kept of a trait: 25 bits, as it is compared with those of the same function only."""
    return base64.b32encode(zlib.crc32(trait.encode()).to_bytes(4, "big")).decode()[:5].lower()


@functools.cache
def measured() -> Measured:
    """Return what was measured, on the releases that it was measured on; nothing on others."""
    functions = {}
    if is_measured():
        for line in TRAITS.read_text("utf-8").splitlines():
            if not line.startswith("#"):
                name, _, rest = line.partition(": ")
                name, _, level = name.partition(" @")
                functions[name] = MeasuredFunction(frozenset(rest.split()), _LEVELS.index(level or "usual"))
    return Measured(functions)


def write(measured: Measured) -> None:
    """Write the file that :func:`measured` reads."""
    lines = ["# Each function that was measured, with checksums of its traits; see seed_report.py, which reads this.\n"]
    for name, function in sorted(measured.functions.items()):
        level = "" if function.level == USUAL else f" @{_LEVELS[function.level]}"
        lines.append(f"{name}{level}: {' '.join(sorted(function.traits))}\n")
    TRAITS.write_text("".join(lines), "utf-8")


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
    """Return what a frame of this function is: the program's, a call, or neither; and the function's name in traits."""
    path = code.co_filename
    inside = _inside(path)
    if inside is None:
        is_skipped = path.startswith((*_STANDARD, "<frozen"))
        return (_SKIPPED if is_skipped else _PROGRAM), ""
    if code.co_name.startswith("<") or (inside.startswith(_AROUND) and not inside.endswith(_COMPOSED)):
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


def _arguments(frame: types.FrameType) -> dict[str, Any]:
    code, given = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    arguments = {name: given[name] for name in code.co_varnames[:count] if name in given}
    rest = [name for name in code.co_varnames[count : count + 2] if name in given]
    if code.co_flags & inspect.CO_VARARGS and rest:
        arguments["*"] = given[rest.pop(0)]
    if code.co_flags & inspect.CO_VARKEYWORDS and rest:
        arguments.update({f"**{name}": value for name, value in given[rest[0]].items()})
    owner = arguments.pop("self", None)
    if not _is_tensor(owner):
        flags = getattr(owner, "__dict__", {})
        arguments.update({f"self.{name}": value for name, value in flags.items() if isinstance(value, bool)})
    if "seed" in arguments:
        arguments["seed"] = None  # its value makes no operation
    arguments.update({name: os.sep for name, value in arguments.items() if _is_path(name, value)})
    return {name: value for name, value in arguments.items() if name.lstrip("*") not in _TEXTS}


def _is_path(name: str, value: Any) -> bool:
    return isinstance(value, str) and name.endswith(_PATHS)


def _sign(count: int) -> int:
    return (count > 0) - (count < 0)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor_types())


@functools.cache
def _tensor_types() -> tuple[type, ...]:
    """Return the types of tensors of TensorFlow, which has been imported."""
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
    return {"float32": "floating", "float64": "floating", "int32": "integer", "int64": "integer"}.get(name, name)


def _kind_of(value: Any, depth: int = 2) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return "path" if os.sep in value else value.lower() if depth == 2 else "text"
    if _is_tensor(value):
        variable = " variable" if hasattr(value, "initializer") else ""
        return f"{_shape_kind(value.shape)} {_type_kind(value.dtype)}{variable}"
    if isinstance(value, numbers.Number):
        return "int" if isinstance(value, numbers.Integral) else "float"
    if type(value).__name__ == "DType":
        return _type_kind(value)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        kinds = sorted({_kind_of(one, depth - 1) for one in value}) if depth else ["..."]
        return f"[{' '.join(kinds)}]" + ("" if len(value) < 2 else "+")
    if type(value).__module__ == "numpy" and hasattr(value, "ndim"):
        return f"array {value.dtype.kind} {min(value.ndim, 1)}"
    return "function" if callable(value) else type(value).__name__


def _closest_kind(value: Any) -> str:
    if _is_tensor(value):
        return f"{value.dtype.name} {value.shape.rank} {_kind_of(value)}"
    if isinstance(value, (int, float)) or (isinstance(value, str) and os.sep not in value):
        return repr(value)
    if isinstance(value, (list, tuple)) and len(value) <= _MANY:
        return f"[{' '.join(map(_closest_kind, value))}]"
    if type(value).__module__ == "numpy" and hasattr(value, "ndim"):
        return f"{value.dtype} {value.shape}"
    return str(value) if type(value).__name__ in ("DType", "TensorShape") else _kind_of(value)


def _gradient_kinds(seeds: GraphSeeds, frame: types.FrameType) -> Callable[[int], str]:
    """Return what the operations of a gradient that is being made depend on."""
    operation = frame.f_locals["op"]
    shapes = [tensor.shape for tensor in operation.inputs]
    kinds = list(map(_shape_kind, shapes[:4]))
    if len(shapes) == 2 and None not in (shapes[0].rank, shapes[1].rank):
        first, second = shapes
        is_same = first.as_list() == second.as_list()
        kinds.append("=" if is_same else str((first.rank > second.rank) - (first.rank < second.rank)))
    if "keep_dims" in operation.node_def.attr:
        kinds.append(str(operation.get_attr("keep_dims")))
    context = operation._get_control_flow_context()
    if context is not None:
        kinds.append("loop" if context.GetWhileContext() is not None else "condition")
    if all(shape.is_fully_defined() for shape in shapes):
        key = tuple(tuple(shape.as_list()) for shape in shapes)
        kinds.append("again" if key in seeds.shapes else "first")
        seeds.shapes.add(key)
    helper = frame.f_back
    while helper is not None and helper.f_code.co_name != "_GradientsHelper":
        helper = helper.f_back
    if helper is not None and helper.f_locals.get("gate_gradients"):
        kinds.append("gate")
    closest = [f"{tensor.dtype.name} {tensor.shape.rank}" for tensor in operation.inputs]
    return lambda level: " ".join([*kinds, *(closest if level >= CLOSEST else ())])
