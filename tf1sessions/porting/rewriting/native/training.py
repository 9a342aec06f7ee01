"""Optimizers' ``minimize()`` and gradients as steps with a tf.GradientTape."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Protocol

from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .kinds import Kind, Kinds, creates
from .nones import none_or_not
from .statements import Item
from .texts import Texts

__all__ = ["METHODS", "TapeStep", "check_optimizers", "check_orders", "differentiates", "tape_step"]

#: Methods of optimizers that take gradients, or apply them.
METHODS = ("minimize", "compute_gradients", "apply_gradients")
#: Parameters of the methods, in their order.
_PARAMETERS = {
    "minimize": ("loss", "global_step", "var_list"),
    "compute_gradients": ("loss", "var_list"),
    "apply_gradients": ("grads_and_vars", "global_step", "name"),
}
_KNOWN = {"loss", "global_step", "var_list", "grads_and_vars", "name", "colocate_gradients_with_ops"}


class VariableNames(Protocol):
    """Gives names to the variables of new functions."""

    def local(self, wish: str) -> str: ...

    def new_name(self, wish: str) -> str: ...


@dataclasses.dataclass(frozen=True)
class TapeStep:
    """A statement that takes gradients, or applies them.

    Attributes:
        lines: What it becomes, behind the tape.
        loss: What it differentiates; None where it applies gradients.
        is_operation: Whether it gives an operation, and no value.
        optimizer: The name of the optimizer.
        inside: What the tape has to see besides.
        counted: What counts the steps, behind the lines.
    """

    lines: list[str]
    loss: str | None
    is_operation: bool
    optimizer: str = ""
    inside: list[str] = dataclasses.field(default_factory=list)
    counted: list[str] = dataclasses.field(default_factory=list)


def tape_step(
    kinds: Kinds, texts: Texts, item: Item, scope: Mapping[str, Kind], names: VariableNames
) -> TapeStep | None:
    """Write a statement that minimises or differentiates with a tape; None for any other.

    Args:
        kinds, texts: Of the file.
        item: The statement.
        scope: The kinds of the names.
        names: Of the variables that the functions get.

    Raises:
        NotPossible: It does so in a form that is not known.
    """
    found = [each for each in ast.walk(item.statement) if isinstance(each, ast.Call) and _is_step(kinds, each, scope)]
    if not found:
        return None
    statement, call = item.statement, found[0]
    if len(found) > 1:
        raise NotPossible(statement, "A statement has several training steps")
    _check_trained(kinds, call)
    if kinds.symbol(call.func) == "tf.gradients":
        is_one = len(call.args) > 1 and kinds.of(call.args[1], scope) is Kind.VARIABLE
        return _gradients(texts, statement, call, names, is_one)
    assert isinstance(call.func, ast.Attribute)
    if getattr(statement, "value", None) is not call or not isinstance(statement, ast.Assign | ast.Expr):
        raise NotPossible(call, "A training step is a part of another expression")
    method = call.func.attr
    given = arguments(call, _PARAMETERS[method])
    if unknown := sorted(set(given) - _KNOWN):
        raise NotPossible(call, f"{method}() has the argument {unknown[0]}")
    _leave_out_nones(kinds, call, given)
    optimizer = texts.of(call.func.value)
    tape, local = names.local("tape"), names.local("variables")
    variables = texts.of(given["var_list"]) if "var_list" in given else f"{tape}.watched_variables()"
    loss: str | None = None
    inside: list[str] = []
    if "loss" in given:
        loss, inside = _seen_by_tape(texts, given["loss"], names)
    if method == "compute_gradients":
        return TapeStep(
            [
                f"{local} = {variables}",
                f"{_targets(texts, statement)} = list(zip({tape}.gradient({loss}, {local}), {local}))",
            ],
            loss,
            False,
            optimizer,
            inside,
        )
    lines = []
    if method == "minimize":
        if not variables.isidentifier():
            lines.append(f"{local} = {variables}")
            variables = local
        pairs = f"zip({tape}.gradient({loss}, {variables}), {variables})"
    else:
        pairs = texts.of(given["grads_and_vars"])
    lines.append(f"{optimizer}.apply_gradients({pairs})")
    step = given.get("global_step")
    counted = [f"{texts.of(step)}.assign_add(1)"] if step is not None else []
    return TapeStep(lines, loss, True, optimizer, inside, counted)


def _leave_out_nones(kinds: Kinds, call: ast.Call, given: dict[str, ast.expr]) -> None:
    """Leave out what is None: all variables are trained, and no steps are counted.

    Raises:
        NotPossible: Something may be None, or something else.
    """
    for name in [each for each in ("var_list", "global_step") if each in given]:
        is_none = none_or_not(kinds.file, given[name])
        if is_none is None:
            raise NotPossible(call, f"{name} of a training step may be None")
        if is_none:
            del given[name]


def _check_trained(kinds: Kinds, call: ast.Call) -> None:
    """Refuse gradients of variables that are made with ``trainable=False``: a tape does not see them.

    Raises:
        NotPossible: A call takes such.
    """
    assigned = [each for each in ast.walk(kinds.file.tree) if isinstance(each, ast.Assign)]
    names = {
        ast.unparse(each.targets[0])
        for each in assigned
        if isinstance(each.value, ast.Call) and creates(kinds.symbol(each.value.func)) == "variable"
        for given in each.value.keywords
        if given.arg == "trainable" and not (isinstance(given.value, ast.Constant) and given.value.value)
    }
    for each in assigned:  # lists of them
        if isinstance(each.value, ast.List | ast.Tuple) and names & set(map(ast.unparse, each.value.elts)):
            names.add(ast.unparse(each.targets[0]))
    is_function = kinds.symbol(call.func) == "tf.gradients"
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = [*call.args[1:2]] if is_function else [arguments(call, _PARAMETERS[method]).get("var_list")]
    if any(each is not None and any(ast.unparse(part) in names for part in ast.walk(each)) for each in given):
        raise NotPossible(call, "Gradients of a variable are taken that is not trained")


def check_optimizers(kinds: Kinds, items: Iterable[Item], scope: Mapping[str, Kind]) -> None:
    """Refuse training steps of what is not seen to be an optimizer: they would stay as they are in a tf.function.

    Refuse besides to ask an optimizer for its state: Keras's have it under other names, and in other units.

    Raises:
        NotPossible: There is one, as of an optimizer whose class is a parameter or a value of a dict.
    """
    for call in (each for item in items for each in ast.walk(item.statement)):
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr in METHODS and kinds.symbol(function) is None:
            if kinds.of(function.value, scope) is not Kind.VARIABLE:
                raise NotPossible(call, f"{function.attr}() is called of what is not known to be an optimizer")
    assigned = [each for each in ast.walk(kinds.file.tree) if isinstance(each, ast.Assign)]
    made = [each for each in assigned if isinstance(each.value, ast.Call)]
    made = [each for each in made if creates(kinds.symbol(each.value.func)) == "optimizer"]  # type: ignore[attr-defined]
    names = {ast.unparse(target) for each in made for target in each.targets}
    for node in ast.walk(kinds.file.tree):
        if isinstance(node, ast.Attribute) and node.attr not in METHODS and ast.unparse(node.value) in names:
            raise NotPossible(node, f"{node.attr} of an optimizer is used")


def check_orders(items: Iterable[Item], steps: Mapping[Item, TapeStep]) -> None:
    """Refuse gradients of what is computed of gradients: those of a tape are taken behind it, where it sees nothing.

    Args:
        items: What requests compute, in its order.
        steps: Those statements that take gradients with a tape, or apply them.

    Raises:
        NotPossible: There are such.
    """
    derived: set[str] = set()
    for item in items:
        step = steps.get(item)
        if step is not None and step.loss is not None and item.reads & derived:
            raise NotPossible(item.statement, "Gradients are taken of what is computed of gradients of variables")
        if step is None or not step.is_operation:
            derived |= item.binds if item.reads & derived or (step is not None and step.loss is not None) else set()


def differentiates(kinds: Kinds, statement: ast.stmt, scope: Mapping[str, Kind]) -> bool:
    """Whether a statement takes gradients, so that the function that it becomes a part of has a tape."""
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and _is_step(kinds, each, scope)]
    return any(getattr(each.func, "attr", "") != "apply_gradients" for each in calls)


def _is_step(kinds: Kinds, call: ast.Call, scope: Mapping[str, Kind]) -> bool:
    if kinds.symbol(call.func) == "tf.gradients":
        return len(call.args) > 1 and kinds.of(call.args[1], scope) in (Kind.VARIABLE, Kind.VARIABLES)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in METHODS:
        return False
    return kinds.of(call.func.value, scope) is Kind.VARIABLE


def _seen_by_tape(texts: Texts, loss: ast.expr, names: VariableNames) -> tuple[str, list[str]]:
    """The name of a loss, and the line that computes it where it has none: it has to be computed under the tape."""
    if isinstance(loss, ast.Name | ast.Attribute):
        return texts.of(loss), []
    name = names.new_name("loss")
    return name, [f"{name} = {texts.of(loss)}"]


def _gradients(texts: Texts, statement: ast.stmt, call: ast.Call, names: VariableNames, is_one: bool) -> TapeStep:
    """``tf.gradients()``, which gives a list for a single variable too."""
    if call.keywords or len(call.args) > 2:
        raise NotPossible(call, "tf.gradients() has arguments beside the two")
    loss, inside = _seen_by_tape(texts, call.args[0], names)
    variables = f"[{texts.of(call.args[1])}]" if is_one else texts.of(call.args[1])
    texts.replace(call, f"{names.local('tape')}.gradient({loss}, {variables})")
    return TapeStep(texts.statement(statement), loss, False, inside=inside)


def _targets(texts: Texts, statement: ast.stmt) -> str:
    assert isinstance(statement, ast.Assign)
    return " = ".join(map(texts.of, statement.targets))
