"""The place and the text of import statements in a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ...source.edits import Edit
from ...source.uses import FileUses, canonical

__all__ = [
    "free_name",
    "has_import",
    "import_edits",
    "indentation",
    "insert_after",
    "insert_before",
    "is_in_function",
    "module_edit",
    "tensorflow_statements",
]

#: Packages whose import brings TensorFlow in.
_TENSORFLOW = frozenset(["tensorflow", "keras", "tf_keras", "tf1sessions", "tensorflow_hub", "tensorflow_probability"])


def tensorflow_statements(file: FileUses, packages: frozenset[str] = _TENSORFLOW) -> list[ast.stmt]:
    """Return the import statements of TensorFlow and of what imports it, in the order of the text."""
    found: dict[ast.stmt, None] = {}
    for each in file.imports:
        relative = isinstance(each.statement, ast.ImportFrom) and each.statement.level
        if each.module.partition(".")[0] in packages and not relative:
            found[each.statement] = None
    return list(found)


def has_import(file: FileUses, statement: str) -> bool:
    """Whether the file binds the names of an import statement to just what it imports, outside functions or not."""
    (node,) = ast.parse(statement).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    for alias in node.names:
        if isinstance(node, ast.Import) and not alias.asname:  # "import a" does not import a.b
            bound = meaning = alias.name.partition(".")[0]
            if not any(f"{each.module}.".startswith(f"{alias.name}.") and each.bound == bound for each in file.imports):
                return False
        elif isinstance(node, ast.Import):
            bound, meaning = alias.asname or "", alias.name
        else:
            bound, meaning = alias.asname or alias.name, f"{node.module}.{alias.name}"
        if not any(each.bound == bound and each.meaning == meaning for each in file.imports):
            return False
    return True


def free_name(file: FileUses, name: str, meaning: str) -> str:
    """Return ``name``, with as many underscores behind it as it needs to mean ``meaning`` and nothing else here."""
    while file.taken(name) and not _is_bound_to(file, name, meaning):
        name += "_"
    return name


def _is_bound_to(file: FileUses, name: str, meaning: str) -> bool:
    imports = [each for each in file.imports if each.bound == name]
    return (
        bool(imports)
        and name not in file.bound
        and all(canonical(each.meaning) == canonical(meaning) for each in imports)
    )


def import_edits(file: FileUses, statements: Iterable[str]) -> Iterator[Edit]:
    """Yield the edits that put import statements into a file; one that the file has already is left out.

    Those of tf1sessions go behind the first statement outside functions that imports TensorFlow, and without one behind
    the imports that the file begins with; all others before those imports.
    """
    wanted = [each for each in dict.fromkeys(statements) if not has_import(file, each)]
    ours = [each for each in wanted if "tf1sessions" in each]
    others = [each for each in wanted if each not in ours]
    first = next((each for each in file.tree.body if _is_plain_import(each)), None)
    if others and first is not None:
        yield insert_before(file, first, others)
        others = []
    rest = others + ours
    anchor = _anchor(file)
    if rest and anchor is not None:
        yield insert_after(file, anchor, [indentation(file, anchor) + each for each in rest])
    elif rest:
        start = _after_comments(file)
        yield Edit(start, start, "".join(each + file.source.newline for each in rest))


def _is_plain_import(statement: ast.stmt) -> bool:
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return isinstance(statement, ast.Import | ast.ImportFrom) and not is_future


def insert_after(file: FileUses, statement: ast.stmt, lines: Iterable[str]) -> Edit:
    """Insert lines of simple statements, already indented, behind a statement.

    They come on the line after it, or on its own line where other statements stand there that may need them.
    """
    newline = file.source.newline
    if _shares_its_line(file, statement):
        _, end = file.positions.span(statement)
        return Edit(end, end, "".join(f"; {line}" for line in _without_layout(lines)))
    end = file.positions.line_start((statement.end_lineno or statement.lineno) + 1)
    before = file.source.text[:end]
    lead = "" if before.endswith(("\n", "\r")) else newline
    return Edit(end, end, lead + "".join(line + newline for line in lines))


def insert_before(file: FileUses, statement: ast.stmt, lines: Iterable[str]) -> Edit:
    """Insert lines of simple statements, already indented, before a statement."""
    start, _ = file.positions.span(statement)
    line_start = file.positions.line_start(statement.lineno)
    if file.source.text[line_start:start].strip():
        return Edit(start, start, "".join(f"{line}; " for line in _without_layout(lines)))
    return Edit(line_start, line_start, "".join(line + file.source.newline for line in lines))


def _shares_its_line(file: FileUses, statement: ast.stmt) -> bool:
    """Whether there is another statement, or the beginning of one, on the lines of a statement."""
    start, end = file.positions.span(statement)
    before = file.source.text[file.positions.line_start(statement.lineno) : start]
    behind = file.source.text[end : file.positions.line_start((statement.end_lineno or statement.lineno) + 1)]
    return bool(before.strip()) or behind.lstrip(" \t\f").startswith(";")


def _without_layout(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they stand beside others: without indentation, comments and blank lines."""
    for line in lines:
        statement = line.partition("  #")[0].strip()
        if statement:
            yield statement


def indentation(file: FileUses, statement: ast.stmt) -> str:
    """The white space that a statement's line begins with."""
    start = file.positions.line_start(statement.lineno)
    line = file.source.text[start : file.positions.line_start(statement.lineno + 1)]
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def _anchor(file: FileUses) -> ast.stmt | None:
    for statement in tensorflow_statements(file):
        if not is_in_function(file, statement):
            return statement
    last: ast.stmt | None = None
    for statement in file.tree.body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, ast.Import | ast.ImportFrom) and not is_docstring:
            break
        last = statement
    return last


def is_in_function(file: FileUses, node: ast.AST) -> bool:
    """Whether a node runs when a function is called, and not when the file is imported."""
    while (parent := file.parents.get(node)) is not None:
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return True
        node = parent
    return False


def _after_comments(file: FileUses) -> int:
    """The offset of the first line that is no comment: behind a #! line and the encoding."""
    line = 1
    text = file.source.text
    while text[file.positions.line_start(line) :].startswith("#"):
        line += 1
    return file.positions.line_start(line)


def module_edit(file: FileUses, statement: ast.ImportFrom, module: str) -> Edit:
    """Put another module into ``from module import name``."""
    start, _ = file.positions.span(statement)
    found = re.compile(r"from(?:\s|\\)+([\w.]+)").match(file.source.text, start)
    assert found is not None
    return Edit(*found.span(1), module)
