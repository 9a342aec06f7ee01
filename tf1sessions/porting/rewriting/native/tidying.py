"""Tidies a file that was written: empty lines, and imports that nothing uses any more."""

from __future__ import annotations

import ast
import re

from ....source.notebooks import begins_cell
from ..indentation import lines_in_strings

__all__ = ["tidied", "without_unused_imports"]


def tidied(text: str, before: str) -> str:
    """Put the empty lines of a text in order: two around functions of a module, one inside of functions.

    Longer runs of empty lines stay where the author has such.

    Args:
        text: The new text of a file.
        before: The text that its author wrote.

    Example:
        >>> tidied("a = 1\\n@tf.function\\ndef f():\\n    return a\\n\\n\\n\\n\\nf()\\n", "a = 1\\n")
        'a = 1\\n\\n\\n@tf.function\\ndef f():\\n    return a\\n\\n\\nf()\\n'
    """
    most_outside = max(2, _longest_run(before, inside=False))
    most_inside = max(1, _longest_run(before, inside=True))
    lines: list[str] = []
    empty = 0
    is_new = False  # whether the last function of the module is one that was written
    in_strings = set(lines_in_strings(text))
    for number, line in enumerate(text.splitlines(), 1):
        if number in in_strings:
            lines += [*[""] * empty, line]
            empty = 0
            continue
        if not line.strip():
            empty += 1
            continue
        is_inside = line[:1] in " \t"
        if begins_cell(line):
            empty, is_new = 0, False
        if not is_inside and is_new and not lines[-1].startswith("@"):
            empty, is_new = max(empty, 2), False
        is_function = line.lstrip().startswith("@") and ".function" in line
        if is_function and lines and not _opens_block(lines[-1]):
            empty = max(empty, 1 if is_inside else 2)
        is_new = is_new or (is_function and not is_inside)
        if lines and begins_cell(lines[-1]):
            empty = 0
        lines += [""] * min(empty, most_inside if is_inside else most_outside)
        lines.append(line)
        empty = 0
    newline = "\r\n" if "\r\n" in text else "\n"
    return newline.join(lines) + newline


def without_unused_imports(text: str) -> str:
    """Leave out the imports from inner modules of TensorFlow that nothing uses, and a second ``import os``.

    One that shares its line with another statement stays. So does all of a text that is no Python.

    Example:
        >>> without_unused_imports("from tensorflow.python.framework import ops\\nx = 1\\n")
        'x = 1\\n'
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the caller says so
        return text
    read = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    lines: list[str] = text.splitlines(keepends=True)
    imports = [
        each for each in tree.body if isinstance(each, ast.Import) and [one.name for one in each.names] == ["os"]
    ]
    for node in reversed(tree.body):
        if node in imports[1:] and lines[node.lineno - 1].strip() == "import os":
            lines[node.lineno - 1] = ""
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("tensorflow.python."):
            kept = [each for each in node.names if (each.asname or each.name) in read | {"*"}]
            own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            is_alone = not any(each is not node and {each.lineno, each.end_lineno} & {*own} for each in tree.body)
            if is_alone and len(kept) < len(node.names):
                rest = ast.unparse(ast.ImportFrom(node.module, kept, node.level)) + "\n"
                lines[node.lineno - 1 : node.end_lineno] = [rest] if kept else []
    return "".join(lines)


def _opens_block(line: str) -> bool:
    return line.rstrip().endswith(":")


def _longest_run(text: str, *, inside: bool) -> int:
    """The most empty lines in a row before a line that is indented, or is not."""
    found = [
        match[1].count("\n")
        for match in re.finditer(r"\n((?:[ \t]*\r?\n)+)(?=([ \t]*)\S)", text)
        if bool(match[2]) == inside
    ]
    return max(found, default=0)
