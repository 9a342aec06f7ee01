"""Points of a program, and threads made to pass them in a certain order.

Data flow::

    point("name") in the code that is tested ──▶ nothing, unless one of these is on in the program:
      Schedule("A1 B1 A2 B2")   each point waits until those before it have passed
      explore(body)             every order; see exploration.py, for which a point is a stop as others
"""

from __future__ import annotations

import threading
import time
from types import TracebackType

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.testing.limits import check_secs
from tf1sessions.testing.tasks import PLAIN, current_task, pause

__all__ = ["Schedule", "point"]

_schedules: list[Schedule] = []


def point(name: str) -> None:
    """Mark a place where threads may be made to wait for each other. Costs a dictionary's look-up when nothing is on.

    Args:
        name: Without blanks.

    Raises:
        ScheduleError: In a Schedule's block, what should have come before did not come in time.

    Example:
        >>> def withdraw(account, amount):
        ...     balance = account["balance"]
        ...     point("read")
        ...     account["balance"] = balance - amount
    """
    if current_task() is not None:
        pause(f"passes the point {name!r}", (PLAIN, True))
    for schedule in tuple(_schedules):
        schedule.reached(name)


class Schedule:
    """Block in which points are passed in a certain order.

    Args:
        order: The names of points, with blanks between them; one that is passed twice is named twice. Points that are
            not named, and those after the last one, are passed at once.
        timeout_secs: How long a point waits for those before it.

    Raises:
        UsageError: There are no names.
        ScheduleError: At a point: those before it did not come in time. At the block's end: some were never reached.

    Thread-safety: any thread may reach points.

    Example:
        >>> import threading
        >>> seen = []
        >>> def work(name):
        ...     point(name)
        ...     seen.append(name)
        ...     point(name + "-done")
        >>> with Schedule("b b-done a"):
        ...     threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        ...     for thread in threads:
        ...         thread.start()
        ...     for thread in threads:
        ...         thread.join()
        >>> seen
        ['b', 'a']
    """

    def __init__(self, order: str, *, timeout_secs: float = 10.0) -> None:
        self._steps = order.split()
        if not self._steps:
            raise UsageError(
                f"order is {order!r}", where="Schedule()", next_step="Name points with blanks between them: 'A1 B1 A2'."
            )
        check_secs("timeout_secs", timeout_secs, "Schedule()")
        self._timeout_secs = timeout_secs
        self._passed = 0
        self._changed = threading.Condition()

    def __enter__(self) -> Schedule:
        self._passed = 0
        _schedules.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _schedules.remove(self)
        with self._changed:
            left = self._steps[self._passed :]
            self._passed = len(self._steps)  # so that nothing waits any more
            self._changed.notify_all()
        if left and error is None:
            raise ScheduleError(
                f"of the points {' '.join(self._steps)!r} {left[0]!r} was never reached, nor those after it",
                where="Schedule()",
                next_step="Join the threads inside the block, or leave the point out.",
                schedule=" ".join(self._steps),
            )

    def reached(self, name: str) -> None:
        """Pass a point; what :func:`point` calls."""
        with self._changed:
            if name not in self._steps[self._passed :]:
                return
            due = time.monotonic() + self._timeout_secs
            while self._passed < len(self._steps) and self._steps[self._passed] != name:
                if not self._changed.wait(max(0.0, due - time.monotonic())) and time.monotonic() >= due:
                    raise ScheduleError(
                        f"thread {threading.current_thread().name!r} waited {self._timeout_secs:g} s at the point "
                        f"{name!r} for {self._steps[self._passed]!r}, which did not come",
                        where="Schedule()",
                        next_step="See where the thread is that should come there; a lock may be in its way.",
                        schedule=" ".join(self._steps),
                    )
            self._passed = min(self._passed + 1, len(self._steps))
            self._changed.notify_all()
