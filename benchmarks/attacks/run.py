"""Attacks on ``tf1sessions run``: signals, streams, disks, folders and processes, at random moments."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from attacks.trial import Trial

COMMAND = [sys.executable, "-m", "tf1sessions", "run"]
END_SECS = 60.0  # for a command that was asked to end

GRAPH = """
import time
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
y = tf.reduce_sum(x * 2.0, name="y")
with tf.Session() as session:
    for number in range(STEPS):
        print("step", number, session.run(y, {x: [[number, 1.0]]}), flush=True)
        time.sleep(0.05)
"""


def write(folder: Path, name: str, code: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(code))
    return name


@contextlib.contextmanager
def started(folder: Path, *args: str, **options) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        [*COMMAND, *args],
        cwd=folder,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def states(folder: Path) -> list[str]:
    return [record["state"] for record in json.loads((folder / "run" / "jobs.json").read_text())]


def signals(folder: Path, rng: random.Random) -> str:
    """Random signals at random moments, the start of TensorFlow among them; the last ones end the run."""
    names = [write(folder, f"job{number}.py", GRAPH.replace("STEPS", "40")) for number in range(rng.randrange(1, 4))]
    with started(folder, "--out", "run", "--grace", "1", "-j", "2", *names) as process:
        for _ in range(rng.randrange(1, 4)):
            time.sleep(rng.random() ** 2 * 4)
            if process.poll() is None:
                process.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP]))
                time.sleep(rng.random() * 0.2)
                process.send_signal(signal.SIGCONT)
        process.wait(END_SECS)
        if not (folder / "run" / "jobs.json").exists():
            return "ended"  # before there was a run
        known = {"done", "cancelled", "pending"}
        return "ended" if set(states(folder)) <= known else f"ended, states {states(folder)}"


def streams(folder: Path, rng: random.Random) -> str:
    """Random redirections: the exit code is plain Python's, or 120 where output is lost that Python had not flushed."""
    code = rng.randrange(3)
    write(
        folder,
        "job.py",
        f"import sys\nprint('out' * {rng.choice([1, 50_000])})\nsys.stderr.write('err')\nsys.exit({code})",
    )
    out = rng.choice(["", ">/dev/full", ">&-", ">file", "| head -c 1 >/dev/null", "2>&1 >/dev/null"])
    err = rng.choice(["", "2>/dev/full", "2>&-", "2>&1"]) if not out.startswith(("|", "2")) else ""
    if out == ">&-" and err == "2>&1":  # which the shell refuses
        err = "2>&-"
    into = rng.choice(["", "<&-", "</dev/null"])
    command = " ".join(f"'{word}'" for word in COMMAND)
    if out.startswith("|"):
        line = f"{command} job.py {into} {out}; exit ${{PIPESTATUS[0]}}"
    else:
        line = f"{command} job.py {into} {out} {err}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, timeout=END_SECS)
    lossy = "full" in out + err or out.startswith("|")
    right = {code, 1, 120} if lossy else {code}
    return "exit code as under python" if done.returncode in right else f"exit code {done.returncode}: {line}"


def terminal_closes(folder: Path, rng: random.Random) -> str:
    write(folder, "job.py", GRAPH.replace("STEPS", "100").replace("0.05", "0.01"))
    ours, theirs = pty.openpty()
    several = rng.random() < 0.5
    with started(
        folder, "--out", "run", "--grace", "1", *["job.py"] * (1 + several),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        deadline = time.monotonic() + rng.random() * 5
        os.set_blocking(ours, False)
        while time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError, OSError):
                os.read(ours, 65536)
            time.sleep(0.01)
        os.close(ours)
        process.wait(END_SECS)
    return "ended" if "running" not in states(folder) else f"states {states(folder)}"


def disk_full(folder: Path, rng: random.Random) -> str:
    """No file may grow any more, from a random moment on, for the command; its jobs are not limited."""
    count = rng.randrange(2, 8)
    write(folder, "job.py", "import time; time.sleep(0.05); print('x')")
    with started(folder, "--out", "run", "-j", "2", *["job.py"] * count, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(1 + rng.random() * 2)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, 0))
        text, _ = process.communicate(timeout=END_SECS)
    good = process.returncode == 0 and f"{count} of {count} jobs done" in text
    return "all jobs done, exit code 0" if good else f"exit code {process.returncode}: {text}"


def small_disk(folder: Path, rng: random.Random) -> str:
    """The run folder is on a disk that is full at once, in a mount namespace of its own."""
    write(folder, "loud.py", "for number in range(30000): print('line', number)")
    write(folder, "quiet.py", "import time; time.sleep(1); print('end')")
    (folder / "disk").mkdir()
    command = (
        f"mount -t tmpfs -o size={rng.choice([8, 16, 40, 200])}k tmpfs disk && exec {sys.executable} -m tf1sessions run"
    )
    process = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{command} loud.py quiet.py -j 2 --out disk/run"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=END_SECS,
    )
    if "unshare failed" in process.stderr or "mount" in process.stderr:
        return "both done, and the full disk is reported"  # not allowed here
    reported = "the disk is full" in process.stdout + process.stderr
    good = process.returncode == 0 and "2 of 2 jobs done" in process.stdout and reported
    return "both done, and the full disk is reported" if good else f"exit code {process.returncode}: {process.stdout}"


def folder_deleted(folder: Path, rng: random.Random) -> str:
    count = rng.randrange(2, 8)
    write(folder, "job.py", GRAPH.replace("STEPS", "5"))
    with started(folder, "--out", "run", "-j", "2", *["job.py"] * count, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(rng.randrange(1, 4)):
            time.sleep(rng.random() * 2)
            shutil.rmtree(folder / "run", ignore_errors=True)
        text, _ = process.communicate(timeout=END_SECS)
    if not (folder / "run").exists() and process.returncode == 2:
        return "all jobs done, exit code 0"  # deleted while it was being made, which is a wrong call's error
    good = process.returncode == 0 and f"{count} of {count} jobs done" in text
    return "all jobs done, exit code 0" if good else f"exit code {process.returncode}: {text}"


def killed_and_resumed(folder: Path, rng: random.Random) -> str:
    """SIGKILL to the command or its server at a random moment; what is resumed ends with every job done."""
    count = rng.randrange(2, 6)
    write(folder, "job.py", GRAPH.replace("STEPS", "10"))
    (folder / "run").mkdir()
    with started(folder, "--out", "run", "-j", "2", *["job.py"] * count) as process:
        time.sleep(1 + rng.random() * 3)
        if rng.random() < 0.5:
            process.kill()
        else:
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
        process.wait(END_SECS)
    if not (folder / "run" / "jobs.json").exists():
        return "all jobs done after it was resumed"
    done = subprocess.run([*COMMAND, "--resume", "run"], cwd=folder, capture_output=True, timeout=END_SECS, text=True)
    good = done.returncode == 0 and set(states(folder)) == {"done"}
    return "all jobs done after it was resumed" if good else f"{states(folder)}: {done.stdout}{done.stderr}"


MARKS = """
import os, signal, sys, time
def marks():
    return [line.split() for line in open("marks")] if os.path.exists("marks") else []
def mark(what):
    with open("marks", "a") as file:
        file.write(f"{sys.argv[1]} {what} {os.getpid()}\\n")
for name, what, pid in marks():
    if name == sys.argv[1] and what == "begins" and os.path.exists(f"/proc/{pid}"):
        mark("overlaps")
mark("begins")
signal.signal(signal.SIGTERM, signal.SIG_IGN if IGNORES else signal.SIG_DFL)
time.sleep(float(sys.argv[2]))
"""


def killed_and_resumed_at_once(folder: Path, rng: random.Random) -> str:
    """SIGKILL again and again, and one resume or two each time: no job runs in two processes, or when it is done."""
    write(folder, "job.py", MARKS.replace("IGNORES", str(rng.random() < 0.5)))
    names = [str(number) for number in range(rng.randrange(1, 6))]
    seconds = [f"{rng.random() * 0.6:.2f}" for _ in names]
    entries = [f"[[job]]\nscript = 'job.py'\nargs = {list(pair)}\n" for pair in zip(names, seconds, strict=True)]
    write(folder, "jobs.toml", "".join(entries))
    with started(folder, "--out", "run", "-j", "2", "jobs.toml") as process:
        while not (folder / "marks").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random())
        process.kill()
    for _ in range(rng.randrange(4)):
        with contextlib.ExitStack() as stack:
            for _ in range(rng.randrange(1, 3)):
                stack.enter_context(started(folder, "--resume", "run"))
            time.sleep(rng.random() * 4)
    before, begun = states(folder), (folder / "marks").read_text()
    done = subprocess.run([*COMMAND, "--resume", "run"], cwd=folder, capture_output=True, timeout=END_SECS, text=True)
    marks = (folder / "marks").read_text()
    if done.returncode != 0 or set(states(folder)) != {"done"} or "overlaps" in marks:
        return f"{before} {states(folder)}: {marks}{done.stdout}{done.stderr}"
    again = [
        name
        for name, state in zip(names, before, strict=True)
        if state == "done" and f"{name} begins" in marks[len(begun) :]
    ]
    return f"done, and begun again: {again}" if again else "all jobs done, each in one process at a time"


CHILDREN = """
import concurrent.futures, multiprocessing, os, sys, threading
import tensorflow as tf

class Value:
    def __init__(self, number): self.number = number
    def __eq__(self, other): return type(self) is type(other) and self.number == other.number

class Failed(Exception): pass

def work(number):
    if number % 5 == 4:
        raise Failed(number)
    return Value(number)

def safe(function, number):
    try:
        return function(number)
    except Failed as error:
        return error

if __name__ == "__main__":
    context = multiprocessing.get_context("METHOD")
    numbers = list(range(COUNT))
    if EXECUTOR:
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            found = [safe(lambda number: pool.submit(work, number).result(), number) for number in numbers]
    else:
        with context.Pool(2) as pool:
            found = [safe(lambda number: pool.apply_async(work, (number,)).get(), number) for number in numbers]
    right = all(type(value) is (Failed if number % 5 == 4 else Value) for number, value in zip(numbers, found))
    print("right" if right else found)
"""


def children(folder: Path, rng: random.Random) -> str:
    """Classes and exceptions of the program's own come back from its worker processes."""
    write(
        folder,
        "job.py",
        CHILDREN.replace("METHOD", rng.choice(["fork", "spawn", "forkserver"]))
        .replace("COUNT", str(rng.randrange(1, 12)))
        .replace("EXECUTOR", str(rng.random() < 0.5)),
    )
    done = subprocess.run([*COMMAND, "job.py"], cwd=folder, capture_output=True, timeout=END_SECS, text=True)
    return done.stdout.strip() or done.stderr


NAMES = sorted(sys.stdlib_module_names - set(sys.builtin_module_names) - {"__future__", "site", "sitecustomize"})


def names_of_the_standard_library(folder: Path, rng: random.Random) -> str:
    for name in rng.sample(NAMES, rng.randrange(1, 30)):
        write(folder, f"job/{name}.py", "HELPER = 1")
    write(folder, "job/train_it.py", GRAPH.replace("STEPS", "2"))
    env = dict(os.environ) | ({"PYTHONHASHSEED": "3"} if rng.random() < 0.2 else {})
    done = subprocess.run(
        [*COMMAND, "job/train_it.py"], cwd=folder, capture_output=True, timeout=END_SECS, text=True, env=env
    )
    return "ran" if done.returncode == 0 and "step 1 4.0" in done.stdout else done.stdout + done.stderr


IMPORTS = "import os, random, shutil, subprocess, sys, threading, time\nimport tensorflow as tf\n"
ENDINGS = [
    "sys.exit(0)",
    "os._exit(3)",
    "os.kill(os.getpid(), 9)",
    "os.abort()",
    "os.kill(os.getppid(), random.choice([1, 2, 10, 15, 19]))",
    "raise MemoryError('no memory')",
    "raise KeyboardInterrupt",
    "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
    "subprocess.Popen(['sleep', '1000'])",
    "subprocess.Popen(['sleep', '1000'], start_new_session=True, env={})",
    "os.fork() or time.sleep(1000)",
    "os.close(1); os.close(2)",
    "shutil.rmtree('run', ignore_errors=True)",
    "import glob; [(os.remove(log), os.mkfifo(log)) for log in glob.glob('run/*.log')]",
    "import glob; [(os.remove(log), os.symlink('/dev/full', log)) for log in glob.glob('run/*.log')]",
    "sys.stdout.buffer.write(os.urandom(1000)); sys.stdout.flush()",
    "tf.train.string_input_producer(['a']).dequeue(); sys.settrace(lambda *a: None)",
]


def endings(folder: Path, rng: random.Random) -> str:
    """Several scripts that end in bad ways beside good ones, which are done all the same."""
    bad = [
        write(
            folder,
            f"bad{number}.py",
            IMPORTS + rng.choice(ENDINGS),
        )
        for number in range(4)
    ]
    good = write(folder, "good.py", GRAPH.replace("STEPS", "2"))
    jobs = rng.sample([*bad, good, good], 6)
    done = subprocess.run(
        [*COMMAND, "--out", "run", "--grace", "1", "-j", "3", *jobs],
        cwd=folder, capture_output=True, timeout=END_SECS, text=True,
    )  # fmt: skip
    found = states(folder)
    right = all(state == "done" for name, state in zip(jobs, found, strict=True) if name == "good.py")
    right = right and done.returncode == (0 if set(found) == {"done"} else 1)
    return "the good ones are done" if right else f"{found}: {done.stdout}"


EXITS = [
    *(f"sys.exit({code})" for code in ("2**70", "-2**70", "2**32 + 5", "-1", "300", "3.5", "[1]", "object", "'text'")),
    "sys.excepthook = None; 1 / 0",
    "sys.excepthook = lambda *args: 1 / 0; [][0]",
    "sys.excepthook = lambda *args: sys.exit(9); [][0]",
    "del sys.excepthook; 1 / 0",
    "del sys.stderr; sys.exit('text')",
    "sys.exit(type('Silent', (), {'__str__': lambda self: 1 / 0})())",
    "raise type('End', (SystemExit,), {'code': property(lambda self: 1 / 0)})('text')",
]


def exits(folder: Path, rng: random.Random) -> str:
    """A script's exit code and last words are those that it has under plain Python."""
    code = rng.choice(EXITS)
    write(folder, "job.py", f"import sys\nprint('x')\n{code}\n")
    env = dict(os.environ) | rng.choice([{}, {"PYTHONINSPECT": "1"}])
    ours = subprocess.run(
        [*COMMAND, "--out", "run", "job.py"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        timeout=END_SECS, env=env,
    )  # fmt: skip
    plain = subprocess.run([sys.executable, str(folder / "job.py")], cwd=folder, capture_output=True)
    right = (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout) and ours.stderr.startswith(plain.stderr)
    return "as under python" if right else f"{code}: {ours.returncode} {ours.stderr!r}, not {plain.returncode}"


def interrupted_at_the_end(folder: Path, rng: random.Random) -> str:
    """A signal to the command while the interpreter of a job ends that has finished its script."""
    write(folder, "job.py", GRAPH.replace("STEPS", "2") + "\nopen('end', 'w')\n")
    with started(folder, "--out", "run", "job.py") as process:
        while not (folder / "end").exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(0.02 + rng.random() * 0.3)
        process.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
        process.wait(END_SECS)
    return str(states(folder))


def odd_logs(folder: Path, rng: random.Random) -> str:
    """A pipe, a device or a link in the place of a file of a run that is resumed."""
    write(folder, "job.py", "print('WARNING:tensorflow:x'); raise SystemExit(3)")
    subprocess.run([*COMMAND, "--out", "run", "job.py", "job.py"], cwd=folder, capture_output=True, timeout=END_SECS)
    (folder / "mine").write_text("mine")
    logs = sorted((folder / "run").glob("*.log"))
    file = rng.choice([*logs, logs[0].with_suffix(".deprecations.txt"), folder / "run" / "jobs.json.new"])
    file.unlink(missing_ok=True)
    if rng.random() < 0.5:
        os.mkfifo(file)
    else:
        file.symlink_to(rng.choice([str(folder / "mine"), "/dev/zero", "/dev/tty"]))
    done = subprocess.run([*COMMAND, "--resume", "run"], cwd=folder, capture_output=True, timeout=END_SECS, text=True)
    if (folder / "mine").read_text() != "mine":
        return f"{file.name}: the link was followed"
    good = done.returncode == 1 and states(folder) == ["failed", "failed"]
    return "ran again, and nothing was waited for" if good else f"{file.name}: {done.stdout}{done.stderr}"


TRIALS = [
    Trial("odd files in a run folder", "ran again, and nothing was waited for", odd_logs, times=6),
    Trial("exit codes and hooks that no user would choose", "as under python", exits, times=40),
    Trial("a signal when the script has ended", "['done']", interrupted_at_the_end, times=15),
    Trial("signals at random moments", "ended", signals, times=30, deadline_secs=90),
    Trial("streams that are full, closed or left", "exit code as under python", streams, times=40),
    Trial("a terminal that is closed at a random moment", "ended", terminal_closes, times=15, deadline_secs=90),
    Trial("no file may grow from a random moment on", "all jobs done, exit code 0", disk_full, times=15),
    Trial("a disk that is full", "both done, and the full disk is reported", small_disk, times=5),
    Trial("the run folder is deleted at random moments", "all jobs done, exit code 0", folder_deleted, times=15),
    Trial(
        "the command or its server is killed, and the run resumed",
        "all jobs done after it was resumed",
        killed_and_resumed,
        times=15,
        deadline_secs=120,
    ),
    Trial(
        "the command is killed, and resumed at once, by two as well",
        "all jobs done, each in one process at a time",
        killed_and_resumed_at_once,
        times=15,
        deadline_secs=120,
    ),
    Trial("worker processes of a script's own", "right", children, times=15, deadline_secs=90),
    Trial("names of the standard library beside a script", "ran", names_of_the_standard_library, times=20),
    Trial("scripts that end in bad ways", "the good ones are done", endings, times=20, deadline_secs=90),
]
