"""Meanings of names in a program: ``sess.run`` is ``tf.Session().run`` where ``sess`` was made by ``tf.Session()``.

A meaning is a path: a dotted name in which ``()`` stands for a call. TensorFlow is ``tf`` in paths, by whatever name
and version it was imported, NumPy is ``np``, tf1sessions is ``t1``; what the program defines itself is
``module.function``, ``__main__`` being the script. A name that may mean several things, or that comes from a caller,
has no path: rules say nothing about what they do not know.

Data flow: :class:`Names` reads each file once, notes the scope of every node and what is bound in each scope;
:meth:`Names.path` then follows bindings, across files where a function or name of another is meant.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from .nodes import is_none
from .program import Program, SourceFile, absolute

__all__ = ["FunctionNode", "Names", "Scope"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_BUILTINS = frozenset(["range", "zip", "map", "enumerate", "list", "tuple", "len", "print", "exit", "quit", "iter",
                       "float", "int", "open", "xrange", "reversed", "sorted", "getattr", "isinstance", "issubclass",
                       "slice", "type"])  # fmt: skip
_DEEPEST = 30


@dataclasses.dataclass(eq=False)
class Scope:
    """A module, function or class, and what its names are bound to: a path, an expression, or None for unknown."""

    node: ast.AST
    parent: Scope | None
    file: SourceFile
    bindings: dict[str, list[str | ast.expr | None]] = dataclasses.field(default_factory=dict)
    outer: set[str] = dataclasses.field(default_factory=set)  # named by `global` or `nonlocal`
    #: Of a class: what its methods bind to attributes of self.
    attributes: dict[str, list[tuple[ast.expr | None, Scope]]] = dataclasses.field(default_factory=dict)
    name: str = ""

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)


class Names:
    """The meaning of every name in a program. For one thread at a time."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions: dict[str, FunctionNode] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self._scopes: dict[ast.AST, Scope] = {}
        self._own: dict[ast.AST, Scope] = {}  # of the node that opens it
        self._parents: dict[ast.AST, ast.AST] = {}
        self._modules: dict[str, Scope] = {}
        self._known: dict[ast.AST, str | None] = {}
        self._known_names: dict[tuple[Scope, str], str | None] = {}  # by the scope that has the name
        self._asking: set[ast.AST] = set()
        self.calling: set[ast.AST] = set()  # nodes that have a call in them
        self._appends: list[ast.Call] = []
        self._following: set[str] = set()
        self._stars: dict[SourceFile, list[str]] = {}
        for file in program.files:
            scope = Scope(file.tree, None, file, name=file.module)
            self._modules[file.module] = scope
            self._own[file.tree] = scope
            self._read(file.tree, scope)

    # -- what rules ask -----------------------------------------------------------------------------------------------

    def path(self, node: ast.AST | None) -> str | None:
        """Return what an expression means, or None."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.IfExp | ast.NamedExpr | ast.Subscript):
            return None
        if node in self._known:
            return self._known[node]
        if node in self._asking or len(self._asking) > _DEEPEST:
            return None
        self._asking.add(node)
        try:
            found = self._path(node)
        finally:
            self._asking.discard(node)
        self._known[node] = found  # also where a circle cut it short: what is made of itself has no path
        return found

    def scope(self, node: ast.AST) -> Scope:
        """The scope that a node is in."""
        return self._scopes[node]

    def file(self, node: ast.AST) -> SourceFile:
        return (self._scopes.get(node) or self._own[node]).file

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node is in, from the inside out."""
        while (parent := self._parents.get(node)) is not None:
            yield parent
            node = parent

    def function(self, path: str | None) -> FunctionNode | None:
        """The function of the program that a path means; of a class its ``__init__``."""
        if path is None:
            return None
        if path in self.functions:
            return self.functions[path]
        plain = path.replace("()", "")
        if plain in self.functions:
            return self.functions[plain]
        if path in self.classes:
            return self.method(self.classes[path], "__init__")
        owner, _, method = plain.rpartition(".")
        if owner in self.classes:
            return self.method(self.classes[owner], method)
        return None

    def method(self, node: ast.ClassDef, name: str) -> FunctionNode | None:
        """The method of a class, or of what it inherits from in this program."""
        for _ in range(5):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == name:
                    return each
            bases = [self.classes.get(self.path(base) or "") for base in node.bases]
            following = next((base for base in bases if base is not None), None)
            if following is None:
                return None
            node = following
        return None

    def values(self, node: ast.AST) -> list[ast.expr] | None:
        """The expressions that a name or an attribute of self is bound to; itself for any other expression.

        None where one of them is unknown. A bare ``None`` does not count.
        """
        if isinstance(node, ast.Name):
            scope = self._where(node.id, self._scopes[node])
            bound = scope.bindings.get(node.id) if scope else None
            found = bound or [None]
            values = [each for each in found if isinstance(each, ast.expr) and not is_none(each)]
            known = all(isinstance(each, ast.expr) for each in found)
            return values if known and values else None
        if isinstance(node, ast.Attribute) and (owner := self._self_of(node.value)) is not None:
            bound_to = [each for each, _ in owner.attributes.get(node.attr, [])]
            values = [each for each in bound_to if each is not None and not is_none(each)]
            return values if values and None not in bound_to else None
        return [node] if isinstance(node, ast.expr) else None

    def home(self, node: ast.AST) -> tuple[int, str] | None:
        """Names the variable that a name or attribute of self is, for comparing two of them."""
        if isinstance(node, ast.Name):
            scope = self._where(node.id, self._scopes[node])
            return None if scope is None else (id(scope), node.id)
        if isinstance(node, ast.Attribute) and (owner := self._self_of(node.value)) is not None:
            return (id(owner), f"self.{node.attr}")
        return None

    def is_bound_once(self, node: ast.AST) -> bool:
        """Whether a name, or an attribute of self, is one thing in its whole scope: no second assignment."""
        if isinstance(node, ast.Name):
            scope = self._where(node.id, self._scopes[node])
            return scope is not None and len(scope.bindings[node.id]) == 1
        if isinstance(node, ast.Attribute) and (owner := self._self_of(node.value)) is not None:
            return len([value for value, _ in owner.attributes.get(node.attr, []) if not is_none(value)]) <= 1
        return False

    def literal(self, node: ast.AST | None) -> object:
        """The number, text or other constant that an expression is; None where that is not known."""
        if node is None:
            return None
        values = self.values(node)
        if values is None or len(values) != 1:
            return None
        value = values[0]
        if (
            isinstance(value, ast.UnaryOp)
            and isinstance(value.op, ast.USub)
            and isinstance(value.operand, ast.Constant)
        ):
            number = value.operand.value
            return -number if isinstance(number, int | float) else None
        return value.value if isinstance(value, ast.Constant) else None

    def imports(self, top: str) -> bool:
        """Whether any file of the program binds a name to ``top`` or something below it."""
        return any(
            isinstance(value, str) and (value + ".").startswith(top + ".")
            for scope in self._own.values()
            for values in scope.bindings.values()
            for value in values
        )

    # -- paths --------------------------------------------------------------------------------------------------------

    def _path(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.NamedExpr):
            return self.path(node.value)
        if isinstance(node, ast.Subscript):
            return self._element(node.value)
        if isinstance(node, ast.IfExp):
            return _common([self.path(node.body), self.path(node.orelse)])
        if isinstance(node, ast.Attribute):
            owner = self._self_of(node.value)
            if owner is not None:
                return self._attribute(owner, node.attr)
            base = self.path(node.value)
            return None if base is None else self._member(base, node.attr)
        assert isinstance(node, ast.Name)
        return self._name(node.id, self._scopes[node])

    def _called(self, node: ast.Call) -> str | None:
        path = self.path(node.func)
        if path is None:
            return None
        if path.endswith(".as_default"):
            return path.removesuffix(".as_default")
        function = self.function(path)
        if function is not None and not isinstance(function, ast.Lambda):
            return self._returned(function) or f"{path}()"
        return f"{path}()"

    def _element(self, node: ast.expr) -> str | None:
        """Return what every item of a list is."""
        lists = self.values(node)
        if lists is None or (lists == [node] and not isinstance(node, ast.List | ast.Tuple | ast.ListComp)):
            return None
        items: list[ast.expr] = []
        for each in lists:
            if isinstance(each, ast.List | ast.Tuple):
                items += each.elts
            elif isinstance(each, ast.ListComp):
                items.append(each.elt)
            else:
                return None
        home = self.home(node)
        for call in self._appends if home is not None else []:
            assert isinstance(call.func, ast.Attribute)
            if self.home(call.func.value) == home:
                items.append(call.args[0])
        return _common([self.path(item) for item in items])

    def _returned(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
        own = self._own[function]
        values = [
            each.value
            for each in ast.walk(function)
            if isinstance(each, ast.Return) and each.value is not None and self._scopes.get(each) is own
        ]
        if not values:
            return None
        return _common([self.path(value) for value in values])

    def _name(self, name: str, scope: Scope) -> str | None:
        found = self._where(name, scope)
        if found is None:
            star = next((star for star in self._stars.get(scope.file, []) if star == "tf"), None)
            if star is None:
                for module in self._stars.get(scope.file, []):
                    if module in self._modules and name in self._modules[module].bindings:
                        return self._name(name, self._modules[module])
            return f"builtins.{name}" if name in _BUILTINS else f"tf.{name}" if star else None
        if (found, name) not in self._known_names:
            self._known_names[found, name] = self._bound_to(name, found)
        return self._known_names[found, name]

    def _bound_to(self, name: str, found: Scope) -> str | None:
        """Return what all values of a name in the scope that has it mean."""
        meanings: list[str | None] = []
        for value in found.bindings[name]:
            if isinstance(value, ast.expr):
                if is_none(value):
                    continue
                meanings.append(self.path(value))
                if meanings[-1] is None:
                    return None
            else:
                own = value == f"{found.name}.{name}"  # a function or class of this very scope
                meanings.append(value if own or value is None else self._follow(value))
        return _common(meanings)

    def _attribute(self, owner: Scope, name: str) -> str | None:
        if name in owner.bindings:
            return self._name(name, owner)
        values = [value for value, _ in owner.attributes.get(name, []) if value is None or not is_none(value)]
        if not values:
            inherited = self.method(owner.node, name) if isinstance(owner.node, ast.ClassDef) else None
            return next((path for path, each in self.functions.items() if each is inherited), None)
        return _common([self.path(value) for value in values])

    def _member(self, base: str, name: str) -> str | None:
        if base in self._modules and name in self._modules[base].bindings:
            return self._name(name, self._modules[base])
        if base.endswith("()") and base[:-2] in self.classes:  # of an object of the program's own
            return self._attribute(self._own[self.classes[base[:-2]]], name)
        return canonical(f"{base}.{name}")

    def _follow(self, path: str) -> str | None:
        """A name imported from another file of the program is what it means there."""
        module, _, name = path.rpartition(".")
        if path in self._modules or module not in self._modules or name not in self._modules[module].bindings:
            return path
        if path in self._following:  # two files that import one name from each other
            return None
        self._following.add(path)
        try:
            return self._name(name, self._modules[module])
        finally:
            self._following.discard(path)

    def _where(self, name: str, scope: Scope) -> Scope | None:
        """The scope whose ``name`` is meant by a name in ``scope``."""
        first = True
        current: Scope | None = scope
        while current is not None:
            if (first or not current.is_class) and name in current.bindings and name not in current.outer:
                return current
            first = False
            current = current.parent
        return None

    def _self_of(self, node: ast.AST) -> Scope | None:
        """The class whose method ``node`` is ``self`` in."""
        if not isinstance(node, ast.Name):
            return None
        scope: Scope | None = self._scopes[node]
        while scope is not None:
            function = scope.node
            if isinstance(function, ast.FunctionDef) and scope.parent is not None and scope.parent.is_class:
                arguments = [*function.args.posonlyargs, *function.args.args]
                return scope.parent if arguments and arguments[0].arg == node.id else None
            scope = scope.parent
        return None

    # -- reading ------------------------------------------------------------------------------------------------------

    def _read(self, node: ast.AST, scope: Scope) -> bool:
        """Note scopes and bindings of everything below ``node``; whether there is a call in it."""
        calls = isinstance(node, ast.Call)
        for child in ast.iter_child_nodes(node):
            self._parents[child] = node
            self._scopes[child] = scope
            inner = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                path = f"{scope.name}.{child.name}"
                self._bind(scope, child.name, path)
                inner = Scope(child, scope, scope.file, name=path)
                self._own[child] = inner
                if isinstance(child, ast.ClassDef):
                    self.classes.setdefault(path, child)
                else:
                    self.functions.setdefault(path, child)
                    self._parameters(child.args, inner)
            elif isinstance(child, ast.Lambda):
                inner = Scope(child, scope, scope.file, name=f"{scope.name}.<lambda {child.lineno}>")
                self._own[child] = inner
                self._parameters(child.args, inner)
            else:
                self._bindings(child, scope)
                if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
                    if child.func.attr == "append" and len(child.args) == 1:
                        self._appends.append(child)
            calls = self._read(child, inner) or calls
        if calls:
            self.calling.add(node)
        return calls

    def _parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if each is not None:
                self._bind(scope, each.arg, None)

    def _bindings(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    self._bind(scope, alias.asname, canonical(alias.name))
                else:
                    top = alias.name.partition(".")[0]
                    self._bind(scope, top, canonical(top))
        elif isinstance(node, ast.ImportFrom):
            module = scope.file.module
            package = module if scope.file.file.endswith("__init__.py") else module.rpartition(".")[0]
            base = absolute(node, package)
            for alias in node.names:
                if alias.name == "*":
                    self._stars.setdefault(scope.file, []).append(canonical(base))
                else:
                    self._bind(scope, alias.asname or alias.name, canonical(f"{base}.{alias.name}".lstrip(".")))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if node.value is not None:
                self._assign(node.target, node.value, scope)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, None, scope)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            item: ast.expr | None = None
            if isinstance(node.iter, ast.Name | ast.Attribute | ast.List | ast.Tuple):
                item = ast.Subscript(node.iter, ast.Constant(0), ast.Load())  # stands for any of its items
                self._scopes[item] = scope
            self._assign(node.target, item, scope)
        elif isinstance(node, ast.withitem):
            if node.optional_vars is not None:
                self._assign(node.optional_vars, node.context_expr, scope)
        elif isinstance(node, ast.ExceptHandler):
            if node.name:
                self._bind(scope, node.name, None)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.outer.update(node.names)

    def _assign(self, target: ast.expr, value: ast.expr | None, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            self._bind(scope, target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            same = len(parts) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in parts)
            for number, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                self._assign(inner, parts[number] if same else None, scope)
        elif isinstance(target, ast.Attribute):
            owner = self._self_of_target(target.value, scope)
            if owner is not None:
                owner.attributes.setdefault(target.attr, []).append((value, scope))

    def _self_of_target(self, node: ast.expr, scope: Scope) -> Scope | None:
        self._scopes.setdefault(node, scope)
        return self._self_of(node)

    def _bind(self, scope: Scope, name: str, value: str | ast.expr | None) -> None:
        if name in scope.outer:
            top: Scope = scope
            while top.parent is not None:
                top = top.parent
            top.bindings.setdefault(name, []).append(value)
            return
        scope.bindings.setdefault(name, []).append(value)


_RENAMED = (
    (r"tensorflow\.compat\.v[12](?=\.|$)", "tf"),
    (r"tensorflow(?=\.|$)", "tf"),
    (r"tf\.compat\.v[12](?=\.|$)", "tf"),
    (r"tf1sessions\.tf1(?=\.|$)", "tf"),
    (r"t1\.tf1(?=\.|$)", "tf"),
    (r"tf1sessions(?=\.|$)", "t1"),
    (r"numpy(?=\.|$)", "np"),
    (r"tf\.python\.client\.session\.", "tf."),
    (r"tf\.python\.client\.timeline", "tf.timeline"),
    (r"tf\.app\.flags(?=\.|$)", "tf.flags"),
)


def canonical(path: str) -> str:
    """A dotted name, with TensorFlow as ``tf``, NumPy as ``np`` and tf1sessions as ``t1``.

    Example:
        >>> canonical("tensorflow.compat.v1.Session"), canonical("numpy.float32")
        ('tf.Session', 'np.float32')
    """
    for pattern, new in _RENAMED:
        path = re.sub(rf"^{pattern}", new, path)
    return path


def _common(meanings: list[str | None]) -> str | None:
    """Return what all of them are; None where they differ or one is unknown."""
    found = set(meanings)
    return found.pop() if len(found) == 1 else None
