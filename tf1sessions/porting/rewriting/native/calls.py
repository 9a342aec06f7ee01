"""Single calls of ``tf.compat.v1`` written in TensorFlow 2: a table, and the few that no table can say.

The numbers are the same if the variables have the same values: what TensorFlow 1 took for an argument that is not
given is written out where TensorFlow 2 or Keras takes something else (test_native_calls.py computes both).
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable

from ....source.nodes import literal_text
from ....source.uses import FileUses
from .call_table import BOUND_INITIALIZERS, DROPPED, ENTRIES, CallEntry
from .kinds import creates

__all__ = ["Native", "NotNative", "is_kept", "native_call", "snake"]


@dataclasses.dataclass(frozen=True)
class Native:
    """A call as TensorFlow 2 writes it.

    Attributes:
        kind: ``"layer"``, ``"variable"``, ``"optimizer"``, ``"iterator"``, ``"queue"``, ``"average"``, ``"metric"`` or
            ``"function"``.
        made: What makes, once, the object that the call uses; None for a plain function.
        used: What stands in place of the call, with ``{made}`` for the object.
        name: A name for the object.
    """

    kind: str
    made: str | None
    used: str
    name: str = ""


@dataclasses.dataclass(frozen=True)
class NotNative:
    """The reason why a call has no form in TensorFlow 2.

    Attributes:
        reason: A sentence, without a full stop.
    """

    reason: str


_PLAIN_KINDS = ("function", "named", "template", "loop")


class _NotWritten(Exception):
    """A call has arguments that are not known here."""


class _ArgumentsByName(dict[str, ast.expr]):
    """The arguments of a call by the names of TensorFlow 1's parameters.

    Attributes:
        by_position: The names of those that are given by position.
    """

    by_position: frozenset[str] = frozenset()


_Text = Callable[[ast.AST], str]


def native_call(call: ast.Call, symbol: str, text: _Text, base: str, *, kept: bool) -> Native | NotNative | None:
    """Write a call in TensorFlow 2.

    Args:
        call: The call.
        symbol: The name that it calls: ``"tf.layers.dense"`` for ``tf.compat.v1.layers.dense``.
        text: Gives the text of an argument, as it becomes.
        base: The name of TensorFlow in the file.
        kept: Whether the program binds the result to a name, by which it may use it several times.

    Returns:
        How it is written; None where it can stay.
    """
    function = text(call.func)
    for each in call.keywords:
        if each.arg == "validate_shape" and not (isinstance(each.value, ast.Constant) and each.value.value):
            unknown = f"the argument {each.arg}"
            return NotNative(f"{symbol} has {unknown}")
    made = creates(symbol)
    if made == "cell":  # Keras keeps the variables of its cells otherwise
        return Native("layer", text(call), "{made}", "cell")
    if made == "average":
        return Native("average", text(call), "{made}", "averages")
    if made == "queue":
        return Native("queue", text(call), "{made}", "queue")
    if made == "keras layer" and symbol.rpartition(".")[2].startswith("BatchNormalization"):
        return NotNative("A layer of batch normalisation is an object, whose updates a request may run or not")
    if made == "keras layer" and symbol.startswith("tf.layers."):
        return _layer_object(call, symbol, text, base)
    if made == "keras layer":
        return Native("layer", text(call), "{made}", snake(symbol.rpartition(".")[2]))
    if made == "iterator":
        dataset = next(iter([*call.args, *(each.value for each in call.keywords)]), None)
        if dataset is None or symbol.endswith(".from_structure"):
            return NotNative(f"{symbol} has no data set")
        return Native("iterator", f"iter({text(dataset)})", "{made}", "iterator")
    is_old = ".compat.v1." in function or function.startswith("contrib.") or symbol.startswith("tf1sessions.")
    is_bound = kept and symbol in BOUND_INITIALIZERS and not (symbol == "tf.constant_initializer" and _is_float(call))
    entry = BOUND_INITIALIZERS[symbol] if is_bound else ENTRIES.get(symbol)
    if entry is None or not (is_old or entry.kind not in _PLAIN_KINDS):
        return None
    try:
        given = _bound(call, entry)
        return _SPECIAL.get(entry.kind, _plain)(base, entry, given, text)
    except _NotWritten as error:
        if entry.kind in _PLAIN_KINDS and not symbol.startswith("tf1sessions."):
            return None  # TensorFlow 2 has the old function, too
        return NotNative(f"{symbol} has {error}")


def snake(name: str) -> str:
    """Return the name of a class as Keras counts its layers: ``max_pooling2d``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def is_kept(file: FileUses, call: ast.Call) -> bool:
    """Whether the result of a call is not just an argument of another one."""
    return not isinstance(file.parents[call], ast.Call | ast.keyword)


def _bound(call: ast.Call, entry: CallEntry) -> _ArgumentsByName:
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        raise _NotWritten("arguments that are not written out")
    if len(call.args) > len(entry.parameters):
        raise _NotWritten("more arguments by position than are known here")
    given = dict(zip(entry.parameters, call.args, strict=False))
    by_position = frozenset(given)
    given |= {entry.aliases.get(each.arg or "", each.arg or ""): each.value for each in call.keywords}
    found = _ArgumentsByName({name: value for name, value in given.items() if not _is_none(name, value, entry)})
    found.by_position = by_position
    trained = found.get("trainable")
    if (
        entry.kind == "layer"
        and trained is not None
        and not (isinstance(trained, ast.Constant) and trained.value is True)
    ):
        raise _NotWritten("the argument trainable, by which a tape does not go")
    return found


def _is_none(name: str, value: ast.expr, entry: CallEntry) -> bool:
    """Whether an argument says nothing: None for what is None if it is not given, or what is dropped."""
    return name in DROPPED or (isinstance(value, ast.Constant) and value.value is None and name not in entry.keeps_none)


def _arguments(entry: CallEntry, given: _ArgumentsByName, text: _Text, without: tuple[str, ...] = ()) -> str:
    """The arguments of the new call."""
    if unknown := [name for name in given if name not in entry.named and name not in without]:
        raise _NotWritten(f"the argument {unknown[0]}")
    parts: list[str] = []
    in_order = True
    for number, name in enumerate(each for each in entry.parameters if each not in without and each in entry.named):
        in_order = in_order and number < entry.positional and name in given.by_position & given.keys()
        if name in given:
            value = text(given[name])
            value = entry.values.get(name, "{}").format(value)
            parts.append(value if in_order else f"{entry.named[name]}={value}")
        elif entry.named[name] in entry.defaults:
            parts.append(f"{entry.named[name]}={entry.defaults[entry.named[name]]}")
    return ", ".join(parts)


def _plain(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    return Native("function", None, f"{base}{entry.target[2:]}({_arguments(entry, given, text)})")


def _named(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    """A function that TensorFlow 1 gives None or a function, too."""
    if not isinstance(given.get(entry.parameters[0]), ast.Constant | ast.JoinedStr | ast.BinOp):
        raise _NotWritten("something else than a text")
    return _plain(base, entry, given, text)


def _template(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    """A function whose new text is not a call with the same arguments."""
    if unknown := [name for name in given if f"{{{name}}}" not in entry.target]:
        raise _NotWritten(f"the argument {unknown[0]}")
    needed = [name for name in entry.parameters if f"{{{name}}}" in entry.target]
    values = {name: entry.defaults[name] for name in needed if name in entry.defaults}
    values |= {name: _in_brackets(given[name], text(given[name])) for name in needed if name in given}
    if missing := [name for name in needed if name not in values]:
        raise _NotWritten(f"no argument {missing[0]}")
    written = entry.target.format(tf=base, **values)
    return Native("function", None, written.replace(", axis=-1)", ")").replace("(seed=None)", "()"))


def _loop(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    """``tf.while_loop()``: of one variable, version 1 gives it alone."""
    variables = given.get("loop_vars")
    if not isinstance(variables, ast.List | ast.Tuple) or len(variables.elts) < 2:
        raise _NotWritten("one variable, or several that are listed elsewhere")
    return _plain(base, entry, given, text)


def _in_brackets(node: ast.expr, text: str) -> str:
    """An expression as a part of a larger one."""
    return f"({text})" if isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda) else text


def _layer(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    if "inputs" not in given:
        raise _NotWritten("no inputs")
    calls = {name: given[name] for name in ("training",) if name in given}
    used = [text(given["inputs"]), *(f"{name}={text(value)}" for name, value in calls.items())]
    made = f"{base}{entry.target[2:]}({_arguments(entry, given, text, ('inputs', 'training'))})"
    return Native("layer", made, f"{{made}}({', '.join(used)})", literal_text(given.get("name")) or entry.base)


def _layer_object(call: ast.Call, symbol: str, text: _Text, base: str) -> Native | NotNative:
    """``tf.layers.Dense(...)``, which Keras counts together with the layers of functions."""
    name = snake(symbol.rpartition(".")[2])
    entry = ENTRIES.get(f"tf.layers.{name}")
    if entry is None:
        return NotNative(f"{symbol} has no form in TensorFlow 2 that is known here")
    entry = dataclasses.replace(entry, parameters=entry.parameters[1:])
    try:
        made = f"{base}{entry.target[2:]}({_arguments(entry, _bound(call, entry), text, ('training',))})"
    except _NotWritten as error:
        return NotNative(f"{symbol} has {error}")
    given = next((each.value for each in call.keywords if each.arg == "name"), None)
    return Native("layer", made, "{made}", literal_text(given) or name)


def _optimizer(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    return Native("optimizer", f"{base}{entry.target[2:]}({_arguments(entry, given, text)})", "{made}", "optimizer")


def _metric(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    """``tf.metrics.accuracy(...)[1]``: the value with what is given now counted in."""
    if unknown := [name for name in given if name not in (*entry.named, "name")]:
        raise _NotWritten(f"the argument {unknown[0]}")
    used = [text(given[name]) for name in entry.parameters if name in given and name != "weights"]
    used += [f"sample_weight={text(given['weights'])}"] if "weights" in given else []
    name = f"{entry.target.rpartition('.')[2].lower()}_metric"
    return Native("metric", f"{base}{entry.target[2:]}()", f"{{made}}({', '.join(used)})", name)


def _variable(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    made = f"{base}.Variable({_arguments(entry, given, text)})"
    return Native("variable", made, "{made}", literal_text(given.get("name")) or "variable")


def _got_variable(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    """``tf.get_variable()``: its initializer is called with its shape."""
    shape, dtype, initializer = given.get("shape"), given.get("dtype"), given.get("initializer")
    kind = f", {text(dtype)}" if dtype is not None else ""
    if initializer is None:
        if shape is None:
            raise _NotWritten("neither a shape nor an initializer")
        value = f"{base}.keras.initializers.GlorotUniform()({text(shape)}{kind})"
    elif shape is None:
        value = text(initializer) if not kind else f"{base}.cast({text(initializer)}{kind})"
    else:
        written = text(initializer)
        if written.endswith("_initializer"):  # the class
            written += "()"
        if "constant_initializer(" in written and not kind and not _is_float(initializer):
            kind = f", {base}.float32"
        value = f"{written}({text(shape)}{kind})"
    rest = _ArgumentsByName(
        {name: each for name, each in given.items() if name not in ("shape", "dtype", "initializer")}
    )
    made = f"{base}.Variable({value}, {_arguments(entry, rest, text, ('shape', 'dtype', 'initializer'))})"
    return Native("variable", made, "{made}", literal_text(given.get("name")) or "variable")


def _is_float(initializer: ast.expr) -> bool:
    """Whether an initializer is given a number such as 0.1, of which every version makes float32."""
    if not isinstance(initializer, ast.Call):
        return False
    given = [*initializer.args, *(each.value for each in initializer.keywords)]
    return bool(given) and isinstance(given[0], ast.Constant) and isinstance(given[0].value, float)


def _global_step(base: str, entry: CallEntry, given: _ArgumentsByName, text: _Text) -> Native:
    made = f'{base}.Variable(0, trainable=False, name="global_step", dtype={base}.int64)'
    return Native("variable", made, "{made}", "global_step")


_SPECIAL: dict[str, Callable[[str, CallEntry, _ArgumentsByName, _Text], Native]] = {
    "layer": _layer,
    "metric": _metric,
    "optimizer": _optimizer,
    "variable": _variable,
    "get_variable": _got_variable,
    "global_step": _global_step,
    "loop": _loop,
    "named": _named,
    "template": _template,
}
