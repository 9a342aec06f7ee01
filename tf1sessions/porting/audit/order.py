"""The order in which the files of a project are ported: what is imported comes first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["imports_first"]

_File = TypeVar("_File", bound=Hashable)


def imports_first(imports: Mapping[_File, Sequence[_File]]) -> list[_File]:
    """Return all files so that each stands behind those that it imports.

    Where files import each other in a circle, the one that is met first stands last. Files that need not be in any
    order are in that of ``imports``.

    Example:
        >>> imports_first({"train": ["model"], "model": ["layers"], "layers": [], "data": []})
        ['layers', 'model', 'train', 'data']
    """
    done: dict[_File, bool] = {}  # False: what it imports is being looked at
    for first in imports:
        waiting = [first]
        while waiting:
            file = waiting[-1]
            if file not in done:
                done[file] = False
                waiting += [each for each in reversed(imports[file]) if each not in done]
            else:
                waiting.pop()
                if not done[file]:
                    del done[file]
                    done[file] = True  # at the end: after what it imports
    return list(done)
