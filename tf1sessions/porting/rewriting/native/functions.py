"""Requests as functions of TensorFlow 2, and what several of them have in common."""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Iterator, Mapping, Sequence

from ....source.uses import bodies
from ..requests.graph_code import own_nodes
from ..requests.request import NotPossible, names_in
from . import call_sites, grouping, iterators, normalization, purity, slices, waiting
from .effects import check_fetched_effects
from .kinds import Kind
from .queues import is_operation_call
from .refusals import calls_of_program, is_print, other_names
from .scopes import scope_header
from .statements import Item, is_any_block
from .texts import INDENT, indented, with_spaces
from .training import TapeStep
from .unit import Unit, UnitRequest
from .unordered import note_unordered, note_unordered_reads

__all__ = ["check_rebinding", "check_uses", "context_line", "place", "write_requests"]

_NONE: Mapping[Item, str] = types.MappingProxyType({})
_FEW_LINES = 2  # of several requests, that are repeated in each


def check_rebinding(unit: Unit, moved: Sequence[Item]) -> None:
    """Rename what is bound again behind the graph: a function would read the later value when it is called.

    Raises:
        NotPossible: Where it is bound depends on how the program runs.
    """
    computed = {name for item in moved for name in item.binds}
    for item in moved:
        inside = purity.free_names(unit, item.statement)
        for name in sorted((item.reads | inside) - computed):
            if purity.is_changed_later(unit, item, name, moved):
                raise NotPossible(item.statement, f"{name!r} is changed after the graph was built with it")
            later = [
                each
                for each in unit.own.binders.get(name, ())
                if each.lineno > item.statement.lineno and not _is_of_comprehension(unit, each)
            ]
            if (
                later
                and name not in unit.renamed
                and not (name not in inside and _renamed(unit, name, min(later, key=_position)))
            ):
                raise NotPossible(item.statement, f"{name!r} gets another value after the graph was built with it")


def _is_of_comprehension(unit: Unit, name: ast.Name) -> bool:
    """Whether a name is bound by a comprehension, so that nothing else sees it."""
    around = itertools.takewhile(lambda each: not isinstance(each, ast.stmt | ast.ListComp), unit.file.around(name))
    return any(isinstance(each, ast.comprehension) for each in around)


def _renamed(unit: Unit, name: str, first: ast.Name) -> bool:
    """Give a name another one from where it is bound anew; return whether that can be done."""
    around = list(itertools.takewhile(lambda each: each is not unit.node, unit.file.around(first)))
    statement = next((each for each in around if isinstance(each, ast.Assign)), None)
    if statement is None or not all(isinstance(each, ast.Assign | ast.Tuple | ast.List) for each in around):
        return False
    before = {id(node) for node in ast.walk(statement.value)}
    own = {id(node) for node in own_nodes(unit.node)}
    # What builds this graph or another one.
    graphs = [each for each in ast.walk(unit.node) if isinstance(each, ast.With) and is_any_block(each)]
    plain = {item.statement for item in unit.items if item.kind is Kind.STATIC and not item.makers}
    plain = {each for each in plain if each.lineno > first.lineno}  # these see the new value, as the program does
    building = [each for block in graphs for each in block.body if not unit.is_request(each) and each not in plain]
    built = {id(node) for each in building for node in ast.walk(each)}
    later = [
        node
        for node in ast.walk(unit.node)
        if isinstance(node, ast.Name)
        and node.id == name
        and id(node) not in before
        and _position(node) >= _position(first)
    ]
    inner = [
        node for node in ast.walk(unit.node) if isinstance(node, ast.Name) and node.id == name and id(node) not in own
    ]
    if inner or any(id(node) in built for node in later):
        return False
    if any(isinstance(unit.file.parents[node], ast.AugAssign | ast.Delete) for node in later):
        return False
    for item in unit.items:  # else the name means what it is bound to last
        if name in item.binds:
            unit.kinds.run(item.statement, unit.scope)
    new = unit.new_name(f"{name}_value")
    for node in later:
        unit.texts.replace(node, new)
    unit.renamed[name] = new
    return True


def _position(node: ast.Name) -> tuple[int, int]:
    return node.lineno, node.col_offset


def check_uses(unit: Unit, moved: Sequence[Item]) -> None:
    """Remove statements outside of requests that print a computed tensor; refuse any other use of one.

    Raises:
        NotPossible: Another statement reads it.
    """
    contexts = [item.context_expr for each in unit.items for block in each.context for item in block.items]
    known = {each for node in [*unit.rewritten, *unit.replaced, *contexts] for each in ast.walk(node)}
    names = [each for each in ast.walk(unit.area) if isinstance(each, ast.Name) and each not in known]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    bound |= {each.arg for each in ast.walk(unit.area) if isinstance(each, ast.arg)}
    computed = {name for item in moved for name in item.binds} - bound
    for name in names:
        if name.id not in computed or unit.kinds.symbol(name) is not None or _is_local(unit, name):
            continue
        statement = next(node for node in unit.file.around(name) if isinstance(node, ast.stmt))
        if not is_print(statement) or calls_of_program(unit.kinds, statement):
            raise NotPossible(name, f"{name.id!r}, which requests compute, is used outside of them")
        assert isinstance(statement, ast.Expr)
        if other := other_names(unit.kinds, statement, computed):
            raise NotPossible(name, f"A print has a part of the graph, and {other[0]!r} besides")
        if statement not in unit.replaced:
            unit.replaced[statement] = []
            unit.dropped.append(statement)


def _is_local(unit: Unit, name: ast.Name) -> bool:
    """Whether a name is in a function of the module, which is given what it reads."""
    functions = set(unit.kinds.functions.values()) - {unit.node}
    return any(node in functions for node in unit.file.around(name))


def write_requests(unit: Unit, moved: list[Item], requests: list[UnitRequest]) -> None:
    """Write each request as a function, and what several have in common as further ones.

    Raises:
        NotPossible: A request needs what it does not feed, or what is built later.
    """
    defaults = set(unit.specs)
    fetched, needs = [], []
    for request in requests:
        names = set().union(*(names_in([leaf]) for leaf in request.leaves)) if request.leaves else set()
        fetched.append(names if request.statement is not None else set())
        where = place(unit, request)
        is_outside = request.statement is not None and _is_in_function(unit, request.statement)
        before = [item for item in moved if is_outside or item.statement.lineno < where.lineno]
        needs.append(slices.needed(before, names, request.feeds))
        if request.statement is not None:
            check_fetched_effects(unit, request, needs[-1])
        bound = set(request.feeds).union(*(item.binds for item in needs[-1]))
        static = [item for item in unit.items if item not in moved and item.statement.lineno < where.lineno]
        bound |= set().union(*(item.binds for item in static))
        if missing := sorted(names & {name for item in moved for name in item.binds} - bound):
            raise NotPossible(where, f"A request fetches {missing[0]!r}, which is built further on")
    for number, items in enumerate(needs):
        if any(value in items and update in items for value, update in unit.metric_values.items()):
            what = "A request updates a metric and reads its value besides, in no order"
            raise NotPossible(requests[number].statement or unit.made, what)
    groups = slices.groups_of(moved, needs, fetched)
    computed = {name for item in moved for name in item.binds} | set(unit.iterators)
    placeholders = set(unit.kinds.placeholders)
    _check_fed(unit, requests, needs, fetched, placeholders - defaults)
    shared = {group: unit.new_name(_helper_name(group)) for group in groups if _is_function(unit, group)}
    if _has_names_twice(unit, groups):
        shared = {}
    written: set[slices.Group] = set()
    failing = {number for number, items in enumerate(needs) if waiting.may_fail(unit.kinds, items)}
    for group in shared:
        if len({_function_around(unit, requests[number]) for number in group.requests}) > 1:
            helper = _helper(unit, group, shared[group], computed | placeholders, bool(failing & set(group.requests)))
            unit.helpers.setdefault(_block_of(unit, group.items[-1]), []).extend([*unit.blank, *helper, *unit.blank])
            written.add(group)
    for number, request in enumerate(requests):
        lines: list[str] = []
        blank = unit.blank
        mine = [group for group in groups if number in group.requests]
        for group in mine:
            if group in shared and group not in written:
                written.add(group)
                waits = bool(failing & set(group.requests))
                lines += [*_helper(unit, group, shared[group], computed | placeholders, waits), *blank]
        lines += _function(unit, request, mine, shared, computed | placeholders, number in failing)
        if request.statement is None:
            lines += [*blank, f"{request.name}.get_concrete_function()  # now the layers have variables"]
            unit.before[_building_place(unit)] = [*blank, *lines]
        else:
            unit.replaced[request.statement] = [*blank, *lines, *(blank if _is_last(unit, request.statement) else [])]
    for request in sorted(requests, key=lambda each: _depth(unit, each, requests), reverse=True):
        call_sites.write_calls(unit, request)


def _depth(unit: Unit, request: UnitRequest, requests: Sequence[UnitRequest]) -> int:
    """Return how deep the calls of a request are in arguments of others."""
    calls = {call for each in requests for call in each.calls}
    return max((sum(each in calls for each in unit.file.around(call)) for call in request.calls), default=0)


def place(unit: Unit, request: UnitRequest) -> ast.stmt:
    """Return the statement at which a request becomes a function."""
    return request.statement if request.statement is not None else _building_place(unit).statement


def _building_place(unit: Unit) -> Item:
    """The statement before which layers have to have their variables."""
    assert unit.built is not None
    return unit.built[0]


def _is_in_function(unit: Unit, statement: ast.stmt) -> bool:
    """Whether a statement is in a function inside of the one that builds the graph."""
    return _inner_function(unit, statement) is not None


def _inner_function(unit: Unit, statement: ast.stmt) -> ast.AST | None:
    around = itertools.takewhile(lambda node: node is not unit.node, unit.file.around(statement))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((node for node in around if isinstance(node, functions)), None)


def _function_around(unit: Unit, request: UnitRequest) -> ast.AST | None:
    """The function in which a request is made; None where that is where the graph is built."""
    return _inner_function(unit, request.statement) if request.statement is not None else None


def _block_of(unit: Unit, item: Item) -> ast.With:
    return next(block for block, items in unit.blocks if item in items)


def _has_names_twice(unit: Unit, groups: list[slices.Group]) -> bool:
    """Whether a name that is read is bound for different requests: then each has all statements, in their order."""
    read = set().union(*(item.reads for group in groups for item in group.items))
    bound = [name for group in groups for name in set().union(*(item.binds for item in group.items)) & read]
    return len(bound) != len(set(bound)) or any(_is_changed_behind(unit, one, groups) for one in groups)


def _is_changed_behind(unit: Unit, group: slices.Group, groups: Sequence[slices.Group]) -> bool:
    """Whether a statement of a group reads what one of another group binds anew, or changes, behind it."""
    order = {item: number for number, item in enumerate(unit.items)}
    others = [item for each in groups if each is not group for item in each.items]
    return any(
        item.reads & other.binds and order.get(other, 0) > order.get(item, 0)
        for item in group.items
        for other in others
    )


def _check_fed(
    unit: Unit,
    requests: Sequence[UnitRequest],
    needs: Sequence[Sequence[Item]],
    fetched: Sequence[set[str]],
    placeholders: set[str],
) -> None:
    for request, items, names in zip(requests, needs, fetched, strict=True):
        read = set().union(names, *(item.reads for item in items))
        missing = sorted((read & placeholders) - set(request.feeds))
        if missing:
            raise NotPossible(request.statement or unit.made, f"A request needs {missing[0]!r}, which it does not feed")


def _is_last(unit: Unit, statement: ast.stmt) -> bool:
    """Whether no other request is made right behind a statement."""
    parent = unit.file.parents[statement]
    body = next(each for each in bodies(parent) if statement in each)
    after = body[body.index(statement) + 1 :]
    return not after or not unit.is_request(after[0])


def _is_function(unit: Unit, group: slices.Group) -> bool:
    """Say whether the common statements of several requests become a function; a line or two are repeated."""
    if len(group.requests) == 1 or any(item in unit.steps for item in group.items):
        return False
    lines = [line for item in group.items for line in unit.texts.statement(item.statement)]
    return len([line for line in lines if line.strip() and not line.lstrip().startswith("#")]) > _FEW_LINES


def _helper(unit: Unit, group: slices.Group, name: str, computed: set[str], waits: bool) -> list[str]:
    inputs = [each for each in group.inputs if each in computed]
    lines = [f"def {name}({', '.join(inputs)}):"]
    body = _lines(unit, group.items, waits)
    outputs = [each for each in group.outputs if each not in unit.operations]
    if outputs:
        body.append(f"return {', '.join(outputs)}")
    return [*lines, *indented(body)]


def _function(
    unit: Unit,
    request: UnitRequest,
    groups: list[slices.Group],
    shared: dict[slices.Group, str],
    computed: set[str],
    waits: bool,
) -> list[str]:
    base = unit.texts.tensorflow
    lines = _header(unit, request)
    forward: list[str] = []
    after: list[str] = []
    tapes = 0
    late: set[str] = set()
    mine = sorted((item for group in groups for item in group.items), key=unit.items.index)
    read_besides = note_unordered_reads(unit, mine, request.leaves)
    needs = {name for leaf in request.leaves for name in names_in([leaf])}
    read = needs | set().union(*(item.reads for group in groups for item in group.items))
    for name, default in unit.specs.items():
        if name in read and name not in request.feeds:
            forward.append(f"{name} = {unit.texts.of(default)}")
    plain: list[Item] = []
    rest: list[Item] = []
    for group in groups:
        if group in shared:
            forward += _lines(unit, sorted(plain, key=unit.items.index), waits)
            plain = []
            outputs = [each for each in group.outputs if each not in unit.operations]
            inputs = ", ".join(each for each in group.inputs if each in computed)
            call = f"{shared[group]}({inputs})"
            is_late = bool(late & set(group.inputs))
            (after if is_late else forward).append(f"{', '.join(outputs)} = {call}" if outputs else call)
            late |= set(outputs) if is_late else set()
            continue
        for item in group.items:
            if item in unit.steps or item in unit.averaged or item.reads & late:
                late |= item.binds
                rest.append(item)
                tapes += item in unit.steps and unit.steps[item].loss is not None
            else:
                plain.append(item)
    plain.sort(key=unit.items.index)
    undecided = {**read_besides, **note_unordered(unit, plain, rest)}
    forward += _lines(unit, plain, waits, undecided)
    rest.sort(key=unit.items.index)
    after += _lines(unit, rest, waits, undecided)
    forward += [line for item in rest if item in unit.steps for line in unit.steps[item].inside]
    frozen = normalization.frozen_lines(unit) if request in unit.frozen else ([], [])
    lines += indented(frozen[0])
    if tapes:
        persistent = "persistent=True" if tapes > 1 else ""
        lines.append(f"{INDENT}with {base}.GradientTape({persistent}) as {unit.local('tape')}:")
        lines += indented(forward or ["pass"], 2)
    else:
        lines += indented(forward)
    lines += indented([*after, *frozen[1]])
    if request.statement is not None:
        lines += indented([*_written_operations(unit, request), *_returned(unit, request)])
    return lines if len(lines) > len(_header(unit, request)) else [*lines, f"{INDENT}pass"]


def _written_operations(unit: Unit, request: UnitRequest) -> list[str]:
    """Operations that are written out where they are fetched: ``sess.run(w.assign(x).op)``."""
    operations = [leaf for leaf in request.leaves if unit.is_op(leaf)]
    written = [leaf.value if isinstance(leaf, ast.Attribute) else leaf for leaf in operations]
    return [unit.texts.of(each) for each in written if isinstance(each, ast.Call)]


def _header(unit: Unit, request: UnitRequest) -> list[str]:
    """The lines with which a request's function begins."""
    base = unit.texts.tensorflow
    remade = iterators.given(unit, request)
    if remade and request.statement is None:
        raise NotPossible(unit.made, "Layers that are listed depend on an iterator that is begun anew")
    names = [*request.feeds, *remade]
    specs = [*request.feeds, *(iterators.signature(unit, request, each, base) for each in remade if request.feeds)]
    decorator = f"@{base}.function(input_signature=[{', '.join(specs)}])" if request.feeds else f"@{base}.function"
    return [decorator, f"def {request.name}({', '.join(names)}):"]


def _lines(unit: Unit, items: Sequence[Item], waits: bool, undecided: Mapping[Item, str] = _NONE) -> list[str]:
    """The lines of statements inside of a function, with the ``with`` statements around them.

    Args:
        waits: Whether the function has something that may fail, for which assignments wait.
        undecided: Those that have no order in TensorFlow 1, each with the comment at it.
    """
    lines: list[str] = []
    open_: tuple[ast.With, ...] = ()
    last_order = ""
    for item in items:
        step = unit.steps.get(item)
        if step is None and unit.is_operation(item):
            step = _grouped(unit, item)
        context = tuple(each for each in item.context if context_line(unit, each))
        if context != open_ or step is not None:
            last_order = ""
        if step is None and context != open_:
            common = 0
            while common < min(len(context), len(open_)) and context[common] is open_[common]:
                common += 1
            for depth in range(common, len(context)):
                lines.append(INDENT * depth + context_line(unit, context[depth]))
            open_ = context
        if step is not None:
            open_ = ()
        if item in unit.steps:
            own = waiting.step_lines(unit, item, items, waits)
        else:
            own = step.lines if step is not None else unit.texts.with_comments(item.statement)
        own = [undecided[item], *own] if item in undecided else own
        order = waiting.order_of(unit, item) if waits and waiting.is_ordered(unit, item) else ""
        if order and own:
            own = [*([order] if order != last_order else []), *indented(with_spaces(own))]
        last_order = order
        lines += indented(with_spaces(own), len(open_))
    return lines


def _grouped(unit: Unit, item: Item) -> TapeStep:
    """A group of operations: those that are written in it; the others run before."""
    call = getattr(item.statement, "value", None)
    assert isinstance(call, ast.Call)
    if is_operation_call(unit.kinds, call):
        return TapeStep([unit.texts.of(call)], None, True)
    return TapeStep([line for each in call.args for line in grouping.written_parts(unit, each)], None, True)


def context_line(unit: Unit, block: ast.With) -> str:
    """Return the first line of a scope of names; nothing where the block only orders operations."""
    return scope_header(unit.kinds, unit.texts, block)


def _returned(unit: Unit, request: UnitRequest) -> Iterator[str]:
    """The ``return`` of a function, without the operations that its callers drop."""
    values = [leaf for leaf in request.leaves if not unit.is_op(leaf)]
    if not values and not call_sites.gives_nones(unit, request):
        return
    if not request.is_list:
        yield f"return {_value(unit, request.leaves[0])}"
    elif call_sites.drops_operations(unit, request):
        yield f"return {', '.join(_value(unit, leaf) for leaf in values)}"
    else:
        text = ", ".join("None" if unit.is_op(leaf) else _value(unit, leaf) for leaf in request.leaves)
        is_list = isinstance(request.fetches, ast.List)
        is_plain = values and call_sites.are_tensors(unit, request, values)
        needs_brackets = len(request.leaves) == 1 or (is_list and not is_plain)
        yield (
            f"return [{text}]"
            if needs_brackets and is_list
            else f"return ({text},)"
            if needs_brackets
            else f"return {text}"
        )


def _value(unit: Unit, leaf: ast.expr) -> str:
    text = unit.texts.of(leaf)
    return f"{text}.read_value()" if unit.is_variable(leaf) else text


def _helper_name(group: slices.Group) -> str:
    outputs = group.outputs
    if len(outputs) > 2:
        outputs = outputs[-1:]
    return "compute_" + "_and_".join(outputs) if outputs else "compute"
