"""Attacks on the recorder, the one file that runs in old programs: whatever happens, the program's own end counts."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from attacks.trial import Trial

RECORDER = Path(__file__).resolve().parents[2] / "tf1sessions" / "porting" / "recorder.py"
END_SECS = 60.0

PROGRAM = """
import os, random, resource, shutil, signal, subprocess, sys, threading
import numpy as np
import tensorflow as tf
tf1 = tf.compat.v1
tf1.disable_eager_execution()
rng = random.Random(SEED)
x = tf1.placeholder(tf1.float32, [None], name="x")
y = tf1.identity(x * 2.0, name="y")
texts = tf1.constant([b"caf\\xc3\\xa9", b"\\xff\\x00", b""])
count = tf1.get_variable("count", initializer=0.0)
step = tf1.assign_add(count, 1.0)
session = tf1.Session()
session.run(tf1.global_variables_initializer())
strange = (np.array([np.nan, np.inf, -np.inf, 0.0]), np.zeros(0), np.random.RandomState(1).rand(SIZE))
for number in range(40):
    assert np.isclose(session.run(y, {x: strange[number % 3]}), 2 * strange[number % 3], equal_nan=True).all()
    assert session.run(texts)[0] == b"caf\\xc3\\xa9" and session.run(step) == number + 1
    if number == AT:
        HAPPENS
END
"""

HAPPENS = {
    "nothing": "pass",
    "disk": "resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(20_000), resource.RLIM_INFINITY))",
    "folder": "shutil.rmtree('out')",
    "closes": "os.closerange(3, 200); mine = [open('mine%d' % each, 'w') for each in range(60)]",
    "fork": "child = os.fork(); child or os._exit(0); os.waitpid(child, 0)",
    "fork that ends": "child = os.fork(); child or sys.exit(0); os.waitpid(child, 0)",
    "process": "subprocess.check_call([sys.executable, '-c', 'print(1)'])",
    "threads": "[threading.Thread(target=lambda: session.run(y, {x: [1.0]})).start() for _ in range(4)]",
    "folder changed": "os.chdir('/')",
    "streams": "sys.stderr = None",
}
ENDS = {"": 0, "sys.exit(7)": 7, "raise ValueError('its own')": 1, "session.close()": 0, "os._exit(5)": 5}


def recorded(folder: Path, rng: random.Random) -> str:
    """A program to which something happens: it computes what it computes, and ends as it ends."""
    (folder / "out").mkdir()
    what, end = rng.choice(sorted(HAPPENS)), rng.choice(sorted(ENDS))
    text = (
        PROGRAM.replace("SEED", str(rng.randrange(10**6)))
        .replace("SIZE", str(rng.choice([10, 1000, 100_000])))
        .replace("AT", str(rng.randrange(40)))
        .replace("HAPPENS", HAPPENS[what])
        .replace("END", end)
    )
    (folder / "program.py").write_text(text)
    options = rng.choice([[], ["--every", "3"], ["--variables-every", "5"], ["--max-mb", "1"], ["--whole-kb", "1"]])
    done = subprocess.run(
        [sys.executable, str(RECORDER), "--out", "out/trace.npz", *options, "program.py"],
        cwd=folder, capture_output=True, timeout=END_SECS, text=True,
    )  # fmt: skip
    # Without a trace the recorder says so, with an exit code of its own where the program's is 0.
    right = {ENDS[end]} | ({1} if what in ("disk", "folder", "closes") else set())
    if done.returncode not in right:
        return f"{what}, {end!r}: exit code {done.returncode}: {done.stderr[-600:]}"
    if "recorder.py" in done.stderr.replace(str(folder), ""):
        return f"{what}, {end!r}: frames of ours: {done.stderr[-600:]}"
    left = [path.name for path in (folder / "out").glob(".*")] if (folder / "out").exists() else []
    if left or any(path.stat().st_size for path in folder.glob("mine*")):
        return f"{what}, {end!r}: left {left}, or wrote to the program's files"
    trace = folder / "out" / "trace.npz"
    if trace.exists():
        from tf1sessions.porting import traces

        with traces.read(trace) as found:
            assert found.count > 0
    elif what not in ("disk", "folder", "closes") and end != "os._exit(5)":
        return f"{what}, {end!r}: no trace: {done.stderr[-600:]}"
    return "the program's own end"


def killed(folder: Path, rng: random.Random) -> str:
    """SIGKILL at a random moment leaves nothing, and no trace that is half a one."""
    import time

    (folder / "out").mkdir()
    text = PROGRAM.replace("SEED", "0").replace("SIZE", "100000").replace("AT", "-1").replace("HAPPENS", "pass")
    (folder / "program.py").write_text(text.replace("END", ""))
    with subprocess.Popen(
        [sys.executable, str(RECORDER), "--out", "out/trace.npz", "program.py"], cwd=folder, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(1.5 + rng.random() * 2.5)
        process.kill()
    trace = folder / "out" / "trace.npz"
    if trace.exists():
        from tf1sessions.porting import traces

        traces.read(trace).close()
    left = [path.name for path in (folder / "out").glob(".*")]
    # Only the moment in which the whole trace is written has a file beside it, which the next recording names.
    return "a whole trace or none" if len(left) <= 1 else f"left {left}"


def named_meanwhile(folder: Path, rng: random.Random) -> str:
    """The program, or another recorder, makes what is at --out: it stays, and so does the recording."""
    (folder / "out").mkdir()
    makes = "import os; " + rng.choice(["open('out/trace.npz', 'w').write('mine')", "os.mkdir('out/trace.npz')"])
    text = PROGRAM.replace("SEED", "0").replace("SIZE", "10").replace("AT", "3").replace("HAPPENS", makes)
    (folder / "program.py").write_text(text.replace("END", ""))
    words = [sys.executable, str(RECORDER), "--out", "out/trace.npz", "program.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=END_SECS, text=True)
    trace = folder / "out" / "trace.npz"
    if not trace.is_dir() and trace.read_text() != "mine":
        return "replaced"
    left = sorted(path.name for path in (folder / "out").iterdir())
    if left != ["trace-1.npz", "trace.npz"] or done.returncode != 1 or "trace-1.npz" not in done.stderr:
        return f"{left}, exit code {done.returncode}: {done.stderr[-600:]}"
    return "both are there, and it is said"


WAITS = {
    "in a dequeue": "session.run(tf1.FIFOQueue(1, [tf1.float32]).dequeue())",
    "in a py_func": "import time; session.run(tf1.py_func(lambda: time.sleep(40) or 1.0, [], tf1.float64))",
    "in Python": "import time\n        while True: time.sleep(0.01)",
}


def signalled(folder: Path, rng: random.Random) -> str:
    """Signals that end a program, one or several at once, wherever it waits: the trace is whole."""
    import signal
    import time

    from tf1sessions.porting import traces

    (folder / "out").mkdir()
    where = rng.choice(sorted(WAITS))
    text = PROGRAM.replace("SEED", "0").replace("SIZE", "10").replace("AT", "9").replace("END", "")
    text = text.replace("HAPPENS", f"print('here', flush=True)\n        {WAITS[where]}")
    (folder / "program.py").write_text(text)
    signals = [rng.choice([signal.SIGTERM, signal.SIGHUP]) for _ in range(rng.choice([1, 1, 2, 3]))]
    words = [sys.executable, str(RECORDER), "--out", "out/trace.npz", "program.py"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.random() * 0.2)
        for each in signals:
            process.send_signal(each)
        _, stderr = process.communicate(timeout=END_SECS)
    if process.returncode not in (143, 129) or "recorder.py" in stderr.replace(str(folder), ""):
        return f"{where}, {signals}: exit code {process.returncode}: {stderr[-600:]}"
    with traces.read(folder / "out" / "trace.npz") as found:
        return "a whole trace" if found.ended["how"] == "terminated" and found.count else f"{found.ended}"


TRIALS = [
    Trial("a recorded program gets signals", "a whole trace", signalled, times=10, deadline_secs=90),
    Trial("something comes to be at --out", "both are there, and it is said", named_meanwhile, times=4),
    Trial("something happens to a recorded program", "the program's own end", recorded, times=40, deadline_secs=90),
    Trial("a recorded program is killed", "a whole trace or none", killed, times=10, deadline_secs=90),
]
