"""Claims about graphs, sessions and results that hold and that do not; run by test_assertions.py in one process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tf1sessions as t1
from tf1sessions.errors import UsageError
from tf1sessions.testing.assertions import (
    assert_close,
    assert_isolated,
    assert_no_graph_growth,
    assert_same_graph,
)

tf: Any = t1.tf1


def fails(claim: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        claim()
    return str(caught.value)


def check_growth() -> None:
    with t1.GraphSession() as gs:
        y = tf.constant(1.0)
        for thing in (gs, gs.graph, gs.session):
            with assert_no_graph_growth(thing):
                gs.run(y)

        def grows() -> None:
            with assert_no_graph_growth(gs):
                for _ in range(3):
                    gs.run(tf.constant(2.0, name="two"))

        text = fails(grows)
        assert text.startswith("the graph grew by 3 operations:") and "adds 'two'" in text
        assert (f"{__file__}:" in text and "in check_growth.<locals>.grows" in text) or "in grows" in text
        with pytest.raises(ZeroDivisionError), assert_no_graph_growth(gs):
            tf.constant(3.0)
            raise ZeroDivisionError  # what the block raises is not hidden
    with pytest.raises(UsageError, match="7 is no graph"), assert_no_graph_growth(7):
        pass


def check_isolation() -> None:
    with t1.GraphSession() as one, t1.GraphSession() as other:
        assert_isolated(one, other)
        assert fails(lambda: assert_isolated(one, one.session)) == "both are one session"
        with tf.Session(graph=one.graph) as second:
            assert "both sessions run one graph, with 0 operations" in fails(lambda: assert_isolated(one, second))
    with pytest.raises(UsageError, match="no session"):
        assert_isolated(tf.Graph(), 1)


def check_isolation_on_a_server() -> None:
    server = tf.distribute.Server.create_local_server()
    with (
        tf.Graph().as_default(),
        tf.Session(server.target) as one,
        tf.Graph().as_default(),
        tf.Session(server.target) as other,
        tf.Session(server.target, config=tf.ConfigProto(isolate_session_state=True), graph=tf.Graph()) as alone,
    ):
        assert "variables of one name are one variable" in fails(lambda: assert_isolated(one, other))
        assert_isolated(one, alone)


def graph(*, value: float = 1.0, swapped: bool = False, device: str = "", more: bool = False) -> Any:
    with tf.Graph().as_default() as made, tf.device(device):
        a, b = tf.constant(value, name="a"), tf.constant(2.0, name="b")
        tf.subtract(*((b, a) if swapped else (a, b)), name="y")
        if more:
            tf.constant(0, name="more")
    return made


def check_same_graphs() -> None:
    assert_same_graph(graph(), graph())
    reordered = graph().as_graph_def()
    nodes = list(reversed(reordered.node))
    del reordered.node[:]
    reordered.node.extend(nodes)
    assert_same_graph(graph(), reordered)
    for options, text in (
        ({"value": 3.0}, "'a' has another attribute 'value'"),
        ({"swapped": True}, "'y' has the inputs ['a', 'b'], and ['b', 'a'] in the second"),
        ({"device": "/cpu:0"}, "the device '', and '/device:CPU:0' in the second"),
        ({"more": True}, "'more' is only in the second"),
    ):
        assert text in fails(lambda options=options: assert_same_graph(graph(), graph(**options))), options
    assert "'more' is only in the first" in fails(lambda: assert_same_graph(graph(more=True), graph()))


def check_close() -> None:
    assert_close({"a": [1.0, float("nan")]}, {"a": [1.0 + 1e-7, float("nan")]})
    text = fails(lambda: assert_close({"a": np.array([1.0, 2.0])}, {"a": np.array([1.0, 2.5])}))
    assert (
        text == "the results differ (rtol=1e-06, atol=1e-06):\n  a is 2.0 instead of 2.5 at [1]; 1 of 2 values differ"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "goldens" / "loss.npz"
        with pytest.raises(UsageError, match="--update-goldens"):
            assert_close(1.0, path)
        assert_close({"loss": 1.0}, path, update=True)
        assert_close({"loss": 1.0}, str(path))
        assert str(path) in fails(lambda: assert_close({"loss": 1.1}, path))
        assert_close({"loss": 1.1}, path, rtol=0.2)
