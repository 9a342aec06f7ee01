"""Leaks of a program: found at the end of a test, and named with the line that made them.

Data flow::

    begin() ──▶ a CreationLog (leak_hooks.py), a GraphLog (graph_leaks.py) ──▶ what is made, and by which line
    end()   ──▶ what is still there? ─▶ collects garbage, waits for grace_secs ─▶ kept by a library? ─▶ Leak
                 if nothing is, that is all

What counts, and what does not:

- Threads, processes and shared memory have a time of grace to end in; what is garbage ends, too. A process that has
  ended and was not waited for is no leak.
- A session has to be closed. That it was garbage, and TensorFlow closed it then, is a leak: when that happens
  cannot be known.
- What was there before begin() is not looked at, nor what it starts later: the threads of an older executor, or of an
  older pool of tf1sessions. What is made in :meth:`LeakWatch.aside` counts as older.
- What an installed library has made, and keeps in a global name or a class for its next use, is not the program's to
  end. Nor is what only installed packages have asked for, such as a test runner's threads.
- A program that calls ``tf.reset_default_graph()`` looks after the process's graph itself: what is in the new one when
  it ends is no leak, as the next such program begins with a reset as well.
- Segments of shared memory that child processes have left are found by what is new in ``/dev/shm``, where there is one.
"""

from __future__ import annotations

import contextlib
import gc
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import sleep

from tf1sessions.errors import UsageError
from tf1sessions.testing.graph_leaks import GraphLog, graph_logs
from tf1sessions.testing.leak_candidates import SEGMENTS, LeakCandidate, NamedSegment
from tf1sessions.testing.leak_hooks import CreationLog, creation_logs
from tf1sessions.testing.leak_reports import FIX, KINDS, Leak, LeakKind, kinds_of
from tf1sessions.testing.library_resources import kept_by_library
from tf1sessions.testing.limits import check_secs

__all__ = ["GRACE_SECS", "KINDS", "Leak", "LeakKind", "LeakWatch", "no_leaks"]

#: How long things that are about to end may take. Arbitrary: much longer than a thread needs to notice it, on a busy
#: machine, and no test that leaves nothing waits for it.
GRACE_SECS = 2.0


class LeakWatch:
    """Finds what is made between begin() and end() and is still there.

    Args:
        kinds: What to look for; all kinds by default. :class:`LeakKind` or their names, see ``KINDS``.
        grace_secs: How long end() waits for what is about to end.

    Raises:
        UsageError: From a kind that there is not, from begin() twice, from end() without begin().

    Thread-safety: begin() and end() are called by one thread; what other threads make is found as well. What is
    default is looked at in the calling thread alone. Several watches may be open, one within another or side by side.

    Example:
        >>> import threading
        >>> watch = LeakWatch(grace_secs=0.1)
        >>> watch.begin()
        >>> stop = threading.Event()
        >>> thread = threading.Thread(target=stop.wait, name="waiter")
        >>> thread.start()
        >>> [leak.kind.value for leak in watch.end()]
        ['threads']
        >>> stop.set()
    """

    def __init__(self, kinds: Iterable[LeakKind | str] = KINDS, *, grace_secs: float = GRACE_SECS) -> None:
        self._kinds = kinds_of(kinds, "LeakWatch(kinds=...)")
        check_secs("grace_secs", grace_secs, "LeakWatch()", or_none_at_all=True)
        self._grace_secs = grace_secs
        self._created: CreationLog | None = None
        self._graphs: GraphLog | None = None

    def begin(self) -> None:
        """Begin to watch."""
        if self._created is not None:
            raise UsageError("begin() was called twice", where="LeakWatch", next_step="Call end() first.")
        self._segments = _segments()
        self._graphs = graph_logs.add(GraphLog)
        self._created = creation_logs.add(CreationLog)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Take what the calling thread makes, enters or builds in this block for older than the watch: it lives on.

        For what is made late and meant to stay, such as a fixture of a module that a test is the first to use.
        """
        if self._created is None or self._graphs is None:
            yield
            return
        with self._created.aside(), self._graphs.aside():
            yield

    def end(self) -> list[Leak]:
        """End watching, and return what is still there. Waits for ``grace_secs`` if there is something."""
        created, known = self._created, self._graphs
        if created is None or known is None:
            raise UsageError("end() was called without begin()", where="LeakWatch", next_step="Call begin() first.")
        try:
            left = self._left(created)
            memory = self._segments_of_children(created)
            sessions = [each for each in left if each.kind is LeakKind.SESSION]
            return [*_leaks(left), *memory, *known.leaks(self._kinds, sessions)]
        finally:
            self.cancel()

    def cancel(self) -> None:
        """End watching, and look for nothing. Does nothing when it is not on."""
        if self._created is not None and self._graphs is not None:
            creation_logs.remove(self._created)
            graph_logs.remove(self._graphs)
        self._created = self._graphs = None

    def _left(self, created: CreationLog) -> list[LeakCandidate]:
        def look(among: Iterable[LeakCandidate]) -> list[LeakCandidate]:
            return [made for made in among if made.kind in self._kinds and made.is_left()]

        left = look(list(created.made))
        if left and not all(made.kind is LeakKind.SESSION for made in left):
            gc.collect()
        left = [made for made in left if not kept_by_library(made.thing(), made.creator.packages)]
        until, pause = time.monotonic() + self._grace_secs, 0.001
        while (left := look(left)) and time.monotonic() < until:
            sleep(pause)
            pause = min(2 * pause, 0.05)
        return left

    def _segments_of_children(self, created: CreationLog) -> list[Leak]:
        starters = dict.fromkeys(made.creator.where for made in created.made if made.kind is LeakKind.PROCESS)
        if LeakKind.MEMORY not in self._kinds or not starters:
            return []
        until = time.monotonic() + self._grace_secs
        ours = {made.name for made in created.made if isinstance(made, NamedSegment) and made.created}
        while (left := _orphans(_segments() - self._segments - ours)) and time.monotonic() < until:
            sleep(0.02)
        where = ", or ".join(starters)
        texts = (f"segment {name!r} of a child process was not unlinked" for name in left)
        return [Leak(LeakKind.MEMORY, text, f"{where} (the process)", FIX[LeakKind.MEMORY]) for text in texts]


@contextlib.contextmanager
def no_leaks(*, allow: Iterable[LeakKind | str] = (), grace_secs: float = GRACE_SECS) -> Iterator[LeakWatch]:
    """Fail when the block leaves threads, processes, sessions or other things behind.

    Args:
        allow: Kinds that may be left; :class:`LeakKind` or their names.
        grace_secs: How long what is about to end may take.

    Raises:
        AssertionError: Something was left; all of it is named, each with the line that made it. Not when the block
            itself raises.
        UsageError: There is no such kind.

    Example:
        >>> import concurrent.futures
        >>> with no_leaks():
        ...     with concurrent.futures.ThreadPoolExecutor() as pool:
        ...         print(pool.submit(sum, [1, 2]).result())
        3
    """
    kinds = frozenset(LeakKind) - kinds_of(allow, "no_leaks(allow=...)")
    watch = LeakWatch(kinds, grace_secs=grace_secs)
    watch.begin()
    try:
        yield watch
        leaks = watch.end()
    finally:
        watch.cancel()
    if leaks:
        raise AssertionError("\n\n".join([f"{len(leaks)} left behind:", *map(str, leaks)]))


def _leaks(left: Sequence[LeakCandidate]) -> list[Leak]:
    """Return a leak for each thing; one for several of a kind from one line, with the first and their number."""
    held = [made.thing() for made in left]  # so that it does not go while it is described
    groups: dict[tuple[LeakKind, str], list[LeakCandidate]] = {}
    for made in left:
        if made.is_left():
            groups.setdefault((made.kind, made.creator.where), []).append(made)
    found = []
    for (kind, where), group in groups.items():
        more = f"; and {len(group) - 1} more from this line" if len(group) > 1 else ""
        found.append(Leak(kind, group[0].describe() + more, where, FIX[kind]))
    del held
    return found


# -- shared memory of others ------------------------------------------------------------------------------------------


def _segments() -> set[str]:
    """Return the names of all shared memory of this machine but semaphores; none where they cannot be seen."""
    try:
        return {name for name in os.listdir(SEGMENTS) if not name.startswith("sem.")}
    except FileNotFoundError:
        return set()


def _orphans(names: Iterable[str]) -> list[str]:
    """Return those that belong to this user, and to no running process but this one and its children."""
    found = []
    for name in names:
        try:
            state = os.stat(os.path.join(SEGMENTS, name))
        except FileNotFoundError:
            continue
        if stat.S_ISREG(state.st_mode) and state.st_uid == os.geteuid():
            found.append(name)
    others = _mapped_by_others() if found else ""
    return sorted(name for name in found if os.path.join(SEGMENTS, name) not in others)


def _mapped_by_others() -> str:
    """Return what processes have mapped that do not come from this one."""
    parents, maps = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(") ")[2].split()[1])
            maps[int(folder.name)] = (folder / "maps").read_text()

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return "\n".join(text for pid, text in maps.items() if not is_ours(pid))
