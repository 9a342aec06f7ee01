"""Names of libraries that are gone, in every form of import and use, and arguments by their new names.

A table gives for an old dotted name a :class:`Row`: the new dotted name, a call written anew, or only a remark.
:func:`find_names` finds the import statements and the uses; where a name is imported for one release of a library only
(below a test of its version, or where the ImportError is caught), nothing is changed.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ...source.edits import Edit
from ...source.uses import FileUses, ImportedName, Use, bodies
from . import headers
from .rule import Change, Remark
from .scopes import defines_method, is_bound, is_guarded

__all__ = [
    "Row",
    "Spelled",
    "argument_edit",
    "find_arguments",
    "find_method_arguments",
    "find_names",
    "imports_library",
    "method_call",
    "spell",
    "text_of",
    "with_attribute",
    "written",
]

#: Packages that import their modules themselves: ``np.exceptions`` is there after ``import numpy``.
_WHOLE = frozenset(["numpy"])


@dataclasses.dataclass(frozen=True)
class Spelled:
    """The spelling of a name at a place, and the import statements that it needs."""

    text: str
    imports: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Row:
    """The fate of a name.

    Attributes:
        new: Its new dotted name, ``"builtins.float"``; None where there is none that takes the same.
        since: The release without the old one: ``"NumPy 1.24"``.
        call: Writes a call of it anew; where it gives None, the name gets the remark.
        remark: What to do by hand where nothing can be changed.
        by_hand: Whether the remark needs a hand.
    """

    new: str | None
    since: str
    call: Callable[[FileUses, Use], Spelled | None] | None = None
    remark: str = ""
    by_hand: bool = True

    def says(self, old: str) -> str:
        """Return the change in one line."""
        new = (self.new or "").removeprefix("builtins.")
        return f"{old}: {new} ({self.since})" if new else f"{old}: written anew ({self.since})"


def find_names(
    file: FileUses,
    table: Mapping[str, Row],
    modules: Mapping[str, Row] | None = None,
    gone: Collection[str] = (),
) -> Iterator[Change | Remark]:
    """Find the names of a table in a file.

    Args:
        file: The file.
        table: Dotted names of functions, classes and constants.
        modules: Dotted names of modules, whose names all moved with them unless the table has them.
        gone: Modules that are gone, whose import goes when nothing uses it any more.
    """
    tops = {name.partition(".")[0] for name in (*table, *(modules or {}), *gone)}
    if tops.isdisjoint(file.libraries):
        return
    search = _Search(file, table, modules or {}, gone, tops)
    yield from search.imports()
    yield from search.uses()


@dataclasses.dataclass
class _Search:
    file: FileUses
    table: Mapping[str, Row]
    modules: Mapping[str, Row]
    gone: Collection[str]
    tops: Collection[str]

    # -- import statements --------------------------------------------------------------------------------------------

    def imports(self) -> Iterator[Change | Remark]:
        for statement, group in itertools.groupby(self.file.imports, key=lambda each: each.statement):
            each_of = list(group)
            if not any(self._concerns(each) for each in each_of) or is_guarded(self.file, statement, "ImportError"):
                continue
            if unused := [each for each in each_of if each.meaning in self.gone and not self._is_used(each)]:
                yield self._without(statement, each_of, unused)
            elif isinstance(statement, ast.Import):
                for each in each_of:
                    yield from self._import(statement, each)
            elif not statement.level:
                yield from self._import_from(statement, each_of)

    def _concerns(self, each: ImportedName) -> bool:
        name = f"{each.module}.{each.alias.name}"
        known = each.module in self.modules or name in self.table or name in self.modules
        return known or each.meaning in self.gone

    def _without(
        self, statement: ast.Import | ast.ImportFrom, every: list[ImportedName], unused: list[ImportedName]
    ) -> Change:
        """Take modules that are gone out of an import statement."""
        kept = ", ".join(self.file.positions.source(each.alias) for each in every if each not in unused)
        lead = "import" if isinstance(statement, ast.Import) else f"from {every[0].module} import"
        edits = tuple(_replace_statement(self.file, statement, [f"{lead} {kept}"] if kept else []))
        return Change(statement, f"import of {unused[0].meaning}: nothing uses it any more", edits)

    def _import(self, statement: ast.Import, each: ImportedName) -> Iterator[Change | Remark]:
        row = self.modules.get(each.module)
        if row is None:
            return
        if row.new is None:
            yield Remark(statement, row.remark, row.by_hand)
            return
        what = f"import of {each.module}: {row.new} ({row.since})"
        if each.alias.asname:
            edit = self.file.positions.replace(each.alias, _with_alias(row.new, each.alias.asname))
            yield Change(statement, what, (edit,))
            return
        uses = [use for use in self.file.uses if use.direct and _base(use.node) == each.bound]
        below = [use for use in uses if f"{use.symbol}.".startswith(f"{each.module}.")]
        top = row.new.partition(".")[0]
        clean = each.bound not in self.file.bound and not is_bound(self.file, top, but=top)
        if "." not in each.module and not clean:  # the uses keep their name
            edit = self.file.positions.replace(each.alias, f"{row.new} as {each.bound}")
            yield Change(statement, what, (edit,))
            return
        edits = [self.file.positions.replace(each.alias, row.new)]
        imports: dict[str, None] = {}
        for use in below:
            node = self.file.part_of(use.node, each.module)
            if node is None:
                return
            known = self.table.get(use.symbol)
            if known is not None and known.new and use.node is self.file.part_of(use.node, use.symbol):
                found = _full(self.file, known.new)
                edits.append(self.file.positions.replace(use.node, found.text))
                imports.update(dict.fromkeys(found.imports))
            else:
                edits.append(self.file.positions.replace(node, row.new))
        imports.pop(f"import {row.new}", None)
        yield Change(statement, what, tuple(edits), tuple(imports))

    def _import_from(self, statement: ast.ImportFrom, group: list[ImportedName]) -> Iterator[Change | Remark]:
        targets: list[tuple[ImportedName, str, str]] = []  # with the new module and name
        rows: list[tuple[str, Row]] = []
        for each in group:
            old = f"{each.module}.{each.alias.name}"
            row, module_row = self.table.get(old) or self.modules.get(old), self.modules.get(each.module)
            if row is not None and row.new is None:
                if row.call is not None and not self._is_used(each):  # its calls have been written anew
                    rows.append((old, row))
                    continue
                if row.call is None or not self._rewrites(each, row):
                    yield Remark(statement, row.remark, row.by_hand)
            if row is not None and row.new:
                module, _, name = row.new.rpartition(".")
                rows.append((old, row))
            elif module_row is not None and module_row.new:
                module, name = module_row.new, each.alias.name
                rows.append((each.module, module_row))
            else:
                if module_row is not None and row is None:
                    yield Remark(statement, module_row.remark, module_row.by_hand)
                module, name = each.module, each.alias.name
            targets.append((each, module, name))
        if rows:
            what = "; ".join(dict.fromkeys(row.says(old) for old, row in rows))
            yield Change(statement, what, tuple(self._from_edits(statement, targets)))

    def _rewrites(self, each: ImportedName, row: Row) -> bool:
        """Whether all uses of an imported name are calls that are written anew."""
        uses = [use for use in self.file.uses if _base(use.node) == each.bound]
        return bool(uses) and all(row.call is not None and row.call(self.file, use) for use in uses if use.call)

    def _is_used(self, each: ImportedName) -> bool:
        return each.bound in self.file.chains or self._is_exported(each.bound)

    def _from_edits(self, statement: ast.ImportFrom, targets: list[tuple[ImportedName, str, str]]) -> Iterator[Edit]:
        positions = self.file.positions
        plain, renamed = [], {}
        for each, module, name in targets:  # builtins need no import, if their uses can have the name
            if module == "builtins" and (edits := self._builtin_uses(each, name)) is not None:
                renamed[each] = edits
            else:
                plain.append((each, module, name))
        for edits in renamed.values():
            yield from edits
        modules = list(dict.fromkeys(module for _, module, _ in plain))
        if len(modules) == 1 and modules[0] and len(plain) == len(statement.names):
            if targets[0][0].module != modules[0]:
                yield headers.module_edit(self.file, statement, modules[0])
            for each, _, name in plain:
                if name != each.alias.name:
                    yield positions.replace(each.alias, _with_alias(name, each.bound))
            return
        lines = []
        for module in modules:
            names = [_with_alias(name, each.bound) for each, where, name in plain if where == module]
            lines += [f"from {module} import {', '.join(names)}"] if module else [f"import {name}" for name in names]
        yield from _replace_statement(self.file, statement, lines)

    def _builtin_uses(self, each: ImportedName, name: str) -> list[Edit] | None:
        """The edits that give all uses of an imported name a builtin's name; None where they cannot have it."""
        chains = self.file.chains.get(each.bound, [])
        others = [other for other in self.file.imports if other.bound == each.bound]
        if each.bound in self.file.bound or len(others) > 1 or self._is_exported(each.bound):
            return None
        if each.bound != name and is_bound(self.file, name):
            return None
        return [self.file.positions.replace(_base_node(chain), name) for chain in chains if each.bound != name]

    def _is_exported(self, name: str) -> bool:
        return bool(re.search(rf"[\"']{name}[\"']", self.file.source.text)) or self.file.source.path.stem == "__init__"

    # -- uses ---------------------------------------------------------------------------------------------------------

    def uses(self) -> Iterator[Change | Remark]:
        for use in self.file.uses:
            if use.symbol.partition(".")[0] not in self.tops:
                continue
            found = self._row(use.symbol)
            if found is None:
                continue
            old, row = found
            base = self.file.meanings.get(_base(use.node), "")
            by_statement = f"{base}.".startswith(f"{old}.")  # the import of the name itself is changed
            if row.call is not None and use.symbol == old and use.direct:
                new = row.call(self.file, use) if use.call is not None else None
                if new is not None and use.call is not None:
                    yield Change(
                        use.node, row.says(old), (self.file.positions.replace(use.call, new.text),), new.imports
                    )
                    continue
            if is_guarded(self.file, use.node, "AttributeError"):
                continue
            if row.new is None:
                if not by_statement or old in self.table:
                    yield Remark(use.node, row.remark, row.by_hand)
                continue
            if isinstance(use.node, ast.Constant):
                if not _is_asked(self.file, use.node) and not is_guarded(self.file, use.node, "ImportError"):
                    yield Remark(use.node, f"The text names {row.says(old)}.", by_hand=True)
                continue
            part = self.file.part_of(use.node, old)
            if by_statement or part is None or not use.direct or self._moves_with(base, old, row.new):
                continue
            if self._by_import_statement(use, old):
                continue
            spelled = spell(self.file, use, row.new)
            yield Change(use.node, row.says(old), (self.file.positions.replace(part, spelled.text),), spelled.imports)

    def _moves_with(self, module: str, old: str, new: str) -> bool:
        """Whether a name is right when the module, which the file has by a name of its own, is another one."""
        row = self.modules.get(module)
        return row is not None and row.new is not None and new == row.new + old.removeprefix(module)

    def _by_import_statement(self, use: Use, old: str) -> bool:
        """Whether ``import old`` binds the use's base: the statement is changed together with its uses."""
        return any(
            isinstance(each.statement, ast.Import)
            and not each.alias.asname
            and each.bound == _base(use.node)
            and f"{use.symbol}.".startswith(f"{each.module}.")
            and each.module in self.modules
            and self.modules[each.module].new is not None
            and "." in each.module
            for each in self.file.imports
        )

    def _row(self, symbol: str) -> tuple[str, Row] | None:
        """The row of the longest part of a symbol that a table has."""
        while symbol:
            row = self.table.get(symbol) or self.modules.get(symbol)
            if row is not None:
                return symbol, row
            symbol = symbol.rpartition(".")[0]
        return None


def _is_asked(file: FileUses, text: ast.Constant) -> bool:
    """Whether a name that is a text need not be there: ``hasattr(np, "float")``, ``getattr(np, "float", float)``."""
    call = file.parents.get(text)
    return isinstance(call, ast.Call) and (
        (isinstance(call.func, ast.Name) and call.func.id == "hasattr") or len(call.args) == 3
    )


def spell(file: FileUses, use: Use, new: str) -> Spelled:
    """Return how a dotted name is written where ``use`` stands, by the name that the use's module has in the file."""
    if new.startswith("builtins."):
        return _full(file, new)
    base = _base(use.node)
    meaning = file.meanings.get(base, "")
    module = new.rpartition(".")[0]
    if new.startswith(f"{meaning}.") and use.direct:
        whole = meaning == module or meaning in _WHOLE or module == use.symbol.rpartition(".")[0]
        imports = () if whole else (f"import {module}",)
        return Spelled(base + new.removeprefix(meaning), imports)
    return _full(file, new)


def _full(file: FileUses, new: str) -> Spelled:
    """A dotted name in full, with the import of its module."""
    module, _, name = new.rpartition(".")
    if not module:  # a module at the top
        alias = headers.free_name(file, new, new)
        return Spelled(alias, (f"import {new}" + ("" if alias == new else f" as {alias}"),))
    if module.startswith("builtins") and not is_bound(file, new.split(".")[1]):
        return Spelled(new.removeprefix("builtins."))
    for each in file.imports:  # it may be there, by this or another name
        if each.meaning == module and each.bound not in file.bound:
            return Spelled(f"{each.bound}.{name}")
    top = module.partition(".")[0]
    if not is_bound(file, top, but=top):
        return Spelled(new, (f"import {module}",))
    alias = headers.free_name(file, module.replace(".", "_"), module)
    return Spelled(f"{alias}.{name}", (f"import {module} as {alias}",))


def text_of(file: FileUses, node: ast.expr, *, tight: bool = False) -> str:
    """Return the text of an expression; with ``tight`` in brackets where an attribute could not follow it."""
    text = file.positions.source(node)
    is_tight = isinstance(
        node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Dict | ast.JoinedStr
    )
    is_tight = is_tight or (isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in text)
    return text if is_tight or not tight else f"({text})"


def written(template: str, *counts: int, **names: str) -> Callable[[FileUses, Use], Spelled | None]:
    """Return what writes a call anew for :class:`Row`.

    Args:
        template: ``{0}`` is the first argument, ``{t0}`` the same in brackets where an attribute could not follow it,
            ``{rest}`` the others with their commas before them, ``{f}`` the name that ``f=`` gives as a dotted one.
        counts: How many arguments the call may have, none of them named.
        names: Dotted names, written as the file imports them.
    """

    def write(file: FileUses, use: Use) -> Spelled | None:
        call = use.call
        if call is None or call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        if counts and len(call.args) not in counts:
            return None
        spelled = {name: spell(file, use, path) for name, path in names.items()}
        texts = [file.positions.source(each) for each in call.args]
        parts = {f"t{number}": text_of(file, each, tight=True) for number, each in enumerate(call.args)}
        parts |= {name: each.text for name, each in spelled.items()}
        parts["rest"] = "".join(f", {text}" for text in texts[1:])
        imports = [statement for each in spelled.values() for statement in each.imports]
        return Spelled(template.format(*texts, **parts), tuple(dict.fromkeys(imports)))

    return write


# -- arguments --------------------------------------------------------------------------------------------------------


def find_arguments(
    file: FileUses, table: Mapping[str, Mapping[str, str | None]], since: Mapping[str, str]
) -> Iterator[Change | Remark]:
    """Find arguments by their old names.

    Args:
        file: The file.
        table: Dotted name of a function or class -> old argument -> new one, or None where it is left out.
        since: Dotted name -> the release without the old arguments.
    """
    for use in file.uses:
        old_names = table.get(use.symbol)
        if not old_names or use.call is None:
            continue
        given = {keyword.arg for keyword in use.call.keywords}
        for keyword in use.call.keywords:
            if keyword.arg is None or keyword.arg not in old_names:
                continue
            new = old_names[keyword.arg]
            if new in given:
                continue
            what = f"{use.symbol}: {keyword.arg}= is {new}= ({since[use.symbol]})"
            if new is None:
                what = f"{use.symbol}: {keyword.arg}= is gone ({since[use.symbol]})"
            yield Change(keyword, what, (argument_edit(file, use.call, keyword, new),))


def find_method_arguments(
    file: FileUses, library: str, table: Mapping[tuple[str, str], tuple[str | None, str]]
) -> Iterator[Change]:
    """Find arguments of methods, in a file that imports a library, where both names together are only its own.

    Args:
        file: The file.
        library: The library's import name.
        table: Method and old argument -> new argument, and the release without the old one.
    """
    if not imports_library(file, library):
        return
    others = {use.node for use in file.uses if use.symbol.partition(".")[0] != library}
    for function, call in file.calls.items():
        if not isinstance(function, ast.Attribute) or function in others:
            continue
        for keyword in call.keywords:
            found = table.get((function.attr, keyword.arg or ""))
            if found is not None and found[0] not in {each.arg for each in call.keywords}:
                new = f"{found[0]}=" if found[0] else "nothing"
                what = f".{function.attr}({keyword.arg}=): {new} ({found[1]})"
                yield Change(keyword, what, (argument_edit(file, call, keyword, found[0]),))


def imports_library(file: FileUses, *libraries: str) -> bool:
    """Whether a file imports one of these libraries, or what another file imported from one."""
    return any(each.meaning.partition(".")[0] in libraries for each in file.imports) or any(
        meaning.partition(".")[0] in libraries for meaning in file.meanings.values()
    )


def method_call(file: FileUses, function: ast.expr, *names: str) -> ast.Attribute | None:
    """Return a function that is called as a method of one of these names; None for a module's or the project's own."""
    if not isinstance(function, ast.Attribute) or function.attr not in names:
        return None
    base = _base_node(function)
    is_module = isinstance(base, ast.Name) and base.id in file.meanings and base.id not in file.bound
    return None if is_module or defines_method(file, function.attr) else function


def with_attribute(file: FileUses, node: ast.Attribute, new: str, since: str) -> Change:
    """Give an attribute another name."""
    end = file.positions.span(node)[1]
    return Change(node, f".{node.attr}: .{new} ({since})", (Edit(end - len(node.attr), end, new),))


def argument_edit(file: FileUses, call: ast.Call, keyword: ast.keyword, new: str | None) -> Edit:
    """Give an argument a new name, or take it out with the comma before or behind it."""
    start, end = file.positions.span(keyword)
    if new is not None:
        assert keyword.arg is not None
        return Edit(start, start + len(keyword.arg), new)
    parts: Iterable[ast.AST] = [*call.args, *call.keywords]
    before = [file.positions.span(part)[1] for part in parts if file.positions.span(part)[1] <= start]
    if before:
        return Edit(max(before), end, "")
    rest = re.match(r"\s*,\s*", file.source.text[end:])
    return Edit(start, end + (rest.end() if rest else 0), "")


# -- nodes ------------------------------------------------------------------------------------------------------------


def _base_node(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _base(node: ast.expr) -> str:
    base = _base_node(node)
    return base.id if isinstance(base, ast.Name) else ""


def _with_alias(name: str, bound: str) -> str:
    return name if name in (bound, "*") else f"{name} as {bound}"


def _replace_statement(file: FileUses, statement: ast.stmt, lines: list[str]) -> Iterator[Edit]:
    """Put lines in place of a statement; it goes with its line where there are none."""
    start, end = file.positions.span(statement)
    line = file.source.text[file.positions.line_start(statement.lineno) : start]
    alone = not line.strip() and re.match(r"[ \t]*(#[^\r\n]*)?(\r\n|\r|\n|$)", file.source.text[end:])
    if lines:
        between = file.source.newline + line if alone else "; "
        yield Edit(start, end, between.join(lines))
        return
    parent = file.parents.get(statement)
    siblings = [body for body in bodies(parent) if statement in body]
    if alone and siblings and len(siblings[0]) > 1 and "#" not in alone[0]:
        yield Edit(start - len(line), end + alone.end(), "")
    else:
        yield Edit(start, end, "pass")
