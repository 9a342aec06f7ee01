"""Assertions about graphs, sessions and results."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.runtime import tf
from tf1sessions.testing import goldens, nested_values
from tf1sessions.testing.frames import is_library

__all__ = ["assert_close", "assert_isolated", "assert_no_graph_growth", "assert_same_graph"]

#: How many operations or differences a message names. Arbitrary.
_NAMED = 5
#: Attributes by which TensorFlow notes something about a node, and which change nothing about what it does.
_NOTES = ("_class", "_output_shapes", "_gradient_op_type")


@contextlib.contextmanager
def assert_no_graph_growth(graph: Any) -> Iterator[None]:
    """Fail when operations are added to a graph while the block lasts, and says by which lines.

    Args:
        graph: A ``tf.Graph``, or something that has one: a session, a GraphSession, a Model.

    Raises:
        AssertionError: The graph has grown. Not when the block itself raises.

    Example:
        >>> import tf1sessions as t1
        >>> with t1.GraphSession() as gs:
        ...     y = t1.tf1.constant(1.0)
        ...     with assert_no_graph_growth(gs):
        ...         for _ in range(3):
        ...             _ = gs.run(y)
    """
    graph = _graph(graph)
    before = len(graph.get_operations())
    yield
    added = graph.get_operations()[before:]
    if added:
        lines = dict.fromkeys(f"{_line(operation)} adds {operation.name!r}" for operation in added)
        raise AssertionError(f"the graph grew by {len(added)} operations:{_lines(list(lines))}")


def assert_isolated(one: Any, other: Any) -> None:
    """Fail unless two sessions have nothing in common: no graph, and no server whose variables they would share.

    Args:
        one, other: Sessions, GraphSessions or Models.

    Raises:
        AssertionError: They are one session, run one graph, or are of one server without ``isolate_session_state``.
    """
    sessions = [_session(each) for each in (one, other)]
    if sessions[0] is sessions[1]:
        raise AssertionError("both are one session")
    if sessions[0].graph is sessions[1].graph:
        raise AssertionError(f"both sessions run one graph, with {len(sessions[0].graph.get_operations())} operations")
    targets = [session.sess_str for session in sessions]
    if targets[0] and targets[0] == targets[1]:
        alone = [session._config is not None and session._config.isolate_session_state for session in sessions]
        if not any(alone):
            raise AssertionError(
                f"both sessions are of the server {tf.compat.as_text(targets[0])}: variables of one name are one "
                "variable"
            )


def assert_same_graph(one: Any, other: Any) -> None:
    """Fail unless two graphs have the same nodes, whatever their order: operations, inputs, attributes and devices.

    Args:
        one, other: Graphs, GraphDefs, or something that has a graph.

    Raises:
        AssertionError: They differ; the first differences are named.
    """
    nodes = [{node.name: node for node in _graph_def(each).node} for each in (one, other)]
    differences = [f"{name!r} is only in the first" for name in nodes[0] if name not in nodes[1]]
    differences += [f"{name!r} is only in the second" for name in nodes[1] if name not in nodes[0]]
    for name, node in nodes[0].items():
        if name in nodes[1]:
            differences += [f"{name!r} has {what}" for what in _node_differences(node, nodes[1][name])]
    if differences:
        raise AssertionError(f"the graphs differ:{_lines(differences)}")


def assert_close(
    tree: Any, golden: str | os.PathLike[str] | Any, *, rtol: float = 1e-6, atol: float = 1e-6, update: bool = False
) -> None:
    """Fail unless results are what is kept in a file, or what another tree has.

    Args:
        tree: Numbers, texts or arrays, nested in dicts, lists and tuples.
        golden: Path of an ``.npz``; or another tree.
        rtol, atol: ``abs(found - expected) <= atol + rtol * abs(expected)``; NaN equals NaN.
        update: Writes the file instead, whole or not at all. In pytest ``--update-goldens`` says so for all.

    Raises:
        AssertionError: They differ; leaf, worst element and both values are named.
        UsageError: There is no such file.

    Example:
        >>> assert_close({"loss": 0.25}, {"loss": 0.25 + 1e-9})
    """
    found = nested_values.flatten(tree)
    path = os.fspath(golden) if isinstance(golden, (str, os.PathLike)) else None
    if path is not None and (update or goldens.update):
        nested_values.write(path, found)
        return
    expected = nested_values.read(path) if path is not None else nested_values.flatten(golden)
    if differences := nested_values.differences(found, expected, rtol, atol):
        where = f" from {path}" if path is not None else ""
        raise AssertionError(
            f"the results differ{where} (rtol={rtol:g}, atol={atol:g}):\n  " + "\n  ".join(differences)
        )


def _lines(sentences: Sequence[str]) -> str:
    more = [f"and {len(sentences) - _NAMED} more"] if len(sentences) > _NAMED else []
    return "".join(f"\n  {each}" for each in [*sentences[:_NAMED], *more])


def _graph(thing: Any) -> Any:
    graph = thing if isinstance(thing, tf.Graph) else getattr(thing, "graph", None)
    if not isinstance(graph, tf.Graph):
        raise UsageError(
            f"{thing!r} is no graph and has none", where="tf1sessions.testing", next_step="Give a Graph or a session."
        )
    return graph


def _graph_def(thing: Any) -> Any:
    return thing if isinstance(thing, tf.GraphDef) else _graph(thing).as_graph_def()


def _session(thing: Any) -> Any:
    session = thing if isinstance(thing, tf.Session) else getattr(thing, "session", None)
    if session is None or not hasattr(session, "sess_str"):
        raise UsageError(
            f"{thing!r} is no session and has none", where="assert_isolated()", next_step="Give two sessions."
        )
    return session


def _line(operation: Any) -> str:
    """Return the program's innermost line that made an operation."""
    for frame in reversed(operation.traceback or ()):
        if not is_library(frame.filename):
            return f"{frame.filename}:{frame.lineno} in {frame.name}"
    return "an unknown place"


def _node_differences(one: Any, other: Any) -> Iterator[str]:
    for what in ("op", "device"):
        if getattr(one, what) != getattr(other, what):
            yield f"the {what} {getattr(one, what)!r}, and {getattr(other, what)!r} in the second"
    if list(one.input) != list(other.input):
        yield f"the inputs {list(one.input)}, and {list(other.input)} in the second"
    for key in sorted({*one.attr, *other.attr} - {*_NOTES}):
        if (key in one.attr) != (key in other.attr) or one.attr[key] != other.attr[key]:
            yield f"another attribute {key!r}"
