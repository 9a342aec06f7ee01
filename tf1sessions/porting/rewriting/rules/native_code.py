"""A LegacyGraph becomes plain TensorFlow 2: variables, layers, functions and training steps with a GradientTape.

A program changes as a whole or not at all: without ``disable_v2_behavior()``, which step ``v1`` wrote, other code of
TensorFlow 1 in it would mean something else.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import re
from collections.abc import Iterator, Sequence

from ....source.edits import Edit, apply
from ....source.nodes import is_main_guard
from ....source.uses import FileUses, bodies, chain_base
from .. import headers
from ..native import (
    attributes,
    bound_again,
    checkpoints,
    classes,
    digits,
    fed_names,
    handed_functions,
    inlining,
    input_functions,
    listed_losses,
    plan,
    queue_runners,
    saver_names,
    separation,
    summaries,
    values,
    variables,
)
from ..native.kinds import Kinds
from ..native.late_prints import LATE_PRINT
from ..native.modules import FileClasses
from ..native.refusals import DROPPED_PRINT, check_file, check_makers
from ..native.rest import rewrite_rest, write_datasets
from ..native.scopes import check_scopes
from ..native.session_settings import LEFT_OUT, unused_settings
from ..native.shapes import write_shapes
from ..native.shared_draws import SHARED_DRAW
from ..native.small_steps import SMALL_STEPS, training_loop
from ..native.texts import VERBATIM, Texts, indented
from ..native.tidying import tidied, without_unused_imports
from ..native.unit import Unit, without_marks
from ..native.written import check_written
from ..requests.request import NotPossible
from ..rule import Change, Remark, Rule
from .v1_imports import keras_setting

__all__ = ["RULE"]

_GRAPH = "tf1sessions.porting.LegacyGraph"
#: What is done to a file before its graphs are read, in this order.
_PREPARED = (
    values.with_values,
    bound_again.with_own_names,
    fed_names.with_given_placeholders,
    input_functions.with_datasets,
    inlining.inlined,
    listed_losses.with_listed_losses,
    queue_runners.with_threads,
    saver_names.with_named_savers,
    separation.separated,
)
_LOADERS = "tf1sessions.contrib.learn.datasets"
_SWITCHES = ("tf.disable_v2_behavior", "tf.enable_eager_execution")


def _find(file: FileUses) -> Iterator[Change | Remark]:
    shared = next((use.node for use in file.uses if use.symbol == f"{_GRAPH}.default"), None)
    if shared is not None:
        yield Remark(shared, "The program uses TensorFlow in several files, so this program keeps its LegacyGraph.")
        return
    if not any(use.symbol == _GRAPH for use in file.uses):
        return
    found = _planned(file)
    if isinstance(found, NotPossible):
        yield Remark(found.node, f"{found.what}, so this program keeps its LegacyGraph.")
        return
    yield Change(file.tree, "TensorFlow 2", (found.edit,), places=found.places)
    for statement in found.dropped:
        yield Remark(statement, DROPPED_PRINT, by_hand=False)
    for statement, what in found.said:
        yield Remark(statement, what, by_hand=False)
    if found.settings:
        yield Remark(found.settings[0], LEFT_OUT, by_hand=False)
    if found.loop is not None:
        yield Remark(found.loop, SMALL_STEPS, by_hand=False)
    if "summary.create_file_writer(" in found.edit.text:
        yield Remark(file.tree, "tf.summary needs the package tensorboard.", by_hand=False)


@dataclasses.dataclass(frozen=True)
class _Planned:
    """The planned changes of a file.

    Attributes:
        edit: Of the whole file.
        places: What became functions and classes.
        dropped: Statements that print tensors.
        said: Statements that do something else in TensorFlow 1, by chance or by its seeds, and what that is.
        loop: The first loop that trains.
        settings: Statements that make settings of sessions.
    """

    edit: Edit
    places: tuple[tuple[ast.AST, str], ...]
    dropped: tuple[ast.stmt, ...]
    said: tuple[tuple[ast.stmt, str], ...]
    loop: ast.stmt | None
    settings: tuple[ast.stmt, ...]


@functools.lru_cache(maxsize=2)
def _planned(original: FileUses) -> _Planned | NotPossible:
    try:
        file = original
        for prepared in _PREPARED:
            file = prepared(file)
        found = classes.lowered(file)
    except NotPossible as error:
        return error
    if found.file is original:
        return _planned_without_classes(original, original, frozenset())
    planned = _planned_without_classes(found.file, original, found.classes)
    lines = _OriginalLines(original, found)
    if isinstance(planned, NotPossible):
        return NotPossible(lines.node(planned.node), without_marks(planned.what, found.classes, "self."))
    places = [(lines.node(node), without_marks(what, found.classes, "self.")) for node, what in planned.places]
    dropped, settings = (tuple(map(lines.node, each)) for each in (planned.dropped, planned.settings))
    said = tuple((lines.node(statement), what) for statement, what in planned.said)
    loop = None if planned.loop is None else lines.node(planned.loop)
    return _Planned(planned.edit, tuple(places), dropped, said, loop, settings)


class _OriginalLines:
    """The original lines of the statements of a file whose classes are written as functions."""

    def __init__(self, original: FileUses, lowered: classes.LoweredFile) -> None:
        self._original, self._lowered = original, lowered.file
        text = without_marks(lowered.file.source.text, lowered.classes, "self.")
        before = [line.strip() for line in original.source.text.splitlines()]
        after = [line.strip() for line in text.splitlines()]
        blocks = difflib.SequenceMatcher(None, after, before, autojunk=False).get_matching_blocks()
        self._lines = {block.a + i + 1: block.b + i + 1 for block in blocks for i in range(block.size)}
        self._statements: dict[int, ast.stmt] = {}
        for each in ast.walk(original.tree):
            if isinstance(each, ast.stmt):
                self._statements.setdefault(each.lineno, each)

    def node(self, node: ast.AST) -> ast.stmt:
        """The statement of the program on the line of a node; the class around it where there is no such line."""
        line = self._lines.get(int(getattr(node, "lineno", 1)))
        if line in self._statements:
            return self._statements[line]
        names = {each.name for each in [node, *self._lowered.around(node)] if isinstance(each, ast.ClassDef)}
        body = self._original.tree.body
        return next((each for each in body if isinstance(each, ast.ClassDef) and each.name in names), body[0])


def _planned_without_classes(file: FileUses, original: FileUses, lowered: frozenset[str]) -> _Planned | NotPossible:
    kinds, texts = Kinds(file), Texts(file)
    kinds.classes = lowered
    modules = FileClasses(kinds, texts)
    try:
        check_file(file, kinds)
        check_scopes(file, kinds)
        write_shapes(file, texts)
        write_datasets(file, texts)
        units = [
            Unit(file, kinds, texts, modules, *_place(file, use.call))
            for use in file.uses
            if use.symbol == _GRAPH and use.call
        ]
        _check_summaries(file, kinds, units)
        summaries.write_events_read(file, kinds, texts)
        made = modules.write()
        for unit in units:
            plan.write(unit)
        modules.check_uses()
        check_makers(file, kinds)
        for unit in units:
            handed_functions.check_handed(unit)
        rewrite_rest(file, kinds, texts, [*made, *(each for unit in units for each in unit.rewritten)])
        settings = tuple(unused_settings(file, kinds))
        text = apply(file.source.text, _edits(file, texts, units, made, settings))
        text = attributes.with_attributes(text, lowered) if lowered else text
        text = checkpoints.with_writer(text, texts)
        before = original.source.text
        text = tidied(digits.with_reader(without_unused_imports(text)), before)
        text = text.replace(VERBATIM, "")
        check_written(text, original)
        edit = Edit(0, len(before), text)
        dropped = tuple(each for unit in units for each in unit.dropped)
        said = [each for unit in units for each in unit.undecided.items()]
        said += [(each, SHARED_DRAW) for unit in units for each in unit.shared_draws]
        said += [(each, LATE_PRINT) for each in dict.fromkeys(each for unit in units for each in unit.late_prints)]
        loop = next(filter(None, map(training_loop, units)), None)
        return _Planned(edit, tuple(_changed(units, made)), dropped, tuple(said), loop, settings)
    except NotPossible as error:
        return error


def _check_summaries(file: FileUses, kinds: Kinds, units: list[Unit]) -> None:
    """Refuse summaries in functions that a request calls: there is no graph that would keep them."""
    for use in file.uses:
        if use.call is not None and kinds.symbol(use.call.func) in summaries.SUMMARIES:
            inside = next((each for each in file.around(use.call) if isinstance(each, ast.FunctionDef)), None)
            if inside is not None and all(unit.node is not inside for unit in units):
                raise NotPossible(use.node, f"{inside.name}(), a function of the program, makes summaries")


def _changed(units: list[Unit], made: dict[ast.stmt, list[str]]) -> Iterator[tuple[ast.AST, str]]:
    """Describe what became functions and classes."""
    for function, lines in made.items():
        yield function, lines[0].removesuffix(":")
    for unit in units:
        yield unit.made, "a LegacyGraph: what it builds is made once, or computed by functions"
        for request in unit.requests:
            if request.statement is not None and unit.replaced.get(request.statement):
                yield request.statement, f"a request: the tf.function {request.name}()"


def _place(file: FileUses, call: ast.Call) -> tuple[ast.Module | ast.FunctionDef | ast.If, ast.Assign]:
    statement = file.parents[call]
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        raise NotPossible(call, "A LegacyGraph has no name of its own")
    scope = file.parents[statement]
    is_main = isinstance(scope, ast.If) and scope in file.tree.body and is_main_guard(scope.test)
    if not isinstance(scope, ast.Module | ast.FunctionDef) and not is_main:
        raise NotPossible(call, "A LegacyGraph is made inside of a loop or a condition")
    return scope, statement  # type: ignore[return-value]


def _edits(
    file: FileUses, texts: Texts, units: list[Unit], made: dict[ast.stmt, list[str]], gone: Sequence[ast.stmt]
) -> Iterator[Edit]:
    positions, newline = file.positions, file.source.newline
    replaced = {**made, **{statement: [] for statement in gone}}
    replaced |= {statement: lines for unit in units for statement, lines in unit.replaced.items()}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if any(use.call is node.value and use.name in _SWITCHES for use in file.uses):
                replaced[node] = []
        if isinstance(node, ast.Import | ast.ImportFrom) and _is_ours(file, node):
            replaced[node] = []
    new = [line for lines in replaced.values() for line in lines] + [edit.text for edit in texts.edits]
    first = next(iter(headers.tensorflow_statements(file)))
    if any(".keras." in line for line in new) and (setting := keras_setting(file, first)):
        yield headers.insert_before(file, first, setting)
    yield from variables.matching_import(file, new)
    spans = []
    for statement, lines in replaced.items():
        if any(node in replaced for node in file.around(statement)):
            continue
        lead, begin = texts.lead(statement), statement.lineno
        has_comments = not lines and (isinstance(statement, ast.Expr) or statement in gone)  # which go with it
        begin = texts.first_line(statement) if has_comments else begin
        if not lines and (parent := file.parents[statement]) is not file.tree:
            body = next(b for b in bodies(parent) if statement in b)
            if all(each in replaced and not replaced[each] for each in body) and body[0] is statement:
                else_line = _else_line(texts, parent, body)
                lines, begin = (["pass"], begin) if else_line is None else ([], else_line)
        start = positions.line_start(begin)
        end = positions.line_start((statement.end_lineno or statement.lineno) + 1)
        spans.append((start, end))
        lines = [line if line.strip() else "" for line in lines]
        yield Edit(start, end, "".join(line + newline for line in indented(lines, lead=lead)))
    for edit in texts.edits:
        if not any(start <= edit.start < end and edit.end <= end for start, end in spans):
            yield edit
    for unit in units:
        name = re.compile(rf"(?<![\w.]){unit.legacy}(?!\w)")
        if any(name.search(line) for line in new):
            raise NotPossible(unit.made, "The LegacyGraph is used in a way that is not known")
        for node in ast.walk(unit.node):
            if isinstance(node, ast.Name) and node.id == unit.legacy:
                at = positions.span(node)[0]
                if not any(start <= at < end for start, end in [*spans, *((e.start, e.end) for e in texts.edits)]):
                    raise NotPossible(node, "The LegacyGraph is used in a way that is not known")


def _else_line(texts: Texts, parent: ast.AST, body: list[ast.stmt]) -> int | None:
    """The line of the ``else:`` that a block is behind; None for any other block."""
    if not isinstance(parent, ast.If) or body is not parent.orelse:
        return None
    lines = range(body[0].lineno - 1, parent.body[-1].end_lineno or 0, -1)
    return next((line for line in lines if re.match(r"\s*else\s*:\s*(#.*)?$", texts.lines[line - 1])), None)


def _is_ours(file: FileUses, statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether a statement imports names of this package, of which nothing is left but loaders of data."""
    names = [each for each in file.imports if each.statement is statement]
    loading = {chain_base(use.node) for use in file.uses if use.direct and use.symbol.startswith(_LOADERS)}
    return bool(names) and all(
        each.meaning.startswith("tf1sessions") and not each.meaning.startswith(_LOADERS) and each.bound not in loading
        for each in names
    )


RULE = Rule(
    "native-code",
    "A LegacyGraph becomes variables, layers and functions of TensorFlow 2.",
    _find,
)
