"""An endless loop with a constant condition, which TensorFlow cannot cancel: nothing of ours waits for it for ever.

Each takes one of the few threads of TensorFlow's pool for ever, so what has to start comes first here.
"""

from __future__ import annotations

import pytest

PROGRAM = """
    import logging, threading, time
    import tf1sessions as t1
    from tf1sessions.pools import threads
    from tf1sessions.sessions import session_methods

    session_methods.CLOSE_SECS = threads.STRAGGLER_SECS = 0.5
    tf = t1.tf1
    log = []
    handler = logging.Handler()
    handler.emit = lambda record: log.append(record.getMessage())
    logging.getLogger("tf1sessions").addHandler(handler)

    def endless():
        return tf.while_loop(lambda i: tf.constant(True), lambda i: i + 1, [tf.constant(0)])

    def job(session):
        begun.set()
        return session.run(endless())

    def caught(function, *args):
        try:
            function(*args)
        except Exception as error:
            errors.append(type(error).__name__)

    def runs(function, *args):
        thread = threading.Thread(target=caught, args=(function, *args), daemon=True)
        thread.start()
        time.sleep(0.7)  # TensorFlow does not say when it has begun the loop
        return thread

    errors, begun = [], threading.Event()
    gs = t1.GraphSession()
    with gs.as_default():
        loop, x = endless(), tf.placeholder(tf.float32, [None, 1], name="x")
        with tf.control_dependencies([loop]):
            y = tf.identity(x + 1.0, name="y")
        frozen = gs.graph.as_graph_def()
    with open("endless.pb", "wb") as file:
        file.write(frozen.SerializeToString())
    ended = []
    for options in ({}, {"config": t1.SessionConfig()}):
        with t1.load("endless.pb", inputs=["x"], outputs=["y"], **options) as model:
            thread = runs(model, [[1.0]])
        thread.join(5)
        ended.append(not thread.is_alive())
    report(ended=ended, errors=errors)

    batcher = t1.Batcher(gs, {"x": x}, {"y": y})
    log.clear()
    waiting = batcher.submit([[1.0]])
    time.sleep(0.7)
    batcher.close(join_secs=0.2)
    gs.close()
    report(closed=gs.closed, batcher=batcher.closed, first_log=list(log))

    log.clear()
    with t1.ThreadSessionPool(2, time_limit_secs=1, name="limited") as pool:
        future = pool.submit(job)
        after = pool.submit(lambda session: 7)
        report(limit=type(future.exception(30)).__name__, after=after.result(30))
    report(stuck=len(pool.statistics().stuck_threads), pool_log=list(log))

    begun.clear()
    pool = t1.ThreadSessionPool(1)
    future = pool.submit(job)
    begun.wait(30)
    time.sleep(1.5)
    pool.interrupt()
    report(interrupted=type(future.exception(30)).__name__)

    pool = t1.ThreadSessionPool(1)  # which is not shut down
    begun.clear()
    pool.submit(job)
    begun.wait(30)
    runs(t1.GraphSession().run, endless)
"""


@pytest.mark.timeout(180)
def test_what_cannot_be_cancelled_is_given_up_and_named(run_python):
    found = run_python(PROGRAM).results
    assert found["closed"] and found["batcher"]
    assert "its run goes on in thread 'tf1sessions-batcher'" in found["first_log"][0]
    assert "a loop that TensorFlow cannot cancel" in found["first_log"][1]
    assert "'tf1sessions-close-" in found["first_log"][1]
    assert (found["limit"], found["after"], found["stuck"]) == ("JobTimeoutError", 7, 1)
    assert "goes on although its session is closed, in thread limited-" in found["pool_log"][-1]
    assert found["interrupted"] == "StragglerError"
    assert found["ended"] == [True, False]  # loaded so that it can be cancelled; as its caller wants it
    assert len(found["errors"]) == 1
