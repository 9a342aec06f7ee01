"""Readers of files: what reads with them, and the data sets of their records."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ....source.uses import FileUses
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .calls import READERS, is_literal

__all__ = ["Read", "reads_of"]

_Function = ast.FunctionDef


@dataclasses.dataclass(frozen=True, eq=False)
class Read:
    """A statement that takes a record from a queue of file names: ``key, value = reader.read(queue)``.

    Attributes:
        statement: The statement.
        queue: The name of the queue.
        key, value: The names that it binds; the key may have none.
        symbol: Of the reader: ``"tf.TextLineReader"``.
        made: The call that makes the reader.
        function: The function that it is in; None for the module.
    """

    statement: ast.Assign
    queue: ast.Name
    key: str
    value: str
    symbol: str
    made: ast.Call
    function: _Function | None

    def records(self, file: FileUses, tensorflow: str) -> str:
        """Return the method that makes records of names, ``.flat_map(tf.data.TFRecordDataset)``, if one is needed."""
        given = arguments(self.made, READERS[self.symbol])
        source = file.positions.source
        if self.symbol == "tf.WholeFileReader":
            return ""
        if self.symbol == "tf.TFRecordReader":
            if not is_literal(given.get("options"), None):
                raise NotPossible(self.made, "A TFRecordReader has options")
            return f".flat_map({tensorflow}.data.TFRecordDataset)"
        if self.symbol == "tf.TextLineReader":
            lines, skipped = f"{tensorflow}.data.TextLineDataset", given.get("skip_header_lines")
            if is_literal(skipped, None, 0):
                return f".flat_map({lines})"
            assert skipped is not None
            return f".flat_map(lambda name: {lines}(name).skip({source(skipped)}))"
        if "hop_bytes" in given:
            raise NotPossible(self.made, "A FixedLengthRecordReader hops")
        sizes = [source(given["record_bytes"])]
        sizes += [f"{name}={source(given[name])}" for name in ("header_bytes", "footer_bytes") if name in given]
        return f".flat_map(lambda name: {tensorflow}.data.FixedLengthRecordDataset(name, {', '.join(sizes)}))"


def reads_of(file: FileUses) -> list[Read]:
    """Return all reads of records in a file.

    Raises:
        NotPossible: A reader is used in another way.
    """
    makers = {use.call: use.name for use in file.uses if use.call and use.name in READERS}
    found: list[Read] = []
    for call, symbol in makers.items():
        parent = file.parents[call]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
            scope = _function(file, parent)
            places = [
                node
                for node in ast.walk(scope or file.tree)
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ]
            if not places:
                raise NotPossible(call, "A reader is used in a way that is not known")
            methods = [file.parents[place] for place in places]
        else:
            methods = [parent]
        for method in methods:
            if not (isinstance(method, ast.Attribute) and method.attr == "read"):
                raise NotPossible(call, "A reader is used in a way that is not known")
            found.append(_read(file, method, symbol, call))
    return found


def _read(file: FileUses, method: ast.Attribute, symbol: str, made: ast.Call) -> Read:
    call = file.parents[method]
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        raise NotPossible(method, "A reader reads from something that has no name")
    taken = file.parents[call]
    key = value = ""
    if isinstance(taken, ast.Assign) and len(taken.targets) == 1:
        names = list(_names(taken.targets[0]))
        if len(names) == 2:
            key, value = names
        statement: ast.AST = taken
    elif isinstance(taken, ast.Subscript) and is_literal(taken.slice, 1):
        statement = file.parents[taken]
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            names = list(_names(statement.targets[0]))
            value = names[0] if len(names) == 1 else ""
    if not value or not isinstance(statement, ast.Assign):
        raise NotPossible(call, "What a reader gives is not given two names")
    return Read(statement, call.args[0], key, value, symbol, made, _function(file, statement))


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _names(each)


def _function(file: FileUses, node: ast.AST) -> _Function | None:
    return next((each for each in file.around(node) if isinstance(each, _Function)), None)
