"""Testing that sessions are safe in threads.

``frames.py`` whose code a frame runs · ``patching.py`` methods replaced for a while · ``order.py`` what happened before
what · ``locks.py`` which locks a thread holds · ``synchronisation.py`` what threads tell each other · ``unseen.py``
... by means that nobody sees · ``polling.py`` loops that wait for another thread · ``reports.py`` what is told ·
``races.py`` accesses that nothing orders · ``watching.py`` what is watched of TensorFlow · ``runs.py``
runs a program with all that · ``inside.py`` ... in the program's process · ``schedules.py`` threads made to come in a
certain order, or in every one · ``trees.py`` nested results, compared leaf by leaf · ``hammering.py`` a function called
by many threads at once · ``assertions.py`` what tests claim · ``goldens.py`` whether goldens
are written anew · ``settings.py`` what users set for tests · ``hangs.py`` what tests that hang wait for ·
``threaded.py`` the body of a test in several threads · ``resources.py`` graphs and sessions for tests · ``expected.py``
which races a test has dealt with · ``plugin.py`` the pytest plugin · ``leaks.py`` what a program
has left behind · ``leaks_makers.py`` ... who makes threads, processes, shared memory · ``leaks_graphs.py`` ... what is
left of TensorFlow · ``leaks_kept.py`` ... what libraries keep on purpose · ``leaks_switch.py`` ... patches of modules
that may come later · ``leaks_told.py`` ... what is told

A name is fetched from its module when it is used first; TensorFlow is imported by those that need it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf1sessions.testing.assertions import (
        assert_close,
        assert_isolated,
        assert_no_graph_growth,
        assert_same_graph,
    )
    from tf1sessions.testing.hammering import hammer
    from tf1sessions.testing.leaks import Leak, LeakKind, LeakWatch, no_leaks
    from tf1sessions.testing.order import hand_over, take_over
    from tf1sessions.testing.reports import Access, Kind, Report
    from tf1sessions.testing.schedules import Exploration, Schedule, explore, point
    from tf1sessions.testing.watching import GraphRaces, graph_races

_HOMES = {
    "Access": "reports",
    "Exploration": "schedules",
    "GraphRaces": "watching",
    "Kind": "reports",
    "Leak": "leaks",
    "LeakKind": "leaks",
    "LeakWatch": "leaks",
    "Report": "reports",
    "Schedule": "schedules",
    "assert_close": "assertions",
    "assert_isolated": "assertions",
    "assert_no_graph_growth": "assertions",
    "assert_same_graph": "assertions",
    "explore": "schedules",
    "graph_races": "watching",
    "hammer": "hammering",
    "hand_over": "order",
    "no_leaks": "leaks",
    "point": "schedules",
    "take_over": "order",
}

__all__ = [
    "Access",
    "Exploration",
    "GraphRaces",
    "Kind",
    "Leak",
    "LeakKind",
    "LeakWatch",
    "Report",
    "Schedule",
    "assert_close",
    "assert_isolated",
    "assert_no_graph_growth",
    "assert_same_graph",
    "explore",
    "graph_races",
    "hammer",
    "hand_over",
    "no_leaks",
    "point",
    "take_over",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
