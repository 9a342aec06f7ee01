"""A session that TensorFlow makes when it is first used.

The first session of a process settles its thread pools and its GPUs for all later ones. One that nobody uses settles
nothing, and costs nothing.
"""

from __future__ import annotations

import threading
from typing import Any

from tf1sessions.sessions.calls import Session

__all__ = ["LateSession"]


def _when_made(name: str) -> Any:
    """Return what the classes above have as None until there is a session."""
    return property(lambda self: self._of_made(name), lambda self, value: vars(self).__setitem__(name, value))


class LateSession(Session):
    """A :class:`~tf1sessions.Session` of which only the graph is there until something else of it is used.

    From then on it is a ``Session``, also by its type.

    Raises:
        Whatever ``Session`` raises, at its first use.

    Thread-safety: as ``Session``; threads that use it first at once get the same one.
    """

    _session = _when_made("_session")
    _tf1sessions_calls = _when_made("_tf1sessions_calls")

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        self._graph = graph
        self._closed = False
        self._arguments = target, graph, config
        self._making = threading.RLock()
        self._is_made = False  # or is being made, by the thread that has the lock

    def close(self) -> None:
        """As ``Session.close``."""
        with self._making:
            if type(self) is LateSession:
                self._closed = True
                return
        super().close()

    def __del__(self) -> None:
        """Nothing: there is no session."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._of_made(name)

    def _of_made(self, name: str) -> Any:
        with self._making:
            if type(self) is LateSession:
                if self._is_made:
                    try:
                        return vars(self)[name]
                    except KeyError:
                        raise AttributeError(name) from None
                self._make()
        return getattr(self, name)

    def _make(self) -> None:
        closed, self._is_made = self._closed, True
        try:
            super().__init__(*self._arguments)
        finally:
            self._is_made = False
        self.__class__ = Session
        if closed:
            self.close()
