"""Programs whose threads hang in queues at their end, and those that must not be taken for one.

One process preloads TensorFlow and forks for each program, as the server does, a few at once. The grace is short, and
nothing depends on how much sooner than the deadline something happens.
"""

from __future__ import annotations

import json
import re
import signal
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

GRACE = 0.4

RUN_ALL = """
import gc, json, os, signal, sys, time
from tf1sessions.scripts import program
folder, specs = sys.argv[1], json.load(open(sys.argv[2]))
program.preload()
gc.freeze()  # as the server does

def start(name, payload):
    sys.stdout.flush(); sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        for fd, kind in ((1, "out"), (2, "err")):
            os.dup2(os.open(os.path.join(folder, f"{name}.{kind}"), os.O_WRONLY | os.O_CREAT), fd)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", 1, closefd=False)
        os.chdir(folder)
        sys.exit(program.execute(payload))
    return pid

waiting, running = list(specs), {}
while waiting or running:
    while waiting and len(running) < 5:
        name = waiting.pop(0)
        running[start(name, specs[name])] = name, time.monotonic() + 40
    for pid, (name, until) in list(running.items()):
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
        if (ended := os.waitpid(pid, os.WNOHANG)) != (0, 0):
            report(**{name: os.waitstatus_to_exitcode(ended[1])})
            del running[pid]
    time.sleep(0.02)
"""

BEGIN = """
import atexit, os, queue, signal, sys, threading, time
import tensorflow as tf
GRACE = float(sys.argv[1])
items = tf.FIFOQueue(3, tf.float32, [[]], name="items")
put, take = items.enqueue(1.0, name="put"), items.dequeue(name="take")
sess = tf.Session()
coord = tf.train.Coordinator()
atexit.register(print, "at exit")

def start(*functions, daemon=False):
    threads = [threading.Thread(target=function, name=function.__name__, daemon=daemon) for function in functions]
    for thread in threads:
        thread.start()
    return threads

def at_the_end(function):  # runs it in a daemon thread once Python waits for the others, and sleeps in that
    def sleeps():
        with open(f"/proc/self/task/{os.getpid()}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "S"
    def wait_for_the_end():
        times = 0
        while times < 10:  # Python would see a signal that came right before that sleep only after it
            time.sleep(0.01)
            times = times + 1 if not threading.main_thread().is_alive() and sleeps() else 0
        function()
    start(wait_for_the_end, daemon=True)
"""

# Each ends with the line that it prints, and then by falling off its end unless it says otherwise.
SCRIPTS = {
    # ------------------------------------------------------------------------------------------------ those that hang
    "full": """
        runner = tf.train.QueueRunner(items, [put] * 2)
        runner.create_threads(sess, coord=coord, start=True)
        print("end", sess.run(take))
    """,
    "full_without_coordinator": """
        tf.train.QueueRunner(items, [put] * 2).create_threads(sess, start=True)
        print("end", sess.run(take))
    """,
    "empty": """
        def read():
            try:
                with open("empty.txt", "w") as file:
                    while True:
                        file.write("%s\\n" % sess.run(take))  # line of read
            finally:
                print("cleaned up")
        start(read)
        for _ in range(5):
            sess.run(put)
        print("end")
    """,
    "interactive": """
        sess = tf.InteractiveSession()
        def read():
            sess.run(take)
        start(read)
        print("end")
        sys.exit(7)
    """,
    "raises": """
        def read():
            sess.run(take)
        start(read)
        print("end")
        raise ValueError("the program's own")
    """,
    "inside_python": """
        def inner():
            return sess.run(take)
        outer = tf.py_func(inner, [], tf.float32, name="outer")
        def read():
            sess.run(outer)
        start(read)
        print("end")
    """,
    "stuck_in_python": """
        nothing = queue.Queue()
        store = items.enqueue(tf.py_func(lambda: nothing.get(), [], tf.float32, name="wait"), name="store")
        def write():
            sess.run(store)
        start(write)
        print("end")
        sys.exit(7)
    """,
    "close_on_stop": """
        runner = tf.train.QueueRunner(items, [tf.train.limit_epochs(put.inputs[1], num_epochs=2).op])
        sess.run(tf.local_variables_initializer())
        threads = runner.create_threads(sess, coord=coord, start=True)
        threads[0].join()
        print("end")
    """,
    "executor": """
        from concurrent.futures import ThreadPoolExecutor
        executor = ThreadPoolExecutor(2)
        executor.submit(abs, 1).result()
        executor.submit(sess.run, take)
        print("end")
    """,
    "joined_by_another": """
        def read():
            sess.run(take)
        (reader,) = start(read, daemon=True)
        def join():
            reader.join()
            print("joined")
        start(join)
        print("end")
    """,
    "join": """
        begun = threading.Semaphore(0)
        def write():
            while not coord.should_stop():
                begun.release()
                sess.run(put)  # line of write
        threads = start(write, write)
        for _ in range(3 + 2):  # the queue is full, and both write
            begun.acquire()
        coord.request_stop()
        coord.join(threads)
    """,
    "fails_while_it_ends": """
        def read():
            try:
                sess.run(take)
            finally:
                raise KeyError("of the clean-up")
        start(read)
        print("end")
    """,
    "goes_on_in_python": """
        import logging
        never = queue.Queue()
        class Release(logging.Handler):
            def emit(self, record):
                if "still waits" in record.getMessage():
                    never.put(None)
        logging.getLogger("tf1sessions").addHandler(Release())
        def read():
            try:
                sess.run(take)
            except tf.errors.CancelledError:
                print("goes on")
                never.get()  # line of read
        start(read)
        print("end")
    """,
    # -------------------------------------------------------------------------------------------- those that do not
    "daemons": """
        sys.modules["tf1sessions.scripts.queue_threads"]._Watcher = None  # to make one would fail
        tf.train.add_queue_runner(tf.train.QueueRunner(items, [put] * 2))
        tf.train.start_queue_runners(sess, coord)
        print("end", sess.run(take))
    """,
    "switched_off": """
        sys.modules["tf1sessions.scripts.queue_threads"]._Watcher = None
        def read():
            print("got", sess.run(take))
        start(read)
        at_the_end(lambda: sess.run(put))
        print("end")
    """,
    "sleeps": """
        def write():
            time.sleep(4 * GRACE)
            sess.run(put)
        def read():
            print("got", sess.run(take))
        start(write, read)
        print("end")
    """,
    "daemon_sleeps": """
        def write():
            time.sleep(3 * GRACE)
            sess.run(put)
        def read():
            print("got", sess.run(take))
        start(write, daemon=True)
        start(read)
        print("end")
    """,
    "computes_in_the_call": """
        sess.run(put)
        with tf.control_dependencies([take]):
            begin = tf.timestamp()
        until = tf.while_loop(lambda now: now < begin + 4 * GRACE, lambda now: tf.timestamp(), [begin])
        def train():
            print("trained", sess.run(until) > 0)
        start(train)
        print("end")
    """,
    "progress": """
        left = iter(range(8))
        def write():
            for _ in left:
                time.sleep(GRACE / 2)
                sess.run(put)
        def read():
            for _ in range(8):
                sess.run(take)
            print("got all")
        start(write, daemon=True)
        start(read)
        print("end")
    """,
    "interrupted": """
        def read():
            sess.run(take)
        start(read)
        at_the_end(lambda: os.kill(os.getpid(), signal.SIGINT))
        print("end")
    """,
    "coordinators": """
        from tensorflow.python.training.coordinator import Coordinator
        from tensorflow.python.training import coordinator, training
        with tf.train.MonitoredTrainingSession() as monitored:
            inner = monitored._coordinated_creator.coord
        made = [coord, inner, tf.train.Supervisor(logdir="logs").coord, Coordinator()]
        print({type(one).__module__ for one in made}, {one.queue_grace_secs for one in made} == {GRACE})
        print(tf.train.Coordinator is Coordinator is coordinator.Coordinator is training.Coordinator)
        tf.train.LooperThread(coord, None)
        print("end")
    """,
}


@pytest.fixture(scope="module")
def ran(
    run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[int, list[str], str]]:
    folder = tmp_path_factory.mktemp("programs")
    settings = {name: {"queue_grace": GRACE} for name in SCRIPTS}
    settings |= {"switched_off": {"queue_grace": 0}, "interrupted": {"queue_grace": 1000}}
    specs = {}
    for name, source in SCRIPTS.items():
        path = folder / f"{name}.py"
        path.write_text(BEGIN + textwrap.dedent(source))
        specs[name] = {
            "kind": "script", "path": str(path), "path0": str(folder), "argv": [str(GRACE)], "settings": settings[name],
        }  # fmt: skip
    (folder / "specs").write_text(json.dumps(specs))
    results = run_python(RUN_ALL, str(folder), str(folder / "specs"), deadline=170).results

    def result(name: str) -> tuple[int, list[str], str]:
        """Exit code, lines of stdout, and stderr."""
        out, err = ((folder / f"{name}.{kind}").read_text(errors="replace") for kind in ("out", "err"))
        return results[name], out.splitlines(), err

    result.folder = folder  # type: ignore[attr-defined]
    return result


def ours(err: str) -> list[str]:
    return [line.partition(": ")[2] for line in err.splitlines() if line.startswith("tf1sessions: ")]


def line_of(name: str, text: str) -> str:
    """``name.py:line`` of a text in a program."""
    lines = (BEGIN + textwrap.dedent(SCRIPTS[name])).splitlines()
    return f"{name}.py:{1 + next(number for number, one in enumerate(lines) if text in one)}"


@pytest.mark.parametrize(
    ("name", "code", "out", "threads"),
    [
        ("full", 0, ["end 1.0", "at exit"], [
            r"'QueueRunnerThread-items-put' waits in .* in 'put' \(QueueEnqueueV2\), made at .*/"
            + line_of("full", 'name="put"'),
            r"'QueueRunnerThread-items-put' waits in .* in 'put' \(QueueEnqueueV2\), made at .*/full.py",
            r"'QueueRunnerThread-items-close_on_stop' waits for a stop request",
        ]),
        ("full_without_coordinator", 0, ["end 1.0", "at exit"], [
            r"'QueueRunnerThread-items-put' waits in Session.run for \d+ s, in 'put'",
            r"'QueueRunnerThread-items-put' waits in Session.run for \d+ s, in 'put'",
        ]),
        ("empty", 0, ["end", "cleaned up", "at exit"], [
            r"'read' waits in Session.run for \d+ s, in 'take' \(QueueDequeueV2\), called at .*/"
            + line_of("empty", "line of read"),
        ]),
        ("interactive", 7, ["end", "at exit"], ["'read' .* 'take'"]),
        ("raises", 1, ["end", "at exit"], ["'read' .* 'take'"]),
        ("inside_python", 0, ["end", "at exit"], [r"'read' waits in .* in 'outer' \(PyFunc\), called at"]),
        ("close_on_stop", 0, ["end", "at exit"], ["'QueueRunnerThread-items-close_on_stop' waits for a stop request"]),
        ("executor", 0, ["end", "at exit"], ["'ThreadPoolExecutor-0_0' waits in .* 'take'"]),
        ("joined_by_another", 0, ["end", "joined", "at exit"], ["'read' waits in .* 'take'"]),
        ("fails_while_it_ends", 0, ["end", "at exit"], ["'read' .* 'take'"]),
    ],
)  # fmt: skip
def test_threads_that_hang_are_named_and_ended(ran, name, code, out, threads):
    exit_code, lines, err = ran(name)
    assert (exit_code, lines) == (code, out), err
    header, *found = ours(err)
    assert header.startswith("the program has ended, but threads of it have hung in queues for 0.4 s (--queue-grace)")
    for pattern in threads:
        match = next((one for one in found if re.search(f"^thread {pattern}", one)), None)
        assert match, (pattern, found)
        found.remove(match)
    assert found == []
    assert "KeyError: 'of the clean-up'" in err if name == "fails_while_it_ends" else "KeyError" not in err
    assert err.count("Traceback") == (1 if name == "raises" else 0) or name in ("fails_while_it_ends", "inside_python")
    assert "Exception in QueueRunner" not in err


def test_they_end_by_an_error_and_can_clean_up(ran):
    ran("empty")
    assert (ran.folder / "empty.txt").read_text() == "1.0\n" * 5


def test_the_error_of_a_program_comes_first(ran):
    _, _, err = ran("raises")
    assert err.index("ValueError: the program's own") < err.index("the program has ended, but")
    assert "CancelledError" not in err


def test_a_python_function_that_cannot_be_ended_does_not_keep_the_process(ran):
    code, out, err = ran("stuck_in_python")
    assert (code, out) == (7, ["end", "at exit"])
    place = line_of("stuck_in_python", "sess.run(store)")
    assert len(ours(err)) == 3
    assert re.fullmatch(
        r"the process ends without threads that cannot be ended: thread 'write' \(waits in Session.run for \d+ s, in "
        rf"'store' \(QueueEnqueueV2\), 'wait' \(PyFunc\), called at .*/{place}\)",
        ours(err)[2],
    )


def test_what_goes_on_elsewhere_is_named(ran):
    code, out, err = ran("goes_on_in_python")
    assert (code, out) == (0, ["end", "goes on", "at exit"])
    place = line_of("goes_on_in_python", "line of read")
    assert re.fullmatch(rf"the process still waits for thread 'read' \(at .*/{place}\)", ours(err)[-1])


def test_join_after_a_stop_request_does_not_wait_two_minutes(ran):
    code, out, err = ran("join")
    assert (code, out) == (1, ["at exit"])
    place = line_of("join", "line of write")
    assert re.search(
        r"\nRuntimeError: Coordinator stopped with threads still running: write write\n"
        rf"(  write: waits in Session.run for \d+ s, in 'put' \(QueueEnqueueV2\), called at .*/{place}\n){{2}}"
        r"  They have hung in queues for 0.4 s, and were not waited for any longer.\n",
        err,
    )


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("daemons", ["end 1.0", "at exit"]),
        ("switched_off", ["end", "got 1.0", "at exit"]),
        ("sleeps", ["end", "got 1.0", "at exit"]),
        ("daemon_sleeps", ["end", "got 1.0", "at exit"]),
        ("computes_in_the_call", ["end", "trained True", "at exit"]),
        ("progress", ["end", "got all", "at exit"]),
    ],
)
def test_threads_that_do_not_hang_are_left_alone(ran, name, out):
    code, lines, err = ran(name)
    assert (code, lines, ours(err)) == (0, out, []), err


def test_ctrl_c_ends_the_wait(ran):
    code, out, err = ran("interrupted")
    assert (code, out) == (-signal.SIGINT, ["end", "at exit"])
    (reported,) = ours(err)
    assert re.match(r"interrupted while the process waited for thread 'read' \(", reported)
    assert "Traceback" not in err


def test_every_coordinator_is_ours(ran):
    code, out, err = ran("coordinators")
    assert (code, out) == (0, ["{'tf1sessions.pipelines.coordinator'} True", "True", "end", "at exit"]), err
