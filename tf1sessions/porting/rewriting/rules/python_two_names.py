"""Names, attributes and methods that only Python 2 has, in any file, where nothing else has the name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from ..renames import text_of
from ..rule import Change, Remark, Rule
from ..scopes import defines_method, is_bound, is_free, is_guarded

__all__ = ["RULE", "find", "find_builtins"]

#: Builtin -> its new name, and the import that this needs.
_BUILTINS = {
    "StandardError": ("Exception", ""), "basestring": ("str", ""), "file": ("open", ""),
    "intern": ("sys.intern", "import sys"), "long": ("int", ""), "raw_input": ("input", ""),
    "reduce": ("functools.reduce", "import functools"), "reload": ("importlib.reload", "import importlib"),
    "unichr": ("chr", ""), "unicode": ("str", ""), "xrange": ("range", ""),
}  # fmt: skip
_GONE = {
    "cmp": "cmp(a, b) is (a > b) - (a < b).",
    "buffer": "buffer(x) is memoryview(x), of bytes.",
    "coerce": "coerce() is gone: convert the numbers.",
}
_NAMES = frozenset([*_BUILTINS, *_GONE, "execfile", "apply"])
_METHODS = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values",
            "viewitems": "items", "viewkeys": "keys", "viewvalues": "values"}  # fmt: skip
_OF_FUNCTIONS = {
    "func_closure": "__closure__", "func_code": "__code__", "func_defaults": "__defaults__", "func_doc": "__doc__",
    "func_globals": "__globals__", "func_name": "__name__", "im_func": "__func__", "im_self": "__self__",
}  # fmt: skip
_FUNCTION_NAMES = frozenset(["f", "fn", "fun", "func", "function", "method", "callback", "wrapped"])
_DEFINED = {"__nonzero__": "__bool__"}
_NOT_CALLED = {
    "__cmp__": "Python 3 does not ask __cmp__: define __eq__ and __lt__.",
    "__getslice__": "Python 3 does not ask __getslice__: __getitem__ gets a slice.",
    "__div__": "Python 3 asks __truediv__ for a / b, not __div__.",
}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of Python 2 in a file."""
    yield from find_builtins(file)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute):
            yield from _attribute(file, node)
        elif isinstance(node, ast.FunctionDef) and isinstance(file.parents.get(node), ast.ClassDef):
            yield from _method(file, node)
        elif isinstance(node, ast.Raise):
            yield from _stop(file, node)
    yield from _default_encoding(file)


def find_builtins(file: FileUses) -> Iterator[Change | Remark]:
    """Find the builtins of Python 2. A file that uses one in no branch for Python 2 is Python 2."""
    found = [chain for name, chains in file.chains.items() if name in _NAMES for chain in chains]
    for chain in sorted(found, key=lambda each: (each.lineno, each.col_offset)):
        node: ast.expr = chain
        while isinstance(node, ast.Attribute):
            node = node.value
        assert isinstance(node, ast.Name)
        name = node.id
        if not is_free(file, node) or _has_stars(file, name) or is_guarded(file, node, "NameError"):
            continue
        call = file.calls.get(node)
        if name in _BUILTINS:
            yield from _renamed(file, node, call)
        elif call is not None and (text := _rewritten(file, name, call)) is not None:
            yield Change(node, f"{name}(): {text}", (file.positions.replace(call, text),))
        elif name in _GONE:
            yield Remark(node, _GONE[name])


def _has_stars(file: FileUses, name: str) -> bool:
    """Whether a star import may bind a name that programs also define themselves."""
    return name not in ("xrange", "unicode", "basestring", "raw_input", "unichr") and any(
        each.bound == "*" for each in file.imports
    )


def _renamed(file: FileUses, node: ast.Name, call: ast.Call | None) -> Iterator[Change | Remark]:
    new, statement = _BUILTINS[node.id]
    if node.id == "reload" and call is not None and _is_sys(file, call):
        return  # goes with sys.setdefaultencoding()
    if node.id == "file" and call is None:
        yield Remark(node, "The type file is gone: io.IOBase is the type of files.")
        return
    if is_bound(file, new) and not statement:
        new, statement = f"builtins.{new}", "import builtins"
    imports = (statement,) if statement else ()
    whole = _pair_of(file, node, new) or node
    yield Change(node, f"{node.id}: {new}", (file.positions.replace(whole, new),), imports)


def _pair_of(file: FileUses, node: ast.Name, new: str) -> ast.Tuple | None:
    """``(str, unicode)`` in a call of isinstance: it becomes one name."""
    pair = file.parents.get(node)
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        return None
    call = file.parents.get(pair)
    is_asked = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
    others = [each for each in pair.elts if isinstance(each, ast.Name) and each.id == new]
    return pair if is_asked and others else None


def _rewritten(file: FileUses, name: str, call: ast.Call) -> str | None:
    """A call of cmp, execfile or apply in the words of Python 3; None where it takes something else."""
    if call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    texts = [file.positions.source(each) for each in call.args]
    if name == "cmp" and len(texts) == 2:
        plain = (ast.Name, ast.Attribute, ast.Constant)
        simple = [each.value if isinstance(each, ast.Subscript) else each for each in call.args]
        if all(isinstance(each, plain) for each in simple):
            return f"(({texts[0]} > {texts[1]}) - ({texts[0]} < {texts[1]}))"
    if name == "execfile" and 1 <= len(texts) <= 3:
        rest = "".join(f", {text}" for text in texts[1:])
        return f'exec(compile(open({texts[0]}, "rb").read(), {texts[0]}, "exec"){rest})'
    if name == "apply" and 2 <= len(texts) <= 3:
        rest = f", **{text_of(file, call.args[2], tight=True)}" if len(texts) == 3 else ""
        return f"{text_of(file, call.args[0], tight=True)}(*{text_of(file, call.args[1], tight=True)}{rest})"
    return None


# -- attributes -------------------------------------------------------------------------------------------------------


def _attribute(file: FileUses, node: ast.Attribute) -> Iterator[Change | Remark]:
    call = file.calls.get(node)
    if node.attr in (*_METHODS, "has_key") and defines_method(file, node.attr):
        return
    if node.attr in _METHODS and call is not None and not call.args and not call.keywords:
        if not is_guarded(file, node, "AttributeError"):
            yield _with_attribute(file, node, _METHODS[node.attr])
    elif node.attr == "has_key" and call is not None and len(call.args) == 1 and not call.keywords:
        yield _has_key(file, node, call)
    elif node.attr in _OF_FUNCTIONS and isinstance(node.ctx, ast.Load) and _is_function(file, node.value):
        yield _with_attribute(file, node, _OF_FUNCTIONS[node.attr])


def _is_function(file: FileUses, node: ast.expr) -> bool:
    """Whether an expression is a function: one of the file, or a parameter that has the name of one."""
    if not isinstance(node, ast.Name):
        return False
    bound = file.bound.get(node.id, ())
    return bool(bound) and all(
        isinstance(each, ast.FunctionDef) or (isinstance(each, ast.arg) and node.id in _FUNCTION_NAMES)
        for each in bound
    )


def _with_attribute(file: FileUses, node: ast.Attribute, new: str) -> Change:
    end = file.positions.span(node)[1]
    return Change(node, f".{node.attr}: .{new}", (Edit(end - len(node.attr), end, new),))


def _has_key(file: FileUses, node: ast.Attribute, call: ast.Call) -> Change:
    """``d.has_key(k)``: ``k in d``, in brackets where an operator stands beside it."""
    key, owner = call.args[0], node.value
    weak = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.Compare, ast.NamedExpr, ast.Tuple, ast.GeneratorExp)
    key_text = file.positions.source(key)
    if isinstance(key, weak) or "\n" in key_text:
        key_text = f"({key_text})"
    parent = file.parents.get(call)
    whole: ast.expr = call
    word = "in"
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        whole, word = parent, "not in"
        parent = file.parents.get(parent)
    text = f"{key_text} {word} {text_of(file, owner, tight=True)}"
    free = (ast.If, ast.While, ast.IfExp, ast.Assert, ast.Return, ast.Assign, ast.BoolOp, ast.comprehension, ast.Expr,
            ast.Lambda)  # fmt: skip
    in_call = isinstance(parent, ast.Call) and parent.func is not whole
    if not isinstance(parent, free) and not in_call:
        text = f"({text})"
    return Change(call, ".has_key(): in", (file.positions.replace(whole, text),))


def _method(file: FileUses, node: ast.FunctionDef) -> Iterator[Change | Remark]:
    names = {each.name for each in getattr(file.parents[node], "body", []) if isinstance(each, ast.FunctionDef)}
    if node.name in _DEFINED and _DEFINED[node.name] not in names:
        start = file.positions.span(node)[0]
        found = re.compile(rf"def\s+({node.name})").search(file.source.text, start)
        assert found is not None
        new = _DEFINED[node.name]
        yield Change(node, f"{node.name}: {new}", (Edit(found.start(1), found.end(1), new),))
    elif node.name in _NOT_CALLED and not {"__eq__", "__truediv__", "__getitem__"} & names:
        yield Remark(node, _NOT_CALLED[node.name])


# -- statements -------------------------------------------------------------------------------------------------------


def _stop(file: FileUses, node: ast.Raise) -> Iterator[Change]:
    """``raise StopIteration`` in a generator ended it up to Python 3.6, and is a RuntimeError now."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) and not node.exc.args else node.exc
    if not (isinstance(raised, ast.Name) and raised.id == "StopIteration" and is_free(file, raised)) or node.cause:
        return
    function: ast.AST | None = node
    while function is not None and not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(function := file.parents.get(function), ast.Try):
            return
    if isinstance(function, ast.FunctionDef) and _is_generator(function):
        yield Change(node, "raise StopIteration in a generator: return", (file.positions.replace(node, "return"),))


def _is_generator(function: ast.FunctionDef) -> bool:
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(node)
    return False


def _is_sys(file: FileUses, call: ast.Call) -> bool:
    return bool(call.args) and _means_sys(file, call.args[0])


def _means_sys(file: FileUses, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and file.meanings.get(node.id) == "sys"


def _default_encoding(file: FileUses) -> Iterator[Change]:
    """``reload(sys); sys.setdefaultencoding("utf8")``: Python 3 has that encoding, and no such function."""
    if "setdefaultencoding" not in file.source.text:
        return
    for function, call in file.calls.items():
        statement = file.parents.get(call)
        if not isinstance(statement, ast.Expr):
            continue
        if isinstance(function, ast.Attribute):
            is_one = function.attr == "setdefaultencoding" and _means_sys(file, function.value)
        else:
            is_one = isinstance(function, ast.Name) and function.id == "reload" and is_free(file, function)
            is_one = is_one and _is_sys(file, call)
        if is_one and not is_guarded(file, statement, "NameError"):
            yield Change(call, "sys.setdefaultencoding(): nothing, Python 3 is UTF-8", (_without(file, statement),))


def _without(file: FileUses, statement: ast.stmt) -> Edit:
    """Take a statement out with its line, or put ``pass`` in its place."""
    start, end = file.positions.span(statement)
    first, after = (
        file.positions.line_start(statement.lineno),
        file.positions.line_start((statement.end_lineno or 0) + 1),
    )
    alone = not file.source.text[first:start].strip() and not file.source.text[end:after].strip()
    block = next((body for name in ("body", "orelse", "finalbody") if statement in
                  (body := getattr(file.parents[statement], name, None) or [])), [])  # fmt: skip
    return Edit(first, after, "") if alone and len(block) > 2 else Edit(start, end, "pass")


RULE = Rule("python-2-names", "Gives builtins, attributes and methods of Python 2 their names of Python 3.", find)
