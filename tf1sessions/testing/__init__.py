"""Testing that sessions are safe in threads: a race detector, a search for leaks, threads in tests, a pytest plugin.

Races, from what is pure to what patches::

    frames.py               whose code a frame runs
    patching.py             methods that are replaced for a while
    clocks.py               counts of threads, shared by many clocks
    handed_objects.py       what a job of an executor names
    vector_clocks.py        happens-before, by vector clocks
    ignored_results.py      calls whose result is not looked at
    waits.py                what threads wait for, as their frames show
    deadlocks.py            threads that wait for each other
    locks.py                which locks a thread holds
    polling.py              loops that wait for another thread
    claimed_flags.py        flags by which one thread at a time goes on
    uncertain_order.py      means of waiting that cannot be seen
    item_tokens.py          items of queues
    synchronisation.py      Python's other primitives
    stalls.py               a thread that looks for threads of which none can go on
    hangs.py                what a process hangs in, and how it is ended
    reports.py              reports of races
    suppressions.py         races that are accepted, each for a reason
    race_sarif.py           reports as SARIF
    access_records.py       the accesses of each location
    race_detector.py        which two of them race
    publications.py         order that the data show: the makers of what a run uses
    graph_growth.py         graphs that grow in a loop
    variable_uses.py        the variables, queues, iterators and tables that a run uses
    python_state.py         state that Python functions in a graph change
    graph_accesses.py       which accesses to graphs and sessions conflict
    lost_graphs.py          threads without their starter's default graph
    raised_errors.py        errors that a program catches
    value_hooks.py          fed arrays, graphs that are written, Coordinators
    result_arrays.py        results that threads write to, in orders that are explored
    tensorflow_hooks.py     where TensorFlow accesses graphs and sessions
    races.py                graph_races(), and the fixture of that name
    findings.py             what was found there, for another process
    runs.py                 a program with the detector, in a process of its own
    race_detector_main.py   the detector in that process

Leaks::

    leak_reports.py         reports of leaks
    leak_origins.py         which line made something
    leak_candidates.py      threads, processes, shared memory
    leak_hooks.py           where those are made
    graph_leaks.py          sessions, default graphs, operations
    library_resources.py    what libraries keep on purpose
    leaks.py                LeakWatch and no_leaks()

Tests::

    tasks.py                threads that stop before each use of a primitive
    scheduler.py            one of them at a time, by our own choice
    schedules.py            points, and threads in a certain order
    cooperative.py          Python's primitives under the scheduler
    orders.py               orders as text, drawn, searched
    exploration.py          explore()
    exploring.py            a program's orders, in a process of its own
    explored_program.py     its orders in that process, a fork for each
    nested_values.py        results, compared leaf by leaf
    hammering.py            a function that many threads call
    goldens.py              whether goldens are written anew
    assertions.py           assertions
    accepted_races.py       suppressions in pytest
    limits.py               how many threads and seconds may be asked for
    settings.py             options and markers of the plugin
    threaded_body.py        the body of a test in several threads
    fixture_values.py       graphs and sessions for tests
    thread_fixtures.py      fixtures that each thread of a test makes
    plugin.py               the pytest plugin

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
    from tf1sessions.testing.exploration import Exploration, explore
    from tf1sessions.testing.hammering import hammer
    from tf1sessions.testing.leaks import Leak, LeakKind, LeakWatch, no_leaks
    from tf1sessions.testing.races import GraphRaces, graph_races
    from tf1sessions.testing.reports import Access, GraphRaceWarning, Kind, Report
    from tf1sessions.testing.schedules import Schedule, point
    from tf1sessions.testing.vector_clocks import hand_over, take_over

_HOMES = {
    "Access": "reports",
    "Exploration": "exploration",
    "GraphRaceWarning": "reports",
    "GraphRaces": "races",
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
    "explore": "exploration",
    "graph_races": "races",
    "hammer": "hammering",
    "hand_over": "vector_clocks",
    "no_leaks": "leaks",
    "point": "schedules",
    "take_over": "vector_clocks",
}

__all__ = [
    "Access",
    "Exploration",
    "GraphRaceWarning",
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
