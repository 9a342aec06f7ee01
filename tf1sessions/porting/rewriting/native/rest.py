"""The code of a file around its graphs: its calls, written as TensorFlow 2 has them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable

from ....source.uses import FileUses
from ..requests.request import NotPossible
from .calls import NotNative, is_kept, native_call
from .kinds import Kinds
from .texts import Texts

__all__ = [
    "calls_inner_first",
    "is_again",
    "is_repeated",
    "method_call",
    "rewrite_rest",
    "write_datasets",
]


#: What may run an expression in it several times.
_REPEATED = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Lambda, ast.FunctionDef)


#: Attributes of data sets that those of version 2 have not.
_VERSION_1 = frozenset(
    "output_types output_shapes output_classes map_with_legacy_function filter_with_legacy_function".split()
)


def calls_inner_first(node: ast.AST) -> list[ast.Call]:
    """The calls in a node, each before those that it is in."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    return sorted(
        found, key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0, -call.lineno, -call.col_offset)
    )


def is_repeated(file: FileUses, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether a node is in a comprehension, a lambda or a function of a statement, which may run it several times."""
    inside = itertools.takewhile(lambda each: each is not statement, file.around(node))
    return any(isinstance(each, _REPEATED) for each in inside)


def is_again(call: ast.Call, reuse: ast.expr | None) -> bool:
    """Whether ``reuse=`` of a layer says that it uses the variables of an earlier one.

    Raises:
        NotPossible: That is known when the program runs.
    """
    if reuse is None:
        return False
    if not isinstance(reuse, ast.Constant):
        raise NotPossible(call, "Whether a layer is used again is known when the program runs")
    return bool(reuse.value)


def method_call(texts: Texts, call: ast.Call) -> str | None:
    """Write a method of data sets, iterators or variables that TensorFlow 2 has not; None for other calls."""
    if not isinstance(call.func, ast.Attribute):
        return None
    value = texts.of(call.func.value)
    if call.func.attr in ("make_one_shot_iterator", "make_initializable_iterator"):
        return f"iter({value})"
    if call.func.attr == "initialized_value":
        return f"{value}.read_value()"
    return f"next({value})" if call.func.attr == "get_next" else None


def write_datasets(file: FileUses, texts: Texts) -> None:
    """Data sets are those of version 2, unless the program asks for what these have not."""
    structures = [use.call for use in file.uses if use.name == "tf.data.Iterator.from_structure" and use.call]
    inside = [each.attr for one in structures for each in ast.walk(one) if isinstance(each, ast.Attribute)]
    nodes = [each.attr for each in ast.walk(file.tree) if isinstance(each, ast.Attribute) and each.attr in _VERSION_1]
    if len(nodes) > len([each for each in inside if each in _VERSION_1]):
        return
    for use in file.uses:
        if use.symbol.startswith("tensorflow.compat.v1.data.") and use.direct:
            part = file.part_of(use.node, "tensorflow.compat.v1.data")
            if part is not None:
                texts.replace(part, f"{texts.tensorflow}.data")


def rewrite_rest(file: FileUses, kinds: Kinds, texts: Texts, done: Iterable[ast.AST]) -> None:
    """Note the changes of all calls but those in the nodes that are done.

    Raises:
        NotPossible: One has no form in TensorFlow 2.
    """
    known = {call for node in done for call in ast.walk(node) if isinstance(call, ast.Call)}
    for call in calls_inner_first(file.tree):
        symbol = kinds.symbol(call.func)
        if call in known or symbol is None or not symbol.startswith(("tf.", "tf1sessions.contrib.")):
            continue
        native = native_call(call, symbol, texts.of, texts.tensorflow, kept=is_kept(file, call))
        if isinstance(native, NotNative):
            raise NotPossible(call, native.reason)
        if native is not None:
            made = native.made or ""
            texts.replace(call, native.used.replace("{made}", made) if made else native.used)
