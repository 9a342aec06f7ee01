"""The statements between a queue and its batches: what computes one element, to be the function of a ``map``."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping

from ....source.uses import FileUses, bodies
from ..native.kinds import bound_names, names_read
from ..requests.arguments import arguments
from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible
from .batchers import BatchFunction, batchers, queue_functions
from .calls import BATCHES, PRODUCERS, UNKNOWN, tensors_of
from .readers import Read

__all__ = ["ElementSource", "Elements", "elements_of"]

#: Not once for each element: what is made once, shown, or run.
_LEAVING = (ast.Return, ast.Yield, ast.Global, ast.Nonlocal, ast.Break, ast.Continue)
_NOT_MAPPED = ("tf.get_variable", "tf.Variable", "tf.summary.", "tf.layers.", "tf.placeholder", "tf.Session")


@dataclasses.dataclass(frozen=True, eq=False)
class ElementSource:
    """A statement after which there is an element, or a queue of names to read from.

    Attributes:
        statement: The statement; or a function that is given a queue to read from it.
        call: The call that is made a data set; in such a function, that which reads.
        names: What it binds: the queue, or the parts of an element.
        is_whole: Whether one name stands for all parts, as the list that slice_input_producer() gives.
        is_queue: Whether it is a queue that something reads from.
    """

    statement: ast.stmt
    call: ast.Call
    names: tuple[str, ...]
    is_whole: bool
    is_queue: bool


@dataclasses.dataclass(eq=False)
class Elements:
    """The form of a source's elements after the step.

    Attributes:
        source: The source.
        scope: The function that it is in, or the module.
        read: The read of a record in the same scope.
        through: The call of a function that reads from the queue, and that queue as its argument.
        moved: The statements that compute one element.
        batches: The calls that make batches.
        returns: The statement that returns an element.
        batcher: The function that is given an element to make batches of it, and that call.
        before: The statement before which the data set has to be there.
    """

    source: ElementSource
    scope: ast.Module | ast.FunctionDef
    read: Read | None = None
    through: tuple[ast.FunctionDef, ast.Name] | None = None
    moved: list[ast.stmt] = dataclasses.field(default_factory=list)
    batches: list[ast.Call] = dataclasses.field(default_factory=list)
    returns: ast.Return | None = None
    batcher: tuple[BatchFunction, ast.Call] | None = None
    before: ast.stmt | None = None

    @property
    def ends(self) -> list[ast.expr]:
        """The expressions that are one element, at the places where that is used up."""
        if self.returns is not None:
            assert self.returns.value is not None
            return [self.returns.value]
        if self.batcher is not None:
            batcher, call = self.batcher
            given = arguments(call, [each.arg for each in batcher.function.args.args])
            return [ast.Tuple([given[name] for name in batcher.parts], ast.Load())]
        return [tensors for call in self.batches if (tensors := tensors_of(call)) is not None]


def elements_of(
    file: FileUses, source: ElementSource, reads: list[Read], by_queue: Mapping[ast.FunctionDef, Read]
) -> Elements:
    """Follow the elements of a source to where they become batches, or are returned.

    Args:
        file: The file.
        source: The source.
        reads: All reads in the file.
        by_queue: The functions that read from a queue which they are given.

    Raises:
        NotPossible: They are used in a way that has no equal with tf.data.
    """
    around = [source.statement, *file.around(source.statement)]
    scope = next(each for each in around if isinstance(each, ast.FunctionDef | ast.Module))
    return _Follower(file, Elements(source, scope), reads, by_queue).follow()


class _Follower:
    def __init__(
        self, file: FileUses, found: Elements, reads: list[Read], by_queue: Mapping[ast.FunctionDef, Read]
    ) -> None:
        self._file = file
        self._found = found
        self._reads = {each.statement: each for each in reads}
        self._batchers = batchers(file)
        self._elsewhere = queue_functions(file)
        self._by_queue = {function.name: function for function in by_queue}
        self._symbols = {use.call: use.name for use in file.uses if use.call}
        self._names = set(found.source.names)  # of elements, or parts of them
        self._queue = found.source.names[0] if found.source.is_queue else ""

    def follow(self) -> Elements:
        found = self._found
        for statement in self._following(found.source.statement):
            self._step(statement)
        if not found.batches and found.returns is None and found.batcher is None:
            raise NotPossible(found.source.call, "The elements of a queue are used one by one")
        if found.batches and found.returns is not None:
            raise NotPossible(found.returns, "An element is returned besides batches")
        if self._queue and found.read is None and found.through is None:
            raise NotPossible(found.source.call, "A queue of names is not read from here")
        if len({ast.dump(each) for each in found.ends}) > 1:
            raise NotPossible(found.batches[1], "Batches are made of different parts of an element")
        self._check_names()
        return found

    def _following(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """The statements that follow another one in its scope, those in ``with`` blocks one by one if need be."""
        if isinstance(statement, ast.FunctionDef):
            for each in statement.body:
                yield from self._opened(each)
            return
        node: ast.AST = statement
        while True:
            parent = self._file.parents[node]
            body = next(body for body in bodies(parent) if node in body)
            for each in body[body.index(node) + 1 :]:  # type: ignore[arg-type]
                yield from self._opened(each)
            if not isinstance(parent, ast.With):
                return
            node = parent

    def _opened(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """A statement, or those in it if it is a ``with`` block in which elements are read or used up."""
        if isinstance(statement, ast.With) and any(self._is_end(each) for each in ast.walk(statement)):
            for each in statement.body:
                yield from self._opened(each)
        else:
            yield statement

    def _is_end(self, node: ast.AST) -> bool:
        return node in self._reads or isinstance(node, ast.Return) or self._is_batch(node)

    def _is_batch(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._symbols.get(node) in BATCHES

    def _step(self, statement: ast.stmt) -> None:
        found = self._found
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) or not names_read(statement) & self._names:
            self._names -= bound_names(statement)
            return
        if statement in self._reads:
            if found.read is not None or found.through is not None or found.source.names[0] != self._queue:
                raise NotPossible(statement, "A queue is read from in several places")
            found.read = self._reads[statement]
            self._names |= {found.read.value, found.read.key} - {""}
            return
        batches = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and self._is_batch(each)]
        mine = [call for call in batches if names_read(call) & self._names]
        if mine:
            self._use_up(statement, mine)
        elif (call := self._batcher_call(statement)) is not None:
            self._give(statement, call)
        elif isinstance(statement, ast.Return):
            if found.returns is not None or not isinstance(self._found.scope, ast.FunctionDef):
                raise NotPossible(statement, "Elements of a queue are returned in several places")
            found.returns = found.before = statement
        elif found.batches or found.returns or found.batcher:
            raise NotPossible(statement, "An element is used besides in batches")
        else:
            self._move(statement)

    def _batcher_call(self, statement: ast.stmt) -> ast.Call | None:
        """The call of a function that makes batches of elements, in a statement."""
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self._batchers:
                return call
        return None

    def _give(self, statement: ast.stmt, call: ast.Call) -> None:
        """Note that a function is given an element, to make batches of it."""
        found = self._found
        assert isinstance(call.func, ast.Name)
        batcher = self._batchers[call.func.id]
        given = arguments(call, [each.arg for each in batcher.function.args.args])
        others = [value for name, value in given.items() if name not in batcher.parts]
        inside = {id(node) for node in ast.walk(call)}
        others += [node for node in ast.walk(statement) if isinstance(node, ast.Name) and id(node) not in inside]
        is_known = batcher.parts and given.keys() >= set(batcher.parts) and not (found.batches or found.batcher)
        if not is_known or any(names_read(each) & self._names for each in others if not _is_stored(each)):
            raise NotPossible(call, f"{call.func.id}() makes batches in a way that is not known")
        if self._queue:
            self._call_reader(call)
        found.batcher, found.before = (batcher, call), statement
        self._names -= bound_names(statement)

    def _use_up(self, statement: ast.stmt, calls: list[ast.Call]) -> None:
        found = self._found
        inside = {id(node) for call in calls for node in ast.walk(call)}
        outside = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and id(node) not in inside]
        if any(node.id in self._names and isinstance(node.ctx, ast.Load) for node in outside):
            raise NotPossible(statement, "An element is used besides in batches")
        for call in calls:
            if tensors_of(call) is None:
                raise NotPossible(call, "A batch has no tensors")
            if self._queue:
                self._call_reader(call)
        found.batches += calls
        found.before = found.before or statement
        self._names -= bound_names(statement)

    def _move(self, statement: ast.stmt) -> None:
        """Take a statement for one that computes an element."""
        found = self._found
        own = set(own_nodes(statement))
        for node in ast.walk(statement):
            symbol = self._symbols.get(node, "") if isinstance(node, ast.Call) else ""
            if symbol.startswith((*_NOT_MAPPED, *UNKNOWN)) or symbol in PRODUCERS:
                raise NotPossible(node, f"{symbol} is called between a queue and its batches")
            if any(f".{symbol}".endswith(f".{each}") for each in self._elsewhere):
                raise NotPossible(node, f"{symbol}() has to do with queues, in another file")
            if isinstance(node, _LEAVING) and node in own:
                raise NotPossible(node, "What computes an element leaves a loop or a function")
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                raise NotPossible(node, "An element is kept in an attribute or a list")
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("run", "eval")
            ):
                raise NotPossible(node, "An element is run by itself")
        if self._queue:
            self._call_reader(statement)
        found.moved.append(statement)
        self._names |= bound_names(statement)

    def _call_reader(self, statement: ast.AST) -> None:
        """Note the call of a function that reads from the queue."""
        for name in ast.walk(statement):
            if not isinstance(name, ast.Name) or name.id != self._queue:
                continue
            call = self._file.parents[name]
            function = None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                function = self._by_queue.get(call.func.id)
            if function is None or name not in call.args or self._found.through or self._found.read:  # type: ignore[attr-defined]
                raise NotPossible(name, "A queue is used in a way that is not known")
            self._found.through = (function, name)

    def _check_names(self) -> None:
        """Refuse names that would mean something else in a function of their own, or be gone.

        Raises:
            NotPossible: There is one.
        """
        found = self._found
        bound: set[str] = set()
        for statement in found.moved:
            late = set[str]().union(*(bound_names(each) for each in found.moved)) - bound - self._given()
            own = names_read(statement) & late
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) and own:
                raise NotPossible(statement, f"{min(own)} has another value before an element is computed")
            bound |= bound_names(statement)
        made = found.source.statement
        is_function = isinstance(made, ast.FunctionDef)
        done = [*found.moved, *([] if is_function else [made]), *([found.read.statement] if found.read else [])]
        inside = {id(node) for each in [*done, *found.ends] for node in ast.walk(each)}
        for node in ast.walk(found.scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self._names:
                after = is_function or node.lineno > (made.end_lineno or 0)
                if after and id(node) not in inside and not self._is_bound_between(node):
                    raise NotPossible(node, f"{node.id} is of one element, and used besides in batches")

    def _given(self) -> set[str]:
        read = self._found.read
        return {*self._found.source.names, *([read.value, read.key] if read else [])}

    def _is_bound_between(self, node: ast.Name) -> bool:
        """Whether a statement after the batches, and before a name, binds it anew."""
        assert self._found.before is not None
        used: list[ast.expr | ast.stmt] = [*self._found.batches, self._found.before]
        end = max(each.end_lineno or 0 for each in used)
        return any(
            isinstance(each, ast.Name)
            and each.id == node.id
            and isinstance(each.ctx, ast.Store)
            and end <= each.lineno <= node.lineno
            for each in ast.walk(self._found.scope)
        )


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
