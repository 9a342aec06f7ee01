"""Functions of a program that make variables or layers become classes: a tf.Module makes them once and is called.

What is static in such a function, as the number of units, is given to the class's constructor, which makes the layers;
what is a tensor is given to each call.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .calls import Native, NotNative, is_kept, native_call
from .kinds import Kind, Kinds, Scope, bound_names, creates, names_read
from .rest import calls_inner_first, is_again, is_repeated
from .scopes import is_name_scope, scope_header
from .statements import kind_of
from .texts import INDENT, MARK, Texts, indented, with_spaces
from .variables import is_update_list

__all__ = ["FileClasses", "ModuleClass", "named_layer"]

_K = TypeVar("_K")

_Function = ast.FunctionDef


@dataclasses.dataclass(eq=False)
class ModuleClass:
    """A function that becomes a class.

    Attributes:
        function: The function.
        name: The name of the class.
        tensors: The names of its parameters that are tensors in some call.
        reuse: The parameter that says whether it uses the variables of an earlier call; None if there is none.
    """

    function: _Function
    name: str
    tensors: set[str] = dataclasses.field(default_factory=set)
    reuse: str | None = None

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters, in their order."""
        arguments = self.function.args
        return [each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]

    def bind(self, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments of a call by the names of the parameters.

        Raises:
            NotPossible: They are not written out.
        """
        return arguments(call, self.parameters)

    @property
    def always_shares(self) -> bool:
        """Whether each call uses the variables of the first one: ``reuse=tf.AUTO_REUSE``."""
        return any(isinstance(each, ast.Attribute) and each.attr == "AUTO_REUSE" for each in ast.walk(self.function))


def named_layer(native: Native, call: ast.Call, counts: dict[_K, int], key: _K) -> str:
    """Write a layer with the name that TensorFlow 1 counted for it; others, and all else, as they are.

    Args:
        native: The call in TensorFlow 2.
        call: The call.
        counts: How many have been counted before, by key.
        key: What is counted together.
    """
    assert native.made is not None
    is_named = any(each.arg in ("name", "scope") for each in call.keywords)
    if native.kind != "layer" or is_named or ".keras.layers." not in native.made:
        return native.made
    count = counts[key] = counts.get(key, -1) + 1
    name = f"{native.name}_{count}" if count else native.name
    has_arguments = not native.made.endswith("()")
    return f'{native.made[:-1]}{", " if has_arguments else ""}name="{name}")'


class FileClasses:
    """The classes of a file.

    Args:
        kinds: Of the file.
        texts: Of the file; what changes is noted there.
    """

    def __init__(self, kinds: Kinds, texts: Texts) -> None:
        self.kinds, self.texts = kinds, texts
        self._needs: dict[ast.AST, bool] = {}
        self._making: dict[ast.AST, bool] = {}
        self._classes: dict[str, ModuleClass] = {}
        self._split: set[ast.Call] = set()
        self._given: dict[tuple[str, str], set[str]] = {}  # (class, parameter) -> the arguments of all calls

    def needs_class(self, name: str) -> bool:
        """Whether a function makes variables or layers, itself or by what it calls, and computes with them."""
        function = self.kinds.functions.get(name)
        if not isinstance(function, _Function):
            return False
        if function not in self._needs:
            self._needs[function] = False  # of one that calls itself
            self._needs[function] = self._makes(function) and self.kinds.called(function) >= Kind.CONSTANT
        return self._needs[function]

    def _makes(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function makes variables or layers, itself or by what it calls."""
        if function not in self._making:
            self._making[function] = False  # of one that calls itself
            calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
            called = [self.kinds.functions.get(each.id) for each in calls if isinstance(each, ast.Name)]
            makes = any(creates(self.kinds.symbol(each)) for each in calls)
            self._making[function] = makes or any(each is not None and self._makes(each) for each in called)
        return self._making[function]

    def variable_of(self, call: ast.Call) -> Native | None:
        """A call of a function that gives a variable which it makes: it is called once, too."""
        function = self.kinds.functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or not self._makes(function) or self.needs_class(function.name):
            return None
        if self.kinds.called(function) is not Kind.VARIABLE:
            return None
        name = function.name.removesuffix("_variable")
        return Native("variable", self.texts.of(call), "{made}", name if name != function.name else f"{name}_variable")

    def note(self, node: ast.AST, scope: Mapping[str, Kind]) -> None:
        """Take in with which kinds of arguments a piece of code calls functions that become classes."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and self.needs_class(call.func.id):
                self._note_call(call, scope)

    def _note_call(self, call: ast.Call, scope: Mapping[str, Kind]) -> None:
        assert isinstance(call.func, ast.Name)
        function = self.kinds.functions[call.func.id]
        assert isinstance(function, _Function)
        found = self._classes.get(call.func.id)
        if found is None:
            found = self._classes[call.func.id] = ModuleClass(function, _camel(function.name), reuse=_reuse(function))
            self._check(found)
        given = found.bind(call)
        tensors = {name for name, value in given.items() if self.kinds.of(value, scope) >= Kind.CONSTANT}
        if found.always_shares or found.reuse is not None:  # what differs from call to call is given to each
            for name in found.parameters:
                texts = self._given.setdefault((found.name, name), set())
                texts.add(self.texts.file.positions.source(given[name]) if name in given else "")
                if len(texts) > 1 and name != found.reuse:
                    tensors.add(name)
        if tensors <= found.tensors and tensors:
            return
        found.tensors |= tensors
        inner: Scope = {name: Kind.TENSOR if name in found.tensors else Kind.STATIC for name in found.parameters}
        for statement in function.body:
            self.kinds.run(statement, inner)
        for statement in function.body:
            self.note(statement, inner)

    def _check(self, found: ModuleClass) -> None:
        function = found.function
        if function.decorator_list or function.args.vararg or function.args.kwarg:
            raise NotPossible(function, f"{function.name}() makes variables, and has decorators or *arguments")

    def of(self, call: ast.Call) -> ModuleClass | None:
        """The class that the function of a call becomes."""
        return self._classes.get(call.func.id) if isinstance(call.func, ast.Name) else None

    def class_name(self, call: ast.Call) -> str:
        """Return the name of the class that a called function becomes."""
        found = self.of(call)
        assert found is not None
        return found.name

    def split(self, call: ast.Call) -> tuple[str, str, bool]:
        """A call of a function that becomes a class.

        Returns:
            What makes the object; what is called, with ``{made}`` for the object; whether it shares the variables of
            an earlier call.
        """
        found = self.of(call)
        assert found is not None
        self._split.add(call)
        given = found.bind(call)
        shares = found.always_shares
        if found.reuse is not None and found.reuse in given:
            reuse = given.pop(found.reuse)
            if not isinstance(reuse, ast.Constant):
                raise NotPossible(call, f"Whether {found.function.name}() reuses variables is known when it runs")
            shares = bool(reuse.value)
        made = ", ".join(f"{name}={self.texts.of(value)}" for name, value in given.items() if name not in found.tensors)
        used = []
        is_in_order = True
        names = [name for name in found.parameters if name in found.tensors]
        for name in names:
            if name not in given:
                is_in_order = False
            elif is_in_order and given[name] in call.args:
                used.append(self.texts.of(given[name]))
            else:
                used.append(f"{name}={self.texts.of(given[name])}")
        return f"{found.name}({made})", f"{{made}}({', '.join(used)})", shares

    def check_uses(self) -> None:
        """Refuse a function that becomes a class and is used elsewhere than in graph code.

        Raises:
            NotPossible: One is.
        """
        functions = {call.func for call in self._split}
        for node in ast.walk(self.texts.file.tree):
            if isinstance(node, ast.Name) and node.id in self._classes and isinstance(node.ctx, ast.Load):
                if node not in functions:
                    raise NotPossible(node, f"{node.id}() makes variables, and is used in a way that is not known")

    def is_made_once(self, call: ast.Call) -> bool:
        """Whether a call is of an object that is made once, or of a function that gives a variable."""
        return call in self._split or self.variable_of(call) is not None

    @property
    def functions(self) -> list[ast.FunctionDef]:
        """Return the functions that become classes."""
        return [each.function for each in self._classes.values()]

    def write(self) -> dict[ast.stmt, list[str]]:
        """The classes: function -> its new lines."""
        return {found.function: _ClassWriter(self, found).lines() for found in self._classes.values()}


def _camel(name: str) -> str:
    """The name of a class.

    Example:
        >>> _camel("conv_net"), _camel("buildModel")
        ('ConvNet', 'BuildModel')
    """
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def _reuse(function: _Function) -> str | None:
    """The parameter of a function that is handed to a variable scope as ``reuse``, or decides on reuse_variables()."""
    names = {each.arg for each in [*function.args.args, *function.args.kwonlyargs]}
    for node in ast.walk(function):
        if isinstance(node, ast.keyword) and node.arg == "reuse" and isinstance(node.value, ast.Name):
            if node.value.id in names:
                return node.value.id
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id in names and _reuses(node):
            return node.test.id
    return None


def _reuses(node: ast.stmt) -> bool:
    """Whether a statement is ``if reuse: scope.reuse_variables()``, or the call."""
    if isinstance(node, ast.If):
        return not node.orelse and all(map(_reuses, node.body))
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "reuse_variables"


#: Names that a tf.Module has for itself.
_RESERVED = frozenset(
    "name name_scope variables trainable_variables non_trainable_variables submodules with_name_scope".split()
)


class _ClassWriter:
    """Writes one class."""

    def __init__(self, modules: FileClasses, found: ModuleClass) -> None:
        self.modules, self.kinds, self.texts, self.found = modules, modules.kinds, modules.texts, found
        function = found.function
        self.scope: Scope = {name: Kind.TENSOR if name in found.tensors else Kind.STATIC for name in found.parameters}
        for statement in function.body:
            self.kinds.run(statement, self.scope)
        self._attributes: dict[str, str] = {}  # names of the function that are attributes of the object
        stores = [
            each for each in ast.walk(function) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
        ]
        self._bindings = collections.Counter([*(each.id for each in stores), *found.parameters])
        self._rebound: set[str] = set()  # names of variables and layers that are bound again
        self._taken: set[str] = set()
        self._counts: dict[tuple[ast.With | None, str], int] = {}  # how many layers have no name of their own
        self._static = [name for name in found.parameters if name not in found.tensors and name != found.reuse]

    def lines(self) -> list[str]:
        """The lines of the class."""
        function = self.found.function
        body = list(function.body)
        doc: list[str] = []
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            doc = [*self.texts.statement(body.pop(0)), ""]
        self._mark_names(body)
        for call in calls_inner_first(function):
            self._rewrite_function(call)
        init, called = self._split(body)
        base = self.texts.tensorflow
        lines = [f"class {self.found.name}({base}.Module):", *indented(doc)]
        head = self._signature(self._static)
        stored = [f"self.{_stored(name)} = {name}" for name in self._static if name in self._read_by_call]
        lines += [f"{INDENT}def __init__(self{head}):", f"{INDENT * 2}super().__init__()"]
        lines += indented([*stored, *init], 2)
        tensors = [name for name in self.found.parameters if name in self.found.tensors]
        lines += ["", f"{INDENT}def __call__(self{self._signature(tensors)}):"]
        return [*lines, *indented(called or ["pass"], 2)]

    def _mark_names(self, body: Sequence[ast.stmt]) -> None:
        """Mark where the function reads its own names: some are attributes of the object."""
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.scope:
                    self.texts.replace(node, f"{MARK}{node.id}{MARK}")

    def _signature(self, names: Sequence[str]) -> str:
        arguments = self.found.function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([each.arg for each in reversed(positional)], reversed(arguments.defaults), strict=False))
        defaults |= {
            each.arg: default
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        }
        ordered = sorted(names, key=lambda name: name in defaults)
        return "".join(
            f", {name}={self.texts.of(defaults[name])}" if name in defaults else f", {name}" for name in ordered
        )

    # -- calls -----------------------------------------------------------------------------------------------------

    def _rewrite_function(self, call: ast.Call) -> None:
        """Write a call that makes nothing as TensorFlow 2 has it."""
        symbol = self.kinds.symbol(call.func)
        if symbol is None or creates(symbol) is not None:
            return
        native = native_call(call, symbol, self.texts.of, self.texts.tensorflow, kept=is_kept(self.kinds.file, call))
        if isinstance(native, NotNative):
            raise NotPossible(call, native.reason)
        if isinstance(native, Native) and native.made is None:
            self.texts.replace(call, native.used)

    def _objects(self, statement: ast.stmt, repeated: bool) -> list[tuple[str, str]]:
        """Make what a statement makes attributes: (attribute, expression that makes it); the calls use them."""
        found = []
        for call in calls_inner_first(statement):
            symbol = self.kinds.symbol(call.func)
            if self.modules.of(call) is not None:
                made, used, shares = self.modules.split(call)
                assert isinstance(call.func, ast.Name)
                name = call.func.id
                if shares and name in self._taken:
                    raise NotPossible(
                        call, f"{name}() is called twice with the same variables in {self.found.function.name}()"
                    )
            elif (variable := self.modules.variable_of(call)) is not None:
                assert variable.made is not None
                made, used, name = variable.made, variable.used, variable.name
            elif creates(symbol) is not None:
                assert symbol is not None
                native = native_call(
                    call, symbol, self.texts.of, self.texts.tensorflow, kept=is_kept(self.kinds.file, call)
                )
                if not isinstance(native, Native) or native.made is None:
                    reason = native.reason if isinstance(native, NotNative) else f"{symbol} has no form in TensorFlow 2"
                    raise NotPossible(call, reason)
                if native.kind in ("metric", "average"):
                    raise NotPossible(call, f"A function makes a {native.kind}, and is not called once for itself")
                reuse = next((each.value for each in call.keywords if each.arg == "reuse"), None)
                is_own = isinstance(reuse, ast.Name) and reuse.id == self.found.reuse
                is_own |= isinstance(reuse, ast.Attribute) and reuse.attr == "AUTO_REUSE"
                if not is_own and is_again(call, reuse):
                    raise NotPossible(call, "A layer is used again that is made elsewhere")
                made, used, name = self._named(native, call, statement, repeated), native.used, native.name
            else:
                continue
            if is_repeated(self.texts.file, call, statement):
                raise NotPossible(call, "A loop inside of an expression makes variables or layers")
            reads = names_read(ast.parse(made.replace(MARK, ""), mode="eval"))
            if any(self.scope.get(each, Kind.STATIC) >= Kind.CONSTANT for each in reads):
                raise NotPossible(call, "What makes a variable or a layer depends on a tensor")
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            is_whole = isinstance(statement, ast.Assign) and statement.value is call
            if isinstance(target, ast.Name) and name == "variable" and not repeated and is_whole:
                name = target.id  # the author's
            attribute = self._attribute(name, repeated)
            object_ = f"next({attribute})" if repeated else f"self.{attribute}"
            self.texts.replace(call, used.replace("{made}", object_))
            found.append((attribute, made))
        return found

    def _named(self, native: Native, call: ast.Call, statement: ast.stmt, repeated: bool) -> str:
        """Name a layer as TensorFlow 1 did in its scope: Keras counts over all scopes."""
        assert native.made is not None
        if not self._is_in_scope(statement, self.found.function):  # Keras counts as TensorFlow 1 did
            return native.made
        scope = self._scope_in_loop(statement) if repeated else None
        named = named_layer(native, call, self._counts, (scope, native.name))
        if not repeated or scope is not None or named == native.made:
            return named
        if any(isinstance(each, ast.Attribute) and each.attr == "restore" for each in ast.walk(self.texts.file.tree)):
            raise NotPossible(call, "A loop makes layers without a name in a scope, and checkpoints are restored")
        return native.made

    def _is_in_scope(self, node: ast.AST, function: ast.AST, known: tuple[ast.AST, ...] = ()) -> bool:
        """Whether a variable scope is around a node of a function, or may be around a call of the function."""
        file = self.texts.file
        for each in file.around(node):
            items = each.items if isinstance(each, ast.With) else []
            calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
            if any(self.kinds.symbol(call.func) == "tf.variable_scope" for call in calls):
                return True
            if each is function:
                break
        if not isinstance(function, ast.FunctionDef):
            return False
        for use in (each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == function.name):
            inside = [each for each in file.around(use) if isinstance(each, ast.FunctionDef)]
            caller = inside[-1] if inside else file.tree
            if caller in (function, *known) or self._is_in_scope(use, caller, (function, *known)):
                return True
        return False

    def _scope_in_loop(self, statement: ast.stmt) -> ast.With | None:
        """The scope around a statement of a loop that gives variables another name each time; None if there is none."""
        found: ast.With | None = None
        for each in self.texts.file.around(statement):
            if isinstance(each, ast.For):
                names = {name.id for name in ast.walk(each.target) if isinstance(name, ast.Name)}
                is_own = found is not None and bool(names & names_read(ast.Expr(found.items[0].context_expr)))
                return found if is_own else None
            found = each if isinstance(each, ast.With) and self._is_in_names(each) else found
        return None

    def _is_in_names(self, block: ast.With) -> bool:
        """Whether the variables of layers in a scope have it in their names."""
        call = block.items[0].context_expr
        return not isinstance(call, ast.Call) or self.kinds.symbol(call.func) != "tf.name_scope"

    def _attribute(self, wish: str, repeated: bool) -> str:
        wish = re.sub(r"\W+", "_", wish).strip("_") or "layer"
        name, number = wish, 1
        others = self._taken | _RESERVED | set(self._static) | (set(self.scope) if repeated else set())
        while name in others:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    # -- statements ------------------------------------------------------------------------------------------------

    def _split(self, body: Sequence[ast.stmt]) -> tuple[list[str], list[str]]:
        """The lines of a function's body for the constructor and for the call."""
        init, called, _ = self._parts(body, repeated=False)
        for name in sorted(self._rebound):
            if any(f"{MARK}{name}{MARK}" in line for line in init):
                what = f"{name!r} is bound to several variables, and something is made of one"
                raise NotPossible(self.found.function, what)
        read = {name for line in called for name in re.findall(f"{MARK}(\\w+){MARK}", line)}
        rebound = {name for statement in body for name in bound_names(statement)}
        self._read_by_call = read & set(self._static)
        attributes = {name: f"self.{attribute}" for name, attribute in self._attributes.items()}
        stored = {name: f"self.{_stored(name)}" for name in self._read_by_call}
        before = [f"{name} = {stored.pop(name)}" for name in sorted(self._read_by_call & rebound)]
        in_call = [_unmarked(line, attributes | stored) for line in called]
        return [_unmarked(line, attributes) for line in init], [*before, *in_call]

    def _parts(self, body: Sequence[ast.stmt], repeated: bool) -> tuple[list[str], list[str], list[str]]:
        """Lines for the constructor, lines for the call, and the attributes that a loop's constructor appends to."""
        pieces: list[tuple[ast.stmt, list[str], list[str]]] = []
        lists: list[str] = []
        for statement in body:
            init, called, appended = self._piece(statement, repeated)
            lists += appended
            pieces.append((statement, init, called))
        return *self._needed(pieces), lists

    def _needed(self, pieces: list[tuple[ast.stmt, list[str], list[str]]]) -> tuple[list[str], list[str]]:
        """Leave out of the constructor what no object is made of; of the call, static values that it does not read."""
        init: list[list[str]] = []
        read = set[str]()
        for statement, lines, _ in reversed(pieces):
            is_static_value = lines and not any("self." in line for line in lines)
            if is_static_value and not bound_names(statement) & read:
                continue
            init.append(lines)
            for line in lines:
                read |= set(re.findall(r"\b[A-Za-z_]\w*", line))
        called: list[list[str]] = []
        read = set()
        for statement, _, lines in reversed(pieces):
            is_value = isinstance(statement, ast.Assign) and kind_of(self.kinds, statement, self.scope) < Kind.CONSTANT
            is_value |= isinstance(statement, ast.FunctionDef)
            if is_value and not bound_names(statement) & read:
                continue
            called.append(lines)
            for line in lines:
                read |= set(re.findall(r"\b[A-Za-z_]\w*", line))
        return _lines(init), _lines(called)

    def _piece(self, statement: ast.stmt, repeated: bool) -> tuple[list[str], list[str], list[str]]:
        if _reuses(statement):
            return [], [], []
        if isinstance(statement, ast.With) and all(is_name_scope(self.kinds, item) for item in statement.items):
            init, called, lists = self._parts(statement.body, repeated)
            waited = [each.context_expr for each in statement.items if not self._runs_updates(each)]
            makes, calls = (
                scope_header(self.kinds, self.texts, statement, self.found.reuse, each) for each in ((), waited)
            )

            def wrap(header: str, lines: list[str]) -> list[str]:
                return [header, *indented(lines)] if header and lines else lines

            calls_maker = any(map(self.modules.variable_of, calls_inner_first(statement)))
            needs_scope = calls_maker or any(".Variable(" in line for line in init)
            return wrap(makes, init) if needs_scope else init, wrap(calls, called), lists
        has_makers = any(
            creates(self.kinds.symbol(call.func)) is not None
            or self.modules.of(call) is not None
            or self.modules.variable_of(call) is not None
            for call in calls_inner_first(statement)
        )
        if isinstance(statement, ast.For | ast.If) and has_makers:
            return self._compound(statement, repeated)
        if has_makers and isinstance(statement, ast.While | ast.Try | ast.FunctionDef | ast.With):
            raise NotPossible(statement, "A variable or a layer is made in a part of a function that is not understood")
        objects = self._objects(statement, repeated) if has_makers else []
        is_static = kind_of(self.kinds, statement, self.scope) < Kind.CONSTANT
        if objects and is_static and isinstance(statement, ast.Assign) and not repeated and len(objects) == 1:
            target = statement.targets[0]
            attribute, made = objects[0]
            is_whole = isinstance(target, ast.Name) and self.texts.of(statement.value) == f"self.{attribute}"
            if is_whole and self._bindings[target.id] > 1:  # type: ignore[attr-defined]
                self._rebound.add(target.id)  # type: ignore[attr-defined]
            elif isinstance(target, ast.Name) and is_whole:
                self._attributes[target.id] = attribute
                comments = self.texts.statement(statement)[: statement.lineno - self.texts.first_line(statement)]
                return [*comments, f"self.{attribute} = {made}"], [], []
        init = [
            f"self.{attribute}.append({made})" if repeated else f"self.{attribute} = {made}"
            for attribute, made in objects
        ]
        lines = with_spaces(self.texts.with_comments(statement))
        if is_static and not objects and not isinstance(statement, ast.Return):
            return lines, lines, []
        return init, lines, [attribute for attribute, _ in objects] if repeated else []

    def _runs_updates(self, item: ast.withitem) -> bool:
        """Whether a scope waits for the updates of layers, which Keras's layers make by themselves."""
        return any(is_update_list(self.kinds, each) for each in ast.walk(item.context_expr))

    def _compound(self, statement: ast.For | ast.If, repeated: bool) -> tuple[list[str], list[str], list[str]]:
        test = statement.iter if isinstance(statement, ast.For) else statement.test
        if self.kinds.of(test, self.scope) >= Kind.CONSTANT:
            raise NotPossible(statement, "Whether a variable or a layer is made depends on a tensor")
        is_loop = isinstance(statement, ast.For)
        init, called, lists = self._parts(statement.body, repeated or is_loop)
        header = self._header(statement)
        init = [header, *indented(init)] if init else []
        called = [header, *indented(called or ["pass"])]
        if statement.orelse:
            other_init, other_called, other_lists = self._parts(statement.orelse, repeated or is_loop)
            if other_init:
                init = [*(init or [header, f"{INDENT}pass"]), "else:", *indented(other_init)]
            called += ["else:", *indented(other_called)]
            lists += other_lists
        if is_loop and not repeated:
            init = [*(f"self.{name} = []" for name in lists), *init]
            called = [*(f"{name} = iter(self.{name})" for name in lists), *called]
            lists = []
        return init, called, lists

    def _header(self, statement: ast.For | ast.If) -> str:
        if isinstance(statement, ast.If):
            return f"if {self.texts.of(statement.test)}:"
        return f"for {self.texts.of(statement.target)} in {self.texts.of(statement.iter)}:"


def _stored(name: str) -> str:
    """The attribute that keeps an argument."""
    return f"{name}_" if name in _RESERVED else name


def _lines(pieces: list[list[str]]) -> list[str]:
    """The lines of pieces that are listed from the last to the first, with empty lines around a function."""
    found: list[str] = []
    for piece in reversed(pieces):
        is_function = any(line.startswith("def ") for line in piece)
        if is_function and found and found[-1]:
            found.append("")
        found += [*piece, *[""] * is_function]
    return found[:-1] if found and not found[-1] else found


def _unmarked(text: str, names: Mapping[str, str]) -> str:
    """Write the marked names: as ``names`` has them, or as they are."""
    return re.sub(f"{MARK}(\\w+){MARK}", lambda found: names.get(found[1], found[1]), text)
