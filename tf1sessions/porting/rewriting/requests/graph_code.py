"""The code of a program that builds a graph of TensorFlow 1, and the places of its sessions; from its text alone.

What a function builds is followed by names: a function, a method or a class builds if its code calls TensorFlow, or
what builds. What is assigned from there is a *graph value*: a tensor, an operation, a variable, or an object that has
such; so is a function that builds, where it is a value, as another name may call it later. Too much may be taken for
building: a statement that builds nothing loses nothing inside of ``with legacy:``.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from ....source.uses import FileUses

__all__ = ["GraphCode", "called_name", "defaults", "graph_code", "own_nodes"]

#: Names of TensorFlow whose calls build nothing: they work on files, messages and settings.
_NOT_BUILDING = (
    "tf.app.", "tf.flags.", "tf.logging.", "tf.gfile.", "tf.io.gfile.", "tf.io.TFRecord", "tf.io.tf_record",
    "tf.io.write_graph", "tf.python_io.", "tf.errors.", "tf.test.", "tf.compat.as_", "tf.compat.path", "tf.version",
    "tf.sysconfig.", "tf.profiler.", "tf.keras.datasets", "tf.keras.utils.to_categorical", "tf.train.write_graph",
    "tf.train.latest_checkpoint", "tf.train.get_checkpoint_state", "tf.train.checkpoint_exists",
    "tf.train.list_variables", "tf.train.load_", "tf.train.NewCheckpointReader", "tf.train.summary_iterator",
    "tf.train.update_checkpoint_state", "tf.train.remove_checkpoint", "tf.train.Coordinator", "tf.train.global_step",
    "tf.train.start_queue_runners", "tf.train.Example", "tf.train.Feature", "tf.train.BytesList",
    "tf.train.Int64List", "tf.train.FloatList", "tf.train.SequenceExample", "tf.Session", "tf.InteractiveSession",
    "tf.Graph", "tf.reset_default_graph", "tf.disable_", "tf.enable_", "tf.executing_eagerly", "tf.load_op_library",
    "tf.Dimension", "tf.as_dtype", "tf.get_logger", "tf.get_static_value",
)  # fmt: skip
_OURS = ("tf1sessions.contrib.", "tf_keras.", "keras.", "tensorflow_probability.", "tensorflow_hub.")
#: Messages of TensorFlow that are made by a call, and settings.
_MESSAGES = frozenset(
    "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef NameAttrList "
    "NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata TensorInfo TensorShape".split()
)
#: Functions and methods that look at a graph value, or keep it, and build nothing.
_LOOKING = frozenset(
    "print len zip enumerate sorted list tuple dict set str repr id isinstance type range getattr setattr hasattr "
    "reversed iter vars map filter format save restore append extend items keys values add_summary add_graph "
    "flush close".split()
)
#: Functions whose results have what they are given.
_KEEPING = frozenset("zip enumerate sorted list tuple dict set reversed iter".split())
#: Methods of dicts whose results have what is in them.
_PARTS = frozenset(["items", "values"])
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
#: Methods of lists and dicts that keep what they are given.
_ADDING = frozenset(["append", "extend", "insert", "update", "setdefault"])
_SESSIONS = ("tf.Session", "tf.InteractiveSession")
_MONITORED = ("tf.train.MonitoredTrainingSession", "tf.train.MonitoredSession")
Function = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
#: Expressions that are graph values where a part of them is one.
_OF_PARTS = (
    ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.NamedExpr | ast.Subscript | ast.List | ast.Tuple | ast.Set | ast.Starred
)
#: How many arguments ``setattr(model, "loss", loss)`` has.
_SET_ATTRIBUTE = 3
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the bodies of functions and classes that it defines."""
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack += [child for child in ast.iter_child_nodes(each) if not isinstance(child, _INNER)]


def called_name(node: ast.Call) -> str | None:
    """The last name of what a call calls."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else None


@functools.lru_cache(maxsize=2)
def graph_code(files: tuple[FileUses, ...]) -> GraphCode:
    """Analyse the files of a program; the same object for the same files."""
    return GraphCode(files)


class GraphCode:
    """The graph code of the files of a program.

    Attributes:
        files: The files.
        builders: Names of functions, methods and classes whose call builds.
        requesters: Names of functions, methods and classes that run a session, or make one.
        session_makers: File -> names of its functions that return a new session, and do nothing else.
        sessions: Names, of attributes too, that a session has somewhere, or probably has as a parameter.
        monitored: Names, of attributes too, that a monitored session has somewhere.
        queues: Names, of attributes too, that a queue of the graph has somewhere: ``queue.close()`` builds.
        values: Module, function or comprehension -> its names that are bound to graph values.
        attributes: Names of attributes that are assigned graph values.
    """

    def __init__(self, files: tuple[FileUses, ...]) -> None:
        self.files = files
        self._symbols: Mapping[FileUses, dict[ast.expr, str]] = {
            file: {use.node: use.name for use in file.uses} for file in files
        }
        self.builders: set[str] = set()
        self.requesters: set[str] = set()
        self.session_makers = {
            file: {node.name for node in file.tree.body if self._only_makes_session(node, file)} for file in files
        }
        self.sessions = {"sess", "session"}
        self.monitored: set[str] = set()
        self.queues: set[str] = set()
        self._local_tensors: set[tuple[ast.AST, str]] = set()  # function, and its name that is no session there
        self.values: dict[ast.AST, set[str]] = {}
        self._scopes: dict[ast.AST, ast.AST] = {}  # of names, and of functions: the one around it
        self._bound: dict[ast.AST, set[str]] = {}
        self._imported: dict[FileUses, set[str]] = {file: set() for file in files}  # graph values of other files
        for file in files:
            self._note_scopes(file)
        self.attributes: set[str] = set()
        functions = [
            (file, name, node)
            for file in files
            for each in ast.walk(file.tree)
            for name, node in _named_functions(each)
        ]
        self._functions = functions
        self._methods: set[str] = set()  # names of those methods that build
        self._properties = {name for _, name, node in functions if any(map(_is_property, node.decorator_list))}
        for file in files:
            self._note_sessions(file)
        for file in files:
            self._note_local_tensors(file)
        size = -1
        while size != (size := self._size()):
            for file, name, node in functions:
                self._note(file, name, node)
            for file in files:
                self._note_values(file)
                self._note_classes(file)

    def _size(self) -> int:
        return len(self.builders) + len(self.requesters) + len(self.attributes) + sum(map(len, self.values.values()))

    def _note_scopes(self, file: FileUses) -> None:
        stack: list[tuple[ast.AST, ast.AST]] = [(file.tree, file.tree)]
        while stack:
            node, scope = stack.pop()
            self._scopes[node] = scope
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | _COMPREHENSIONS):
                scope = node
            if scope is node or isinstance(node, ast.Module):
                self.values[node], self._bound[node] = set(), set()
            if isinstance(node, ast.arg):
                self._bound[scope].add(node.arg)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._bound[scope].add(node.id)
            while isinstance(node, ast.NamedExpr) and isinstance(scope, _COMPREHENSIONS):
                scope = self._scopes[scope]
            stack += [(child, scope) for child in ast.iter_child_nodes(node)]

    def scope_of(self, name: ast.Name) -> ast.AST:
        """The module, function or comprehension that binds a name."""
        scope = self._scopes[name]
        while name.id not in self._bound[scope] and not isinstance(scope, ast.Module):
            scope = self._scopes[scope]
        return scope

    def _note_sessions(self, file: FileUses) -> None:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Assign) and self.makes_session(file, node.value):
                self.sessions |= {name for target in node.targets if (name := _last_name(target))}
            elif isinstance(node, ast.Assign) and self.is_monitored(file, node.value):
                self.monitored |= {name for target in node.targets if (name := _last_name(target))}
            elif isinstance(node, ast.Assign) and self._is_queue(file, node.value):
                self.queues |= {name for target in node.targets if (name := _last_name(target))}
            elif isinstance(node, ast.withitem) and self.makes_session(file, node.context_expr):
                self.sessions |= {name for target in [node.optional_vars] if (name := _last_name(target))}

    def _note_local_tensors(self, file: FileUses) -> None:
        """Note the names of functions that they bind to what TensorFlow gives, and to no session nor anything else."""
        others: set[tuple[ast.AST, str]] = set()
        for node in ast.walk(file.tree):
            if isinstance(node, ast.arg):
                others.add((self._scopes[node], node.arg))
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in self.sessions:
                parent = file.parents[node]
                call = parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None
                symbol = (self.symbol(file, call.func) or "") if isinstance(call, ast.Call) else ""
                is_tensor = symbol.startswith("tf.") and not symbol.lower().endswith("session")
                (self._local_tensors if is_tensor else others).add((self.scope_of(node), node.id))
            elif isinstance(node, ast.Global | ast.Nonlocal):
                others |= {(self._scopes[node], name) for name in node.names}
        self._local_tensors -= others

    def _is_queue(self, file: FileUses, node: ast.expr) -> bool:
        """Whether an expression makes a queue of the graph: ``tf.FIFOQueue(...)``."""
        return isinstance(node, ast.Call) and (self.symbol(file, node.func) or "").endswith("Queue")

    def _note(self, file: FileUses, name: str, function: Function) -> None:
        body = [node for statement in function.body for node in own_nodes(statement)]
        given = [*(node.value for node in body if isinstance(node, ast.Return | ast.Yield)), *function.decorator_list]
        if any(self._runs(file, node) for node in body):
            self.requesters.add(name)
            self.builders.discard(name)
        elif any(self._node_builds(file, node) for node in body) or any(self.is_value(file, node) for node in given):
            self.builders.add(name)

    def _note_classes(self, file: FileUses) -> None:
        """Note the classes that are made of one that builds, or runs a session."""
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ClassDef) and node.name not in self.requesters:
                bases = {_last_name(each) for each in node.bases}
                if bases & self.requesters:
                    self.requesters.add(node.name)
                    self.builders.discard(node.name)
                elif bases & self.builders or self._is_building_class(file, node):
                    self.builders.add(node.name)
                self._methods |= {each.name for each in node.body if isinstance(each, Function)} & self.builders

    def _is_building_class(self, file: FileUses, node: ast.ClassDef) -> bool:
        """Whether a class has what builds, and nothing that runs a session: so may its objects, by ``a * b``, too."""
        names = {each.name for each in node.body if isinstance(each, Function)}
        return not names & self.requesters and any(self._node_builds(file, each) for each in ast.walk(node))

    def _note_values(self, file: FileUses) -> None:
        self._note_imported_values(file)
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                if any(self._node_builds(file, each) for each in ast.walk(node.value.body)):
                    self.builders |= {name for target in node.targets if (name := _last_name(target))}
            if isinstance(node, ast.Assign) and self.is_value(file, node.value):
                for target in node.targets:
                    self._bind(file, target)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and self.is_value(file, node.value):
                self._bind(file, node.target)
            elif isinstance(node, ast.withitem) and self.is_value(file, node.context_expr):
                self._bind(file, node.optional_vars)
            elif isinstance(node, ast.For | ast.comprehension) and self.is_value(file, node.iter):
                self._bind(file, node.target)
            elif isinstance(node, ast.arguments):
                for parameter, default in defaults(node):
                    if self.is_value(file, default):
                        self.values[self._scopes[parameter]].add(parameter.arg)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
                if any(self.is_value(file, each) for each in [*node.args, *(each.value for each in node.keywords)]):
                    self._bind(file, node.func.value)
            elif isinstance(node, ast.Call) and called_name(node) == "setattr" and len(node.args) == _SET_ATTRIBUTE:
                key = node.args[1]
                if isinstance(key, ast.Constant) and self.is_value(file, node.args[2]):
                    self.attributes.add(str(key.value))

    def _note_imported_values(self, file: FileUses) -> None:
        for imported in file.imports:
            other = file.files_of_imports.get(imported.module)
            if other is None or not isinstance(imported.statement, ast.ImportFrom):
                continue
            values = self.values[other.tree]
            if imported.bound == "*":
                self.values[file.tree] |= values
            elif imported.alias.name in values:
                self.values[file.tree].add(imported.bound)
                self._imported[file].add(imported.bound)

    def _is_of_module(self, file: FileUses, node: ast.Attribute) -> bool:
        """Whether an expression is a graph value of another file: ``model.loss``."""
        if not isinstance(node.value, ast.Name):
            return False
        modules = [each.meaning for each in file.imports if each.bound == node.value.id]
        found = [file.files_of_imports[each] for each in modules if each in file.files_of_imports]
        return any(node.attr in self.values[each.tree] for each in found)

    def _bind(self, file: FileUses, target: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.values[self.scope_of(target)].add(target.id)
            if isinstance(file.parents.get(file.parents[target]), ast.ClassDef):
                self.attributes.add(target.id)
        elif isinstance(target, ast.Attribute):
            self.attributes.add(target.attr)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(file, each)
        elif isinstance(target, ast.Subscript | ast.Starred):
            self._bind(file, target.value)

    # -- questions -------------------------------------------------------------------------------------------------

    def symbol(self, file: FileUses, node: ast.expr) -> str | None:
        """The name in a library that an expression is: ``"tf.matmul"``."""
        return self._symbols[file].get(node)

    def makes_session(self, file: FileUses, node: ast.AST) -> bool:
        """Whether an expression is ``tf.Session(...)``, or calls a function that returns one."""
        if not isinstance(node, ast.Call):
            return False
        is_maker = isinstance(node.func, ast.Name) and node.func.id in self.session_makers[file]
        return self.symbol(file, node.func) in _SESSIONS or is_maker

    def is_new_session(self, file: FileUses, node: ast.AST) -> bool:
        """Whether an expression makes a session of the default graph."""
        return isinstance(node, ast.Call) and self.makes_session(file, node) and not _has_graph(node)

    def _only_makes_session(self, node: ast.stmt, file: FileUses) -> TypeGuard[ast.FunctionDef]:
        """Whether a statement defines a function that returns a new session, whose settings it may make before."""
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or len(file.bound[node.name]) > 1:
            return False
        *before, last = node.body
        session = last.value if isinstance(last, ast.Return) else None
        if not isinstance(session, ast.Call) or self.symbol(file, session.func) not in _SESSIONS:
            return False
        return not _has_graph(session) and all(isinstance(each, ast.Assign) or _is_text(each) for each in before)

    def is_monitored(self, file: FileUses, node: ast.AST) -> bool:
        """Whether an expression makes a monitored session, or is a ``with`` of one."""
        if isinstance(node, ast.With):
            return any(self.is_monitored(file, item.context_expr) for item in node.items)
        return isinstance(node, ast.Call) and self.symbol(file, node.func) in _MONITORED

    def is_session(self, node: ast.AST) -> bool:
        """Whether an expression is a session, by its name."""
        if isinstance(node, ast.Name) and (self.scope_of(node), node.id) in self._local_tensors:
            return False
        return isinstance(node, ast.expr) and _last_name(node) in self.sessions

    def is_request(self, file: FileUses, node: ast.AST) -> bool:
        """Whether a node is ``session.run(...)``, ``tensor.eval(...)``, or ``operation.run(...)``."""
        if not isinstance(node, ast.Call):
            return False
        if self.symbol(file, node.func) == "tf.train.global_step":
            return True
        if not isinstance(node.func, ast.Attribute):
            return False
        base, name = node.func.value, node.func.attr
        if name == "run" and (self.is_session(base) or self.is_new_session(file, base)):
            return True
        options = {keyword.arg for keyword in node.keywords}
        if name not in ("run", "eval") or not options <= {"feed_dict", "session"} or len(node.args) > 2:
            return False
        return self.is_value(file, base)

    def is_value(self, file: FileUses, node: ast.AST | None) -> bool:
        """Whether an expression is a graph value, or has one in it."""
        if node is None or self.is_request(file, node):
            return False
        if isinstance(node, ast.Name):
            is_library = self.symbol(file, node) is not None and node.id not in self._imported[file]
            return (node.id in self.values[self.scope_of(node)] and not is_library) or self._is_builder(node)
        if isinstance(node, ast.Lambda):
            return self.builds(file, node.body)
        if isinstance(node, ast.Attribute):
            if self.symbol(file, node) is not None:
                return self._is_of_module(file, node)
            is_known = node.attr in self.attributes or node.attr in self._methods
            return is_known or self.is_value(file, node.value)
        if isinstance(node, ast.Call):
            return self._keeps_value(file, node) or self._node_builds(file, node)
        if isinstance(node, _COMPREHENSIONS):
            elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return self.builds(file, node) or any(self.is_value(file, each) for each in elements)
        if isinstance(node, ast.Dict):
            return any(self.is_value(file, each) for each in node.values)
        if isinstance(node, ast.IfExp):
            return self.is_value(file, node.body) or self.is_value(file, node.orelse)
        if isinstance(node, _OF_PARTS):
            return any(self.is_value(file, child) for child in ast.iter_child_nodes(node))
        return False

    def _keeps_value(self, file: FileUses, node: ast.Call) -> bool:
        """Whether a call gives a list, a part of a dict, or a function, with a graph value that it is given."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PARTS:
            return self.is_value(file, node.func.value)
        keeps = isinstance(node.func, ast.Name) and node.func.id in _KEEPING
        given = [*node.args, *(each.value for each in node.keywords)]
        is_partial = self.symbol(file, node.func) == "functools.partial"
        return (keeps or is_partial) and any(self.is_value(file, each) for each in given)

    def _is_builder(self, name: ast.Name) -> bool:
        """Whether a name is that of a function that builds, which may be called by another name later."""
        return name.id in self.builders and name.id not in self._bound[self.scope_of(name)]

    def builds(self, file: FileUses, node: ast.AST) -> bool:
        """Whether a statement or an expression adds to the graph, what requests fetch left out."""
        stack = [node]
        while stack:
            each = stack.pop()
            if self._node_builds(file, each):
                return True
            if not self.is_request(file, each):
                stack += [child for child in ast.iter_child_nodes(each) if not isinstance(child, _INNER)]
        return False

    def defined_with(self, file: FileUses, node: ast.stmt) -> ast.expr | None:
        """A graph value that a definition computes with when it is executed: in a class, or for a parameter's default.

        ``def f(x, w=weights["a"])`` computes nothing. A decorator does that calls the function, or builds, at once.
        """
        stack: list[ast.AST | None] = [node]
        while stack:
            each = stack.pop()
            if isinstance(each, Function | ast.Lambda):
                for decorator in getattr(each, "decorator_list", ()):
                    if self._builds_at_once(decorator):
                        return decorator  # type: ignore[no-any-return]
                stack += [*each.args.defaults, *each.args.kw_defaults]
            elif isinstance(each, ast.ClassDef):
                stack += each.body
            elif each is not None and self._node_builds(file, each) and not _is_by_key(each):
                read = [name for name in ast.walk(each) if isinstance(name, ast.Name) and self.is_value(file, name)]
                if found := [name for name in read if isinstance(name.ctx, ast.Load) and not self._is_builder(name)]:
                    return found[0]
            elif each is not None:
                stack += ast.iter_child_nodes(each)
        return None

    def _builds_at_once(self, decorator: ast.expr) -> bool:
        """Whether a decorator calls the function that it is given, or builds with another one."""
        name = _last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for file, other, function in self._functions:
            if other != name or other in self._properties:
                continue
            inner = [each for each in function.body if isinstance(each, Function)]
            for each in inner if isinstance(decorator, ast.Call) else [function]:
                given = {parameter.arg for parameter in ast.walk(each.args) if isinstance(parameter, ast.arg)}
                nodes = [
                    one for statement in each.body if not isinstance(statement, _INNER) for one in own_nodes(statement)
                ]
                calls = {one.func.id for one in nodes if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
                if calls & given or any(self._node_builds(file, one) for one in nodes):
                    return True
        return False

    def calls(self, node: ast.AST) -> bool:
        """Whether an expression calls something: written out, or as a property of the program."""
        nodes = list(ast.walk(node))
        is_property = any(isinstance(each, ast.Attribute) and each.attr in self._properties for each in nodes)
        return is_property or any(isinstance(each, ast.Call) for each in nodes)

    def asks_graph(self, file: FileUses, node: ast.AST) -> bool:
        """Whether an expression calls what means the default graph: ``tf.trainable_variables()``."""
        calls = [each for each in own_nodes(node) if isinstance(each, ast.Call) and self._node_builds(file, each)]
        return any(
            (self.symbol(file, each.func) or "").startswith("tf.") or called_name(each) in self.builders
            for each in calls
        )

    def computes(self, file: FileUses, node: ast.AST) -> bool:
        """Whether an expression has an operator on graph values, what requests fetch left out: ``y * 2``."""
        stack = [node]
        while stack:
            each = stack.pop()
            if isinstance(each, ast.BinOp | ast.UnaryOp) and self._node_builds(file, each):
                return True
            if not self.is_request(file, each):
                stack += [child for child in ast.iter_child_nodes(each) if not isinstance(child, _INNER)]
        return False

    def has_requests(self, file: FileUses, node: ast.AST) -> bool:
        """Whether a statement runs a session, makes one, or calls what does."""
        return any(self._runs(file, each) for each in own_nodes(node))

    def _runs(self, file: FileUses, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if self.is_request(file, node) or self.makes_session(file, node) or self.is_monitored(file, node):
            return True
        if any(self.is_session(each) for each in [*node.args, *(keyword.value for keyword in node.keywords)]):
            return True  # saver.save(sess, path)
        if self.symbol(file, node.func) == "tf.train.start_queue_runners":
            return True
        return self.symbol(file, node.func) is None and called_name(node) in self.requesters

    def _node_builds(self, file: FileUses, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return any(self.is_value(file, child) for child in ast.iter_child_nodes(node))
        if isinstance(node, ast.Compare) and all(isinstance(each, _ORDERED) for each in node.ops):
            return any(self.is_value(file, each) for each in [node.left, *node.comparators])
        if isinstance(node, ast.AugAssign):
            return self.is_value(file, node.target) or self.is_value(file, node.value)
        if isinstance(node, ast.Subscript):
            return isinstance(node.ctx, ast.Load) and self.is_value(file, node.value)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):  # another name for a method
            return node.value.attr in self._methods and self.symbol(file, node.value) is None
        if isinstance(node, ast.Attribute):
            is_property = node.attr in self._properties and node.attr in self.builders
            return is_property and isinstance(node.ctx, ast.Load)
        if not isinstance(node, ast.Call) or self.is_request(file, node):
            return False
        symbol = self.symbol(file, node.func)
        if symbol is not None and symbol.startswith(_OURS):  # also read_data_sets(): it shuffles by the graph's seed
            return True
        if symbol is not None and symbol.startswith("tf."):
            return not symbol.startswith(_NOT_BUILDING) and symbol.rpartition(".")[2] not in _MESSAGES
        called = called_name(node)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(each, ast.Lambda) and self.builds(file, each.body) for each in given):
            return True  # map(lambda i: tf.constant(i), range(3)), which calls it here
        if called in ("map", "reduce", "next") and self.is_value(file, given[0] if given else None):
            return True
        is_method = isinstance(node.func, ast.Attribute) and self.is_value(file, node.func.value)
        if called in ("map", "filter") and is_method:  # of a data set
            return True
        if called == "close" and is_method and isinstance(node.func, ast.Attribute):
            return _last_name(node.func.value) in self.queues  # no writer
        if called in _LOOKING or called in self.requesters:
            return False
        if called in self.builders:
            return True
        if is_method or self._calls_value(file, node.func):
            return True
        if symbol is not None:  # of another library: np.zeros(x), itertools.starmap(build, sizes)
            return any(isinstance(each, ast.Name) and self._is_builder(each) for each in given)
        return any(self.is_value(file, each) for each in given if not isinstance(each, ast.Lambda))

    def _calls_value(self, file: FileUses, function: ast.expr) -> bool:
        """Whether what is called is a function that builds, by another name or in a list: ``blocks[0]()``."""
        if isinstance(function, ast.Attribute):
            return function.attr in self.attributes
        if isinstance(function, ast.Call) and called_name(function) == "getattr":
            name = function.args[1] if len(function.args) > 1 else None
            return not isinstance(name, ast.Constant) or name.value in self._methods
        return self.is_value(file, function)


def _named_functions(node: ast.AST) -> Iterator[tuple[str, Function]]:
    """A function by its name; the constructor of a class by that of the class."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name != "__init__":
            yield node.name, node
    elif isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                yield node.name, each


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Yield the parameters of a function that have a default, with that."""
    parameters = [*arguments.posonlyargs, *arguments.args]
    yield from zip(reversed(parameters), reversed(arguments.defaults), strict=False)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _is_by_key(node: ast.AST) -> bool:
    """Whether a node is an element of a dict, by its name: ``weights["a"]``."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _is_property(decorator: ast.expr) -> bool:
    """Whether it is ``property``, or one that keeps its value: ``lazy_property``."""
    return "property" in (_last_name(decorator) or "")


def _has_graph(session: ast.Call) -> bool:
    return len(session.args) > 1 or any(each.arg == "graph" for each in session.keywords)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _last_name(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None
