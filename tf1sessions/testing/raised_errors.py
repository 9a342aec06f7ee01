"""Errors where they are raised or handled, for who looks for some that the program catches.

From Python 3.12 on ``sys.monitoring`` calls a function for each error that is raised; without errors it costs nothing.
Before, only those are seen of which a handler says something: by ``logging`` or ``traceback``.

Thread-safety: any thread may call any function; a listener is called in the thread that raises or handles the error.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from tf1sessions.testing.patching import Patch, hooked

__all__ = ["handler_patches", "listen"]

_Listener = Callable[[Any], None]
#: The numbers of sys.monitoring that no kind of tool has for itself.
_FREE_NUMBERS = (3, 4)


def listen(listener: _Listener) -> Callable[[], None]:
    """Call a function with each error that is raised from now on, in each frame that it comes to.

    Returns:
        What ends that. Before Python 3.12, and where other tools have taken all numbers, nothing is called.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    number = next((each for each in _FREE_NUMBERS if monitoring and monitoring.get_tool(each) is None), None)
    if number is None:
        return lambda: None
    monitoring.use_tool_id(number, "tf1sessions")
    monitoring.register_callback(number, monitoring.events.RAISE, lambda code, offset, error: listener(error))
    monitoring.set_events(number, monitoring.events.RAISE)

    def end() -> None:
        monitoring.set_events(number, 0)
        monitoring.register_callback(number, monitoring.events.RAISE, None)
        monitoring.free_tool_id(number)

    return end


def handler_patches(listener: _Listener) -> Iterator[Patch]:
    """Yield the hooks of what handlers of errors call; the function is called with the error that is handled."""

    def handles(*_: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            listener(error)

    yield hooked(logging.Logger, "_log", before=handles)
    for name in ("print_exc", "format_exc"):
        original = getattr(traceback, name)

        def new(*args: Any, original: Any = original, **named: Any) -> Any:
            handles()
            return original(*args, **named)

        yield traceback, name, new
