"""Attacks by the machine: full shared memory, the OOM killer, stopped processes, clocks that jump, slow disks."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from attacks.trial import Trial

DEADLINE = 60.0
CGROUP = Path("/sys/fs/cgroup/memory")
COMMAND = [sys.executable, "-m", "tf1sessions", "run"]


def square(session, value):
    import tf1sessions as t1

    return float(session.run(t1.tf1.constant(float(value)) ** 2))


def doubled(session, array):
    return array * 2


SMALL_SHM = """
import sys
import numpy as np
import tf1sessions as t1
from attacks.machine import doubled
size = int(sys.argv[1])
with t1.ProcessSessionPool(2) as pool:
    arrays = [np.full(size // 4, number, np.float32) for number in range(6)]
    futures = [pool.submit(doubled, array) for array in arrays]
    ends = []
    for array, future in zip(arrays, futures):
        try:
            assert (future.result(60) == 2 * array).all()
        except t1.errors.Tf1SessionsError as error:
            assert type(error.__cause__).__name__ in ("MessageTooLargeError", "NoneType"), repr(error.__cause__)
    small = pool.submit(doubled, np.ones(3))
    assert small.result(60).tolist() == [2, 2, 2]
print("small messages go on")
"""


def full_shared_memory(folder: Path, rng: random.Random) -> str:
    """A /dev/shm of a megabyte or less, in a mount namespace of its own, and arrays of more."""
    script = folder / "job.py"
    script.write_text(SMALL_SHM)
    size = rng.choice([0.1, 0.3, 1.0])
    bytes_sent = rng.choice([200_000, 2_000_000, 40_000_000])
    mount = f"mount -t tmpfs -o size={int(size * 1e6)} tmpfs /dev/shm && exec {sys.executable} job.py {bytes_sent}"
    path = os.pathsep.join(sys.path[:2])
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount],
        cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    return done.stdout.strip() or done.stderr[-500:]


def eats(session, bytes_wanted):
    with open(CGROUP / os.environ["TF1_ATTACK_CGROUP"] / "cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
    kept = []
    while len(kept) * 2**20 < bytes_wanted:
        kept.append(bytearray(os.urandom(1) * 2**20))
    return len(kept)


def oom_killer(folder: Path, rng: random.Random) -> str:
    """The real one, of a control group with little memory, strikes workers; the others' jobs and the pool go on."""
    import tf1sessions as t1
    from tf1sessions.errors import WorkerDiedError

    name = f"tf1sessions-attack-{os.getpid()}-{rng.randrange(10**9)}"
    if not CGROUP.is_dir():
        return "WorkerDiedError by SIGKILL, and the pool goes on"  # there is no such group on this machine
    (CGROUP / name).mkdir()
    os.environ["TF1_ATTACK_CGROUP"] = name
    try:
        (CGROUP / name / "memory.limit_in_bytes").write_text(str(200 * 2**20))
        with t1.ProcessSessionPool(2) as pool:
            hungry = [pool.submit(eats, 2**30) for _ in range(rng.randrange(1, 4))]
            others = [pool.submit(square, value) for value in range(8)]
            errors = [future.exception(DEADLINE) for future in hungry]
            if [future.result(DEADLINE) for future in others] != [value**2 for value in range(8)]:
                return "another job's result is wrong"
            if any(type(error) is not WorkerDiedError or error.signal_name != "SIGKILL" for error in errors):
                return f"errors {errors}"
    finally:
        deadline = time.monotonic() + 10
        while (CGROUP / name / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        (CGROUP / name).rmdir()
    return "WorkerDiedError by SIGKILL, and the pool goes on"


def children_of(pid: int) -> list[int]:
    text = ""
    with contextlib.suppress(OSError):  # it has ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            text += (task / "children").read_text() + " "
    return [int(word) for word in text.split()]


def tree_of(pid: int) -> list[int]:
    found = []
    for child in children_of(pid):
        found += [child, *tree_of(child)]
    return found


@contextlib.contextmanager
def standing_still(pid: int, rng: random.Random) -> Iterator[None]:
    """Processes below this one are stopped at random, and continued; at the end all of them run."""
    over = threading.Event()

    def disturb() -> None:
        while not over.wait(rng.random() * 0.1):
            for child in tree_of(pid):
                if rng.random() < 0.3:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child, signal.SIGSTOP)
            over.wait(rng.random() * 0.3)
            for child in tree_of(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGCONT)

    thread = threading.Thread(target=disturb, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for child in tree_of(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGCONT)


def stopped_workers(folder: Path, rng: random.Random) -> str:
    """Workers and the fork server are stopped and continued while jobs run."""
    import tf1sessions as t1

    with t1.ProcessSessionPool(2) as pool:
        pool.submit(square, 0).result(DEADLINE)
        with standing_still(os.getpid(), rng):
            futures = [pool.submit(square, value) for value in range(200)]
            results = [future.result(DEADLINE) for future in futures]
    return "all results are right" if results == [value**2 for value in range(200)] else "a result is wrong"


def stopped_for_good(folder: Path, rng: random.Random) -> str:
    """A worker that is stopped and not continued costs the job that it has, by its time limit."""
    import tf1sessions as t1
    from tf1sessions.errors import JobTimeoutError

    with t1.ProcessSessionPool(2) as pool:
        future = pool.job(time_limit_secs=0.5 + rng.random()).submit(stops_itself)
        others = [pool.submit(square, value) for value in range(10)]
        if [each.result(DEADLINE) for each in others] != [value**2 for value in range(10)]:
            return "a result is wrong"
        error = future.exception(DEADLINE)
    return type(error).__name__ if isinstance(error, JobTimeoutError) else repr(error)


def stops_itself(session):
    os.kill(os.getpid(), signal.SIGSTOP)


def stopped_run(folder: Path, rng: random.Random) -> str:
    """Jobs of a run, its fork server and the command are stopped and continued."""
    (folder / "job.py").write_text(
        textwrap.dedent("""
        import tensorflow as tf
        with tf.Session() as session:
            for number in range(20):
                assert session.run(tf.constant(number) * 2) == 2 * number
        print("right")
        """)
    )
    with subprocess.Popen(
        [*COMMAND, "--out", "run", "-j", "2", *["job.py"] * 3], cwd=folder, stdout=subprocess.DEVNULL
    ) as process:
        with standing_still(process.pid, rng):
            for _ in range(5):
                time.sleep(rng.random() * 0.3)
                process.send_signal(signal.SIGSTOP)
                time.sleep(rng.random() * 0.2)
                process.send_signal(signal.SIGCONT)
            code = process.wait(DEADLINE)
    logs = [path.read_text() for path in sorted((folder / "run").glob("*.log"))]
    return "all jobs done" if code == 0 and all("right" in log for log in logs) else f"exit code {code}: {logs}"


@contextlib.contextmanager
def jumping_clock(rng: random.Random) -> Iterator[None]:
    """The clock of the day goes back and forth by years; that of the machine goes on, as it does."""
    real, offset, over = time.time, [0.0], threading.Event()

    def jump() -> None:
        while not over.wait(0.01):
            offset[0] = rng.choice([-1, 1]) * rng.random() * 10**8

    thread = threading.Thread(target=jump, daemon=True)
    thread.start()
    time.time = lambda: real() + offset[0]
    try:
        yield
    finally:
        over.set()
        thread.join()
        time.time = real


def clock(folder: Path, rng: random.Random) -> str:
    """No time limit, delay or end of a pool, batcher or pipeline goes by the clock of the day."""
    import numpy as np

    import tf1sessions as t1

    tf = t1.tf1
    with jumping_clock(rng):
        with t1.ThreadSessionPool(2, time_limit_secs=DEADLINE) as pool:
            if list(pool.map(square, range(30))) != [value**2 for value in range(30)]:
                return "a result of a pool is wrong"
        with t1.GraphSession() as gs:
            x = tf.placeholder(tf.float32, [None])
            server = t1.Batcher(gs, {"x": x}, {"y": x * 2}, max_delay_ms=5.0)
            for value in range(20):
                if server(x=np.float32([value]), deadline_secs=DEADLINE)["y"].tolist() != [2.0 * value]:
                    return "a result of a batcher is wrong"
            server.close()
            with t1.QueuePipeline(gs, stall_secs=DEADLINE, on_stall="stop") as pipe:
                queue = pipe.queue("numbers", dtypes=[tf.int32], shapes=[()])
                pipe.source(queue, range(100))
                if sum(int(item) for item in pipe.items(queue)) != sum(range(100)):
                    return "items of a pipeline are lost"
    return "all results are right"


def slow_disk(folder: Path, rng: random.Random) -> str:
    """Each write to the run folder takes a while; jobs and time limits do not wait for one another's."""
    from tf1sessions.scripts.jobs import Job
    from tf1sessions.scripts.runner import RunSettings, run_jobs

    (folder / "job.py").write_text("import time; time.sleep(0.05); print('x')\n")
    os.chdir(folder)
    real = os.fsync

    def fsync(fd: int) -> None:
        time.sleep(rng.random() * 0.3)
        real(fd)

    os.fsync = fsync
    try:
        summary = run_jobs([Job(script="job.py") for _ in range(4)], RunSettings(parallel=2, out="run"))
    finally:
        os.fsync = real
    return "all jobs done" if summary.ok else str(summary.counts())


FEW = """
import numpy as np
import tf1sessions as t1
from attacks.machine import doubled
with t1.ProcessSessionPool(2) as pool:
    for future in [pool.submit(doubled, np.full(300_000, number, np.float32)) for number in range(4)]:
        try:
            assert future.result(60)[0] % 2 == 0
        except t1.errors.Tf1SessionsError:
            pass
"""
RACE = """
import threading
import tensorflow as tf
graph = tf.get_default_graph()
def build():
    with graph.as_default():
        tf.constant(1.0)
threads = [threading.Thread(target=build) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def few_descriptors(folder: Path, rng: random.Random) -> str:
    """A process that may have few of them: results are right or errors of ours, hazards found or said lost."""
    is_pool, most = rng.random() < 0.5, rng.randrange(11, 40)
    (folder / "job.py").write_text(FEW if is_pool else RACE)
    command = [sys.executable, "job.py"] if is_pool else [*COMMAND[:3], "races", "job.py"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path[:2]), "TF1SESSIONS_WARM": "0"},
        capture_output=True, text=True, timeout=DEADLINE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
    )  # fmt: skip
    said = "Error" in done.stderr or "concurrent construction" in done.stdout
    right = (done.returncode == 0 or "Error" in done.stderr) if is_pool else done.returncode == 1 and said
    return "right, or an error" if right else f"exit {done.returncode} with {most}: {done.stdout} {done.stderr[-500:]}"


REPLACED = """
    builtins.open json.dump json.dumps json.encoder os.open os.replace os.write os._exit os.getppid pickle.dumps
    marshal.dumps builtins.isinstance
""".split()


def replaced(folder: Path, rng: random.Random) -> str:
    """A program that replaces what Python has, as tests do; its hazard is found all the same."""
    names = rng.sample(REPLACED, 3)
    lines = "import builtins, json, marshal, os, pickle\n" + "".join(f"{name} = None\n" for name in names)
    is_late = "builtins.isinstance" in names  # which TensorFlow needs itself
    text = RACE + lines if is_late else RACE.replace("def build", f"{lines}def build")
    (folder / "job.py").write_text(text)
    orders = rng.choice([[], ["--explore", "2"]])
    done = subprocess.run(
        [*COMMAND[:3], "races", *orders, "job.py"], cwd=folder, capture_output=True, text=True, timeout=DEADLINE
    )
    found = done.returncode == 1 and "concurrent construction" in done.stdout
    return "found" if found else f"{names} {orders}: exit {done.returncode}, {done.stdout[-300:]}{done.stderr[-500:]}"


TRIALS = [
    Trial("/dev/shm is full", "small messages go on", full_shared_memory, times=10, deadline_secs=90),
    Trial("the OOM killer", "WorkerDiedError by SIGKILL, and the pool goes on", oom_killer, times=8, deadline_secs=90),
    Trial("workers are stopped and continued", "all results are right", stopped_workers, times=8, deadline_secs=90),
    Trial("a worker is stopped for good", "JobTimeoutError", stopped_for_good, times=8, deadline_secs=90),
    Trial("processes of a run are stopped and continued", "all jobs done", stopped_run, times=8, deadline_secs=90),
    Trial("a clock that jumps", "all results are right", clock, times=15),
    Trial("few descriptors", "right, or an error", few_descriptors, times=20, deadline_secs=90),
    Trial("races of a program that replaces Python's functions", "found", replaced, times=15, deadline_secs=90),
    Trial("a slow disk", "all jobs done", slow_disk, times=6, deadline_secs=90),
]
