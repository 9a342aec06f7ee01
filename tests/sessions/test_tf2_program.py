"""A GraphSession in a TF2 and Keras 3 program; see tf2_checks.py. And how a process ends that left sessions open."""

from __future__ import annotations

import re
from collections.abc import Callable

from support import PythonRun

PROGRAM = "tf2_checks.py"


def test_beside_tf2(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


def test_the_interpreter_ends_quietly(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(
        """
        import threading, time
        import tf1sessions
        from tf1sessions.sessions import watchdog
        tf1sessions.enable_v1_behavior()
        tf = tf1sessions.tf1

        def use(gs):
            with gs.as_default():
                x = tf.placeholder(tf.float32, [2])
                gs.initialize()
                call = gs.compile([x], x * 2.)
                call([1., 2.])
                gs.run(x + 1., {x: [1., 2.]})
            return call

        left_open = tf1sessions.GraphSession()
        left_call = use(left_open)
        in_a_cycle = tf1sessions.GraphSession()
        in_a_cycle.call = use(in_a_cycle)
        in_a_cycle.myself = in_a_cycle
        in_a_thread = tf1sessions.GraphSession()
        use(in_a_thread)
        entered = tf1sessions.GraphSession()
        use(entered)
        entered.__enter__()
        closed = tf1sessions.GraphSession()
        closed_call = use(closed)
        closed.close()
        plain = tf1sessions.Session(graph=left_open.graph)
        plain.run(left_open.graph.get_operations()[0].outputs, {"Placeholder:0": [1., 2.]})
        for wrong in (dict(execution="fast"), dict(config="wrong")):
            try:
                tf1sessions.Session(graph=left_open.graph, **wrong)
            except (TypeError, ValueError):
                pass
        with in_a_thread.as_default():
            item = tf.FIFOQueue(1, tf.float32).dequeue()
        threading.Thread(target=lambda: in_a_thread.run(item), daemon=True).start()
        # A thread that is still on its way into TensorFlow at the end aborts the process, with TensorFlow's own
        # session, too; one that waits in it does not.
        until = time.monotonic() + 30
        while not watchdog.watchdog._calls and time.monotonic() < until:
            time.sleep(0.01)
        def failing(session=left_open):
            raise KeyError
        try:
            failing()
        except KeyError as error:
            kept = error
        report(done=True)
        """,
        env={"TF_CPP_MIN_LOG_LEVEL": "3"},
        deadline=60,
    )
    assert done.results == {"done": True} and done.stdout == ""
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    # What is left is TensorFlow's own log, and its notes about deprecated functions.
    own = re.compile(r"[IWE]0000 |WARNING: All log messages|WARNING:tensorflow:|Instructions for updating|non-resource")
    assert [line for line in done.stderr.splitlines() if not own.match(line)] == []
