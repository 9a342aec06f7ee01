"""Initializers that run again, as a graph has them: which iterators of data sets requests begin anew.

TensorFlow 2 has objects: another ``iter(dataset)``, which the functions of requests are given. A data set of what is
fed is made by a function. What becomes of all that is in resets.py.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ....source.uses import FileUses
from ..requests.request import NotPossible, names_in
from . import slices
from .kinds import Kinds
from .statements import Item
from .variables import is_local_list

__all__ = [
    "Asking",
    "Building",
    "RemadeIterator",
    "around",
    "begins_anew",
    "dataset_of",
    "find_iterators",
    "given",
    "is_local",
    "is_run_once",
    "iterator_makers",
    "iterator_of",
    "nodes",
    "parts",
    "signature",
]

STRUCTURE = "tf.data.Iterator.from_structure"
_LISTS = frozenset(["tf.variables_initializer", "tf.initialize_variables", "tf.initializers.variables"])
_LOCAL = frozenset(
    ["tf.local_variables_initializer", "tf.initialize_local_variables", "tf.initializers.local_variables"]
)
_REPEATED = (ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.comprehension)


class Asking(Protocol):
    """The parts of a request that iterators need."""

    @property
    def statement(self) -> ast.Assign | None: ...

    @property
    def leaves(self) -> list[ast.expr]: ...

    @property
    def feeds(self) -> list[str]: ...

    @property
    def calls(self) -> list[ast.Call]: ...


class Building(Protocol):
    """The parts of a LegacyGraph that iterators need."""

    kinds: Kinds
    file: FileUses
    made: ast.Assign
    items: list[Item]
    replaced: dict[ast.stmt, list[str]]
    feed_order: list[str]
    initializers: dict[str, list[ast.expr]]
    iterator_makers: dict[str, ast.Call]

    @property
    def node(self) -> ast.AST: ...

    @property
    def requests(self) -> Sequence[Asking]: ...

    @property
    def iterators(self) -> Mapping[str, RemadeIterator]: ...

    def is_moved(self, item: Item) -> bool: ...

    def is_initializer(self, node: ast.expr) -> bool: ...

    def new_name(self, wish: str) -> str: ...


@dataclasses.dataclass(eq=False)
class RemadeIterator:
    """An iterator that is made anew by each run of an initializer.

    Attributes:
        name: Its name.
        statement: The statement that makes it.
        datasets: The expressions of the data sets that it goes through.
        functions: Data set -> the function that makes it of what is fed, and what that is given.
        items: Data set -> the statements of that function.
    """

    name: str
    statement: ast.stmt
    datasets: list[ast.expr] = dataclasses.field(default_factory=list)
    functions: dict[ast.expr, tuple[str, list[str]]] = dataclasses.field(default_factory=dict)
    items: dict[ast.expr, list[Item]] = dataclasses.field(default_factory=dict)


# -- initializers ------------------------------------------------------------------------------------------------------


def parts(unit: Building, node: ast.expr) -> Iterator[ast.expr]:
    """The single initializers in an expression, through names and groups."""
    if isinstance(node, ast.Name) and node.id in unit.initializers:
        for value in unit.initializers[node.id]:
            yield from parts(unit, value)
    elif isinstance(node, ast.List | ast.Tuple):
        for each in node.elts:
            yield from parts(unit, each)
    elif isinstance(node, ast.Call) and (unit.kinds.symbol(node.func) or "").rpartition(".")[2] in ("group", "no_op"):
        for each in node.args:
            yield from parts(unit, each)
    else:
        yield node


def iterator_of(unit: Building, node: ast.expr) -> str | None:
    """The name of the iterator that an initializer is of; None for one of variables or tables."""
    function = node.func if isinstance(node, ast.Call) else node
    if not isinstance(function, ast.Attribute) or function.attr not in ("initializer", "make_initializer"):
        return None
    return (
        function.value.id
        if isinstance(function.value, ast.Name) and function.value.id in unit.iterator_makers
        else None
    )


def is_local(unit: Building, node: ast.expr) -> bool:
    """Whether an initializer is that of the local variables, which metrics have."""
    if not isinstance(node, ast.Call):
        return False
    symbol = unit.kinds.symbol(node.func)
    return symbol in _LOCAL or (symbol in _LISTS and bool(node.args) and is_local_list(unit.kinds, node.args[0]))


def begins_anew(unit: Building, request: Asking) -> bool:
    """Whether a request of initializers has something begin anew that is not just made where the graph is."""
    found = [part for leaf in request.leaves for part in parts(unit, leaf)]
    if any(iterator_of(unit, part) in unit.iterators for part in found):
        return True
    return any(is_local(unit, part) for part in found) and not is_run_once(unit, request)


def is_run_once(unit: Building, request: Asking) -> bool:
    """Whether a request is run at one place, where the graph is built, and that in no loop."""
    if len(request.calls) > 1:
        return False
    return not any(isinstance(each, _REPEATED) for call in request.calls for each in around(unit, call))


_REPEATED = (ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.comprehension)


def around(unit: Building, node: ast.AST) -> Iterator[ast.AST]:
    return itertools.takewhile(lambda each: each is not unit.node, unit.file.around(node))


# -- iterators ---------------------------------------------------------------------------------------------------------


def iterator_makers(unit: Building) -> dict[str, ast.Call]:
    """The names of iterators that have initializers, and the calls that make these."""
    found: dict[str, ast.Call] = {}
    for item in unit.items:
        call = getattr(item.statement, "value", None)
        if isinstance(item.statement, ast.Assign) and isinstance(call, ast.Call) and len(item.binds) == 1:
            is_made = unit.kinds.symbol(call.func) in (STRUCTURE, "tf.data.make_initializable_iterator")
            is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "make_initializable_iterator"
            if is_made or is_method:
                found |= dict.fromkeys(item.binds, call)
    return found


def find_iterators(unit: Building) -> dict[str, RemadeIterator]:
    """Take the iterators out of the graph that requests begin anew.

    Raises:
        NotPossible: One is used in a way that is not known.
    """
    initializers: dict[str, list[tuple[Asking, ast.expr]]] = {}
    for request in unit.requests:
        for part in (part for leaf in request.leaves for part in parts(unit, leaf)):
            if (name := iterator_of(unit, part)) is not None:
                initializers.setdefault(name, []).append((request, part))
    found: dict[str, RemadeIterator] = {}
    for name, call in unit.iterator_makers.items():
        uses = initializers.get(name, [])
        is_structure = unit.kinds.symbol(call.func) == STRUCTURE
        is_fed = any(request.feeds for request, _ in uses)
        is_once = len(uses) <= 1 and not is_fed and all(is_run_once(unit, request) for request, _ in uses)
        if is_once and not is_structure:
            continue
        item = next(each for each in unit.items if name in each.binds)
        iterator = found[name] = RemadeIterator(name, item.statement)
        for _, part in uses:
            dataset = dataset_of(call if not isinstance(part, ast.Call) else part)
            if dataset not in iterator.datasets:
                iterator.datasets.append(dataset)
        _check_uses(unit, iterator)
        unit.items.remove(item)
        unit.replaced[item.statement] = []
    for iterator in found.values():
        for dataset in iterator.datasets:
            _take_dataset(unit, iterator, dataset)
    return found


def dataset_of(call: ast.Call) -> ast.expr:
    """The data set that an iterator is made of, or is initialized for."""
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "make_initializable_iterator"
    given = [*call.args, *(each.value for each in call.keywords if each.arg in ("dataset", None))]
    if is_method and not given:
        return call.func.value  # type: ignore[attr-defined, no-any-return]
    if len(given) != 1:
        raise NotPossible(call, "An iterator is made in a way that is not known")
    return given[0]


def _check_uses(unit: Building, iterator: RemadeIterator) -> None:
    if unit.kinds.classes:
        raise NotPossible(iterator.statement, "An iterator is made anew, and the program has classes that build")
    for node in ast.walk(unit.node):
        if isinstance(node, ast.Name) and node.id == iterator.name and isinstance(node.ctx, ast.Load):
            parent = unit.file.parents[node]
            if not isinstance(parent, ast.Attribute) or parent.attr not in (
                "get_next",
                "initializer",
                "make_initializer",
            ):
                raise NotPossible(node, "An iterator that is made anew is handed about")


def _take_dataset(unit: Building, iterator: RemadeIterator, dataset: ast.expr) -> None:
    """Take the statements out of the graph that make a data set of what is fed: a function will have them."""
    placeholders = unit.kinds.placeholders
    depending: set[str] = set(placeholders)
    before: list[Item] = []
    for item in unit.items:
        if item.reads & depending and item.statement.lineno < max(dataset.lineno, iterator.statement.lineno):
            depending |= item.binds
            before.append(item)
    for node in ast.walk(unit.node):
        if isinstance(node, ast.Name) and node.id in names_in([dataset]) and isinstance(node.ctx, ast.Store):
            if node.lineno > max(dataset.lineno, iterator.statement.lineno):
                raise NotPossible(node, f"{node.id!r} is bound anew, and an iterator of it is begun anew")
    items = slices.needed(before, names_in([dataset]), placeholders)
    read = set().union(names_in([dataset]), *(item.reads for item in items))
    fed = [name for name in unit.feed_order if name in read]
    if not fed:
        return
    bound = set().union(*(item.binds for item in items))
    others = [each for each in unit.items if each not in items and each.reads & bound]
    if others or any(item.makers for item in items) or (read & depending) - placeholders - bound:
        raise NotPossible(iterator.statement, "A data set of what is fed is used for something else, or has variables")
    wish = f"make_{dataset.id}" if isinstance(dataset, ast.Name) else "make_dataset"
    iterator.functions[dataset] = unit.new_name(wish), fed
    iterator.items[dataset] = items
    for item in items:
        unit.items.remove(item)
        unit.replaced[item.statement] = []


def nodes(iterator: RemadeIterator) -> list[ast.AST]:
    """Return the nodes of an iterator's data sets that are written elsewhere."""
    statements = [item.statement for items in iterator.items.values() for item in items]
    return [*statements, *iterator.datasets]


def given(unit: Building, request: Asking) -> list[str]:
    """The iterators that the function of a request is given, besides what it feeds."""
    if all(map(unit.is_initializer, request.leaves)):
        return []
    names = names_in(request.leaves)
    moved = [item for item in unit.items if unit.is_moved(item)]
    read = names.union(*(item.reads for item in slices.needed(moved, names, request.feeds)))
    return [name for name in unit.iterators if name in read]


def signature(unit: Building, request: Asking, name: str, base: str) -> str:
    """Return the types and shapes of an iterator that a function is given, for its signature.

    Raises:
        NotPossible: It may be of several data sets, or of one that is made later.
    """
    iterator = unit.iterators[name]
    (dataset,) = iterator.datasets if len(iterator.datasets) == 1 else (None,)
    if not isinstance(dataset, ast.Name) or iterator.functions:
        what = "A request feeds a tensor, and takes elements of an iterator that is of several data sets or of fed ones"
        raise NotPossible(request.statement or unit.made, what)
    return f"{base}.data.IteratorSpec({dataset.id}.element_spec)"
