"""Queue runners, before the graphs of a file are read: the operation that they run becomes a request, in threads.

A runner's threads put elements into a queue until an error says that nothing more comes; the last closes the queue::

    with legacy:                                             with legacy:
        runner = tf.train.QueueRunner(queue, [put] * 2)          runner = put
    with legacy:                                   ──▶       run_runner = legacy.function(runner)
        threads = runner.create_threads(                     def start_runner(coord): ...
            legacy, coord=coord, start=True)                 with legacy:
                                                                 threads = start_runner(coord)
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses
from .. import headers
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .edited import edited
from .statements import is_any_block
from .texts import INDENT, indented

__all__ = ["with_threads"]

_RUNNER = "tf.train.QueueRunner"


def with_threads(file: FileUses) -> FileUses:
    """Return a file whose queue runners are functions that start threads; the file itself where it has none.

    A runner that is handed about, or has several operations, stays.
    """
    edits: list[Edit] = []
    for use in file.uses:
        if use.name in (_RUNNER, f"tf.train.queue_runner.{_RUNNER.rpartition('.')[2]}") and use.call is not None:
            runner = _Runner.of(file, use.call)
            if runner is not None:
                edits += runner.edits()
    if not edits:
        return file
    if not any(each.bound == "threading" for each in file.imports):
        first = next(iter(headers.tensorflow_statements(file)))
        edits.append(headers.insert_before(file, first, ["import threading"]))
    return edited(file, edits)


@dataclasses.dataclass(frozen=True)
class _Runner:
    """A queue runner that has a name, and starts its threads at one place.

    Attributes:
        file: The file.
        made: What makes it.
        name: Its name.
        queue: The name of its queue.
        operation: What each thread runs.
        number: How many threads there are, as text.
        started: ``name.create_threads(...)``.
        coordinator: The expression of the threads' coordinator.
        is_daemon: The expression that says whether the threads end with the program.
    """

    file: FileUses
    made: ast.Call
    name: str
    queue: str
    operation: ast.expr
    number: str
    started: ast.Call
    coordinator: ast.expr
    is_daemon: ast.expr | None

    @classmethod
    def of(cls, file: FileUses, made: ast.Call) -> _Runner | None:
        """Read what makes a runner; None where it is made, or starts its threads, in a way that is not known."""
        statement = file.parents[made]
        name = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(name, ast.Name):
            return None
        uses = [each for each in ast.walk(file.tree) if isinstance(each, ast.Name) and each.id == name.id]
        method = file.parents[uses[-1]] if len(uses) == 2 else None
        started = file.parents.get(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(started, ast.Call) or method.attr != "create_threads":  # type: ignore[union-attr]
            return None
        try:
            given = arguments(made, ("queue", "enqueue_ops"))
            starting = arguments(started, ("sess", "coord", "daemon", "start"))
        except NotPossible:
            return None
        operation = _operation(file, given["enqueue_ops"]) if "enqueue_ops" in given else None
        starts = starting.get("start")
        is_started = isinstance(starts, ast.Constant) and starts.value is True and "coord" in starting
        blocks = _block(file, made), _block(file, started)
        queue = given.get("queue")
        if operation is None or set(given) != {"queue", "enqueue_ops"} or not isinstance(queue, ast.Name):
            return None
        if not is_started or None in blocks or not isinstance(file.parents[started], ast.Assign):
            return None
        return cls(file, made, name.id, queue.id, *operation, started, starting["coord"], starting.get("daemon"))

    def edits(self) -> Iterator[Edit]:
        """The edits that make it a request and a function that starts threads."""
        positions, newline = self.file.positions, self.file.source.newline
        operation = self.name
        if isinstance(self.operation, ast.Name):
            operation = self.operation.id
            yield self._without(self.file.parents[self.made])
        else:
            yield positions.replace(self.made, positions.source(self.operation))
        block = _block(self.file, self.started)
        assert block is not None
        legacy = ast.unparse(block.items[0].context_expr)
        lead = " " * block.col_offset
        start = self._free(f"start_{self.name}")
        lines = self._function(start, self._free(f"run_{self.name}"), legacy, lead, operation)
        at = positions.line_start(block.lineno)
        yield Edit(at, at, "".join((lead + line if line else "") + newline for line in lines))
        yield positions.replace(self.started, f"{start}({positions.source(self.coordinator)})")

    def _without(self, statement: ast.AST) -> Edit:
        """The edit that takes a statement away, with the comments right above it."""
        assert isinstance(statement, ast.Assign)
        block = self.file.parents[statement]
        if isinstance(block, ast.With) and len(block.body) == 1:
            return self.file.positions.replace(statement, "pass")
        lines, first = self.file.source.text.splitlines(), statement.lineno
        while lines[first - 2].lstrip().startswith("#"):
            first -= 1
        positions = self.file.positions
        return Edit(positions.line_start(first), positions.line_start((statement.end_lineno or 0) + 1), "")

    def _free(self, wish: str) -> str:
        name, number = wish, 1
        while self.file.taken(name):
            number += 1
            name = f"{wish}_{number}"
        return name

    def _function(self, start: str, run: str, legacy: str, lead: str, operation: str) -> list[str]:
        errors = next(each.bound for each in self.file.imports if each.meaning == "tensorflow")
        daemon = f", daemon={self.file.positions.source(self.is_daemon)}" if self.is_daemon is not None else ""
        body = [
            f'"""Start threads that fill {self.queue} until nothing more comes, and then close it."""',
            f"running, lock = {self.number}, threading.Lock()",
            "",
            "def fill():",
            *indented(["nonlocal running", "with coord.stop_on_exception():"]),
            *indented(["while not coord.should_stop():"], 2),
            *indented(["try:", f"{INDENT}{run}()", f"except {errors}.errors.OutOfRangeError:"], 3),
            *indented(["with lock:", f"{INDENT}running -= 1", f"{INDENT}if not running:"], 4),
            *indented([f"{self.queue}.close()"], 6),
            *indented(["break"], 4),
            "",
            "def stop():",
            *indented(["coord.wait_for_stop()", f"{self.queue}.close(cancel_pending_enqueues=True)"]),
            "",
            "targets = [fill] * running + [stop]",
            f"threads = [threading.Thread(target=target{daemon}) for target in targets]",
            "for thread in threads:",
            *indented(["coord.register_thread(thread)", "thread.start()"]),
            "return threads",
        ]
        blank = [""] * (1 if lead else 2)
        return [f"{run} = {legacy}.function({operation})", *blank, f"def {start}(coord):", *indented(body), *blank]


def _operation(file: FileUses, node: ast.expr) -> tuple[ast.expr, str] | None:
    """Return the operation that all threads run, and their number: ``[operation] * number``."""
    number = "1"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        number, node = file.positions.source(node.right), node.left
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        (each,) = node.generators
        is_range = (
            isinstance(each.iter, ast.Call) and ast.unparse(each.iter.func) == "range" and len(each.iter.args) == 1
        )
        if not is_range or each.ifs or not isinstance(each.target, ast.Name):
            return None
        if any(isinstance(one, ast.Name) and one.id == each.target.id for one in ast.walk(node.elt)):
            return None
        return node.elt, file.positions.source(each.iter.args[0])  # type: ignore[attr-defined]
    if not isinstance(node, ast.List) or len(node.elts) != 1 or "\n" in number:
        return None
    return node.elts[0], number


def _block(file: FileUses, node: ast.AST) -> ast.With | None:
    """The ``with legacy:`` that a node's statement is in, directly."""
    statement = next(each for each in file.around(node) if isinstance(each, ast.stmt))
    block = file.parents[statement]
    return block if isinstance(block, ast.With) and is_any_block(block) else None
