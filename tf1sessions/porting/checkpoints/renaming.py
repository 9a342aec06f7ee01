"""Names by rules that a user gives: a dict, pairs of patterns, or a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tf1sessions.errors import UsageError
from tf1sessions.texts import brief

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
        if names is None:
            return
        if callable(names):
            _check_callable(names)
        elif isinstance(names, Mapping):
            for old, new in names.items():
                _check_texts(old, new)
            self.unused = {str(old).removesuffix(":0"): str(new).removesuffix(":0") for old, new in names.items()}
            self._names = dict(self.unused)
        else:
            self._patterns = [(_compiled(pattern, "names="), template) for pattern, template in _pairs_of(names)]
            self.unused = {pattern.pattern: template for pattern, template in self._patterns}

    def __call__(self, name: str) -> str | None:
        """The name that ``name`` was given; None where nothing was."""
        if self._names is None:
            return None
        if callable(self._names):
            answer = self._names(name)
            if answer is not None and not isinstance(answer, str):
                raise _wrong_names(f"the function gives {brief(answer)} for {name!r}")
            return answer
        if isinstance(self._names, Mapping):
            return self._by_dict(name, self._names)
        for pattern, template in self._patterns:
            if found := pattern.fullmatch(name):
                self.unused.pop(pattern.pattern, None)
                try:
                    return found.expand(template)
                except (re.error, IndexError) as error:
                    raise _wrong_names(f"{template!r} is no template for {pattern.pattern!r}: {error}") from error
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
        if not isinstance(reason, str):
            raise UsageError(
                f"the reason for {pattern!r} is {brief(reason)}", where=where, next_step="Say why, in a text."
            )
        if pattern == name or _compiled(pattern, where).fullmatch(name):
            return reason
    return None


def _wrong_names(message: str) -> UsageError:
    return UsageError(
        message,
        where="names=",
        next_step="Give a dict of names, pairs of a pattern and a template, or a function from a name to one or None.",
    )


def _check_callable(names: Callable[[str], str | None]) -> None:
    """A function that cannot be called with one name; what has no signature is taken as it is."""
    try:
        signature = inspect.signature(names)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("name")
    except TypeError as error:
        raise _wrong_names(f"the function {brief(names)} does not take a name: {error}") from error


def _check_texts(old: object, new: object) -> None:
    if not isinstance(old, str) or not isinstance(new, str):
        raise _wrong_names(f"{brief(old)} is to be {brief(new)}, which are not two names")


def _pairs_of(names: object) -> list[tuple[str, str]]:
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise _wrong_names(f"names is {brief(names)}")
    pairs = []
    for pair in names:
        if not isinstance(pair, Sequence) or isinstance(pair, str | bytes) or len(pair) != 2:
            raise _wrong_names(f"{brief(pair)} is no pair of a pattern and a template")
        _check_texts(*pair)
        pairs.append((pair[0], pair[1]))
    return pairs


def _compiled(pattern: str, where: str) -> re.Pattern[str]:
    if not isinstance(pattern, str):
        raise UsageError(f"the pattern {brief(pattern)} is no text", where=where, next_step="Give patterns of names.")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"the pattern {pattern!r} is no regular expression: {error}",
            where=where,
            next_step="Escape what is meant as it stands, with re.escape().",
        ) from error
