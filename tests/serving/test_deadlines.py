"""Functions that are called when something is late."""

from __future__ import annotations

import asyncio

from tf1sessions.serving.deadlines import Deadlines


def test_what_is_late_is_called_and_what_was_stopped_is_not() -> None:
    called: list[str] = []

    async def several() -> None:
        deadlines = Deadlines(0.05)
        late = {name: lambda name=name: called.append(name) for name in ("first", "stopped", "second")}  # type: ignore[misc]
        deadlines.start(late["first"])
        deadlines.start(late["stopped"])
        assert deadlines.stop(late["stopped"])
        assert not deadlines.stop(late["stopped"])
        await asyncio.sleep(0.02)
        deadlines.start(late["second"])  # while the timer is set for the first
        while "second" not in called:
            await asyncio.sleep(0.005)
        assert not deadlines.stop(late["second"]), "it was late"
        deadlines.start(late["first"])  # when no timer is set any more
        while called.count("first") < 2:
            await asyncio.sleep(0.005)

    asyncio.run(asyncio.wait_for(several(), 60))
    assert called == ["first", "second", "first"]
