"""Programs that leave sessions, graphs, queue runners and operations behind, and some that do not.

Run by test_leaks.py in one process, as TensorFlow 1 behaves.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from leaks_support import DEADLINE, clean, endings, found, kinds, one, source_of

from tf1sessions.testing.leaks import Leak, LeakWatch


def check_tensorflow_is_imported_while_it_is_watched() -> None:
    assert "tensorflow" not in sys.modules

    def program() -> None:
        import tensorflow.compat.v1 as late

        session = late.Session(graph=late.Graph())  # this one
        endings.append(session.close)
        with late.Graph().as_default(), late.Session() as other:
            other.run(late.constant(1.0))

    one(program, "sessions", "# this one", "program")

    import tf1sessions

    tf1sessions.enable_v1_behavior()


class _Later:
    """TensorFlow, once the first check has imported it."""

    def __getattr__(self, name: str) -> Any:
        from tf1sessions import tf1

        return getattr(tf1, name)


tf: Any = _Later()


@contextlib.contextmanager
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


# -- sessions ---------------------------------------------------------------------------------------------------------


def keep(session: Any) -> Any:
    endings.append(session.close)
    return session


def check_sessions_that_are_not_closed() -> None:
    def plain() -> None:
        keep(tf.Session(graph=tf.Graph()))  # this one

    def interactive() -> None:
        keep(tf.InteractiveSession(graph=tf.Graph()))  # this one

    def ours() -> None:
        import tf1sessions

        keep(tf1sessions.Session(graph=tf.Graph()))  # this one

    def entered() -> None:
        session = keep(tf.Session(graph=tf.Graph()))  # this one
        session.__enter__()
        endings.append(lambda: session.__exit__(None, None, None))

    def in_a_thread() -> None:
        thread = threading.Thread(target=plain)
        thread.start()
        thread.join(DEADLINE)

    for program, name, function in (
        (plain, "Session", "plain"),
        (interactive, "InteractiveSession", "interactive"),
        (ours, "Session", "ours"),
        (entered, "Session", "entered"),
        (in_a_thread, "Session", "plain"),
    ):
        leak = one(program, "sessions", "# this one", function)
        assert leak.what.startswith(f"{name} 0x") and leak.what.endswith(" was not closed"), leak


def check_sessions_that_belong_to_others() -> None:
    from tf1sessions import GraphSession  # from here on it is imported

    def ours() -> None:
        keep(GraphSession())  # this one

    def monitored() -> None:
        with graph():
            tf.train.get_or_create_global_step()
            keep(tf.train.MonitoredTrainingSession())  # this one

    for program, owner in ((ours, "GraphSession"), (monitored, "MonitoredSession")):
        leak = one(program, "sessions", "# this one", program.__name__)
        assert f" of a {owner} was" in leak.what, leak


def check_a_session_that_is_garbage_was_not_closed() -> None:
    def dropped() -> None:
        tf.Session(graph=tf.Graph())  # this one

    def collected() -> None:
        session = tf.Session(graph=tf.Graph())  # this one
        session.itself = session
        del session
        gc.collect()

    for program in (dropped, collected):
        leak = one(program, "sessions", "# this one", program.__name__)
        assert leak.what.endswith("when the last reference to it was dropped"), leak


def check_sessions_that_are_closed() -> None:
    from tf1sessions import GraphSession, ThreadSessionPool

    def program() -> None:
        with graph() as built:
            x = tf.constant(1.0)
            with tf.Session() as session:
                session.run(x)
            session = tf.Session()
            session.close()
            del session
            interactive = tf.InteractiveSession(graph=built)
            interactive.close()
            try:
                with tf.Session():
                    raise KeyError
            except KeyError:
                pass
            try:
                tf.Session("no such target")
            except tf.errors.OpError:
                pass
            closed_in_time = tf.Session()
            threading.Timer(0.1, closed_in_time.close).start()
        with GraphSession() as ours:
            ours.run(tf.constant(1.0))
        with ThreadSessionPool(2) as pool:
            assert list(pool.map(lambda session, value: value, range(4))) == [0, 1, 2, 3]

    clean(program)


def check_what_tensorflow_keeps() -> None:
    def program() -> None:
        with graph(), tempfile.TemporaryDirectory() as folder:
            step = tf.train.get_or_create_global_step()
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as monitored:
                monitored.run(step)
        assert any(thread.name == "EventLoggerThread" for thread in threading.enumerate())

    clean(program)
    gc.freeze()  # as a preloaded process has it
    clean(program)

    def own() -> None:
        with graph(), tempfile.TemporaryDirectory() as folder:
            writer = tf.summary.FileWriter(folder)  # this one
            endings.append(writer.close)

    one(own, "threads", "# this one", "own")


def check_sessions_that_were_there_before() -> None:
    from tf1sessions import GraphSession

    with graph(), tf.Session() as plain, GraphSession() as ours:
        x = tf.constant(1.0)
        clean(lambda: [ours.run(x), plain.graph])
        clean(lambda: contextlib.ExitStack().enter_context(contextlib.closing(tf.Session())).close())


def check_what_is_made_aside() -> None:
    watch = LeakWatch(grace_secs=0)
    watch.begin()
    tf.constant(1.0)  # the program's
    with watch.aside():
        session = tf.InteractiveSession(graph=tf.Graph())
        building = graph()
        building.__enter__()
        tf.constant(1.0, name="aside")
        with tf.Graph().as_default():
            tf.constant(1.0)
    leaks = watch.end()
    building.__exit__(None, None, None)
    session.close()
    tf.reset_default_graph()
    assert [leak.kind for leak in leaks] == ["operations"] and "1 operation ('Const')" in leaks[0].what, leaks


def check_what_was_built_before_something_aside_and_is_reset() -> None:
    watch = LeakWatch()
    watch.begin()
    tf.constant(1.0)
    with watch.aside():
        pass
    tf.reset_default_graph()
    assert watch.end() == []


# -- defaults ---------------------------------------------------------------------------------------------------------


def check_what_stays_default() -> None:
    def a_graph() -> None:
        entered = tf.Graph().as_default()
        entered.__enter__()  # this one
        endings.append(lambda: entered.__exit__(None, None, None))

    def a_session() -> None:
        with tf.Session(graph=tf.Graph()) as session:
            pass
        entered = session.as_default()  # this one
        entered.__enter__()
        endings.append(lambda: entered.__exit__(None, None, None))

    for program, name in ((a_graph, "Graph"), (a_session, "Session")):
        leak = one(program, "defaults", "# this one", program.__name__)
        assert leak.what.startswith(f"{name} 0x") and leak.what.endswith(
            "is still default in this thread, for all that follows"
        ), leak

    def left_again() -> None:
        with graph(), tf.Session() as session, session.as_default(), tf.Graph().as_default():
            pass

    clean(left_again)
    with graph():  # was there before
        clean(left_again)


# -- operations -------------------------------------------------------------------------------------------------------


def check_operations_of_the_process() -> None:
    def program() -> None:
        x = tf.constant(1.0, name="first")  # this one
        tf.identity(x)  # and this

    tf.reset_default_graph()
    for _ in range(2):  # in a new graph, and in one that has some
        leak = one(program, "operations", "# this one", "program")
        assert leak.what.startswith("2 operations ('first") and leak.what.count(f"; also at {__file__}") == 1, leak

    def resets() -> None:
        tf.reset_default_graph()
        program()

    clean(resets)

    def gone() -> None:
        program()
        tf.reset_default_graph()

    clean(gone)
    clean(lambda: tf.get_default_graph())

    def elsewhere() -> None:
        with graph():
            program()

    clean(elsewhere)


# -- growth -----------------------------------------------------------------------------------------------------------


def check_growth() -> None:
    from tf1sessions import GraphSession

    def plain() -> None:
        with graph(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [])
            for number in range(5):
                session.run(x + 1.0, {x: number})  # this one

    def ours() -> None:
        with GraphSession() as session:
            x = tf.placeholder(tf.float32, [])
            for number in range(5):
                session.run(x + 1.0, {x: number})  # this one

    def compiled() -> None:
        with GraphSession() as session:
            call = session.compile([], tf.constant(1.0))
            for _ in range(5):
                call()
                tf.constant(2.0)  # this one

    def monitored() -> None:
        with graph():
            step = tf.train.get_or_create_global_step()
            built = tf.get_default_graph()
            with tf.train.MonitoredSession(tf.train.ChiefSessionCreator()) as session:
                built._unsafe_unfinalize()
                for _ in range(5):
                    session.run(step + 1)  # this one

    def request(session: Any, x: Any) -> None:
        with session.graph.as_default():
            session.run(tf.identity(x))  # this one

    def handler() -> None:
        with graph(), tf.Session() as session:
            x = tf.constant(1.0)
            for _ in range(5):
                thread = threading.Thread(target=request, args=(session, x))
                thread.start()
                thread.join(DEADLINE)

    for program, rounds in ((plain, 4), (ours, 4), (compiled, 4), (monitored, 5)):
        leak = one(program, "growth", "# this one", program.__name__)
        assert f" were added to a graph between its runs, in {rounds} rounds" in leak.what, leak
    one(handler, "growth", "# this one", "request")


def check_graphs_that_do_not_grow_in_a_loop() -> None:
    def program() -> None:
        with graph(), tf.Session() as session:
            layers = [tf.constant(float(number)) for number in range(9)]
            for _ in range(5):
                session.run(layers)
            for _ in range(2):
                session.run(tf.constant(1.0))
            session.run(tf.constant(1.0))
            session.run(tf.constant(1.0))
        for _ in range(5):
            with graph(), tf.Session() as session:
                session.run(tf.constant(1.0))

    clean(program)


# -- queue runners ----------------------------------------------------------------------------------------------------


def queue() -> Any:
    made = tf.FIFOQueue(2, tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(made, [made.enqueue(1.0)]))
    return made


def check_queue_runners() -> None:
    coordinators = []

    def program() -> None:
        with graph():
            queue()
            session = keep(tf.Session())
            coordinator = tf.train.Coordinator()
            coordinators.append(coordinator)
            endings.insert(0, coordinator.request_stop)
            tf.train.start_queue_runners(session, coordinator)  # this one

    leaks = {leak.kind.value: leak for leak in found(program)}
    assert sorted(leaks) == ["queue runners", "sessions"], leaks
    leak = leaks["queue runners"]
    assert "'QueueRunnerThread-fifo_queue" in leak.what and leak.what.endswith("; and 1 more from this line"), leak
    assert f"{__file__}:" in leak.where and leak.where.endswith("program"), leak

    def alone() -> None:
        with graph():
            runner = tf.train.QueueRunner(made := queue(), [made.enqueue(1.0)])
            session = tf.Session()
            endings.append(session.close)
            runner.create_threads(session, start=True)  # this one

    assert [leak.kind.value for leak in found(alone) if "# this" in source_of(leak)] == ["queue runners"]

    def looper() -> None:
        coordinator = tf.train.Coordinator()
        endings.append(coordinator.request_stop)
        tf.train.LooperThread.loop(coordinator, 0.01, lambda: None)  # this one

    one(looper, "queue runners", "# this one", "looper")

    def joined() -> None:
        with graph():
            made = queue()
            with tf.Session() as session:
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(session, coordinator)
                session.run(made.dequeue())
                coordinator.request_stop()
                coordinator.join(threads)

    clean(joined)


# -- ours -------------------------------------------------------------------------------------------------------------


def big(session: Any, size: int) -> Any:
    return np.zeros(size)


def check_pools_of_ours() -> None:
    from tf1sessions import ProcessSessionPool
    from tf1sessions.pools.processes import make_server

    kept: list[Any] = []
    with make_server() as server:

        def left() -> None:
            pool = ProcessSessionPool(1, server=server)  # this one
            endings.extend([pool.shutdown, kept.clear])
            kept.append(pool.submit(big, 1 << 20).result(DEADLINE))

        leaks = found(left)
        assert {leak.kind.value for leak in leaks} == {"threads", "shared memory"}, leaks
        assert all(" of a ProcessSessionPool " in leak.what for leak in leaks), leaks
        assert all(leak.where.endswith("left") and __file__ in leak.where for leak in leaks), leaks

        def program() -> None:
            with ProcessSessionPool(1, server=server) as pool:
                assert pool.submit(big, 1 << 20).result(DEADLINE).sum() == 0

        clean(program)
        with ProcessSessionPool(1, server=server) as older:
            clean(lambda: older.submit(big, 1 << 20).result(DEADLINE))


def check_a_leak_is_a_record() -> None:
    leaks = found(lambda: keep(tf.Session(graph=tf.Graph())), kinds=["sessions"])
    assert leaks == [Leak(leaks[0].kind, leaks[0].what, leaks[0].where, leaks[0].fix)] and hash(leaks[0])
    assert kinds(lambda: keep(tf.Session(graph=tf.Graph())), kinds=["threads"]) == []


def check_all_of_tensorflow_is_as_before() -> None:
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops, stack
    from tensorflow.python.training import coordinator

    from tf1sessions.sessions import calls

    classes = (session.BaseSession, session.Session, ops._DefaultGraphStack, stack.DefaultStack, calls.Session)
    classes += (calls.CompiledCall, coordinator.Coordinator)
    before: list[Callable[..., object]] = [dict(vars(each)) for each in classes]  # type: ignore[misc]
    watch = LeakWatch()
    watch.begin()
    assert [dict(vars(each)) for each in classes] != before
    watch.end()
    assert [dict(vars(each)) for each in classes] == before
