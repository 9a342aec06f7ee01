"""Reasons that keep a program at the step before: TensorFlow 2 has no equal, or it would mean something else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from ....source.uses import FileUses
from ..requests.arguments import arguments
from ..requests.request import NotPossible, refuse_code_in_texts
from ..unported import unported_imports
from .call_table import ENTRIES
from .kinds import Kind, Kinds, bound_names, creates, is_static_symbol, names_read
from .statements import Item
from .variables import collection_key, is_local_list, variable_list, variable_name

__all__ = [
    "DROPPED_PRINT",
    "calls_of_program",
    "check_file",
    "check_items",
    "check_makers",
    "is_dropped",
    "is_print",
    "other_names",
]

#: What is said where a print goes.
DROPPED_PRINT = "It printed a tensor of the graph while that was built; none is there now, so this line is left out."
#: Names of TensorFlow that read or change what a graph keeps.
_GRAPH = {
    "tf.add_to_collection": "a collection of the graph",
    "tf.add_to_collections": "a collection of the graph",
    "tf.get_collection_ref": "a collection of the graph",
    "tf.get_default_graph": "the default graph",
    "tf.get_variable_scope": "the variable scope around it",
    "tf.local_variables": "the graph's local variables",
    "tf.model_variables": "a collection of the graph",
    "tf.moving_average_variables": "a collection of the graph",
    "tf.make_template": "a template",
    "tf.train.start_queue_runners": "queue runners",
    "tf.train.import_meta_graph": "a graph that is read from a file",
    "tf.import_graph_def": "a graph that is read from a file",
    "tf.train.ClusterSpec": "a cluster",
    "tf.train.replica_device_setter": "variables on the servers of a cluster",
    "tf.report_uninitialized_variables": "a question for the variables without values",
    "tf.is_variable_initialized": "a question for the variables without values",
    "tf.Session": "a session that is used where it is made",
    "tf.InteractiveSession": "a session that is used where it is made",
    "tf.sparse_placeholder": "a sparse placeholder",
    "tf.py_func": "a Python function in the graph, which may keep something",
}
_PREFIXES = {
    "tf.losses.get_": "the losses that the graph keeps",
    "tf.metrics.": "a metric, whose variables are local",
    "tf.train.batch": "queues that feed the graph",
    "tf.train.shuffle_batch": "queues that feed the graph",
    "tf.train.QueueRunner": "queue runners",
    "tf.train.queue_runner.": "queue runners",
    "tf.train.add_queue_runner": "queue runners",
    "tf.queue.QueueBase": "a queue of a kind that is not known",
    "tf.estimator.": "an estimator",
    "tf.data.Iterator.from_string_handle": "an iterator that is chosen by what is fed",
    "tf.train.Server": "a server of a cluster",
    "tf.distribute.Server": "a server of a cluster",
}
_ENDS = {"_input_producer": "queues that feed the graph"}
#: They need references to variables, or gradients of gradients that no tape has seen.
_WITHOUT_FORM = frozenset(["tf.count_up_to", "tf.hessians"])
#: What step ``functions`` writes, and loaders of data.
_OURS = ("tf1sessions.porting.LegacyGraph", "tf1sessions.porting.LegacySaver", "tf1sessions.contrib.learn.datasets")


def check_file(file: FileUses, kinds: Kinds) -> None:
    """Refuse a file.

    Raises:
        NotPossible: It uses something that keeps it at the step before.
    """
    if any(use.name.startswith("tf.") for other in _neighbours(file) for use in other.uses):
        raise NotPossible(file.tree.body[0], "The program uses TensorFlow in several files")
    _check_imported(file)
    refuse_code_in_texts(file)
    for use in file.uses:
        if use.call is not None and _is_local_list(file, kinds, use.call):
            continue
        if use.call is not None and variable_name(kinds, file.parents.get(file.parents[use.call])) is not None:
            continue
        what = None if _is_of_writer(file, kinds, use.node) else _kept_by_graph(use.name)
        if what is not None:
            raise NotPossible(use.node, f"It has {what}")
        if use.symbol.startswith("tf1sessions.") and not use.symbol.startswith(_OURS) and use.symbol not in ENTRIES:
            raise NotPossible(use.node, f"{use.symbol} has no form in TensorFlow 2 that is known here")
        if use.name in _WITHOUT_FORM:
            raise NotPossible(use.node, f"{use.name} has no form in TensorFlow 2 that is known here")
        if use.name == "tf.tuple" and use.call is not None and _has_control_inputs(use.call):
            raise NotPossible(use.node, "It has tf.tuple() with control inputs")
        if use.name == "tf.get_collection":
            call = use.call
            if call is None or (variable_list(kinds, call) is None and collection_key(kinds, call) != "UPDATE_OPS"):
                raise NotPossible(use.node, "It has a collection of the graph")


def check_makers(file: FileUses, kinds: Kinds) -> None:
    """Refuse variables whose names are not known to be such: lambdas, methods and inner functions make them.

    Raises:
        NotPossible: There is one.
    """
    graphs = [use.call for use in file.uses if use.symbol == _OURS[0] and use.call is not None]
    known = {next(filter(_is_function, file.around(each)), None) for each in graphs} | {*kinds.functions.values(), None}
    for use in file.uses:
        if creates(use.name) != "variable":
            continue
        parent = file.parents[use.node]
        # isinstance(v, tf.Variable): those of version 1 and 2 are of other classes
        is_given = isinstance(
            parent, ast.Dict | ast.keyword | ast.Assign | ast.Call | ast.Tuple | ast.List | ast.Compare
        )
        if use.call is None and is_given:
            raise NotPossible(use.node, f"{use.name} is handed about")
        function = next(filter(_is_function, file.around(use.node)), None)
        if use.call is not None and function is not None and function not in known:
            around = file.parents[function]
            if isinstance(around, ast.ClassDef):
                raise NotPossible(use.call, f"The class {around.name} builds a part of the graph")
            if isinstance(function, ast.Lambda):
                raise NotPossible(use.call, "A lambda makes variables")
            name = getattr(function, "name", "")
            if any(each.id == name for each in ast.walk(file.tree) if isinstance(each, ast.Name)):
                raise NotPossible(use.call, f"{name}(), a function inside of another one, makes variables")


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _has_control_inputs(call: ast.Call) -> bool:
    return "control_inputs" in arguments(call, ("tensors", "name", "control_inputs"))


def _kept_by_graph(name: str) -> str | None:
    """Return what of a graph a name of TensorFlow stands for that TensorFlow 2 has not, or that is not known here."""
    if name in _GRAPH:
        return _GRAPH[name]
    if creates(name) == "metric":  # of which objects.py decides
        return None
    starts = (text for start, text in _PREFIXES.items() if name.startswith(start))
    ends = (text for end, text in _ENDS.items() if name.endswith(end))
    return next(starts, next(ends, None))


def _is_of_writer(file: FileUses, kinds: Kinds, node: ast.AST) -> bool:
    """Whether the graph is asked for to be written with summaries, where nothing takes its place."""
    while isinstance(node, ast.Name | ast.Attribute | ast.keyword):
        node = file.parents[node]
    parent = file.parents.get(node)
    parent = file.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(parent, ast.Call) and kinds.symbol(parent.func) == "tf.summary.FileWriter"


def _is_local_list(file: FileUses, kinds: Kinds, call: ast.Call) -> bool:
    """Whether a call lists the local variables for an initializer of them: see resets.py."""
    parent = file.parents[call]
    is_initializer = isinstance(parent, ast.Call) and (kinds.symbol(parent.func) or "").startswith("tf.")
    return is_initializer and is_local_list(kinds, call) and "initialize" in kinds.symbol(parent.func)  # type: ignore


def _neighbours(file: FileUses) -> list[FileUses]:
    """The other files of the project that the file imports, or that import it."""
    others = [other for other in file.siblings if other is not file]
    return [other for other in others if other.module in _imported(file) or file.module in _imported(other)]


def _check_imported(file: FileUses) -> None:
    """Refuse a module beside a file or its package that may use TensorFlow, and is no file of the project."""
    unported = next(unported_imports(file), None)
    if unported is not None:
        what = f"It imports {unported.module}, which uses TensorFlow and is none of the files to port"
        if unported.error:
            shown, error = unported.module, unported.error
            what = f"It imports {shown}, which is none of the files to port and cannot be read: {error}"
        raise NotPossible(unported.statement, what)


def _imported(file: FileUses) -> set[str]:
    """The modules that a file imports; by a bare name also those beside it, as for a script in a folder."""
    names = {name for each in file.imports for name in (each.meaning, each.module)}
    package = file.module.rpartition(".")[0]
    return names | {f"{package}.{name}" for name in names if package}


def check_items(kinds: Kinds, scope_node: ast.Module | ast.FunctionDef | ast.If, items: Iterable[Item]) -> None:
    """Refuse statements of a graph.

    Raises:
        NotPossible: One builds by a class, or by a function inside of a function that makes variables.
    """
    classes = {each.name: each for each in ast.walk(kinds.file.tree) if isinstance(each, ast.ClassDef)}
    inner = {each.name: each for each in scope_node.body if isinstance(each, ast.FunctionDef)}
    if isinstance(scope_node, ast.Module):
        inner = {}
    items = list(items)
    computed = {name for item in items if item.kind >= Kind.CONSTANT for name in item.binds} | kinds.placeholders
    made = {name for item in items if item.kind >= Kind.VARIABLE for name in item.binds}
    bound = {name for item in items for name in item.binds} | kinds.placeholders | {"self"}
    _check_methods(kinds, items, classes)
    for item in items:
        if is_dropped(item) and calls_of_program(kinds, item.statement):
            raise NotPossible(item.statement, "A function of the program is called to print what it gives")
        if is_dropped(item) and (other := other_names(kinds, item.statement, bound)):
            raise NotPossible(item.statement, f"A print has a part of the graph, and {other[0]!r} besides")
        if kinds.classes and "self" in item.binds and item.kind >= Kind.CONSTANT:
            raise NotPossible(item.statement, "An attribute is given a part of the graph in a way that is not known")
        for node in ast.walk(item.statement):
            function = kinds.functions.get(node.id) if isinstance(node, ast.Name) else None
            if function is not None and (read := sorted(_free_names(function) & computed)):
                what = f"{function.name}() reads {read[0]!r}, which requests compute, and is not given it"
                raise NotPossible(node, what)
        for call in ast.walk(item.statement):
            method = call.func if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
            if method is not None and method.attr == "count_up_to":
                raise NotPossible(method, f"{method.attr} has no form in TensorFlow 2 that is known here")
            if method is not None and method.attr == "set_shape" and kinds.is_placeholder(method.value):
                raise NotPossible(method, "A placeholder is given its shape after it was made")
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            name = call.func.id
            if name in kinds.classes:
                if item.kind >= Kind.CONSTANT:
                    raise NotPossible(call, f"The class {name} is given a part of the graph")
            elif name in classes and (_has_symbols(kinds, classes[name]) or _free_names(classes[name]) & made):
                raise NotPossible(call, f"The class {name} builds a part of the graph")
            if name in inner and item.kind >= Kind.CONSTANT and _makes(kinds, inner[name]):
                raise NotPossible(call, f"{name}(), a function inside of another one, makes variables")
        statement = item.statement
        is_kept = not isinstance(statement, ast.Expr) or item.binds or item.kind < Kind.CONSTANT
        if isinstance(statement, ast.Expr) and not is_kept and not _may_go(statement.value):
            raise NotPossible(statement, "A statement does something with tensors while the graph is built")


def _check_methods(kinds: Kinds, items: list[Item], classes: dict[str, ast.ClassDef]) -> None:
    """Refuse calls of methods that read a part of the graph which they are not given."""
    built = {name for item in items if item.kind >= Kind.VARIABLE for name in item.binds} | kinds.placeholders
    own = [each for each in classes.values() if each.name not in kinds.classes]
    parts = [(name, one, each.name) for each in own for one in each.body for name in bound_names(one)]
    readers = {name: owner for name, one, owner in parts if _free_names(one) & built}
    computing = {name: owner for name, one, owner in parts if _computes(kinds, one)} | readers
    for item in items:
        named = readers if item.kind is Kind.TENSOR else computing  # what is given a tensor may compute with it
        for node in ast.walk(item.statement):
            if (name := _named_attribute(node)) in named:
                raise NotPossible(node, f"The class {named[name]} builds a part of the graph")


def _has_symbols(kinds: Kinds, node: ast.AST) -> bool:
    return any(kinds.symbol(each) for each in ast.walk(node))


def _computes(kinds: Kinds, node: ast.AST) -> bool:
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    symbols = [kinds.symbol(each.func) or "" for each in calls]
    return any(each.startswith("tf.") and not is_static_symbol(each) for each in symbols)


def _named_attribute(node: ast.AST) -> str:
    """The attribute that a node reads: ``model.loss`` and ``getattr(model, "loss")``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    is_getattr = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
    name = node.args[1] if is_getattr and len(node.args) > 1 else None  # type: ignore[attr-defined]
    return str(name.value) if isinstance(name, ast.Constant) else ""


def is_print(statement: ast.AST) -> bool:
    """Whether a statement prints something."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def is_dropped(item: Item) -> bool:
    """Whether a statement prints a tensor while the graph is built."""
    return is_print(item.statement) and item.kind >= Kind.CONSTANT


def calls_of_program(kinds: Kinds, statement: ast.stmt) -> bool:
    """Whether a statement calls what may do more than compute a value: functions and classes of the program."""
    calls = [each.func for each in ast.walk(statement) if isinstance(each, ast.Call)]
    names = [each.id for each in calls if isinstance(each, ast.Name) and kinds.symbol(each) is None]
    return not all(hasattr(builtins, name) for name in names)


def other_names(kinds: Kinds, statement: ast.stmt, computed: set[str]) -> list[str]:
    """The names in a print that are no part of the graph: a value that a request gave, or the session."""
    bound = {each.bound for each in kinds.file.imports} | bound_names(statement) | set(dir(builtins))
    bound |= {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    bound |= {each.arg for each in ast.walk(statement) if isinstance(each, ast.arg)}
    return sorted(names_read(statement) - computed - bound)


def _free_names(function: ast.AST) -> set[str]:
    """The names that a function reads and does not bind."""
    bound = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    bound |= {
        each.id for each in ast.walk(function) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    return names_read(function) - bound


def _may_go(call: ast.expr) -> bool:
    """Whether a call may be left out, or is one that a request runs."""
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "print"
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("minimize", "set_shape")


def _makes(kinds: Kinds, node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) and creates(kinds.symbol(each.func)) for each in ast.walk(node))
