"""Constructs of TensorFlow 1 in a file, such as sessions, placeholders and queues: TensorFlow 2 has none of them."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator

from ...source.effects import is_session, makes_operations
from ...source.uses import FileUses, Use

__all__ = ["CONSTRUCTS", "OPERATION_LOADERS", "find"]

#: Construct -> what it is, for pages.
CONSTRUCTS = {
    "session": "Makes a session",
    "placeholder": "A placeholder",
    "feeds in a loop": "Runs a session with a feed_dict in a loop",
    "graph grows in a loop": "Makes operations in a loop that runs a session: it gets slower at each step",
    "collection": "A collection of the graph",
    "shared variables": "Variables that a second call uses again: reuse=, AUTO_REUSE",
    "control flow": "Control flow in the graph: cond, while_loop, case, map_fn, scan",
    "queue": "Queues, and the threads that fill them",
    "py_func": "Python in the graph",
    "saver": "Reads or writes checkpoints",
    "thread": "Starts threads or processes",
    "custom operation": "Loads a library of operations",
}

#: What loads a library of operations that TensorFlow 1 was compiled with.
OPERATION_LOADERS = frozenset(["tf.load_op_library", "tf.load_library", "tf.contrib.util.loader.load_op_library"])

_BY_NAME = {
    name: kind
    for kind, names in {
        "placeholder": "tf.placeholder tf.placeholder_with_default tf.sparse_placeholder",
        "collection": "tf.add_to_collection tf.add_to_collections tf.get_collection tf.get_collection_ref tf.GraphKeys",
        "shared variables": "tf.AUTO_REUSE tf.make_template",
        "control flow": "tf.cond tf.while_loop tf.case tf.scan tf.map_fn tf.foldl tf.foldr tf.control_dependencies",
        "queue": (
            "tf.FIFOQueue tf.PaddingFIFOQueue tf.PriorityQueue tf.RandomShuffleQueue tf.QueueBase tf.train.QueueRunner "
            "tf.train.add_queue_runner tf.train.start_queue_runners tf.train.queue_runner tf.train.batch "
            "tf.train.batch_join tf.train.shuffle_batch tf.train.shuffle_batch_join tf.train.input_producer "
            "tf.train.string_input_producer tf.train.slice_input_producer tf.train.range_input_producer"
        ),
        "py_func": "tf.py_func tf.py_function tf.numpy_function tf.contrib.framework.py_func",
        "saver": "tf.train.Saver tf.train.import_meta_graph tf.train.Supervisor",
        "thread": (
            "threading.Thread multiprocessing.Process multiprocessing.Pool concurrent.futures.ThreadPoolExecutor "
            "concurrent.futures.ProcessPoolExecutor multiprocessing.pool.ThreadPool"
        ),
        "custom operation": " ".join(OPERATION_LOADERS),
    }.items()
    for name in names.split()
}
_RUNS = frozenset(["run", "eval"])
_SCOPES = frozenset(["tf.variable_scope", "tf.layers.dense", "tf.layers.conv2d"])
_RUN = re.compile(r"\.(run|eval)\s*\(")


def find(file: FileUses) -> dict[str, list[ast.AST]]:
    """Return the constructs of a file, each with the nodes at which it is."""
    found: dict[str, list[ast.AST]] = {}
    for use in file.uses:
        kind = _BY_NAME.get(use.name) or _kind(use)
        if kind is not None:
            found.setdefault(kind, []).append(use.node)
    if "reuse_variables" in file.source.text:
        for call in file.calls.values():
            if isinstance(call.func, ast.Attribute) and call.func.attr == "reuse_variables":
                found.setdefault("shared variables", []).append(call)
    if file.loops and found.keys() - {"thread"} and _RUN.search(file.source.text):
        for kind, node in _in_loops(file):
            found.setdefault(kind, []).append(node)
    return found


def _kind(use: Use) -> str | None:
    """The construct of a use whose name alone does not tell it."""
    name = use.name
    if use.call is not None and is_session(name):
        return "session"
    if name.startswith("tf.GraphKeys."):
        return "collection"
    if use.call is not None and name in _SCOPES and any(each.arg == "reuse" for each in use.call.keywords):
        return "shared variables"
    return None


def _in_loops(file: FileUses) -> Iterator[tuple[str, ast.AST]]:
    """Find what runs a session in a loop, and what makes operations in a loop that does."""
    loops = sorted((loop.body[0].lineno, loop.body[-1].end_lineno or loop.lineno) for loop in file.loops)
    calls = [
        call for function, call in file.calls.items() if isinstance(function, ast.Attribute) and function.attr in _RUNS
    ]
    running = set()
    for call in filter(_runs_session, calls):
        around = _around(loops, call.lineno)
        running.update(around)
        if around and any(each.arg == "feed_dict" for each in call.keywords):
            yield "feeds in a loop", call
    if not running:
        return
    first, last = min(start for start, _ in running), max(end for _, end in running)
    for use in file.uses:
        if use.call is None or not first <= use.node.lineno <= last or not makes_operations(use.name):
            continue
        inner = _around(loops, use.node.lineno)
        if inner and inner[-1] in running:
            yield "graph grows in a loop", use.node


def _runs_session(call: ast.Call) -> bool:
    """Whether a call of a method in ``_RUNS`` surely runs a session: by what it is given, or by its owner's name."""
    function = call.func
    assert isinstance(function, ast.Attribute)
    if any(each.arg == "feed_dict" for each in call.keywords):
        return True
    owner = function.value
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return function.attr == "run" and name.strip("_").lower().endswith(("sess", "session"))


def _around(loops: list[tuple[int, int]], line: int) -> list[tuple[int, int]]:
    """The loops whose body has a line, the innermost last."""
    end = bisect.bisect_right(loops, (line, 1 << 60))
    return [loop for loop in loops[max(0, end - 200) : end] if loop[1] >= line]
