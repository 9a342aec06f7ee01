"""The syntax of Python 2 as that of Python 3, by the fixers of the package fissix; comments and layout stay."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ....errors import UnsupportedEnvironmentError
from ....files import temporary_folder

__all__ = ["converted", "with_newlines", "with_spaces", "without_keywords"]

# Syntax only: names and what they give are for rules that know scopes.
_FIXERS = (
    "except",
    "exec",
    "metaclass",
    "ne",
    "numliterals",
    "paren",
    "print",
    "raise",
    "repr",
    "throw",
    "tuple_params",
)

_NO_FISSIX = 'Run `pip install "tf1sessions[port]"`.'


class _NotPythonError(Exception):
    """A text is no Python 2."""


def converted(text: str, *, has_print_statements: bool = False) -> str | None:
    """Return Python 2 as Python 3; None where it is neither.

    Args:
        text: The text of a file.
        has_print_statements: It surely has some, so that nothing in it calls ``print`` with a named argument.

    Raises:
        UnsupportedEnvironmentError: The package fissix is not installed.
    """
    for has_print_function in (False,) if has_print_statements else (False, True):
        found = _refactored(text, _FIXERS, has_print_function)
        if found is not None:
            return found
    return None


def without_keywords(text: str) -> str | None:
    """Return Python 3 of before 3.7 with ``asyncio.async`` by its new name; None where it is something else.

    Raises:
        UnsupportedEnvironmentError: The package fissix is not installed.
    """
    return _refactored(text, (), True) if re.search(r"\basyncio\s*\.\s*async\b", text) else None


def with_newlines(text: str, like: str) -> str:
    """Return a text, whose lines end in ``"\\n"``, with the line ends of another one."""
    ends = re.findall(r"\r\n|\r|\n", like)
    if set(ends) <= {"\n"}:
        return text
    lines = text.split("\n")
    if len(ends) != len(lines) - 1:  # a line was added: the end that most lines have
        ends = [max(set(ends), key=ends.count)] * (len(lines) - 1)
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


def with_spaces(text: str) -> str:
    """Return a text whose lines begin with spaces only, eight columns a tab, as Python 2 counted them.

    Lines inside of strings stay as they are.
    """
    inside: set[int] = set()
    _fissix()
    from fissix.pgen2 import token, tokenize

    lines = re.split(r"(?<=\n)", re.sub(r"\r\n|\r", "\n", text))
    try:
        for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(iter([*lines, ""]).__next__):
            if kind == token.STRING:
                inside.update(range(first + 1, last + 1))
    except (tokenize.TokenError, IndentationError, StopIteration):
        return text
    found = [
        line if number in inside else _indentation(line).expandtabs(8) + line[len(_indentation(line)) :]
        for number, line in enumerate(lines, 1)
    ]
    return with_newlines("".join(found), text)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _refactored(text: str, fixers: tuple[str, ...], has_print_function: bool) -> str | None:
    plain = re.sub(r"\r\n|\r", "\n", text)
    lead = plain[: len(plain) - len(plain.lstrip("\f"))]  # the tokenizer stumbles over a page that the file begins with
    _fissix()
    from fissix.pgen2 import tokenize

    try:
        tree = _tool(fixers, has_print_function).refactor_string(plain[len(lead) :] + "\n", "")
        return with_newlines(lead + str(tree)[:-1], text)
    except (_NotPythonError, tokenize.TokenError, RecursionError):  # a text without an end; hundreds of brackets
        return None


@functools.cache
def _tool(fixers: tuple[str, ...], has_print_function: bool) -> Any:
    refactor = _fissix()

    class Tool(refactor.RefactoringTool):  # type: ignore[misc, name-defined]
        def refactor_tree(self, tree: Any, name: str) -> Any:
            is_bytes = bool(fixers) and "unicode_literals" not in tree.future_features
            for leaf in tree.leaves():
                _fix_leaf(leaf, is_bytes)
            for node in list(tree.post_order()):
                _fix_lambda(node, tree.used_names)
            return super().refactor_tree(tree, name)

        def log_error(self, msg: str, *args: Any, **kwds: Any) -> None:
            raise _NotPythonError(msg % args)

    tool = Tool([f"fissix.fixes.fix_{name}" for name in fixers], {"print_function": has_print_function})
    for fixer in (*tool.pre_order, *tool.post_order):  # a tuple among parameters gets a name
        fixer.new_name = functools.partial(_new_name, fixer.new_name)
        if type(fixer).__name__ == "FixPrint":
            fixer.transform = functools.partial(_print, fixer.transform)
    return tool


def _new_name(new_name: Callable[[str], str], template: str = "argument") -> str:
    return new_name(template)


def _print(transform: Callable[[Any, Any], Any], node: Any, results: Any) -> Any:
    """Leave ``print ("%d" % x)`` as it is, which is a call already; ``print (a, b)`` is not: it prints a tuple."""
    arguments = node.children[1:]
    if len(arguments) == 1 and str(arguments[0]).strip()[:1] == "(" and len(arguments[0].children) == 3:
        opening, inner, closing = arguments[0].children
        is_tuple = any(str(each).strip() == "," for each in inner.children)
        if (str(opening).strip(), str(closing).strip()) == ("(", ")") and not is_tuple:
            return None
    return transform(node, results)


def _fissix() -> Any:
    """The module fissix.refactor. It keeps its tables in the user's home, unless it is given another folder."""
    try:
        import fissix
    except ImportError as error:
        raise UnsupportedEnvironmentError(
            "a file is Python 2, and fissix is not installed", next_step=_NO_FISSIX
        ) from error
    kept = fissix.CACHE_DIR
    with temporary_folder("tf1sessions-") as folder:
        fissix.CACHE_DIR = Path(folder)
        try:
            from fissix import refactor
        finally:
            fissix.CACHE_DIR = kept
    return refactor


def _fix_lambda(node: Any, used: set[str]) -> None:
    """``lambda (a, b), c: a``: a parameter ``a_b``, and ``a_b[0]``. fissix takes a tuple only where it is alone."""
    from fissix import pygram, pytree
    from fissix.fixer_util import Name
    from fissix.fixes import fix_tuple_params

    kinds = pygram.python_symbols
    if node.type != kinds.lambdef or len(node.children) != 4:
        return
    arguments = node.children[1]
    for child in list(arguments.children) if arguments.type == kinds.varargslist else [arguments]:
        if child.type != kinds.vfpdef:
            continue
        parameters = fix_tuple_params.find_params(child)
        if isinstance(parameters, str):  # lambda (a): a
            child.replace(Name(parameters, prefix=child.prefix))
            continue
        name = fix_tuple_params.tuple_name(parameters)
        while name in used:
            name += "_"
        child.replace(Name(name, prefix=child.prefix))
        indices = fix_tuple_params.map_to_index(parameters)
        for leaf in list(node.children[3].leaves()):
            if leaf.value in indices and not _is_only_a_word(leaf, kinds):
                parts = [Name(name), *(each.clone() for each in indices[leaf.value])]
                new = pytree.Node(kinds.power, parts)
                new.prefix = leaf.prefix
                leaf.replace(new)


def _is_only_a_word(leaf: Any, kinds: Any) -> bool:
    """Whether a leaf is an attribute, the name of an argument, or a text."""
    before, after = leaf.prev_sibling, leaf.next_sibling
    is_attribute = before is not None and str(before).strip() == "."
    is_argument = leaf.parent.type == kinds.argument and after is not None and str(after).strip() == "="
    return is_attribute or is_argument


_ESCAPES = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=[uUN])")  # an odd number of backslashes before u, U or N


def _fix_leaf(leaf: Any, is_bytes: bool) -> None:
    """Fix what no fixer of fissix does: ``ur""``, ``asyncio.async``, and ``"\\u"`` in a text that was one of bytes."""
    if leaf.value[:2].lower() == "ur" and leaf.value[2:3] in ("'", '"'):
        leaf.value = leaf.value[1:]
    elif leaf.value[:1] in ("'", '"') and is_bytes and _ESCAPES.search(leaf.value):
        leaf.value = _ESCAPES.sub(r"\1\\\\", leaf.value)
    elif leaf.value == "async" and str(leaf.parent.prev_sibling).strip() == "asyncio":
        leaf.value = "ensure_future"
