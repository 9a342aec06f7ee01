"""Names by rules that a user gives: a dict, pairs of patterns, or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tf1sessions.errors import UsageError

__all__ = ["Names", "Patterns", "Renaming", "reason_for"]

#: From a name to another: a dict of names and scopes; pairs of a pattern and what its groups become; or a function that
#: answers None where it has no opinion.
Names = Mapping[str, str] | Sequence[tuple[str, str]] | Callable[[str], str | None]
#: Patterns of whole names, each with the reason for which they are left out.
Patterns = Mapping[str, str]


class Renaming:
    """The names that were given, asked one by one.

    Args:
        names: A dict maps a name, or a scope with all that is under it, to another. Of pairs ``(pattern, template)``
            the first whose pattern matches the whole name counts; the template may use its groups (``\\1``).

    Attributes:
        unused: Entries of a dict or of pairs that no name has met so far.
    """

    def __init__(self, names: Names | None) -> None:
        self._names = names
        self.unused: dict[str, str] = {}
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        if names is None or callable(names):
            return
        if isinstance(names, Mapping):
            self.unused = {str(old).removesuffix(":0"): str(new).removesuffix(":0") for old, new in names.items()}
            self._names = dict(self.unused)
        else:
            self._patterns = [(_compiled(pattern, "names="), template) for pattern, template in names]
            self.unused = {pattern.pattern: template for pattern, template in self._patterns}

    def __call__(self, name: str) -> str | None:
        """The name that ``name`` was given; None where nothing was."""
        if self._names is None:
            return None
        if callable(self._names):
            return self._names(name)
        if isinstance(self._names, Mapping):
            return self._by_dict(name, self._names)
        for pattern, template in self._patterns:
            if found := pattern.fullmatch(name):
                self.unused.pop(pattern.pattern, None)
                return found.expand(template)
        return None

    def _by_dict(self, name: str, names: Mapping[str, str]) -> str | None:
        scope = name
        while True:  # the longest scope counts
            if scope in names:
                self.unused.pop(scope, None)
                return names[scope] + name[len(scope) :]
            if "/" not in scope:
                return None
            scope = scope.rpartition("/")[0]


def reason_for(name: str, patterns: Patterns | Iterable[str] | None, where: str) -> str | None:
    """The reason that the first pattern which matches the whole of ``name`` was given; None where none does."""
    if patterns is None:
        return None
    if isinstance(patterns, str) or not isinstance(patterns, Mapping):
        raise UsageError(
            f"{where} is {patterns!r}", where=where, next_step="Give a dict: pattern of names -> the reason."
        )
    for pattern, reason in patterns.items():
        if pattern == name or _compiled(pattern, where).fullmatch(name):
            return reason
    return None


def _compiled(pattern: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"the pattern {pattern!r} is no regular expression: {error}",
            where=where,
            next_step="Escape what is meant as it stands, with re.escape().",
        ) from error
