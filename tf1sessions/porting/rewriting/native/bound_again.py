"""Names that a program binds again, before the graphs of a file are read: each value has a name of its own.

A graph has the value of the time when it was built; a function of TensorFlow 2 reads the name when it is called::

    with legacy:                                    with legacy:
        w = tf.Variable(1.0)                            w = tf.Variable(1.0)
        first = w * 2                                   first = w * 2
    with legacy:                        ──▶         with legacy:
        w = tf.Variable(2.0)                            w_2 = tf.Variable(2.0)
        second = w * 2                                  second = w_2 * 2
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from .edited import edited
from .kinds import is_static_symbol

__all__ = ["with_own_names"]

_GRAPH = "tf1sessions.porting.LegacyGraph"


def with_own_names(file: FileUses) -> FileUses:
    """Return a file in which no name of a graph of the module is bound twice; the file itself where none is.

    A name that a function, a loop or a condition reads or binds out of this order keeps its values.
    """
    if file.source.notebook is not None:
        return file
    symbols = {use.node: use.name for use in file.uses}
    functions = {each.name for each in file.tree.body if isinstance(each, ast.FunctionDef)}

    def computes(statement: ast.stmt) -> bool:
        calls = [each.func for each in ast.walk(statement) if isinstance(each, ast.Call)]
        named = [symbols.get(each) or (each.id if isinstance(each, ast.Name) else "") for each in calls]
        return any(each in functions or (each.startswith("tf") and not is_static_symbol(each)) for each in named)

    blocks = list(_blocks(file))
    graphs = [name for name, _ in blocks]
    inside = {id(node) for _, block in blocks for node in ast.walk(block)}
    edits: list[Edit] = []
    for name, binders in file.bound.items():
        is_graph = name in graphs or any(id(each) in inside and computes(file.statement(each)) for each in binders)
        if len(binders) > 1 and is_graph and name not in file.names_in_texts:
            edits += _edits(file, name, binders)
    return edited(file, edits)


def _blocks(file: FileUses) -> Iterator[tuple[str, ast.With]]:
    """The blocks of the module that build graphs, with the graph's name."""
    made = [file.parents[use.call] for use in file.uses if use.symbol == _GRAPH and use.call is not None]
    targets = [each.targets[0] for each in made if isinstance(each, ast.Assign)]
    names = {each.id for each in targets if isinstance(each, ast.Name)}
    for each in file.tree.body:
        if isinstance(each, ast.With) and isinstance(each.items[0].context_expr, ast.Name):
            if each.items[0].context_expr.id in names:
                yield each.items[0].context_expr.id, each


def _edits(file: FileUses, name: str, binders: list[ast.AST]) -> list[Edit]:
    """The edits that name the second value and those after it; none where their order is not that of the text."""
    binders = [each for each in binders if not _is_own(file, each, name)]
    starts = [_start(file, each) for each in binders]
    uses = [each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == name]
    uses = [each for each in uses if not _is_own(file, each, name)]
    stores = [each for each in uses if not isinstance(each.ctx, ast.Load)]
    if None in starts or len(stores) != len(binders) or any(_is_read_later(file, each) for each in uses):
        return []
    if any(isinstance(each, ast.Global) and name in each.names for each in ast.walk(file.tree)):
        return []
    ends = _versions(file, [(each, binder) for each, binder in zip(starts, binders, strict=True) if each is not None])
    if len(ends) < 2:
        return []
    edits = []
    for each in uses:
        at, _ = file.positions.span(each)
        is_load = isinstance(each.ctx, ast.Load)
        number = sum(end <= at for end in ends) if is_load else sum(end <= _end(file, each) for end in ends)
        if number > 1:
            edits.append(file.positions.replace(each, _name(file, name, number)))
    return edits


def _versions(file: FileUses, starts: list[tuple[int, ast.AST]]) -> list[int]:
    """From where on each value counts that is not bound in the same part of the graph as the one before it."""
    found: list[int] = []
    last: ast.AST | None = None
    for start, binder in sorted(starts, key=lambda each: each[0]):
        part = [binder, *file.around(binder)][-2]  # the statement of the module
        if part is not last or not isinstance(part, ast.With):
            found.append(start)
        last = part
    return found


def _is_own(file: FileUses, node: ast.AST, name: str) -> bool:
    """Whether a node is in a function that has the name for itself: as a parameter, or as a local variable."""
    for each in [node, *file.around(node)]:
        if isinstance(each, ast.FunctionDef | ast.Lambda):
            names = {one.arg for one in ast.walk(each.args) if isinstance(one, ast.arg)}
            inside = [one for one in ast.walk(each) if isinstance(one, ast.Name) and one.id == name]
            if name in names or any(isinstance(one.ctx, ast.Store) for one in inside):
                return True
    return False


def _start(file: FileUses, binder: ast.AST) -> int | None:
    """From where on a binding counts, if it is an assignment in a straight line of the module: behind it."""
    for each in file.around(binder):
        if isinstance(each, ast.Assign):
            return None if _is_repeated(file, each) else file.positions.span(each)[1]
        if not isinstance(each, ast.Tuple | ast.List):
            return None
    return None


def _end(file: FileUses, name: ast.Name) -> int:
    return file.positions.span(file.statement(name))[1]


def _is_repeated(file: FileUses, statement: ast.stmt) -> bool:
    """Whether a statement may run several times, or not at all."""
    return not all(isinstance(each, ast.With | ast.Module) for each in file.around(statement))


def _is_read_later(file: FileUses, use: ast.Name) -> bool:
    """Whether a function or an f-string reads a name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.JoinedStr)
    return any(isinstance(each, kinds) for each in file.around(use))


def _name(file: FileUses, name: str, number: int) -> str:
    new = f"{name}_{number}"
    while file.taken(new):
        new += "_"
    return new
