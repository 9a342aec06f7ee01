"""Looks at the stacks of other threads."""

from __future__ import annotations

import re
from collections.abc import Callable

from support import PACKAGE, PythonRun


def test_a_look_while_there_is_garbage(run_python: Callable[..., PythonRun]) -> None:
    """A look makes objects. If that collected garbage, a threading.local among it made the process stand still."""
    done = run_python(
        """
        import gc, threading
        from tf1sessions.sessions.stacks import current_frames

        def stand(depth):
            event.wait() if depth == 0 else stand(depth - 1)

        collections = []
        gc.callbacks.append(lambda phase, details: collections.append(phase))
        gc.set_threshold(5)
        seen = []
        for _ in range(200):
            event = threading.Event()
            threads = [threading.Thread(target=stand, args=(3,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            garbage = [threading.local()]
            garbage.append(garbage)
            del garbage
            seen.append(current_frames().keys() >= {thread.ident for thread in threads})
            event.set()
            for thread in threads:
                thread.join()
        report(seen=all(seen), looks=len(seen), collections=len(collections), enabled=gc.isenabled())
        """,
        deadline=60.0,
    )
    assert done.results["seen"] and done.results["looks"] == 200
    assert done.results["collections"] > 200 and done.results["enabled"]


def test_nothing_else_looks() -> None:
    found = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\b_current_frames\b|\b_current_exceptions\b", path.read_text(encoding="utf-8"))
    ]
    assert found == ["sessions/stacks.py"]
