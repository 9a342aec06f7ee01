"""Initializers that run again, as they are written: metrics, local variables and iterators begin anew.

TensorFlow 2 has objects for these: ``metric.reset_state()``, ``variable.assign(...)``, and another ``iter(dataset)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..requests.request import NotPossible
from . import iterators
from .call_sites import feed_name, write_feed
from .texts import indented
from .unit import Unit, UnitRequest
from .variables import is_local_variable

__all__ = ["write_datasets", "write_reset"]


def write_datasets(unit: Unit) -> None:
    """Write the functions that make data sets of what is fed, in place of the iterators of these.

    They are functions of TensorFlow, which trace the functions of the data set once: eagerly each call would do that
    anew, and draw another seed for an operation that has none, which in TensorFlow 1 has one for all its runs.
    """
    for iterator in unit.iterators.values():
        lines: list[str] = []
        for dataset, (name, fed) in iterator.functions.items():
            given = ", ".join(fed)
            body = [line for item in iterator.items[dataset] for line in unit.texts.statement(item.statement)]
            body.append(f"return {unit.texts.of(dataset)}")
            decorator = f"@{unit.texts.tensorflow}.function(input_signature=[{given}])"
            lines += [*unit.blank, decorator, f"def {name}({given}):", *indented(body), *unit.blank]
        unit.replaced[iterator.statement] = lines


def write_reset(unit: Unit, request: UnitRequest) -> None:
    """Write each call of initializers as what has metrics, local variables and iterators begin anew.

    Raises:
        NotPossible: One of them is begun anew where the others that use it do not see it.
    """
    parts = [part for leaf in request.leaves for part in iterators.parts(unit, leaf)]
    others = [
        each for each in parts if not iterators.is_local(unit, each) and iterators.iterator_of(unit, each) is None
    ]
    if others and not iterators.is_run_once(unit, request):
        raise NotPossible(request.calls[-1], "Variables are initialised more than once")
    for call in request.calls:
        statement = unit.file.parents[call]
        if not isinstance(statement, ast.Expr):
            raise NotPossible(call, "The result of an initialisation is used")
        lines = [line for part in parts if iterators.is_local(unit, part) for line in _local_resets(unit, part)]
        for part in parts:
            name = iterators.iterator_of(unit, part)
            if name in unit.iterators:
                assert name is not None
                lines.append(_new_iterator(unit, request, call, unit.iterators[name], part))
        unit.replaced[statement] = list(dict.fromkeys(lines))
        if others:
            unit.initializations.append(statement)
    if request.statement is not None:
        unit.replaced[request.statement] = []


def _local_resets(unit: Unit, initializer: ast.expr) -> Iterator[str]:
    """Reset the metrics and local variables that are made before an initializer is."""
    for item in unit.items:
        if item.statement.lineno >= initializer.lineno:
            continue
        for name, _, kind in unit.objects.get(item, []):
            if kind == "metric":
                yield f"{name}.reset_state()"
        for call in item.makers:
            if is_local_variable(unit.kinds, call):
                made = unit.texts.of(call)
                target = next(iter(item.binds), "")
                value = ast.parse(made, mode="eval").body
                if (
                    not isinstance(item.statement, ast.Assign)
                    or item.statement.value is not call
                    or len(item.binds) != 1
                ):
                    raise NotPossible(call, "A local variable is made without a name")
                assert isinstance(value, ast.Call)
                yield f"{target}.assign({ast.unparse(value.args[0])})"


def _new_iterator(
    unit: Unit, request: UnitRequest, call: ast.Call, iterator: iterators.RemadeIterator, part: ast.expr
) -> str:
    dataset = iterator.datasets[0] if not isinstance(part, ast.Call) else iterators.dataset_of(part)
    _check_scopes(unit, call, iterator)
    if dataset not in iterator.functions:
        return f"{iterator.name} = iter({unit.texts.of(dataset)})"
    function, fed = iterator.functions[dataset]
    if missing := [name for name in fed if name not in request.feeds]:
        raise NotPossible(call, f"A request needs {missing[0]!r}, which it does not feed")
    if feed_name(call) is not None:
        write_feed(unit, request, call)
        values = [unit.texts.of(call.args[0])] if set(fed) == set(request.feeds) else []
    else:
        given = dict(zip(request.feeds, call.args, strict=False))
        values = [unit.texts.of(given[name]) for name in fed if name in given]
    if not values or (len(values) != len(fed) and feed_name(call) is None):
        raise NotPossible(call, "A data set is fed in a way that is not known")
    return f"{iterator.name} = iter({function}({', '.join(values)}))"


def _check_scopes(unit: Unit, call: ast.Call, iterator: iterators.RemadeIterator) -> None:
    """Refuse an iterator that one function makes anew and another one uses."""
    place = _function_of(unit, call)
    using = [
        each for request in unit.requests if iterator.name in iterators.given(unit, request) for each in request.calls
    ]
    if place is not unit.node and not all(_function_of(unit, each) is place for each in using):
        raise NotPossible(call, f"{iterator.name!r} is begun anew in a function, and used in another one")


def _function_of(unit: Unit, node: ast.AST) -> ast.AST:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((each for each in iterators.around(unit, node) if isinstance(each, functions)), unit.node)
