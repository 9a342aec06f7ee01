"""Graphs and sessions that tests get from the pytest plugin: made as the marker says, and default."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tf1sessions.runtime import private, tf
from tf1sessions.sessions.calls import Session
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.session import GraphSession
from tf1sessions.testing.settings import ItemPlan

__all__ = ["new_session", "own_graph", "own_session", "values"]


@contextlib.contextmanager
def _defaults(*contexts: Any) -> Iterator[None]:
    """Enter contexts. Afterwards the stacks of defaults are as before, whatever the block has left there.

    Raises:
        pytest.fail.Exception: The block has left a graph or a session there. Not when it raises itself.
    """
    graphs, sessions = private.ops._default_graph_stack.stack, private.stack._default_session_stack.stack
    stacks = [graphs, sessions, private.context.context().context_switches.stack]
    before = [list(stack) for stack in stacks]
    stack = contextlib.ExitStack()
    for context in contexts:
        stack.enter_context(context)
    try:
        yield
    finally:
        top = graphs[-1]
        try:
            stack.close()
        except (AssertionError, IndexError) as error:  # TensorFlow's words for "nesting violated"
            for now, then in zip(stacks, before, strict=True):
                now[:] = then
            if error.__context__ is None:
                raise pytest.fail.Exception(
                    f"the test has left {top!r} as the default graph, or a session as the default session: "
                    "enter them with `with`",
                    pytrace=False,
                ) from error


def new_session(plan: ItemPlan, name: str, config: Any = None, seed: int | None = None) -> GraphSession:
    """Make a GraphSession as a test's marker wants it; ``config`` and ``seed`` win."""
    config = plan.config if config is None else config
    if config is None:
        config = SessionConfig()
    elif isinstance(config, dict):
        config = SessionConfig(**config)
    elif not isinstance(config, SessionConfig):
        config = SessionConfig.from_proto(config)
    seed = plan.seed if seed is None else seed
    return GraphSession(config if seed is None else dataclasses.replace(config, seed=seed), name=name)


@contextlib.contextmanager
def own_graph(plan: ItemPlan) -> Iterator[Any]:
    """Make a ``tf.Graph``, the default while this lasts."""
    graph = tf.Graph()
    with _defaults(graph.as_default()):
        if plan.seed is not None:
            tf.set_random_seed(plan.seed)
        yield graph


@contextlib.contextmanager
def own_session(plan: ItemPlan, name: str, graph: Any = None) -> Iterator[Any]:
    """Make a GraphSession, or a Session of a graph that there is: default while this lasts, and then closed."""
    session = new_session(plan, name) if graph is None else Session(graph=graph, config=plan.config)
    contexts = [session.as_default()] if graph is None else [graph.as_default(), session.as_default()]
    try:
        with _defaults(*contexts):
            yield session
    finally:
        session.close()


@contextlib.contextmanager
def values(plan: ItemPlan, shared: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Make the graph and session that one thread has for one iteration, its default ones while this lasts.

    Args:
        plan: That of the test.
        shared: The values of fixtures as pytest has made them, once.
        name: The session's, for messages.
    """
    made: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        if "tf1_session" in plan.own:
            graph = shared["tf1_graph"] if plan.share == "graph" else None
            made["tf1_session"] = stack.enter_context(own_session(plan, name, graph))
        elif plan.share is not None:
            common = shared["tf1_session" if plan.share == "session" else "tf1_graph"]
            stack.enter_context(_defaults(common.as_default()))
        if "tf1_graph" in plan.own:
            session = made.get("tf1_session")
            made["tf1_graph"] = stack.enter_context(own_graph(plan)) if session is None else session.graph
        yield made
