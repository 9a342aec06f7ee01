"""Runs a program before or after the step ``native`` in this process, so that the two can be compared.

TensorFlow 2 draws other random numbers than TensorFlow 1, for initial values and later. So both runs draw the same:
each random operation gives what its shape alone decides, whatever its seed. The variables of the second program begin
with the values that those of the first one had.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf1sessions.porting.replaying import DEFAULT_SEED, recorder
from tf1sessions.scripts.after_import import AfterImport

from ..ordered_inputs import draw_by_shape, keep_order, keras_draws_alone, seed_python

__all__ = ["GivenValues", "main", "read_changes", "read_values", "write_values"]

#: The values of variables are noted after the first changes, where these are among the first calls. Arbitrary: more
#: changes than are compared, since a call may change what the other program has no variable for.
_CHANGES, _CALLS = 5, 100


def write_values(path: str | os.PathLike[str], values: Mapping[str, Any]) -> None:
    """Write arrays by their names, whatever these are."""
    arrays = {f"value{number}": value for number, value in enumerate(values.values())}
    np.savez(path, names=np.array(list(values), dtype=np.str_), **arrays)


def read_values(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what :func:`write_values` wrote."""
    with np.load(path) as found:
        return {str(name): found[f"value{number}"] for number, name in enumerate(found["names"])}


def read_changes(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read the values of variables by their names, after each of the first changes, which :func:`main` wrote."""
    found: list[dict[str, Any]] = []
    for key, value in read_values(path).items():
        number, _, name = key.partition(" ")
        if int(number) == len(found):
            found.append({})
        found[-1][name] = value
    return found


def main(wanted: Mapping[str, Any]) -> int:
    """Run the program that ``wanted`` describes.

    Args:
        wanted: The ``script`` as it is to be named, its ``arguments``, the file of ``initial`` values, which the
            program before the step writes and the one after it reads (``is_native``), or the one before changes in
            the last digits (``is_nudged``), where to write the ``last`` and those after the first ``changes``, and
            whether queues and data sets keep their order (``in_order``).

    Returns:
        The program's exit code.
    """
    sys.argv = [wanted["script"], *wanted["arguments"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(wanted["script"])))
    seed_python(DEFAULT_SEED)
    keras_draws_alone()
    values = GivenValues(read_values(wanted["initial"])) if wanted["is_native"] else _NotedValues(wanted["is_nudged"])
    with contextlib.ExitStack() as stack:
        if wanted["in_order"]:
            sys.meta_path.insert(0, AfterImport("tensorflow", lambda: keep_order(stack)))
        sys.meta_path.insert(0, AfterImport("tensorflow", lambda: values.watch(stack)))
        error = recorder._run(os.path.abspath(wanted["script"]))
        ended = recorder.how_it_ended(error)
        if error is not None:
            recorder._report(error)
        write_values(Path(wanted["last"]), values.last())
        changes = [(number, *each) for number, noted in enumerate(values.changes.noted) for each in noted.items()]
        write_values(Path(wanted["changes"]), {f"{number} {name}": value for number, name, value in changes})
        if isinstance(values, _NotedValues) and not wanted["is_nudged"]:
            write_values(Path(wanted["initial"]), values.initial)
    return int(ended["code"])


class _FirstChanges:
    """The values of variables after the first calls that change some.

    Attributes:
        noted: The values by name after each of these calls.
    """

    def __init__(self) -> None:
        self.noted: list[dict[str, Any]] = []
        self._calls = 0

    def note(self, values: Callable[[], dict[str, Any]], initial: Mapping[str, Any]) -> None:
        """Note the values, behind a call, if it has changed some."""
        self._calls += 1
        if len(self.noted) >= _CHANGES or self._calls > _CALLS:
            return
        now, before = values(), self.noted[-1] if self.noted else initial
        if any(not np.array_equal(before.get(name, value), value) for name, value in now.items()):
            self.noted.append(now)


class _NotedValues:
    """Notes the values of the variables of LegacyGraphs: when they are known first, and at the end.

    Args:
        is_nudged: Whether the variables get the next numbers of their dtypes then.
    """

    def __init__(self, is_nudged: bool = False) -> None:
        self._is_nudged = is_nudged
        self.initial: dict[str, Any] = {}
        self.changes = _FirstChanges()
        self._names: dict[Any, dict[str, str]] = {}  # graph -> variable -> its name among those of all graphs
        self._unique = _UniqueNames()

    def watch(self, stack: contextlib.ExitStack) -> None:
        """Begin, now that TensorFlow is imported."""
        draw_by_shape(stack)
        sys.meta_path.insert(0, AfterImport("tf1sessions.porting.legacy_graph", self._watch_functions))

    def _watch_functions(self) -> None:
        from tf1sessions.porting.legacy_graph import LegacyFunction

        call = LegacyFunction.__call__

        def __call__(function: LegacyFunction, *values: Any) -> Any:
            self._note(function.legacy)
            result = call(function, *values)
            self.changes.note(self.last, self.initial)
            return result

        LegacyFunction.__call__ = __call__  # type: ignore[method-assign, assignment]

    def _note(self, legacy: Any) -> None:
        names = self._names.setdefault(legacy, {})
        for name in legacy.variables:
            if name not in names:
                stem, _, number = name.rpartition("_")
                names[name] = self._unique(stem if number.isdecimal() and stem in names else name)
        if new := [name for name, unique in names.items() if unique not in self.initial]:
            found = legacy.values(new)
            self.initial |= {names[name]: value for name, value in found.items()}
            if self._is_nudged:
                _nudge((legacy.variables[name], value) for name, value in found.items())

    def last(self) -> dict[str, Any]:
        """The values of the variables now."""
        return {
            names[name]: value for legacy, names in self._names.items() for name, value in legacy.values(names).items()
        }


def _nudge(values: Iterable[tuple[Any, Any]]) -> None:
    """Give variables the next numbers of their dtypes: a training shows then how far rounding takes it."""
    from tf1sessions.runtime import tf

    with tf.init_scope():
        for variable, value in values:
            if value.dtype.kind == "f":
                variable.assign(np.where(value, np.nextafter(value, np.inf, dtype=value.dtype), value))


class _UniqueNames:
    """Names of variables in the order in which they are made, no two the same: a, b, a_1, a_2."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        count = self._counts[name] = self._counts.get(name, -1) + 1
        return f"{name}_{count}" if count else name


class GivenValues:
    """Gives variables their initial values when they are made.

    Args:
        initial: The values by the names that the variables had in TensorFlow 1, made unique where graphs shared them.
    """

    def __init__(self, initial: Mapping[str, Any]) -> None:
        self.changes = _FirstChanges()
        self._initial = initial
        self._made: dict[str, Any] = {}
        self._unique = _UniqueNames()

    def watch(self, stack: contextlib.ExitStack) -> None:
        """Begin, now that TensorFlow is imported."""
        from tf1sessions.runtime import tf

        tf2 = tf.compat.v2

        draw_by_shape(stack)

        def creator(next_creator: Callable[..., Any], **arguments: Any) -> Any:
            variable = next_creator(**arguments)
            name = self._unique(variable.name.partition(":")[0])
            value = self._initial.get(name)
            if value is not None and tuple(np.shape(value)) == tuple(variable.shape):
                with tf2.init_scope():
                    variable.assign(value)
                self._made[name] = variable
            return variable

        stack.enter_context(tf2.variable_creator_scope(creator))
        functions: Any = type(tf2.function(lambda: None))
        call = functions.__call__

        def __call__(function: Any, *values: Any, **named: Any) -> Any:
            result = call(function, *values, **named)
            if tf2.executing_eagerly():  # in a function that is traced, nothing has changed yet
                self.changes.note(self.last, self._initial)
            return result

        stack.callback(setattr, functions, "__call__", call)
        functions.__call__ = __call__

    def last(self) -> dict[str, Any]:
        """The values of those variables now."""
        return {name: variable.numpy() for name, variable in self._made.items()}
