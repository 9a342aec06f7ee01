"""The packages that a project asks for, as its code needs them after a step: requirements*.txt, setup.cfg, setup.py.

Data flow: the texts after a step ──▶ what they need (:func:`needed`) ──▶ the requirements that name TensorFlow or Keras
become that; what is needed besides stands behind the first of them. Pins of other packages that this Python cannot have
are remarked and stay. All other lines stay as they are.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ...scripts import requirements
from ...source import files
from ...source.edits import Edit, Positions, apply
from ...source.files import SourceText
from ...source.uses import FileUses, read_file
from .rewrite import FilePort, PortNote, StepPort

__all__ = ["RULE", "STEPS", "WHAT", "needed", "ported", "with_requirements"]

RULE = "requirements"
WHAT = "Asks for the packages that the code needs now: TensorFlow 2.16 to 2.21, and what it imports besides."
#: The steps after which a program asks for today's packages; until then `tf1sessions run` has what it needs.
STEPS = frozenset(["v1", "clean", "functions", "native"])
_RANGE = ">=2.16,<2.22"
#: Releases that the range has, and releases on both sides of it.
_INSIDE = tuple(f"2.{minor}.0" for minor in range(16, 22))
_OUTSIDE = ("1.4.0", "1.15.5", "2.0.0", "2.15.1", "2.22.0", "3.0.0", "9.0")
#: TensorFlow under its names -> what has its place.
_TENSORFLOW = dict.fromkeys(("tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu"), "tensorflow")
_TENSORFLOW |= {"tensorflow-cpu": "tensorflow-cpu"}
#: Import name -> the requirement that has it, for what the rules may import.
_IMPORTED = {"tf1sessions": "tf1sessions", "absl": "absl-py", "tf_keras": f"tf_keras{_RANGE}"}
#: What needs Keras 2.
_KERAS = re.compile(r"tf\.(keras|layers|nn\.rnn_cell|nn\.(static_|bidirectional_|dynamic_|raw_)\w*rnn)(\.|$)|tf_keras")
_LISTS = frozenset(["install_requires", "extras_require", "tests_require", "setup_requires"])


@dataclasses.dataclass(frozen=True)
class _FoundRequirement:
    """A requirement in a text.

    Attributes:
        start, end: Where it stands.
        line, text: The line of that, and what it is.
        behind: Where a further one is put, between ``more``.
        more: What is before and after a further one.
        removal: The edit that takes it out.
    """

    start: int
    end: int
    line: int
    text: str
    behind: int
    more: tuple[str, str]
    removal: Edit

    def further(self, text: str) -> Edit:
        return Edit(self.behind, self.behind, text.join(self.more))


def with_requirements(steps: Sequence[StepPort], roots: Sequence[Path]) -> list[StepPort]:
    """Return the steps with the files that say which packages the project needs.

    Args:
        steps: From :func:`~.rewrite.port`.
        roots: The files and folders that were ported; files of requirements are looked for in the folders.
    """
    found = files.find([root for root in roots if os.path.isdir(root)], _is_requirements)
    sources = [files.read(path) for path in found if isinstance(path, Path)]
    now = {source.path: source for source in sources if isinstance(source, SourceText)}
    result = []
    is_first = True  # what is by hand is said once
    for step in steps:
        if step.step in STEPS and now:
            step = _with_requirements(step, now, is_first)
            is_first = False
        result.append(step)
    return result


def _is_requirements(name: str) -> bool:
    return name in ("setup.py", "setup.cfg") or (name.startswith("requirements") and name.endswith(".txt"))


def _with_requirements(step: StepPort, now: dict[Path, SourceText], is_first: bool) -> StepPort:
    """The step, whose requirements are added to it; ``now`` has them before it, and then after it."""
    packages = needed(file.after for file in step.files if file.before.path not in now or _is_python(file.before))
    by_path = {file.before.path: file for file in step.files}
    for path, before in list(now.items()):
        file = by_path.get(path, FilePort(before, before))  # a setup.py may have been changed by rules, too
        after, notes = ported(file.after, packages)
        notes = [note for note in notes if is_first or note.kind == "change"]
        if file.before is not before or after.text != before.text or notes:
            after = before if after.text == before.text else after
            by_path[path] = FilePort(before, after, (*file.notes, *notes))
        now[path] = after
    return dataclasses.replace(step, files=tuple(by_path.values()))


def _is_python(source: SourceText) -> bool:
    return files.is_source(source.path.name)


def needed(sources: Iterable[SourceText]) -> dict[str, str]:
    """Return what a program's files need besides TensorFlow: distribution -> requirement."""
    found: set[str] = set()
    for source in sources:
        file = read_file(source)
        if isinstance(file, FileUses):
            found |= {_IMPORTED[top] for each in file.imports if (top := each.module.partition(".")[0]) in _IMPORTED}
            found |= {_IMPORTED["tf_keras"] for use in file.uses if _KERAS.match(use.name)}
            found |= {"keras" for each in file.imports if each.module.partition(".")[0] == "keras"}
    return {canonicalize_name(Requirement(each).name): each for each in sorted(found)}


def ported(source: SourceText, packages: Mapping[str, str]) -> tuple[SourceText, list[PortNote]]:
    """Return a file of requirements as a program needs it that imports ``packages``.

    Args:
        source: A requirements.txt, a setup.cfg or a setup.py.
        packages: As :func:`needed` gives them.

    Example:
        >>> source = SourceText(Path("requirements.txt"), "r.txt", "tensorflow-gpu==1.15.0  # old\\nabsl-py\\n")
        >>> print(ported(source, {"tf1sessions": "tf1sessions"})[0].text)
        tensorflow>=2.16,<2.22  # old
        tf1sessions
        absl-py
        <BLANKLINE>
    """
    finders = {"setup.py": _in_setup_py, "setup.cfg": _in_setup_cfg}
    found = list(finders.get(source.path.name, _in_requirements)(source))
    named = {name for each in found if (name := _name(each.text))}
    edits: list[Edit] = []
    notes: list[PortNote] = []
    if not named & _TENSORFLOW.keys():  # it is not of the program: of its documentation, say
        return source, []
    made = {_name(new) for each in found if (new := _replacement(each.text, packages))}
    missing = [text for name, text in packages.items() if name not in named | made | {"keras"}]
    written: set[str] = set()
    for each in found:
        name = _name(each.text)
        new = _replacement(each.text, packages)
        notes += [PortNote(RULE, source.place(each.line), what, "by hand") for what in _remarks(each.text)]
        if new is not None:
            is_written = not new or _name(new) in written
            written.add(_name(new))
            edits.append(each.removal if is_written else Edit(each.start, each.end, new))
            what = f"{each.text}: {'no more' if is_written else new}"
            notes.append(PortNote(RULE, source.place(each.line), what, "change"))
        if name in _TENSORFLOW and missing:
            edits += [each.further(text) for text in missing]
            notes.append(PortNote(RULE, source.place(each.line), f"it needs {', '.join(missing)}", "change"))
            missing = []
    return source.with_text(apply(source.text, edits)), notes


def _name(text: str) -> str:
    try:
        return canonicalize_name(requirements.parse(text).name)
    except InvalidRequirement:
        return ""


def _replacement(text: str, packages: Mapping[str, str]) -> str | None:
    """Return the replacement of a requirement: another one, "" where it is needed no more, None where it stays."""
    try:
        requirement = requirements.parse(text)
    except InvalidRequirement:
        return None
    name = canonicalize_name(requirement.name)
    if name == "keras" and "keras" not in packages:
        return packages.get("tf-keras", "")
    if name not in _TENSORFLOW or (name == _TENSORFLOW[name] and _is_in_range(requirement)):
        return None
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{_TENSORFLOW[name]}{_RANGE}{marker}"


def _is_in_range(requirement: Requirement) -> bool:
    specifier = requirement.specifier
    return not any(specifier.contains(each) for each in _OUTSIDE) and (
        any(specifier.contains(each) for each in _INSIDE) or str(specifier).startswith("==2.")
    )


def _remarks(text: str) -> Iterator[str]:
    """Yield why a pin of another package cannot be kept."""
    name = _name(text)
    if not name or name in _TENSORFLOW or name == "keras":
        return
    for unmet in requirements.compare([requirements.parse(text)]):
        if unmet.pythons is not None:
            yield f"{text}: no wheel for this Python, only up to {unmet.pythons}; take a newer release"


# -- where requirements stand -----------------------------------------------------------------------------------------

_LINE = re.compile(r"[ \t]*(?P<text>[A-Za-z0-9][^#\r\n]*?)[ \t]*(?:(?<=\s)#[^\r\n]*)?(?P<end>\r\n|\r|\n|$)")


def _in_requirements(source: SourceText) -> Iterator[_FoundRequirement]:
    positions = Positions(source.text)
    for number in range(1, len(_lines(source)) + 1):
        yield from _in_line(source, positions, number)


def _lines(source: SourceText) -> list[str]:
    return re.split(r"\r\n|\r|\n", source.text)


def _in_line(source: SourceText, positions: Positions, number: int) -> Iterator[_FoundRequirement]:
    """A requirement in a line of its own. One with options, as hashes, or that goes on in the next line, is left."""
    start = positions.line_start(number)
    found = _LINE.match(source.text, start)
    if found is None or found["text"].endswith("\\") or " --" in found["text"]:
        return
    indent = source.text[start : found.start("text")]
    has_comment = "#" in source.text[found.end("text") : found.end()]
    removal = Edit(found.start("text"), found.end("text"), "") if has_comment else Edit(start, found.end(), "")
    more = (source.newline + indent, "")
    yield _FoundRequirement(
        found.start("text"), found.end("text"), number, found["text"], found.start("end"), more, removal
    )


def _in_setup_cfg(source: SourceText) -> Iterator[_FoundRequirement]:
    positions = Positions(source.text)
    section = key = ""
    for number, line in enumerate(_lines(source), 1):
        if header := re.match(r"\[(.+)\]", line):
            section, key = header[1].strip(), ""
        elif entry := re.match(r"([\w.-]+)\s*[=:]", line):
            key = entry[1]
        elif section == "options.extras_require" or (section == "options" and key in _LISTS):
            yield from _in_line(source, positions, number)


def _in_setup_py(source: SourceText) -> Iterator[_FoundRequirement]:
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    positions = Positions(source.text)
    for node, text in _texts(tree):
        start, end = positions.span(node)
        quote = source.text[start]
        if source.text[start:end] != f"{quote}{text}{quote}":  # escapes, or triple quotes
            continue
        behind = re.compile(r"\s*,?[ \t]*").match(source.text, end)
        removal = Edit(start, behind.end() if behind else end, "")
        yield _FoundRequirement(start + 1, end - 1, node.lineno, text, end, (f", {quote}", quote), removal)


def _texts(tree: ast.Module) -> list[tuple[ast.Constant, str]]:
    """The texts in lists that setup() is given as requirements, or that are assigned to a name of such."""
    values: list[ast.expr] = []
    for node in ast.walk(tree):
        is_assigned = isinstance(node, ast.Assign) and any(
            "require" in ast.unparse(each).lower() for each in node.targets
        )
        if is_assigned or (isinstance(node, ast.keyword) and node.arg in _LISTS):
            values.append(node.value)  # type: ignore[attr-defined]
    lists = [each for value in values for each in ast.walk(value) if isinstance(each, ast.List | ast.Tuple)]
    found = {each: each.value for one in lists for each in one.elts if isinstance(each, ast.Constant)}
    texts = [(node, text) for node, text in found.items() if isinstance(text, str)]
    return sorted(texts, key=lambda each: (each[0].lineno, each[0].col_offset))
