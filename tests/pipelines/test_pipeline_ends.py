"""QueuePipeline: how it ends. Each error in each state of the queue, who wins, and that nothing is left then."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from crash_table import ACTORS, BESIDE, PRODUCERS, STATES, TEXT, Actor, Scene
from forced import DEADLINE, Boom, last_line, nothing_leaks, session, state, threads_now, wait_for

import tf1sessions as t1
from tf1sessions.errors import StageError
from tf1sessions.pipelines.coordinator import is_consequence


@pytest.fixture(scope="module", autouse=True)
def tensorflow_has_started() -> None:
    """What it opens once is no leak."""
    with session(), session(), t1.GraphSession() as gs:
        gs.run(t1.tf1.py_func(lambda: 1.0, [], t1.tf1.float64))


@pytest.fixture
def gs() -> Iterator[Any]:
    with nothing_leaks(), session() as made:
        yield made


def check_error(scene: Scene, actor: Actor, caught: BaseException) -> None:
    """The error that came is the actor's, with all that is to be known about it."""
    cause: Any = caught
    if actor.stage is not None:
        assert type(caught) is StageError
        assert caught.stage == actor.stage
        assert (caught.item or "").startswith(actor.item or "") and bool(caught.item) == bool(actor.item)
        cause = caught.__cause__
        at = f" at {caught.item}" if caught.item else ""
        assert str(caught).startswith(
            f"stage {actor.stage!r} of {scene.pipe.name} failed{at}: {type(cause).__name__}: "
        ), str(caught)
        assert TEXT in str(caught)
        assert pytest.importorskip("pickle").dumps(caught)
    if actor.raised:
        assert cause is scene.error
        assert last_line(cause) == actor.line
    else:
        assert isinstance(cause, scene.tf.errors.OpError) and not is_consequence(cause)
        assert TEXT in cause.message and cause.op.name == actor.operation
    context = cause.__context__ if actor.context else None
    assert type(context) is (actor.context or type(None))


CASES = [
    pytest.param(actor, state, threads, id=f"{actor}-{state}-{threads}")
    for actor, state, threads in itertools.product(ACTORS, STATES, (1, 3))
]


@pytest.mark.parametrize("actor_name, state_name, threads", CASES)
def test_an_error_in_each_place_and_each_state(gs: Any, actor_name: str, state_name: str, threads: int) -> None:
    before = threads_now()
    with pytest.raises((StageError, Boom, t1.tf1.errors.OpError)) as caught:
        with t1.QueuePipeline(gs) as pipe:
            scene = Scene(gs, pipe, threads, beside=state_name in BESIDE and actor_name in PRODUCERS)
            actor = ACTORS[actor_name](scene)
            STATES[state_name](scene, actor)
            scene.gate.open()
            if actor.fails is not None:
                actor.fails()
    for helper in scene.helpers:
        helper.join(DEADLINE)
    assert threads_now() <= before
    check_error(scene, actor, caught.value)
    others = getattr(caught.value, "others", ())
    assert all(is_consequence(other.__cause__ or other) for other in others), others
    if state_name == "cancelled by the user":
        if actor.stage is not None:
            assert [other.stage for other in others] == ["feeder"]
    else:
        assert others == ()
    assert {told.state for told in pipe.statistics().queues.values()} == {"cancelled"}
    assert actor.stage is None or pipe.statistics().stages[actor.stage].state == "failed"
    assert {told.threads for told in pipe.statistics().stages.values()} <= {0}
