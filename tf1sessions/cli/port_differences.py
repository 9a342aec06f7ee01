"""Differences between plain Python and ``tf1sessions run`` that say nothing, found in the text of ported programs."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from tf1sessions.doctor.check import check
from tf1sessions.doctor.rules.registry import RULES
from tf1sessions.errors import ScriptUsageError
from tf1sessions.source.files import SourceText
from tf1sessions.source.program import Program, SourceFile, SourceLine
from tf1sessions.source.uses import FileUses, read_file

__all__ = ["PythonDifference", "differences"]

_SEEDS = frozenset(["tf.set_random_seed", "tf.random.set_random_seed"])
_OTHER_RULES = frozenset(name for name in RULES if not name.startswith("numpy-"))


@dataclasses.dataclass(frozen=True)
class PythonDifference:
    """Something that plain Python computes otherwise.

    Attributes:
        rule: The doctor's rule that found it; ``"seeds"`` for the random numbers of a graph's seed,
            ``"numpy-printed-scalars"`` for lists of NumPy's scalars that are printed.
        place: Where, in the ported text.
        what: What is there, and what to do.
    """

    rule: str
    place: SourceLine
    what: str

    def as_dict(self) -> dict[str, Any]:
        return {"rule": self.rule, "place": dataclasses.asdict(self.place), "what": self.what}


def differences(sources: Iterable[SourceText]) -> Iterator[PythonDifference]:
    """Yield what plain Python computes otherwise in these files; files that are no Python are passed over."""
    for source in sources:
        file = read_file(source)
        if isinstance(file, FileUses):
            yield from _of_numpy(file)
            yield from _of_seeds(file)
            yield from _of_printing(file)


def _of_numpy(file: FileUses) -> Iterator[PythonDifference]:
    source = file.source
    lines = tuple(source.text.split("\n"))
    cells = None
    if source.notebook is not None:
        places = [source.place(number) for number in range(1, len(lines) + 1)]
        cells = tuple((place.cell or 1, place.line) for place in places)
    program = Program((SourceFile("__main__", source.shown, file.tree, lines, cells),))
    try:
        found = check(program, _OTHER_RULES)
    except ScriptUsageError:  # it is nested too deeply for the doctor; the port has read it all the same
        return
    for finding in found:
        if finding.place is not None:
            yield PythonDifference(finding.rule, finding.place, f"{finding.title}. {finding.fix}")


def _of_seeds(file: FileUses) -> Iterator[PythonDifference]:
    for use in file.uses:
        if use.name in _SEEDS and use.call is not None:
            yield PythonDifference(
                "seeds",
                file.place(use.node),
                "By a graph's seed plain Python draws other numbers than TensorFlow 1 did: for those, run the program "
                "with `tf1sessions run --seeds tf1`, or give each operation a seed of its own.",
            )
            return


def _of_printing(file: FileUses) -> Iterator[PythonDifference]:
    """Yield where a list of fetched values is printed as a whole: NumPy 2 writes scalars in it as np.float32(1.5)."""
    for function, call in file.calls.items():
        if not isinstance(function, ast.Name) or function.id != "print" or "print" in file.bound:
            continue
        if any(_is_list_of_values(file, each) for argument in call.args for each in _written(argument)):
            yield PythonDifference(
                "numpy-printed-scalars",
                file.place(call),
                "Where a value in the list is a single number, NumPy 2 prints np.float32(1.5), NumPy 1 printed 1.5: "
                "print them one by one, or call np.set_printoptions(legacy='1.25') first.",
            )


def _written(argument: ast.expr) -> Iterator[ast.expr]:
    """The values that are written into a printed text: of ``"%s %s" % (a, b)`` a and b."""
    if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod):
        yield from argument.right.elts if isinstance(argument.right, ast.Tuple) else [argument.right]
    elif isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute) and argument.func.attr == "format":
        yield from argument.args
    elif isinstance(argument, ast.JoinedStr):
        yield from (each.value for each in argument.values if isinstance(each, ast.FormattedValue))
    else:
        yield argument


def _is_list_of_values(file: FileUses, node: ast.expr) -> bool:
    """Whether an expression is a list of what sessions gave, or a name that is bound to that only.

    Such lists are ``session.run([a, b])`` and ``[session.run(a), b.eval()]``.
    """
    if isinstance(node, ast.Name) and len(file.bound.get(node.id, ())) == 1:
        statement = file.parents.get(file.bound[node.id][0])
        return isinstance(statement, ast.Assign) and _is_list_of_values(file, statement.value)
    if isinstance(node, ast.List | ast.Tuple):
        return any(_fetches(each) for each in node.elts)
    return _fetches(node) and bool(node.args) and isinstance(node.args[0], ast.List | ast.Tuple)


def _fetches(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "eval")
