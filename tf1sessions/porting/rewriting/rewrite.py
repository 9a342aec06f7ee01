"""The files of a project after each step of a port."""

from __future__ import annotations

import ast
import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...source.edits import Edit, apply, overlap
from ...source.files import SourceText
from ...source.program import SourceLine, Unread
from ...source.projects import read_project
from ...source.uses import FileUses
from . import headers
from .python_two import conversion
from .rule import Change, Remark, Rule
from .steps import RULES, steps_to

__all__ = ["FilePort", "PortNote", "StepPort", "port"]

_MOST_PASSES = 10
#: The rule of a note that says why a step leaves a file as it was.
_UNCHANGED = "not-changed"


@dataclasses.dataclass(frozen=True)
class PortNote:
    """A change that was made, or a remark.

    Attributes:
        rule: The name of the rule; ``"unread"`` for a file that cannot be read.
        place: The line, in the text before the change.
        what: What was changed, or what is there and what to do.
        kind: ``"change"``, ``"by hand"``, or ``"good to know"``.
    """

    rule: str
    place: SourceLine
    what: str
    kind: str


@dataclasses.dataclass(frozen=True)
class FilePort:
    """A file before and after a step. ``before`` and ``after`` are the same object where nothing applied."""

    before: SourceText
    after: SourceText
    notes: tuple[PortNote, ...] = ()

    @property
    def is_changed(self) -> bool:
        return self.after.text != self.before.text


@dataclasses.dataclass(frozen=True)
class StepPort:
    """A project after a step: every file that could be read, and those that could not."""

    step: str
    files: tuple[FilePort, ...]
    unread: tuple[Unread, ...] = ()


def port(
    sources: Iterable[SourceText | Unread], to: str, roots: Sequence[Path] = (), *, inputs: bool = False
) -> list[StepPort]:
    """Port the files of a project up to a step. Nothing is written.

    Args:
        sources: The files, as :func:`tf1sessions.source.files.read` gives them.
        to: The last step: ``"py3"``, ``"v1"``, ``"clean"``, ``"functions"`` or ``"native"``.
        roots: Folders from which the project's modules are imported, besides those of the files.
        inputs: Whether queues become tf.data, by the step ``inputs``.

    Returns:
        The project after each step, in order. A file that a step cannot read is in its ``unread`` and stays as it is.

    Example:
        >>> from tf1sessions.source.files import SourceText
        >>> text = "import tensorflow as tf\\nprint(tf.Session())\\n"
        >>> (last,) = port([SourceText(Path("a.py"), "a.py", text)], "v1")[-1].files
        >>> print(last.after.text)
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        print(tf.Session())
        <BLANKLINE>
    """
    given = list(sources)
    unread = tuple(each for each in given if isinstance(each, Unread))
    current = [each for each in given if isinstance(each, SourceText)]
    steps = []
    for step in steps_to(to, inputs=inputs):
        done = _step(current, step, RULES[step], roots)
        steps.append(dataclasses.replace(done, unread=unread + done.unread))
        current = [file.after for file in done.files]
    return steps


def _step(sources: list[SourceText], step: str, rules: Sequence[Rule], roots: Sequence[Path]) -> StepPort:
    notes: dict[Path, list[PortNote]] = {source.path: [] for source in sources}
    now = {source.path: source for source in sources}
    if step == "py3":
        for source in sources:
            converted = conversion.convert(source)
            now[source.path] = converted.source
            notes[source.path] += [PortNote(*each) for each in converted.notes]
    for number in range(_MOST_PASSES):
        project = read_project(now.values(), roots)
        changed = False
        for file in project.files:
            try:
                text, found = _rewritten(file, rules)
            except RecursionError:  # a sum of hundreds of terms, say
                text = file.source.text
                found = [_unchanged(file, "An expression is nested too deeply to be ported: write it as several.")]
            changed = changed or text != file.source.text
            now[file.source.path] = file.source.with_text(text)
            kept = notes[file.source.path]
            new = [note for note in found if note.rule == _UNCHANGED and note not in kept] if number else found
            kept += [note for note in found if note.kind == "change" or note in new]
        if not changed:
            break
    files = tuple(
        FilePort(source, _unless_equal(source, now[source.path]), tuple(notes[source.path])) for source in sources
    )
    return StepPort(step, files, project.unread)


def _unless_equal(before: SourceText, after: SourceText) -> SourceText:
    return before if before.text == after.text else after


def _rewritten(file: FileUses, rules: Sequence[Rule]) -> tuple[str, list[PortNote]]:
    """The text of a file after one pass of the rules, and what they said."""
    edits: list[Edit] = []
    imports: list[str] = []
    notes: list[PortNote] = []
    for rule in rules:
        for found in rule.find(file):
            if isinstance(found, Remark):
                kind = "by hand" if found.by_hand else "good to know"
                notes.append(PortNote(rule.name, file.place(found.node), found.what, kind))
            elif not overlap(found.edits, edits):  # else it is found again in the next pass
                edits += found.edits
                imports += found.imports
                notes += _notes(rule, file, found)
    try:
        text = apply(file.source.text, [*edits, *headers.import_edits(file, imports)])
    except ValueError as error:
        return file.source.text, [_unchanged(file, f"Of the changes of this file {error}. Please report this.")]
    if text != file.source.text and not _parses(text):
        what = "The changes of this file would not have been Python, so none was made. Please report this."
        return file.source.text, [_unchanged(file, what)]
    return text, notes


def _unchanged(file: FileUses, what: str) -> PortNote:
    return PortNote(_UNCHANGED, file.place(file.tree), what, "by hand")


def _notes(rule: Rule, file: FileUses, found: Change) -> list[PortNote]:
    places = found.places or ((found.node, found.what),)
    return [PortNote(rule.name, file.place(node), what, "change") for node, what in places]


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        return False
    return True
