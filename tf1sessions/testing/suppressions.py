"""Races that a project has looked at and accepts: a file of suppressions, each with its reason."""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.files import read_whole
from tf1sessions.testing.reports import RaceKind, StackFrame

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Suppression", "Suppressions", "read_suppressions"]

_FIELDS = ("reason", "kind", "file", "function", "variable")
_EXAMPLE = '[[suppress]] with reason = "..." and some of kind, file, function and variable'


@dataclass(frozen=True)
class Suppression:
    """A rule for races that are not reported: those in which all that it names is found.

    Attributes:
        reason: Why they are accepted.
        kind: The kind's name, as ``"run after close"``.
        file, function: Patterns as of a shell for a frame of either stack: the path, or its end (``"agents/*.py"``),
            and the function's name (``"Agent.update"``). Both are to fit the same frame.
        variable: A pattern for the names of the variables, queues, iterators or tables, all of which have to fit.
    """

    reason: str
    kind: str | None = None
    file: str | None = None
    function: str | None = None
    variable: str | None = None

    def covers(self, kind: RaceKind, names: Sequence[str], stacks: Iterable[Sequence[str]]) -> bool:
        """Whether it covers a race.

        Args:
            kind: Of the race.
            names: The variables and the like that are concerned.
            stacks: Of both sides, frames as ``"file:line in function"``.
        """
        if self.kind is not None and self.kind != kind.value:
            return False
        if self.variable is not None and not (
            names and all(fnmatch.fnmatchcase(name, self.variable) for name in names)
        ):
            return False
        if self.file is None and self.function is None:
            return True
        return any(self._fits(frame) for stack in stacks for frame in stack)

    def _fits(self, text: str) -> bool:
        frame = StackFrame.parse(text)
        if frame is None:
            return False
        path, file, function = frame.file, self.file, self.function
        fits_file = file is None or fnmatch.fnmatchcase(path, file) or fnmatch.fnmatchcase(path, f"*/{file}")
        return fits_file and (function is None or fnmatch.fnmatchcase(frame.function, function))

    def __str__(self) -> str:
        fields = ((name, getattr(self, name)) for name in _FIELDS[1:])
        return f"{', '.join(f'{name} {value!r}' for name, value in fields if value is not None)} ({self.reason})"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, of which ``Suppression(**values)`` makes it again."""
        return asdict(self)


class Suppressions:
    """Suppressions in use. Guarded by the lock of the detector that asks.

    Args:
        rules: In any order; the first that covers a race is the one that is used.
    """

    def __init__(self, rules: Iterable[Suppression] = ()) -> None:
        self.rules = tuple(rules)
        self._used = [False] * len(self.rules)
        self._known: dict[Any, bool] = {}

    def cover(self, kind: RaceKind, names: Sequence[str], stacks: tuple[tuple[str, ...], ...]) -> bool:
        """Whether one of them covers a race, which is then used; for the arguments see :meth:`Suppression.covers`."""
        if not self.rules:
            return False
        key = kind, tuple(names), stacks
        if key not in self._known:
            number = next((n for n, rule in enumerate(self.rules) if rule.covers(kind, names, stacks)), None)
            self._known[key] = number is not None
            if number is not None:
                self._used[number] = True
        return self._known[key]

    def use(self, numbers: Iterable[int]) -> None:
        """Note that rules, by their numbers, have covered something: in another process."""
        for number in numbers:
            self._used[number] = True

    @property
    def used(self) -> list[int]:
        """The numbers, from 0 on, of those that have covered something."""
        return [number for number, used in enumerate(self._used) if used]

    @property
    def unused(self) -> list[int]:
        """The numbers, from 0 on, of those that have covered nothing."""
        return [number for number, used in enumerate(self._used) if not used]


def read_suppressions(path: str | os.PathLike[str]) -> tuple[Suppression, ...]:
    """Read a TOML file of suppressions: a table ``[[suppress]]`` for each, with the fields of :class:`Suppression`.

    Raises:
        UsageError: The file cannot be read, is no TOML, or an entry is wrong; it says which.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("races.toml").write_text('''
        ... [[suppress]]
        ... kind = "variable read while assigned"
        ... function = "Agent.*"
        ... reason = "asynchronous training: A3C reads what other agents have just written"
        ... ''')
        >>> [rule.function for rule in read_suppressions("races.toml")]
        ['Agent.*']
    """
    where = os.fspath(path)
    try:
        table: dict[str, Any] = tomllib.loads(read_whole(path, 1 << 20).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"the suppressions cannot be read: {error}", where=where, next_step=f"Give a TOML file of {_EXAMPLE}."
        ) from error
    entries = table.pop("suppress", [])
    if table or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        wrong = f"the unknown key {next(iter(table))!r}" if table else "a key 'suppress' that is no list of tables"
        raise UsageError(f"the suppressions have {wrong}", where=where, next_step=f"Write {_EXAMPLE}.")
    return tuple(_rule(entry, f"{where}: entry {number}") for number, entry in enumerate(entries, 1))


def _rule(entry: Mapping[str, Any], where: str) -> Suppression:
    for name, value in entry.items():
        if name not in _FIELDS:
            raise UsageError(f"the unknown key {name!r}", where=where, next_step=f"Give some of {', '.join(_FIELDS)}.")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{name} is {value!r}", where=where, next_step="Give a text.")
    if "reason" not in entry:
        raise UsageError("there is no reason", where=where, next_step="Say why these races are accepted.")
    if len(entry) == 1:
        raise UsageError("it would cover every race", where=where, next_step=f"Give some of {', '.join(_FIELDS[1:])}.")
    kind = entry.get("kind")
    if kind is not None:
        kinds = {each.value: each.value for each in RaceKind} | {
            each.value.replace(" ", "-"): each.value for each in RaceKind
        }
        if kind not in kinds:
            names = ", ".join(each.value for each in RaceKind)
            raise UsageError(f"there is no kind {kind!r}", where=where, next_step=f"Give one of {names}.")
        kind = kinds[kind]
    return Suppression(**{**entry, "kind": kind})
