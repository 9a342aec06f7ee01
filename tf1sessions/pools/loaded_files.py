"""The files by which an interpreter became what it is, and whether a new one would be the same. Standard library only.

These are the files of its modules, those that Python runs when it starts (``.pth`` files, ``sitecustomize``), and what
has the name of one of its modules on ``sys.path``: an upgrade may put the new release before the old one.
"""

from __future__ import annotations

import contextlib
import os
import site
import stat
import sys
from collections.abc import Collection
from typing import NamedTuple

from tf1sessions.pools.hidden_modules import hiding

__all__ = ["LoadedFiles"]

_AT_START = frozenset({"sitecustomize", "usercustomize"})
_State = tuple[int, int]  # when a file was changed (ns), and its size; of a folder it counts only that it is there


class LoadedFiles(NamedTuple):
    """The files of an interpreter, as they were at one time.

    Attributes:
        modules: The state of each imported module's file, by path.
        names: The names of the imported modules, without those in packages.
        on_path: The state of what Python's start and imports would find in the folders of ``sys.path``, by path.
    """

    modules: dict[str, _State]
    names: frozenset[str]
    on_path: dict[str, _State]

    @classmethod
    def now(cls) -> LoadedFiles:
        """Return those of this interpreter."""
        modules = {}
        for path in {getattr(module, "__file__", None) for module in list(sys.modules.values())}:
            if isinstance(path, str):
                with contextlib.suppress(OSError):
                    modules[path] = _state(path)
        names = frozenset(name for name in list(sys.modules) if "." not in name) - {"__main__"}
        return cls(modules, names, _on_path(names))

    def changed(self) -> str | None:
        """Return the first file that is not as it was, has come, or has gone; None if all are as they were."""
        for path, before in self.modules.items():
            try:
                state = _state(path)
            except OSError:
                return path
            if state != before:
                return path
        now = _on_path(self.names)
        return next((path for path in sorted({*now, *self.on_path}) if now.get(path) != self.on_path.get(path)), None)


def _on_path(names: Collection[str]) -> dict[str, _State]:
    wanted = _AT_START.union(names)
    folders = list(sys.path)
    found = []
    if site.ENABLE_USER_SITE and (of_user := site.getusersitepackages()) not in folders:
        folders.append(of_user)
        found.append(of_user)  # Python's start puts it on the path once it is there
    for folder in folders:
        with contextlib.suppress(OSError):  # it is not there, or an archive
            found += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pth")]
        found += hiding(wanted, folder).values()
    states = {}
    for path in found:
        with contextlib.suppress(OSError):
            states[path] = _state(path)
    return states


def _state(path: str) -> _State:
    state = os.stat(path)
    return (0, 0) if stat.S_ISDIR(state.st_mode) else (state.st_mtime_ns, state.st_size)
