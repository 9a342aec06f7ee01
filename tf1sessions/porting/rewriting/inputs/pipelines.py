"""The queues of a file as data sets: what is replaced by what."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses, bodies
from ..indentation import Indentation
from ..native.texts import Texts
from ..requests.arguments import arguments
from ..requests.request import NotPossible, refuse_code_in_texts
from . import coordinators
from .batchers import BatchFunction
from .calls import BATCHES, PRODUCERS, UNKNOWN, is_literal
from .elements import Elements, ElementSource, elements_of
from .readers import Read, reads_of

__all__ = ["Pipelines", "rewritten"]

_RUNNERS = "tf.train.start_queue_runners"
_LINE = 100  # as long as a chain of methods may be in one line


@dataclasses.dataclass(frozen=True)
class Pipelines:
    """The changes of a file.

    Attributes:
        edits: Of its text.
        places: The queues and batches, and what became of each.
    """

    edits: tuple[Edit, ...]
    places: tuple[tuple[ast.AST, str], ...]


def rewritten(file: FileUses) -> Pipelines | None:
    """Return a file with data sets in place of queues; None if it has none.

    Raises:
        NotPossible: It has some that cannot be replaced.
    """
    names = {use.name for use in file.uses if use.call}
    if names & PRODUCERS.keys() or _RUNNERS in names:
        refuse_code_in_texts(file)
    if names & PRODUCERS.keys():
        return _PipelineWriter(file).written()
    return _PipelineWriter(file).without_runners() if _RUNNERS in names else None


class _PipelineWriter:
    def __init__(self, file: FileUses) -> None:
        self._file = file
        self._texts = Texts(file)
        self._indentation = Indentation(file)
        self._reads = reads_of(file)
        given = {
            each.function: each for each in self._reads if each.function and each.queue.id in _parameters(each.function)
        }
        has_batches = {each for each in given for call in _batch_calls(file) if each in file.around(call)}
        #: The functions that read a record from a queue which they are given, and those that make batches as well.
        self._by_queue = {function: read for function, read in given.items() if function not in has_batches}
        self._from_queue = {function: read for function, read in given.items() if function in has_batches}
        self._deleted: list[ast.stmt] = []
        self._inserted: dict[ast.stmt, list[str]] = {}
        self._places: list[tuple[ast.AST, str]] = []
        self._taken: dict[ast.AST, set[str]] = {}
        self._graph, self._tensorflow = _prefixes(file)
        self._data_functions: set[ast.FunctionDef] = set()
        self._given: dict[BatchFunction, list[ast.Call]] = {}  # functions that make batches, and their calls
        self._parameter_edits: list[Edit] = []

    def written(self) -> Pipelines:
        waiting = [each for each in self._producers() if not self._is_handed_on(each)]
        waiting += [self._reading(function, read) for function, read in self._from_queue.items()]
        bound: set[tuple[ast.AST, str]] = set()
        while waiting:
            source = waiting.pop(0)
            found = elements_of(self._file, source, self._reads, self._by_queue)
            names = {(found.scope, name) for name in source.names}
            if bound & names:
                raise NotPossible(source.call, "A queue has the name of another one")
            bound |= names
            self._write(found)
            if found.returns is not None and found.scope not in self._data_functions:
                assert isinstance(found.scope, ast.FunctionDef)
                self._data_functions.add(found.scope)
                waiting += self._calls_of(found.scope, found.returns)
        self._write_readers()
        self._write_batchers()
        self._drop_runners()
        return Pipelines(tuple(self._edits()), tuple(self._places))

    def without_runners(self) -> Pipelines | None:
        """A file that starts queue runners, if no file of its program makes a queue."""
        names = {use.name for other in self._file.connected for use in other.uses}
        if names & {*PRODUCERS, *BATCHES, "tf.train.import_meta_graph"}:
            return None
        self._drop_runners()
        edits = tuple(self._edits())
        return Pipelines(edits, tuple(self._places)) if edits else None

    # -- what there is ------------------------------------------------------------------------------------------------

    def _producers(self) -> Iterator[ElementSource]:
        for use in self._file.uses:
            if use.call and use.name in PRODUCERS:
                yield self._source(use.call, use.name == "tf.train.string_input_producer", is_list=True)

    def _source(self, call: ast.Call, is_queue: bool, *, is_list: bool) -> ElementSource:
        statement = self._file.parents[call]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise NotPossible(call, "A queue has no name of its own")
        target = statement.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        names = [each.id for each in parts if isinstance(each, ast.Name)]
        if len(names) != len(parts) or (is_queue and parts != [target]):
            raise NotPossible(call, "A queue has no name of its own")
        return ElementSource(statement, call, tuple(names), is_list and parts == [target] and not is_queue, is_queue)

    def _calls_of(self, function: ast.FunctionDef, returns: ast.Return) -> Iterator[ElementSource]:
        """The calls of a function that returns an element: where it is used, there is a data set then."""
        self._check_is_local(function)
        for node in ast.walk(self._file.tree):
            if isinstance(node, ast.Name) and node.id == function.name and isinstance(node.ctx, ast.Load):
                call = self._file.parents[node]
                if not isinstance(call, ast.Call) or call.func is not node:
                    raise NotPossible(node, f"{function.name}() is used in a way that is not known")
                is_list = isinstance(returns.value, ast.Tuple | ast.List)
                yield self._source(call, False, is_list=is_list)

    def _check_is_local(self, function: ast.FunctionDef) -> None:
        name = function.name
        if not isinstance(self._file.parents[function], ast.Module):
            raise NotPossible(function, f"{name}() is not a function of the module")
        full = f".{self._file.source.path.stem}.{name}"
        for other in self._file.connected:
            names = [use.symbol for use in other.uses] + [each.meaning for each in other.imports]
            if other is not self._file and any(f".{each}".endswith(full) for each in names):
                raise NotPossible(function, f"{name}() is used in {other.source.shown} as well")

    def _is_handed_on(self, source: ElementSource) -> bool:
        """Write a queue that is only given to functions which make batches of it."""
        around = self._file.around(source.statement)
        scope = next(each for each in around if isinstance(each, ast.FunctionDef | ast.Module))
        loads = [
            each
            for each in ast.walk(scope)
            if isinstance(each, ast.Name) and each.id == source.names[0] and isinstance(each.ctx, ast.Load)
        ]
        names = {function.name for function in self._from_queue}
        inner = self._own_queues(scope)
        calls = [self._file.parents[each] for each in loads if each not in inner]
        is_handed_on = all(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names for call in calls
        )
        if source.is_queue and calls and is_handed_on:
            self._write_source(source, source.names[0])
            return True
        return False

    def _own_queues(self, scope: ast.AST) -> set[ast.AST]:
        """The names in functions inside of a scope that are parameters there."""
        inner = [each for each in ast.walk(scope) if isinstance(each, ast.FunctionDef) and each is not scope]
        return {
            node
            for each in inner
            for node in ast.walk(each)
            if isinstance(node, ast.Name) and node.id in _parameters(each)
        }

    def _reading(self, function: ast.FunctionDef, read: Read) -> ElementSource:
        """A function that is given a queue, as a source."""
        self._check_is_local(function)
        call = self._file.parents[read.queue]
        assert isinstance(call, ast.Call)
        return ElementSource(function, call, (read.queue.id,), False, True)

    # -- what it becomes ----------------------------------------------------------------------------------------------

    def _write(self, found: Elements) -> None:
        source = found.source
        is_given = source.is_queue or source.is_whole
        data = source.names[0] if is_given else self._free(found.scope, "examples")
        self._write_source(source, data)
        records, lines, function = self._prepared(found)
        chain = [data] if not records else [data, records]
        if function:
            chain.append(f".map({function})")
        assert found.before is not None
        if found.returns is not None:
            self._insert(found.before, lines)
            self._texts.replace(found.ends[0], "".join(chain))
            self._places.append((found.returns, f"{self._scope_name(found)} returns a data set"))
        elif found.batcher is not None:
            if len(chain) > 1:
                examples = self._free(found.scope, "examples")
                lines += _chained(examples, chain)
                data = examples
            self._insert(found.before, lines)
            self._give(*found.batcher, data)
        else:
            if len(found.batches) > 1 and len(chain) > 1:
                lines += _chained(data, chain)
                chain = [data]
            self._insert(found.before, lines)
            self._batch(found.scope, found.batches, chain)
        self._deleted += found.moved
        if found.read is not None:
            self._deleted.append(found.read.statement)

    def _give(self, batcher: BatchFunction, call: ast.Call, data: str) -> None:
        """Give a function a data set in place of an element."""
        names = [each.arg for each in batcher.function.args.args]
        parts = [
            self._texts.of(each) for name, each in zip(names, call.args, strict=False) if name not in batcher.parts
        ]
        first = next((number for number, name in enumerate(names[: len(call.args)]) if name in batcher.parts), None)
        if first is not None:
            parts.insert(first, data)
        for each in call.keywords:
            if each.arg not in batcher.parts:
                parts.append(f"{each.arg}={self._texts.of(each.value)}")
            elif first is None:
                first = 0
                parts.append(f"{self._data_name(batcher)}={data}")
        self._texts.replace(call, f"{self._texts.of(call.func)}({', '.join(parts)})")
        self._given.setdefault(batcher, []).append(call)

    def _data_name(self, batcher: BatchFunction) -> str:
        """The parameter that takes a data set."""
        taken = _names(batcher.function)
        return next(name for name in ("examples", "data", "data_set", "elements") if name not in taken)

    def _write_batchers(self) -> None:
        """Have functions that make batches take a data set."""
        for batcher, calls in self._given.items():
            function, data = batcher.function, self._data_name(batcher)
            self._check_is_local(function)
            names = [
                each for each in ast.walk(self._file.tree) if isinstance(each, ast.Name) and each.id == function.name
            ]
            if len(names) != len(calls):
                raise NotPossible(function, f"{function.name}() is given something else, too")
            before: ast.AST | None = None
            for each in function.args.args:
                if each.arg in batcher.parts and not any(arg in batcher.parts for arg in self._before(function, each)):
                    self._texts.replace(each, data)
                elif each.arg in batcher.parts:
                    assert before is not None
                    start = self._file.positions.span(before)[1]
                    self._parameter_edits.append(Edit(start, self._file.positions.span(each)[1], ""))
                before = each
            self._batch(function, list(batcher.calls), [data])

    @staticmethod
    def _before(function: ast.FunctionDef, parameter: ast.arg) -> list[str]:
        return [each.arg for each in function.args.args[: function.args.args.index(parameter)]]

    def _batch(self, scope: ast.AST, calls: list[ast.Call], chain: list[str]) -> None:
        """Replace calls that make batches."""
        batches = self._free(scope, "batches")
        for call in calls:
            statement = next(each for each in self._file.around(call) if isinstance(each, ast.stmt))
            self._insert(statement, [*self._notes(call), *_chained(batches, [*chain, *self._batched(call)])])
            self._texts.replace(call, f"{self._graph}.data.make_one_shot_iterator({batches}).get_next()")
            self._places.append((call, "batches of a tf.data.Dataset"))

    def _scope_name(self, found: Elements) -> str:
        return f"{found.scope.name}()" if isinstance(found.scope, ast.FunctionDef) else "the module"

    def _write_source(self, source: ElementSource, data: str) -> None:
        """Replace the statement that makes a queue, or calls what returned an element."""
        if isinstance(source.statement, ast.FunctionDef):
            return
        symbol = next((use.name for use in self._file.uses if use.call is source.call), "")
        if symbol not in PRODUCERS:
            assert isinstance(source.statement, ast.Assign)
            self._texts.replace(source.statement.targets[0], data)
            return
        text, tensorflow = self._texts.of, self._tensorflow
        parameters = PRODUCERS[symbol]
        given = arguments(source.call, parameters)
        what = given[parameters[0]]
        lines = [f"{data} = {tensorflow}.data.Dataset.from_tensor_slices({self._slices(what, symbol)})"]
        shuffle, seed, epochs = given.get("shuffle"), given.get("seed"), given.get("num_epochs")
        chain = [data]
        is_one = isinstance(what, ast.List) and len(what.elts) == 1 and symbol == "tf.train.string_input_producer"
        if not is_literal(shuffle, False) and not is_one:
            by = "" if is_literal(seed, None) or seed is None else f", seed={text(seed)}"
            shuffled = f".shuffle({data}.cardinality(){by})"
            if is_literal(shuffle, None, True):
                chain.append(shuffled)
            else:
                assert shuffle is not None
                lines += [f"if {text(shuffle)}:", f"{self._indentation.unit('')}{data} = {data}{shuffled}"]
        if epochs is None or is_literal(epochs, None):
            chain.append(".repeat()")
        elif not is_literal(epochs, 1):
            chain.append(f".repeat({text(epochs)})")
        if len(lines) == 1 and not any("cardinality" in each for each in chain):
            lines = [lines[0] + "".join(chain[1:])]
        elif len(chain) > 1:
            lines.append("".join([f"{data} = ", *chain]))
        self._insert(source.statement, lines)
        self._deleted.append(source.statement)
        self._places.append((source.call, "a tf.data.Dataset"))

    def _slices(self, what: ast.expr, symbol: str) -> str:
        """Return the text of what a data set of slices is made of."""
        text = self._texts.of(what)
        if symbol == "tf.train.slice_input_producer":
            if isinstance(what, ast.List | ast.Tuple):
                parts = [self._texts.of(each) for each in what.elts]
                return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
            return f"tuple({text})"
        if isinstance(what, ast.Name):
            what = next(iter(_values(list(_statements(self._file.tree)), what.id)), what)
        for use in self._file.uses:
            if use.call is what and use.name.endswith(".match_filenames_once"):  # it makes a variable
                pattern = arguments(use.call, ("pattern",))["pattern"]
                return f"{self._tensorflow}.io.gfile.glob({self._texts.of(pattern)})"
        return text

    def _prepared(self, found: Elements) -> tuple[str, list[str], str]:
        """Return the records of file names, the function that makes an element of a record, and its name."""
        read, names = found.read, list(found.source.names)
        first: list[str] = []
        if found.through is not None:
            function, argument = found.through
            read = self._by_queue[function]
            names = [self._free(found.scope, _given_name(read))]
            self._texts.replace(argument, names[0])
        elif read is not None:
            names = [_given_name(read)]
            first = _whole_file(read, self._tensorflow)
        records = read.records(self._file, self._tensorflow) if read is not None else ""
        element, unit = found.ends[0], self._indentation.unit("")
        returned = self._returned(found, element)
        if not found.moved and not first and [each.strip() for each in returned.split(",")] == names:
            return records, [], ""
        if (call := _only_call(found, names)) and not first:
            return records, [], call
        body = [*first, *(line for each in found.moved for line in self._texts.statement(each))]
        name = self._free(found.scope, "prepare")
        parameters = f"*{names[0]}" if found.source.is_whole and not found.source.is_queue else ", ".join(names)
        lines = [f"def {name}({parameters}):", *(unit + line if line.strip() else line for line in body)]
        assert found.before is not None
        body_around = next(each for each in bodies(self._file.parents[found.before]) if found.before in each)
        return records, [*[""] * (body_around[0] is not found.before), *lines, f"{unit}return {returned}", ""], name

    def _returned(self, found: Elements, element: ast.expr) -> str:
        if isinstance(element, ast.List | ast.Tuple):
            return ", ".join(self._texts.of(each) for each in element.elts)
        if isinstance(element, ast.Name) and found.batches and found.source.names != (element.id,):
            if any(isinstance(value, ast.List) for value in _values(found.moved, element.id)):
                return f"tuple({element.id})"
        return self._texts.of(element)

    def _batched(self, call: ast.Call) -> list[str]:
        """The methods that make batches as a call of a queue did."""
        symbol = next(use.name for use in self._file.uses if use.call is call)
        given = arguments(call, BATCHES[symbol])
        text = self._texts.of
        if "shapes" in given and not is_literal(given["shapes"], None):
            raise NotPossible(call, "Batches are given the shapes of their elements")
        if not is_literal(given.get("enqueue_many"), None, False, True):
            raise NotPossible(call, "Whether an element is many is not written out")
        chain = [".unbatch()"] if is_literal(given.get("enqueue_many"), True) else []
        if symbol == "tf.train.shuffle_batch":
            least, seed = given["min_after_dequeue"], given.get("seed")
            by = "" if is_literal(seed, None) or seed is None else f", seed={text(seed)}"
            chain.append(f".shuffle({text(least)}{by})")
        smaller, size = given.get("allow_smaller_final_batch"), text(given["batch_size"])
        if is_literal(smaller, True):
            rest = ""
        elif is_literal(smaller, None, False):
            rest = ", drop_remainder=True"
        else:
            assert smaller is not None
            rest = f", drop_remainder=not {text(smaller)}"
        if not is_literal(given.get("dynamic_pad"), None, False, True):
            raise NotPossible(call, "Whether elements are padded is not written out")
        method = "padded_batch" if is_literal(given.get("dynamic_pad"), True) else "batch"
        return [*chain, f".{method}({size}{rest})", f".prefetch({self._tensorflow}.data.AUTOTUNE)"]

    def _notes(self, call: ast.Call) -> list[str]:
        """A comment on what is otherwise than with a queue."""
        symbol = next(use.name for use in self._file.uses if use.call is call)
        given = arguments(call, BATCHES[symbol])
        threads = given.get("num_threads")
        notes = []
        if symbol == "tf.train.shuffle_batch":
            least, most = (self._texts.of(given[each]) for each in ("min_after_dequeue", "capacity"))
            notes.append(f"# Draws from {least} elements; the queue had up to {most}.")
        elif not is_literal(threads, None, 1):
            notes.append("# In the order of the data, which the queue's several threads did not keep.")
        return notes

    def _write_readers(self) -> None:
        """Give the functions that read from a queue the record instead; readers go."""
        used = {id(each) for each in self._deleted}
        for function, read in self._by_queue.items():
            self._check_is_local(function)
            parameter = next(each for each in function.args.args if each.arg == read.queue.id)
            others = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == read.queue.id]
            if others != [read.queue]:
                raise NotPossible(function, f"{function.name}() uses a queue besides reading from it")
            if read.key and read.symbol != "tf.WholeFileReader" and _is_read(function, read.key):
                raise NotPossible(read.statement, "The keys that a reader gives are used")
            self._texts.replace(parameter, _given_name(read))
            self._insert(read.statement, _whole_file(read, self._tensorflow))
            self._deleted.append(read.statement)
        for read in self._reads:
            if read.function not in self._by_queue:
                if id(read.statement) not in used:
                    raise NotPossible(read.statement, "A reader reads from a queue that is not known")
                scope = read.function or self._file.tree
                if read.key and read.symbol != "tf.WholeFileReader" and _is_read(scope, read.key):
                    raise NotPossible(read.statement, "The keys that a reader gives are used")
            made = self._file.parents[read.made]
            if isinstance(made, ast.Assign) and made not in self._deleted:
                self._deleted.append(made)

    def _drop_runners(self) -> None:
        """Start no queue runners, if there are none any more."""
        if any(use.name.startswith(UNKNOWN) for other in self._file.connected for use in other.uses):
            return
        runners = [use.call for use in self._file.uses if use.call and use.name == _RUNNERS]
        unneeded = coordinators.unneeded(self._file, runners)
        self._deleted += unneeded.statements
        for condition in unneeded.conditions:
            self._texts.replace(condition, "True")
        for call in runners:
            self._places.append((call, "no queue runners are there to be started"))
            if not any(each in unneeded.statements for each in self._file.around(call)):
                self._texts.replace(call, "[]")

    # -- the text -----------------------------------------------------------------------------------------------------

    def _free(self, scope: ast.AST, name: str) -> str:
        """A name that nothing in a scope has."""
        taken = self._taken.setdefault(scope, _names(scope))
        number, found = 1, name
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        taken.add(found)
        return found

    def _insert(self, before: ast.stmt, lines: list[str]) -> None:
        self._inserted.setdefault(before, []).extend(lines)

    def _edits(self) -> Iterator[Edit]:
        positions, newline = self._file.positions, self._file.source.newline
        gone = set(self._deleted)
        spans = []
        for edit in self._opened_blocks(gone):
            spans.append((edit.start, edit.end))
            yield edit
        for statement in self._deleted:
            if any(each in gone for each in self._file.around(statement)):
                continue
            if any(start <= positions.span(statement)[0] < end for start, end in spans):
                continue
            moved_comments = statement not in self._inserted
            first = self._texts.first_line(statement) if moved_comments else statement.lineno
            start = positions.line_start(first)
            end = positions.line_start((statement.end_lineno or statement.lineno) + 1)
            lead = self._texts.lead(statement)
            if start > positions.span(statement)[0] or self._shares_lines(statement):
                raise NotPossible(statement, "Several statements are in one line")
            lines = self._inserted.pop(statement, [])
            body = next(body for body in bodies(self._file.parents[statement]) if statement in body)
            if not lines and body[0] is statement and all(each in gone and each not in self._inserted for each in body):
                lines = ["pass"]
            above = positions.line_start(first - 1) if first > 1 else 0
            while not lines and start and not self._file.source.text[above:start].strip():  # no empty lines twice
                after = positions.line_start(self._line_at(end) + 1)
                if end >= len(self._file.source.text) or self._file.source.text[end:after].strip():
                    break
                end = after
            spans.append((start, end))
            yield Edit(start, end, "".join((lead + line if line.strip() else "") + newline for line in lines))
        for statement, lines in self._inserted.items():
            lead = self._texts.lead(statement)
            at = positions.line_start(self._texts.first_line(statement))
            yield Edit(at, at, "".join((lead + line if line.strip() else "") + newline for line in lines))
        for edit in [*self._texts.edits, *self._parameter_edits]:
            if not any(start <= edit.start and edit.end <= end for start, end in spans):
                yield edit
        yield from self._indentation.edits(Edit(start, end, "") for start, end in spans)

    def _opened_blocks(self, gone: set[ast.stmt]) -> Iterator[Edit]:
        """Drop each ``finally`` that has nothing left, and its ``try`` if that has nothing else."""
        positions = self._file.positions
        for block in coordinators.emptied(self._file, gone):
            before = [*block.body, *(each for handler in block.handlers for each in handler.body), *block.orelse]
            line = max(each.end_lineno or 0 for each in before) + 1
            while not self._texts.lines[line - 1].strip().startswith("finally"):
                line += 1
            inserted = any(each in self._file.around(statement) for statement in self._inserted for each in [block])
            if not block.handlers and (inserted or all(each in gone for each in block.body)):
                continue
            last = block.finalbody[-1].end_lineno or 0
            yield Edit(positions.line_start(line), positions.line_start(last + 1), "")
            if not block.handlers:
                first, end = block.lineno + 1, line - 1
                yield Edit(positions.line_start(block.lineno), positions.line_start(first), "")
                depth = block.body[0].col_offset - block.col_offset
                self._indentation.move_out(first, end, depth)

    def _line_at(self, offset: int) -> int:
        return len(self._file.source.text[:offset].splitlines()) + 1

    def _shares_lines(self, statement: ast.stmt) -> bool:
        body = next(body for body in bodies(self._file.parents[statement]) if statement in body)
        return any(
            each is not statement
            and each.lineno <= (statement.end_lineno or 0)
            and statement.lineno <= (each.end_lineno or 0)
            for each in body
        )


def _prefixes(file: FileUses) -> tuple[str, str]:
    """Return the names of TensorFlow 1 and of TensorFlow in the file: ``"tf.compat.v1"`` and ``"tf"``.

    Raises:
        NotPossible: It has imported the functions one by one.
    """
    graph = "tf"
    for use in file.uses:
        if use.call and use.name in (*PRODUCERS, *BATCHES):
            text = file.positions.source(use.node)
            graph = text.removesuffix(f".{use.name.removeprefix('tf.')}")
            if graph == text:
                raise NotPossible(use.node, "A queue function is called by its bare name")
    return graph, graph.removesuffix(".compat.v1")


def _names(scope: ast.AST) -> set[str]:
    found = {each.id for each in ast.walk(scope) if isinstance(each, ast.Name)}
    return found | {each.arg for each in ast.walk(scope) if isinstance(each, ast.arg)}


def _batch_calls(file: FileUses) -> list[ast.Call]:
    return [use.call for use in file.uses if use.call and use.name in BATCHES]


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in function.args.args}


def _given_name(read: Read) -> str:
    """Name the parameter of a function for a record: the record, or a file's name, where it reads whole files."""
    if read.symbol != "tf.WholeFileReader":
        return read.value
    return read.key if re.search(r"\w", read.key.replace("_", "")) else "filename"


def _whole_file(read: Read, tensorflow: str) -> list[str]:
    if read.symbol != "tf.WholeFileReader":
        return []
    return [f"{read.value} = {tensorflow}.io.read_file({_given_name(read)})"]


def _only_call(found: Elements, names: list[str]) -> str:
    """The function that alone computes an element of what it is given; empty if more has to be done."""
    if len(found.moved) != 1 or not isinstance(found.moved[0], ast.Assign) or len(names) != 1:
        return ""
    statement, element = found.moved[0], found.ends[0]
    call, target = statement.value, statement.targets[0]
    is_call = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and len(call.args) == 1
    if not is_call or call.keywords or not isinstance(call.args[0], ast.Name):  # type: ignore[attr-defined]
        return ""
    parts = [target.elts if isinstance(target, ast.Tuple | ast.List) else [target]]
    parts += [element.elts if isinstance(element, ast.Tuple | ast.List) else [element]]
    left, right = ([each.id if isinstance(each, ast.Name) else "" for each in part] for part in parts)
    is_same = left == right and "" not in left and (len(left) > 1 or not isinstance(target, ast.Tuple | ast.List))
    return call.func.id if is_same else ""  # type: ignore[attr-defined]


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.stmt))


def _values(statements: list[ast.stmt], name: str) -> Iterator[ast.expr]:
    for statement in statements:
        if isinstance(statement, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in statement.targets
        ):
            yield statement.value


def _is_read(scope: ast.AST, name: str) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load) for each in ast.walk(scope)
    )


def _chained(name: str, chain: list[str]) -> list[str]:
    line = f"{name} = {''.join(chain)}"
    if len(line) <= _LINE:
        return [line]
    return [f"{name} = (", f"    {chain[0]}", *(f"    {each}" for each in chain[1:]), ")"]
