"""Lists of a graph's variables, ``tf.trainable_variables()`` and collections, as lists that are written out.

The scope of such a list is a regular expression, and names that it matches at their beginning are in the list.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from ....source.edits import Edit
from ....source.uses import FileUses
from .. import headers
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .kinds import Kind, Kinds, creates
from .statements import Item
from .texts import Texts

__all__ = [
    "VariableList",
    "has_layers",
    "is_local_list",
    "is_local_variable",
    "is_update_list",
    "matching_import",
    "variable_list",
    "variable_name",
    "written_out",
]

_TRAINABLE = frozenset(["tf.trainable_variables"])
_ALL = frozenset(["tf.global_variables", "tf.all_variables"])
_TRAINABLE_KEYS = frozenset(["TRAINABLE_VARIABLES"])
_ALL_KEYS = frozenset(["GLOBAL_VARIABLES", "VARIABLES"])
_LISTING = _TRAINABLE | _ALL | {"tf.get_collection"}
_SPECIAL = frozenset(r".^$*+?{}[]\|()")  # characters that mean something else in a regular expression
_MATCH = ".match("


@dataclasses.dataclass(frozen=True)
class VariableList:
    """A call that gives variables of the graph.

    Attributes:
        call: The call.
        trainable: Whether it gives the trainable ones alone.
        scope: The regular expression that the names of the variables begin with; None for all.
    """

    call: ast.Call
    trainable: bool
    scope: ast.expr | None


def variable_list(kinds: Kinds, node: ast.AST) -> VariableList | None:
    """Read ``tf.trainable_variables()`` and its like; None for anything else.

    Raises:
        NotPossible: It is given its arguments with stars.
    """
    if not isinstance(node, ast.Call):
        return None
    symbol, key = kinds.symbol(node.func), collection_key(kinds, node)
    is_trainable = symbol in _TRAINABLE or key in _TRAINABLE_KEYS
    if not is_trainable and symbol not in _ALL and key not in _ALL_KEYS:
        return None
    scope = arguments(node, ("scope",) if key is None else ("key", "scope")).get("scope")
    is_none = isinstance(scope, ast.Constant) and scope.value is None
    return VariableList(node, is_trainable, None if is_none else scope)


def collection_key(kinds: Kinds, node: ast.AST) -> str | None:
    """The key of ``tf.get_collection(tf.GraphKeys.KEY)``."""
    if not isinstance(node, ast.Call) or kinds.symbol(node.func) != "tf.get_collection" or not node.args:
        return None
    key = node.args[0]
    if isinstance(key, ast.Attribute):
        return key.attr
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value.upper()
    return ""


#: What the variables of layers are called.
_PARTS = frozenset("kernel bias gamma beta moving_mean moving_variance".split())


def variable_name(kinds: Kinds, node: ast.AST | None) -> str | None:
    """The name by which a call asks the graph for a variable of a layer; None for any other expression."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr not in ("get_tensor_by_name", "as_graph_element"):
        return None
    assert isinstance(node, ast.Call)
    graph = function.value.func if isinstance(function.value, ast.Call) else None
    name = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
    if kinds.symbol(graph) != "tf.get_default_graph" or not isinstance(name, str) or node.keywords:
        return None
    return name if name.endswith(":0") and name[:-2].rpartition("/")[2] in _PARTS else None


def is_update_list(kinds: Kinds, node: ast.AST) -> bool:
    """Whether a call gives the updates of batch normalisation, which Keras's layers make by themselves."""
    return collection_key(kinds, node) == "UPDATE_OPS"


def is_local_list(kinds: Kinds, node: ast.AST) -> bool:
    """Whether an expression lists all local variables of the graph."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if kinds.symbol(node.func) == "tf.local_variables":
        return not node.args
    return len(node.args) == 1 and collection_key(kinds, node) == "LOCAL_VARIABLES"


def is_local_variable(kinds: Kinds, call: ast.Call) -> bool:
    """Whether a call makes a variable that is in the collection of the local ones alone."""
    if creates(kinds.symbol(call.func)) != "variable":
        return False
    given = [each.value for each in call.keywords if each.arg == "collections"]
    return any(
        isinstance(each, ast.Attribute) and each.attr == "LOCAL_VARIABLES" for one in given for each in ast.walk(one)
    )


def written_out(
    kinds: Kinds,
    texts: Texts,
    found: VariableList,
    items: Iterable[Item],
    objects: Mapping[Item, list[tuple[str, str]]],
    scope: Mapping[str, Kind],
) -> str:
    """The list as an expression.

    Args:
        kinds, texts: Of the file.
        found: The list.
        items: The statements of the graph before it.
        objects: The layers and optimizers of each: name, and what it is.
        scope: The kinds of the names.
    """
    parts = list(_parts(kinds, found.trainable, items, objects, scope))
    everything = f"[{', '.join(parts)}]"
    if len(parts) == 1 and parts[0].startswith("*"):
        everything = parts[0][1:]
    if found.scope is None:
        return everything
    begin = found.scope
    if isinstance(begin, ast.Constant) and isinstance(begin.value, str) and not _SPECIAL & set(begin.value):
        return f"[each for each in {everything} if each.name.startswith({texts.of(begin)})]"
    return f"[each for each in {everything} if {_module(texts.file)}{_MATCH}{texts.of(begin)}, each.name)]"


def _module(file: FileUses) -> str:
    """The name of the module of regular expressions in a file."""
    return headers.free_name(file, "re", "re")


def matching_import(file: FileUses, lines: Iterable[str]) -> Iterator[Edit]:
    """Yield the import of the module of regular expressions, where new lines have lists that need it."""
    name = _module(file)
    if not any(f" if {name}{_MATCH}" in line for line in lines):
        return
    first = next(iter(headers.tensorflow_statements(file)))
    place = min(use.node.lineno for use in file.uses if use.name in _LISTING)
    imports = [each.statement for each in file.imports if each.bound == name and each.statement in file.tree.body]
    if not any(each.lineno < place for each in imports):
        statement = "import re" if name == "re" else f"import re as {name}"
        yield headers.insert_before(file, first, [headers.indentation(file, first) + statement])


def _parts(
    kinds: Kinds,
    trainable: bool,
    items: Iterable[Item],
    objects: Mapping[Item, list[tuple[str, str]]],
    scope: Mapping[str, Kind],
) -> Iterator[str]:
    items = list(items)
    for number, item in enumerate(items):
        if item not in objects and has_layers(kinds, item):
            if not any(has_layers(kinds, each) and each.reads & item.binds for each in items[number + 1 :]):
                yield f"*{_layer_name(item, scope)}.{'trainable_variables' if trainable else 'variables'}"
            continue
        for name, kind in objects.get(item, []):
            if kind == "variable":
                yield name
            elif kind in ("layer", "module"):
                yield f"*{name}.{'trainable_variables' if trainable else 'variables'}"
        if (
            item in objects
            or item.kind >= Kind.CONSTANT
            or not any(_is_variable(kinds, call, trainable) for call in _calls(item.statement, kinds))
        ):
            continue
        if not isinstance(item.statement, ast.Assign) or len(item.binds) != 1:
            raise NotPossible(item.statement, "Variables are made without a name, and listed")
        (name,) = item.binds
        if isinstance(item.statement.value, ast.Dict):
            yield f"*{name}.values()"
        else:
            yield name if scope.get(name) is Kind.VARIABLE else f"*{name}"


def has_layers(kinds: Kinds, item: Item) -> bool:
    """Whether a statement that is no part of requests makes layers of Keras or cells."""
    made = {creates(kinds.symbol(call.func)) for call in item.makers}
    return item.kind < Kind.CONSTANT and bool(made & {"keras layer", "cell"})


def _layer_name(item: Item, scope: Mapping[str, Kind]) -> str:
    names = sorted(item.binds)
    if not isinstance(item.statement, ast.Assign) or len(names) != 1 or scope.get(names[0]) is not Kind.VARIABLE:
        raise NotPossible(item.statement, "Layers are made without a name, and their variables are listed")
    return names[0]


def _calls(statement: ast.stmt, kinds: Kinds) -> Iterator[ast.Call]:
    """The calls in a statement, and in the functions that it calls."""
    seen: set[ast.AST] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        for node in ast.walk(stack.pop()):
            if isinstance(node, ast.Call):
                yield node
                function = kinds.functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
                if function is not None and function not in seen:
                    seen.add(function)
                    stack.append(function)


def _is_variable(kinds: Kinds, call: ast.Call, trainable: bool) -> bool:
    if creates(kinds.symbol(call.func)) != "variable" or (not trainable and is_local_variable(kinds, call)):
        return False
    is_step = (kinds.symbol(call.func) or "").endswith("global_step")
    is_trainable = not is_step and not any(
        each.arg == "trainable" and isinstance(each.value, ast.Constant) and not each.value.value
        for each in call.keywords
    )
    return is_trainable or not trainable
