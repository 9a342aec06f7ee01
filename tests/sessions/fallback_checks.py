"""Everything works where TensorFlow lacks the private API of compiled calls. Run by test_programs.py in one process.

The conformance table runs in this way, too (see test_conformance.py); here are the things around ``run``.
"""

from __future__ import annotations

import os
import threading

import numpy as np

import tf1sessions
from tf1sessions import errors, runtime

runtime.private.callable_api = False
from tf1sessions.sessions import calls  # noqa: E402 - it reads callable_api

tf1sessions.enable_v1_behavior()
tf = tf1sessions.tf1


def check_run_is_tensorflows_own() -> None:
    assert tf1sessions.Session.run is tf.Session.run
    original = tf.Session.run
    assert calls.install_fast_path() is False
    assert tf.Session.run is original


def check_sessions_and_compiled_calls() -> None:
    with tf1sessions.GraphSession(tf1sessions.SessionConfig(execution="caller")) as gs:
        x = tf.placeholder(tf.float32, [None], name="x")
        variable = tf.Variable([1.0], use_resource=False)
        gs.initialize()
        add = variable.assign_add([1.0]).op
        call = gs.compile([x], {"y": x * variable}, add)
        assert call.in_caller is None and "run" in repr(call)
        assert call([2.0])["y"].tolist() in ([2.0], [4.0])
        assert gs.run(variable).tolist() == [2.0]
        assert gs.compile(x, None, [add])([1.0]) is None
        for _ in range(2):
            for wrong, kind in (([[1.0]], ValueError), ("a", ValueError), (x, TypeError)):
                try:
                    call(wrong)
                except kind:
                    continue
                raise AssertionError(f"{wrong!r} was taken")
        gs.seal()
        array = np.ones(3, np.float32)
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(gs.compile("x:0", x)(array)))
        thread.start()
        thread.join(60)
        assert np.array_equal(found[0], array)
    try:
        call([1.0])
    except RuntimeError as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("a closed session ran")


def check_a_forked_child_gets_an_error() -> None:
    with tf.Graph().as_default(), tf1sessions.Session() as session:
        session.run(tf.constant(1.0))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                tf1sessions.Session()
            except errors.ForkedAfterSessionError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
