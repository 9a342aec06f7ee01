"""The audit of files and folders: each use of TensorFlow, what became of it, and which step that leaves in reach."""

from __future__ import annotations

import ast
import collections
import dataclasses
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...garbage import collector_paused
from ...source import files as source_files
from ...source import notebooks, replacements, symbols
from ...source.files import SourceText
from ...source.program import SourceLine, Unread
from ...source.projects import connect, read_files, read_project
from ...source.symbols import Symbol
from ...source.uses import FileUses, Use, canonical
from ..rewriting import python_rules
from ..rewriting.rule import Change, Remark
from ..rewriting.rules import python_two_modules, python_two_names
from ..rewriting.scopes import is_tried
from . import constructs
from .order import imports_first
from .record import STEPS, STEPS_BY_NAMES, Audit, FileAudit, Place, SymbolCount
from .shares import Count, can_fork, divided, in_shares

if TYPE_CHECKING:
    from ..rewriting.python_two.conversion import Converted

__all__ = ["survey"]

#: From how many bytes on a further process pays: to fork one and exchange results takes 15 ms, in which 20 kB are read.
_PAYS = 150_000
_CANNOT_READ = ("it cannot be read", "the folder cannot be read", "there is no such file")
_OLD_PROTOC = re.compile(r"^DESCRIPTOR = _descriptor\.FileDescriptor\(", re.MULTILINE)
#: Of the step py3 the rules that look at uses of names; those that look at all nodes take longer than all the rest.
_OLD_LIBRARIES = (
    python_two_names.find_builtins,
    *(rule.find for rule in python_rules.RULES if rule not in (python_two_names.RULE, python_two_modules.RULE)),
)


def survey(
    paths: Iterable[str | os.PathLike[str]],
    progress: Callable[[int], None] | None = None,
    *,
    all_steps: bool = False,
    processes: int = 1,
) -> Audit:
    """Audit what ``paths`` name: files, and folders with all that is below them. Nothing is run or written.

    What cannot be read is a file of the audit, too, with the reason. It is safe to call this function from several
    threads at once.

    Args:
        paths: Python files, notebooks and folders.
        progress: Called with the number of files that have been read, after each, or after some.
        all_steps: Whether to port the files, in memory, to see how far the steps ``functions`` and ``native`` go: some
            tenths of a second a file.
        processes: How many processes may share the files, where there are so many that it pays. Those beside this one
            are forked: more than one is for a process whose other threads do nothing meanwhile. Where TensorFlow is
            loaded, one is used.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     script = Path(folder, "train.py")
        ...     _ = script.write_text("import tensorflow as tf\\nwith tf.Session(): pass\\n")
        ...     audit = survey([script])
        >>> audit.by_hand, audit.reaches()["clean"]
        (0, 1)
    """
    with collector_paused():
        return _survey([Path(path) for path in paths], progress, all_steps, processes)


@dataclasses.dataclass(frozen=True)
class _Audited:
    """The findings about one file: the file as others see it, its audit, and how often it uses which public name."""

    file: FileUses
    audit: FileAudit
    symbols: collections.Counter[str]


def _survey(folders: Sequence[Path], progress: Callable[[int], None] | None, all_steps: bool, processes: int) -> Audit:
    roots = [path for path in folders if os.path.isdir(path)]
    found = list(source_files.find(folders))
    shares = _shares(found, processes)
    results = in_shares(shares, _Work(found, roots, shares, progress))
    unread = [each for _, each in sorted(results.items()) if isinstance(each, Unread)]
    audited = {each.file: each for _, each in sorted(results.items()) if isinstance(each, _Audited)}
    imports = _imports(list(audited))
    ordered = imports_first(imports)
    shown = {file: tuple(each.source.shown for each in imports[file]) for file in ordered}
    alone = [dataclasses.replace(audited[file].audit, imports=shown[file]) for file in ordered]
    if all_steps:
        from .further import ported_further  # the rules of all steps: half of the time that a small audit takes

        sources = [source_files.read(path) for path in found if isinstance(path, Path)]
        alone = ported_further(alone, [each for each in sources if isinstance(each, SourceText)], roots)
    steps = STEPS if all_steps else STEPS_BY_NAMES
    symbols = _counts([each.symbols for each in audited.values()])
    return Audit((*_with_imports(alone), *map(_unread, unread)), symbols, steps)


def _shares(found: Sequence[Path | Unread], processes: int) -> list[list[int]]:
    """Return the numbers of the files that each process takes: as many processes as pay, and may be forked."""
    sizes = [0 if isinstance(path, Unread) else _size(path) for path in found]
    count = max(1, min(processes, sum(sizes) // _PAYS)) if can_fork() else 1
    return divided([size + 1 for size in sizes], count) if count > 1 else [list(range(len(found)))]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class _Work:
    """The audit of some of the files, of which this process knows the others by what they show to each other."""

    def __init__(
        self,
        found: Sequence[Path | Unread],
        roots: Sequence[Path],
        shares: Sequence[Sequence[int]],
        progress: Callable[[int], None] | None,
    ) -> None:
        self._found = found
        self._roots = roots
        self._progress = progress
        self._count = Count(len(shares))
        self._places = {tuple(share): place for place, share in enumerate(shares)}

    def __call__(self, share: Sequence[int]) -> Generator[dict[int, Any], dict[int, Any], None]:
        place = self._places.get(tuple(share), 0)
        sources = {number: self._read(self._found[number], place) for number in share}
        files = dict(zip(share, read_files(sources.values(), self._roots), strict=True))
        whole = {number: file for number, file in files.items() if isinstance(file, FileUses)}
        is_alone = len(share) == len(self._found)
        published = yield {} if is_alone else {number: file.interface() for number, file in whole.items()}
        others = {number: file for number, file in published.items() if number not in whole}
        connect([file for _, file in sorted((whole | others).items())], set(others.values()))
        audited: dict[int, Any] = {number: _audited(sources[number], file) for number, file in files.items()}
        for file in whole.values():
            file.siblings = ()  # a circle: without it the trees go now, and no collector has to find them
        yield audited

    def _read(self, path: Path | Unread, place: int) -> SourceText | Unread:
        source = path if isinstance(path, Unread) else source_files.read(path)
        count = self._count.add(place)
        if self._progress is not None and place == 0:
            self._progress(count)
        return source


def _audited(source: SourceText | Unread, file: FileUses | Unread) -> _Audited | Unread:
    if isinstance(file, Unread):
        if not isinstance(source, SourceText) or not file.reason.startswith("it is Python 2"):
            return file
        three = _converted(source, file)
        if isinstance(three, Unread):
            return three
        file, audit = three
    else:
        file, audit = _with_cells(file) or (file, _python_two(file) or _file(file))
    used: collections.Counter[str] = collections.Counter()
    for name, uses in _by_name(file).items():
        if (symbol := symbols.find(name)) is not None:
            used[_public(symbol).name] += len(uses)
    return _Audited(file.interface(), audit, used)


def _convert(source: SourceText) -> Converted:
    from ..rewriting.python_two.conversion import convert  # here: few files are Python 2, and it takes a while

    return convert(source)


def _converted(source: SourceText, unread: Unread) -> tuple[FileUses, FileAudit] | Unread:
    """A file that only Python 2 can parse, as the step py3 converts it; why it is not read where that does not."""
    result = _convert(source)
    files = read_project([result.source]).files
    if files:
        return files[0], _of_python_two(files[0], result, unread.place, unread.reason)
    if result.notes:  # what converts Python 2 is not installed
        return unread
    what = unread.reason.removeprefix("it is Python 2: ")
    return Unread(unread.place, f"neither Python 3 nor 2 can parse it, though there is {what}")


def _with_cells(file: FileUses) -> tuple[FileUses, FileAudit] | None:
    """A notebook with cells that Python 3 cannot parse, as the step py3 converts them; None for any other file."""
    if not notebooks.has_masked_cells(file.source.text):
        return None
    result = _convert(file.source)
    cells = {kind: line for rule, line, _, kind in reversed(result.notes) if rule == "python-2-syntax"}
    if "change" in cells:
        (converted,) = read_project([result.source]).files
        return converted, _of_python_two(converted, result, cells["change"], "it is Python 2: the syntax of a cell")
    if not cells:
        return None
    left = [Place("not-python", line, what, blocks="py3") for _, line, what, kind in result.notes if kind == "by hand"]
    return file, _file(file, left)


def _python_two(file: FileUses) -> FileAudit | None:
    """The audit of a file that Python 3 can parse, if it uses what only Python 2 has."""
    found = next((each for each in python_two_names.find_builtins(file) if isinstance(each, Change)), None)
    if found is None:
        return None
    return _of_python_two(file, _convert(file.source), file.place(found.node), f"it is Python 2: {found.what}")


def _of_python_two(file: FileUses, result: Converted, place: SourceLine, reason: str) -> FileAudit:
    """The audit of a file in Python 2, with what its conversion leaves to do by hand."""
    known = [Place("python-2", place, reason, "`tf1sessions port --to py3` converts it.")]
    known += [Place("python-2", line, what, blocks="py3") for _, line, what, kind in result.notes if kind == "by hand"]
    audited = _file(file, known)
    reach = None if audited.reach == "run" else audited.reach  # the first step is not for it
    return dataclasses.replace(audited, stands="python 2", reach=reach, reach_with_imports=reach)


# -- one file ---------------------------------------------------------------------------------------------------------


def _file(file: FileUses, known: Sequence[Place] = ()) -> FileAudit:
    """The audit of a file, of which some places are known already."""
    uses: collections.Counter[str] = collections.Counter()
    places: list[Place] = list(known)
    noted: list[tuple[Use, Symbol | None]] = []
    for name, of_name in _by_name(file).items():
        symbol = symbols.find(name)
        uses[symbol.verdict if symbol else "unknown"] += len(of_name)
        if symbol is None or symbol.verdict not in _NOTHING_TO_DO or name in constructs.OPERATION_LOADERS:
            noted += ((use, symbol) for use in of_name)
    is_gone = any(symbol is not None and symbol.verdict == "gone" for _, symbol in noted)
    changed = _of_first_names(file) if is_gone else frozenset()
    for use, symbol in noted:
        place = _place(file, use, symbol, is_changed=use.node in changed)
        if place is not None:
            places.append(place)
    places += _places_of_imports(file)
    places += _old_libraries(file)
    places += [_unclear(file, use) for use in file.unclear if canonical(use.symbol).startswith("tf.")]
    if file.source.path.name.endswith("_pb2.py") and _OLD_PROTOC.search(file.source.text):
        fix = "Write it anew from its .proto file with today's protoc; `tf1sessions run` reads it as it is"
        places.append(Place("old-protocol-buffer", file.source.place(1), "protoc of an old protobuf wrote this", fix,
                            blocks="v1"))  # fmt: skip
    found = constructs.find(file)
    reach = _reach(places)
    return FileAudit(
        file.source.shown,
        file.source.text.count("\n") + (not file.source.text.endswith("\n") and bool(file.source.text)),
        _stands(file),
        reach,
        reach,
        uses=dict(uses.most_common()),
        constructs={
            kind: tuple(sorted({file.place(node) for node in nodes}, key=_line)) for kind, nodes in found.items()
        },
        places=tuple(sorted(_once(places), key=lambda place: _line(place.line))),
    )


def _of_first_names(file: FileUses) -> frozenset[ast.AST]:
    """The nodes at which a port writes names anew that left with TensorFlow 1.0."""
    from ..rewriting.rules import v1_first_names

    return frozenset(change.node for change in v1_first_names.find(file))


def _by_name(file: FileUses) -> dict[str, list[Use]]:
    """The uses of TensorFlow by the names that they are of."""
    found: dict[str, list[Use]] = {}
    for use in file.uses:
        if use.symbol.startswith("tensorflow."):
            found.setdefault(use.name, []).append(use)
    return {name: uses for name, uses in found.items() if not _is_special(name)}


def _is_special(name: str) -> bool:
    return name == "tf" or ".__" in name or name.startswith("tf.compat.v2") or name in ("tf.compat", "tf.compat.v1")


def _place(file: FileUses, use: Use, symbol: Symbol | None, *, is_changed: bool) -> Place | None:
    """Return what a reader has to know, or to change, at a use of a name; None where there is nothing."""
    line = file.place(use.node)
    if symbol is None:
        sentence = replacements.find(use.name)
        fix = f"{sentence}." if sentence else None
        return Place("unknown-symbol", line, f"TensorFlow 1.15.5 had no {use.name}", fix, use.name)
    if use.name in constructs.OPERATION_LOADERS and use.call is not None:
        fix = "Compile its source for today's TensorFlow with `tf1sessions build-op`"
        return Place("custom-operation", line, f"{use.name} loads a compiled library", fix, use.name, "run")
    if symbol.verdict == "gone" and is_changed:
        fix = "`tf1sessions port --to v1` writes what took its place."
        return Place("gone-symbol", line, f"{use.name} left with TensorFlow 1.0", fix, use.name)
    if symbol.verdict == "gone":
        blocks = None if isinstance(use.node, ast.Constant) or is_tried(file, use.node, use.name) else "run"
        fix = f"{symbol.sentence}." if symbol.sentence else None
        return Place("gone-symbol", line, f"{use.name} is gone", fix, use.name, blocks)
    if symbol.verdict == "moved" or (symbol.verdict == "ours" and (symbol.target or "").startswith(_INSIDE)):
        return Place("inner-symbol", line, f"{use.name} has moved", f"It is {symbol.target} now.", use.name)
    return None


_INSIDE = "tf1sessions.scripts."
_NOTHING_TO_DO = frozenset(["same", "renamed", "elsewhere", "v1"])


def _places_of_imports(file: FileUses) -> Iterator[Place]:
    """Import statements of what is gone."""
    for each in file.imports:
        if not each.meaning.startswith("tensorflow."):
            continue
        name = canonical(f"{each.module}" if each.meaning == "tensorflow" else each.meaning)
        symbol = symbols.find(name)
        if symbol is not None and symbol.verdict == "gone":
            blocks = None if is_tried(file, each.statement, name) else "run"
            fix = f"{symbol.sentence}." if symbol.sentence else None
            yield Place("gone-symbol", file.place(each.statement), f"{name} is gone", fix, name, blocks)


def _old_libraries(file: FileUses) -> Iterator[Place]:
    """Find names that left Python 3 and the other libraries, and those that the step py3 does not change."""
    for find in _OLD_LIBRARIES:
        for found in find(file):
            if isinstance(found, Remark) and found.by_hand:
                yield Place("old-library", file.place(found.node), found.what, blocks="py3")


def _unclear(file: FileUses, use: Use) -> Place:
    name = canonical(use.symbol)
    return Place(
        "unclear-name", file.place(use.node), f"{name} may be TensorFlow's, or what else is called so", symbol=name
    )


def _once(places: Iterable[Place]) -> Iterator[Place]:
    """Each name once a line."""
    return iter({(place.rule, place.line, place.symbol): place for place in places}.values())


def _line(line: SourceLine) -> tuple[int, int]:
    return line.cell or 0, line.line


def _reach(places: Iterable[Place]) -> str | None:
    """The last step before the first that a place blocks."""
    steps = STEPS_BY_NAMES
    first = min((steps.index(place.blocks) for place in places if place.blocks is not None), default=len(steps))
    return steps[first - 1] if first else None


def _stands(file: FileUses) -> str:
    """Return the state of a file, as :attr:`FileAudit.stands` has it, by its imports and the names that it uses."""
    written = [use.symbol for use in file.uses] + [each.meaning for each in file.imports]
    names = {name for name in written if f"{name}.".startswith("tensorflow.")}
    if not names:
        return "no tensorflow"
    found = [symbols.find(name) for name in names if not name.startswith("tensorflow.compat.")]
    if any(symbol is not None and symbol.kind != "module" and symbol.verdict != "same" for symbol in found):
        return "tensorflow 1"
    is_v1 = any(file.meanings.get(each.bound, "").startswith("tensorflow.compat.v1") for each in file.imports)
    return "v1" if is_v1 else "clean"


def _unread(unread: Unread) -> FileAudit:
    """A file of which no more is known than why it was not read."""
    line, reason = unread.place, unread.reason
    if reason.startswith("it is Python 2"):
        fix = "`tf1sessions port --to py3` converts it; then audit what it has written."
        return FileAudit(line.file, 0, "python 2", "py3", "py3", places=(Place("python-2", line, reason, fix),))
    rule = "unreadable" if reason.startswith(_CANNOT_READ) else "not-python"
    return FileAudit(line.file, 0, "unread", None, None, places=(Place(rule, line, reason, blocks="run"),))


# -- the files together -----------------------------------------------------------------------------------------------


def _imports(files: Sequence[FileUses]) -> dict[FileUses, list[FileUses]]:
    """The files of the project that each file imports."""
    by_module = {file.module: file for file in files}
    beside = {(file.source.path.parent, file.source.path.stem): file for file in files}
    found: dict[FileUses, list[FileUses]] = {}
    for file in files:
        folder = file.source.path.parent
        names = dict.fromkeys(name for each in file.imports for name in (each.meaning, each.module))
        targets = (beside.get((folder, name)) or by_module.get(name) for name in names)
        found[file] = [each for each in dict.fromkeys(targets) if each is not None and each is not file]
    return found


def _with_imports(files: Sequence[FileAudit]) -> list[FileAudit]:
    """The files, each with the least step of itself and of what it imports; again until circles are settled, too."""
    now = {file.file: file for file in files}
    changed = True
    while changed:
        changed = False
        for file in list(now.values()):
            for name in file.imports:
                other = now[name]
                if _rank(other.reach_with_imports) < _rank(now[file.file].reach_with_imports):
                    now[file.file] = dataclasses.replace(
                        now[file.file], reach_with_imports=other.reach_with_imports, waits_for=other.waits_for or name
                    )
                    changed = True
    return list(now.values())


def _rank(step: str | None) -> int:
    return -1 if step is None else STEPS.index(step)


def _counts(of_files: Iterable[collections.Counter[str]]) -> tuple[SymbolCount, ...]:
    """Each name with the number of its uses and files, the most used first."""
    uses: collections.Counter[str] = collections.Counter()
    files: collections.Counter[str] = collections.Counter()
    for used in of_files:
        uses.update(used)
        files.update(used.keys())
    known = {name: symbols.find(name) for name in uses}
    return tuple(
        SymbolCount(name, symbol.verdict, symbol.target, symbol.sentence, count, files[name])
        for name, count in sorted(uses.items(), key=lambda item: (-item[1], item[0]))
        if (symbol := known[name]) is not None
    )


def _public(symbol: Symbol) -> Symbol:
    """The class of a method: ``tf.train.Saver`` for ``tf.train.Saver.restore``."""
    while symbol.kind == "name":
        above = symbols.find(symbol.name.rpartition(".")[0])
        if above is None or above.kind in ("module", "inner"):
            break
        symbol = above
    return symbol
