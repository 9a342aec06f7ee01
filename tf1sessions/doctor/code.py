"""A program as rules look at it: with its names and order, its sessions, configurations, threads and processes.

:class:`Code` puts the room source/ and order.py together and answers what several rules ask.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator

from ..source.effects import is_session, makes_operations
from ..source.names import FunctionNode, Names
from ..source.program import Program, SourceFile
from .order import Order, ProgramStep

__all__ = ["UNKNOWN", "Code", "WorkerCall"]

#: A value in a configuration that the text does not say.
UNKNOWN = object()

_SESSION_NAME = re.compile(r"(self\.)?_?(\w+_)?(sess|session)\d*", re.IGNORECASE)
_THREADS = {"threading.Thread": "target"}
_PROCESSES = {"multiprocessing.Process": "target", "multiprocessing.context.Process": "target"}
_THREAD_POOLS = (
    "multiprocessing.pool.ThreadPool()",
    "multiprocessing.dummy.Pool()",
    "concurrent.futures.ThreadPoolExecutor()",
    "concurrent.futures.thread.ThreadPoolExecutor()",
)
_PROCESS_POOLS = (
    "multiprocessing.Pool()",
    "multiprocessing.pool.Pool()",
    "concurrent.futures.ProcessPoolExecutor()",
    "concurrent.futures.process.ProcessPoolExecutor()",
)
_POOL_METHODS = frozenset(
    ["apply", "apply_async", "map", "map_async", "imap", "imap_unordered", "starmap", "starmap_async", "submit"]
)


@dataclasses.dataclass(frozen=True, eq=False)
class WorkerCall:
    """A place where work is handed to threads or processes.

    Attributes:
        kind: ``"thread"`` or ``"process"``.
        node: Of a thread or process: its making. Of a pool: the call that gives it work.
        maker: Where the thread, process or pool is made.
        target: What runs there, where it is a function of the program.
        many: Whether there is more than one: it is made in a loop, or it is a pool.
        count: How many, where the text says.
    """

    kind: str
    node: ast.Call
    maker: ast.Call
    target: FunctionNode | None
    many: bool
    count: int | None = None


class Code:
    """A program as rules see it. For one thread at a time."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = Names(program)
        self.order = Order(self.names)

    def path(self, node: ast.AST | None) -> str | None:
        """See :meth:`Names.path`."""
        return self.names.path(node)

    def file(self, node: ast.AST) -> SourceFile:
        return self.names.file(node)

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of every file."""
        return [node for file in self.program.files for node in ast.walk(file.tree)]

    @functools.cached_property
    def calls(self) -> list[ast.Call]:
        """Every call of every file."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @functools.cached_property
    def uses_tensorflow(self) -> bool:
        return self.names.imports("tf") or self.names.imports("t1")

    def sessions(self) -> list[ast.Call]:
        """The calls that make sessions."""
        return [call for call in self.calls if is_session(self.path(call.func))]

    def is_session(self, node: ast.expr) -> bool:
        """Whether an expression is a session: by what made it, or else by its name."""
        path = self.path(node)
        if path is not None:
            return path.endswith("()") and (
                is_session(path[:-2]) or path.endswith((".managed_session()", ".test_session()", ".cached_session()"))
            )
        return self.uses_tensorflow and _SESSION_NAME.fullmatch(ast.unparse(node)) is not None

    def is_run(self, node: ast.AST) -> bool:
        """Whether a call runs a session."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr == "run" and (node.args or node.keywords):
            if self.is_session(node.func.value):
                return True
            return any(keyword.arg == "feed_dict" for keyword in node.keywords) and self.uses_tensorflow
        if node.func.attr == "eval":
            return self.uses_tensorflow and any(each.arg in ("feed_dict", "session") for each in node.keywords)
        return False

    def is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression is surely a tensor: what an operation's maker gave, or reckoned with one."""
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(node.operand)
        path = self.path(node)
        if path is not None:
            return path.endswith("()") and makes_operations(path[:-2]) and ".Saver" not in path
        values = self.names.values(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if not values or values == [node]:
            return False
        return all(isinstance(value, ast.BinOp | ast.Call) and self._tensor_value(value, node) for value in values)

    def _tensor_value(self, value: ast.expr, of: ast.AST) -> bool:
        names = {ast.unparse(each) for each in ast.walk(value) if isinstance(each, ast.Name | ast.Attribute)}
        return ast.unparse(of) not in names and self.is_tensor(value)

    def growing(self, node: ast.AST) -> bool:
        """Whether a call or an operator adds operations to a graph."""
        if isinstance(node, ast.Call):
            return makes_operations(self.path(node.func))
        return isinstance(node, ast.BinOp) and self.is_tensor(node)

    def argument(self, call: ast.Call, position: int | None, name: str) -> ast.expr | None:
        """An argument of a call by its position or name; None where it is not given, or not to be seen."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        if position is not None and len(call.args) > position:
            if not any(isinstance(each, ast.Starred) for each in call.args[: position + 1]):
                return call.args[position]
        return None

    def made_by(self, node: ast.expr) -> ast.Call | None:
        """The call that made what a name is, where there is only one."""
        seen = 0
        current: ast.expr = node
        while not isinstance(current, ast.Call) and seen < 10:
            values = self.names.values(current)
            if values is None or len(values) != 1 or values[0] is current:
                return None
            current = values[0]
            seen += 1
        if not isinstance(current, ast.Call):
            return None
        function = self.names.functions.get(self.path(current.func) or "")
        if function is not None and isinstance(function.body, list):
            returned = [
                each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value is not None
            ]
            return self.made_by(returned[0]) if len(returned) == 1 else None
        return current

    # -- configurations -----------------------------------------------------------------------------------------------

    def config_of(self, session: ast.Call) -> dict[str, object] | None:
        """The settings of a session's ConfigProto by their dotted names; empty where it has none, None if unknown."""
        path = self.path(session.func)
        if any(keyword.arg is None for keyword in session.keywords):
            return None
        if path == "t1.GraphSession":
            return None
        position = {"tf.Session": 2, "tf.InteractiveSession": 2}.get(path or "")
        argument = self.argument(session, position, "config")
        if argument is None:
            creator = self.argument(session, 0, "session_creator")
            return {} if creator is None and not any(isinstance(each, ast.Starred) for each in session.args) else None
        if isinstance(argument, ast.Constant) and argument.value is None:
            return {}
        return self.config(argument)

    def config(self, node: ast.expr) -> dict[str, object] | None:
        """The settings that a ConfigProto or GPUOptions has at ``node``; None if they are not all to be seen."""
        maker = self.made_by(node)
        if maker is None or self.path(maker.func) not in ("tf.ConfigProto", "tf.GPUOptions"):
            return None
        if maker.args or any(keyword.arg is None for keyword in maker.keywords):
            return None
        found: dict[str, object] = {}
        for keyword in maker.keywords:
            assert keyword.arg is not None
            if keyword.arg == "gpu_options":
                inner = self.config(keyword.value)
                if inner is None:
                    found["gpu_options"] = UNKNOWN
                for name, value in (inner or {}).items():
                    found[f"gpu_options.{name}"] = value
            else:
                found[keyword.arg] = self._value(keyword.value)
        for target, value in self._assigned(maker, node):
            found[target] = value
        return found

    def _assigned(self, maker: ast.Call, at: ast.expr) -> Iterator[tuple[str, object]]:
        """Yield what is assigned to fields of what ``maker`` made, by the time that ``at`` is reached."""
        for assign in self._field_assignments:
            if self.names.scope(assign) is self.names.scope(at) and assign.lineno > at.lineno:
                continue
            target = assign.targets[0]
            names: list[str] = []
            while isinstance(target, ast.Attribute):
                base: ast.expr = target
                values = self.names.values(base)
                if values is not None and values != [base] and self.made_by(base) is maker:
                    break
                names.insert(0, target.attr)
                target = target.value
            if names and self.made_by(target) is maker:
                yield ".".join(names), self._value(assign.value)

    @functools.cached_property
    def _field_assignments(self) -> list[ast.Assign]:
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute)
        ]

    def _value(self, node: ast.expr) -> object:
        value = self.names.literal(node)
        return UNKNOWN if value is None else value

    # -- threads and processes ----------------------------------------------------------------------------------------

    @functools.cached_property
    def workers(self) -> list[WorkerCall]:
        """The places where the program gives work to threads and processes."""
        return [worker for call in self.calls if (worker := self._worker(call)) is not None]

    def _worker(self, call: ast.Call) -> WorkerCall | None:
        path = self.path(call.func)
        if path is None:
            return None
        plain = re.sub(r"^multiprocessing\.get_context\(\)\.", "multiprocessing.", path)
        for kind, makers in (("thread", _THREADS), ("process", _PROCESSES)):
            if plain in makers:
                target = self.argument(call, 1, "target")
                looped, count = self._repeated(call)
                return WorkerCall(kind, call, call, self._function(target), looped, count)
        for kind, pools in (("thread", _THREAD_POOLS), ("process", _PROCESS_POOLS)):
            owner, _, method = plain.rpartition(".")
            if owner in pools and method in _POOL_METHODS and isinstance(call.func, ast.Attribute):
                maker = self.made_by(call.func.value)
                if maker is None:
                    return None
                size = self.argument(maker, 0, "max_workers" if "futures" in plain else "processes")
                count_of = self.names.literal(size)
                known = count_of if isinstance(count_of, int) else None
                function = self._function(self.argument(call, 0, "func"))
                return WorkerCall(kind, call, maker, function, known != 1, known)
        if path in self.names.classes:
            node = self.names.classes[path]
            for kind, base in (("thread", "threading.Thread"), ("process", "multiprocessing.Process")):
                if any(self.path(each) == base for each in node.bases):
                    looped, count = self._repeated(call)
                    return WorkerCall(kind, call, call, self.names.method(node, "run"), looped, count)
        return None

    def _function(self, node: ast.expr | None) -> FunctionNode | None:
        if isinstance(node, ast.Lambda):
            return node
        if isinstance(node, ast.Call) and self.path(node.func) == "functools.partial" and node.args:
            return self._function(node.args[0])
        if isinstance(node, ast.Name):
            values = self.names.values(node)
            if values is not None and len(values) == 1 and isinstance(values[0], ast.Lambda):
                return values[0]
        return self.names.function(self.path(node)) if node is not None else None

    def _repeated(self, call: ast.Call) -> tuple[bool, int | None]:
        """Whether a call is in a loop, and how often it runs where that is a literal range."""
        for parent in self.names.parents(call):
            if isinstance(parent, FunctionNode):
                return False, 1
            iterable: ast.expr | None = None
            if isinstance(parent, ast.For):
                iterable = parent.iter
            elif isinstance(parent, ast.ListComp | ast.GeneratorExp):
                iterable = parent.generators[0].iter
            elif isinstance(parent, ast.While):
                return True, None
            if iterable is not None:
                return True, self.length(iterable)
        return False, 1

    def length(self, iterable: ast.expr) -> int | None:
        """Return the number of items of an iterable, where the text says."""
        if isinstance(iterable, ast.Tuple | ast.List | ast.Set):
            return len(iterable.elts)
        if isinstance(iterable, ast.Dict):
            return len(iterable.keys)
        if isinstance(iterable, ast.Constant) and isinstance(iterable.value, str):
            return len(iterable.value)
        if isinstance(iterable, ast.Call) and self.path(iterable.func) in ("builtins.range", "builtins.xrange"):
            numbers = [self.names.literal(each) for each in iterable.args]
            if numbers and all(isinstance(each, int) for each in numbers) and numbers[-1] != 0:
                return len(range(*(int(str(each)) for each in numbers)))
        if isinstance(iterable, ast.Call) and self.path(iterable.func) in ("builtins.enumerate", "builtins.zip"):
            lengths = [length for each in iterable.args if (length := self.length(each)) is not None]
            return min(lengths, default=None)
        if isinstance(iterable, ast.Name):
            values = self.names.values(iterable)
            if values is not None and len(values) == 1 and not isinstance(values[0], ast.Name):
                return self.length(values[0])
        return None

    # -- what a worker does -------------------------------------------------------------------------------------------

    def steps_of(self, worker: WorkerCall) -> list[ProgramStep]:
        """Return what a worker's function does; nothing where it is not known."""
        return [] if worker.target is None else self.order.of(worker.target)
