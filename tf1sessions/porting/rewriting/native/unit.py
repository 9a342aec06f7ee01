"""A LegacyGraph of a program, and what is known of it."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterable

from ....source.uses import FileUses
from ..requests.request import NotPossible, names_in
from . import iterators, summaries, variables
from .kinds import Kind, Kinds, Scope, creates, names_read
from .modules import FileClasses
from .op_names import OpNames
from .own_nodes import OwnNodes
from .queues import is_operation_call
from .refusals import calls_of_program, check_items, is_dropped, is_print
from .statements import OPERATIONS, Item, flattened, is_block
from .texts import Texts
from .training import TapeStep

__all__ = ["INITIALIZERS", "MARK", "PLACEHOLDERS", "Unit", "UnitRequest", "without_marks"]

#: Names of TensorFlow whose operations give variables and tables their values.
INITIALIZERS = frozenset(
    "tf.global_variables_initializer tf.initialize_all_variables tf.local_variables_initializer "
    "tf.initialize_local_variables tf.tables_initializer tf.variables_initializer tf.initializers.global_variables "
    "tf.initializers.local_variables tf.initializers.tables_initializer".split()
)
#: Between the name of a class and that of an attribute, in the name that stands for it.
MARK = "__self__"
PLACEHOLDERS = ("tf.placeholder", "tf.placeholder_with_default")


def without_marks(text: str, classes: Iterable[str], instead: str = "") -> str:
    """A text with something else in place of ``Net__self__``, for each class.

    Example:
        >>> without_marks("compute_Net__self__loss", ["Net"])
        'compute_loss'
    """
    for name in sorted(classes, key=len, reverse=True):  # the name of one may end as another one
        text = re.sub(rf"(?<![A-Za-z0-9]){name}{MARK}", instead, text)
    return text


@dataclasses.dataclass(eq=False)
class UnitRequest:
    """A function of the LegacyGraph.

    Attributes:
        statement: Where it is made; None for the one by which layers make their variables.
        name: Its name.
        leaves: What it fetches, one by one.
        is_list: Whether it fetches a list or a tuple of them.
        feeds: The names that it feeds.
        calls: Where it is called.
    """

    statement: ast.Assign | None
    name: str
    fetches: ast.expr
    leaves: list[ast.expr]
    is_list: bool
    feeds: list[str]
    calls: list[ast.Call]


class Unit:
    """One LegacyGraph: what builds it, what is asked of it, and what becomes of the statements.

    Args:
        file: The file.
        kinds: Of the file.
        texts: Of the file; the changes are noted there.
        modules: The classes of the file.
        node: The module or function that makes the LegacyGraph, or ``if __name__ == "__main__":``.
        made: The statement that makes it.

    Raises:
        NotPossible: It has something that has no form in TensorFlow 2 that this knows.

    Attributes:
        scope: The kinds of the names where it is made.
        items: The statements that build the graph, without those of which nothing is left.
        requests: Its functions, in the order of the text.
        replaced: Statement of the program -> its new lines.
        before: Statement -> lines that are put before it.
        after: Statement -> lines behind it, or behind the objects that are made in place of one that requests compute.
        restored: Statement that restores averages into their variables -> the averages, and the saver that saved them.
        frozen: Requests that leave the averages of batch normalisation as they are.
        averaged: Statement that updates moving averages -> these, and the list of the variables.
        objects: Statement -> the layers, optimizers and iterators in it, which are made in its place: the name, the
            expression that makes it, and its kind.
        merges: Statement that merges summaries -> these.
        writers: Statement that merges summaries -> the function that writes them.
        specs: Placeholders that need not be fed -> their defaults.
        feed_order: The placeholders, in the order of the text.
        truth_values: The placeholders of the dtype bool.
        operations: Names that are bound to operations, which have no value.
        initializers: Names that are bound to initializers of variables, tables and iterators -> these.
        metric_values: Statement that reads the value of a metric -> the statement that updates it.
        iterator_makers: The names of iterators that have initializers -> what makes these.
        iterators: Those that requests begin anew.
        initializations: The statements that initialize variables.
        run_before: What writes a checkpoint -> the names of what requests that change variables have computed before,
            first those that they have surely computed.
        rates: Optimizer -> its learning rate, if requests compute that, and the variable that is set to it.
        rate_texts: Learning rate -> what it becomes.
        steps: Statement -> the step of a training that it becomes.
        tape_lists: Statements that list the variables that a tape has seen.
        built: A statement that lists variables of layers, and the statements that have these; None if there is none.
        shared: The function and how its object is made -> the name of the object, where that is used again.
        named_layers: The scope of names and the name of a layer -> the object, which may be used again.
        layer_counts: The scope of names and the name of a layer -> how many a class has made so.
        blocks: The blocks of the graph, and their statements.
        helpers: Block -> the functions behind it that requests of several functions call.
        unwrapped: Blocks inside of loops and conditions, which build nothing.
        updates: Names that are bound to the updates of layers.
        update_lists: The statements that bind these.
        dropped: Statements that print tensors, of which nothing is left.
        undecided: Statements that assign variables in a request in no order with something else -> what is said there.
        shared_draws: Statements in which several requests draw random numbers.
        late_prints: Statements that print when the function of a request is traced.
        renamed: Names that are bound anew behind the graph -> what they are called from there on.
        names_used: Names that no new object may have.
    """

    def __init__(
        self,
        file: FileUses,
        kinds: Kinds,
        texts: Texts,
        modules: FileClasses,
        node: ast.Module | ast.FunctionDef | ast.If,
        made: ast.Assign,
    ) -> None:
        self.file, self.kinds, self.texts, self.modules, self.node = file, kinds, texts, modules, node
        assert isinstance(made.targets[0], ast.Name)
        self.legacy = made.targets[0].id
        self.made = made
        self._begin()
        self.names_used = {each.id for each in ast.walk(file.tree) if isinstance(each, ast.Name)}
        self.names_used |= {each.bound for each in file.imports}
        self.names_used |= {each.name for each in ast.walk(file.tree) if isinstance(each, ast.ClassDef)}
        self.names_used |= {name for name in kinds.functions if not modules.needs_class(name)}
        self.names_used -= {name for name in kinds.functions if modules.needs_class(name)}
        self.names_used -= _step_names(node)
        self.items, self.requests = self._read()
        self._check_feeds()
        self.initializers: dict[str, list[ast.expr]] = {}
        self.iterator_makers = iterators.iterator_makers(self)
        self._find_initializers()
        self.iterators: dict[str, iterators.RemadeIterator] = {}
        self.iterators |= iterators.find_iterators(self)
        self._drop_updates()
        self._read_summaries()
        self._decide_constants()
        self._compute_what_is_changed()
        check_items(kinds, node, self.items)
        self.dropped += [item.statement for item in self.items if is_dropped(item)]
        for item in self.items:
            modules.note(item.statement, self.scope)
        self._locals: dict[str, str] = {}

    def _begin(self) -> None:
        """Note nothing yet."""
        self.replaced: dict[ast.stmt, list[str]] = {}
        self.rates: dict[str, tuple[ast.expr, str]] = {}
        self.rate_texts: dict[ast.expr, str] = {}
        self.initializations: list[ast.stmt] = []
        self.run_before: dict[ast.Call, tuple[frozenset[str], frozenset[str]]] = {}
        self.unwrapped: list[ast.With] = []
        self.helpers: dict[ast.With, list[str]] = {}
        self.before: dict[Item, list[str]] = {}
        self.frozen: set[UnitRequest] = set()
        self.after: dict[Item, list[str]] = {}
        self.averaged: dict[Item, tuple[str, str]] = {}
        self.merges: dict[Item, list[summaries.SummaryCall]] = {}
        self.writers: dict[Item, str] = {}
        self.steps: dict[Item, TapeStep] = {}
        self.tape_lists: set[Item] = set()
        self.renamed: dict[str, str] = {}
        self.built: tuple[Item, list[Item]] | None = None
        self.specs: dict[str, ast.expr] = {}
        self.feed_order: list[str] = []
        self.truth_values: set[str] = set()
        self.operations: set[str] = set()
        self.objects: dict[Item, list[tuple[str, str, str]]] = {}
        self.metric_values: dict[Item, Item] = {}
        self.updates: set[str] = set()
        self.update_lists: list[ast.stmt] = []
        self.dropped: list[ast.stmt] = []
        self.undecided: dict[ast.stmt, str] = {}
        self.shared_draws: dict[ast.stmt, None] = {}
        self.late_prints: dict[ast.stmt, None] = {}
        self.restored: dict[ast.stmt, tuple[str, str]] = {}
        self.shared: dict[tuple[str, str], str] = {}
        self.named_layers: dict[tuple[str, str], str] = {}
        self.layer_counts: dict[tuple[str, str], int] = {}

    @property
    def area(self) -> ast.AST:
        """Return where its functions are called: the module or function that makes it, or the class of a method."""
        if isinstance(self.node, ast.If):
            return self.file.tree
        parent = self.file.parents.get(self.node)
        return parent if isinstance(parent, ast.ClassDef) else self.node

    @property
    def rewritten(self) -> list[ast.AST]:
        """The statements whose calls are written."""
        requests = [each.statement for each in self.requests if each.statement is not None]
        remade = [node for each in self.iterators.values() for node in [*iterators.nodes(each), each.statement]]
        return [*(item.statement for item in self.items), *requests, *self.unwrapped, *remade]

    def _read(self) -> tuple[list[Item], list[UnitRequest]]:
        scope: Scope = {} if isinstance(self.node, ast.FunctionDef) else self.kinds.module
        items: list[Item] = []
        self.blocks: list[tuple[ast.With, list[Item]]] = []
        requests = [self._request(each) for each in ast.walk(self.node) if self.is_request(each)]
        requests.sort(key=lambda each: each.statement.lineno if each.statement is not None else 0)
        self.scope = scope
        self.kinds.requests |= {each.name for each in requests}
        self.kinds.graphs.add(self.legacy)
        for statement in self.node.body:
            if is_block(statement, self.legacy):
                assert isinstance(statement, ast.With)
                inside = [each for each in statement.body if not self.is_request(each)]
                self._note_names(inside)
                found = list(flattened(self.kinds, inside, scope))
                self._check_builds(found)
                items += found
                self.blocks.append((statement, found))
            elif not self.is_request(statement):
                self.kinds.run(statement, scope)
        for node in ast.walk(self.node):
            if isinstance(node, ast.With) and is_block(node, self.legacy) and node not in self.node.body:
                self._unwrap(node, scope)
        for item in items:
            if item.binds & self.kinds.placeholders:  # a name may be bound to something else behind the graph
                self.kinds.run(item.statement, scope)
        return items, requests

    def _check_builds(self, items: Iterable[Item]) -> None:
        """Refuse statements of a block that run a request: they are no part of the graph, or of a function."""
        for call in (node for item in items for node in ast.walk(item.statement) if isinstance(node, ast.Call)):
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            called = call.func.value if isinstance(call.func, ast.Attribute) and method == "run" else call.func
            used = (
                [called] if method in ("save", "restore") else [called, *call.args, *(n.value for n in call.keywords)]
            )
            if any(isinstance(each, ast.Name) and each.id in {*self.kinds.requests, self.legacy} for each in used):
                raise NotPossible(call, "A request runs in a block that builds the graph")

    def _unwrap(self, block: ast.With, scope: Scope) -> None:
        """Take a block inside of a loop, a condition or a function away; it may build what it requests at once."""
        inside = [each for each in block.body if not self.is_request(each)]
        found = list(flattened(self.kinds, inside, dict(scope)))
        if any(item.kind >= Kind.CONSTANT or item.makers for item in found):
            raise NotPossible(block, "A part of the graph is built inside of a loop, a condition or a function")
        self.unwrapped.append(block)

    def is_request(self, node: ast.AST) -> bool:
        """Whether a statement is ``name = legacy.function(...)``."""
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            return False
        function = node.value.func
        return (
            isinstance(function, ast.Attribute)
            and function.attr == "function"
            and isinstance(function.value, ast.Name)
            and function.value.id == self.legacy
        )

    def _request(self, statement: ast.AST) -> UnitRequest:
        assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        call, target = statement.value, statement.targets[0]
        assert isinstance(target, ast.Name)
        fetches = call.args[0]
        if isinstance(fetches, ast.Starred):
            raise NotPossible(fetches, "A request is put together while the program runs")
        feeds = next((each.value for each in call.keywords if each.arg == "feeds"), None)
        fed = feeds.elts if isinstance(feeds, ast.List) else []
        for each in fed:
            if not isinstance(each, ast.Name):
                raise NotPossible(each, "A request feeds what is not a name of the place where the graph is built")
        is_list = isinstance(fetches, ast.List | ast.Tuple)
        for each in fetches.elts if isinstance(fetches, ast.List | ast.Tuple) else [fetches]:
            text = each.left if isinstance(each, ast.BinOp) else each
            if isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str)):
                raise NotPossible(each, "A request fetches something by its name in the graph")
        calls = []
        for node in self.own.read.get(target.id, ()):
            parent = self.file.parents[node]
            if not isinstance(parent, ast.Call) or parent.func is not node:
                raise NotPossible(node, "A request is handed about")
            calls.append(parent)
        return UnitRequest(
            statement,
            target.id,
            fetches,
            list(fetches.elts) if isinstance(fetches, ast.List | ast.Tuple) else [fetches],
            is_list,
            [each.id for each in fed if isinstance(each, ast.Name)],
            calls,
        )

    def _note_names(self, statements: Iterable[ast.stmt]) -> None:
        for node in (node for each in statements for node in ast.walk(each)):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            symbol = self.kinds.symbol(node.value.func)
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if creates(symbol) == "queue":
                self.kinds.queues |= dict.fromkeys(names, node.value)
            if creates(symbol) == "average":
                self.kinds.averages |= set(names)
            if symbol in PLACEHOLDERS:
                if len(names) != len(node.targets):
                    raise NotPossible(node, "A placeholder has no name of its own")
                self.kinds.placeholders |= set(names)
                self.feed_order += names

    def _check_feeds(self) -> None:
        for request in self.requests:
            for name in request.feeds:
                if name not in self.kinds.placeholders:
                    raise NotPossible(
                        request.statement or self.made, f"A request feeds {name!r}, which is no placeholder"
                    )
            for value in (each for call in request.calls for each in call.args):
                if isinstance(value, ast.Constant) and value.value is None:
                    raise NotPossible(value, "A request feeds None, which a session takes for NaN")

    def _drop_updates(self) -> None:
        """Keras's layers update their moving averages when they are called with ``training=True``."""
        for item in list(self.items):
            statement = item.statement
            if isinstance(statement, ast.Assign) and variables.is_update_list(self.kinds, statement.value):
                self.items.remove(item)
                self.replaced[statement] = []
                self.updates |= item.binds
                self.update_lists.append(statement)
        for item in self.items:
            own = names_read(item.statement) & self.updates
            if own and is_print(item.statement) and not calls_of_program(self.kinds, item.statement):
                continue
            if own and not self.is_operation(item):
                raise NotPossible(item.statement, f"{sorted(own)[0]!r}, the updates of layers, are used as values")
            item.reads -= self.updates
        for item in [each for each in self.items if names_read(each.statement) & self.updates]:
            if is_print(item.statement):
                self._drop(item.statement)
                self.items.remove(item)

    def _drop(self, statement: ast.stmt) -> None:
        """Leave out a statement that prints something of the graph."""
        self.replaced[statement] = []
        self.dropped.append(statement)

    def _read_summaries(self) -> None:
        """Requests fetch the values of summaries, as a dict; a function writes them."""
        found: list[summaries.SummaryCall] = []
        names = OpNames(self.kinds)
        for item in list(self.items):
            value = getattr(item.statement, "value", None)
            made = summaries.summary(self.kinds, self.texts, item, names)
            found += made
            summaries.check_tags(self.texts, found)
            if made and isinstance(item.statement, ast.Expr):
                self.items.remove(item)
                self.replaced[item.statement] = []
            elif made and isinstance(item.statement, ast.Assign):
                self._summary(item, made)
            elif made and len(made) == len(getattr(item.statement, "body", [])):
                self.items.remove(item)
                self.replaced[item.statement] = []
            elif isinstance(value, ast.Call) and summaries.is_merge(self.kinds, value):
                self._summary(item, summaries.merged(self.kinds, value, found))

    def _summary(self, item: Item, parts: list[summaries.SummaryCall]) -> None:
        """A statement binds the values of summaries in place of the summaries."""
        assert isinstance(item.statement, ast.Assign)
        item.kind = Kind.TENSOR
        item.reads = names_in([each.value for each in parts if each.loop is None])
        self.merges[item] = parts

    def _find_initializers(self) -> None:
        """Variables have their initial values when they are made: nothing is left to run."""
        for item in list(self.items):
            statement = item.statement
            if self._gives_initializers(statement):
                values = [each.value for each in ast.walk(statement) if isinstance(each, ast.Assign)]
                self.initializers |= dict.fromkeys(item.binds, values)
                self.items.remove(item)
                self.replaced[statement] = []

    def _gives_initializers(self, statement: ast.stmt) -> bool:
        """Whether a statement binds names to initializers and does nothing else; one that asks for a version may."""
        if isinstance(statement, ast.If) and not any(isinstance(each, ast.NamedExpr) for each in ast.walk(statement)):
            return all(map(self._gives_initializers, [*statement.body, *statement.orelse]))
        return isinstance(statement, ast.Assign) and self.is_initializer(statement.value)

    def _decide_constants(self) -> None:
        """Make what depends on nothing once; random numbers only where they are initial values of variables."""
        for number, item in reversed(list(enumerate(self.items))):  # what reads a statement is decided before it
            if item.kind not in (Kind.CONSTANT, Kind.RANDOM) or item.makers:
                continue
            readers = [each for each in self.items[number + 1 :] if each.reads & item.binds]
            initial = [each for each in readers if each.kind < Kind.TENSOR]
            if (item.kind is Kind.RANDOM and readers != initial) or (item.kind is Kind.RANDOM and not readers):
                if initial:
                    raise NotPossible(item.statement, "Random numbers are a variable's initial value and used besides")
                item.kind = Kind.TENSOR
            elif not item.is_expression:
                item.kind = Kind.STATIC

    def _compute_what_is_changed(self) -> None:
        """Begin anew in each request what requests add to, as ``loss = 0.0`` before ``loss += ...``.

        Raises:
            NotPossible: It is no value of Python that is bound where the graph is built.
        """
        for number, item in reversed(list(enumerate(self.items))):
            for name in sorted(item.reads & item.binds) if self.is_moved(item) else []:
                binder = next((each for each in reversed(self.items[:number]) if name in each.binds), None)
                if binder is not None and self.is_moved(binder):
                    continue
                if binder is None or binder.kind is not Kind.STATIC or binder.makers:
                    raise NotPossible(item.statement, f"{name!r} is made once, and requests change it")
                binder.kind = Kind.TENSOR

    @functools.cached_property
    def own(self) -> OwnNodes:
        """The nodes of the module or function."""
        return OwnNodes(self.node, self.area, self.kinds.functions)

    def is_moved(self, item: Item) -> bool:
        """Whether a statement is computed by requests."""
        return item.kind >= Kind.CONSTANT

    @property
    def computed(self) -> set[str]:
        """The names of what requests compute or feed."""
        return {name for item in self.items if self.is_moved(item) for name in item.binds} | self.kinds.placeholders

    def _fed_at_once(self, item: Item) -> ast.Name | None:
        """A placeholder that a call of what is made once is given: not its shape, nor as the key of a dict."""
        for node in ast.walk(item.statement):
            if isinstance(node, ast.Name) and node.id in self.kinds.placeholders and isinstance(node.ctx, ast.Load):
                if node.id in self.renamed and self.texts.of(node) == self.renamed[node.id]:
                    continue
                parent = self.file.parents[node]
                while isinstance(parent, ast.List | ast.Tuple):
                    parent = self.file.parents[parent]
                if isinstance(parent, ast.Call) and self.kinds.symbol(parent.func) is not None:
                    return node
        return None

    def check_made_once(self) -> None:
        """Refuse what is made once and depends on what requests compute."""
        moved: set[str] = set()
        once: set[str] = set()
        for item in self.items:
            if self.is_moved(item):
                moved |= item.binds
                once -= item.binds
                continue
            if (fed := self._fed_at_once(item)) is not None:
                raise NotPossible(fed, f"{fed.id!r}, which is fed, decides on what is made once")
            if wrong := sorted(item.reads & moved - once):
                raise NotPossible(item.statement, f"{wrong[0]!r}, which requests compute, decides on what is made once")
            once |= item.binds

    def local(self, wish: str) -> str:
        """Return a name for a local variable of the new functions, the same in all: nothing else in the file has it."""
        if wish not in self._locals:
            self._locals[wish] = self.new_name(wish)
        return self._locals[wish]

    def new_name(self, wish: str) -> str:
        """Return a name that nothing in the file has, as near to a wish as possible."""
        wish = without_marks(wish, self.kinds.classes)
        wish = re.sub(r"\W+", "_", wish).strip("_") or "layer"
        name, number = wish, 1
        while name in self.names_used:
            number += 1
            name = f"{wish}_{number}"
        self.names_used.add(name)
        return name

    @property
    def blank(self) -> list[str]:
        """The empty lines around a function."""
        return [""] * (2 if isinstance(self.node, ast.Module) else 1)

    def is_initializer(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            symbol = self.kinds.symbol(node.func)
            if symbol in OPERATIONS:
                return bool(node.args) and all(map(self.is_initializer, node.args))
            return symbol in INITIALIZERS or self._is_of_iterator(node)
        if isinstance(node, ast.Attribute):  # of an iterator
            return node.attr == "initializer" and self.kinds.of(node.value, self.scope) is Kind.VARIABLE
        return isinstance(node, ast.Name) and node.id in self.initializers

    def _is_of_iterator(self, call: ast.Call) -> bool:
        """Whether a call is ``iterator.make_initializer(dataset)``."""
        function = call.func
        is_method = isinstance(function, ast.Attribute) and function.attr == "make_initializer"
        return is_method and isinstance(function.value, ast.Name) and function.value.id in self.iterator_makers  # type: ignore[attr-defined]

    def has_variables(self) -> bool:
        """Whether the graph has variables, those of objects of classes included."""
        return bool(self.kinds.classes) or any(item.makers or item in self.objects for item in self.items)

    def is_variable(self, leaf: ast.expr) -> bool:
        return self.kinds.of(leaf, self.scope) is Kind.VARIABLE

    def has_only_variables(self, leaf: ast.expr) -> bool:
        """Whether an expression is a variable, or a list of them that is made once."""
        return (
            self.kinds.of(leaf, self.scope) in (Kind.VARIABLE, Kind.VARIABLES) and not names_in([leaf]) & self.computed
        )

    def is_operation(self, item: Item) -> bool:
        value = getattr(item.statement, "value", None)
        is_group = isinstance(value, ast.Call) and self.kinds.symbol(value.func) in OPERATIONS
        return is_group or is_operation_call(self.kinds, value)

    def is_op(self, leaf: ast.expr) -> bool:
        if isinstance(leaf, ast.Attribute) and leaf.attr == "op":
            return True
        return (isinstance(leaf, ast.Name) and leaf.id in self.operations) or is_operation_call(self.kinds, leaf)


def _step_names(node: ast.AST) -> set[str]:
    """The names that are bound to training steps and to nothing else: operations, of which nothing is left."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call) and len(each.targets) == 1:
            function, target = each.value.func, each.targets[0]
            if isinstance(function, ast.Attribute) and function.attr == "minimize" and isinstance(target, ast.Name):
                found.add(target.id)
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]
    return {name for name in found if names.count(name) == 1}
