"""Uses of a class's parts that keep it as it is: the port does not see them, or they mean more."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ....source.uses import FileUses
from ..requests.request import NotPossible, names_in
from .graph_class import SELF, GraphClass, self_attribute
from .kinds import creates, is_static_symbol
from .unit import PLACEHOLDERS

__all__ = ["check_class", "check_graph_wide"]

_LISTS = ("tf.get_collection", "tf.trainable_variables", "tf.global_variables", "tf.all_variables")
#: Names of TensorFlow that mean all that is in a graph: several objects have a graph each, where TensorFlow 1 had one.
_GRAPH_WIDE = frozenset(
    "tf.trainable_variables tf.global_variables tf.all_variables tf.train.get_or_create_global_step "
    "tf.train.create_global_step tf.summary.merge_all tf.AUTO_REUSE".split()
)
#: What a class has that decides on its attributes.
_SPECIAL = frozenset("__slots__ __getattr__ __getattribute__ __setattr__ __getstate__ __reduce__ __deepcopy__".split())


def _first_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes begins with; None for anything else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def check_graph_wide(file: FileUses, classes: Sequence[GraphClass]) -> None:
    """Refuse what means the whole graph, where objects of classes are not all that is in it.

    Raises:
        NotPossible: The program has such.
    """
    for use in file.uses:
        if use.symbol == "tf1sessions.porting.LegacySaver" and use.call is not None:
            raise NotPossible(use.node, f"A saver saves the variables of objects of {classes[0].node.name}")
    if len(classes) > 1 or _builds_besides(file, classes[0]):
        for each in classes:
            _check_scopes(each)
    if not _are_several(file, classes):
        return
    for use in file.uses:
        given = [] if use.call is None else [*use.call.args, *use.call.keywords]
        is_whole = use.name == "tf.get_collection" and len(given) == 1 and "UPDATE_OPS" not in ast.unparse(given[0])
        if (use.name in _GRAPH_WIDE and not given) or is_whole:
            raise NotPossible(use.node, f"{use.name} means the graph of several objects")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.keyword) and node.arg == "reuse":
            if not isinstance(node.value, ast.Constant) or node.value.value:
                raise NotPossible(node.value, "Variables are used again that another object may have made")


def _are_several(file: FileUses, classes: Sequence[GraphClass]) -> bool:
    """Whether the graph has more than one object of one class."""
    names = {each.node.name for each in classes}
    made = [node for node in ast.walk(file.tree) if isinstance(node, ast.Name) and node.id in names]
    if len(classes) != 1 or len(made) != 1 or _is_repeated(file, made[0]):
        return True
    return _builds_besides(file, classes[0])


def _builds_besides(file: FileUses, found: GraphClass) -> bool:
    """Whether the module makes variables or placeholders besides a class."""
    inside = set(ast.walk(found.node))
    functions = {each for each in ast.walk(file.tree) if isinstance(each, ast.FunctionDef)}
    for use in file.uses:
        around = list(file.around(use.node))
        if use.call is None or use.node in inside or any(each in functions for each in around):
            continue
        if creates(use.name) is not None or use.name in PLACEHOLDERS:
            return True
    return False


def _check_scopes(found: GraphClass) -> None:
    """Refuse lists of variables of a scope, unless the class has that scope itself: they may be of another object."""
    own = {
        node.args[0].value.partition("/")[0]
        for statement in found.statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and found.symbols.get(node.func) in ("tf.variable_scope", "tf.name_scope")
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    }
    for node in [one for statement in found.statements for one in ast.walk(statement)]:
        if isinstance(node, ast.Call) and found.symbols.get(node.func) in _LISTS:
            named = [each.value for each in node.keywords if each.arg == "scope"]
            by_position = node.args[0 if found.symbols[node.func] != "tf.get_collection" else 1 :]
            for scope in [*by_position[:1], *named]:
                text = scope.value if isinstance(scope, ast.Constant) and isinstance(scope.value, str) else ""
                if text.partition("/")[0] not in own:
                    raise NotPossible(node, "Variables are listed that may be of another object")


def _is_repeated(file: FileUses, node: ast.AST) -> bool:
    repeating = ast.For | ast.While | ast.FunctionDef | ast.Lambda | ast.comprehension | ast.ListComp | ast.GeneratorExp
    return any(isinstance(each, repeating) for each in file.around(node))


def check_class(found: GraphClass) -> None:
    """Refuse a class.

    Raises:
        NotPossible: It does something with the graph that would mean something else, or nothing, afterwards.
    """
    name = found.node.name
    for each in ast.walk(found.file.tree):
        if isinstance(each, ast.ClassDef) and name in names_in(each.bases):
            raise NotPossible(each, f"{name}, which builds a part of the graph, has a class that is made of it")
    if any(not isinstance(each, ast.Name) or each.id != "object" for each in found.node.bases):
        raise NotPossible(found.node, f"{name}, which builds a part of the graph, is made of another class")
    functions = [each.name for each in found.node.body if isinstance(each, ast.FunctionDef)]
    if len(found.file.bound.get(name, [])) > 1 or len(functions) != len(set(functions)):
        raise NotPossible(found.node, f"{name}, which builds a part of the graph, or a method of it is defined twice")
    if found.node.decorator_list or _SPECIAL & {*found.methods, *_names(found.node, ast.Store)}:
        raise NotPossible(found.node, f"{name}, which builds a part of the graph, has attributes of a special kind")
    for each in [node for statement in found.statements for node in ast.walk(statement)]:
        if isinstance(each, ast.Return):
            raise NotPossible(each, "__init__() may end before it has built everything")
    lines = [(each.lineno, each.end_lineno or 0) for each in found.statements]
    if any(one[1] >= other[0] for one, other in itertools.pairwise(sorted(lines))):
        raise NotPossible(found.init, "Two statements are on one line")
    _check_attributes(found)
    _check_names(found)
    _check_methods(found)
    for each in ast.walk(found.node):
        if isinstance(each, ast.JoinedStr):
            if any(self_attribute(node) in found.attributes for node in ast.walk(each)):
                raise NotPossible(each, "An f-string has something of the graph in it")


def _check_attributes(found: GraphClass) -> None:
    """Refuse what reads or sets attributes of the graph outside of the class, or sets them elsewhere in it."""
    building = {node for each in found.statements for node in ast.walk(each)}
    own = set(ast.walk(found.node))
    for each in ast.walk(found.file.tree):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in ("getattr", "vars"):
            if each in own and any(isinstance(one, ast.Name) and one.id == SELF for one in each.args):
                raise NotPossible(each, f"{found.node.name} is asked for an attribute whose name is computed")
        if not isinstance(each, ast.Attribute) or each.attr not in found.attributes | found.sessions:
            continue
        if self_attribute(each) is None:
            if _first_name(each) not in found.file.imported:
                what = f"{each.attr!r}, a part of the graph of {found.node.name}, is used outside of that class"
                raise NotPossible(each, what)
        elif each in own and not isinstance(each.ctx, ast.Load) and each not in building:
            if each.attr in found.attributes or found.init not in found.file.around(each):
                raise NotPossible(each, f"{each.attr!r}, a part of the graph, is set elsewhere than in __init__()")


def _check_names(found: GraphClass) -> None:
    """Refuse methods that cannot be put into one function: a name in one would be another one's."""
    scopes = [found.init, *found.inlined]
    for one, other in itertools.permutations(scopes, 2):
        both = _names(one, ast.Store) & (_names(other, ast.Load) | _names(other, ast.Store))
        if found.init not in (one, other):
            both -= _names(other, ast.Store)
        if both:
            raise NotPossible(one, f"{one.name}() has the name {min(both)!r}, as {other.name}() has")


def _names(node: ast.FunctionDef | ast.ClassDef, context: type[ast.expr_context]) -> set[str]:
    """The names that are read or bound in a function or a class; a parameter is bound."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}
    if context is ast.Store:
        found |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return found - {SELF}


def _check_methods(found: GraphClass) -> None:
    """Refuse methods that build, that write summaries, or that ``__init__`` uses before the requests have functions."""
    others = [each for each in found.node.body if each is not found.init and each not in found.inlined]
    requests = frozenset(found.requests)
    for node in [one for each in others for one in ast.walk(each)]:
        symbol = found.symbols.get(node.func, "") if isinstance(node, ast.Call) else ""
        if symbol.startswith("tf.") and not is_static_symbol(symbol):
            raise NotPossible(node, f"A method of {found.node.name} builds a part of the graph where it is called")
        if isinstance(node, ast.Attribute) and node.attr == "add_summary":
            raise NotPossible(node, f"A method of {found.node.name} writes summaries")
        if self_attribute(node) in found.attributes and not _is_of_request(found, node, requests):
            what = f"{self_attribute(node)!r}, a part of the graph, is used outside of a request"
            raise NotPossible(node, what)
    requesting = _requesting(found)
    for node in [one for each in found.statements for one in ast.walk(each)]:
        if self_attribute(node) in requesting:
            raise NotPossible(node, f"__init__() uses {self_attribute(node)}(), which makes requests")


def _is_of_request(found: GraphClass, node: ast.AST, requests: frozenset[ast.Call]) -> bool:
    """Whether an attribute is fetched or fed by a request, or a key of a dict, which feeds."""
    parent = found.file.parents[node]
    if isinstance(parent, ast.Dict) and node in parent.keys:
        return True
    if isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "get_shape", "name"):
        return True
    around = itertools.takewhile(lambda each: not isinstance(each, ast.stmt), found.file.around(node))
    return any(each in requests for each in around)


def _requesting(found: GraphClass) -> set[str]:
    """The names of the methods that make requests, and of those that call these."""
    direct = set(found.requests)
    names = {name for name, method in found.methods.items() if any(each in direct for each in ast.walk(method))}
    size = -1
    while size != (size := len(names)):
        names |= {
            name
            for name, method in found.methods.items()
            if any(self_attribute(each) in names for each in ast.walk(method))
        }
    return names - {"__init__"}
