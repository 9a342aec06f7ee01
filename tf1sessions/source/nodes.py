"""Small questions about nodes of a program's text."""

from __future__ import annotations

import ast

__all__ = ["is_main_guard", "is_none", "literal_text", "parameter_names"]


def is_main_guard(test: ast.expr) -> bool:
    """Whether a test is ``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def is_none(node: ast.expr | None) -> bool:
    """Whether an expression is ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def literal_text(node: ast.expr | None) -> str | None:
    """Return the text that a string literal is; None for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def parameter_names(function: ast.FunctionDef) -> set[str]:
    """Return the names of all parameters of a function."""
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
