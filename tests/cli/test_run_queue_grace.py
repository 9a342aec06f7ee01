"""``tf1sessions run --queue-grace`` as a user sees it; what it does is in tests/scripts/test_queue_threads.py."""

from __future__ import annotations

import re
import signal

import pytest
from plain_jobs import DEADLINE, Plain
from support import wait_for

pytest_plugins = ("plain_fixture", "warm_commands")
pytestmark = pytest.mark.usefixtures("warm_commands")
REAL = ["-m", "tf1sessions", "run"]

HANGS = """
import sys, threading
import tensorflow as tf

def main():
    items = tf.FIFOQueue(2, tf.float32, [[]], name="items")
    runner = tf.train.QueueRunner(items, [items.enqueue(1.0, name="put")])
    sess = tf.Session()
    runner.create_threads(sess, coord=tf.train.Coordinator(), start=True)
    take = tf.FIFOQueue(2, tf.float32, [[]], name="empty").dequeue(name="take")

    def read():
        sess.run(take)
    threading.Thread(target=read, name="reader").start()
    print("end", sess.run(items.dequeue()), flush=True)
    sys.exit(int(sys.argv[1]))

main()
"""
HEADER = "the program has ended, but threads of it have hung in queues for 0.4 s (--queue-grace)"
PUT = "thread 'QueueRunnerThread-items-put' waits in Session.run for"
TAKE = r"thread 'reader' waits in Session.run for \d+ s, in 'take' \(QueueDequeueV2\), called at .*hangs.py:13"


def test_side_by_side(plain: Plain) -> None:
    plain.script("hangs.py", HANGS)
    done = plain.cli("hangs.py", "hangs.py", "-j", "2", "--queue-grace", "0.4", "--out", "run", "--", "0", program=REAL)
    text = done.stdout.decode()
    assert (done.returncode, plain.states()) == (0, ["done", "done"]), text
    for index, record in enumerate(plain.records()):
        assert record["settings"] == {"queue_grace": 0.4}
        assert "end 1.0" in plain.log(index).decode() and "Traceback" not in plain.log(index).decode()
        header, *threads = record["warnings"]
        assert header.startswith(HEADER)
        assert len(threads) == 3
        assert sum(warning.startswith(PUT) for warning in threads) == 1
        assert sum(re.fullmatch(TAKE, warning) is not None for warning in threads) == 1
    assert text.count(f"warning: {HEADER}") == 2


def test_alone(plain: Plain) -> None:
    plain.script("hangs.py", HANGS)
    done = plain.cli("--queue-grace", "0.4", "--out", "run", "hangs.py", "--", "3", program=REAL)
    assert (done.returncode, done.stdout) == (3, b"end 1.0\n"), done.stderr
    reported = [line for line in done.stderr.decode().splitlines() if line.startswith("tf1sessions: ")]
    assert reported[0].startswith(f"tf1sessions: {HEADER}")
    assert any(re.fullmatch(f"tf1sessions: {TAKE}", line) for line in reported)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_before_the_time_is_over(plain: Plain, jobs: int) -> None:
    # What is printed here is printed once the program is over, and its threads are waited for.
    plain.script("hangs.py", "import threading; threading._register_atexit(print, 'waits', flush=True)\n" + HANGS)
    args = ["--queue-grace", "1000", "--grace", "1000", "--out", "run", "-j", "2", *["hangs.py"] * jobs, "--", "0"]
    with plain.start(*args, program=REAL) as process:

        def ended() -> bool:
            return sum(b"waits" in path.read_bytes() for path in (plain.folder / "run").glob("*.log")) == jobs

        wait_for(ended, "the programs to end", DEADLINE)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert plain.states() == ["cancelled"] * jobs
    assert all("killed" not in record["reason"] for record in plain.records())
