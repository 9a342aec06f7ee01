"""Programs without TensorFlow that leave something behind, and some that do not; run by test_leaks_python.py."""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import itertools
import multiprocessing
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import pytest
from leaks_support import DEADLINE, clean, end_all, endings, found, kinds, one

from tf1sessions.errors import UsageError
from tf1sessions.testing import leak_hooks
from tf1sessions.testing.leaks import KINDS, LeakKind, LeakWatch, no_leaks
from tf1sessions.testing.patching import Observers

FORK = multiprocessing.get_context("fork")
FOREVER = [sys.executable, "-c", "import time; time.sleep(100)"]


def wait_until_stopped() -> Callable[[], None]:
    stop = threading.Event()
    endings.append(stop.set)

    def wait() -> None:
        stop.wait(DEADLINE)

    return wait


def start(*functions: Callable[[], object], **options: Any) -> list[threading.Thread]:
    threads = [threading.Thread(target=function, **options) for function in functions]
    for thread in threads:
        thread.start()
    return threads


def in_thread(function: Callable[[], object]) -> None:
    (thread,) = start(function)
    thread.join(DEADLINE)


# -- threads ----------------------------------------------------------------------------------------------------------


def check_a_thread() -> None:
    def program() -> None:
        threading.Thread(target=wait_until_stopped(), name="waiter").start()  # this one

    leak = one(program, "threads", "# this one", "program")
    assert leak.kind is LeakKind.THREAD and "'waiter' still runs, at " in leak.what


def check_a_daemon_thread_is_one_too() -> None:
    def program() -> None:
        threading.Thread(target=wait_until_stopped(), daemon=True).start()  # this one

    one(program, "threads", "# this one", "program")


def check_threads_of_one_line_are_reported_once() -> None:
    leak = one(lambda: start(*[wait_until_stopped()] * 3), "threads", "thread.start()", "start")
    assert leak.what.endswith("; and 2 more from this line")


def check_threads_that_end() -> None:
    def program() -> None:
        (joined,) = start(lambda: time.sleep(0.05))
        joined.join(DEADLINE)
        threading.Thread(target=time.sleep, args=(0.1,)).start()  # ends in the time of grace
        timer = threading.Timer(100, print)
        timer.start()
        timer.cancel()
        _thread.start_new_thread(time.sleep, (0.1,))
        frames: list[Any] = []  # as where an error is kept
        endings.append(frames.clear)
        _thread.start_new_thread(lambda: frames.extend([sys._getframe(), sys._getframe(1)]), ())
        with pytest.raises(TypeError):
            _thread.start_new_thread(None, ())  # type: ignore[arg-type]

    clean(program)


def check_a_thread_that_never_started() -> None:
    def program() -> None:
        thread = threading.Thread(target=print)
        endings.append(thread.is_alive)

    clean(program)


def check_a_thread_of_thread_and_a_thread_of_that() -> None:
    def program() -> None:
        in_thread(lambda: threading.Thread(target=wait_until_stopped()).start())  # this one

    one(program, "threads", "# this one", "<lambda>")


def check_a_bare_thread() -> None:
    def program() -> None:
        _thread.start_new_thread(wait_until_stopped(), ())  # this one

    one(program, "threads", "# this one", "program")


def check_what_was_there_before() -> None:
    wait = wait_until_stopped()
    threads = start(wait)
    clean(lambda: None)
    endings.append(threads[0].join)


# -- executors --------------------------------------------------------------------------------------------------------


def check_an_executor_is_named_by_its_own_line() -> None:
    def program() -> None:
        pool = concurrent.futures.ThreadPoolExecutor(2)  # this one
        endings.append(pool.shutdown)
        list(pool.map(time.sleep, [0.01, 0.01]))

    leak = one(program, "threads", "# this one", "program")
    assert "of a ThreadPoolExecutor" in leak.what


def check_executors_that_end() -> None:
    def program() -> None:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(str, range(4)))
        garbage: Any = concurrent.futures.ThreadPoolExecutor(2)
        garbage.itself = garbage
        garbage.submit(str, 1).result(DEADLINE)
        del garbage
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=FORK) as processes:
            assert processes.submit(str, 1).result(DEADLINE) == "1"
        with FORK.Pool(1) as workers:
            assert workers.map(str, range(2)) == ["0", "1"]
        asyncio.run(asyncio.to_thread(time.sleep, 0.01))

    clean(program)


def check_an_older_executor_may_start_threads() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        clean(lambda: list(pool.map(time.sleep, [0.01, 0.01])))


def check_a_job_of_an_older_executor_may_not() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(str).result(DEADLINE)

        def job() -> None:
            threading.Thread(target=wait_until_stopped()).start()  # this one

        one(lambda: pool.submit(job).result(DEADLINE), "threads", "# this one", "job")


def check_an_older_thread_of_the_program_may_start_threads() -> None:
    go, gone, stop = (threading.Event() for _ in range(3))

    def serve() -> None:
        go.wait(DEADLINE)
        start(stop.wait)
        gone.set()

    (server,) = start(serve)
    clean(lambda: [go.set(), gone.wait(DEADLINE)])
    stop.set()
    server.join(DEADLINE)


def check_a_queue_feeder() -> None:
    def program() -> None:
        queue = FORK.Queue()  # this one
        queue.put(1)
        endings.append(queue.close)

    leak = one(program, "threads", "# this one", "program")
    assert "of a Queue" in leak.what

    def tidy() -> None:
        queue = FORK.Queue()
        queue.put(1)
        queue.close()
        queue.join_thread()

    clean(tidy)


# -- libraries --------------------------------------------------------------------------------------------------------

LIBRARY = """
import concurrent.futures, threading

POOL = None

class Client:
    def __init__(self, stop):
        self.thread = threading.Thread(target=stop.wait)
        self.thread.start()

def pool():
    global POOL
    POOL = POOL or concurrent.futures.ThreadPoolExecutor(1)
    return POOL

def helper(go, gone, stop):
    go.wait()
    threading.Thread(target=stop.wait).start()
    gone.set()
"""


numbers = itertools.count()


def library(folder: str) -> Any:
    """The module, as one of a package that is installed in such a folder."""
    path = Path(tempfile.mkdtemp(), folder, f"leaky{next(numbers)}.py")
    path.parent.mkdir()
    path.write_text(LIBRARY)
    sys.path.insert(0, str(path.parent))
    module = __import__(path.stem)
    sys.path.pop(0)
    return module


def check_what_a_library_keeps_for_its_next_use() -> None:
    installed, own = library("site-packages"), library("own")

    def program(module: Any) -> None:
        module.pool().submit(str).result(DEADLINE)
        endings.append(module.pool().shutdown)

    clean(lambda: program(installed))
    assert kinds(lambda: program(own)) == ["threads"]

    def given() -> None:
        installed.POOL = threading.Thread(target=wait_until_stopped())
        installed.POOL.start()  # the library did not make it

    one(given, "threads", "# the library", "given")


def check_what_a_library_makes_for_the_program() -> None:
    module = library("site-packages")
    stop = threading.Event()

    def program() -> None:
        client = module.Client(stop)  # this one
        endings.append(stop.set)
        endings.append(client.thread.join)

    (leak,) = found(program)
    place, through = leak.where.split(", through ")
    assert place.startswith(f"{__file__}:") and place.endswith("program"), leak
    assert through.startswith(f"{module.__file__}:9 in ") and through.endswith("__init__"), leak


def check_what_the_program_did_not_ask_for() -> None:
    module = library("dist-packages")
    go, gone, stop = (threading.Event() for _ in range(3))
    (thread,) = start(lambda: None)
    thread.join(DEADLINE)
    runner = threading.Thread(target=module.helper, args=(go, gone, stop))
    runner.start()
    clean(lambda: [go.set(), gone.wait(DEADLINE)])
    stop.set()
    runner.join(DEADLINE)


# -- processes --------------------------------------------------------------------------------------------------------


def check_a_subprocess() -> None:
    def program() -> None:
        process = subprocess.Popen(FOREVER)  # this one
        endings.append(process.wait)
        endings.insert(0, process.kill)

    leak = one(program, "processes", "# this one", "program")
    assert leak.what.endswith(f"still runs: {' '.join(FOREVER)}")

    def forgotten() -> None:
        pid = subprocess.Popen(FOREVER).pid  # this one
        endings.append(lambda: os.kill(pid, 9))

    one(forgotten, "processes", "# this one", "forgotten")


def check_a_process_of_multiprocessing() -> None:
    for method in ("fork", "spawn"):

        def program(method: str = method) -> None:
            process = multiprocessing.get_context(method).Process(target=time.sleep, args=(100,), name="child")
            process.start()  # this one
            endings.append(process.join)
            endings.insert(0, process.kill)

        leak = one(program, "processes", "# this one", "program")
        assert "'child'" in leak.what


def check_a_fork() -> None:
    def program() -> None:
        pid = os.fork()  # this one
        if not pid:
            time.sleep(100)
            os._exit(0)
        endings.append(lambda: os.waitpid(pid, 0))
        endings.insert(0, lambda: os.kill(pid, 9))

    one(program, "processes", "# this one", "program")

    def spawned() -> None:
        pid = os.posix_spawn(sys.executable, FOREVER, os.environ)  # this one
        endings.append(lambda: os.waitpid(pid, 0))
        endings.insert(0, lambda: os.kill(pid, 9))

    one(spawned, "processes", "# this one", "spawned")


def check_a_pool_of_processes() -> None:
    def program() -> None:
        pool = FORK.Pool(2)  # this one
        endings.append(pool.join)
        endings.insert(0, pool.terminate)

    leaks = found(program)
    assert sorted(leak.kind for leak in leaks) == ["processes", "threads"], leaks
    assert all(
        ("of a Pool" in leak.what and leak.where.endswith(" in check_a_pool_of_processes.<locals>.program"))
        or sys.version_info < (3, 11)
        for leak in leaks
    )


def check_processes_that_end() -> None:
    def program() -> None:
        subprocess.run([sys.executable, "-c", ""], check=True)
        ended = subprocess.Popen([sys.executable, "-c", ""])  # not waited for
        endings.append(ended.wait)
        process = FORK.Process(target=time.sleep, args=(0.1,))
        process.start()
        closed = FORK.Process(target=str)
        closed.start()
        closed.join(DEADLINE)
        closed.close()
        endings.append(process.join)
        pid = os.fork()
        if not pid:
            os._exit(0)
        endings.append(lambda: os.waitpid(pid, 0))
        with pytest.raises(FileNotFoundError):
            subprocess.Popen(["/no/such/program"])

    clean(program)


def check_a_child_does_not_look_on() -> None:
    def program() -> None:
        ours, theirs = FORK.Pipe()

        def child() -> None:
            theirs.send(len(leak_hooks.creation_logs.now))
            theirs.send([leak.what.count("more") for leak in found(lambda: start(wait_until_stopped()))])

        process = FORK.Process(target=child)
        process.start()
        assert len(leak_hooks.creation_logs.now) == 1
        assert ours.recv() == 0
        assert ours.recv() == [0]  # it may look on by itself
        process.join(DEADLINE)

    clean(program)


# -- shared memory ----------------------------------------------------------------------------------------------------


def segment(name: str | None = None) -> shared_memory.SharedMemory:
    return shared_memory.SharedMemory(name, create=True, size=100)  # made here


def check_segments() -> None:
    def left() -> None:
        memory = segment()
        endings.extend([memory.unlink, memory.close])

    def open_only() -> None:
        memory = segment()
        endings.append(memory.close)
        memory.unlink()

    def linked_only() -> None:
        memory = segment()
        endings.append(memory.unlink)
        memory.close()

    for program, text in (
        (left, "was not unlinked and not closed"),
        (open_only, "was not closed"),
        (linked_only, "was not unlinked"),
    ):
        assert one(program, "shared memory", "# made here", "segment").what.endswith(text)

    def tidy() -> None:
        memory = segment()
        memory.close()
        memory.unlink()
        segment().unlink()  # garbage is closed
        FORK.Lock(), FORK.Semaphore()

    clean(tidy)


def check_an_attached_segment() -> None:
    memory = segment()

    def program() -> None:
        endings.append(shared_memory.SharedMemory(memory.name).close)  # this one

    one(program, "shared memory", "# this one", "program")

    def tidy() -> None:
        shared_memory.SharedMemory(memory.name).close()

    clean(tidy)
    memory.close()
    memory.unlink()


def _leave(name: str) -> None:
    segment(name).close()


def _leave_nothing(name: str) -> None:
    memory = segment(name)
    memory.close()
    memory.unlink()


def check_a_segment_of_a_child() -> None:
    name = f"t1-leaks-{os.getpid()}"

    def program(method: str, target: Any) -> None:
        process = multiprocessing.get_context(method).Process(target=target, args=(name,))
        process.start()  # this one
        process.join(DEADLINE)
        if target is _leave:
            memory = shared_memory.SharedMemory(name)
            memory.close()
            endings.append(memory.unlink)

    for method in ("fork", "spawn"):
        (leak,) = found(lambda method=method: program(method, _leave))  # type: ignore[misc]
        assert leak.kind == "shared memory" and repr(name) in leak.what, leak
        assert leak.where.endswith("program (the process)") and __file__ in leak.where, leak
        clean(lambda method=method: program(method, _leave_nothing))  # type: ignore[misc]


# -- the watch itself -------------------------------------------------------------------------------------------------


def check_aside() -> None:
    watch = LeakWatch(grace_secs=0)
    with watch.aside():  # it is not on: nothing happens
        pass
    watch.begin()
    with watch.aside():
        start(wait_until_stopped())
        pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(str).result(DEADLINE)
    start(wait_until_stopped())  # this one alone
    (leak,) = watch.end()
    end_all()
    pool.shutdown()
    assert leak.kind == "threads" and "more" not in leak.what, leak


def check_a_watch_within_a_watch() -> None:
    outer, inner = LeakWatch(grace_secs=0), LeakWatch(grace_secs=0)
    outer.begin()
    start(wait_until_stopped(), name="outer")
    inner.begin()
    start(wait_until_stopped(), name="inner")
    outer_found = outer.end()  # not nested, too
    inner_found = inner.end()
    end_all()
    assert ["outer" in leak.what and "1 more" in leak.what for leak in outer_found] == [True]
    assert ["inner" in leak.what and "more" not in leak.what for leak in inner_found] == [True]


def check_all_is_as_before() -> None:
    def now() -> list[Any]:
        things: list[Any] = [threading.Thread, subprocess.Popen, shared_memory.SharedMemory, FORK.Process.__mro__[1]]
        things += [concurrent.futures.ThreadPoolExecutor, asyncio.BaseEventLoop, _thread, os]
        return [dict(vars(thing)) for thing in things] + [list(sys.meta_path)]

    before = now()
    for _ in range(2):
        watch = LeakWatch()
        watch.begin()
        assert now() != before
        watch.end()
        assert now() == before
    with pytest.raises(RuntimeError, match="mine"), no_leaks():
        start(wait_until_stopped())
        raise RuntimeError("mine")
    end_all()
    assert now() == before


def check_no_leaks_names_all() -> None:
    def program(**options: Any) -> None:
        with no_leaks(grace_secs=0, **options):
            start(wait_until_stopped(), name="left")
            memory = segment()
            endings.extend([memory.unlink, memory.close])

    with pytest.raises(AssertionError) as caught:
        program()
    text = str(caught.value)
    assert text.startswith("2 left behind:\n\nthreads: thread 'left'") and "\n\nshared memory: segment" in text
    with pytest.raises(AssertionError, match="1 left behind:\n\nthreads"):
        program(allow=["shared memory"])
    program(allow=[LeakKind.MEMORY, "threads"])
    end_all()


def check_kinds() -> None:
    def program() -> None:
        start(wait_until_stopped())

    assert kinds(program, kinds=["processes"]) == []
    assert kinds(program, kinds=["threads"]) == ["threads"]
    assert len(KINDS) == len(set(KINDS)) == 8 and LeakKind("queue runners") is LeakKind.QUEUE_RUNNER


def check_wrong_use() -> None:
    with (
        pytest.raises(UsageError, match="'thread' is no kind of leak .*no_leaks.*'threads', 'processes'"),
        no_leaks(allow=["thread"]),
    ):
        pass
    with pytest.raises(UsageError, match="7 is no kind"):
        LeakWatch([7])  # type: ignore[list-item]
    watch = LeakWatch()
    with pytest.raises(UsageError, match="without begin"):
        watch.end()
    watch.begin()
    with pytest.raises(UsageError, match="twice"):
        watch.begin()
    assert watch.end() == []
    watch.begin()
    watch.cancel()
    watch.cancel()
    assert leak_hooks.creation_logs.now == ()


def check_modules_that_come_late() -> None:
    observers: Observers[object] = Observers([("colorsys", lambda module: [(module, "ONE_THIRD", 1)])])
    one_of_them = observers.add(object)
    other = observers.add(object)
    assert "colorsys" not in sys.modules
    import colorsys
    import sched

    assert colorsys.ONE_THIRD == 1 and sched, "the next import shows that the one before has ended"
    observers.remove(one_of_them)
    assert observers.now == (other,) and colorsys.ONE_THIRD == 1
    observers.remove(other)
    assert colorsys.ONE_THIRD == 1 / 3


def check_tensorflow_was_not_imported() -> None:
    assert "tensorflow" not in sys.modules and "numpy" not in sys.modules
    code = """
        import sys, threading
        from tf1sessions.testing.leaks import LeakWatch
        watch = LeakWatch(grace_secs=0)
        watch.begin()
        stop = threading.Event()
        threading.Thread(target=stop.wait).start()
        (leak,) = watch.end()
        stop.set()
        assert leak.where == "<string>:7 in <module>", leak
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=DEADLINE)
