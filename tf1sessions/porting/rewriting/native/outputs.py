"""Summaries, savers, and second sessions, which begin without values."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Mapping, Sequence

from ....source.uses import bodies
from ..requests.arguments import arguments
from ..requests.request import NotPossible, names_in
from . import checkpoints, slices
from .kinds import DRAWING, Kind, creates
from .statements import Item
from .summaries import are_traced
from .unit import Unit, UnitRequest
from .variables import is_local_variable, variable_list, variable_name

__all__ = [
    "GRAPH_SEEDS",
    "check_initializations",
    "drop_resets",
    "has_others_behind",
    "is_saved",
    "is_traced",
    "remove_initialization",
    "use_summaries",
    "write_savers",
    "write_summaries",
]

#: Names of TensorFlow that give a graph a seed.
GRAPH_SEEDS = frozenset(["tf.set_random_seed", "tf.random.set_random_seed", "tf.random.set_seed"])
_DRAWING = (*DRAWING, "tf.nn.dropout", "tf.layers.dropout")
_KEPT = 5  # checkpoints, if nothing is said
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_PARTS_OF_PATHS = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)


def write_summaries(unit: Unit) -> None:
    """Summaries that are merged become a dict of their values; those that requests fetch are written by a function."""
    fetched = {leaf.id for request in unit.requests for leaf in request.leaves if isinstance(leaf, ast.Name)}
    for item, parts in unit.merges.items():
        assert isinstance(item.statement, ast.Assign)
        if not parts:  # which TensorFlow 1 merges to None
            unit.texts.replace(item.statement.value, "None")
            continue
        values = ", ".join(
            f"{each.tag(unit.texts)}: {unit.texts.of(each.value)}" for each in parts if each.loop is None
        )
        unit.texts.replace(item.statement.value, f"{{{values}}}")
        if item.binds & fetched:
            unit.writers[item] = unit.new_name("write_summaries")


def use_summaries(unit: Unit) -> None:
    """Write summaries by functions. Called after requests were written, whose calls may contain these."""
    base = unit.texts.tensorflow
    writers = {name: writer for item, writer in unit.writers.items() for name in item.binds}
    traced = {writer for item, writer in unit.writers.items() if is_traced(unit, item)}
    fetched: dict[str, str] = {}  # names that results of requests are bound to -> functions that write them
    for request in unit.requests:
        for call in request.calls:
            parent = unit.file.parents[call]
            if not isinstance(parent, ast.Assign):
                continue
            target = parent.targets[0]
            targets = target.elts if request.is_list and isinstance(target, ast.Tuple | ast.List) else [target]
            for one, leaf in zip(targets, request.leaves, strict=False):
                if isinstance(leaf, ast.Name) and leaf.id in writers and isinstance(one, ast.Name):
                    fetched[one.id] = writers[leaf.id]
    for node in ast.walk(unit.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            _write_summary_call(unit, node, fetched, traced)
        if isinstance(node, ast.Call) and unit.kinds.symbol(node.func) == "tf.summary.FileWriter":
            folder = arguments(node, ("logdir", "graph", "max_queue", "flush_secs"))["logdir"]
            unit.texts.replace(node, f"{base}.summary.create_file_writer({unit.texts.of(folder)})")


def is_traced(unit: Unit, item: Item) -> bool:
    """Whether a tf.function writes the summaries that a statement merges: it is traced anew for each file writer."""
    calls = (node for node in ast.walk(unit.node) if isinstance(node, ast.Call))
    made = (call for call in calls if unit.kinds.symbol(call.func) == "tf.summary.FileWriter")
    in_loops = any(isinstance(node, ast.For | ast.While) for call in made for node in unit.file.around(call))
    return are_traced(unit.merges[item]) and not in_loops


def _write_summary_call(unit: Unit, node: ast.Call, fetched: Mapping[str, str], traced: Container[str]) -> None:
    assert isinstance(node.func, ast.Attribute)
    statement = unit.file.parents[node]
    if node.func.attr == "add_graph" and isinstance(statement, ast.Expr):
        unit.replaced[statement] = []
    if node.func.attr != "add_summary":
        return
    given = arguments(node, ("summary", "global_step"))
    summary = given["summary"]
    if not isinstance(summary, ast.Name) or summary.id not in fetched:
        raise NotPossible(node, "A summary is written that the program makes itself, or fetches elsewhere")
    step = unit.texts.of(given["global_step"]) if "global_step" in given else "0"
    if fetched[summary.id] in traced:  # a tf.function is traced anew for each number of Python
        base = unit.texts.tensorflow
        step = f"{base}.cast({step}, {base}.int64)"
    writer = unit.texts.of(node.func.value)
    unit.texts.replace(node, f"{fetched[summary.id]}({writer}, {unit.texts.of(summary)}, {step})")


def write_savers(unit: Unit) -> None:
    savers: dict[str, tuple[Item, ast.Call]] = {}
    names: list[str] = []
    averages: dict[str, str] = {}
    saved: dict[str, dict[str, str]] = {}  # what savers of all variables save
    keys: dict[str, str] = {}  # of lists of variables, by their texts
    partly: set[str] = set()  # savers of such lists
    for item in unit.items:
        if item in unit.averaged:
            average, listed = unit.averaged[item]
            averages[f"{average}_averages"] = f"[{average}.average(each) for each in {listed}]"
        names += [name for name, _, kind in unit.objects.get(item, []) if is_saved(unit, name, kind)]
        if item.kind < Kind.CONSTANT and isinstance(item.statement, ast.Assign):
            others = any(is_local_variable(unit.kinds, call) or _is_average(unit, call) for call in item.makers)
            others |= variable_name(unit.kinds, item.statement.value) is not None
            value = item.statement.value
            others |= checkpoints.is_saver(unit.kinds, value)
            kept = [] if others else sorted(item.binds)
            names += [name for name in kept if unit.scope.get(name) in (Kind.VARIABLE, Kind.VARIABLES)]
            if checkpoints.is_saver(unit.kinds, value) and isinstance(value, ast.Call):
                some = checkpoints.listed_variables(unit.kinds, value)
                known = {**{each: each for each in names}, **averages}
                text = checkpoints.checkpoint(unit.texts, value, some, known, keys, f"{min(item.binds)}_variables")
                partly |= item.binds if some is not None and unit.texts.of(some) in keys else set()
                saved |= {name: {each: each for each in names} for name in item.binds if some is None}
                savers |= dict.fromkeys(item.binds, (item, value))
                unit.texts.replace(value, text)
    deleting = {name for name, (_, made) in savers.items() if _deletes(unit, name, made)}
    uses = [node for node in ast.walk(unit.node) if isinstance(node, ast.Name) and node.id in savers]
    uses = [node for node in uses if isinstance(node.ctx, ast.Load)]
    for node in uses:
        _use_saver(unit, node, savers[node.id], deleting, saved)
        if node.id in partly and _method(unit, node) == "restore":
            if any(each.id != node.id and _method(unit, each) == "save" for each in uses):
                unit.undecided[unit.file.statement(node)] = checkpoints.PARTLY_RESTORED
    _write_restored(unit, saved)


def _method(unit: Unit, node: ast.Name) -> str:
    return getattr(unit.file.parents[node], "attr", "")


def _use_saver(
    unit: Unit,
    node: ast.Name,
    saver: tuple[Item, ast.Call],
    deleting: Container[str],
    saved: Mapping[str, Mapping[str, str]],
) -> None:
    method = unit.file.parents[node]
    call = unit.file.parents.get(method)
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        raise NotPossible(node, "A saver is handed about")
    item, made = saver
    owner, use, path = checkpoints.use_of_saver(
        unit.kinds, unit.texts, made, call, unit.texts.tensorflow, is_deleting=node.id in deleting
    )
    if owner is None:
        unit.texts.replace(call, use)
        return
    if owner != node.id and _is_known(unit, path, item.statement):
        owner = _manager(unit, item, owner)
    comment = ""
    if method.attr == "restore":
        if (listed := checkpoints.listed_variables(unit.kinds, made)) is not None:
            _check_listed(unit, listed, call)
        elif any(_has_state(unit, name) for name in saved[node.id]):
            unit.undecided[unit.file.statement(call)] = checkpoints.RESTORED
            comment = f"  {checkpoints.RESTORED_COMMENT}" if isinstance(unit.file.parents[call], ast.Expr) else ""
    unit.texts.replace(call, f"{owner}.{use}{comment}")


def _check_listed(unit: Unit, listed: ast.expr, call: ast.Call) -> None:
    """Refuse to restore variables whose list may have others in it in TensorFlow 2, or that get other names.

    Raises:
        NotPossible: They are such.
    """
    bound = unit.file.bound.get(listed.id, ()) if isinstance(listed, ast.Name) else ()
    values = [listed, *(getattr(unit.file.statement(each), "value", None) for each in bound)]
    nodes = [node for value in values if value is not None for node in ast.walk(value)]
    if any(isinstance(node, ast.Dict | ast.DictComp) for node in nodes):
        raise NotPossible(call, "A saver restores variables by other names than their own")
    lists = [variable_list(unit.kinds, node) for node in nodes]
    made = [name for each in unit.objects.values() for name, _, kind in each if kind == "optimizer"]
    if any(each is not None and not each.trainable for each in lists) and any(_has_state(unit, name) for name in made):
        raise NotPossible(call, "A saver restores some of all variables, the state of optimizers among them")


def is_saved(unit: Unit, name: str, kind: str) -> bool:
    """Whether an object of the program is for checkpoints: an optimizer without a state is not, as in TensorFlow 1."""
    return kind not in ("list", "iterator", "metric") and (kind != "optimizer" or _has_state(unit, name))


def _has_state(unit: Unit, name: str) -> bool:
    """Whether an object is an optimizer that keeps more than the number of its steps."""
    objects = (each for item in unit.objects.values() for each in item)
    made = next((text for own, text, kind in objects if (own, kind) == (name, "optimizer")), None)
    if made is None:
        return False
    call = ast.parse(made, mode="eval").body
    has_momentum = isinstance(call, ast.Call) and len(call.args) + len(call.keywords) > 1
    has_rate = name in unit.rates and unit.rates[name][1] == f"{name}.learning_rate"
    return has_momentum or ".SGD(" not in made or has_rate


def _deletes(unit: Unit, saver: str, made: ast.Call) -> bool:
    """Whether a saver may write more checkpoints without a number than it keeps."""
    paths: dict[str, ast.expr] = {}
    for node in ast.walk(unit.node):
        method = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and isinstance(method, ast.Attribute) and method.attr == "save":
            given = arguments(node, ("sess", "save_path", "global_step"))
            if isinstance(method.value, ast.Name) and method.value.id == saver and "save_path" in given:
                paths[unit.texts.of(given["save_path"])] = given["save_path"]
    are_few = len(paths) <= 1 or (len(paths) <= _KEPT and not any(each.arg == "max_to_keep" for each in made.keywords))
    is_fixed = are_few and not any(_may_change(unit, path) for path in paths.values())
    return bool(paths) and not is_fixed and not checkpoints.keeps_all(made)


def _may_change(unit: Unit, path: ast.expr) -> bool:
    """Whether a path is not of constants and of names that are bound once, in no loop."""
    for node in ast.walk(path):
        is_join = isinstance(node, ast.Call) and unit.texts.of(node.func) == "os.path.join"
        bound = unit.file.bound.get(node.id, ()) if isinstance(node, ast.Name) else ()
        if (not is_join and not isinstance(node, _PARTS_OF_PATHS)) or len(bound) > 1:
            return True
        if any(isinstance(each, ast.For | ast.While) for binder in bound for each in unit.file.around(binder)):
            return True
    return False


def _manager(unit: Unit, saver: Item, made: str) -> str:
    """The name of the CheckpointManager that is made so; it is made once, behind the saver."""
    lines = unit.after.setdefault(saver, [])
    name = next((line.partition(" = ")[0] for line in lines if line.endswith(f" = {made}")), None)
    if name is None:
        name = unit.new_name("manager")
        lines.append(f"{name} = {made}")
    return name


def _is_known(unit: Unit, path: ast.expr, statement: ast.stmt) -> bool:
    """Whether a path is of names that nothing binds behind a statement, and of calls of ``os.path.join()`` alone."""
    for node in ast.walk(path):
        is_join = isinstance(node, ast.Call) and unit.texts.of(node.func) == "os.path.join"
        if not is_join and not isinstance(node, _PARTS_OF_PATHS):
            return False
        if isinstance(node, ast.Name):
            if not all(_is_bound_at(unit, each, statement) for each in unit.file.bound.get(node.id, ())):
                return False
    return not unit.kinds.classes


def _is_bound_at(unit: Unit, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether what binds a name has done so for good when a statement is executed, in its function or the module."""
    around = next((each for each in unit.file.around(node) if isinstance(each, _FUNCTIONS)), None)
    return around in (None, unit.node) and getattr(node, "lineno", 0) < statement.lineno


def _is_average(unit: Unit, call: ast.Call) -> bool:
    return creates(unit.kinds.symbol(call.func)) == "average"


def _write_restored(unit: Unit, saved: Mapping[str, Mapping[str, str]]) -> None:
    """Averages are restored into their variables, and all else as it was saved."""
    for statement, (average, saver) in unit.restored.items():
        assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        lists = [listed for name, listed in unit.averaged.values() if name == average]
        if len(lists) != 1 or saver not in saved:
            raise NotPossible(statement, "Averages of variables are restored from a file that may be of TensorFlow 1")
        made = f"{unit.texts.tensorflow}.train.Checkpoint"
        path = unit.texts.of(statement.value.args[1])
        names = ", ".join(f"{name}={text}" for name, text in saved[saver].items())
        unit.replaced[statement] = [
            f"{made}({names}).restore({path}).expect_partial()",
            f"{made}({average}_averages={lists[0]}).restore({path}).expect_partial()  # the averages, in their place",
        ]


def drop_resets(unit: Unit) -> None:
    """Remove ``legacy.reset()`` where the variables are restored before a request reads them.

    Raises:
        NotPossible: They are not.
    """
    for node in ast.walk(unit.node):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "reset":
            continue
        if not isinstance(call.func.value, ast.Name) or call.func.value.id != unit.legacy:
            continue
        body = next(each for each in bodies(unit.file.parents[node]) if node in each)
        is_new = _restores_first(unit, body[body.index(node) + 1 :]) or has_others_behind(unit, node)
        if unit.has_variables() and not is_new:
            raise NotPossible(node, "A second session initialises the variables anew")
        if drawing := _draws_again(unit, node):
            raise NotPossible(drawing, "A second session draws the random numbers of a seed anew")
        unit.replaced[node] = []


def _draws_again(unit: Unit, statement: ast.stmt) -> ast.stmt | None:
    """Return what draws numbers with a seed for requests before and behind a statement, if there is such."""
    found: dict[bool, dict[Item, None]] = {True: {}, False: {}}
    for request in unit.requests:
        items = slices.needed(unit.items, names_in(request.leaves), request.feeds)
        drawing = dict.fromkeys(each for each in items if _has_seed(unit, each))
        for call in request.calls:
            found[call.lineno < statement.lineno] |= drawing
    return next((each.statement for each in found[True] if each in found[False]), None)


def _has_seed(unit: Unit, item: Item) -> bool:
    """Whether requests draw random numbers in a statement, with a seed that is written there or that of the graph."""
    has_seed = any(use.name in GRAPH_SEEDS for use in unit.file.uses)
    for call in ast.walk(item.statement) if unit.is_moved(item) else ():
        symbol = unit.kinds.symbol(call.func) if isinstance(call, ast.Call) else None
        if (symbol or "").startswith(_DRAWING):
            assert isinstance(call, ast.Call)
            if has_seed or any(each.arg == "seed" for each in call.keywords):
                return True
    return False


def has_others_behind(unit: Unit, statement: ast.stmt) -> bool:
    """Whether the requests behind a statement of a straight line have other variables than those before it."""
    has_savers = any(use.symbol == "tf1sessions.porting.LegacySaver" for use in unit.file.uses)
    if has_savers or unit.kinds.classes or not all(isinstance(each, ast.With) for each in _around(unit, statement)):
        return False
    found: dict[bool, set[Item]] = {True: set(), False: set()}
    for request in unit.requests:
        if all(map(unit.is_initializer, request.leaves)):
            continue
        items = slices.needed(unit.items, names_in(request.leaves), request.feeds)
        kept = {each for each in items if each.makers or each.kind in (Kind.VARIABLE, Kind.VARIABLES)}
        for call in request.calls:
            if any(isinstance(each, ast.FunctionDef | ast.Lambda) for each in _around(unit, call)):
                return False
            found[call.lineno < statement.lineno] |= kept
    return not found[True] & found[False]


def _around(unit: Unit, node: ast.AST) -> list[ast.AST]:
    return list(itertools.takewhile(lambda each: each is not unit.node, unit.file.around(node)))


def _restores_first(unit: Unit, statements: Sequence[ast.stmt]) -> bool:
    names = {each.name for each in unit.requests if not all(map(unit.is_initializer, each.leaves))}
    for statement in statements:
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call):
                continue
            if isinstance(call.func, ast.Attribute) and call.func.attr == "restore":
                return any(isinstance(each, ast.Name) and each.id == unit.legacy for each in call.args)
            if isinstance(call.func, ast.Name) and call.func.id in names:
                return False
    return False


def check_initializations(unit: Unit) -> None:
    first, *later = sorted(unit.initializations, key=lambda each: each.lineno) or [unit.made]
    initializing = [each for each in unit.requests if all(map(unit.is_initializer, each.leaves))]
    others = [call for each in unit.requests if each not in initializing for call in each.calls]
    for statement in later:
        is_new = any(_makes_new(unit, each, first) for each in initializing if _calls(each, statement))
        is_new = is_new or has_others_behind(unit, statement)
        if is_new or not any(first.lineno < call.lineno < statement.lineno for call in others):
            continue
        body = next(each for each in bodies(unit.file.parents[statement]) if statement in each)
        if unit.has_variables() and not _restores_first(unit, body[body.index(statement) + 1 :]):
            raise NotPossible(statement, "Variables are initialised more than once")


def _calls(request: UnitRequest, statement: ast.stmt) -> bool:
    return any(call is node for call in request.calls for node in ast.walk(statement))


def _makes_new(unit: Unit, request: UnitRequest, first: ast.stmt) -> bool:
    """Whether a request gives values to variables only that were made after a statement: ``[position, velocity]``."""
    lists = [each.args[0] for each in request.leaves if isinstance(each, ast.Call) and each.args]
    names = [name for each in lists if isinstance(each, ast.List | ast.Tuple) for name in each.elts]
    made = set().union(*(item.binds for item in unit.items if item.statement.lineno > first.lineno))
    is_listed = bool(names) and len(lists) == len(request.leaves)
    return is_listed and all(isinstance(each, ast.Name) and each.id in made for each in names)


def remove_initialization(unit: Unit, request: UnitRequest) -> None:
    for number, call in enumerate(sorted(request.calls, key=lambda each: each.lineno)):
        statement = unit.file.parents[call]
        if not isinstance(statement, ast.Expr):
            raise NotPossible(call, "The result of an initialisation is used")
        if number and not has_others_behind(unit, statement):
            raise NotPossible(call, "Variables are initialised more than once")
        around = itertools.takewhile(lambda node: node is not unit.node, unit.file.around(statement))
        if any(isinstance(node, ast.For | ast.While) for node in around):
            raise NotPossible(call, "Variables are initialised in a loop")
        unit.replaced[statement] = []
        unit.initializations.append(statement)
    if request.statement is not None:
        unit.replaced[request.statement] = []
