"""``tf1sessions`` against ``tf.compat.v1.Session.run``: one table of cases, four ways to run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import conformance as TABLE  # this folder is on the path; pytest puts it there
import pytest

FOLDER = Path(__file__).resolve().parent

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
way = sys.argv[2]
import conformance
import tf1sessions
from tf1sessions import runtime

if way == "fallback":
    runtime.private.callable_api = False
from tf1sessions.sessions import calls

tf1sessions.enable_v1_behavior()
tf = runtime.tf
base = runtime.private.session.BaseSession


class Plain(tf.Session):
    run = base.run
    _do_run = base._do_run
    __init__ = base.__init__


def plain(graph):
    return Plain(graph=graph)


def ours(graph):
    return tf1sessions.Session(graph=graph)


compile_call = None
if way == "installed":
    assert calls.install_fast_path()
    import tensorflow
    def ours(graph):
        session = tensorflow.compat.v1.Session(graph=graph)
        assert type(session) is not tf1sessions.Session
        return session
elif way != "run":
    def compile_call(session):
        return lambda feeds, fetches: tf1sessions.CompiledCall(session, feeds, fetches, None)

for name in conformance.CASES:
    if compile_call and name in conformance.WITHOUT_COMPILE:
        continue
    report(**{name: conformance.compare(tf, name, plain, ours, compile_call)})
"""


WAYS = ("run", "compiled", "installed", "fallback")  # fallback: compile() without the private API
COMPILED = ("compiled", "fallback")


@pytest.fixture(scope="module")
def findings(run_python: Callable[..., Any]) -> Callable[[str], dict[str, list[str]]]:
    """Returns the differences of all cases in one way to run them; each way is one process, started when asked for."""
    known: dict[str, Any] = {}

    def found(way: str) -> dict[str, list[str]]:
        if way not in known:
            known[way] = run_python(_PROGRAM, str(FOLDER), way, check=False, deadline=170)
        done = known[way]
        for name in TABLE.CASES:
            skipped = way in COMPILED and name in TABLE.WITHOUT_COMPILE
            done.results.setdefault(
                name, [] if skipped else [f"the process ended with {done.returncode}: {done.stderr[-4000:]}"]
            )
        return dict(done.results)

    return found


@pytest.mark.parametrize(
    ("way", "name"),
    [(way, name) for way in WAYS for name in TABLE.CASES if way not in COMPILED or name not in TABLE.WITHOUT_COMPILE],
)
def test_same_as_run(way: str, name: str, findings: Callable[[str], dict[str, list[str]]]) -> None:
    differences = findings(way)[name]
    assert not differences, "\n".join(differences[:6])


def test_the_table_covers_what_run_accepts() -> None:
    assert len(TABLE.CASES) >= 70
