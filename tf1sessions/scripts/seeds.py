"""Seeds that follow from how many operations there are, as TensorFlow 1 counted them.

In a graph with a seed TensorFlow 1 gives an operation that draws, and has no seed of its own, the number of operations
made before it. Today's functions make other numbers of operations than 1.15.5's. Data flow::

    op_counts.py, op_counts_*.py   what functions differ by ──▶ apply() puts a count around each
    graph          its number of operations + what TensorFlow 1 would have made beyond that ──▶ get_seed()
    all of these   ──▶ seed_report.py, with ``"report"`` alone

Nothing is made that was not made before: only seeds change. Counts belong to a graph; threads may build several. The
warm server applies it and leaves it off; :func:`choose` is each job's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from . import (
    op_counts,
    op_counts_gradients,  # noqa: F401, it adds to the tables
    op_counts_models,  # noqa: F401
    seed_report,
    seed_words,
)

__all__ = ["apply", "apply_to_contrib", "are_counted", "choose", "uncounted"]

_is_on = False
_report: seed_report.SeedReport | None = None
_is_applied = False
_applied: set[str] = set()  # of our contrib
_applying = threading.RLock()  # protects that
_lock = threading.Lock()  # protects the counts of all graphs, each for the time of an addition
_BEYOND = "_tf1sessions_operations_beyond"
_PACKAGES = ("tensorflow", "tf_keras", "tf1sessions.contrib")


class _Thread(threading.local):
    is_counting = True  # what it makes


_thread = _Thread()


def choose(seeds: str, report: str | None = None) -> None:
    """Turns the counting on (``"tf1"``) or off (``"tf2"``), for operations that are made from now on.

    Args:
        seeds: ``"report"`` turns it on, and lets the process report at its end which seeds are TensorFlow 1's.
        report: A file for that.
    """
    global _is_on
    _is_on = seeds != "tf2"
    watch(seed_words.begin(report) if seeds == "report" else None)


def watch(report: seed_report.SeedReport | None) -> None:
    """Let a report see which operations are made from now on, and which seeds follow from their number."""
    global _report
    _report = report
    if report is not None:
        ops: Any = importlib.import_module("tensorflow.python.framework.ops")
        if not hasattr(ops.Graph._create_op_helper, "reports_seeds"):
            ops.Graph._create_op_helper = _reporting(ops.Graph._create_op_helper)


def _reporting(function: Any) -> Any:
    @functools.wraps(function)
    def create_op_helper(self: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        if _report is not None and _thread.is_counting:
            _report.made(self, op.type)
        return function(self, op, *args, **kwargs)

    create_op_helper.reports_seeds = True  # type: ignore[attr-defined]
    return create_op_helper


def are_counted() -> bool:
    """Whether operations that are made now get TensorFlow 1's seeds."""
    return _is_on


@contextlib.contextmanager
def uncounted(name: str) -> Iterator[None]:
    """Count nothing that this thread makes meanwhile, in a scope of that name: TensorFlow 1 did not make it."""
    ops: Any = importlib.import_module("tensorflow.python.framework.ops")
    graph = ops.get_default_graph()
    first, was_counting = graph.num_operations(), _thread.is_counting
    _thread.is_counting = False
    try:
        with ops.name_scope_v1(name) as scope:
            yield
    finally:
        _thread.is_counting = was_counting
    _add(graph, -sum(op.name.startswith(scope) for op in graph.get_operations()[first:]))


def apply() -> None:
    """Let operations be counted, once they are to be. TensorFlow must be imported. A second call does nothing."""
    global _is_applied
    if _is_applied:
        return
    _is_applied = True
    ops: Any = importlib.import_module("tensorflow.python.framework.ops")
    _count_for_seeds(ops, importlib.import_module("tensorflow.python.eager.context"))
    _count_functions(op_counts.FUNCTIONS)
    for place, argument in op_counts.PROBES.items():
        owner, name = _owner(place)
        setattr(owner, name, _without_probe(getattr(owner, name), argument, ops.get_default_graph))
    _let_counts_travel(ops.get_default_graph)
    gradients = ops.gradient_registry._registry
    for operation, differs in op_counts.GRADIENTS.items():
        if operation in gradients:
            gradients[operation]["type"] = _counted(gradients[operation]["type"], differs, ops.get_default_graph)


def apply_to_contrib() -> None:
    """Watches what has been imported of this package's own ``tf.contrib``, once :func:`apply` was called."""
    if not _is_applied:
        return
    with _applying:
        loaded = [place for place in op_counts.CONTRIB if place.partition(":")[0] in sys.modules]
        new = {place: op_counts.CONTRIB[place] for place in loaded if place not in _applied}
        _applied.update(new)
        _count_functions(new)


def _count_functions(table: Mapping[str, op_counts.Differs]) -> None:
    default_graph = importlib.import_module("tensorflow.python.framework.ops").get_default_graph
    replaced: dict[int, tuple[Any, Any]] = {}
    for place, differs in table.items():
        owner, name = _owner(place)
        original = getattr(owner, name, None)
        if original is None:  # another release of TensorFlow; which one was measured, op_counts.py says
            continue
        counted = _counted(original, differs, default_graph)
        setattr(owner, name, counted)
        replaced[id(original)] = original, counted
    if replaced:
        _replace_everywhere(replaced)


def _owner(place: str) -> tuple[Any, str]:
    """The module or class at ``"module:Class.name"``, and the name."""
    module, _, path = place.partition(":")
    *classes, name = path.split(".")
    return functools.reduce(getattr, classes, importlib.import_module(module)), name


def _replace_everywhere(replaced: dict[int, tuple[Any, Any]]) -> None:
    """Replace functions under the other names, too, that they have in TensorFlow and its Keras."""
    for loaded in list(sys.modules.values()):
        if not isinstance(loaded, ModuleType) or not loaded.__name__.startswith(_PACKAGES):
            continue
        for module in (loaded, vars(loaded).get("_tfmw_wrapped_module", loaded)):
            for name, value in list(vars(module).items()):
                if id(value) in replaced:
                    setattr(module, name, replaced[id(value)][1])


def _count_for_seeds(ops: Any, context: Any) -> None:
    random_seed: Any = importlib.import_module("tensorflow.python.framework.random_seed")
    original = random_seed.get_seed

    @functools.wraps(original)
    def get_seed(op_seed: Any) -> Any:
        if _is_on and not context.executing_eagerly():
            graph = ops.get_default_graph()
            follows = op_seed is None and graph.seed is not None
            if follows:
                op_seed = _count(graph)
            if _report is not None:
                _report.drew(graph, op_seed if follows else None)
        return original(op_seed)

    random_seed.get_seed = get_seed


def _counted(function: Any, differs: Callable[..., tuple[int, int]], default_graph: Callable[[], Any]) -> Any:
    executing_eagerly = importlib.import_module("tensorflow.python.eager.context").executing_eagerly

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        if not _is_on or not _thread.is_counting or executing_eagerly():
            return function(*args, **kwargs)
        graph = default_graph()  # that has no seed yet, perhaps, but may get one
        before, after = differs(*args, **kwargs)
        if _report is not None and (before or after):
            _report.counted(function.__name__, before, after)
        _add(graph, before)
        result = function(*args, **kwargs)
        _add(graph, after)
        return result

    if isinstance(function, FunctionType):  # Keras asks which arguments a layer's call takes, and looks no deeper
        vars(counted)["__signature__"] = inspect.signature(function)
    return counted


def _without_probe(function: Any, argument: str, default_graph: Callable[[], Any]) -> Any:
    """Count the second of an argument's calls: today the first is a probe, and later ones make the same anew."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def uncounted(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        called = given.arguments.get(argument)
        if not _is_on or not called or getattr(called, "__module__", None) in op_counts.KEEP_ANSWERS:
            return function(*args, **kwargs)  # a falsy one, such as {}, is none
        calls = itertools.count()

        def call(*args: Any, **kwargs: Any) -> Any:
            graph = default_graph()
            before = _count(graph)
            result = called(*args, **kwargs)
            if next(calls) != 1:
                _add(graph, before - _count(graph))
            return result

        given.arguments[argument] = call
        return function(*given.args, **given.kwargs)

    return uncounted


def _let_counts_travel(default_graph: Callable[[], Any]) -> None:
    """A MetaGraph that is written here takes along what its graph lacks, for the graph that it is read into."""
    meta_graph: Any = importlib.import_module("tensorflow.python.framework.meta_graph")
    struct_pb2: Any = importlib.import_module("google.protobuf.struct_pb2")
    create, read = meta_graph.create_meta_graph_def, meta_graph.import_scoped_meta_graph_with_return_elements
    creates, reads = inspect.signature(create), inspect.signature(read)

    @functools.wraps(create)
    def create_meta_graph_def(*args: Any, **kwargs: Any) -> Any:
        made = create(*args, **kwargs)
        given = creates.bind(*args, **kwargs).arguments
        beyond = getattr(given.get("graph") or default_graph(), _BEYOND, 0)
        info = made.meta_info_def
        if _is_on and beyond and not given.get("export_scope") and not info.HasField("any_info"):
            fields = struct_pb2.Struct()
            fields[_BEYOND] = beyond
            info.any_info.Pack(fields)
        return made

    @functools.wraps(read)
    def import_meta_graph(*args: Any, **kwargs: Any) -> Any:
        given = reads.bind(*args, **kwargs)
        if not _is_on:
            return read(*args, **kwargs)
        graph, source = given.arguments.get("graph") or default_graph(), given.arguments["meta_graph_or_file"]
        if isinstance(source, str):
            given.arguments["meta_graph_or_file"] = source = meta_graph.read_meta_graph_file(source)
        result = read(*given.args, **given.kwargs)
        fields = struct_pb2.Struct()
        if source.meta_info_def.any_info.Unpack(fields) and _BEYOND in fields:
            _add(graph, int(fields[_BEYOND]))
        return result

    meta_graph.create_meta_graph_def = create_meta_graph_def
    meta_graph.import_scoped_meta_graph_with_return_elements = import_meta_graph


def _count(graph: Any) -> int:
    """Count the operations that TensorFlow 1 would have made in a graph."""
    return int(graph.num_operations()) + int(getattr(graph, _BEYOND, 0))


def _add(graph: Any, count: int) -> None:
    if count:
        with _lock:
            setattr(graph, _BEYOND, getattr(graph, _BEYOND, 0) + count)
